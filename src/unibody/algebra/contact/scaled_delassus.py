"""The rows of a contact problem over islands of velocities, in units: Ŵ = J Yᵀ + R, and nothing is made that couples all rows with all.

A block of rows acts on at most two islands (bodies, trees, or one island for a W that came whole), with J and Y = M⁻¹ Jᵀ there:

    m = Y x     (how the islands move),       û = J m + R x + b̂

A block's numbers lie velocity by velocity, its rows next to each other, its first island before its second. Groups are numbered in the
order in which `block_lu` eliminates them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.algebra.contact.block_lu import Plan, plan_of
from unibody.algebra.contact.scaling import Units
from unibody.kernel import Floats, Ints, kernel

RANK = 1e-14
"""Part of the largest diagonal below which what is left of a whole W is round-off."""


@kernel
def lay_out(size: int, islands: Ints, start: Ints, place: Ints, whole: Floats, part_out: Floats) -> None:
    """Numbers of rows (2 × size each, zero or not where there is no island) in the order of blocks."""
    for k in range(start.size - 1):
        at, rows, p = start[k], start[k + 1] - start[k], place[k]
        for side in range(2):
            if islands[2 * k + side] >= 0:
                for i in range(size):
                    for r in range(rows):
                        part_out[p + rows * i + r] = whole[2 * size * (at + r) + size * side + i]
                p += rows * size


@dataclass(frozen=True)
class ScaledVelocities:
    """first: (islands + 1,) where the velocities of each island begin; islands: (2 k,) that each block touches, −1 for none; place: (k +
    1,) where its numbers begin in J and Y."""

    first: np.ndarray
    islands: np.ndarray
    place: np.ndarray
    J: np.ndarray
    Y: np.ndarray
    plan: Plan

    @classmethod
    def of(cls, units: Units) -> ScaledVelocities:
        """The rows of a problem; a W that came whole is taken apart by Cholesky's method with pivots, as far as its rank goes."""
        if units.dense is not None:
            return cls._whole(units)
        touched = np.unique(units.islands[units.islands >= 0])
        new = np.full(len(units.problem.W.inverse_mass) + 1, -1)
        new[touched] = np.arange(touched.size)
        sizes = np.full(touched.size, 6, np.int64)
        return cls._laid_out(units, sizes, new[units.islands], units.J.reshape(-1, 2, 6), units.Y.reshape(-1, 2, 6))

    @classmethod
    def grouped(cls, first: np.ndarray, islands: np.ndarray, place: np.ndarray, J: np.ndarray, Y: np.ndarray) -> ScaledVelocities:
        """From numbers in this order already, on islands (k, 2) of any sizes, numbered as one likes."""
        sizes = np.diff(first)
        plan, both = plan_of(sizes, islands)
        first = np.concatenate([[0], np.cumsum(sizes[np.argsort(plan.position)])]).astype(np.int64)
        return cls(first, both, place, J, Y, plan)

    @classmethod
    def _whole(cls, units: Units) -> ScaledVelocities:
        from scipy.linalg.lapack import dpstrf

        m = units.size
        if not m:
            return cls._laid_out(units, np.zeros(0, np.int64), np.zeros((0, 2), np.int64), np.zeros((0, 2, 0)), np.zeros((0, 2, 0)))
        W = units.dense if units.dense is not None else units.dense_matrix()
        found, pivots, rank, _ = dpstrf(W, tol=RANK * max(float(np.diag(W).max()), 1e-300), lower=1)
        L = np.zeros((m, rank))
        L[pivots - 1] = np.tril(found)[:, :rank]
        both = np.stack([L, np.zeros_like(L)], axis=1)
        return cls._laid_out(units, np.array([rank], np.int64), np.tile([0, -1], (units.rows.size, 1)), both, both)

    @classmethod
    def _laid_out(cls, units: Units, sizes: np.ndarray, islands: np.ndarray, J: np.ndarray, Y: np.ndarray) -> ScaledVelocities:
        """From rows (m, 2, n) on islands (k, 2), of which all have n velocities."""
        plan, both = plan_of(sizes, islands)
        size = int(sizes[0]) if sizes.size else 0
        width = (both.reshape(-1, 2) >= 0).sum(axis=1) * units.rows * size
        place = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
        flat = []
        for part in (J, Y):
            flat.append(np.empty(place[-1]))
            lay_out(size, both, units.start, place, np.ascontiguousarray(part).ravel(), flat[-1])
        first = np.concatenate([[0], np.cumsum(sizes[np.argsort(plan.position)])]).astype(np.int64)
        return cls(first, both, place, flat[0], flat[1], plan)
