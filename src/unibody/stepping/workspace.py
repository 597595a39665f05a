"""The arrays of time stepping in reduced coordinates, behind those of reduced coordinates."""

from __future__ import annotations

from unibody.arena import SlotBlock
from unibody.coordinates.reduced.workspace import REDUCED

IMPULSE_REDUCED = SlotBlock("time stepping in reduced coordinates", REDUCED)
MIDDLE = IMPULSE_REDUCED.work("MIDDLE", "(nv,) by how much velocities will have changed in the middle of the step; then that velocity")
STIFF = IMPULSE_REDUCED.work("STIFF", "(2, nv) 1 where efforts are implicit; then armature + h d + h² k of the velocity")
