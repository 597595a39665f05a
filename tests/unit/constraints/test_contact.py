"""Contact as an element: what it refuses, that files keep it, and who knows surfaces."""

from __future__ import annotations

import pytest

import unibody as ub
from unibody.collision.filters import body_filter, contact_filter, contact_rules
from unibody.files.scene_json import load_json, save_json
from unibody.solvers import REGISTRY


def touching(*contacts: ub.Contact) -> ub.Builder:
    b = ub.Builder()
    b.body("floor", shape=ub.Plane(), kind="static")
    b.body("box", shape=ub.Box((1, 1, 1)), X_WB=ub.Pose(p=(0, 0, 1)))
    for c in contacts:
        b.add(c)
    return b


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"friction": -0.1}, "friction"),
        ({"damping": -1.0}, "damping"),
        ({"reach": 0.0}, "reach"),
        ({"pressure": -1.0}, "pressure"),
        ({"between": ("box",)}, "not a pair"),
        ({"between": ("box", "box")}, "two different"),
        ({"between": ("box", "floor"), "reach": 0.1}, "hold for all pairs"),
        ({"between": ([], "box")}, "not a pair"),
        ({"between": (["box"], ["box"])}, "two different"),
    ],
)
def test_refuses(options, said):
    with pytest.raises(ub.ModelError, match=said):
        ub.Contact(**options)


def test_a_pair_must_exist():
    with pytest.raises(ub.ModelError, match="wall"):
        touching(ub.Contact(between=("box", "wall"))).build()


def test_files_keep_it(tmp_path):
    given = (ub.Contact(friction=0.3, damping=1e-3, reach=0.01, pressure=1e5), ub.Contact(friction=0.6, between=("box", "floor")))
    given = (*given, ub.Contact(between=(["box", "floor"], ["box", "floor"]), on=False))
    path = tmp_path / "scene.json"
    save_json(touching(*given).build(), path)
    assert tuple(c for _, c in load_json(path).model.constraints) == given


@pytest.mark.parametrize("solver", ["articulated", "lagrange", "redmax"])
def test_solvers_without_surfaces_refuse_it_by_name(solver):
    model = touching(ub.Contact()).build()
    with pytest.raises(ub.Unsupported, match=r"Contact\[0\].*barrier"):
        REGISTRY[solver]().check(model)


def test_barrier_takes_it():
    REGISTRY["barrier"]().check(touching(ub.Contact()).build())


def allowed(*contacts: ub.Contact) -> set[tuple[str, str]]:
    """Pairs that touch, of a floor and boxes a, b, c, d of which a and b are joined."""
    b = ub.Builder()
    b.body("floor", shape=ub.Plane(), kind="static")
    boxes = [b.body(name, shape=ub.Box((1, 1, 1)), X_WB=ub.Pose(p=(0, 0, 2.0 * k + 2.0))) for k, name in enumerate("abcd")]
    b.joint("ball", ub.Ball(), boxes[0], boxes[1], X_PF=ub.Pose(p=(0, 0, 1)), X_BM=ub.Pose(p=(0, 0, -1)))
    for c in contacts:
        b.add(c)
    model = b.build()
    made = body_filter(model, *contact_filter(model, contact_rules(model)))
    n, out = model.n_bodies, set()
    for i in range(1, n):
        for k in range(i + 1, n):
            if made.mask.all() and (made.moving[i] or made.moving[k]) and i * n + k not in made.excluded:
                out.add((model.bodies[i].name, model.bodies[k].name))
    return out


def test_groups():
    """Whole lists of bodies at once, among all or alone."""
    every = {("floor", x) for x in "abcd"} | {("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")}
    assert allowed(ub.Contact()) == every
    assert allowed(ub.Contact(), ub.Contact(between=(["a", "b"], ["c", "d"]), on=False)) == {("floor", x) for x in "abcd"} | {("c", "d")}
    among = ["b", "c", "d"]
    assert allowed(ub.Contact(), ub.Contact(between=(among, among), on=False)) == every - {("b", "c"), ("b", "d"), ("c", "d")}
    assert allowed(ub.Contact(between=("floor", ["c", "d"]))) == {("floor", "c"), ("floor", "d")}
    assert allowed(ub.Contact(between=("a", "b"))) == {("a", "b")}
    assert allowed(ub.Contact(on=False)) == set() == allowed()


def test_only_the_pair_that_is_named_touches():
    """Of two boxes that fall, the one that may touch the floor stays on it."""
    b = ub.Builder()
    b.body("floor", shape=ub.Plane(), kind="static")
    for k, name in enumerate(("stays", "falls")):
        b.body(name, shape=ub.Box((1, 1, 1)), X_WB=ub.Pose(p=(3.0 * k, 0, 0.51)))
    b.add(ub.Contact(between=("floor", ["stays"])))
    rec = ub.Simulation(b.build(), "barrier", dt=0.02).run(0.3)
    assert rec.pose("stays")[-1, 2] > 0.5 and abs(rec.pose("falls")[-1, 2] - 0.51 + 0.5 * 9.81 * 0.3 * 0.32) < 1e-6
