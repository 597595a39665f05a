"""Constants of isotropic matter, checked: Young's modulus E [Pa] and Poisson's ratio ν give

    μ = E / 2(1 + ν),    λ = E ν / (1 + ν)(1 − 2ν)   in space,    λ = E ν / (1 − ν²)   in a sheet without stress across it.
"""

from __future__ import annotations

from typing import Any

from unibody.element import number
from unibody.errors import ModelError


def young_modulus(value: Any, what: str) -> float:
    """E > 0 [Pa], or a ModelError that says so."""
    return number(value, f"{what} young", positive=True)


def poisson_ratio(value: Any, what: str, most: float = 0.5) -> float:
    """−1 < ν < `most`, or a ModelError that says so: 0.5 in space (matter that keeps its volume), 1 in a sheet."""
    nu = number(value, f"{what} poisson")
    if not -1.0 < nu < most:
        remedy = "0.49 keeps volume nearly" if most == 0.5 and nu >= most else "0.3 is usual"
        raise ModelError(f"{what} poisson: {nu:g} is not between -1 and {most:g}; give a number between them ({remedy})")
    return nu


def damping_time(value: Any, what: str) -> float:
    """Rayleigh's damping ≥ 0 [s], or a ModelError that says so."""
    return number(value, f"{what} damping", minimum=0.0)


def lame_solid(young: float, poisson: float) -> tuple[float, float]:
    """μ and λ [Pa] in space.

    >>> lame_solid(2.5, 0.25)
    (1.0, 1.0)
    """
    return young / (2.0 * (1.0 + poisson)), young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))


def lame_sheet(young: float, poisson: float) -> tuple[float, float]:
    """μ and λ [Pa] of a sheet without stress across it."""
    return young / (2.0 * (1.0 + poisson)), young * poisson / (1.0 - poisson**2)
