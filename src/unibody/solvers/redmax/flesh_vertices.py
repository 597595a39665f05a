"""Where the vertices of deformables are, and what acts on them.

    free:        x and v are coordinates                      on a body:   x = R p + t,  v = R (ω × p + u)
    prescribed:  x(t), and v̄ = (x(t + h) − x(t)) / h           on others:   x = Σ wₖ xₖ
    on a driven body, which no force moves:                   v̄ = v + h a / 2

Known vertices count with their mean velocities over the step, so that implicit forces know where they will be. Points on which elements act
stand behind the bodies, with axes of the world.
"""

from __future__ import annotations

from unibody.algebra.tree.aba import ROW, C, P, V
from unibody.arena import part
from unibody.coordinates.reduced.dynamics import load_bodies
from unibody.coordinates.reduced.kinematics import fill_bodies
from unibody.coordinates.reduced.workspace import BODIES, FRAMES, IMPLICIT_CHOICE, ROWS, STEP_LENGTH
from unibody.coordinates.workspace import GRAVITY, V_WB, X_WB
from unibody.energies.evaluate import add_energies
from unibody.kernel import Floats, Ints, cut, device, kernel

from unibody.solvers.redmax.flesh_workspace import (  # isort: skip
    BATCH, CORRECTING, DAMPING, ENERGY_BATCHES, ENERGY_INDEX, ENERGY_PARAMETERS, FIRST_Q, FIRST_V, FLESH_CHOICE, FREE_VERTEX, HELD, HELD_P,
    PRESCRIBED, PRESCRIBED_X, SEEN_START, SEEN_VERTEX, SEEN_WEIGHT, STENCIL_BLOCKS, STORED, STRESS,
    SUPPORTED, SUPPORT_WEIGHT, VERTEX_F, VERTEX_MASS, VERTEX_V, VERTEX_X,
)  # fmt: skip
from unibody.spatial.devices import add3, cross, load3, load9, rotate, scale3, store3, sub3


@device
def classical_acceleration(rows, gravity, i, x, row):
    """The acceleration of a point x (world) of body i by the accelerations that stand in its row at `row`, less that of gravity."""
    k = ROW * i
    r = sub3(x, load3(rows, k + P))
    o = load3(rows, k + V)
    u = load3(rows, k + V + 3)
    turn = load3(rows, k + row)
    shift = add3(load3(rows, k + row + 3), gravity)
    return add3(add3(shift, cross(o, u)), add3(cross(turn, r), cross(o, cross(o, r))))


@kernel
def place_vertices(layout: Ints, ints: Ints, constants: Floats, work_out: Floats, q: Floats, v: Floats) -> None:
    """VERTEX_X and VERTEX_V at (q, v), from poses and twists of bodies; then the points on which elements act, in X_WB and V_WB."""
    choice = part(constants, layout, FLESH_CHOICE)
    first_q, first_v = int(choice[FIRST_Q]), int(choice[FIRST_V])
    h = part(constants, layout, IMPLICIT_CHOICE)[STEP_LENGTH] if choice[CORRECTING] == 0.0 else 0.0
    x = part(work_out, layout, VERTEX_X)
    u = part(work_out, layout, VERTEX_V)
    X = part(work_out, layout, X_WB)
    twist = part(work_out, layout, V_WB)
    rows = part(work_out, layout, ROWS)
    body = part(ints, layout, BODIES)
    free = part(ints, layout, FREE_VERTEX)
    for k in range(free.size):
        for m in range(3):
            x[3 * free[k] + m] = q[first_q + 3 * k + m]
            u[3 * free[k] + m] = v[first_v + 3 * k + m]
    # on bodies; of driven ones, whose columns carry a motion of their own, also how velocities change
    held = part(ints, layout, HELD)
    place = part(constants, layout, HELD_P)
    g = load3(part(constants, layout, GRAVITY), 0)
    for k in range(held.size // 2):
        i = held[2 * k + 1]
        R = load9(X, 12 * i)
        p = load3(place, 3 * k)
        at = add3(load3(X, 12 * i + 9), rotate(R, p))
        speed = rotate(R, add3(load3(twist, 6 * i + 3), cross(load3(twist, 6 * i), p)))
        if i > 0 and body[6 * i + 3] >= 0:
            speed = add3(speed, scale3(0.5 * h, classical_acceleration(rows, g, i, at, C)))
        store3(at, 3 * held[2 * k], x)
        store3(speed, 3 * held[2 * k], u)
    known = part(ints, layout, PRESCRIBED)
    motion = part(work_out, layout, PRESCRIBED_X)
    for k in range(known.size):
        for m in range(3):
            x[3 * known[k] + m] = motion[9 * k + m]
            u[3 * known[k] + m] = motion[9 * k + (3 if h > 0.0 else 6) + m]
    # on others
    supported = part(ints, layout, SUPPORTED)
    weights = part(constants, layout, SUPPORT_WEIGHT)
    for k in range(supported.size // 5):
        for m in range(3):
            at_m = 0.0
            speed_m = 0.0
            for j in range(4):
                s = supported[5 * k + 1 + j]
                if s >= 0:
                    at_m += weights[4 * k + j] * x[3 * s + m]
                    speed_m += weights[4 * k + j] * u[3 * s + m]
            x[3 * supported[5 * k] + m] = at_m
            u[3 * supported[5 * k] + m] = speed_m
    # points on which elements act
    start = part(ints, layout, SEEN_START)
    seen = part(ints, layout, SEEN_VERTEX)
    shares = part(constants, layout, SEEN_WEIGHT)
    n = body.size // 6
    for k in range(start.size - 1):
        i = n + k
        for m in range(12):
            X[12 * i + m] = 1.0 if m < 9 and m % 4 == 0 else 0.0
        for m in range(6):
            twist[6 * i + m] = 0.0
        for j in range(start[k], start[k + 1]):
            for m in range(3):
                X[12 * i + 9 + m] += shares[j] * x[3 * seen[j] + m]
                twist[6 * i + 3 + m] += shares[j] * u[3 * seen[j] + m]


@kernel
def load_with_vertices(
    layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """All forces of elements, as `load_bodies`; for a Newton correction also what matter and weight do at this state, to vertices and
    bodies."""
    fill_bodies(part(constants, layout, FRAMES), part(work_out, layout, ROWS), part(work_out, layout, X_WB), part(work_out, layout, V_WB))
    place_vertices(layout, ints, constants, work_out, q_out, v_out)
    load_bodies(layout, ints, constants, control, work_out, q_out, v_out)


@kernel
def strain_vertices(layout: Ints, ints: Ints, constants: Floats, ask: int, work_out: Floats) -> None:
    """The energies of all stencils: STORED, STRESS and, if asked for, STENCIL_BLOCKS."""
    stored = part(work_out, layout, STORED)
    stress = part(work_out, layout, STRESS)
    stored[0] = 0.0
    for k in range(stress.size):
        stress[k] = 0.0
    add_energies(
        part(ints, layout, ENERGY_BATCHES), part(ints, layout, ENERGY_INDEX), part(constants, layout, ENERGY_PARAMETERS),
        part(work_out, layout, VERTEX_X), ask, stored, stress, part(work_out, layout, STENCIL_BLOCKS),
    )  # fmt: skip


@kernel
def multiply_stencils(layout: Ints, ints: Ints, constants: Floats, plain: float, damped: float, u: Floats, work_out: Floats, f_out: Floats) -> None:
    """f −= Σ (plain + damped · damping) ∂²W/∂x² u over all stencils, from the blocks that stand there."""
    table = part(ints, layout, BATCH)
    batches = part(ints, layout, ENERGY_BATCHES)
    index = part(ints, layout, ENERGY_INDEX)
    damping = part(constants, layout, DAMPING)
    blocks = part(work_out, layout, STENCIL_BLOCKS)
    for b in range(table.size // 4):
        wide = table[4 * b]
        mine = cut(index, batches[7 * b + 1], batches[7 * b + 2] - batches[7 * b + 1])
        own = cut(blocks, batches[7 * b + 5], batches[7 * b + 6] - batches[7 * b + 5])
        for e in range(mine.size // wide):
            s = plain + damped * damping[table[4 * b + 1] + e]
            if s == 0.0:
                continue
            at = 9 * wide * wide * e
            for i in range(wide):
                for r in range(3):
                    total = 0.0
                    for j in range(wide):
                        k = at + 3 * wide * (3 * i + r) + 3 * j
                        to = 3 * mine[wide * e + j]
                        total += own[k] * u[to] + own[k + 1] * u[to + 1] + own[k + 2] * u[to + 2]
                    f_out[3 * mine[wide * e + i] + r] -= s * total


@kernel
def load_vertices(layout: Ints, ints: Ints, constants: Floats, wrenches: Floats, extra: Floats, work_out: Floats) -> None:
    """VERTEX_F: weight, −∂W/∂x, and the forces of elements (`wrenches` and `extra`, 6 a body) on their points."""
    g = load3(part(constants, layout, GRAVITY), 0)
    mass = part(constants, layout, VERTEX_MASS)
    stress = part(work_out, layout, STRESS)
    f = part(work_out, layout, VERTEX_F)
    for i in range(mass.size):
        for m in range(3):
            f[3 * i + m] = mass[i] * g[m] - stress[3 * i + m]
    start = part(ints, layout, SEEN_START)
    seen = part(ints, layout, SEEN_VERTEX)
    shares = part(constants, layout, SEEN_WEIGHT)
    n = part(ints, layout, BODIES).size // 6
    for k in range(start.size - 1):
        for j in range(start[k], start[k + 1]):
            for m in range(3):
                at = 6 * (n + k) + 3 + m
                f[3 * seen[j] + m] += shares[j] * (wrenches[at] + (extra[at] if extra.size > 0 else 0.0))
