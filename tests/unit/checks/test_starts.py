"""What `check` says each solver does with a start that its rows forbid is what it does, in runs of every solver."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import unibody as ub
from unibody.checks import starts
from unibody.solvers import REGISTRY, Articulated, Complementarity, Lagrange, RedMax, Solver

DT = 1e-3
G = (0.0, 0.0, -9.81)


def driven(rate: float = 0.0, angle: float = 0.0) -> ub.Model:
    """A crank that is told to turn, at rest at 0."""
    b = ub.Builder(gravity=G)
    a = b.body("a", mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    b.joint("crank", ub.Revolute(axis=(0, 0, 1)), b.world, a)
    b.add(ub.PrescribedJoint("crank", lambda t: angle + rate * t), name="rows")
    return b.build()


def tied(off: float = 0.0, v: float = 0.0) -> ub.Model:
    """A body on a rod that is too short, or that flies along it."""
    b = ub.Builder(gravity=G)
    a = b.body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), X_WB=ub.Pose((0, 0, -1)), V_WB=(0, 0, 0, 0, 0, v))
    b.add(ub.Distance(a.at(), b.world.at(), 1.0 + off), name="rows")
    return b.build()


def pinned(off: float = 0.0, v: float = 0.0) -> ub.Model:
    """A loop of a slide and a ball that is open, or opens."""
    b = ub.Builder(gravity=G)
    a = b.body("a", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("slide", ub.Free(), b.world, a, X_PF=ub.Pose((0, 0, -1)), v=(0, 0, 0, 0, 0, v))
    b.joint("rows", ub.Ball(), b.world, a, X_BM=ub.Pose((0, 0, 1 + off)))
    return b.build()


def geared(off: float = 0.0, v: float = 0.0) -> ub.Model:
    b = ub.Builder(gravity=G)
    for name, q, rate in (("a", off, v), ("c", 0.0, 0.0)):
        body = b.body(name, mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
        b.joint(f"{name} hinge", ub.Revolute(axis=(0, 0, 1)), b.world, body, q=q, v=rate)
    b.add(ub.JointCoupling(["a hinge", "c hinge"], [1.0, -1.0]), name="rows")
    return b.build()


def limited(off: float) -> ub.Model:
    b = ub.Builder(gravity=G)
    a = b.body("a", mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    b.joint("hinge", ub.Revolute(axis=(0, 0, 1)), b.world, a, q=off)
    b.add(ub.JointLimit("hinge", upper=0.0), name="rows")
    return b.build()


def sunk(off: float) -> ub.Model:
    b = ub.Builder(gravity=None)
    a = b.body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), X_WB=ub.Pose((0, 0, -off)))
    b.add(ub.PointPlane(a.at()), name="rows")
    return b.build()


VELOCITIES: dict[str, Callable[[float], ub.Model]] = {
    "drive": lambda v: driven(v), "rod": lambda v: tied(0.0, v), "loop": lambda v: pinned(0.0, v), "gear": lambda v: geared(0.0, v),
}  # fmt: skip
POSITIONS: dict[str, Callable[[float], ub.Model]] = {"drive": lambda x: driven(0.0, x), "rod": tied, "loop": pinned, "gear": geared}
BOUNDS: dict[str, Callable[[float], ub.Model]] = {"limit": limited, "plane": sunk}
BOUNDED = [name for name, cls in REGISTRY.items() if cls.start_deeds[starts.BOUNDS]]
"""Solvers that take bounds."""

OPTIONS: dict[str, Solver] = {
    **{name: cls() for name, cls in REGISTRY.items()},
    "articulated, rk4": Articulated(rule="rk4"),
    "lagrange, not projected": Lagrange(project=False),
    "complementarity, maximal": Complementarity(coordinates="maximal"),
    "redmax, not projected": RedMax(project=False),
}


class Course:
    """A run of so many steps, as far as it came: violations, kinetic energies, and the error that ended it."""

    def __init__(self, model: ub.Model, solver: Solver, steps: int):
        self.error: Exception | None = None
        self.violation, self.kinetic = np.zeros(0), np.zeros(0)
        try:
            sim = ub.Simulation(model, solver, dt=DT, assemble=False)
        except ub.ModelError as refused:
            self.error = refused
            return
        try:
            run = sim.run(steps * DT)
        except ub.StepFailed as failed:
            self.error, run = failed, failed.recording
        except ub.ModelError as refused:
            self.error = refused
            return
        self.violation, self.kinetic = np.array(run.violation), np.array(run.energy.kinetic)

    @property
    def refused(self) -> bool:
        return isinstance(self.error, ub.ModelError)

    @property
    def lost(self) -> bool:
        """Whether a step failed because nothing explains its energy."""
        return isinstance(self.error, ub.StepFailed)


CLOSED = 1e-6
"""[m, rad] Far below what is violated, far above what solvers leave."""
SPEEDLESS = 1e-6
"""[J] Nothing falls here, so that all kinetic energy comes from the violation: 2 mm in a step would be 2 J."""


def said(model: ub.Model, solver: Solver, code: str) -> str:
    (found,) = [f for f in ub.check(model, solver=solver) if f.code == code]
    return found.message


def projected_energy(v: float, scene: str) -> float:
    """Kinetic energy after the impact that takes v away: nothing is left of rod and loop, half of equal gears, and a drive has v."""
    turned = 0.5 * (0.1 + 0.04) * v * v
    return {"drive": turned, "rod": 0.0, "loop": 0.0, "gear": 0.5 * turned}[scene]


@pytest.mark.parametrize("scene", VELOCITIES)
@pytest.mark.parametrize("option", OPTIONS)
def test_velocities_that_rows_forbid_end_as_is_said(option: str, scene: str) -> None:
    solver = OPTIONS[option]
    deed = starts.deed_of(starts.VELOCITIES, solver)
    assert deed is not None
    for v in (2.0, 20.0):
        model = VELOCITIES[scene](v)
        assert f"'{solver.name}' {deed.one}; give" in said(model, solver, "start velocity violates constraints")
        left, slow = projected_energy(v, scene), v * DT < 0.01
        at_once = deed.kind == "impact" or (deed.kind == "impact if slow" and slow)
        course = Course(model, solver, 5 if at_once else 40 if deed.kind in ("soon", "forces") else 250)
        if at_once:
            assert course.kinetic[1] == pytest.approx(left, abs=0.02 * v * v) and course.violation[1:].max() < CLOSED
        elif not course.lost:
            assert course.kinetic[-1] == pytest.approx(left, abs=0.02 * v * v)  # over, at last
            later = max(abs(course.kinetic[1] - left), 1e4 * course.violation[1])
            assert later > 0.01 * v * v or deed.kind == "soon"  # and not in the first step
        if deed.kind in ("feedback", "impact if slow") and not slow and not course.lost:
            assert course.violation[1:].max() > 0.5 * v * DT  # it overshoots


@pytest.mark.parametrize("scene", POSITIONS)
@pytest.mark.parametrize("option", OPTIONS)
def test_positions_that_rows_forbid_are_closed_as_is_said(option: str, scene: str) -> None:
    solver = OPTIONS[option]
    deed = starts.deed_of(starts.POSITIONS, solver)
    assert deed is not None
    for off in (2e-3, 0.2):
        model = POSITIONS[scene](off)
        assert f"'{solver.name}' {deed.one}; give" in said(model, solver, "start violates constraints")
        course = Course(model, solver, 10 if off < 0.01 else 40 if deed.kind == "pulls elements" else 200)
        if deed.kind == "closes" or (deed.kind == "closes if small" and off < 0.01):
            assert not course.error and course.violation[1] < CLOSED
            assert course.kinetic.max() < SPEEDLESS
        elif deed.kind == "pulls elements" and scene == "loop":
            assert course.refused and "open" in str(course.error)
        else:
            assert (not course.refused and course.kinetic.max(initial=0.0) > 10.0 * SPEEDLESS) or course.lost
            if not course.lost and off > 0.01 and getattr(solver, "rule", "") != "rk4":
                assert course.violation[-1] < 0.01 * off


@pytest.mark.parametrize("scene", BOUNDS)
@pytest.mark.parametrize("solver", BOUNDED)
def test_positions_beyond_bounds_go_back_as_is_said(solver: str, scene: str) -> None:
    deed, off = starts.DEEDS[REGISTRY[solver].start_deeds[starts.BOUNDS]], 0.1
    model = BOUNDS[scene](off)
    code = "outside joint limit" if scene == "limit" else "start violates inequality"
    assert f"'{solver}' {deed.one}; " in said(model, REGISTRY[solver](), code)
    course = Course(model, REGISTRY[solver](), 40)
    if deed.kind == "refuses":
        assert course.refused and "rows" in str(course.error)
    elif deed.kind == "creeps back":
        assert not course.error and course.kinetic.max() < 1e-9
        assert 0.0 < course.violation[-1] < course.violation[1] < off
    else:
        # joints of penalties give way a little under the turn that is kept
        assert course.lost or (course.violation[-1] < 1e-3 * off and course.kinetic[-1] > 1e-3)


def test_without_a_solver_all_that_can_run_the_model_are_told() -> None:
    message = said(limited(0.1), None, "outside joint limit")
    assert all(f"'{name}'" in message for name in BOUNDED) and "'articulated'" not in message
    message = said(tied(0.0, 2.0), None, "start velocity violates constraints")
    assert all(f"'{name}'" in message for name in REGISTRY)


@pytest.mark.parametrize("option", OPTIONS)
def test_rows_that_repeat_each_other_share_the_load_as_is_said(option: str) -> None:
    """q = 0 and 2 q = 0 under 5 N m: λ₁ + 2 λ₂ = −5, of least norm (−1, −2). Penalties of rows that feel the inertias I and I/4 have
    stiffnesses in that ratio, and C₂ = 2 C₁: λ₂ = λ₁/2."""
    b = ub.Builder(gravity=None)
    a = b.body("a", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("hinge", ub.Revolute(axis=(0, 0, 1)), b.world, a)
    for name, factor in (("once", 1.0), ("twice", 2.0)):
        b.add(ub.JointCoupling(["hinge"], [factor]), name=name)
    b.add(ub.AppliedWrench(a, torque=(0, 0, 5.0)))
    model, solver = b.build(), OPTIONS[option]
    run = ub.Simulation(model, solver, dt=DT).run(0.1, every=100)
    loads = [float(run.multiplier(name)[-1, 0]) for name in ("once", "twice")]
    (found,) = [f for f in ub.check(model, solver=solver) if f.code == "redundant constraints"]
    if solver.name == "penalty":
        assert "in the ratio of the rows' stiffnesses" in found.message
        assert loads == pytest.approx([-2.5, -1.25], rel=1e-4)
    else:
        assert "those of least norm; free" in found.message
        assert loads == pytest.approx([-1.0, -2.0], rel=1e-5)  # a barrier's springs give by a part in 10⁶


def test_every_solver_has_its_words() -> None:
    for cls in REGISTRY.values():
        velocities, positions, bound = cls.start_deeds
        assert {velocities, positions} <= set(starts.DEEDS) and bound in ("", *starts.DEEDS), cls.name
