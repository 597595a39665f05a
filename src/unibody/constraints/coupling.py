"""Coupling: some joint coordinates are functions of others: mechanisms in miniature, hyper-reduced coordinates (paper 000, Eq. 8–10).

    q_dep = φ(q_ind),      C = q_dep − φ,   J = (1, −φ′),   bias = −d(φ′)/dt q̇_ind

with a constant matrix, φ = A q_ind + b, or with a function. Missing derivatives of a function are central differences of fourth order. The
multiplier is the effort [N m or N] in the dependent coordinate; −φ′ᵀ μ acts in the independent ones.

Couplings may hang on each other (what one makes dependent is independent in the next), but not in circles; `in_order` sorts them.

Tables: own integers: numbers of dependent and independent coordinates n, m, then n + m q indices. Own parameters: b (n), A (n×m).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unibody.constraints.base import Constraint, Rows
from unibody.constraints.joint_coordinates import Coordinate, coordinates_of, place_of, unit_of
from unibody.element import Kinematics, Packing
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, Kernel, kernel
from unibody.spatial.motion import STENCIL, first_difference
from unibody.spatial.pose import vector

__all__ = ["Coupling", "FunctionCoupling"]

LARGEST = 1e100
"""Of the numbers of a matrix: their squares are added."""
STEP = 1e-3
"""Step [rad, m] of the differences: their error is its fourth power, round-off 1e-16 over it."""


@kernel
def fill_couplings(
    index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    i = 0
    f = 0
    while i < index.size:
        row = index[i]
        n = index[i + 3]
        m = index[i + 4]
        for r in range(n):
            entry = index[i + 2] + (n + m) * r
            residual = q[index[i + 5 + r]] - parameters[f + r]
            for k in range(n):
                J_out[entry + k] = 1.0 if k == r else 0.0
            for k in range(m):
                factor = parameters[f + n + m * r + k]
                residual -= factor * q[index[i + 5 + n + k]]
                J_out[entry + n + k] = -factor
            residual_out[row + r] = residual
            bias_out[row + r] = 0.0
        i += 5 + n + m
        f += n + n * m


@dataclass(frozen=True, init=False)
class Coupling(Constraint):
    """The coordinates `dependent` follow those of `independent` (joints, for their first coordinate, or pairs (joint, dof)): by
    `matrix` (a row per dependent one) and `offset`, or by a `function` of the independent ones (an array) that gives the dependent ones,
    with its `jacobian(q)` and `jacobian_rate(q, qdot)`, each by differences if left out.

    >>> Coupling(["index2", "index3"], ["index1"], matrix=[[0.7], [0.5]]).rows
    2
    """

    dependent: tuple[Coordinate, ...]
    independent: tuple[Coordinate, ...]
    matrix: tuple[tuple[float, ...], ...] | None
    offset: tuple[float, ...]
    function: Callable[[np.ndarray], Any] | None
    jacobian: Callable[[np.ndarray], Any] | None
    jacobian_rate: Callable[[np.ndarray, np.ndarray], Any] | None
    rows: int
    units: tuple[str, ...]

    fill_kernel: ClassVar[Kernel | None] = fill_couplings

    def __new__(cls, *args: Any, function: Any = None, **kwargs: Any) -> Coupling:
        """Couplings by a function are a class of their own, since they have no kernel."""
        return object.__new__(FunctionCoupling if cls is Coupling and function is not None else cls)

    def __init__(
        self, dependent: Sequence[Any], independent: Sequence[Any], matrix: Any = None, offset: Any = 0.0, *, function: Any = None,
        jacobian: Any = None, jacobian_rate: Any = None,
    ):  # fmt: skip
        first, second = coordinates_of(dependent, "Coupling dependent"), coordinates_of(independent, "Coupling independent")
        for joint, dof in set(first) & set(second):
            raise ModelError(f"Coupling: joint '{joint}' dof {dof} is both dependent and independent; give it once")
        if (matrix is None) == (function is None):
            raise ModelError("Coupling: give either matrix or function, and not both")
        for given, name in ((function, "function"), (jacobian, "jacobian"), (jacobian_rate, "jacobian_rate")):
            if given is not None and not callable(given):
                raise ModelError(f"Coupling: {name} {given!r} cannot be called; give a function of the independent coordinates")
        if function is None and (jacobian is not None or jacobian_rate is not None):
            raise ModelError("Coupling: jacobian and jacobian_rate belong to function; leave them out beside a matrix")
        n = len(first)
        if function is not None and np.any(offset):
            raise ModelError("Coupling: offset goes with matrix; let the function add it")
        b = np.broadcast_to(offset, n) if np.ndim(offset) == 0 else offset
        settings = {
            "dependent": first, "independent": second, "offset": tuple(vector(b, n, "Coupling offset").tolist()), "function": function,
            "matrix": None if matrix is None else _table(matrix, n, len(second), "Coupling matrix"), "jacobian": jacobian,
            "jacobian_rate": jacobian_rate, "rows": n, "units": ("rad",) * n,
        }  # fmt: skip
        for name, value in settings.items():
            object.__setattr__(self, name, value)

    def joints(self) -> list[str]:
        return list(dict.fromkeys(joint for joint, _ in (*self.dependent, *self.independent)))

    def dofs(self, packing: Packing) -> list[int]:
        return [packing.joint(joint).v_start + dof for joint, dof in (*self.dependent, *self.independent)]

    def started(self, packing: Packing, name: str) -> Coupling:
        places = self._places(packing)
        out = object.__new__(type(self))
        out.__dict__.update(self.__dict__)
        object.__setattr__(out, "units", tuple(unit_of(packing.joint(joint), dof) for joint, dof in self.dependent))
        starts = {joint.q_start: joint for joint in (packing.joint(j) for j, _ in self.independent)}.values()
        values = {joint.q_start + k: x for joint in starts for k, x in enumerate(joint.q0)}
        q = np.array([values[p] for p in places[self.rows :]])
        self.follow(q), self.slope(q), self.slope_rate(q, np.ones_like(q))  # shapes are right, or refused here
        return out

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        numbers = [] if self.matrix is None else [*self.offset, *(x for row in self.matrix for x in row)]
        return [len(self.dependent), len(self.independent), *self._places(packing)], numbers

    def place(self, packing: Packing, q: np.ndarray) -> None:
        """Put the dependent coordinates of q (all joints) on φ, in place; couplings that hang on each other want `in_order`."""
        places = self._places(packing)
        q[places[: self.rows]] = self.follow(q[places[self.rows :]])

    def follow(self, q: np.ndarray) -> np.ndarray:
        """φ: the dependent coordinates (n) at the independent ones (m)."""
        return np.array(self.matrix) @ q + np.array(self.offset)

    def slope(self, q: np.ndarray) -> np.ndarray:
        """φ′ (n×m)."""
        return np.array(self.matrix)

    def slope_rate(self, q: np.ndarray, qdot: np.ndarray) -> np.ndarray:
        """d(φ′)/dt (n×m) when the independent coordinates move at qdot."""
        return np.zeros((self.rows, q.size))

    def evaluate(self, kinematics: Kinematics) -> Rows:
        n, places, dofs = self.rows, self._places(kinematics.names), self.dofs(kinematics.names)
        q, qdot = kinematics.q[places[n:]], kinematics.v[dofs[n:]]
        wide = np.concatenate([np.eye(n), -self.slope(q)], axis=1)
        J = {joint: np.zeros((n, kinematics.names.joint(joint).nv)) for joint in self.joints()}
        for k, (joint, dof) in enumerate((*self.dependent, *self.independent)):
            J[joint][:, dof] = wide[:, k]
        return Rows(kinematics.q[places[:n]] - self.follow(q), {}, J, -self.slope_rate(q, qdot) @ qdot)

    def _places(self, packing: Packing) -> list[int]:
        return [place_of(packing, c, "Coupling") for c in (*self.dependent, *self.independent)]


class FunctionCoupling(Coupling):
    """A Coupling by a function; `Coupling(..., function=f)` makes one."""

    fill_kernel = None

    def follow(self, q: np.ndarray) -> np.ndarray:
        assert self.function is not None
        return vector(np.atleast_1d(self.function(np.array(q))), self.rows, "Coupling function")

    def slope(self, q: np.ndarray) -> np.ndarray:
        if self.jacobian is not None:
            return np.array(_table(self.jacobian(np.array(q)), self.rows, q.size, "Coupling jacobian"))
        return np.stack([first_difference([self.follow(q + k * STEP * e) for k in STENCIL], STEP) for e in np.eye(q.size)], axis=1)

    def slope_rate(self, q: np.ndarray, qdot: np.ndarray) -> np.ndarray:
        if self.jacobian_rate is not None:
            return np.array(_table(self.jacobian_rate(np.array(q), np.array(qdot)), self.rows, q.size, "Coupling jacobian_rate"))
        speed = float(np.abs(qdot).max(initial=0.0))
        if speed == 0.0:
            return np.zeros((self.rows, q.size))
        return speed * first_difference([self.slope(q + k * STEP / speed * qdot) for k in STENCIL], STEP)


def in_order(couplings: Sequence[tuple[str, Coupling]]) -> list[tuple[str, Coupling]]:
    """Couplings by name, each after those that give its independent coordinates; refuses circles and coordinates given twice."""
    giver: dict[Coordinate, str] = {}
    for name, coupling in couplings:
        for joint, dof in coupling.dependent:
            if (joint, dof) in giver:
                other = giver[joint, dof]
                raise ModelError(f"Coupling '{name}': joint '{joint}' dof {dof} is dependent in Coupling '{other}' already; give it to one")
            giver[joint, dof] = name
    waiting, placed, out = dict(couplings), set(), []
    while waiting:
        ready = [n for n, c in waiting.items() if all(giver.get(i, n) in placed for i in c.independent if i in giver)]
        if not ready:
            raise ModelError(f"Couplings {', '.join(repr(n) for n in waiting)} hang on each other in a circle; break it")
        for name in ready:
            out.append((name, waiting.pop(name)))
            placed.add(name)
    return out


def _table(value: Any, n: int, m: int, what: str) -> tuple[tuple[float, ...], ...]:
    """n rows of m finite numbers; (n·m,) is taken as such where one of the two is 1."""
    try:
        out = np.array(value, float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what}: {value!r} is not numeric; give {n} rows of {m} numbers") from None
    if out.ndim < 2 and out.size == n * m and 1 in (n, m):
        out = out.reshape(n, m)
    if out.shape != (n, m):
        raise ModelError(f"{what}: shape {out.shape}; give {n} rows (dependent) of {m} numbers (independent)")
    if not np.isfinite(out).all():
        raise ModelError(f"{what}: holds numbers that are not finite; give finite ones")
    if out.size and np.abs(out).max() > LARGEST:
        raise ModelError(f"{what}: {out.flat[np.abs(out).argmax()]:g} is beyond any gear; give at most {LARGEST:g}")
    return tuple(map(tuple, out.tolist()))
