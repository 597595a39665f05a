"""Mass, centre of mass and inertia of a rigid thing, and the three ways they change.

Moving by x → R x + p:     c' = R c + p,   I' = R I Rᵀ           (I is about the centre of mass)
Combining k parts:         m = Σ mₖ,  c = Σ mₖ cₖ / m,  I = Σ Iₖ + mₖ (|dₖ|² 1 − dₖ dₖᵀ),  dₖ = cₖ − c
Being physical:            m > 0; I symmetric, positive definite, and A + B ≥ C for its principal values, because
                           A + B − C = 2 ∫ z² dm.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unibody.errors import ModelError

LARGEST = 1e100
"""Of a mass [kg], a length [m] or an inertia [kg m²]: its products with others are still numbers."""
ROUND_OFF = 1e-9
"""Relative slack of the symmetry and triangle checks: numbers typed with ten digits pass, wrong ones do not."""


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Mass, centre of mass and inertia in some frame.

    >>> MassProperties(2.0, (0, 0, 1), (1, 1, 1)).moved(np.eye(3), (0, 0, 1)).com
    array([0., 0., 2.])
    """

    mass: float
    """[kg]"""
    com: Any
    """Centre of mass in the frame's coordinates [m], an array (3,)."""
    inertia: Any
    """About the centre of mass, in the frame's axes [kg m²], an array (3, 3). Three principal values are accepted."""

    def __post_init__(self) -> None:
        com = np.array(self.com, dtype=float)
        inertia = np.array(self.inertia, dtype=float)
        if com.shape != (3,):
            raise ModelError(f"mass properties: com has shape {com.shape}; give three numbers")
        if inertia.shape == (3,):
            inertia = np.diag(inertia)
        if inertia.shape != (3, 3):
            raise ModelError(f"mass properties: inertia has shape {inertia.shape}; give a 3×3 matrix or three principal values")
        com.flags.writeable = False
        inertia.flags.writeable = False
        object.__setattr__(self, "mass", float(self.mass))
        object.__setattr__(self, "com", com)
        object.__setattr__(self, "inertia", inertia)

    def moved(self, R: ArrayLike, p: ArrayLike) -> MassProperties:
        """The same thing moved by x → R x + p, or: seen from a frame in which its own frame has the pose (R, p)."""
        turn = np.asarray(R, dtype=float)
        return MassProperties(self.mass, turn @ self.com + np.asarray(p, dtype=float), turn @ self.inertia @ turn.T)

    def with_mass(self, mass: float) -> MassProperties:
        """The same geometry at another density, so that the mass is `mass`."""
        return MassProperties(mass, self.com, self.inertia * (float(mass) / self.mass))

    def about(self, point: ArrayLike) -> np.ndarray:
        """Inertia about `point` (frame coordinates), (3, 3) [kg m²]."""
        return self.inertia + self.mass * _steiner(self.com - np.asarray(point, dtype=float))

    def check(self, name: str) -> None:
        """Raise ModelError, naming the element `name`, unless a rigid thing can have these properties."""
        if not (np.isfinite(self.mass) and self.mass > 0.0):
            raise ModelError(f"{name}: mass {self.mass:g} is not positive and finite; give a positive mass")
        if not np.isfinite(self.com).all():
            raise ModelError(f"{name}: com {_row(self.com)} is not finite; give three finite numbers")
        if not np.isfinite(self.inertia).all():
            raise ModelError(f"{name}: inertia {_rows(self.inertia)} is not finite; give finite numbers")
        size = np.abs(self.inertia).max()
        if max(self.mass, np.abs(self.com).max(), size) > LARGEST:
            told = f"mass {self.mass:g}, com {_row(self.com)}, inertia {_rows(self.inertia)}"
            raise ModelError(f"{name}: {told} is more than can be computed with; give numbers below {LARGEST:g}")
        if np.abs(self.inertia - self.inertia.T).max() > ROUND_OFF * size:
            raise ModelError(f"{name}: inertia {_rows(self.inertia)} is not symmetric; give Iₓᵧ = Iᵧₓ")
        A, B, C = np.linalg.eigvalsh(0.5 * (self.inertia + self.inertia.T))
        if not A > 0.0:
            raise ModelError(
                f"{name}: inertia {_rows(self.inertia)} has the principal value {A:g}; all must be positive "
                "(inertia is about the centre of mass; give a point mass a small one)"
            )
        if A + B < C * (1.0 - ROUND_OFF):
            raise ModelError(
                f"{name}: no body has the principal inertias ({A:g}, {B:g}, {C:g}), since {A:g} + {B:g} < {C:g}; "
                "check that inertia is about the centre of mass"
            )


def combine(parts: Iterable[MassProperties]) -> MassProperties:
    """Several things in one frame as one rigid thing.

    >>> combine([MassProperties(1.0, (0, 0, z), (1, 1, 1)) for z in (-1.0, 1.0)]).inertia.diagonal()
    array([4., 4., 2.])
    """
    parts = list(parts)
    if not parts:
        raise ModelError("mass properties: nothing to combine; give at least one part")
    mass = sum(part.mass for part in parts)
    com = np.sum([part.mass * part.com for part in parts], axis=0) / mass
    return MassProperties(mass, com, np.sum([part.about(com) for part in parts], axis=0))


def _steiner(d: np.ndarray) -> np.ndarray:
    return (d @ d) * np.eye(3) - np.outer(d, d)


def _row(values: np.ndarray) -> str:
    return "(" + ", ".join(f"{value:g}" for value in values) + ")"


def _rows(matrix: np.ndarray) -> str:
    return "(" + ", ".join(_row(row) for row in matrix) + ")"
