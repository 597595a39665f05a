"""Boxes edge across edge: normal, gap and point by construction and against coal; manifolds without idle corners; names that last."""

from __future__ import annotations

import numpy as np
import pytest
from touching import FEATURE, Pair, about, poses, random_poses, rotation, swapped

import unibody as ub

A, B = ub.Box((0.8, 1.0, 1.3)), ub.Box((1.1, 0.7, 0.9))


def crossing(rng: np.random.Generator, gap: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poses of A and B so placed that an edge of each, their faces 15° and more off the normal n, lie across each other at the gap; n; the
    point between them."""
    n, where = rotation(rng)[:, 0], rng.normal(size=3)
    placed, edges = [], []
    while not edges or np.linalg.norm(np.cross(*edges)) < 0.2:
        placed, edges = [], []
        for box, outward in ((A, n), (B, -n)):
            half, axis = 0.5 * np.array(box.sides), rng.integers(3)
            slope = np.radians(rng.uniform(15.0, 75.0))
            signs = rng.choice([-1.0, 1.0], 3)
            up = signs * np.insert([np.cos(slope), np.sin(slope)], axis, 0.0)
            on_edge = signs * half
            on_edge[axis] *= rng.uniform(0.0, 0.9)
            along = np.eye(3)[axis]
            spin = rotation(rng)[:, 0]
            spin -= (spin @ outward) * outward
            spin /= np.linalg.norm(spin)
            frame, own = np.stack([outward, spin, np.cross(outward, spin)]), np.stack([up, along, np.cross(up, along)])
            R = frame.T @ own
            surface = where - 0.5 * gap * outward
            placed.append((R, surface - R @ on_edge))
            edges.append(spin)
    return poses(*placed), n, where


@pytest.mark.parametrize("gap", [2e-3, 0.0, -2e-3])
def test_crossing_edges_have_one_contact_along_their_common_normal(gap):
    """n = e₁ × e₂ from a to b, the gap along it, the point midway; the other way round everything but the sign is the same."""
    pair, rng = Pair(A, B, 0.01), np.random.default_rng(5)
    for _ in range(150):
        X, n, where = crossing(rng, gap)
        for found, sign in ((pair.ours.find(X), 1.0), (pair.turned.find(swapped(X)), -1.0)):
            assert len(found) == 1 and found.gap[0] == pytest.approx(gap, abs=1e-12)
            np.testing.assert_allclose(found.normal[0], sign * n, atol=1e-9)
            np.testing.assert_allclose(found.point[0], where, atol=1e-9)


def test_many_pairs_of_boxes_have_coals_distance_and_normal():
    pytest.importorskip("coal")
    pair, rng, seen = Pair(A, B, 0.1), np.random.default_rng(8), 0
    for _ in range(800):
        X = random_poses(rng, 0.7, 1.4)
        found = pair.ours.find(X)
        distance, normal = pair.coal(X)
        if not -0.1 < distance < 0.1 - 1e-9:
            continue
        error = np.abs(found.gap - distance)
        assert error.min() < 1e-9
        assert found.normal[error.argmin()] @ normal > 1.0 - 1e-6
        seen += 1
    assert seen > 150


def test_the_sign_of_the_normal_stays_and_the_name_too_while_edges_pass_each_other():
    """From apart to a hundredth of their size inside each other."""
    pair, rng = Pair(A, B, 0.01), np.random.default_rng(2)
    for _ in range(10):
        X, n, _ = crossing(rng, 0.004)
        names = set()
        for depth in np.linspace(0.0, 0.012, 12):
            Y = X.copy()
            Y[2, 9:] -= depth * n
            found = pair.ours.find(Y)
            k = np.abs(found.gap - (0.004 - depth)).argmin()
            assert found.normal[k] @ n > 1.0 - 1e-9 and found.gap[k] == pytest.approx(0.004 - depth, abs=1e-9)
            names.add(int(found.id[k]))
        assert len(names) == 1


def overlap(yaw: float, shift: np.ndarray, ways: np.ndarray) -> np.ndarray:
    """How far the common part of two unit squares, one turned and shifted, reaches along each of `ways`."""
    from scipy.spatial import HalfspaceIntersection

    c, s = np.cos(yaw), np.sin(yaw)
    sides = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])
    turned = sides @ np.array([[c, s], [-s, c]])
    rows = np.concatenate([np.c_[sides, np.full(4, -0.5)], np.c_[turned, -0.5 - turned @ shift]])
    return (HalfspaceIntersection(rows, 0.5 * shift).intersections @ ways.T).max(axis=0)


def test_manifolds_reach_as_far_as_faces_overlap_and_hold_no_idle_corners():
    """Within 4·10⁻⁴ in every direction; four points for squares turned by less than 2·10⁻⁴, eight for an octagon."""
    box, rng = ub.Box((1, 1, 1)), np.random.default_rng(3)
    pair, turns = Pair(box, box, 0.01), np.linspace(0.0, 2.0 * np.pi, 64)
    ways = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    for yaw in (0.0, 1e-12, 1e-7, 1e-5, 1e-4, 1e-3, 5e-3, 0.03, 0.4, np.pi / 4):
        for size in (0.0, 1e-10, 1e-6, 1e-3, 0.1, 0.4):
            shift = size * rng.uniform(-1.0, 1.0, 2)
            found = pair.ours.find(poses((np.eye(3), (0, 0, 0)), (about((0, 0, 1), yaw), (*shift, 1.001))))
            reach = (found.point[:, :2] @ ways.T).max(axis=0)
            assert np.abs(reach - overlap(yaw, shift, ways)).max() < 4e-4
            assert len(found) == 4 if yaw < 2e-4 else 3 <= len(found) <= 8
            assert len(set(found.id.tolist())) == len(found)


@pytest.mark.parametrize("shift", [(0.3, -0.2), (0.501, 0.49), (1e-3, -2e-3)])
def test_names_last_while_a_resting_box_rocks(shift):
    """Tilts of either sign let now this, now that face separate more, and edges more than faces; the same corners touch throughout."""
    box, rng = ub.Box((1, 1, 1)), np.random.default_rng(1)
    pair, names = Pair(box, box, 0.02), None
    for _ in range(60):
        R = about(rng.normal(size=3) * (1, 1, 0), 1e-3 * rng.uniform(-1, 1)) @ about((0, 0, 1), 0.01)
        found = pair.ours.find(poses((np.eye(3), (0, 0, 0)), (R, (*shift, 1.0 + 1e-4 * rng.normal()))))
        assert len(set((found.id & FEATURE).tolist())) == len(found)
        names = names or set(found.id.tolist())
        assert set(found.id.tolist()) == names


def test_a_box_on_an_edge_is_pushed_along_the_common_normal():
    """Edge across edge at 60°, the middle of the upper box straight above the point along n, no friction: N = −m n·g and nothing turns."""
    n = np.array([0.2, -0.1, 1.0]) / np.linalg.norm([0.2, -0.1, 1.0])
    side = np.cross(n, (1.0, 0.0, 0.0)) / np.linalg.norm(np.cross(n, (1.0, 0.0, 0.0)))
    other = about(n, np.radians(60.0)) @ side
    reach, dt, g = 0.5 * np.sqrt(2.0), 1e-2, np.array([0.0, 0.0, -9.81])
    b = ub.Builder(gravity=tuple(g))
    for name, edge, place, kind in (("lower", side, -reach * n, "static"), ("upper", other, reach * n, "dynamic")):
        quarter = about(edge, np.pi / 4)
        R = np.stack([edge, quarter @ n, np.cross(edge, quarter @ n)], axis=1)
        X = np.block([[R, place[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])
        b.body(name, shape=ub.Box((1, 1, 1)), kind=kind, X_WB=ub.Pose.from_matrix(X), **({"mass": 2.0} if kind == "dynamic" else {}))
    b.add(ub.Contact(friction=0.0))
    recording = ub.Simulation(b.build(), "complementarity", dt=dt).run(dt, every=1, progress=False)
    np.testing.assert_allclose(np.sort(np.abs(recording.v[-1]))[:3], 0.0, atol=1e-9)
    moved = recording.pose("upper")[-1, :3] - reach * n
    np.testing.assert_allclose(moved, dt * dt * (g - (g @ n) * n), atol=1e-9)
    contacts = recording.contacts[-1]
    assert len(contacts.normal_forces) == 1 and contacts.normal_forces[0] == pytest.approx(-2.0 * (g @ n), rel=1e-6)
