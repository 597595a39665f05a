"""Coriolis and centrifugal terms in the middle of a step.

A semi-implicit step carries q from one end to the other with its new velocity, so that velocities are those of the middle of a step,
half a step before and half a step after the place of q at which forces act:

    M(q) (v⁺ − v) = h (f − c(q, v̄)) + Jᵀ λ,     q⁺ = q ⊕ h v⁺,     v̄ = (v + v⁺)/2

With c at v instead of v̄ the step is of order one, and what spins fast gains energy at the rate h |ω|². Here v̄ = v + w with half the change
w of the step before, brought onto the rows that hold (`along_rows`): order two, without iterations. Forces stay those of v, so that what
damps stays as stable as it was.

Where something struck, or begins to touch, w is no forecast. Of a motion that only its own turning changes, w differs from one step to
the next by about |d| = (h ω)² |v| / 2. Where contacts, limits or dry friction acted, a tree whose w changed by more than twice that, in the
norm of kinetic energy, takes c at v (`predict_change`).
"""

from __future__ import annotations

from unibody.algebra.block.sym6 import offset
from unibody.algebra.tree.aba import BODY, COLUMN, RIGID, ROW, C, P, V, W
from unibody.arena import part
from unibody.coordinates.reduced.careful_projection import least_response, see_state
from unibody.coordinates.reduced.dynamics import load_bodies
from unibody.coordinates.reduced.kinematics import sweep_velocities
from unibody.joints.table import fill_joint_table

from unibody.coordinates.reduced.workspace import (  # isort: skip
    BODIES, COLUMNS, MIDDLE_ROWS, MIDDLE_WIDTH, PARTS, ROWS, TABLE_C, TABLE_S, TABLE_X,
)  # fmt: skip
from unibody.coordinates.workspace import CLASSES, INDEX, PARAMETERS, RATE, SIGNALS, Y
from unibody.kernel import Floats, Ints, inlined, kernel
from unibody.spatial.triples import crossed, times_diagonals
from unibody.stepping.workspace import MIDDLE
from unibody.triple import fetch, plus, put, spread, total

TWIST, CHANGE, SUMS = 0, 6, 12
FIRST = SUMS
"""What `predict_change` writes down of a body in MIDDLE_ROWS: twists of v and of d; then, of one that begins a tree, vᵀ M v, dᵀ M d,
ω² of that, and of others the number of the one that begins theirs."""


@kernel
def sweep_at_middle(layout: Ints, ints: Ints, constants: Floats, q: Floats, v: Floats, work_out: Floats) -> None:
    """The wrenches w of the rows, swept at v, as they are at v̄ = v + MIDDLE; MIDDLE_ROWS has V and ζ of v̄. Twists and ζ of the rows stay
    those of v: what contacts and constraints see is the motion at the beginning."""
    body = part(ints, layout, BODIES)
    middle = part(work_out, layout, MIDDLE)
    kept = part(work_out, layout, MIDDLE_ROWS)
    rows = part(work_out, layout, ROWS)
    table_X = part(work_out, layout, TABLE_X)
    table_S = part(work_out, layout, TABLE_S)
    table_c = part(work_out, layout, TABLE_C)
    kept[0] = 1.0
    for j in range(middle.size):
        middle[j] = v[j] + (middle[j] if j < part(work_out, layout, Y).size else 0.0)
    fill_joint_table(
        part(ints, layout, CLASSES), part(ints, layout, INDEX), part(constants, layout, PARAMETERS), part(ints, layout, PARTS), q, middle,
        table_X, table_S, table_c,
    )  # fmt: skip
    sweep_velocities(body, table_c, middle, part(work_out, layout, SIGNALS), part(work_out, layout, COLUMNS), MIDDLE_WIDTH, kept, rows)


@kernel
def load_at_middle(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """`load_bodies`, after the terms in velocities were taken in the middle of the step."""
    sweep_at_middle(layout, ints, constants, q_out, v_out, work_out)
    load_bodies(layout, ints, constants, control, work_out, q_out, v_out)


@inlined
def carried_twist(body, i, columns, y, share, other, r, o, l):
    """The twist of a body for joint velocities y − share · other, from that of its parent, (o, l), which is r away."""
    l = l + crossed(o, r)
    for j in range(body[BODY * i + 1], body[BODY * i + 1] + body[BODY * i + 2]):
        e, speed = offset(COLUMN * j), y[j] - share * other[j]
        o, l = plus(o, speed, fetch(columns, e)), plus(l, speed, fetch(columns, e + 3))
    return o, l


@inlined
def twice_energy(rows, k, o, l):
    """Vᵀ B V of the rigid inertia at rows[k] for the twist (o, l)."""
    h = fetch(rows, k + 1)
    spin = times_diagonals(fetch(rows, k + 4), fetch(rows, k + 7), o) + crossed(h, l)
    return total(plus(o * spin, l, plus(crossed(o, h), rows[k], l)))


@inlined
def first_body(body, i, kept):
    """The body that begins the tree of this one."""
    return i if body[BODY * i] == 0 else int(kept[MIDDLE_WIDTH * i + FIRST])


@kernel
def predict_change(
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
    # w = (v − v₋₁)/2
    for j in range(change_out.size):
        change_out[j] = halves[j] * (v[j] - begun[j])
    if h == 0.0:
        return
    # twists of v and of d; vᵀ M v, dᵀ M d and the largest ω² of each tree, gathered in its first body (parents come before children)
    zero = spread(0.0)
    o, l, a, b = zero, zero, zero, zero
    for i in range(1, n):
        at, k, above = offset(MIDDLE_WIDTH * i), offset(ROW * i + RIGID), body[BODY * i]
        if above == 0:
            o, l, a, b = zero, zero, zero, zero
        elif above != i - 1:
            up = offset(MIDDLE_WIDTH * above)
            o, l = fetch(kept, up + TWIST), fetch(kept, up + TWIST + 3)
            a, b = fetch(kept, up + CHANGE), fetch(kept, up + CHANGE + 3)
        r = fetch(rows, offset(ROW * i + P)) - fetch(rows, offset(ROW * above + P))
        o, l = carried_twist(body, i, columns, v, 0.0, change, r, o, l)
        a, b = carried_twist(body, i, columns, change_out, 1.0, change, r, a, b)
        put(o, at + TWIST, kept)
        put(l, at + TWIST + 3, kept)
        put(a, at + CHANGE, kept)
        put(b, at + CHANGE + 3, kept)
        energy, other, turning = twice_energy(rows, k, o, l), twice_energy(rows, k, a, b), total(o * o)
        if above == 0:
            kept[at + SUMS], kept[at + SUMS + 1], kept[at + SUMS + 2] = energy, other, turning
        else:
            first = first_body(body, above, kept)
            kept[at + FIRST] = first
            to = MIDDLE_WIDTH * first + SUMS
            kept[to] += energy
            kept[to + 1] += other
            kept[to + 2] = max(kept[to + 2], turning)
    # what its own turning does not explain is no forecast
    for i in range(1, n):
        at = MIDDLE_WIDTH * first_body(body, i, kept) + SUMS
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
