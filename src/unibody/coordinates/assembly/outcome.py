"""What is said of an assembled start, and what may be asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.element import name_of
from unibody.errors import ModelError
from unibody.model.model import Model
from unibody.model.state import State


@dataclass(frozen=True)
class Violation:
    """What an element was violated by at the start, and is after assembly. `unit`: m, rad, m/s or rad/s."""

    element: str
    before: float
    after: float
    unit: str


@dataclass(frozen=True)
class Change:
    """The largest change of a joint's coordinates (m, rad) or velocities (m/s, rad/s)."""

    joint: str
    by: float
    unit: str


@dataclass(frozen=True)
class Assembly:
    """A consistent start and what became of the given one.

    `outcome` is "unchanged", "converged" or "ambiguous"; `ambiguous` names the joints of the last. `moved` and `violation` are sorted, the
    largest first. `optimality` is what is left of the gradient of the distance along the rows, as a part of it.
    """

    state: State
    outcome: str
    moved: tuple[Change, ...]
    violation: tuple[Violation, ...]
    notes: tuple[str, ...]
    ambiguous: tuple[str, ...] = ()
    optimality: float = 0.0

    def __str__(self) -> str:
        """One line a fact."""
        lines = [f"{v.element}: violated by {v.before:.3g} {v.unit}, now {v.after:.1e}" for v in self.violation]
        lines += [f"{c.joint}: changed by {c.by:.3g} {c.unit}" for c in self.moved]
        return "\n".join([self.outcome, *lines, *self.notes])


class Impossible(ModelError):
    """Rows that cannot be met; `certain` if at every try no step helped."""

    def __init__(self, message: str, elements: tuple[str, ...], certain: bool):
        super().__init__(message)
        self.elements, self.certain = elements, certain


def quoted(names: Iterable[str], most: int = 6) -> str:
    """Names in quotation marks, long lists cut, with how many were left out."""
    listed = list(names)
    rest = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(f"'{n}'" for n in listed[:most]) + rest


def rate_unit(unit: str) -> str:
    """The unit of a row, or of its rate, in full."""
    return "m/s or rad/s" if unit == "m or rad/s" else unit


def names_of(fixed: Any) -> tuple[str, ...]:
    """What is to be kept, by name."""
    listed = [fixed] if isinstance(fixed, str) or hasattr(fixed, "name") else fixed
    try:
        return tuple(dict.fromkeys(name_of(one, "assemble fixed") for one in listed))
    except TypeError:
        raise ModelError(f"assemble: fixed {fixed!r} is not a list of names; give names of joints or bodies") from None


def checked_weights(weights: Any, model: Model) -> Any:
    """None, factors by joint, numbers per velocity, or a matrix."""
    if weights is None:
        return None
    if isinstance(weights, Mapping):
        out = {}
        for name, value in weights.items():
            joint = model.joint(name)
            if joint.loop:
                raise ModelError(f"assemble: weight of joint '{joint.name}', which closes a loop; give weights of tree joints")
            x = np.asarray(value, float)
            if x.ndim != 0 or not (np.isfinite(x) and x > 0.0):
                raise ModelError(f"assemble: weight {value!r} of joint '{joint.name}' is not a positive number; give one")
            out[joint.name] = float(x)
        return out
    array, nv = np.array(weights, float), model.nv
    fine = array.shape in ((nv,), (nv, nv)) and bool(np.isfinite(array).all())
    if fine and array.ndim == 2:
        fine = bool(np.allclose(array, array.T, rtol=1e-9, atol=0.0)) and bool((np.linalg.eigvalsh(array) > 0.0).all())
    if not fine or (array.ndim == 1 and not (array > 0.0).all()):
        raise ModelError(
            f"assemble: weights of shape {array.shape} are no measure of change; give {nv} positive numbers, a symmetric positive definite"
            f" {nv}×{nv} matrix, or a mapping from joint names to positive numbers"
        )
    return array
