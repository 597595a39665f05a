"""What becomes of a start that its rows forbid, in words that runs are held against (`tests/unit/checks/test_starts.py`).

A Simulation assembles it by the least change before the first step, with every solver alike. What each solver does with it otherwise, with
`assemble=False`:

    velocities that move against equations      positions that violate equations      positions beyond a bound

A solver may take the violation away in its first step as an impact would, or put positions right without giving speed, or pull by stiff
forces or feedback, which gives speed, or refuse the start. A step whose energy nothing explains fails, so that a pull may end there.
"""

from __future__ import annotations

from typing import NamedTuple

from unibody.checks.finding import quoted
from unibody.model import Model
from unibody.rules import smooth
from unibody.solvers import REGISTRY, Solver
from unibody.solvers.base import elements_of, reason_against

ASSEMBLED = "Simulation assembles the start by the least change and says so (ub.assemble shows it); with assemble=False"


class Deed(NamedTuple):
    """A word for programs, and what is said, of one solver and of several."""

    kind: str
    one: str
    more: str


IMPACT = Deed("impact", "ends that in its first step, as an impact does", "end that in their first step, as an impact does")
IMPACT_IF_SLOW = Deed(
    "impact if slow",
    "ends that in its first step, as an impact does, if it comes to less than a hundredth of the bodies' size, or of a radian, in a"
    " step, else by feedback over many steps, which overshoots",
    "end that in their first step, as an impact does, if it comes to less than a hundredth of the bodies' size, or of a radian, in a"
    " step, else by feedback over many steps, which overshoots",
)
FEEDBACK = Deed(
    "feedback", "ends that by feedback over many steps, which overshoots", "end that by feedback over many steps, which overshoots"
)
FORCES = Deed("forces", "ends that by stiff forces over several steps", "end that by stiff forces over several steps")
SOON = Deed("soon", "ends that by stiff forces in its first steps", "end that by stiff forces in their first steps")
CLOSES = Deed("closes", "closes it in its first step without giving speed", "close it in their first step without giving speed")
CLOSES_IF_SMALL = Deed(
    "closes if small",
    "closes it in its first step without giving speed if it is below a hundredth of the bodies' size, or of a radian, else pulls it"
    " together over many steps, which gives speed",
    "close it in their first step without giving speed if it is below a hundredth of the bodies' size, or of a radian, else pull it"
    " together over many steps, which gives speed",
)
PULLS = Deed("pulls", "pulls it together over many steps, which gives speed", "pull it together over many steps, which gives speed")
PULLS_ELEMENTS = Deed(
    "pulls elements", "refuses joints that are open, and pulls constraints together in its first steps, which gives speed",
    "refuse joints that are open, and pull constraints together in their first steps, which gives speed",
)  # fmt: skip
CREEPS_BACK = Deed(
    "creeps back", "moves it back a little in every step, without speed", "move it back a little in every step, without speed"
)
SHOOTS_BACK = Deed("shoots back", "pushes it back with a speed that it keeps", "push it back with a speed that it keeps")
REFUSES = Deed("refuses", "refuses such a start", "refuse such a start")

DEEDS = {
    deed.kind: deed for deed in (
        IMPACT, IMPACT_IF_SLOW, FEEDBACK, FORCES, SOON, CLOSES, CLOSES_IF_SMALL, PULLS, PULLS_ELEMENTS, CREEPS_BACK, SHOOTS_BACK, REFUSES,
    )
}  # fmt: skip
"""By the words that solvers say of themselves (`Solver.start_deeds`)."""

VELOCITIES, POSITIONS, BOUNDS = range(3)
"""Where these stand in `start_deeds`."""

OTHERWISE = {IMPACT: IMPACT_IF_SLOW}
"""What takes the place of deeds of `complementarity` in maximal coordinates and of `articulated` with rules of higher order."""

WITHOUT_PROJECTION = {IMPACT_IF_SLOW: FEEDBACK, CLOSES_IF_SMALL: PULLS}
"""What takes the place of deeds where the option `project` of a solver is off."""


def deed_of(what: int, solver: Solver) -> Deed | None:
    """What a solver with its options does with VELOCITIES, POSITIONS or BOUNDS; None for solvers that do not say it."""
    deed = DEEDS.get(solver.start_deeds[what])
    if deed is not None and (getattr(solver, "coordinates", "") == "maximal" or smooth(getattr(solver, "rule", ""))):
        deed = OTHERWISE.get(deed, deed)
    return deed if deed is None or getattr(solver, "project", True) else WITHOUT_PROJECTION.get(deed, deed)


def deeds(what: int, model: Model, chosen: Solver | None) -> str:
    """One sentence: what the chosen solver does, or those that can run the model, with the same words together; ends with a semicolon."""
    asked = [chosen] if chosen is not None else [solver for cls in REGISTRY.values() if _able(solver := cls(), model)]
    groups: dict[Deed, list[str]] = {}
    for solver in asked:
        if (deed := deed_of(what, solver)) is not None:
            groups.setdefault(deed, []).append(solver.name)
    return "".join(f" {quoted(by)} {deed.one if len(by) == 1 else deed.more};" for deed, by in groups.items())


def shared_out(chosen: Solver | None) -> str:
    """How loads are shared out among rows that repeat each other."""
    if chosen is not None and chosen.name == "penalty":
        return "the reactions reported are in the ratio of the rows' stiffnesses"
    return "the reactions reported are those of least norm" + ("" if chosen is not None else " ('penalty': in the ratio of stiffnesses)")


def _able(solver: Solver, model: Model) -> bool:
    return all(reason_against(solver, e, model) is None for _, e in elements_of(model))
