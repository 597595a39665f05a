"""Penalty: joints and constraints as penalty forces in maximal coordinates (paper 002 §3.2.1).

    F = −α Jᵀ (C̈ + 2 Ω μ Ċ + Ω² C)      of rows C = 0; C ≥ 0 where rows only push
    F = −α Jᵀ (C̈ + ν Ċ)                 of rows on velocities alone (nonholonomic)

A row C under a steady load λ gives way by λ / (α Ω²). α, like a mass, says how little a row yields at first; it does not make the motion
faster: C̈ + 2 Ω μ s Ċ + Ω² s C = 0 with s = α/(m + α) < 1, so that stability asks for small Ω h, whatever α. Without Ω being given it
follows the step, and as the step goes to 0, joints hold exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint
from unibody.constraints.contact import Contact
from unibody.coordinates.observed import Observation
from unibody.coordinates.penalised import Gains, PenalisedSystem
from unibody.coordinates.slots import Y
from unibody.element import number
from unibody.errors import ModelError
from unibody.forces.base import Force
from unibody.joints.base import Joint
from unibody.model import Model, State
from unibody.rules.base import LAST_STEP
from unibody.rules.euler import roll_euler
from unibody.shapes import Shape
from unibody.solvers.base import Bound, Solver, refuse_reaction

RULES = ("linearly-implicit", "semi-implicit")

RATIO = 1e3
"""α as a multiple of the mass that a row feels."""


def turn(rule: str, mu: float) -> float:
    """Ω h where Ω follows the step: half of what the semi-implicit rule is stable up to; 1 where nothing limits it."""
    return 1.0 if rule == "linearly-implicit" else sqrt(1.0 + mu * mu) - mu


@dataclass(frozen=True)
class Penalty(Solver):
    """Options: `rule` ("semi-implicit": explicit forces, in world momenta; "linearly-implicit": the penalties, and only they, are those of
    the end of the step); `alpha` α [kg; kg m² of rows in rad], None: `ratio` times the mass that each row feels; `omega` Ω [rad/s], None:
    from the step; `mu` damping ratio [1]; `rate` ν [1/s] of nonholonomic rows, None: 2 Ω μ; `coordinates` as in Lagrange."""

    rule: str = "linearly-implicit"
    alpha: float | None = None
    omega: float | None = None
    mu: float = 1.0
    rate: float | None = None
    ratio: float = RATIO
    coordinates: str = "auto"

    name = "penalty"

    def __post_init__(self) -> None:
        for value, known, what in ((self.rule, RULES, "rule"), (self.coordinates, ("auto", "maximal", "planar"), "coordinates")):
            if value not in known:
                raise ModelError(f"Penalty: {what} {value!r} is unknown; give one of {', '.join(known)}")
        for value, what in ((self.alpha, "alpha"), (self.omega, "omega"), (self.rate, "rate"), (self.ratio, "ratio")):
            if value is not None:
                number(value, f"Penalty {what}", positive=True)
        number(self.mu, "Penalty mu", minimum=0.0)

    def handles(self, element: Any, model: Model) -> str | None:
        if (reason := refuse_reaction(element)) is not None:
            return reason
        if isinstance(element, Contact):
            return "contact between surfaces is not among this solver's penalties"
        if isinstance(element, Constraint) and element.barred:
            return f"{type(element).__name__} asks for a barrier, which needs a solver with barriers"
        if isinstance(element, Joint | Force | Constraint | Shape):
            return None
        return f"{type(element).__name__} is no element that maximal coordinates know"

    def bind(self, model: Model) -> BoundPenalty:
        self.check(model)
        if self.coordinates == "planar" and not model.planar:
            raise ModelError("Penalty: coordinates 'planar' need a planar world; give Builder(planar=True) or coordinates='maximal'")
        planar = model.planar and self.coordinates != "maximal"
        system = StepPenalties(model, planar, self)
        return BoundPenalty(
            model=model, solver=self, coordinates="planar" if planar else "maximal", system=system, nq=system.q_width * system.n,
            nv=system.width * system.n, roll=roll_euler, scratch=np.zeros(system.nq_all + system.nv_all),
        )  # fmt: skip

    def gains(self, dt: float) -> Gains:
        """Ω, μ and ν for steps of length dt; where none is given and there is no step (0), Ω and ν are 0."""
        omega = self.omega if self.omega is not None else turn(self.rule, self.mu) / dt if dt > 0.0 else 0.0
        return Gains(omega, self.mu, self.rate if self.rate is not None else 2.0 * omega * self.mu)


class StepPenalties(PenalisedSystem):
    """Penalties as a solver's options say."""

    def __init__(self, model: Model, planar: bool, solver: Penalty):
        super().__init__(model, planar, solver.alpha, solver.ratio)
        self.solver, self.step_length = solver, 0.0

    def prepare(self, dt: float) -> None:
        """Before steps of length dt."""
        self.step_length = finite = dt if dt < inf else 0.0
        self.soften(self.solver.gains(finite), finite, self.solver.rule == "linearly-implicit")


class BoundPenalty(Bound):
    """`Penalty` on a model."""

    system: StepPenalties

    @cached_property
    def _stable(self) -> float:
        explicit = self.solver.rule == "semi-implicit"
        return self.system.stable_step(self.solver.gains(0.0)) if explicit else inf

    def largest_dt(self) -> float:
        """The largest step [s] at which the penalty forces, as they are at the start, are stable (inf: where Ω
        follows the step, or is implicit); of other forces `unibody check` tells."""
        return self._stable

    def accelerations(self, state: State, dt: float = 0.0, effort: Any = None) -> np.ndarray:
        """Rates of the bodies' velocities (bodies in motion, 6 or 3) at a state of any coordinates, with the gains of steps dt."""
        q, v = self.system.start()
        q[: self.nq], v[: self.nv] = self.system.convert(state)
        control = self.model.neutral_control()
        if effort is not None:
            control[: len(effort)] = effort
        self.system.soften(self.solver.gains(dt), 0.0)
        self.system.evaluate(state.t, q, v, control)
        return self.system.view(Y).reshape(self.system.n, self.system.width).copy()

    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state. Reactions and multipliers are the penalty forces there, with the gains of the last step; before
        the first, without springs and dampers that follow the step."""
        q, v, ledger = self._unpack(state, memory)
        h = float(ledger[LAST_STEP])
        self.system.soften(self.solver.gains(h), h)
        out = self.system.observe(state.t, q, v, control)
        out.work = np.array(ledger[:3]) + 0.5 * h * (ledger[3:6] + out.powers)
        out.notes = (*self.system.notes(), *self._said(h))
        return out

    def step_facts(self) -> dict[str, Any]:
        facts = super().step_facts()
        return {**facts, "notes": (*facts["notes"], *self._said(self.system.step_length))}

    def _said(self, h: float) -> tuple[str, ...]:
        limit = self.largest_dt()
        said = f"largest stable dt of the penalty forces: {limit:.4g} s"
        return (said + (", which this step exceeds" if h > limit else ""),) if limit < inf else ()
