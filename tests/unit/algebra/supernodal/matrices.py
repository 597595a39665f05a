"""Positive definite matrices of known structure: springs along the edges of grids, chains and random graphs, in dense blocks."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from unibody.algebra.supernodal.entries import block_entries
from unibody.algebra.supernodal.plan import SupernodalPlan


@dataclass(frozen=True)
class Blocks:
    """Dense blocks at (rows, columns) of nodes with widths; positions of the nodes, if they have any."""

    widths: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    values: list[np.ndarray]
    positions: np.ndarray | None = None

    @property
    def entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        rows, columns, take, node = block_entries(self.widths, self.rows, self.columns)
        return rows, columns, np.concatenate([np.zeros(0), *(B.ravel() for B in self.values)])[take], node

    @property
    def matrix(self) -> sp.csc_matrix:
        """Both sides of the diagonal, made by SciPy alone."""
        rows, columns, values, _ = self.entries
        n = int(self.widths.sum())
        half = sp.coo_matrix((values, (rows, columns)), shape=(n, n)).tocsc()
        return (half + half.T - sp.diags(half.diagonal())).tocsc()

    def plan(self, dissected: bool = False) -> SupernodalPlan:
        rows, columns, _, node = self.entries
        return SupernodalPlan.of(int(self.widths.sum()), rows, columns, node, self.positions if dissected else None)


def sprung(widths: np.ndarray, pairs: np.ndarray, stiffness: np.ndarray, ground: np.ndarray, seed: int = 0, positions=None) -> Blocks:
    """Σ k Gᵀ G over pairs, G = [R_a, −R_b] with rows 1 + random numbers, and springs to the ground: positive definite where those are."""
    rng = np.random.default_rng(seed)
    own = [g * np.eye(w) for w, g in zip(widths, ground, strict=True)]
    between = []
    for (a, b), k in zip(pairs, stiffness, strict=True):
        rows = max(widths[a], widths[b])
        A, B = (np.eye(rows, widths[i]) + 0.3 * rng.standard_normal((rows, widths[i])) for i in (a, b))
        own[a] += k * A.T @ A
        own[b] += k * B.T @ B
        between.append(-k * B.T @ A)
    rows = np.concatenate([np.arange(len(widths)), pairs[:, 1]]).astype(np.int64)
    columns = np.concatenate([np.arange(len(widths)), pairs[:, 0]]).astype(np.int64)
    return Blocks(np.asarray(widths, np.int64), rows, columns, own + between, positions)


def grid(shape: tuple[int, ...], width: int, seed: int = 0, ground: float = 1e-2) -> Blocks:
    """Nodes of a grid coupled with all their neighbours, diagonal ones too."""
    number = np.arange(int(np.prod(shape))).reshape(shape)
    pairs = []
    for step in itertools.product((-1, 0, 1), repeat=len(shape)):
        if step > (0,) * len(shape):
            here = tuple(slice(max(0, -d), min(s, s - d)) for d, s in zip(step, shape, strict=True))
            there = tuple(slice(max(0, d), min(s, s + d)) for d, s in zip(step, shape, strict=True))
            pairs.append(np.stack([number[here].ravel(), number[there].ravel()], axis=1))
    places = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, len(shape)).astype(float)
    positions = np.zeros((len(places), 3))
    positions[:, : len(shape)] = places
    every = np.concatenate(pairs)
    n = number.size
    return sprung(np.full(n, width), every, np.ones(len(every)), np.full(n, ground), seed, positions)


def chain(n: int, width: int, stiffness: float = 1.0) -> Blocks:
    pairs = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1).reshape(-1, 2)
    return sprung(np.full(n, width), pairs, np.full(n - 1, stiffness), np.r_[1.0, np.full(n - 1, 1e-3)])


def scattered(n: int, edges: int, seed: int) -> Blocks:
    """Nodes of widths 1, 3, 6 and 12, coupled at random; often in several parts."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, n, (2, edges))
    pairs = np.unique(np.stack([np.minimum(a, b), np.maximum(a, b)], axis=1)[a != b], axis=0)
    return sprung(rng.choice([1, 3, 6, 12], n), pairs, 10.0 ** rng.uniform(-2, 2, len(pairs)), np.full(n, 0.1), seed)
