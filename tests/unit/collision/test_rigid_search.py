"""The search finds every pair of boxes that meet and no other, in sorted order; filters; growth; bad input."""

from __future__ import annotations

import numpy as np
import pytest
from touching import model_of, poses, rotation

import unibody as ub
from unibody.collision.filters import body_filter, contact_filter, contact_rules
from unibody.collision.rigid import RigidCollision
from unibody.collision.rigid.search import WIDER, pairs_hold, pick_pairs
from unibody.errors import ModelError


def crowd(count: int, sizes, spread: float, seed: int):
    rng = np.random.default_rng(seed)
    shapes = []
    for k in range(count):
        s = rng.choice(sizes)
        kinds = [ub.Sphere(s), ub.Box((s, 2 * s, 1.5 * s)), ub.Capsule(0.5 * s, s), ub.Cylinder(s, s), ub.Ellipsoid((s, 0.5 * s, 0.7 * s))]
        shapes.append(kinds[k % 5])
    X = poses(*((rotation(rng), rng.uniform(-spread, spread, 3)) for _ in range(count)))
    return shapes, X


def true_boxes(shapes, X):
    """Half extents from the support function along the axes, by dense tessellation and its known error."""
    from touching import depth_along

    out = []
    for shape, x in zip(shapes, X[1:], strict=True):
        R, p = x[:9].reshape(3, 3), x[9:]
        high = [depth_along(shape, R, p, e) for e in np.eye(3)]
        low = [-depth_along(shape, R, p, -e) for e in np.eye(3)]
        out.append((np.array(low), np.array(high)))
    return out


@pytest.mark.parametrize("sizes", [(0.2,), (0.02, 0.1, 1.5)], ids=["alike", "mixed"])
@pytest.mark.parametrize("margin", [0.0, 0.1])
@pytest.mark.parametrize("few", [0, 512], ids=["grids", "axis"])
def test_pairs_are_those_of_all_boxes_that_meet(sizes, margin, few):
    shapes, X = crowd(40, sizes, 1.0, 3)
    boxes = true_boxes(shapes, X)
    expected = {
        (i, j)
        for i in range(40)
        for j in range(i + 1, 40)
        if (boxes[i][0] - margin <= boxes[j][1]).all() and (boxes[j][0] - margin <= boxes[i][1]).all()
    }
    search = RigidCollision(model_of(*shapes), margin)
    search.few = few
    for turned in (X[:, [9, 10, 11]] * 0.0, np.roll(X[:, 9:], 1, axis=1) * 3.0):  # searches elsewhere leave nothing behind
        search.pairs(np.concatenate([X[:, :9], turned], axis=1))
    found = search.pairs(X)
    assert {tuple(p) for p in found.tolist()} == expected and len(found) == len(expected) > 5
    assert found.tolist() == sorted(found.tolist())


@pytest.mark.parametrize("few", [0, 512], ids=["grids", "axis"])
def test_far_away_and_huge_worlds_lose_no_pair(few):
    """Touching spheres 1e6 m from the origin, of sizes that differ by 1e5."""
    c = np.array([1e6, -2e6, 3e6])
    model = model_of(ub.Sphere(1e4), ub.Sphere(0.1), ub.Sphere(0.1))
    X = poses((np.eye(3), c), (np.eye(3), c + (1e4 + 0.1, 0, 0)), (np.eye(3), c + (1e4 + 0.3, 0, 0)))
    search = RigidCollision(model, 0.01)
    search.few = few
    assert search.find(X).body.tolist() == [[1, 2], [2, 3]]


def test_two_finds_give_the_same_bits_and_arrays_grow():
    """More contacts than there was room for at first: a plate full of balls."""
    shapes, X = crowd(30, (0.3,), 0.3, 5)
    one, two = RigidCollision(model_of(*shapes), 0.2), RigidCollision(model_of(*shapes), 0.2)
    first = one.find(X).copy()
    assert len(first) > 240
    for found in (one.find(X), two.find(X)):
        assert all((getattr(found, a) == getattr(first, a)).all() for a in ("body", "shape", "id", "point_a", "point_b", "normal", "gap"))
    assert len(set(first.id.tolist())) == len(first)
    keys = first.shape[:, 0] * 1000 + first.shape[:, 1]
    assert (np.diff(keys) >= 0).all() and (first.body[:, 0] < first.body[:, 1]).all()


def build(*elements, joint: bool = False, static: bool = False):
    b = ub.Builder(gravity=None)
    bodies = [b.body(n, shape=ub.Sphere(0.5), kind="static" if static and n != "c" else "dynamic") for n in "abc"]
    if joint:
        b.joint("hinge", ub.Revolute(), bodies[0], bodies[1])
    for e in elements:
        b.add(e)
    return b.build()


def bodies_found(model):
    X = np.tile(np.r_[np.eye(3).ravel(), 0.0, 0.0, 0.0], (4, 1))
    X[1:, 9] = [0.0, 0.1, 0.2]
    return [tuple(p) for p in RigidCollision(model, 0.1).find(X).body.tolist()]


def test_rules_of_contact_elements_are_kept():
    everyone = [(1, 2), (1, 3), (2, 3)]
    assert bodies_found(build()) == []
    assert bodies_found(build(ub.Contact())) == everyone
    assert bodies_found(build(ub.Contact(), joint=True)) == [(1, 3), (2, 3)]
    assert bodies_found(build(ub.Contact(neighbours=True), joint=True)) == everyone
    assert bodies_found(build(ub.Contact(), ub.Contact(between=("a", "c"), on=False))) == [(1, 2), (2, 3)]
    assert bodies_found(build(ub.Contact(), ub.Contact(between=("a", "b")), joint=True)) == everyone
    assert bodies_found(build(ub.Contact(), static=True)) == [(1, 3), (2, 3)]


def in_a_heap(joints, elements=(), static=()):
    """Pairs that may touch of spheres a … f at one place with these joints (a name of a class, two bodies), as solvers with impulses and
    with barriers see them."""
    b = ub.Builder(gravity=None)
    bodies = {n: b.body(n, shape=ub.Sphere(0.5), kind="static" if n in static else "dynamic") for n in "abcdef"}
    bodies["world"] = "world"
    for k, (kind, one, other) in enumerate(joints):
        b.joint(f"{kind} {k}", getattr(ub, kind)(), bodies[one], bodies[other])
    for e in (ub.Contact(), *elements):
        b.add(e)
    model = b.build()
    X = np.tile(np.r_[np.eye(3).ravel(), 0.0, 0.0, 0.0], (7, 1))
    X[1:, 9] = 0.05 * np.arange(6)
    found = {"".join(sorted(model.bodies[i].name for i in pair)) for pair in RigidCollision(model, 0.1).find(X).body.tolist()}
    of = body_filter(model, *contact_filter(model, contact_rules(model)))
    numbers, n = {x: model.body(x) for x in "abcdef"}, model.n_bodies
    pairs = [(x, y, numbers[x], numbers[y]) for x in "abcdef" for y in "abcdef" if x < y]
    asked = {x + y for x, y, i, j in pairs if of.moving[i] + of.moving[j] and min(i, j) * n + max(i, j) not in of.excluded}
    assert found == asked
    return found


ALL_PAIRS = {x + y for i, x in enumerate("abcdef") for y in "abcdef"[i + 1 :]}


def test_bodies_joined_by_welds_are_one_to_filters():
    """A chain a = b = c of welds, d on a hinge at its end, e welded to d: none of a b c touches another, nor d or e, which are one."""
    chain = [("Weld", "a", "b"), ("Weld", "b", "c"), ("Revolute", "c", "d"), ("Weld", "d", "e")]
    assert in_a_heap(chain) == {"af", "bf", "cf", "df", "ef"}
    # the weld's direction and the order of joints do not matter
    assert in_a_heap([("Weld", "e", "d"), ("Revolute", "d", "c"), ("Weld", "c", "b"), ("Weld", "b", "a")]) == {"af", "bf", "cf", "df", "ef"}
    # asked for, neighbours touch; what is welded cannot
    assert in_a_heap(chain, [ub.Contact(between=("a", "e"))]) == {"af", "bf", "cf", "df", "ef", "ae"}
    assert in_a_heap(chain, [ub.Contact(between=("a", "c"))]) == {"af", "bf", "cf", "df", "ef"}


def test_two_limbs_on_one_welded_trunk_touch_each_other_but_not_the_trunk():
    """Trunk a = b = c; limbs d at b and e at c, each a neighbour of all of the trunk, not of the other limb."""
    assert in_a_heap([("Weld", "a", "b"), ("Weld", "a", "c"), ("Revolute", "b", "d"), ("Ball", "c", "e")]) == {
        "de", "af", "bf", "cf", "df", "ef"
    }  # fmt: skip


def test_chains_of_welds_end_at_what_never_moves():
    """A pedestal b and a table c are welded to the ground a: what turns on the pedestal may hit the table, but not the ground."""
    found = in_a_heap([("Weld", "a", "b"), ("Weld", "a", "c"), ("Revolute", "b", "d")], static="a")
    assert found == ALL_PAIRS - {"ab", "ac", "bc", "bd", "ad"}
    # of two bodies that welds fix to resting ones, nobody asks, though no weld is between them
    found = in_a_heap([("Weld", "world", "b"), ("Weld", "a", "c")], static="ae")
    assert found == ALL_PAIRS - {"ab", "ac", "bc", "ae", "be", "ce"}


def test_a_joint_that_leaves_all_freedom_makes_no_neighbours():
    free = ("Free", "a", "b")
    assert in_a_heap([free]) == ALL_PAIRS


def test_shapes_that_are_only_seen_do_not_touch_and_placements_add_up():
    b = ub.Builder(gravity=None)
    shift = ub.Pose.about((0, 0, 1), np.pi / 2, p=(1, 0, 0))
    seen = ub.Placed(ub.Sphere(5.0), ub.Pose(), solid=False)
    b.body("a", shape=[seen, ub.Placed(ub.Placed(ub.Sphere(0.5), shift), shift)])
    b.body("b", shape=ub.Sphere(0.5))
    b.add(ub.Contact())
    rigid = RigidCollision(b.build(), 0.1)
    found = rigid.find(poses((np.eye(3), (0, 0, 0)), (np.eye(3), (1.0, 1.0, 1.05))))
    assert rigid.table.count == 2 and found.gap == pytest.approx([0.05]) and found.normal[0] == pytest.approx([0, 0, 1])


def test_bad_poses_and_margins_are_refused_by_name():
    rigid = RigidCollision(build(ub.Contact()), 0.1)
    X = np.tile(np.r_[np.eye(3).ravel(), 0.0, 0.0, 0.0], (4, 1))
    X[2, 10] = np.nan
    with pytest.raises(ModelError, match="body 'b': its pose is not finite"):
        rigid.find(X)
    with pytest.raises(ModelError, match="give \\(4, 12\\)"):
        rigid.find(X[:2])
    with pytest.raises(ModelError, match="margin"):
        RigidCollision(build(ub.Contact()), -1.0)


def test_without_coal_the_pair_that_needs_it_is_named(monkeypatch):
    monkeypatch.setattr("unibody.collision.rigid.by_coal.find_spec", lambda name: None)
    RigidCollision(model_of(ub.Box((1, 1, 1)), ub.Sphere(1.0), ub.Plane()), 0.1)
    with pytest.raises(ModelError, match="'b0' .Box. with 'b1' .Cylinder. needs coal, .* unibody.collision"):
        RigidCollision(model_of(ub.Box((1, 1, 1)), ub.Cylinder(1.0, 1.0)), 0.1)


@pytest.mark.parametrize("on_plane", [False, True])
def test_pairs_that_are_kept_are_those_of_a_fresh_search(on_plane):
    """Shapes that wander, now slowly, now far, with a margin that changes: compared with a search that remembers nothing."""
    shapes, X = crowd(30, (0.05, 0.2), 1.0, 5)
    model = model_of(*([ub.Plane(), *shapes] if on_plane else shapes))
    if on_plane:
        X = np.concatenate([X[:1], X[:1], X[1:]])
    rng, table = np.random.default_rng(6), RigidCollision(model, 0.0).table
    reach, kept, near = np.zeros(len(X)), np.full(X.size + 1, -1.0), np.zeros(0, np.int64)
    np.maximum.at(reach, table.body, table.radius)
    held = met = 0
    for k in range(120):
        margin = 0.02 + 0.01 * np.sin(k)
        fresh = RigidCollision(model, margin).pairs(X)
        if pairs_hold(X.ravel(), reach, margin, kept):
            held += 1
        else:
            wide = RigidCollision(model, WIDER * margin).pairs(X)
            near, kept = (wide[:, 0] << 31) + wide[:, 1], np.append(X.ravel(), WIDER * margin)
        frames, boxes, keys = np.zeros(12 * table.count), np.zeros(6 * table.count), np.zeros(near.size, np.int64)
        count = pick_pairs(
            X.ravel(), table.body, table.kind, table.pose, table.size, table.hull, near, margin, np.zeros(table.count, np.int64), frames,
            boxes, keys,
        )  # fmt: skip
        assert keys[:count].tolist() == ((fresh[:, 0] << 31) + fresh[:, 1]).tolist()
        met += count
        step = 0.2 if k % 40 == 39 else 4e-3
        for i in range(2 if on_plane else 1, len(X)):
            turn = rotation(rng) if step > 0.1 else small_turn(step * rng.normal(size=3))
            X[i, :9], X[i, 9:] = (turn @ X[i, :9].reshape(3, 3)).ravel(), X[i, 9:] + step * rng.normal(size=3)
    assert held > 40 and met > 100, "both ways were taken, and there were pairs"


def small_turn(x):
    """The rotation by a vector."""
    angle = np.linalg.norm(x)
    K = np.cross(np.eye(3), x / angle)
    return np.eye(3) - np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def test_no_pairs_are_kept_of_poses_that_are_no_numbers():
    X = np.zeros(24)
    kept = np.append(X, 1.0)
    assert pairs_hold(X, np.ones(2), 0.5, kept)
    X[13] = np.nan
    assert not pairs_hold(X, np.ones(2), 0.5, kept)
    assert not pairs_hold(np.zeros(24), np.ones(2), 1.0, kept), "a margin that was not looked at"
