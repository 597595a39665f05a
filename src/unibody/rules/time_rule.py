"""What a time rule is: a class with a name, an order and a kernel that takes one step. It serves all solvers that integrate accelerations.

    (t, q, v)  →  (t + h, q⁺, v⁺)        from accelerations a(t, q, v) and q ⊕ h v, how q moves along v

A rule knows a system by `Evaluate`, which leaves a in the slot Y of the work array, and by `advance_own`, which moves q along v. It gives
`step`, a kernel of the signature `TakeStep`; `roll_steps` calls it by address, and does what is the same for all rules: the projection onto
constraints, time, records, and the speed at which a stretch of steps pauses. A rule with a loop of its own gives `roll` instead, which
saves a kernel at a cold start.

A subclass with a name enters `RULES` by itself. Solvers take a rule by its name or as a class: `Articulated(rule=Midpoint)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from unibody.coordinates.stages import PROJECT_STAGE, Project
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, Kernel, long_kernel, prototype
from unibody.rules.base import finish_step

__all__ = ["RULES", "TimeRule", "rule_name", "rules_for", "smooth"]

RULES: dict[str, type[TimeRule]] = {}
"""Time rules by name; a subclass of `TimeRule` enters itself."""


@prototype
def TakeStep(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, h: float,
    work_out: Floats, scratch_out: Floats, q_out: Floats, v_out: Floats, memory_out: Floats,
) -> int:  # fmt: skip
    """A step from t to t + h: 1, or 0 where accelerations are not finite, which leaves q and v as they were. It books the work that forces
    do (`book_work`). q and v hold the system's own coordinates first, then those of joints that are fitted to them."""


@long_kernel
def roll_steps(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t0: float, h: float, steps: int, every: int, step: int,
    work_out: Floats, scratch_out: Floats, q_out: Floats, v_out: Floats, memory_out: Floats, record_out: Floats,
) -> int:  # fmt: skip
    """Take steps by the rule whose `TakeStep` has the address `step`; returns how many succeeded."""
    t = t0
    for k in range(steps):
        if TakeStep(step, layout, ints, constants, stages, control, t, h, work_out, scratch_out, q_out, v_out, memory_out) == 0:
            return k
        if stages[PROJECT_STAGE] != 0:
            Project(stages[PROJECT_STAGE], layout, ints, constants, stages, control, t + h, work_out, q_out, v_out)
        t = t + h
        if finish_step(layout, k, every, t, q_out, v_out, work_out, memory_out, record_out):
            return k + 1
    return steps


class TimeRule:
    """Base of all time rules. A subclass gives `name`, `order` and `step`."""

    name: ClassVar[str] = ""
    order: ClassVar[int | None] = 1
    """The order that it promises, which the contract tests measure; None: it chooses its own steps."""
    coordinates: ClassVar[tuple[str, ...]] = ("reduced", "maximal")
    """Where it is at home; planar coordinates are maximal ones."""
    momenta: ClassVar[bool] = False
    """Whether bodies that fly alone are moved by their momenta (the stage `Kick`)."""
    step: ClassVar[Kernel | None] = None
    roll: ClassVar[Kernel | None] = roll_steps
    variant: ClassVar[int] = 0
    """What `roll` is told, of a rule with a loop of its own."""
    amplification: ClassVar[Callable[[np.ndarray], np.ndarray] | None] = None
    """μ(z): by how much a step h multiplies a motion of rate λ, z = h λ; `unibody check` finds the largest stable step from it."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.name:
            RULES[cls.name] = cls

    @classmethod
    def scratch_size(cls, nq: int, nv: int) -> int:
        """Numbers of scratch memory that a step needs."""
        return nq + nv

    @classmethod
    def binding(cls, nq: int, nv: int) -> dict[str, Any]:
        """What a bound solver needs of the rule: its loop, what the loop is told, and scratch memory for nq and nv numbers."""
        told = cls.variant if cls.step is None else cls.step.address
        return {"roll": cls.roll, "explicit": told, "scratch": np.zeros(cls.scratch_size(nq, nv))}


def rules_for(coordinates: str) -> tuple[str, ...]:
    """The names of the rules for these coordinates, in the order of their orders.

    >>> rules_for("reduced")[:1], rules_for("maximal")[:2]
    (('semi-implicit',), ('semi-implicit', 'euler'))
    """
    mine = [rule for rule in RULES.values() if coordinates in rule.coordinates]
    return tuple(rule.name for rule in sorted(mine, key=lambda rule: rule.order or float("inf")))


def rule_name(given: Any, coordinates: str, what: str) -> str:
    """The name of a rule for these coordinates that is given by its name or as a class; a ModelError says which there are."""
    name = given.name if isinstance(given, type) and issubclass(given, TimeRule) else given
    if isinstance(name, str) and name in rules_for(coordinates):
        return name
    raise ModelError(f"{what}: rule {name!r} is unknown; give one of {', '.join(rules_for(coordinates))}")


def smooth(name: str) -> bool:
    """Whether a rule is of higher order than the first, which a feedback that shrinks with the step would spoil."""
    return name in RULES and RULES[name].order != 1
