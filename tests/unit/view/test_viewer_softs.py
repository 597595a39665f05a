"""What the viewer sends of deformables: every triangle and segment once, where its vertices are, in the colour of its strain."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.view.look import Look
from unibody.view.style import PULL, PUSH, SLACK, rgb
from unibody.view.viewer_softs import STEPS, ViewerSofts

sys.path.insert(0, str(Path(__file__).parents[2]))
from soft_parts import Bars


class Page:
    """Takes meshes and lines as viser's scene does, and keeps them by name."""

    def __init__(self) -> None:
        self.things: dict[str, Any] = {}

    def add_mesh_simple(self, name: str, vertices: np.ndarray, faces: np.ndarray, **more: Any) -> Any:
        self.things[name] = SimpleNamespace(vertices=vertices, faces=faces, **{"visible": True, **more})
        return self.things[name]

    def add_line_segments(self, name: str, points: np.ndarray, colors: np.ndarray, **more: Any) -> Any:
        self.things[name] = SimpleNamespace(points=points, colors=colors, **more)
        return self.things[name]

    def seen(self, prefix: str) -> list[Any]:
        return [thing for name, thing in self.things.items() if name.startswith(prefix) and thing.visible]


@pytest.fixture
def look() -> Look:
    b = ub.Builder(gravity=None)
    b.cloth("sheet", ub.TriMesh.grid((1, 1), 0.5, "regular"), Bars(), 470)
    b.rod("rod", np.linspace((0, 0, 1), (0, 1, 1), 4), 5e-3, Bars(), 1000)
    b.soft("block", ub.TetMesh.box((0.4, 0.2, 0.2), (2, 1, 1)), Bars(), 900, X_WB=ub.Pose((2, 0, 0)))
    return Look(b.build())


def corners(handle: Any) -> np.ndarray:
    """(F, 3, 3), in an order of their own."""
    return np.asarray(handle.vertices)[np.asarray(handle.faces)]


def in_order(triangles: np.ndarray) -> np.ndarray:
    flat = np.round(triangles.reshape(-1, 9), 9) + 0.0
    return flat[np.lexsort(flat.T)]


def test_surfaces_and_rods_go_with_their_vertices(look):
    page = Page()
    softs = ViewerSofts(page, look, look.start_vertices, span=2.0)
    x = look.start_vertices * (1.5, 1.0, 1.0) + (0.0, 0.0, 0.3)
    softs.show(x)
    for k in (0, 2):
        expected = x[look.soft[k].vertices][look.soft[k].faces]
        np.testing.assert_array_equal(corners(page.things[f"/softs/{k}"]), expected)
        assert page.things[f"/softs/{k}"].color == tuple(np.rint(255 * look.soft[k].colour))
    rod = look.model.deformable("rod")
    np.testing.assert_array_equal(page.things["/rods/1"].points, x[rod.vertices][rod.edges])
    assert page.things["/rods/1"].thickness == pytest.approx(0.01)  # twice its radius
    assert page.things["/softs/0"].side == "double" and page.things["/softs/2"].side == "front"


def test_by_strain_every_triangle_is_shown_once_in_its_colour(look):
    """The sheet is stretched by 0.4, nothing else; then it is pressed by as much."""
    page = Page()
    softs = ViewerSofts(page, look, look.start_vertices, span=2.0)
    softs.strained = True
    for scale, colour in ((1.4, PULL), (0.6, PUSH)):
        x = look.start_vertices.copy()
        x[look.soft[0].vertices] *= (scale, 1.0, 1.0)
        softs.show(x)
        assert not page.things["/softs/0"].visible and not page.things["/softs/2"].visible
        (shown,) = page.seen("/strains/0")
        np.testing.assert_array_equal(in_order(corners(shown)), in_order(x[look.soft[0].vertices][look.soft[0].faces]))
        assert shown.color == tuple(round(255 * c) for c in rgb(colour))
        (calm,) = page.seen("/strains/2")
        assert calm.color == tuple(round(255 * c) for c in rgb(SLACK)) and len(calm.faces) == len(look.soft[2].faces)
        assert softs.largest == pytest.approx(0.4)
        assert len(np.unique(page.things["/rods/1"].colors)) <= 3  # grey alone
    softs.strained = False
    softs.show(look.start_vertices)
    assert page.things["/softs/0"].visible and not page.seen("/strains")


def test_steps_share_out_the_triangles(look):
    """Strains from pressed to stretched over a sheet: all its triangles, none twice, in several steps."""
    page = Page()
    softs = ViewerSofts(page, look, look.start_vertices, span=2.0)
    softs.strained = True
    x = look.start_vertices.copy()
    own = look.soft[0].vertices
    x[own, 0] += 0.4 * x[own, 0] ** 2 - 0.3 * x[own, 0]
    softs.show(x)
    shown = page.seen("/strains/0")
    assert 2 <= len(shown) <= STEPS
    np.testing.assert_array_equal(in_order(np.concatenate([corners(h) for h in shown])), in_order(x[own][look.soft[0].faces]))
