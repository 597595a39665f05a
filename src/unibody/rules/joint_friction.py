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
from unibody.contact.joint_friction import JointContacts, contacts_of
from unibody.coordinates.observe_reduced import Held, reactions_reduced
from unibody.coordinates.observed import JointRub
from unibody.coordinates.redmax_response import EffortResponse, velocity_rows
from unibody.coordinates.redmax_system import RedMaxSystem
from unibody.coordinates.slots import FORCE_PARAMETERS, X_WB
from unibody.forces.joint_friction import JointFriction
from unibody.model.model import JointInfo, Model

TOLERANCE, MOST = 1e-9, 100
"""Relative change of what the points carry at which the iteration ends, and the most iterations."""

IDLE_TURNS = 20
"""Most turns in which the share that friction bears of a reaction is found."""

SATURATED = 1e-6
"""Part of its bound that friction may lack to count as being at it."""

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
            y, held = self.evaluate(moment, u)
            if not response:
                response.append(EffortResponse(self.system, self.velocities))
            nv = y.size
            carried = [self.carried(part, held, u) for part in self.parts]
            bounds = np.concatenate([part.contacts.bounds(c) for part, c in zip(self.parts, carried, strict=True)])
            slip = self.rows @ (response[0].B @ (moment.v[:nv] + moment.h * y))
            H = moment.h * self.rows @ response[0].closed() @ self.rows.T
            return Contact(np.concatenate(carried), bounds, slip, H)

        return stagger(contact, self.widths, u, TOLERANCE, MOST)

    def evaluate(self, moment: Moment, u: np.ndarray) -> tuple[np.ndarray, Held]:
        """Accelerations and reactions of the step under the friction u."""
        self.act(u)
        self.system.prepare(moment.h)
        y = self.system.advance_from(moment.t, moment.q.copy(), moment.v.copy(), moment.control).copy()
        if not np.isfinite(y).all():
            raise FloatingPointError("accelerations are not finite")
        return y, reactions_reduced(self.system)

    def carried(self, part: Rubbing, held: Held, u: np.ndarray) -> np.ndarray:
        """(points,) what each contact point carries [N]."""
        wrench = self.local(part, held.constraint[part.number])
        carried = part.contacts.normal_forces(wrench)
        for _ in range(IDLE_TURNS):  # friction itself bears a part of what the joint holds, shared as the points are loaded
            idle = part.contacts.idle(u[part.own], carried)
            last, carried = carried, part.contacts.normal_forces(wrench - idle)
            if np.abs(carried - last).max() <= TOLERANCE * carried.max():
                break
        return carried

    def local(self, part: Rubbing, wrench: np.ndarray) -> np.ndarray:
        """A wrench at M from world axes in M's axes."""
        R = self.system.view(X_WB).reshape(-1, 12)[part.joint.child, :9].reshape(3, 3) @ part.joint.X_BM.R
        return np.concatenate([R.T @ wrench[:3], R.T @ wrench[3:]])

    def work(self, v: np.ndarray, y: np.ndarray, h: float, u: np.ndarray) -> float:
        """Of friction over a step from v with accelerations y, the one that was evaluated last [J]."""
        return h * float((self.rows.T @ u) @ (velocity_rows(self.system, self.velocities) @ (v[: y.size] + 0.5 * h * y)))

    def seen(self, held: Held, u: np.ndarray, v: np.ndarray, y: np.ndarray, h: float) -> dict[str, JointRub]:
        """What a recording keeps of every friction, after `evaluate`."""
        slip = self.rows @ (velocity_rows(self.system, self.velocities) @ (v[: y.size] + h * y))
        out = {}
        for part in self.parts:
            own, carried = u[part.own], self.carried(part, held, u)
            bound = part.contacts.bounds(carried)
            pushed = np.linalg.norm(own.reshape(bound.size, -1), axis=1)
            moving = np.linalg.norm(slip[part.own].reshape(bound.size, -1), axis=1) > 0.0
            sliding = bool((moving & (pushed >= (1.0 - SATURATED) * bound)).any())
            out[part.name] = JointRub(
                effort=part.contacts.rows.T @ own, normal_forces=carried, friction=part.contacts.tangential_forces(own, carried),
                bound=float(bound.sum()), sliding=sliding,
            )  # fmt: skip
        return out

