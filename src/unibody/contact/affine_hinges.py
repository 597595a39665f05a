"""Angles of hinges and coordinates of other joints that count turns, fitted once a step so that they do not jump by 2π."""

from __future__ import annotations

import numpy as np

from unibody.contact.affine_elements import Elements
from unibody.element import Kinematics
from unibody.joints import Ball, Free, Prismatic, Translational
from unibody.model import Model

UNWOUND = (Ball, Free, Prismatic, Translational)


class Hinges:
    """Joints that no element asks for: hinges all at once, the others one by one."""

    def __init__(self, model: Model, elements: Elements):
        asked = {id(j) for j in elements.seen}
        rest = [j for j in model.joints if not j.implicit and j.nv and id(j) not in asked]
        own = [j for j in rest if type(j.element).__dict__.get("column") == "rotation"]
        self._others = [j for j in rest if not any(j is h for h in own) and not all(isinstance(p, UNWOUND) for p in j.element.parts())]
        self._elements = elements
        self._child, self._parent = np.array([j.child for j in own], int), np.array([j.parent for j in own], int)
        self._q = np.array([j.q_start for j in own], int)
        self._F = np.array([j.X_PF.R for j in own]).reshape(-1, 3, 3)
        self._M = np.array([j.X_BM.R for j in own]).reshape(-1, 3, 3)
        self._axis = np.array([j.element.axis for j in own], float).reshape(-1, 3)  # type: ignore[attr-defined]

    def fit(self, k: Kinematics) -> None:
        """Their coordinates into k.q, near to what is there."""
        self._elements.fit(k, self._others)
        if not len(self._q):
            return
        X = k.X[:, :9].reshape(-1, 3, 3)
        R = np.einsum("nji,nkj,nkl,nlm->nim", self._F, X[self._parent], X[self._child], self._M, optimize=True)
        axial = np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
        angle = np.arctan2((axial * self._axis).sum(axis=1), np.trace(R, axis1=1, axis2=2) - 1.0)
        near = k.q[self._q]
        k.q[self._q] = near + np.remainder(angle - near + np.pi, 2.0 * np.pi) - np.pi
