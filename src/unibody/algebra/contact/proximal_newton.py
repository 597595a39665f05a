"""Proximal steps for contact with friction, each solved by Newton's method in the space of velocities: large, degenerate problems.

A step from x to X makes the problem regular by a compliance ε that pulls towards x:

    X = Φ(z),    z = x − (J m + b̂) / ε,    m = Yᵀ X        (Ŵ = J Yᵀ)

and its fixed points are the solutions, however singular Ŵ is and however small ε, so that ε falls from step to step. Φ is exact for each
block by itself: single rows are clipped, cones under the convex law projected onto; under Coulomb's law z_n is clipped at zero and z_t
projected onto the ball of that radius (`cones`). X belongs to m alone, so that there are six unknowns to a body, whatever the number of
contacts:

    G(m) = m − Yᵀ Φ(z(m)) = 0,      (1 + Yᵀ Φ' J / ε) d = −G

solved by blocks (`algebra.block.lu`). Convex law: −G is the gradient of a convex function in the sense of M, whose minimum along d is
sought. Coulomb's law: ‖G‖² in the sense of M has to fall. Both are known without M from ξ with m = Yᵀ ξ. Where d leads across a
kink, behind which ‖G‖ grows, the point before it is taken with the Φ' behind it, or steps would grow short before every contact that
closes. Where Newton's method fails, ε is made larger and a few sweeps of Gauss–Seidel move the contacts.

With ε = 1e-8 a step's equations leave round-off of 1e-8 of the step. m and z take steps together and stay together; ξ drifts off. So G is
m − Yᵀ X with m itself, not with Yᵀ ξ, and Newton's method takes back what its equations have left.
"""

from __future__ import annotations

import math

import numpy as np

from unibody.algebra.block.lu import factor_blocks, fill_blocks, solve_blocks
from unibody.algebra.contact.cones import alart_curnier_block, load_block, natural_map
from unibody.algebra.contact.delassus import gather, spread
from unibody.algebra.contact.local_solve import solve_block
from unibody.algebra.contact.problem import CONVEX
from unibody.algebra.contact.scaling import AT_MOST, ROUND_OFF, largest_given
from unibody.kernel import Floats, Ints, kernel

FIRST, LEAST, LARGEST = 0.1, 1e-8, 10.0
"""ε at first, and its limits; below the least, round-off in û / ε is more than ε gains, above it masses of 10⁶ to 1 take long."""
NEARER, NEAREST = 100.0, 1e-5
"""Where the residual is a small part of the velocities given at first, what presses and slides is known: ε is so many times this part then,
or the least."""
FALLS = (0.1, 0.3, 0.55, 1.0)
"""By what ε falls after a proximal step of one of Newton's steps, of up to three, of up to six, of more."""
SMALL = 1e-3
"""Below this ε, under Coulomb's law, it falls as after fewer steps where none had to be shortened: what presses and slides is known."""
RISES, SWEEPS = 4.0, 10
"""By what ε grows after a failure, and the sweeps then."""
INNER = 12
"""Newton's steps for one ε."""
SLACK = 0.5
"""How well a proximal step is solved, in terms of how far it went."""
STUCK = 4
"""Steps of no length, each with another Φ', before a failure is admitted."""
PATIENCE, NEARLY, HASTE = 100, 1e-8, 30
"""Newton's steps in which the residual has to halve; below this part of the velocities given, where round-off is near, only so many under
Coulomb's law. Under the convex one impulses may grow without end while the residual slowly falls."""


@kernel
def evaluate_map(law: int, start: Ints, lower: Floats, upper: Floats, z: Floats, X_out: Floats, slope_out: Floats) -> None:
    """Φ(z) and, per block, Φ' (4×4, its rows and columns as the block has)."""
    slope_out[:] = 0.0
    for k in range(start.size - 1):
        at, count, p = start[k], start[k + 1] - start[k], 16 * k
        if count == 1:
            X_out[at] = min(max(z[at], lower[k]), upper[k])
            slope_out[p] = 1.0 if lower[k] < z[at] < upper[k] else 0.0
            continue
        a, y1, y2, y3 = load_block(count, at, z)
        value = alart_curnier_block(law, count, p, a, y1, y2, y3, slope_out)
        for i in range(count):
            X_out[at + i] = value[i]


@kernel
def sweep_factors(
    law: int, count: int, start: Ints, first: Ints, islands: Ints, place: Ints, lower: Floats, upper: Floats, J: Floats, Y: Floats,
    b: Floats, table: Floats, motion_out: Floats, x_out: Floats,
) -> None:  # fmt: skip
    """Sweeps of Gauss–Seidel; motion = Yᵀ x is kept along."""
    u, step = np.zeros(4), np.zeros(4)
    for _ in range(count):
        for k in range(start.size - 1):
            at, n = start[k], start[k + 1] - start[k]
            for r in range(4):
                u[r] = b[at + r] if r < n else 0.0
            p = place[k]
            for side in range(2):
                g = islands[2 * k + side]
                if g >= 0:
                    for i in range(first[g], first[g + 1]):
                        for r in range(n):
                            u[r] += J[p + r] * motion_out[i]
                        p += n
            xn, x1, x2, x3 = load_block(n, at, x_out)
            new = solve_block(law, k, n, lower[k], upper[k], table, xn, x1, x2, x3, u[0], u[1], u[2], u[3])
            step[0], step[1], step[2], step[3] = new[0] - xn, new[1] - x1, new[2] - x2, new[3] - x3
            for r in range(n):
                x_out[at + r] = new[r]
            p = place[k]
            for side in range(2):
                g = islands[2 * k + side]
                if g >= 0:
                    for i in range(first[g], first[g + 1]):
                        for r in range(n):
                            motion_out[i] += Y[p + r] * step[r]
                        p += n


@kernel
def evaluate_residual(
    law: int, start: Ints, first: Ints, islands: Ints, place: Ints, lower: Floats, upper: Floats, J: Floats, Y: Floats, b: Floats,
    D: Floats, x: Floats, motion_out: Floats, u_out: Floats, F_out: Floats,
) -> float:  # fmt: skip
    """motion, û and the residual's velocity at x."""
    motion_out[:] = 0.0
    spread(first, islands, start, place, Y, x, motion_out)
    u_out[:] = b
    gather(first, islands, start, place, J, motion_out, u_out)
    natural_map(law, start, lower, upper, x, u_out, F_out)
    worst = 0.0
    for i in range(x.size):
        worst = max(worst, abs(F_out[i]) / D[i])
    return worst


@kernel
def round_off(
    start: Ints, first: Ints, islands: Ints, place: Ints, lower: Floats, J: Floats, Y: Floats, b: Floats, D: Floats, x: Floats,
    motion_out: Floats, u_out: Floats,
) -> float:  # fmt: skip
    """What round-off alone may leave in the residual's velocity, as `ScaledProblem.round_off` has it."""
    motion_out[:] = 0.0
    spread(first, islands, start, place, np.abs(Y), np.abs(x), motion_out)
    for i in range(x.size):
        u_out[i] = abs(b[i])
    gather(first, islands, start, place, np.abs(J), motion_out, u_out)
    worst = 0.0
    for i in range(x.size):
        worst = max(worst, u_out[i] / D[i])
    return min(ROUND_OFF * worst, AT_MOST * largest_given(start, lower, b, D))


@kernel
def merit_of(
    start: Ints, first: Ints, islands: Ints, place: Ints, J: Floats, Y: Floats, xi: Floats, X: Floats, G_out: Floats, JG_out: Floats,
    difference_out: Floats,
) -> float:  # fmt: skip
    """G = Yᵀ (ξ − X) and its square in the sense of M."""
    G_out[:] = 0.0
    JG_out[:] = 0.0
    for i in range(xi.size):
        difference_out[i] = xi[i] - X[i]
    spread(first, islands, start, place, Y, difference_out, G_out)
    gather(first, islands, start, place, J, G_out, JG_out)
    total = 0.0
    for i in range(xi.size):
        total += difference_out[i] * JG_out[i]
    return abs(total)


@kernel
def inconsistency(
    start: Ints, first: Ints, islands: Ints, place: Ints, J: Floats, Y: Floats, motion: Floats, X: Floats, G_out: Floats, JG_out: Floats,
    minus_out: Floats,
) -> float:  # fmt: skip
    """G = m − Yᵀ X, and the largest of what it makes of û at X: |J G|."""
    for i in range(X.size):
        minus_out[i] = -X[i]
    G_out[:] = motion
    JG_out[:] = 0.0
    spread(first, islands, start, place, Y, minus_out, G_out)
    gather(first, islands, start, place, J, G_out, JG_out)
    most = 0.0
    for i in range(X.size):
        most = max(most, abs(JG_out[i]))
    return most


@kernel
def proximal_steps(
    law: int, iterations: int, most_failures: int, tolerance: float, start: Ints, first: Ints, islands: Ints, place: Ints, plan: Ints,
    lower: Floats, upper: Floats, J: Floats, Y: Floats, b: Floats, D: Floats, table: Floats, factor_out: Floats, x_out: Floats,
    result_out: Floats,
) -> int:  # fmt: skip
    """From x to the best x found, given up after more than so many failures; the number of Newton's steps. plan: where its seven parts
    begin (8 numbers), then these. result: the residual's velocity, the number of proximal steps, that of failures."""
    m, count, n = x_out.size, start.size - 1, first[first.size - 1]
    column, row, diagonal = plan[plan[0] : plan[1]], plan[plan[1] : plan[2]], plan[plan[2] : plan[3]]
    lower_at, upper_at, target, where = plan[plan[3] : plan[4]], plan[plan[4] : plan[5]], plan[plan[5] : plan[6]], plan[plan[6] : plan[7]]
    largest = 0
    for g in range(first.size - 1):
        largest = max(largest, first[g + 1] - first[g])
    scratch, pivot = np.empty(max(largest * largest, 4 * largest) + 1), np.empty(largest, np.int64)
    motion, G, d = np.empty(n), np.empty(n), np.empty(n)
    u, F, z, trial, X, xi, delta, difference, JG, Jd = (
        np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty(m),
    )  # fmt: skip
    slope, beyond = np.empty(16 * count), np.empty(16 * count)
    x, at_t = x_out.copy(), np.empty(m)
    epsilon, newton, steps, failures, best, last, halved, halved_at = FIRST, 0, 0, 0, np.inf, np.inf, np.inf, 0
    least_D, given = np.inf, 0.0
    for i in range(m):
        least_D = min(least_D, D[i])
        given = max(given, abs(b[i]) / D[i])
    while True:
        # the residual at x; the best x is kept
        residual = evaluate_residual(law, start, first, islands, place, lower, upper, J, Y, b, D, x, motion, u, F)
        if residual < best:
            best = residual
            x_out[:] = x
        # the end: solved, out of steps, the residual halves no more, ε or failures beyond their limits; or within round-off
        if best <= 0.5 * halved:
            halved, halved_at = best, newton
        patience = PATIENCE if best > NEARLY * given or law == CONVEX else HASTE
        if residual <= tolerance or newton >= iterations or newton - halved_at > patience or epsilon > LARGEST or failures > most_failures:
            break
        if 0.5 * last < residual <= AT_MOST and residual <= round_off(start, first, islands, place, lower, J, Y, b, D, x, d, JG):
            break
        last = residual
        # the first ε, smaller where x is nearly a solution
        if steps == 0:
            epsilon = min(FIRST, max(NEAREST, NEARER * residual / max(given, 1e-300)))
        steps += 1
        # a proximal step from x: m = Yᵀ ξ with ξ = x, z = x − û / ε, X = Φ(z)
        for i in range(m):
            xi[i] = x[i]
            z[i] = x[i] - u[i] / epsilon
        evaluate_map(law, start, lower, upper, z, X, slope)
        merit = merit_of(start, first, islands, place, J, Y, xi, X, G, JG, difference)
        solved, stuck, taken, whole, enough = False, 0, 0, 1, 0.0
        while taken < INNER:
            # Newton's step: (1 + Yᵀ Φ' J / ε) d = −G
            fill_blocks(first, islands, start, place, where, diagonal, J, Y, slope, epsilon, scratch, factor_out)
            newton += 1
            taken += 1
            if factor_blocks(first, column, row, diagonal, lower_at, upper_at, target, scratch, pivot, factor_out) > 0:
                break
            for i in range(n):
                d[i] = -G[i]
            solve_blocks(first, column, row, diagonal, lower_at, upper_at, factor_out, scratch, d)
            # J d, and how ξ goes with it: δ = X − ξ − Φ' J d / ε, so that d = Yᵀ δ
            Jd[:] = 0.0
            gather(first, islands, start, place, J, d, Jd)
            reach = 0.0
            for k in range(count):
                at, size = start[k], start[k + 1] - start[k]
                for r in range(size):
                    s = 0.0
                    for c in range(size):
                        s += slope[16 * k + 4 * r + c] * Jd[at + c]
                    delta[at + r] = -difference[at + r] - s / epsilon
                    reach = max(reach, abs(Jd[at + r]))
            if not reach < np.inf:
                break
            # the length t of the step, between `low`, which is good, and `high`, which is too long
            low, high, t = 0.0, 1.0, 1.0
            before, after = 0.0, 0.0
            lowest = merit
            for turn in range(40):
                for i in range(m):
                    trial[i] = z[i] - t * Jd[i] / epsilon
                    at_t[i] = xi[i] + t * delta[i]
                evaluate_map(law, start, lower, upper, trial, X, beyond)
                # convex law: the slope dᵀ M G of what is minimised is to be a part of the first one; regula falsi, every third time halves
                if law == CONVEX:
                    if turn == 0 and enough > 0.0 and merit_of(start, first, islands, place, J, Y, at_t, X, G, JG, F) <= enough:
                        low = 1.0
                        break
                    if turn == 0:
                        for i in range(m):
                            before += Jd[i] * difference[i]
                        first_slope = abs(before)
                    now = 0.0
                    for i in range(m):
                        now += Jd[i] * (at_t[i] - X[i])
                    if (turn == 0 and now <= 0.3 * first_slope) or abs(now) <= 0.2 * first_slope or high - low < 1e-6:
                        low = t
                        break
                    if now > 0.0:
                        high, after = t, now
                    else:
                        low, before = t, now
                    t = low - before * (high - low) / (after - before) if turn % 3 < 2 else 0.5 * (low + high)
                    continue
                # Coulomb's law: ‖G‖² has to fall; where it does not, the next step is taken with the Φ' found there
                now = merit_of(start, first, islands, place, J, Y, at_t, X, G, JG, F)
                if now <= max((1.0 - 1e-3 * (t - low)) * lowest, enough):
                    low, lowest = t, now
                    if t == 1.0:
                        break
                else:
                    high = t
                    slope[:] = beyond
                if (low > 0.0 and high - low < 0.5 * low) or turn > 20:
                    break
                t = 0.5 * (low + high) if low > 0.0 else 0.3 * high
            # take it: z, ξ and m together
            stuck = 0 if low > 0.0 else stuck + 1
            whole = whole if low == 1.0 else 0
            if stuck > STUCK:
                break
            for i in range(m):
                z[i] -= low * Jd[i] / epsilon
                xi[i] += low * delta[i]
            for i in range(n):
                motion[i] += low * d[i]
            # X and Φ' there, ‖G‖² and G = m − Yᵀ X; solved well enough for the distance |X − x| gone?
            evaluate_map(law, start, lower, upper, z, X, beyond)
            if low == 1.0 or law == CONVEX:
                slope[:] = beyond
            merit = merit_of(start, first, islands, place, J, Y, xi, X, G, JG, difference)
            off = inconsistency(start, first, islands, place, J, Y, motion, X, G, JG, trial)
            way = 0.0
            for i in range(m):
                way += (X[i] - x[i]) ** 2
            wanted = max(SLACK * epsilon * math.sqrt(way), 0.1 * tolerance * least_D)
            enough = 0.01 * wanted * wanted
            if math.sqrt(merit) <= wanted and off <= 2.0 * wanted:
                solved = True
                break
        # ε falls, the more the easier the step was; where it failed ε grows, and sweeps go on from x
        if solved:
            x[:] = X
            hard = 0 if taken == 1 else (1 if taken <= 3 else (2 if taken <= 6 else 3))
            if epsilon < SMALL and law != CONVEX:
                hard = max(hard - whole, 0)
            epsilon = max(LEAST, epsilon * FALLS[hard])
        else:
            failures += 1
            epsilon *= RISES
            sweep_factors(law, SWEEPS, start, first, islands, place, lower, upper, J, Y, b, table, motion, x)
    result_out[0], result_out[1], result_out[2] = best, steps, failures
    return newton
