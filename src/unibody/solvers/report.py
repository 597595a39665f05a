"""`Report`: what is said of a step."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Report:
    """What happened in a step; never printed by itself.

    `violation` is the largest constraint violation [m or rad]; `redundant` counts constraint rows that repeat others, `redundant_names` the
    elements they belong to; `notes` say what ran through Python callbacks; `energies` in J, `seconds` of wall-clock time.
    """

    status: str = "ok"
    time: float = 0.0
    iterations: int = 0
    residual: float = 0.0
    violation: float = 0.0
    minimum_distance: float = float("inf")
    redundant: int = 0
    redundant_names: tuple[str, ...] = ()
    element: str | None = None
    energies: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
