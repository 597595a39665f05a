"""Directions that are those of their own consequences: u(e) along e, on products of spheres, by Newton's method in their tangent planes.

The part of u across e is what has to vanish; it stays smooth where u itself passes through zero and its direction would jump.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Directions = dict[int, np.ndarray]

STEPS, HALVINGS = 20, 6
SHIFT, ENOUGH = 1e-6, 1e-12
"""Of differences; the part of u across e at which it ends."""


def unit(v: np.ndarray) -> np.ndarray:
    return v / max(float(np.linalg.norm(v)), 1e-300)


def across(e: np.ndarray) -> np.ndarray:
    """(m, m − 1) unit vectors across one."""
    return np.linalg.svd(e[None])[2][1:].T


def turned(u: Callable[[Directions], Directions], start: Directions) -> Directions | None:
    """e with u(e) along e, or against it, near a start; None where it is not found."""
    e = {k: unit(v) for k, v in start.items()}

    def missed(e: Directions) -> tuple[np.ndarray, float]:
        found = u(e)
        parts = [found[k] - (found[k] @ e[k]) * e[k] for k in e]
        return np.concatenate(parts), max(float(np.linalg.norm(v)) for v in found.values())

    r, size = missed(e)
    for _ in range(STEPS):
        if np.abs(r).max() <= ENOUGH * size:
            return e
        bases = {k: across(v) for k, v in e.items()}
        count = sum(basis.shape[1] for basis in bases.values())
        J = np.zeros((r.size, count))
        for c in range(count):
            J[:, c] = (missed(_moved(e, bases, SHIFT * np.eye(count)[c]))[0] - r) / SHIFT
        change = np.linalg.lstsq(J, -r, rcond=1e-12)[0]
        change *= min(1.0, 1.0 / max(float(np.abs(change).max()), 1e-300))
        for half in range(HALVINGS):
            tried = _moved(e, bases, 0.5**half * change)
            there, size = missed(tried)
            if np.linalg.norm(there) < np.linalg.norm(r):
                break
        else:
            return e if np.abs(r).max() <= 1e3 * ENOUGH * size else None
        e, r = tried, there
    return None


def _moved(e: Directions, bases: Directions, change: np.ndarray) -> Directions:
    """Directions turned by steps in their tangent planes."""
    out, at = {}, 0
    for k, basis in bases.items():
        m = basis.shape[1]
        out[k], at = unit(e[k] + basis @ change[at : at + m]), at + m
    return out
