"""The joints as they will be: maximal coordinates seen at the end of a step, and impulses that close what is open there.

    d = C(q⁺),     G y = −d / h²,  M y = Gᵀ λ     (Δv = h y closes d within h, were all motion straight),     v̇ ← v̇ + y

With G of the step's beginning one factorisation is enough, and impulses are internal there: momenta stay to round-off. But what is
linearised differs from what happens by the turns of bodies against each other, h ω, times the condition of G M⁻¹ Gᵀ: near singular
configurations and in long fast chains that is more than one. With G of the preview itself it is h ω / 2, whatever the condition.
"""

from __future__ import annotations

from math import cos, sin

from unibody.arena import part
from unibody.coordinates.kick import NODE_NUMBERS
from unibody.coordinates.maximal.dynamics import PLANE_NUMBERS, fill_node_rows, see_bodies_and_rows
from unibody.coordinates.maximal.projection import aim_rows
from unibody.coordinates.maximal.workspace import NODE_BODY, NODE_F, PLANES, SAVED_Y
from unibody.coordinates.signals import FillSignals
from unibody.coordinates.stages import AGAIN_STAGE, CLOSE_STAGE, SIGNAL_STAGE, Stage
from unibody.coordinates.workspace import COMPLIANCE, COUNTS, NODE_CONSTANTS, PRIMARY, RATE, RESIDUAL, SIGNALS, WIDTH
from unibody.coordinates.workspace import Y as Y_SLOT
from unibody.kernel import Floats, Ints, device, kernel

from unibody.spatial.devices import (  # isort: skip
    add3, cross, dot3, load3, load6, rotate, rotate_back, rotation_of_quaternion, store3, sub3, times_symmetric,
)  # fmt: skip


@device
def widest(values, first, compliance):
    """The row with the largest value, rows with compliance apart, and that value; −1 and what is not a number, if one is none."""
    at = 0
    largest = 0.0
    for r in range(values.size):
        if r < first or compliance[r - first] == 0.0:
            if not abs(values[r]) < 1e300:
                return r, values[r]
            if abs(values[r]) > largest:
                largest = abs(values[r])
                at = r
    return at, largest


@kernel
def see_ahead(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, t: float, work_out: Floats, q_out: Floats, v_out: Floats, found_out: Floats
) -> None:
    """All rows at (t, q, v); found_out: the largest |C| with its row, the largest |Ċ| with its row."""
    if stages[SIGNAL_STAGE] != 0:
        FillSignals(stages[SIGNAL_STAGE], t, part(work_out, layout, SIGNALS))
    first = part(ints, layout, COUNTS)[PRIMARY]
    compliance = part(constants, layout, COMPLIANCE)
    see_bodies_and_rows(layout, ints, constants, False, work_out, q_out, v_out)
    row, largest = widest(part(work_out, layout, RESIDUAL), first, compliance)
    found_out[0] = largest
    found_out[1] = row
    row, largest = widest(part(work_out, layout, RATE), first, compliance)
    found_out[2] = largest
    found_out[3] = row


@kernel
def carry_back(layout: Ints, ints: Ints, constants: Floats, q: Floats, q_ahead: Floats, work_out: Floats) -> None:
    """Accelerations (slot Y) in the axes of bodies at q_ahead as those at q, of the same forces and torques in the world."""
    bodies = part(ints, layout, NODE_BODY)
    numbers = part(constants, layout, NODE_CONSTANTS)
    planes = part(constants, layout, PLANES)
    spatial = part(ints, layout, COUNTS)[WIDTH] == 6
    y = part(work_out, layout, Y_SLOT)
    for k in range(bodies.size // 2):
        m = bodies[2 * k + 1]
        at = NODE_NUMBERS * k
        c = load3(numbers, at + 1)
        if spatial:
            R = rotation_of_quaternion(q[7 * m + 3], q[7 * m + 4], q[7 * m + 5], q[7 * m + 6])
            S = rotation_of_quaternion(q_ahead[7 * m + 3], q_ahead[7 * m + 4], q_ahead[7 * m + 5], q_ahead[7 * m + 6])
            o = load3(y, 6 * m)
            pull = rotate_back(R, rotate(S, add3(load3(y, 6 * m + 3), cross(o, c))))
            o = times_symmetric(load6(numbers, at + 10), rotate_back(R, rotate(S, times_symmetric(load6(numbers, at + 4), o))))
            store3(o, 6 * m, y)
            store3(sub3(pull, cross(o, c)), 6 * m + 3, y)
        else:
            p = PLANE_NUMBERS * bodies[2 * k]
            c1 = dot3(load3(planes, p + 3), c)
            c2 = dot3(load3(planes, p + 6), c)
            turn = q_ahead[3 * m + 2] - q[3 * m + 2]
            a1 = y[3 * m + 1] - y[3 * m] * c2
            a2 = y[3 * m + 2] + y[3 * m] * c1
            y[3 * m + 1] = cos(turn) * a1 - sin(turn) * a2 + y[3 * m] * c2
            y[3 * m + 2] = sin(turn) * a1 + cos(turn) * a2 - y[3 * m] * c1


@kernel
def push_back(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, h: float, anew: int, q: Floats, work_out: Floats,
    q_out: Floats, v_out: Floats,
) -> None:  # fmt: skip
    """Correct the accelerations (slot Y) by impulses for the rows as they were seen, with the factors of the step's beginning, at q, or,
    if `anew`, with those of the preview, at q_out."""
    y = part(work_out, layout, Y_SLOT)
    saved = part(work_out, layout, SAVED_Y)
    f = part(work_out, layout, NODE_F)
    for j in range(y.size):
        saved[j] = y[j]
        f[j] = 0.0
    if anew == 1:
        fill_node_rows(layout, ints, constants, work_out)
    aim_rows(layout, ints, constants, 1.0 / (h * h), part(work_out, layout, RESIDUAL), work_out)
    Stage(stages[CLOSE_STAGE if anew == 1 else AGAIN_STAGE], layout, ints, constants, control, work_out, q_out, v_out)
    if anew == 1:
        carry_back(layout, ints, constants, q, q_out, work_out)
    for j in range(y.size):
        y[j] += saved[j]
