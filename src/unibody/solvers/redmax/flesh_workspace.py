"""The arrays of RedMax with deformables, behind its own. Below, N vertices, f of them free, a points (free vertices first, then vertices
attached to bodies that forces move), b such bodies (the *border*), e stencils of energies, n bodies, p points on which elements act."""

from __future__ import annotations

from unibody.arena import SlotBlock
from unibody.solvers.redmax.workspace import REDMAX

FLESH = SlotBlock("RedMax with deformables", REDMAX)
_int, _constant, _work = FLESH.integers, FLESH.constants, FLESH.work

# vertices
FREE_VERTEX = _int("FREE_VERTEX", "(f,) numbers of the free vertices")
HELD = _int("HELD", "(…, 2) vertices on bodies, and these; first those of bodies that forces move")
PRESCRIBED = _int("PRESCRIBED", "numbers of the prescribed vertices")
SUPPORTED = _int("SUPPORTED", "(…, 5) vertices on other vertices, and these; −1 behind the last")
SEEN_START = _int("SEEN_START", "(p + 1,) where the vertices of each point begin in SEEN_VERTEX")
SEEN_VERTEX = _int("SEEN_VERTEX", "vertices of the points on which elements act")
POINT_START = _int("POINT_START", "(N + 1,) where what each vertex stands for begins in POINT_OF")
POINT_OF = _int("POINT_OF", "points")
HELD_P = _constant("HELD_P", "(…, 3) places of vertices on bodies, in their axes [m]")
SUPPORT_WEIGHT = _constant("SUPPORT_WEIGHT", "(…, 4) weights of supports")
SEEN_WEIGHT = _constant("SEEN_WEIGHT", "weights of SEEN_VERTEX")
POINT_WEIGHT = _constant("POINT_WEIGHT", "weights of POINT_OF")
VERTEX_MASS = _constant("VERTEX_MASS", "(N,) masses that are not those of a body [kg]")
FLESH_CHOICE = _constant("FLESH_CHOICE", "(5,) numbers that say what is asked for, below")
VERTEX_X = _work("VERTEX_X", "(N, 3) places [m]")
VERTEX_V = _work("VERTEX_V", "(N, 3) velocities now, of prescribed vertices those at the end of the step [m/s]")
VERTEX_NOW = _work("VERTEX_NOW", "(N, 3) velocities now [m/s]")
VERTEX_WAY = _work("VERTEX_WAY", "(N, 3) mean velocities over the step, without what it is to find [m/s]")
VERTEX_A = _work("VERTEX_A", "(N, 3) accelerations in a stage of a fully implicit rule [m/s²]")
VERTEX_F = _work("VERTEX_F", "(N, 3) forces [N]")
PRESCRIBED_X = _work("PRESCRIBED_X", "(…, 3, 3) of prescribed vertices: places, mean velocities over the step, and velocities now")
# energies
ENERGY_BATCHES = _int("ENERGY_BATCHES", "(classes, 7) as `energies.evaluate.add_energies` reads them")
ENERGY_INDEX = _int("ENERGY_INDEX", "vertices of stencils")
ENERGY_PARAMETERS = _constant("ENERGY_PARAMETERS", "numbers of stencils")
BATCH = _int("BATCH", "(classes, 4) vertices of a stencil, first stencil, where its gifts begin and end")
GIFTS = _int("GIFTS", "(…, 4) stencil, corner, flip and block: where numbers of stencils go (`coordinates.vertices.stencil_map`)")
GIFT_WEIGHT = _constant("GIFT_WEIGHT", "their weights")
DAMPING = _constant("DAMPING", "(e,) Rayleigh's, of stencils [s]")
STENCIL_SCALE = _work("STENCIL_SCALE", "(e,) what multiplies the matrix of a stencil")
STORED = _work("STORED", "(1,) energy of all stencils [J]")
STRESS = _work("STRESS", "(N, 3) its gradient [N]")
STENCIL_BLOCKS = _work("STENCIL_BLOCKS", "second derivatives, stencil by stencil [N/m]")
# the matrix over points and bodies
MASS_BLOCK = _int("MASS_BLOCK", "blocks of points to which masses go")
MASS_OF_BLOCK = _constant("MASS_OF_BLOCK", "these masses [kg]")
SEEN_BLOCK = _int("SEEN_BLOCK", "(…, 2) points on which elements act, and blocks of points to which their own terms go")
SEEN_BLOCK_WEIGHT = _constant("SEEN_BLOCK_WEIGHT", "their weights")
PAIR_BLOCK = _int("PAIR_BLOCK", "(…, 3) coupling of two such points, block of points, flip")
PAIR_BLOCK_WEIGHT = _constant("PAIR_BLOCK_WEIGHT", "their weights")
BODY_BLOCK = _int("BODY_BLOCK", "(…, 3) coupling of such a point with a body, which of both is the body, block of a point and a body")
BODY_BLOCK_WEIGHT = _constant("BODY_BLOCK_WEIGHT", "their weights")
BLOCK_COUNTS = _int("BLOCK_COUNTS", "(6,) blocks: free-free, free-body, free-held, held-held, held-body; then unknowns of the border")
HELD_ROWS = _int("HELD_ROWS", "(free-held, 2) held point, free-body block")
HELD_PAIRS = _int("HELD_PAIRS", "(held-held, 4) held points, body pair, way")
HELD_BODIES = _int("HELD_BODIES", "(held-body, 3) held point, body pair, way")
POINT_BLOCKS = _work("POINT_BLOCKS", "blocks in that order, 3×3 or 3×6: what the plan reads, then what becomes part of it")
# the factors, and what stands between bodies
BORDER_BODY = _int("BORDER_BODY", "(b,) bodies of the border")
COLUMN_FIRST = _int("COLUMN_FIRST", "the plan (`algebra.supernodal.plan.Supernodes`): first columns of supernodes,")
LOWER_FIRST = _int("LOWER_FIRST", "where rows below them begin,")
LOWER = _int("LOWER", "these,")
FACTOR_AT = _int("FACTOR_AT", "where L stands,")
UPDATE_AT = _int("UPDATE_AT", "and updates;")
CHILD = _int("CHILD", "children,")
SIBLING = _int("SIBLING", "next children,")
RELATIVE = _int("RELATIVE", "rows in the parent's front;")
ENTRY_FIRST = _int("ENTRY_FIRST", "entries of each front:")
ENTRY_SOURCE = _int("ENTRY_SOURCE", "from where,")
ENTRY_TARGET = _int("ENTRY_TARGET", "to where;")
ORDER = _int("ORDER", "unknowns in the order of elimination")
UPDATE = _int("UPDATE", "(…, 2) place on the stack, number in BODY_PAIRS: the Schur complement")
PAIR_PLACE = _int("PAIR_PLACE", "(body pairs,) place among couplings, or −1 − body for a body with itself")
STACK = _work("STACK", "updates")
PACKED = _work("PACKED", "scratch of a front")
FRONT = _work("FRONT", "a front")
FACTOR = _work("FACTOR", "L")
BODY_PAIRS = _work("BODY_PAIRS", "(body pairs, 36) terms between bodies of the border, in their axes at their origins")
UNKNOWNS = _work("UNKNOWNS", "(3f + 6b,) right side, then the solution")
REDUCED = _work("REDUCED", "(3f + 6b,) in the order of elimination, between the halves of a solution")
SOLVE_SCRATCH = _work("SOLVE_SCRATCH", "as many numbers as a front has rows")
# rows on points; nothing of this where there are none
ROW_STATE = _work("ROW_STATE", "(1,) whether the next solution is that of the step itself")
ROW_FORCE = _work("ROW_FORCE", "(N, 3) forces of rows on vertices")
ROW_WRENCH = _work("ROW_WRENCH", "(n, 6) what they do to bodies, in their axes at their origins")
ROW_REDUCED = _work("ROW_REDUCED", "(3f + 6b,) as REDUCED, of these forces")
ROW_UNKNOWNS = _work("ROW_UNKNOWNS", "(3f + 6b,) as UNKNOWNS, of these forces")
ROW_MOTION = _work("ROW_MOTION", "scratch: accelerations of vertices (N, 3); or loads and motions of points, motions of bodies (6 each)")
# what stands behind it
FLESH_ADDRESSES = _int("FLESH_ADDRESSES", "(3,) of what else ends a step, or 0; of the bodies' own solution; of the paper's form")

FREE_FREE, FREE_BODY, FREE_HELD, HELD_HELD, HELD_BODY, BORDER_SIZE = range(6)
"""What BLOCK_COUNTS holds."""

CORRECTING, FIRST_Q, FIRST_V, ROWS_ALONE, KKT = range(5)
"""What FLESH_CHOICE holds: whether a Newton correction is asked for, where q and v of vertices begin, whether rows act alone, and whether
multipliers hold attached vertices (`flesh_kkt`)."""
