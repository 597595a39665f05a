"""Linearly implicit steps with friction in the joints of a tree, compiled (paper 000 §5, Alg. 3).

Without rows and implicit forces accelerations and reactions are linear in the efforts τ = Rᵀ u of the friction u:

    w(u) = w(u₀) + W Rᵀ (u − u₀),      slip(u) = slip(u₀) + H (u − u₀),      H = h R A⁻¹ Rᵀ

so that one evaluation and the answers to unit efforts tell of all u, and the projections of a step need no other (`staggered.stagger`).
The tables are an arena of their own: integers, numbers and scratch with one numbering.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from unibody.algebra.bounded_friction import EXACT, SWEEPS, settle_singles, singles_scratch, sweep_friction
from unibody.algebra.dense import factor_cholesky, solve_cholesky
from unibody.algebra.staggered import SETTLED
from unibody.algebra.tree import BODY
from unibody.arena import Arena, part
from unibody.contact.joint_friction import carry_loads
from unibody.coordinates.held_reactions import send_through_joints
from unibody.coordinates.redmax import settle_loads
from unibody.coordinates.redmax_linear import fill_dense
from unibody.coordinates.reduced_products import fill_wrenches, gather_wrenches

from unibody.coordinates.slots import (  # isort: skip
    BODIES, COLUMNS, COUNTDOWN, F, GRAVITY, ROWS, STATUS, X_SOLVED, X_WB, Y,
)  # fmt: skip
from unibody.coordinates.stages import EVALUATE_STAGE, Evaluate
from unibody.kernel import Floats, Ints, device, kernel
from unibody.rules.base import all_finite, write_record
from unibody.rules.linearly_implicit import BEGUN, BEGUN_Q, CURBED, step_linearly_implicit
from unibody.spatial.devices import compose_rotations, load3, load9, rotate_back, store3

if TYPE_CHECKING:
    from unibody.coordinates.redmax_system import RedMaxSystem
    from unibody.rules.rubbings import Rubbings

BOOK, CHILDREN, NODES, VELOCITIES, STARTS = range(5)
"""Integers: joints as `carry_loads` reads them; the child whose axes each has, the body whose wrench it carries; the velocities that rub;
where blocks of variables begin."""

SHAPES, TURNED, RUBBED = range(5, 8)
"""Numbers: of the joints' points; the rotations of their frames in the children; R, row by row."""

(
    MATRIX, ANSWERS, NO_LOADS, THROUGH, TWISTS, UNITS, AT_START, WRENCHES, LOADS, LAST_LOADS, ALLOWED, BOUNDS, ANSWERING, RESPONSE, SLIP,
    FIRST, MORE, SOLVING, TOTALS, ENERGIES, RATES, BEFORE, SAVED_Q, SAVED_V, SAVED_MEMORY, SLOWER,
) = range(8, 34)  # fmt: skip
"""Scratch."""


class CompiledRubbing:
    """The tables of a tree's frictions, for `roll_rubbing`."""

    def __init__(self, rubbings: Rubbings, system: RedMaxSystem, memory: int):
        model, R = system.model, rubbings.rows
        m, e = R.shape
        parts, points, blocks = len(rubbings.parts), rubbings.points, rubbings.widths.size
        n, nv = model.n_bodies, model.nv
        starts = np.concatenate([[0], np.cumsum(rubbings.widths)])
        ints = Arena([rubbings.book, rubbings.children, rubbings.joints + 1, rubbings.velocities, starts], np.int64, frozen=True)
        numbers = Arena([rubbings.numbers, rubbings.frames, R], np.float64, frozen=True)
        sizes = [
            nv * nv, e * nv, 6 * n * e, 6 * n * e, 6 * n, 6 * parts * e, 6 * parts, 6 * parts, points, points, blocks, blocks, e * e, m * m,
            m, m, e, singles_scratch(m), 6 * n, 2, nv, nv, system.nq_all, system.nv_all, memory, system.nv_all,
        ]  # fmt: skip
        scratch = Arena(sizes, np.float64)
        self.layout = np.concatenate([ints.layout, numbers.layout, scratch.layout])
        self.ints, self.numbers, self.scratch = ints.flat, numbers.flat, scratch.flat


@kernel
def see_in_joints(rub_layout: Ints, rub_ints: Ints, rub_numbers: Floats, X: Floats, wrenches: Floats, seen_out: Floats) -> None:
    """What goes through the joints that rub, in their axes, of wrenches (6 a body; world axes, at M) through all."""
    children = part(rub_ints, rub_layout, CHILDREN)
    nodes = part(rub_ints, rub_layout, NODES)
    turned = part(rub_numbers, rub_layout, TURNED)
    for p in range(nodes.size):
        R = compose_rotations(load9(X, 12 * children[p]), load9(turned, 9 * p))
        for half in range(2):
            store3(rotate_back(R, load3(wrenches, 6 * nodes[p] + 3 * half)), 6 * p + 3 * half, seen_out)


@kernel
def answer_efforts(
    layout: Ints, ints: Ints, rub_layout: Ints, rub_ints: Ints, rub_numbers: Floats, h: float, work_out: Floats, rub_out: Floats
) -> bool:
    """At the step that was evaluated: wrenches of unit efforts, and H of efforts and of variables. False if A is not positive definite."""
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    columns = part(work_out, layout, COLUMNS)
    X = part(work_out, layout, X_WB)
    nv = part(work_out, layout, Y).size
    velocities = part(rub_ints, rub_layout, VELOCITIES)
    R = part(rub_numbers, rub_layout, RUBBED)
    A = part(rub_out, rub_layout, MATRIX)
    answers = part(rub_out, rub_layout, ANSWERS)
    through = part(rub_out, rub_layout, THROUGH)
    units = part(rub_out, rub_layout, UNITS)
    answering = part(rub_out, rub_layout, ANSWERING)
    H = part(rub_out, rub_layout, RESPONSE)
    e = velocities.size
    m = R.size // e
    fill_dense(layout, ints, work_out, A)
    if factor_cholesky(nv, A) >= 0:
        return False
    for i in range(e):
        y = answers[nv * i : nv * (i + 1)]
        y[:] = 0.0
        y[velocities[i]] = 1.0
        solve_cholesky(nv, A, y)
    send_through_joints(body, rows, columns, X, part(rub_out, rub_layout, NO_LOADS), answers, part(rub_out, rub_layout, TWISTS), through)
    wide = units.size // e
    for i in range(e):
        see_in_joints(
            rub_layout, rub_ints, rub_numbers, X, through[body_numbers(body) * i : body_numbers(body) * (i + 1)],
            units[wide * i : wide * (i + 1)],
        )  # fmt: skip
        for j in range(e):
            answering[e * i + j] = 0.5 * h * (answers[nv * i + velocities[j]] + answers[nv * j + velocities[i]])
    for a in range(m):
        for b in range(m):
            total = 0.0
            for i in range(e):
                if R[e * a + i] != 0.0:
                    for j in range(e):
                        total += R[e * a + i] * answering[e * i + j] * R[e * b + j]
            H[m * a + b] = total
    return True


@device
def body_numbers(body):
    """Numbers of a wrench on every body."""
    return 6 * (body.size // BODY)


@kernel
def carry(rub_layout: Ints, rub_ints: Ints, rub_numbers: Floats, u: Floats, rub_out: Floats) -> float:
    """What points carry under the friction u, and the bounds that follow; returns by how much of it all that has changed."""
    R = part(rub_numbers, rub_layout, RUBBED)
    first = part(rub_out, rub_layout, FIRST)
    more = part(rub_out, rub_layout, MORE)
    units = part(rub_out, rub_layout, UNITS)
    start = part(rub_out, rub_layout, AT_START)
    wrenches = part(rub_out, rub_layout, WRENCHES)
    loads = part(rub_out, rub_layout, LOADS)
    last = part(rub_out, rub_layout, LAST_LOADS)
    for k in range(loads.size):
        last[k] = loads[k]
    for k in range(wrenches.size):
        wrenches[k] = start[k]
    pull_variables(R, u, first, more)
    for i in range(more.size):
        for k in range(wrenches.size):
            wrenches[k] += more[i] * units[wrenches.size * i + k]
    carry_loads(
        part(rub_ints, rub_layout, BOOK), part(rub_numbers, rub_layout, SHAPES), wrenches, u, loads, part(rub_out, rub_layout, ALLOWED)
    )  # fmt: skip
    size = 0.0
    moved = 0.0
    for k in range(loads.size):
        size += loads[k] * loads[k]
        moved += (loads[k] - last[k]) * (loads[k] - last[k])
    return sqrt(moved / size) if size > 0.0 else 0.0


@kernel
def pull_variables(R: Floats, u: Floats, first: Floats, efforts_out: Floats) -> None:
    """Rᵀ (u − first)."""
    e = efforts_out.size
    efforts_out[:] = 0.0
    for a in range(u.size):
        for i in range(e):
            efforts_out[i] += R[e * a + i] * (u[a] - first[a])


@kernel
def project_friction(rub_layout: Ints, rub_ints: Ints, rub_numbers: Floats, tolerance: float, most: int, rub_out: Floats, u_out: Floats,
                     told_out: Floats) -> bool:  # fmt: skip
    """Alternate between what points carry and friction, from the first, as `stagger` does; told: iterations and the last change. False
    where friction was not found."""
    H = part(rub_out, rub_layout, RESPONSE)
    slip = part(rub_out, rub_layout, SLIP)
    bounds = part(rub_out, rub_layout, BOUNDS)
    allowed = part(rub_out, rub_layout, ALLOWED)
    starts = part(rub_ints, rub_layout, STARTS)
    part(rub_out, rub_layout, LOADS)[:] = 0.0
    single = bounds.size == u_out.size
    change = 0.0
    moved = carry(rub_layout, rub_ints, rub_numbers, u_out, rub_out)
    for k in range(most):
        told_out[0] = k
        told_out[1] = moved
        if k > 0 and moved <= tolerance:
            return True
        crawls = k > 1 and moved > SETTLED * change
        for b in range(bounds.size):
            bounds[b] = 0.5 * (bounds[b] + allowed[b]) if crawls else allowed[b]
        change = moved
        if not single:
            sweep_friction(starts, bounds, H, slip, EXACT, SWEEPS, u_out)
        elif not settle_singles(bounds, H, slip, part(rub_out, rub_layout, SOLVING), u_out):
            return False
        moved = carry(rub_layout, rub_ints, rub_numbers, u_out, rub_out)
    told_out[0] = most
    told_out[1] = moved
    return True


@kernel
def find_friction(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, rub_layout: Ints, rub_ints: Ints, rub_numbers: Floats,
    t: float, h: float, tolerance: float, most: int, work_out: Floats, rub_out: Floats, efforts_out: Floats, q_out: Floats, v_out: Floats,
    found_out: Floats,
) -> bool:  # fmt: skip
    """The friction of a step from (t, q, v), from the guess that was found last (u, then iterations and change), and its efforts. False if
    the step is not finite, or its friction not found."""
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    columns = part(work_out, layout, COLUMNS)
    X = part(work_out, layout, X_WB)
    y = part(work_out, layout, Y)
    R = part(rub_numbers, rub_layout, RUBBED)
    velocities = part(rub_ints, rub_layout, VELOCITIES)
    first = part(rub_out, rub_layout, FIRST)
    slip = part(rub_out, rub_layout, SLIP)
    more = part(rub_out, rub_layout, MORE)
    totals = part(rub_out, rub_layout, TOTALS)
    H = part(rub_out, rub_layout, RESPONSE)
    m = first.size
    e = velocities.size
    u = found_out[:m]
    first[:] = 0.0
    pull_variables(R, u, first, efforts_out)
    y[:] = 0.0
    Evaluate(stages[EVALUATE_STAGE], layout, ints, constants, stages, control, t, work_out, q_out, v_out)
    if not all_finite(y):
        return False
    settle_loads(layout, ints, constants, part(work_out, layout, X_SOLVED), y, work_out)
    fill_wrenches(
        body, rows, X, part(work_out, layout, F), part(constants, layout, GRAVITY), totals, part(rub_out, rub_layout, ENERGIES)
    )  # fmt: skip
    gather_wrenches(body, rows, columns, totals, part(rub_out, rub_layout, RATES))
    see_in_joints(rub_layout, rub_ints, rub_numbers, X, totals, part(rub_out, rub_layout, AT_START))
    if not answer_efforts(layout, ints, rub_layout, rub_ints, rub_numbers, h, work_out, rub_out):
        return False
    for i in range(e):
        more[i] = v_out[velocities[i]] + h * y[velocities[i]]
    for a in range(m):
        first[a] = u[a]
    for a in range(m):
        slip[a] = 0.0
        for i in range(e):
            slip[a] += R[e * a + i] * more[i]
        for b in range(m):
            slip[a] -= H[m * a + b] * first[b]
    if not project_friction(rub_layout, rub_ints, rub_numbers, tolerance, most, rub_out, u, found_out[m:]):
        return False
    first[:] = 0.0
    pull_variables(R, u, first, efforts_out)
    return True


@kernel
def roll_rubbing(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, rub_layout: Ints, rub_ints: Ints, rub_numbers: Floats,
    t0: float, h: float, tolerance: float, most: int, done: int, steps: int, every: int, explicit: int, work_out: Floats, rub_out: Floats,
    efforts_out: Floats, q_out: Floats, v_out: Floats, memory_out: Floats, record_out: Floats,
) -> int:  # fmt: skip
    """Take steps from the one that follows `done` on; returns how many are done then. Before a step that is not finite, or whose friction
    was not found here, q, v and memory are as they were. Memory ends with the friction, its iterations and the last change."""
    y = part(work_out, layout, Y)
    velocities = part(rub_ints, rub_layout, VELOCITIES)
    before = part(rub_out, rub_layout, BEFORE)
    q = part(rub_out, rub_layout, SAVED_Q)
    v = part(rub_out, rub_layout, SAVED_V)
    memory = part(rub_out, rub_layout, SAVED_MEMORY)
    slowed = part(rub_out, rub_layout, SLOWER)
    found = memory_out[memory_out.size - part(rub_out, rub_layout, FIRST).size - 2 :]
    first_v = BEGUN_Q + q.size
    part(work_out, layout, STATUS)[COUNTDOWN] = memory_out[BEGUN + 1]
    t = t0
    for k in range(done, steps):
        keep(q_out, q)
        keep(v_out, v)
        keep(memory_out, memory)
        keep(v_out, slowed)
        for attempt in range(2):
            good = find_friction(
                layout, ints, constants, stages, control, rub_layout, rub_ints, rub_numbers, t, h, tolerance, most, work_out, rub_out,
                efforts_out, q_out, slowed, found,
            )  # fmt: skip
            if good:
                good = step_linearly_implicit(
                    layout, ints, constants, stages, control, t, h, explicit, work_out, before, q_out, v_out, memory_out
                )  # fmt: skip
            curbed = memory_out[CURBED] != memory[CURBED]
            if not good or (attempt == 0 and curbed):
                keep(memory_out[first_v : first_v + v.size], slowed)  # begun slower: friction of that
                keep(q, q_out)
                keep(v, v_out)
                keep(memory[: memory.size - found.size] if good else memory, memory_out)
            if not good:
                return k
            if not curbed:
                break
        for i in range(velocities.size):
            memory_out[0] += h * efforts_out[i] * (memory_out[first_v + velocities[i]] + 0.5 * h * y[velocities[i]])
        t = t + h
        if (k + 1) % every == 0:
            write_record((k + 1) // every - 1, t, q_out, v_out, memory_out, record_out)
    return steps


@device
def keep(x, copy_out):
    for k in range(x.size):
        copy_out[k] = x[k]
