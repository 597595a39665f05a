"""What constraints and joint remainders do to bodies, for the record, and the scales by which stiff potentials stand for them.

    constraints C = 0       ½ k C²,  k = s m [N/m] or s m ℓ² [N m],  s = `stiffness`/h²                                    (Eq. 10)
    constraints C ≥ 0       κ b(C/ĉ),  κ = m ĉ (10 g + ĉ/h²), ĉ = ℓ/100;  of angles m ℓ² ĉ (10 g/ℓ + ĉ/h²), ĉ = 1/100      (Eq. 13–14)

m is the mass of the bodies that joints connect to the element's, ℓ² the largest tr(I)/m of its own bodies: it moves, turns and carries on
these scales.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unibody.errors import ModelError
from unibody.model import Model

CARRIED = 10.0
"""Bodies above each other that a barrier carries in its middle."""
REACH = 0.01
"""ĉ, as a part of ℓ or of a radian."""


@dataclass(frozen=True)
class StepScales:
    """Of the potentials that stand for constraints during one step."""

    scale: float
    """s [1/s²]"""
    step: float
    """h [s]"""
    gravity: float
    """|g| [m/s²]"""


@dataclass
class ElementLoads:
    """A value; its negative gradient: wrenches (bodies, 6) in body axes, and efforts of joints (nv); wrenches that hold joints together
    (6, M's axes) by joint, and multipliers of constraints by name."""

    value: float
    wrench: np.ndarray
    efforts: np.ndarray
    holding: dict[int, np.ndarray] = field(default_factory=dict)
    multipliers: dict[str, np.ndarray] = field(default_factory=dict)
    violation: float = 0.0
    """The largest |C|, or of C ≥ 0 what is below [m or rad]."""

    @staticmethod
    def of(model: Model) -> ElementLoads:
        return ElementLoads(0.0, np.zeros((model.n_frames, 6)), np.zeros(model.nv_joints))

    def join(self, other: ElementLoads) -> ElementLoads:
        """The sum of two sets of loads."""
        out = ElementLoads(self.value + other.value, self.wrench + other.wrench, self.efforts + other.efforts)
        out.holding, out.multipliers = {**self.holding, **other.holding}, {**self.multipliers, **other.multipliers}
        out.violation = max(self.violation, other.violation)
        return out


def refuse_start(name: str, outside: float, unit: str) -> None:
    """A range that is not open at the start."""
    where = f"outside its range by {outside:.3g} {unit}" if outside > 0.0 else "exactly on the bound of its range"
    raise ModelError(f"'{name}' is {where} at the start, where a barrier has no room; start inside the range, or widen it")
