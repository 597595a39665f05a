"""Contact as an element: what it refuses, that files keep it, and who knows surfaces."""

from __future__ import annotations

import pytest

import unibody as ub
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
