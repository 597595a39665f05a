"""Energy that came from nowhere: a step after which kinetic energy is larger than anything can explain has failed.

Between two states, forces with a potential only move energy between T and U, dampers, friction, limits and contact (impacts included)
only take it away, and motors and applied wrenches supply the work W that the ledger books. So for every model without drives

    L = T + U − W     never rises,

but for the errors of the rule. What L has risen above its least value so far is unexplained. A step fails when T is more than `EXCESS`
times what remains when the unexplained part is taken away, and of what moved or stretched springs before. Rules of first order are wrong
by some per cent, stiff springs near the edge of stability swing by factors; a motion that blows up passes any factor.

What moves because it is told to (prescribed motions, kinematic bodies, functions of time in springs) and forces and constraints of a
user's own have no books. For them, and for all others too, a motion has blown up when its largest speed doubled within `QUICK` steps, and
again, `DOUBLINGS` times in a row, and a step is longer than the whole model, or a turn: no motion that the steps resolve grows like that.

The sums are taken only when the largest velocity has doubled (quadrupled, where steps are compiled) since they were taken last, so that
watching costs next to nothing.
"""

from __future__ import annotations

from copy import copy
from dataclasses import fields
from math import sqrt
from typing import Any

import numpy as np

from unibody.arrays import largest
from unibody.constraints.base import Constraint
from unibody.constraints.contact import Contact
from unibody.coordinates.convert import poses_and_twists
from unibody.coordinates.workspace import VIOLATION
from unibody.errors import StepFailed
from unibody.forces.applied_wrench import AppliedWrench
from unibody.forces.base import Force
from unibody.forces.motor import Motor
from unibody.model import Model, State
from unibody.solvers import Bound, Report

EXCESS = 100.0
"""Semi-implicit steps of 0.98 of the largest stable one let energies swing by as much, for ever."""
QUICK, DOUBLINGS = 5, 12
ROUND = 1e-9
"""The part of the energies in play that may be round-off and the trapezoidal rule's."""
TORN = 1e-2
"""Of the size of what a row holds."""
STILL = 1e-6
"""Of the length of the model: what moves less than that in a step is at rest to round-off and tolerances."""


class EnergyWatch:
    """Looks at states one after the other, from where a simulation begins."""

    def __init__(self, bound: Bound, state: State, memory: np.ndarray, control: np.ndarray):
        self._bound, self._begun = bound, (state, memory, control.copy())
        self._peak = largest(state.v)
        self._least: float | None = None
        self._available, self._in_play = 0.0, 0.0
        self._quick, self._last_doubling, self._steps = 0, 0, 0
        self._keeps_books, self._mass = keeps_books(bound.model), bound.model.total_mass
        self._length = length_of(bound.model)
        self._fall = float(np.linalg.norm(bound.model.gravity))

    def on(self, bound: Bound) -> EnergyWatch:
        """A copy of this watch, for a copy of the simulation."""
        twin = copy(self)
        twin._bound = bound
        return twin

    def limit(self, dt: float) -> float:
        """The velocity beyond which energies must be looked at: a multiple of the largest so far, or of what falling gives."""
        still = STILL * self._length / dt
        if type(self._bound).rollout is not Bound.rollout:
            return 2.0 * max(self._peak, self._fall * dt, still)
        # Compiled steps are so short that looking often would cost more than they do; nothing there throws bodies once and for all.
        return 4.0 * max(self._peak, self._fall * dt, still, sqrt(self._fall * self._length))

    def suspects(self, state: State, dt: float) -> bool:
        return largest(state.v) > self.limit(dt)

    def check(self, state: State, memory: np.ndarray, control: np.ndarray, dt: float, steps: int = 1) -> StepFailed | None:
        """Why the last of so many steps, which ended at a state, has failed; None if nothing speaks against it."""
        before = self._steps, self._quick, self._last_doubling
        self._steps += steps
        if not self.suspects(state, dt):
            return None
        speed = largest(state.v)
        failed = self._blown_up(state, memory, control, dt, speed)
        if failed is None and self._keeps_books:
            failed = self._unexplained(state, memory, control, dt)
        if failed is None:
            self._peak = speed
        else:  # that step was not made: the same one fails again
            self._steps, self._quick, self._last_doubling = before
        return failed

    def _blown_up(self, state: State, memory: np.ndarray, control: np.ndarray, dt: float, speed: float) -> StepFailed | None:
        """Whether speeds keep doubling within a few steps, beyond anything that steps resolve."""
        quick = self._steps - self._last_doubling <= QUICK
        self._quick, self._last_doubling = self._quick + 1 if quick else 0, self._steps
        if self._quick < DOUBLINGS or speed * dt <= max(2.0 * np.pi, self._length):
            return None
        now = self._bound.energies(state, memory, control)
        what = f"velocities doubled {self._quick} times, each time within {QUICK} steps, and have reached {speed:.3g} m/s or rad/s"
        return self._failure(state, dt, now.kinetic, what)

    def _unexplained(self, state: State, memory: np.ndarray, control: np.ndarray, dt: float) -> StepFailed | None:
        """The balance of energies."""
        if self._least is None:
            start = self._bound.energies(*self._begun)
            self._least = start.moving + start.gravity + start.springs - start.supplied
            self._available, self._in_play = start.moving + start.springs, abs(start.gravity)
        now = self._bound.energies(state, memory, control)
        level = now.moving + now.gravity + now.springs - now.supplied
        gained = max(0.0, level - self._least)
        explained = max(now.moving - gained, self._available)
        # what falls for one step, by rules whose positions lag or lead by that step; what hardly moves; round-off
        fallen = self._mass * ((self._fall * dt) ** 2 + (STILL * self._length / dt) ** 2)
        self._in_play = max(self._in_play, abs(now.gravity), abs(now.supplied))
        if now.moving > EXCESS * (explained + fallen) + ROUND * self._in_play and now.moving > EXCESS * (explained + self._given(dt)):
            what = f"kinetic energy is {now.moving:.3g} J, where forces, impacts and contact explain {explained:.3g} J"
            return self._failure(state, dt, now.kinetic, what)
        self._least = min(self._least, level)
        self._available = max(self._available, now.moving + now.springs - gained)
        return None

    def _given(self, dt: float) -> float:
        """What a start that is not consistent may have given: rows that it violates pull together, within a step at the soonest, and
        weights stand higher where overlaps were taken apart. Seldom asked for."""
        model = self._bound.model
        given = self._mass * (self._bound.observe(*self._begun).violation * max(1.0, self._length) / dt) ** 2
        if any(isinstance(constraint, Contact) for _, constraint in model.constraints):
            from unibody.collision.rigid.overlapping import overlaps

            poses, _ = poses_and_twists(model, self._begun[0])
            X = np.array([[*pose.R.ravel(), *pose.p] for pose in poses])
            given += self._mass * self._fall * sum(each.depth for each in overlaps(model, X))
        return given

    def _torn(self) -> str | None:
        """The joint or constraint that is violated most where energies were looked at, if by more than a part of its size."""
        constraints: Any = getattr(self._bound.system, "constraints", None)
        violation = np.abs(self._bound.system.view(VIOLATION)) if constraints is not None and constraints.rows else np.zeros(0)
        worst = int(np.argmax(violation)) if violation.size == len(getattr(constraints, "names", ())) and violation.size else -1
        return constraints.names[worst] if worst >= 0 and violation[worst] > TORN else None

    def _failure(self, state: State, dt: float, kinetic: np.ndarray, what: str) -> StepFailed:
        """Named after the body that has most of the energy."""
        model = self._bound.model
        names = [*(b.name for b in model.bodies), *(d.name for d in model.deformables)]
        body = names[int(np.argmax(kinetic))] if kinetic.any() else None
        began, torn = state.t - dt, self._torn()
        what += f", and '{torn}' is torn open" if torn else ""
        report = Report(status="unexplained energy", time=began, element=body, notes=(what,))
        remedy = f"{self._bound.remedy(dt)}, and let `check` look for overlaps and contradictions at the start"
        near = f" near '{body}'" if body else ""
        return StepFailed(f"step at t = {began:.6g} s failed{near}: {what}; {remedy}", time=began, element=body, report=report)


def keeps_books(model: Model) -> bool:
    """Whether all that can supply energy books its work: no drives, no forces or constraints but ours, no functions of time in others."""

    def ours(element: Any, kind: type) -> bool:
        return type(element).__module__.startswith(kind.__module__.rsplit(".", 1)[0] + ".")

    def constant(element: Any) -> bool:
        return isinstance(element, AppliedWrench | Motor) or not any(callable(getattr(element, f.name)) for f in fields(element))

    return (
        not any(b.kind == "kinematic" for b in model.bodies)
        and not any(p.motion is not None for p in model.prescribed)
        and all(ours(force, Force) and constant(force) for _, force in model.forces)
        and all(ours(constraint, Constraint) and constant(constraint) for _, constraint in model.constraints)
    )


def length_of(model: Model) -> float:
    """How far bodies and vertices are from the middle of the model at its start, or the largest radius of gyration, if that is more [m]."""
    places = np.concatenate([np.array([body.X_WB.p for body in model.bodies]).reshape(-1, 3), *(d.x0 for d in model.deformables)])
    gyration = [sqrt(float(np.trace(b.inertia)) / b.mass) for b in model.bodies if b.kind == "dynamic" and b.mass > 0.0]
    return float(max(np.linalg.norm(places - places.mean(axis=0), axis=1).max(initial=0.0), *gyration, 0.0))
