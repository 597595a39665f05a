"""What the barrier solver remembers behind the fields that all solvers have: how the last step began, what held, how stiff barriers are.

x are the twelve numbers of a moving body or link: t and the columns of A; of free vertices their positions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.memory import Field, MemorySchema, MemoryView, count
from unibody.rules.base import COMMON, trapezoidal_work

MOST = 60
"""How often a stiffness may be doubled."""
USUAL_STEP = 1e-2
"""[s] Where there was no step."""


@dataclass
class LastStep:
    """What memory tells of the step that ended: whether there was one, its length, ∂v/∂x, and (flat) unknowns from which its velocity
    counts, unknowns and their velocities before it."""

    made: bool
    length: float
    rate: float
    origin: np.ndarray
    Q: np.ndarray
    V: np.ndarray


class BarrierMemory:
    """The memory of `n` moving bodies and links, `nq` joint coordinates, rows of equations and measured rows, deformables, their free
    and their held vertices; `driven`: with the work of what moves as it is told."""

    def __init__(
        self, n: int, nq: int, rows: int, measured: int, deformables: int = 0, vertices: int = 0, held: int = 0,
        driven: bool = False,
    ):  # fmt: skip
        self._n, self._vertices = 12 * n, vertices
        of_vertices = (
            Field("vertex_origin", (vertices, 3), "m", "positions of free vertices from which their velocities are taken"),
            Field("vertices_begun", (vertices, 3), "m", "positions of free vertices that it began with"),
            Field("vertex_speeds_begun", (vertices, 3), "m/s", "velocities of free vertices that it began with"),
        )  # fmt: skip
        self.schema: MemorySchema = COMMON.followed_by(
            count("stepped", "whether there was a step", 1),
            Field("rate", (), "1/s", "∂v/∂x of the last step", low=0.0),
            Field("potential_factor", (), "s²", "β h² of the last step", low=0.0),
            Field("origin", (n, 4, 3), "m, 1", "x from which its velocities are taken"),
            Field("begun_q", (n, 4, 3), "m, 1", "x that it began with"),
            Field("begun_v", (n, 4, 3), "m/s, 1/s", "rates of x that it began with"),
            Field("joint_q", (nq,), "m, rad, 1", "coordinates of joints, fitted to the bodies' poses"),
            Field("multipliers", (rows,), "N", "of the equations"),
            Field("stiffer_ranges", (measured,), "1", "how often κ of ranges was doubled", 0.0, MOST, whole=True),
            Field("stiffer_bodies", (n,), "1", "log₂ of how much stiffer bodies are than at rest", -MOST, MOST),
            Field("stiffer", (n + deformables,), "1", "log₂ of how much stiffer contacts are than at rest, per moving body", -MOST, MOST),
            Field("nearer", (n + deformables,), "1", "log₂ of the share of the reach that contacts have, per moving body", -MOST, 0.0),
            Field(
                "touching", (n + deformables,), "1", "whether a moving body was near another at the end of the step", 0.0, 1.0, whole=True
            ),
            count("iterations", "of Newton's method in the last step"),
            count("contact_count", "contacts"),
            Field("least_distance", (), "m", "between bodies that are near each other", low=0.0, infinite=True),
            *(of_vertices if vertices else ()),
            *((Field("drive_work", (), "J", "of driven bodies and prescribed vertices"),) if driven else ()),
            *((Field("drive_power", (), "W", "theirs at the end of the last step"),) if driven else ()),
            *((Field("held_forces", (held, 3), "N", "on vertices that are attached, then on prescribed ones"),) if held else ()),
        )

    def view(self, memory: np.ndarray) -> MemoryView:
        """The fields by name."""
        return self.schema.view(memory)

    def fresh(self, t: float, q: np.ndarray, nearer: np.ndarray) -> np.ndarray:
        """Before the first step, with log₂ of shares of the reach (moving,)."""
        out = np.zeros(self.schema.size)
        kept = self.view(out)
        kept.time, kept.joint_q, kept.nearer = t, q, nearer
        return out

    def last_step(self, memory: np.ndarray) -> LastStep:
        kept = self.view(memory)
        made, whole = bool(kept.stepped), [kept.origin.ravel(), kept.begun_q.ravel(), kept.begun_v.ravel()]
        if self._vertices:
            more = kept.vertex_origin, kept.vertices_begun, kept.vertex_speeds_begun
            whole = [np.concatenate([own, free.ravel()]) for own, free in zip(whole, more, strict=True)]
        return LastStep(made, kept.last_step if made else USUAL_STEP, kept.rate, *whole)

    def after(
        self, memory: np.ndarray, t: float, h: float, rate: float, factor: float, powers: np.ndarray,
        history: tuple[np.ndarray, np.ndarray, np.ndarray], fitted: np.ndarray, multipliers: np.ndarray, told: tuple[int, int, float],
        touching: np.ndarray, held: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """Memory after a step of length h to t: `history` (origin, unknowns, velocities, flat), `told` (iterations, contacts, distance),
        `touching` (n,), `held` forces on held vertices."""
        out = memory.copy()
        kept = self.view(out)
        kept.work = trapezoidal_work(memory, powers)
        kept.power, kept.last_step, kept.time = powers, h, t
        kept.stepped, kept.rate, kept.potential_factor = 1.0, rate, factor
        kept.origin, kept.begun_q, kept.begun_v = (some[: self._n].reshape(-1, 4, 3) for some in history)
        if self._vertices:
            more = (some[self._n :].reshape(-1, 3) for some in history)
            kept.vertex_origin, kept.vertices_begun, kept.vertex_speeds_begun = more
        if len(held):
            kept.held_forces = held
        kept.joint_q, kept.multipliers = fitted, multipliers
        kept.touching = touching
        kept.iterations, kept.contact_count, kept.least_distance = told
        return out
