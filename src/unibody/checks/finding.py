"""What a check says: findings of three levels, and the largest safe step of every solver and rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from unibody.coordinates.assembly.outcome import quoted

LEVELS = ("error", "warning", "note")
"""error: the model cannot do what it says; warning: it probably does not do what was meant; note: worth knowing."""


@dataclass(frozen=True)
class Finding:
    """One line about named elements: what was found, its value, and a remedy. `code` is a word for programs."""

    level: str
    code: str
    elements: tuple[str, ...]
    message: str

    def __str__(self) -> str:
        return f"{self.level}: {self.message}"


@dataclass(frozen=True)
class SafeStep:
    """The largest stable step [s] of a solver and rule for motions near the start.

    `dt`: inf without a limit, nan where it is not known or does not apply (`remark` says which). `element`
    sets the limit, `rate` [rad/s] is the size of its motion's eigenvalue; `estimate` says that modes were looked at one by one.
    """

    solver: str
    rule: str
    dt: float
    remark: str = ""
    element: str = ""
    rate: float = 0.0
    estimate: bool = False

    @property
    def name(self) -> str:
        return f"{self.solver}:rule={self.rule}"

    def allows(self, dt: float) -> bool:
        """Whether steps of dt are not known to be unstable."""
        return not dt > self.dt


class Findings(list[Finding]):
    """Findings, the gravest first, and the safe steps; shown as text by `print`."""

    def __init__(self, findings: Iterable[Finding] = (), steps: Iterable[SafeStep] = ()):
        super().__init__(sorted(findings, key=lambda f: LEVELS.index(f.level)))
        self.steps = tuple(steps)

    def of(self, level: str) -> list[Finding]:
        return [f for f in self if f.level == level]

    @property
    def errors(self) -> list[Finding]:
        return self.of("error")

    @property
    def warnings(self) -> list[Finding]:
        return self.of("warning")

    @property
    def notes(self) -> list[Finding]:
        return self.of("note")

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    def safe_step(self, solver: str, rule: str) -> SafeStep:
        """The safe step of one solver and rule."""
        return next(s for s in self.steps if (s.solver, s.rule) == (solver, rule))

    def count(self) -> str:  # type: ignore[override]
        """`1 error, 2 warnings, no notes`."""
        numbers = [(len(self.of(level)), level) for level in LEVELS]
        return ", ".join(f"{n or 'no'} {level}{'' if n == 1 else 's'}" for n, level in numbers)

    def __repr__(self) -> str:
        lines = [self.count(), *(f"  {f}" for f in self)]
        if self.steps:
            lines.append("largest safe dt")
        width = max((len(s.name) for s in self.steps), default=0)
        lines += [f"  {s.name.ljust(width)}  {step_text(s)}" for s in self.steps]
        return "\n".join(lines)


def step_text(step: SafeStep) -> str:
    """The limit in words.

    >>> step_text(SafeStep("lagrange", "rk4", 2.5e-4, element="spring", rate=1e4))
    "0.00025 s, by 'spring' (1e+04 rad/s)"
    """
    if step.remark:
        return step.remark
    if step.dt == float("inf"):
        return "no limit near the start"
    about = "about " if step.estimate else ""
    return f"{about}{step.dt:.3g} s, by {quoted([step.element])} ({step.rate:.3g} rad/s)"


__all__ = ["LEVELS", "Finding", "Findings", "SafeStep", "quoted", "step_text"]
