"""Claims that hold for every constraint: kernel ≡ NumPy, G and J are slopes of C, the bias is what is left of C̈; and refusals."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from unibody.element import Point
from unibody.errors import ModelError
from unibody.spatial.devices import multiply_quaternions
from unibody.spatial.pose import Pose

from unibody.constraints import (  # isort: skip
    Coupling, Distance, FillRows, FixedPoint, JointCoupling, JointLimit, PointOnLine, PointPlane, PrescribedFrame,
    PrescribedJoint, PrescribedPoint, SplineContact,
)  # fmt: skip

A, B, W = Point("a", (0.3, -0.2, 0.5)), Point("b", (0.1, 0.7, -0.3)), Point("world", (1, 2, 3))

TIMES = np.linspace(-1.0, 2.0, 13)


def circle(t):
    return np.array([np.cos(2.0 * t), np.sin(2.0 * t), 0.3 * t * t])


def circle_rate(t):
    return np.array([-2.0 * np.sin(2.0 * t), 2.0 * np.cos(2.0 * t), 0.6 * t])


def circle_acceleration(t):
    return np.array([-4.0 * np.cos(2.0 * t), -4.0 * np.sin(2.0 * t), 0.6])


def tumbling(t):
    return Pose(wxyz=(np.cos(t), np.sin(t), 0.0, 0.0), p=circle(t)) @ Pose(wxyz=(1.0, 0.3 * t, 0.0, 0.2 * t * t))


def bent(q):
    return np.array([np.sin(q[0]) * q[1], q[0] ** 2 + 0.3 * q[1], np.cos(q[1])])


def bent_jacobian(q):
    return np.array([[np.cos(q[0]) * q[1], np.sin(q[0])], [2.0 * q[0], 0.3], [0.0, -np.sin(q[1])]])


def bent_jacobian_rate(q, v):
    return np.array(
        [[-np.sin(q[0]) * v[0] * q[1] + np.cos(q[0]) * v[1], np.cos(q[0]) * v[0]], [2.0 * v[0], 0.0], [0.0, -np.cos(q[1]) * v[1]]]
    )


THREE, TWO = [("cardan", 1), ("mixed", 0), "cardan"], ["hinge", ("mixed", 4)]

GIVEN = [
    FixedPoint(A, (1.0, -2.0, 0.5)),
    FixedPoint(B, (0.0, 0.0, 0.0)),
    Distance(A, B, 0.7),
    Distance(W, B, 2.0),
    PointOnLine(A, B, (1.0, 2.0, -0.5)),
    PointOnLine(A, W, (0.0, 0.0, 3.0)),
    PointOnLine(W, B, (-1.0, 0.0, 0.0)),
    JointCoupling(["hinge", ("mixed", 4)], (2.0, -3.0), 0.4),
    JointCoupling(["hinge", ("cardan", 1), ("cardan", 0)], (1.0, -1.0, 0.5)),
    Coupling(THREE, TWO, [[1.0, 2.0], [-0.5, 0.0], [0.0, 3.0]], (0.1, 0.2, -0.3)),
    Coupling(["hinge"], [("cardan", 1)], [[-2.0]]),
    Coupling(THREE, TWO, function=bent),
    Coupling(THREE, TWO, function=bent, jacobian=bent_jacobian),
    Coupling(THREE, TWO, function=bent, jacobian=bent_jacobian, jacobian_rate=bent_jacobian_rate),
    JointLimit("hinge", -0.3, 0.4),
    JointLimit("cardan", (-0.3, -np.inf), (0.4, 1.0)),
    JointLimit("mixed", upper=0.4, dof=4),
    JointLimit("ball", upper=0.7),
    JointLimit("ball", upper=0.7, axis=(1.0, -2.0, 0.5)),
    JointLimit("ball", angle=0.7, twist=(-0.3, 0.5), axis=(1.0, -2.0, 0.5)),
    JointLimit("free", lower=(-1.0, -np.inf, 0.0), upper=(1.0, 0.5, np.inf)),
    JointLimit("free", upper=0.3, dof=4, angle=0.4, twist=(-np.inf, 0.5)),
    JointLimit("free", angle=0.4, axis=(1.0, 1.0, 0.0)),
    JointLimit("mixed", (-0.2, -np.inf), (0.3, 1.0), angle=0.5, twist=(-1.0, 1.0)),
    PointPlane(A, (0.1, 0.2, 0.3), (1.0, 2.0, -0.5)),
    PointPlane(A, B, (1.0, 2.0, -0.5)),
    SplineContact([W, A, Point("a", (1.3, 0.2, 0.8)), Point("b", (2.0, 1.0, -0.4)), B], (0.1, 0.2, 0.1, 0.15, 0.1), blocks=4, margin=9.0),
    PrescribedJoint("hinge", np.sin),
    PrescribedJoint("cardan", lambda t: (np.sin(t), t * t), rate=lambda t: (np.cos(t), 2.0 * t)),
    PrescribedJoint("mixed", (TIMES, np.sin(TIMES)), dof=4),
    PrescribedJoint("hinge", 0.3),
    PrescribedPoint(A, circle),
    PrescribedPoint(B, circle, axes=(2, 0), rate=circle_rate, acceleration=circle_acceleration),
    PrescribedPoint(B, (TIMES, [circle(t) for t in TIMES]), axes=1),
    PrescribedPoint(B, (1.0, 2.0, 3.0)),
    PrescribedFrame("a", tumbling),
    PrescribedFrame("b", tumbling, held=(1, 3, 5)),
    PrescribedFrame("b", (TIMES, [tumbling(t) for t in TIMES])),
    PrescribedFrame("b", Pose((1.0, 2.0, 3.0), (0.2, 1.0, 0.0, 0.3))),
]
KINDS = list(dict.fromkeys(type(c) for c in GIVEN if type(c).fill_kernel is not None))


@pytest.fixture(params=GIVEN, ids=lambda c: f"{GIVEN.index(c)}-{type(c).__name__}")
def constraint(request, world):
    return request.param.started(world, "element")


STEP = 1e-5
TOLERANCE = 1e-8  # central differences: STEP² and round-off / STEP, both about 1e-10, times curvatures of order 10


def rate(constraint, kinematics) -> np.ndarray:
    """Ċ = Σ G V + Σ J v + drift."""
    residual, G, J, _, drift = constraint.evaluate(kinematics)
    parts = [g @ kinematics.twist(b) for b, g in G.items()] + [j @ kinematics.joint_v(n) for n, j in J.items()]
    parts.append(np.zeros_like(residual) if drift is None else drift)
    return np.sum(parts, axis=0)


@pytest.mark.parametrize("kind", KINDS)
def test_kernel_has_the_signature_of_rows_and_agrees_with_numpy(world, kind):
    assert FillRows.admits(kind.fill_kernel)
    named = [(f"c{i}", c.started(world, f"c{i}")) for i, c in enumerate(GIVEN) if type(c) is kind]
    # Offsets as a model would give them, with rows and entries of others before.
    row, g, j, offsets = 3, 5, 2, []
    for _, c in named:
        offsets.append((row, g, j))
        row, g, j = row + c.rows, g + c.rows * len(c.bodies()), j + c.rows * len(c.dofs(world))
    k = world.kinematics
    index, parameters = kind.pack(named, offsets, world)
    signals = np.array([s(k.t) if callable(s) else s for s in world.signals], float)
    G, J, residual, bias, drift = np.full(6 * g, np.nan), np.full(j, np.nan), np.full(row, np.nan), np.full(row, np.nan), np.zeros(row)
    kind.fill_kernel(index, parameters, k.X.ravel(), k.V.ravel(), k.q, k.v, signals, G, J, residual, bias, drift)
    assert np.isnan(G[:30]).all() and np.isnan(J[:2]).all() and np.isnan(residual[:3]).all() and np.isnan(bias[:3]).all()
    for (_, c), (first, first_G, first_J) in zip(named, offsets, strict=True):
        rows = c.evaluate(k)
        np.testing.assert_allclose(residual[first : first + c.rows], rows.residual, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(bias[first : first + c.rows], rows.bias, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(drift[first : first + c.rows], 0.0 if rows.drift is None else rows.drift, rtol=1e-13, atol=1e-13)
        bodies, dofs = c.bodies(), c.dofs(world)
        blocks = G.reshape(-1, 6)[first_G : first_G + c.rows * len(bodies)].reshape(c.rows, len(bodies), 6)
        for b, body in enumerate(bodies):
            np.testing.assert_allclose(blocks[:, b], rows.G[body], rtol=1e-13, atol=1e-13)
        dense = np.zeros((c.rows, k.v.size))
        for name, block in rows.J.items():
            joint = world.joint(name)
            dense[:, joint.v_start : joint.v_start + joint.nv] = block
        entries = J[first_J : first_J + c.rows * len(dofs)].reshape(c.rows, len(dofs))
        np.testing.assert_allclose(entries, dense[:, dofs], rtol=1e-13, atol=1e-15)
        assert np.count_nonzero(dense) == np.count_nonzero(entries)


def test_rows_are_the_slopes_of_the_residual(world, constraint):
    _, G, J, *_ = constraint.evaluate(world.kinematics)
    assert sorted(G) == sorted(constraint.bodies()) and sorted(J) == sorted(constraint.joints())
    moves: list = [(b, g, world.moved) for b, g in G.items() if b != "world"] + [(n, j, world.turned) for n, j in J.items()]
    for name, block, move in moves:
        for i, e in enumerate(np.eye(block.shape[1])):
            ahead, behind = (constraint.evaluate(move(name, s * STEP * e)).residual for s in (1, -1))
            np.testing.assert_allclose(block[:, i], (ahead - behind) / (2 * STEP), atol=TOLERANCE)


def test_rate_and_bias_are_the_rates_of_the_motion_with_constant_velocities(world, constraint):
    """Along V̇ = 0, v̇ = 0 the residual changes at Ċ, and Ċ at the bias."""
    ahead, behind = world.coasted(STEP), world.coasted(-STEP)
    change = (constraint.evaluate(ahead).residual - constraint.evaluate(behind).residual) / (2 * STEP)
    np.testing.assert_allclose(rate(constraint, world.kinematics), change, atol=TOLERANCE, rtol=TOLERANCE)
    change = (rate(constraint, ahead) - rate(constraint, behind)) / (2 * STEP)
    found = constraint.evaluate(world.kinematics).bias
    near = 100 * TOLERANCE if isinstance(constraint, SplineContact) else 10 * TOLERANCE  # its points are found by iterations
    np.testing.assert_allclose(found, change, atol=near, rtol=near)


def test_drift_is_the_rate_of_a_residual_whose_bodies_stand_still(world, constraint):
    """∂C/∂t at constant X and q."""
    k = world.kinematics
    ahead, behind = (constraint.evaluate(replace(k, t=k.t + s * STEP)).residual for s in (1, -1))
    drift = constraint.evaluate(k).drift
    np.testing.assert_allclose(np.zeros(constraint.rows) if drift is None else drift, (ahead - behind) / (2 * STEP), atol=TOLERANCE)


def test_every_row_has_a_unit_and_is_rigid(constraint):
    assert len(constraint.units) == constraint.rows and set(constraint.units) <= {"m", "rad"}
    assert constraint.compliance == 0.0


@pytest.mark.parametrize("direction", [(1, 0, 0), (0, 1, 0), (0, 0, -2), (1, 1, 1), (1e-9, 1, 0)])
def test_axes_of_a_line_are_perpendicular(direction):
    line = PointOnLine(A, B, direction)
    frame = np.array([line.direction, *line.axes()])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-15)


def test_start_fills_in_positions_and_lengths(world):
    fixed = FixedPoint(A).started(world, "f")
    np.testing.assert_array_equal(fixed.position, world.start_position(A))
    np.testing.assert_array_equal(fixed.evaluate(world.kinematics).residual, np.zeros(3))
    rod = Distance(A, B).started(world, "d")
    assert rod.length == pytest.approx(np.linalg.norm(world.start_position(A) - world.start_position(B)))
    assert FixedPoint(A, (0, 0, 0)).started(world, "f").position == (0.0, 0.0, 0.0)


def test_distance_without_direction_gives_zeros_and_no_nan(world):
    here = Point("world", world.start_position(Point("a")))
    residual, G, _, bias, _ = Distance(Point("a"), here, 0.5).evaluate(world.kinematics)
    assert residual[0] == pytest.approx(-0.5) and bias[0] == 0.0 and not G["a"].any()


AT_ONCE = [
    (lambda: FixedPoint((0, 0, 0)), "body.at"),
    (lambda: FixedPoint(W), "fixed already"),
    (lambda: FixedPoint(A, (0, 0)), "FixedPoint position"),
    (lambda: FixedPoint(A, (0, 0, float("nan"))), "finite"),
    (lambda: Distance(A, B, 0.0), "use FixedPoint or a Ball joint"),
    (lambda: Distance(A, B, -1.0), "-1 is not positive"),
    (lambda: Distance(A, B, float("nan")), "finite"),
    (lambda: Distance(A, Point("a")), "both points are on body 'a'"),
    (lambda: PointOnLine(A, B, (0, 0, 0)), "non-zero"),
    (lambda: PointOnLine(A, B, (0, 0, float("inf"))), "finite"),
    (lambda: PointOnLine(A, Point("a"), (0, 0, 1)), "both points are on body 'a'"),
    (lambda: JointCoupling("hinge", (1.0,)), "not a list"),
    (lambda: JointCoupling([], ()), "not a list"),
    (lambda: JointCoupling(["hinge", 3], (1.0, 1.0)), "handle"),
    (lambda: JointCoupling(["hinge", ("cardan", -1)], (1.0, 1.0)), "dof"),
    (lambda: JointCoupling(["hinge", ("hinge", 0)], (1.0, 1.0)), "more than once"),
    (lambda: JointCoupling(["hinge", "cardan"], (1.0,)), "give 2 numbers"),
    (lambda: JointCoupling(["hinge", "cardan"], (0.0, 0.0)), "couples nothing"),
    (lambda: JointCoupling(["hinge", "cardan"], (1.0, 1.0), float("nan")), "offset"),
    (lambda: Coupling(["hinge"], ["hinge"], [[1.0]]), "both dependent and independent"),
    (lambda: Coupling(["hinge", "hinge"], ["cardan"], [[1.0], [1.0]]), "more than once"),
    (lambda: Coupling(["hinge"], ["cardan"]), "either matrix or function"),
    (lambda: Coupling(["hinge"], ["cardan"], [[1.0]], function=np.sin), "either matrix or function"),
    (lambda: Coupling(["hinge"], ["cardan", ("cardan", 1)], [[1.0]]), "give 1 rows (dependent) of 2"),
    (lambda: Coupling(["hinge"], ["cardan"], [[float("nan")]]), "finite"),
    (lambda: Coupling(["hinge"], ["cardan"], [[1.0]], (1.0, 2.0)), "Coupling offset"),
    (lambda: Coupling(["hinge"], ["cardan"], function=3.0), "cannot be called"),
    (lambda: Coupling(["hinge"], ["cardan"], [[1.0]], jacobian=np.cos), "belong to function"),
    (lambda: Coupling("hinge", ["cardan"], [[1.0]]), "not a list"),
    (lambda: JointLimit("hinge"), "limits nothing"),
    (lambda: JointLimit("hinge", 1.0, 0.0), "lies above"),
    (lambda: JointLimit("hinge", (0.0, 1.0), (1.0, 2.0, 3.0)), "2 lower and 3 upper"),
    (lambda: JointLimit("hinge", float("nan")), "finite"),
    (lambda: JointLimit("free", angle=4.0), "no angle of a cone"),
    (lambda: JointLimit("free", angle=-0.1), "no angle of a cone"),
    (lambda: JointLimit("free", twist=0.3), "is no pair"),
    (lambda: JointLimit("free", twist=(0.3, 4.0)), "no range between"),
    (lambda: JointLimit("free", twist=(0.3, 0.1)), "no range between"),
    (lambda: JointLimit("free", angle=np.inf), "limits nothing"),
    (lambda: PointPlane(A, Point("a"), (0, 0, 1)), "both points are on body 'a'"),
    (lambda: PointPlane(A, (0, 0, 0), (0, 0, 0)), "non-zero"),
    (lambda: SplineContact([A, B, W], 0.1, blocks=2), "give 3 or more"),
    (lambda: SplineContact([A, B, W], 0.1, blocks=3), "give 4 points or more"),
    (lambda: SplineContact([A, B, W, W], (0.1, 0.2), blocks=3), "does not fit 4 points"),
    (lambda: SplineContact([A, B, W, W], 0.0, blocks=3), "give numbers above 0"),
    (lambda: SplineContact([A, B, W, W], 0.1, blocks=3, margin=0.0), "not positive"),
    (lambda: PrescribedJoint("hinge", "fast"), "is no motion"),
    (lambda: PrescribedJoint("hinge", 0.3, rate=np.cos), "must be a function beside"),
    (lambda: PrescribedJoint("hinge", np.sin, acceleration=np.cos), "acceleration without rate"),
    (lambda: PrescribedJoint("hinge", ([0.0, 1.0, 1.0], [0, 1, 2])), "do not grow"),
    (lambda: PrescribedJoint("hinge", ([0.0, 1.0], [0, 1, 2])), "2 times and 3 values"),
    (lambda: PrescribedPoint(W, np.sin), "does not move"),
    (lambda: PrescribedPoint(A, circle, axes=(0, 3)), "give some of 0 … 2"),
    (lambda: PrescribedPoint(A, circle, axes=(0, 0)), "each once"),
    (lambda: PrescribedFrame("world", tumbling), "does not move"),
    (lambda: PrescribedFrame("a", (1.0, 2.0, 3.0)), "gives no poses"),
    (lambda: PrescribedFrame("a", tumbling, held=()), "give some of 0 … 5"),
]


@pytest.mark.parametrize("make, says", AT_ONCE)
def test_refused_at_once(make, says):
    with pytest.raises(ModelError) as error:
        make()
    assert says in str(error.value) and "\n" not in str(error.value)


def test_refused_at_the_start(world):
    here = Point("world", world.start_position(Point("a")))
    with pytest.raises(ModelError, match="Distance 'rod' at the start: length 0 is not positive"):
        Distance(Point("a"), here).started(world, "rod")
    with pytest.raises(ModelError, match="joint 'hinge' has no dof 1"):
        JointCoupling([("hinge", 1), "cardan"], (1.0, 1.0)).started(world, "gear")
    with pytest.raises(ModelError, match="joint 'ball' dof 0 of Ball has no scalar coordinate"):
        JointCoupling(["hinge", "ball"], (1.0, 1.0)).started(world, "gear")


def test_joint_handles_are_stored_by_name():
    hinge = SimpleNamespace(name="hinge")
    assert JointCoupling([hinge, (SimpleNamespace(name="cardan"), 1)], (1.0, 2.0)).coordinates == (("hinge", 0), ("cardan", 1))


def test_ball_with_parallel_axes_gives_a_zero_row(world):
    """Where the angle is 0 it can only grow: C = upper, and no direction to push along."""
    k = world.kinematics
    q = k.q.copy()
    q[world.joint("ball").q_start : world.joint("ball").q_start + 4] = (1.0, 0.0, 0.0, 0.0)
    residual, _, J, bias, _ = JointLimit("ball", upper=0.7).started(world, "stop").evaluate(replace(k, q=q))
    assert residual[0] == pytest.approx(0.7) and not J["ball"].any() and bias[0] == 0.0


def test_twist_is_what_remains_of_a_turn_without_its_swing(world):
    """R = swing about an axis across a, then a turn by θ about a: the twist is θ, the swing's angle φ."""
    a, across = np.array([1.0, -2.0, 0.5]), np.array([2.0, 1.0, 0.0])
    a, across = a / np.linalg.norm(a), across / np.linalg.norm(across)
    limit = JointLimit("ball", angle=2.0, twist=(-3.0, 3.0), axis=a).started(world, "stop")
    at = world.joint("ball").q_start
    for phi, theta in ((0.3, 0.8), (1.2, -2.7), (2.9, 0.4), (0.0, 3.0)):
        q = world.kinematics.q.copy()
        swing, twist = np.array([np.cos(phi / 2), *(np.sin(phi / 2) * across)]), np.array([np.cos(theta / 2), *(np.sin(theta / 2) * a)])
        q[at : at + 4] = multiply_quaternions(tuple(swing), tuple(twist))
        for sign in (1.0, -1.0):
            q[at : at + 4] *= sign
            residual = limit.evaluate(replace(world.kinematics, q=q)).residual
            np.testing.assert_allclose(residual, [2.0 - phi, theta + 3.0, 3.0 - theta], atol=1e-7 if phi == 0.0 else 1e-12)
