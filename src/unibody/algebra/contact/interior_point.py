"""Contact with friction under the convex law by an interior point: a path inside the cones that neither conditioning nor repeats block.

    û = Ŵ x + b̂,   x ∘ û = τ e  in every cone,   τ → 0

With Nesterov and Todd's scaling H x = û (H block diagonal, positive), a step solves (Ŵ + H) dx = …, regular however singular Ŵ is.
Mehrotra's predictor says how far τ may fall, and corrects for the product of the changes. Bounded rows are intervals with their own
slacks; free rows have none. Coulomb's law comes through `de_saxce`.

Cones are handled as rows of four numbers, absent tangents zero.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unibody.algebra.contact.scaling import Progress, ScaledProblem

TO_THE_WALL = 0.99
SHORTEST = 1e-9
STEADY, HELD = 1e-13, 1e15
"""Added to the diagonal of free rows, so that equations which repeat each other can be solved; and of rows whose bounds are one number."""
FLIP = np.array([1.0, -1.0, -1.0, -1.0])


class Cones:
    """The contact blocks of a problem, gathered into rows of four."""

    def __init__(self, scaled: ScaledProblem):
        self.which = np.flatnonzero(scaled.rows > 1)
        place = np.arange(4)
        self.present = place < scaled.rows[self.which][:, None]
        self.index = np.where(self.present, scaled.start[self.which][:, None] + place, 0)

    def take(self, x: np.ndarray) -> np.ndarray:
        return np.where(self.present, x[self.index], 0.0)

    def put(self, rows: np.ndarray, x: np.ndarray) -> None:
        x[self.index[self.present]] = rows[self.present]


def determinant(x: np.ndarray) -> np.ndarray:
    tangent = np.sqrt((x[:, 1:] ** 2).sum(axis=1))
    return np.maximum((x[:, 0] - tangent) * (x[:, 0] + tangent), 1e-300)


def jordan(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a ∘ b."""
    found = a[:, :1] * b + b[:, :1] * a
    found[:, 0] = (a * b).sum(axis=1)
    return found


def divide(v: np.ndarray, r: np.ndarray) -> np.ndarray:
    """y with v ∘ y = r."""
    det = determinant(v)
    first = (v * FLIP * r).sum(axis=1) / det
    found = (r - first[:, None] * v) / v[:, :1]
    found[:, 0] = first
    return found


def reach(x: np.ndarray, d: np.ndarray) -> float:
    """The largest part of d that keeps every x in its cone."""
    if not len(x):
        return np.inf
    a = (d * FLIP * d).sum(axis=1)
    b = (x * FLIP * d).sum(axis=1)
    c = determinant(x)
    inside = np.maximum(b * b - a * c, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = c / (np.sqrt(inside) - b)
    limit = np.where((b * b < a * c) | ~(root > 0.0), np.inf, root)
    falling = d[:, 0] < 0.0
    limit = np.minimum(limit, np.where(falling, -x[:, 0] / np.where(falling, d[:, 0], -1.0), np.inf))
    return float(limit.min())


class NesterovTodd:
    """Nesterov and Todd's scaling: H x = u, H = G², v = G x = G⁻¹ u."""

    def __init__(self, x: np.ndarray, u: np.ndarray):
        dx, du = np.sqrt(determinant(x))[:, None], np.sqrt(determinant(u))[:, None]
        x, u = x / dx, u / du
        gamma = np.sqrt(0.5 * (1.0 + (x * u).sum(axis=1)))[:, None]
        w = 0.5 * (u + FLIP * x) / gamma
        w[:, 0] = np.sqrt(1.0 + (w[:, 1:] ** 2).sum(axis=1))
        self.w, self.eta = w, du / dx
        self.root = np.sqrt(self.eta)
        self.v = self.times(x * dx)

    def times(self, y: np.ndarray) -> np.ndarray:
        """G y."""
        return self.root * self._arrow(self.w, y)

    def over(self, y: np.ndarray) -> np.ndarray:
        """G⁻¹ y."""
        return self._arrow(self.w * FLIP, y) / self.root

    @staticmethod
    def _arrow(w: np.ndarray, y: np.ndarray) -> np.ndarray:
        side = (w[:, 1:] * y[:, 1:]).sum(axis=1)
        found = y + w * (y[:, 0] + side / (1.0 + w[:, 0]))[:, None]
        found[:, 0] = w[:, 0] * y[:, 0] + side
        return found

    def matrices(self) -> np.ndarray:
        """H, (k, 4, 4)."""
        return self.eta[:, :, None] * (2.0 * self.w[:, :, None] * self.w[:, None, :] - np.diag(FLIP))


class Interior:
    """The iterate: x, the cones' velocities u, and the slacks of bounded rows."""

    def __init__(self, scaled: ScaledProblem):
        self.scaled, self.cones = scaled, Cones(scaled)
        single = np.flatnonzero(scaled.rows == 1)
        self.row, self.lower, self.upper = scaled.start[single], scaled.lower[single], scaled.upper[single]
        self.fixed = self.row[self.lower == self.upper]
        below, above = np.isfinite(self.lower), np.isfinite(self.upper)
        loose = self.lower < self.upper
        self.below, self.above = np.flatnonzero(below & loose), np.flatnonzero(above & loose)
        self.free = self.row[~below & ~above]
        self.W = scaled.W
        size = float(np.abs(scaled.b).max(initial=0.0)) or 1.0
        self.x = np.zeros(scaled.size)
        width = np.where(below & above & loose, self.upper - self.lower, np.inf)
        inner = np.minimum(size, 0.5 * np.where(np.isfinite(width), width, np.inf))
        self.x[self.row] = np.where(below, self.lower + np.where(loose, inner, 0.0), np.where(above, self.upper - inner, 0.0))
        self.cones.put(np.tile([size, 0.0, 0.0, 0.0], (len(self.cones.which), 1)), self.x)
        self.u = np.tile([size, 0.0, 0.0, 0.0], (len(self.cones.which), 1))
        self.z_below, self.z_above = np.full(self.below.size, size), np.full(self.above.size, size)
        self.degree = len(self.u) + self.below.size + self.above.size

    def gaps(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distances from the bounds below and above."""
        single = x[self.row]
        return (single - self.lower)[self.below], (self.upper - single)[self.above]

    def complementarity(self) -> float:
        below, above = self.gaps(self.x)
        total = (self.cones.take(self.x) * self.u).sum() + below @ self.z_below + above @ self.z_above
        return float(total / max(self.degree, 1))

    def factor(self, H: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """A function that solves (Ŵ + H) d = r."""
        n, present = self.scaled.size, self.cones.present
        both = present[:, :, None] & present[:, None, :]
        i = np.broadcast_to(self.cones.index[:, :, None], H.shape)[both]
        j = np.broadcast_to(self.cones.index[:, None, :], H.shape)[both]
        below, above = self.gaps(self.x)
        diagonal = np.zeros(n)
        diagonal[self.row[self.below]] += self.z_below / below
        diagonal[self.row[self.above]] += self.z_above / above
        diagonal[self.free] += STEADY
        diagonal[self.fixed] = HELD
        import scipy.linalg as sl

        G = self.W.copy()
        G[i, j] += H[both]
        G[np.arange(n), np.arange(n)] += diagonal
        try:
            factors = sl.cho_factor(G, check_finite=False)
            return lambda r: sl.cho_solve(factors, r, check_finite=False)
        except sl.LinAlgError:  # near the end H spans more than the digits there are
            return lambda r: np.linalg.solve(G, r)

    def advance(self) -> float:
        """One predictor and corrector; how far it went, 0 if it could not."""
        # the scaling H = G², v = G x = G⁻¹ u, and the complementarity τ
        velocity = self.W @ self.x + self.scaled.b
        xs = self.cones.take(self.x)
        scaling = NesterovTodd(xs, self.u)
        tau = self.complementarity()
        square = jordan(scaling.v, scaling.v)
        below, above = self.gaps(self.x)

        def direction(target, cone_extra, below_extra, above_extra):
            """d with (Ŵ + H) d = −û + G L_v⁻¹ (target e − v ∘ v − extra), and how cones and slacks go with it."""
            wanted = -square - cone_extra
            wanted[:, 0] += target
            push = scaling.times(divide(scaling.v, wanted))
            right = -velocity.copy()
            right[self.row[self.below]] += (target - below_extra) / below
            right[self.row[self.above]] -= (target - above_extra) / above
            right[self.fixed] = 0.0
            rows = self.cones.take(right) + self.u + push
            self.cones.put(rows, right)
            d = solve(right)
            dc = self.cones.take(d)
            du = push - scaling.times(scaling.times(dc))
            single = d[self.row]
            z_below = (target - below_extra) / below - self.z_below - self.z_below / below * single[self.below]
            z_above = (target - above_extra) / above - self.z_above + self.z_above / above * single[self.above]
            return d, dc, du, single, z_below, z_above

        def longest(d, dc, du, single, z_below, z_above):
            """The largest part of a direction that leaves all cones and slacks positive."""
            limits = [reach(xs, dc), reach(self.u, du)]
            for value, change in (
                (below, single[self.below]), (above, -single[self.above]), (self.z_below, z_below), (self.z_above, z_above),
            ):  # fmt: skip
                falling = change < 0.0
                if falling.any():
                    limits.append(float((-value[falling] / change[falling]).min()))
            return min(limits)

        try:
            solve = self.factor(scaling.matrices())
            # Mehrotra's predictor: straight to τ = 0, as far as it goes; how much is left says how far τ may fall
            trial = direction(0.0, 0.0, 0.0, 0.0)
            t = min(1.0, longest(*trial))
            _, dc, du, single, z_below, z_above = trial
            after = ((xs + t * dc) * (self.u + t * du)).sum()
            after += (below + t * single[self.below]) @ (self.z_below + t * z_below)
            after += (above - t * single[self.above]) @ (self.z_above + t * z_above)
            centre = min(1.0, max((after / max(self.degree, 1) / tau), 0.0) ** 3) if self.degree and tau > 0.0 else 0.0
            # the corrector, with the products of the predictor's changes
            extra = jordan(scaling.times(dc), scaling.over(du))
            taken = direction(centre * tau, extra, single[self.below] * z_below, -single[self.above] * z_above)
        except (RuntimeError, ValueError):
            return 0.0
        if not all(np.isfinite(part).all() for part in taken):
            return 0.0
        # the step, a little short of the wall
        t = min(1.0, TO_THE_WALL * longest(*taken))
        d, _, du, _, z_below, z_above = taken
        self.x, self.u = self.x + t * d, self.u + t * du
        self.z_below, self.z_above = self.z_below + t * z_below, self.z_above + t * z_above
        return t


def interior(scaled: ScaledProblem, tolerance: float, iterations: int) -> Progress:
    """From the middle of the cones; a warm start would lie on their walls."""
    point = Interior(scaled)
    best = Progress(point.x.copy())
    best.offer(scaled, point.x, scaled.velocity(point.x))
    for _ in range(iterations):
        with np.errstate(all="ignore"):
            moved = point.advance()
        best.iterations += 1
        if moved < SHORTEST or not np.isfinite(point.x).all():
            break
        u = scaled.velocity(point.x)
        best.offer(scaled, point.x, u)
        if best.velocity <= max(tolerance, scaled.round_off(best.x)) or (point.degree and point.complementarity() < 1e-26):
            break
    best.notes.append(f"{best.iterations} interior-point steps")
    return best
