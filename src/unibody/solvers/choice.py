"""`solver="auto"`: the cheapest solver that can run a model and honours what it holds.

    1. Solvers are asked in the order of their `rank`, from the least time per step to the most (`lagrange`, which takes nothing that
       `articulated` does not, then those of users come last), and the first that takes every element is meant:
       `articulated`, and where it refuses `redmax` (limits and other one-sided rows, friction by reactions), `complementarity` (contact),
       `impulse`, `penalty`, `barrier` (what only barriers have), `lagrange`.
    2. If that one takes forces explicitly and the model's are stiff at this dt (`stiffness`), the next that takes them implicitly:
       `redmax`, or with contact `barrier`. Where none can, the first stays, and the reason says up to which dt it is stable.

Stiff is, for `articulated`, what its steps no longer resolve (λ > 1); with contact, where the alternative costs far more, what makes steps
grow (λ > 4). Springs, dampers and servos in joints, and dry friction, are never too stiff for `complementarity`: it takes the former at the
end of a step where need be (`stepping.implicit_joints`), and holds the latter by rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unibody.constraints.contact import Contact
from unibody.element import step_length
from unibody.errors import Unsupported
from unibody.model import Model
from unibody.model.model import start_poses
from unibody.solvers.base import REGISTRY, asked_in_order, by_reason, implicit_solvers, refusals
from unibody.solvers.stiffness import STIFF, UNSTABLE, stiffness, too_many

__all__ = ["Choice", "choose"]


@dataclass(frozen=True)
class Choice:
    """The name of a solver, and in one line why."""

    solver: str
    reason: str
    warning: bool = False
    """Whether the reason is one to worry about: no solver is stable at this dt."""

    @property
    def line(self) -> str:
        """What is told of it."""
        return f"solver '{self.solver}' chosen: {self.reason}"


def choose(model: Model, dt: float = 1e-3) -> Choice:
    """The solver of a model for steps of dt [s], or `Unsupported` with every reason once.

    >>> import unibody as ub
    >>> choose(ub.scenes.build("pendulum")).solver, choose(ub.scenes.build("stack")).solver
    ('articulated', 'complementarity')
    >>> choose(ub.scenes.build("stiff-chain", stiffness=1e8), dt=2e-3).solver
    'redmax'
    """
    dt = step_length(dt, "dt")
    refused: dict[str, list[tuple[str, str]]] = {}
    for first in asked_in_order(model):
        refused[first] = refusals(REGISTRY[first](), model)
        if not refused[first]:
            break
    else:
        raise Unsupported(f"no solver can run this model: {'; '.join(grouped(refused))}")
    why = _because(first, refused, model)
    return _if_stiff(first, why, model, dt) if REGISTRY[first].forces == "explicit" else Choice(first, why)


def _if_stiff(first: str, why: str, model: Model, dt: float) -> Choice:
    """The first that can, unless springs are too stiff for it."""
    implicit = implicit_solvers(model)
    if too_many(model):
        said = f"forces on more degrees of freedom than are looked at for stiffness, and {why}"
        return Choice(implicit[0], said) if implicit[:1] == ["redmax"] else Choice(first, said)
    found = stiffness(model, dt, first)
    if found is None or found.load <= (STIFF if first == "articulated" else UNSTABLE):
        return Choice(first, why)
    said = f"'{found.element}' is stiff, explicit steps are stable up to about dt = {found.largest_dt:.2g} s"
    if implicit and (implicit[0] != "barrier" or not _overlapping(model)):
        return Choice(implicit[0], said)
    return Choice(first, f"{why}; but {said}: give a smaller dt", warning=found.load > UNSTABLE)


def grouped(refused: Mapping[str, Sequence[tuple[str, str]]]) -> list[str]:
    """Solvers with what they cannot honour, those that say the same side by side.

    >>> grouped({"a": [("stop", "it is one-sided")], "b": [("stop", "it is one-sided")], "c": [("stop", "it is new")]})
    ["a, b: 'stop': it is one-sided", "c: 'stop': it is new"]
    """
    solvers: dict[str, list[str]] = {}
    for name, reasons in refused.items():
        for said in by_reason(reasons):
            solvers.setdefault(said, []).append(name)
    return [f"{', '.join(names)}: {said}" for said, names in solvers.items()]


def _because(chosen: str, refused: Mapping[str, Sequence[tuple[str, str]]], model: Model) -> str:
    """Why no cheaper one."""
    cheaper = list(refused)[: list(refused).index(chosen)]
    touching = [name for name, element in model.constraints if isinstance(element, Contact)]
    if touching and cheaper:
        asked = refused["complementarity"] if chosen != "complementarity" and "complementarity" in cheaper else ()
        return f"contact '{touching[0]}'" + (f", and complementarity refuses {_first(asked)}" if asked else "")
    if cheaper:
        return f"{cheaper[-1]} refuses {_first(refused[cheaper[-1]])}"
    return "it takes every element, in the least time per step"


def _first(refused: Sequence[tuple[str, str]]) -> str:
    said = by_reason(refused, most=1)
    return said[0] + (f" (and {len(said) - 1} more)" if len(said) > 1 else "")


def _overlapping(model: Model) -> bool:
    """Whether bodies begin inside each other, which a barrier does not take."""
    from unibody.collision.rigid.overlapping import overlaps  # kernels, which only contact needs

    poses = start_poses(model.bodies, model.tree_joints)
    return bool(overlaps(model, np.array([[*np.ravel(pose.R), *pose.p] for pose in poses])))
