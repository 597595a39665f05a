"""What every joint class promises, checked for all of them and for joints as a user writes them.

Differences are central, of fourth order, with a step of 1e-3: error about h⁴ = 1e-12 times derivatives, round-off 1e-16 / h = 1e-13.
"""

from __future__ import annotations

import numpy as np
import pytest
from custom_elements import Cam, LazyCam, SlowBall, SlowCam

import unibody as ub
from unibody.joints import Joint
from unibody.joints.table import advance_joints, fill_joint_table, rate_joints
from unibody.model.tables import CallbackErrors, JointTables
from unibody.spatial.pose import vector_from_rotation

A, B = (0.3, -0.8, 0.5), (-0.6, 0.2, 0.9)
HOUSE = [
    ub.Weld(),
    ub.Revolute(A),
    ub.Hinge(A, B),
    ub.Prismatic(A),
    ub.Screw(A, 0.17),
    ub.Universal(),
    ub.Universal(A, B),
    ub.Ball(),
    ub.Planar(),
    ub.Translational(),
    ub.Free(),
    ub.Composite(ub.Prismatic(A), ub.Revolute(B)),
    ub.Composite(ub.Ball(), ub.Screw(A, 0.1), ub.Prismatic(B)),
    ub.Composite(ub.Planar(), ub.Composite(ub.Universal(A, B), ub.Weld(), ub.Prismatic(A))),
    ub.Composite(ub.Revolute(A)),
    ub.Composite(ub.Hinge(A, (0.1, 0.2, 0.0)), ub.Hinge(B, (0.0, -0.3, 0.1))),
]
CUSTOM = [Cam(0.3), SlowCam(0.3), LazyCam(0.3), SlowBall(), ub.Composite(SlowCam(0.2), ub.Ball()), ub.Composite(ub.Revolute(A), Cam(0.2))]
JOINTS = [*HOUSE, *CUSTOM]
MOVING = [j for j in JOINTS if j.nv]
STEP = 1e-3


def label(joint: Joint) -> str:
    name = type(joint).__name__
    return f"{name}({', '.join(label(p) for p in joint.parts())})" if name == "Composite" else name


def all_joints(joints=JOINTS):
    return pytest.mark.parametrize("joint", joints, ids=label)


def draw(joint: Joint, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return joint.advance(joint.neutral(), rng.uniform(-1.2, 1.2, joint.nv), 1.0), rng.uniform(-1.5, 1.5, joint.nv)


def slope(function, joint: Joint, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """d/dt of function(q(t)) along constant v."""
    f = [np.asarray(function(joint.advance(q, v, k * STEP))) for k in (-2, -1, 1, 2)]
    return (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * STEP)


def test_every_class_of_the_house_is_here() -> None:
    def below(cls):
        for child in cls.__subclasses__():
            yield child
            yield from below(child)

    house = {cls for cls in below(Joint) if cls.__module__.startswith("unibody.")}
    assert house <= {type(j) for j in HOUSE}


@all_joints()
def test_neutral_position_has_the_right_sizes(joint: Joint) -> None:
    q = joint.neutral()
    R, p = joint.pose(q)
    assert q.shape == (joint.nq,) and joint.motion(q).shape == (6, joint.nv)
    np.testing.assert_allclose(R, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(p, 0.0, atol=1e-15)


@all_joints(MOVING)
def test_motion_is_the_rate_of_the_pose(joint: Joint, rng) -> None:
    for _ in range(3):
        q, v = draw(joint, rng)
        R, _ = joint.pose(q)
        turn = slope(lambda x, R=R: vector_from_rotation(R.T @ joint.pose(x)[0]), joint, q, v)
        way = R.T @ slope(lambda x: joint.pose(x)[1], joint, q, v)
        np.testing.assert_allclose(joint.motion(q) @ v, np.concatenate([turn, way]), rtol=0.0, atol=1e-9)


@all_joints(MOVING)
def test_bias_is_the_rate_of_the_motion_times_v(joint: Joint, rng) -> None:
    for _ in range(3):
        q, v = draw(joint, rng)
        np.testing.assert_allclose(joint.bias(q, v), slope(joint.motion, joint, q, v) @ v, rtol=0.0, atol=1e-8)


@all_joints(MOVING)
def test_rate_is_the_slope_of_advance(joint: Joint, rng) -> None:
    for _ in range(3):
        q, v = draw(joint, rng)
        np.testing.assert_allclose(joint.rate(q, v), slope(lambda x: x, joint, q, v), rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(joint.advance(q, v, 0.0), q, rtol=0.0, atol=1e-15)


@all_joints(MOVING)
def test_advance_forth_and_back_returns(joint: Joint, rng) -> None:
    q, v = draw(joint, rng)
    np.testing.assert_allclose(joint.advance(joint.advance(q, v, 0.3), v, -0.3), q, rtol=0.0, atol=1e-14)


def one_joint_model(joint: Joint, q: np.ndarray, v: np.ndarray, X_BM: ub.Pose | None = None, **options) -> ub.Model:
    b = ub.Builder()
    body = b.body("body", mass=2.0, com=(0.1, -0.2, 0.3), inertia=(0.2, 0.3, 0.4))
    X_PF = ub.Pose((0.2, 0.1, -0.3), (0.5, 0.1, -0.7, 0.3))
    b.joint("joint", joint, parent=b.world, child=body, X_PF=X_PF, X_BM=X_BM, q=q, v=v, **options)
    return b.build()


def test_kernels_equal_numpy(rng) -> None:
    """All joints in one table, as in a model, twice over: X_FM, S, Ṡ v, advance and rate."""
    b = ub.Builder()
    for k, joint in enumerate(JOINTS * 2):
        body = b.body(f"body{k}", mass=1.0, inertia=(1.0, 1.0, 1.0))
        q, v = draw(joint, rng)
        b.joint(f"joint{k}", joint, parent=b.world, child=body, q=q, v=v)
    model = b.build()
    q, v = model.start_q(), model.start_v()
    callback_errors = CallbackErrors()
    table = JointTables(model.tree_joints, callback_errors)
    X, S, c = np.full(12 * table.rows, np.nan), np.full(6 * model.nv, np.nan), np.full(6 * table.rows, np.nan)
    fill_joint_table(table.classes, table.index, table.parameters, table.parts, q, v, X, S, c)
    ahead, rate = np.full(model.nq, np.nan), np.full(model.nq, np.nan)
    advance_joints(table.classes, table.index, table.parameters, q, v, 0.37, ahead)
    rate_joints(table.classes, table.index, table.parameters, q, v, rate)
    assert callback_errors.error is None
    for k, j in enumerate(model.tree_joints):
        own_q, own_v = slice(j.q_start, j.q_start + j.nq), slice(j.v_start, j.v_start + j.nv)
        R, p = j.element.pose(q[own_q])

        def same(ours: np.ndarray, numpy: np.ndarray, j=j) -> None:
            np.testing.assert_allclose(ours, numpy, rtol=0.0, atol=1e-13, err_msg=label(j.element))

        same(X[12 * k : 12 * k + 9].reshape(3, 3), R)
        same(X[12 * k + 9 : 12 * k + 12], p)
        same(S.reshape(-1, 6)[own_v].T, j.element.motion(q[own_q]))
        same(c[6 * k : 6 * k + 6], j.element.bias(q[own_q], v[own_v]))
        same(ahead[own_q], j.element.advance(q[own_q], v[own_v], 0.37))
        same(rate[own_q], j.element.rate(q[own_q], v[own_v]))


@all_joints(HOUSE)
def test_accelerations_without_kernels_are_the_same(joint: Joint, rng) -> None:
    """The whole dynamics through the NumPy methods of the class, with its kernels taken away."""

    def stripped(j: Joint) -> Joint:
        if isinstance(j, ub.Composite):
            return ub.Composite(*(stripped(part) for part in j.parts()))
        without = {"fill_kernel": None, "advance_kernel": None, "rate_kernel": None}
        slow = object.__new__(type(f"Slow{type(j).__name__}", (type(j),), without))
        slow.__dict__.update(j.__dict__)
        return slow

    q, v = draw(joint, rng)
    X_BM = ub.Pose((0.1, 0.2, 0.3), (0.2, 0.4, -0.5, 0.6))
    fast, slow = (one_joint_model(j, q, v, X_BM) for j in (joint, stripped(joint)))
    effort = rng.uniform(-1.0, 1.0, joint.nv)
    ours, theirs = (ub.solvers.Articulated().bind(m) for m in (fast, slow))
    assert not ours.system.python_classes and (theirs.system.python_classes or not joint.nv)
    np.testing.assert_allclose(ours.forward_dynamics(q, v, effort), theirs.forward_dynamics(q, v, effort), rtol=1e-12, atol=1e-12)


@all_joints()
def test_fit_finds_q_from_the_pose(joint: Joint, rng) -> None:
    for _ in range(3):
        q, _ = draw(joint, rng)
        near = joint.advance(q, rng.uniform(-0.2, 0.2, joint.nv), 1.0)
        np.testing.assert_allclose(joint.fit(*joint.pose(q), near), q, rtol=0.0, atol=1e-10)


@all_joints(MOVING)
def test_fit_counts_turns(joint: Joint, rng) -> None:
    """Where seven turns of a coordinate lead back to the same pose, a fit from nearby keeps them."""
    q, _ = draw(joint, rng)
    for k in range(joint.nq):
        turned = q.copy()
        turned[k] += 14.0 * np.pi
        if joint.nq != joint.nv or any(np.abs(a - b).max() > 1e-9 for a, b in zip(joint.pose(q), joint.pose(turned), strict=True)):
            continue
        near = joint.advance(turned, rng.uniform(-0.2, 0.2, joint.nv), 1.0)
        np.testing.assert_allclose(joint.fit(*joint.pose(q), near), turned, rtol=0.0, atol=1e-10)


@all_joints([j for j in JOINTS if j.nq != j.nv])
@pytest.mark.parametrize("rule", ["semi-implicit", "rk4"])
def test_quaternions_stay_unit(joint: Joint, rule: str, rng) -> None:
    """Over a thousand steps of up to 0.03 rad. With armature: composites of turns pass through positions singular without it."""
    q, v = draw(joint, rng)
    model = one_joint_model(joint, q, 4.0 * v, armature=0.5, damping=0.1)
    recording = ub.Simulation(model, ub.solvers.Articulated(rule=rule), dt=5e-3).run(5.0, every=1000)
    at = 0
    for part in joint.parts():
        if part.nq != part.nv:
            quaternions = recording.q[:, at + part.nq - 4 : at + part.nq]
            np.testing.assert_allclose(np.linalg.norm(quaternions, axis=1), 1.0, rtol=0.0, atol=1e-14)
        at += part.nq


@all_joints(MOVING)
def test_effort_is_the_motion_times_the_wrench(joint: Joint, rng) -> None:
    """A wrench W at M on the child accelerates as the effort Sᵀ W does, so that effort · v = W · S v is its power."""
    q, v = draw(joint, rng)
    X_BM = ub.Pose((0.1, 0.2, 0.3), (0.2, 0.4, -0.5, 0.6))
    model = one_joint_model(joint, q, v, X_BM)
    bound = ub.solvers.Articulated().bind(model)
    W = rng.uniform(-1.0, 1.0, 6)
    torque, force = X_BM.R @ W[:3], X_BM.R @ W[3:]
    F_B = np.concatenate([torque + np.cross(X_BM.p, force), force])
    effort = joint.motion(q).T @ W
    np.testing.assert_allclose(bound.pull(q, np.stack([np.zeros(6), F_B])), effort, rtol=0.0, atol=1e-13)
    assert effort @ v == pytest.approx(F_B @ bound.push(q, v)[1], abs=1e-13)
    b = ub.Builder()
    body = b.body("body", mass=2.0, com=(0.1, -0.2, 0.3), inertia=(0.2, 0.3, 0.4))
    frame = model.joint("joint").X_PF
    b.joint("joint", joint, parent=b.world, child=body, X_PF=frame, X_BM=X_BM, q=q, v=v)
    b.add(ub.AppliedWrench(body, torque=torque, force=force, at=X_BM.p, axes="body"))
    pushed = ub.solvers.Articulated().bind(b.build()).forward_dynamics(q, v)
    np.testing.assert_allclose(bound.forward_dynamics(q, v, effort), pushed, rtol=1e-12, atol=1e-12)


@all_joints(MOVING)
def test_bodies_move_as_the_joint_says(joint: Joint, rng) -> None:
    """J v and J̇ v of the coordinates against differences of the body's own motion along constant v."""
    q, v = draw(joint, rng)
    model = one_joint_model(joint, q, v, ub.Pose((0.1, 0.2, 0.3), (0.2, 0.4, -0.5, 0.6)))
    bound = ub.solvers.Articulated().bind(model)
    expected = slope(lambda x: bound.push(x, v), joint, q, v)
    np.testing.assert_allclose(bound.bias(q, v), expected, rtol=0.0, atol=1e-8)


def test_joint_in_a_script_equals_the_built_in(rng) -> None:
    """The same swing through `SlowBall` and `Ball`."""
    q, v = draw(ub.Ball(), rng)
    ours, built_in = (
        ub.Simulation(one_joint_model(j, q, v), "articulated", dt=1e-3).run(0.2, every=200).q[-1] for j in (SlowBall(), ub.Ball())
    )
    np.testing.assert_allclose(ours, built_in, rtol=0.0, atol=1e-12)
