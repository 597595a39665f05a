"""Every solver moves the same mechanism alike whatever the units: lengths, masses and times of random scenes scaled, and the motion back.

A scene is written once, with every number multiplied by its dimension: kg^a m^b s^c. Options of solvers that have a unit and a default in
SI (a slip speed, a tolerance in m/s, a modulus in Pa) are given in the unit of the scene, as a user would who changes units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import unibody as ub
from unibody import solvers
from unibody.solvers import REGISTRY

DT, STEPS = 2e-3, 50
FIRST, CRANK_STEPS = 0.5, 30
"""[rad] The angle at which the crank starts; after so many steps it is at 2.9."""


@dataclass(frozen=True)
class Units:
    """How many of a scene's units a kilogram, a metre and a second are."""

    mass: float = 1.0
    length: float = 1.0
    time: float = 1.0

    def of(self, value, mass=0, length=0, time=0):
        return np.asarray(value, float) * (self.mass**mass * self.length**length * self.time**time)

    def pose(self, p=(0, 0, 0), wxyz=(1, 0, 0, 0)):
        return ub.Pose(tuple(self.of(p, length=1)), wxyz)

    def body(self, b, name, mass, inertia, com=(0, 0, 0), shape=None, **start):
        """With a shape, whose volume says how stiff a barrier's body is."""
        shape = shape or ub.Sphere(float(self.of(0.05, length=1)))
        return b.body(name, shape, mass=float(self.of(mass, 1)), inertia=tuple(self.of(inertia, 1, 2)), com=tuple(self.of(com, length=1)),
                      **start)  # fmt: skip

    def gravity(self):
        return tuple(self.of((0.0, 0.0, -9.81), length=1, time=-2))


SI = Units()
EXACT = [Units(4.0, 1.0, 1.0), Units(1.0, 1024.0, 1.0), Units(1.0, 1.0, 2.0**-6), Units(64.0, 2.0**-8, 16.0)]
"""Powers of two, even where roots of masses and inertias are taken: round-off is the same to the last bit."""
DECIMAL = [Units(1.0, 100.0, 1.0), Units(1.0, 1000.0, 1.0), Units(1000.0, 1000.0, 1.0), Units(1e-3, 1e-2, 1e3)]


def tree(u: Units, chance: np.random.Generator) -> ub.Model:
    """A random tree with springs, dampers, a slide with a limit, and a spring between two of its bodies."""
    b = ub.Builder(gravity=u.gravity())
    before, handles = b.world, []
    for i in range(4):
        mass, size = chance.uniform(0.5, 2.0), chance.uniform(0.1, 0.5)
        body = u.body(b, f"body{i}", mass, mass * size**2 * chance.uniform(0.4, 0.6, 3), com=0.3 * size * chance.standard_normal(3))
        axis = tuple(chance.standard_normal(3))
        frame, rate = u.pose(size * chance.standard_normal(3)), chance.uniform(-2, 2)
        if i == 2:
            b.joint(f"joint{i}", ub.Prismatic(axis), before, body, frame, v=float(u.of(0.3 * rate, length=1, time=-1)),
                    stiffness=float(u.of(80.0, 1, 0, -2)), damping=float(u.of(1.0, 1, 0, -1)))  # fmt: skip
            b.add(ub.JointLimit(f"joint{i}", lower=-float(u.of(0.01, length=1)), upper=float(u.of(0.01, length=1))), name="limit")
        else:
            b.joint(f"joint{i}", ub.Revolute(axis), before, body, frame, q=chance.uniform(-1, 1), v=float(u.of(rate, time=-1)),
                    stiffness=float(u.of(3.0, 1, 2, -2)), damping=float(u.of(0.05, 1, 2, -1)))  # fmt: skip
        before = body
        handles.append(body)
    ends = (handles[0].at(*u.of((0.1, 0, 0), length=1)), handles[3].at(*u.of((0, 0.1, 0), length=1)))
    b.add(ub.SpringDamper(*ends, float(u.of(50.0, 1, 0, -2)), float(u.of(0.5, 1, 0, -1))))
    return b.build()


def loop(u: Units, chance: np.random.Generator) -> ub.Model:
    """A four-bar of 3D hinges, with three rows that repeat others, random lengths, and a spring in it."""
    b = ub.Builder(gravity=u.gravity())
    hinge, lengths, angles = ub.Revolute((0, -1, 0)), chance.uniform(0.3, 0.6, 3), (1.2, 0.1, -1.0)
    before, at, last, end, bars = b.world, u.pose(), 0.0, np.zeros(3), []
    for i, (length, angle) in enumerate(zip(lengths, angles, strict=True)):
        bar = u.body(b, f"bar{i}", 1.0 + 0.3 * i, (0.002, 0.01, 0.01))
        b.joint(f"pin{i}", hinge, before, bar, at, u.pose((-length / 2, 0, 0)), q=angle - last)
        end = end + length * np.array([np.cos(angle), 0.0, np.sin(angle)])
        before, at, last = bar, u.pose((length / 2, 0, 0)), angle
        bars.append(bar)
    b.joint("loop", hinge, before, b.world, at, u.pose(end))
    b.add(ub.SpringDamper(bars[0].at(), bars[2].at(), float(u.of(30.0, 1, 0, -2)), float(u.of(0.3, 1, 0, -1))))
    return b.build()


def crank(u: Units, chance: np.random.Generator) -> ub.Model:
    """A parallelogram that turns by 80 mrad a step in the plane: what rows are off by in a step is some 30 µm, 0.03 in millimetres. It
    starts early enough not to become flat, where round-off decides how it goes on."""
    b, rate = ub.Builder(planar=True, gravity=u.gravity()), 40.0
    hinge, before, at, last = ub.Revolute((0, -1, 0)), b.world, u.pose(), 0.0
    for i, (length, angle, v) in enumerate(((0.3, FIRST, rate), (0.8, 0.0, -rate), (0.3, FIRST + np.pi, rate))):
        bar = u.body(b, f"bar{i}", chance.uniform(0.5, 1.5), (0.002, 0.01, 0.01))
        b.joint(f"pin{i}", hinge, before, bar, at, u.pose((-length / 2, 0, 0)), q=angle - last, v=float(u.of(v, time=-1)))
        before, at, last = bar, u.pose((length / 2, 0, 0)), angle
    b.joint("loop", hinge, before, b.world, at, u.pose((0.8, 0, 0)))
    return b.build()


def flight(u: Units, chance: np.random.Generator) -> ub.Model:
    """A floating tree that spins, and a body beside it on a string."""
    b = ub.Builder(gravity=u.gravity())
    V = np.concatenate([u.of(3.0 * chance.standard_normal(3), time=-1), u.of(chance.standard_normal(3), length=1, time=-1)])
    body = u.body(b, "body", 2.0, (0.02, 0.03, 0.04), com=(0.05, 0, 0), V_WB=tuple(V))
    arm = u.body(b, "arm", 0.5, (0.003, 0.003, 0.001), com=(0, 0, 0.1))
    b.joint("shoulder", ub.Revolute((1, 1, 0)), body, arm, u.pose((0.2, 0, 0)), v=float(u.of(2.0, time=-1)))
    stone = u.body(b, "stone", 1.0, (0.01, 0.01, 0.01), X_WB=u.pose((0.3, 0, 0.4)))
    b.add(ub.Distance(stone.at(), b.world.at(*u.of((0.0, 0.0, 0.8), length=1))), name="string")
    return b.build()


def contact(u: Units, chance: np.random.Generator) -> ub.Model:
    """A box that slides and tips, a ball that falls beside it."""
    b = ub.Builder(gravity=u.gravity())
    ground = u.of((4.0, 4.0, 0.2), length=1)
    b.body("ground", ub.Box(tuple(ground)), kind="static", X_WB=u.pose((0, 0, -0.1)))
    V = np.concatenate([u.of((0.0, 0.4, 0.3), time=-1), u.of((0.8, 0.1, -0.2), length=1, time=-1)])
    u.body(b, "box", 1.0, (0.004, 0.005, 0.006), shape=ub.Box(tuple(u.of((0.2, 0.2, 0.1), length=1))),
           X_WB=u.pose((0, 0, 0.0502)), V_WB=tuple(V))  # fmt: skip
    u.body(b, "ball", 0.5, (0.001, 0.001, 0.001), shape=ub.Sphere(float(u.of(0.08, length=1))), X_WB=u.pose((0.6, 0, 0.09)))
    b.add(ub.Contact(friction=0.3), name="touch")
    return b.build()


def solver(name: str, u: Units) -> solvers.base.Solver:
    """With the defaults, in the unit of the scene where they have one; tolerances of iterations are tight, or these would be compared."""
    speed = float(u.of(1.0, length=1, time=-1))
    given = {
        "barrier": {"tolerance": 1e-9 * speed, "slip_speed": 1e-3 * speed, "modulus": float(u.of(1e9, 1, -1, -2))},
        "complementarity": {"tolerance": 1e-14 * speed, "bounce_above": 1e-3 * speed},
        "impulse": {"contact_tolerance": 1e-14 * speed, "bounce_above": 1e-3 * speed},
        "penalty": {"slip_speed": 1e-3 * speed},
    }
    return REGISTRY[name](**given.get(name, {}))


SCENES: dict[str, tuple[Callable[..., ub.Model], int]] = {
    "tree": (tree, 1), "loop": (loop, 2), "crank": (crank, 5), "flight": (flight, 3), "contact": (contact, 4),
}  # fmt: skip


def motion(scene: str, name: str, u: Units) -> np.ndarray:
    """Poses and twists of all bodies over the run, in SI."""
    make, seed = SCENES[scene]
    model = make(u, np.random.default_rng(seed))
    steps = CRANK_STEPS if scene == "crank" else STEPS
    rec = ub.Simulation(model, solver(name, u), dt=float(u.of(DT, time=1))).run(float(u.of(steps * DT, time=1)), every=10)
    out = []
    for body in rec.model.bodies[1:]:
        pose, twist = np.array(rec.pose(body.name)), np.array(rec.twist(body.name))
        pose[:, :3] /= u.length
        twist[:, :3] *= u.time
        twist[:, 3:] *= u.time / u.length
        out.append(np.concatenate([pose, twist], axis=1))
    return np.stack(out)


def able(scene: str, name: str) -> bool:
    make, seed = SCENES[scene]
    model = make(SI, np.random.default_rng(seed))
    return all(REGISTRY[name]().handles(e, model) is None for _, e in solvers.base.elements_of(model))


CASES = [(scene, name) for scene in SCENES for name in sorted(REGISTRY) if able(scene, name)]


@pytest.fixture(scope="module")
def in_si():
    kept: dict[tuple[str, str], np.ndarray] = {}

    def find(scene, name):
        if (scene, name) not in kept:
            kept[scene, name] = motion(scene, name, SI)
        return kept[scene, name]

    return find


def allowed(scene: str, name: str, exact: bool) -> float:
    """Round-off, and nothing in units that are powers of two; but impulses of contacts that repeat each other are regularised, which leaves
    1e-8 of them to round-off, and a preview of impulses ends at 1e-11 of the model's size, whether of rows in metres or in radians."""
    if scene == "contact" and name in ("complementarity", "impulse"):
        return 1e-7
    if name == "barrier" and not exact:  # whether Newton's method takes one more iteration
        return 1e-6
    if name == "barrier" and scene == "contact":  # careful matrices weigh turns against ways in metres: their paths differ
        return 1e-9
    return 1e-12 if exact and name != "impulse" else 1e-9


@pytest.mark.parametrize("scene, name", CASES)
def test_units_that_are_powers_of_two_change_nothing(scene, name, in_si, request):
    same = request.config.getoption("--shake") is None  # shaken numbers are not the same in other units
    for u in EXACT:
        assert np.abs(motion(scene, name, u) - in_si(scene, name)).max() < allowed(scene, name, same), u


@pytest.mark.parametrize("scene, name", CASES)
def test_decimal_units_change_round_off_alone(scene, name, in_si):
    """Fifty steps multiply round-off by little."""
    for u in DECIMAL:
        assert np.abs(motion(scene, name, u) - in_si(scene, name)).max() < allowed(scene, name, False), u
