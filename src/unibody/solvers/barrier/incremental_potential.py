"""The incremental potential of one step (paper 003, Eq. 1), as a list of potentials, and Newton's directions for it.

    Ψ(x) = ½ |x − x̃|²_M + β h² Σᵢ Pᵢ(x)

Unknown are the affine coordinates x of all bodies (12 each); those of bodies that do not move freely are known, and directions respect the
joints, x = x₀ + N z (§4.1). What is summed is not known here: inertia, barriers, friction, springs and all others are a `Potential` each.
`algebra.minimise` does the rest: projected Newton, with a line search that no potential is infinite on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from unibody.algebra.block.cholesky import BlockMatrix, inner
from unibody.algebra.block.direct import NewtonSolver
from unibody.algebra.minimise import ROUND_OFF, Direction
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.rigid_correction import RigidCorrection, Stretch

SHARES = (0.05, 0.25, 1.0)
"""Where the exact matrix is not positive: parts of the way from it to the careful one, of which the first that is positive is taken. The
careful one errs far on the large side, and would crawl along directions in which the potential bends down."""
THERE = 1e-12
"""[m] How near to its place a driven body has arrived."""


Places = Sequence[np.ndarray]
"""For every list of pairs of bodies where their blocks stand; −1 − place if the second body comes first, whose block is transposed."""


class Potential:
    """A term of Ψ [J s²], with its factor: a function of the affine coordinates x (12 per body, flat) that couples pairs of bodies."""

    def pairs(self, x: np.ndarray) -> Sequence[np.ndarray]:
        """Lists (n, 2) of the pairs of bodies that it couples."""
        return ()

    def value(self, x: np.ndarray) -> float:
        """Infinite where x is not allowed."""
        raise NotImplementedError

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        """gradient (12 per body) += ∂/∂x."""
        raise NotImplementedError

    def add_blocks(self, x: np.ndarray, places: Places, careful: bool, own_out: np.ndarray, between_out: np.ndarray) -> None:
        """own (144 per body) and between (144 per pair) += ∂²/∂x², exact, or `careful`: positive and rather too large."""
        raise NotImplementedError

    def max_step(self, x: np.ndarray, p: np.ndarray, t: float) -> float:
        """The part of p, at most t, along which it stays finite."""
        return t

    def judge(self, x: np.ndarray, p: np.ndarray) -> tuple[float, float]:
        """What its value at x cannot be trusted to, beyond its own digits; by which part of itself p changes at most what must stay
        positive."""
        return 0.0, 0.0

    def loosen(self, x: np.ndarray, p: np.ndarray) -> bool:
        """Let blocks at x be secants to where Newton's direction p wants to go, for barriers of which it doubles distances; whether there
        are any."""
        return False

    def violation(self, x: np.ndarray) -> float:
        """The largest |C| of what it holds, or of C ≥ 0 what is below [m or rad]."""
        return 0.0


class IncrementalPotential:
    """Ψ of one step: a `MinimisationProblem`. `targets`: where driven bodies are going; `rate` is ∂v/∂x of the time rule; `linear` solves
    Newton's systems."""

    def __init__(
        self, system: AffineSystem, potentials: Sequence[Potential], targets: dict[int, np.ndarray], rate: float, linear: NewtonSolver
    ):
        self.system, self.potentials, self.targets, self.rate, self.linear = system, potentials, targets, rate, linear
        self.factored, self.iterated = 0, 0
        """Linear systems of the step by factors, and by conjugate gradients."""
        self.stretch: Stretch | None = None
        """By what bodies are stretched at the end of a direction, if directions are to be corrected for it."""
        self._last: tuple[np.ndarray, np.ndarray] | None = None

    def value(self, x: np.ndarray) -> float:
        total = 0.0
        for potential in self.potentials:
            total += potential.value(x)
        return total

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """(12 per moving body,) ∂Ψ/∂x."""
        every = np.zeros(x.size)
        for potential in self.potentials:
            potential.add_gradient(x, every)
        return every.reshape(-1, 12)[self.system.moving].ravel()

    def matrix(self, x: np.ndarray, careful: bool) -> BlockMatrix:
        """∂²Ψ/∂x² over the moving bodies."""
        n, s = x.size // 12, self.system
        lists = [potential.pairs(x) for potential in self.potentials]
        keys, places = pair_places([pairs for some in lists for pairs in some], n)
        own, between, at = np.zeros(144 * n), np.zeros(144 * len(keys)), 0
        for potential, some in zip(self.potentials, lists, strict=True):
            potential.add_blocks(x, places[at : at + len(some)], careful, own, between)
            at += len(some)
        return block_matrix(own, keys, between, s)

    def direction(self, x: np.ndarray, careful: bool) -> Direction:
        """Newton's direction, with the exact matrix if that is positive, else with one nearer to the careful one."""
        s, Q = self.system, x.reshape(-1, 4, 3)
        g = self.gradient(x)
        # Driven bodies go the rest of their ways.
        p = np.zeros_like(Q)
        for i, target in self.targets.items():
            p[i] = target - Q[i]
        # N z of (Nᵀ H N) z = −Nᵀ g
        H = exact = None if careful else self.matrix(x, False)
        own = self._solved(Q, p, g, exact, False) if exact is not None else None
        if own is None:
            bounding = self.matrix(x, True)
            for share in SHARES if exact is not None else (1.0,):
                H = bounding if exact is None or share == 1.0 else exact.between_this_and(bounding, share)
                own, careful = self._solved(Q, p, g, H, share == 1.0), share == 1.0
                if own is not None:
                    break
        if own is None:
            return Direction(np.full(x.size, np.nan), 0.0, np.inf)
        p[s.moving] = own.reshape(-1, 4, 3)
        flat, bent = p.ravel().copy(), None
        if self.stretch is not None and H is not None:
            correction = RigidCorrection(s, self.stretch, x, g, flat, H, self.linear)
            if correction.matters:
                flat = correction.turned(1.0)
                p, bent = flat.reshape(-1, 4, 3), lambda t: self._within(x, correction.turned(t))
                own = p[s.moving].ravel()
        self._last = x.copy(), flat
        # How long it is, and how far values and distances can be trusted.
        # A body without a shape is as large as its inertia says.
        ways = s.motions(flat)[:, 0], np.abs(p[:, 0]), np.abs(own.reshape(-1, 4, 3) * s.spread[:, :, None])
        length = max(float(way.max(initial=0.0)) for way in ways) * self.rate
        judged = [potential.judge(x, flat) for potential in self.potentials]
        noise, change = sum(noise for noise, _ in judged), max(change for _, change in judged)
        return Direction(flat, inner(g, own), length, noise, careful, change, bent, lambda: self._outward(x, flat))

    def _within(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The part of p that is feasible."""
        return p * self.reach(x, p)

    def _outward(self, x: np.ndarray, p: np.ndarray) -> Direction | None:
        """Newton's direction with secants for barriers that p cannot leave fast enough; None if there are none."""
        if not any([potential.loosen(x, p) for potential in self.potentials]):
            return None
        d = self.direction(x, True)
        return replace(d, outward=None) if np.isfinite(d.p).all() and d.slope < 0.0 else None

    def _solved(self, Q: np.ndarray, p: np.ndarray, g: np.ndarray, H: BlockMatrix, careful: bool) -> np.ndarray | None:
        """Newton's direction with H; None if H is not positive or, unless `careful`, if it leads up."""
        own = self._solve_reduced(Q, p, g, H, careful) if self.system.reduction.equations else self._solve(H, -g, careful)
        return None if own is not None and not careful and inner(g, own) > 0.0 else own

    def _solve(self, H: BlockMatrix, right: np.ndarray, careful: bool) -> np.ndarray | None:
        found, direct = self.linear.solve(H, right, careful)
        self.factored, self.iterated = self.factored + direct, self.iterated + (not direct)
        return found

    def _solve_reduced(self, Q: np.ndarray, p: np.ndarray, g: np.ndarray, H: BlockMatrix, careful: bool) -> np.ndarray | None:
        """Newton's direction of the moving bodies with joints; p holds what is left of driven bodies' ways."""
        s = self.system
        start, right = np.zeros(g.size), -g
        if self.targets:  # what the driven bodies' remaining way asks of the joints comes first
            start = (s.reduction.put(Q + p) - Q)[s.moving].ravel()
            right = -(g + H.product(start))
        found = self._solve(H, right, careful)
        return start + found if found is not None else None

    def reach(self, x: np.ndarray, p: np.ndarray) -> float:
        """The largest part t ≤ 1 of p on which all potentials stay finite."""
        t = 1.0
        for potential in self.potentials:
            t = potential.max_step(x, p, t)
        return t

    def polished(self, x: np.ndarray, value: float) -> np.ndarray:
        """x, or where the last direction from it leads if nothing is in the way: forces of stiff terms are then balanced much better than
        the tolerance of motions asks for."""
        if self._last is None or not np.array_equal(self._last[0], x) or self.reach(x, self._last[1]) < 1.0:
            return x
        trial = x + self._last[1]
        return trial if self.value(trial) <= value + ROUND_OFF * abs(value) else x

    def arrived(self, x: np.ndarray) -> bool:
        """Whether driven bodies are where they should be."""
        Q = x.reshape(-1, 4, 3)
        return all(np.abs(Q[i] - target).max() < THERE for i, target in self.targets.items())


def pair_places(lists: list[np.ndarray], n: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Sorted keys a n + b (a < b) of all pairs, and for each list where its pairs stand (−1 − place if b comes first)."""
    keys = [np.minimum(p[:, 0], p[:, 1]) * n + np.maximum(p[:, 0], p[:, 1]) for p in lists]
    known = np.unique(np.concatenate(keys)) if keys else np.zeros(0, np.int64)
    out = []
    for p, key in zip(lists, keys, strict=True):
        place = np.searchsorted(known, key)
        out.append(np.where(p[:, 0] < p[:, 1], place, -1 - place).astype(np.int64))
    return known, out


def block_matrix(own: np.ndarray, keys: np.ndarray, between: np.ndarray, system: AffineSystem) -> BlockMatrix:
    """The matrix of moving bodies from blocks of all bodies (144 each) and of pairs a < b, of which those count whose bodies both move."""
    n = own.size // 144
    a, b = system.place[keys // n], system.place[keys % n]
    both = (a >= 0) & (b >= 0)
    return BlockMatrix(own.reshape(-1, 12, 12)[system.moving], a[both], b[both], between.reshape(-1, 12, 12)[both])
