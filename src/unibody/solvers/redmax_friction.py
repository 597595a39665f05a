"""RedMax with friction in joints: every step finds its friction first, by bilateral staggered projections (paper 000 §5).

Trees without rows and implicit forces take their steps compiled; where that does not find the friction, and in all others, a step is one
in Python.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unibody.coordinates.observe_reduced import reactions_reduced
from unibody.coordinates.observed import Observation
from unibody.coordinates.slots import Y
from unibody.model import State
from unibody.rules.base import MEMORY, TIME
from unibody.rules.joint_friction import AN_INSTANT, JointFrictions, Moment
from unibody.rules.linearly_implicit import BEGUN, BEGUN_Q, CURBED, roll_linearly_implicit
from unibody.rules.rubbing_projections import CompiledRubbing
from unibody.rules.rubbing_steps import roll_rubbing
from unibody.rules.rubbings import MOST, TOLERANCE
from unibody.solvers.redmax import BoundRedMax


@dataclass
class BoundFriction(BoundRedMax):
    """The linearly implicit rule with friction in joints. Memory also holds the friction, the iterations that it took and the last relative
    change of what the contact points carry."""

    frictions: JointFrictions = field(kw_only=True)

    def __post_init__(self) -> None:
        self.roll, self._how = self._roll, (0, 0.0)
        self._compiled = CompiledRubbing(self.frictions, self.system, MEMORY + self.kept) if self.frictions.linear else None

    def _rubbed(self, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Views of the friction, and of iterations and change."""
        return kept[kept.size - self.frictions.size - 2 : kept.size - 2], kept[kept.size - 2 :]

    def step_facts(self) -> dict[str, Any]:
        return {**super().step_facts(), "iterations": self._how[0], "residual": self._how[1]}

    def _roll(
        self, layout: np.ndarray, ints: np.ndarray, constants: np.ndarray, stages: np.ndarray, control: np.ndarray, t0: float, h: float,
        steps: int, every: int, explicit: int, work: np.ndarray, scratch: np.ndarray, q: np.ndarray, v: np.ndarray, kept: np.ndarray,
        record: np.ndarray,
    ) -> int:  # fmt: skip
        """Steps as `roll_linearly_implicit` takes them: compiled as far as that goes, else one by one."""
        common, width, done = (layout, ints, constants, stages, control), 1 + q.size + v.size + kept.size, 0
        while done < steps:
            made, t = self._compiled, float(kept[TIME]) if done else t0
            if made is not None:
                done = roll_rubbing(
                    *common, made.layout, made.ints, made.numbers, t, h, TOLERANCE, MOST, done, steps, every, explicit, work, made.scratch,
                    self.frictions.efforts, q, v, kept, record,
                )  # fmt: skip
                t = float(kept[TIME]) if done else t0
            if done < steps:
                if not self._step(common, t, h, explicit, q, v, kept):
                    break
                done += 1
                if done % every == 0:
                    record[width * (done // every - 1) : width * (done // every)] = np.concatenate([[kept[TIME]], q, v, kept])
        self._how = int(kept[-2]), float(kept[-1])
        return done

    def _step(self, common: tuple, t: float, h: float, explicit: int, q: np.ndarray, v: np.ndarray, kept: np.ndarray) -> bool:
        """One step, its friction found in Python; false, with q, v and memory as they were, if it is not finite."""
        start, u, system = v, self._rubbed(kept)[0].copy(), self.system
        found = kept.copy()
        for _ in range(2):
            u = self._find(Moment(t, q, start, common[-1], h), u, found)
            self.frictions.act(u)
            system.prepare(h)
            q_new, v_new, new = q.copy(), v.copy(), kept.copy()
            if not roll_linearly_implicit(*common, t, h, 1, 2, explicit, system.work, self.scratch, q_new, v_new, new, np.zeros(0)):
                return False
            start = new[BEGUN_Q + self.nq_all : BEGUN_Q + self.nq_all + self.nv_all]
            if new[CURBED] == kept[CURBED]:  # else begun slower: friction of that
                break
        new[0] += self.frictions.work(start, system.view(Y), h, u)
        for mine, was in zip(self._rubbed(new), self._rubbed(found), strict=True):
            mine[:] = was
        q[:], v[:], kept[:] = q_new, v_new, new
        return True

    def _find(self, moment: Moment, u: np.ndarray, kept_out: np.ndarray) -> np.ndarray:
        """The friction of a step, kept with how it was found; none where motion is not finite, which the step itself then reports."""
        mine, how = self._rubbed(kept_out)
        try:
            found = self.frictions.solve(moment, u)
        except FloatingPointError:
            return np.zeros_like(u)
        mine[:] = found.friction
        how[:] = found.iterations, found.change
        return found.friction

    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        """As without friction, and what rubs in every joint; at the start, over an instant."""
        q, v, kept = self._unpack(state, memory)
        t, h = state.t - float(kept[BEGUN]), float(kept[BEGUN])
        if h > 0.0:
            q = np.array(kept[BEGUN_Q : BEGUN_Q + self.nq_all])
            v = np.array(kept[BEGUN_Q + self.nq_all : BEGUN_Q + self.nq_all + self.nv_all])
        else:
            h = AN_INSTANT
            self._find(Moment(t, q, v, control, h), self._rubbed(kept)[0].copy(), kept)
        u, how = self._rubbed(kept)
        self.frictions.act(u)
        out = super().observe(state, memory, control)
        y = self.frictions.evaluate(Moment(t, q, v, control, h), u)
        held = reactions_reduced(self.system)
        out.reactions, out.constraint_wrenches, out.multipliers = held.reactions, held.constraint, held.multipliers
        out.joint_friction = self.frictions.seen(held, u, v, y, h)
        out.iterations, out.residual = int(how[0]), float(how[1])
        if out.residual > TOLERANCE:
            out.notes = (*out.notes, f"joint friction did not settle: what it carries still changed by {out.residual:.1e}")
        return out
