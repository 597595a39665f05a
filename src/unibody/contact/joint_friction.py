"""A joint's shape as contact points that hold both ways (paper 000 §5.2), in the axes and at the origin of its frame M.

    cylinder    `points` on each of two rims: a radial and an axial normal, one tangent along the turn       (Revolute)
    sphere      the corners of an octahedron, cube or icosahedron: a radial normal, two tangents             (Ball)
    box         8 corners: two normals across the axis, one tangent along it                                 (Prismatic)

N (normals × 6) and T (points × 1 or 2 × 6) are rows on the twist of the child against the parent at M, angular first; both are constant in
M, whatever the axis. The normals span all that the joint holds, so the forces α of least norm with Nᵀ α = w (Eq. 16 without its
regularisation, which only picks that solution) are α = (Nᵀ)⁺ w, and friction at a point is at most μ times the sum of its |α|.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from unibody.forces.joint_friction import RIM_POINTS, JointFriction
from unibody.joints.ball import Ball
from unibody.joints.base import Joint
from unibody.joints.prismatic import Prismatic
from unibody.kernel import Floats, Ints, kernel

GOLDEN = 0.5 * (1.0 + np.sqrt(5.0))


@dataclass(frozen=True)
class JointContacts:
    """Contact points of one joint. `along` (6 × nv): its motion S at M; a joint of one degree of freedom has one friction variable, its
    effort, which all points share in proportion to what they can bear; a ball has two at each point."""

    coefficient: float
    places: np.ndarray
    """(points, 3) [m]"""
    N: np.ndarray
    T: np.ndarray
    along: np.ndarray

    @cached_property
    def share(self) -> np.ndarray:
        """(normals, 6): α from the wrench at M that they carry."""
        return np.linalg.pinv(self.N.T, rcond=1e-12)

    @cached_property
    def across(self) -> np.ndarray:
        """(6, 6): the part of a wrench that does no work."""
        return np.eye(6) - self.along @ np.linalg.pinv(self.along)

    @property
    def single(self) -> bool:
        return self.along.shape[1] == 1

    @property
    def widths(self) -> list[int]:
        """Of the friction variables, block by block."""
        return [1] if self.single else [2] * len(self.places)

    @cached_property
    def rows(self) -> np.ndarray:
        """(variables, nv): slip of each variable per velocity of the joint; its transpose gives the efforts."""
        return np.eye(1) if self.single else (self.T @ self.along).reshape(-1, self.along.shape[1])

    def normal_forces(self, wrench: np.ndarray) -> np.ndarray:
        """(points,) what each point carries [N], of a wrench (torque, force) on the child at M in M's axes."""
        return np.abs(self.share @ wrench).reshape(len(self.places), -1).sum(axis=1)

    def multipliers(self, wrench: np.ndarray, u: np.ndarray, carried: np.ndarray) -> np.ndarray:
        """(points, 1 or 2) α on the normals [N], of a wrench of which the friction u bears a part."""
        return (self.share @ (wrench - self.idle(u, carried))).reshape(len(self.places), -1)

    def numbers(self) -> np.ndarray:
        """For `carry_loads`: μ, the arms, then point by point the rows of the normals' share and the tangents' idle wrenches."""
        idle = (self.T @ self.across.T).reshape(len(self.places), -1)
        share = self.share.reshape(len(self.places), -1)
        arms = self.arms if self.single else np.zeros(len(self.places))
        return np.concatenate([[self.coefficient], arms, share.ravel(), idle.ravel()])

    def bounds(self, carried: np.ndarray) -> np.ndarray:
        """One a block, for what each point carries."""
        at_points = self.coefficient * carried
        return np.array([at_points @ self.arms]) if self.single else at_points

    @cached_property
    def arms(self) -> np.ndarray:
        """(points,) slip at each point per velocity of a joint with one degree of freedom."""
        return np.abs((self.T @ self.along)[:, 0, 0])

    def tangential_forces(self, u: np.ndarray, carried: np.ndarray) -> np.ndarray:
        """(points, 1 or 2) friction on the child along the tangents [N], from the variables."""
        if not self.single:
            return u.reshape(len(self.places), 2)
        most = self.coefficient * carried @ self.arms
        return (u[0] / most if most > 0.0 else 0.0) * self.coefficient * carried[:, None]

    def idle(self, u: np.ndarray, carried: np.ndarray) -> np.ndarray:
        """(6,) the wrench of friction on the child at M that does no work: a part of what the joint holds."""
        return self.across @ np.einsum("pk,pki->i", self.tangential_forces(u, carried), self.T)


PART = 5
"""Integers of a joint for `carry_loads`: points, normals a point, tangents a point, whether it has a single variable, its first number."""

IDLE_TURNS, ENOUGH = 30, 1e-13
"""Most turns in which the share of friction in a reaction is found, and the change [of the largest force] at which they end."""


@kernel
def carry_loads(table: Ints, numbers: Floats, wrenches: Floats, u: Floats, carried_out: Floats, bounds_out: Floats) -> None:
    """What every contact point of all joints carries [N] and the bounds of their friction variables, from the wrenches (6 a joint, at M in
    its axes) and the friction u that acts: friction itself bears a part of what a joint holds, shared as its points are loaded."""
    at_point, at_variable, at_block = 0, 0, 0
    for j in range(table.size // PART):
        points, normals, tangents, single, first = (
            table[PART * j], table[PART * j + 1], table[PART * j + 2], table[PART * j + 3], table[PART * j + 4]
        )  # fmt: skip
        mu = numbers[first]
        arms = first + 1
        share = arms + points
        idle = share + 6 * points * normals
        w0, w1, w2 = wrenches[6 * j], wrenches[6 * j + 1], wrenches[6 * j + 2]
        w3, w4, w5 = wrenches[6 * j + 3], wrenches[6 * j + 4], wrenches[6 * j + 5]
        # what each point carries, Σ |α| with α = (Nᵀ)⁺ w, until it no longer changes
        for turn in range(IDLE_TURNS):
            moved, largest, most = 0.0, 0.0, 0.0
            for p in range(points):
                total = 0.0
                for n in range(normals):
                    k = share + 6 * (normals * p + n)
                    total += abs(
                        numbers[k] * w0 + numbers[k + 1] * w1 + numbers[k + 2] * w2 + numbers[k + 3] * w3 + numbers[k + 4] * w4
                        + numbers[k + 5] * w5
                    )  # fmt: skip
                moved = max(moved, abs(total - carried_out[at_point + p]))
                largest = max(largest, total)
                carried_out[at_point + p] = total
                most += mu * total * numbers[arms + p]
            if turn > 0 and moved <= ENOUGH * largest:
                break
            # w without the wrench of friction that does no work; a single variable u is shared as the points are loaded
            w0, w1, w2 = wrenches[6 * j], wrenches[6 * j + 1], wrenches[6 * j + 2]
            w3, w4, w5 = wrenches[6 * j + 3], wrenches[6 * j + 4], wrenches[6 * j + 5]
            for p in range(points):
                for t in range(tangents):
                    k = idle + 6 * (tangents * p + t)
                    if single == 0:
                        push = u[at_variable + tangents * p + t]
                    else:
                        push = u[at_variable] / most * mu * carried_out[at_point + p] if most > 0.0 else 0.0
                    w0 -= push * numbers[k]
                    w1 -= push * numbers[k + 1]
                    w2 -= push * numbers[k + 2]
                    w3 -= push * numbers[k + 3]
                    w4 -= push * numbers[k + 4]
                    w5 -= push * numbers[k + 5]
        # bounds: μ Σ arm · carried of a single variable, μ · carried at each point otherwise
        if single != 0:
            bounds_out[at_block] = 0.0
            for p in range(points):
                bounds_out[at_block] += mu * carried_out[at_point + p] * numbers[arms + p]
            at_block += 1
            at_variable += 1
        else:
            for p in range(points):
                bounds_out[at_block + p] = mu * carried_out[at_point + p]
            at_block += points
            at_variable += tangents * points
        at_point += points


def contacts_of(friction: JointFriction, joint: Joint) -> JointContacts:
    """The contact points of a joint."""
    shape = _sphere if isinstance(joint, Ball) else _box if isinstance(joint, Prismatic) else _cylinder
    points = shape(friction, joint)
    N = np.array([_row(p, n) for p, normals, _ in points for n in normals])
    T = np.array([[_row(p, t) for t in tangents] for p, _, tangents in points])
    return JointContacts(friction.coefficient, np.array([p for p, _, _ in points]), N, T, np.asarray(joint.motion(joint.neutral()), float))


def _row(p: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """The row of the velocity of the point p along a direction."""
    return np.concatenate([np.cross(p, direction), direction])


def across_axis(axis: np.ndarray, direction: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors that make a right-handed frame with the axis, the first as near as can be to a direction; unless given, to that of
    x, y and z to which the axis is most across, the earlier of equals."""
    wish = np.eye(3)[int(np.argmin(np.abs(axis)))] if direction is None else np.asarray(direction, float)
    first = wish - (wish @ axis) * axis
    first /= np.linalg.norm(first)
    return first, np.cross(axis, first)


def _cylinder(friction: JointFriction, joint: Joint) -> list:
    axis = np.array(joint.axis, float)  # type: ignore[attr-defined]
    first, second = across_axis(axis, friction.direction)
    count = RIM_POINTS if friction.points is None else friction.points
    out = []
    for k in range(count):
        angle = 2.0 * np.pi * k / count
        radial = np.cos(angle) * first + np.sin(angle) * second
        for side in (-1.0, 1.0):
            p = friction.radius * radial + 0.5 * side * friction.height * axis
            out.append((p, [-radial, -side * axis], [np.cross(axis, radial)]))
    return out


def _sphere(friction: JointFriction, joint: Joint) -> list:
    out = []
    for n in _corners(friction.points or 6):
        first, second = across_axis(n)
        out.append((friction.radius * n, [-n], [first, second]))
    return out


def _corners(count: int) -> list[np.ndarray]:
    """Unit vectors to the corners of the regular solid that has so many."""
    if count == 6:
        return [side * e for e in np.eye(3) for side in (-1.0, 1.0)]
    if count == 8:
        return [np.array(corner) / np.sqrt(3.0) for corner in product((-1.0, 1.0), repeat=3)]
    flat = [(0.0, a, b * GOLDEN) for a, b in product((-1.0, 1.0), repeat=2)]
    return [np.roll(corner, k) / np.sqrt(1.0 + GOLDEN**2) for k in range(3) for corner in flat]


def _box(friction: JointFriction, joint: Joint) -> list:
    axis = np.array(joint.axis, float)  # type: ignore[attr-defined]
    first, second = across_axis(axis, friction.direction)
    wide, deep = np.broadcast_to(friction.width, 2)
    out = []
    for x, y, z in product((-1.0, 1.0), repeat=3):
        p = 0.5 * (x * wide * first + y * deep * second + z * friction.height * axis)
        out.append((p, [-x * first, -y * second], [axis]))
    return out
