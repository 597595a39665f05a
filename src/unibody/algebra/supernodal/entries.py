"""Entries of symmetric matrices as plans take them: each pair of unknowns once, from a sparse matrix or from dense blocks."""

from __future__ import annotations

from typing import Any

import numpy as np


def csc_entries(A: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns, and where their values stand in `A.data`, of the lower triangle of a CSC matrix, or of the upper one if nothing stands
    below the diagonal."""
    columns = np.repeat(np.arange(A.shape[1]), np.diff(A.indptr))
    rows = A.indices.astype(np.int64)
    take = np.flatnonzero(rows >= columns if (rows > columns).any() else rows <= columns)
    return rows[take], columns[take], take


def block_entries(widths: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns and places of values, and the node of every unknown, of dense blocks at (rows, columns) of nodes with these widths; the
    values of the blocks follow each other, row by row. Of a block on the diagonal the lower triangle counts."""
    widths, rows, columns = (np.asarray(a, np.int64) for a in (widths, rows, columns))
    first = np.concatenate([[0], np.cumsum(widths)])
    tall, wide = widths[rows], widths[columns]
    size = tall * wide
    block = np.repeat(np.arange(len(rows)), size)
    within = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    row, column = first[rows][block] + within // wide[block], first[columns][block] + within % wide[block]
    take = np.flatnonzero((rows != columns)[block] | (row >= column))
    return row[take], column[take], take, np.repeat(np.arange(len(widths)), widths)
