"""Boxes on boxes and boxes in a row: a stack with a ratio of masses, and dominoes that topple one another."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.shapes import Box, Plane
from unibody.spatial.pose import Pose

G = 9.81


@dataclass(frozen=True)
class StackAtRest:
    """What statics says of a stack."""

    masses: np.ndarray
    """From below [kg]."""
    heights: np.ndarray
    """Of the boxes' middles at rest [m]."""

    def force(self, k: int) -> float:
        """What box k stands on carries: the weight of it and of all above [N]."""
        return float(G * self.masses[k:].sum())


@scene("stack", summary="Boxes stand on each other; the masses may differ by a million from the lowest to the highest")
def stack(*, n: int = 5, size: float = 0.2, mass: float = 4.0, ratio: float = 1.0, gap: float = 0.0, friction: float = 0.5) -> Scene:
    """n cubes of edge `size` [m], `gap` [m] apart. The lowest has `mass` [kg], each further one more by the same factor, so that the
    highest has `ratio` times as much: above 1 the heavy stands on the light. With gap=0 they rest from the beginning; barriers need one."""
    import unibody as ub

    require("stack", n >= 1 and size > 0.0 and mass > 0.0, f"n={n}, size={size:g}, mass={mass:g}; give n ≥ 1 and positive numbers")
    require("stack", ratio > 0.0 and gap >= 0.0, f"ratio={ratio:g}, gap={gap:g}; give a ratio above 0 and a gap of 0 or more")
    masses = mass * ratio ** (np.arange(n) / max(1, n - 1))
    b = ub.Builder(gravity=(0, 0, -G))
    b.body("ground", shape=Plane(), kind="static")
    for k in range(n):
        place = Pose(p=(0, 0, (k + 0.5) * size + (k + 1) * gap))
        b.body(f"box{k}", shape=Box((size,) * 3), mass=float(masses[k]), X_WB=place)
    b.add(ub.Contact(friction=friction, reach=2.0 * gap or None), name="contact")
    exact = StackAtRest(masses, (np.arange(n) + 0.5) * size)
    notes = "Nothing moves: exact.force(k) is what the contacts below box k carry. For solver barrier give a gap, such as 1e-3."
    return Scene(b.build(), duration=2.0, dt=0.01, exact=exact, notes=notes, solver="complementarity")


@dataclass(frozen=True)
class FirstDomino:
    """The one that is pushed, until it touches the next: a box that turns about its lower edge."""

    height: float
    thickness: float
    gap: float

    @property
    def inertia(self) -> float:
        """About the edge, over the mass [m²]."""
        return (self.height**2 + self.thickness**2) / 3.0

    def lift(self, angle: float) -> float:
        """Height of its centre after a turn by `angle` [m]."""
        return 0.5 * (self.height * math.cos(angle) + self.thickness * math.sin(angle))

    @property
    def least_push(self) -> float:
        """The rate [rad/s] with which it just comes over its edge."""
        top = 0.5 * math.hypot(self.height, self.thickness)
        return math.sqrt(2.0 * G * (top - 0.5 * self.height) / self.inertia)

    def rate(self, angle: float, push: float) -> float:
        """Its rate [rad/s] at `angle`, pushed with the rate `push`."""
        return math.sqrt(max(0.0, push**2 - 2.0 * G * (self.lift(angle) - self.lift(0.0)) / self.inertia))

    @property
    def meets(self) -> float:
        """The angle at which its corner touches the next one."""
        return math.asin(self.gap / self.height)


@scene("dominoes", summary="A row of dominoes: the first is pushed, and a wave runs through the row")
def dominoes(*, n: int = 12, gap: float = 0.02, push: float = 1.5, friction: float = 0.3, lift: float = 0.0) -> Scene:
    """n dominoes of 48 × 24 × 7.5 mm (750 kg/m³), `gap` [m] between them, the first turning about its lower edge at `push` times the rate
    with which it just falls over. `lift` [m]: the gap to the ground that barriers need. Rows only up to a gap of their height topple."""
    import unibody as ub

    height, width, thick = 0.048, 0.024, 0.0075
    require("dominoes", n >= 1 and push >= 0.0 and lift >= 0.0, f"n={n}, push={push:g}, lift={lift:g}; give n ≥ 1 and no negative numbers")
    require("dominoes", 0.0 < gap < height, f"gap={gap:g}; give one between 0 and their height, {height}")
    exact = FirstDomino(height, thick, gap)
    b = ub.Builder(gravity=(0, 0, -G))
    b.body("ground", shape=Plane(), kind="static")
    rate = push * exact.least_push
    for k in range(n):
        place = Pose(p=(k * (thick + gap), 0, 0.5 * height + lift))
        twist = (0, rate, 0, 0.5 * rate * height, 0, 0.5 * rate * thick) if k == 0 else None
        b.body(f"domino{k}", shape=Box((thick, width, height)), density=750.0, X_WB=place, V_WB=twist)
    b.add(ub.Contact(friction=friction, reach=2.0 * lift or None), name="contact")
    notes = "Pushed with less than 1 the first falls back. The wave soon has a speed of its own, of the order of √(g height), 0.7 m/s."
    duration = 0.4 + 2.0 * n * max(gap, 0.0175)  # until the first falls, and the last lies; the wider the gaps, the slower the wave
    return Scene(b.build(), duration=duration, dt=1e-3, exact=exact, notes=notes, solver="complementarity")
