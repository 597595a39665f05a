"""Flat arrays as wholes: copied, multiplied with each other, largest number, finite or not.

A motion has blown up when a number of its state is beyond HUGE or none at all; steps, rules and recordings ask for that by these names.
"""

from __future__ import annotations

import numpy as np

from unibody.kernel import Floats, device, kernel

HUGE = 1e100
"""Motion beyond this (in SI units) has blown up: squares of it, energies above all, soon overflow."""


@device
def copy_to(x, y_out):
    """y = x of arrays that are known not to overlap: a slice on the left would look for that."""
    for k in range(x.size):
        y_out[k] = x[k]


@device
def dot(a, b):
    """aᵀb, added up in the order of the numbers."""
    s = 0.0
    for i in range(a.size):
        s += a[i] * b[i]
    return s


@kernel
def inner(a: Floats, b: Floats) -> float:
    """`dot`, from Python. NumPy's wakes a thread of BLAS for long vectors, which then spins."""
    return dot(a, b)


@device
def all_finite(x):
    """Whether all numbers are, and their sum of moduli is below HUGE."""
    total = 0.0
    for k in range(x.size):
        total += abs(x[k])
    return total < HUGE


@kernel
def finite(q: Floats, v: Floats) -> bool:
    """`all_finite` of both."""
    return all_finite(q) and all_finite(v)


@device
def largest_of(x):
    """max |x|, 0 of nothing."""
    most = 0.0
    for k in range(x.size):
        most = max(most, abs(x[k]))
    return most


@kernel
def largest(x: Floats) -> float:
    """max |x| for those who call it from Python."""
    return largest_of(x)


def distinct(keys: np.ndarray) -> np.ndarray:
    """Whole numbers sorted, each once: `np.unique` by sorting, for its hashes take ten to a hundred times as long.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    keys = np.sort(keys)
    return keys[np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])] if len(keys) else keys
