"""How bodies move over a step, as their surfaces see it: geometry stands still while velocities change,

    u(x) = v_c + h a_c + (ω + h α) × (x − c)          c the centre of mass, a_c its acceleration, α that of the rotation

so that a contact between two bodies asks the same of reduced and of maximal coordinates. Wrenches of contacts are given in world axes at c.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.algebra.tree.aba import ROW, A, P, V
from unibody.arena import part
from unibody.coordinates.reduced.workspace import ROWS
from unibody.coordinates.workspace import GRAVITY, X_WB
from unibody.kernel import Floats, Ints, device, kernel
from unibody.model.model import Model
from unibody.spatial.devices import add3, cross, load3, load9, rotate, store3, sub3
from unibody.stepping.island_sweeps import arm


@dataclass
class BodyMotion:
    """Of all bodies, the world first, in world axes: c (n, 3), velocities (n, 6) angular then linear at c, and their rates (n, 6)."""

    centre: np.ndarray
    velocity: np.ndarray
    rate: np.ndarray

    @staticmethod
    def room(n: int) -> BodyMotion:
        """Of n bodies, to be filled in."""
        return BodyMotion(np.empty((n, 3)), np.empty((n, 6)), np.empty((n, 6)))

    def at(self, bodies: np.ndarray, points: np.ndarray, h: float) -> np.ndarray:
        """(k, 3) velocities of points of bodies, after a time h of these rates."""
        twist = self.velocity[bodies] + h * self.rate[bodies]
        return twist[:, 3:] + cross_rows(twist[:, :3], points - self.centre[bodies])

    def spins(self, bodies: np.ndarray, h: float) -> np.ndarray:
        """(k, 3) angular velocities of bodies after a time h."""
        return self.velocity[bodies, :3] + h * self.rate[bodies, :3]


def cross_rows(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a × b along the last axis; many times faster than NumPy's own on short arrays."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    out[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    out[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    out[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return out


def centres_in_bodies(model: Model) -> np.ndarray:
    """(n, 3) the point of every body at which its motion is told: the centre of mass, or the origin if it is not moved by forces."""
    return np.array([np.asarray(b.com, float) if b.kind == "dynamic" else np.zeros(3) for b in model.bodies]).reshape(-1, 3)


@device
def in_world(w, l, a, b, r):
    """The velocity of a point r away from that of a twist (w, l), and its rate, from the spatial acceleration (a, b) there."""
    v = add3(l, cross(w, r))
    return v, add3(b, add3(cross(a, r), cross(w, v)))


@kernel
def fill_motion(
    X: Floats, com: Floats, p: Floats, V: Floats, A: Floats, centre_out: Floats, velocity_out: Floats, rate_out: Floats
) -> None:
    """Centres of mass, twists there and their rates, from twists and spatial accelerations at the points p; all in world axes."""
    for i in range(com.size // 3):
        c = add3(load3(X, 12 * i + 9), rotate(load9(X, 12 * i), load3(com, 3 * i)))
        w, a = load3(V, 6 * i), load3(A, 6 * i)
        v, rate = in_world(w, load3(V, 6 * i + 3), a, load3(A, 6 * i + 3), sub3(c, load3(p, 3 * i)))
        store3(c, 3 * i, centre_out)
        store3(w, 6 * i, velocity_out)
        store3(v, 6 * i + 3, velocity_out)
        store3(a, 6 * i, rate_out)
        store3(rate, 6 * i + 3, rate_out)


def motion_of(X: np.ndarray, com: np.ndarray, p: np.ndarray, V: np.ndarray, A: np.ndarray) -> BodyMotion:
    """From poses (n, 12), twists V and spatial accelerations A (n, 6), both in world axes at the points p (n, 3)."""
    out = BodyMotion.room(len(com))
    given = (np.ascontiguousarray(x).ravel() for x in (X, com, p, V, A))
    fill_motion(*given, out.centre.ravel(), out.velocity.ravel(), out.rate.ravel())
    return out


@kernel
def fill_motion_reduced(
    layout: Ints, constants: Floats, work: Floats, com: Floats, centre_out: Floats, velocity_out: Floats, rate_out: Floats
) -> None:
    """What `fill_motion` finds, of a tree at its last evaluation."""
    rows = part(work, layout, ROWS)
    X = part(work, layout, X_WB)
    g = load3(part(constants, layout, GRAVITY), 0)
    for i in range(com.size // 3):
        k = ROW * i
        w, a, p, r = load3(rows, k + V), load3(rows, k + A), load3(rows, k + P), arm(X, com, rows, i)
        v, rate = in_world(w, load3(rows, k + V + 3), a, add3(load3(rows, k + A + 3), g), r)
        store3(add3(p, r), 3 * i, centre_out)
        store3(w, 6 * i, velocity_out)
        store3(v, 6 * i + 3, velocity_out)
        store3(a, 6 * i, rate_out)
        store3(rate, 6 * i + 3, rate_out)
