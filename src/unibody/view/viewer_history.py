"""What has been simulated so far, so that one can wind it back: rows in time, bounded in memory, and the numbers of the plots.

When the rows outgrow their bound, every second one of them goes. So the past grows coarser with its age, and the recent stays fine.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unibody.coordinates.observation import Observation
from unibody.model import State
from unibody.solvers import Bound

MOST_ROWS, MOST_BYTES = 20_000, 250_000_000
"""A history holds no more than either."""
FEWEST_ROWS = 100


@dataclass
class HistoryRow:
    """One instant: how to derive everything at it, and what the plots need of it."""

    time: float
    observe: Callable[[], Observation]
    made: tuple[Bound, State, np.ndarray] | None = None
    """To go on from here: a bound solver, its state and memory."""
    numbers: np.ndarray | None = None
    """Kinetic energy, potential energy [J], violation [m or rad], then the coordinates of all joints; None until derived."""

    control: np.ndarray | None = None
    """In force there, of rows that a simulation made."""

    @property
    def size(self) -> int:
        """Bytes, about."""
        state = 0 if self.made is None else self.made[1].q.nbytes + self.made[1].v.nbytes + self.made[2].nbytes
        return state + (0 if self.numbers is None else self.numbers.nbytes)

    def derived(self) -> Observation:
        """Everything at this instant; the numbers of the plots stay."""
        seen = self.observe()
        if self.numbers is None:
            self.numbers = np.concatenate([[seen.kinetic, seen.gravity + seen.springs, seen.violation], seen.joint_q])
        return seen


class History:
    """Rows in the order of time."""

    def __init__(self, most_rows: int = MOST_ROWS, most_bytes: int = MOST_BYTES):
        self.rows: list[HistoryRow] = []
        self._most_rows, self._most_bytes = most_rows, most_bytes

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def start(self) -> float:
        return self.rows[0].time

    @property
    def end(self) -> float:
        return self.rows[-1].time

    def append(self, row: HistoryRow) -> None:
        """One more row at the end; thins the others when they become too many."""
        self.rows.append(row)
        most = min(self._most_rows, max(FEWEST_ROWS, self._most_bytes // max(1, row.size)))
        if len(self.rows) > most:
            last = self.rows[-1]
            self.rows = self.rows[::2]
            if self.rows[-1] is not last:
                self.rows.append(last)

    def nearest(self, time: float) -> int:
        """The row closest to a time."""
        after = bisect_left(self.rows, time, key=lambda row: row.time)
        if after == 0:
            return 0
        if after == len(self.rows):
            return after - 1
        return after if self.rows[after].time - time < time - self.rows[after - 1].time else after - 1

    def forget_after(self, row: int) -> None:
        """What is simulated from here on replaces what followed."""
        del self.rows[row + 1 :]

    def series(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Times (n,) and numbers (n, …) of at most `most` rows over the whole history, of those that are derived."""
        rows = [r for r in self.rows if r.numbers is not None]
        if len(rows) > most:
            rows = [rows[k] for k in np.linspace(0, len(rows) - 1, most).round().astype(int)]
        if not rows:
            return np.zeros(0), np.zeros((0, 3))
        return np.array([r.time for r in rows]), np.array([r.numbers for r in rows])
