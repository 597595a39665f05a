"""Friction in joints over a linearly implicit step, by bilateral staggered projections (paper 000 §5.2, §5.3, Alg. 3).

For a friction u at hand the whole step is solved, rows and limits included; its reactions are those that bodies, loads and multipliers
leave (so there is no second, unconstrained motion to subtract, Eq. 13–17), what each joint carries is shared out among its contact points
(Eq. 16), and the points bound the next u, which stops slip or opposes it:

    u⁺ = arg min ½ (u⁺ − u)ᵀ h H (u⁺ − u) + s(u)ᵀ u⁺,   |u⁺_k| ≤ μ α_k,      s = B (v + h a)

with H the joints' answer to efforts while rows hold (`coordinates.redmax_response`). Friction is solved for in reduced coordinates, where
joints stay together: the iteration has the paper's fixed points and reaches them sooner. The u of the last step is where the next begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unibody.algebra.staggered import Contact, Staggered, stagger
from unibody.contact.joint_friction import JointContacts, carry_loads, contacts_of
from unibody.coordinates.observe_reduced import Held, reactions_reduced, tree_wrenches
from unibody.coordinates.observed import JointRub
from unibody.coordinates.redmax_response import EffortResponse, velocity_rows
from unibody.coordinates.redmax_system import RedMaxSystem
from unibody.coordinates.slots import FORCE_PARAMETERS, MULTIPLIER, X_WB
from unibody.coordinates.slots import T as T_SLOT
from unibody.forces.joint_friction import JointFriction
from unibody.model.model import JointInfo, Model

TOLERANCE, MOST = 1e-7, 100
"""Relative change of what the points carry at which the iteration ends, and the most iterations."""

SATURATED, STILL = 1e-4, 1e-12
"""Part of its bound that friction may lack to count as being at it, and the slip [m/s, rad/s] below which nothing moves."""

AN_INSTANT = 1e-6
"""Length [s] of the step that stands for the start of a run, which no step has led to."""


class Rubbing(NamedTuple):
    """One friction: its name, joint, number of the joint, contact points, variables, and efforts in the force table."""

    name: str
    joint: JointInfo
    number: int
    contacts: JointContacts
    own: slice
    efforts: slice


@dataclass
class Moment:
    """A step to be taken: from (t, q, v) over h under a control."""

    t: float
    q: np.ndarray
    v: np.ndarray
    control: np.ndarray
    h: float


class JointFrictions:
    """All frictions in the joints of a system."""

    def __init__(self, system: RedMaxSystem, model: Model):
        self.system = system
        self.parts: list[Rubbing] = []
        at, place = 0, system.force_ranges[JointFriction][0]
        for name, force in model.forces:
            if isinstance(force, JointFriction):
                joint = model.joint(force.joint)
                contacts = contacts_of(force, joint.element)
                size = sum(contacts.widths)
                efforts = slice(place, place + joint.nv)
                self.parts.append(Rubbing(name, joint, model.joints.index(joint), contacts, slice(at, at + size), efforts))
                at, place = at + size, place + joint.nv
        self.size = at
        self.widths = np.array([w for part in self.parts for w in part.contacts.widths], np.int64)
        self.velocities = np.array([part.joint.v_start + d for part in self.parts for d in range(part.joint.nv)], np.int64)
        rows = np.zeros((at, self.velocities.size))
        start = 0
        for part in self.parts:
            rows[part.own, start : start + part.joint.nv] = part.contacts.rows
            start += part.joint.nv
        self.rows = rows
        numbers, book = [part.contacts.numbers() for part in self.parts], []
        for part, first in zip(self.parts, np.cumsum([0, *(x.size for x in numbers)]), strict=False):
            made = part.contacts
            book += [len(made.places), len(made.N) // len(made.places), made.T.shape[1], int(made.single), int(first)]
        self._book, self._numbers = np.array(book, np.int64), np.concatenate(numbers)
        self._points = np.cumsum([0, *(len(part.contacts.places) for part in self.parts)])
        self._children = np.array([part.joint.child for part in self.parts])
        self._frames = np.array([part.joint.X_BM.R for part in self.parts])
        self._joints = np.array([part.number for part in self.parts])
        self.act(np.zeros(at))

    def act(self, u: np.ndarray) -> np.ndarray:
        """Let the friction u act in whatever is evaluated next; returns the efforts."""
        efforts = self.rows.T @ u
        table = self.system.view(FORCE_PARAMETERS)
        table[self.parts[0].efforts.start : self.parts[-1].efforts.stop] = efforts
        return efforts

    def solve(self, moment: Moment, u: np.ndarray) -> Staggered:
        """The friction of a step, from a guess."""
        response: list[EffortResponse] = []

        def contact(u: np.ndarray) -> Contact:
            y = self.evaluate(moment, u)
            if not response:
                response.append(EffortResponse(self.system, self.velocities))
            carried, bounds = self.carried(self.wrenches(), u)
            slip = self.rows @ (response[0].B @ (moment.v[: y.size] + moment.h * y))
            H = moment.h * self.rows @ response[0].closed() @ self.rows.T
            return Contact(carried, bounds, slip, H)

        return stagger(contact, self.widths, u, TOLERANCE, MOST)

    def evaluate(self, moment: Moment, u: np.ndarray) -> np.ndarray:
        """Accelerations of the step under the friction u, and in the system what else follows."""
        self.act(u)
        self.system.prepare(moment.h)
        y = self.system.advance_from(moment.t, moment.q.copy(), moment.v.copy(), moment.control).copy()
        if not np.isfinite(y).all():
            raise FloatingPointError("accelerations are not finite")
        return y

    def wrenches(self) -> np.ndarray:
        """(parts, 6) reactions at M in M's axes, up to what does work, which points do not carry; least norm where rows repeat others."""
        rank, rows = self.system.rank()
        if rank < rows:
            return self.local(reactions_reduced(self.system).reactions[self._joints])
        tree = len(self.system.model.tree_joints)
        out = self.local(tree_wrenches(self.system)[0][np.minimum(self._joints, tree - 1)])
        T, multipliers, joints = self.system.view(T_SLOT).reshape(-1, 6), self.system.view(MULTIPLIER), self.system.book.joints
        for k in np.flatnonzero(self._joints >= tree):
            first, count = joints[6 * (self._joints[k] - tree) + 4 : 6 * (self._joints[k] - tree) + 6]
            out[k] = multipliers[first : first + count] @ T[first : first + count]
        return out

    def local(self, wrenches: np.ndarray) -> np.ndarray:
        """Wrenches (parts, 6) at M from world axes in M's axes."""
        R = self.system.view(X_WB).reshape(-1, 12)[self._children, :9].reshape(-1, 3, 3) @ self._frames
        return (wrenches.reshape(-1, 2, 3) @ R).reshape(-1, 6)

    def carried(self, wrenches: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What every contact point carries [N], and the bounds of friction, of reactions (parts, 6) at M in M's axes."""
        carried, bounds = np.zeros(self._points[-1]), np.zeros(self.widths.size)
        carry_loads(self._book, self._numbers, wrenches.ravel(), u, carried, bounds)
        return carried, bounds

    def work(self, v: np.ndarray, y: np.ndarray, h: float, u: np.ndarray) -> float:
        """Of friction over a step from v with accelerations y, the one that was evaluated last [J]."""
        return h * float((self.rows.T @ u) @ (velocity_rows(self.system, self.velocities) @ (v[: y.size] + 0.5 * h * y)))

    def seen(self, held: Held, u: np.ndarray, v: np.ndarray, y: np.ndarray, h: float) -> dict[str, JointRub]:
        """What a recording keeps of every friction, after `evaluate`."""
        slip = self.rows @ (velocity_rows(self.system, self.velocities) @ (v[: y.size] + h * y))
        loads, _ = self.carried(self.local(held.reactions[self._joints]), u)
        out = {}
        for k, part in enumerate(self.parts):
            own, carried = u[part.own], loads[self._points[k] : self._points[k + 1]]
            bound = part.contacts.bounds(carried)
            pushed = np.linalg.norm(own.reshape(bound.size, -1), axis=1)
            moving = np.linalg.norm(slip[part.own].reshape(bound.size, -1), axis=1) > STILL
            sliding = bool((moving & (pushed >= (1.0 - SATURATED) * bound)).any())
            out[part.name] = JointRub(
                effort=part.contacts.rows.T @ own, normal_forces=carried, friction=part.contacts.tangential_forces(own, carried),
                bound=float(bound.sum()), sliding=sliding,
            )  # fmt: skip
        return out
