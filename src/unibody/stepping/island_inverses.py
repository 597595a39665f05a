"""M⁻¹ of a small island of velocities, and J M⁻¹ of its bodies: how each responds to a load on each velocity.

Where many rows meet one island, to sweep its tree for every row is more than to sweep it once with unit loads on all velocities,

    up:  ρ = e + Sᵀ f,  f ← f − U ρ / D          down:  y = (ρ − Uᵀ x) / D,  x ← x + S y

three loads at a time (`unibody.triple`). What follows is products: the response to a wrench w on body i is (J_i M⁻¹)ᵀ w, that to a load on
a velocity its row of M⁻¹. With n velocities and w = n rounded up to threes, the numbers of an island are n rows of w, M⁻¹; then for each
member 6 w, J M⁻¹: six triples for every three velocities.
"""

from __future__ import annotations

from unibody.algebra.block.sym6 import offset
from unibody.algebra.tree.aba import BODY, COLUMN, INVERSE, U
from unibody.arena import part
from unibody.coordinates.reduced.workspace import BODIES, COLUMNS, SHIFT
from unibody.kernel import Floats, Ints, inlined, kernel
from unibody.stepping.island_sweeps import along, fetch_six, less, more, pulled, pushed, put_six, sum_six
from unibody.stepping.islands import FIRST, MEMBER_START, MEMBERS, OF_BODY, PLACE, SEAT
from unibody.triple import fetch, join, plus, put, put_only, spread


@kernel
def invert_island(
    body: Ints, shift: Floats, columns: Floats, place: Ints, of_body: Ints, seat: Ints, members: Ints, lo: int, hi: int, origin: int,
    n: int, at: int, numbers_out: Floats,
) -> None:  # fmt: skip
    """The numbers, from `at` on, of the island of bodies members[lo:hi] with n velocities from `origin` on in the order of islands. On the
    way up, what a body carries stands where its J M⁻¹ will; one that carries no other feels only loads on its own velocities."""
    threes = (n + 2) // 3
    wide = 3 * threes
    bodies_at = at + wide * n
    island = of_body[members[lo]]
    zero = spread(0.0)
    nothing = (zero, zero, zero, zero, zero, zero)
    # up: ρ = e + Sᵀ f, f ← f − U ρ / D, from the leaves on, three unit loads at a time
    for m in range(hi - 1, lo - 1, -1):
        i = members[m]
        o = offset(BODY * i)
        parent, first, count, role = body[o], body[o + 1], body[o + 2], body[o + 5]
        mine = bodies_at + 6 * wide * (m - lo)
        above = bodies_at + 6 * wide * (seat[parent] - lo)
        top = place[first] - origin if count > 0 else 0
        inside = of_body[parent] == island
        for c in range(threes):
            f = nothing
            if role & 1:
                f = fetch_six(numbers_out, offset(mine + 18 * c))
            elif top >= 3 * c + 3 or top + count <= 3 * c:
                # no load of these three lies on this leaf: ρ and f are zero
                for step in range(count):
                    put_only(zero, offset(at + wide * (top + step) + 3 * c), numbers_out)
                if inside and role & 2:
                    put_six(nothing, offset(above + 18 * c), numbers_out)
                continue
            for step in range(count - 1, -1, -1):
                e = offset(COLUMN * (first + step))
                rest = along(columns, e, f)
                unit = top + step - 3 * c
                if 0 <= unit < 3:
                    rest = rest + join(1.0 if unit == 0 else 0.0, 1.0 if unit == 1 else 0.0, 1.0 if unit == 2 else 0.0)
                put_only(rest, offset(at + wide * (top + step) + 3 * c), numbers_out)
                f = less(f, columns, e + U, rest * columns[e + INVERSE])
            # Tᵀ f to the parent; the first child writes, others add
            if inside:
                f = pulled(shift, offset(3 * i), f)
                k = offset(above + 18 * c)
                if not role & 2:
                    f = sum_six(f, fetch_six(numbers_out, k))
                put_six(f, k, numbers_out)
    # down: x = T x_parent, y = (ρ − Uᵀ x) / D, x ← x + S y
    for m in range(lo, hi):
        i = members[m]
        o = offset(BODY * i)
        parent, first, count = body[o], body[o + 1], body[o + 2]
        mine = bodies_at + 6 * wide * (m - lo)
        above = bodies_at + 6 * wide * (seat[parent] - lo)
        top = place[first] - origin if count > 0 else 0
        inside = of_body[parent] == island
        for c in range(threes):
            x = nothing
            if inside:
                x = pushed(fetch_six(numbers_out, offset(above + 18 * c)), shift, offset(3 * i))
            for step in range(count):
                e = offset(COLUMN * (first + step))
                k = offset(at + wide * (top + step) + 3 * c)
                y = (fetch(numbers_out, k) - along(columns, e + U, x)) * columns[e + INVERSE]
                put_only(y, k, numbers_out)
                x = more(x, columns, e, y)
            put_six(x, offset(mine + 18 * c), numbers_out)


@kernel
def invert_islands(layout: Ints, ints: Ints, spots: Ints, table: Ints, at: Ints, begin: int, work: Floats, numbers_out: Floats) -> None:
    """The numbers of all islands that have them from `begin` on."""
    first = part(table, spots, FIRST)
    start = part(table, spots, MEMBER_START)
    for g in range(first.size - 1):
        if at[g] >= begin:
            invert_island(
                part(ints, layout, BODIES), part(work, layout, SHIFT), part(work, layout, COLUMNS), part(table, spots, PLACE),
                part(table, spots, OF_BODY), part(table, spots, SEAT), part(table, spots, MEMBERS), start[g], start[g + 1], first[g],
                first[g + 1] - first[g], at[g], numbers_out,
            )  # fmt: skip


@inlined
def body_numbers(first, start, seat, at, g, node):
    """Where J M⁻¹ of a body begins."""
    n = first[g + 1] - first[g]
    wide = 3 * ((n + 2) // 3)
    return at[g] + wide * n + 6 * wide * (seat[node] - start[g])


@inlined
def response_of(numbers, k, f):
    """A velocity of a body's J M⁻¹, whose first number is at k, times three wrenches."""
    return plus(plus(numbers[k] * f[0], numbers[k + 3], f[1]), numbers[k + 6], f[2]) + plus(
        plus(numbers[k + 9] * f[3], numbers[k + 12], f[4]), numbers[k + 15], f[5]
    )


@inlined
def respond_three(numbers, mine, n, f, base, again, Y_out):
    """Y of three wrenches on the body whose J M⁻¹ begins at `mine`; `again`: added to what is there."""
    for v in range(0, n, 3):
        k = offset(mine + 6 * v)
        p = offset(base + 3 * v)
        if again or v + 3 >= n:
            for lane in range(min(3, n - v)):
                y = response_of(numbers, k + lane, f)
                if again:
                    y = y + join(Y_out[p], Y_out[p + 1], Y_out[p + 2])
                put_only(y, p, Y_out)
                p += 3
        else:
            put(response_of(numbers, k, f), p, Y_out)
            put(response_of(numbers, k + 1, f), p + 3, Y_out)
            put(response_of(numbers, k + 2, f), p + 6, Y_out)


@inlined
def respond_one(numbers, mine, n, w, base, stride, Y_out):
    """Add Y of one wrench on the body whose J M⁻¹ begins at `mine`."""
    for v in range(n):
        k = offset(mine + 18 * (v // 3) + v % 3)
        Y_out[offset(base + stride * v)] += (
            (numbers[k] * w[0] + numbers[k + 3] * w[1]) + (numbers[k + 6] * w[2] + numbers[k + 9] * w[3])
            + (numbers[k + 12] * w[4] + numbers[k + 15] * w[5])
        )  # fmt: skip
