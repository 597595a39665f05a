"""Time per node and error of multifrontal elimination, for trees with couplings of growing size.

Scenes: a chain (no couplings, as a measure of overhead), a ladder of two chains tied rung by rung, two chains tied in opposite order, and
a fan bridge: a deck that hangs on the ground at its left end, two towers, cables from every tower node to both sides, and two border
rows at the deck's right end. Nodes are rods of length 1 m and mass 1 kg on hinges (or balls), couplings are springs of an implicit step of
h = 0.01 s, blocks M + h² K.

The error is that of x (velocities) and of y, relative to the largest, against a solution refined with residuals in extended
precision until it no longer moves.

    python benchmarks/multifrontal.py [--quick] [--plot FILE.png]
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
from common import plot

from unibody.algebra.tree.aba import BODY, COLUMN
from unibody.algebra.tree.multifrontal import factor_multifrontal
from unibody.algebra.tree.multifrontal_plan import MultifrontalPlan
from unibody.algebra.tree.multifrontal_solve import recover_multifrontal, reduce_multifrontal

SIZES = (960, 9600, 102_400)
H = 0.01
Long = np.longdouble
UPPER = ([0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5], [0, 1, 2, 1, 2, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5, 3, 4, 5, 4, 5, 5])


def cross_matrix(r: np.ndarray) -> np.ndarray:
    matrix = np.zeros((*r.shape[:-1], 3, 3), dtype=r.dtype)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        matrix[..., k, j], matrix[..., j, k] = r[..., i], -r[..., i]
    return matrix


@dataclass
class Scene:
    """Chains on the ground: numbers of their nodes, the direction in which each is built, and who is tied to whom."""

    lengths: list[int]
    starts: list[tuple[float, float, float]]
    directions: list[tuple[float, float, float]]
    pairs: np.ndarray
    rows: int = 0
    columns_each: int = 1
    stiffness: float = 1e5

    def __post_init__(self) -> None:
        generator = np.random.default_rng(1)
        n = self.n = 1 + sum(self.lengths)
        nv = self.columns_each
        self.chains, at = [], 1
        self.body = np.zeros((n, BODY), dtype=np.int64)
        point, self.shift, along = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
        for length, start, direction in zip(self.lengths, self.starts, self.directions):
            here = slice(at, at + length)
            self.chains.append(here)
            # Slightly bent, so that no two axes or arms are parallel.
            along[here] = np.asarray(direction) + 0.05 * generator.standard_normal((length, 3))
            along[here] /= np.linalg.norm(along[here], axis=1)[:, None]
            point[here] = np.asarray(start) + np.arange(length)[:, None] * np.asarray(direction)
            self.shift[at + 1 : at + length] = along[at : at + length - 1]
            self.body[here, 0] = np.arange(at - 1, at + length - 1)
            self.body[at, 0] = 0
            at += length
        self.body[1:, 1], self.body[1:, 2] = nv * np.arange(n - 1), nv
        axis = np.eye(3)[None, ::-1].repeat(n - 1, 0) + 0.05 * generator.standard_normal((n - 1, 3, 3))
        axis /= np.linalg.norm(axis, axis=2)[..., None]
        self.columns = np.zeros((n - 1, nv, COLUMN))
        self.columns[:, :, :3] = axis[:, :nv]
        B = np.zeros((n, 6, 6))
        arm = cross_matrix(0.5 * along)
        B[:, 3:, 3:] = np.eye(3)
        B[:, :3, 3:], B[:, 3:, :3] = arm, -arm
        B[:, :3, :3] = arm @ -arm + 0.02 * np.eye(3)
        a, b = self.pairs.T
        unit = point[b] - point[a]
        length = np.linalg.norm(unit, axis=1)[:, None]
        unit = np.divide(unit, length, out=np.full(unit.shape, 3**-0.5), where=length > 0)
        # A spring acts at the far end of each of its two rods.
        ga, gb = (np.concatenate([np.cross(along[i], unit), unit], axis=1) for i in (a, b))
        strength = H * H * self.stiffness / np.maximum(length[:, 0], 1.0)
        np.add.at(B, a, strength[:, None, None] * ga[:, :, None] * ga[:, None, :])
        np.add.at(B, b, strength[:, None, None] * gb[:, :, None] * gb[:, None, :])
        self.N = -strength[:, None, None] * ga[:, :, None] * gb[:, None, :]
        self.B = B
        self.blocks = np.ascontiguousarray(B[:, UPPER[0], UPPER[1]])
        self.diagonal = np.full((n - 1) * nv, 1e-3)
        end = self.lengths[0]
        self.border_nodes = [(row, end) for row in range(self.rows)]
        self.border = np.eye(6)[3 : 3 + self.rows].copy()
        self.right = generator.standard_normal((n - 1) * nv) * 0.01
        self.f = np.zeros((n, 6))
        self.f[1:, 4] = -9.81 * H
        self.f[1:, :3] = np.cross(0.5 * along[1:], self.f[1:, 3:])

    def response(self, y: np.ndarray) -> np.ndarray:
        """x = J y in the precision of y: cumulative sums along the chains."""
        S = self.columns[:, :, :6].astype(Long)
        own = np.zeros((self.n, 6), dtype=Long)
        own[1:] = np.einsum("nki,nk->ni", S, y.reshape(self.n - 1, -1))
        x = np.zeros((self.n, 6), dtype=Long)
        for c in self.chains:
            x[c, :3] = np.cumsum(own[c, :3], axis=0)
            before = np.concatenate([np.zeros((1, 3), dtype=Long), x[c, :3][:-1]])
            x[c, 3:] = np.cumsum(np.cross(before, self.shift[c].astype(Long)) + own[c, 3:], axis=0)
        return x

    def transposed(self, f: np.ndarray) -> np.ndarray:
        """Jᵀ f."""
        total = np.zeros((self.n, 6), dtype=Long)
        for c in self.chains:
            total[c, 3:] = np.cumsum(f[c, 3:][::-1], axis=0)[::-1]
            carried = np.zeros((c.stop - c.start, 3), dtype=Long)
            carried[:-1] = np.cross(self.shift[c].astype(Long)[1:], total[c, 3:][1:])
            total[c, :3] = np.cumsum((f[c, :3] + carried)[::-1], axis=0)[::-1]
        return np.einsum("nki,ni->nk", self.columns[:, :, :6].astype(Long), total[1:]).ravel()

    def residual(self, y: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of the equations for y, and G y."""
        x = self.response(y)
        f = self.f.astype(Long) - np.einsum("nij,nj->ni", self.B.astype(Long), x)
        a, b = self.pairs.T
        N = self.N.astype(Long)
        np.subtract.at(f, a, np.einsum("mij,mj->mi", N, x[b]))
        np.subtract.at(f, b, np.einsum("mij,mi->mj", N, x[a]))
        for (row, node), g in zip(self.border_nodes, self.border):
            f[node] -= g * mu[row]
        Gy = np.array([g @ x[node] for (_, node), g in zip(self.border_nodes, self.border)], dtype=Long)
        return self.right + self.transposed(f) - self.diagonal * y, Gy


def chain(n: int, **options) -> Scene:
    return Scene([n], [(0.0, 0.0, 0.0)], [(1.0, 0.0, 0.0)], np.zeros((0, 2), dtype=np.int64), **options)


def ladder(n: int, **options) -> Scene:
    half = n // 2
    i = np.arange(half)
    starts, directions = [(0.0, 0.0, 0.0), (0.0, 1.0, 0.0)], [(1.0, 0.0, 0.0), (1.0, 0.0, 0.0)]
    return Scene([half, half], starts, directions, np.stack([1 + i, 1 + half + i], axis=1), **options)


def crossed(n: int, **options) -> Scene:
    half = n // 2
    i = np.arange(half)
    starts, directions = [(0.0, 0.0, 0.0), (half, 1.0, 0.0)], [(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)]
    return Scene([half, half], starts, directions, np.stack([1 + i, 2 * half - i], axis=1), **options)


def fan(n: int, **options) -> Scene:
    sixth = n // 6
    k = np.arange(sixth)
    pairs = []
    for tower in range(2):
        base, middle = 1 + (4 + tower) * sixth, (2 * tower + 1) * sixth
        pairs += [np.stack([base + k, middle - k], axis=1), np.stack([base + k, middle + k + 1], axis=1)]
    starts = [(0.0, 0.0, 0.0), (float(sixth), 0.0, 0.0), (3.0 * sixth, 0.0, 0.0)]
    directions = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 1.0, 0.0)]
    return Scene([4 * sixth, sixth, sixth], starts, directions, np.concatenate(pairs), rows=2, **options)


SCENES = {"chain": chain, "ladder": ladder, "crossed": crossed, "fan bridge": fan}


class Solver:
    """One bound scene: `factor()` and `solve()` are what is timed."""

    def __init__(self, scene: Scene):
        self.scene = scene
        body = scene.body.ravel()
        began = time.perf_counter()
        self.plan = plan = MultifrontalPlan(body, scene.pairs, scene.border_nodes, (), scene.rows)
        self.planning = time.perf_counter() - began
        self.body, self.shift, self.columns = body, scene.shift.ravel(), scene.columns.ravel()
        self.values = (scene.blocks.ravel(), scene.N.ravel(), scene.diagonal, scene.border.ravel(), np.zeros(0))
        self.kept, self.scratch = np.zeros(plan.factor_size), np.zeros(plan.scratch_size)
        self.gram, self.state = np.zeros(scene.rows**2), np.zeros(plan.state_size)
        self.common = (plan.steps, plan.lists, body, self.shift, self.columns, self.kept)
        self.calls = factor_multifrontal.load(), reduce_multifrontal.load(), recover_multifrontal.load()
        self.x, self.y = np.zeros(6 * scene.n), np.zeros(scene.right.size)

    def factor(self) -> int:
        plan = self.plan
        arguments = (plan.steps, plan.lists, plan.records, self.body, self.shift, self.columns, *self.values)
        return self.calls[0](*arguments, self.kept, self.scratch, self.gram)

    def solve(self, right: np.ndarray, f: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """y and x with G y = wanted; returns μ."""
        k = self.scene.rows
        reduced = np.zeros(k)
        self.calls[1](*self.common, right, f, self.state, reduced)
        mu = np.linalg.solve(self.gram.reshape(k, k), reduced - wanted) if k else reduced
        self.calls[2](*self.common, mu, self.state, self.x, self.y)
        return mu

    def errors(self) -> tuple[float, float, float]:
        """Of x and of y, and how much the last correction of the reference still moved it."""
        scene = self.scene
        nothing = np.zeros(6 * scene.n)
        mu = self.solve(scene.right, scene.f.ravel(), np.zeros(scene.rows)).astype(Long)
        x, y = self.x.astype(Long), self.y.astype(Long)
        refined, moved = y.copy(), np.inf
        for _ in range(12):
            rest, Gy = scene.residual(refined, mu)
            mu = mu + self.solve(rest.astype(float), nothing, -Gy.astype(float))
            refined = refined + self.y
            step = float(np.abs(self.y).max() / np.abs(refined).max())
            if step > 0.3 * moved or step < 1e-17:
                break
            moved = step
        reference = scene.response(refined).ravel()
        return float(np.abs(x - reference).max() / np.abs(reference).max()), float(np.abs(y - refined).max() / np.abs(refined).max()), step


def least(function, rounds: int) -> float:
    best = np.inf
    for _ in range(rounds):
        began = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - began)
    return best


def main() -> None:
    quick = "--quick" in sys.argv
    print("µs per node; plan in ms; front in numbers; errors of x and y, relative; reference: last movement of the refined solution")
    print(f"{'scene':<12}{'columns':>8}{'n':>8}{'plan':>8}{'front':>7}{'cuts':>6}{'factor':>9}{'solve':>8}{'sum':>8}", end="")
    print(f"{'error x':>10}{'error y':>10}{'reference':>11}")
    points = []
    for name, make in SCENES.items():
        for nv in (1, 3):
            for n in SIZES[:2] if quick else SIZES:
                solver = Solver(make(n, columns_each=nv))
                failed = solver.factor()
                if failed:
                    raise SystemExit(f"{name}, {n}: node {failed} has no positive pivot")
                rounds = max(3, min(50, 200_000 // n)) if not quick else 5
                scene = solver.scene
                factor = least(solver.factor, rounds)
                solve = least(lambda s=solver, c=scene: s.solve(c.right, c.f.ravel(), np.zeros(c.rows)), rounds)
                plan = solver.plan
                points.append((f"{name}, {nv} columns", n, factor + solve))
                print(f"{name:<12}{nv:>8}{n:>8}{1e3 * solver.planning:>8.0f}{plan.largest_front:>7}{plan.cuts:>6}", end="")
                print(f"{1e6 * factor / n:>9.3f}{1e6 * solve / n:>8.3f}{1e6 * (factor + solve) / n:>8.3f}", end="")
                print("{:>10.0e}{:>10.0e}{:>11.0e}".format(*solver.errors()), flush=True)
    print(f"log–log plot: {plot(points, 'Multifrontal elimination: seconds to factor and solve', size_label='nodes')}")


if __name__ == "__main__":
    main()
