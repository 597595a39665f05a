"""Checks: what is wrong with a model, or soon will be, said before the first step.

Lives here: `check` (all of them, in order), `finding` (what they say), `instant` (a model at one configuration as dense matrices),
`connections`, `closing` (rows that conflict, repeat or start violated), `starts` (what each solver does with such a start), `inertias`,
`overlaps` (shapes inside each other, by coal), `contact_forces` (Painlevé), and `linear`, `flying`, `stability`, `safe_steps`: the
linearised motion and the largest step each solver and rule can take with it.
May import: solvers, coordinates, model and all above; SciPy and coal only inside functions. May write: nothing; a check changes no model.
To add one more: a function that takes an `Instant` and yields `Finding`s, called in `check`; one line each, with element, value and remedy.
"""

from unibody.checks.check import check
from unibody.checks.finding import Finding, Findings, SafeStep

__all__ = ["Finding", "Findings", "SafeStep", "check"]
