"""What a step of time stepping has found: impulses of constraint rows and contacts, with the velocities that go with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.contact.pair_laws import ContactLaws
from unibody.coordinates.observation import Touching
from unibody.stepping.contact_margin import Touches
from unibody.stepping.contact_rows import ContactRows
from unibody.stepping.impulse_dynamics import ConstraintRows
from unibody.stepping.impulses import ImpulseOutcome

SLIPS = 1e-6
"""[m/s] Above it a contact slides."""

LATE = 1e-9
"""[m/s] By how much a contact may be passed before it is an impact of the next round."""


@dataclass
class StepSolution:
    """The impulses of a step: of the constraint rows (k,), of contacts (n, w) with their velocities before, of the free motion and
    after."""

    touches: Touches
    rows: ContactRows
    laws: ContactLaws
    constraints: ConstraintRows
    wrenches: np.ndarray
    constraint_impulse: np.ndarray
    impulse: np.ndarray
    before: np.ndarray
    free: np.ndarray
    after: np.ndarray
    outcome: ImpulseOutcome
    gained: float = 0.0
    """Kinetic energy [J] that impacts would add; 0 where they take some."""
    clipped: bool = False
    """Whether restitution was made smaller, so that they do not."""
    work: float = 0.0
    """Of contacts, limits and dry friction over the step [J]."""
    apart: np.ndarray | None = None
    """Pseudo-velocities (nv,) that part what overlaps."""
    struck: np.ndarray | None = None
    """(n,) speeds [m/s] with which impacts that others caused within the step came about; 0 where there was none."""
    pushes: int = 0
    """How many rows of limits come before those of friction, in the outcome."""
    joint_friction: np.ndarray | None = None
    """What friction in joints keeps."""
    turnover: float = 0.0
    """The sum of |impulse times velocity| over contacts [J]."""

    def on_bodies(self, n_bodies: int) -> np.ndarray:
        """(bodies, 6) wrenches of the impulses of contacts."""
        return self.rows.on_bodies(self.wrenches, self.impulse, n_bodies)

    @property
    def approach(self) -> np.ndarray:
        """(n,) speeds [m/s] with which bodies came together; 0 where they did not."""
        return np.maximum(-self.before[:, 0], 0.0 if self.struck is None else self.struck).clip(0.0)


def touching_of(solution: StepSolution, gaps: np.ndarray, slips: np.ndarray, h: float, hits_above: float) -> Touching:
    """Contacts as a recording keeps them: forces on the second body of each, at the points where they acted; what came together faster
    than `hits_above` [m/s] hit."""
    rows, force = solution.rows, solution.impulse / h
    hit = (solution.approach > hits_above) & (solution.impulse[:, 0] > 0.0)
    friction = np.einsum("nk,nkj->nj", force[:, 1:3], rows.directions[:, 1:3])
    return Touching(
        points=rows.points, bodies=rows.bodies[:, ::-1].copy(), normals=rows.directions[:, 0].copy(), gaps=gaps, normal_forces=force[:, 0],
        friction=friction, sliding=slips > SLIPS, approach=np.where(hit, solution.approach, 0.0),
        impulses=np.where(hit[:, None], h * (force[:, :1] * rows.directions[:, 0] + friction), 0.0),
    )  # fmt: skip
