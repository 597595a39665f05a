"""The arrays of RedMax, behind those of reduced coordinates. Below, n bodies, m velocities of the tree, k rows."""

from __future__ import annotations

from unibody.arena import SlotBlock
from unibody.coordinates.reduced.workspace import REDUCED

REDMAX = SlotBlock("RedMax", REDUCED)
_int, _work = REDMAX.integers, REDMAX.work

# couplings of bodies by implicit forces
PAIRS = _int("PAIRS", "(pairs, 2) moving bodies that a force couples")
GROUND_PAIRS = _int("GROUND_PAIRS", "(…, 2) couplings with bodies that do not move")
COUPLED = _int("COUPLED", "(pairs, 2) places of these bodies in the list of all that are coupled, then that list")
LOOP_COUPLINGS = _int("LOOP_COUPLINGS", "(…, 3) loop joint, v, place of its two bodies or −1: implicit forces in loop joints")
# forces between points, and tables of all others
PAIR_CLASSES = _int("PAIR_CLASSES", "(classes, 7) of forces between points: address, and where integers, parameters and pairs are")
PAIR_ENDS = _int("PAIR_ENDS", "(forces, 3) bodies a and b, and the place of their coupling or −1")
OTHER_FORCES = _int("OTHER_FORCES", "as FORCE_CLASSES, without forces between points")
OTHER_IMPLICIT = _int("OTHER_IMPLICIT", "as IMPLICIT_CLASSES, without forces between points")
PAIR_FORCES = _work("PAIR_FORCES", "(forces, 16) points, force and implicit term of each (`forces.base.FillPairs`)")
# couplings in the tree's axes
WORLD_COUPLING = _work("WORLD_COUPLING", "(pairs, 36) couplings in world axes at the joints' points")
# the direct solution
PLAN_STEPS = _int("PLAN_STEPS", "the elimination order (`algebra.tree.elimination_order`): its steps,")
PLAN_LISTS = _int("PLAN_LISTS", "what each step meets,")
PLAN_RECORDS = _int("PLAN_RECORDS", "and where couplings enter")
BORDER = _int("BORDER", "places in J of the rows that border the matrix")
BORDER_VALUES = _work("BORDER_VALUES", "entries of these rows on bodies (6 each), then on velocities")
FRONTS = _work("FRONTS", "factors; of the dense solution (m, m)")
FRONT_SCRATCH = _work("FRONT_SCRATCH", "what factoring needs besides")
FRONT_STATE = _work("FRONT_STATE", "what is kept between the two halves of a solution")
# the iteration
VECTORS = _work("VECTORS", "residuals, directions and products (`algebra.tree.pcg`)")
# rows
ADDRESSES = _int("ADDRESSES", "(2,) of what solves for the rows' responses, and for multipliers")
CONSTRAINT_LAYOUT = _int("CONSTRAINT_LAYOUT", "the rows as `algebra.tree.pcg` reads them")
UNILATERAL = _int("UNILATERAL", "(k,) 1: C ≥ 0")
NONHOLONOMIC = _int("NONHOLONOMIC", "(k,) 1: on velocities alone")
AHEAD = _work("AHEAD", "(k,) C as functions of time will have it at the end of the step, bodies standing still")
STEP_ROWS = _work("STEP_ROWS", "(k,) scratch: right sides of rows")
INVERSE = _work("INVERSE", "(k, k) (pseudo-)inverse of the rows' Gram matrix")
# the step
SIDE_F = _work("SIDE_F", "(n, 6) loads on bodies beside the right side")
V_OWN = _work("V_OWN", "(m,) velocities at the beginning of the step")
