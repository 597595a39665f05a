"""SplineContact: a round, slippery body does not pass through itself (paper 000, §6, HAGFISH).

A Catmull–Rom spline goes through points p_k of bodies, its radius through theirs:

    x(s) = Σ_k w_k(s) p_k,   r(s) = Σ_k w_k(s) r_k         (s counts the points; the ends are continued in a straight line)

The spline is cut into `blocks` of equal length in s, and every pair of blocks that are not neighbours has one row, so that a row means the
same two stretches all the time:

    C = min g(s, t) ≥ 0,   g = |x(s) − x(t)| − r(s) − r(t),   s in block a, t in block b

The closest points come from the best pair of samples by Newton's method within the two blocks. With n the unit vector from x(t) to x(s),

    ∇g = (n·x′(s) − r′(s), −n·x′(t) − r′(t)),     ∂C/∂p_k = (w_k(s) − w_k(t)) n,     C̈ = ġ̇ − γᵀ H⁻¹ γ

the second because g is stationary in s and t (envelope theorem), the third with ġ̇ the second rate of g at fixed s and t, γ the rate of ∇g
there and H the second derivatives of g, both only in those of s and t that are not at an end of their block. The multiplier is the normal
force [N], ≥ 0; there is no friction. Rows of stretches farther apart than `margin` get C = FAR and no blocks, and so do rows whose closest
points lie where one block goes over into the next and the next is closer still: that contact is the next row's. (Said twice, it would be
two rows that nearly repeat each other.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint, Rows
from unibody.element import Kinematics, Point, number, point_of
from unibody.errors import ModelError
from unibody.spatial.pose import skew

__all__ = ["SplineContact"]

FAR = 1e3
"""C [m] of rows that take no part."""

SAMPLES = 2
"""Of the coarse search, per piece of the spline."""

NEWTON_LIMIT = 30
NEWTON_ENOUGH = 1e-10
"""Change of s or t, and of ∇g over |x′|, at which Newton's method ends."""

CATMULL_ROM = 0.5 * np.array([[0.0, 2, 0, 0], [-1, 0, 1, 0], [2, -5, 4, -1], [-1, 3, -3, 1]])
"""Weights of the four points around a piece, by powers of the place in it."""


@dataclass(frozen=True)
class SplineContact(Constraint):
    """Stretches of the spline through `points` keep apart by the sum of their radii, `radius` (a number, or one per point) [m].

    `blocks` stretches, in pairs that are not neighbours, so a block should be longer than the body is thick; pairs nearer than `margin` [m]
    (None: the largest radius) are looked at.

    >>> SplineContact([Point(f"link{k}") for k in range(20)], 0.01, blocks=5).rows
    6
    """

    points: Sequence[Point]
    radius: Any
    blocks: int = 10
    margin: float | None = None
    rows: int = field(default=0, init=False, repr=False, compare=False)
    units: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)

    unilateral = True

    def __post_init__(self) -> None:
        if not isinstance(self.points, Iterable):
            raise ModelError(f"SplineContact: points {self.points!r} are no list of points; give body.at(x, y, z) of several bodies")
        points = tuple(point_of(p, "SplineContact points") for p in self.points)
        if isinstance(self.blocks, bool) or not isinstance(self.blocks, int | np.integer) or self.blocks < 3:
            raise ModelError(f"SplineContact: blocks {self.blocks!r} leave no pair that are not neighbours; give 3 or more")
        if len(points) < self.blocks + 1:
            raise ModelError(f"SplineContact: {len(points)} points for {self.blocks} blocks; give {self.blocks + 1} points or more")
        try:
            radius = np.broadcast_to(np.asarray(self.radius, float), len(points))
        except (TypeError, ValueError, OverflowError):
            raise ModelError(f"SplineContact: radius {self.radius!r} does not fit {len(points)} points; give one, or one each") from None
        if not (np.isfinite(radius).all() and (radius > 0.0).all()):
            raise ModelError(f"SplineContact: radius {self.radius!r} is not positive everywhere; give numbers above 0")
        margin = float(radius.max()) if self.margin is None else number(self.margin, "SplineContact margin", positive=True)
        rows = (self.blocks - 1) * (self.blocks - 2) // 2
        settings = {
            "points": points, "radius": tuple(radius.tolist()), "blocks": int(self.blocks), "margin": margin, "rows": rows,
            "units": ("m",) * rows,
        }  # fmt: skip
        for name, value in settings.items():
            object.__setattr__(self, name, value)

    def bodies(self) -> list[str]:
        return list(dict.fromkeys(p.body for p in self.points))

    def evaluate(self, kinematics: Kinematics) -> Rows:
        at = np.array([kinematics.names.body(p.body) for p in self.points])
        X, V, y = kinematics.X[at], kinematics.V[at], np.array([p.p for p in self.points])
        R = X[:, :9].reshape(-1, 3, 3)
        turning = np.cross(V[:, :3], y)
        p = X[:, 9:] + np.einsum("kij,kj->ki", R, y)
        rate = np.einsum("kij,kj->ki", R, V[:, 3:] + turning)
        bend = np.einsum("kij,kj->ki", R, np.cross(V[:, :3], V[:, 3:] + turning))
        residual, bias, n, W = self.closest(p, rate, bend)
        used = np.flatnonzero(residual < FAR)
        G = {name: np.zeros((self.rows, 6)) for name in self.bodies()}
        for k in np.flatnonzero(np.any(W[used] != 0.0, axis=0)):
            pulled = (W[used, k, None] * n[used]) @ R[k]
            G[self.points[int(k)].body][used] += np.concatenate([pulled @ -skew(y[k]), pulled], axis=1)
        return Rows(residual, G, {}, bias)

    def closest(self, p: np.ndarray, rate: np.ndarray, bend: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """C (r), the bias (r), n (r×3) and the weights w(s) − w(t) of all points (r×n), for points at p that move at `rate` and have the
        accelerations `bend` when V̇ = 0, each (n, 3)."""
        spline = _Spline(p, np.array(self.radius))
        residual, bias = np.full(self.rows, FAR), np.zeros(self.rows)
        n_all, W_all = np.zeros((self.rows, 3)), np.zeros((self.rows, len(p)))
        row, s, t, lower, upper = self._candidates(spline)
        if row.size == 0:
            return residual, bias, n_all, W_all
        s, t = _newton(spline, s, t, lower, upper)
        g, n, H, free = _gap(spline, s, t, lower, upper)[:4]
        place = np.stack([s, t], axis=1)
        own = np.all(free | (place <= 0.0) | (place >= len(p) - 1 - 1e-9), axis=1)
        row, s, t, g, n, H, free = (x[own] for x in (row, s, t, g, n, H, free))
        w, dw = spline.weights(s, 0) - spline.weights(t, 0), (spline.weights(s, 1), spline.weights(t, 1))
        distance = g + spline.radius_at(s) + spline.radius_at(t)
        relative, along = w @ rate, np.einsum("ri,ri->r", n, w @ rate)
        across = (relative - along[:, None] * n) / distance[:, None]
        gamma = np.stack(
            [np.einsum("ri,ri->r", across, spline.at(s, 1)) + np.einsum("ri,ri->r", n, dw[0] @ rate),
             -np.einsum("ri,ri->r", across, spline.at(t, 1)) - np.einsum("ri,ri->r", n, dw[1] @ rate)], axis=1,
        )  # fmt: skip
        gamma = np.where(free, gamma, 0.0)
        H = np.where(free[:, :, None] & free[:, None, :], H, np.eye(2))
        follow = np.linalg.solve(_steepened(H), gamma[:, :, None])[:, :, 0]
        second = np.einsum("ri,ri->r", n, w @ bend) + distance * np.einsum("ri,ri->r", across, across)
        residual[row], bias[row], n_all[row], W_all[row] = g, second - np.einsum("ri,ri->r", gamma, follow), n, w
        return residual, bias, n_all, W_all

    def _candidates(self, spline: _Spline) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Rows whose stretches are nearer than the margin, the best samples (s, t), and the ends of their blocks (lower, upper: r×2)."""
        length = (len(self.points) - 1) / self.blocks
        per = max(2, int(np.ceil(length * SAMPLES)) + 1)
        place = (np.arange(self.blocks)[:, None] + np.linspace(0.0, 1.0, per)) * length
        x, r = spline.at(place.ravel(), 0), spline.radius_at(place.ravel())
        square = np.einsum("ri,ri->r", x, x)
        distance = np.sqrt(np.maximum(square[:, None] + square - 2.0 * x @ x.T, 0.0))
        gap = (distance - r[:, None] - r).reshape(self.blocks, per, self.blocks, per).transpose(0, 2, 1, 3)
        a, b = np.triu_indices(self.blocks, 2)
        pair = gap[a, b].reshape(a.size, -1)
        best = pair.argmin(axis=1)
        step = np.linalg.norm(np.diff(x.reshape(self.blocks, per, 3), axis=1), axis=2).max()
        row = np.flatnonzero(pair[np.arange(a.size), best] < self.margin + step)
        i, j = np.divmod(best[row], per)
        lower = np.stack([a[row], b[row]], axis=1) * length
        return row, place[a[row], i], place[b[row], j], lower, lower + length


class _Spline:
    """The spline at an instant: powers of the place in a piece, by piece."""

    def __init__(self, p: np.ndarray, r: np.ndarray):
        self.count = len(p)
        control = np.concatenate([p, r[:, None]], axis=1)
        first, last = 2.0 * control[:1] - control[1:2], 2.0 * control[-1:] - control[-2:-1]
        first[:, 3], last[:, 3] = control[0, 3], control[-1, 3]
        wide = np.concatenate([first, control, last])
        around = np.stack([wide[k : k + self.count - 1] for k in range(4)], axis=1)
        self.powers = np.einsum("ij,pjc->pic", CATMULL_ROM, around)

    def _place(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        piece = np.clip(s.astype(int), 0, self.count - 2)
        return piece, s - piece

    def at(self, s: np.ndarray, order: int) -> np.ndarray:
        """x or its derivative, (m, 3)."""
        return self._all(s, order)[:, :3]

    def radius_at(self, s: np.ndarray, order: int = 0) -> np.ndarray:
        """r or its derivative, (m,)."""
        return self._all(s, order)[:, 3]

    def _all(self, s: np.ndarray, order: int) -> np.ndarray:
        piece, u = self._place(s)
        return np.einsum("mi,mic->mc", _powers(u, order), self.powers[piece])

    def weights(self, s: np.ndarray, order: int) -> np.ndarray:
        """w_k or its derivative, (m, n): ends continued in a straight line weigh on the two points next to them."""
        piece, u = self._place(s)
        four = _powers(u, order) @ CATMULL_ROM
        wide = np.zeros((s.size, self.count + 2))
        wide[np.arange(s.size)[:, None], piece[:, None] + np.arange(4)] = four
        out = wide[:, 1:-1].copy()
        out[:, 0] += 2.0 * wide[:, 0]
        out[:, 1] -= wide[:, 0]
        out[:, -1] += 2.0 * wide[:, -1]
        out[:, -2] -= wide[:, -1]
        return out


def _powers(u: np.ndarray, order: int) -> np.ndarray:
    """1, u, u², u³ or their derivatives, (m, 4)."""
    one, none = np.ones_like(u), np.zeros_like(u)
    if order == 0:
        return np.stack([one, u, u * u, u**3], axis=1)
    if order == 1:
        return np.stack([none, one, 2.0 * u, 3.0 * u * u], axis=1)
    return np.stack([none, none, 2.0 * one, 6.0 * u], axis=1)


def _gap(
    spline: _Spline, s: np.ndarray, t: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """g, n, its second derivatives H, which of s and t are free to move, and ∇g."""
    x, dx, ddx = (spline._all(s, k) for k in range(3))
    z, dz, ddz = (spline._all(t, k) for k in range(3))
    d = x[:, :3] - z[:, :3]
    distance = np.maximum(np.linalg.norm(d, axis=1), 1e-12)
    n = d / distance[:, None]
    n_x, n_z = np.einsum("ri,ri->r", n, dx[:, :3]), np.einsum("ri,ri->r", n, dz[:, :3])
    gradient = np.stack([n_x - dx[:, 3], -n_z - dz[:, 3]], axis=1)
    H = np.empty((s.size, 2, 2))
    H[:, 0, 0] = np.einsum("ri,ri->r", n, ddx[:, :3]) + (np.einsum("ri,ri->r", dx[:, :3], dx[:, :3]) - n_x**2) / distance - ddx[:, 3]
    H[:, 1, 1] = -np.einsum("ri,ri->r", n, ddz[:, :3]) + (np.einsum("ri,ri->r", dz[:, :3], dz[:, :3]) - n_z**2) / distance - ddz[:, 3]
    H[:, 0, 1] = H[:, 1, 0] = -(np.einsum("ri,ri->r", dx[:, :3], dz[:, :3]) - n_x * n_z) / distance
    place = np.stack([s, t], axis=1)
    free = ~(((place <= lower) & (gradient > 0.0)) | ((place >= upper) & (gradient < 0.0)))
    return distance - x[:, 3] - z[:, 3], n, H, free, gradient


def _steepened(H: np.ndarray) -> np.ndarray:
    """H with its eigenvalues made positive, at least 1e-9 of the largest."""
    values, axes = np.linalg.eigh(H)
    values = np.abs(values)
    values = np.maximum(values, 1e-9 * values.max(axis=1, keepdims=True) + 1e-300)
    return np.einsum("rij,rj,rkj->rik", axes, values, axes)


def _newton(spline: _Spline, s: np.ndarray, t: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Minimisers of g within the blocks: Newton's steps where they descend, shortened until they do."""
    place = np.stack([s, t], axis=1)
    g, _, H, free, gradient = _gap(spline, s, t, lower, upper)
    for _ in range(NEWTON_LIMIT):
        down = np.where(free, gradient, 0.0)
        H = np.where(free[:, :, None] & free[:, None, :], H, np.eye(2))
        step = -np.linalg.solve(_steepened(H), down[:, :, None])[:, :, 0]
        step *= np.minimum(1.0, 0.5 / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-300))
        size = np.ones(len(place))
        for _ in range(8):
            moved = np.clip(place + size[:, None] * step, lower, upper)
            found = _gap(spline, moved[:, 0], moved[:, 1], lower, upper)
            worse = found[0] > g + 1e-16
            if not worse.any():
                break
            size = np.where(worse, 0.5 * size, size)
        change = np.abs(moved - place).max()
        place, (g, _, H, free, gradient) = moved, found
        if change < NEWTON_ENOUGH:
            break
    return place[:, 0], place[:, 1]
