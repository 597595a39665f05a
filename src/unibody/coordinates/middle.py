"""Coriolis and centrifugal terms in the middle of a step.

A semi-implicit step carries q from one end to the other with its new velocity, so that velocities are those of the middle of a step,
half a step before and half a step after the place of q at which forces act:

    M(q) (v⁺ − v) = h (f − c(q, v̄)) + Jᵀ λ,     q⁺ = q ⊕ h v⁺,     v̄ = (v + v⁺)/2

With c at v instead of v̄ the step is of order one, and what spins fast gains energy at the rate h |ω|². Here v̄ = v + w with half the change
w of the step before, brought onto the rows that hold (`along_rows`): order two, without iterations. Forces stay those of v, so that what
damps stays as stable as it was.

Where something struck, w is no forecast. A tree whose w carries more than LARGEST times the kinetic energy of v takes c at v.
"""

from __future__ import annotations

from unibody.algebra.tree import BODY, RIGID, ROW, A, C, V, W, dot6, rigid_block, times_block
from unibody.arena import part
from unibody.coordinates.careful import least_answer, see_state
from unibody.coordinates.reduced import fill_joint_table, fill_turns, sweep_reduced
from unibody.coordinates.reduced_system import load_bodies

from unibody.coordinates.slots import (  # isort: skip
    BODIES, CLASSES, CONSTANTS, COLUMNS, INDEX, MIDDLE, MIDDLE_ROWS, PARAMETERS, PARTS, RATE, ROWS, SIGNALS, TABLE_C, TABLE_S, TABLE_X,
    MIDDLE_WIDTH, TURNS, Y,
)  # fmt: skip
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import load6

LARGEST = 0.5
"""Of the kinetic energy. A start from rest has 1/4 after its first step, a bounce back 1."""

TERMS = 18
"""Numbers of a row from V on that depend on velocities: the twist V, the bias ζ and the wrench w."""


@kernel
def lean(layout: Ints, ints: Ints, constants: Floats, q: Floats, v: Floats, work_out: Floats) -> None:
    """The wrenches w of the rows, swept at v, as they are at v̄ = v + MIDDLE; MIDDLE_ROWS has V and ζ of v̄. Twists and ζ of the rows stay
    those of v: what contacts and constraints see is the motion at the beginning."""
    body = part(ints, layout, BODIES)
    middle = part(work_out, layout, MIDDLE)
    kept = part(work_out, layout, MIDDLE_ROWS)
    rows = part(work_out, layout, ROWS)
    table_X = part(work_out, layout, TABLE_X)
    table_S = part(work_out, layout, TABLE_S)
    table_c = part(work_out, layout, TABLE_C)
    n = body.size // BODY
    kept[0] = 1.0
    for i in range(1, n):
        for m in range(TERMS):
            kept[MIDDLE_WIDTH * i + m] = rows[ROW * i + V + m]
    # the same sweep at v̄
    for j in range(middle.size):
        middle[j] = v[j] + (middle[j] if j < part(work_out, layout, Y).size else 0.0)
    fill_joint_table(
        part(ints, layout, CLASSES), part(ints, layout, INDEX), part(constants, layout, PARAMETERS), part(ints, layout, PARTS), q, middle,
        table_X, table_S, table_c,
    )  # fmt: skip
    fill_turns(part(ints, layout, TURNS), q, table_X)
    sweep_reduced(
        body, part(constants, layout, CONSTANTS), table_X, table_S, table_c, middle, part(work_out, layout, SIGNALS), rows,
        part(work_out, layout, COLUMNS),
    )  # fmt: skip
    # twice the energies of v and of w of each tree, gathered in its first body (a body's parent comes before it)
    for i in range(1, n):
        kept[MIDDLE_WIDTH * i + TERMS] = 0.0
        kept[MIDDLE_WIDTH * i + TERMS + 1] = 0.0
    for i in range(n - 1, 0, -1):
        at = MIDDLE_WIDTH * i
        twist = load6(kept, at)
        ahead = load6(rows, ROW * i + V)
        w = (ahead[0] - twist[0], ahead[1] - twist[1], ahead[2] - twist[2], ahead[3] - twist[3], ahead[4] - twist[4], ahead[5] - twist[5])
        block = rigid_block(rows, ROW * i + RIGID)
        kept[at + TERMS] += dot6(twist, times_block(block, twist))
        kept[at + TERMS + 1] += dot6(w, times_block(block, w))
        above = MIDDLE_WIDTH * body[BODY * i]
        if above > 0:
            kept[above + TERMS] += kept[at + TERMS]
            kept[above + TERMS + 1] += kept[at + TERMS + 1]
    # V and ζ are those of v again; a tree that w does not foretell has all as it was
    for i in range(1, n):
        at = MIDDLE_WIDTH * i
        above = MIDDLE_WIDTH * body[BODY * i]
        if above > 0:
            kept[at + TERMS] = kept[above + TERMS]
            kept[at + TERMS + 1] = kept[above + TERMS + 1]
        leans = kept[at + TERMS + 1] <= LARGEST * kept[at + TERMS]
        for m in range(TERMS):
            there, was = rows[ROW * i + V + m], kept[at + m]
            if leans:
                kept[at + m] = there
            if m < W - V or not leans:
                rows[ROW * i + V + m] = was


@kernel
def lean_and_load(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """`load_bodies`, after the terms in velocities were taken in the middle of the step."""
    lean(layout, ints, constants, q_out, v_out, work_out)
    load_bodies(layout, ints, constants, control, work_out, q_out, v_out)


@kernel
def move_to_middle(layout: Ints, ints: Ints, work_out: Floats) -> None:
    """V, ζ and accelerations of the rows as they are at v̄, where loads and momenta balance."""
    kept = part(work_out, layout, MIDDLE_ROWS)
    rows = part(work_out, layout, ROWS)
    for i in range(1, part(ints, layout, BODIES).size // BODY):
        k = ROW * i
        for m in range(6):
            rows[k + V + m] = kept[MIDDLE_WIDTH * i + m]
            rows[k + A + m] += kept[MIDDLE_WIDTH * i + 6 + m] - rows[k + C + m]
            rows[k + C + m] = kept[MIDDLE_WIDTH * i + 6 + m]


@kernel
def along_rows(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """v onto the active rows at q, with the factors that `project_carefully` left there."""
    see_state(layout, ints, constants, stages, control, work_out, q_out, v_out)
    y = part(work_out, layout, Y)
    least_answer(layout, part(work_out, layout, RATE), constants, work_out, y)
    for j in range(y.size):
        v_out[j] += y[j]


assert V + 6 == C and C + 6 == W and V + TERMS == RIGID, "a row's terms in velocities follow each other"
