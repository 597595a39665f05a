"""Coriolis and centrifugal terms in the middle of a step.

A semi-implicit step carries q from one end to the other with its new velocity, so that velocities are those of the middle of a step,
half a step before and half a step after the place of q at which forces act:

    M(q) (v⁺ − v) = h (f − c(q, v̄)) + Jᵀ λ,     q⁺ = q ⊕ h v⁺,     v̄ = (v + v⁺)/2

With c at v instead of v̄ the step is of order one, and what spins fast gains energy at the rate h |ω|². Here v̄ = v + w with half the change
w of the step before, brought onto the rows that hold (`along_rows`): order two, without iterations. Forces stay those of v, so that what
damps stays as stable as it was.

Where something struck, or begins to touch, w is no forecast. Of a motion that only its own turning changes, w differs from one step to
the next by about |d| = (h ω)² |v| / 2. Where contacts, limits or dry friction acted, a tree whose w changed by more than twice that, in the
norm of kinetic energy, takes c at v (`foretell`).
"""

from __future__ import annotations

from unibody.algebra.tree.aba import BODY, COLUMN, RIGID, ROW, C, P, V, W, dot6, rigid_block, times_block
from unibody.arena import part
from unibody.coordinates.reduced.careful_projection import least_response, see_state
from unibody.coordinates.reduced.dynamics import load_bodies
from unibody.coordinates.reduced.kinematics import fill_joint_table, fill_turns, sweep_reduced

from unibody.coordinates.reduced.workspace import (  # isort: skip
    BODIES, COLUMNS, CONSTANTS, MIDDLE_ROWS, MIDDLE_WIDTH, PARTS, ROWS, TABLE_C, TABLE_S, TABLE_X, TURNS,
)  # fmt: skip
from unibody.coordinates.workspace import CLASSES, INDEX, PARAMETERS, RATE, SIGNALS, Y
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, dot3, load3, scale3, store3, sub3
from unibody.stepping.workspace import MIDDLE

TWIST, CHANGE, SUMS = 0, 6, 12
"""What `foretell` writes down of a body in MIDDLE_ROWS: twists of v and of d; then of the tree that it begins vᵀ M v, dᵀ M d, ω²."""


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
        for m in range(W - V):
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
    # V and ζ of the rows are those of v again
    for i in range(1, n):
        for m in range(W - V):
            there = rows[ROW * i + V + m]
            rows[ROW * i + V + m] = kept[MIDDLE_WIDTH * i + m]
            kept[MIDDLE_WIDTH * i + m] = there


@kernel
def lean_and_load(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """`load_bodies`, after the terms in velocities were taken in the middle of the step."""
    lean(layout, ints, constants, q_out, v_out, work_out)
    load_bodies(layout, ints, constants, control, work_out, q_out, v_out)


@device
def carried_twist(body, i, at, columns, y, rows, kept):
    """The twist of a body for joint velocities y, from that of its parent, which stands `at` this place of what is kept of it."""
    above = body[BODY * i]
    o, l = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if above > 0:
        o = load3(kept, MIDDLE_WIDTH * above + at)
        l = add3(load3(kept, MIDDLE_WIDTH * above + at + 3), cross(o, sub3(load3(rows, ROW * i + P), load3(rows, ROW * above + P))))
    for j in range(body[BODY * i + 1], body[BODY * i + 1] + body[BODY * i + 2]):
        o = add3(o, scale3(y[j], load3(columns, COLUMN * j)))
        l = add3(l, scale3(y[j], load3(columns, COLUMN * j + 3)))
    return o, l


@kernel
def foretell(
    layout: Ints, ints: Ints, h: float, begun: Floats, v: Floats, change: Floats, halves: Floats, work_out: Floats, change_out: Floats
) -> None:
    """w of the next step from velocities that went from `begun` to v in one of length h that had w = change; h = 0: whatever it is.
    `halves`: 1/2, or 0 of what has no terms of this kind."""
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    columns = part(work_out, layout, COLUMNS)
    kept = part(work_out, layout, MIDDLE_ROWS)
    n = body.size // BODY
    kept[0] = 0.0
    for j in range(change_out.size):
        change_out[j] = halves[j] * (v[j] - begun[j])
    if h == 0.0:
        return
    # twists of v and of d; vᵀ M v, dᵀ M d and the largest ω² of each tree, gathered in its first body (parents come before children)
    d = change_out - change
    for i in range(1, n):
        at = MIDDLE_WIDTH * i
        o, l = carried_twist(body, i, TWIST, columns, v, rows, kept)
        a, b = carried_twist(body, i, CHANGE, columns, d, rows, kept)
        store3(o, at + TWIST, kept)
        store3(l, at + TWIST + 3, kept)
        store3(a, at + CHANGE, kept)
        store3(b, at + CHANGE + 3, kept)
        block = rigid_block(rows, ROW * i + RIGID)
        twist = (o[0], o[1], o[2], l[0], l[1], l[2])
        kept[at + SUMS] = dot6(twist, times_block(block, twist))
        twist = (a[0], a[1], a[2], b[0], b[1], b[2])
        kept[at + SUMS + 1] = dot6(twist, times_block(block, twist))
        kept[at + SUMS + 2] = dot3(o, o)
    for i in range(n - 1, 0, -1):
        at, above = MIDDLE_WIDTH * i + SUMS, MIDDLE_WIDTH * body[BODY * i] + SUMS
        if above > SUMS:
            kept[above] += kept[at]
            kept[above + 1] += kept[at + 1]
            kept[above + 2] = max(kept[above + 2], kept[at + 2])
    # what its own turning does not explain is no forecast
    for i in range(1, n):
        at, above = MIDDLE_WIDTH * i + SUMS, MIDDLE_WIDTH * body[BODY * i] + SUMS
        if above > SUMS:
            for m in range(3):
                kept[at + m] = kept[above + m]
        turn = h * h * kept[at + 2]
        if not kept[at + 1] <= turn * turn * kept[at]:
            for j in range(body[BODY * i + 1], body[BODY * i + 1] + body[BODY * i + 2]):
                change_out[j] = 0.0


@kernel
def along_rows(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """v onto the active rows at q, with the factors that `project_carefully` left there."""
    see_state(layout, ints, constants, stages, control, work_out, q_out, v_out)
    y = part(work_out, layout, Y)
    least_response(layout, part(work_out, layout, RATE), constants, 1, work_out, y)
    for j in range(y.size):
        v_out[j] += y[j]


assert V + 6 == C and C + 6 == W, "V and ζ of a row follow each other"
