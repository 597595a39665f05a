"""What numbers may stand in the memory of a solver, so that memory from a file is looked at before a kernel reads it.

All numbers are finite and below HUGE unless a `Field` says otherwise: counts and choices are whole and within their range, lengths of steps
are not negative, and some numbers (a least distance where nothing is near) may be infinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unibody.rules.base import HUGE

MANY = 2.0**53
"""Counts are exact below it."""


@dataclass(frozen=True)
class Field:
    """Some columns of memory: `what` they hold, the least and the largest number, whether they are whole, and whether they may be
    infinite or, where nothing is meant, NaN."""

    what: str
    columns: slice
    low: float = -HUGE
    high: float = HUGE
    whole: bool = False
    infinite: bool = False
    missing: bool = False


def count(what: str, columns: slice, most: float = MANY) -> Field:
    """A number of things, or a choice among them."""
    return Field(what, columns, 0.0, most, whole=True)


def at(place: int) -> slice:
    """One column; negative ones count from the end, of which the last is −1."""
    return slice(place, place + 1 or None)


def fault_of(memory: np.ndarray, fields: Sequence[Field]) -> str | None:
    """What is wrong with memories (rows, size), if anything is."""
    plain = np.ones(memory.shape[1], bool)
    for field in fields:
        values = memory[:, field.columns]
        plain[field.columns] = False
        good = (values >= field.low) & (values <= field.high)
        if field.whole:
            good &= values == np.floor(values)
        if field.infinite:
            good |= values == np.inf
        if field.missing:
            good |= np.isnan(values)
        if not good.all():
            return f"its memory holds {values[~good].flat[0]:.6g} as {field.what}"
    rest = memory[:, plain]
    if not (np.abs(rest) <= HUGE).all():
        return "its memory is not finite"
    return None
