"""The matrix of a small tree, written out over its joints and factored:

    A = Jᵀ (blkdiag(B) + N) J + diag(d) + Σ_e (J_b − J_a)ᵀ S (J_b − J_a)

with the tree, its columns and its blocks B of `aba`, couplings N_ab of pairs of nodes, and forces e between points x_a, x_b of two nodes
(`forces.base.FillPairs`), J_a and J_b the motions of these points. For a dozen columns this takes a fraction of what any sparse order does.

All 6-vectors are moved to one point O, the first node's, so that sums over subtrees and ways to the root need no shifts. With B_c the sum
of the blocks of a subtree (composite rigid bodies, Featherstone 2008, §6.2),

    f_j = B_c S_j,    A_kj = S_k·f_j  for k from j up to the root.

Of a force between points only the columns that move one point against the other need more. Let c be the last node above both ends:

    k, j at or above c     both points move alike, δ(x_b − x_a) = ω × d with d = x_b − x_a:  the block [d]ᵀ S [d] of torques on c
    j below c              v_j = ±(motion of its end),  g = S v_j:  the torque d × g of column j on c, which f_j takes along from there
    k, j below c           A_kj = v_k·g

A pivot below 1e-14 of the diagonal that it began with is round-off.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.block.sym6 import TINY, dot6, offset
from unibody.algebra.tree.aba import BODY, COLUMN, ROW, P
from unibody.algebra.tree.factor import ZERO6, add_blocks, load21, shifted_block, store21, times_block
from unibody.kernel import Floats, Ints, cut, device, kernel
from unibody.spatial.devices import add3, cross, dot3, load3, load6, scale3, store3, sub3
from unibody.triple import fetch_four, minus, plus, put_four, spread_four, total_four

NODE, POINTS, MOVES = 3, 16, 3
"""Integers of a force between points (nodes a, b; one more), its numbers, and those of its moves."""


def stride_of(columns: int) -> int:
    """Numbers of a row of A: a multiple of four."""
    return -(-columns // 4) * 4


def node_above(parent: list[int], a: int, b: int) -> int:
    """The last node above (or at) two nodes."""
    while a != b:
        a, b = (parent[a], b) if a > b else (a, parent[b])
    return a


def scratch_size(nodes: int, columns: int, plan: np.ndarray) -> int:
    """Numbers of the scratch of `fill_joint_matrix`: blocks, columns at O, motions of points, torques along the ways."""
    return 21 * nodes + 9 * columns + 3 * int(plan[2 + columns] - plan[1])


@device
def times_symmetric(d, o, v):
    """S v of the diagonal d and (yz, zx, xy) = o."""
    return (
        d[0] * v[0] + o[2] * v[1] + o[1] * v[2], o[2] * v[0] + d[1] * v[1] + o[0] * v[2], o[1] * v[0] + o[0] * v[1] + d[2] * v[2],
    )  # fmt: skip


@device
def skew_by(r, d, o):
    """[r] S by rows, for S with the diagonal d and (yz, zx, xy) = o."""
    xx, yy, zz = d
    yz, zx, xy = o
    x, y, z = r
    return (
        y * zx - z * xy, y * yz - z * yy, y * zz - z * yz,
        z * xx - x * zx, z * xy - x * yz, z * zx - x * zz,
        x * xy - y * xx, x * yy - y * xy, x * yz - y * zx,
    )  # fmt: skip


@device
def add_turning(m, r, k, blocks_out):
    """Add [r] S [r]ᵀ to the torques of a block; m = [r] S. Row i of m [r]ᵀ is r × (row i of m)."""
    x, y, z = r
    blocks_out[k] += y * m[2] - z * m[1]
    blocks_out[k + 1] += z * m[0] - x * m[2]
    blocks_out[k + 2] += x * m[1] - y * m[0]
    blocks_out[k + 3] += z * m[3] - x * m[5]
    blocks_out[k + 4] += x * m[4] - y * m[3]
    blocks_out[k + 5] += x * m[7] - y * m[6]


@device
def add_point_block(m, r, d, o, k, blocks_out):
    """Add ([r] S [r]ᵀ  [r] S; ·  S) to a block of 21 numbers; m = [r] S."""
    add_turning(m, r, k, blocks_out)
    for i in range(9):
        blocks_out[k + 6 + i] += m[i]
    blocks_out[k + 15] += d[0]
    blocks_out[k + 16] += o[2]
    blocks_out[k + 17] += o[1]
    blocks_out[k + 18] += d[1]
    blocks_out[k + 19] += o[0]
    blocks_out[k + 20] += d[2]


def ways_and_moves(body: np.ndarray, ends: list[tuple[int, int]]) -> np.ndarray:
    """What `fill_joint_matrix` follows, in one list:

    * the number of columns, where ways begin, and where the way of each column begins and ends: the columns from itself up to the root;
    * MOVES numbers of every force between points: the last node above both ends (−1 if one of them is the ground, or both are the same),
      where its columns are listed, and how many there are;
    * ways: column numbers; then the columns of forces, rising: 2 column + (1 for those of the second node), and where on its way the
      column meets the node above both, or −1.
    """
    tree = body.reshape(-1, BODY).astype(int).tolist()
    first = [row[1] for row in tree]
    own = [list(range(row[1], row[1] + row[2])) for row in tree]
    own[0] = []
    count = sum(map(len, own))
    starts, ways, meets = [0] * (count + 1), list[int](), [dict[int, int]() for _ in range(count)]
    # the way of every column, and where it meets the nodes above its own
    node_of = {j: i for i, mine in enumerate(own) for j in mine}
    head = 2 + count + 1 + MOVES * len(ends)
    for j in range(count):
        starts[j] = head + len(ways)
        node = node_of[j]
        ways += own[node][: j - first[node] + 1][::-1]
        while node:
            node = tree[node][0]
            meets[j][node] = head + len(ways)
            ways += own[node][::-1]
    starts[count] = head + len(ways)
    # the columns below the node above both ends of every force
    lists: list[int] = []
    moves: list[int] = []
    for a, b in ends:
        if a == 0 or b == 0 or a == b:
            moves += [-1, 0, 0]
            continue
        found: list[tuple[int, int]] = []
        while a != b:
            node, side = (a, 0) if a > b else (b, 1)
            found += [(j, side) for j in own[node]]
            a, b = (tree[a][0], b) if side == 0 else (a, tree[b][0])
        moves += [a, head + len(ways) + len(lists), len(found)]
        for j, side in sorted(found):
            met = meets[j][a]
            lists += [2 * j + side, met - head if met < starts[j + 1] else -1]
    return np.array([count, head, *starts, *moves, *ways, *lists], np.int64)


@device
def add_moved(plan, at, x_a, x_b, stride, d, o, J, moved_out, torque_out, A_out):
    """What the columns below the node above both add to A, and the torques that they leave there."""
    first, count = plan[at + 1], plan[at + 2]
    arm = sub3(x_b, x_a)
    for p in range(count):
        which, met = plan[offset(first + 2 * p)], plan[offset(first + 2 * p + 1)]
        j = which >> 1
        k = offset(6 * j)
        # v = ± (motion of its end), g = S v
        second = which & 1
        x = (x_b[0], x_b[1], x_b[2]) if second else (x_a[0], x_a[1], x_a[2])
        sign = 1.0 if second else -1.0
        v = scale3(sign, add3(load3(J, k + 3), cross(load3(J, k), x)))
        g = times_symmetric(d, o, v)
        store3(v, offset(3 * p), moved_out)
        if met >= 0:
            t = cross(arm, g)
            k = offset(3 * met)
            torque_out[k] += t[0]
            torque_out[k + 1] += t[1]
            torque_out[k + 2] += t[2]
        # A_lj += v_l·g for l ≤ j
        for q in range(p + 1):
            row = offset((plan[offset(first + 2 * q)] >> 1) * stride + j)
            A_out[row] += dot3(load3(moved_out, offset(3 * q)), g)


@kernel
def add_couplings(body: Ints, rows: Floats, columns: Floats, pairs: Ints, coupling: Floats, stride: int, A_out: Floats) -> None:
    """Jᵀ N J of couplings (36 a pair, at the nodes' own points): column by column, along the ways of both ends to the root."""
    for e in range(pairs.size // 2):
        a, b = pairs[2 * e], pairs[2 * e + 1]
        k = b
        while k > 0:
            first = body[BODY * k + 1]
            for j in range(first, first + body[BODY * k + 2]):
                x = column_at(rows, columns, k, j, b)
                f = ZERO6
                for i in range(6):
                    f = (
                        f[0] + coupling[36 * e + i] * x[i], f[1] + coupling[36 * e + 6 + i] * x[i],
                        f[2] + coupling[36 * e + 12 + i] * x[i], f[3] + coupling[36 * e + 18 + i] * x[i],
                        f[4] + coupling[36 * e + 24 + i] * x[i], f[5] + coupling[36 * e + 30 + i] * x[i],
                    )  # fmt: skip
                m = a
                while m > 0:
                    start = body[BODY * m + 1]
                    for l in range(start, start + body[BODY * m + 2]):
                        value = dot6(column_at(rows, columns, m, l, a), f)
                        A_out[min(l, j) * stride + max(l, j)] += 2.0 * value if l == j else value
                    m = body[BODY * m]
            k = body[BODY * k]


@device
def column_at(rows, columns, node, j, at):
    """Column j of a node as a twist at the point of another node."""
    s = load3(columns, COLUMN * j)
    t = add3(load3(columns, COLUMN * j + 3), cross(s, sub3(load3(rows, ROW * at + P), load3(rows, ROW * node + P))))
    return (s[0], s[1], s[2], t[0], t[1], t[2])


@kernel
def fill_joint_matrix(
    body: Ints, rows: Floats, columns: Floats, blocks: Floats, diagonal: Floats, pairs: Ints, coupling: Floats, ends: Ints, plan: Ints,
    forces: Floats, scratch_out: Floats, A_out: Floats,
) -> None:  # fmt: skip
    """The upper triangle of A, in rows of `stride_of` numbers. `ends` and `forces`: nodes and numbers of forces between points; `plan`: of
    `ways_and_moves`."""
    n = body.size // BODY
    nv = diagonal.size
    stride = (nv + 3) // 4 * 4
    composite = cut(scratch_out, 0, 21 * n)
    J = cut(scratch_out, 21 * n, 6 * nv)
    moved = cut(scratch_out, 21 * n + 6 * nv, 3 * nv)
    head = plan[1]
    waiting = plan[2 + nv] - head if ends.size > 0 else 0
    torque = cut(scratch_out, 21 * n + 9 * nv, 3 * waiting)
    for k in range(stride * nv):
        A_out[k] = 0.0
    for k in range(torque.size):
        torque[k] = 0.0
    # columns and blocks at O
    O = load3(rows, ROW + P)
    for i in range(1, n):
        at = offset(BODY * i)
        r = sub3(load3(rows, offset(ROW * i + P)), O)
        for j in range(body[at + 1], body[at + 1] + body[at + 2]):
            s = load3(columns, offset(COLUMN * j))
            store3(s, offset(6 * j), J)
            store3(sub3(load3(columns, offset(COLUMN * j + 3)), cross(s, r)), offset(6 * j + 3), J)
        store21(shifted_block(load21(blocks, offset(21 * i)), r), offset(21 * i), composite)
    # forces between points
    for e in range(ends.size // NODE):
        a, b = ends[offset(NODE * e)], ends[offset(NODE * e + 1)]
        at = offset(POINTS * e)
        x_a = sub3(load3(forces, at), O)
        x_b = sub3(load3(forces, at + 3), O)
        d = load3(forces, at + 9)
        o = load3(forces, at + 12)
        if a == b:
            continue
        if a == 0 or b == 0:  # one point stands still: a block of the other's node
            x = x_b if a == 0 else x_a
            add_point_block(skew_by(x, d, o), x, d, o, offset(21 * max(a, b)), composite)
            continue
        at = offset(3 + nv + MOVES * e)
        c = plan[at]
        if c > 0:
            arm = sub3(x_b, x_a)
            add_turning(skew_by(arm, d, o), arm, offset(21 * c), composite)
        add_moved(plan, at, x_a, x_b, stride, d, o, J, moved, torque, A_out)
    # sums over subtrees; columns of A up to the root, with the torques that wait on the way
    for i in range(n - 1, 0, -1):
        at = offset(BODY * i)
        parent, first, count = body[at], body[at + 1], body[at + 2]
        block = load21(composite, offset(21 * i))
        if parent > 0:
            m = offset(21 * parent)
            store21(add_blocks(block, load21(composite, m)), m, composite)
        for j in range(first, first + count):
            f = times_block(block, load6(J, offset(6 * j)))
            A_out[offset(j * stride + j)] += diagonal[j]
            for k in range(plan[offset(2 + j)], plan[offset(3 + j)]):
                l = plan[offset(k)]
                if waiting > 0:
                    t = load3(torque, offset(3 * (k - head)))
                    f = (f[0] + t[0], f[1] + t[1], f[2] + t[2], f[3], f[4], f[5])
                A_out[offset(l * stride + j)] += dot6(load6(J, offset(6 * l)), f)
    add_couplings(body, rows, columns, pairs, coupling, stride, A_out)


@kernel
def factor_joint_matrix(columns: int, A_out: Floats, inverse_out: Floats) -> int:
    """A = L D Lᵀ in place: the rows of D Lᵀ without D, and 1/D in `inverse_out`. −1, or the first column whose pivot is not positive beyond
    round-off."""
    stride = (columns + 3) // 4 * 4
    for k in range(columns):
        inverse_out[k] = A_out[offset(k * stride + k)]
    for k in range(columns):
        row = offset(k * stride)
        pivot = A_out[row + k]
        if not pivot > TINY * inverse_out[k]:
            return k
        inverse = 1.0 / pivot
        inverse_out[k] = inverse
        for j in range(k // 4 * 4, k + 1):
            A_out[row + j] = 0.0
        for i in range(k + 1, columns):
            u = A_out[row + i] * inverse
            at = offset(i * stride)
            for j in range(i // 4 * 4, stride, 4):
                put_four(minus(fetch_four(A_out, at + j), u, fetch_four(A_out, row + j)), at + j, A_out)
    return -1


@kernel
def solve_joint_matrix(columns: int, A: Floats, inverse: Floats, x_out: Floats) -> None:
    """x ← A⁻¹ x; `x_out` has as many numbers as a row of A, those beyond the columns 0."""
    stride = (columns + 3) // 4 * 4
    for k in range(columns):
        row = offset(k * stride)
        u = x_out[offset(k)] * inverse[offset(k)]
        for j in range(k // 4 * 4, stride, 4):
            put_four(minus(fetch_four(x_out, j), u, fetch_four(A, row + j)), j, x_out)
    for k in range(columns - 1, -1, -1):
        row = offset(k * stride)
        known = spread_four(0.0)
        for j in range(k // 4 * 4, stride, 4):
            known = plus(known, fetch_four(A, row + j), fetch_four(x_out, j))
        x_out[offset(k)] = (x_out[offset(k)] - total_four(known)) * inverse[offset(k)]
