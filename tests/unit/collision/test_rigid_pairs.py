"""Every pair of convex shapes: gaps against coal and against support functions, witness points, swapping, derivatives."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
from touching import FEATURE, SHAPES, Pair, depth_along, outside, poses, random_poses, rotation, swapped

EXACT = [
    ("sphere", "sphere"), ("sphere", "capsule"), ("sphere", "box"), ("capsule", "capsule"), ("capsule", "box"), ("box", "box"),
    ("sphere", "plane"), ("capsule", "plane"), ("box", "plane"), ("cylinder", "plane"), ("ellipsoid", "plane"), ("convex", "plane"),
    ("sphere", "convex"),
]  # fmt: skip
CURVED = [("sphere", "cylinder"), ("sphere", "ellipsoid")]
THROUGH_COAL = [
    ("capsule", "cylinder"), ("capsule", "ellipsoid"), ("box", "cylinder"), ("box", "ellipsoid"), ("box", "convex"),
    ("cylinder", "cylinder"), ("cylinder", "ellipsoid"), ("cylinder", "convex"), ("ellipsoid", "ellipsoid"), ("ellipsoid", "convex"),
    ("convex", "convex"),
]  # fmt: skip
ALL = [*EXACT, *CURVED, *THROUGH_COAL, ("capsule", "convex")]


def test_every_pair_of_kinds_is_here():
    named = {frozenset(p) for p in ALL}
    assert named == {frozenset(p) for p in combinations_with_replacement(SHAPES, 2)} - {frozenset(["plane"])}


def samples(pair: Pair, seed: int, count: int, near: float = 0.2, far: float = 1.3):
    """Poses with contacts, and the contacts."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        X = random_poses(rng, near, far)
        found = pair.ours.find(X)
        if len(found):
            yield X, found.copy()


@pytest.mark.parametrize("names", EXACT, ids="-".join)
def test_gaps_and_normals_equal_coals_where_both_are_exact(names):
    """One contact has coal's signed distance to 1e-9; corners of an almost aligned face (8°) may be 1/cos 8° deeper along its normal."""
    pytest.importorskip("coal")
    pair, seen = Pair(*(SHAPES[n] for n in names)), 0
    for X, found in samples(pair, 1, 60):
        distance, normal = pair.coal(X)
        error = np.abs(found.gap - distance)
        assert error.min() < 1e-9 and found.gap.min() >= distance - 0.02 * abs(distance) - 1e-9
        k = error.argmin()
        if distance > -0.15:  # deep inside two normals may be equally good
            assert found.normal[k] @ normal > 1.0 - 1e-6
        seen += 1
    assert seen > 25


@pytest.mark.parametrize("names", [*CURVED, *THROUGH_COAL], ids="-".join)
def test_gaps_of_curved_shapes_are_the_greatest_separation(names):
    """The signed distance is the maximum over directions n of n·(b − a), support points a and b: searched here from many starts. coal's own
    iterations stop within 1e-6."""
    pytest.importorskip("coal")
    a, b = (SHAPES[n] for n in names)
    pair, rng, seen = Pair(a, b), np.random.default_rng(3), 0
    for X, found in samples(pair, 2, 10, 0.5, 1.1):
        R, p = X[1:, :9].reshape(2, 3, 3), X[1:, 9:]

        def separation(n, R=R, p=p):
            n = n / np.linalg.norm(n)
            return -depth_along(a, R[0], p[0], n) - depth_along(b, R[1], p[1], -n)

        best = max((*rng.normal(size=(40, 3)), p[1] - p[0], *found.normal), key=separation)
        step = 0.1
        while step > 1e-8:
            other = max((best / np.linalg.norm(best) + step * rng.normal(size=(16, 3))), key=separation)
            if separation(other) > separation(best):
                best = other
            else:
                step *= 0.7
        if separation(best) > 0.3 - 1e-6 or separation(best) < -0.2:
            continue
        assert np.abs(found.gap - separation(best)).min() < 2e-6
        seen += 1
    assert seen > 1


@pytest.mark.parametrize("names", ALL, ids="-".join)
def test_points_lie_on_both_surfaces_and_swapping_turns_everything_round(names):
    pytest.importorskip("coal")
    a, b = (SHAPES[n] for n in names)
    pair, seen = Pair(a, b), 0
    for X, found in samples(pair, 5, 25, 0.45, 1.2):
        if found.gap.min() < -0.1:
            continue
        R, p = X[1:, :9].reshape(2, 3, 3), X[1:, 9:]
        np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1.0, atol=1e-12)
        np.testing.assert_allclose(found.point_b - found.point_a, found.gap[:, None] * found.normal, atol=1e-12)
        k = found.gap.argmin()
        for shape, S, q, points in ((a, R[0], p[0], found.point_a), (b, R[1], p[1], found.point_b)):
            # coal's normals at edges are good to 1e-5 or so, and with them the points of curved shapes
            assert abs(outside(shape, S.T @ (points[k] - q))) < (1e-9 if names in [*EXACT, *CURVED] else 1e-4)
        other = pair.turned.find(swapped(X))
        tolerance = 1e-9 if names in EXACT else 1e-5
        assert abs(other.gap.min() - found.gap.min()) < tolerance
        j = other.gap.argmin()
        if len(found) == 1 and len(other) == 1:
            np.testing.assert_allclose(other.normal[j], -found.normal[k], atol=1e-3 if names in THROUGH_COAL else 1e-6)
        seen += 1
    assert seen > 1


@pytest.mark.parametrize("names", [*EXACT, *CURVED], ids="-".join)
def test_the_gap_grows_by_what_the_bodies_move_apart_along_the_normal(names):
    """∂gap/∂x_b = n: differences along n, and across it nothing, for contacts that keep their name."""
    pair, rng, h, seen = Pair(*(SHAPES[n] for n in names)), np.random.default_rng(0), 1e-6, 0
    for X, found in samples(pair, 7, 25, 0.4, 1.2):
        if found.gap.min() < -0.1:
            continue
        k = found.gap.argmin()
        direction = rng.normal(size=3)
        plus, minus = X.copy(), X.copy()
        plus[2, 9:] += h * direction
        minus[2, 9:] -= h * direction
        gaps = [dict(zip(f.id.tolist(), f.gap.tolist(), strict=True)).get(int(found.id[k])) for f in map_find(pair, plus, minus)]
        if None in gaps:
            continue
        # second derivatives of gaps are below 100 / m here
        assert (gaps[0] - gaps[1]) / (2.0 * h) == pytest.approx(float(found.normal[k] @ direction), abs=1e-4)
        seen += 1
    assert seen > 1


def map_find(pair, *many):
    return [pair.ours.find(X).copy() for X in many]


@pytest.mark.parametrize("names", ALL, ids="-".join)
def test_ids_and_normals_persist_under_small_motion(names):
    """A turn and a shift of 1e-6 keep the names of all contacts that are well within the margin, and move normals as little."""
    pytest.importorskip("coal")
    pair, rng, kept, lost = Pair(*(SHAPES[n] for n in names)), np.random.default_rng(1), 0, 0
    for X, found in samples(pair, 9, 25, 0.5, 1.2):
        if found.gap.min() < -0.1:
            continue
        moved = X.copy()
        moved[2, 9:] += 1e-6 * rng.normal(size=3)
        w = 1e-6 * rng.normal(size=3)
        K = np.array([(0, -w[2], w[1]), (w[2], 0, -w[0]), (-w[1], w[0], 0)])
        moved[2, :9] = ((np.eye(3) + K) @ X[2, :9].reshape(3, 3)).ravel()
        again = pair.ours.find(moved)
        where = {i: k for k, i in enumerate(again.id.tolist())}
        for k, name in enumerate(found.id.tolist()):
            if found.gap[k] > 0.29:
                continue
            if name in where:
                kept += 1
                assert found.normal[k] @ again.normal[where[name]] > 1.0 - 1e-6
            else:
                lost += 1
    assert kept > 4 and lost <= 0.02 * kept


def test_ids_name_pair_and_feature():
    pair = Pair(SHAPES["box"], SHAPES["plane"])
    X = poses((np.eye(3), (0.0, 0.0, 0.46)), (np.eye(3), (0.0, 0.0, 0.0)))
    found = pair.ours.find(X)
    assert sorted(found.id & FEATURE) == [0, 1, 2, 3] and set((found.id >> 31).tolist()) == {0 * 2 + 1}
    assert (found.body == [1, 2]).all() and (found.shape == [0, 1]).all()
    np.testing.assert_allclose(found.normal, [[0.0, 0.0, -1.0]] * 4)


def test_coincident_and_coaxial_shapes_have_unit_normals_and_true_depths():
    """Two spheres in one place, capsules on one axis and crossing, a sphere at the middle of everything."""
    rng = np.random.default_rng(0)
    R = rotation(rng)
    here = poses((R, (1.0, 2.0, 3.0)), (R, (1.0, 2.0, 3.0)))
    expected = {
        ("sphere", "sphere"): -0.8, ("capsule", "capsule"): -0.4, ("sphere", "capsule"): -0.6, ("sphere", "box"): -0.4 - 0.25,
        ("sphere", "cylinder"): -0.4 - 0.3, ("sphere", "ellipsoid"): -0.4 - 0.3,
    }  # fmt: skip
    for names, gap in expected.items():
        found = Pair(*(SHAPES[n] for n in names)).ours.find(here)
        assert found.gap.min() == pytest.approx(gap, abs=1e-12), names
        assert np.isfinite(found.normal).all() and np.isfinite(found.point_a).all()
        np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1.0, atol=1e-12)


def test_capsules_side_by_side_touch_at_the_ends_of_their_common_part():
    pair = Pair(SHAPES["capsule"], SHAPES["capsule"])
    found = pair.ours.find(poses((np.eye(3), (0, 0, 0)), (np.eye(3), (0.41, 0.0, 0.2))))
    assert sorted(found.point[:, 2].tolist()) == pytest.approx([-0.1, 0.3]) and found.gap == pytest.approx([0.01, 0.01])
    np.testing.assert_allclose(found.normal, [[1.0, 0.0, 0.0]] * 2, atol=1e-12)
