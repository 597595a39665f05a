"""Open kernels: one loop, filled with the devices of several laws."""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.kernel import Floats, device, open_kernel

law: Any = None


@open_kernel
def add_each(x: Floats, y_out: Floats) -> None:
    """y += law(x)."""
    for i in range(x.size):
        y_out[i] += law(x[i])


@device
def double(x):
    return 2.0 * x


@device
def square(x):
    return x * x


add_doubles = add_each.filled("add_doubles", law=double)
add_squares = add_each.filled("add_squares", law=square)


def test_each_filling_is_a_kernel_of_its_own():
    x, y = np.array([1.0, 2.0, 3.0]), np.zeros(3)
    add_doubles(x, y)
    assert y.tolist() == [2.0, 4.0, 6.0]
    add_squares(x, y)
    assert y.tolist() == [3.0, 8.0, 15.0]
    assert add_squares.__name__ == "add_squares" and add_squares.__module__ == __name__
