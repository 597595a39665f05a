"""What every force promises of its implicit terms: B = −h D − h² K and h K V, symmetric, equal to its exact NumPy blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from custom_elements import push, swell

import unibody as ub
import zoo
from unibody.coordinates.implicit import add_implicit
from unibody.element import Kinematics, Point
from unibody.forces import Force
from unibody.forces.base import Blocks, Loads
from unibody.model.implicit_tables import UPPER, ImplicitTables, is_implicit
from unibody.model.tables import Names, Trouble

H = 0.02
HOUSE = (ub.SpringDamper, ub.Cable, ub.BodyDamping, ub.TorsionSpring, ub.Motor)


@cache
def slow_class(cls: type) -> type:
    return type(f"Slow{cls.__name__}", (cls,), {"implicit_kernel": None})


def without_kernel(force: Force) -> Force:
    """The same force, whose implicit terms come from its NumPy blocks."""
    slow = object.__new__(slow_class(type(force)))
    slow.__dict__.update(force.__dict__)
    return slow


def body(name: str) -> ub.model.builder.Body:
    return ub.model.builder.Body(name)


def every_force(rng: np.random.Generator, joints: dict[str, ub.Joint]) -> Iterable[Force]:
    """At least two of each class: taut, slack and pressed, on one, two and many bodies, on bodies that cannot move, driven and clamped."""
    at = [body(f"body{i}").at(*rng.uniform(-0.3, 0.3, 3)) for i in range(len(joints))]
    fixed, driven, world = body("post").at(0.2, 0.1, 0.4), body("platform").at(-0.2, 0.3, 0.1), Point("world", (1.0, 0.0, 0.5))
    yield ub.AppliedWrench("body1", torque=(1, 2, 3), force=push)
    yield ub.SpringDamper(at[0], at[-1], stiffness=20.0, damping=1.0, rest_length=0.1)
    yield ub.SpringDamper(at[2], at[5], stiffness=20.0, damping=3.0, rest_length=9.0)
    yield ub.SpringDamper(at[5], at[2], stiffness=7.0)
    yield ub.SpringDamper(at[1], world, stiffness=20.0, damping=2.0, rest_length=0.0)
    yield ub.SpringDamper(driven, at[1], stiffness=20.0, damping=2.0)
    yield ub.SpringDamper(fixed, at[4], damping=2.0)
    yield ub.SpringDamper(at[3], body("body3").at(0.5, -0.4, 0.3), stiffness=11.0, damping=1.5, rest_length=0.2)
    yield ub.Cable([at[0], at[2], world, at[3]], stiffness=20.0, damping=1.0, rest_length=0.1)
    yield ub.Cable([at[1], at[2]], stiffness=20.0, rest_length=50.0)
    yield ub.Cable(
        [at[2], at[5], body("body2").at(0.1, 0.2, -0.5), driven, at[5], at[5], at[6]], stiffness=9.0, damping=0.7, rest_length=0.3
    )
    yield ub.BodyDamping("body0", angular=0.3, linear=0.2)
    yield ub.BodyDamping("body1", linear=0.7)
    for name, joint in joints.items():
        sprung = [part.nq == part.nv or isinstance(part, ub.Ball) for part in joint.parts() for _ in range(part.nv)]
        if sprung:
            yield ub.TorsionSpring(name, stiffness=rng.uniform(1, 9, joint.nv) * sprung, damping=rng.uniform(0, 1, joint.nv))
            yield ub.Motor(name, effort=swell, kd=0.4, target_rate=1.0, dof=joint.nv - 1)
        if joint.nv and joint.parts()[0].nq == joint.parts()[0].nv > 0:
            yield ub.Motor(name, kp=3.0, kd=0.4, target=swell, limit=2.0)
            yield ub.Motor(name, kp=50.0, kd=0.4, target=5.0, limit=2.0)


def model_with_every_force(seed: int) -> ub.Model:
    rng = np.random.default_rng(seed)
    b = ub.Builder()
    joints = {}
    b.body("post", kind="static", X_WB=zoo.pose(rng))
    b.body("platform", kind="kinematic", X_WB=zoo.pose(rng), V_WB=rng.uniform(-1, 1, 6))
    for i, kind in enumerate(zoo.ALL):
        joint = zoo.JOINTS[kind](rng)
        link = b.body(f"body{i}", mass=1.0 + i, inertia=zoo.inertia(rng, 1.0 + i))
        parent = b.world if i == 0 else f"body{rng.integers(i)}"
        limit = 1.5 if i % 4 == 0 else np.inf
        start = {"q": zoo.position(joint, rng), "v": rng.uniform(-1, 1, joint.nv)}
        b.joint(f"joint{i}", joint, parent=parent, child=link, X_PF=zoo.pose(rng), X_BM=zoo.pose(rng), effort_limit=limit, **start)
        joints[f"joint{i}"] = joint
    for force in every_force(rng, joints):
        b.add(force)
    return b.build()


def bodies_in_space(*forces: Force, still: bool = False) -> ub.Model:
    """Three free bodies, turned and moving, and the world."""
    rng = np.random.default_rng(5)
    b = ub.Builder(gravity=None)
    for name in "abc":
        b.body(
            name,
            mass=1.0,
            inertia=(1, 1, 1),
            X_WB=ub.Pose(rng.uniform(-1, 1, 3), rng.normal(size=4)),
            V_WB=rng.normal(size=6) * (not still),
        )
    for force in forces:
        b.add(force)
    return b.build()


def at_start(model: ub.Model) -> Kinematics:
    """Everything as it starts, with some efforts in `control`."""
    from unibody.model.model import start_twists

    twists = start_twists(model.bodies, model.joints, [body.X_WB for body in model.bodies])
    control = model.neutral_control()
    control[: model.nv_joints] = 0.3 * np.cos(np.arange(model.nv_joints))
    signals = model.signals.copy()
    for slot, count, function, _ in model.signal_functions:
        signals[slot : slot + count] = function(0.4)
    X = np.array([body.X_WB.flat() for body in model.bodies])
    return Kinematics(0.4, X, np.array(twists), model.start_q(), model.start_v(), signals, control, Names(model))


def limits(model: ub.Model) -> np.ndarray:
    return np.concatenate([j.effort_limit for j in model.joints]) if model.joints else np.zeros(0)


def implicit_terms(
    model: ub.Model, project: int = 0, explicit: frozenset[str] = frozenset(), at: Kinematics | None = None
) -> SimpleNamespace:
    """All implicit terms by compiled loops: F, effort, diagonal, and B over all bodies (immovable ones have no couplings)."""
    at = at or at_start(model)
    trouble = Trouble()
    tables = ImplicitTables(model, trouble, np.array([at.t]), explicit)
    out = SimpleNamespace(
        F=np.full(at.V.size, 7.0), effort=np.full(at.v.size, 7.0), own=np.full(21 * model.n_bodies, 7.0),
        coupling=np.full(36 * len(tables.couplings), 7.0), diagonal=np.full(at.v.size, 7.0), tables=tables, trouble=trouble,
    )  # fmt: skip
    add_implicit(
        tables.classes, tables.index, tables.parameters, tables.places, limits(model), at.signals, at.X.ravel(), at.V.ravel(), at.q, at.v,
        at.control, H, project, out.F, out.effort, out.own, out.coupling, out.diagonal,
    )  # fmt: skip
    n = model.n_bodies
    out.F = out.F.reshape(n, 6)
    B = np.zeros((n, 6, n, 6))
    for k in range(n):
        B[k][UPPER[0], k, UPPER[1]] = B[k][UPPER[1], k, UPPER[0]] = out.own[21 * k : 21 * k + 21]
    for (a, b), block in zip(tables.couplings, out.coupling.reshape(-1, 6, 6), strict=True):
        B[a, :, b] += block
        B[b, :, a] += block.T
    out.B = B.reshape(6 * n, 6 * n)
    return out


def expected_terms(model: ub.Model) -> SimpleNamespace:
    """The same from the symmetric parts of NumPy blocks, straight from the definition."""
    at = at_start(model)
    n, limit = model.n_bodies, limits(model)
    K, D = np.zeros((n, 6, n, 6)), np.zeros((n, 6, n, 6))
    stiffness, damping = np.zeros(at.v.size), np.zeros(at.v.size)
    for _, force in model.forces:
        if not is_implicit(force):
            continue
        for total, blocks in ((K, force.stiffness_blocks(at)), (D, force.damping_blocks(at))):
            for (a, b), block in blocks.items():
                if a in force.bodies():
                    i, j = model.body(a), model.body(b)
                    total[i, :, j] += 0.5 * block
                    total[j, :, i] += 0.5 * block.T
        for name in force.joints():
            j = model.joint(name)
            span = slice(j.v_start, j.v_start + j.nv)
            loads = Loads()
            force.apply(at, loads)
            if name in loads.actuation and (np.abs(loads.actuation[name] + at.control[span]) > limit[span])[force.dof]:
                continue
            for total, blocks in ((stiffness, force.stiffness_blocks(at)), (damping, force.damping_blocks(at))):
                A = -0.5 * (blocks[name, name] + blocks[name, name].T)
                total[span] += np.maximum(0.0, np.diag(A) + np.abs(A).sum(axis=1) - np.abs(np.diag(A)))
    F = H * np.einsum("aibj,bj->ai", K, at.V)
    B = -H * D - H * H * K
    still = [i for i, info in enumerate(model.bodies) if info.kind != "dynamic"]
    for i in still:
        own = B[i, :, i].copy()
        B[i], B[:, :, i] = 0.0, 0.0
        B[i, :, i] = own
    return SimpleNamespace(
        F=F, B=B.reshape(6 * n, 6 * n), diagonal=H * damping + H * H * stiffness, effort=-H * stiffness * at.v
    )  # fmt: skip


def assert_same(ours: SimpleNamespace, theirs: SimpleNamespace) -> None:
    """To 1e-12 of the largest entry: round-off of sums of products."""
    for field in ("B", "F", "diagonal", "effort"):
        wanted = getattr(theirs, field)
        np.testing.assert_allclose(
            getattr(ours, field), wanted, rtol=0.0, atol=1e-12 * (np.abs(wanted).max(initial=0.0) + 1e-30), err_msg=field
        )


def test_every_class_with_blocks_has_a_kernel_and_is_in_the_model() -> None:
    house = {cls for cls in Force.__subclasses__() if cls.__module__.startswith("unibody.")}
    with_blocks = {c for c in house if c.stiffness_blocks is not Force.stiffness_blocks or c.damping_blocks is not Force.damping_blocks}
    assert with_blocks - {ub.AppliedWrench} == set(HOUSE) == {c for c in house if c.implicit_kernel is not None}
    assert ub.AppliedWrench.explicit
    assert set(HOUSE) <= {type(force) for _, force in model_with_every_force(0).forces}


@pytest.mark.parametrize("seed", range(3))
def test_kernels_equal_the_symmetric_part_of_numpy_blocks(seed: int) -> None:
    model = model_with_every_force(seed)
    ours = implicit_terms(model)
    assert not ours.tables.python_classes
    assert_same(ours, expected_terms(model))


@pytest.mark.parametrize("seed", range(3))
def test_callbacks_equal_kernels(seed: int) -> None:
    fast = model_with_every_force(seed)
    slow = replace(fast, forces=tuple((name, without_kernel(force)) for name, force in fast.forces))
    by_kernel, by_numpy = implicit_terms(fast), implicit_terms(slow)
    assert len(by_numpy.tables.python_classes) == len(HOUSE)
    assert by_numpy.trouble.error is None
    assert_same(by_numpy, by_kernel)
    np.testing.assert_array_equal(by_numpy.tables.couplings, by_kernel.tables.couplings)
    assert by_numpy.tables.joint_velocities == by_kernel.tables.joint_velocities
