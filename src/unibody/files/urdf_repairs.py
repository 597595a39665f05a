"""Inertias that a file leaves out, or that nothing has: taken from the shapes of the links.

With the reference (m₀, c₀, I₀) of a body's shapes at uniform density (those that are touched, else those that are seen), and D² the sum of
the squares of the sides of the box around them:

    no <inertial> on what moves           m₀, c₀, I₀ at DENSITY
    I = 0, not positive, or A + B < C     I₀ m / m₀ about the given centre of mass
    tr I / (2 m) beside D² / 12           the same, if the ratio is below 1/ABSURD or above ABSURD

since tr I / (2 m) is the mean square distance of the matter from its centre, D² / 12 that of a full box, and at most three times as much is
possible within the box, which is the one around all that is touched or seen. Triangle inequalities broken by less than SLIGHT are digits
that the file lacks: the nearest possible inertia is taken. Without shapes a mass without inertia is a ball of DENSITY.

Shapes may be dummies: balls of 1 mm for what is not to be touched. So those that are touched tell only if they are not much smaller than
those that are seen, and no shapes tell of which the mass would be denser than DENSEST; nor do shapes judge while others were not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, OpenMesh, Placed, Shape, Sphere
from unibody.shapes.mass import MassProperties, combine

DENSITY = 1000.0
"""[kg/m³]"""
DENSEST = 3e4
"""[kg/m³] Denser than any metal."""
ABSURD = 1000.0
SLIGHT = 1e-3


def support(shape: Shape, n: np.ndarray) -> float:
    """max n · x over a shape, in its own frame.

    >>> support(Sphere(2.0), np.array([0.0, 0.6, 0.8]))
    2.0
    """
    x, y, z = np.abs(n).tolist()
    across = float(np.hypot(x, y))
    if isinstance(shape, Sphere):
        return shape.radius * float(np.linalg.norm(n))
    if isinstance(shape, Capsule):
        return shape.radius * float(np.linalg.norm(n)) + 0.5 * shape.length * z
    if isinstance(shape, Cylinder):
        return shape.radius * across + 0.5 * shape.length * z
    if isinstance(shape, Box):
        return 0.5 * float(np.dot(shape.sides, (x, y, z)))
    if isinstance(shape, Ellipsoid):
        return float(np.linalg.norm(np.multiply(shape.semi_axes, n)))
    return float((shape.triangles()[0] @ n).max())


def reach(placed: Placed, n: np.ndarray) -> float:
    """max n · x over a placed shape, in the body's frame."""
    return float(np.dot(n, placed.X_BS.p)) + support(placed.shape, np.asarray(placed.X_BS.R).T @ n)


def extent(shapes: Sequence[Placed]) -> float:
    """D² of the box around shapes, along the body's axes [m²]."""
    sides = [max(reach(s, n) for s in shapes) + max(reach(s, -n) for s in shapes) for n in np.eye(3)]
    return float(np.dot(sides, sides))


def matter(shapes: Sequence[Placed]) -> tuple[list[Placed], str]:
    """The shapes that tell where a body's mass is, and what they are called."""
    bounded = [s for s in shapes if np.isfinite(s.volume)]
    touched, seen = [s for s in bounded if s.solid], [s for s in bounded if not s.solid]
    if touched and (not seen or 4.0 * extent(touched) >= extent(seen)):
        return touched, "collision shapes"
    return seen, "visual shapes"


def filled(shapes: Sequence[Placed], mass: float = 0.0) -> MassProperties | None:
    """The shapes at DENSITY, surfaces as their convex hulls; None if they enclose nothing, or so little that `mass` is too much."""
    parts = []
    for s in shapes:
        whole: Any = s
        if isinstance(s.shape, OpenMesh):
            try:
                whole = Placed(Mesh.convex_hull(s.shape.vertices, 64, 1e-3), s.X_BS)
            except ModelError:
                continue
        parts.append(whole.mass_properties(DENSITY))
    whole = combine(parts) if parts else None
    return None if whole is None or mass * DENSITY > DENSEST * whole.mass else whole


def absurd(properties: MassProperties, shapes: Sequence[Placed]) -> float | None:
    """The ratio of the mean square distance from the centre to that of a full box around the shapes, if no body like this has it."""
    bounded = [s for s in shapes if np.isfinite(s.volume)]
    size = extent(bounded) if bounded else 0.0
    if not size > 0.0:
        return None
    ratio = float(np.trace(properties.inertia)) / (2.0 * properties.mass) / (size / 12.0)
    return ratio if not 1.0 / ABSURD <= ratio <= ABSURD else None


def from_shapes(properties: MassProperties, shapes: Sequence[Placed]) -> MassProperties | None:
    """The same mass and centre with the inertia of the shapes; None if they enclose nothing."""
    whole = filled(shapes, properties.mass)
    return None if whole is None else MassProperties(properties.mass, properties.com, whole.with_mass(properties.mass).inertia)


def ball(mass: float, com: Any) -> MassProperties:
    """A ball of DENSITY."""
    radius = (0.75 * mass / (np.pi * DENSITY)) ** (1.0 / 3.0)
    return MassProperties(mass, com, np.full(3, 0.4 * mass * radius**2))


def principal(properties: MassProperties) -> str:
    """Principal values, for messages."""
    return "(" + ", ".join(f"{x:.4g}" for x in np.linalg.eigvalsh(properties.inertia)) + ")"
