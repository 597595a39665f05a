"""Impacts in two phases: compression until bodies no longer approach, then restitution (Poisson 1817, Stronge 1990).

    compression    as if e = 0: impulses λ₁
    restitution    normal impulses of at least κ λ₁, friction anew within its cone

Poisson's law is κ = e. Stronge's gives back the part e² of the work W₁ that compression took from the normal motion, W₂ = −e² W₁. Where
several contacts hit bodies that feel each other, the work of each by itself is not determined (a face that lands carries on any three of
its corners), and need not be possible; it is their sum that is restored, by one factor on their κ. Without friction this is κ = e. Should
an oblique impact with friction gain energy all the same (each phase knows the slip at its end only), κ is made smaller until it does not:
with κ = 0 no impact can.

In the second phase the friction of a contact is bounded by a normal impulse that is not part of the problem, κ λ₁ + ν: its place is taken
by a row of its own that responds to nothing else and settles at just that value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unibody.algebra.contact.problem import contacts, join, unilateral
from unibody.stepping.impulses import Blocks, ImpulseOptions, ImpulseOutcome, solve

ROUNDS = 30
CLOSE_ENOUGH, CLOSE = 1e-9, 1e-6
"""Of impulses and of work, relative: what is sought, and what is not worth telling."""


@dataclass(frozen=True)
class Expansion:
    """The second phase: W of all rows in hand, velocities u₁ after the first, laws of rows that only go on (the first `others`), and of the
    contacts that hit: normals `hit` (their rows), the width of a contact and coefficients of friction (k, tangents)."""

    W: np.ndarray
    u: np.ndarray
    blocks: Blocks
    others: np.ndarray
    hit: np.ndarray
    width: int
    friction: np.ndarray
    options: ImpulseOptions

    def run(self, least: np.ndarray) -> tuple[np.ndarray, ImpulseOutcome]:
        """Impulses of all rows with normal impulses of at least `least` (k,) where something hits."""
        k, t = self.hit.size, self.width - 1
        size = self.W.shape[0]
        tangents = (self.hit[:, None] + 1 + np.arange(t)).ravel()
        given = self.u + self.W[:, self.hit] @ least
        real = np.concatenate([self.others, self.hit, tangents])
        order = np.concatenate([np.arange(self.others.size), self.others.size + np.arange(k)])
        n = order.size
        W = np.zeros((n + k * self.width, n + k * self.width))
        place = np.concatenate([order, n + (self.width * np.arange(k)[:, None] + 1 + np.arange(t)).ravel()])
        W[np.ix_(place, place)] = self.W[np.ix_(real, real)]
        stand_in = n + self.width * np.arange(k)
        W[stand_in, stand_in] = 1.0
        b = np.zeros(len(W))
        b[place] = given[real]
        blocks = join(self.blocks, unilateral(k), contacts(self.friction, planar=t == 1))
        extra, found = np.zeros(k), ImpulseOutcome(np.zeros(0), np.zeros(0))
        for _ in range(ROUNDS):
            b[stand_in] = -(least + extra)
            found = solve(W, b, blocks, self.options, None)
            more = found.impulse[self.others.size : n]
            done = np.abs(more - extra).max(initial=0.0) <= CLOSE_ENOUGH * (least + more).max(initial=1e-300)
            extra = more
            if done:
                break
        out = np.zeros(size)
        out[real] = found.impulse[place]
        out[self.hit] += least
        return out, found


def together(W: np.ndarray, hit: np.ndarray, width: int) -> np.ndarray:
    """(k,) the number of the island of each contact that hits, of those that feel each other; `hit`: their normal rows, `width` rows."""
    from scipy.sparse.csgraph import connected_components  # few steps ask for it

    rows = hit[:, None] + np.arange(width)
    felt = np.abs(W[rows[:, None, :, None], rows[None, :, None, :]]).max(axis=(2, 3)) > 0.0
    return connected_components(felt, directed=False)[1]


def restore_work(
    expansion: Expansion, least: np.ndarray, wanted: np.ndarray, energetic: np.ndarray
) -> tuple[np.ndarray, np.ndarray, ImpulseOutcome]:
    """Stronge's law: normal impulses, `least` times a factor for each island of those that are `energetic` (k,), which then do the sum of
    the work `wanted` (k,) [J]; all impulses; how they were found."""
    island = together(expansion.W, expansion.hit, expansion.width)
    count = int(island.max()) + 1
    goal = np.bincount(island, np.where(energetic, wanted, 0.0), count)
    factor, low, high = np.ones(count), np.zeros(count), np.full(count, np.inf)
    size, normal = np.abs(goal).max(initial=1e-300), expansion.hit
    for _ in range(ROUNDS):
        pushed = np.where(energetic, factor[island], 1.0) * least
        impulse, found = expansion.run(pushed)
        each = 0.5 * impulse[normal] * (2.0 * expansion.u[normal] + expansion.W[normal] @ impulse)
        work = np.bincount(island, np.where(energetic, each, 0.0), count)
        # what goes on all the same may do more than is wanted: then no factor does less
        off = np.where((goal > 0.0) & (factor > CLOSE_ENOUGH), np.abs(work - goal), 0.0).max()
        if off <= CLOSE_ENOUGH * size:
            break
        low, high = np.where(work < goal, np.maximum(low, factor), low), np.where(work > goal, np.minimum(high, factor), high)
        guess = factor * np.sqrt(np.clip(goal / np.where(work > 0.0, work, np.inf), 0.0625, 16.0))
        between = np.where(np.isfinite(high), 0.5 * (low + np.where(np.isfinite(high), high, 0.0)), 2.0 * factor)
        factor = np.where(goal > 0.0, np.where((guess > low) & (guess < high), guess, between), factor)
    found.converged = found.converged and bool(off <= CLOSE * size)
    return pushed, impulse, found


def largest_share(gain: Callable[[float], float], allowed: float) -> float:
    """The largest share s of 0 … 1, to a thousandth, with gain(s) ≤ allowed; gain(0) is known not to exceed it."""
    low, high = 0.0, 1.0
    for _ in range(10):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gain(middle) <= allowed else (low, middle)
    return low
