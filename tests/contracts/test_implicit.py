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
from unibody.coordinates.external_forces import add_implicit
from unibody.element import Kinematics, Point
from unibody.forces import Force
from unibody.forces.base import Blocks, Loads
from unibody.forces.pulley_cable import PulleyCable
from unibody.model.implicit_tables import UPPER, ImplicitTables, is_implicit
from unibody.model.tables import CallbackErrors, Names

H = 0.02
HOUSE = (ub.SpringDamper, ub.Cable, PulleyCable, ub.Tendon, ub.BodyDamping, ub.TorsionSpring, ub.Motor, ub.DryFriction)


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
    over = ub.Pulley(Point("world", (3, 0, 2)), 0.2, axis=(0, 1, 1), side=1), ub.Pulley(at[4], 1e-3, axis=(1, 1, 1), side=-1, turns=1)
    yield ub.Cable([at[0], *over, at[3]], stiffness=20.0, damping=1.0, rest_length=1.0, friction=0.1, slip_speed=0.5)
    yield ub.Cable([at[1], over[0], driven], stiffness=20.0, damping=1.0, rest_length=1.0)
    wrap = ub.TendonWrap(Point("world", (0.5, 0.5, 3.0)), 0.4, axis=(1, 0, 1), side=Point("world", (3, -3, 3)))
    yield ub.Tendon([[at[0], wrap, at[2]], [at[2], driven]], stiffness=20.0, damping=1.0, rest=(0.1, 0.2), divisors=(1.0, 2.0))
    yield ub.BodyDamping("body0", angular=0.3, linear=0.2)
    yield ub.BodyDamping("body1", linear=0.7)
    for name, joint in joints.items():
        sprung = [part.nq == part.nv or isinstance(part, ub.Ball) for part in joint.parts() for _ in range(part.nv)]
        if sprung:
            yield ub.TorsionSpring(name, stiffness=rng.uniform(1, 9, joint.nv) * sprung, damping=rng.uniform(0, 1, joint.nv))
            yield ub.Motor(name, effort=swell, kd=0.4, target_rate=1.0, dof=joint.nv - 1)
            yield ub.DryFriction(name, bound=rng.uniform(0, 2, joint.nv), slip_speed=0.5)
            yield ub.DryFriction(name, bound=1.5, slip_speed=0.2, dof=joint.nv - 1)
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
    callback_errors = CallbackErrors()
    tables = ImplicitTables(model, callback_errors, np.array([at.t]), explicit)
    out = SimpleNamespace(
        F=np.full(at.V.size, 7.0), effort=np.full(at.v.size, 7.0), own=np.full(21 * model.n_bodies, 7.0),
        coupling=np.full(36 * len(tables.couplings), 7.0), diagonal=np.full(at.v.size, 7.0), tables=tables, callback_errors=callback_errors,
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
                block = blocks.get((name, name), np.zeros((j.nv, j.nv)))
                A = -0.5 * (block + block.T)
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
    assert by_numpy.callback_errors.error is None
    assert_same(by_numpy, by_kernel)
    np.testing.assert_array_equal(by_numpy.tables.couplings, by_kernel.tables.couplings)
    assert by_numpy.tables.joint_velocities == by_kernel.tables.joint_velocities


@pytest.mark.parametrize("slow", [False, True], ids=["kernels", "callbacks"])
@pytest.mark.parametrize("seed", range(2))
def test_projected_elements_are_positive_semidefinite(seed: int, slow: bool) -> None:
    """Each alone, exact and projected; many are indefinite before, so the claim is not empty. Eigenvalues to round-off of the largest."""
    model = model_with_every_force(seed)
    indefinite = 0
    for name, force in model.forces:
        if not is_implicit(force):
            continue
        alone = replace(model, forces=((name, without_kernel(force) if slow else force),), signals=np.full(8, 0.1), signal_functions=())
        exact, projected = (implicit_terms(alone, project) for project in (0, 1))
        size = np.abs(projected.B).max() + np.abs(exact.B).max() + 1e-30
        indefinite += np.linalg.eigvalsh(coupled(alone, exact.B)).min() < -1e-6 * size
        assert np.linalg.eigvalsh(coupled(alone, projected.B)).min() > -1e-13 * size, name
        assert projected.diagonal.min(initial=0.0) >= 0.0
    assert indefinite >= 3


def coupled(model: ub.Model, B: np.ndarray) -> np.ndarray:
    """B over bodies that can move."""
    rows = [6 * i + k for i, info in enumerate(model.bodies) if info.kind == "dynamic" for k in range(6)]
    return B[np.ix_(rows, rows)]


@pytest.mark.parametrize("slow", [False, True], ids=["kernel", "callback"])
@pytest.mark.parametrize(
    "force",
    [
        ub.SpringDamper(Point("a", (0.1, 0.2, 0.3)), Point("b", (-0.2, 0.1, 0.3)), stiffness=20.0, damping=3.0),
        ub.SpringDamper(Point("a", (0.1, 0.2, 0.3)), Point("world"), stiffness=20.0),
        ub.BodyDamping("a", angular=2.0, linear=3.0),
    ],
    ids=["spring", "tether", "drag"],
)
def test_projection_leaves_a_semidefinite_element_as_it_is(force: Force, slow: bool) -> None:
    """At rest and at their rest length, where no tension leaves a geometric term: −K = k G Gᵀ."""
    model = bodies_in_space(without_kernel(force) if slow else force, still=True)
    exact, projected = (implicit_terms(model, project) for project in (0, 1))
    assert exact.B.any()
    np.testing.assert_allclose(projected.B, exact.B, rtol=0.0, atol=1e-13 * np.abs(exact.B).max())


def test_a_pulled_spring_projected_is_the_sum_of_squares_of_the_paper() -> None:
    """B = Jᵀ (h c u uᵀ + h² (k u uᵀ + max(T, 0)/L (1 − u uᵀ))) J with J = (−R_a Γ_a, R_b Γ_b), and h K V with the same K."""
    from unibody.forces.points import point_shift

    for rest in (0.1, 4.0):
        spring = ub.SpringDamper(Point("a", (0.1, 0.2, 0.3)), Point("b", (-0.3, 0.1, 0.2)), stiffness=20.0, damping=0.5, rest_length=rest)
        model = bodies_in_space(spring)
        at = at_start(model)
        d = at.position(spring.b) - at.position(spring.a)
        L = np.linalg.norm(d)
        uu = np.outer(d, d) / L**2
        J = np.concatenate([-point_shift(at, spring.a), point_shift(at, spring.b)], axis=1)
        speed = J @ np.concatenate([at.twist("a"), at.twist("b")])
        tension = 20.0 * (L - rest) + 0.5 * d @ speed / L
        assert (tension > 0.0) == (rest < 1.0)
        K = 20.0 * uu + max(tension, 0.0) / L * (np.eye(3) - uu)
        ours = implicit_terms(model, project=1)
        rows = [6 * model.body(x) + k for x in "ab" for k in range(6)]
        wanted = J.T @ (H * 0.5 * uu + H * H * K) @ J
        np.testing.assert_allclose(ours.B[np.ix_(rows, rows)], wanted, rtol=0.0, atol=1e-13 * np.abs(wanted).max())
        np.testing.assert_allclose(ours.F[[model.body("a"), model.body("b")]].ravel(), -H * J.T @ K @ speed, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("project", [0, 1])
def test_a_slack_cable_gives_nothing(project: int) -> None:
    """Too long, or shortening so fast that it goes slack; the next cable finds its places all the same."""
    points = [Point("a"), Point("b"), Point("world", (0, 0, 2)), Point("c")]
    slack = ub.Cable(points, stiffness=20.0, damping=1.0, rest_length=50.0)
    taut = ub.Cable(points[1:], stiffness=20.0, damping=1.0, rest_length=0.1)
    model = bodies_in_space(slack, taut)
    both, one = implicit_terms(model, project), implicit_terms(bodies_in_space(taut), project)
    np.testing.assert_array_equal(both.B, one.B)
    np.testing.assert_array_equal(both.F, one.F)
    at = at_start(model)
    for name, direction in (("a", 1.0), ("c", 1.0)):
        R, p = at.pose(name)
        at.V[model.body(name)] = np.concatenate([np.zeros(3), -1e3 * direction * R.T @ (p - at.pose("b")[1])])
    fast = bodies_in_space(ub.Cable([Point("a"), Point("b")], stiffness=1.0, damping=1.0, rest_length=0.1))
    assert not implicit_terms(fast, project, at=at).B.any()
    assert not implicit_terms(fast, project, at=at).F.any()


@pytest.mark.parametrize("project", [0, 1])
@pytest.mark.parametrize("rest", [0.0, 0.5])
def test_a_spring_without_length_pulls_alike_in_all_directions_or_not_at_all(rest: float, project: int) -> None:
    spring = ub.SpringDamper(Point("a"), Point("world"), stiffness=20.0, damping=3.0, rest_length=rest)
    model = bodies_in_space(spring)
    at = at_start(model)
    at.X[model.body("a"), 9:] = 0.0
    a = slice(6 * model.body("a") + 3, 6 * model.body("a") + 6)
    ours = implicit_terms(model, project, at=at)
    k = 20.0 if rest == 0.0 else 0.0
    np.testing.assert_allclose(ours.B[a, a], H * H * k * np.eye(3), atol=1e-16)
    np.testing.assert_allclose(ours.F[model.body("a")], [0, 0, 0, *(-H * k * at.twist("a")[3:])], atol=1e-15)
    assert np.isfinite(ours.B).all()


@pytest.mark.parametrize("project", [0, 1])
def test_a_spring_within_one_body_has_no_terms(project: int) -> None:
    """Its wrench is zero at every pose and twist of the body, and so are all derivatives; it has no place among the couplings."""
    spring = ub.SpringDamper(Point("a", (0.1, 0.2, 0.3)), Point("a", (-0.3, 0.4, 0.1)), stiffness=20.0, damping=3.0, rest_length=0.1)
    assert spring.pairs() == [("a", "a")]
    for force in (spring, without_kernel(spring)):
        ours = implicit_terms(bodies_in_space(force), project)
        assert ours.tables.couplings.shape == (0, 2)
        np.testing.assert_allclose(ours.B, 0.0, atol=1e-14)
        np.testing.assert_allclose(ours.F, 0.0, atol=1e-13)


@pytest.mark.parametrize("project", [0, 1])
def test_a_stretch_of_cable_along_a_body_only_adds_length(project: int) -> None:
    along, end, other = Point("a", (0.4, 0.2, -0.2)), Point("a", (0.1, 0.2, 0.2)), Point("b", (0.3, 0.0, 0.1))
    length = 0.5  # of (0.3, 0, 0.4)
    long, short = (
        bodies_in_space(ub.Cable(points, stiffness=20.0, damping=3.0, rest_length=rest))
        for points, rest in (([along, end, other], 0.1 + length), ([end, other], 0.1))
    )
    assert_same(implicit_terms(long, project), implicit_terms(short, project))


def test_bodies_that_cannot_move_have_no_couplings() -> None:
    model = model_with_every_force(1)
    tables = implicit_terms(model).tables
    kinds = {model.bodies[i].kind for i in tables.couplings.ravel()}
    assert kinds == {"dynamic"}
    assert len({tuple(pair) for pair in tables.couplings.tolist()}) == len(tables.couplings)
    assert (tables.places == -1).any() and tables.places.max() == len(tables.couplings) - 1


def test_forces_left_explicit_leave_the_others_as_they_are() -> None:
    """Functions of time keep their slots: a motor saturated by a wrong signal would lose its terms."""
    model = model_with_every_force(2)
    names = [name for name, force in model.forces if is_implicit(force)]
    assert implicit_terms(model).tables.names == sorted(names, key=implicit_terms(model).tables.names.index)
    halves = [frozenset(names[::2]), frozenset(names[1::2])]
    parts = [implicit_terms(model, explicit=half) for half in halves]
    for part, half in zip(parts, halves, strict=True):
        assert set(part.tables.names) == set(names) - half
    total = SimpleNamespace(**{field: sum(getattr(part, field) for part in parts) for field in ("B", "F", "diagonal", "effort")})
    assert_same(total, implicit_terms(model))
    none = implicit_terms(model, explicit=frozenset(names))
    assert not none.tables.classes.size and not none.B.any() and not none.tables.joint_velocities


def test_a_motor_at_a_limit_has_no_slope() -> None:
    """Its own limit, the joint's, and the joint's with the help of `control`."""
    for motor_limit, joint_limit, control, slope in ((9, 9, 0, 1), (1, 9, 0, 0), (9, 1, 0, 0), (9, 3, 0, 1), (9, 3, 2, 0), (9, 3, -2, 1)):
        b = ub.Builder()
        link = b.body("link", mass=1.0, inertia=(1, 1, 1))
        b.joint("hinge", ub.Revolute((0, 0, 1)), parent=b.world, child=link, effort_limit=joint_limit, v=0.5)
        b.add(ub.Motor("hinge", kp=4.0, kd=1.0, target=0.625, limit=motor_limit))
        model = b.build()
        at = at_start(model)
        at.control[0] = control
        for some in (model, replace(model, forces=tuple((n, without_kernel(f)) for n, f in model.forces))):
            ours = implicit_terms(some, at=at)
            assert ours.diagonal == pytest.approx([slope * (H * 1.0 + H * H * 4.0)])
            assert ours.effort == pytest.approx([-slope * H * 4.0 * 0.5])


def test_the_diagonal_of_a_ball_is_above_its_block() -> None:
    """diag(k) + h-terms minus the symmetric part of −K has no negative eigenvalue."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        b = ub.Builder()
        link = b.body("link", mass=1.0, inertia=(1, 1, 1))
        b.joint("ball", ub.Ball(), parent=b.world, child=link, q=ub.Pose.about(zoo.direction(rng), rng.uniform(0, 3)).wxyz)
        b.add(ub.TorsionSpring("ball", stiffness=rng.uniform(0, 9, 3)))
        model = b.build()
        K = model.forces[0][1].stiffness_blocks(at_start(model))["ball", "ball"]
        above = np.diag(implicit_terms(model).diagonal) / H**2 + 0.5 * (K + K.T)
        assert np.linalg.eigvalsh(above).min() > -1e-12


@dataclass(frozen=True)
class Gear(Force):
    """NumPy only: a spring in the difference of two hinges and of a body's height, with blocks between all three."""

    first: str
    second: str
    link: str
    fault: str = ""

    def bodies(self) -> list[str]:
        return [self.link]

    def joints(self) -> list[str]:
        return [self.first, self.second] if self.fault != "joint" else [self.first]

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        if self.fault == "raises":
            raise RuntimeError("worn")

    def stiffness_blocks(self, kinematics: Kinematics) -> Blocks:
        column = {self.first: np.array([2.0]), self.second: np.array([-3.0]), self.link: np.array([0, 0, 0, 0, 0, 1.0])}
        return {(a, b): -np.outer(x, y) for a, x in column.items() for b, y in column.items()}


def geared(fault: str = "") -> ub.Model:
    b = ub.Builder()
    parent: ub.model.builder.Body | str = b.world
    for name in ("one", "two"):
        link = b.body(f"{name} link", mass=1.0, inertia=(1, 1, 1))
        b.joint(name, ub.Revolute((0, 0, 1)), parent=parent, child=link, v=0.5)
        parent = link
    b.add(Gear("one", "two", "two link", fault))
    return b.build()


@pytest.mark.parametrize("project", [0, 1])
def test_blocks_beside_the_diagonal_of_joints_go_to_the_diagonal(project: int) -> None:
    """c cᵀ for c = (2, −3; height 1) becomes diag(4 + 6 + 2, 9 + 6 + 3) and 1 + 2 + 3 for the height."""
    model = geared()
    ours = implicit_terms(model, project)
    assert ours.tables.python_classes == ["Gear"] and ours.tables.joint_velocities == [0, 1]
    np.testing.assert_allclose(ours.diagonal, H * H * np.array([12.0, 18.0]))
    np.testing.assert_allclose(ours.effort, -H * np.array([12.0, 18.0]) * 0.5)
    height = 6 * model.body("two link") + 5
    assert ours.B[height, height] == pytest.approx(H * H * 6.0)


@pytest.mark.parametrize(("fault", "message"), [("raises", "worn"), ("joint", "Gear.*'two'.*not among its bodies")])
def test_a_fault_in_blocks_is_kept_and_the_numbers_become_nan(fault: str, message: str) -> None:
    ours = implicit_terms(geared(fault))
    assert np.isnan(ours.F).all()
    with pytest.raises((RuntimeError, ub.ModelError), match=message):
        raise ours.callback_errors.error
