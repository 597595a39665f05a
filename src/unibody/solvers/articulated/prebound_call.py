"""Evaluations whose arguments are prepared once.

A call of a kernel from Python takes its arrays apart every time, 0.2 µs each, which is more than the dynamics of a few bodies take. A
*frame* is what remains of an evaluation's arguments when that is done beforehand: the address of the evaluation, then address and size
of every array. A call then hands over one whole number.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from unibody.coordinates.stages import Evaluate
from unibody.kernel import Kernel, floats_at, ints_at, kernel

FRAME = 17
"""Numbers of a frame: the evaluation; layout, ints, constants, stages, control, work, q, v."""


@kernel
def evaluate_framed(frame: int) -> None:
    """An evaluation at t = 0 with the arguments of the frame at this address."""
    f = ints_at(frame, FRAME)
    Evaluate(
        f[0], ints_at(f[1], f[2]), ints_at(f[3], f[4]), floats_at(f[5], f[6]), ints_at(f[7], f[8]), floats_at(f[9], f[10]), 0.0,
        floats_at(f[11], f[12]), floats_at(f[13], f[14]), floats_at(f[15], f[16]),
    )  # fmt: skip


def framed(evaluation: Kernel, *arrays: np.ndarray) -> Callable[[], None]:
    """A function without arguments that runs the evaluation on these arrays (layout, ints, constants, stages, control, work, q, v)."""
    assert all(a.flags.c_contiguous and a.itemsize == 8 for a in arrays)
    frame = np.array([evaluation.address, *(n for a in arrays for n in (a.ctypes.data, a.size))], np.int64)
    call = partial(evaluate_framed.load(), frame.ctypes.data)
    vars(call)["kept"] = (frame, *arrays)
    return call
