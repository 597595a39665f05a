"""Where the barrier solver's memory holds what. After the ledger of work (MEMORY numbers, `rules.base`):

    whether there was a step; its ∂v/∂x [1/s] and β h² [s²]
    coordinates from which its velocity counts, coordinates and velocities before it (12 each for every moving body or link)
    fitted joint coordinates
    multipliers of joint equations
    how often κ of every measured row was doubled, and κ of every moving body
    iterations of the step, contacts at its end, and their least distance [m]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.rules.base import LAST_STEP, MEMORY, TIME

WORK, POWER = slice(0, 3), slice(3, 6)
HAD_STEP, RATE, FACTOR, HISTORY = MEMORY, MEMORY + 1, MEMORY + 2, MEMORY + 3
ITERATIONS, CONTACTS, DISTANCE = -3, -2, -1
USUAL_STEP = 1e-2
"""[s] Where there was no step."""


@dataclass
class LastStep:
    """What memory tells of the step that ended: whether there was one, its length, ∂v/∂x, and (n, 4, 3) coordinates from which its velocity
    counts, coordinates and velocities before it."""

    made: bool
    length: float
    rate: float
    origin: np.ndarray
    Q: np.ndarray
    V: np.ndarray


class MemoryLayout:
    """The memory of `n` moving bodies and links, `nq` joint coordinates, rows of equations and measured rows."""

    def __init__(self, n: int, nq: int, rows: int, measured: int):
        self.n = n
        first = HISTORY + 36 * n
        self.fitted = slice(first, first + nq)
        self.multipliers = slice(self.fitted.stop, self.fitted.stop + rows)
        self.stiffer_ranges = slice(self.multipliers.stop, self.multipliers.stop + measured)
        self.stiffer = slice(self.stiffer_ranges.stop, self.stiffer_ranges.stop + n)
        self.size = self.stiffer.stop + 3

    def fresh(self, t: float, q: np.ndarray) -> np.ndarray:
        """Before the first step."""
        out = np.zeros(self.size)
        out[TIME], out[self.fitted] = t, q
        return out

    def last_step(self, memory: np.ndarray) -> LastStep:
        history = memory[HISTORY : HISTORY + 36 * self.n].reshape(3, self.n, 4, 3)
        made = bool(memory[HAD_STEP])
        return LastStep(made, float(memory[LAST_STEP]) if made else USUAL_STEP, float(memory[RATE]), *history)

    def powers_added(self, memory: np.ndarray, powers: np.ndarray) -> np.ndarray:
        """Work of dampers, motors and applied wrenches up to here, by the trapezoidal rule over the last step."""
        return memory[WORK] + 0.5 * memory[LAST_STEP] * (memory[POWER] + powers)

    def after(
        self, memory: np.ndarray, t: float, h: float, rate: float, factor: float, powers: np.ndarray, history: np.ndarray,
        fitted: np.ndarray, multipliers: np.ndarray, told: tuple[int, int, float],
    ) -> np.ndarray:  # fmt: skip
        """Memory after a step of length h to t: `history` (origin, coordinates, velocities), `told` (iterations, contacts, distance)."""
        out = memory.copy()
        out[WORK] = self.powers_added(memory, powers)
        out[POWER], out[LAST_STEP], out[TIME] = powers, h, t
        out[HAD_STEP], out[RATE], out[FACTOR] = 1.0, rate, factor
        out[HISTORY : HISTORY + 36 * self.n] = history
        out[self.fitted], out[self.multipliers] = fitted, multipliers
        out[ITERATIONS], out[CONTACTS], out[DISTANCE] = told
        return out
