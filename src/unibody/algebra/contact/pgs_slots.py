"""What sweeps work on: the blocks in units (`pgs_scaling`), and what is found."""

from __future__ import annotations

from unibody.algebra.contact.island_scaling import AXES, TABLE
from unibody.algebra.contact.scratch import lay_slot
from unibody.kernel import device

SLOTS = 14
J_OWN, Y_OWN, TABLES, AXES_OWN, B_OWN, D_OWN, X, LAST, BEST, MOTION, MOTION_LAST, MOTION_BEST, MOTION_FREE, MOVED = range(SLOTS)
"""J, Y, b and D in units, tables and axes; x, the last one and the best one; motions likewise; the best motion as islands have it."""


@device
def lay_slots(numbers, count, rows, places, velocities, layout_out):
    """How many floats they are."""
    lay_slot(J_OWN, numbers + 4, layout_out)
    lay_slot(Y_OWN, numbers + 4, layout_out)
    lay_slot(TABLES, TABLE * count, layout_out)
    lay_slot(AXES_OWN, AXES * count, layout_out)
    lay_slot(B_OWN, rows + 1, layout_out)
    for slot in range(D_OWN, MOTION):
        lay_slot(slot, rows, layout_out)
    for slot in range(MOTION, MOVED):
        lay_slot(slot, places, layout_out)
    lay_slot(MOVED, velocities, layout_out)
    return layout_out[2 * MOVED + 1]
