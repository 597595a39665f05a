"""Sheets of cloth: over a coat rack, at a pole, on a slope, as a trampoline.

    on a slope of angle α        friction μ ≥ tan α holds it; below, it slides with a = g (sin α − μ cos α)
    on a trampoline              what a ball of mass m brings from a height H is stored in cloth and springs, at most, and given back

Cloth is thin: a sheet of t = 1 mm and E = 1 MPa bends with D = E t³/12 (1 − ν²) = 9e-5 N m, so that a strip of ρ t = 0.5 kg/m² hangs down
freely where it is longer than (D / ρ t g)^(1/3) = 3 cm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.spatial.pose import Pose

if TYPE_CHECKING:
    from unibody.model import Body, Builder

G = 9.81
DENSITY = 500.0
"""Of all cloth here [kg/m³]."""


@dataclass(frozen=True)
class Slope:
    """A sheet on a slope that touches all over."""

    slope: float
    """tan α."""
    friction: float

    @property
    def holds(self) -> bool:
        """Whether friction carries it."""
        return self.friction >= self.slope

    @property
    def acceleration(self) -> float:
        """[m/s²] down the slope."""
        alpha = math.atan(self.slope)
        return max(0.0, G * (math.sin(alpha) - self.friction * math.cos(alpha)))


def _spacing(name: str, spacing: float, width: float) -> None:
    require(name, 0.0 < spacing <= 0.5 * width, f"spacing={spacing:g}; give more than 0 and at most {0.5 * width:g}")


def _rack(b: Builder, height: float, arms: int) -> Body:
    """A pole with wires that bend outwards and up again."""
    import unibody as ub

    u = np.linspace(0.0, 1.0, 6)
    out, up = 0.12 * np.sin(0.5 * math.pi * u), height - 0.06 * (1.0 - u) + 0.05 * u**4
    shapes = [ub.Wire(np.linspace((0, 0, 0.02), (0, 0, height + 0.06), 8), radius=6e-3)]
    for k in range(arms):
        angle = 2.0 * math.pi * (k + 0.3) / arms
        arm = np.stack([out * math.cos(angle), out * math.sin(angle), up], axis=1)
        shapes.append(ub.Wire(arm, radius=6e-3))
    return b.body("rack", shape=shapes, kind="static")


@scene("cloth-drape", summary="a cloth falls on a coat rack, or on a ball, and hangs there")
def cloth_drape(
    *, on: Literal["rack", "ball"] = "rack", width: float = 0.4, spacing: float = 0.03, friction: float = 0.5, arms: int = 4
) -> Scene:
    """A square cloth of `width` [m], vertices `spacing` [m] apart, above a coat rack with so many wires, or a ball on the ground."""
    import unibody as ub

    require("cloth-drape", width > 0.0, f"width={width:g}; give more than 0")
    _spacing("cloth-drape", spacing, width)
    require("cloth-drape", arms >= 1, f"arms={arms}; give 1 or more")
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    if on == "rack":
        top = 0.46
        _rack(b, 0.4, arms)
    else:
        top = 0.3
        b.body("ball", shape=ub.Sphere(0.1), kind="static", X_WB=Pose(p=(0, 0, 0.2)))
    cotton = ub.Fabric(young=5e5, poisson=0.3, thickness=6e-4, damping=2e-3)
    mesh = ub.TriMesh.grid((width, width), spacing)
    b.cloth("cloth", mesh, cotton, DENSITY, X_WB=Pose.about((0, 0, 1), 0.4, p=(0.01, 0.005, top + 0.03)))
    b.add(ub.Contact(friction=friction, damping=1e-3, self_contact=True), name="contact")
    notes = "It comes to rest, folds and all, and what it lies on carries its weight."
    return Scene(b.build(), duration=1.0, dt=0.01, notes=notes, solver="barrier")


@scene("flag", summary="a flag let go beside its pole falls, swings and hangs")
def flag(*, length: float = 0.4, height: float = 0.3, spacing: float = 0.04) -> Scene:
    """A cloth of `length` × `height` [m] whose one side is held 1 cm from a pole; it starts upright and flat, turning at 0.6 rad/s."""
    import unibody as ub

    require("flag", length > 0.0 and height > 0.0, f"length={length:g}, height={height:g}; give more than 0")
    _spacing("flag", spacing, min(length, height))
    b = ub.Builder()
    pole = b.body("pole", shape=ub.Cylinder(0.012, 1.0), kind="static", X_WB=Pose(p=(0, 0, 0.5)))
    silk = ub.Fabric(young=1e6, poisson=0.3, thickness=5e-4, damping=2e-3)
    mesh = ub.TriMesh.grid((length, height), spacing)
    upright = Pose.about((1, 0, 0), 0.5 * math.pi, p=(0.022 + 0.5 * length, 0, 0.96 - 0.5 * height))
    cloth = b.cloth("flag", mesh, silk, DENSITY, X_WB=upright, V_WB=(0, 0, 0.6, 0, 0, 0))
    side = cloth.vertices.x[:, 0] < 0.022 + 1e-6
    b.attach(cloth.vertices[side], pole, name="hem")
    b.add(ub.Contact(self_contact=True, neighbours=True, reach=2e-3), name="contact")
    notes = "The hem moves with the pole, exactly, and carries all of the weight when the flag hangs."
    return Scene(b.build(), duration=1.5, dt=0.01, notes=notes, solver="barrier")


@scene("cloth-slope", summary="a cloth on a slope of 1/2 is held by friction of 0.5, and slides at 0.49")
def cloth_slope(*, slope: float = 0.5, friction: float = 0.5, width: float = 0.5, spacing: float = 0.125) -> Scene:
    """A square cloth of `width` [m] on a plane with tan α = `slope`."""
    import unibody as ub

    require("cloth-slope", slope >= 0.0, f"slope={slope:g}; give 0 or more")
    require("cloth-slope", width > 0.0, f"width={width:g}; give more than 0")
    _spacing("cloth-slope", spacing, width)
    tilted = Pose.about((0, 1, 0), -math.atan(slope))
    b = ub.Builder()
    b.body("slope", shape=ub.Plane(), kind="static", X_WB=tilted)
    cotton = ub.Fabric(young=1e6, poisson=0.3, thickness=1e-3, damping=2e-3)
    mesh = ub.TriMesh.grid((width, width), spacing)
    reach = 2e-4
    lifted = tilted.R @ np.array([0, 0, 0.5e-3 + 0.5 * reach])  # half the thickness, and about where the barrier carries it
    b.cloth("cloth", mesh, cotton, DENSITY, X_WB=Pose.about((0, 1, 0), -math.atan(slope), p=lifted))
    b.add(ub.Contact(friction=friction, reach=reach, damping=1e-3), name="contact")
    notes = "It lands from a tenth of a millimetre; then it stays, or slides with exact.acceleration."
    return Scene(b.build(), duration=1.0, dt=0.01, exact=Slope(slope, friction), notes=notes, solver="barrier:friction_iterations=0")


@scene("trampoline", summary="a ball falls on a trampoline and is thrown up again, lower each time")
def trampoline(*, height: float = 0.3, spacing: float = 0.08, springs: int = 16, mass: float = 0.5) -> Scene:
    """A ball of `mass` [kg] falls from `height` [m] onto a disc of cloth, 0.6 m wide, that hangs by `springs` in a ring."""
    import unibody as ub

    require("trampoline", height > 0.0 and mass > 0.0, f"height={height:g}, mass={mass:g}; give more than 0")
    require("trampoline", springs >= 3, f"springs={springs}; give 3 or more")
    _spacing("trampoline", spacing, 0.6)
    b = ub.Builder()
    angles = 2.0 * math.pi * np.arange(48) / 48
    hoop = 0.36 * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    frame = b.body("frame", shape=ub.Wire(hoop, radius=8e-3, closed=True), kind="static")
    sheet = ub.Fabric(young=2e6, poisson=0.3, thickness=1e-3, damping=1e-3)
    cloth = b.cloth("bed", ub.TriMesh.disc(0.3, spacing), sheet, DENSITY)
    x = cloth.vertices.x
    for k in range(springs):
        angle = 2.0 * math.pi * k / springs
        towards = np.array([math.cos(angle), math.sin(angle), 0.0])
        nearest = int(np.argmax(x @ towards))
        end = x[nearest] * 0.36 / np.linalg.norm(x[nearest])
        b.add(ub.SpringDamper(frame.at(*end), cloth.vertex(nearest), stiffness=400.0, damping=0.5, rest_length=0.04), name=f"spring{k}")
    b.body("ball", shape=ub.Sphere(0.06), mass=mass, X_WB=Pose(p=(0, 0, 0.065 + height)))
    b.add(ub.Contact(friction=0.3), name="contact")
    notes = "What the ball brings is stored in springs and cloth; dampers and the time rule take some of it at each bounce."
    return Scene(b.build(), duration=1.5, dt=0.01, notes=notes, solver="barrier:rule=bdf2")
