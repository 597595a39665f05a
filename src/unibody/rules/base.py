"""What all time rules share: the call of a system, the ledger of work, records, and the check that numbers are numbers.

A system is evaluated through an address: (t, q, v) in, accelerations in its slot Y out. `q` and `v` hold the system's own coordinates
first, then coordinates of joints that are only fitted; only the former move. Memory (MEMORY numbers, then what a rule adds):

    0–2  work done on the bodies by dampers, motors, applied wrenches up to the start of the last step [J]
    3–5  their power there [W]
    6    length of the last step [s]; the work of the last step is completed by the trapezoidal rule when it is observed
    7    the time [s], summed step by step so that a rollout and single steps agree to the last bit
"""

from __future__ import annotations

from unibody.arena import part
from unibody.coordinates.reduced.kinematics import advance_joints, rate_joints
from unibody.coordinates.stages import Evaluate
from unibody.coordinates.workspace import CLASSES, INDEX, LEDGER, PARAMETERS, SPEED_LIMIT
from unibody.element import DAMPER_POWER
from unibody.kernel import Floats, Ints, device, kernel

MEMORY = 8
LAST_STEP, TIME = 6, 7


@kernel
def advance_own(layout: Ints, ints: Ints, constants: Floats, q: Floats, v: Floats, h: float, q_out: Floats) -> None:
    """The system's own q moved along v for h (q and q_out may be the same array)."""
    advance_joints(part(ints, layout, CLASSES), part(ints, layout, INDEX), part(constants, layout, PARAMETERS), q, v, h, q_out)


@kernel
def rate_own(layout: Ints, ints: Ints, constants: Floats, q: Floats, v: Floats, qdot_out: Floats) -> None:
    """The time derivative of the system's own q."""
    rate_joints(part(ints, layout, CLASSES), part(ints, layout, INDEX), part(constants, layout, PARAMETERS), q, v, qdot_out)


HUGE = 1e100
"""Motion beyond this (in SI units) has blown up: squares of it, energies above all, soon overflow."""


@device
def copy_to(x, y_out):
    """y = x of arrays that are known not to overlap: a slice on the left would look for that."""
    for k in range(x.size):
        y_out[k] = x[k]


@device
def all_finite(x):
    total = 0.0
    for k in range(x.size):
        total += abs(x[k])
    return total < HUGE


@kernel
def finite(q: Floats, v: Floats) -> bool:
    """Whether all numbers are, and none is beyond HUGE."""
    return all_finite(q) and all_finite(v)


@kernel
def largest(x: Floats) -> float:
    """max |x|, 0 of nothing."""
    most = 0.0
    for k in range(x.size):
        most = max(most, abs(x[k]))
    return most


@device
def outruns(layout, y, v, work):
    """Whether one of the system's own velocities is beyond the speed at which a stretch of steps pauses, so that somebody looks at it."""
    limit = part(work, layout, SPEED_LIMIT)[0]
    for k in range(y.size):
        if abs(v[k]) > limit:
            return True
    return False


@device
def book_work(ledger, h, memory_out):
    """Complete the work of the last step by the trapezoidal rule and start that of a step of length h."""
    for k in range(3):
        power = ledger[DAMPER_POWER + k]
        memory_out[k] += 0.5 * memory_out[LAST_STEP] * (memory_out[3 + k] + power)
        memory_out[3 + k] = power
    memory_out[LAST_STEP] = h


@device
def write_record(row, t, q, v, memory, record_out):
    """Time, q, v and memory as one row of the record."""
    at = row * (1 + q.size + v.size + memory.size)
    record_out[at] = t
    at += 1
    for k in range(q.size):
        record_out[at + k] = q[k]
    at += q.size
    for k in range(v.size):
        record_out[at + k] = v[k]
    at += v.size
    for k in range(memory.size):
        record_out[at + k] = memory[k]


@device
def ledger_of(layout, work) -> Floats:
    return part(work, layout, LEDGER)


__all__ = [
    "LAST_STEP", "MEMORY", "TIME", "Evaluate", "advance_own", "all_finite", "book_work", "copy_to", "finite", "largest", "ledger_of",
    "outruns", "rate_own", "write_record",
]  # fmt: skip
