"""What time stepping with impulses remembers behind the ledger: how the last step began, its impulses, and how they were found.

Contacts have room for a fixed number, so that records of a run have one width. Where there are more, those left out start cold and what
acted is solved for again when it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.model.model import Model
from unibody.rules.base import MEMORY
from unibody.rules.step_problem import Held

LENGTH, ITERATIONS, RESIDUAL, METHOD, DISTANCE, GAINED, COUNT, CONVERGED, GAINS = range(MEMORY, MEMORY + 9)
"""Of the last step: its length [s], 0 before the first; iterations; the residual [m/s]; the number of the method; the least gap [m]; the
energy that contacts added [J]; how many contacts; whether its problem was solved. Then the steps so far in which contacts added energy."""
FACTS = 9

WIDTH = 9
"""Numbers of a contact: its id in two parts, four impulses, the gap where the step ended, the speeds of slip and of approach."""

PART = 1 << 32
"""Ids are kept as two whole numbers below it."""

METHODS = ("none", "auto", "lemke", "pgs", "newton", "proximal", "augmented")


@dataclass(frozen=True)
class Layout:
    """Where things lie in memory as a rule sees it, ledger first."""

    nq: int
    nv: int
    rows: int
    contacts: int
    rubs: int = 0

    @property
    def size(self) -> int:
        """Numbers behind the ledger."""
        return FACTS + self.nq + self.nv + self.rows + self.rubs + WIDTH * self.contacts

    def q(self, memory: np.ndarray) -> np.ndarray:
        """q that the last step began with."""
        at = MEMORY + FACTS
        return memory[at : at + self.nq]

    def v(self, memory: np.ndarray) -> np.ndarray:
        """v that it began with."""
        at = MEMORY + FACTS + self.nq
        return memory[at : at + self.nv]

    def book(self, memory: np.ndarray) -> np.ndarray:
        """Impulses of the book's rows."""
        at = MEMORY + FACTS + self.nq + self.nv
        return memory[at : at + self.rows]

    def rub(self, memory: np.ndarray) -> np.ndarray:
        """What friction in joints keeps."""
        at = MEMORY + FACTS + self.nq + self.nv + self.rows
        return memory[at : at + self.rubs]

    def touches(self, memory: np.ndarray) -> np.ndarray:
        """(contacts, WIDTH) what is kept of contacts."""
        at = MEMORY + FACTS + self.nq + self.nv + self.rows + self.rubs
        return memory[at:].reshape(self.contacts, WIDTH)

    def whole(self, memory: np.ndarray) -> bool:
        """Whether all contacts of the last step are there."""
        return memory[COUNT] <= self.contacts

    def keep(self, held: Held, h: float, q: np.ndarray, v: np.ndarray, memory_out: np.ndarray) -> None:
        """Write a step down; q and v are those that it began with."""
        outcome, n = held.outcome, len(held.touches.gaps)
        memory_out[LENGTH : LENGTH + FACTS - 1] = (
            h, outcome.iterations, outcome.residual, METHODS.index(outcome.method), held.touches.gaps.min(initial=np.inf), held.gained, n,
            outcome.converged,
        )  # fmt: skip
        memory_out[GAINS] += held.gained > 0.0
        self.q(memory_out)[:], self.v(memory_out)[:] = q, v
        self.book(memory_out)[:] = held.book_impulse
        if held.rub is not None:
            self.rub(memory_out)[:] = held.rub
        table = self.touches(memory_out)
        table[:] = 0.0
        k, w = min(n, self.contacts), held.impulse.shape[1]
        table[:k, 0], table[:k, 1] = held.touches.ids[:k] // PART, held.touches.ids[:k] % PART
        table[:k, 2 : 2 + w] = held.impulse[:k]
        table[:k, 6] = held.touches.gaps[:k] + h * held.after[:k, 0]
        table[:k, 7] = np.linalg.norm(held.after[:k, 1:3], axis=1)
        table[:k, 8] = held.approach[:k]

    def warm(self, memory: np.ndarray, h: float) -> Any:
        """A function (ids, width) → impulses to start with, those of the last step where a contact was there."""
        count = min(int(memory[COUNT]), self.contacts)
        table = self.touches(memory)[:count]
        scale = h / memory[LENGTH] if memory[LENGTH] > 0.0 else 0.0

        def guess(ids: np.ndarray, width: int) -> np.ndarray:
            out = np.zeros((len(ids), width))
            if count and len(ids):
                known = table[:, 0].astype(np.int64) * PART + table[:, 1].astype(np.int64)
                order = np.argsort(known, kind="stable")
                known = known[order]
                at = np.minimum(np.searchsorted(known, ids), count - 1)
                same = known[at] == ids
                out[same] = scale * table[order[at[same]], 2 : 2 + width]
            return out

        return guess


def room_for(model: Model, touching: bool) -> int:
    """How many contacts memory has room for."""
    return 32 + 16 * sum(bool(b.shapes) for b in model.bodies) if touching else 0
