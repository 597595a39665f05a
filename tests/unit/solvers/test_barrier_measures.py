"""Measures against finite differences, against joints' own coordinates, and the largest feasible part of a step against dense sampling."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.constraints.joint_limit_rows import SWING, TWIST, LimitRow, measure
from unibody.coordinates.affine.body import affine_of_pose
from unibody.coordinates.affine.measures import BodyMeasure, MeasureTable, between_bodies, joint_measures
from unibody.coordinates.affine.rigid_view import RigidView
from unibody.coordinates.affine.rows import JointPart
from unibody.element import Point
from unibody.measure import CONE, DISTANCE, SLIDE, TURN, cone, distance, from_vectors, height, store_curve, turn
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.element_loads import StepScales
from unibody.solvers.barrier.incremental_potential import pair_places
from unibody.solvers.barrier.measure_potential import MeasurePotential, measure_loads
from unibody.solvers.barrier.measure_steps import safe_measure_step
from unibody.solvers.barrier.measured_elements import MeasuredElements
from unibody.spatial.pose import Pose, rotation_from_vector

KINDS = {"distance": DISTANCE, "slide": SLIDE, "cone": CONE, "turn": TURN}


def random_measure(kind: int, rng: np.random.Generator) -> BodyMeasure:
    """Vectors of which every one sees both bodies: more general than any element."""
    return BodyMeasure(from_vectors(kind, *((rng.normal(size=4), rng.normal(size=4)) for _ in range(4))), 1, 0)


def flat(Q):
    return np.ascontiguousarray(Q).reshape(-1)


def differences(f, x, step=1e-6):
    out = []
    for i in range(x.size):
        d = np.zeros(x.size)
        d[i] = step
        out.append((np.asarray(f(x + d)) - np.asarray(f(x - d))) / (2.0 * step))
    return np.array(out)


@pytest.mark.parametrize("kind", KINDS)
def test_gradient(kind):
    rng = np.random.default_rng(KINDS[kind])
    table, x = MeasureTable([random_measure(KINDS[kind], rng) for _ in range(3)]), rng.normal(size=24)
    near = table.values(x, np.zeros(3))
    expected = differences(lambda y: table.values(y, near), x).T.reshape(3, 2, 12)
    found = table.gradients(x).reshape(3, 2, 12)
    assert np.allclose(found[:, 1], expected[:, 0], atol=1e-7 * np.abs(expected).max())
    assert np.allclose(found[:, 0], expected[:, 1], atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("kind", KINDS)
def test_second_derivative(kind):
    """In the vectors y themselves."""
    rng = np.random.default_rng(10 + KINDS[kind])
    unit = np.eye(4)
    table = MeasureTable([BodyMeasure(from_vectors(KINDS[kind], *((u, np.zeros(4)) for u in unit)), 1, 0)])
    x = np.concatenate([np.zeros(12), rng.normal(size=12)])
    H = np.zeros(144)
    store_curve(KINDS[kind], *(tuple(y) for y in x[12:].reshape(4, 3)), table.slopes(x), 0, H)
    expected = differences(lambda y: table.slopes(y), x)[12:]
    assert np.allclose(H.reshape(12, 12), expected, atol=2e-8 * np.abs(expected).max())


JOINTS = {
    "revolute": ub.Revolute((1, 2, -1)),
    "hinge": ub.Composite(ub.Revolute((0, 1, 0))).parts()[0],
    "prismatic": ub.Prismatic((1, 2, 2)),
    "translational": ub.Translational(),
    "planar": ub.Planar(),
    "universal": ub.Universal((1, 0, 0), (0.3, 1, 0.2)),
    "gimbal": ub.Composite(ub.Revolute((0, 1, 0)), ub.Revolute((1, 0, 0)), ub.Revolute((0, 0, 1))),
    "gimbal backwards": ub.Composite(ub.Revolute((0, 1, 0)), ub.Revolute((-1, 0, 0)), ub.Revolute((0, 0.6, 0.8))),
}


def part_of(element, seed=3) -> JointPart:
    rng = np.random.default_rng(seed)
    frames = [Pose.from_rotation(rotation_from_vector(rng.normal(size=3)), rng.normal(size=3)) for _ in range(2)]
    return JointPart(0, "joint", element, 0, 1, *frames, 0, element.nq, 0, element.nv)


def bodies_of(part: JointPart, q: np.ndarray, seed=4) -> np.ndarray:
    """Q of two rigid bodies that obey the joint."""
    rng = np.random.default_rng(seed)
    X_P = Pose.from_rotation(rotation_from_vector(rng.normal(size=3)), rng.normal(size=3))
    X_C = X_P @ part.X_PF @ Pose.from_rotation(*part.element.pose(q)) @ part.X_BM.inverse()
    return np.array([affine_of_pose(X.R, np.array(X.p)) for X in (X_P, X_C)])


@pytest.mark.parametrize("name", JOINTS)
def test_measures_are_the_coordinates_of_joints(name):
    part = part_of(JOINTS[name])
    q = np.array([0.7, -0.4, 0.5])[: part.nq]
    found = joint_measures(part)
    assert sorted(found) == list(range(part.nq))
    table = MeasureTable([found[k] for k in range(part.nq)])
    values = table.values(flat(bodies_of(part, q)), table.flip * q + table.offset)
    assert np.allclose(table.flip * (values - table.offset), q, atol=1e-13)


def test_turns_are_counted():
    part = part_of(ub.Revolute((0, 0, 1)))
    table, q = MeasureTable([joint_measures(part)[0]]), np.array([7.5 * np.pi])
    assert np.isclose(table.values(flat(bodies_of(part, q)), q + 1.0)[0], q[0])


def test_cone_and_twist_are_those_of_limits():
    """Against the quaternion formulas that other solvers use."""
    part, axis = part_of(ub.Ball()), np.array([2.0, -1.0, 0.5]) / np.linalg.norm([2.0, -1.0, 0.5])
    q = ub.Ball().advance(ub.Ball().neutral(), np.array([0.8, -1.1, 0.6]), 1.0)
    table = MeasureTable([between_bodies(m(axis), part.child, part.parent, part.X_BM, part.X_PF) for m in (cone, turn)])
    expected = [measure(LimitRow(kind, 0, 0, 0, 1.0, 0.0, tuple(axis)), q, np.zeros(3))[0] for kind in (SWING, TWIST)]
    assert np.allclose(table.values(flat(bodies_of(part, q)), np.zeros(2)), expected, atol=1e-13)


def safe(table, near, sign, bound, x, p, reach=0.0):
    """With a reach of nothing: only the bound counts."""
    return safe_measure_step(
        np.zeros(1, np.int64), table.kind, table.flat, table.vectors, near, sign, bound, np.full(1, reach), table.slopes(x), x, p, 1.0
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_feasible_part_of_a_step(kind, seed):
    """Never beyond the first crossing seen by dense sampling, and not much before it."""
    rng = np.random.default_rng(100 * seed + KINDS[kind])
    table, x, p = MeasureTable([random_measure(KINDS[kind], rng)]), rng.normal(size=24), 0.6 * rng.normal(size=24)
    start = table.values(x, np.zeros(1))
    t = np.linspace(0.0, 1.0, 4001)
    way = [start]
    for s in t[1:]:
        way.append(table.values(x + s * p, way[-1]))
    C = np.array(way)[:, 0]
    sign = -1.0 if C.max() - C[0] > C[0] - C.min() else 1.0
    bound = C[0] + 0.5 * (sign == -1.0) * (C.max() - C[0]) - 0.5 * (sign == 1.0) * (C[0] - C.min())
    first = t[np.argmax(sign * (C - bound) <= 0.0)]
    found = safe(table, start, np.array([sign]), np.array([bound]), x, p)
    assert found < first
    least = {"cone": 0.05}.get(kind, 0.85)
    assert found > least * (first - 1e-3)


def test_a_step_away_from_a_bound_is_not_shortened():
    """Beyond three quarters of a turn from it the sine has the same sign again."""
    part = part_of(ub.Revolute((0, 0, 1)))
    table = MeasureTable([joint_measures(part)[0]])
    q = np.array([-1.9 * np.pi])
    x, ahead = flat(bodies_of(part, q)), flat(bodies_of(part, q - 0.4 * np.pi))
    one = np.ones(1)
    assert safe(table, q, -one, 0.0 * one, x, ahead - x) == 1.0
    assert safe(table, q, one, q - 0.2, x, ahead - x) < 1.0


def test_along_a_curved_bound_a_step_keeps_what_it_means_to_keep():
    """A point inside a sphere, close to it, moved along it: the gap falls by the square of the way, and may fall by a half only."""
    table = MeasureTable([BodyMeasure(distance(Point("b1"), Point("b0")), 1, 0)])
    x, p = np.zeros(24), np.zeros(24)
    x[12], p[13] = 1.0 - 1e-6, 1.0
    t = safe(table, np.zeros(1), -np.ones(1), np.ones(1), x, p, reach=0.01)
    assert 1e-6 > 1.0 - np.hypot(x[12], t) > 0.5e-6
    assert safe(table, np.zeros(1), -np.ones(1), np.ones(1), x, p) > 1.2 * t


def limited_model():
    """Two bodies on a ball with cone and twist close to their bounds, a rod between others, a slide, a hinge with damping."""
    b = ub.Builder()
    bodies = [b.body(f"b{k}", shape=ub.Box((0.3, 0.1, 0.1)), X_WB=Pose(p=(0.5 * k, 0, 0))) for k in range(4)]
    b.joint("ball", ub.Ball(), bodies[0], bodies[1], X_PF=Pose(p=(0.25, 0, 0)), X_BM=Pose(p=(-0.25, 0, 0)), q=(0.9, 0.2, 0.3, 0.1))
    b.joint("slide", ub.Prismatic((1, 0, 0)), bodies[1], bodies[2], X_PF=Pose(p=(0.2, 0, 0)), q=0.204)
    b.joint("hinge", ub.Revolute((0, 1, 0)), bodies[2], bodies[3], X_PF=Pose(p=(0.25, 0, 0)), X_BM=Pose(p=(-0.25, 0, 0)), q=0.495)
    b.add(ub.JointLimit("ball", axis=(1, 0, 0), angle=0.667, twist=(-1.0, 0.443)), name="range")
    b.add(ub.JointLimit("hinge", upper=0.5, damping=0.01), name="stop")
    b.add(ub.JointLimit("slide", lower=0.2035), name="end")
    b.add(ub.Distance(Point("b0", (0, 0.1, 0)), Point("b3", (0, 0.1, 0)), 1.2914), name="rod")
    return b.build()


@pytest.fixture
def terms():
    model = limited_model()
    system = AffineSystem(model)
    view = RigidView(model, system.parts, system.links)
    measured = MeasuredElements(view, system.parts, {k: 2 for k, j in enumerate(model.joints) if j.name == "slide"})
    Q = system.start[0] + 1e-4 * np.random.default_rng(1).normal(size=system.start[0].shape)
    return MeasurePotential(measured, Q, model.start_q(), StepScales(1e4, 0.05, 9.81), 20.0, Q - 1e-3, 1.0), Q, model


def test_gradient_of_potentials(terms):
    g, Q, model = terms
    ranges = g.measured.stiff == 0
    gaps = g.measured.gaps(Q, model.start_q())[ranges]
    assert ((gaps > 0.0) & (gaps < g.measured.reach[ranges])).sum() == 4 and len(g.drag_strength) == 1
    out = np.zeros(Q.size)
    g.add_gradient(flat(Q), out)
    expected = differences(g.value, flat(Q), 1e-7)
    assert np.allclose(out, expected, atol=1e-5 * np.abs(expected).max())


def test_blocks_of_potentials(terms):
    g, Q, _ = terms
    n = len(Q)

    def gradient(x):
        out = np.zeros(x.size)
        g.add_gradient(x, out)
        return out

    expected = differences(gradient, flat(Q), 1e-7)
    for exact in (True, False):
        keys, places = pair_places(list(g.pairs(flat(Q))), n)
        own, between = np.zeros(144 * n), np.zeros(144 * len(keys))
        g.add_blocks(flat(Q), places, not exact, own, between)
        H = np.zeros((12 * n, 12 * n))
        for i in range(n):
            H[12 * i : 12 * i + 12, 12 * i : 12 * i + 12] = own[144 * i : 144 * i + 144].reshape(12, 12)
        for key, block in zip(keys, between.reshape(-1, 12, 12), strict=True):
            a, b = 12 * (key // n), 12 * (key % n)
            H[a : a + 12, b : b + 12] += block
            H[b : b + 12, a : a + 12] += block.T
        if exact:
            assert np.allclose(H, expected, atol=2e-5 * np.abs(expected).max())
        else:
            assert np.linalg.eigvalsh(H).min() > -1e-9 * np.abs(H).max()


def test_wrenches_efforts_and_multipliers(terms):
    """The wrenches of what is in the ranges do the work of the measures' forces in a rigid motion; the hinge's effort is its multiplier."""
    g, Q, model = terms
    Q = AffineSystem(model).start[0]
    pull = measure_loads(g.measured, Q, model.start_q(), StepScales(1e4, 0.05, 9.81))
    rng = np.random.default_rng(2)
    V, step = rng.normal(size=(model.n_bodies, 6)), 1e-6
    R = np.swapaxes(Q[:, 1:], 1, 2)

    def moved(s):
        out = Q.copy()
        for i in range(model.n_bodies):
            out[i, 0] += s * R[i] @ V[i, 3:]
            out[i, 1:] = (R[i] @ rotation_from_vector(s * V[i, :3])).T
        return measure_loads(g.measured, out, model.start_q(), StepScales(1e4, 0.05, 9.81)).value

    power = -(moved(step) - moved(-step)) / (2.0 * step)
    assert np.isclose((pull.wrench * V).sum(), power, rtol=1e-6)
    hinge = model.joint("hinge")
    assert pull.multipliers["stop"][0] > 0.0
    assert np.isclose(pull.efforts[hinge.v_start], -pull.multipliers["stop"][0])
    assert set(pull.multipliers) == {"range", "stop", "end", "rod"}


def test_points_and_lines():
    b = ub.Builder()
    for k in range(2):
        b.body(f"b{k}", shape=ub.Box((0.3, 0.1, 0.1)), X_WB=Pose(p=(0.5 * k, 0.1, 0.2)))
    model = b.build()
    a, c = Point("b0", (0.1, 0.2, 0.3)), Point("b1", (-0.1, 0, 0))
    Q = AffineSystem(model).start[0]
    found = [BodyMeasure(distance(a, c), 1, 2), BodyMeasure(height(a, c, (0, 0.6, 0.8)), 1, 2)]
    d = np.array([0.1, 0.3, 0.5]) - np.array([0.4, 0.1, 0.2])
    assert np.allclose(MeasureTable(found).values(flat(Q), np.zeros(2)), [np.linalg.norm(d), d @ (0, 0.6, 0.8)])
