"""Functions and element classes of a user's own, importable by name, so that files can hold them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import unibody as ub
from unibody.element import SPRING_ENERGY
from unibody.forces.base import Force
from unibody.joints.base import Joint


def swing(t):
    return 0.4 * math.sin(3.0 * t)


def gust(t):
    return (0.5 * math.cos(2.0 * t), 0.0, 0.1)


def lift(t):
    return ub.Pose(p=(0.0, 0.0, 0.1 * math.sin(t)))


@dataclass(frozen=True)
class Pull(Force):
    """A spring of length 0 from a body's origin to a place in the world, written against the public contract alone."""

    body: Any
    place: tuple[float, float, float]
    stiffness: float

    def bodies(self):
        return [self.body]

    def apply(self, kinematics, loads):
        _, p = kinematics.pose(self.body)
        d = np.array(self.place) - p
        loads.ledger[SPRING_ENERGY] += 0.5 * self.stiffness * float(d @ d)
        loads.add_force_at(kinematics, self.body, (0.0, 0.0, 0.0), self.stiffness * d)


@dataclass(frozen=True)
class Turn(Joint):
    """A hinge about z, written against the public contract alone."""

    nq = 1
    nv = 1

    def pose(self, q):
        c, s = math.cos(q[0]), math.sin(q[0])
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.zeros(3)

    def motion(self, q):
        S = np.zeros((6, 1))
        S[2, 0] = 1.0
        return S

    def bias(self, q, v):
        return np.zeros(6)


def crane(target=swing, force=gust):
    """Motor, cable, damper, function of time, kinematic base, ball joint, loop constraint, elements of one's own."""
    b = ub.Builder()
    base = b.body("base", kind="kinematic", motion=lift)
    arm = b.body("arm", mass=2.0, com=(0.3, 0, 0), inertia=(0.1, 0.2, 0.2))
    bob = b.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    wheel = b.body("wheel", mass=0.5, inertia=(0.1, 0.1, 0.1))
    b.joint("luff", ub.Revolute(axis=(0, 1, 0)), base, arm, q=0.2, damping=0.1)
    b.joint("hang", ub.Ball(), arm, bob, ub.Pose(p=(1, 0, 0)), ub.Pose(p=(0, 0, 0.4)), v=(0.1, 0.2, 0.3))
    b.joint("turn", Turn(), arm, wheel, ub.Pose(p=(0.5, 0, 0)), v=1.0)
    b.add(ub.Motor("luff", kp=40.0, kd=4.0, target=target), name="winch")
    b.add(ub.AppliedWrench(bob, force=force))
    b.add(ub.Cable([base.at(0, 0, 1), arm.at(0.5, 0, 0), bob.at()], stiffness=20.0, damping=0.2))
    b.add(Pull("wheel", (0.0, 1.0, 0.0), 3.0))
    return b.build()
