"""Each ticked cell of shapes, and every option of Contact, is a run against a closed form; the others are refused by name.

Runs are short: 20 to 40 steps, in which a body without contact would fall 12 mm, and one without friction slide 15 mm further. Rules of
first order are wrong by a step's part of that; barriers keep a distance of at most their reach, a thousandth of the scene.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from capability_cells import CHOICES as ALL
from capability_cells import GRAVITY as TILTED
from capability_cells import refusals

import unibody as ub
from unibody.solvers import REGISTRY, Articulated

G, LASTING = 9.81, 0.05
TOUCHING = ("barrier", "complementarity", "complementarity maximal", "impulse", "penalty")
STEPS = {"barrier": 20}
CHOICES = {name: ALL[name][0] for name in TOUCHING}
BLIND = ("articulated", "lagrange", "redmax")


def ran(model: ub.Model, choice: str, seconds: float = LASTING, steps: int | None = None) -> ub.Recording:
    steps = steps or STEPS.get(choice, 40)
    return ub.Simulation(model, CHOICES[choice], dt=seconds / steps).run(seconds, every=steps)


# --- shapes

BOX = ub.Box((0.2, 0.16, 0.1))
SIDE = ub.Pose.about((0, 1, 0), 0.5 * np.pi)
LYING: dict[str, tuple[ub.Shape, float, ub.Pose]] = {
    "Box": (BOX, 0.05, ub.Pose()),
    "Capsule": (ub.Capsule(0.05, 0.2), 0.05, SIDE),
    "Cylinder": (ub.Cylinder(0.08, 0.1), 0.05, ub.Pose()),
    "Ellipsoid": (ub.Ellipsoid((0.2, 0.15, 0.1)), 0.1, ub.Pose()),
    "Mesh": (ub.Mesh(*BOX.triangles()), 0.05, ub.Pose()),
    "Sphere": (ub.Sphere(0.1), 0.1, ub.Pose()),
}
"""Shapes that lie, the height of their centre, and how they are turned."""
THIN: dict[str, tuple[ub.Shape, float, ub.Pose]] = {
    "PointCloud": (ub.PointCloud([(0.1, 0, 0), (-0.1, 0.1, 0), (-0.1, -0.1, 0)], radius=0.02), 0.02, ub.Pose()),
    "Wire": (ub.Wire([(0.1, 0, 0), (-0.1, 0.1, 0), (-0.1, -0.1, 0)], radius=0.02, closed=True), 0.02, ub.Pose()),
}
"""Those without faces, which only a barrier can touch."""
SLAB = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], float)
GROUNDS: dict[str, ub.Shape] = {
    "HeightField": ub.HeightField(np.zeros((3, 3)), spacing=0.5),
    "OpenMesh": ub.OpenMesh(SLAB, np.array([[0, 1, 2], [0, 2, 3]])),
    "Plane": ub.Plane(),
}


def resting(shape: ub.Shape, height: float, turn: ub.Pose, ground: ub.Shape) -> ub.Model:
    b = ub.Builder()
    b.body("ground", shape=ground, kind="static")
    b.body("lies", shape=shape, density=500.0, X_WB=ub.Pose((0.03, 0.02, height + 3e-4), turn.wxyz))
    b.add(ub.Contact(friction=0.5, reach=4e-4))
    return b.build()


@pytest.mark.parametrize("choice", TOUCHING)
@pytest.mark.parametrize("name", [*LYING, *THIN, *GROUNDS])
def test_every_shape_carries_and_is_carried(name: str, choice: str) -> None:
    if name in THIN and choice != "barrier":
        with pytest.raises(ub.Unsupported, match=f"contact of {name}, lines and points without faces.*Solvers that can: barrier"):
            ran(resting(*THIN[name], GROUNDS["Plane"]), choice)
        return
    shape, height, turn = {**LYING, **THIN}.get(name, LYING["Box"])
    run = ran(resting(shape, height, turn, GROUNDS.get(name, GROUNDS["Plane"])), choice)
    z = float(run.point("lies")[-1, 2])
    assert abs(z - height) < 0.12 * 0.5 * G * LASTING**2  # 1.5 mm; falling takes it 12 mm down
    # Round shapes are polyhedra to a barrier, which may lie on an edge: all of them stay where they are and turn by less than a facet.
    assert np.linalg.norm(run.point("lies")[-1, :2] - (0.03, 0.02)) < 2e-3



@pytest.mark.parametrize("choice", [c for c in ALL if " " not in c])
@pytest.mark.parametrize("name", [*LYING, *THIN, *GROUNDS])
def test_every_shape_gives_its_mass_in_every_solver(name: str, choice: str) -> None:
    """A pendulum whose bob it is swings in every solver as by Dormand and Prince."""
    solid = name not in GROUNDS
    shape = {**LYING, **THIN}[name][0] if solid else GROUNDS[name]

    def swung(solver: Any, steps: int) -> np.ndarray:
        b = ub.Builder(gravity=TILTED)
        bob = b.body("bob", shape=shape, **({"density": 300.0} if solid else {"mass": 2.0, "inertia": (0.1, 0.2, 0.15)}))
        b.joint("hip", ub.Ball(), b.world, bob, X_BM=ub.Pose((0.1, 0, 0.2)), v=(1.0, 2.0, -1.0))
        run = ub.Simulation(b.build(), solver, dt=0.1 / steps).run(0.1, every=steps)
        return run.point("bob", (0.3, -0.2, 0.1))[-1]

    solver, steps = ALL[choice]
    exact = swung(Articulated(rule="dopri5", rtol=1e-9, atol=1e-11), 2)
    assert abs(swung(solver, steps) - exact).max() < 0.1 / steps * 3.0  # one step late, at 3 m/s


# --- options of Contact


@dataclass(frozen=True)
class Option:
    """A scene, how long it lasts, what is looked at, its value and how near it must be; what it would be without the option."""

    scene: Callable[[], ub.Model]
    seconds: float
    seen: Callable[[ub.Recording], float]
    value: float
    near: float
    otherwise: float


def block(
    contact: ub.Contact, v: tuple[float, ...] = (0, 0, 0), push: float = 0.0, planar: bool = False, more: Any = None, gap: float = 0.0
) -> ub.Model:
    """A flat box on the ground, or above it by a gap; a little more, for barriers, unless it is pushed."""
    b = ub.Builder(planar=planar)
    b.body("ground", shape=ub.Plane(), kind="static")
    z = 0.025 if push else 0.0253 + gap
    box = b.body("box", shape=ub.Box((0.4, 0.4, 0.05)), mass=1.0, X_WB=ub.Pose((0, 0, z)), V_WB=(0, 0, 0, *v))
    if push:
        b.add(ub.AppliedWrench(box, force=(push, 0, 0)))
    b.add(contact)
    if more is not None:
        b.add(more)
    return b.build()


def ball(contact: ub.Contact, planar: bool = False, gravity: Any = None, spin: float = 0.0, gap: float = 0.02, v: float = -1.0) -> ub.Model:
    b = ub.Builder(gravity=gravity, planar=planar)
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("box", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((0, 0, 0.1 + gap)), V_WB=(0, 0, spin, 0, 0, v))
    b.add(contact)
    return b.build()


def wood_on_stone(contact: ub.Contact, v: float = 0.0, gap: float = 3e-4) -> ub.Model:
    """A flat box on the ground, of two materials that a Contact names; for all others there is friction 0.9."""
    b = ub.Builder()
    stone, wood = (ub.ContactMaterial(name=name) for name in ("stone", "wood"))
    b.body("ground", shape=ub.Placed(ub.Plane(), ub.Pose(), material=stone), kind="static")
    flat = ub.Placed(ub.Box((0.4, 0.4, 0.05)), ub.Pose(), material=wood)
    b.body("box", shape=flat, mass=1.0, X_WB=ub.Pose((0, 0, 0.025 + gap)), V_WB=(0, 0, 0, v, 0, 0))
    b.add(ub.Contact(friction=0.9))
    b.add(contact)
    return b.build()


def jointed(neighbours: bool) -> ub.Model:
    """A ball that a slide along z connects to the ground it lies on."""
    b = ub.Builder()
    ground = b.body("ground", shape=ub.Plane(), kind="static")
    box = b.body("box", shape=ub.Sphere(0.1), mass=1.0)
    b.joint("slide", ub.Prismatic(axis=(0, 0, 1)), ground, box, q=0.1003)
    b.add(ub.Contact(neighbours=neighbours))
    return b.build()


def at(axis: int) -> Callable[[ub.Recording], float]:
    return lambda run: float(run.point("box")[-1, axis])


def velocity(axis: int) -> Callable[[ub.Recording], float]:
    return lambda run: float(run.twist("box")[-1, axis])


MU, T = 0.3, 0.1
SLID = T - 0.5 * MU * G * T**2
FELL = 0.5 * G * LASTING**2
I_BALL = 0.4 * 0.1**2
PAIR = ("box", "ground")
OPTIONS: dict[str, Option] = {
    "friction": Option(lambda: block(ub.Contact(friction=MU), (1, 0, 0)), T, at(0), SLID, 1.5e-3, T),
    "friction in a planar world": Option(lambda: block(ub.Contact(friction=MU), (1, 0, 0), planar=True), T, at(0), SLID, 1.5e-3, T),
    "static": Option(lambda: block(ub.Contact(friction=MU, static=0.6), push=0.45 * G), T, at(0), 0.0, 1e-4, 0.5 * 0.15 * G * T**2),
    "static in a planar world": Option(
        lambda: block(ub.Contact(friction=MU, static=0.6), push=0.45 * G, planar=True), T, at(0), 0.0, 1e-4, 0.5 * 0.15 * G * T**2),
    "torsion": Option(
        lambda: ball(ub.Contact(friction=0.5, torsion=0.05), gravity=(0, 0, -G), spin=10.0, gap=1e-5, v=0.0), T, velocity(2),
        10.0 - 0.5 * 0.05 * G / I_BALL * T, 0.3, 10.0),
    "across": Option(
        lambda: block(ub.Contact(friction=MU, across=0.05, direction=(0, 1, 0), between=PAIR), (1, 0, 0)), T, at(0),
        T - 0.5 * 0.05 * G * T**2, 1.5e-3, SLID),
    "torsion in a planar world": Option(
        lambda: block(ub.Contact(friction=MU, torsion=0.05), (1, 0, 0), planar=True), T, at(0), SLID, 1.5e-3, T),
    "across in a planar world": Option(
        lambda: block(ub.Contact(friction=MU, across=0.05, direction=(1, 0, 0), between=PAIR), (1, 0, 0), planar=True), T, at(0), SLID,
        1.5e-3, T),
    **{f"restitution by {law}": Option(
        lambda law=law: ball(ub.Contact(restitution=0.6, impact=law)), LASTING, velocity(5), 0.6, 1e-6, 0.0)
       for law in ("newton", "poisson", "stronge")},
    **{f"restitution by {law} in a planar world": Option(
        lambda law=law: ball(ub.Contact(restitution=0.6, impact=law), planar=True), LASTING, velocity(5), 0.6, 1e-6, 0.0)
       for law in ("newton", "poisson", "stronge")},
    "between two": Option(lambda: block(ub.Contact(between=PAIR)), LASTING, at(2), 0.025, 1.5e-3, 0.025 - FELL),
    "between lists": Option(lambda: block(ub.Contact(between=(["box"], ["ground"]))), LASTING, at(2), 0.025, 1.5e-3, 0.025 - FELL),
    "on": Option(lambda: block(ub.Contact(), more=ub.Contact(between=PAIR, on=False)), LASTING, at(2), 0.0253 - FELL, 1.5e-3, 0.025),
    "the narrower friction": Option(
        lambda: block(ub.Contact(friction=0.9), (1, 0, 0), more=ub.Contact(friction=MU, between=PAIR)), T, at(0), SLID, 1.5e-3,
        T - 0.5 * 0.9 * G * T**2),
    "materials": Option(
        lambda: wood_on_stone(ub.Contact(friction=MU, materials=("wood", "stone")), 1.0), T, at(0), SLID, 1.5e-3,
        T - 0.5 * 0.9 * G * T**2),
    "margin": Option(
        lambda: wood_on_stone(ub.Contact(materials=("wood", "stone"), margin=0.01), gap=0.0103), LASTING, at(2), 0.035, 1.5e-3,
        0.035 - FELL),
    "neighbours": Option(lambda: jointed(True), LASTING, at(2), 0.1, 1.5e-3, 0.1 - FELL),
    "neighbours left out": Option(lambda: jointed(False), LASTING, at(2), 0.1003 - FELL, 1.5e-3, 0.1),
    "reach": Option(lambda: block(ub.Contact(reach=4e-4)), LASTING, at(2), 0.025, 5e-4, 0.025 - FELL),
    "thickness": Option(lambda: block(ub.Contact(thickness=0.02), gap=0.02), LASTING, at(2), 0.045, 1.5e-3, 0.025),
    "damping": Option(lambda: block(ub.Contact(damping=1e-3)), LASTING, at(2), 0.025, 1.5e-3, 0.025 - FELL),
    "pressure": Option(lambda: block(ub.Contact(pressure=1e6)), LASTING, at(2), 0.025, 1.5e-3, 0.025 - FELL),
}  # fmt: skip


def answered(yes: bool) -> list[Any]:
    """Options and those that take them, or do not; solvers blind to surfaces take none."""
    every = {**CHOICES, **{name: REGISTRY[name]() for name in BLIND}}
    return [(name, choice) for name, o in OPTIONS.items() for choice, s in every.items() if bool(refusals(s, o.scene())) != yes]


@pytest.mark.parametrize(("name", "choice"), answered(True))
def test_every_option_that_a_solver_takes_acts_by_its_law(name: str, choice: str) -> None:
    option = OPTIONS[name]
    near = 2.0 * option.near if choice == "barrier" else option.near  # it bounces from its reach, and rubs more while it does
    assert abs(option.value - option.otherwise) > 2.0 * near  # else the test could not tell
    assert option.seen(ran(option.scene(), choice, option.seconds)) == pytest.approx(option.value, abs=near)


@pytest.mark.parametrize(("name", "choice"), answered(False))
def test_every_option_that_a_solver_does_not_take_is_refused_by_name(name: str, choice: str) -> None:
    solver = CHOICES.get(choice) or REGISTRY[choice]()
    with pytest.raises(ub.Unsupported, match=f"solver '{solver.name}' cannot honour 'Contact.*Solvers that can: "):
        ub.Simulation(OPTIONS[name].scene(), solver, dt=1e-3)


def test_every_option_of_contact_and_every_shape_is_here() -> None:
    told = {"friction", "static", "torsion", "across", "restitution", "between", "on", "neighbours", "reach", "damping", "pressure",
            "materials", "margin", "thickness"}
    # parts of restitution and across; and what only deformables have, in tests/verification/test_deformable_contact.py
    fields = set(ub.Contact.__dataclass_fields__) - {"impact", "direction", "self_contact"}
    assert fields == told
    assert all(any(name.startswith(word) for name in OPTIONS) for word in told)
    from unibody import shapes

    classes = {n for n in shapes.__all__ if isinstance(getattr(shapes, n), type) and issubclass(getattr(shapes, n), shapes.Shape)}
    assert classes - {"Shape", "Placed"} == set(LYING) | set(THIN) | set(GROUNDS)
