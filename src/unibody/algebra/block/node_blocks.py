"""Symmetric matrices over control points as lists of blocks 3×3, before anybody has added them up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unibody.kernel import Floats, Ints, kernel


@kernel
def add_block_products(rows: Ints, columns: Ints, blocks: Floats, x: Floats, y_out: Floats) -> None:
    """y += H x of blocks 3×3 at rows ≤ columns."""
    for k in range(rows.size):
        a = 3 * rows[k]
        b = 3 * columns[k]
        for i in range(3):
            for j in range(3):
                h = blocks[9 * k + 3 * i + j]
                y_out[a + i] += h * x[b + j]
                if a != b:
                    y_out[b + j] += h * x[a + i]


@dataclass(frozen=True)
class NodeBlocks:
    """A symmetric matrix over control points: blocks (m, 3, 3) at rows (m,) ≤ columns (m,); those of one place add up."""

    rows: np.ndarray
    columns: np.ndarray
    blocks: np.ndarray

    def summed(self) -> NodeBlocks:
        """The same matrix with every place once, by rows and within these by columns."""
        if not len(self.rows):
            return self
        order = np.lexsort((self.columns, self.rows))
        rows, columns = self.rows[order], self.columns[order]
        first = np.flatnonzero(np.r_[True, (np.diff(rows) != 0) | (np.diff(columns) != 0)])
        return NodeBlocks(rows[first], columns[first], np.add.reduceat(self.blocks[order], first, axis=0))

    def dense(self, n: int) -> np.ndarray:
        """(3 n, 3 n), both triangles."""
        H = np.zeros((n, 3, n, 3))
        for row, column, block in zip(self.rows, self.columns, self.blocks, strict=True):
            H[row, :, column] += block
            if row != column:
                H[column, :, row] += block.T
        return H.reshape(3 * n, 3 * n)

    @staticmethod
    def joined(some: Sequence[NodeBlocks]) -> NodeBlocks:
        """The sum of several."""
        return NodeBlocks(
            np.concatenate([np.zeros(0, np.int64), *(H.rows for H in some)]),
            np.concatenate([np.zeros(0, np.int64), *(H.columns for H in some)]),
            np.concatenate([np.zeros((0, 3, 3)), *(H.blocks for H in some)]),
        )  # fmt: skip
