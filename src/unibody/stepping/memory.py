"""What time stepping with impulses remembers: how the last step began, its impulses, and how they were found.

Contacts have room for a fixed number, so that records of a run have one width. Where there are more, those left out start cold and what
acted is solved for again when it is asked for.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from unibody.collision.rigid.contacts import FEATURE_BITS
from unibody.kernel import Floats, Ints, device, kernel
from unibody.memory import Field, MemorySchema, MemoryView, count
from unibody.model.model import Model
from unibody.rules.base import COMMON, begun_fields, book_work
from unibody.stepping.step_solution import StepSolution

METHODS = ("none", "auto", "lemke", "pgs", "newton", "proximal", "augmented", "warm start")

PART = 1 << 32
"""Ids of contacts are kept as two whole numbers below it."""

MOST_CONTACTS = 1e9

STEP = COMMON.followed_by(
    Field("step_length", (), "s", "of the last step, 0 before the first", low=0.0),
    count("iterations", "in which its impulses were found"),
    Field("residual", (), "m/s", "by which they miss their laws", infinite=True, missing=True),
    count("method", f"by which they were found: {', '.join(f'{k} {name}' for k, name in enumerate(METHODS))}", len(METHODS) - 1),
    Field("least_gap", (), "m", "between bodies that are near each other", infinite=True),
    Field("gained", (), "J", "kinetic energy that contacts added"),
    count("contact_count", "contacts, also those without a row below", MOST_CONTACTS),
    count("converged", "whether its problem was solved", 1),
    count("gains", "steps so far in which contacts added energy"),
)
"""What memory keeps of a step in single numbers."""
LENGTH, DISTANCE, GAINED, COUNT, CONVERGED, GAINS = STEP.at("step_length", "least_gap", "gained", "contact_count", "converged", "gains")
ITERATIONS, RESIDUAL, METHOD = STEP.at("iterations", "residual", "method")
StepFacts: Any = namedtuple("StepFacts", tuple(STEP.fields)[len(COMMON.fields) :])
"""The same as one tuple, for every report: faster than eight fields one by one."""
BEGUN_Q = STEP.size
"""Where q begins that the last step began with; what follows has sizes of its own (`SteppingMemory`)."""

CONTACT = MemorySchema(
    Field("id", (2,), "1", "which features of which pair of shapes, in two parts", -float(PART), float(PART), whole=True),
    Field("impulse", (4,), "N s, N m s", "along the normal, along two tangents, about the normal"),
    Field("gap", (), "m", "where the step ended"),
    Field("slip", (), "m/s", "speed of slip at its end"),
    Field("approach", (), "m/s", "speed with which they came together"),
)
ID, IMPULSE, GAP, SLIP, APPROACH = CONTACT.at("id", "impulse", "gap", "slip", "approach")
WIDTH = CONTACT.size

NONE = np.zeros(0)


class SteppingMemory:
    """The memory of a system with nq coordinates and nv velocities (fitted joints included), constraint `rows`, room for `contacts`,
    `midpoints` velocities whose own terms are taken in the middle of a step (`stepping.midpoint_coriolis`), and `friction` in joints."""

    def __init__(self, nq: int, nv: int, rows: int, contacts: int, midpoints: int = 0, friction: MemorySchema | None = None):
        self.rows, self.contacts, self.midpoints = rows, contacts, midpoints
        self.schema = STEP.followed_by(
            *begun_fields(nq, nv),
            Field("change", (midpoints,), "m/s, rad/s", "by how much it took velocities to have changed in its middle"),
            Field("next_change", (midpoints,), "m/s, rad/s", "what a next step of the same length takes for that"),
            Field("constraint_impulse", (rows,), "N s, N m s", "of the constraint rows"),
            Field("joint_friction", () if friction else (0,), "", "friction in joints", record=friction),
            Field("contacts", (contacts,), "", "the first of them", record=CONTACT),
        )

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields after what all solvers keep."""
        return tuple(self.schema.fields.values())[len(COMMON.fields) :]

    def view(self, memory: np.ndarray) -> MemoryView:
        return self.schema.view(memory)

    def facts(self, memory: np.ndarray) -> StepFacts:
        """What memory keeps of a step in single numbers."""
        return StepFacts._make(memory[LENGTH:BEGUN_Q].tolist())

    def friction(self, memory: np.ndarray) -> np.ndarray:
        """What friction in joints keeps, as one array."""
        return memory[self.schema.slices["joint_friction"]]

    def table(self, memory: np.ndarray) -> np.ndarray:
        """What is kept of contacts, one row behind the other."""
        return memory[self.schema.slices["contacts"]]

    def whole(self, memory: np.ndarray) -> bool:
        """Whether all contacts of the last step are there."""
        return memory[COUNT] <= self.contacts

    def fresh(self, memory: np.ndarray, ledger: np.ndarray, h: float) -> np.ndarray:
        """Memory for the step after this one: single numbers as they are, the work up to here, no contacts yet."""
        out = np.zeros(self.schema.size)
        begin_memory(memory, ledger, h, out)
        return out

    def keep(
        self, solution: StepSolution, h: float, q: np.ndarray, v: np.ndarray, memory_out: np.ndarray, change: np.ndarray = NONE,
        next_change: np.ndarray = NONE,
    ) -> None:  # fmt: skip
        """Write a step down; q and v are those that it began with."""
        outcome, touches = solution.outcome, solution.touches
        write_step(
            h, outcome.iterations, outcome.residual, METHODS.index(outcome.method), solution.gained, int(outcome.converged), self.contacts,
            solution.impulse.shape[1], touches.ids, touches.gaps, solution.impulse.ravel(), solution.before.ravel(), solution.after.ravel(),
            NONE if solution.struck is None else solution.struck, q, v, change, next_change,
            solution.constraint_impulse if self.rows else NONE, NONE if solution.joint_friction is None else solution.joint_friction,
            self.friction(memory_out).size, memory_out,
        )  # fmt: skip

    def warm(self, memory: np.ndarray, h: float) -> Guess:
        """Impulses to start with, those of the last step."""
        length, known = float(memory[LENGTH]), min(int(memory[COUNT]), self.contacts)
        scale = h / length if length > 0.0 else 0.0
        return Guess(scale, known, self.table(memory), scale * self.view(memory).constraint_impulse if self.rows else NONE)


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
        table_out[at + ID] = ids[k] // PART
        table_out[at + ID + 1] = ids[k] % PART
        slip = 0.0
        for r in range(width):
            table_out[at + IMPULSE + r] = impulse[o + r]
            if 0 < r < 3:
                slip += after[o + r] ** 2
        table_out[at + GAP] = gaps[k] + h * after[o]
        table_out[at + SLIP] = sqrt(slip)
        table_out[at + APPROACH] = max(-before[o], struck[k] if struck.size > 0 else 0.0, 0.0)
    return least


@kernel
def begin_memory(memory: Floats, ledger: Floats, h: float, memory_out: Floats) -> None:
    """What STEP names, with the work of the last step completed and one of length h begun, and no contacts; the rest stays."""
    for k in range(BEGUN_Q):
        memory_out[k] = memory[k]
    memory_out[COUNT] = 0.0
    book_work(ledger, h, memory_out)


@kernel
def write_step(
    h: float, iterations: int, residual: float, method: int, gained: float, converged: int, room: int, width: int, ids: Ints, gaps: Floats,
    impulse: Floats, before: Floats, after: Floats, struck: Floats, q: Floats, v: Floats, change: Floats, next_change: Floats,
    constraints: Floats, friction: Floats, friction_size: int, memory_out: Floats,
) -> None:  # fmt: skip
    """A step as memory keeps it, in the order of `SteppingMemory`; contacts as many as there is `room` for, those of the step before that
    are more than now cleared."""
    n = gaps.size
    at = BEGUN_Q
    for part in (q, v, change, next_change, constraints):
        for k in range(part.size):
            memory_out[at + k] = part[k]
        at += part.size
    for k in range(friction.size):
        memory_out[at + k] = friction[k]
    at += friction_size
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
                    impulse_out[width * k + r] = scale * table[WIDTH * i + IMPULSE + r]
                break
            if name >> FEATURE_BITS != pair:
                break
            i += 1


@device
def name_of(table, i):
    """The id of a row of memory."""
    return int(table[WIDTH * i + ID]) * PART + int(table[WIDTH * i + ID + 1])


def room_for(model: Model, touching: bool) -> int:
    """How many contacts memory has room for."""
    return 32 + 16 * sum(bool(b.shapes) for b in model.bodies) if touching else 0
