"""Overconstrained spatial loops that move all the same: Bennett's 4R and the orthogonal Bricard 6R.

Joint axes are z of frames in Denavit and Hartenberg's order: link i carries its next joint at Tₓ(aᵢ) Rₓ(αᵢ), and the loop closes when
Π R_z(θᵢ) Tₓ(aᵢ) Rₓ(αᵢ) = 1. Counting constraints gives −2 and 0 degrees of freedom; these geometries have one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.one_degree import OneDegree, slope
from unibody.shapes import Capsule, Cylinder, Placed, Shape, combine
from unibody.spatial.pose import Pose

BASE = Pose.about((1, 0, 0), 0.5 * math.pi)
"""The first joint's frame in the world: its axis lies across the x–z plane, so that gravity drives the loop."""


@dataclass(frozen=True)
class Bennett:
    """a₁ = a₃ = a, a₂ = a₄ = b, α₁ = α₃ = α, α₂ = α₄ = β, a / sin α = b / sin β; θ₃ = −θ₁, θ₄ = −θ₂,

    tan(θ₁/2) tan(θ₂/2) = sin((β + α)/2) / sin((β − α)/2).
    """

    a: float
    alpha: float
    beta: float

    @property
    def b(self) -> float:
        return self.a * math.sin(self.beta) / math.sin(self.alpha)

    @property
    def links(self) -> list[tuple[float, float]]:
        """(aᵢ, αᵢ) of the four links; the last is the ground."""
        return [(self.a, self.alpha), (self.b, self.beta)] * 2

    def angles(self, theta: float) -> list[float]:
        """θ₁ … θ₄ [rad]; θ₂ counts on through π, so that it is smooth in θ₁."""
        ratio = math.sin(0.5 * (self.beta + self.alpha)) / math.sin(0.5 * (self.beta - self.alpha))
        second = 2.0 * math.atan2(ratio * math.cos(0.5 * theta), math.sin(0.5 * theta))
        return [theta, second, -theta, -second]


@dataclass(frozen=True)
class Bricard:
    """Six equal links a at right angles, α = π/2 and −π/2 in turn; θ₁ = θ₃ = θ₅ = θ, θ₂ = θ₄ = θ₆ = φ,

    cos θ + cos φ + cos θ cos φ = 0   (the threefold-symmetric Bricard linkage at a right angle: Chen, You and Tarnai 2005).

    That is cos(θ/2) cos(φ/2) = cos(π/3), a right spherical triangle with the hypotenuse π/3. Its angle s runs through the whole
    closed path: sin(θ/2) = sin(π/3) sin s, tan(φ/2) = tan(π/3) cos s.
    """

    a: float

    @property
    def links(self) -> list[tuple[float, float]]:
        """(aᵢ, αᵢ) of the six links; the last is the ground."""
        return [(self.a, 0.5 * math.pi), (self.a, -0.5 * math.pi)] * 3

    def angles(self, s: float) -> list[float]:
        """θ₁ … θ₆ [rad]."""
        theta = 2.0 * math.asin(0.5 * math.sqrt(3.0) * math.sin(s))
        phi = 2.0 * math.atan(math.sqrt(3.0) * math.cos(s))
        return [theta, phi] * 3


@dataclass(frozen=True)
class SpatialLoop:
    """Closed-form joint angles `shape` and the reference motion `motion` in the one coordinate that both share."""

    shape: Bennett | Bricard
    motion: OneDegree


def link_end(a: float, alpha: float) -> Pose:
    """Tₓ(a) Rₓ(α): the next joint's frame in a link's."""
    return Pose.about((1, 0, 0), alpha, (a, 0.0, 0.0))


def closure(links: list[tuple[float, float]], angles: list[float]) -> Pose:
    """Π R_z(θᵢ) Tₓ(aᵢ) Rₓ(αᵢ): the identity for a closed loop."""
    X = Pose()
    for (a, alpha), theta in zip(links, angles, strict=True):
        X = X @ Pose.about((0, 0, 1), theta) @ link_end(a, alpha)
    return X


def _link_shapes(a: float, alpha: float) -> list[Shape]:
    """A bar along x with a sleeve about each of its joint axes."""
    bar = Placed(Capsule(0.05 * a, 0.9 * a), Pose.about((0, 1, 0), 0.5 * math.pi, (0.5 * a, 0, 0)))
    sleeve = Cylinder(0.08 * a, 0.25 * a)
    return [bar, Placed(sleeve, Pose()), Placed(sleeve, link_end(a, alpha))]


def _reference(
    links: list[tuple[float, float]], angles: Callable[[float], list[float]], mass: float, gravity: float, theta: float, rate: float
) -> OneDegree:
    properties = [combine(s.mass_properties(1.0) for s in _link_shapes(*link)).with_mass(mass) for link in links[:-1]]

    def configuration(coordinate: float) -> tuple[np.ndarray, np.ndarray]:
        X, coms, rotations = BASE, [], []
        for part, link, turn in zip(properties, links, angles(coordinate), strict=False):
            X = X @ Pose.about((0, 0, 1), turn)
            coms.append(X.apply(part.com))
            rotations.append(X.R)
            X = X @ link_end(*link)
        return np.array(coms), np.array(rotations)

    names = tuple(f"link{i + 1}" for i in range(len(properties)))
    inertias = np.stack([part.inertia for part in properties])
    return OneDegree(names, configuration, np.array([part.mass for part in properties]), inertias, gravity, theta, rate)


def _loop(shape: Bennett | Bricard, mass: float, gravity: float, theta: float, rate: float, duration: float) -> Scene:
    import unibody as ub

    links, angles = shape.links, shape.angles(theta)
    rates = rate * slope(lambda coordinate: np.unwrap([shape.angles(theta), shape.angles(coordinate)], axis=0)[1], theta)
    b = ub.Builder(gravity=(0, 0, -gravity))
    hinge = ub.Revolute(axis=(0, 0, 1))
    parent, X_PF = b.world, BASE
    for i, link in enumerate(links[:-1]):
        body = b.body(f"link{i + 1}", shape=_link_shapes(*link), mass=mass)
        b.joint(f"R{i + 1}", hinge, parent=parent, child=body, X_PF=X_PF, q=angles[i], v=rates[i])
        parent, X_PF = body, link_end(*link)
    ground = BASE @ link_end(*links[-1]).inverse()
    b.joint(f"R{len(links)}", hinge, parent=b.world, child=parent, X_PF=ground, X_BM=X_PF, q=-angles[-1], v=-rates[-1])
    motion = _reference(links, shape.angles, mass, gravity, theta, rate)
    notes = "Joints follow exact.shape.angles(exact.motion.solve(t)); the last one counts from the ground, so negative."
    return Scene(b.build(), duration, 1e-3, SpatialLoop(shape, motion), notes)


@scene("bennett", summary="Bennett's spatial four-bar: overconstrained, yet mobile")
def bennett(
    *,
    a: float = 1.0,
    alpha: float = 0.6,
    beta: float = 1.1,
    angle: float = 1.2,
    rate: float = 0.0,
    mass: float = 1.0,
    gravity: float = 9.81,
) -> Scene:
    """Opposite links are equal, and a / sin α = b / sin β gives the length b of the other pair."""
    fits = a > 0 and 0 < alpha < math.pi and 0 < beta < math.pi
    require("bennett", fits, f"a={a}, alpha={alpha}, beta={beta}: give a > 0 and twists between 0 and π")
    require("bennett", abs(alpha - beta) > 1e-6, f"alpha={alpha} equals beta; give two different twists")
    return _loop(Bennett(a, alpha, beta), mass, gravity, angle, rate, 5.0)


@scene("bricard", summary="the orthogonal Bricard linkage: a loop of six hinges that turns itself inside out")
def bricard(*, a: float = 1.0, phase: float = 0.7, rate: float = 0.0, mass: float = 1.0, gravity: float = 9.81) -> Scene:
    """Six equal links, neighbouring axes at right angles; `phase` and `rate` are the place and speed on the closed path of shapes."""
    require("bricard", a > 0, f"a={a} must be positive")
    return _loop(Bricard(a), mass, gravity, phase, rate, 2.0)
