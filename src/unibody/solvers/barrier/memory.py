"""What a barrier solver remembers, in the order in which `BarrierSystem` numbers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unibody.rules.base import COMMON
from unibody.rules.memory import Field, MemorySchema, count

if TYPE_CHECKING:
    from unibody.solvers.barrier.step import BarrierSystem


def barrier_schema(system: BarrierSystem) -> MemorySchema:
    """Of a system; x are the 12 numbers of each moving body, t and the columns of A."""
    from unibody.solvers.barrier.contact_stiffness import MOST  # SciPy comes when a model needs it

    n = system.n
    return COMMON.followed_by(
        count("stepped", "whether there was a step", 1),
        Field("rate", (), "1/s", "∂v/∂x of the last step", low=0.0),
        Field("potential_factor", (), "s²", "β h² of the last step", low=0.0),
        Field("origin", (n, 4, 3), "m, 1", "x from which its velocities are taken"),
        Field("begun_q", (n, 4, 3), "m, 1", "x that it began with"),
        Field("begun_v", (n, 4, 3), "m/s, 1/s", "rates of x that it began with"),
        Field("joint_q", (system.model.nq_joints,), "m, rad, 1", "coordinates of joints, fitted to the bodies' poses"),
        Field("multipliers", (system.reduction.rows,), "N", "of the equations"),
        Field("stiffer_ranges", (len(system.gauged),), "1", "how often κ of ranges was doubled", 0.0, MOST, whole=True),
        Field("stiffer", (n,), "1", "how often κ of contacts was doubled, per moving body", 0.0, MOST, whole=True),
        count("iterations", "of Newton's method in the last step"),
        count("contact_count", "contacts"),
        Field("least_distance", (), "m", "between bodies that are near each other", low=0.0, infinite=True),
    )
