"""Hybrid dynamics and hyper-reduced coordinates of RedMax (paper 000, Eq. 7–10): what is prescribed is met, what it costs is right."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import unibody as ub
from unibody import scenes
from unibody.scenes.hand import FINGERS, UNIT
from unibody.scenes.knots import OVERHAND, closed, determinant

G = 9.81


def arm(links: int, **more) -> ub.Builder:
    """Links of 0.4 m along x on hinges about y, the second on a cardan; nothing holds them but what is added."""
    b = ub.Builder(gravity=(0, 0, -G))
    body = b.world
    for k in range(links):
        child = b.body(f"link{k}", mass=1.0 + 0.3 * k, com=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02))
        joint = ub.Universal((0, 1, 0), (0, 0, 1)) if k == 1 else ub.Revolute((0, 1, 0))
        b.joint(f"joint{k}", joint, body, child, X_PF=ub.Pose((0.4 if k else 0, 0, 0)), damping=0.05, **more.get(f"joint{k}", {}))
        body = child
    return b


def positions(rec: ub.Recording) -> np.ndarray:
    return np.concatenate([rec.joint(j.name) for j in rec.model.tree_joints], axis=1)


def tip_of(rec: ub.Recording, body: str, p) -> np.ndarray:
    """A body's point in the world, (T, 3)."""
    return np.array([ub.Pose(p=row[:3], wxyz=row[3:]).apply(p) for row in rec.pose(body)])


def test_forward_dynamics_with_the_efforts_found_repeats_the_prescribed_motion() -> None:
    """Inverse dynamics in the first and the last joint, forward dynamics between; then all forward. Rows are held by multipliers alone."""
    dt, solver = 0.01, ub.solvers.RedMax(project=False)
    driven = arm(3)
    driven.add(ub.PrescribedJoint("joint0", lambda t: 0.6 * np.sin(2.0 * t) ** 2), name="first")
    driven.add(ub.PrescribedJoint("joint2", lambda t: 0.4 * t * t), name="last")
    given = ub.Simulation(driven.build(), solver, dt=dt).run(0.5)
    first, last = given.multiplier("first")[:, 0], given.multiplier("last")[:, 0]

    def control(t: float, state: ub.State, control: ub.Control) -> None:
        step = round(t / dt) + 1  # multipliers are those of the step that ends at a row
        control.set_effort("joint0", first[step])
        control.set_effort("joint2", last[step])

    repeated = ub.Simulation(arm(3).build(), solver, dt=dt).run(0.5, control=control)
    assert np.abs(positions(given)).max() > 0.3
    np.testing.assert_allclose(positions(repeated), positions(given), rtol=0, atol=1e-9)


def circle(t: float) -> np.ndarray:
    return np.array([0.75 + 0.1 * np.sin(3.0 * t), 0.1 * (1.0 - np.cos(3.0 * t)), -0.35])


def reaching() -> dict:
    """Start of the arm with its tip at circle(0): all in the x–z plane, joint0 at 0.1 rad."""
    from scipy.optimize import fsolve

    def tip(x):
        a, b = 0.1 + x[0], 0.1 + x[0] + x[1]
        reach = [0.4 * (np.cos(0.1) + np.cos(a) + np.cos(b)), -0.4 * (np.sin(0.1) + np.sin(a) + np.sin(b))]
        return np.array(reach) - circle(0.0)[[0, 2]]

    x = fsolve(tip, [-0.4, 1.8], xtol=1e-14)
    return {"joint0": {"q": 0.1}, "joint1": {"q": (x[0], 0.0)}, "joint2": {"q": x[1]}}


@pytest.mark.parametrize("rule", ["linearly-implicit", "implicit"])
@pytest.mark.parametrize("sampled", [False, True], ids=["functions", "tables"])
def test_joint_and_fingertip_are_prescribed_at_once(rule: str, sampled: bool) -> None:
    """Reduced and maximal rows together leave nothing free; the tip is where it should be to 1e-6 m after every step."""

    def motion(f: Callable) -> object:
        times = np.linspace(0.0, 0.6, 601)
        return (times, np.array([f(t) for t in times])) if sampled else f

    b = arm(3, **reaching())
    b.add(ub.PrescribedJoint("joint0", motion(lambda t: 0.1 + 0.3 * t * t)), name="elbow")
    b.add(ub.PrescribedPoint(ub.model.Body("link2").at(0.4), motion(circle)), name="tip")
    rec = ub.Simulation(b.build(), ub.solvers.RedMax(rule=rule), dt=0.01).run(0.5)
    np.testing.assert_allclose(tip_of(rec, "link2", (0.4, 0, 0)), [circle(t) for t in rec.t], rtol=0, atol=1e-6)
    np.testing.assert_allclose(rec.joint("joint0")[:, 0], 0.1 + 0.3 * rec.t**2, rtol=0, atol=1e-9)


@pytest.mark.parametrize("rule", ["linearly-implicit", "implicit"])
def test_wrench_of_a_frame_held_still_is_the_weight(rule: str) -> None:
    b = ub.Builder(gravity=(0, 0, -G))
    X = ub.Pose.about((1, 0, 0), 0.7, p=(0.1, 0.2, 0.3))
    b.body("table", mass=2.0, com=(0.05, 0, 0), inertia=(0.1, 0.2, 0.3), X_WB=X)
    b.add(ub.PrescribedFrame("table", X), name="hand")
    rec = ub.Simulation(b.build(), ub.solvers.RedMax(rule=rule), dt=0.01).run(0.1)
    force = X.R.T @ np.array([0.0, 0.0, 2.0 * G])
    np.testing.assert_allclose(rec.multiplier("hand")[-1], [*np.cross((0.05, 0, 0), force), *force], rtol=0, atol=1e-9)
    np.testing.assert_allclose(rec.pose("table")[-1, :3], X.p, rtol=0, atol=1e-12)


RATIO = 0.8
"""Of the authors' scene TEST_HYPER_REDUCED: two bars of 10 × 1 × 1 m and 1 kg/m³ that turn about one direction, q₂ = 0.8 q₁."""


def two_bars(*elements: ub.Constraint, q: tuple[float, float] = (0.0, 0.0)) -> ub.Model:
    """Bars along x on hinges about −y (z up), so that positive angles lift."""
    b = ub.Builder(gravity=(0, 0, -9.8))
    body = b.world
    for k in range(2):
        bar = b.body(f"bar{k}", shape=ub.Placed(ub.Box((10, 1, 1)), ub.Pose((5, 0, 0))), density=1.0)
        b.joint(f"joint{k + 1}", ub.Revolute((0, -1, 0)), body, bar, X_PF=ub.Pose((10 if k else 0, 0, 0)), q=q[k])
        body = bar
    for element in elements:
        b.add(element)
    return b.build()


@cache
def one_degree(t: float, bent: bool = False) -> float:
    """q₁(t) of the smaller model, by Lagrange's equation for q₁ alone, φ = q₁ + f(q₁) the second bar's angle.

    T = ½ (I + m 5² + m 10²) q̇² + ½ (I + m 5²) φ̇² + m 10·5 q̇ φ̇ cos(φ − q),   V = m g (5 sin q + 10 sin q + 5 sin φ),   q̈ from d/dt ∂T/∂q̇.
    """
    m, g = 10.0, 9.8
    inertia = m * (100.0 + 1.0) / 12.0
    J1, J2, c = inertia + 125.0 * m, inertia + 25.0 * m, 50.0 * m

    def f(q):
        return (np.sin(q) / 2 + q * q / 5, np.cos(q) / 2 + 2 * q / 5, -np.sin(q) / 2 + 0.4) if bent else (RATIO * q, RATIO, 0.0)

    def slope(_, x):
        q, w = x
        rest, d, dd = f(q)
        D = 1.0 + d
        cos, sin = np.cos(rest), np.sin(rest)
        mass = J1 + J2 * D * D + 2.0 * c * D * cos
        mass_slope = 2.0 * J2 * D * dd + 2.0 * c * (dd * cos - D * sin * d)
        potential_slope = m * g * (15.0 * np.cos(q) + 5.0 * np.cos(q + rest) * D)
        return w, (-0.5 * mass_slope * w * w - potential_slope) / mass

    return float(solve_ivp(slope, (0.0, t), (0.0, 0.0), method="DOP853", rtol=1e-12, atol=1e-13).y[0, -1])


def bent(q):
    return np.array([np.sin(q[0]) / 2 + q[0] ** 2 / 5])


def bent_slope(q):
    return np.array([[np.cos(q[0]) / 2 + 2 * q[0] / 5]])


def bent_slope_rate(q, qdot):
    return np.array([[(-np.sin(q[0]) / 2 + 0.4) * qdot[0]]])


def test_coupling_moves_as_the_bilateral_row_of_the_same_relation() -> None:
    ends = []
    for element in (
        ub.JointCoupling(["joint1", "joint2"], (RATIO, -1.0)),
        ub.Coupling(["joint2"], ["joint1"], [[RATIO]]),
        ub.Coupling(["joint2"], ["joint1"], function=lambda q: RATIO * q),
    ):
        ends.append(positions(ub.Simulation(two_bars(element), ub.solvers.RedMax(), dt=0.01).run(0.5)))
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(ends[2], ends[0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(ends[1][:, 1], RATIO * ends[1][:, 0], rtol=0, atol=1e-11)  # what projection promises


COUPLINGS = {
    "matrix": (False, lambda: ub.Coupling(["joint2"], ["joint1"], [[RATIO]])),
    "function": (True, lambda: ub.Coupling(["joint2"], ["joint1"], function=bent)),
    "function and jacobians": (
        True,
        lambda: ub.Coupling(["joint2"], ["joint1"], function=bent, jacobian=bent_slope, jacobian_rate=bent_slope_rate),
    ),
}


@pytest.mark.parametrize("kind", COUPLINGS)
def test_hyper_reduced_arm_converges_to_the_model_with_one_degree(kind: str) -> None:
    """Linearly implicit Euler at first order, BDF2 at second, to Lagrange's equation integrated to 1e-12."""
    curved, make = COUPLINGS[kind]
    exact = one_degree(0.4, curved)

    def error(rule: str, dt: float) -> float:
        rec = ub.Simulation(two_bars(make()), ub.solvers.RedMax(rule=rule), dt=dt).run(0.4, every=round(0.4 / dt))
        return abs(float(rec.joint("joint1")[-1, 0]) - exact)

    first = [error("linearly-implicit", dt) for dt in (0.01, 0.005, 0.0025)]
    assert np.log2(np.array(first[:-1]) / first[1:]) == pytest.approx(1.0, abs=0.15), f"errors {first}"
    second = [error("bdf2", dt) for dt in (0.02, 0.01)]
    assert np.log2(second[0] / second[1]) == pytest.approx(2.0, abs=0.4), f"errors {second}"
    assert error("bdf2", 0.002) < 2e-6


def test_hand_keeps_its_fingertips_on_their_paths() -> None:
    made = scenes.make("hand")
    model, motion = made.model, made.exact
    couplings = [c for _, c in model.constraints if isinstance(c, ub.Coupling)]
    assert (model.n_bodies - 1, model.nv, model.nv - sum(c.rows for c in couplings)) == (21, 23, 19)
    rec = ub.Simulation(model, ub.solvers.RedMax(), dt=made.dt).run(1.0)
    for finger in FINGERS:
        tip = tip_of(rec, f"{finger.name}.distal", (UNIT * finger.lengths[-1], 0, 0))
        np.testing.assert_allclose(tip, [motion.tip(finger.name, t) for t in rec.t], rtol=0, atol=1e-6)
        if not finger.is_thumb:
            PIP, DIP = (rec.joint(f"{finger.name}.{joint}")[:, 0] for joint in ("PIP", "DIP"))
            np.testing.assert_allclose(DIP, 0.5 * PIP, rtol=0, atol=1e-12)  # round-off of a linear row
            angles = np.concatenate([rec.joint(name) for name in finger.joints], axis=1)
            # Inverse kinematics has one answer nearby; tip errors of 1e-8 m over the shortest lever, 0.02 m.
            np.testing.assert_allclose(angles, [motion.angles(finger.name, t) for t in rec.t], rtol=0, atol=1e-6)
    np.testing.assert_allclose(rec.joint("elbow")[:, 0], [motion.elbow(t) for t in rec.t], rtol=0, atol=1e-9)


def test_determinant_tells_knots_apart() -> None:
    """Trefoil 3, figure eight 5, cinquefoil 5, a circle and an open arc 1."""
    t = np.linspace(0.0, 2.0 * np.pi, 90, endpoint=False)
    trefoil = np.stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)], axis=1)
    ring = 2.0 + np.cos(2 * t)
    eight = np.stack([ring * np.cos(3 * t), ring * np.sin(3 * t), np.sin(4 * t)], axis=1)
    torus = 2.0 + np.cos(5 * t)
    cinquefoil = np.stack([torus * np.cos(2 * t), torus * np.sin(2 * t), np.sin(5 * t)], axis=1)
    circle = np.stack([np.cos(t), np.sin(t), 0.1 * np.sin(3 * t)], axis=1)
    assert [determinant(c) for c in (trefoil, eight, cinquefoil, circle)] == [3, 5, 5, 1]
    assert determinant(closed(circle[:60])) == 1 and determinant(closed(OVERHAND)) == 3


def test_hagfish_aims_at_shapes_that_end_in_a_knot_and_keep_off_themselves() -> None:
    """The chain of links at the muscles' angles: unknotted, then a trefoil; thinner than the curve until it is tightened; within limits."""
    made = scenes.make("hagfish")
    skin = dict(made.model.constraints)["skin"]
    seen = []
    for t in np.linspace(0.0, made.duration, 41):
        bends, R, p, centres = made.exact.bends(t), np.eye(3), np.zeros(3), []
        for k in range(51):
            if k:
                R = R @ ub.Pose.about((1, 0, 0), bends[k - 1, 0]).R @ ub.Pose.about((0, 1, 0), bends[k - 1, 1]).R
            centres.append(p + (0.0025 if k == 0 else 0.005 if k == 50 else 0.0075) * R[:, 2])
            p = p + (0.005 if k == 0 else 0.01) * R[:, 2]
        centres = np.array(centres)
        seen.append(made.exact.determinant(centres))
        assert np.abs(bends).max() < 0.8
        if t <= 0.7 * made.duration:
            assert skin.closest(centres, 0 * centres, 0 * centres)[0].min() > 1e-3
    assert seen == sorted(seen) and seen[0] == 1 and seen[-1] == 3


def test_hagfish_tightens_its_knot_without_passing_through_itself() -> None:
    """From the loose knot, as the muscles shrink it: limits hold, strands meet and stay apart, and the knot stays a trefoil. The whole way
    into it, from the straight body, is benchmarks/hagfish_knot.py."""
    made = scenes.make("hagfish", duration=8.0)
    model, start = made.model, 6.7
    assert (model.nv, len(model.tree_joints)) == (150, 100)
    q = np.zeros(model.nq)
    for k, bends in enumerate(made.exact.bends(start)):
        first = model.joint(f"joint{2 * k + 1}").q_start
        q[first : first + 2] = bends
    state = ub.State(start, q, np.zeros(model.nv))
    rec = ub.Simulation(model, ub.solvers.RedMax(), dt=0.02, state=state).run(0.3, every=3)
    skin = dict(model.constraints)["skin"]
    for k in range(100):
        assert np.abs(rec.joint(f"joint{k}")).max() <= (0.8 if k % 2 else 0.5) + 1e-9
    poses = {p.body: rec.pose(p.body) for p in skin.points}
    gaps = []
    for row in range(len(rec)):
        centres = np.array([ub.Pose(p=poses[p.body][row, :3], wxyz=poses[p.body][row, 3:]).apply(p.p) for p in skin.points])
        gaps.append(skin.closest(centres, 0 * centres, 0 * centres)[0].min())
        assert made.exact.determinant(centres) == 3
    assert min(gaps) > -1e-6 and min(gaps) < 1e-6


def test_strands_pushed_together_touch_and_do_not_pass() -> None:
    """Two rods on one spline, driven against each other crosswise by a constant force: they stop where their radii meet, and the multiplier
    is the force."""
    b = ub.Builder(gravity=None)
    points = []
    for name, z, kind in (("low", 0.0, "static"), ("high", 0.05, "dynamic")):
        rod = b.body(name, shape=ub.Box((0.2, 0.02, 0.02)), density=1000.0, kind=kind, X_WB=ub.Pose((0, 0, z)))
        ends = np.linspace(-0.1, 0.1, 5)
        points += [rod.at(x, 0.0, 0.0) if name == "low" else rod.at(0.0, x, 0.0) for x in ends]
        if kind == "dynamic":
            b.joint("slide", ub.Prismatic((0, 0, 1)), b.world, rod, X_PF=ub.Pose((0, 0, z)))
            b.add(ub.BodyDamping(rod, linear=2.0))
            b.add(ub.AppliedWrench(rod, force=(0, 0, -1.0)))
    b.add(ub.SplineContact(points, 0.01, blocks=9), name="skin")
    rec = ub.Simulation(b.build(), ub.solvers.RedMax(), dt=0.01).run(1.0)
    height = rec.pose("high")[:, 2]
    assert height.min() > 0.02 - 1e-9
    assert height[-1] == pytest.approx(0.02, abs=1e-9)
    assert rec.multiplier("skin")[-1].sum() == pytest.approx(1.0, abs=1e-6)
