"""Joints as linear equations: how many, that they hold for every pose of the joint, and what happens when they repeat or contradict."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.coordinates.affine.joints import Reduction
from unibody.coordinates.affine.rows import linear_relations, missing_freedoms, shared_vectors

SLIDE_AND_TURN = ub.Composite(ub.Prismatic((1, 0, 0)), ub.Revolute((0, 0, 1)))
COUNTS = [
    (ub.Weld(), 12, 0, 0), (ub.Revolute((1, 2, 3)), 6, 0, 0), (ub.Prismatic((0, 1, 1)), 9, 2, 0), (ub.Ball(), 3, 0, 0),
    (ub.Universal(), 3, 1, 0), (ub.Screw((0, 0, 1), 0.1), 3, 3, 1), (ub.Translational(), 9, 0, 0), (ub.Planar(), 3, 1, 0),
    (ub.Free(), 0, 0, 0), (SLIDE_AND_TURN, 3, 2, 0),
]  # fmt: skip


@pytest.mark.parametrize(("joint", "rows", "left", "left_to_static"), COUNTS, ids=lambda x: "" if isinstance(x, int) else type(x).__name__)
def test_rows_of_every_joint(joint, rows, left, left_to_static, rng):
    w_M, w_F = shared_vectors(joint)
    assert 3 * len(w_M) == rows
    assert missing_freedoms(joint, np.einsum("ka,ri->krai", w_M, np.eye(3)).reshape(-1, 4, 3)) == left
    L, c = linear_relations(joint, False)
    assert missing_freedoms(joint, L) == left_to_static
    for _ in range(5):
        R, p = joint.pose(joint.advance(joint.neutral(), rng.uniform(-2, 2, joint.nv), 1.0))
        for m, f in zip(w_M, w_F, strict=True):
            np.testing.assert_allclose(np.append(m[0], m[0] * p + R @ m[1:]), f, atol=1e-12)
        np.testing.assert_allclose(np.einsum("rki,ki->r", L, np.vstack([p, R.T])), c, atol=1e-12)


def four_bar(offset: float = 0.0, tilt: float = 0.0) -> ub.Model:
    """A planar parallelogram in space: three of the closing hinge's rows repeat others."""
    b = ub.Builder()
    bars = [b.body(name, mass=1.0, inertia=(0.1, 0.1, 0.02)) for name in ("left", "top", "right")]
    y = (0, 1, 0)
    b.joint("a", ub.Revolute(y), b.world, bars[0])
    b.joint("b", ub.Revolute(y), bars[0], bars[1], X_PF=ub.Pose((0, 0, 1)))
    b.joint("c", ub.Revolute(y), bars[1], bars[2], X_PF=ub.Pose((1, 0, 0)), X_BM=ub.Pose((0, 0, 1)))
    X = ub.Pose((1, offset, 0)) @ ub.Pose.about((1, 0, 0), tilt)
    b.joint("d", ub.Revolute(y), b.world, bars[2], X_PF=X)
    return b.build()


def test_a_planar_loop_in_space_has_three_rows_too_many(rng):
    r = Reduction(four_bar())
    assert r.rows == 24 and r.dropped == 3 and r.redundant
    z = rng.normal(size=r.N.shape[1])
    assert np.abs(r.C @ (r.N @ z)).max() < 1e-12
    assert r.N.shape == (36, 36 - 21)


def test_joints_that_contradict_or_do_not_close_are_refused_by_name():
    with pytest.raises(ub.ModelError, match="contradict|open") as tilted:
        Reduction(four_bar(tilt=0.01))
    assert any(f"'{name}'" in str(tilted.value) for name in "abcd")
    with pytest.raises(ub.ModelError, match="'d'.*open by 0.001"):
        Reduction(four_bar(offset=0.001))


def test_multipliers_balance_any_force_on_the_rows(rng):
    r = Reduction(four_bar())
    force = r.C.T @ rng.normal(size=r.rows)
    assert np.abs(force + r.C.T @ r.multipliers(force)).max() < 1e-11


def chain(n: int, turned: bool) -> ub.Model:
    """Bars on hinges, parallel ones or every second one turned."""
    b = ub.Builder()
    last = b.world
    for k in range(n):
        bar = b.body(f"bar{k}", mass=1.0, inertia=(0.1, 0.1, 0.02))
        axis = (0, 1, 0) if not turned or k % 2 else (1, 0, 0)
        b.joint(f"hinge{k}", ub.Revolute(axis), last, bar, X_PF=ub.Pose((0, 0, -0.5 if k else 0)), X_BM=ub.Pose((0, 0, 0.5)), q=0.1)
        last = bar
    return b.build()


@pytest.mark.parametrize("turned", [False, True])
def test_coordinates_of_chains_are_local(turned, rng):
    """N grows with the chain, not with its square: bars share points with their neighbours, and parallel bars all one direction."""
    counts = []
    for n in (20, 40):
        r = Reduction(chain(n, turned))
        assert r.N.shape == (12 * n, 6 * n) and r.dropped == 0
        assert np.abs(r.C @ (r.N @ rng.normal(size=6 * n))).max() < 1e-12
        counts.append(r.N.nnz)
    assert counts[1] < 2.2 * counts[0]


def test_put_moves_nothing_that_obeys_and_closes_what_does_not(rng):
    for model in (four_bar(), chain(5, True)):
        r = Reduction(model)
        Q = np.concatenate([np.zeros((1, 4, 3)), rng.normal(size=(model.n_bodies - 1, 4, 3))])
        Q[0, 1:] = np.eye(3)
        once = r.put(Q)
        assert np.abs(r.residual(once)).max() < 1e-12
        np.testing.assert_allclose(r.put(once), once, atol=1e-11)
        rate = r.put_rates(Q)
        assert np.abs(r.residual(rate) + r.right).max() < 1e-11


def test_a_universal_joint_between_bodies_is_two_hinges_and_a_link():
    b = ub.Builder()
    one, two = (b.body(n, mass=1.0, inertia=(0.1, 0.1, 0.02)) for n in ("one", "two"))
    b.joint("cross", ub.Universal(), one, two, X_PF=ub.Pose((0, 0, -1)))
    r = Reduction(b.build())
    assert r.rows == 12 and r.missing == {} and r.N.shape == (36, 24) and r.last.sum() == 6
