"""RedMax: linearly implicit dynamics in reduced coordinates, with stiff forces between any bodies (paper 000).

    (Jᵀ (M + h D − h² K) J + h D_r − h² K_r) v⁺ = Jᵀ M J v + h (f_r + Jᵀ (f − M J̇ v))        (Eq. 2, with rows as in Eq. 4, 5 and 7)

Forces that give stiffness and damping blocks enter implicitly, unless they are named in `explicit`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint
from unibody.coordinates.observe_reduced import reactions_reduced
from unibody.coordinates.observed import Observation
from unibody.coordinates.redmax_system import LINEAR, RedMaxSystem
from unibody.element import number
from unibody.errors import ModelError
from unibody.forces.base import Force
from unibody.joints.base import Joint
from unibody.model import Model, State
from unibody.rules.linearly_implicit import BEGUN, roll_linearly_implicit
from unibody.shapes import Shape
from unibody.solvers.base import Bound, Solver

RULES = ("linearly-implicit",)


@dataclass(frozen=True)
class RedMax(Solver):
    """Options: `rule`; `linear`, the way to solve; `tolerance` of iterations, as a part of the velocity; `explicit`, names of forces that
    are not to be implicit; `stabilisation_time` τ [s] in which violated rows are brought back (None: ten steps); `project`, whether q is
    put onto bilateral rows after every step."""

    rule: str = "linearly-implicit"
    linear: str = "auto"
    tolerance: float = 1e-7
    explicit: tuple[str, ...] = ()
    stabilisation_time: float | None = None
    project: bool = True

    name = "redmax"

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ModelError(f"RedMax: rule {self.rule!r} is unknown; give one of {', '.join(RULES)}")
        if self.linear not in LINEAR:
            raise ModelError(f"RedMax: linear {self.linear!r} is unknown; give one of {', '.join(LINEAR)}")
        number(self.tolerance, "RedMax tolerance", positive=True)
        if self.stabilisation_time is not None:
            number(self.stabilisation_time, "RedMax stabilisation_time", positive=True, infinite=True)
        object.__setattr__(self, "explicit", tuple(self.explicit) if not isinstance(self.explicit, str) else (self.explicit,))

    def handles(self, element: Any, model: Model) -> str | None:
        if isinstance(element, Joint | Force | Constraint | Shape):
            return None
        return f"{type(element).__name__} is no element that reduced coordinates know"

    def bind(self, model: Model) -> BoundRedMax:
        self.check(model)
        known = [name for name, _ in model.forces]
        for name in self.explicit:
            if name not in known:
                raise ModelError(f"RedMax explicit: no force is named {name!r}; the forces are {', '.join(known) or 'none'}")
        system = RedMaxSystem(model, self.linear, frozenset(self.explicit), self.tolerance, self.stabilisation_time)
        system.set_projection(self.project)
        kept = 1 + system.nq_all + system.nv_all
        return BoundRedMax(
            model=model, solver=self, coordinates="reduced", system=system, nq=model.nq, nv=model.nv, roll=roll_linearly_implicit, kept=kept
        )


class BoundRedMax(Bound):
    """`RedMax` on a model."""

    system: RedMaxSystem

    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state; reactions and multipliers are those of the step that ended there (its impulses over h)."""
        out = super().observe(state, memory, control)
        _, _, kept = self._unpack(state, memory)
        h = float(kept[BEGUN])
        if h > 0.0:
            q = np.array(kept[BEGUN + 1 : BEGUN + 1 + self.nq_all])
            v = np.array(kept[BEGUN + 1 + self.nq_all :])
            self.system.prepare(h)
            self.system.advance_from(state.t - h, q, v, control)
            held = reactions_reduced(self.system)
            out.reactions, out.constraint_wrenches, out.multipliers = held.reactions, held.constraint, held.multipliers
            out.iterations, out.notes = self.system.iterations, self.system.notes()
        return out

    def step_facts(self) -> dict[str, Any]:
        return {**super().step_facts(), "iterations": self.system.iterations}
