"""AppliedWrench: a torque τ and a force f on a point p of a body, constant or functions of time, in world or body axes.

    F = (Rᵀτ + p × Rᵀf, Rᵀf) in world axes,   F = (τ + p × f, f) in body axes,   power F·V

In world axes the wrench turns against the body: δF = ([Rᵀτ]× + [p]× [Rᵀf]×, [Rᵀf]×) δω. In body axes it follows, and δF = 0.
Implicit methods leave it explicit: it stores and damps nothing, and its derivative, which is not definite, would only cost them safety.

Tables: `index` per instance: body, axes (0 world, 1 body), six slots of `signals` (τ, then f). `parameters` per instance: p.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.element import APPLIED_POWER, Kinematics, Packing, Point, TimeFunction, is_word, name_of
from unibody.errors import ModelError
from unibody.forces.base import Blocks, Force, Loads
from unibody.forces.points import point_stiffness
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import add3, cross, dot3, load3, load9, rotate_back
from unibody.spatial.pose import skew, vector3

__all__ = ["AppliedWrench"]

AXES = ("world", "body")


@kernel
def add_applied_wrenches(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats,
    F_out: Floats, effort_out: Floats, ledger_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size // 8):
        i = 8 * e
        body = index[i]
        torque = (signals[index[i + 2]], signals[index[i + 3]], signals[index[i + 4]])
        force = (signals[index[i + 5]], signals[index[i + 6]], signals[index[i + 7]])
        if index[i + 1] == 0:
            R = load9(X, 12 * body)
            torque = rotate_back(R, torque)
            force = rotate_back(R, force)
        torque = add3(torque, cross(load3(parameters, 3 * e), force))
        ledger_out[APPLIED_POWER] += dot3(torque, load3(V, 6 * body)) + dot3(force, load3(V, 6 * body + 3))
        for j in range(3):
            F_out[6 * body + j] += torque[j]
            F_out[6 * body + 3 + j] += force[j]


class Sampled:
    """The components of a function of time with three values, which calls it once for all three."""

    def __init__(self, function: Callable[[float], Any], what: str):
        self.function, self.what = function, what
        self._time = float("nan")
        self._value = np.zeros(3)

    def __call__(self, t: float) -> np.ndarray:
        if t != self._time:
            self._value = vector3(self.function(t), f"{self.what} at t = {t:g}")
            self._time = t
        return self._value

    def component(self, k: int) -> TimeFunction:
        return lambda t: float(self(t)[k])


@dataclass(frozen=True)
class AppliedWrench(Force):
    """`torque` [N m] and `force` [N]: three numbers, or a function of time that returns three; `at` [m] in body coordinates;
    `axes`, in which torque and force are given: "world" or "body".

    >>> AppliedWrench("rocket", force=lambda t: (0, 0, 10.0 if t < 1 else 0), axes="body").bodies()
    ['rocket']
    """

    body: Any
    torque: Any = (0.0, 0.0, 0.0)
    force: Any = (0.0, 0.0, 0.0)
    at: Any = (0.0, 0.0, 0.0)
    axes: str = "world"

    add_kernel = add_applied_wrenches
    explicit = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "body", name_of(self.body, "AppliedWrench body"))
        for field in ("torque", "force", "at"):
            value = getattr(self, field)
            if field == "at" or not callable(value):
                object.__setattr__(self, field, tuple(float(x) for x in vector3(value, f"AppliedWrench {field}")))
        if not is_word(self.axes, AXES):
            raise ModelError(f"AppliedWrench: axes {self.axes!r} is unknown; give 'world' or 'body'")

    def bodies(self) -> list[str]:
        return [self.body]

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        slots = []
        for field in ("torque", "force"):
            value = getattr(self, field)
            sampled = Sampled(value, f"AppliedWrench '{name}': {field}") if callable(value) else None
            for k in range(3):
                signal = sampled.component(k) if sampled else value[k]
                slots.append(packing.signal(signal, f"AppliedWrench '{name}' {field}[{k}]"))
        return [packing.body(self.body), AXES.index(self.axes), *slots], list(self.at)

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        torque, force = self._in_body_axes(kinematics)
        torque = torque + np.cross(self.at, force)
        V = kinematics.twist(self.body)
        loads.add_wrench(self.body, torque, force)
        loads.ledger[APPLIED_POWER] += torque @ V[:3] + force @ V[3:]

    def stiffness_blocks(self, kinematics: Kinematics) -> Blocks:
        if self.axes == "body":
            return {}
        R, _ = kinematics.pose(self.body)
        torque, force = self._in_body_axes(kinematics)
        none = np.zeros((1, 1, 3, 3))
        blocks = point_stiffness(kinematics, [Point(self.body, self.at)], (R @ force)[None, :], none, none)
        blocks[self.body, self.body][:3, :3] += skew(torque)
        return blocks

    def _in_body_axes(self, kinematics: Kinematics) -> tuple[np.ndarray, np.ndarray]:
        """τ and f at this time, in body axes."""
        torque, force = (np.array(x(kinematics.t) if callable(x) else x, float) for x in (self.torque, self.force))
        if self.axes == "body":
            return torque, force
        R, _ = kinematics.pose(self.body)
        return R.T @ torque, R.T @ force
