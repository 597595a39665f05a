"""Linearly implicit Euler (paper 000, Eq. 2): order 1, stable for stiff springs and dampers.

    a from the linearised forces of the end of the step,     v⁺ = v + h a,     q⁺ = q ⊕ h v⁺

or, of what floats, the same for momenta in axes that do not turn (`coordinates.kick`).

Memory (BEGINNING, then the q and v that the last step began with) keeps how the last step began: the guess of the next solution is the last
a, and what acted over a recorded step can be computed again from where it began. An automatic choice of the linear solution keeps its
countdown there.

Inertial forces are explicit. They do no work by themselves, but a step takes those of its beginning, C(q, v), while masses go on changing:

    M a = f − C,     v̄ = v + h a / 2,     T(q, v⁺) − T(q, v) = h v̄·M a = h v̄·f − h v̄·C

All that forces of any kind (implicit, gravity, multipliers) did is W = h v̄·f; what T(q⁺, v⁺) has beyond T(q, v) + W came from nowhere, and
is of the order of h². Body by body, with J the motion at q, δ = h J a and the wrench w = B J̇v + V ×* B V:  W = Σ (V + δ/2)·(B δ + h w).

So a motion which the steps do not resolve (a whip, a fast spin) creates kinetic energy. A book is kept of it, T − (T at the beginning of
the last step + W) added up, losses not counted beyond the gains before them. Once a step adds more than SUDDEN, or the book holds more than
SHARE, of the largest T that forces explained so far, the next step begins slower, v ← s v, by what the book holds: O(h²) a step, as is the
error. T then stays below (1 + SHARE) times what forces explain, but for the gain of the last step. A motion that is driven
by rows keeps no book.

Rows that hold and do not change with time do no work, though h μ·G v̄ of a step is −h² μ·Ġ v / 2, since they turn: that is left out of W. A
linkage goes round for ever, and what a step gains adds up: where q and v are put onto rows after each step, the book holds no more than
LITTLE. Near a singular configuration rows that are aimed along their curves may push without bound; a step in which they would do more
work than SUDDEN is made again with rows that are not. A step after which rows that held are violated by more than PROJECT_BELOW, from one
step to the next, has failed: it pulled the loop apart.

What limits and planes take when something meets them stands among the work of dampers.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from unibody.algebra.block.sym6 import offset
from unibody.algebra.tree.aba import BODY, RIGID, ROW, C, V
from unibody.arena import part
from unibody.arrays import all_finite
from unibody.coordinates.kick import energy_of_courses, slow_down
from unibody.coordinates.maximal.projection import PROJECT_BELOW
from unibody.coordinates.reduced.kinematics import advance_own
from unibody.coordinates.reduced.products import momentum, twice_kinetic_energy

from unibody.coordinates.reduced.workspace import (  # isort: skip
    APART, BODIES, COUNTDOWN, CURVED, FLAT, IMPLICIT_CHOICE, ITERATIONS, MOVING, ROWS, STATUS, X_SOLVED,
)  # fmt: skip
from unibody.coordinates.stages import EVALUATE_STAGE, KICK_STAGE, PROJECT_STAGE, Evaluate, Kick, Project
from unibody.coordinates.workspace import ARMATURE, COMPLIANCE, DRIFT, GRAVITY, MULTIPLIER, RATE, RESIDUAL, VIOLATION, Y
from unibody.element import DAMPER_POWER
from unibody.kernel import Floats, Ints, cut, device, kernel, long_kernel
from unibody.memory import Field, count
from unibody.rules.base import COMMON, DAMPER_WORK, LAST_STEP, POWER, TIME, WORK, finish_step, ledger_of
from unibody.solvers.redmax.linear import RETRY
from unibody.solvers.redmax.rows import row_of
from unibody.solvers.redmax.workspace import AHEAD, UNILATERAL
from unibody.spatial.triples import crossed
from unibody.triple import fetch, join, plus
from unibody.triple import total as sum_of

BEGINNING = (
    Field("step_length", (), "s", "of the last step, 0 before the first; negative where BDF2 is to start anew after it"),
    count("countdown", "steps until the iterative linear solution is tried again", RETRY),
    count("iterations", "of the linear solution, or corrections of an implicit rule, in the last step"),
    Field("explained", (), "J", "kinetic energy that the forces of the last step lead to"),
    Field("unexplained", (), "J", "the book: kinetic energy that came from nowhere and is not taken out yet"),
    Field("peak", (), "J", "the largest kinetic energy less the book so far"),
    count("curbed", "steps that began slower"),
    Field("taken", (), "J", "kinetic energy that this took out"),
    count("flattened", "whether rows were not aimed along their curves in the last step", 1),
)
STEP_LENGTH, KEPT_COUNTDOWN, KEPT_ITERATIONS, EXPLAINED, UNEXPLAINED, PEAK, CURBED, TAKEN, FLATTENED = COMMON.followed_by(*BEGINNING).at(
    "step_length", "countdown", "iterations", "explained", "unexplained", "peak", "curbed", "taken", "flattened"
)
BEGUN_Q = COMMON.followed_by(*BEGINNING).size
"""Where memory keeps q, and behind it v, that the last step began with."""

SHARE, SUDDEN = 1.0, 0.1
"""Parts of the largest kinetic energy so far that may come from nowhere, in all and in one step. Resolved motions gain some 0.01 a step."""

LITTLE, CREDIT, LARGELY = 2e-3, 2e-2, 0.05
"""For motions on rows, the same part in all, as long as what is taken out is no more than LARGELY of the present kinetic energy: not where
a linkage turns back; at most CREDIT in any case, and in one step. CREDIT of losses counts against later gains, so that what comes and goes
within a turn of a linkage is left alone."""

SLOWEST = 0.999999
"""Part of the kinetic energy that is taken out at most: a direction is left."""

TORN = 4.0
"""A violation beyond PROJECT_BELOW that is this many times that before the step comes from the step."""


@device
def mean_power(before, after):
    """The power of a step whose forces are those of its end: f(v⁺)·(v + v⁺)/2, with f(v⁺)·v as √(f(v)·v f(v⁺)·v⁺), right for one damper.

    The power at the beginning alone would be that of forces which an implicit step does not apply."""
    return 0.5 * (after + (sqrt(before * after) if after > 0.0 else -sqrt(before * after))) if before * after > 0.0 else 0.5 * after


@device
def book_implicit_work(ledger, h, memory_out):
    """Complete the work of the last step and start that of a step of length h."""
    for k in range(3):
        power = ledger[DAMPER_POWER + k]
        memory_out[WORK + k] += memory_out[LAST_STEP] * mean_power(memory_out[POWER + k], power)
        memory_out[POWER + k] = power
    memory_out[LAST_STEP] = h


@kernel
def work_of_step(layout: Ints, ints: Ints, constants: Floats, h: float, v: Floats, work_out: Floats) -> float:
    """W over a step of length h from v with the accelerations just found."""
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    x = part(work_out, layout, X_SOLVED)
    y = part(work_out, layout, Y)
    armature = part(constants, layout, ARMATURE)
    gravity = part(constants, layout, GRAVITY)
    g = join(gravity[0], gravity[1], gravity[2])
    total = 0.0
    for i in range(1, body.size // BODY):
        k = offset(ROW * i)
        at = offset(6 * i)
        o = fetch(rows, k + V)
        l = fetch(rows, k + V + 3)
        a = fetch(x, at)
        b = join(x[at + 3], x[at + 4], x[at + 5])
        # f = B (a + ζ) + V ×* B V; ζ carries −g as well, which is a force
        n, p = momentum(rows, k + RIGID, o, l)
        t, f = momentum(rows, k + RIGID, a + fetch(rows, k + C), (b + fetch(rows, k + C + 3)) + g)
        t = t + (crossed(o, n) + crossed(l, p))
        f = f + crossed(o, p)
        total += h * sum_of(plus((plus(o, 0.5 * h, a)) * t, plus(l, 0.5 * h, b), f))
    for j in range(y.size):
        total += armature[j] * h * y[j] * (v[j] + 0.5 * h * y[j])
    return total


@kernel
def work_of_limits(layout: Ints, ints: Ints, h: float, work_out: Floats) -> float:
    """What unilateral rows do over the step just solved, h μ G (v + v⁺)/2: less than 0 where something meets a limit."""
    unilateral = part(ints, layout, UNILATERAL)
    multiplier = part(work_out, layout, MULTIPLIER)
    x = part(work_out, layout, X_SOLVED)
    y = part(work_out, layout, Y)
    total = 0.0
    for r in range(unilateral.size):
        if unilateral[r] != 0 and multiplier[r] != 0.0:
            rate = part(work_out, layout, RATE)[r] - part(work_out, layout, DRIFT)[r]
            total += h * multiplier[r] * (rate + 0.5 * h * row_of(layout, ints, r, x, y, work_out))
    return total


@kernel
def work_of_rows(layout: Ints, ints: Ints, constants: Floats, h: float, work_out: Floats) -> float:
    """What rows that hold both ways, do not give and do not change with time would do over the step just solved, if they did not turn:
    h μ G (v + v⁺)/2."""
    drift = part(work_out, layout, DRIFT)
    residual = part(work_out, layout, RESIDUAL)
    ahead = part(work_out, layout, AHEAD)
    unilateral = part(ints, layout, UNILATERAL)
    compliance = part(constants, layout, COMPLIANCE)
    multiplier = part(work_out, layout, MULTIPLIER)
    x = part(work_out, layout, X_SOLVED)
    y = part(work_out, layout, Y)
    total = 0.0
    for r in range(unilateral.size):
        still = drift[r] == 0.0 and ahead[r] == residual[r]
        if unilateral[r] == 0 and compliance[r] == 0.0 and multiplier[r] != 0.0 and still:
            total += h * multiplier[r] * (part(work_out, layout, RATE)[r] + 0.5 * h * row_of(layout, ints, r, x, y, work_out))
    return total


@device
def slower(energy, last, driven, curved, memory):
    """At the beginning of a step: the kinetic energy that is to be taken out, 0 for none, and what the book holds otherwise."""
    gain = energy - memory[EXPLAINED] if last > 0.0 and not driven else 0.0
    # a loss at once is an impact, which nothing later may draw on
    unexplained = max(-CREDIT * memory[PEAK] if curved and gain > -CREDIT * memory[PEAK] else 0.0, memory[UNEXPLAINED] + gain)
    peak = max(memory[PEAK], energy - max(0.0, unexplained))
    little = curved and unexplained > LITTLE * peak and unexplained < LARGELY * energy
    sudden = gain > (CREDIT if curved else SUDDEN) * peak
    if energy > 0.0 and (sudden or unexplained > (CREDIT if curved else SHARE) * peak or little):
        return max(gain, unexplained) if sudden else unexplained, 0.0
    return 0.0, 0.0 if driven else unexplained


@device
def largest_bilateral(unilateral, violation):
    """The largest violation of rows that hold both ways, −1 where there are none."""
    largest = -1.0
    for r in range(violation.size):
        if unilateral[r] == 0:
            largest = max(largest, abs(violation[r]))
    return largest


@device
def torn_row(unilateral, violation, most):
    """1 + the row that holds both ways and is violated most, if by more than `most`; else 0."""
    found = 0.0
    for r in range(violation.size):
        if unilateral[r] == 0 and not abs(violation[r]) <= most:
            found = 1.0 + r
            most = abs(violation[r])
    return found


@kernel
def is_driven(layout: Ints, work: Floats) -> bool:
    """Whether some row changes with time."""
    drift = part(work, layout, DRIFT)
    residual = part(work, layout, RESIDUAL)
    ahead = part(work, layout, AHEAD)
    for r in range(drift.size):
        if drift[r] != 0.0 or ahead[r] != residual[r]:
            return True
    return False


@kernel
def step_linearly_implicit(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, h: float, explicit: int, work_out: Floats,
    before_out: Floats, q_out: Floats, v_out: Floats, memory_out: Floats,
) -> bool:  # fmt: skip
    """One step; false if its accelerations are not finite, with q, v and memory as they were, or if it pulled rows apart (APART), when
    these are the caller's to put back. `before_out`: as many numbers as Y has."""
    y = part(work_out, layout, Y)
    first_v = BEGUN_Q + q_out.size
    status = part(work_out, layout, STATUS)
    last = memory_out[STEP_LENGTH]
    status[FLAT] = 0.0
    status[APART] = 0.0
    # a by Eq. 2, from the acceleration of the last step as a guess
    for j in range(y.size):
        y[j] = (v_out[j] - memory_out[first_v + j]) / last if last > 0.0 else 0.0
    Evaluate(stages[EVALUATE_STAGE], layout, ints, constants, stages, control, t, work_out, q_out, v_out)
    if not (all_finite(y) and all_finite(v_out)):
        return False
    # kinetic energy, the work that forces do on it, and what rows that turn do beyond that
    violation = part(work_out, layout, VIOLATION)
    curved = part(constants, layout, IMPLICIT_CHOICE)[CURVED] > 0.0
    violated = largest_bilateral(part(ints, layout, UNILATERAL), violation) if curved else -1.0
    curved = 0.0 <= violated < PROJECT_BELOW
    energy = 0.5 * twice_kinetic_energy(layout, ints, constants, v_out, work_out) if explicit == 0 or curved else 0.0
    work = work_of_step(layout, ints, constants, h, v_out, work_out) if explicit == 0 or curved else 0.0
    turning = curved and energy > 0.0  # from rest, rows do not turn: what they do assembles a start
    spurious = work_of_rows(layout, ints, constants, h, work_out) if turning else 0.0
    status[MOVING] = 2.0 * max(energy, energy + work)
    if turning and not abs(spurious) <= SUDDEN * max(memory_out[PEAK], max(energy, energy + work)):
        # the rows turn too fast to be aimed at: hold them at the velocity level
        status[FLAT] = 1.0
        for j in range(y.size):
            y[j] = 0.0
        Evaluate(stages[EVALUATE_STAGE], layout, ints, constants, stages, control, t, work_out, q_out, v_out)
        if not all_finite(y):
            return False
        spurious = work_of_rows(layout, ints, constants, h, work_out)
        work = work_of_step(layout, ints, constants, h, v_out, work_out)
    # kinetic energy that no force explains: what there is of it, or a slower beginning without it
    if explicit == 0:
        take, unexplained = slower(energy, last, is_driven(layout, work_out), curved, memory_out)
        if take > 0.0:
            # not from the courses of what floats, whose momenta no error here has changed
            loose = max(0.0, energy - energy_of_courses(layout, ints, constants, v_out, work_out))
            unexplained = max(0.0, take - SLOWEST * loose)
            take = min(take, SLOWEST * loose)
            for j in range(y.size):
                before_out[j] = v_out[j]
                y[j] = 0.0
            slow_down(layout, ints, constants, sqrt(1.0 - take / loose) if loose > 0.0 else 1.0, work_out, q_out, v_out)
            Evaluate(stages[EVALUATE_STAGE], layout, ints, constants, stages, control, t, work_out, q_out, v_out)
            if not all_finite(y):
                for j in range(y.size):
                    v_out[j] = before_out[j]
                return False
            memory_out[CURBED] += 1.0
            memory_out[TAKEN] += take
            energy -= take
            spurious = work_of_rows(layout, ints, constants, h, work_out) if turning else 0.0
            work = work_of_step(layout, ints, constants, h, v_out, work_out)
        memory_out[UNEXPLAINED] = unexplained
        memory_out[PEAK] = max(memory_out[PEAK], energy - max(0.0, unexplained))
        memory_out[EXPLAINED] = energy + work - spurious
    # memory: work, how the step began and how it was solved
    book_implicit_work(ledger_of(layout, work_out), h, memory_out)
    memory_out[DAMPER_WORK] += work_of_limits(layout, ints, h, work_out)
    memory_out[STEP_LENGTH] = h
    memory_out[KEPT_COUNTDOWN] = status[COUNTDOWN]
    memory_out[KEPT_ITERATIONS] = status[ITERATIONS]
    memory_out[FLATTENED] = status[FLAT]
    for j in range(q_out.size):
        memory_out[BEGUN_Q + j] = q_out[j]
    for j in range(v_out.size):
        memory_out[first_v + j] = v_out[j]
    # v⁺ = v + h a, q⁺ = q ⊕ h v⁺; then onto the rows, which must not have come apart
    if stages[KICK_STAGE] != 0:
        Kick(stages[KICK_STAGE], layout, ints, constants, h, work_out, q_out, v_out)
    else:
        for j in range(y.size):
            v_out[j] += h * y[j]
        advance_own(layout, ints, constants, q_out, v_out, h, q_out)
    if stages[PROJECT_STAGE] != 0:
        Project(stages[PROJECT_STAGE], layout, ints, constants, stages, control, t + h, work_out, q_out, v_out)
        if curved:
            status[APART] = torn_row(part(ints, layout, UNILATERAL), violation, max(PROJECT_BELOW, TORN * violated))
            if status[APART] > 0.0:
                return False
    status[FLAT] = 0.0
    memory_out[TIME] = t + h
    return True


@long_kernel
def roll_linearly_implicit(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t0: float, h: float, steps: int, every: int, explicit: int,
    work_out: Floats, scratch_out: Floats, q_out: Floats, v_out: Floats, memory_out: Floats, record_out: Floats,
) -> int:  # fmt: skip
    """Take steps; returns how many succeeded. A step whose accelerations are not finite, or that pulls rows apart, leaves q, v and memory
    as they were. `explicit`: no book is kept."""
    # arrays that count no references: each count is a locked instruction, and a step of a small mechanism would make dozens
    lent_layout, lent_ints, lent_constants = cut(layout, 0, layout.size), cut(ints, 0, ints.size), cut(constants, 0, constants.size)
    lent_stages, lent_control, work = cut(stages, 0, stages.size), cut(control, 0, control.size), cut(work_out, 0, work_out.size)
    q, v, memory = cut(q_out, 0, q_out.size), cut(v_out, 0, v_out.size), cut(memory_out, 0, memory_out.size)
    status = part(work, lent_layout, STATUS)
    status[COUNTDOWN] = memory[KEPT_COUNTDOWN]
    room = np.empty(part(work, lent_layout, Y).size)
    before = cut(room, 0, room.size)
    projected = stages[PROJECT_STAGE] != 0
    nq, nv = q_out.size, v_out.size
    kept = np.empty(nq + nv + memory_out.size if projected else 0)
    t = t0
    for k in range(steps):
        if projected:
            kept[:nq] = q_out
            kept[nq : nq + nv] = v_out
            kept[nq + nv :] = memory_out
        if not step_linearly_implicit(
            lent_layout, lent_ints, lent_constants, lent_stages, lent_control, t, h, explicit, work, before, q, v, memory
        ):  # fmt: skip
            if projected and status[APART] > 0.0:
                q_out[:] = kept[:nq]
                v_out[:] = kept[nq : nq + nv]
                memory_out[:] = kept[nq + nv :]
            return k
        t = t + h
        if finish_step(lent_layout, k, every, t, q, v, work, memory, record_out):
            return k + 1
    return steps
