"""What contact has to know of a moving model, whatever its coordinates.

The motion of a body over a step, as its surface sees it, is that of a rigid body whose geometry stands still while its velocity changes:

    u(x) = v_c + h a_c + (ω + h α) × (x − c)          c the centre of mass, a_c its acceleration, α that of the rotation

so that a contact between two bodies asks the same of reduced and of maximal coordinates. Wrenches of contacts are given in world axes at c.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from unibody.algebra.contact.delassus import DelassusFactors
from unibody.constraints.dry_friction_rows import DryFrictionRows
from unibody.coordinates.constraint_layout import ConstraintLayout
from unibody.coordinates.observation import Reactions
from unibody.coordinates.system import Dynamics, System
from unibody.kernel import Floats, device, kernel
from unibody.model.model import Model
from unibody.spatial.devices import add3, cross, load3, load9, rotate, store3, sub3
from unibody.stepping.islands import Islands
from unibody.stepping.stiction import Stiction


@dataclass
class BodyMotion:
    """Of all bodies, the world first, in world axes: c (n, 3), velocities (n, 6) angular then linear at c, and their rates (n, 6)."""

    centre: np.ndarray
    velocity: np.ndarray
    rate: np.ndarray

    def at(self, bodies: np.ndarray, points: np.ndarray, h: float) -> np.ndarray:
        """(k, 3) velocities of points of bodies, after a time h of these rates."""
        twist = self.velocity[bodies] + h * self.rate[bodies]
        return twist[:, 3:] + cross_rows(twist[:, :3], points - self.centre[bodies])

    def spins(self, bodies: np.ndarray, h: float) -> np.ndarray:
        """(k, 3) angular velocities of bodies after a time h."""
        return self.velocity[bodies, :3] + h * self.rate[bodies, :3]


@dataclass(frozen=True)
class ConstraintRows:
    """Rows of loops and constraint elements at a state: C, Ċ, and C̈ of the motion that nothing holds; how they meet the velocities and
    how these respond to impulses along them, in islands."""

    residual: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray
    rows: DelassusFactors
    islands: Islands

    @cached_property
    def J(self) -> np.ndarray:
        """(k, nv) whole, in the order of the system's velocities."""
        return self.rows.wholes()[0][:, self.islands.place]

    @cached_property
    def Y(self) -> np.ndarray:
        """(k, nv) M⁻¹ Jᵀ whole."""
        return self.rows.wholes()[1][:, self.islands.place]

    def load(self, impulses: np.ndarray) -> np.ndarray:
        """(nv,) Jᵀ λ."""
        return self.rows.pull(impulses)[self.islands.place]


@runtime_checkable
class ImpulseDynamics(System, Protocol):
    """A system whose rows, beside those of joints that it holds by itself, are solved elsewhere, together with contacts: what time stepping
    asks of it. `look` comes first; all that follows is of the state looked at last. Wrenches are impulses (bodies, 6) in world axes at
    centres of mass, `impulses` those along the rows."""

    moving: np.ndarray
    """(bodies,) which are moved by forces."""
    islands: Islands
    """Which velocities respond to each other."""
    coriolis: np.ndarray
    """Which velocities have terms that are taken in the middle of a step; empty if none."""

    @property
    def dynamics(self) -> Dynamics:
        """The bodies and joints inside."""
        ...

    def look(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, change: np.ndarray | None = None) -> bool:
        """Evaluate the motion that nothing else holds; whether it is finite. `change`: by how much the velocities with `coriolis`
        terms will have changed in the middle of the step."""
        ...

    def poses(self) -> np.ndarray:
        """(bodies, 12) X_WB."""
        ...

    def motion(self) -> BodyMotion:
        """How bodies move, with their accelerations."""
        ...

    def turning(self) -> np.ndarray | None:
        """(bodies, 6) the part J̇ v of their rates, in world axes at centres of mass; None where it is not known."""
        ...

    def constraint_rows(self) -> ConstraintRows:
        """Rows of loops and constraint elements, and how velocities respond to them."""
        ...

    def respond(self, front: DelassusFactors, bodies: np.ndarray, wrenches: np.ndarray) -> DelassusFactors:
        """The blocks of `front`, then J and M⁻¹ Jᵀ of rows that are wrenches (k, rows, 2, 6) on pairs of bodies (k, 2)."""
        ...

    def change(self, impulses: np.ndarray, constraints: ConstraintRows, wrenches: np.ndarray) -> np.ndarray:
        """What impulses do to the velocities."""
        ...

    def carried(self, impulses: np.ndarray, constraints: ConstraintRows, wrenches: np.ndarray) -> np.ndarray:
        """(bodies, 6) what they do to twists, in world axes at centres of mass."""
        ...

    def apply_impulses(self, impulses: np.ndarray, constraints: ConstraintRows, wrenches: np.ndarray, h: float) -> None:
        """Add what impulses over a step h do to the accelerations that `kick` reads."""
        ...

    def accelerate(self, impulses: np.ndarray, constraints: ConstraintRows, wrenches: np.ndarray, h: float) -> None:
        """Add it to all accelerations, and to the loads or multipliers from which reactions follow."""
        ...

    def through(self) -> Reactions:
        """Reactions from the accelerations, loads and multipliers at hand."""
        ...

    def kick(self, h: float, q: np.ndarray, v: np.ndarray) -> None:
        """v by h times the accelerations, q along the new v; in place."""
        ...

    def kick_onto(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, projected: np.ndarray, constraints: ConstraintRows,
        stiction: Stiction | None = None,
    ) -> None:  # fmt: skip
        """The same, to t, carrying along the rows that are `projected`, and what sticks."""
        ...

    def move_apart(self, q: np.ndarray, v: np.ndarray, way: np.ndarray, h: float) -> None:
        """q along pseudo-velocities for a time h, in which bodies keep their courses; in place."""
        ...

    def project(
        self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, projected: np.ndarray, constraints: ConstraintRows,
        stiction: Stiction | None = None,
    ) -> None:  # fmt: skip
        """Bring q and v back onto the rows that are `projected`, and what sticks to where it was; in place."""
        ...


def row_bounds(model: Model, constraints: ConstraintLayout) -> np.ndarray:
    """(k,) the bound of the multiplier of every row beyond the primary ones; infinite where there is none."""
    out, elements = np.full(constraints.rows, np.inf), dict(model.constraints)
    for name in dict.fromkeys(constraints.names[constraints.joint_rows : constraints.joint_rows + constraints.element_rows]):
        element = elements[name]
        if isinstance(element, DryFrictionRows):
            out[[r for r, n in enumerate(constraints.names) if n == name and r >= constraints.joint_rows]] = element.bounds
    return out[constraints.primary_rows :]


def holding_rows(model: Model, constraints: ConstraintLayout) -> np.ndarray:
    """(k,) which rows beyond the primary ones are equations."""
    return ~np.array(constraints.unilateral[constraints.primary_rows :], bool) & np.isinf(row_bounds(model, constraints))


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


def room_for_motion(n: int) -> BodyMotion:
    """Of n bodies, to be filled in."""
    return BodyMotion(np.empty((n, 3)), np.empty((n, 6)), np.empty((n, 6)))


def motion_of(X: np.ndarray, com: np.ndarray, p: np.ndarray, V: np.ndarray, A: np.ndarray) -> BodyMotion:
    """From poses (n, 12), twists V and spatial accelerations A (n, 6), both in world axes at the points p (n, 3)."""
    out = room_for_motion(len(com))
    given = (np.ascontiguousarray(x).ravel() for x in (X, com, p, V, A))
    fill_motion(*given, out.centre.ravel(), out.velocity.ravel(), out.rate.ravel())
    return out
