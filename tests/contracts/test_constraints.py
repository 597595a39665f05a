"""What every constraint class promises inside a whole model: kernel ≡ NumPy, rates and accelerations of its rows, and the time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from custom_elements import push, sway, swell

import unibody as ub
from unibody.constraints import Constraint, FunctionCoupling, Rows
from unibody.constraints.dry_friction_rows import DryFrictionRows
from unibody.coordinates.maximal.system import MaximalSystem
from unibody.coordinates.maximal.tables import MaximalTables
from unibody.coordinates.reduced.kinematics import advance_own
from unibody.coordinates.reduced.system import ReducedSystem
from unibody.coordinates.reduced.tables import ReducedTables
from unibody.coordinates.workspace import BIAS, DRIFT, RATE, RESIDUAL, G, J, Y

STEP = 1e-4
TOLERANCE = 1e-6  # central differences: STEP² times third derivatives of order 10, and round-off 1e-15 / STEP

VIEWS = (RESIDUAL, RATE, BIAS, DRIFT, G, J)


def tree(*elements: Constraint) -> ub.Model:
    """A body on a hinge, on it one on a cardan, on that one on a ball, and a free one; all in motion, with a force of time."""
    b = ub.Builder()
    bodies = [b.body(f"body{i}", mass=1.0 + i, com=(0.1, 0.0, -0.2), inertia=(0.2, 0.3, 0.25)) for i in range(3)]
    loose = b.body("loose", mass=2.0, inertia=(0.2, 0.3, 0.4), X_WB=ub.Pose((1, 1, 0)), V_WB=(0.3, 0.2, -0.4, 0.1, 0.5, -0.2))
    hang = {"X_PF": ub.Pose((0.1, 0.2, -0.5)), "X_BM": ub.Pose((0, 0, 0.4))}
    b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, bodies[0], q=0.4, v=0.7, **hang)
    b.joint("cardan", ub.Universal(), bodies[0], bodies[1], q=(0.3, -0.5), v=(0.4, 0.9), **hang)
    b.joint("ball", ub.Ball(), bodies[1], bodies[2], q=(0.9, 0.2, -0.3, 0.1), v=(0.5, -0.4, 0.8), **hang)
    b.add(ub.AppliedWrench(loose, force=push))
    for element in elements:
        b.add(element)
    return b.build()


LOOSE, LAST = ub.Builder().body("loose", mass=1.0, inertia=(1, 1, 1)), ub.model.Body("body2")


def bent(q: np.ndarray) -> np.ndarray:
    return np.array([np.sin(q[0]) + 0.2])


BILATERAL: dict[str, list[Constraint]] = {
    "FixedPoint": [ub.FixedPoint(LAST.at(0.1, 0.2, 0.3))],
    "Distance": [ub.Distance(LAST.at(0.1, 0.2, 0.3), LOOSE.at(0, 0.1, 0))],
    "PointOnLine": [ub.PointOnLine(LAST.at(0.1, 0.2, 0.3), LOOSE.at(0, 0.1, 0), (1, 2, 0.5))],
    "JointCoupling": [ub.JointCoupling(["hinge", ("cardan", 1)], (1.0, -2.0), 1.4)],
    "Coupling": [ub.Coupling(["hinge"], [("cardan", 1)], [[2.0]], 1.4)],
    "FunctionCoupling": [ub.Coupling(["cardan"], ["hinge"], function=bent)],
    "PrescribedJoint": [ub.PrescribedJoint("cardan", lambda t: (0.3 + np.sin(t), -0.5 + t * t)), ub.PrescribedJoint("hinge", swell)],
    "PrescribedPoint": [ub.PrescribedPoint(LAST.at(0.1, 0.2, 0.3), push, axes=(2, 0))],
    "KnifeEdge": [ub.KnifeEdge(LAST.at(0.1, 0.2, 0.3), (1, 2, 0.5))],
    "Rolling": [ub.Rolling(LAST.at(0.1, 0.2, 0.3), radius=0.2, normal=(0.1, 0.2, 1))],
    "JointRub": [DryFrictionRows("ball", (0, 2), (0.5, 0.6))],
    "PrescribedFrame": [ub.PrescribedFrame("loose", sway), ub.PrescribedFrame("body2", sway, held=(1, 3))],
}
UNILATERAL: list[Constraint] = [
    ub.DistanceRange(LAST.at(0.1, 0.2, 0.3), LOOSE.at(0, 0.1, 0), lower=0.3, upper=2.5),
    ub.DistanceRange(LAST.at(0.1, 0.2, 0.3), LOOSE.at(0.2, 0, 0), upper=1.5),
    ub.JointLimit("hinge", -1.0, 0.3), ub.JointLimit("cardan", (-1.0, -np.inf), 0.3), ub.JointLimit("ball", upper=0.4),
    ub.JointLimit("loose", lower=(-1.0, 0.0, 0.5), upper=(0.5, 1.0, 2.0), angle=0.3, twist=(-0.2, 0.1), axis=(1, 2, 3)),
    ub.PointPlane(LAST.at(0.1, 0.2, 0.3)), ub.PointPlane(LAST.at(0.1, 0.2, 0.3), LOOSE.at(0.1, 0, 0), (1, 2, 3)),
    ub.SplineContact([*(ub.model.Body(f"body{i}").at(0.1, 0.2, 0.3) for i in range(3)), LOOSE.at(0, 0.1, 0)], 0.05, blocks=3, margin=9.0),
]  # fmt: skip
EVERY = [*(c for group in BILATERAL.values() for c in group), *UNILATERAL]


def without_kernel(element: Constraint) -> Constraint:
    """The same constraint, told by its NumPy methods only."""
    slow = object.__new__(type(f"Slow{type(element).__name__}", (type(element),), {"fill_kernel": None}))
    slow.__dict__.update(element.__dict__)
    return slow


def subclasses(cls: type) -> set[type]:
    return {s for child in cls.__subclasses__() for s in (child, *subclasses(child))}


def systems(model: ub.Model) -> list:
    return [ReducedSystem(ReducedTables(model)), MaximalSystem(MaximalTables(model, False, "tree"))]


def evaluated(system, t: float, q: np.ndarray, v: np.ndarray):
    """The element rows' views and the accelerations at a state."""
    system.prepare(np.inf)
    system.evaluate(t, q.copy(), v.copy(), system.model.neutral_control())
    return {slot: system.view(slot).copy() for slot in (*VIEWS, Y)}


def test_every_class_of_the_house_is_here() -> None:
    house = {cls for cls in subclasses(Constraint) if cls.__module__.startswith("unibody.") and not getattr(cls, "surfaces", False)}
    assert house <= {type(c) for c in EVERY} | {FunctionCoupling}


def test_kernels_equal_numpy_in_a_whole_model() -> None:
    """All rows of all classes, in both kinds of coordinates, to 1e-12 of the largest."""
    fast = tree(*EVERY)
    slow = replace(fast, constraints=tuple((name, without_kernel(c)) for name, c in fast.constraints))
    for ours, theirs in zip(systems(fast), systems(slow), strict=True):
        assert ours.python_classes == ["FunctionCoupling", "SplineContact"] and len(theirs.python_classes) == len({type(c) for c in EVERY})
        q, v = ours.start()
        a, b = evaluated(ours, 0.3, q, v), evaluated(theirs, 0.3, q, v)
        for slot in VIEWS:
            np.testing.assert_allclose(b[slot], a[slot], rtol=0.0, atol=1e-12 * max(1.0, np.abs(a[slot]).max()))


@pytest.mark.parametrize("which", [0, 1], ids=["reduced", "maximal"])
def test_rates_are_those_of_the_residuals(which: int) -> None:
    """Ċ = G V + J v + drift along q ⊕ h v and t + h, for every row."""
    system = systems(tree(*EVERY))[which]
    q, v = system.start()
    t = 0.3

    def residual(h: float) -> np.ndarray:
        moved = q.copy()
        advance_own(system.layout, system.ints, system.constants, q, v, h, moved)
        return evaluated(system, t + h, moved, v)[RESIDUAL]

    change = (residual(STEP) - residual(-STEP)) / (2 * STEP)
    first = system.constraints.joint_rows
    elements = dict(system.model.constraints)
    held = [r for r in range(first, system.constraints.rows) if not elements[system.constraints.names[r]].nonholonomic]
    np.testing.assert_allclose(evaluated(system, t, q, v)[RATE][held], change[held], atol=TOLERANCE)


@pytest.mark.parametrize("which", [0, 1], ids=["reduced", "maximal"])
@pytest.mark.parametrize("kind", BILATERAL)
def test_accelerations_keep_the_rates_as_they_are(kind: str, which: int) -> None:
    """Without feedback the solver's accelerations make C̈ = 0, so that Ċ does not change along the motion: the bias is complete."""
    system = systems(tree(*BILATERAL[kind]))[which]
    q, v = system.start()
    t = 0.3
    here = evaluated(system, t, q, v)
    n = here[Y].size

    def rate(h: float) -> np.ndarray:
        mean, moved = v.copy(), q.copy()
        mean[:n] += 0.5 * h * here[Y]
        advance_own(system.layout, system.ints, system.constants, q, mean, h, moved)
        faster = v.copy()
        faster[:n] += h * here[Y]
        return evaluated(system, t + h, moved, faster)[RATE]

    change = (rate(STEP) - rate(-STEP)) / (2 * STEP)
    first = system.constraints.joint_rows
    scale = max(1.0, np.abs(here[Y]).max())
    np.testing.assert_allclose(change[first:], 0.0, atol=TOLERANCE * scale)


@dataclass(frozen=True)
class SlowRamp(Constraint):
    """A hinge that turns at a constant rate, NumPy only: told the time and nothing else."""

    joint: str
    rate: float

    rows = 1
    units = ("rad",)

    def joints(self) -> list[str]:
        return [self.joint]

    def dofs(self, packing) -> list[int]:
        return [packing.joint(self.joint).v_start]

    def evaluate(self, kinematics) -> Rows:
        residual = kinematics.joint_q(self.joint) - self.rate * kinematics.t
        return Rows(residual, {}, {self.joint: np.ones((1, 1))}, np.zeros(1), np.array([-self.rate]))


@pytest.mark.parametrize("solver", ["articulated", "lagrange"])
def test_constraint_in_a_script_knows_the_time(solver: str) -> None:
    b = ub.Builder()
    bar = b.body("bar", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, bar, X_BM=ub.Pose((0, 0, 0.5)), v=2.0)
    b.add(SlowRamp("hinge", 2.0))
    recording = ub.Simulation(b.build(), solver, dt=1e-3).run(0.5, every=100)
    np.testing.assert_allclose(recording.joint("hinge")[:, 0], 2.0 * recording.t, atol=1e-10)  # brought back to 1e-11 at every step
    np.testing.assert_allclose(recording.joint_velocity("hinge")[:, 0], 2.0, atol=1e-8)


def test_signals_of_forces_and_constraints_keep_apart() -> None:
    """A force between two constraints of different classes, one of them again: each reads its own function, whatever the order."""
    b = ub.Builder(gravity=None)
    bars = [b.body(f"bar{i}", mass=1.0, inertia=(0.1, 0.1, 0.1)) for i in range(4)]
    for i, bar in enumerate(bars):
        b.joint(f"j{i}", ub.Prismatic((1, 0, 0)), b.world, bar)
    b.add(ub.PrescribedJoint("j0", lambda t: t))
    b.add(ub.PrescribedPoint(bars[1].at(), lambda t: (2.0 * t, 0, 0), axes=0))
    b.add(ub.Motor("j3", effort=lambda t: 5.0 + t))
    b.add(ub.PrescribedJoint("j2", lambda t: 3.0 * t * t))
    model = b.build()
    assert [count for _, count, _, _ in model.signal_functions] == [1, 3, 9, 3]
    for solver in (ub.solvers.Articulated(rule="rk4"), ub.solvers.Lagrange(rule="rk4")):
        recording = ub.Simulation(model, solver, dt=1e-2).run(1.0, every=50)
        t = recording.t[-1]
        got = [recording.joint(f"j{i}")[-1, 0] for i in range(4)]
        np.testing.assert_allclose(got, [t, 2 * t, 3 * t * t, 2.5 * t * t + t**3 / 6], atol=1e-8)


@pytest.mark.parametrize("solver", [ub.solvers.Articulated(), ub.solvers.Lagrange()], ids=lambda s: s.name)
@pytest.mark.parametrize("element", UNILATERAL, ids=lambda c: type(c).__name__)
def test_solvers_of_equalities_refuse_what_is_one_sided(solver, element: Constraint) -> None:
    with pytest.raises(ub.Unsupported, match=f"{type(element).__name__} is unilateral"):
        solver.bind(tree(element))
