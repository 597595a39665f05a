"""The stages of an evaluation that compiled code calls by address, and where each address stands in `stages`; 0 means not needed."""

from __future__ import annotations

from unibody.kernel import Floats, Ints, prototype

(
    EVALUATE_STAGE, SIGNAL_STAGE, SEE_STAGE, FORCE_STAGE, CLOSE_STAGE, PROJECT_STAGE, KICK_STAGE, AGAIN_STAGE, CORRECT_STAGE,
    IMPLICIT_STAGE, SOLVE_STAGE, ROWS_STAGE,
) = range(12)  # fmt: skip
STAGES = 12


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


SATISFIED, CORRECTED = range(2)
"""What `Correct` answers: nothing (more) to do; or the accelerations were corrected and the step has to be made again."""


@prototype
def Correct(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, h: float,
    work_out: Floats, q_out: Floats, v_out: Floats,
) -> int:  # fmt: skip
    """Look at the end of a step of length h: correct the accelerations so that the constraints hold there, or settle the velocities."""
