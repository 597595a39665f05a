"""Contacts over any control points: value, gradient and second derivative in 3×3 blocks.

A contact acts on at most eight control points x₁ … x₈, four a side (`ContactSet.nodes`). Its law (`barrier`, `curvature`, `friction`) is
that of two bodies with 12 numbers each: here these are the contact's own 24 numbers, and what comes of them,

    ∂B/∂xᵢ  (3),      ∂²B/∂xᵢ∂xⱼ  (3×3),

is added where control point i, or the pair (i, j), stands. Two bodies need none of this: `solvers/barrier/contact_potential` adds their
12×12 blocks at once. Blocks are listed with row ≤ column; those below are their transposes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.algebra.block.node_blocks import NodeBlocks
from unibody.collision.proximity import WIDTH, ContactSet
from unibody.contact.barrier import add_contact_gradient, add_positive_blocks, contact_change, contact_energy
from unibody.contact.curvature import add_exact_contact_blocks
from unibody.contact.friction import LaggedFriction, add_contact_friction, add_friction_contact_blocks, friction_energy
from unibody.kernel import Floats, Ints, device, kernel

EXACT, POSITIVE = 0, 1
"""Second derivatives: as they are; positive and rather too large; the part along the normals alone, which is positive by itself."""
LOCAL = 3 * 144
"""Numbers of a contact's own blocks: those of both sides, then the one between them."""


@device
def gather(nodes, k, x, local_out):
    """The 24 numbers of contact k's control points."""
    for i in range(8):
        node = nodes[8 * k + i]
        for r in range(3):
            local_out[3 * i + r] = x[3 * node + r] if node >= 0 else 0.0


@device
def scatter(nodes, k, local, sum_out):
    for i in range(8):
        node = nodes[8 * k + i]
        if node >= 0:
            for r in range(3):
                sum_out[3 * node + r] += local[3 * i + r]


@device
def local_entry(local, i, r, j, c):
    """Row r of control point i, column c of j, of a contact's own blocks."""
    if i < 4 and j < 4:
        return local[12 * (3 * i + r) + 3 * j + c]
    if i >= 4 and j >= 4:
        return local[144 + 12 * (3 * (i - 4) + r) + 3 * (j - 4) + c]
    if i < 4:
        return local[288 + 12 * (3 * i + r) + 3 * (j - 4) + c]
    return local[288 + 12 * (3 * j + c) + 3 * (i - 4) + r]


@device
def list_blocks(nodes, k, local, found, rows_out, columns_out, blocks_out):
    """Blocks of contact k on and above the diagonal, behind those that were found; gives how many there are now."""
    for i in range(8):
        for j in range(8):
            row = nodes[8 * k + i]
            column = nodes[8 * k + j]
            if row < 0 or column < row:
                continue
            # of two different places with one control point both (i, j) and (j, i) belong to the diagonal
            rows_out[found] = row
            columns_out[found] = column
            for r in range(3):
                for c in range(3):
                    blocks_out[9 * found + 3 * r + c] = local_entry(local, i, r, j, c)
            found += 1
    return found


@kernel
def sum_barriers(record: Floats, kappa: float, reach: float) -> float:
    """Σ B [J]; infinite where a gap is not positive."""
    total = 0.0
    for k in range(record.size // WIDTH):
        total += contact_energy(record, k, kappa, reach)
    return total


@kernel
def add_barrier_forces(
    nodes: Ints, record: Floats, kappa: float, reach: float, factor: float, local_out: Floats, gradient_out: Floats
) -> None:
    """gradient (3 per control point) += factor ∂ΣB/∂x."""
    for k in range(nodes.size // 8):
        local_out[:24] = 0.0
        add_contact_gradient(0, 1, record, k, kappa, reach, factor, local_out)
        scatter(nodes, k, local_out, gradient_out)


@kernel
def list_barrier_blocks(
    nodes: Ints, record: Floats, kappa: float, reach: float, factor: float, way: int, local_out: Floats, rows_out: Ints, columns_out: Ints,
    blocks_out: Floats,
) -> int:  # fmt: skip
    """Blocks of factor ∂²ΣB/∂x², one list for all contacts; gives their number, at most 64 a contact."""
    found = 0
    for k in range(nodes.size // 8):
        local_out[:] = 0.0
        own = local_out[:288]
        between = local_out[288:]
        if way == 0:
            add_exact_contact_blocks(0, 1, 0, record, k, kappa, reach, factor, own, between)
        else:
            add_positive_blocks(0, 1, 0, record, k, kappa, reach, factor, own, between)
        found = list_blocks(nodes, k, local_out, found, rows_out, columns_out, blocks_out)
    return found


@kernel
def largest_change(nodes: Ints, record: Floats, p: Floats, local_out: Floats) -> float:
    """max |∂d/∂x · p| / gap of a direction p of all control points."""
    most = 0.0
    for k in range(nodes.size // 8):
        gather(nodes, k, p, local_out)
        most = max(most, contact_change(0, 1, record, k, local_out))
    return most


@kernel
def fill_growths(nodes: Ints, record: Floats, p: Floats, local_out: Floats, growth_out: Floats) -> None:
    """∂d/∂x · p / gap of every contact, for a direction p of all control points."""
    for k in range(nodes.size // 8):
        gather(nodes, k, p, local_out)
        growth = 0.0
        for i in range(8):
            u = record[WIDTH * k + i]
            for r in range(3):
                growth += u * record[WIDTH * k + 8 + r] * local_out[3 * i + r]
        growth_out[k] = growth / record[WIDTH * k + 11]


@kernel
def sum_friction(
    nodes: Ints, record: Floats, bound: Floats, e: Floats, x: Floats, x0: Floats, local_out: Floats, begun_out: Floats
) -> float:
    """Σ μ λ f₀(|w|) [J]."""
    total = 0.0
    for k in range(nodes.size // 8):
        gather(nodes, k, x, local_out)
        gather(nodes, k, x0, begun_out)
        total += friction_energy(0, 1, record, bound, k, e[k], local_out, begun_out)
    return total


@kernel
def add_friction_forces(
    nodes: Ints, record: Floats, bound: Floats, e: Floats, factor: float, x: Floats, x0: Floats, here_out: Floats, begun_out: Floats,
    local_out: Floats, gradient_out: Floats,
) -> None:  # fmt: skip
    """gradient (3 per control point) += factor × that of friction."""
    for k in range(nodes.size // 8):
        gather(nodes, k, x, here_out)
        gather(nodes, k, x0, begun_out)
        local_out[:24] = 0.0
        add_contact_friction(0, 1, record, bound, k, e[k], factor, here_out, begun_out, local_out)
        scatter(nodes, k, local_out, gradient_out)


@kernel
def list_friction_blocks(
    nodes: Ints, record: Floats, bound: Floats, e: Floats, factor: float, x: Floats, x0: Floats, careful: bool, here_out: Floats,
    begun_out: Floats, local_out: Floats, rows_out: Ints, columns_out: Ints, blocks_out: Floats,
) -> int:  # fmt: skip
    """As `list_barrier_blocks`, of friction."""
    found = 0
    for k in range(nodes.size // 8):
        gather(nodes, k, x, here_out)
        gather(nodes, k, x0, begun_out)
        local_out[:] = 0.0
        own = local_out[:288]
        between = local_out[288:]
        add_friction_contact_blocks(0, 1, 0, record, bound, k, e[k], factor, here_out, begun_out, careful, own, between)
        found = list_blocks(nodes, k, local_out, found, rows_out, columns_out, blocks_out)
    return found


@dataclass(frozen=True)
class NodeBarrier:
    """Barriers of contacts over control points x (3 each, flat) with pressure κ [Pa] and reach d̂ [m]."""

    contacts: ContactSet
    kappa: float
    reach: float

    def value(self) -> float:
        """Σ B [J]."""
        return float(sum_barriers(self.contacts.record.ravel(), self.kappa, self.reach))

    def add_gradient(self, factor: float, gradient_out: np.ndarray) -> None:
        """gradient (3 per control point) += factor ∂ΣB/∂x."""
        add_barrier_forces(*_flat(self.contacts), self.kappa, self.reach, factor, np.zeros(24), gradient_out)

    def blocks(self, factor: float, way: int) -> NodeBlocks:
        """factor ∂²ΣB/∂x²: EXACT or POSITIVE."""
        rows, columns, blocks = _room(self.contacts)
        n = list_barrier_blocks(
            *_flat(self.contacts), self.kappa, self.reach, factor, way, np.zeros(LOCAL), rows, columns, blocks.ravel()
        )
        return NodeBlocks(rows[:n], columns[:n], blocks[:n])

    def growths(self, p: np.ndarray) -> np.ndarray:
        """(n,) by which part of itself a direction p makes each gap grow."""
        out = np.zeros(len(self.contacts))
        fill_growths(*_flat(self.contacts), p, np.zeros(24), out)
        return out

    def change(self, p: np.ndarray) -> float:
        """By which part of itself a direction p changes a gap at most."""
        return float(largest_change(*_flat(self.contacts), p, np.zeros(24)))


@dataclass(frozen=True)
class NodeFriction:
    """Lagged friction over control points, smooth below slips e (n,) [m], with slips from x0 on (3 per control point, flat)."""

    lagged: LaggedFriction
    e: np.ndarray
    x0: np.ndarray

    def value(self, x: np.ndarray) -> float:
        """Σ μ λ f₀(|w|) [J]."""
        return float(sum_friction(*_flat(self.lagged.contacts), self.lagged.bound, self.e, x, self.x0, np.zeros(24), np.zeros(24)))

    def add_gradient(self, x: np.ndarray, factor: float, gradient_out: np.ndarray) -> None:
        """gradient (3 per control point) += factor × that of friction."""
        here, begun, local = np.zeros((3, 24))
        add_friction_forces(*_flat(self.lagged.contacts), self.lagged.bound, self.e, factor, x, self.x0, here, begun, local, gradient_out)

    def blocks(self, x: np.ndarray, factor: float, careful: bool) -> NodeBlocks:
        """Its second derivative; `careful`: the quadratic model that lies above."""
        rows, columns, blocks = _room(self.lagged.contacts)
        here, begun = np.zeros((2, 24))
        n = list_friction_blocks(
            *_flat(self.lagged.contacts), self.lagged.bound, self.e, factor, x, self.x0, careful, here, begun, np.zeros(LOCAL), rows,
            columns, blocks.ravel(),
        )  # fmt: skip
        return NodeBlocks(rows[:n], columns[:n], blocks[:n])


def _flat(contacts: ContactSet) -> tuple[np.ndarray, np.ndarray]:
    return np.ascontiguousarray(contacts.nodes).ravel(), contacts.record.ravel()


def _room(contacts: ContactSet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For the blocks of contacts."""
    count = int(((contacts.nodes >= 0).sum(axis=1) ** 2).sum())
    return np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros((count, 3, 3))
