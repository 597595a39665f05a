"""The incremental potential of one step (paper 003, Eq. 1), as a list of potentials, and Newton's directions for it.

    Ψ(x) = ½ |x − x̃|²_M + β h² Σᵢ Pᵢ(x)

Unknown are the affine coordinates x of all bodies (12 each), then those of the vertices of deformables (3 each); those of bodies and
vertices that do not move freely are known or follow from others, and directions respect the joints, x = x₀ + N z (§4.1). What is summed is
not known here: inertia, barriers, friction, springs, matter between vertices and all others are a `Potential` each. `algebra.minimise` does
the rest: projected Newton, with a line search that no potential is infinite on.

Bodies alone give a matrix of blocks 12×12. With vertices it is a `MixedMatrix`; its pattern grows within a step, so that few
factorisations need a new plan, and begins anew with every step, so that steps do not depend on what was before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from unibody.algebra.block.cholesky import BlockMatrix
from unibody.algebra.block.direct import NewtonSolver
from unibody.algebra.block.mixed import MixedMatrix, MixedPattern
from unibody.algebra.block.mixed_solver import MixedSolver
from unibody.algebra.block.node_blocks import NodeBlocks
from unibody.algebra.minimise import ROUND_OFF, Direction
from unibody.arrays import distinct, inner
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.rigid_correction import RigidCorrection, Stretch

SHARES = (0.05, 0.25, 1.0)
"""Where the exact matrix is not positive: parts of the way from it to the careful one, of which the first that is positive is taken. The
careful one errs far on the large side, and would crawl along directions in which the potential bends down."""
LEAST_SHARE, RATIO = 1.0 / 16.0, 4.0
"""Of systems with vertices, whose factors cost more: the least such part, and by how much parts grow until one suffices. The next direction
begins with a smaller one than sufficed, so that parts follow what a search needs: cloth that buckles goes on along directions in which the
exact matrix is a little less than positive, and with much more than that it would crawl."""
PATIENCE = 3
"""Careful directions between two trials of exact matrices, at most."""
THERE = 1e-12
"""[m] How near to its place a driven body has arrived."""


Places = Sequence[np.ndarray]
"""For every list of pairs of bodies where their blocks stand; −1 − place if the second body comes first, whose block is transposed."""


class Potential:
    """A term of Ψ [J s²], with its factor: a function of the affine coordinates x (12 per body, flat) that couples pairs of bodies; or,
    `with_vertices`, of all control points, whose second derivative is given by `point_blocks`."""

    with_vertices: ClassVar[bool] = False
    whole: bool = True
    """Whether its gradient tells what acts on driven bodies and prescribed vertices, too."""

    def point_blocks(self, x: np.ndarray, careful: bool) -> NodeBlocks:
        """∂²/∂x² over the unknown points (`Vertices.reduced`), exact or `careful`, of a potential of all control points."""
        raise NotImplementedError

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


class Shares:
    """Which parts of the way from the exact matrix (0) to the careful one (1) directions of a search try, as earlier ones have taught."""

    def __init__(self) -> None:
        self._first, self._wait, self._longest = 0.0, 0, 0

    def tries(self) -> list[float]:
        """The parts to be tried for a direction, in order. Where only the careful matrix had factors, ever more directions are left to it:
        a trial that fails costs a factorisation, and gives nothing."""
        self._wait -= 1
        if self._wait >= 0:
            return [1.0]
        out = [self._first]
        while out[-1] < 1.0:
            out.append(min(1.0, max(LEAST_SHARE, RATIO * out[-1])))
        return out

    def learn(self, share: float) -> None:
        """Which one sufficed; of a direction that was left to the careful matrix that says nothing."""
        if self._wait >= 0:
            return
        self._longest = min(2 * self._longest + 1, PATIENCE) if share == 1.0 else 0
        self._wait = self._longest
        self._first = share / RATIO if share > LEAST_SHARE else 0.0


@dataclass(frozen=True)
class Targets:
    """Where driven bodies are going (4, 3), by their numbers, and prescribed vertices (n, 3); false where there are none."""

    bodies: dict[int, np.ndarray] = field(default_factory=dict)
    vertices: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))

    def __bool__(self) -> bool:
        return bool(self.bodies) or len(self.vertices) > 0


Matrix = BlockMatrix | MixedMatrix


class IncrementalPotential:
    """Ψ of one step: a `MinimisationProblem`. `targets`: where driven bodies and vertices are going; `rate` is ∂v/∂x of the time rule;
    `linear` solves Newton's systems, with vertices `mixed`."""

    def __init__(
        self, system: AffineSystem, potentials: Sequence[Potential], targets: Targets, rate: float, linear: NewtonSolver,
        mixed: MixedSolver | None = None,
    ):  # fmt: skip
        self._mixed, self._pattern = mixed, None if mixed is None else MixedPattern.empty(len(system.moving), system.free_vertices)
        self.system, self.potentials, self.targets, self.rate, self.linear = system, potentials, targets, rate, linear
        self.factored, self.iterated = 0, 0
        """Linear systems of the step by factors, and by conjugate gradients."""
        self.stretch: Stretch | None = None
        """By what bodies are stretched at the end of a direction, if directions are to be corrected for it."""
        self._last: tuple[np.ndarray, np.ndarray] | None = None
        self._shares, self._cut = Shares(), False
        """Which matrices are tried; whether only a part of the last direction was gone, so that the end is far."""

    def value(self, x: np.ndarray) -> float:
        total = 0.0
        for potential in self.potentials:
            total += potential.value(self._of(potential, x))
        return total

    def _of(self, potential: Potential, x: np.ndarray) -> np.ndarray:
        """What of x a potential sees."""
        return x if potential.with_vertices else x[: 12 * self.system.rows]

    def forces(self, x: np.ndarray, whole: bool = False) -> np.ndarray:
        """∂Ψ/∂x by all control points, those that are known among them; only of potentials that are `whole`."""
        every = np.zeros(x.size)
        for potential in self.potentials:
            if whole and not potential.whole:
                continue
            potential.add_gradient(self._of(potential, x), self._of(potential, every))
        return every

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """∂Ψ/∂x by the unknowns: 12 per moving body, 3 per free vertex."""
        every, vertices = self.forces(x), self.system.vertices
        return self.system.unknown(every if vertices is None else vertices.pulled(every))

    def matrix(self, x: np.ndarray, careful: bool) -> Matrix:
        """∂²Ψ/∂x² over the unknowns."""
        n, s, bodies = self.system.rows, self.system, [p for p in self.potentials if not p.with_vertices]
        Q = x[: 12 * n] if s.vertices is not None else x
        lists = [potential.pairs(Q) for potential in bodies]
        keys, places = pair_places([pairs for some in lists for pairs in some], n)
        own, between, at = np.zeros(144 * n), np.zeros(144 * len(keys)), 0
        for potential, some in zip(bodies, lists, strict=True):
            potential.add_blocks(Q, places[at : at + len(some)], careful, own, between)
            at += len(some)
        H = block_matrix(own, keys, between, s)
        if self._pattern is None:
            return H
        parts = [s.vertices.reduced(seen_blocks(own, keys, between, s.vertices.seen, n))] if len(s.vertices.seen) else []
        parts += [potential.point_blocks(x, careful) for potential in self.potentials if potential.with_vertices]
        made = MixedMatrix.of(self._pattern, H, parts)
        self._pattern = made.pattern
        return made

    def direction(self, x: np.ndarray, careful: bool) -> Direction:
        """Newton's direction, with the exact matrix if that is positive, else with one nearer to the careful one."""
        s = self.system
        g = self.gradient(x)
        # Driven bodies and vertices go the rest of their ways.
        flat = self.rest_of_way(x)
        # N z of (Nᵀ H N) z = −Nᵀ g
        self._cut = self._last is not None and not np.array_equal(self._last[0] + self._last[1], x)
        tries = [1.0] if careful else (0.0, *SHARES) if self._mixed is None else self._shares.tries()
        H = exact = self.matrix(x, False) if tries[0] < 1.0 else None
        own, bounding = None, None
        for share in tries:
            if share > 0.0 and bounding is None:
                bounding = self.matrix(x, True)
                if isinstance(exact, MixedMatrix):
                    exact = exact.widened(self._pattern)
            if bounding is not None:
                H = bounding if exact is None or share == 1.0 else exact.between_this_and(bounding, share)
            own = self._solved(x, flat, g, H, share == 1.0)
            if own is not None:
                break
        if not careful and self._mixed is not None:
            self._shares.learn(share)
        careful = share == 1.0
        if own is None:
            return Direction(np.full(x.size, np.nan), 0.0, np.inf)
        s.put_unknown(own, flat)
        bent = None
        if self.stretch is not None and H is not None and len(s.moving):
            correction = RigidCorrection(s, self.stretch, x, g, flat, H if isinstance(H, BlockMatrix) else H.bodies, self.linear)
            if correction.matters:
                flat = correction.turned(1.0)
                bent = lambda t: self._within(x, correction.turned(t))  # noqa: E731
                own = s.unknown(flat)
        self._last = x.copy(), flat
        # How long it is, and how far values and distances can be trusted.
        # A body without a shape is as large as its inertia says.
        Q, moved = s.bodies_of(flat), own[: 12 * len(s.moving)].reshape(-1, 4, 3)
        ways = s.motions(flat)[:, 0], np.abs(Q[:, 0]), np.abs(moved * s.spread[:, :, None])
        length = max(float(way.max(initial=0.0)) for way in ways) * self.rate
        judged = [potential.judge(self._of(potential, x), self._of(potential, flat)) for potential in self.potentials]
        noise, change = sum(noise for noise, _ in judged), max(change for _, change in judged)
        return Direction(flat, inner(g, own), length, noise, careful, change, bent, lambda: self._outward(x, flat))

    def _within(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The part of p that is feasible."""
        return p * self.reach(x, p)

    def _outward(self, x: np.ndarray, p: np.ndarray) -> Direction | None:
        """Newton's direction with secants for barriers that p cannot leave fast enough; None if there are none."""
        if not any([potential.loosen(self._of(potential, x), self._of(potential, p)) for potential in self.potentials]):
            return None
        d = self.direction(x, True)
        return replace(d, outward=None) if np.isfinite(d.p).all() and d.slope < 0.0 else None

    def rest_of_way(self, x: np.ndarray) -> np.ndarray:
        """What driven bodies and prescribed vertices still have to go from x, all others at rest."""
        s, p = self.system, np.zeros(x.size)
        Q, way = s.bodies_of(x), s.bodies_of(p)
        for i, target in self.targets.bodies.items():
            way[i] = target - Q[i]
        if s.vertices is not None:
            if len(self.targets.vertices):
                s.vertices.of(p)[s.vertices.prescribed] = self.targets.vertices - s.vertices.of(x)[s.vertices.prescribed]
            s.vertices.placed(p)
        return p

    def _solved(self, x: np.ndarray, p: np.ndarray, g: np.ndarray, H: Matrix, careful: bool) -> np.ndarray | None:
        """Newton's direction with H; None if H is not positive or, unless `careful`, if it leads up."""
        own = self._solve_reduced(x, p, g, H, careful) if self.system.reduction.equations else self._solve(H, -g, careful)
        return None if own is not None and not careful and inner(g, own) > 0.0 else own

    def _solve(self, H: Matrix, right: np.ndarray, careful: bool) -> np.ndarray | None:
        if isinstance(H, MixedMatrix):
            assert self._mixed is not None
            found, direct = self._mixed.solve(H, right, careful, self._cut), True
        else:
            found, direct = self.linear.solve(H, right, careful)
        self.factored, self.iterated = self.factored + direct, self.iterated + (not direct)
        return found

    def _solve_reduced(self, x: np.ndarray, p: np.ndarray, g: np.ndarray, H: Matrix, careful: bool) -> np.ndarray | None:
        """Newton's direction of the unknowns with joints; p holds what is left of driven bodies' ways."""
        s = self.system
        start, right = np.zeros(g.size), -g
        if self.targets.bodies:  # what the driven bodies' remaining way asks of the joints comes first
            Q = s.bodies_of(x)
            start[: 12 * len(s.moving)] = (s.reduction.put(Q + s.bodies_of(p)) - Q)[s.moving].ravel()
            right = -(g + H.product(start))
        found = self._solve(H, right, careful)
        return start + found if found is not None else None

    def reach(self, x: np.ndarray, p: np.ndarray) -> float:
        """The largest part t ≤ 1 of p on which all potentials stay finite."""
        t = 1.0
        for potential in self.potentials:
            t = potential.max_step(self._of(potential, x), self._of(potential, p), t)
        return t

    def polished(self, x: np.ndarray, value: float) -> np.ndarray:
        """x, or where the last direction from it leads if nothing is in the way: forces of stiff terms are then balanced much better than
        the tolerance of motions asks for."""
        if self._last is None or not np.array_equal(self._last[0], x) or self.reach(x, self._last[1]) < 1.0:
            return x
        trial = x + self._last[1]
        return trial if self.value(trial) <= value + ROUND_OFF * abs(value) else x

    def arrived(self, x: np.ndarray) -> bool:
        """Whether driven bodies and vertices are where they should be."""
        Q, v = self.system.bodies_of(x), self.system.vertices
        if not all(np.abs(Q[i] - target).max() < THERE for i, target in self.targets.bodies.items()):
            return False
        goals = self.targets.vertices
        return not len(goals) or v is None or float(np.abs(v.of(x)[v.prescribed] - goals).max()) < THERE


def pair_places(lists: list[np.ndarray], n: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Sorted keys a n + b (a < b) of all pairs, and for each list where its pairs stand (−1 − place if b comes first)."""
    keys = [np.minimum(p[:, 0], p[:, 1]) * n + np.maximum(p[:, 0], p[:, 1]) for p in lists]
    known = distinct(np.concatenate(keys)) if keys else np.zeros(0, np.int64)
    out = []
    for p, key in zip(lists, keys, strict=True):
        place = np.searchsorted(known, key)
        out.append(np.where(p[:, 0] < p[:, 1], place, -1 - place).astype(np.int64))
    return known, out


def seen_blocks(own: np.ndarray, keys: np.ndarray, between: np.ndarray, seen: np.ndarray, n: int) -> NodeBlocks:
    """What blocks of bodies (144 each) and of pairs a < b say of points of deformables, the `seen` bodies of which only the first control
    point moves: blocks over control points."""
    of = np.zeros(n, bool)
    of[seen] = True
    a, b = keys // n, keys % n
    mixed = np.flatnonzero(of[a] | of[b])
    rows, columns, out = [4 * seen], [4 * seen], [own.reshape(-1, 12, 12)[seen, :3, :3]]
    for k in mixed:
        for i in range(1 if of[a[k]] else 4):
            for j in range(1 if of[b[k]] else 4):
                rows.append(np.array([4 * a[k] + i]))
                columns.append(np.array([4 * b[k] + j]))
                out.append(between.reshape(-1, 12, 12)[k : k + 1, 3 * i : 3 * i + 3, 3 * j : 3 * j + 3])
    return NodeBlocks(np.concatenate(rows), np.concatenate(columns), np.concatenate(out))


def block_matrix(own: np.ndarray, keys: np.ndarray, between: np.ndarray, system: AffineSystem) -> BlockMatrix:
    """The matrix of moving bodies from blocks of all bodies (144 each) and of pairs a < b, of which those count whose bodies both move."""
    n = own.size // 144
    a, b = system.place[keys // n], system.place[keys % n]
    both = (a >= 0) & (b >= 0)
    return BlockMatrix(own.reshape(-1, 12, 12)[system.moving], a[both], b[both], between.reshape(-1, 12, 12)[both])
