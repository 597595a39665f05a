"""Friction in joints over a linearly implicit step, by bilateral staggered projections (paper 000 §5.2, §5.3, Alg. 3).

For a friction u at hand the whole step is solved, rows and limits included; its reactions are those that bodies, loads and multipliers
leave (so there is no second, unconstrained motion to subtract, Eq. 13–17), what each joint carries is shared out among its contact points
(Eq. 16), and the points bound the next u, which stops slip or opposes it:

    u⁺ = arg min ½ (u⁺ − u)ᵀ h H (u⁺ − u) + s(u)ᵀ u⁺,   |u⁺_k| ≤ μ α_k,      s = B (v + h a)

with H the joints' response to efforts while rows hold (`effort_response`). Friction is solved for in reduced coordinates, where
joints stay together: the iteration has the paper's fixed points and reaches them sooner. The u of the last step is where the next begins.
Trees without rows and implicit forces do the same compiled (`friction_projections`), and come here where that does not find the friction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.algebra.friction.staggered import FrictionPoint, Staggered, stagger
from unibody.contact.joint_friction_variables import MOST, TOLERANCE, JointFrictionVariables
from unibody.coordinates.observation import JointFrictionState, Reactions
from unibody.coordinates.workspace import FORCE_PARAMETERS, X_WB
from unibody.forces.joint_friction import JointFriction
from unibody.model.model import Model
from unibody.solvers.redmax.effort_response import EffortResponse, velocity_rows
from unibody.solvers.redmax.system import RedMaxSystem
from unibody.stepping.reactions import sent

AN_INSTANT = 1e-6
"""Length [s] of the step that stands for the start of a run, which no step has led to."""


@dataclass
class Moment:
    """A step to be taken: from (t, q, v) over h under a control."""

    t: float
    q: np.ndarray
    v: np.ndarray
    control: np.ndarray
    h: float


class JointFrictions(JointFrictionVariables):
    """All frictions in the joints of a system."""

    def __init__(self, system: RedMaxSystem, model: Model):
        super().__init__(model)
        self.system, system.dynamics.bearings = system, self.bearings(model)
        first = system.dynamics.force_ranges[JointFriction][0]
        self.efforts = system.view(FORCE_PARAMETERS)[first : first + self.velocities.size]
        """Of the friction that acts, in the system's own memory."""
        self.linear = not system.implicit_names and not system.constraints.rows
        """Whether accelerations and reactions are linear in the efforts."""
        self.act(np.zeros(self.size))

    def act(self, u: np.ndarray) -> None:
        """Let the friction u act in whatever is evaluated next."""
        self.efforts[:] = self.rows.T @ u

    def solve(self, moment: Moment, u: np.ndarray) -> Staggered:
        """The friction of a step, from a guess."""
        if self.linear:
            return self._solve_linear(moment, u)
        response: list[EffortResponse] = []

        def contact(u: np.ndarray) -> FrictionPoint:
            y = self.evaluate(moment, u)
            if not response:
                response.append(EffortResponse(self.system, self.velocities))
            carried, bounds = self.carried(self.reduced_wrenches(self.system.dynamics), u)
            slip = self.rows @ (response[0].B @ (moment.v[: y.size] + moment.h * y))
            H = moment.h * self.rows @ response[0].closed() @ self.rows.T
            return FrictionPoint(carried, bounds, slip, H)

        return stagger(contact, self.widths, u, TOLERANCE, MOST)

    def _solve_linear(self, moment: Moment, u: np.ndarray) -> Staggered:
        """The same in trees without rows and implicit forces: accelerations and reactions are linear in the efforts, so that one evaluation
        and the responses to unit efforts tell of all."""
        y, system = self.evaluate(moment, u), self.system
        response, start, reactions = EffortResponse(system, self.velocities), u, self.reduced_wrenches(system.dynamics)
        responses = response.responses
        through = sent(system, np.zeros((len(responses), system.model.n_bodies, 6)), responses)
        units = self.rows @ self.units(through, system.view(X_WB).reshape(-1, 12)).reshape(len(responses), -1)
        H = moment.h * self.rows @ response.closed() @ self.rows.T
        slip = self.rows @ (response.B @ (moment.v[: y.size] + moment.h * y))

        def contact(u: np.ndarray) -> FrictionPoint:
            more = u - start
            carried, bounds = self.carried(reactions + (more @ units).reshape(-1, 6), u)
            return FrictionPoint(carried, bounds, slip + H @ more, H)

        return stagger(contact, self.widths, u, TOLERANCE, MOST)

    def evaluate(self, moment: Moment, u: np.ndarray) -> np.ndarray:
        """Accelerations of the step under the friction u, and in the system what else follows."""
        self.act(u)
        self.system.prepare(moment.h)
        y = self.system.advance_from(moment.t, moment.q.copy(), moment.v.copy(), moment.control).copy()
        if not np.isfinite(y).all():
            raise FloatingPointError("accelerations are not finite")
        return y

    def work(self, v: np.ndarray, y: np.ndarray, h: float, u: np.ndarray) -> float:
        """Of friction over a step from v with accelerations y, the one that was evaluated last [J]."""
        return h * float((self.rows.T @ u) @ (velocity_rows(self.system, self.velocities) @ (v[: y.size] + 0.5 * h * y)))

    def seen(self, found: Reactions, u: np.ndarray, v: np.ndarray, y: np.ndarray, h: float) -> dict[str, JointFrictionState]:
        """What a recording keeps of every friction, after `evaluate`."""
        slip = self.rows @ (velocity_rows(self.system, self.velocities) @ (v[: y.size] + h * y))
        return self.states(self.local(found.reactions, self.system.view(X_WB).reshape(-1, 12)), u, self.speeds(slip))
