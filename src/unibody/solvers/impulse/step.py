"""Impulse-based simulation (paper 002 §3.2.1): a preview of the joints decides the impulses, again and again until they hold.

    preview      P⁺ = P + h f + p,  L⁺ likewise, each body by itself;  q⁺ along the new velocities
    impulses     J M⁻¹ Jᵀ Δp = −d / h,   d = C(q⁺)             until |d| ≤ tolerance: C(q⁺) = 0 and nothing drifts
    velocities   J⁺ M⁻¹ J⁺ᵀ Δp = −Ċ⁺  at q⁺                    so that joints hold there too

Impulses act along J at the beginning of the step, corrections of velocities at its end: order 1, momenta kept to round-off. Where d does
not become SHRINK times as large from preview to preview, J of the preview takes over (see `stepping.predicted_rows`). The first preview is
that of straight motion, C + h Ċ + h² C̈; then bodies really fly. With sweeps (one joint after the other) both loops go on until the
tolerance is met; solved together, velocities settle at once.

Memory keeps PREVIEW_FACTS of the last step.
"""

from __future__ import annotations

from unibody.arena import part
from unibody.arrays import all_finite
from unibody.coordinates.maximal.projection import settle_velocities
from unibody.coordinates.stages import EVALUATE_STAGE, KICK_STAGE, Evaluate, Kick
from unibody.coordinates.workspace import Y
from unibody.kernel import Floats, Ints, device, kernel, long_kernel
from unibody.memory import Field, count
from unibody.rules.base import COMMON, book_work, finish_step, ledger_of
from unibody.stepping.predicted_rows import push_back, see_ahead

PREVIEW_FACTS = (
    count("previews", "in the last step"),
    Field("left", (), "m, rad", "the largest |d| that they left", low=0.0, infinite=True),
    Field("left_rate", (), "m/s, rad/s", "the largest rate |Ċ| that was left", low=0.0, infinite=True),
)
PREVIEWS, LEFT, LEFT_RATE = COMMON.followed_by(*PREVIEW_FACTS).at("previews", "left", "left_rate")
"""Where joints alone keep them."""

CHOICES = 8
"""Numbers before the copy of q and v in the scratch: the tolerance, the most previews, whether velocities settle at once; then of a step
that failed: what went wrong, the row, by how much, and what `see_ahead` found (its first two numbers stand for positions)."""
TOLERANCE, LIMIT, DIRECT, WRONG, WHERE, BY = range(6)
FOUND = CHOICES

NOT_FINITE, NOT_REACHED, NOT_SETTLED = 1, 2, 3

SHRINK = 0.3


def scratch_size(nq: int, nv: int) -> int:
    """Numbers of scratch."""
    return CHOICES + 4 + nq + nv


@device
def restore(scratch, q_out, v_out):
    """q and v as the step found them."""
    at = CHOICES + 4
    for j in range(q_out.size):
        q_out[j] = scratch[at + j]
    at += q_out.size
    for j in range(v_out.size):
        v_out[j] = scratch[at + j]


@kernel
def step_by_impulses(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, h: float, work_out: Floats, scratch_out: Floats,
    q_out: Floats, v_out: Floats, memory_out: Floats,
) -> int:  # fmt: skip
    """One step from accelerations that were just evaluated: 0, or what went wrong; q and v are then as they were."""
    # how it began, for previews that are made again
    found = scratch_out[FOUND : FOUND + 4]
    at = CHOICES + 4
    for j in range(q_out.size):
        scratch_out[at + j] = q_out[j]
    at += q_out.size
    for j in range(v_out.size):
        scratch_out[at + j] = v_out[j]
    tolerance = scratch_out[TOLERANCE]
    limit = int(scratch_out[LIMIT])
    previews = 0
    anew = 0
    before = 1e300
    # preview: every body by itself to the end of the step; impulses until no joint is open there
    while True:
        Kick(stages[KICK_STAGE], layout, ints, constants, h, work_out, q_out, v_out)
        see_ahead(layout, ints, constants, stages, t + h, work_out, q_out, v_out, found)
        previews += 1
        if found[0] <= tolerance:
            break
        if previews >= limit or not found[0] < 1e300:
            scratch_out[WHERE] = found[1]
            scratch_out[BY] = found[0]
            restore(scratch_out, q_out, v_out)
            return NOT_REACHED if found[0] < 1e300 else NOT_FINITE
        if scratch_out[DIRECT] != 0.0 and found[0] > SHRINK * before:
            anew = 1
        before = found[0]
        push_back(layout, ints, constants, stages, control, h, anew, scratch_out[CHOICES + 4 :], work_out, q_out, v_out)
        restore(scratch_out, q_out, v_out)
    memory_out[PREVIEWS] = previews
    memory_out[LEFT] = found[0]
    # velocities onto the rows where the step ended
    settle_velocities(layout, ints, constants, stages, control, 0, work_out, q_out, v_out)
    see_ahead(layout, ints, constants, stages, t + h, work_out, q_out, v_out, found)
    rounds = 0
    while scratch_out[DIRECT] == 0.0 and not found[2] <= tolerance / h:
        rounds += 1
        if rounds >= limit or not found[2] < 1e300:
            scratch_out[WHERE] = found[3]
            scratch_out[BY] = found[2]
            restore(scratch_out, q_out, v_out)
            return NOT_SETTLED
        settle_velocities(layout, ints, constants, stages, control, 1, work_out, q_out, v_out)
        see_ahead(layout, ints, constants, stages, t + h, work_out, q_out, v_out, found)
    memory_out[LEFT_RATE] = found[2]
    return 0


@long_kernel
def roll_impulses(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t0: float, h: float, steps: int, every: int, explicit: int,
    work_out: Floats, scratch_out: Floats, q_out: Floats, v_out: Floats, memory_out: Floats, record_out: Floats,
) -> int:  # fmt: skip
    """Take steps; returns how many succeeded. A step that fails leaves q and v as they were, and says why in the scratch."""
    y = part(work_out, layout, Y)
    ledger = ledger_of(layout, work_out)
    t = t0
    scratch_out[WRONG] = 0.0
    for k in range(steps):
        Evaluate(stages[EVALUATE_STAGE], layout, ints, constants, stages, control, t, work_out, q_out, v_out)
        if not (all_finite(y) and all_finite(v_out)):
            scratch_out[WRONG] = NOT_FINITE
            return k
        wrong = step_by_impulses(layout, ints, constants, stages, control, t, h, work_out, scratch_out, q_out, v_out, memory_out)
        if wrong != 0:
            scratch_out[WRONG] = wrong
            return k
        book_work(ledger, h, memory_out)
        t = t + h
        if finish_step(layout, k, every, t, q_out, v_out, work_out, memory_out, record_out):
            return k + 1
    return steps
