"""Lagrange: maximal coordinates with Lagrange multipliers in linear time (paper 001; paper 002 §3.2.1).

    (M  −Jᵀ) (v̇)   (F)
    (J   C ) (λ) = (−c − k_v Ċ − k_q C)          k_v = 2/τ, k_q = 1/τ²: critically damped feedback

method="tree" orders H by a depth-first traversal of the spanning forest of joints and factors it in O(n); loops and constraint elements are
auxiliary rows by constraint anticipation, O(nk + k³). "schur" solves A λ = b with A = J M⁻¹ Jᵀ; "dense" factors H as if it had no zeros.
Planar worlds have three velocities per body. A start that violates its constraints is pulled together by the feedback; once the violation
is small, every step also brings q and v back onto the constraints (`project`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint
from unibody.coordinates.maximal.system import MaximalSystem
from unibody.coordinates.maximal.tables import MaximalTables
from unibody.coordinates.workspace import V_WB, Y
from unibody.element import is_word, number
from unibody.errors import ModelError
from unibody.forces.base import Force
from unibody.joints.base import Joint
from unibody.model import Model, State
from unibody.rules.time_rule import RULES, TimeRule, rule_name, rules_for, smooth
from unibody.shapes import Shape
from unibody.solvers.base import SMOOTH_FEEDBACK, Bound, Solver, refuse_reaction

__all__ = ["Lagrange"]

METHODS = ("tree", "schur", "dense")


@dataclass(frozen=True)
class Lagrange(Solver):
    """Options: `rule`, by its name or as a class; `method`; `feedback_time` τ [s] (None: ten steps, of higher order 0.1 s), or the
    gains `k_q` [1/s²] and `k_v` [1/s] (None: critically damped); `project`; `coordinates` "auto" (planar worlds: "planar", else
    "maximal")."""

    rule: str | type[TimeRule] = "semi-implicit"
    method: str = "tree"
    feedback_time: float | None = None
    project: bool = True
    coordinates: str = "auto"
    k_q: float | None = None
    k_v: float | None = None

    name = "lagrange"
    rank = 7
    forces = "explicit"
    start_deeds = ("impact if slow", "closes if small", "")

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule", rule_name(self.rule, "maximal", "Lagrange"))
        for value, known, what in ((self.method, METHODS, "method"), (self.coordinates, ("auto", "maximal", "planar"), "coordinates")):
            if not is_word(value, known):
                raise ModelError(f"Lagrange: {what} {value!r} is unknown; give one of {', '.join(known)}")
        for gain, what in ((self.k_q, "k_q"), (self.k_v, "k_v")):
            if gain is not None:
                number(gain, f"Lagrange {what}", minimum=0.0)
        if self.feedback_time is not None:
            number(self.feedback_time, "Lagrange feedback_time", positive=True)

    @classmethod
    def choices(cls, option: str) -> tuple[str, ...]:
        return rules_for("maximal") if option == "rule" else super().choices(option)

    def handles(self, element: Any, model: Model) -> str | None:
        if (reason := refuse_reaction(element)) is not None:
            return reason
        if isinstance(element, Joint):
            armed = any(j.loop and j.element is element and j.armature.any() for j in model.joints)
            return "armature in a joint that closes a loop needs method='tree'" if armed and self.method != "tree" else None
        if isinstance(element, Constraint) and element.unilateral:
            return f"{type(element).__name__} is unilateral; this solver holds equalities only"
        if isinstance(element, Force | Constraint | Shape):
            return None
        return f"{type(element).__name__} is no element that maximal coordinates know"

    def bind(self, model: Model) -> BoundLagrange:
        self.check(model)
        if self.coordinates == "planar" and not model.planar:
            raise ModelError("Lagrange: coordinates 'planar' need a planar world; give Builder(planar=True) or coordinates='maximal'")
        planar = model.planar and self.coordinates != "maximal"
        system = MaximalSystem(MaximalTables(model, planar, self.method))
        rule = RULES[str(self.rule)]
        system.feedback_time = SMOOTH_FEEDBACK if self.feedback_time is None and smooth(rule.name) else self.feedback_time
        system.k_q, system.k_v = self.k_q, self.k_v
        system.set_projection(self.project)
        system.momenta = rule.momenta
        common: dict[str, Any] = dict(
            model=model, solver=self, coordinates="planar" if planar else "maximal", system=system,
            nq=system.q_width * system.n, nv=system.width * system.n,
        )  # fmt: skip
        return BoundLagrange(**common, **rule.binding(system.nq_all, system.nv_all))


class BoundLagrange(Bound):
    """`Lagrange` on a model."""

    system: MaximalSystem

    def accelerations(self, state: State, effort: Any = None) -> np.ndarray:
        """Rates of the bodies' velocities (bodies in motion, 6 or 3) at a state of any coordinates, without feedback."""
        q, v = self.system.start()
        q[: self.nq], v[: self.nv] = self.system.convert(state)
        control = self.model.neutral_control()
        if effort is not None:
            control[: len(effort)] = effort
        self.system.prepare(np.inf)
        self.system.evaluate(state.t, q, v, control)
        return self.system.view(Y).reshape(self.system.n, self.system.width).copy()

    def velocities(self) -> np.ndarray:
        """V_WB_B (bodies, 6) at the last evaluation."""
        return self.system.view(V_WB).reshape(-1, 6).copy()
