"""Random positive matrices over bodies and points, and the same dense."""

from __future__ import annotations

import numpy as np

from unibody.algebra.block.cholesky import BlockMatrix
from unibody.algebra.block.mixed import MixedMatrix, MixedPattern
from unibody.algebra.block.node_blocks import NodeBlocks


def random_mixed(rng, m: int, n: int):
    """A positive mixed matrix, and its dense twin."""
    N = 4 * m + n
    dense = np.zeros((3 * N, 3 * N))
    between = {(a, b) for a in range(m) for b in range(a + 1, m) if rng.random() < 0.5}
    blocks = [(i, j) for i in range(N) for j in range(i, N) if (i == j or rng.random() < 0.3)]
    keys = np.array(sorted(a * m + b for a, b in between), np.int64)
    pairs = rng.standard_normal((len(keys), 12, 12))
    rows, columns = np.array(blocks).T
    given = rng.standard_normal((len(rows), 3, 3))
    given[rows == columns] = np.einsum("nij->nji", given[rows == columns]) + given[rows == columns]
    bodies = BlockMatrix(np.tile(np.eye(12), (m, 1, 1)) * 60.0, keys // max(m, 1), keys % max(m, 1), pairs)
    for a in range(m):
        dense[12 * a : 12 * a + 12, 12 * a : 12 * a + 12] += bodies.diagonal[a]
    for a, b, B in zip(bodies.rows, bodies.columns, pairs, strict=True):
        dense[12 * a : 12 * a + 12, 12 * b : 12 * b + 12] += B
        dense[12 * b : 12 * b + 12, 12 * a : 12 * a + 12] += B.T
    dense += NodeBlocks(rows, columns, given).dense(N)
    more = np.abs(dense).sum(axis=1).max() * np.eye(3)
    extra = NodeBlocks(np.arange(N), np.arange(N), np.tile(more, (N, 1, 1)))
    blocks_all = NodeBlocks.joined([NodeBlocks(rows, columns, given), extra])
    dense += extra.dense(N)
    pattern = MixedPattern.of(m, n, keys, blocks_all.rows, blocks_all.columns)
    return MixedMatrix.of(pattern, bodies, [blocks_all]), dense
