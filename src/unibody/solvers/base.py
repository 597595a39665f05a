"""What a solver is: a choice of options that can be bound to a model, in a registry of all of them.

A `Solver` is a frozen choice of options with a name; `bind(model)` checks that it can honour every element (else `Unsupported` names them
all, with reasons and the solvers that can) and returns a `Bound` (`bound`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from unibody.errors import Unsupported
from unibody.model import Model
from unibody.model.deformable import DeformableInfo
from unibody.solvers.bound import Bound, Step

__all__ = ["REGISTRY", "Bound", "Solver", "Step", "able_solver"]

SMOOTH_FEEDBACK = 0.1
"""Default time [s] of the feedback under rules of high order: one that shrank with the step would spoil the order."""

REGISTRY: dict[str, type[Solver]] = {}
"""Solvers by name, in the order of their `rank`; a subclass of `Solver` enters itself."""


class Solver:
    """Base of all solvers. Subclasses are frozen dataclasses with a `name`; what else is known of them, others ask for here."""

    name: ClassVar[str] = ""
    rank: ClassVar[float] = float("inf")
    """Its place in the order in which solvers are asked where none is named: from the least time per step to the most."""
    last_resort: ClassVar[bool] = False
    """Whether it is run only where it is named, or where no other can run a model."""
    forces: ClassVar[Literal["explicit", "implicit", ""]] = ""
    """Whether all its rules of fixed steps take forces from the beginning of a step, or its steps are stable whatever the stiffness."""
    gives_way: ClassVar[bool] = False
    """Whether joints and rows stretch under their loads, so that a state of its own violates them."""
    compromises: ClassVar[bool] = False
    """Whether it runs where rows contradict each other, meets them halfway and reports it."""
    parts_overlaps: ClassVar[bool] = False
    """Whether it moves apart what begins inside each other."""
    impacts: ClassVar[bool] = False
    """Whether what comes together hits, with an impulse, within one step; else barriers or springs slow it down over several."""
    deformables: ClassVar[bool] = False
    """Whether it carries deformables; it is then asked by `handles` about each (`DeformableInfo`)."""
    deformable_rank: ClassVar[float | None] = None
    """Its place in that order for models with deformables; None: its rank."""
    start_deeds: ClassVar[tuple[str, str, str]] = ("", "", "")
    """What it does with a start that rows forbid, in words of `unibody.checks.starts`: with velocities against equations, with positions
    that violate them, with positions beyond a bound."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.name:
            REGISTRY[cls.name] = cls
            for name in sorted(REGISTRY, key=lambda known: REGISTRY[known].rank):
                REGISTRY[name] = REGISTRY.pop(name)

    @classmethod
    def choices(cls, option: str) -> tuple[str, ...]:
        """The words that an option may be, for those who offer them: the tuple beside the class that is named like it (RULES of `rule`)."""
        return tuple(getattr(sys.modules[cls.__module__], f"{option.upper()}S", ()))

    def handles(self, element: Any, model: Model) -> str | None:
        """None if this solver honours the element in this model, else the reason why not."""
        raise NotImplementedError(f"{type(self).__name__} must give handles(element, model)")

    def bind(self, model: Model) -> Bound:
        """Arrays and compiled code for one model."""
        raise NotImplementedError(f"{type(self).__name__} must give bind(model)")

    def implicit_others(self, model: Model) -> list[str]:
        """`implicit_solvers`, for what is bound and knows no other solver."""
        return implicit_solvers(model)

    def check(self, model: Model) -> None:
        """Raise `Unsupported` naming every element this solver cannot honour."""
        refused = refusals(self, model)
        if refused:
            others = [cls.name for cls in REGISTRY.values() if not refusals(cls(), model)]
            auto = 'solver="auto" takes one that can. ' if others else ""
            raise Unsupported(
                f"solver '{self.name}' cannot honour {'; '.join(by_reason(refused))}. {auto}Solvers that can: {', '.join(others) or 'none'}"
            )


def refuse_thin_contact(element: Any, model: Model) -> str | None:
    """Why a solver whose surfaces are faces does not take a Contact: it asks for a thickness, or thin shapes may touch."""
    if getattr(element, "thickness", 0.0) > 0.0:
        return "thickness of a Contact belongs to a barrier; give ContactMaterial(margin=…)"
    kinds = sorted({type(p.shape).__name__ for b in model.bodies for p in b.shapes if p.solid and p.skeleton() is not None})
    return f"contact of {' and '.join(kinds)}, lines and points without faces, needs a solver with barriers" if kinds else None


def reason_against(solver: Solver, element: Any, model: Model) -> str | None:
    """Why a solver cannot honour an element, if it cannot: what `handles` says, or that it carries no deformables."""
    if isinstance(element, DeformableInfo) and not solver.deformables:
        return "cloth, rods and soft solids need a solver that carries deformables"
    return solver.handles(element, model)


def refusals(solver: Solver, model: Model) -> list[tuple[str, str]]:
    """The elements that a solver cannot honour, by name, each with the reason."""
    return [(name, reason) for name, element in elements_of(model) if (reason := reason_against(solver, element, model)) is not None]


def implicit_solvers(model: Model) -> list[str]:
    """The solvers that can run a model with forces of any stiffness, the cheapest first."""
    return [name for name, cls in REGISTRY.items() if cls.forces == "implicit" and not refusals(cls(), model)]


def by_reason(refused: Sequence[tuple[str, str]], most: int = 12) -> list[str]:
    """Names and reasons, every reason once, with the first names of many.

    >>> by_reason([("knee", "it is one-sided"), ("floor", "it is contact"), ("hip", "it is one-sided")])
    ["'knee', 'hip': it is one-sided", "'floor': it is contact"]
    """
    named: dict[str, list[str]] = {}
    for name, reason in refused:
        named.setdefault(reason, []).append(f"'{name}'")
    listed = {reason: list(dict.fromkeys(names)) for reason, names in named.items()}
    more = {reason: f" and {len(names) - most} more" if len(names) > most else "" for reason, names in listed.items()}
    return [f"{', '.join(names[:most])}{more[reason]}: {reason}" for reason, names in listed.items()]


def elements_of(model: Model) -> list[tuple[str, Any]]:
    """Every element of a model with its name."""
    return [
        *((j.name, j.element) for j in model.joints), *model.forces, *model.constraints, *((d.name, d) for d in model.deformables),
        *((b.name, p.shape) for b in model.bodies for p in b.shapes),
    ]  # fmt: skip


def needs_reaction(element: Any) -> bool:
    """Whether an element's effort follows from the reaction of the step in which it acts, which a solver must find for it."""
    return getattr(element, "needs_reaction", False)


def refuse_reaction(element: Any) -> str | None:
    """Why a solver that finds no such efforts refuses an element, if it needs one."""
    name = type(element).__name__
    return f"{name} grows with the joint's reaction, which this solver does not find friction from" if needs_reaction(element) else None


def asked_in_order(model: Model) -> list[str]:
    """The solvers by name, in the order in which they are asked where none is named."""
    if not model.deformables:
        return list(REGISTRY)
    ranks = {name: cls.rank if cls.deformable_rank is None else cls.deformable_rank for name, cls in REGISTRY.items()}
    return sorted(REGISTRY, key=lambda name: ranks[name])


def able_solver(model: Model) -> str:
    """The name of the first solver that can run a model; the first of all, whose refusal then says why, if none can."""
    able = [name for name in asked_in_order(model) if not refusals(REGISTRY[name](), model)]
    return able[0] if able else next(iter(REGISTRY))
