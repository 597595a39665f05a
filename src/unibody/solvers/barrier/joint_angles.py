"""Angles of hinges and coordinates of other joints that count turns, fitted once a step so that they do not jump by 2π."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unibody.coordinates.affine.links import JointPart
from unibody.element import Kinematics
from unibody.joints import Ball, Free, Prismatic, Translational
from unibody.model import Model
from unibody.solvers.barrier.elements import Elements
from unibody.solvers.barrier.measure_tables import MeasureTable, coordinates_of

UNWOUND = (Ball, Free, Prismatic, Translational)


class Hinges:
    """Joints that no element asks for: those whose coordinates are gauges all at once, the others one by one."""

    def __init__(self, model: Model, elements: Elements, parts: Sequence[JointPart]):
        asked = {id(j) for j in elements.seen}
        rest = [part for part in parts if part.nv and id(model.joints[part.joint]) not in asked]
        found = [(part, coordinates_of(part)) for part in rest if not all(isinstance(p, UNWOUND) for p in part.element.parts())]
        poor = {part.joint for part, gauges in found if len(gauges) < part.nq}
        self._others = [model.joints[k] for k in sorted(poor)]
        self._elements = elements
        known = {part.q_start + k: g for part, gauges in found if part.joint not in poor for k, g in gauges.items()}
        self._q, self._table = np.array(list(known), int), MeasureTable(list(known.values()))

    def fit(self, k: Kinematics, Q: np.ndarray) -> None:
        """Their coordinates into k.q, near to what is there."""
        self._elements.fit(k, self._others)
        if len(self._q):
            t = self._table
            values = t.values(np.ascontiguousarray(Q).ravel(), t.flip * k.q[self._q] + t.offset)
            k.q[self._q] = t.flip * (values - t.offset)
