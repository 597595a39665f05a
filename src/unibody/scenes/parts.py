"""Bars, bobs and planar linkages, from which many scenes are made.

Planar scenes move in the x–z plane. `HINGE` points out of it towards the viewer who has x to the right and z up, so that angles
count counter-clockwise. A bar's body frame sits in its middle with x along it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from unibody.scenes.one_degree import OneDegree
from unibody.shapes import Box, Capsule, MassProperties, Placed, Shape, Sphere
from unibody.spatial.pose import Pose

if TYPE_CHECKING:
    from unibody.model import Body, Builder

HINGE = (0.0, -1.0, 0.0)
"""Axis of planar hinges: turns x towards z."""

POINT = 1e-6
"""Radius of gyration of a "point" mass over its lever: its square, 1e-12, is the relative error of every inertia."""


def direction(angle: float) -> np.ndarray:
    """The unit vector in the x–z plane at `angle` from x, counter-clockwise, (3,)."""
    return np.array([math.cos(angle), 0.0, math.sin(angle)])


def angle_of(vector: np.ndarray) -> float:
    """The angle of a vector of the x–z plane from x, counter-clockwise."""
    return math.atan2(vector[2], vector[0])


def turned(angle: float, p: Any = (0.0, 0.0, 0.0)) -> Pose:
    """A pose in the x–z plane: turned counter-clockwise by `angle`, at p."""
    return Pose.about(HINGE, angle, p)


def rod_shape(length: float, width: float) -> Shape:
    """A square bar along x whose transverse inertia is that of a slender rod, m l²/12.

    m (l'² + w²) / 12 = m l² / 12 for a bar shortened to l' = √(l² − w²): a picture of a slender rod that moves exactly like one.
    """
    return Box((math.sqrt(length * length - width * width), width, width))


def pendulum_body(kind: str, length: float, mass: float) -> tuple[list[Shape], MassProperties]:
    """Picture and mass of a pendulum hung at its origin, along −z: a "point" mass at the end, or a slender "rod"."""
    stem = Placed(Capsule(0.015 * length, 0.97 * length), Pose(p=(0, 0, -0.5 * length)))
    if kind == "point":
        bob = Placed(Sphere(0.08 * length), Pose(p=(0, 0, -length)))
        return [stem, bob], MassProperties(mass, (0, 0, -length), np.full(3, mass * (POINT * length) ** 2))
    across = mass * length**2 / 12.0
    return [stem], MassProperties(mass, (0, 0, -0.5 * length), (across, across, mass * (POINT * length) ** 2))


def add_body(b: Builder, name: str, shapes: list[Shape], properties: MassProperties, **place: Any) -> Body:
    """A body that is drawn as `shapes` and moves with `properties`."""
    return b.body(name, shape=shapes, mass=properties.mass, com=properties.com, inertia=properties.inertia, **place)


Segments = Callable[[float], dict[str, tuple[np.ndarray, np.ndarray]]]
"""The bars of a mechanism at the coordinate θ: name to (start, end) in the world."""


@dataclass
class PlanarLinkage:
    """Bars and pins of a planar mechanism with one degree of freedom, from the world points of its bars.

    Pins are placed at world points of the start, so that they coincide to round-off, loops included.
    """

    b: Builder
    reference: OneDegree
    bars: dict[str, Body]

    def pin(self, name: str, parent: str, child: str, point: np.ndarray) -> None:
        """A hinge at a world point; `parent` may be "world". The second pin of a child closes a loop."""
        import unibody as ub

        p_P, angle_P, rate_P = self._seen_from(parent, point)
        p_B, angle_B, rate_B = self._seen_from(child, point)
        outer = self.b.world if parent == "world" else self.bars[parent]
        X_PF, X_BM = Pose(p=p_P), Pose(p=p_B)
        self.b.joint(name, ub.Revolute(axis=HINGE), outer, self.bars[child], X_PF, X_BM, q=angle_B - angle_P, v=rate_B - rate_P)

    def _seen_from(self, body: str, point: np.ndarray) -> tuple[np.ndarray, float, float]:
        """A world point in a body's frame at the start, and the body's angle and angular velocity."""
        if body == "world":
            return np.asarray(point, dtype=float), 0.0, 0.0
        index = self.reference.names.index(body)
        coms, rotations, rates = self._start
        R = rotations[index]
        return R.T @ (point - coms[index]), angle_of(R[:, 0]), rates[index]

    @cached_property
    def _start(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        reference = self.reference
        rates = reference.rate * (reference.angular_rates(reference.theta) @ HINGE)
        return *reference.configuration(reference.theta), rates


def planar_linkage(
    b: Builder, segments: Segments, mass_per_length: float, width: float, theta: float, rate: float, gravity: float
) -> PlanarLinkage:
    """Slender rods along the segments at `theta`, not yet pinned, and their reference motion."""
    start = segments(theta)
    shapes = {}
    for name, (foot, head) in start.items():
        length = float(np.linalg.norm(head - foot))
        shapes[name] = (rod_shape(length, min(width, 0.5 * length)), mass_per_length * length)
    properties = [shape.mass_properties(1.0).with_mass(mass) for shape, mass in shapes.values()]

    def configuration(coordinate: float) -> tuple[np.ndarray, np.ndarray]:
        bars = segments(coordinate).values()
        coms = np.stack([0.5 * (foot + head) for foot, head in bars])
        return coms, np.stack([_along(head - foot) for foot, head in bars])

    masses, inertias = np.array([part.mass for part in properties]), np.stack([part.inertia for part in properties])
    reference = OneDegree(tuple(shapes), configuration, masses, inertias, gravity, theta, rate)
    bars = {name: b.body(name, shape=shape, mass=mass) for name, (shape, mass) in shapes.items()}
    return PlanarLinkage(b, reference, bars)


def _along(vector: np.ndarray) -> np.ndarray:
    """The rotation in the x–z plane that takes x to the direction of `vector`, (3, 3)."""
    c, s = vector[[0, 2]] / math.hypot(vector[0], vector[2])
    return np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])


def meet(P: np.ndarray, Q: np.ndarray, p: float, q: float, side: float) -> np.ndarray:
    """The point at distance p from P and q from Q, to the left (side 1) or right (−1) of the way from P to Q; NaN if none."""
    d = Q - P
    f = math.hypot(d[0], d[2])
    along = (p * p - q * q + f * f) / (2.0 * f)
    height2 = p * p - along * along
    across = side * math.sqrt(height2) if height2 >= 0.0 else math.nan
    return P + (along * d + across * np.array([-d[2], 0.0, d[0]])) / f
