"""`Report`: what is said of a step."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Report"]


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

    def __repr__(self) -> str:
        """What is worth saying, with units."""
        said = [f"{self.status} at t = {self.time:.6g} s"]
        if self.element is not None:
            said.append(f"near '{self.element}'")
        if self.energies:
            said.append(f"energy {self.energies.get('total', sum(self.energies.values())):.6g} J")
        if self.violation:
            said.append(f"violation {self.violation:.2g} m or rad")
        if self.redundant:
            said.append(f"{self.redundant} redundant rows" + (f" among {', '.join(self.redundant_names)}" if self.redundant_names else ""))
        if self.iterations:
            said.append(f"{self.iterations} iterations")
        if self.seconds:
            said.append(f"took {1e3 * self.seconds:.3g} ms")
        return f"Report({'; '.join([', '.join(said), *self.notes])})"
