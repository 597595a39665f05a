"""Chains of slender links: hanging from one end, and between two supports."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.parts import HINGE, rod_shape
from unibody.spatial.pose import Pose

if TYPE_CHECKING:
    from unibody.model import Body, Builder


@dataclass(frozen=True)
class HangingChain:
    """n slender links of length l and mass m, hung at the origin; θᵢ from the vertical, absolute, counter-clockwise.

    Small motions: M θ̈ + K θ = 0 with x of link i's middle l (Σ_{j<i} θⱼ + θᵢ/2), so M = Xᵀ m X + m l²/12, K = m g l diag(n − i + ½).
    Many links approach the heavy string, ω = j₀ₖ/2 √(g/L) with the zeros j₀ₖ of J₀ (Bernoulli 1738).
    """

    n: int
    length: float
    """Of the whole chain [m]."""
    mass: float
    """Of the whole chain [kg]."""
    gravity: float
    mode: int = 0
    amplitude: float = 0.0

    def tension(self, joint: int) -> float:
        """Force in joint 0 … n − 1 (from the top) of the chain at rest: the weight below it [N]."""
        return self.mass * self.gravity * (self.n - joint) / self.n

    @cached_property
    def modes(self) -> tuple[np.ndarray, np.ndarray]:
        """Frequencies (n,) [rad/s], ascending, and shapes (n, n) as columns, each with its largest angle 1."""
        n, link, m = self.n, self.length / self.n, self.mass / self.n
        X = link * (np.tri(n, k=-1) + 0.5 * np.eye(n))
        M = m * X.T @ X + m * link**2 / 12.0 * np.eye(n)
        K = m * self.gravity * link * (n - np.arange(1, n + 1) + 0.5)
        scaled = M / np.sqrt(np.outer(K, K))
        values, vectors = np.linalg.eigh(scaled)
        shapes = vectors[:, ::-1] / np.sqrt(K)[:, None]
        return 1.0 / np.sqrt(values[::-1]), shapes / shapes[np.abs(shapes).argmax(axis=0), np.arange(n)]

    def continuum_frequency(self, mode: int) -> float:
        """Frequency of the heavy string's mode 1, 2, … [rad/s]."""
        from scipy.special import jn_zeros

        return float(0.5 * jn_zeros(0, mode)[-1] * math.sqrt(self.gravity / self.length))

    def angles(self, t: np.ndarray) -> np.ndarray:
        """θ at small amplitude, (…, n) [rad]; the error is of the order of the amplitude cubed."""
        t = np.asarray(t, dtype=float)
        if self.mode == 0:
            return np.zeros((*t.shape, self.n))
        frequencies, shapes = self.modes
        return self.amplitude * np.cos(frequencies[self.mode - 1] * t)[..., None] * shapes[:, self.mode - 1]


@scene("heavy-chain", summary="a chain hung from one end: known joint forces at rest, known modes of small swings")
def heavy_chain(
    *,
    n: int = 10,
    length: float = 1.0,
    mass: float = 1.0,
    mode: int = 1,
    amplitude: float = 0.01,
    gravity: float = 9.81,
    planar: bool = True,
) -> Scene:
    """Released from a mode's shape (1 is the slowest; 0 hangs at rest); `amplitude` is the largest angle of a link."""
    import unibody as ub

    require("heavy-chain", n >= 1, f"n={n} links are too few; give 1 or more")
    require("heavy-chain", length > 0 and gravity > 0, f"length={length}, gravity={gravity} must be positive")
    require("heavy-chain", 0 <= mode <= n, f"mode={mode} does not exist; give 0 … {n}")
    exact = HangingChain(n, length, mass, gravity, mode, amplitude)
    b = ub.Builder(gravity=(0, 0, -gravity), planar=planar)
    start = exact.angles(np.array(0.0))
    _hang(b, [float(angle) - 0.5 * math.pi for angle in start], length / n, mass / n, np.zeros(3))
    notes = "Joint 0 counts from x; at rest joint k carries exact.tension(k); small swings follow exact.angles(t) − π/2, absolute."
    return Scene(b.build(), 4.0, 1e-3, exact, notes)


def _hang(b: Builder, angles: list[float], link: float, mass: float, start: np.ndarray) -> Body:
    """Links along absolute angles from x, the first pinned to the world at `start`; returns the last one's handle."""
    import unibody as ub

    hinge, shape = ub.Revolute(axis=HINGE), rod_shape(link, 0.3 * link)
    parent, X_PF, before = b.world, Pose(p=start), 0.0
    for i, angle in enumerate(angles):
        body = b.body(f"link{i}", shape=shape, mass=mass)
        b.joint(f"joint{i}", hinge, parent=parent, child=body, X_PF=X_PF, X_BM=Pose(p=(-0.5 * link, 0, 0)), q=angle - before)
        parent, X_PF, before = body, Pose(p=(0.5 * link, 0, 0)), angle
    return parent


@dataclass(frozen=True)
class Catenary:
    """A chain between two supports at one height, `span` apart, at rest.

    Continuum: z = a cosh(x/a), with sinh(span/2a) = length/2a; sag = a (cosh(span/2a) − 1); H = a · weight per length.
    n rigid links of weight w: moments about a link's end give tan φₖ = Vₖ/H with Vₖ = w (k − (n+1)/2), k = 1 … n, the vertical
    force at its middle; the span Σ (length/n) cos φₖ fixes H. Symmetry gives each support half the weight.
    """

    n: int
    span: float
    length: float
    mass: float
    """Of the whole chain [kg]."""
    gravity: float

    @cached_property
    def a(self) -> float:
        """The continuum's parameter H / (weight per length) [m]."""
        ratio = self.length / self.span
        return self.span / (2.0 * _root(lambda x: math.sinh(x) / x - ratio, 1e-8, 700.0))

    @property
    def sag(self) -> float:
        """Of the continuum [m]."""
        return self.a * (math.cosh(0.5 * self.span / self.a) - 1.0)

    @property
    def horizontal_force(self) -> float:
        """H of the continuum [N]."""
        return self.a * self.mass * self.gravity / self.length

    @cached_property
    def link_horizontal_force(self) -> float:
        """H of the chain of n links [N]."""
        V = self._vertical
        link = self.length / self.n
        weight = self.mass * self.gravity
        return _root(lambda H: float(link * (H / np.hypot(H, V)).sum()) - self.span, 1e-12 * weight, 1e12 * weight)

    @property
    def _vertical(self) -> np.ndarray:
        return self.mass * self.gravity / self.n * (np.arange(1, self.n + 1) - 0.5 * (self.n + 1))

    @property
    def angles(self) -> np.ndarray:
        """Of the links from x, left to right, (n,) [rad]."""
        return np.arctan2(self._vertical, self.link_horizontal_force)

    @property
    def joints(self) -> np.ndarray:
        """Positions of the n + 1 joints from the left support at the origin, (n + 1, 3) [m]."""
        angles, link = self.angles, self.length / self.n
        steps = link * np.stack([np.cos(angles), np.zeros(self.n), np.sin(angles)], axis=1)
        return np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])

    @property
    def link_sag(self) -> float:
        """Depth of the lowest joint of the chain of n links [m]."""
        return float(-self.joints[:, 2].min())

    def force(self, joint: int) -> np.ndarray:
        """Force of joint 0 … n on what follows it to the right, at rest, (3,) [N]."""
        H, W = self.link_horizontal_force, self.mass * self.gravity
        return np.array([-H, 0.0, 0.5 * W - joint * W / self.n])


@scene("catenary", summary="a chain between two supports, at rest or falling into its catenary")
def catenary(
    *,
    n: int = 20,
    span: float = 1.0,
    length: float = 1.5,
    mass: float = 1.0,
    start: Literal["rest", "vee"] = "rest",
    gravity: float = 9.81,
    planar: bool = True,
) -> Scene:
    """`start="rest"` is the exact equilibrium of the links; `start="vee"` releases two straight halves."""
    import unibody as ub

    require("catenary", n >= 2, f"n={n} links are too few; give 2 or more")
    require("catenary", gravity > 0, f"gravity={gravity} must be positive for a chain to hang")
    require("catenary", length > span > 0, f"length={length} must exceed span={span} > 0")
    require(
        "catenary",
        n % 2 == 0 or length / n < span,
        f"n={n}: the middle link is longer than span={span}; give more links or an even n",
    )
    exact = Catenary(n, span, length, mass, gravity)
    link, half = length / n, n // 2
    slope = math.acos((span - (n % 2) * link) / (2 * half * link))
    angles = exact.angles if start == "rest" else np.array([-slope] * half + [0.0] * (n % 2) + [slope] * half)
    b = ub.Builder(gravity=(0, 0, -gravity), planar=planar)
    last = _hang(b, [float(angle) for angle in angles], link, mass / n, np.zeros(3))
    hinge, X_PF, X_BM = ub.Revolute(axis=HINGE), Pose(p=(span, 0, 0)), Pose(p=(0.5 * link, 0, 0))
    b.joint(f"joint{n}", hinge, parent=b.world, child=last, X_PF=X_PF, X_BM=X_BM, q=float(angles[-1]))
    notes = "At rest joint k < n carries exact.force(k) on the link that follows; the last joint holds the chain with −exact.force(n)."
    return Scene(b.build(), 2.0, 1e-3, exact, notes)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """The zero of an increasing function between low and high, by bisection in the logarithm and to the last bit."""
    while True:
        middle = math.sqrt(low * high)
        if not low < middle < high:
            return middle
        low, high = (middle, high) if function(middle) < 0.0 else (low, middle)
