"""What time stepping with impulses remembers behind the ledger: how the last step began, its impulses, and how they were found.

Contacts have room for a fixed number, so that records of a run have one width. Where there are more, those left out start cold and what
acted is solved for again when it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from unibody.collision.rigid.contacts import FEATURE_BITS
from unibody.kernel import Floats, Ints, device, kernel
from unibody.model.model import Model
from unibody.rules.base import MEMORY, book_work

if TYPE_CHECKING:
    from unibody.stepping.step_problem import StepSolution

LENGTH, ITERATIONS, RESIDUAL, METHOD, DISTANCE, GAINED, COUNT, CONVERGED, GAINS = range(MEMORY, MEMORY + 9)
"""Of the last step: its length [s], 0 before the first; iterations; the residual [m/s]; the number of the method; the least gap [m]; the
energy that contacts added [J]; how many contacts; whether its problem was solved. Then the steps so far in which contacts added energy."""
FACTS = 9

WIDTH = 9
"""Numbers of a contact: its id in two parts, four impulses, the gap where the step ended, the speeds of slip and of approach."""

PART = 1 << 32
"""Ids are kept as two whole numbers below it."""

NONE = np.zeros(0)

METHODS = ("none", "auto", "lemke", "pgs", "newton", "proximal", "augmented", "warm start")


@dataclass(frozen=True)
class Layout:
    """Where things lie in memory as a rule sees it, ledger first."""

    nq: int
    nv: int
    rows: int
    contacts: int
    rubs: int = 0
    leans: int = 0
    """Velocities whose own terms are taken in the middle of a step (`stepping.midpoint_coriolis`)."""

    @property
    def size(self) -> int:
        """Numbers behind the ledger."""
        return FACTS + self.nq + self.nv + 2 * self.leans + self.rows + self.rubs + WIDTH * self.contacts

    def q(self, memory: np.ndarray) -> np.ndarray:
        """q that the last step began with."""
        at = MEMORY + FACTS
        return memory[at : at + self.nq]

    def v(self, memory: np.ndarray) -> np.ndarray:
        """v that it began with."""
        at = MEMORY + FACTS + self.nq
        return memory[at : at + self.nv]

    def change(self, memory: np.ndarray) -> np.ndarray:
        """By how much it took velocities to have changed in its middle."""
        at = MEMORY + FACTS + self.nq + self.nv
        return memory[at : at + self.leans]

    def next_change(self, memory: np.ndarray) -> np.ndarray:
        """What a next step of the same length takes for that."""
        at = MEMORY + FACTS + self.nq + self.nv + self.leans
        return memory[at : at + self.leans]

    def constraints(self, memory: np.ndarray) -> np.ndarray:
        """Impulses of the constraint rows."""
        at = MEMORY + FACTS + self.nq + self.nv + 2 * self.leans
        return memory[at : at + self.rows]

    def rub(self, memory: np.ndarray) -> np.ndarray:
        """What friction in joints keeps."""
        at = MEMORY + FACTS + self.nq + self.nv + 2 * self.leans + self.rows
        return memory[at : at + self.rubs]

    def touches(self, memory: np.ndarray) -> np.ndarray:
        """(contacts, WIDTH) what is kept of contacts."""
        at = MEMORY + FACTS + self.nq + self.nv + 2 * self.leans + self.rows + self.rubs
        return memory[at:].reshape(self.contacts, WIDTH)

    @property
    def ids(self) -> tuple[int, int]:
        """Where the table of contacts begins and ends."""
        return MEMORY + self.size - WIDTH * self.contacts, MEMORY + self.size

    def whole(self, memory: np.ndarray) -> bool:
        """Whether all contacts of the last step are there."""
        return memory[COUNT] <= self.contacts

    def fresh(self, memory: np.ndarray, ledger: np.ndarray, h: float) -> np.ndarray:
        """Memory for the step after this one: the facts as they are, in the ledger the work up to here, no contacts yet."""
        out = np.zeros(memory.size)
        begin_memory(memory, ledger, h, out)
        return out

    def keep(
        self, held: StepSolution, h: float, q: np.ndarray, v: np.ndarray, memory_out: np.ndarray, change: np.ndarray = NONE,
        next_change: np.ndarray = NONE,
    ) -> None:  # fmt: skip
        """Write a step down; q and v are those that it began with."""
        outcome, touches = held.outcome, held.touches
        write_step(
            h, outcome.iterations, outcome.residual, METHODS.index(outcome.method), held.gained, int(outcome.converged), self.contacts,
            held.impulse.shape[1], touches.ids, touches.gaps, held.impulse.ravel(), held.before.ravel(), held.after.ravel(),
            NONE if held.struck is None else held.struck, q, v, change, next_change, held.constraint_impulse if self.rows else NONE,
            NONE if held.rub is None else held.rub, self.rubs, memory_out,
        )  # fmt: skip

    def warm(self, memory: np.ndarray, h: float) -> Guess:
        """Impulses to start with, those of the last step."""
        length, count, at = float(memory[LENGTH]), min(int(memory[COUNT]), self.contacts), memory.size - WIDTH * self.contacts
        scale = h / length if length > 0.0 else 0.0
        return Guess(scale, count, memory[at:], scale * self.constraints(memory) if self.rows else NONE)


@dataclass
class Guess:
    """Impulses of the last step, for one that is `scale` times as long. constraints: of the constraint rows, for this step already."""

    scale: float
    count: int
    table: np.ndarray
    constraints: np.ndarray

    def __call__(self, ids: np.ndarray, width: int) -> np.ndarray:
        """(n, width) of contacts, zero where one was not there."""
        out = np.zeros((len(ids), width))
        if self.count and len(ids):
            recall(self.scale, self.count, self.table, ids, width, out.ravel())
        return out


NO_GUESS = Guess(0.0, 0, NONE, NONE)


@kernel
def write_touches(
    h: float, width: int, ids: Ints, gaps: Floats, impulse: Floats, before: Floats, after: Floats, struck: Floats, table_out: Floats
) -> float:
    """Contacts as rows of memory, as many as there is room for; the least gap of all."""
    least = gaps[0]
    for k in range(gaps.size):
        least = min(least, gaps[k])
        at = WIDTH * k
        if at >= table_out.size:
            continue
        o = width * k
        table_out[at] = ids[k] // PART
        table_out[at + 1] = ids[k] % PART
        slip = 0.0
        for r in range(width):
            table_out[at + 2 + r] = impulse[o + r]
            if 0 < r < 3:
                slip += after[o + r] ** 2
        table_out[at + 6] = gaps[k] + h * after[o]
        table_out[at + 7] = sqrt(slip)
        table_out[at + 8] = max(-before[o], struck[k] if struck.size > 0 else 0.0, 0.0)
    return least


@kernel
def begin_memory(memory: Floats, ledger: Floats, h: float, memory_out: Floats) -> None:
    """The ledger with the work of the last step completed and one of length h begun, and the facts but for contacts; the rest stays."""
    for k in range(MEMORY + FACTS):
        memory_out[k] = memory[k]
    memory_out[COUNT] = 0.0
    book_work(ledger, h, memory_out)


@kernel
def write_step(
    h: float, iterations: int, residual: float, method: int, gained: float, converged: int, room: int, width: int, ids: Ints, gaps: Floats,
    impulse: Floats, before: Floats, after: Floats, struck: Floats, q: Floats, v: Floats, change: Floats, next_change: Floats,
    constraints: Floats, rub: Floats, rubs: int, memory_out: Floats,
) -> None:  # fmt: skip
    """A step as memory keeps it; contacts as many as there is `room` for, those of the step before that are more than now cleared."""
    n = gaps.size
    at = MEMORY + FACTS
    for part in (q, v, change, next_change, constraints):
        for k in range(part.size):
            memory_out[at + k] = part[k]
        at += part.size
    for k in range(rub.size):
        memory_out[at + k] = rub[k]
    at += rubs
    least = np.inf
    if n > 0:
        least = write_touches(h, width, ids, gaps, impulse, before, after, struck, memory_out[at : at + WIDTH * room])
    for k in range(at + WIDTH * min(n, room), at + WIDTH * min(int(memory_out[COUNT]), room)):
        memory_out[k] = 0.0
    memory_out[LENGTH] = h
    memory_out[ITERATIONS] = iterations
    memory_out[RESIDUAL] = residual
    memory_out[METHOD] = method
    memory_out[DISTANCE] = least
    memory_out[GAINED] = gained
    memory_out[COUNT] = n
    memory_out[CONVERGED] = converged
    if gained > 0.0:
        memory_out[GAINS] += 1.0


@kernel
def recall(scale: float, count: int, table: Floats, ids: Ints, width: int, impulse_out: Floats) -> None:
    """Impulses of the first `count` rows of memory for contacts of the same ids; both are in the order of pairs of shapes."""
    begin = 0
    for k in range(ids.size):
        pair = ids[k] >> FEATURE_BITS
        while begin < count and name_of(table, begin) >> FEATURE_BITS < pair:
            begin += 1
        i = begin
        while i < count:
            name = name_of(table, i)
            if name == ids[k]:
                for r in range(width):
                    impulse_out[width * k + r] = scale * table[WIDTH * i + 2 + r]
                break
            if name >> FEATURE_BITS != pair:
                break
            i += 1


@device
def name_of(table, i):
    """The id of a row of memory."""
    return int(table[WIDTH * i]) * PART + int(table[WIDTH * i + 1])


def room_for(model: Model, touching: bool) -> int:
    """How many contacts memory has room for."""
    return 32 + 16 * sum(bool(b.shapes) for b in model.bodies) if touching else 0
