"""Where the matrices of stencils stand in a matrix over points: which stencil gives to which block of 3 × 3, found once.

    Σ over stencils of 3k × 3k matrices, vertex i standing for Σ weights of points      (points: what has coordinates of its own)

A block stands at rows ≤ columns, once for both sides of the diagonal.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unibody.algebra.block.node_blocks import NodeBlocks
from unibody.arrays import distinct
from unibody.energies.evaluate import EnergyBatch
from unibody.kernel import Floats, Ints, kernel


@kernel
def add_stencil_blocks(
    stencil: Ints, corner: Ints, weight: Floats, flip: Ints, target: Ints, count: int, scale: Floats, blocks: Floats, sums_out: Floats
) -> None:
    """Blocks (3 × 3, by `corner` = k a + b of a stencil's vertices) of stencils' matrices, times weights and the stencil's scale, into the
    sums: as they are (flip 0), transposed (1), or both (2)."""
    wide = 3 * count
    for e in range(stencil.size):
        at = wide * wide * stencil[e] + 3 * wide * (corner[e] // count) + 3 * (corner[e] % count)
        w = weight[e] * scale[stencil[e]]
        to = 9 * target[e]
        for r in range(3):
            for c in range(3):
                if flip[e] != 1:
                    sums_out[to + 3 * r + c] += w * blocks[at + wide * r + c]
                if flip[e] != 0:
                    sums_out[to + 3 * r + c] += w * blocks[at + wide * c + r]


@kernel
def expand_entries(
    rows: Ints, columns: Ints, own: Ints, first: Ints, to: Ints, weight: Floats, source_out: Ints, weight_out: Floats, flip_out: Ints,
    row_out: Ints, column_out: Ints,
) -> int:  # fmt: skip
    """To which blocks at row ≤ column the blocks at (rows, columns) give, if i stands for to[first[i]] …; how many such gifts there are.
    Blocks are on a stencil's own diagonal, or stand for their transposes below it, too."""
    found = 0
    for e in range(rows.size):
        i = rows[e]
        j = columns[e]
        for k in range(first[i], first[i + 1]):
            for l in range(first[j], first[j + 1]):
                a = to[k]
                b = to[l]
                if own[e] == 1 and a > b:
                    continue
                source_out[found] = e
                weight_out[found] = weight[k] * weight[l]
                flip_out[found] = 2 if a == b and own[e] == 0 else (0 if a <= b else 1)
                row_out[found] = min(a, b)
                column_out[found] = max(a, b)
                found += 1
    return found


class StencilMap:
    """Where matrices of batches of stencils stand, over points that control points stand for (`first`, `to`, `weight`)."""

    def __init__(self, batches: Sequence[EnergyBatch], node: int, first: np.ndarray, to: np.ndarray, weight: np.ndarray):
        found, width, count = [], np.diff(first), int(to.max(initial=-1)) + 1
        for batch in batches:
            k = batch.vertices.shape[1]
            a, b = np.triu_indices(k)
            rows, columns = (np.ascontiguousarray(batch.vertices[:, i].ravel() + node) for i in (a, b))
            own = np.tile(a == b, len(batch.vertices)).astype(np.int64)
            room = int((width[rows] * width[columns]).sum())
            source, flip, row, column = (np.empty(room, np.int64) for _ in range(4))
            share = np.empty(room)
            n = expand_entries(rows, columns, own, first, to, weight, source, share, flip, row, column)
            stencil, corner = source[:n] // len(a), (k * a + b)[source[:n] % len(a)]
            found.append((stencil, corner, share[:n].copy(), flip[:n].copy(), row[:n] * count + column[:n]))
        keys = distinct(np.concatenate([np.zeros(0, np.int64), *(part[4] for part in found)]))
        self.rows, self.columns = keys // max(count, 1), keys % max(count, 1)
        self.gifts = [(*part[:4], np.searchsorted(keys, part[4])) for part in found]
        """Of each batch: stencils, corners, weights, flips and blocks of `add_stencil_blocks`."""

    def summed(self, batches: Sequence[EnergyBatch], scales: Sequence[np.ndarray]) -> NodeBlocks:
        """Σ of the batches' matrices as they have been evaluated, each stencil's times its scale."""
        sums = np.zeros(9 * len(self.rows))
        for batch, gifts, scale in zip(batches, self.gifts, scales, strict=True):
            stencil, corner, share, flip, target = gifts
            add_stencil_blocks(stencil, corner, share, flip, target, batch.vertices.shape[1], scale, batch.blocks.ravel(), sums)
        return NodeBlocks(self.rows, self.columns, sums.reshape(-1, 3, 3))
