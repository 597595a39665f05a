"""Multifrontal elimination: exact factor and solve of  Jᵀ (blkdiag(B) + N) J + diag(d)  in an order chosen from the graph of the couplings
N.

The tree is that of `aba`: x_i = T_i x_parent + S_i y_i, x_ground = 0, x = J y. The solution of

    (Jᵀ (blkdiag(B) + N) J + diag(d)) y + Gᵀ μ = right + Jᵀ f,        G y = Σ g x_node + Σ c y_column

is the stationary point of a quadratic function of all x and y, and a *front* is the part of it that the eliminated nodes have left behind
on those that remain: a symmetric matrix over a few 6-vectors. A step takes a node v with one remaining joint, to u, puts

    x_v = T x_u + S y      (v the child of the joint; else x_v = T⁻¹ x_u − T⁻¹ S y)

into its front F over [v, u, others] and eliminates the columns y one after the other as scalar pivots, last column first,

    U = F S,   D = Sᵀ U_v + d,   F ← F − U Uᵀ / D

and then adds row and column v, shifted by T, to those of u. With fronts [v, u] this is the articulated-body algorithm. A cut joint keeps
x_child and x_parent apart and asks t (x_child − T x_parent) = 0 of them by multipliers λ, t the orthonormal complement of S; y is then
W (x_child − T x_parent), with W S = 1, and what d y² / 2 says of it are more multipliers, √d W (x_child − T x_parent) = λ. So nothing but
λ ties the two ends together. Free nodes and multipliers are steps with S = 1 and no u. Which step is taken when, and where
its front lies, is the business of `elimination_order` and `multifrontal_plan`.

Fronts consist of full 6×6 blocks by rows: first the block row of v, then the blocks (a, b), a ≤ b, of what is left, the *update*; if that
is a single block it is packed as in `aba`. Pivots are kept as (1/D, U). Border rows never become pivots: what is left of all fronts in the
end is −G A⁻¹ Gᵀ.

    failed = factor_multifrontal(plan.steps, plan.lists, plan.records, body, shift, columns, blocks, coupling, diagonal,
                                border, border_columns, factor_out, scratch_out, gram_out)
    reduce_multifrontal(plan.steps, plan.lists, body, shift, columns, factor, right, f, state_out, reduced_out)
    recover_multifrontal(plan.steps, plan.lists, body, shift, columns, factor, mu, state_out, x_out, y_out)
"""

from __future__ import annotations

import math

from unibody.algebra.block.sym6 import TINY, add_scaled6, dot6, load6, offset, store6
from unibody.algebra.tree.aba import BODY, COLUMN
from unibody.algebra.tree.elimination_order import CONTRACT, GROUND, MULTIPLIER
from unibody.algebra.tree.factor import add_blocks, load21, shifted_block, store21, times_block, without_direction
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import load3

from unibody.algebra.block.full6 import (  # isort: skip
    add_block, add_packed, add_to_row, add_transposed, packed, reversed_column, row_times, scaled6, shift_columns, shift_rows,
    shifted_wrench, subtract_outer, unit6,
)  # fmt: skip
from unibody.algebra.tree.multifrontal_plan import (  # isort: skip
    ARMS, BLOCK, BLOCKS, BORDER, BORDER_COLUMN, COLUMN_ENTRIES, COUNT, COUPLING, CUT, CUTS, CUTS_AT, CUT_BASES, FACTOR, FIRST, FLAGS,
    FRONT, GROUPS_AT, JOINT, LAST, PLAIN, RECORD, RECORDS, RECORDS_END, REVERSED, ROWS, STEP, STEPS, UPDATE, UPDATED, VARIABLE, WELDS,
    WIDEST,
)  # fmt: skip


@kernel
def split_directions(nv: int, columns: Floats, scratch_out: Floats, base_out: Floats) -> None:
    """The first nv rows of the base (6×6) become W with W S = 1, the others an orthonormal complement of S. The scratch holds 36."""
    # Gram–Schmidt, twice, of the columns of S and then of the unit vectors that they span least: Q, with R in the scratch
    for k in range(6):
        largest = -1.0
        best = 0
        if k >= nv:  # the unit vector that is least spanned so far
            for e in range(6):
                rest = 1.0
                for d in range(k):
                    rest -= base_out[6 * d + e] * base_out[6 * d + e]
                if rest > largest:
                    largest = rest
                    best = e
        for c in range(6):
            base_out[6 * k + c] = columns[COLUMN * k + c] if k < nv else (1.0 if c == best else 0.0)
        for d in range(k):
            scratch_out[6 * d + k] = 0.0
        for _ in range(2):
            for d in range(k):
                along = 0.0
                for c in range(6):
                    along += base_out[6 * d + c] * base_out[6 * k + c]
                scratch_out[6 * d + k] += along
                for c in range(6):
                    base_out[6 * k + c] -= along * base_out[6 * d + c]
        norm = 0.0
        for c in range(6):
            norm += base_out[6 * k + c] * base_out[6 * k + c]
        norm = math.sqrt(norm)
        scratch_out[6 * k + k] = norm
        for c in range(6):
            base_out[6 * k + c] /= norm
    for k in range(nv - 1, -1, -1):  # S = Q R, so W = R⁻¹ Qᵀ
        for d in range(k + 1, nv):
            for c in range(6):
                base_out[6 * k + c] -= scratch_out[6 * k + d] * base_out[6 * d + c]
        for c in range(6):
            base_out[6 * k + c] /= scratch_out[6 * k + k]


@kernel
def prepare_multifrontal(lists: Ints, body: Ints, shift: Floats, columns: Floats, scratch_out: Floats, factor_out: Floats) -> None:
    """The arms of welded nodes and the directions of cut joints."""
    if lists[WELDS] > 0:
        arms = lists[ARMS]
        for c in range(3):
            factor_out[arms + c] = 0.0
        for i in range(1, body.size // BODY):
            for c in range(3):
                welded = body[BODY * i + 2] == 0
                factor_out[arms + 3 * i + c] = factor_out[arms + 3 * body[BODY * i] + c] + shift[3 * i + c] if welded else 0.0
    for cut in range(lists[CUTS]):
        joint = lists[lists[CUTS_AT] + 2 * cut]
        first, nv = body[BODY * joint + 1], body[BODY * joint + 2]
        at = lists[CUT_BASES] + 36 * cut
        split_directions(nv, columns[COLUMN * first : COLUMN * (first + nv)], scratch_out, factor_out[at : at + 36])


@kernel
def assemble_cut(
    lists: Ints, body: Ints, shift: Floats, diagonal: Floats, factor: Floats, cut: int, position: int, flag: int, row_out: Floats
) -> None:
    """Add the rows of a cut joint to the block row of v: v one of its ends (flag 0, 1 the parent) or its λ (2, 3); 4 is λ's diagonal."""
    joint = lists[lists[CUTS_AT] + 2 * cut]
    first, nv = body[BODY * joint + 1], body[BODY * joint + 2]
    base = lists[CUT_BASES] + 36 * cut
    if flag == 4:
        for k in range(nv):
            row_out[7 * k] -= 1.0
        return
    r = load3(shift, 3 * joint)
    if lists[WELDS] > 0:
        arm = lists[ARMS] + 3 * body[BODY * joint]
        r = (r[0] + factor[arm], r[1] + factor[arm + 1], r[2] + factor[arm + 2])
    for k in range(6):
        t = load6(factor, base + 6 * k)
        if flag & 1:
            t = scaled6(shifted_wrench(t, r), -1.0)
        if k < nv:
            t = scaled6(t, math.sqrt(diagonal[first + k]))
        if flag & 2:
            add_to_row(1.0, t, 36 * position + 6 * k, row_out)
        else:
            for c in range(6):
                row_out[36 * position + 6 * c + k] += t[c]


@kernel
def assemble_coupling(
    lists: Ints, factor: Floats, a: int, b: int, position: int, flag: int, N: Floats, block_out: Floats, row_out: Floats
) -> None:
    """Add a coupling of welded nodes to the block row of v."""
    ra, rb = load3(factor, lists[ARMS] + 3 * a), load3(factor, lists[ARMS] + 3 * b)
    for k in range(36):
        block_out[k] = N[k]
    shift_rows(ra, 0, block_out)
    shift_columns(rb, 0, block_out)
    if position == 0 or not flag & 1:
        add_block(block_out, 0, 36 * position, row_out)
    if position == 0 or flag & 1:
        add_transposed(block_out, 0, 36 * position, row_out)


@kernel
def assemble_border(
    lists: Ints, body: Ints, shift: Floats, border: Floats, border_columns: Floats, factor: Floats, kind: int, index: int, position: int,
    flag: int, scratch_out: Floats,
) -> None:  # fmt: skip
    """Add an entry of a border row: on a node, on a column of this step, or on a column of a cut joint."""
    if kind == BORDER_COLUMN:
        scratch_out[36 * lists[WIDEST] + 6 * ((flag // 6) * lists[WIDEST] + position) + flag % 6] += border_columns[index]
        return
    if kind == BORDER:
        g = load6(border, 6 * index)
        row = flag % 6
        if lists[WELDS] > 0:
            g = shifted_wrench(g, load3(factor, lists[ARMS] + 3 * (flag // 6)))
    else:
        cut = flag // 72
        g = scaled6(load6(factor, lists[CUT_BASES] + 36 * cut + 6 * (flag // 12 % 6)), border_columns[index])
        row = flag // 2 % 6
        if flag & 1:
            joint = lists[lists[CUTS_AT] + 2 * cut]
            r = load3(shift, 3 * joint)
            if lists[WELDS] > 0:
                arm = lists[ARMS] + 3 * body[BODY * joint]
                r = (r[0] + factor[arm], r[1] + factor[arm + 1], r[2] + factor[arm + 2])
            g = scaled6(shifted_wrench(g, r), -1.0)
    for c in range(6):
        scratch_out[36 * position + 6 * c + row] += g[c]


@kernel
def add_to_gram(lists: Ints, front: int, size: int, update: int, scratch: Floats, gram_out: Floats) -> None:
    """Subtract what is left of a last front, border rows only, from the Gram matrix."""
    groups, k = lists[GROUPS_AT], lists[ROWS]
    first_group = lists[groups]
    for b in range(size):
        column_group = groups + 3 * (lists[front + b] - first_group)
        for a in range(b + 1):
            row_group = groups + 3 * (lists[front + a] - first_group)
            at = update + 36 * (b * (b + 1) // 2 + a)
            for i in range(lists[row_group + 2]):
                for j in range(lists[column_group + 2]):
                    row, column = lists[row_group + 1] + i, lists[column_group + 1] + j
                    gram_out[row * k + column] -= scratch[at + 6 * i + j]
                    if a != b:
                        gram_out[column * k + row] -= scratch[at + 6 * i + j]


@kernel
def factor_multifrontal(
    steps: Ints, lists: Ints, records: Ints, body: Ints, shift: Floats, columns: Floats, blocks: Floats, coupling: Floats, diagonal: Floats,
    border: Floats, border_columns: Floats, factor_out: Floats, scratch_out: Floats, gram_out: Floats,
) -> int:  # fmt: skip
    """Factor; 0, or the number of the node whose pivot was not positive beyond round-off (of a λ: the child of its joint).

    `gram_out` (rows²) becomes G A⁻¹ Gᵀ.
    """
    # the scratch: block row of v, entries of columns, one block, a coupling and a cut's workspace, diagonals, and then the updates
    total, widest, n = lists[STEPS], lists[WIDEST], body.size // BODY
    welded = lists[WELDS] > 0
    arms = lists[ARMS]
    entries = 36 * widest
    single = 72 * widest
    block = single + 36
    diagonals = block + 72
    if welded or lists[CUTS] > 0:
        prepare_multifrontal(lists, body, shift, columns, scratch_out[block : block + 36], factor_out)
    for k in range(gram_out.size):
        gram_out[k] = 0.0
    for step in range(total):
        o = offset(STEP * step)
        kind, b, flags = steps[o], steps[o + BLOCKS], steps[o + FLAGS]
        joint, first, count = steps[o + JOINT], offset(steps[o + FIRST]), steps[o + COUNT]
        pivot = offset(steps[o + FACTOR])
        update = offset(steps[o + UPDATE])
        # the shift of the joint; its parent may be welded to another node
        r = (0.0, 0.0, 0.0)
        if kind == CONTRACT:
            r = load3(shift, offset(3 * joint))
            if welded:
                arm = offset(arms + 3 * body[BODY * joint])
                r = (r[0] + factor_out[arm], r[1] + factor_out[arm + 1], r[2] + factor_out[arm + 2])
        # a front [v, u] of nothing but blocks: the articulated-body algorithm, in registers
        if flags & PLAIN:
            e = offset(steps[o + RECORDS])
            A = load21(blocks, offset(21 * records[e + 1]))
            while e + RECORD < steps[o + RECORDS_END]:
                e += RECORD
                A = add_blocks(A, load21(scratch_out, offset(records[e + 1])))
            # U = A S, D = Sᵀ U + d, A ← A − U Uᵀ / D, last column first; a pivot must not cancel
            for c in range(count):
                j = offset(first + count - 1 - c)
                s = load6(columns, COLUMN * j)
                u = times_block(A, s)
                D = dot6(s, u) + diagonal[j]
                if count > 1:
                    if c == 0:
                        for i in range(count):
                            s_i = load6(columns, COLUMN * offset(first + i))
                            scratch_out[diagonals + i] = dot6(s_i, times_block(A, s_i)) + diagonal[first + i]
                    if not D > TINY * scratch_out[diagonals + count - 1 - c]:
                        return joint
                elif not D > 0.0:
                    return joint
                inverse = 1.0 / D
                A = without_direction(A, u, inverse)
                factor_out[pivot] = inverse
                store6(u, pivot + 1, factor_out)
                pivot += 7
            # the update: Tᵀ A T
            if kind == CONTRACT:
                store21(shifted_block(A, r), update, scratch_out)
            continue

        # any other front: block row of v, what is left of the front, and what border rows say of columns, all zero
        for k in range(36 * b):
            scratch_out[k] = 0.0
        left = offset(single if b == 2 else update)
        for k in range(left, left + 18 * b * (b - 1)):
            scratch_out[k] = 0.0
        if flags & COLUMN_ENTRIES:
            for k in range(entries, entries + 36 * widest):
                scratch_out[k] = 0.0
        # assemble: updates of earlier fronts, blocks, couplings, cut joints, border rows
        for e in range(steps[o + RECORDS], steps[o + RECORDS_END], RECORD):
            what, index, position, flag = records[e], records[e + 1], records[e + 2], records[e + 3]
            if what == UPDATED:
                if flag == 1:
                    to = lists[position]
                    add_packed(load21(scratch_out, offset(index)), offset(0 if to == 0 else left + 18 * to * (to + 1) - 36), scratch_out)
                    continue
                at = offset(index)
                for q in range(flag):
                    to_q = lists[offset(position + q)]
                    for p in range(q + 1):
                        to_p = lists[offset(position + p)]
                        low, high = min(to_p, to_q), max(to_p, to_q)
                        goal = offset(36 * high if low == 0 else left + 36 * (high * (high - 1) // 2 + low - 1))
                        if to_p <= to_q:
                            add_block(scratch_out, offset(at), goal, scratch_out)
                        else:
                            add_transposed(scratch_out, offset(at), goal, scratch_out)
                        at += 36
            elif what == BLOCK:
                own = load21(blocks, offset(21 * index))
                if flag == 1:
                    own = shifted_block(own, load3(factor_out, arms + 3 * index))
                add_packed(own, 0, scratch_out)
            elif what == COUPLING:
                at = offset(36 * index)
                if flag == 0:
                    add_block(coupling, at, offset(36 * position), scratch_out)
                elif flag == 1:
                    add_transposed(coupling, at, offset(36 * position), scratch_out)
                else:
                    a, c = (flag >> 2) // n, (flag >> 2) % n
                    assemble_coupling(
                        lists, factor_out, a, c, position, flag, coupling[at : at + 36], scratch_out[block : block + 36], scratch_out
                    )
            elif what == CUT:
                assemble_cut(lists, body, shift, diagonal, factor_out, index, position, flag, scratch_out)
            else:
                assemble_border(lists, body, shift, border, border_columns, factor_out, what, index, position, flag, scratch_out)

        # the diagonals Sᵀ F_vv S + d before elimination, by which cancelled pivots are known
        reversed_joint = flags & REVERSED
        sign = -1.0 if kind == MULTIPLIER else 1.0
        if count > 1:
            for c in range(count):
                s = unit6(c)
                d = 0.0
                if kind <= GROUND:
                    s = load6(columns, COLUMN * offset(first + c))
                    d = diagonal[first + c]
                    if reversed_joint:
                        s = reversed_column(s, r)
                scratch_out[diagonals + c] = TINY * (dot6(s, row_times(s, scratch_out, 0)) + d)
        else:
            scratch_out[diagonals] = 0.0
        # pivots, last column first: U = F S, D = Sᵀ U_v + d
        for c in range(count - 1, -1, -1):
            s = unit6(c)
            d = 0.0
            if kind <= GROUND:
                s = load6(columns, COLUMN * offset(first + c))
                d = diagonal[first + c]
                if reversed_joint:
                    s = reversed_column(s, r)
            u = row_times(s, scratch_out, 0)
            D = dot6(s, u) + d
            if not sign * D > sign * scratch_out[diagonals + c]:
                return joint if joint > 0 else steps[o + VARIABLE]
            # F ← F − U Uᵀ / D: the block row of v, then what is left
            inverse = 1.0 / D
            factor_out[pivot] = inverse
            pivot = offset(pivot + 1)
            store6(u, pivot, factor_out)
            scaled = scaled6(u, inverse)
            subtract_outer(scaled, u, 0, scratch_out)
            for a in range(1, b):
                u = row_times(s, scratch_out, offset(36 * a))
                if flags & COLUMN_ENTRIES:
                    u = add_scaled6(u, 1.0, load6(scratch_out, entries + 6 * (c * widest + a)))
                store6(u, offset(pivot + 6 * a), factor_out)
                subtract_outer(scaled, u, offset(36 * a), scratch_out)
            at = left
            for q in range(1, b):
                u = scaled6(load6(factor_out, offset(pivot + 6 * q)), inverse)
                for p in range(1, q + 1):
                    subtract_outer(load6(factor_out, offset(pivot + 6 * p)), u, offset(at), scratch_out)
                    at += 36
            pivot += 6 * b
        # v goes into u: row and column of v, shifted by T, are added to those of u
        if kind == CONTRACT:
            if reversed_joint:
                r = (-r[0], -r[1], -r[2])
            add_packed(shifted_block(packed(scratch_out, 0), r), left, scratch_out)
            shift_rows(r, 36, scratch_out)
            add_transposed(scratch_out, 36, left, scratch_out)
            for a in range(1, b):
                if a > 1:
                    shift_rows(r, offset(36 * a), scratch_out)
                add_block(scratch_out, offset(36 * a), offset(left + 18 * a * (a - 1)), scratch_out)
        # what is left goes to the Gram matrix, or waits as an update; a single block is packed
        if flags & LAST:
            add_to_gram(lists, steps[o + FRONT] + 1, b - 1, left, scratch_out, gram_out)
        elif b == 2:
            store21(packed(scratch_out, single), update, scratch_out)
    return 0
