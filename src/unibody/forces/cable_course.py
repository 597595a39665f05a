"""The course of a cable over points and wheels at an instant: which wheels it touches, its spans, and the tension in each.

Spans (`cable_spans`) follow each other; a wheel between two of them adds the arc r θ, θ = s (φ_leave − φ_arrive). A wheel around which
the cable would turn the other way, θ < 0, is left, in its plane: the cable goes straight past it. Poses tell θ but for whole turns, so it
is taken from a window of one turn about the start (`cable_start`); near its edges, and where a span has no tangent, a taut cable has no
tension that one could trust: it is NaN, and the step fails. A wheel that grips is never left, and counts its turns: there a section ends
and another begins, whose lengths are counted to a mark on the wheel, so that its turning feeds one and takes from the other. Of a section

    L = Σ ℓ + Σ r θ (+ s r φ to a mark),  stretch = L − L₀ − p(t),   T = max(0, k stretch + c (L̇ − ṗ)) while stretch > 0, else 0

with p what a winch has paid out into the first section. One T rules all along it, unless wheels rub: the cable slides over the surface of
wheel j at the speed (forward, from the first point to the last; f_j is the share of the rest length before it)

    w_j = −Σ_{i<j} λ̇_i + f_j (L̇ − ṗ) + ṗ  =  W_j·V + (1 − f_j) ṗ
    T_j = T_{j−1} exp(μ_j θ_j tanh(w_j / ε))     (Euler and Eytelwein's capstan equation; below a few ε what sticks creeps)

while Σ (f_{i+1} − f_i) T_i = T, the mean that the stretch asks for. Then Σ T_i λ̇_i = T L̇ + Σ w_j ΔT_j for ṗ = 0: friction takes
w_j ΔT_j ≥ 0, no more and no less.

Tables, per cable: `index`: n, the slot of p and ṗ in `signals` (−1: no winch), then 4 a node: body, side s (0: a point), grip (the sense
±1 of its joint about the axis; 0: none), q index of that joint. `parameters`: NODE a node, see below.
Course: STATE numbers a node, then SPAN a node for the span that begins there.
"""

from __future__ import annotations

from math import exp, floor, nan, pi, tanh

from unibody.forces.cable_spans import (
    FIRST_ANGLE,
    FIRST_AT,
    GRADIENT,
    LENGTH,
    MISSED,
    SECOND_ANGLE,
    SECOND_AT,
    SPAN,
    TANGENT,
    end_frame,
    fill_span,
)
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, dot3, load3, scale3, sub3

RADIUS, FRICTION, SLIP_SPEED, SHARE, ARRIVED, LEFT, TURNED, WINDOW, STIFFNESS, DAMPING, REST = range(9, 20)
NODE = 20
"""Numbers of a node: c 3, a 3, x 3, r, μ, ε, f, then of a wheel that grips φ_arrive, φ_leave and q at the start; the lowest θ; k, c
and L₀ of the section that begins here."""
HEAD, NODE_INTS = 2, 4
NEXT, ANGLE, SLIP, TENSION, STRETCH, STRETCH_RATE, BEGIN, MEAN, TURN = range(9)
BLIND = 0.26
"""So near to the edges of its window θ is not trusted [rad]: fifteen degrees, more than a step should turn a cable."""
ROUNDED = 1e-12
"""Of its length: a cable that starts with the length that it has is slack by as much as round-off leaves, in any units."""
GROOVE = 0.01
"""A wheel is left only where the cable would pass it this near to its plane, in radii: from farther away a groove keeps it (θ < 0 then)."""
STATE = 9
"""Numbers of a node in a course: the node at which its span ends (−1: none begins here), θ, w, T of that span; of the section that
begins here: stretch, its rate; the node at which the section of its span begins; mean tension of that section; θ as the tangents
say it, also of a wheel that is left."""


@device
def node_span(index, parameters, X, V, i, f, m, l, exact, with_hessian, at, course_out, scratch_out):
    """The span from node m to node l."""
    a = i + HEAD + NODE_INTS * m
    b = i + HEAD + NODE_INTS * l
    fill_span(
        X, V, index[a], f + NODE * m, float(index[a + 1]), index[b], f + NODE * l, float(index[b + 1]), parameters, exact, with_hessian,
        at, course_out, scratch_out,
    )  # fmt: skip


@device
def arc_angle(side, arrived, left, lowest):
    """θ in the turn that begins at the lowest."""
    angle = side * (left - arrived) - lowest
    return angle - 2.0 * pi * floor(angle / (2.0 * pi)) + lowest


@device
def trusted(turn, lowest):
    """Whether θ is far enough from where a turn more and none look alike."""
    return turn - lowest > BLIND and lowest + 2.0 * pi - turn > BLIND


@device
def counted_angle(angle, start, turned):
    """An angle on a wheel that has turned by so much since it stood at `start`, with whole turns."""
    return angle + 2.0 * pi * floor((start - turned - angle) / (2.0 * pi) + 0.5)


@device
def passes_in_plane(index, parameters, X, i, f, before, m, course):
    """Whether the line past a wheel, from where the cable leaves the one before to where it arrives next, runs in its groove."""
    spans = STATE * index[i]
    P = load3(course, spans + SPAN * before + FIRST_AT)
    d = sub3(load3(course, spans + SPAN * m + SECOND_AT), P)
    numbers = f + NODE * m
    c, a, x, y = end_frame(X, index[i + HEAD + NODE_INTS * m], numbers, parameters)
    along, up = dot3(d, x), dot3(d, y)
    flat = along * along + up * up
    part = (along * dot3(sub3(c, P), x) + up * dot3(sub3(c, P), y)) / flat if flat > 0.0 else 0.0
    nearest = add3(sub3(P, c), scale3(part, d))
    return abs(dot3(nearest, a)) <= GROOVE * parameters[numbers + RADIUS]


@device
def span_rate(index, V, i, m, l, at, course):
    """λ̇ of the span from node m to l, at `at` in the course."""
    a = 6 * index[i + HEAD + NODE_INTS * m]
    b = 6 * index[i + HEAD + NODE_INTS * l]
    rate = 0.0
    for j in range(6):
        rate += course[at + GRADIENT + j] * V[a + j] + course[at + GRADIENT + 6 + j] * V[b + j]
    return rate


@device
def fill_course(index, parameters, signals, X, V, q, i, f, level, course_out, scratch_out):
    """All of one cable, at i in `index` and f in `parameters`. Level 0: without Hessians, 1: projected ones, 2: exact, with rates; below 0:
    at the start, where every θ is trusted."""
    n = index[i]
    spans = STATE * n
    for m in range(n):
        for j in range(STATE):
            course_out[STATE * m + j] = 0.0
        course_out[STATE * m + TURN] = parameters[f + NODE * m + WINDOW] + pi
        course_out[STATE * m + NEXT] = float(m + 1) if m < n - 1 else -1.0
    # spans, and wheels left until none is that touches
    searching = True
    while searching:
        searching = False
        before = -1
        m = 0
        while m >= 0:
            l = int(course_out[STATE * m + NEXT])
            if l >= 0:
                node_span(index, parameters, X, V, i, f, m, l, False, False, spans + SPAN * m, course_out, scratch_out)
            side = index[i + HEAD + NODE_INTS * m + 1]
            if side != 0 and l >= 0 and before >= 0:
                lowest = parameters[f + NODE * m + WINDOW]
                arrived = course_out[spans + SPAN * before + SECOND_ANGLE]
                theta = arc_angle(side, arrived, course_out[spans + SPAN * m + FIRST_ANGLE], lowest)
                course_out[STATE * m + ANGLE] = theta
                course_out[STATE * m + TURN] = theta
                if theta < 0.0 and index[i + HEAD + NODE_INTS * m + 2] == 0 and passes_in_plane(
                    index, parameters, X, i, f, before, m, course_out
                ):
                    course_out[STATE * before + NEXT] = float(l)
                    course_out[STATE * m + NEXT] = -1.0
                    course_out[STATE * m + ANGLE] = 0.0
                    searching = True
                    break
            before = m
            m = l
    # derivatives of what is left
    if level > 0:
        m = 0
        while m >= 0:
            l = int(course_out[STATE * m + NEXT])
            if l >= 0:
                node_span(index, parameters, X, V, i, f, m, l, level == 2, True, spans + SPAN * m, course_out, scratch_out)
            m = l
    # is every θ one to be trusted, and every span a tangent?
    known = True
    for m in range(n):
        spanned = course_out[STATE * m + NEXT] >= 0.0
        known = known and not (spanned and level >= 0 and course_out[spans + SPAN * m + MISSED] > TANGENT)
        free = index[i + HEAD + NODE_INTS * m + 1] != 0 and index[i + HEAD + NODE_INTS * m + 2] == 0
        known = known and not (free and level >= 0 and not trusted(course_out[STATE * m + TURN], parameters[f + NODE * m + WINDOW]))
    # tensions, section by section
    m = 0
    while m >= 0 and m < n - 1:
        m = fill_section(index, parameters, signals, V, q, i, f, m, known, course_out)


@device
def fill_section(index, parameters, signals, V, q, i, f, begin, known, course_out):
    """Stretch and tensions of the section that begins at a node, NaN if it is taut and its course unknown; returns the node at which it
    ends."""
    n = index[i]
    spans = STATE * n
    # L and L̇; ends on wheels that grip are counted to the wheel's mark
    L = 0.0
    rate = 0.0
    m = begin
    while True:
        l = int(course_out[STATE * m + NEXT])
        at = spans + SPAN * m
        L += course_out[at + LENGTH]
        rate += span_rate(index, V, i, m, l, at, course_out)
        course_out[STATE * m + BEGIN] = float(begin)
        ints = i + HEAD + NODE_INTS * m
        grip = index[ints + 2]
        numbers = f + NODE * m
        if m == begin and grip != 0:
            turned = grip * (q[index[ints + 3]] - parameters[numbers + TURNED])
            L += index[ints + 1] * parameters[numbers + RADIUS] * counted_angle(
                course_out[at + FIRST_ANGLE], parameters[numbers + LEFT], turned)  # fmt: skip
        ints = i + HEAD + NODE_INTS * l
        grip = index[ints + 2]
        numbers = f + NODE * l
        m = l
        if grip != 0:
            turned = grip * (q[index[ints + 3]] - parameters[numbers + TURNED])
            L -= index[ints + 1] * parameters[numbers + RADIUS] * counted_angle(
                course_out[at + SECOND_ANGLE], parameters[numbers + ARRIVED], turned)  # fmt: skip
        elif l < n - 1:
            L += parameters[numbers + RADIUS] * course_out[STATE * l + ANGLE]
        if grip != 0 or l == n - 1:
            break
    end = m
    # the mean tension
    paid = 0.0
    paying = 0.0
    if begin == 0 and index[i + 1] >= 0:
        paid = signals[index[i + 1]]
        paying = signals[index[i + 1] + 1]
    numbers = f + NODE * begin
    stretch = L - parameters[numbers + REST] - paid
    mean = 0.0
    if stretch > ROUNDED * L:
        mean = max(0.0, parameters[numbers + STIFFNESS] * stretch + parameters[numbers + DAMPING] * (rate - paying)) if known else nan
    course_out[STATE * begin + STRETCH] = stretch
    course_out[STATE * begin + STRETCH_RATE] = rate - paying
    # ratios to the first span, and their mean
    ratio = 1.0
    total = 0.0
    share = 0.0
    gone = 0.0
    m = begin
    while m != end:
        l = int(course_out[STATE * m + NEXT])
        numbers = f + NODE * m
        mu = parameters[numbers + FRICTION]
        if m != begin and mu > 0.0:
            slip = paying - gone + parameters[numbers + SHARE] * (rate - paying)
            course_out[STATE * m + SLIP] = slip
            ratio *= exp(mu * course_out[STATE * m + ANGLE] * tanh(slip / parameters[numbers + SLIP_SPEED]))
        course_out[STATE * m + TENSION] = ratio
        ahead = 1.0 if l == end else parameters[f + NODE * l + SHARE]
        total += (ahead - share) * ratio
        share = ahead
        gone += span_rate(index, V, i, m, l, spans + SPAN * m, course_out)
        m = l
    # tensions, so that their mean is that of the section
    m = begin
    while m != end:
        course_out[STATE * m + TENSION] *= mean / total
        course_out[STATE * m + MEAN] = mean
        m = int(course_out[STATE * m + NEXT])
    return end


@kernel
def fill_one_course(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, level: int, course_out: Floats, scratch_out: Floats
) -> None:
    """The course of the one cable in the tables."""
    fill_course(index, parameters, signals, X, V, q, 0, 0, level, course_out, scratch_out)
