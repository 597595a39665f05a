"""Groups of velocities: which bodies belong together, and W over islands, in reduced and in maximal coordinates, as dense algebra has
it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.element import Point
from unibody.stepping.impulse_maximal import ImpulseMaximal
from unibody.stepping.impulse_reduced import ImpulseReduced
from unibody.stepping.time_stepping import with_friction_rows


def zoo(seed: int, loops: bool) -> ub.Model:
    """Two free bodies, a chain on the ground, a free tree with a branch, limits, dry friction, and, if asked for, a loop within a tree and
    one between two trees."""
    rng, b = np.random.default_rng(seed), ub.Builder()

    def body(name: str) -> Any:
        pose = ub.Pose.about(rng.normal(size=3), rng.uniform(0, 2), p=rng.normal(size=3))
        return b.body(name, shape=ub.Box(rng.uniform(0.2, 0.6, 3)), mass=rng.uniform(0.5, 3.0), X_WB=pose, V_WB=rng.normal(size=6))

    for k in range(2):
        body(f"free{k}")
    above, joints = b.world, []
    for k in range(4):
        link = body(f"link{k}")
        joint = ub.Revolute(rng.normal(size=3)) if k != 2 else ub.Ball()
        joints.append(b.joint(f"hinge{k}", joint, above, link, X_PF=ub.Pose(rng.normal(size=3)), X_BM=ub.Pose(rng.normal(size=3))))
        above = link
    trunk, arm, leg = body("trunk"), body("arm"), body("leg")
    shoulder = b.joint("shoulder", ub.Universal((1, 0, 0), (0, 1, 0)), trunk, arm, X_PF=ub.Pose((0.3, 0, 0)), X_BM=ub.Pose((0, 0.3, 0)))
    hip = b.joint("hip", ub.Revolute((0, 1, 0)), trunk, leg, X_PF=ub.Pose((-0.3, 0, 0)), X_BM=ub.Pose((0, 0, 0.4)))
    b.add(ub.JointLimit(joints[0], lower=-1.0, upper=1.0))
    b.add(ub.JointLimit(hip, lower=-1.0, upper=1.0))
    b.add(ub.DryFriction(joints[1], 0.3))
    b.add(ub.DryFriction(shoulder, 0.2))
    if loops:
        b.add(ub.Distance(Point("link0", (0, 0, 0)), Point("link3", (0.1, 0, 0)), 1.0))
        b.add(ub.Distance(Point("leg", (0, 0, 0)), Point("free1", (0.1, 0, 0)), 1.0))
    return with_friction_rows(b.build())


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize(("seed", "count"), [(0, 7), (1, 9), (2, 9)])
def test_both_coordinates_and_dense_algebra_find_one_matrix(seed: int, loops: bool, count: int) -> None:
    """W of limits, dry friction and random wrenches on pairs of bodies: over islands in reduced coordinates, over islands in maximal ones,
    and as J Yᵀ of all velocities. Of nine wrenches maximal coordinates are answered through units on the bodies."""
    model = zoo(seed, loops)
    rng, found = np.random.default_rng(10 + seed), []
    pairs = np.array([rng.choice(model.n_bodies, 2, replace=False) for _ in range(count)])
    wrenches = rng.normal(size=(count, 3, 2, 6))
    for system in (ImpulseReduced(model), ImpulseMaximal(model)):
        q, v = system.start()
        system.prepare(1e-2)
        assert system.look(0.0, q, v, model.neutral_control())
        constraints = system.constraint_rows()
        W = system.respond(constraints.rows, pairs, wrenches)
        J, Y = W.wholes()
        np.testing.assert_allclose(W.dense(), 0.5 * (J @ Y.T + Y @ J.T), atol=1e-11)
        found.append(W.dense())
        on = np.zeros((model.n_bodies, 6))
        np.add.at(on, pairs[0], wrenches[0, 1])
        on[0] = 0.0
        x = np.zeros(W.size)
        x[: len(constraints.rate)] = np.linspace(-1.0, 1.0, len(constraints.rate))
        x[len(constraints.rate) + 1] = 1.0
        change = system.change(x[: len(constraints.rate)], constraints, on)
        if isinstance(system, ImpulseReduced):
            np.testing.assert_allclose(constraints.J @ change, (W.dense() @ x)[: len(constraints.rate)], atol=1e-9)
    np.testing.assert_allclose(found[0], found[1], atol=1e-8)


def test_trees_are_islands_and_what_holds_them_together_joins_them() -> None:
    apart, tied = (ImpulseReduced(zoo(0, loops)) for loops in (False, True))
    names = [b.name for b in apart.model.bodies]

    def islands(system: ImpulseReduced) -> list[set[str]]:
        of = system.islands.of_body
        return [{n for n, g in zip(names, of, strict=True) if g == k} for k in range(of.max() + 1)]

    chain = {f"link{k}" for k in range(4)}
    assert islands(apart) == [{"free0"}, {"free1"}, chain, {"trunk", "arm", "leg"}]
    assert islands(tied) == [{"free0"}, chain, {"free1", "trunk", "arm", "leg"}]
    assert apart.islands.alone.tolist() == [1, 1, 0, 0] and tied.islands.alone.tolist() == [1, 0, 0]
