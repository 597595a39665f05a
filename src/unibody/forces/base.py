"""What a force is: something that adds wrenches to bodies and efforts to joints, and may store energy.

A force class gives NumPy methods; a class with an `add_kernel` of the signature `AddForces` also runs at compiled speed. Wrenches
are in body axes at the body's origin, angular first: F_B pairs with the twist V_WB_B. Stiffness and damping are exact
derivatives (geometric terms included) of these wrenches, from `stiffness_blocks` and `damping_blocks`:

    δF_a = K_ab δξ_b,   X_WB ← X_WB exp(δξ),        δF_a = D_ab δV_b

Joint efforts derive with respect to joint velocities' displacements in the same way. All instances of a class are packed into two
flat arrays, `index` and `parameters`; by default one row per instance from `Force.row`.

Implicit methods take K and D made symmetric over the whole element, K^s_ab = ½ (K_ab + K_baᵀ) and likewise D^s, as
B = −h D^s − h² K^s: by an `implicit_kernel` of the signature `AddImplicit`, or else from the NumPy blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import ClassVar

import numpy as np

from unibody.element import Kinematics, Packing
from unibody.kernel import Floats, Ints, Kernel, device, prototype
from unibody.spatial.devices import add3, cross, load3, load9, rotate, rotate_back

__all__ = ["Force"]


@prototype
def AddForces(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats,
    F_out: Floats, effort_out: Floats, ledger_out: Floats,
) -> None:  # fmt: skip
    """Add the wrenches (6 a body), joint efforts (passive ones in the first half of `effort_out`, those of actuators, which effort
    limits clamp, in the second) and the ledger entries of all forces of a class."""


@prototype
def AddImplicit(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats, limit: Floats,
    places: Ints, h: float, project: int, F_out: Floats, effort_out: Floats, own_out: Floats, coupling_out: Floats, diagonal_out: Floats,
) -> None:  # fmt: skip
    """Add the implicit terms for a step h of all forces of a class, given as `AddForces` gets them.

    `own_out` (21 a body, body axes, packed as in `algebra.tree`): B_aa. `coupling_out` (36 a place, by rows): B_ab for the pairs (a, b)
    that `Force.pairs` lists; their places stand in `places` in that order, −1 where one of the two cannot move and nothing is written.
    `diagonal_out` (one a joint velocity): h c + h² k. `F_out` (6 a body): h Σ_b K^s_ab V_b over all bodies b; `effort_out` (one a joint
    velocity): −h k v. `limit` holds the joints' effort limits: an actuator that has reached it has no slope.

    Between joint velocities there is only a diagonal: blocks that are not diagonal are replaced by a diagonal above them, in each row the
    diagonal plus the absolute values beside it, at least 0.

    `project` = 0: exact. `project` = 1: every element's B is positive semidefinite, what makes it indefinite is left out, and the same K
    is used in `F_out`.
    """


PAIR = 16
"""Numbers of a force between two points: x_a, x_b, f_a (3 each), then S as (xx, yy, zz) and (yz, zx, xy); the last is not used."""


@prototype
def FillPairs(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, h: float, pairs_out: Floats, ledger_out: Floats
) -> None:
    """All forces of a class that act between two points each, with their implicit terms for a step h: `PAIR` numbers for each, in world
    axes, and the ledger entries.

    x_a, x_b: the two points [m]. f_a: the force on the first [N], the other feels −f_a; h K V of `AddImplicit` with `project` = 1 is
    added to it. S, positive semidefinite: that B of the two bodies is (J_b − J_a)ᵀ S (J_b − J_a), with J the motion of their points.
    """


@dataclass
class Loads:
    """What forces add up: wrenches by body name, efforts by joint name, and the ledger (see `unibody.element`)."""

    wrenches: dict[str, np.ndarray] = field(default_factory=dict)
    efforts: dict[str, np.ndarray] = field(default_factory=dict)
    actuation: dict[str, np.ndarray] = field(default_factory=dict)
    ledger: np.ndarray = field(default_factory=lambda: np.zeros(4))

    def add_wrench(self, body: str, torque: np.ndarray, force: np.ndarray) -> None:
        """A wrench on a body, in its axes, at its origin."""
        if np.shape(torque) != (3,) or np.shape(force) != (3,):
            raise ValueError(f"wrench on '{body}': torque of shape {np.shape(torque)}, force of {np.shape(force)}; give three numbers each")
        total = self.wrenches.setdefault(body, np.zeros(6))
        total[:3] += torque
        total[3:] += force

    def add_force_at(self, kinematics: Kinematics, body: str, p: Sequence[float], force_W: np.ndarray) -> None:
        """A force, given in world axes, on the point p (body coordinates) of a body."""
        R, _ = kinematics.pose(body)
        f = R.T @ force_W
        self.add_wrench(body, np.cross(p, f), f)

    def add_effort(self, joint: str, effort: np.ndarray) -> None:
        self.efforts[joint] = self.efforts.get(joint, 0.0) + np.asarray(effort, float)

    def add_actuation(self, joint: str, effort: np.ndarray) -> None:
        self.actuation[joint] = self.actuation.get(joint, 0.0) + np.asarray(effort, float)


Blocks = dict[tuple[str, str], np.ndarray]
"""Matrix blocks by pairs of names: (body, body) → 6×6, (joint, joint) → nv×nv."""


class Force:
    """Base of all forces. Subclasses are frozen dataclasses."""

    add_kernel: ClassVar[Kernel | None] = None
    implicit_kernel: ClassVar[Kernel | None] = None
    pair_kernel: ClassVar[Kernel | None] = None
    """Of the signature `FillPairs`, for a force between two points whose `pairs()` is that of their bodies: in place of both kernels
    above, and with the same result but for round-off, where a method takes the definite terms."""
    explicit: ClassVar[bool] = False
    """True: implicit methods leave it explicit although it has blocks."""

    def bodies(self) -> list[str]:
        """The bodies it touches, by name."""
        return []

    def joints(self) -> list[str]:
        """The joints it touches, by name."""
        return []

    def started(self, packing: Packing, name: str) -> Force:
        """The element with what depends on the start filled in (a rest length, say). `name` is for messages."""
        return self

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        """Add wrenches, efforts and ledger entries."""
        raise NotImplementedError(f"{type(self).__name__} must give apply(kinematics, loads)")

    def energy(self, kinematics: Kinematics) -> float:
        """The energy it stores [J]; 0 for forces without a potential."""
        return 0.0

    def stiffness_blocks(self, kinematics: Kinematics) -> Blocks:
        """K: exact derivatives of the wrenches with respect to displacements."""
        return {}

    def damping_blocks(self, kinematics: Kinematics) -> Blocks:
        """D: exact derivatives of the wrenches with respect to velocities."""
        return {}

    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of bodies it couples, one for each integer that its implicit kernel finds in `places`, in that order."""
        return list(combinations(dict.fromkeys(self.bodies()), 2))

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        """The numbers of one instance for the kernel: (index, parameters)."""
        return [], []

    @classmethod
    def pack(cls, instances: Sequence[tuple[str, Force]], packing: Packing) -> tuple[np.ndarray, np.ndarray]:
        """The tables of all instances, given as (name, element)."""
        rows = [element.row(packing, name) for name, element in instances]
        index = np.array([i for r in rows for i in r[0]], np.int64)
        parameters = np.array([p for r in rows for p in r[1]], np.float64)
        return index, parameters


@device
def point_position(X, body, p):
    """The world position of the point p of a body."""
    return add3(load3(X, 12 * body + 9), rotate(load9(X, 12 * body), p))


@device
def point_velocity(X, V, body, p):
    """The world velocity of the point p of a body."""
    return rotate(load9(X, 12 * body), add3(load3(V, 6 * body + 3), cross(load3(V, 6 * body), p)))


@device
def add_point_force(X, body, p, f_W, F_out):
    """Add the world force f_W on the point p of a body to its wrench."""
    f = rotate_back(load9(X, 12 * body), f_W)
    t = cross(p, f)
    for j in range(3):
        F_out[6 * body + j] += t[j]
        F_out[6 * body + 3 + j] += f[j]
