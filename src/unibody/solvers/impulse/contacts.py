"""Previews with contact, limits and dry friction: impulses of all of them, again and again until joints hold where the step ends.

One round is a problem of time stepping (`time_stepping`), whose rows ask for C/h + Ċ = 0 or ≥ 0 at the end of the step as if all motion
were straight. Bodies then fly with its impulses, and what is found there corrects the next round:

    joints of the forest   d = C(q⁺)                    their impulses by the factors of the forest, O(n)
    loops, elements        d / h                        added to what their rows ask for
    limits                 (C(q⁺) − min(C, 0)) / h − u  so that C(q⁺) ≥ 0, not its tangent

Gaps of contacts stay straight: their geometry is that of the beginning. Where rounds no longer bring joints closer, positions are put right
by the least motion in the sense of M, as after every step velocities are, and the report says so. What dry friction holds stays where it
was (`stepping.stiction`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.coordinates.maximal.workspace import NODE_JOINT, NODE_L
from unibody.coordinates.workspace import RATE, RESIDUAL, Y
from unibody.solvers.impulse.step import SHRINK
from unibody.stepping.impulse_maximal import ImpulseMaximal
from unibody.stepping.midpoint_rows import CHORDED, GUIDED
from unibody.stepping.predicted_rows import see_ahead
from unibody.stepping.step_solution import StepSolution
from unibody.stepping.time_stepping import Stepping


@dataclass
class Ahead:
    """A step that is decided: its impulses, where it begins and ends, in how many previews, and what joints are apart there."""

    solution: StepSolution
    begun: np.ndarray
    q: np.ndarray
    v: np.ndarray
    previews: int
    left: float
    row: int


class Previewing(Stepping):
    """The rule bound to a system in maximal coordinates."""

    system: ImpulseMaximal

    def begin(self, tolerance: float, limit: int) -> None:
        """How close joints have to be, and the most previews."""
        self.tolerance, self.limit = tolerance, limit
        self.first = self.system.constraints.primary_rows
        self.asked = np.zeros(len(self.unilateral))
        self._seen: Any = None
        # previews make the velocities of jointed bodies those of chords
        self.roles = np.where((self.roles == GUIDED) & ~self._scenery, CHORDED, self.roles)
        self.settled = np.zeros(len(self.unilateral))
        self.settled[self.bilateral] = 1.0

    def touches(self, motion: Any, h: float) -> Any:
        """Contacts at the beginning of the step, found once."""
        if self._seen is None:
            self._seen = super().touches(motion, h)
        return self._seen

    def _constraint_targets(self, constraints: Any, h: float, instant: bool) -> np.ndarray:
        b = super()._constraint_targets(constraints, h, instant)
        return b if instant else b + self.asked

    def fresh(self) -> None:
        """Forget the last step."""
        self._seen = None
        self.asked[:] = 0.0

    def push(self, solution: StepSolution, h: float) -> None:
        """Put impulses among the accelerations and multipliers at which the system looked last."""
        self.system.accelerate(solution.constraint_impulse, solution.constraints, solution.on_bodies(self.model.n_bodies), h)

    def advance(self, t: float, q: np.ndarray, v: np.ndarray, h: float, warm: Any) -> Ahead:
        """Decide a step from (q, v), at which the system has looked; afterwards its work space is as it was then, the impulses among the
        accelerations and multipliers."""
        system = self.system
        self.fresh()
        corner = np.minimum(system.view(RESIDUAL)[self.first :][self.pushed], 0.0)
        before, least, best, work = np.inf, np.inf, None, None
        for count in range(1, self.limit + 1):
            base = system.work.copy()
            solution = self.solve_step(h, warm)
            self.push(solution, h)
            pushed = system.work.copy()
            ahead_q, ahead_v = q.copy(), v.copy()
            system.kick(h, ahead_q, ahead_v)
            apart = self._apart(t + h, ahead_q, ahead_v)
            row = int(np.argmax(np.abs(apart))) if apart.size else 0
            left = float(np.abs(apart[row])) if apart.size else 0.0
            low = (system.view(RESIDUAL)[self.first :][self.pushed] - corner) / h
            wrong = max(left, h * float(self._limits_missed(solution, low, h)))
            if best is None or wrong < least:
                best, work, least = Ahead(solution, q, ahead_q, ahead_v, count, left, row), pushed, wrong
            if wrong <= self.tolerance or (count > 2 and not wrong < SHRINK * before):
                break
            before = wrong
            system.work[:] = base
            self._correct(apart, low, solution, h)
            impulse = solution.impulse
            warm = lambda ids, width, last=impulse: last  # noqa: E731
        best.previews = count
        system.work[:] = work
        return best

    def _apart(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """C of all rows at a preview, 0 for those that are not held."""
        system, found = self.system, np.zeros(4)
        stages = system.stages(np.zeros(0))
        see_ahead(system.layout, system.ints, system.constants, stages, t, system.work, q, v, found)
        out = system.view(RESIDUAL).copy()
        out[self.first :] *= self.settled * (self.compliance == 0.0)
        return out

    def _reached(self, solution: StepSolution) -> np.ndarray:
        """What one-sided rows were said to reach, (C + h Ċ)/h without corners."""
        return solution.outcome.velocity[: self.pushed.size]

    def _limits_missed(self, solution: StepSolution, low: np.ndarray, h: float) -> float:
        """By how much limits are passed, or held open, in m/s."""
        if not self.pushed.size:
            return 0.0
        active = solution.constraint_impulse[self.pushed] > 0.0
        return float(np.where(active, np.abs(low), np.maximum(-low, 0.0)).max())

    def _correct(self, apart: np.ndarray, low: np.ndarray, solution: StepSolution, h: float) -> None:
        """Ask more of the rows for the next round."""
        system, constraints = self.system, self.system.constraints
        right = np.zeros((system.n, 6))
        for i, (k, _) in enumerate(system.view(NODE_JOINT).reshape(-1, 2)):
            if k >= 0:
                row, count = constraints.joints[6 * k + 4 : 6 * k + 6]
                right[i, :count] = -apart[row : row + count] / h**2
        y, multipliers = system.response(np.zeros((1, 6 * system.n)), right.ravel())
        system.view(Y)[:] += system.ordered(y[0])
        system.view(NODE_L)[:] += multipliers[0]
        self.asked += apart[self.first :] / h
        if self.pushed.size:
            self.asked[self.pushed] += low - self._reached(solution)

    def settle(self, t: float, ahead: Ahead, control: np.ndarray, h: float) -> tuple[float, int, float]:
        """Bring the end of the step onto the joints, velocities too: what is left apart, at which row, and what is left of velocities."""
        system, solution = self.system, ahead.solution
        if solution.apart is not None:
            system.move_apart(ahead.q, ahead.v, solution.apart, h)
        if self.settled.any() or self.first:
            system.project(t, ahead.q, ahead.v, control, self.settled, solution.constraints, self.stuck_joints(solution, ahead.begun, h))
        apart = self._apart(t, ahead.q, ahead.v)
        rate = system.view(RATE).copy()
        rate[self.first :] *= self.settled * (self.compliance == 0.0)
        row = int(np.argmax(np.abs(apart))) if apart.size else 0
        return float(np.abs(apart).max(initial=0.0)), row, float(np.abs(rate).max(initial=0.0))
