"""J and Y = M⁻¹ Jᵀ of wrenches on pairs of bodies, swept through the trees or from M⁻¹ of islands, against dense algebra: M from composite
inertias, J from how bodies move at unit velocities."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.unit.stepping.test_islands import zoo
from tests.zoo import chain, inertia, pose, position, random_tree

import unibody as ub
from unibody.coordinates.workspace import Y
from unibody.element import Point
from unibody.solvers.articulated.solver import Articulated
from unibody.stepping.impulse_reduced import ImpulseReduced
from unibody.stepping.islands import LARGEST


def driven(seed: int) -> ub.Model:
    """An arm with limits on a turntable whose turning is told, on a base whose motion is, beside a free body and a slide."""
    rng, b = np.random.default_rng(seed), ub.Builder()
    base = b.body("base", kind="kinematic", V_WB=(0.0, 0.1, 0.5, 0.2, 0.0, 0.0))
    table = b.body("table", mass=2.0, inertia=np.eye(3))
    turning = b.joint("turning", ub.Revolute((0, 0, 1)), base, table, X_PF=ub.Pose((0, 0, 1)))
    b.add(ub.PrescribedJoint(turning, lambda t: 0.3 + 0.5 * t))
    above = table
    for k in range(3):
        link = b.body(f"link{k}", shape=ub.Box((0.2, 0.3, 0.4)), mass=1.0 + k)
        hinge = b.joint(f"hinge{k}", ub.Revolute(rng.normal(size=3)), above, link, X_PF=ub.Pose(rng.normal(size=3)), q=[0.3 * k])
        b.add(ub.JointLimit(hinge, lower=-1.0, upper=1.0))
        above = link
    b.body("free", shape=ub.Sphere(0.3), mass=1.5, X_WB=ub.Pose((2, 0, 0)))
    cart = b.body("cart", shape=ub.Box((0.2, 0.3, 0.4)), mass=1.5)
    b.joint("slide", ub.Prismatic((1, 0, 1)), b.world, cart)
    return b.build()


def loose(seed: int) -> ub.Model:
    """Bodies that fly, with centres of mass and axes anywhere; one of them carries another; one is bound to the ground by a spring."""
    rng, b = np.random.default_rng(seed), ub.Builder()
    for k in range(4):
        mass = float(rng.uniform(0.5, 5.0))
        b.body(f"body{k}", mass=mass, com=rng.uniform(-0.3, 0.3, 3), inertia=inertia(rng, mass))
        parent = "body1" if k == 2 else "world"
        element = ub.Revolute(rng.normal(size=3)) if k == 2 else ub.Free()
        start = {"q": position(element, rng), "v": rng.uniform(-2.0, 2.0, element.nv)}
        b.joint(f"joint{k}", element, parent=parent, child=f"body{k}", X_PF=pose(rng), X_BM=pose(rng), **start)
    b.add(ub.SpringDamper(Point("world", (0, 0, 1)), Point("body3", (0.1, 0, 0)), stiffness=30.0, rest_length=0.2))
    return b.build()


def flying(seed: int) -> ub.Model:
    """Bodies that are alone: two on Free joints, two on six joints in one, with armatures; so that all masses are unit."""
    rng, b = np.random.default_rng(seed), ub.Builder()
    six = ub.Composite(ub.Translational(), ub.Revolute(rng.normal(size=3)), ub.Universal((1, 0, 0), (0, 1, 0)))
    for k in range(4):
        mass = float(rng.uniform(0.5, 5.0))
        b.body(f"body{k}", mass=mass, com=rng.uniform(-0.3, 0.3, 3), inertia=inertia(rng, mass))
        element = six if k % 2 else ub.Free()
        start = {"q": position(element, rng), "v": rng.uniform(-2.0, 2.0, 6), "armature": 0.2 if k == 3 else 0.0}
        b.joint(f"joint{k}", element, parent="world", child=f"body{k}", X_PF=pose(rng), X_BM=pose(rng), **start)
    return b.build()


@cache
def looked_at(name: str) -> tuple[ImpulseReduced, np.ndarray, np.ndarray, np.ndarray]:
    """A system at a state; M; and (bodies, nv, 6) how bodies move, at centres of mass, at unit velocities."""
    made = {
        "tree": lambda: random_tree(np.random.default_rng(3), 13, springs=False, motors=False),
        "zoo": lambda: zoo(4, False),
        "tied zoo": lambda: zoo(5, True),
        "driven": lambda: driven(6),
        "loose": lambda: loose(7),
        "flying": lambda: flying(8),
        "long chain": lambda: chain(LARGEST + 3, alternate=True),
    }
    model = made[name]()
    system = ImpulseReduced(model)
    q, v = system.start()
    system.prepare(1e-2)
    control = model.neutral_control()
    M = Articulated().bind(replace(model, constraints=())).mass_matrix(q[: model.nq])

    def moving(u: np.ndarray) -> np.ndarray:
        assert system.look(0.0, q, np.append(u, np.zeros(len(v) - model.nv)), control)
        return system.motion().velocity.copy()

    still = moving(np.zeros(model.nv))
    J = np.stack([moving(e) - still for e in np.eye(model.nv)], axis=1)
    assert system.look(0.0, q, v, control)
    return system, M, J, q


def responded(system: ImpulseReduced, J: np.ndarray, M: np.ndarray, pairs: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
    """J of all rows, dense; what `respond` says is compared with it and with M⁻¹ Jᵀ."""
    constraints = system.constraint_rows()
    W = system.respond(constraints.rows, pairs, wrenches)
    rows = np.einsum("krsj,ksvj->krv", wrenches, J[pairs]).reshape(-1, len(M))
    whole = np.concatenate([constraints.J, rows])
    scale = np.abs(whole @ np.linalg.solve(M, whole.T)).max()
    np.testing.assert_allclose(W.dense(), whole @ np.linalg.solve(M, whole.T), atol=1e-9 * scale)
    g = system.islands
    trees = np.flatnonzero(~np.isin(np.arange(len(M)), [v for k in np.flatnonzero(g.alone) for v in g.column[g.first[k] : g.first[k + 1]]]))
    found = [part[:, g.place][:, trees] for part in W.wholes()]
    np.testing.assert_allclose(found[0], whole[:, trees], atol=1e-10 * np.abs(whole).max())
    responses = np.linalg.solve(M, whole.T).T[:, trees]
    np.testing.assert_allclose(found[1], responses, atol=1e-9 * np.abs(responses).max(initial=0.0))
    J_whole, Y_whole = (np.delete(part[:, g.place], trees, axis=1) for part in W.wholes())
    assert W.unit.tolist() == g.alone.tolist() and (J_whole == Y_whole).all(), "of bodies that are alone masses are unit"
    assert (W.Y is W.J) == bool(g.alone.all())
    return whole


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["tree", "zoo", "tied zoo", "driven", "loose", "flying"])
def test_answers_are_those_of_dense_algebra(name: str, width: int) -> None:
    """Many rows at once, so that M⁻¹ of every island is made, and pair by pair, so that none is; bodies of one island and of two, and the
    world."""
    system, M, J, _ = looked_at(name)
    rng, n = np.random.default_rng(width), system.model.n_bodies
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(36)])
    wrenches = rng.normal(size=(36, width, 2, 6))
    responded(system, J, M, pairs, wrenches)
    assert (system._inverse_at[system.islands.alone == 0] >= 0).all()
    for k in range(3):
        responded(system, J, M, pairs[k : k + 1], wrenches[k : k + 1])
    responded(system, J, M, pairs, wrenches)


@pytest.mark.parametrize("width", [1, 3])
def test_what_is_too_long_is_swept(width: int) -> None:
    system, M, J, _ = looked_at("long chain")
    rng = np.random.default_rng(0)
    pairs = np.array([rng.choice(system.model.n_bodies, 2, replace=False) for _ in range(30)])
    responded(system, J, M, pairs, rng.normal(size=(30, width, 2, 6)))
    assert (system._inverse_at == -1).all()


@pytest.mark.parametrize("name", ["tree", "driven", "loose"])
def test_accelerations_and_changes_of_velocities(name: str) -> None:
    """Of the motion that nothing holds, as articulated bodies have it, which know no bodies that fly; and of wrenches on all bodies and
    impulses along the constraint rows, as dense algebra has it."""
    system, M, J, q = looked_at(name)
    model, rng = system.model, np.random.default_rng(2)
    v, control = system.start()[1], model.neutral_control()
    control[model.nv_joints :][: 6 * model.n_bodies] = rng.normal(size=6 * model.n_bodies)
    other = Articulated().bind(replace(model, constraints=())).system
    other.evaluate(0.0, q.copy(), v.copy(), control, loads=True)
    assert system.look(0.0, q.copy(), v.copy(), control)
    np.testing.assert_allclose(system.view(Y), other.view(Y), atol=1e-10 * np.abs(other.view(Y)).max())
    constraints, wrenches = system.constraint_rows(), rng.normal(size=(model.n_bodies, 6))
    impulses = rng.normal(size=len(constraints.rate))
    wanted = np.linalg.solve(M, np.einsum("nvj,nj->v", J, wrenches) + constraints.J.T @ impulses)
    np.testing.assert_allclose(system.change(impulses, constraints, wrenches), wanted, atol=1e-9 * np.abs(wanted).max())
    carried = np.einsum("nvj,v->nj", J, wanted)
    np.testing.assert_allclose(system.carried(impulses, constraints, wrenches), carried, atol=1e-9 * np.abs(carried).max())


def test_what_is_not_finite_is_seen() -> None:
    system, _, _, q = looked_at("loose")
    v = system.start()[1]
    v[0] = 1e200
    with np.errstate(all="ignore"):
        assert not system.look(0.0, q.copy(), v, system.model.neutral_control())
    assert system.look(0.0, q.copy(), system.start()[1], system.model.neutral_control())


def test_answers_follow_the_state() -> None:
    """Constraint rows are not asked for again at another state; M⁻¹ that they left is not taken for that of the new one."""
    system, _, _, q = looked_at("zoo")
    other = ImpulseReduced(system.model)
    other.prepare(1e-2)
    v, control = np.zeros(len(other.start()[1])), system.model.neutral_control()
    moved = q.copy()
    other.advance(moved, np.ones_like(v), 0.3)
    pairs, wrenches = np.array([(3, 9), (5, 6)] * 10), np.random.default_rng(1).normal(size=(20, 3, 2, 6))
    assert other.look(0.0, q.copy(), v, control)
    front = other.constraint_rows().rows
    assert other.look(0.0, moved.copy(), v, control)
    found = other.respond(front, pairs, wrenches)
    wanted = other.respond(other.constraint_rows().rows, pairs, wrenches)
    begin = front.J.size
    np.testing.assert_allclose(found.Y[begin:], wanted.Y[begin:], atol=1e-12)
