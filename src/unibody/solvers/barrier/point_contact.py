"""Contact in the incremental potential where there are vertices: the sums of `contact_potential` over control points, in blocks 3×3.

Bodies, free vertices and attached ones touch each other and themselves; a contact is a list of at most eight control points
(`contact.node_blocks`), of which attached ones are eliminated afterwards (`Vertices.reduced`).
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.block.node_blocks import NodeBlocks, add_block_products
from unibody.arrays import inner
from unibody.collision.proximity import GAP, SHARE, ContactSet
from unibody.contact.barrier import contact_forces
from unibody.contact.node_blocks import EXACT, POSITIVE, NodeBarrier, NodeFriction
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.contact_potential import (
    DIGITS,
    DOUBLES,
    LITTLE,
    SHARPER,
    BarrierPotential,
    FrictionPotential,
    smooth_slips,
)  # fmt: skip
from unibody.solvers.barrier.contact_stiffness import ContactParameters
from unibody.solvers.barrier.incremental_potential import Places, Potential

REST = 0.1
"""Of the slip speed, for contacts that rest. Points of what gives way stick and slide one by one: with a thousandth, as between bodies,
Newton's method does not find out which."""


class PointBarrierPotential(BarrierPotential):
    """Barriers of all contacts of a scene with vertices."""

    with_vertices = True

    def __init__(self, system: AffineSystem, law: ContactParameters, factor: float, alone: bool, x: np.ndarray):
        super().__init__(system, law, factor, alone, x)
        assert system.vertices is not None
        self._vertices = system.vertices

    def _barrier(self, x: np.ndarray, record: np.ndarray | None = None) -> NodeBarrier:
        c = self.contacts(x)
        if record is not None:
            c = ContactSet(c.pair, record, c.free_nodes)
        return NodeBarrier(c, self._law.pressure, self._law.reach)

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        self._barrier(x).add_gradient(self._factor, gradient_out)

    def add_blocks(self, x: np.ndarray, places: Places, careful: bool, own_out: np.ndarray, between_out: np.ndarray) -> None:
        raise NotImplementedError("blocks over points are those of point_blocks")

    def point_blocks(self, x: np.ndarray, careful: bool) -> NodeBlocks:
        record = None
        if self._loose is not None and np.array_equal(self._loose[0], x):
            record = self._loose[1].reshape(len(self.contacts(x)), -1)
        return self._vertices.reduced(self._barrier(x, record).blocks(self._factor, POSITIVE if careful else EXACT))

    def loosen(self, x: np.ndarray, p: np.ndarray) -> bool:
        c = self.contacts(x)
        grows = self._barrier(x).growths(p)
        far = grows > DOUBLES
        if not far.any():
            return False
        record = c.record.copy()
        record[far, 12] *= np.maximum(1.0 - grows[far], np.minimum(1.0, record[far, GAP] / (self._law.reach * record[far, SHARE])))
        self._loose = x.copy(), record
        return True

    def judge(self, x: np.ndarray, p: np.ndarray) -> tuple[float, float]:
        c = self.contacts(x)
        if not len(c):
            return 0.0, 0.0
        press = float(contact_forces(c, self._law.pressure, self._law.reach).sum())
        change = float(np.abs(self._barrier(x).growths(p)).max())
        return DIGITS * self._factor * press * float(np.abs(x).max(initial=0.0)), change


class PointFrictionPotential(FrictionPotential):
    """Friction of a scene with vertices: slips count from `origin` (all control points, flat), with rates `speed` at the beginning."""

    with_vertices = True

    def __init__(
        self, system: AffineSystem, law: ContactParameters, mu: np.ndarray, origin: np.ndarray, speed: np.ndarray, rate: float,
        factor: float,
    ):  # fmt: skip
        super().__init__(system, law, mu, origin, speed, rate, factor)
        self._node: NodeFriction | None = None

    def renew(self, contacts: ContactSet, x: np.ndarray, balanced: ContactParameters | None = None) -> bool:
        lagged = self._rubbing(contacts, x, balanced)
        slips = point_slips(self._system, lagged.contacts, self._V, self._law.slip_speed, self._rate)
        self._node = NodeFriction(lagged, slips, self._origin) if len(lagged.bound) else None
        return self._node is not None

    def value(self, x: np.ndarray) -> float:
        return self._factor * self._node.value(x) if self._node is not None else 0.0

    def judge(self, x: np.ndarray, p: np.ndarray) -> tuple[float, float]:
        if self._node is None:
            return 0.0, 0.0
        lagged, slips = self._node.lagged, self._node.e
        large = lagged.bound > LITTLE * lagged.bound.max()
        contacts = lagged.contacts
        moved, slid = (along_surfaces(contacts, way)[large] for way in (p, x - self._origin))
        size = [np.linalg.norm(w, axis=1) for w in (moved, slid)]
        return 0.0, SHARPER * float((size[0] / np.maximum(slips[large], size[1])).max())

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        if self._node is not None:
            self._node.add_gradient(x, self._factor, gradient_out)

    def point_blocks(self, x: np.ndarray, careful: bool) -> NodeBlocks:
        assert self._system.vertices is not None
        if self._node is None:
            return NodeBlocks.joined([])
        return self._system.vertices.reduced(self._node.blocks(x, self._factor, careful))


def along_surfaces(contacts: ContactSet, way: np.ndarray) -> np.ndarray:
    """(n, 3) of a motion of all control points (flat), what the sides of contacts move against each other along their surfaces."""
    nodes = contacts.nodes
    w = np.where(nodes[:, :, None] >= 0, way.reshape(-1, 3)[np.maximum(nodes, 0)], 0.0)
    r = np.einsum("nk,nki->ni", contacts.record[:, :8], w)
    return r - np.einsum("ni,ni->n", r, contacts.normal)[:, None] * contacts.normal


def point_slips(system: AffineSystem, contacts: ContactSet, speed: np.ndarray, slip_speed: float, rate: float) -> np.ndarray:
    """(n,) ε [m] of contacts, with the rates of all control points at the beginning of the step."""
    nodes, most = contacts.nodes, np.zeros(system.touchables)
    v = np.where(nodes[:, :, None] >= 0, speed.reshape(-1, 3)[np.maximum(nodes, 0)], 0.0)
    relative = np.linalg.norm(np.einsum("nk,nki->ni", contacts.record[:, :8], v), axis=1)
    np.maximum.at(most, contacts.pair.ravel(), np.repeat(relative, 2))
    most[: system.rows][system.place < 0] = 0.0
    return np.clip(most[contacts.pair].max(axis=1), REST * slip_speed, slip_speed) / rate


def contact_slips(system: AffineSystem, contacts: ContactSet, speed: np.ndarray, slip_speed: float, rate: float) -> np.ndarray:
    """(n,) ε [m] of contacts of bodies, and of vertices."""
    if system.vertices is None:
        return smooth_slips(system, contacts.pair, contacts.u, system.bodies_of(speed), slip_speed, rate)
    return point_slips(system, contacts, speed, slip_speed, rate)


class PointDamperPotential(Potential):
    """½ (∂v/∂x) wᵀ D w with w = x − x₀, of a matrix D [N s/m] over all control points (Eq. 20)."""

    with_vertices = True

    def __init__(self, system: AffineSystem, D: NodeBlocks, origin: np.ndarray, rate: float, factor: float, whole: bool = True):
        assert system.vertices is not None
        self.whole = whole
        self._D = D.rows, D.columns, np.ascontiguousarray(D.blocks).ravel()
        self._origin, self._strength = origin, factor * rate
        reduced = system.vertices.reduced(D)
        self._blocks = NodeBlocks(reduced.rows, reduced.columns, self._strength * reduced.blocks)
        self._known: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def _pull(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """w and D w; those of the last call again if nothing has moved."""
        if self._known is None or not np.array_equal(self._known[0], x):
            w, Dw = x - self._origin, np.zeros(x.size)
            add_block_products(*self._D, w, Dw)
            self._known = x.copy(), w, Dw
        return self._known[1:]

    def value(self, x: np.ndarray) -> float:
        w, Dw = self._pull(x)
        return 0.5 * self._strength * inner(w, Dw)

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        gradient_out += self._strength * self._pull(x)[1]

    def point_blocks(self, x: np.ndarray, careful: bool) -> NodeBlocks:
        return self._blocks


def point_contact_damping(contacts: ContactSet, damping: np.ndarray, law: ContactParameters) -> NodeBlocks | None:
    """D of contacts over all control points [N s/m] (Eq. 21), from k_d of every pair; None if nothing is damped."""
    if not damping.any() or not len(contacts):
        return None
    record = contacts.record.copy()
    record[:, 12] *= damping[contacts.pair[:, 0], contacts.pair[:, 1]]
    return NodeBarrier(ContactSet(contacts.pair, record, contacts.free_nodes), law.pressure, law.reach).blocks(1.0, POSITIVE).summed()
