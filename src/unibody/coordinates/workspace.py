"""The arrays that systems of reduced and of maximal coordinates have in common: what rules and solvers may read of any of them.

What only one kind of system has is declared beside it (`reduced.workspace`, `maximal.workspace`, a solver's `workspace`), in a block that
extends this one. See `unibody.arena`. Below, n bodies (the world first), k rows of which a are auxiliary, m velocities of the system, nv
velocities of all joints, r relative joints (those that the coordinates do not contain).
"""

from __future__ import annotations

from unibody.arena import SlotBlock

COMMON = SlotBlock("coordinates")
_int, _constant, _work = COMMON.integers, COMMON.constants, COMMON.work

# how coordinates follow velocities
CLASSES = _int("CLASSES", "(classes, 9) of joints or bodies with coordinates of their own: addresses and places (`model.tables`)")
INDEX = _int("INDEX", "(joints, 3) of these: row of the joint table, first q, first v")
PARAMETERS = _constant("PARAMETERS", "numbers of these, one class after the other")
# forces
FORCE_CLASSES = _int("FORCE_CLASSES", "(classes, 5) address; where index and parameters begin and end")
FORCE_INDEX = _int("FORCE_INDEX", "integers of forces, one class after the other")
FORCE_PARAMETERS = _constant("FORCE_PARAMETERS", "numbers of forces, one class after the other")
LIMIT = _constant("LIMIT", "(nv,) the largest effort of motors [N, N m]")
SIGNALS = _work("SIGNALS", "functions of time at t, then X_WB, V_WB, V̇_WB of driven bodies (24 each)")
F = _work("F", "(n, 6) wrenches on bodies, at origins in body axes [N m, N]")
EFFORT = _work("EFFORT", "(2, nv) efforts of forces and of motors [N, N m]")
RIGHT = _work("RIGHT", "(nv,) efforts of all, motors within their limits [N, N m]")
LEDGER = _work("LEDGER", "energies [J] and powers [W] of forces (`element`)")
# relative joints
JOINTS = _int("JOINTS", "(r, 6) parent, child, first v, number of v, first row, number of rows")
JOINT_CLASSES = _int("JOINT_CLASSES", "(classes, 9) of relative joints, as in CLASSES")
JOINT_INDEX = _int("JOINT_INDEX", "(r, 3) of relative joints, as in INDEX")
JOINT_PARTS = _int("JOINT_PARTS", "parts of composites among relative joints")
JOINT_FRAMES = _constant("JOINT_FRAMES", "(r, 24) X_PF, X_BM")
JOINT_PARAMETERS = _constant("JOINT_PARAMETERS", "numbers of relative joints, one class after the other")
JOINT_PLANES = _constant("JOINT_PLANES", "the plane in which joints hold, of planar worlds")
JOINT_X = _work("JOINT_X", "(rows of the table, 12) X_FM at the fitted coordinates")
JOINT_S = _work("JOINT_S", "(nv, 6) S of relative joints, V_FM = S v")
JOINT_C = _work("JOINT_C", "(rows of the table, 6) Ṡ v of relative joints")
SEEN = _work("SEEN", "(r, 42) X_MP, X_MB, V_FM, V_P in M, and what the fit leaves")
T = _work("T", "(rows of joints, 6) orthonormal complement of S, in M's axes")
DUAL = _work("DUAL", "(nv, 6) S⁺: an effort as a wrench at M")
SCRATCH = _work("SCRATCH", "for the fit of a joint, and its normal equations")
STEP = _work("STEP", "(nv,) a step of joint coordinates")
# rows
ROW_CLASSES = _int("ROW_CLASSES", "(classes, 5) of constraint elements, as in FORCE_CLASSES")
ROW_INDEX = _int("ROW_INDEX", "integers of constraint elements, one class after the other")
ROW_START = _int("ROW_START", "(a + 1,) where the entries of each auxiliary row begin in ROW_ENTRY")
ROW_ENTRY = _int("ROW_ENTRY", "entries, one row after the other")
ENTRY_BODY = _int("ENTRY_BODY", "(entries,) the body that an entry touches")
DOF_START = _int("DOF_START", "(a + 1,) where the joint velocities of each auxiliary row begin in DOF_INDEX")
DOF_INDEX = _int("DOF_INDEX", "(…, 2) place in J, joint velocity")
BORROWED = _int("BORROWED", "(…, 6) joint velocities that coordinates do not contain (`constraint_layout`)")
COUNTS = _int("COUNTS", "(7,) sizes, below")
NODE_OF = _int("NODE_OF", "(entries,) where the velocities of an entry's body begin among responses; −1: it is not moved")
ROW_PARAMETERS = _constant("ROW_PARAMETERS", "numbers of constraint elements, one class after the other")
COMPLIANCE = _constant("COMPLIANCE", "(a,) of auxiliary rows; 0: rigid")
STABILISER = _constant("STABILISER", "(2,) k_v [1/s], k_q [1/s²] of C̈ = −k_v Ċ − k_q C")
MASSES = _constant("MASSES", "(n, 2) 1/m [1/kg] and 3/trace I [1/(kg m²)]; 0: not moved")
ROW_SIZE = _work("ROW_SIZE", "(k,) the size of what a row holds [m, rad]")
G = _work("G", "(entries, 6) how a row meets V_WB of a body")
J = _work("J", "how rows meet joint velocities; 1 where nothing else is said")
ENTRY_W = _work("ENTRY_W", "(entries, w) entries as they meet responses: in world axes at the joints' points, or of nodes")
RESIDUAL = _work("RESIDUAL", "(k,) C [m, rad]")
VIOLATION = _work("VIOLATION", "(k,) C by size [1]")
RATE = _work("RATE", "(k,) Ċ")
BIAS = _work("BIAS", "(k,) C̈ at zero accelerations")
DRIFT = _work("DRIFT", "(k,) ∂C/∂t")
RESPONSE_X = _work("RESPONSE_X", "(a, …) what a unit multiplier does to the bodies")
RESPONSE_Y = _work("RESPONSE_Y", "(a, m) M⁻¹ Kᵀ, or multipliers of the forest's joints")
GRAM = _work("GRAM", "(a, a) A = K M⁻¹ Kᵀ")
CLOSURE = _work("CLOSURE", "factors of A and what its rank was judged by; the last is the largest violation")
TARGET = _work("TARGET", "(a,) right side of A μ = …")
MULTIPLIER = _work("MULTIPLIER", "(a,) μ [N, N m]")
ACTIVE = _work("ACTIVE", "(a,) 1: the row takes part; 0: it does not")
RANK = _work("RANK", "(1,) rank of A")
LOAD = _work("LOAD", "wrenches of rows on bodies")
# bodies and accelerations
ARMATURE = _constant("ARMATURE", "(nv,) [kg, kg m²]")
GRAVITY = _constant("GRAVITY", "(3,) [m/s²]")
NODE_CONSTANTS = _constant("NODE_CONSTANTS", "mass, centre of mass and inertias of bodies that fly (`kick`)")
X_WB = _work("X_WB", "(n, 12) R_WB by rows, p_WB [m]")
V_WB = _work("V_WB", "(n, 6) twists at origins in body axes [rad/s, m/s]")
Y = _work("Y", "(m,) accelerations: rates of the velocities of the system")
SPEED_LIMIT = _work("SPEED_LIMIT", "(1,) a rollout pauses where some velocity is beyond it")

PRIMARY, JOINT_ROW_COUNT, ROW_COUNT, ENTRY_COUNT, ELEMENT_ROWS, WIDTH, OWN_Q = range(7)
"""What COUNTS holds: primary rows, rows of joints, all rows, all entries, rows of elements, velocities of a body (6, in a plane 3), own
coordinates."""
