"""Springs, motors and couplings of joints: refused where the rest is idle, or where coordinates do not count along velocities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import unibody as ub
from unibody.joints import Joint


@dataclass(frozen=True)
class Geared(Joint):
    """A slide whose coordinate changes by 2 + q per unit of velocity, or by `1 + q`, which at 0 looks like any other."""

    offset: float = 2.0

    nq = 1
    nv = 1

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.eye(3), np.array([np.log(abs(self.offset + q[0])), 0.0, 0.0])

    def motion(self, q: np.ndarray) -> np.ndarray:
        return np.array([[0.0], [0.0], [0.0], [1.0], [0.0], [0.0]])

    def rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return (self.offset + q) * v


def builder(joint, **given):
    b = ub.Builder()
    b.joint("j", joint, b.world, b.body("a", mass=1.0, inertia=(1.0, 1.0, 1.0)), **given)
    return b


@pytest.mark.parametrize("damping", [0.0, 1.0])
def test_rest_without_stiffness_is_refused(damping):
    with pytest.raises(ub.ModelError, match="^joint 'j': rest given without stiffness; give stiffness= or leave rest out$"):
        builder(ub.Revolute(axis=(0, 1, 0)), rest=0.5, damping=damping)


@pytest.mark.parametrize("offset", [2.0, 1.0])
def test_coordinates_with_rates_of_their_own_are_refused(offset):
    assert builder(Geared(offset)).build().joint("j").scalar_dofs() == {}
    builder(Geared(offset), damping=1.0).build()
    with pytest.raises(ub.ModelError, match="joint 'j'"):
        builder(Geared(offset), stiffness=1.0).build()
    for element in (ub.Motor("j", kp=1.0), ub.JointCoupling(["j"], (1.0,))):
        b = builder(Geared(offset))
        b.add(element)
        with pytest.raises(ub.ModelError, match="j"):
            b.build()


def test_built_in_joints_count_along_their_velocities():
    for joint in (ub.Revolute(axis=(0, 1, 0)), ub.Prismatic(axis=(1, 0, 0)), ub.Universal(), ub.Planar(), ub.Translational()):
        assert len(builder(joint).build().joint("j").scalar_dofs()) == joint.nv
