"""A force of a user's own that gives neither blocks nor kernels: a pull k x to the plane x = 0 on the body's origin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import unibody as ub


@dataclass(frozen=True)
class Field(ub.Force):
    body: str
    k: float

    def bodies(self):
        return [self.body]

    def apply(self, kinematics, loads):
        _, p = kinematics.pose(self.body)
        loads.add_force_at(kinematics, self.body, (0.0, 0.0, 0.0), np.array([-self.k * p[0], 0.0, 0.0]))
