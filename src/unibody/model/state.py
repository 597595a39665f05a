"""`State` and `Control`: what a step starts from and what the user adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unibody.element import is_word, name_of
from unibody.errors import ModelError
from unibody.spatial.pose import vector

if TYPE_CHECKING:
    from unibody.model.model import Model


@dataclass(frozen=True)
class State:
    """Time [s], coordinates and velocities, and which coordinates they are; nothing derived.

    `coordinates` is "reduced" (joint coordinates), "maximal" (p and wxyz, then V_WB_B, of every moving body) or "planar" (two positions and
    an angle, then ω and two velocities in body axes) or "affine" (t, a₁, a₂, a₃ of every moving body and their rates).
    """

    t: float
    q: np.ndarray
    v: np.ndarray
    coordinates: str = "reduced"

    def __post_init__(self) -> None:
        if not is_word(self.coordinates, ("reduced", "maximal", "planar", "affine")):
            raise ModelError(f"State coordinates {self.coordinates!r} are unknown; give reduced, maximal, planar or affine")
        for name in ("q", "v"):
            try:
                array = np.array(getattr(self, name), float)
            except (TypeError, ValueError, OverflowError):
                raise ModelError(f"State {name} is not numeric; give an array of numbers") from None
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def of_own(cls, t: float, q: np.ndarray, v: np.ndarray, coordinates: str) -> State:
        """A state of arrays that nobody else holds: they are made read-only and not copied."""
        made = cls.__new__(cls)
        q.flags.writeable = v.flags.writeable = False
        made.__dict__.update(t=t, q=q, v=v, coordinates=coordinates)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return State, (self.t, self.q, self.v, self.coordinates)

    def __repr__(self) -> str:
        return f"State(t = {self.t:.6g} s, {self.coordinates}, q = {_row(self.q)}, v = {_row(self.v)})"


def _row(values: np.ndarray, most: int = 8) -> str:
    """Numbers in brackets; of many the first ones and how many there are."""
    shown = ", ".join(f"{x:.6g}" for x in values[:most])
    return f"[{shown}]" if values.size <= most else f"[{shown}, … {values.size} numbers]"


class Control:
    """Joint efforts, wrenches on bodies and motor targets; what a control function changes between steps."""

    def __init__(self, model: Model):
        if not hasattr(model, "neutral_control"):
            raise ModelError(f"Control: {model!r} is not a Model; call Builder.build() first")
        self._model = model
        self.flat = model.neutral_control()

    @property
    def effort(self) -> np.ndarray:
        """Efforts [N m or N] on all joint degrees of freedom, tree joints first (writable view)."""
        return self.flat[: self._model.nv_joints]

    @property
    def wrench(self) -> np.ndarray:
        """(bodies, 6) wrenches, torque then force, world axes, at each body's origin (writable view)."""
        start = self._model.nv_joints
        return self.flat[start : start + 6 * self._model.n_bodies].reshape(-1, 6)

    def set_effort(self, joint: Any, value: Any) -> None:
        """The effort of one joint (scalar, or one value per degree of freedom)."""
        j = self._model.joint(name_of(joint, "set_effort"))
        values = [value] * j.nv if np.ndim(value) == 0 else value
        self.flat[j.v_start : j.v_start + j.nv] = vector(values, j.nv, f"effort of joint '{j.name}'")

    def set_wrench(self, body: Any, wrench: Any) -> None:
        """Torque then force on one body, world axes, at its origin."""
        name = name_of(body, "set_wrench")
        self.wrench[self._model.body(name)] = vector(wrench, 6, f"wrench on body '{name}'")

    def set_target(self, motor: str, q: float, v: float = 0.0) -> None:
        """The target of one motor, by its name."""
        at = self._model.motor_targets.get(motor)
        if at is None:
            raise ModelError(f"no motor named '{motor}'; motors: {', '.join(self._model.motor_targets) or 'none'}")
        self.flat[at] = q
        self.flat[at + 1] = v

    def __repr__(self) -> str:
        """What is not zero."""
        efforts = [f"'{j.name}' {_row(self.effort[j.v_start : j.v_start + j.nv])}" for j in self._model.joints if self._set(j)]
        wrenches = [f"'{b.name}' {_row(w)}" for b, w in zip(self._model.bodies, self.wrench, strict=True) if w.any()]
        targets = [f"'{n}' {self.flat[at]:.6g}" for n, at in self._model.motor_targets.items() if not np.isnan(self.flat[at])]
        said = [(word, some) for word, some in (("efforts", efforts), ("wrenches", wrenches), ("targets", targets)) if some]
        parts = [f"{word} {', '.join(some)}" for word, some in said]
        return f"Control({'; '.join(parts) or 'nothing'})"

    def _set(self, joint: Any) -> bool:
        return bool(self.effort[joint.v_start : joint.v_start + joint.nv].any())

    def copy(self) -> Control:
        out = Control(self._model)
        out.flat[:] = self.flat
        return out

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Control:
        """For the copy of the model, if one is being made with it, else for the model, which does not change."""
        out = self.copy()
        out._model = memo.get(id(self._model), self._model)
        return out
