"""Coulomb's friction of the barrier solver against closed forms: slopes, stopping distances, turntables, one coefficient per pair.

Blocks start at rest on their barriers (found by letting a block without friction settle, or one that cannot slip), so that nothing
bounces into the result.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import unibody as ub
from unibody.solvers import Barrier

ANGLE = math.radians(26.565)
GRAVITY = 9.81
LAW = {"reach": 1e-3, "pressure": 1e5}


def converged(rule: str = "implicit", slip_speed: float = 1e-4, tolerance: float = 1e-8) -> Barrier:
    return Barrier(rule=rule, tolerance=tolerance, friction_iterations=0, slip_speed=slip_speed)


def slope(mu: float, shape: str = "plane") -> ub.Model:
    """A block of 0.5 × 0.5 × 0.2 m on a slope that falls along its own x axis."""
    b = ub.Builder(gravity=(0.0, 0.0, -GRAVITY))
    X = ub.Pose.about((0, 1, 0), ANGLE)
    if shape == "plane":
        b.body("slope", shape=ub.Plane(), kind="static", X_WB=X)
    else:
        middle = X.R @ np.array([8.0, 0.0, -0.25])
        b.body("slope", shape=ub.Box((20, 4, 0.5)), kind="static", X_WB=ub.Pose.about((0, 1, 0), ANGLE, p=middle))
    b.body("block", shape=ub.Box((0.5, 0.5, 0.2)), X_WB=ub.Pose.about((0, 1, 0), ANGLE, p=X.R @ np.array([0.0, 0.0, 0.1005])))
    b.add(ub.Contact(friction=mu, reach=1e-3, pressure=1e6))
    return b.build()


def down_the_slope(mu: float, shape: str, dt: float, duration: float) -> tuple[np.ndarray, np.ndarray]:
    """Times and ways down the slope, from rest."""
    settled = ub.Simulation(slope(5.0, shape), converged(), dt=0.01).run(0.5).states[-1]
    rec = ub.Simulation(slope(mu, shape), converged(), dt=dt, state=ub.State(0.0, settled.q, 0.0 * settled.v, "affine")).run(duration)
    along = rec.point("block") @ ub.Pose.about((0, 1, 0), ANGLE).R[:, 0]
    return rec.t[1:], along[1:] - along[0]


def test_sticks_at_one_half_for_ten_seconds():
    """tan 26.565° = 0.499998: two millionths below the coefficient."""
    t, way = down_the_slope(0.5, "plane", 0.1, 10.0)
    assert way[-1] < 1e-3
    assert (way <= 1e-4 * t).all()
    assert (way >= 0.0).all()


def test_sticks_on_a_mesh():
    t, way = down_the_slope(0.5, "box", 0.05, 2.0)
    assert (way <= 1e-4 * t).all()


@pytest.mark.parametrize("shape", ["plane", "box"])
def test_slides_below_one_half(shape):
    t, way = down_the_slope(0.49, shape, 0.02, 2.0)
    a = GRAVITY * (math.sin(ANGLE) - 0.49 * math.cos(ANGLE))
    assert way[-1] == pytest.approx(0.5 * a * t[-1] ** 2, rel=0.05)
    speed = (way[-1] - way[-2]) / (t[-1] - t[-2])
    assert speed == pytest.approx(a * t[-1], rel=0.05)


def flat(table: ub.Shape, size: tuple[float, float, float], height: float, mu: float = 0.0, **options) -> ub.Model:
    """A block whose middle is at (x, 0, height) on a table whose top is at z = 0."""
    b = ub.Builder(gravity=(0.0, 0.0, -GRAVITY))
    spin = options.get("spin", 0.0)
    if isinstance(table, ub.Plane):
        b.body("table", shape=table, kind="static")
    else:
        b.body("table", shape=table, kind="kinematic", X_WB=ub.Pose(p=(0, 0, -0.1)), V_WB=(0, 0, spin, 0, 0, 0))
    b.body("block", shape=ub.Box(size), X_WB=ub.Pose(p=(options.get("x", 0.0), 0, height)), V_WB=options.get("V", (0.0,) * 6))
    b.add(ub.Contact(friction=mu, **LAW))
    return b.build()


def resting_height(table: ub.Shape, size: tuple[float, float, float], x: float = 0.0) -> float:
    model = flat(table, size, 0.5 * size[2] + 5e-4, x=x)
    return float(ub.Simulation(model, Barrier(tolerance=1e-8), dt=0.02).run(1.0).point("block")[-1, 2])


@pytest.mark.parametrize(("rule", "dt", "within"), [("implicit", 0.01, 0.02), ("bdf2", 0.01, 1e-3)])
def test_stopping_distance(rule, dt, within):
    size, v, mu = (0.4, 0.4, 0.1), 2.0, 0.3
    model = flat(ub.Plane(), size, resting_height(ub.Plane(), size), mu, V=(0, 0, 0, v, 0, 0))
    rec = ub.Simulation(model, converged(rule, 1e-3, 1e-6), dt=dt).run(1.1 * v / (mu * GRAVITY))
    assert rec.point("block")[-1, 0] == pytest.approx(v**2 / (2.0 * mu * GRAVITY), rel=within)
    assert np.abs(rec.twist("block")[-1]).max() < 1e-3


def on_a_turntable(mu: float, spin: float, duration: float) -> np.ndarray:
    """The block's places, from riding along at radius 1 m."""
    size, table = (0.2, 0.2, 0.1), ub.Cylinder(1.5, 0.2)
    height = resting_height(table, size, 1.0)
    model = flat(table, size, height, mu, x=1.0, spin=spin, V=(0, 0, spin, 0, spin, 0))
    return ub.Simulation(model, converged(tolerance=1e-6), dt=0.01).run(duration).point("block")


def test_turntable_carries_above_the_critical_coefficient():
    """ω² r = 4 m/s² needs μ = 0.408."""
    p = on_a_turntable(0.42, 2.0, 1.0)
    assert np.hypot(p[-1, 0], p[-1, 1]) == pytest.approx(1.0, abs=1e-4)
    assert math.atan2(p[-1, 1], p[-1, 0]) == pytest.approx(2.0, abs=1e-4)


def test_turntable_sheds_below_it():
    p = on_a_turntable(0.395, 2.0, 1.0)
    assert np.hypot(p[-1, 0], p[-1, 1]) > 1.05


def test_a_body_at_rest_is_taken_along_by_a_table_that_turns():
    """Friction alone speeds the block up: tangentially by at most μ g t."""
    size, table = (0.2, 0.2, 0.1), ub.Cylinder(1.5, 0.2)
    model = flat(table, size, resting_height(table, size, 1.0), 0.2, x=1.0, spin=2.0)
    rec = ub.Simulation(model, converged(tolerance=1e-6), dt=0.01).run(0.2)
    assert np.linalg.norm(rec.twist("block")[-1, 3:]) == pytest.approx(0.2 * GRAVITY * 0.2, rel=0.01)


def test_friction_between_a_pair():
    """Two blocks at the same speed; only one of them rubs as the pair says."""
    size = (0.4, 0.4, 0.1)
    height = resting_height(ub.Plane(), size)
    b = ub.Builder(gravity=(0.0, 0.0, -GRAVITY))
    b.body("floor", shape=ub.Plane(), kind="static")
    for name, y in (("smooth", 0.0), ("rough", 2.0)):
        b.body(name, shape=ub.Box(size), X_WB=ub.Pose(p=(0, y, height)), V_WB=(0, 0, 0, 1, 0, 0))
    b.add(ub.Contact(friction=0.0, **LAW))
    b.add(ub.Contact(friction=0.5, between=("rough", "floor")))
    rec = ub.Simulation(b.build(), converged(tolerance=1e-6), dt=0.01).run(0.1)
    assert rec.twist("smooth")[-1, 3] == pytest.approx(1.0, abs=1e-9)
    assert rec.twist("rough")[-1, 3] == pytest.approx(1.0 - 0.5 * GRAVITY * 0.1, rel=1e-3)


def test_a_driven_wall_pushes_a_block_from_rest():
    """The wall's way of one step is eight times the barrier's reach, and the block was at rest."""
    b = ub.Builder(gravity=None)
    b.body("wall", shape=ub.Box((0.1, 2, 2)), kind="kinematic", V_WB=(0, 0, 0, 0.8, 0, 0))
    b.body("block", shape=ub.Box((0.5, 0.5, 0.5)), X_WB=ub.Pose(p=(0.304, 0, 0)))
    b.add(ub.Contact(reach=1e-3))
    rec = ub.Simulation(b.build(), Barrier(), dt=0.01).run(0.1)
    gap = rec.point("block")[:, 0] - 0.25 - (rec.point("wall")[:, 0] + 0.05)
    assert (gap > 0.0).all()
    assert rec.point("wall")[-1, 0] == pytest.approx(0.08, abs=1e-12)
    assert rec.twist("block")[-1, 3] >= 0.8 * (1 - 1e-6)


def test_friction_does_not_jump_where_barriers_get_stiffer():
    """A block slides down a slope of 40° with μ = 0.7 and gets faster, so κ rises all the time: a = g (sin α − μ cos α) in every step, to
    a hundredth. (Friction from old distances and a new κ would double in the step in which κ does.)"""
    alpha, mu, dt = math.radians(40.0), 0.7, 5e-3
    b = ub.Builder(gravity=(9.81 * math.sin(alpha), 0, -9.81 * math.cos(alpha)))
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("block", shape=ub.Box((0.4, 0.4, 0.1)), density=500.0, X_WB=ub.Pose(p=(0, 0, 0.051)))
    b.add(ub.Contact(friction=mu, reach=1e-3))
    rec = ub.Simulation(b.build(), Barrier(), dt=dt).run(0.75)
    a = np.diff(rec.twist("block")[:, 3]) / dt
    assert a[30:] == pytest.approx(9.81 * (math.sin(alpha) - mu * math.cos(alpha)), rel=0.01)


def test_contacts_that_end_leave_no_stiffness_behind():
    """A cube that was thrown up falls back: in the air κ is what its speed asks for, least at the top; at rest it stays what it was."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("cube", shape=ub.Box((0.2, 0.2, 0.2)), X_WB=ub.Pose(p=(0, 0, 0.5)), V_WB=(0, 0, 0, 0, 0, 3.0))
    b.add(ub.Contact(friction=0.5, reach=1e-3))
    bound = Barrier().bind(b.build())
    state, memory = bound.start()
    stiffer = []
    for _ in range(150):
        made = bound.step(state, memory, np.zeros(bound.control_length), 1e-2)
        state, memory = made.state, made.memory
        stiffer.append(float(bound.system.memory.view(memory).stiffer[0]))
    top = round(3.0 / 9.81 / 1e-2)
    assert stiffer[top] < 0.2 < 1.0 < stiffer[0]
    assert stiffer[-1] == stiffer[-30] > 1.0
