"""What all time rules share: the ledger of work and records.

A system is evaluated through an address: (t, q, v) in, accelerations in its slot Y out. `q` and `v` hold the system's own coordinates
first, then coordinates of joints that are only fitted; only the former move.

The memory of every solver begins with the fields COMMON. Then come those of its rule; at the end the coordinates and velocities of fitted
joints, which stand behind the system's own in q and v while a rule runs: its memory is then the same array without them.
"""

from __future__ import annotations

import numpy as np

from unibody.arena import part
from unibody.arrays import all_finite as all_finite
from unibody.coordinates.reduced.kinematics import advance_own as advance_own
from unibody.coordinates.workspace import LEDGER, SPEED_LIMIT, Y
from unibody.element import DAMPER_POWER
from unibody.kernel import Floats, device
from unibody.memory import Field, MemorySchema

COMMON = MemorySchema(
    Field("work", (3,), "J", "of dampers, motors, applied wrenches on the bodies, up to the start of the last step"),
    Field("power", (3,), "W", "of the same at that instant"),
    Field("last_step", (), "s", "length of the last step if its work is completed when it is observed, else 0", low=0.0),
    Field("time", (), "s", "summed step by step, so that rollouts and single steps agree to the last bit"),
)
WORK, POWER, LAST_STEP, TIME = COMMON.at("work", "power", "last_step", "time")
DAMPER_WORK = WORK
"""The first of the three."""
MEMORY = COMMON.size


def begun_fields(nq: int, nv: int) -> tuple[Field, Field]:
    """How the last step began, for rules by which what acted over it can be computed again."""
    begun_q = Field("begun_q", (nq,), "m, rad, 1", "q that the last step began with, fitted joints included")
    return begun_q, Field("begun_v", (nv,), "m/s, rad/s", "v that it began with")


def trapezoidal_work(memory: np.ndarray, powers: np.ndarray) -> np.ndarray:
    """(3,) the work up to the end of the last step, where powers are these."""
    kept = COMMON.view(memory)
    return kept.work + 0.5 * kept.last_step * (kept.power + powers)


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
        memory_out[WORK + k] += 0.5 * memory_out[LAST_STEP] * (memory_out[POWER + k] + power)
        memory_out[POWER + k] = power
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
def finish_step(layout, k, every, t, q, v, work, memory_out, record_out):
    """At the end t of step number k: time, a record of every `every`-th step; whether the stretch of steps pauses there (`outruns`)."""
    memory_out[TIME] = t
    if (k + 1) % every == 0:
        write_record((k + 1) // every - 1, t, q, v, memory_out, record_out)
    return outruns(layout, part(work, layout, Y), v, work)


@device
def ledger_of(layout, work) -> Floats:
    return part(work, layout, LEDGER)
