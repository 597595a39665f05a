"""What a recording gives as series over its rows: energies, friction in a joint; and the impacts between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unibody.coordinates.observation import JointFrictionState, Observation
from unibody.errors import ModelError


class Energies:
    """Energies and works [J], one value per recorded state."""

    def __init__(self, observations: Sequence[Observation]):
        self.kinetic = np.array([o.kinetic for o in observations])
        self.gravity = np.array([o.gravity for o in observations])
        self.springs = np.array([o.springs for o in observations])
        self.elastic = np.array([o.elastic for o in observations])
        work = np.array([o.work for o in observations]).reshape(-1, 3)
        self.damper_work, self.motor_work, self.applied_work = work[:, 0], work[:, 1], work[:, 2]
        self._driven = [o.drive_work for o in observations]

    @property
    def drive_work(self) -> np.ndarray:
        """Of kinematic bodies and prescribed vertices, booked by solver 'barrier'."""
        if any(w is None for w in self._driven):
            raise ModelError("drive_work: this solver keeps no book of what driven bodies do; run the scene with solver 'barrier'")
        return np.array(self._driven, float)

    @property
    def work(self) -> np.ndarray:
        """All that is booked: of dampers (negative), motors, applied wrenches, and of what is driven, where that is booked."""
        driven = self.drive_work if all(w is not None for w in self._driven) else 0.0
        return self.damper_work + self.motor_work + self.applied_work + driven

    @property
    def potential(self) -> np.ndarray:
        """Gravity, springs and what deformables store."""
        return self.gravity + self.springs + self.elastic

    @property
    def total(self) -> np.ndarray:
        """Kinetic and potential."""
        return self.kinetic + self.potential


class JointFrictionSeries:
    """Friction in one joint, one row per recorded state: that of the step which ended there; row 0 is that of an instant."""

    def __init__(self, states: Sequence[JointFrictionState]):
        self.effort = np.array([r.effort for r in states])
        """(T, nv) [N m or N]"""
        self.normal_forces = np.array([r.normal_forces for r in states])
        """(T, points) [N]"""
        self.friction = np.array([r.friction for r in states])
        """(T, points, 1 or 2) on the child along the tangents [N]"""
        self.bound = np.array([r.bound for r in states])
        """(T,) [N m or N]"""
        self.sliding = np.array([r.sliding for r in states])
        """(T,)"""
        self.reaction = np.array([r.reaction for r in states])
        """(T, 6) torque then force on the child, without work, at the joint's frame in the child and in its axes [N m, N]"""
        self.multipliers = np.array([r.multipliers for r in states])
        """(T, points, 1 or 2) of the contacts along their normals [N]; of either sign"""


def energies_told(o: Observation) -> dict[str, float]:
    """What a report says of energies [J]; of deformables only where there are some."""
    stored = {"elastic": o.elastic} if o.vertices is not None else {}
    total = o.kinetic + o.gravity + o.springs + o.elastic
    return {"kinetic": o.kinetic, "gravity": o.gravity, "springs": o.springs, **stored, "total": total}


@dataclass(frozen=True)
class Impact:
    """One impact: when the step with it ended [s], the two bodies, where [m], the unit normal from the second to the first, the impulse on
    the first [N s], how fast they came together [m/s], and whether they slid on (else they stuck)."""

    t: float
    bodies: tuple[str, str]
    point: np.ndarray
    normal: np.ndarray
    impulse: np.ndarray
    approach: float
    sliding: bool
