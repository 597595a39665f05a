"""The arrays of penalty forces, behind those of maximal coordinates."""

from __future__ import annotations

from unibody.arena import SlotBlock
from unibody.coordinates.maximal.workspace import MAXIMAL

PENALISED = SlotBlock("penalty", MAXIMAL)
PENALTY = PENALISED.constants("PENALTY", "(rows, 7) how a row gives way (`penalty.system`)")
AIM = PENALISED.work("AIM", "(auxiliary rows,) right sides of the law")
