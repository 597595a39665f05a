"""A function of time given by its values: cubic between them, with continuous velocity, as in `unibody.spatial.motion`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.spatial.motion import Track, checked_motion, is_table, vector_track


@dataclass(frozen=True)
class Table:
    """`values` at `times` [s], numbers or rows of numbers; called with a time within them it gives a float or an array.

    >>> Table((0.0, 1.0, 2.0), (0.0, 1.0, 4.0))(1.5)
    2.25
    """

    times: Any
    values: Any

    def __post_init__(self) -> None:
        if not is_table((self.times, self.values)):
            raise ModelError(f"Table: {self.times!r} and {self.values!r} are no lists; give times and as many numbers, or rows of numbers")
        times, rows = checked_motion((self.times, self.values), None, None, "Table")
        single = np.ndim(self.values) == 1
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", tuple(row[0] for row in rows) if single else rows)
        self._track(times[0])

    @staticmethod
    def of(function: Callable[[float], Any], times: Any) -> Table:
        """The table of a function."""
        return Table(tuple(times), tuple(np.asarray(function(t), float).tolist() for t in times))

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self.times, self.values)

    def __call__(self, t: float) -> Any:
        value = self._track(t)[: self._count]
        return value if isinstance(self.values[0], tuple) else float(value[0])

    def derivatives(self, t: float) -> np.ndarray:
        """(3, numbers of a row) value, rate and acceleration; at its last time, too, where differences find nothing behind it."""
        return np.asarray(self._track(t), float).reshape(3, self._count)

    @property
    def _count(self) -> int:
        return len(self.values[0]) if isinstance(self.values[0], tuple) else 1

    @cached_property
    def _track(self) -> Track:
        rows = self.values if isinstance(self.values[0], tuple) else tuple((x,) for x in self.values)
        return vector_track((self.times, rows), self._count, "Table")
