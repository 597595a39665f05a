"""Hinge: a turn about a fixed axis a through a point c.   R_FM = exp([a]× q),  p_FM = c − R c,  S = (a, c × a),  Ṡ = 0.

F and M coincide at q = 0, and c has the same coordinates in both at all times. A lone hinge is better a `Revolute` with its frames on
the axis; in a `Composite`, whose parts share one origin, this one turns about an axis that misses it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin
from typing import Any

import numpy as np

from unibody.joints.base import Joint, unit_axis
from unibody.kernel import Floats, Ints, kernel
from unibody.measure import Measure, turn
from unibody.spatial.devices import cross, load3, rotate, rotation_about, store9
from unibody.spatial.pose import rotation_from_vector, vector3

__all__ = ["Hinge"]


@kernel
def fill_hinge(
    index: Ints, parameters: Floats, q: Floats, v: Floats, X_out: Floats, S_out: Floats, c_out: Floats
) -> None:
    for k in range(index.size // 3):
        row = index[3 * k]
        angle = q[index[3 * k + 1]]
        s = 6 * index[3 * k + 2]
        a = load3(parameters, 6 * k)
        c = load3(parameters, 6 * k + 3)
        R = rotation_about(a, sin(angle), cos(angle))
        turned = rotate(R, c)
        slide = cross(c, a)
        store9(R, 12 * row, X_out)
        for j in range(3):
            X_out[12 * row + 9 + j] = c[j] - turned[j]
            S_out[s + j] = a[j]
            S_out[s + 3 + j] = slide[j]
        for j in range(6):
            c_out[6 * row + j] = 0.0


@dataclass(frozen=True)
class Hinge(Joint):
    """One angle [rad] about `axis` through the point `at` [m], both in F's axes and, since they do not move, in M's."""

    axis: Any = (0.0, 0.0, 1.0)
    at: Any = (0.0, 0.0, 0.0)

    nq = 1
    nv = 1
    fill_kernel = fill_hinge

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis, "Hinge"))
        object.__setattr__(self, "at", tuple(float(x) for x in vector3(self.at, "Hinge at")))

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        R = rotation_from_vector(np.array(self.axis) * q[0])
        return R, np.array(self.at) - R @ np.array(self.at)

    def motion(self, q: np.ndarray) -> np.ndarray:
        return np.concatenate([self.axis, np.cross(self.at, self.axis)])[:, None]

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.zeros(6)

    def measures(self) -> dict[int, Measure]:
        return {0: turn(self.axis)}
