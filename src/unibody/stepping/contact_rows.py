"""Contacts as rows: directions, wrenches on the two bodies, relative velocities.

A contact between bodies a and b at x, with its normal n from a to b, has the directions n, t₁, t₂. Along each the bodies part with the
velocity d·(u_b(x) − u_a(x)); an impulse λ acts on b as d λ at x, and on a against it. A fourth row is the turn about the normal,
n·(ω_b − ω_a), with a torque.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, dot3, load3, norm3, scale3, store3, sub3
from unibody.stepping.body_motion import BodyMotion

ALONG = 1e-9
"""A wish that is so nearly the normal is none."""


@dataclass
class ContactRows:
    """n contacts: bodies (n, 2), points (n, 3), directions (n, k, 3), the normal first; if `spin`, the last is that of a turn."""

    bodies: np.ndarray
    points: np.ndarray
    directions: np.ndarray
    spin: bool = False

    @property
    def width(self) -> int:
        """Rows of a contact."""
        return self.directions.shape[1]

    def velocities(self, motion: BodyMotion, h: float) -> np.ndarray:
        """(n, k) after a time h of the rates of the motion."""
        out = np.empty((len(self.bodies), self.width))
        fill_velocities(*self._flat(motion), motion.velocity.ravel(), motion.rate.ravel(), h, out.ravel())
        return out

    def wrenches(self, motion: BodyMotion) -> np.ndarray:
        """(n, k, 2, 6) of unit impulses on a and b, in world axes at the centres of mass."""
        out = np.empty((len(self.bodies), self.width, 2, 6))
        fill_wrenches(*self._flat(motion), out.ravel())
        return out

    def _flat(self, motion: BodyMotion) -> tuple:
        """What kernels read."""
        arrays = (np.ascontiguousarray(x).ravel() for x in (self.bodies, self.points, self.directions, motion.centre))
        return (self.width, int(self.spin), *arrays)

    def on_bodies(self, wrenches: np.ndarray, impulses: np.ndarray, n_bodies: int) -> np.ndarray:
        """(bodies, 6) the sum of the wrenches of impulses (n, k)."""
        out = np.zeros((n_bodies, 6))
        add_up(self.width, self.bodies.ravel(), wrenches.ravel(), np.ascontiguousarray(impulses).ravel(), out.ravel())
        return out


@device
def parting(k, bodies, points, centre, velocity, rate, h):
    """How fast the bodies of a contact part there, and how they turn against each other, after a time h."""
    apart = (0.0, 0.0, 0.0)
    turn = (0.0, 0.0, 0.0)
    for side in range(2):
        i = bodies[2 * k + side]
        w = add3(load3(velocity, 6 * i), scale3(h, load3(rate, 6 * i)))
        v = add3(load3(velocity, 6 * i + 3), scale3(h, load3(rate, 6 * i + 3)))
        v = add3(v, cross(w, sub3(load3(points, 3 * k), load3(centre, 3 * i))))
        apart = sub3(v, apart)
        turn = sub3(w, turn)
    return apart, turn


@device
def put_wrenches(k, width, spin, bodies, points, directions, centre, wrenches_out):
    """Of unit impulses along the rows of a contact, 12 a row."""
    for side in range(2):
        arm = sub3(load3(points, 3 * k), load3(centre, 3 * bodies[2 * k + side]))
        sign = 1.0 if side == 1 else -1.0
        for r in range(width):
            d = scale3(sign, load3(directions, 3 * (width * k + r)))
            at = 12 * (width * k + r) + 6 * side
            turns = spin == 1 and r == width - 1
            store3(d if turns else cross(arm, d), at, wrenches_out)
            store3((0.0, 0.0, 0.0) if turns else d, at + 3, wrenches_out)


@kernel
def fill_velocities(
    width: int, spin: int, bodies: Ints, points: Floats, directions: Floats, centre: Floats, velocity: Floats, rate: Floats, h: float,
    u_out: Floats,
) -> None:  # fmt: skip
    """Relative velocities along all directions, `width` a contact."""
    for k in range(bodies.size // 2):
        apart, turn = parting(k, bodies, points, centre, velocity, rate, h)
        for r in range(width):
            d = load3(directions, 3 * (width * k + r))
            u_out[width * k + r] = dot3(d, turn if spin == 1 and r == width - 1 else apart)


@kernel
def fill_wrenches(width: int, spin: int, bodies: Ints, points: Floats, directions: Floats, centre: Floats, wrenches_out: Floats) -> None:
    """Wrenches of unit impulses, 12 a row."""
    for k in range(bodies.size // 2):
        put_wrenches(k, width, spin, bodies, points, directions, centre, wrenches_out)


@kernel
def add_up(width: int, bodies: Ints, wrenches: Floats, impulses: Floats, total_out: Floats) -> None:
    """Wrenches times impulses, body by body."""
    for k in range(bodies.size // 2):
        for r in range(width):
            x = impulses[width * k + r]
            if x != 0.0:
                for side in range(2):
                    for m in range(6):
                        total_out[6 * bodies[2 * k + side] + m] += x * wrenches[12 * (width * k + r) + 6 * side + m]


@kernel
def fill_moving_rows(
    width: int, spin: int, bodies: Ints, points: Floats, directions: Floats, centre: Floats, velocity: Floats, rate: Floats, h: float,
    wrenches_out: Floats, before_out: Floats, free_out: Floats,
) -> None:  # fmt: skip
    """All that bodies in motion mean to rows: wrenches, velocities at once and after a time h."""
    for k in range(bodies.size // 2):
        apart, turn = parting(k, bodies, points, centre, velocity, rate, 0.0)
        later, turn_later = parting(k, bodies, points, centre, velocity, rate, h)
        for r in range(width):
            d, turns = load3(directions, 3 * (width * k + r)), spin == 1 and r == width - 1
            before_out[width * k + r] = dot3(d, turn if turns else apart)
            free_out[width * k + r] = dot3(d, turn_later if turns else later)
        put_wrenches(k, width, spin, bodies, points, directions, centre, wrenches_out)


@kernel
def fill_directions(width: int, normals: Floats, plane_normal: Floats, wishes: Floats, directions_out: Floats) -> None:
    """Normal, tangents, and the normal again if there are four. In a plane (its normal, or nothing) the tangent is the one that lies in
    it; else the first is along the axis of the world that is most across, or as near as can be to a wish (three numbers a contact, not
    numbers for none; or nothing at all)."""
    for k in range(normals.size // 3):
        n = load3(normals, 3 * k)
        at = 3 * width * k
        store3(n, at, directions_out)
        if plane_normal.size > 0:
            store3(cross(load3(plane_normal, 0), n), at + 3, directions_out)
            continue
        x, y, z = abs(n[0]), abs(n[1]), abs(n[2])
        axis = (1.0, 0.0, 0.0) if x <= y and x <= z else ((0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0))
        if wishes.size > 0:
            wish = load3(wishes, 3 * k)
            if abs(dot3(wish, n)) < 1.0 - ALONG:
                axis = wish
        first = sub3(axis, scale3(dot3(axis, n), n))
        first = scale3(1.0 / norm3(first), first)
        store3(first, at + 3, directions_out)
        store3(cross(n, first), at + 6, directions_out)
        if width == 4:
            store3(n, at + 9, directions_out)


NONE = np.zeros(0)


def contact_rows(
    bodies: np.ndarray, points: np.ndarray, normals: np.ndarray, plane_normal: np.ndarray | None = None, wishes: np.ndarray | None = None,
    spin: bool = False,
) -> ContactRows:  # fmt: skip
    """Rows of contacts with friction; `wishes` (n, 3): the directions of first tangents, not numbers for none."""
    spin = spin and plane_normal is None
    width = 2 if plane_normal is not None else 4 if spin else 3
    directions = np.empty((len(normals), width, 3))
    fill_directions(
        width, np.ascontiguousarray(normals).ravel(), NONE if plane_normal is None else plane_normal,
        NONE if wishes is None else np.ascontiguousarray(wishes).ravel(), directions.ravel(),
    )  # fmt: skip
    return ContactRows(bodies, points, directions, spin)
