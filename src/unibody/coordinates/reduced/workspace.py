"""The arrays of systems in reduced coordinates, behind those that all systems have (`coordinates.workspace`).

Implicit forces and the middle of a step are asked for by several solvers; a system without them leaves their slots empty. Below, n bodies
(the world first), nv velocities of all joints, m of the tree, k rows.
"""

from __future__ import annotations

from unibody.arena import SlotBlock
from unibody.coordinates.workspace import COMMON

REDUCED = SlotBlock("reduced coordinates", COMMON)
_int, _constant, _work = REDUCED.integers, REDUCED.constants, REDUCED.work

# the tree
BODIES = _int("BODIES", "(n, 6) parent, first v, number of v, drive or −1, kind of column, role in the elimination")
PARTS = _int("PARTS", "parts of composites among tree joints")
TURNS = _int("TURNS", "(…, 2, 3) pure rotations, three at a time: places of q and of the table's rows")
CONSTANTS = _constant("CONSTANTS", "(n, 22) X_MF to the parent's M, then mass, m c and inertia at M")
FRAMES = _constant("FRAMES", "(n, 12) X_MB")
TABLE_X = _work("TABLE_X", "(rows of the table, 12) X_FM of tree joints")
TABLE_S = _work("TABLE_S", "(nv, 6) S of tree joints")
TABLE_C = _work("TABLE_C", "(rows of the table, 6) Ṡ v of tree joints")
ROWS = _work("ROWS", "(n, 68) pose, twist, ζ, wrench, inertia and acceleration of each body's joint (`algebra.tree.aba`)")
COLUMNS = _work("COLUMNS", "(m, 14) S, U, 1/D and u of each velocity (`algebra.tree.aba`)")
SHIFT = _work("SHIFT", "(n, 3) from the parent's point to the body's [m]")
# steps and projections
FREE = _int("FREE", "Free joints among the tree's: their class, then first q, first v, place in NODE_CONSTANTS or −1")
FLOATING = _work("FLOATING", "trees that float: root, members, and the course of the centre of mass (`kick`)")
UNPROJECTED = _work("UNPROJECTED", "q before the projection")
X_SOLVED = _work("X_SOLVED", "(n, 6) accelerations of bodies by the last solution of the tree, without ζ")
SIDE = _work("SIDE", "(m,) a right side")
# M + h D + h² K in factors, or M alone for projections
DIAGONAL = _work("DIAGONAL", "(nv,) armature + h d + h² k of each velocity")
BLOCKS = _work("BLOCKS", "(n, 21) inertias with implicit terms, upper triangles")
SUMS = _work("SUMS", "sums over subtrees")
LEAST = _work("LEAST", "(m,) what D is compared with to see whether it is positive")
# forces that are implicit
IMPLICIT_CLASSES = _int("IMPLICIT_CLASSES", "(classes, …) of implicit forces: addresses and places (`model.implicit_tables`)")
IMPLICIT_INDEX = _int("IMPLICIT_INDEX", "integers of implicit forces")
IMPLICIT_PLACES = _int("IMPLICIT_PLACES", "where their blocks go")
IMPLICIT_PARAMETERS = _constant("IMPLICIT_PARAMETERS", "numbers of implicit forces")
IMPLICIT_CHOICE = _constant("IMPLICIT_CHOICE", "(8,) how steps are made, below")
IMPLICIT_F = _work("IMPLICIT_F", "(n, 6) h K V on bodies [N m s, N s]")
IMPLICIT_EFFORT = _work("IMPLICIT_EFFORT", "(nv,) h k v on joints")
OWN = _work("OWN", "(n, 21) −h D − h² K of each body with itself")
COUPLING = _work("COUPLING", "(pairs, 36) and of pairs of bodies")
STATUS = _work("STATUS", "(8,) how the last step went, below")
# the middle of a step
MIDDLE_ROWS = _work("MIDDLE_ROWS", "(n, 15) twists and ζ in the middle of a step, below")

MIDDLE_WIDTH = 15
"""Numbers of a body in MIDDLE_ROWS: its twist and ζ in the middle of a step, and room for how they are found
(`stepping.midpoint_coriolis`). The first of the world's is 1 where the last evaluation took them there."""

STEP_LENGTH, FEEDBACK, TOLERANCE, ITERATION_LIMIT, ANTICIPATE, SETTLE, DEFINITE, CURVED = range(8)
"""What IMPLICIT_CHOICE holds: h [s], 1/τ [1/s] of the rows, the relative error of the velocity, the most iterations, whether unilateral
rows are held before they are violated (1) or only afterwards (0), whether the loads that acted are wanted afterwards, whether implicit
terms are the definite ones from the start, and whether rows are aimed along their curves."""

ITERATIONS, PROJECTED, FAILED, COUNTDOWN, CONTRACTED, FLAT, APART, MOVING = range(8)
"""What STATUS holds of the last step: iterations of the linear solution, whether indefinite terms were left out, the node that failed, the
steps for which an automatic choice stays with the direct solution, and whether that was used; whether rows are not to be aimed along their
curves; 1 + the row that the step pulled apart, or 0; and twice the kinetic energy of the step [J]."""
