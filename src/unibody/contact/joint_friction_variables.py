"""All frictions in the joints of a model: their contact points and friction variables, and what points carry of given reactions.

Variables u of a joint with one degree of freedom are its effort alone, of a ball two forces at every point. Blocks of variables have a
bound each, μ times what is carried.

Where rows repeat each other, many reactions are possible; those count for which Σ |α|² over the contact points of all joints is least
(Eq. 16 for all joints at once), as if all points were springs of one stiffness. So friction does not depend on the units of length. A joint
without friction is borne as by the mean of those that do: each force by n points, each torque by these at a distance ℓ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unibody.contact.joint_friction import JointContacts, carry_loads, contacts_of
from unibody.coordinates.observation import Bearings, JointFrictionState
from unibody.coordinates.reduced.observe import ReducedArrays, reactions_reduced, tree_wrenches
from unibody.coordinates.workspace import MULTIPLIER, X_WB
from unibody.coordinates.workspace import T as T_SLOT
from unibody.forces.joint_friction import JointFriction
from unibody.model.model import JointInfo, Model

TOLERANCE, MOST = 1e-7, 100
"""Relative change of what the points carry at which an iteration ends, and the most iterations."""

SATURATED, STILL = 1e-4, 1e-12
"""Part of its bound that friction may lack to count as being at it, and the slip [m/s, rad/s] below which nothing moves."""


class JointFrictionPart(NamedTuple):
    """One friction: its name, joint, number of the joint, contact points, variables, and degrees of freedom among all with friction."""

    name: str
    joint: JointInfo
    number: int
    contacts: JointContacts
    own: slice
    efforts: slice


class JointFrictionVariables:
    """The frictions of a model, in its order."""

    def __init__(self, model: Model):
        self.parts: list[JointFrictionPart] = []
        at, place = 0, 0
        for name, force in model.forces:
            if isinstance(force, JointFriction):
                joint = model.joint(force.joint)
                contacts = contacts_of(force, joint.element)
                size = sum(contacts.widths)
                efforts = slice(place, place + joint.nv)
                self.parts.append(JointFrictionPart(name, joint, model.joints.index(joint), contacts, slice(at, at + size), efforts))
                at, place = at + size, place + joint.nv
        self.size = at
        self.widths = np.array([w for part in self.parts for w in part.contacts.widths], np.int64)
        self.velocities = np.array([part.joint.v_start + d for part in self.parts for d in range(part.joint.nv)], np.int64)
        self.rows = np.zeros((at, place))
        for part in self.parts:
            self.rows[part.own, part.efforts] = part.contacts.rows
        numbers, table = [part.contacts.numbers() for part in self.parts], []
        for part, first in zip(self.parts, np.cumsum([0, *(x.size for x in numbers)]), strict=False):
            made = part.contacts
            table += [len(made.places), len(made.N) // len(made.places), made.T.shape[1], int(made.single), int(first)]
        self.table, self.numbers = np.array(table, np.int64), np.concatenate(numbers)
        self._points = np.cumsum([0, *(len(part.contacts.places) for part in self.parts)])
        self.points = int(self._points[-1])
        self.children = np.array([part.joint.child for part in self.parts])
        self.frames = np.array([part.joint.X_BM.R for part in self.parts])
        self.joints = np.array([part.number for part in self.parts])

    def bearings(self, model: Model) -> Bearings:
        """By which forces every joint's wrench is borne."""
        n = np.mean([np.sum(part.contacts.N[:, 3:] ** 2) for part in self.parts]) / 3.0
        length = np.sqrt(np.mean([np.mean(np.sum(part.contacts.places**2, axis=1)) for part in self.parts]))
        out = [np.diag([1.0 / length] * 3 + [1.0] * 3) / np.sqrt(n) for _ in model.joints]
        for part in self.parts:
            out[part.number] = part.contacts.share
        return out

    def reduced_wrenches(self, system: ReducedArrays) -> np.ndarray:
        """(parts, 6) reactions at M in M's axes at the last evaluation of reduced coordinates, up to what does work, which points do not
        carry; where rows repeat others, as bearings share them."""
        rank, rows = system.rank()
        poses = system.view(X_WB).reshape(-1, 12)
        if rank < rows:
            return self.local(reactions_reduced(system).reactions, poses)
        tree = len(system.model.tree_joints)
        through = np.zeros((len(system.model.joints), 6))
        through[:tree] = tree_wrenches(system)[0]
        out = self.local(through, poses)
        T, multipliers, joints = system.view(T_SLOT).reshape(-1, 6), system.view(MULTIPLIER), system.constraints.joints
        for k in np.flatnonzero(self.joints >= tree):
            first, count = joints[6 * (self.joints[k] - tree) + 4 : 6 * (self.joints[k] - tree) + 6]
            out[k] = multipliers[first : first + count] @ T[first : first + count]
        return out

    def local(self, wrenches: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """(parts, 6) in M's axes, from the wrenches (joints, 6) of all joints at M in world axes; poses (bodies, 12)."""
        R = poses[self.children, :9].reshape(-1, 3, 3) @ self.frames
        return (wrenches[self.joints].reshape(-1, 2, 3) @ R).reshape(-1, 6)

    def units(self, through: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """(m, parts, 6) in M's axes, from m times the wrenches (tree joints, 6) at M in world axes; none in joints that close loops."""
        R = poses[self.children, :9].reshape(-1, 3, 3) @ self.frames
        tree, parts = through.shape[1], self.joints.size
        at = through.transpose(1, 0, 2)[np.minimum(self.joints, tree - 1)].reshape(parts, -1, 3)
        out = (at @ R).reshape(parts, len(through), 6).transpose(1, 0, 2)
        out[:, self.joints >= tree] = 0.0
        return out

    def carried(self, wrenches: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What every contact point carries [N], and the bounds of friction, of reactions (parts, 6) at M in M's axes."""
        carried, bounds = np.zeros(self.points), np.zeros(self.widths.size)
        carry_loads(self.table, self.numbers, wrenches.ravel(), u, carried, bounds)
        return carried, bounds

    def states(self, wrenches: np.ndarray, u: np.ndarray, slip: np.ndarray) -> dict[str, JointFrictionState]:
        """What a recording keeps of every friction u [N m, N]; wrenches (parts, 6) at M in M's axes; slip of every block."""
        loads, _ = self.carried(wrenches, u)
        out, block = {}, 0
        for k, part in enumerate(self.parts):
            own, carried = u[part.own], loads[self._points[k] : self._points[k + 1]]
            bound = part.contacts.bounds(carried)
            pushed = np.linalg.norm(own.reshape(bound.size, -1), axis=1)
            moving = slip[block : block + bound.size] > STILL
            out[part.name] = JointFrictionState(
                effort=part.contacts.rows.T @ own, normal_forces=carried, friction=part.contacts.tangential_forces(own, carried),
                bound=float(bound.sum()), sliding=bool((moving & (pushed >= (1.0 - SATURATED) * bound)).any()),
                reaction=part.contacts.across @ wrenches[k], multipliers=part.contacts.multipliers(wrenches[k], own, carried),
            )  # fmt: skip
            block += bound.size
        return out

    def speeds(self, slip: np.ndarray) -> np.ndarray:
        """Of every block, from the slip of every variable."""
        return np.sqrt(np.add.reduceat(slip * slip, np.cumsum(self.widths) - self.widths))
