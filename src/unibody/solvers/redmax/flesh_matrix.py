"""The matrix of a step over points of deformables and the bodies that hold some of them.

    H = Tᵀ (M + h D + h² K) T:   [H_ff  H_fb]      H_fb and H_bb by Γ = R [−[p]×  1] of the points that are attached to bodies
                                 [H_bf  H_bb]
    S = H_bb − H_bf H_ff⁻¹ H_fb                    goes to the bodies' own implicit terms and couplings, and from there as any spring's

D = damping · K of each stencil, K made positive semidefinite stencil by stencil: S is never less than nothing.
"""

from __future__ import annotations

from unibody.algebra.supernodal.border import reduce_border
from unibody.algebra.supernodal.numeric import factor
from unibody.arena import part
from unibody.coordinates.reduced.workspace import COUPLING, IMPLICIT_CHOICE, OWN, STEP_LENGTH
from unibody.coordinates.workspace import X_WB
from unibody.kernel import Floats, Ints, cut, device, kernel

from unibody.solvers.redmax.flesh_workspace import (  # isort: skip
    BATCH, BLOCK_COUNTS, BODY_BLOCK, BODY_BLOCK_WEIGHT, BODY_PAIRS, BORDER_BODY, CHILD, COLUMN_FIRST, DAMPING, ENERGY_BATCHES,
    ENTRY_FIRST, ENTRY_SOURCE, ENTRY_TARGET, FACTOR, FACTOR_AT, FREE_BODY, FREE_FREE, FREE_HELD, FREE_VERTEX, FRONT, GIFTS, GIFT_WEIGHT,
    HELD, HELD_BODIES, HELD_HELD, HELD_P, HELD_PAIRS, HELD_ROWS, LOWER, LOWER_FIRST, MASS_BLOCK, MASS_OF_BLOCK, ORDER, PACKED, PAIR_BLOCK,
    PAIR_BLOCK_WEIGHT, PAIR_PLACE, POINT_BLOCKS, POINT_OF, POINT_START, POINT_WEIGHT, RELATIVE, SEEN_BLOCK, SEEN_BLOCK_WEIGHT,
    SEEN_START, SIBLING, SOLVE_SCRATCH, STACK, STENCIL_BLOCKS, STENCIL_SCALE, UPDATE, UPDATE_AT,
)  # fmt: skip
from unibody.solvers.redmax.matrix import skew_times, times_skew, transpose9
from unibody.spatial.devices import compose_rotations, cross, load3, load9, rotate_back

OWN_SIZE, COUPLING_SIZE = 21, 36
"""Numbers of a body's own terms, and of a coupling (`forces.implicit`)."""


@kernel
def fill_point_blocks(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """Blocks over points, of masses, stencils, and elements that act on points of deformables: B = h (h + damping) K and the elements'
    own implicit terms."""
    h = part(constants, layout, IMPLICIT_CHOICE)[STEP_LENGTH]
    blocks = part(work_out, layout, POINT_BLOCKS)
    for k in range(blocks.size):
        blocks[k] = 0.0
    # masses
    masses = part(constants, layout, MASS_OF_BLOCK)
    at_mass = part(ints, layout, MASS_BLOCK)
    for k in range(masses.size):
        for m in range(3):
            blocks[9 * at_mass[k] + 4 * m] += masses[k]
    # stencils
    damping = part(constants, layout, DAMPING)
    scale = part(work_out, layout, STENCIL_SCALE)
    for e in range(scale.size):
        scale[e] = h * (h + damping[e])
    table = part(ints, layout, BATCH)
    batches = part(ints, layout, ENERGY_BATCHES)
    gifts = part(ints, layout, GIFTS)
    weights = part(constants, layout, GIFT_WEIGHT)
    for b in range(table.size // 4 if h > 0.0 else 0):
        own = cut(part(work_out, layout, STENCIL_BLOCKS), batches[7 * b + 5], batches[7 * b + 6] - batches[7 * b + 5])
        add_gifts(gifts, weights, table[4 * b + 2], table[4 * b + 3], table[4 * b], scale[table[4 * b + 1] :], own, blocks)
    # elements on points: each with itself, by the linear part of its own terms
    own_terms = part(work_out, layout, OWN)
    coupling = part(work_out, layout, COUPLING)
    seen = part(ints, layout, SEEN_BLOCK)
    shares = part(constants, layout, SEEN_BLOCK_WEIGHT)
    n = own_terms.size // OWN_SIZE - (part(ints, layout, SEEN_START).size - 1)
    for k in range(shares.size):
        c = OWN_SIZE * (n + seen[2 * k]) + 15
        at = 9 * seen[2 * k + 1]
        w = shares[k]
        xx, xy, xz, yy, yz, zz = own_terms[c], own_terms[c + 1], own_terms[c + 2], own_terms[c + 3], own_terms[c + 4], own_terms[c + 5]
        add9_at((xx, xy, xz, xy, yy, yz, xz, yz, zz), w, at, blocks)
    # two points: linear rows and columns of their coupling
    pairs = part(ints, layout, PAIR_BLOCK)
    shares = part(constants, layout, PAIR_BLOCK_WEIGHT)
    for k in range(shares.size):
        c = COUPLING_SIZE * pairs[3 * k] + 21
        block = (
            coupling[c], coupling[c + 1], coupling[c + 2], coupling[c + 6], coupling[c + 7], coupling[c + 8], coupling[c + 12],
            coupling[c + 13], coupling[c + 14],
        )  # fmt: skip
        if pairs[3 * k + 2] != 1:
            add9_at(block, shares[k], 9 * pairs[3 * k + 1], blocks)
        if pairs[3 * k + 2] != 0:
            add9_at(transpose9(block), shares[k], 9 * pairs[3 * k + 1], blocks)
    # a point and a body: linear rows, all columns
    bodies = part(ints, layout, BODY_BLOCK)
    shares = part(constants, layout, BODY_BLOCK_WEIGHT)
    for k in range(shares.size):
        c = COUPLING_SIZE * bodies[3 * k]
        at = 9 * bodies[3 * k + 2]
        for r in range(3):
            for m in range(6):
                there = coupling[c + 6 * (3 + r) + m] if bodies[3 * k + 1] == 1 else coupling[c + 6 * m + 3 + r]
                blocks[at + 6 * r + m] += shares[k] * there


@device
def add9_at(block, w, at, blocks_out):
    """A 3×3 block by rows, w times, at a place."""
    for m in range(9):
        blocks_out[at + m] += w * block[m]


@device
def add_gifts(gifts, weights, first, end, wide, scale, blocks, sums_out):
    """As `add_stencil_blocks`, from the table of gifts."""
    size = 3 * wide
    for e in range(first, end):
        stencil, corner, flip = gifts[4 * e], gifts[4 * e + 1], gifts[4 * e + 2]
        at = size * size * stencil + 3 * size * (corner // wide) + 3 * (corner % wide)
        w = weights[e] * scale[stencil]
        to = 9 * gifts[4 * e + 3]
        if flip != 1:
            for r in range(3):
                for c in range(3):
                    sums_out[to + 3 * r + c] += w * blocks[at + size * r + c]
        if flip != 0:
            for r in range(3):
                for c in range(3):
                    sums_out[to + 3 * r + c] += w * blocks[at + size * c + r]


@device
def add_between(at, way, r, c, value, pairs_out):
    """A number of a block between two bodies at row r and column c, into that of the pair."""
    if way != 1:
        pairs_out[at + 6 * r + c] += value
    if way != 0:
        pairs_out[at + 6 * c + r] += value


@kernel
def attach_points(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """By Γ: blocks of free vertices with attached points become blocks with bodies, and blocks of attached points become terms between
    bodies."""
    counts = part(ints, layout, BLOCK_COUNTS)
    blocks = part(work_out, layout, POINT_BLOCKS)
    pairs = part(work_out, layout, BODY_PAIRS)
    held = part(ints, layout, HELD)
    place = part(constants, layout, HELD_P)
    X = part(work_out, layout, X_WB)
    for k in range(pairs.size):
        pairs[k] = 0.0
    bodies_at = 9 * counts[FREE_FREE]
    rows_at = bodies_at + 18 * counts[FREE_BODY]
    pairs_at = rows_at + 9 * counts[FREE_HELD]
    more_at = pairs_at + 9 * counts[HELD_HELD]
    # B Γ = (−B R [p]×, B R)
    table = part(ints, layout, HELD_ROWS)
    for k in range(counts[FREE_HELD]):
        point = table[2 * k]
        turned = compose_rotations(load9(blocks, rows_at + 9 * k), load9(X, 12 * held[2 * point + 1]))
        arm = times_skew(turned, load3(place, 3 * point))
        at = bodies_at + 18 * table[2 * k + 1]
        for r in range(3):
            for c in range(3):
                blocks[at + 6 * r + c] += arm[3 * r + c]
                blocks[at + 6 * r + 3 + c] += turned[3 * r + c]
    # Γᵀ B Γ
    table = part(ints, layout, HELD_PAIRS)
    for k in range(counts[HELD_HELD]):
        a, b, at, way = table[4 * k], table[4 * k + 1], COUPLING_SIZE * table[4 * k + 2], table[4 * k + 3]
        p, q = load3(place, 3 * a), load3(place, 3 * b)
        R = transpose9(load9(X, 12 * held[2 * a + 1]))
        linear = compose_rotations(compose_rotations(R, load9(blocks, pairs_at + 9 * k)), load9(X, 12 * held[2 * b + 1]))
        right = times_skew(linear, q)
        low = skew_times(p, linear)
        both = skew_times(p, right)
        for r in range(3):
            for c in range(3):
                add_between(at, way, r, c, both[3 * r + c], pairs)
                add_between(at, way, r, 3 + c, low[3 * r + c], pairs)
                add_between(at, way, 3 + r, c, right[3 * r + c], pairs)
                add_between(at, way, 3 + r, 3 + c, linear[3 * r + c], pairs)
    # Γᵀ C of couplings of elements
    table = part(ints, layout, HELD_BODIES)
    for k in range(table.size // 3):
        point, at, way = table[3 * k], COUPLING_SIZE * table[3 * k + 1], table[3 * k + 2]
        R = load9(X, 12 * held[2 * point + 1])
        p = load3(place, 3 * point)
        for c in range(6):
            f = rotate_back(R, (blocks[more_at + 18 * k + c], blocks[more_at + 18 * k + 6 + c], blocks[more_at + 18 * k + 12 + c]))
            t = cross(p, f)
            for r in range(3):
                add_between(at, way, r, c, t[r], pairs)
                add_between(at, way, 3 + r, c, f[r], pairs)


@kernel
def factor_flesh(layout: Ints, ints: Ints, work_out: Floats) -> int:
    """H_ff = L Lᵀ, and S into BODY_PAIRS; −1, or the place of a pivot that is not positive."""
    bad = factor(
        part(ints, layout, COLUMN_FIRST), part(ints, layout, LOWER_FIRST), part(ints, layout, FACTOR_AT), part(ints, layout, UPDATE_AT),
        part(ints, layout, CHILD), part(ints, layout, SIBLING), part(ints, layout, RELATIVE), part(ints, layout, ENTRY_FIRST),
        part(ints, layout, ENTRY_SOURCE), part(ints, layout, ENTRY_TARGET), part(work_out, layout, POINT_BLOCKS),
        part(work_out, layout, STACK), part(work_out, layout, PACKED), part(work_out, layout, FRONT), part(work_out, layout, FACTOR),
    )  # fmt: skip
    if bad >= 0:
        return bad
    update = part(ints, layout, UPDATE)
    stack = part(work_out, layout, STACK)
    pairs = part(work_out, layout, BODY_PAIRS)
    for k in range(update.size // 2):
        pairs[update[2 * k + 1]] += stack[update[2 * k]]
    return -1


@kernel
def couple_bodies(layout: Ints, ints: Ints, work_out: Floats) -> None:
    """S into the bodies' own terms and couplings. Of a body with itself the lower triangle counts."""
    place = part(ints, layout, PAIR_PLACE)
    pairs = part(work_out, layout, BODY_PAIRS)
    own = part(work_out, layout, OWN)
    coupling = part(work_out, layout, COUPLING)
    for k in range(place.size):
        at = COUPLING_SIZE * k
        if place[k] >= 0:
            for m in range(COUPLING_SIZE):
                coupling[COUPLING_SIZE * place[k] + m] += pairs[at + m]
            continue
        to = OWN_SIZE * (-1 - place[k])
        for i in range(3):
            for j in range(i, 3):
                own[to] += pairs[at + 6 * j + i]
                to += 1
        for i in range(3):
            for j in range(3, 6):
                own[to] += pairs[at + 6 * j + i]
                to += 1
        for i in range(3, 6):
            for j in range(i, 6):
                own[to] += pairs[at + 6 * j + i]
                to += 1


@kernel
def reduce_forces(
    layout: Ints, ints: Ints, constants: Floats, f: Floats, work_out: Floats, points_out: Floats, y_out: Floats, wrenches_out: Floats
) -> None:
    """Forces on vertices (N, 3), pulled to free vertices and bodies (`points_out`): y = L⁻¹ R_f, and R_b − H_bf H_ff⁻¹ R_f added to
    wrenches (6 a body, its axes)."""
    start = part(ints, layout, POINT_START)
    point = part(ints, layout, POINT_OF)
    weight = part(constants, layout, POINT_WEIGHT)
    held = part(ints, layout, HELD)
    place = part(constants, layout, HELD_P)
    X = part(work_out, layout, X_WB)
    free = part(ints, layout, FREE_VERTEX).size
    border = part(ints, layout, BORDER_BODY)
    for k in range(points_out.size):
        points_out[k] = 0.0
    for i in range(start.size - 1):
        for k in range(start[i], start[i + 1]):
            w = weight[k]
            if point[k] < free:
                for m in range(3):
                    points_out[3 * point[k] + m] += w * f[3 * i + m]
            else:
                a = point[k] - free
                body = held[2 * a + 1]
                force = rotate_back(load9(X, 12 * body), (w * f[3 * i], w * f[3 * i + 1], w * f[3 * i + 2]))
                torque = cross(load3(place, 3 * a), force)
                for m in range(3):
                    wrenches_out[6 * body + m] += torque[m]
                    wrenches_out[6 * body + 3 + m] += force[m]
    reduce_border(
        part(ints, layout, COLUMN_FIRST), part(ints, layout, LOWER_FIRST), part(ints, layout, LOWER), part(ints, layout, FACTOR_AT),
        part(ints, layout, ORDER), part(work_out, layout, FACTOR), points_out, part(work_out, layout, SOLVE_SCRATCH), y_out,
    )  # fmt: skip
    for k in range(border.size):
        for m in range(6):
            wrenches_out[6 * border[k] + m] += y_out[3 * free + 6 * k + m]
