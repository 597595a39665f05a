"""Where the vertices of deformables are, and what acts on them.

    free:        x and v are coordinates                      on a body:   x = R p + t,  v = R (ω × p + u)
    prescribed:  x(t)                                         on others:   x = Σ wₖ xₖ

Implicit forces are those at the end of the way of each vertex, h (w + h a), to first order, with a what is to be found and w from

    free:  v        on a body:  v + ½ h (R̈ p + ẗ at joint accelerations 0)        prescribed:  (x(t + h) − x(t)) / h

A turn by h ω would look like a strain of (h ω)²/2 on straight ways, which stiff matter would answer with a stress that is not there; the
curvature of the way, ½ h² ω × (ω × r) of each stencil, is therefore taken off. Points on which elements act stand behind the bodies, with
axes of the world.
"""

from __future__ import annotations

from math import inf

import numpy as np

from unibody.algebra.tree.aba import ROW, A, C, P, V
from unibody.arena import part
from unibody.coordinates.reduced.dynamics import load_bodies
from unibody.coordinates.reduced.kinematics import fill_bodies
from unibody.coordinates.reduced.workspace import BODIES, FRAMES, IMPLICIT_CHOICE, ROWS, STEP_LENGTH
from unibody.coordinates.workspace import GRAVITY, V_WB, X_WB
from unibody.energies.evaluate import add_energies
from unibody.kernel import Floats, Ints, cut, device, kernel

from unibody.solvers.redmax.flesh_workspace import (  # isort: skip
    BATCH, DAMPING, ENERGY_BATCHES, ENERGY_INDEX, ENERGY_PARAMETERS, FIRST_Q, FIRST_V, FLESH_CHOICE, FREE_VERTEX, HELD, HELD_P,
    PRESCRIBED, PRESCRIBED_X, SEEN_START, SEEN_VERTEX, SEEN_WEIGHT, STENCIL_BLOCKS, STORED, STRESS,
    SUPPORTED, SUPPORT_WEIGHT, VERTEX_A, VERTEX_F, VERTEX_MASS, VERTEX_NOW, VERTEX_V, VERTEX_WAY, VERTEX_X,
)  # fmt: skip
from unibody.spatial.devices import add3, cross, load3, load9, rotate, scale3, store3, sub3

WIDEST = 96
"""Numbers of the vertices of a stencil at most."""
UNSEEN = 1e-9
"""Part of a stencil's extent that is added to it in every direction, so that vertices on one line have an inverse."""


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
def place_vertices(layout: Ints, ints: Ints, constants: Floats, q: Floats, v: Floats, work_out: Floats) -> None:
    """VERTEX_X, VERTEX_V, VERTEX_WAY and VERTEX_NOW at (q, v), from poses and twists of bodies; then the points on which elements act, in
    X_WB and V_WB."""
    choice = part(constants, layout, FLESH_CHOICE)
    first_q, first_v = int(choice[FIRST_Q]), int(choice[FIRST_V])
    h = part(constants, layout, IMPLICIT_CHOICE)[STEP_LENGTH]
    x = part(work_out, layout, VERTEX_X)
    u = part(work_out, layout, VERTEX_V)
    w = part(work_out, layout, VERTEX_WAY)
    now = part(work_out, layout, VERTEX_NOW)
    X = part(work_out, layout, X_WB)
    twist = part(work_out, layout, V_WB)
    rows = part(work_out, layout, ROWS)
    body = part(ints, layout, BODIES)
    # free: coordinates of their own
    free = part(ints, layout, FREE_VERTEX)
    for k in range(free.size):
        for m in range(3):
            x[3 * free[k] + m] = q[first_q + 3 * k + m]
            u[3 * free[k] + m] = v[first_v + 3 * k + m]
            w[3 * free[k] + m] = u[3 * free[k] + m]
            now[3 * free[k] + m] = u[3 * free[k] + m]
    # on bodies: ζ is how their velocities change without joint accelerations
    held = part(ints, layout, HELD)
    place = part(constants, layout, HELD_P)
    g = load3(part(constants, layout, GRAVITY), 0)
    for k in range(held.size // 2):
        i = held[2 * k + 1]
        R = load9(X, 12 * i)
        p = load3(place, 3 * k)
        at = add3(load3(X, 12 * i + 9), rotate(R, p))
        speed = rotate(R, add3(load3(twist, 6 * i + 3), cross(load3(twist, 6 * i), p)))
        bend = classical_acceleration(rows, g, i, at, C) if h < inf else (0.0, 0.0, 0.0)
        store3(at, 3 * held[2 * k], x)
        store3(speed, 3 * held[2 * k], u)
        store3(speed, 3 * held[2 * k], now)
        store3(add3(speed, scale3(0.5 * h if h < inf else 0.0, bend)), 3 * held[2 * k], w)
    # prescribed: as functions of time have said
    known = part(ints, layout, PRESCRIBED)
    motion = part(work_out, layout, PRESCRIBED_X)
    for k in range(known.size):
        for m in range(3):
            x[3 * known[k] + m] = motion[9 * k + m]
            now[3 * known[k] + m] = motion[9 * k + 6 + m]
            u[3 * known[k] + m] = motion[9 * k + 3 + m]
            w[3 * known[k] + m] = motion[9 * k + 3 + m]
    # on others
    supported = part(ints, layout, SUPPORTED)
    weights = part(constants, layout, SUPPORT_WEIGHT)
    for k in range(supported.size // 5):
        for m in range(3):
            at_m = 0.0
            speed_m = 0.0
            way_m = 0.0
            now_m = 0.0
            for j in range(4):
                s = supported[5 * k + 1 + j]
                if s >= 0:
                    at_m += weights[4 * k + j] * x[3 * s + m]
                    speed_m += weights[4 * k + j] * u[3 * s + m]
                    way_m += weights[4 * k + j] * w[3 * s + m]
                    now_m += weights[4 * k + j] * now[3 * s + m]
            x[3 * supported[5 * k] + m] = at_m
            u[3 * supported[5 * k] + m] = speed_m
            w[3 * supported[5 * k] + m] = way_m
            now[3 * supported[5 * k] + m] = now_m
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
    """All forces of elements, as `load_bodies`, with vertices where they are."""
    fill_bodies(part(constants, layout, FRAMES), part(work_out, layout, ROWS), part(work_out, layout, X_WB), part(work_out, layout, V_WB))
    place_vertices(layout, ints, constants, q_out, v_out, work_out)
    load_bodies(layout, ints, constants, control, work_out, q_out, v_out)


@kernel
def accelerate_vertices(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """VERTEX_A of vertices on bodies, from the accelerations that stand in the rows, and of vertices on others; those of free and of
    prescribed vertices stand there."""
    a = part(work_out, layout, VERTEX_A)
    x = part(work_out, layout, VERTEX_X)
    rows = part(work_out, layout, ROWS)
    g = load3(part(constants, layout, GRAVITY), 0)
    held = part(ints, layout, HELD)
    for k in range(held.size // 2):
        i = 3 * held[2 * k]
        store3(classical_acceleration(rows, g, held[2 * k + 1], load3(x, i), A), i, a)
    supported = part(ints, layout, SUPPORTED)
    weights = part(constants, layout, SUPPORT_WEIGHT)
    for k in range(supported.size // 5):
        for m in range(3):
            total = 0.0
            for j in range(4):
                s = supported[5 * k + 1 + j]
                if s >= 0:
                    total += weights[4 * k + j] * a[3 * s + m]
            a[3 * supported[5 * k] + m] = total


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


@device
def turn_rate(index, at, wide, x, u):
    """The middle of a stencil's vertices, and the angular velocity of their motion u that is nearest: (Σ |r|² − r rᵀ) ω = Σ r × u. Along
    what vertices on one line do not show, it is 0."""
    c = (0.0, 0.0, 0.0)
    for i in range(wide):
        c = add3(c, load3(x, 3 * index[at + i]))
    c = scale3(1.0 / wide, c)
    xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    t = (0.0, 0.0, 0.0)
    for i in range(wide):
        r = sub3(load3(x, 3 * index[at + i]), c)
        t = add3(t, cross(r, load3(u, 3 * index[at + i])))
        xx += r[1] * r[1] + r[2] * r[2]
        yy += r[0] * r[0] + r[2] * r[2]
        zz += r[0] * r[0] + r[1] * r[1]
        xy -= r[0] * r[1]
        xz -= r[0] * r[2]
        yz -= r[1] * r[2]
    more = UNSEEN * (xx + yy + zz)
    xx += more
    yy += more
    zz += more
    a, b, d = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    e, f, g = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    det = xx * a + xy * b + xz * d
    if not det > 0.0:
        return c, (0.0, 0.0, 0.0)
    return c, scale3(1.0 / det, (a * t[0] + b * t[1] + d * t[2], b * t[0] + e * t[1] + f * t[2], d * t[0] + f * t[1] + g * t[2]))


@kernel
def multiply_stencils(
    layout: Ints, ints: Ints, constants: Floats, h: float, damped: float, turning: int, w: Floats, u: Floats, work_out: Floats,
    f_out: Floats,
) -> None:  # fmt: skip
    """f −= Σ ∂²W/∂x² (h w + damped · damping · u) over all stencils, from the blocks that stand there; `turning`: of what turns by ω with
    the curvature of its way, w − ½ h ω × (ω × r)."""
    table = part(ints, layout, BATCH)
    batches = part(ints, layout, ENERGY_BATCHES)
    index = part(ints, layout, ENERGY_INDEX)
    damping = part(constants, layout, DAMPING)
    blocks = part(work_out, layout, STENCIL_BLOCKS)
    x = part(work_out, layout, VERTEX_X)
    now = part(work_out, layout, VERTEX_NOW)
    way = np.zeros(WIDEST)
    for b in range(table.size // 4):
        wide = table[4 * b]
        mine = cut(index, batches[7 * b + 1], batches[7 * b + 2] - batches[7 * b + 1])
        own = cut(blocks, batches[7 * b + 5], batches[7 * b + 6] - batches[7 * b + 5])
        for e in range(mine.size // wide):
            slow = damped * damping[table[4 * b + 1] + e]
            if h + slow == 0.0:
                continue
            centre = (0.0, 0.0, 0.0)
            omega = (0.0, 0.0, 0.0)
            if turning != 0:
                centre, omega = turn_rate(mine, wide * e, wide, x, now)
            for j in range(wide):
                to = 3 * mine[wide * e + j]
                inwards = cross(omega, cross(omega, sub3(load3(x, to), centre)))
                for r in range(3):
                    way[3 * j + r] = h * w[to + r] + slow * u[to + r] - 0.5 * h * h * inwards[r]
            size = 3 * wide
            for i in range(wide):
                to = 3 * mine[wide * e + i]
                for r in range(3):
                    at = size * size * e + size * (3 * i + r)
                    total = 0.0
                    for k in range(size):
                        total += own[at + k] * way[k]
                    f_out[to + r] -= total


@kernel
def load_vertices(layout: Ints, ints: Ints, constants: Floats, wrenches: Floats, extra: Floats, work_out: Floats) -> None:
    """VERTEX_F: weight of masses that no body has, −∂W/∂x, forces of elements (`wrenches` and `extra`, 6 a body) on their points."""
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
