"""Planar linkages with one degree of freedom: four-bar, slider-crank, Peaucellier–Lipkin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.one_degree import OneDegree
from unibody.scenes.parts import angle_of, direction, meet, planar_linkage
from unibody.scenes.pendulums import PendulumSolution

ORIGIN = np.zeros(3)


@dataclass(frozen=True)
class Linkage:
    """Closed-form geometry `shape` and the reference motion `motion` of a linkage; θ is the angle of the crank."""

    shape: FourBar | SliderCrank | Peaucellier
    motion: OneDegree


@dataclass(frozen=True)
class FourBar:
    """Hinges at O = 0 and D = (ground, 0, 0); crank O–A, coupler A–B, rocker D–B, B to one side of A → D.

    Freudenstein's equation for the crank's angle θ and the rocker's φ:
    (d/a) cos φ − (d/c) cos θ + (a² − b² + c² + d²)/(2 a c) = cos(θ − φ).
    """

    ground: float
    crank: float
    coupler: float
    rocker: float
    side: float = 1.0

    def points(self, theta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A, B, D in the world, (3,) each."""
        A, D = self.crank * direction(theta), np.array([self.ground, 0.0, 0.0])
        return A, meet(A, D, self.coupler, self.rocker, self.side), D

    def segments(self, theta: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        A, B, D = self.points(theta)
        return {"crank": (ORIGIN, A), "coupler": (A, B), "rocker": (D, B)}

    def rocker_angle(self, theta: float) -> float:
        """φ(θ) from x, counter-clockwise [rad]."""
        _, B, D = self.points(theta)
        return angle_of(B - D)

    def freudenstein(self, theta: float, phi: float) -> float:
        """The residual of Freudenstein's equation, 0 for a closed linkage."""
        d, a, b, c = self.ground, self.crank, self.coupler, self.rocker
        constant = (a * a - b * b + c * c + d * d) / (2.0 * a * c)
        return d / a * math.cos(phi) - d / c * math.cos(theta) + constant - math.cos(theta - phi)


def _four_bar(
    name: str,
    planar: bool,
    lengths: tuple[float, float, float, float],
    angle: float,
    rate: float,
    gravity: float,
    mass_per_length: float,
) -> Scene:
    import unibody as ub

    require(name, min(lengths) > 0, f"lengths {lengths} must be positive")
    shape = FourBar(*lengths)
    A, B, D = shape.points(angle)
    require(name, bool(np.isfinite(B).all()), f"lengths {lengths} do not close at angle={angle}; lengthen coupler or rocker")
    b = ub.Builder(gravity=(0, 0, -gravity), planar=planar)
    linkage = planar_linkage(b, shape.segments, mass_per_length, 0.06 * max(lengths), angle, rate, gravity)
    linkage.pin("O", "world", "crank", ORIGIN)
    linkage.pin("A", "crank", "coupler", A)
    linkage.pin("D", "world", "rocker", D)
    linkage.pin("B", "coupler", "rocker", B)
    notes = "Joint 'O' is the crank's angle: exact.motion.solve(t). The rocker's is exact.shape.rocker_angle(θ)."
    return Scene(b.build(), 5.0, 1e-3, Linkage(shape, linkage.reference), notes)


@scene("four-bar", summary="a planar four-bar linkage whose crank can turn over")
def four_bar(
    *,
    ground: float = 1.0,
    crank: float = 0.3,
    coupler: float = 0.9,
    rocker: float = 0.7,
    angle: float = 1.0,
    rate: float = 0.0,
    gravity: float = 9.81,
    mass_per_length: float = 1.0,
) -> Scene:
    """Slender rods; `angle` and `rate` are the crank's, from x, counter-clockwise."""
    return _four_bar("four-bar", True, (ground, crank, coupler, rocker), angle, rate, gravity, mass_per_length)


@scene("spatial-four-bar", summary="the same four-bar of 3D hinges: three redundant constraints")
def spatial_four_bar(
    *,
    ground: float = 1.0,
    crank: float = 0.3,
    coupler: float = 0.9,
    rocker: float = 0.7,
    angle: float = 1.0,
    rate: float = 0.0,
    gravity: float = 9.81,
    mass_per_length: float = 1.0,
) -> Scene:
    """As four-bar, in a 3D world: its hinges forbid three motions twice."""
    return _four_bar("spatial-four-bar", False, (ground, crank, coupler, rocker), angle, rate, gravity, mass_per_length)


@dataclass(frozen=True)
class SliderCrank:
    """A crank of length r about the origin, a rod of length l to a slider on the x axis: x = r cos θ + √(l² − r² sin² θ)."""

    crank: float
    rod: float
    slider: float
    """Length of the slider's block along x."""

    def position(self, theta: float) -> float:
        """x of the slider [m]."""
        return self.crank * math.cos(theta) + math.sqrt(self.rod**2 - (self.crank * math.sin(theta)) ** 2)

    def velocity(self, theta: float, rate: float) -> float:
        """ẋ of the slider [m/s]."""
        r, s, c = self.crank, math.sin(theta), math.cos(theta)
        return -r * s * (1.0 + r * c / math.sqrt(self.rod**2 - r * r * s * s)) * rate

    def segments(self, theta: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        A, B, half = self.crank * direction(theta), np.array([self.position(theta), 0, 0]), np.array([0.5 * self.slider, 0, 0])
        return {"crank": (ORIGIN, A), "rod": (A, B), "slider": (B - half, B + half)}


@scene("slider-crank", summary="a crank, a connecting rod and a slider")
def slider_crank(
    *,
    crank: float = 0.3,
    rod: float = 0.8,
    slider: float = 0.25,
    angle: float = 0.5 * math.pi,
    rate: float = 5.0,
    gravity: float = 9.81,
    mass_per_length: float = 1.0,
    planar: bool = True,
) -> Scene:
    """`angle` and `rate` are the crank's. In a 3D world (planar=false) the loop has redundant constraints."""
    import unibody as ub

    require("slider-crank", rod > crank > 0, f"rod={rod} must be longer than crank={crank} > 0")
    shape = SliderCrank(crank, rod, slider)
    b = ub.Builder(gravity=(0, 0, -gravity), planar=planar)
    linkage = planar_linkage(b, shape.segments, mass_per_length, 0.05, angle, rate, gravity)
    A, B = shape.segments(angle)["rod"]
    linkage.pin("O", "world", "crank", ORIGIN)
    linkage.pin("A", "crank", "rod", A)
    b.joint(
        "guide",
        ub.Prismatic(axis=(1, 0, 0)),
        b.world,
        linkage.bars["slider"],
        q=shape.position(angle),
        v=shape.velocity(angle, rate),
    )
    linkage.pin("B", "rod", "slider", B)
    notes = "Joint 'O' is the crank's angle: exact.motion.solve(t); joint 'guide' is exact.shape.position(θ)."
    return Scene(b.build(), 5.0, 1e-3, Linkage(shape, linkage.reference), notes)


@dataclass(frozen=True)
class Peaucellier:
    """The Peaucellier–Lipkin cell, hung from O = 0.

    Long bars a from O to P and Q and a rhombus P S Q T of side b make |OS| |OT| = a² − b²: T is S inverted in a circle. The crank C–S,
    as long as |OC| = r, keeps S on a circle through O, so that T stays on the line z = −(a² − b²)/(2 r).
    With θ the crank's angle from the vertical, S lies in the direction ψ = θ/2 from the vertical at |OS| = 2 r cos ψ.
    """

    long: float
    side: float
    crank: float

    @property
    def line(self) -> float:
        """z of the straight line that T follows [m]."""
        return -(self.long**2 - self.side**2) / (2.0 * self.crank)

    def points(self, theta: float) -> dict[str, np.ndarray]:
        """C, S, T, P, Q in the world, (3,) each."""
        psi = 0.5 * theta
        e = np.array([math.sin(psi), 0.0, -math.cos(psi)])
        n = np.array([math.cos(psi), 0.0, math.sin(psi)])
        inner = 2.0 * self.crank * math.cos(psi)
        outer = (self.long**2 - self.side**2) / inner
        middle = 0.5 * (inner + outer)
        height2 = self.long**2 - middle**2
        height = math.sqrt(height2) if height2 >= 0.0 else math.nan
        C = np.array([0.0, 0.0, -self.crank])
        return {"C": C, "S": inner * e, "T": outer * e, "P": middle * e + height * n, "Q": middle * e - height * n}

    def segments(self, theta: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        p = self.points(theta)
        ends = {"OP": (ORIGIN, p["P"]), "OQ": (ORIGIN, p["Q"]), "crank": (p["C"], p["S"])}
        return ends | {name: (p[name[0]], p[name[1]]) for name in ("PS", "PT", "QS", "QT")}


@scene("peaucellier", summary="the Peaucellier–Lipkin cell: seven bars that draw a straight line")
def peaucellier(
    *,
    long: float = 1.0,
    side: float = 0.4,
    crank: float = 0.4,
    angle: float = 0.8,
    rate: float = 0.0,
    gravity: float = 9.81,
    mass_per_length: float = 1.0,
) -> Scene:
    """It swings like a pendulum; `angle` and `rate` are the crank's, from the vertical."""
    import unibody as ub

    require("peaucellier", long > side > 0 and crank > 0, f"long={long} must exceed side={side} > 0, and crank={crank} > 0")
    shape = Peaucellier(long, side, crank)
    p = shape.points(angle)
    require("peaucellier", bool(np.isfinite(p["P"]).all()), f"angle={angle} is out of the cell's reach; give a smaller one")
    b = ub.Builder(gravity=(0, 0, -gravity), planar=True)
    linkage = planar_linkage(b, shape.segments, mass_per_length, 0.04 * long, angle, rate, gravity)
    linkage.pin("C", "world", "crank", p["C"])
    linkage.pin("O-OP", "world", "OP", ORIGIN)
    linkage.pin("O-OQ", "world", "OQ", ORIGIN)
    linkage.pin("P-PS", "OP", "PS", p["P"])
    linkage.pin("P-PT", "OP", "PT", p["P"])
    linkage.pin("Q-QS", "OQ", "QS", p["Q"])
    linkage.pin("Q-QT", "OQ", "QT", p["Q"])
    linkage.pin("S-PS", "crank", "PS", p["S"])
    linkage.pin("S-QS", "crank", "QS", p["S"])
    linkage.pin("T", "PT", "QT", p["T"])
    notes = "The end of bar 'PT' stays at height exact.shape.line."
    return Scene(b.build(), 5.0, 1e-3, Linkage(shape, linkage.reference), notes)


@dataclass(frozen=True)
class Windows:
    """N windows in a row, one degree of freedom θ from the vertical: θ̈ = (c g / (I l)) sin θ, I = (N + 1)/3 + N, c = (N + 1)/2 + N."""

    n: int
    length: float
    gravity: float
    rate0: float

    @cached_property
    def _pendulum(self) -> PendulumSolution:
        inertia, lever = (self.n + 1) / 3.0 + self.n, (self.n + 1) / 2.0 + self.n
        # Counter-clockwise from hanging down; θ counts clockwise from the top.
        return PendulumSolution(math.sqrt(lever * self.gravity / (inertia * self.length)), math.pi, -self.rate0)

    @property
    def period(self) -> float:
        """Of a revolution [s]."""
        return self._pendulum.period

    def angle(self, t: np.ndarray) -> np.ndarray:
        """θ(t) from the vertical, clockwise [rad]."""
        return math.pi - self._pendulum.angle(t)

    def rate(self, t: np.ndarray) -> np.ndarray:
        """θ̇(t) [rad/s]."""
        return -self._pendulum.rate(t)

    def B0(self, t: np.ndarray) -> np.ndarray:
        """x, z, ẋ, ż of the first window's upper left corner, (…, 4)."""
        theta, rate = self.angle(t), self.rate(t)
        s, c = np.sin(theta), np.cos(theta)
        return self.length * np.stack([s, c, c * rate, -s * rate], axis=-1)


@scene("n-four-bar", summary="IFToMM benchmark A02: a row of N windows through singular configurations")
def n_four_bar(*, n: int = 2, speed: float = 1.0, length: float = 1.0, mass: float = 1.0, gravity: float = 9.81) -> Scene:
    """Upright rods A_i–B_i, horizontal rods B_i–B_{i+1}, all of one length and mass; `speed` is that of the upper corners at the start."""
    import unibody as ub

    require("n-four-bar", n >= 1, f"n={n} windows are too few; give 1 or more")
    require("n-four-bar", speed != 0.0, "speed=0 rests in an unstable equilibrium for ever; give another speed")
    x, up = np.array([length, 0.0, 0.0]), np.array([0.0, 0.0, length])
    rate = speed / length

    def segments(theta: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        top = length * np.array([math.sin(theta), 0.0, math.cos(theta)])
        posts = {f"post{i}": (i * x, i * x + top) for i in range(n + 1)}
        return posts | {f"beam{i}": (i * x + top, (i + 1) * x + top) for i in range(n)}

    b = ub.Builder(gravity=(0, 0, -gravity), planar=True)
    linkage = planar_linkage(b, segments, mass / length, 0.06 * length, 0.0, rate, gravity)
    for i in range(n + 1):
        linkage.pin(f"A{i}", "world", f"post{i}", i * x)
    for i in range(n):
        linkage.pin(f"B{i}", f"post{i}", f"beam{i}", i * x + up)
        linkage.pin(f"C{i}", f"post{i + 1}", f"beam{i}", (i + 1) * x + up)
    notes = "Corner B0 is exact.B0(t). Whenever all rods are in line, the mechanism could leave its path: it must not."
    return Scene(b.build(), 10.0, 1e-3, Windows(n, length, gravity, rate), notes)
