"""Height fields: places of their vertices, faces that look up, refusals, files."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.errors import ModelError
from unibody.files import load_json, save_json


def test_vertices_stand_on_the_grid_and_faces_look_up():
    heights = np.arange(12.0).reshape(3, 4)
    x, f = ub.HeightField(heights, spacing=(0.5, 2.0)).triangles()
    assert len(x) == 12 and len(f) == 2 * 2 * 3
    assert x[0] == pytest.approx([-0.75, -2.0, 0.0]) and x[11] == pytest.approx([0.75, 2.0, 11.0])
    normals = np.cross(x[f[:, 1]] - x[f[:, 0]], x[f[:, 2]] - x[f[:, 0]])
    assert (normals[:, 2] > 0).all() and 0.5 * normals[:, 2].sum() == pytest.approx(1.5 * 4.0)


def test_it_stands_on_static_bodies_and_has_no_mass():
    b = ub.Builder()
    b.body("hills", shape=ub.HeightField(np.zeros((3, 3))), kind="static")
    assert b.build().n_bodies == 2
    with pytest.raises(ModelError, match="HeightField: terrain has no end below and no mass"):
        b.body("moving", shape=ub.HeightField(np.zeros((3, 3))))
        b.build()


@pytest.mark.parametrize(
    ("heights", "spacing", "said"),
    [
        ([[0, 1]], 1.0, "two of each"), ([1, 2, 3], 1.0, "shape"), ([[0, np.nan], [0, 0]], 1.0, r"height \(0, 1\)"),
        ([["a", 1]], 1.0, "numbers"), (np.zeros((2, 2)), 0.0, "spacing"), (np.zeros((2, 2)), (1, 2, 3), "pair"),
        (np.zeros((2, 2)), (1, -1), "spacing"),
    ],
)  # fmt: skip
def test_bad_heights_and_spacings_are_refused(heights, spacing, said):
    with pytest.raises(ModelError, match=said):
        ub.HeightField(heights, spacing)


def test_it_survives_a_scene_file(tmp_path):
    b = ub.Builder()
    b.body("hills", shape=ub.HeightField([[0.0, 0.5], [1.0, 0.25]], spacing=(1.0, 2.0)), kind="static")
    save_json(b.build(), tmp_path / "hills.json")
    shape = load_json(tmp_path / "hills.json").model.bodies[1].shapes[0].shape
    assert isinstance(shape, ub.HeightField) and shape.heights.tolist() == [[0.0, 0.5], [1.0, 0.25]] and shape.spacing == (1.0, 2.0)
