"""Entries of symmetric matrices as plans take them: each pair of unknowns once, from a sparse matrix or from dense blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.kernel import Ints, kernel


def csc_entries(A: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns, and where their values stand in `A.data`, of the lower triangle of a CSC matrix, or of the upper one if nothing stands
    below the diagonal."""
    columns = np.repeat(np.arange(A.shape[1]), np.diff(A.indptr))
    rows = A.indices.astype(np.int64)
    take = np.flatnonzero(rows >= columns if (rows > columns).any() else rows <= columns)
    return rows[take], columns[take], take


@kernel
def fill_block_entries(first: Ints, rows: Ints, columns: Ints, row_out: Ints, column_out: Ints, take_out: Ints) -> int:
    """Unknowns and places of the numbers of blocks that follow each other, row by row; how many of them count."""
    count = 0
    at = 0
    for k in range(rows.size):
        for i in range(first[rows[k]], first[rows[k] + 1]):
            for j in range(first[columns[k]], first[columns[k] + 1]):
                if rows[k] != columns[k] or i >= j:
                    row_out[count] = i
                    column_out[count] = j
                    take_out[count] = at
                    count += 1
                at += 1
    return count


def block_entries(widths: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns and places of values, and the node of every unknown, of dense blocks at (rows, columns) of nodes with these widths; the
    values of the blocks follow each other, row by row. Of a block on the diagonal the lower triangle counts."""
    widths, rows, columns = (np.ascontiguousarray(a, np.int64) for a in (widths, rows, columns))
    first = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    row, column, take = (np.empty(int((widths[rows] * widths[columns]).sum()), np.int64) for _ in range(3))
    count = fill_block_entries(first, rows, columns, row, column, take)
    return row[:count], column[:count], take[:count], np.repeat(np.arange(len(widths)), widths)
