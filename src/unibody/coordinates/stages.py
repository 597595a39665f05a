"""The stages of an evaluation that compiled code calls by address, and where each address stands in `stages`; 0 means not needed."""

from __future__ import annotations

from unibody.kernel import Floats, Ints, prototype

(
    EVALUATE_STAGE, SIGNAL_STAGE, SEE_STAGE, FORCE_STAGE, CLOSE_STAGE, PROJECT_STAGE, KICK_STAGE, AGAIN_STAGE, KICK_ONTO_ROWS_STAGE,
    IMPLICIT_STAGE, PAIR_STAGE, FACTOR_STAGE, SOLVE_STAGE, FUSED_STAGE, MULTIPLIER_STAGE,
) = range(15)  # fmt: skip
STAGES = 15


@prototype
def Evaluate(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Accelerations (slot Y) of a system at (t, q, v)."""


@prototype
def Stage(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """A part of the evaluation that only some scenes need."""


@prototype
def Project(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Bring q back onto its constraints after a step, with the factors of the last evaluation."""


@prototype
def Kick(layout: Ints, ints: Ints, constants: Floats, h: float, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """A system's own way to move v by h times its accelerations and q along the new v."""


@prototype
def KickOntoRows(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, h: float,
    work_out: Floats, scratch_out: Floats, q_out: Floats, v_out: Floats,
) -> None:  # fmt: skip
    """`Kick`, with accelerations corrected so that the constraints hold at its end; `scratch_out`: as many numbers as q and v."""


@prototype
def Implicit(
    layout: Ints, ints: Ints, constants: Floats, control: Floats, project: int, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """The implicit terms of all forces, in the slots OWN, COUPLING, DIAGONAL, IMPLICIT_F and IMPLICIT_EFFORT."""


@prototype
def PairBlocks(layout: Ints, ints: Ints, implicit: int, work_out: Floats) -> None:
    """The implicit terms of forces between points, added to the slots BLOCKS and WORLD_COUPLING, where other implicit terms are if there
    are any."""


@prototype
def FactorMatrix(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> int:
    """Make the matrix of the step ready for solutions: 0, or the node near which it is not positive definite."""


@prototype
def SolveMatrix(
    layout: Ints, ints: Ints, constants: Floats, right: Floats, work_out: Floats, f_out: Floats, x_out: Floats, y_out: Floats
) -> int:
    """A y = right + Jᵀ f, x = J y; f is zero afterwards. The number of iterations, or −1."""


@prototype
def SolveFused(
    layout: Ints, ints: Ints, constants: Floats, right: Floats, f: Floats, work_out: Floats, x_out: Floats, y_out: Floats
) -> int:
    """A y = right + Jᵀ f + Gᵀ μ with G y = target at once, from the guess in y: the number of iterations, or −1."""


@prototype
def SolveMultipliers(
    target: Floats, violation: Floats, gram_out: Floats, active_out: Floats, closure_out: Floats, multiplier_out: Floats, rank_out: Floats
) -> None:
    """Multipliers μ with G A⁻¹ Gᵀ μ = target, or ≥ and μ ≥ 0 where rows are unilateral; then which rows are held (1) or left alone (0)."""
