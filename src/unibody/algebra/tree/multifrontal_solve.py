"""Solutions by the factor that `multifrontal` leaves: down to the border, and up again.

    reduce_multifrontal   takes efforts and loads to the fronts in the order of elimination: what the border's rows then feel
    recover_multifrontal  goes back with the multipliers of the border: x of the nodes, y of the columns
"""

from __future__ import annotations

from unibody.algebra.block.full6 import add_to_row, reversed_column, shifted_twist, shifted_wrench, unit6
from unibody.algebra.block.sym6 import add_scaled6, dot6, load6, offset, store6
from unibody.algebra.tree.aba import BODY, COLUMN
from unibody.algebra.tree.elimination_order import CONTRACT, GROUND
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import load3

from unibody.algebra.tree.multifrontal_plan import (  # isort: skip
    ARMS, BLOCKS, COUNT, CUTS, CUTS_AT, CUT_BASES, FACTOR, FIRST, FLAGS, FRONT, GROUPS, GROUPS_AT, JOINT, OTHER, PLAIN, REVERSED, STEP,
    STEPS, VARIABLE, WELDS, WELDS_AT,
)  # fmt: skip


@kernel
def reduce_multifrontal(
    steps: Ints, lists: Ints, body: Ints, shift: Floats, columns: Floats, factor: Floats, right: Floats, f: Floats, state_out: Floats,
    reduced_out: Floats,
) -> None:  # fmt: skip
    """The first half of a solve. `reduced_out` (one a border row) becomes G y for μ = 0.

    `state_out` (plan.state_size numbers) goes on to the second half.
    """
    n = body.size // BODY
    welded = lists[WELDS] > 0
    arms = lists[ARMS]
    # f of all nodes, those of welded nodes shifted to the node they belong to
    for k in range(6 * n):
        state_out[k] = f[k] if not welded else 0.0
    for k in range(6 * n, state_out.size):
        state_out[k] = 0.0
    if welded:
        for i in range(1, n):
            at = 6 * lists[lists[WELDS_AT] + i]
            add_to_row(1.0, shifted_wrench(load6(f, 6 * i), load3(factor, arms + 3 * i)), at, state_out)
    # y of a cut joint is W (x_child − T x_parent): its right-hand side acts on both ends
    for cut in range(lists[CUTS]):
        joint, parent = lists[lists[CUTS_AT] + 2 * cut], lists[lists[CUTS_AT] + 2 * cut + 1]
        r = load3(shift, 3 * joint)
        if welded:
            arm = offset(arms + 3 * body[BODY * joint])
            r = (r[0] + factor[arm], r[1] + factor[arm + 1], r[2] + factor[arm + 2])
        first = body[BODY * joint + 1]
        for c in range(body[BODY * joint + 2]):
            w = load6(factor, lists[CUT_BASES] + 36 * cut + 6 * c)
            add_to_row(right[first + c], w, 6 * joint, state_out)
            if parent > 0:
                add_to_row(-right[first + c], shifted_wrench(w, r), 6 * parent, state_out)
    # the steps in order: with g of v, rest = right + Sᵀ g per pivot, and g ← g − U rest / D on the whole front
    for step in range(lists[STEPS]):
        o = offset(STEP * step)
        kind, flags = steps[o], steps[o + FLAGS]
        joint, first, count = steps[o + JOINT], offset(steps[o + FIRST]), steps[o + COUNT]
        b = 1 if flags & PLAIN else steps[o + BLOCKS]
        front = offset(steps[o + FRONT])
        v = offset(6 * steps[o + VARIABLE])
        pivot = offset(steps[o + FACTOR] + 1)
        r = (0.0, 0.0, 0.0)
        if kind == CONTRACT:
            r = load3(shift, offset(3 * joint))
            if welded:
                arm = offset(arms + 3 * body[BODY * joint])
                r = (r[0] + factor[arm], r[1] + factor[arm + 1], r[2] + factor[arm + 2])
        g = load6(state_out, v)
        for c in range(count - 1, -1, -1):
            s = unit6(c)
            rest = 0.0
            if kind <= GROUND:
                j = offset(first + c)
                rest = right[j]
                s = load6(columns, COLUMN * j)
                if flags & REVERSED:
                    s = reversed_column(s, r)
            rest += dot6(s, g)
            t = -rest * factor[pivot - 1]
            g = add_scaled6(g, t, load6(factor, pivot))
            for a in range(1, b):
                add_to_row(t, load6(factor, offset(pivot + 6 * a)), offset(6 * lists[front + a]), state_out)
            state_out[v + c] = rest
            pivot += 6 * b + 1
        # what is left of g goes to u, shifted
        if kind == CONTRACT:
            if flags & REVERSED:
                r = (-r[0], -r[1], -r[2])
            add_to_row(1.0, shifted_wrench(g, r), offset(6 * steps[o + OTHER]), state_out)
    # border rows are left: −G y
    for group in range(lists[GROUPS]):
        at = lists[GROUPS_AT] + 3 * group
        for k in range(lists[at + 2]):
            reduced_out[lists[at + 1] + k] = -state_out[6 * lists[at] + k]


@kernel
def recover_multifrontal(
    steps: Ints, lists: Ints, body: Ints, shift: Floats, columns: Floats, factor: Floats, mu: Floats, state_out: Floats, x_out: Floats,
    y_out: Floats,
) -> None:  # fmt: skip
    """The second half of a solve, with the multipliers of the border rows: y, and x = J y of all nodes."""
    n = body.size // BODY
    welded = lists[WELDS] > 0
    arms = lists[ARMS]
    # the multipliers of border rows are given
    for group in range(lists[GROUPS]):
        at = lists[GROUPS_AT] + 3 * group
        for k in range(6):
            state_out[6 * lists[at] + k] = mu[lists[at + 1] + k] if k < lists[at + 2] else 0.0
    # the steps in reverse: y = (rest − Uᵀ x) / D per pivot, x_v = T x_u + S y
    for step in range(lists[STEPS] - 1, -1, -1):
        o = offset(STEP * step)
        kind, flags = steps[o], steps[o + FLAGS]
        joint, first, count = steps[o + JOINT], offset(steps[o + FIRST]), steps[o + COUNT]
        b = 1 if flags & PLAIN else steps[o + BLOCKS]
        front = offset(steps[o + FRONT])
        v = offset(6 * steps[o + VARIABLE])
        pivot = offset(steps[o + FACTOR] + (count - 1) * (6 * b + 1) + 1)
        r = (0.0, 0.0, 0.0)
        x = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if kind == CONTRACT:
            r = load3(shift, offset(3 * joint))
            if welded:
                arm = offset(arms + 3 * body[BODY * joint])
                r = (r[0] + factor[arm], r[1] + factor[arm + 1], r[2] + factor[arm + 2])
            x = load6(state_out, offset(6 * steps[o + OTHER]))
            x = shifted_twist(x, (-r[0], -r[1], -r[2]) if flags & REVERSED else r)
        for c in range(count):
            rest = state_out[v + c]
            for a in range(1, b):
                rest -= dot6(load6(factor, offset(pivot + 6 * a)), load6(state_out, offset(6 * lists[front + a])))
            y = (rest - dot6(load6(factor, pivot), x)) * factor[pivot - 1]
            s = unit6(c)
            if kind <= GROUND:
                j = offset(first + c)
                y_out[j] = y
                s = load6(columns, COLUMN * j)
                if flags & REVERSED:
                    s = reversed_column(s, r)
            x = add_scaled6(x, y, s)
            pivot -= 6 * b + 1
        store6(x, v, state_out)
    # y = W (x_child − T x_parent) of cut joints
    for cut in range(lists[CUTS]):
        joint, parent = lists[lists[CUTS_AT] + 2 * cut], lists[lists[CUTS_AT] + 2 * cut + 1]
        x = load6(state_out, 6 * joint)
        if parent > 0:
            r = load3(shift, 3 * joint)
            if welded:
                arm = offset(arms + 3 * body[BODY * joint])
                r = (r[0] + factor[arm], r[1] + factor[arm + 1], r[2] + factor[arm + 2])
            x = add_scaled6(x, -1.0, shifted_twist(load6(state_out, 6 * parent), r))
        for c in range(body[BODY * joint + 2]):
            y_out[body[BODY * joint + 1] + c] = dot6(load6(factor, lists[CUT_BASES] + 36 * cut + 6 * c), x)
    # x of all nodes, those of welded nodes shifted from the node they belong to
    if not welded:
        for k in range(6 * n):
            x_out[k] = state_out[k] if k >= 6 else 0.0
        return
    for k in range(6):
        x_out[k] = 0.0
        state_out[k] = 0.0
    for i in range(1, n):
        top = offset(6 * lists[lists[WELDS_AT] + i])
        store6(shifted_twist(load6(state_out, top), load3(factor, offset(arms + 3 * i))), offset(6 * i), x_out)
