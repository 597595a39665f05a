"""Flat arrays as wholes: copied, largest number, finite or not.

A motion has blown up when a number of its state is beyond HUGE or none at all; steps, rules and recordings ask for that by these names.
"""

from __future__ import annotations

from unibody.kernel import Floats, device, kernel

HUGE = 1e100
"""Motion beyond this (in SI units) has blown up: squares of it, energies above all, soon overflow."""


@device
def copy_to(x, y_out):
    """y = x of arrays that are known not to overlap: a slice on the left would look for that."""
    for k in range(x.size):
        y_out[k] = x[k]


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
