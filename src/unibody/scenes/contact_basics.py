"""Bodies that touch, one effect at a time: a bounce, a stack, a slope, a turntable, a cradle. SI units; 1000 kg/m³ unless said."""

from __future__ import annotations

import math

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.shapes import Box, Cylinder, Mesh, Plane
from unibody.spatial.pose import Pose


@scene("falling-box", summary="A 1 m cube falls 1 m onto the ground and bounces (restitution study)")
def falling_box(
    *, height: float = 1.0, gravity: float = 8.0, pressure: float | None = 1e5, reach: float = 0.064, damping: float = 0.0
) -> Scene:
    """Cube of 1 m and 1000 kg, its lower face `height` [m] above the ground, g = 8 m/s², κ = 10⁵ Pa, d̂ = 0.064 m (paper 003, §6.2):
    it hits with 4 m/s. Keeps 99 % of its energy with rule bdf2 at dt = 1 ms; `damping` [s] takes more. pressure=none for other solvers."""
    import unibody as ub

    require("falling-box", height > 0.0, f"height={height:g} starts below the ground; give one above 0")
    b = ub.Builder(gravity=(0, 0, -gravity))
    b.body("ground", shape=Plane(), kind="static")
    b.body("box", shape=Box((1, 1, 1)), X_WB=Pose(p=(0, 0, 0.5 + height)))
    b.add(ub.Contact(damping=damping, reach=reach, pressure=pressure), name="contact")
    solver = "" if pressure is None else "barrier:rule=bdf2"
    return Scene(b.build(), duration=2.0, dt=1e-3, notes="It bounces with Barrier(rule='bdf2'); rule implicit swallows it.", solver=solver)


@scene("box-stack", summary="Cubes piled up, each a little turned")
def box_stack(*, n: int = 5, size: float = 0.2, gap: float = 1e-3, friction: float = 0.5) -> Scene:
    """n cubes of edge `size` [m], `gap` [m] apart, each turned by 5° against the one below; friction 0.5."""
    import unibody as ub

    require("box-stack", n >= 1 and size > 0.0 and gap > 0.0, f"n={n}, size={size:g}, gap={gap:g}; give n ≥ 1 and positive lengths")
    b = ub.Builder()
    b.body("ground", shape=Plane(), kind="static")
    for k in range(n):
        place = (0, 0, 0.5 * size + gap + k * (size + gap))
        b.body(f"cube{k}", shape=Box((size,) * 3), X_WB=Pose.about((0, 0, 1), math.radians(5.0 * k), p=place))
    b.add(ub.Contact(friction=friction, reach=2.0 * gap), name="contact")
    return Scene(b.build(), duration=2.0, dt=0.01, notes="They settle within a second and stay; without friction they slide apart.")


@scene("slope", summary="A block on a slope: sticks above the critical coefficient of friction, slides below")
def slope(*, degrees: float = 26.565, friction: float = 0.55, pressure: float | None = 1e6) -> Scene:
    """A block of 0.5 × 0.5 × 0.2 m (50 kg) on a slope of `degrees`; at 26.565° the critical coefficient is 0.5. Below it the block slides
    with g (sin − μ cos); above it creeps slower than the solver's slip speed, or not at all (complementarity, with pressure=none)."""
    import unibody as ub

    require("slope", 0.0 <= degrees < 90.0, f"degrees={degrees:g}; give an angle from 0 to below 90")
    b = ub.Builder()
    angle = math.radians(degrees)
    up = Pose.about((0, 1, 0), angle).R[:, 2]
    b.body("slope", shape=Plane(), kind="static", X_WB=Pose.about((0, 1, 0), angle))
    b.body("block", shape=Box((0.5, 0.5, 0.2)), X_WB=Pose.about((0, 1, 0), angle, p=0.10095 * up))
    b.add(ub.Contact(friction=friction, reach=1e-3, pressure=pressure), name="contact")
    notes = "The critical coefficient is the angle's tangent, 0.5 for 26.565°; near it barriers need a slip_speed of 1e-4."
    solver = "" if pressure is None else "barrier:slip_speed=1e-4:friction_iterations=0"
    return Scene(b.build(), duration=2.0, dt=0.01, notes=notes, solver=solver)


@scene("turntable", summary="A block rides on a turning table, or is shed")
def turntable(*, spin: float = 2.0, radius: float = 1.0, friction: float = 0.5, pressure: float | None = 1e5) -> Scene:
    """A table of radius 1.5 m turns with `spin` [rad/s]; a block of 0.2 × 0.2 × 0.1 m (4 kg) rides along at `radius` [m]. It stays where
    μ g > ω² r: with the defaults above μ = 0.408. pressure=none for solvers without barriers."""
    import unibody as ub

    require("turntable", 0.0 < radius < 1.35, f"radius={radius:g} is not on the table; give one between 0 and 1.35")
    b = ub.Builder()
    b.body("table", shape=Cylinder(1.5, 0.2), kind="kinematic", X_WB=Pose(p=(0, 0, -0.1)), V_WB=(0, 0, spin, 0, 0, 0))
    rest = 9.78e-4
    b.body("block", shape=Box((0.2, 0.2, 0.1)), X_WB=Pose(p=(radius, 0, 0.05 + rest)), V_WB=(0, 0, spin, 0, spin * radius, 0))
    b.add(ub.Contact(friction=friction, reach=1e-3, pressure=pressure), name="contact")
    return Scene(b.build(), duration=3.0, dt=0.01, notes="Carried if μ g > ω² r, here 4.9 > 4; shed otherwise.")


def blunt_nose(size: float) -> Mesh:
    """A pyramid on the right side of a cube, a tenth of its edge high."""
    half, at, height = 0.2 * size, 0.5 * size, 0.1 * size
    base = [(at, y, z) for y, z in ((-half, -half), (half, -half), (half, half), (-half, half))]
    return Mesh(np.array([*base, (at + height, 0.0, 0.0)]), np.array([(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4), (0, 2, 1), (0, 3, 2)]))


@scene("newtons-cradle", summary="Cubes on strings pass momentum through the row")
def newtons_cradle(*, n: int = 5, size: float = 0.1, length: float = 0.5, degrees: float = 40.0) -> Scene:
    """n steel cubes (7800 kg/m³) of edge `size` [m] on pairs of strings of `length` [m] (hinges about y), the first lifted by `degrees`. It
    comes down with √(2 g l (1 − cos)); with rule bdf2 the last one takes 99 % of that. Barriers reach a twentieth of the edge,
    and gaps are a little wider, so that the blow is passed on from one to the next. Each cube has a blunt nose that meets the flat side of
    the next in the middle: cubes face to face would meet edge to edge, a little askew, and balls (polyhedra) corner to corner; such blows
    are not level, so the hinges take a part."""
    import unibody as ub

    require("newtons-cradle", n >= 2 and 0.0 <= degrees < 90.0, f"n={n}, degrees={degrees:g}; give n ≥ 2 and an angle from 0 to below 90")
    b = ub.Builder()
    reach = 0.05 * size
    spacing = 1.1 * size + 1.2 * reach
    for k in range(n):
        cube = b.body(f"cube{k}", shape=[Box((size,) * 3), blunt_nose(size)], density=7800.0)
        place, q = Pose(p=(k * spacing, 0, 0)), math.radians(degrees) if k == 0 else 0.0
        b.joint(f"string{k}", ub.Revolute(axis=(0, 1, 0)), b.world, cube, X_PF=place, X_BM=Pose(p=(0, 0, length)), q=q)
    energy = 0.5 * 7800.0 * size**3 * 9.81 * length * (1.0 - math.cos(math.radians(degrees)))  # of the blow, half of the fall's
    tip = 0.5 * 4.0 / 3.0 * 0.2 * math.hypot(0.2, 0.1) * size**2  # what barriers count of the nose's faces
    b.add(ub.Contact(reach=reach, pressure=max(energy, 1e-3) / (0.78 * tip * reach)), name="contact")
    return Scene(b.build(), duration=3.0, dt=2e-4, notes="Blows pass on by Barrier(rule='bdf2').", solver="barrier:rule=bdf2")
