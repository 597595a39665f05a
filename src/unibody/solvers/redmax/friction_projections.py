"""Bilateral staggered projections of the joints of a tree, compiled (paper 000 §5, Alg. 3).

Without rows and implicit forces accelerations and reactions are linear in the efforts τ = Rᵀ u of the friction u:

    w(u) = w(u₀) + W Rᵀ (u − u₀),      slip(u) = slip(u₀) + H (u − u₀),      H = h R A⁻¹ Rᵀ

so that one evaluation and the responses to unit efforts tell of all u, and the projections of a step need no other (`staggered.stagger`).
The tables are an arena of their own: integers, numbers and scratch with one numbering.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from unibody.algebra.dense import factor_cholesky, solve_cholesky
from unibody.algebra.friction.bounded import EXACT, SWEEPS, singles_scratch, solve_single_rows, sweep_friction
from unibody.algebra.friction.staggered import CRAWLS
from unibody.algebra.tree.aba import BODY
from unibody.arena import Arena, part
from unibody.contact.joint_friction import carry_loads
from unibody.contact.joint_friction_variables import JointFrictionVariables
from unibody.coordinates.reduced.workspace import BODIES, COLUMNS, ROWS
from unibody.coordinates.workspace import X_WB, Y
from unibody.kernel import Floats, Ints, device, kernel
from unibody.solvers.redmax.linear import fill_dense
from unibody.solvers.redmax.system import RedMaxSystem
from unibody.spatial.devices import compose_rotations, load3, load9, rotate_back, store3
from unibody.stepping.reactions import send_through_joints

TABLE, CHILDREN, NODES, VELOCITIES, STARTS = range(5)
"""Integers: joints as `carry_loads` reads them; the child whose axes each has, the body whose wrench it carries; the velocities with
friction; where blocks of variables begin."""

SHAPES, TURNED, FRICTION_ROWS = range(5, 8)
"""Numbers: of the joints' points; the rotations of their frames in the children; R, row by row."""

(
    MATRIX, RESPONSES, NO_LOADS, THROUGH, TWISTS, UNITS, AT_START, WRENCHES, LOADS, LAST_LOADS, ALLOWED, BOUNDS, MOBILITY, RESPONSE, SLIP,
    FIRST, MORE, SOLVING, TOTALS, ENERGIES, RATES, BEFORE, SAVED_Q, SAVED_V, SAVED_MEMORY, SLOWER,
) = range(8, 34)  # fmt: skip
"""Scratch."""


class CompiledJointFriction:
    """The tables of a tree's frictions, for `roll_joint_friction`."""

    def __init__(self, friction: JointFrictionVariables, system: RedMaxSystem, memory: int):
        model, R = system.model, friction.rows
        m, e = R.shape
        parts, points, blocks = len(friction.parts), friction.points, friction.widths.size
        n, nv = model.n_bodies, model.nv
        starts = np.concatenate([[0], np.cumsum(friction.widths)])
        ints = Arena([friction.table, friction.children, friction.joints + 1, friction.velocities, starts], np.int64, frozen=True)
        numbers = Arena([friction.numbers, friction.frames, R], np.float64, frozen=True)
        sizes = [
            nv * nv, e * nv, 6 * n * e, 6 * n * e, 6 * n, 6 * parts * e, 6 * parts, 6 * parts, points, points, blocks, blocks, e * e, m * m,
            m, m, e, singles_scratch(m), 6 * n, 2, nv, nv, system.nq_all, system.nv_all, memory, system.nv_all,
        ]  # fmt: skip
        scratch = Arena(sizes, np.float64)
        self.layout = np.concatenate([ints.layout, numbers.layout, scratch.layout])
        self.ints, self.numbers, self.scratch = ints.flat, numbers.flat, scratch.flat


@kernel
def see_in_joints(
    friction_layout: Ints, friction_ints: Ints, friction_numbers: Floats, X: Floats, wrenches: Floats, seen_out: Floats
) -> None:
    """What goes through the joints with friction, in their axes, of wrenches (6 a body; world axes, at M) through all."""
    children = part(friction_ints, friction_layout, CHILDREN)
    nodes = part(friction_ints, friction_layout, NODES)
    turned = part(friction_numbers, friction_layout, TURNED)
    for p in range(nodes.size):
        R = compose_rotations(load9(X, 12 * children[p]), load9(turned, 9 * p))
        for half in range(2):
            store3(rotate_back(R, load3(wrenches, 6 * nodes[p] + 3 * half)), 6 * p + 3 * half, seen_out)


@kernel
def respond_efforts(
    layout: Ints, ints: Ints, friction_layout: Ints, friction_ints: Ints, friction_numbers: Floats, h: float, work_out: Floats,
    friction_out: Floats,
) -> bool:  # fmt: skip
    """At the step that was evaluated: wrenches of unit efforts, and H of efforts and of variables. False if A is not positive definite."""
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    columns = part(work_out, layout, COLUMNS)
    X = part(work_out, layout, X_WB)
    nv = part(work_out, layout, Y).size
    velocities = part(friction_ints, friction_layout, VELOCITIES)
    R = part(friction_numbers, friction_layout, FRICTION_ROWS)
    A = part(friction_out, friction_layout, MATRIX)
    responses = part(friction_out, friction_layout, RESPONSES)
    through = part(friction_out, friction_layout, THROUGH)
    units = part(friction_out, friction_layout, UNITS)
    mobility = part(friction_out, friction_layout, MOBILITY)
    H = part(friction_out, friction_layout, RESPONSE)
    e = velocities.size
    m = R.size // e
    # A⁻¹ eᵢ for a unit effort on each velocity with friction
    fill_dense(layout, ints, work_out, A)
    if factor_cholesky(nv, A) >= 0:
        return False
    for i in range(e):
        y = responses[nv * i : nv * (i + 1)]
        y[:] = 0.0
        y[velocities[i]] = 1.0
        solve_cholesky(nv, A, y)
    # W: the wrenches in the joints by those, in the axes of M; h A⁻¹ between the velocities, made symmetric
    no_loads, twists = part(friction_out, friction_layout, NO_LOADS), part(friction_out, friction_layout, TWISTS)
    send_through_joints(body, rows, columns, X, no_loads, responses, twists, through)
    wide = units.size // e
    for i in range(e):
        see_in_joints(
            friction_layout, friction_ints, friction_numbers, X, through[body_numbers(body) * i : body_numbers(body) * (i + 1)],
            units[wide * i : wide * (i + 1)],
        )  # fmt: skip
        for j in range(e):
            mobility[e * i + j] = 0.5 * h * (responses[nv * i + velocities[j]] + responses[nv * j + velocities[i]])
    # H = h R A⁻¹ Rᵀ
    for a in range(m):
        for b in range(m):
            total = 0.0
            for i in range(e):
                if R[e * a + i] != 0.0:
                    for j in range(e):
                        total += R[e * a + i] * mobility[e * i + j] * R[e * b + j]
            H[m * a + b] = total
    return True


@device
def body_numbers(body):
    """Numbers of a wrench on every body."""
    return 6 * (body.size // BODY)


@kernel
def carry(friction_layout: Ints, friction_ints: Ints, friction_numbers: Floats, u: Floats, friction_out: Floats) -> float:
    """What points carry under the friction u, and the bounds that follow; returns by how much of it all that has changed."""
    R = part(friction_numbers, friction_layout, FRICTION_ROWS)
    first = part(friction_out, friction_layout, FIRST)
    more = part(friction_out, friction_layout, MORE)
    units = part(friction_out, friction_layout, UNITS)
    start = part(friction_out, friction_layout, AT_START)
    wrenches = part(friction_out, friction_layout, WRENCHES)
    loads = part(friction_out, friction_layout, LOADS)
    last = part(friction_out, friction_layout, LAST_LOADS)
    for k in range(loads.size):
        last[k] = loads[k]
    for k in range(wrenches.size):
        wrenches[k] = start[k]
    pull_variables(R, u, first, more)
    for i in range(more.size):
        for k in range(wrenches.size):
            wrenches[k] += more[i] * units[wrenches.size * i + k]
    carry_loads(
        part(friction_ints, friction_layout, TABLE), part(friction_numbers, friction_layout, SHAPES), wrenches, u, loads,
        part(friction_out, friction_layout, ALLOWED),
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
def project_friction(
    friction_layout: Ints, friction_ints: Ints, friction_numbers: Floats, tolerance: float, most: int, friction_out: Floats, u_out: Floats,
    told_out: Floats,
) -> bool:  # fmt: skip
    """Alternate between what points carry and friction, from the first, as `stagger` does; told: iterations and the last change. False
    where friction was not found."""
    H = part(friction_out, friction_layout, RESPONSE)
    slip = part(friction_out, friction_layout, SLIP)
    bounds = part(friction_out, friction_layout, BOUNDS)
    allowed = part(friction_out, friction_layout, ALLOWED)
    starts = part(friction_ints, friction_layout, STARTS)
    part(friction_out, friction_layout, LOADS)[:] = 0.0
    single = bounds.size == u_out.size
    change = 0.0
    moved = carry(friction_layout, friction_ints, friction_numbers, u_out, friction_out)
    for k in range(most):
        told_out[0] = k
        told_out[1] = moved
        if k > 0 and moved <= tolerance:
            return True
        crawls = k > 1 and moved > CRAWLS * change
        for b in range(bounds.size):
            bounds[b] = 0.5 * (bounds[b] + allowed[b]) if crawls else allowed[b]
        change = moved
        if not single:
            sweep_friction(starts, bounds, H, slip, EXACT, SWEEPS, u_out)
        elif not solve_single_rows(bounds, H, slip, part(friction_out, friction_layout, SOLVING), u_out):
            return False
        moved = carry(friction_layout, friction_ints, friction_numbers, u_out, friction_out)
    told_out[0] = most
    told_out[1] = moved
    return True
