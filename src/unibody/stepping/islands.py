"""Which velocities respond to each other: trees on the ground, joined where a row ties several together.

Bodies that never move belong to no island (−1). Rows that hold tie all islands they touch into one; other rows tie where they touch more
than two, so that every row acts on at most two islands. All of it follows from the model, once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from unibody.arena import Arena
from unibody.coordinates.constraint_layout import ConstraintLayout
from unibody.kernel import Ints, device, kernel

OF_BODY, ALONE, FIRST, PLACE, MEMBERS, MEMBER_START, SEAT, CONSTRAINT_ISLANDS, INVERSE_AT, COLUMN_OF = range(10)
"""Slots of the tables of a grouping."""

LARGEST = 64
"""Velocities, and bodies, of an island beyond which its M⁻¹ is never made."""


@dataclass(frozen=True)
class Islands:
    """of_body: (bodies,) the island of each body; first: (islands + 1,) where its velocities begin in a vector over islands; place: (nv,)
    where a velocity of the system stands there, and column: (nv,) the reverse; members, member_start: the bodies of each island, parents
    first; rows: (k, 2) the islands of the constraint rows."""

    of_body: np.ndarray
    first: np.ndarray
    place: np.ndarray
    column: np.ndarray
    members: np.ndarray
    member_start: np.ndarray
    rows: np.ndarray
    singles: np.ndarray = field(repr=False)
    """(k,) ones: the constraint rows are blocks of one."""
    alone: np.ndarray = field(repr=False)
    """(islands,) 1 for a single body with six velocities that no constraint row touches."""

    @cached_property
    def seat(self) -> np.ndarray:
        """(bodies,) where a body stands among the members."""
        out = np.full(len(self.of_body), -1, np.int64)
        out[self.members] = np.arange(len(self.members))
        return out

    @cached_property
    def inverse_at(self) -> np.ndarray:
        """(islands + 1,) where the numbers of `island_inverses` begin of islands that meet enough constraint rows, −1 for others; and
        where they all end."""
        met = np.bincount(self.rows[self.rows >= 0], minlength=len(self.alone))
        out, end = np.full(len(self.alone) + 1, -1, np.int64), 0
        for g, (n, count) in enumerate(zip(np.diff(self.first).tolist(), np.diff(self.member_start).tolist(), strict=True)):
            if worth_inverting(n, count, int(met[g])):
                out[g], end = end, end + inverse_size(n, count)
        out[-1] = end
        return out

    @cached_property
    def tables(self) -> tuple[np.ndarray, np.ndarray]:
        """All of it in one array, and its layout."""
        bodies, members = (self.of_body, self.alone, self.first, self.place), (self.members, self.member_start, self.seat)
        arena = Arena([*bodies, *members, self.rows, self.inverse_at, self.column], np.int64, frozen=True)
        return arena.layout, arena.flat

    def pairs(self, bodies: np.ndarray) -> np.ndarray:
        """(n, 2) islands of pairs of bodies; one that occurs twice is named once."""
        out = np.empty((len(bodies), 2), np.int64)
        name_islands(self.of_body, np.ascontiguousarray(bodies, np.int64).ravel(), out.ravel())
        return out


@device
def worth_inverting(n, members, sweeps):
    """Whether M⁻¹ of an island of n velocities is worth as much as so many sweeps of its tree; it is made in a third of n at most."""
    return n <= LARGEST and members <= LARGEST and 3 * sweeps > n


@device
def inverse_size(n, members):
    """How many numbers `island_inverses` keeps of an island."""
    return 3 * ((n + 2) // 3) * (n + 6 * members)


@kernel
def name_islands(of_body: Ints, bodies: Ints, islands_out: Ints) -> None:
    """Groups of pairs of bodies; one that occurs twice is named once."""
    for k in range(bodies.size // 2):
        a, b = of_body[bodies[2 * k]], of_body[bodies[2 * k + 1]]
        islands_out[2 * k] = a
        islands_out[2 * k + 1] = -1 if a == b else b


def make_islands(parent: np.ndarray, moving: np.ndarray, owner: np.ndarray, constraints: ConstraintLayout, holds: np.ndarray) -> Islands:
    """parent: (bodies,); moving: (bodies,); owner: (nv,) the body of each velocity; holds: (k,) which of the constraint rows beyond the
    primary ones hold."""
    root = np.arange(len(parent))

    def top(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = int(root[i])
        return i

    # trees of joints, and bodies that rows hold together
    for i in range(1, len(parent)):
        if moving[i] and moving[parent[i]]:
            root[i] = top(int(parent[i]))
    first = constraints.primary_rows
    touched = []
    for r in range(constraints.rows - first):
        bodies = list(constraints.entry_body[constraints.row_entry[constraints.row_start[r] : constraints.row_start[r + 1]]])
        bodies += [owner[d] for d in constraints.dof_index.reshape(-1, 2)[constraints.dof_start[r] : constraints.dof_start[r + 1], 1]]
        touched.append([int(b) for b in bodies if moving[b]])
        if holds[r]:
            for b in touched[-1][1:]:
                root[top(b)] = top(touched[-1][0])
    # a row that does not hold may touch two islands, not more
    again = True
    while again:
        again = False
        for bodies in touched:
            tops = sorted({top(b) for b in bodies})
            for t in tops[2:]:
                root[t], again = tops[0], True
    # islands by number: of bodies, of rows, of velocities
    names = {t: k for k, t in enumerate(sorted({top(i) for i in range(len(parent)) if moving[i]}))}
    of_body = np.array([names[top(i)] if moving[i] else -1 for i in range(len(parent))], np.int64)
    rows = np.full((len(touched), 2), -1, np.int64)
    for r, bodies in enumerate(touched):
        islands = sorted({int(of_body[b]) for b in bodies})
        rows[r, : len(islands)] = islands
    # velocities and bodies in the order of islands
    of_velocity = of_body[owner] if len(owner) else np.zeros(0, np.int64)
    column = np.argsort(of_velocity, kind="stable").astype(np.int64)
    place = np.empty_like(column)
    place[column] = np.arange(len(column))
    counts = np.bincount(of_velocity, minlength=len(names)) if len(owner) else np.zeros(len(names), np.int64)
    members = np.argsort(np.where(of_body < 0, len(names), of_body), kind="stable").astype(np.int64)[: int((of_body >= 0).sum())]
    member_start = np.concatenate([[0], np.cumsum(np.bincount(of_body[members], minlength=len(names)))]).astype(np.int64)
    alone = (np.diff(member_start) == 1) & (counts == 6)
    alone[rows[rows >= 0]] = False
    return Islands(
        of_body, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), place, column, members, member_start, rows,
        np.ones(len(touched), np.int64), alone.astype(np.int64),
    )  # fmt: skip


@kernel
def lay_blocks(
    of_body: Ints, first: Ints, front_rows: Ints, front_islands: Ints, nodes: Ints, rows: int, rows_out: Ints, islands_out: Ints,
    start_out: Ints, place_out: Ints,
) -> None:  # fmt: skip
    """Where the rows and numbers of all blocks begin: those in front, then blocks of `rows` wrenches on two nodes each."""
    before = front_rows.size
    start_out[0] = 0
    place_out[0] = 0
    for k in range(rows_out.size):
        if k < before:
            rows_out[k], islands_out[2 * k], islands_out[2 * k + 1] = front_rows[k], front_islands[2 * k], front_islands[2 * k + 1]
        else:
            a, b = of_body[nodes[2 * (k - before)]], of_body[nodes[2 * (k - before) + 1]]
            rows_out[k], islands_out[2 * k], islands_out[2 * k + 1] = rows, a, -1 if a == b else b
        size = 0
        for side in range(2):
            g = islands_out[2 * k + side]
            if g >= 0:
                size += first[g + 1] - first[g]
        start_out[k + 1] = start_out[k] + rows_out[k]
        place_out[k + 1] = place_out[k] + rows_out[k] * size
