"""The kernels of cables over wheels: their wrenches and ledger, and their implicit terms. The mathematics: `pulley_cable`."""

from __future__ import annotations

import numpy as np

from unibody.element import DAMPER_POWER, MOTOR_POWER, SPRING_ENERGY
from unibody.forces.cable_course import (
    ANGLE,
    BEGIN,
    DAMPING,
    FRICTION,
    HEAD,
    MEAN,
    NEXT,
    NODE,
    NODE_INTS,
    SHARE,
    SLIP,
    SLIP_SPEED,
    STATE,
    STIFFNESS,
    STRETCH,
    STRETCH_RATE,
    TENSION,
    fill_course,
)
from unibody.forces.cable_spans import GRADIENT, HESSIAN, RATE, SCRATCH, SPAN
from unibody.forces.implicit import COUPLING, OWN
from unibody.kernel import Floats, Ints, device, kernel


@device
def largest_cable(index):
    """The most nodes that a cable of the tables has."""
    most = 0
    i = 0
    while i < index.size:
        most = max(most, index[i])
        i += HEAD + NODE_INTS * index[i]
    return most


@kernel
def add_pulley_cables(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats,
    F_out: Floats, effort_out: Floats, ledger_out: Floats,
) -> None:  # fmt: skip
    course = np.empty((STATE + SPAN) * largest_cable(index))
    scratch = np.empty(SCRATCH)
    i = 0
    f = 0
    while i < index.size:
        n = index[i]
        fill_course(index, parameters, signals, X, V, q, i, f, 0, course, scratch)
        paying = signals[index[i + 1] + 1] if index[i + 1] >= 0 else 0.0
        m = 0
        before = 0.0
        while course[STATE * m + NEXT] >= 0.0:
            l = int(course[STATE * m + NEXT])
            begin = int(course[STATE * m + BEGIN])
            mine = paying if begin == 0 else 0.0
            tension = course[STATE * m + TENSION]
            mean = course[STATE * m + MEAN]
            # the books of a section at its beginning, of a wheel that rubs where it is passed
            if m == begin:
                stretch = max(0.0, course[STATE * m + STRETCH])
                spring = parameters[f + NODE * m + STIFFNESS] * stretch
                ledger_out[SPRING_ENERGY] += 0.5 * spring * stretch
                if stretch > 0.0:
                    ledger_out[DAMPER_POWER] -= (mean - spring) * course[STATE * m + STRETCH_RATE]
                ledger_out[MOTOR_POWER] -= mean * mine
            else:
                jump = tension - before
                ledger_out[DAMPER_POWER] -= jump * course[STATE * m + SLIP]
                ledger_out[MOTOR_POWER] += jump * (1.0 - parameters[f + NODE * m + SHARE]) * mine
            # the span pulls at both ends along G
            a = 6 * index[i + HEAD + NODE_INTS * m]
            b = 6 * index[i + HEAD + NODE_INTS * l]
            at = STATE * n + SPAN * m + GRADIENT
            for j in range(6):
                F_out[a + j] -= tension * course[at + j]
                F_out[b + j] -= tension * course[at + 6 + j]
            before = tension
            m = l
        i += HEAD + NODE_INTS * n
        f += NODE * n


@device
def add_square(n, s, x, B_out):
    """B ← B + s x xᵀ over the 6 n displacements of all nodes."""
    for i in range(6 * n):
        if x[i] != 0.0:
            for j in range(6 * n):
                B_out[6 * n * i + j] += s * x[i] * x[j]


@device
def chord(jump, before, slip, speed, power):
    """ΔT / w; at rest T μ θ / ε, the slope there."""
    if abs(slip) > 1e-9 * speed:
        return jump / slip
    return before * power / speed


@device
def add_section(index, parameters, V, i, f, begin, paying, course, h, exact, sums_out, F_out, B_out):
    """The implicit terms of a section; `sums_out`: Λ, E, W (6 a node each). Returns the node at which it ends.

    What a winch pays out during the step belongs to them: k ṗ h less tension at its end."""
    n = index[i]
    size = 6 * n
    # Λ and E of the whole section
    for j in range(3 * size):
        sums_out[j] = 0.0
    rate = 0.0
    bending = 0.0
    m = begin
    while True:
        l = int(course[STATE * m + NEXT])
        at = STATE * n + SPAN * m
        for j in range(12):
            node = 6 * m + j if j < 6 else 6 * l + j - 6
            speed = V[6 * index[i + HEAD + NODE_INTS * (m if j < 6 else l)] + j % 6]
            sums_out[node] += course[at + GRADIENT + j]
            rate += course[at + GRADIENT + j] * speed
            if exact:
                sums_out[size + node] += course[at + RATE + j]
                bending += course[at + RATE + j] * speed
        m = l
        if l == n - 1 or course[STATE * l + BEGIN] != float(begin):
            break
    end = m
    if course[STATE * begin + MEAN] <= 0.0:
        return end
    # along the section: B = (h c + h² k) Λ Λᵀ + ½ h² c (Λ Eᵀ + E Λᵀ), F = −h k L̇ Λ − ½ h c (Λ E·V + E L̇)
    k = parameters[f + NODE * begin + STIFFNESS]
    c = parameters[f + NODE * begin + DAMPING]
    add_square(n, h * c + h * h * k, sums_out, B_out)
    for x in range(size):
        body = 6 * index[i + HEAD + NODE_INTS * (x // 6)] + x % 6
        F_out[body] -= h * k * (rate - paying) * sums_out[x]
        if exact:
            F_out[body] -= 0.5 * h * c * (bending * sums_out[x] + rate * sums_out[size + x])
            for y in range(size):
                B_out[size * x + y] += 0.5 * h * h * c * (sums_out[x] * sums_out[size + y] + sums_out[size + x] * sums_out[y])
    # across spans: B = h² T H, F = −h T H V; wheels that rub: B = h (ΔT/w) W Wᵀ, W = −Σ G before them + f Λ
    m = begin
    before = 0.0
    while m != end:
        l = int(course[STATE * m + NEXT])
        at = STATE * n + SPAN * m
        tension = course[STATE * m + TENSION]
        numbers = f + NODE * m
        if m != begin and parameters[numbers + FRICTION] > 0.0:
            # W of a wheel that rubs, and the slope of its law
            for x in range(size):
                sums_out[size + x] = sums_out[2 * size + x] + parameters[numbers + SHARE] * sums_out[x]
            power = parameters[numbers + FRICTION] * course[STATE * m + ANGLE]
            slope = chord(tension - before, before, course[STATE * m + SLIP], parameters[numbers + SLIP_SPEED], power)
            add_square(n, h * slope, sums_out[size : 2 * size], B_out)
        for x in range(12):
            node = 6 * m + x if x < 6 else 6 * l + x - 6
            sums_out[2 * size + node] -= course[at + GRADIENT + x]
            turning = 0.0
            for y in range(12):
                other = 6 * m + y if y < 6 else 6 * l + y - 6
                H = course[at + HESSIAN + 12 * x + y]
                B_out[size * node + other] += h * h * tension * H
                turning += H * V[6 * index[i + HEAD + NODE_INTS * (other // 6)] + other % 6]
            F_out[6 * index[i + HEAD + NODE_INTS * (node // 6)] + node % 6] -= h * tension * turning
        before = tension
        m = l
    return end


@device
def add_own_block(body, at, size, B, own_out):
    """The 6×6 block at `at` in B, made symmetric, to a body's own block; twice a coupling of the body with itself comes as both halves."""
    k = OWN * body
    for i in range(3):
        for j in range(i, 3):
            own_out[k] += 0.5 * (B[at + size * i + j] + B[at + size * j + i])
            k += 1
    for i in range(3):
        for j in range(3, 6):
            own_out[k] += 0.5 * (B[at + size * i + j] + B[at + size * j + i])
            k += 1
    for i in range(3, 6):
        for j in range(i, 6):
            own_out[k] += 0.5 * (B[at + size * i + j] + B[at + size * j + i])
            k += 1


@kernel
def add_implicit_pulley_cables(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats, limit: Floats,
    places: Ints, h: float, project: int, F_out: Floats, effort_out: Floats, own_out: Floats, coupling_out: Floats, diagonal_out: Floats,
) -> None:  # fmt: skip
    most = largest_cable(index)
    course = np.empty((STATE + SPAN) * most)
    scratch = np.empty(SCRATCH)
    sums = np.empty(18 * most)
    B = np.empty(36 * most * most)
    i = 0
    f = 0
    pair = 0
    while i < index.size:
        n = index[i]
        size = 6 * n
        fill_course(index, parameters, signals, X, V, q, i, f, 1 if project else 2, course, scratch)
        for j in range(size * size):
            B[j] = 0.0
        # B of the cable over its nodes, section by section
        m = 0
        while m < n - 1:
            paying = signals[index[i + 1] + 1] if m == 0 and index[i + 1] >= 0 else 0.0
            m = add_section(index, parameters, V, i, f, m, paying, course, h, project == 0, sums, F_out, B)
        # blocks of nodes to those of bodies and to couplings
        for m in range(n):
            a = index[i + HEAD + NODE_INTS * m]
            add_own_block(a, 6 * size * m + 6 * m, size, B, own_out)
            for l in range(m + 1, n):
                b = index[i + HEAD + NODE_INTS * l]
                at = 6 * size * m + 6 * l
                if a == b:
                    add_own_block(a, at, size, B, own_out)
                    add_own_block(a, at, size, B, own_out)
                    continue
                place = places[pair]
                pair += 1
                if place >= 0:
                    for x in range(6):
                        for y in range(6):
                            coupling_out[COUPLING * place + 6 * x + y] += B[at + size * x + y]
        i += HEAD + NODE_INTS * n
        f += NODE * n
