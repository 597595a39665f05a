"""Designs of studies: grids, lists and samples cover what they say, and repeat."""

from __future__ import annotations

import numpy as np
import pytest

from unibody.errors import ModelError
from unibody.studies import Design, latin_hypercube, listed, normal, seeds, sobol


def test_a_grid_is_every_value_with_every_other():
    design = Design.of({"a": [1, 2], "b": ["x", "y", "z"], "c": [True]})
    points = [design.point(k) for k in range(len(design))]
    assert len(points) == 6 and len({tuple(p.values()) for p in points}) == 6
    assert points[5] == {"a": 2, "b": "z", "c": True} and design.place(5) == (1, 2, 0)
    assert [type(x) for x in points[0].values()] == [int, str, bool]


def test_products_of_designs_have_the_dimensions_of_both():
    design = Design.of([{"rule": ["euler", "rk4"]}, listed({"m": [1.0, 2.0, 3.0], "h": [4.0, 5.0, 6.0]})])
    assert design.sizes == {"rule": 2, "run": 3}
    assert design.point(4) == {"rule": "rk4", "m": 2.0, "h": 5.0}


def test_a_latin_hypercube_has_a_point_in_every_part_of_every_range():
    n = 50
    design = latin_hypercube({"a": (-1.0, 3.0), "b": (10.0, 20.0)}, n, seed=3)
    for name, low, high in (("a", -1.0, 3.0), ("b", 10.0, 20.0)):
        x = design.values[name][1]
        assert sorted(np.floor((x - low) / (high - low) * n).astype(int)) == list(range(n))


def test_sobol_points_fill_boxes_evenly():
    x = sobol({"a": (0.0, 1.0), "b": (0.0, 1.0)}, 64, seed=1)
    a, b = x.values["a"][1], x.values["b"][1]
    # a (t, m, s)-net in base 2 of two dimensions has t = 0: every box of size 1/8 × 1/8 holds one of 64 points
    cells = np.floor(a * 8).astype(int) * 8 + np.floor(b * 8).astype(int)
    assert sorted(cells) == list(range(64))


def test_normal_samples_have_their_means_and_deviations():
    x = normal({"m": (5.0, 2.0)}, 4000, seed=0).values["m"][1]
    # the mean of n is within 4 σ/√n of μ but for one seed in 16 000, their deviation within 4 σ/√(2n)
    assert abs(x.mean() - 5.0) < 4 * 2.0 / np.sqrt(4000) and abs(x.std() - 2.0) < 4 * 2.0 / np.sqrt(8000)


@pytest.mark.parametrize("make", [latin_hypercube, sobol, normal])
def test_samples_repeat_with_their_seed_and_change_with_it(make):
    one, same, other = (make({"a": (1.0, 2.0)}, 16, seed=s).values["a"][1] for s in (5, 5, 6))
    assert np.array_equal(one, same) and not np.array_equal(one, other)


def test_seeds_differ_and_follow_from_one():
    assert len(set(seeds(1000, 7))) == 1000 and np.array_equal(seeds(5, 7), seeds(5, 7)) and not np.array_equal(seeds(5, 7), seeds(5, 8))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"a": []}, "parameter 'a': no values"),
        ({"a": [1.0, float("nan")]}, "parameter 'a': nan is not finite"),
        ({"a": [[1.0]]}, "parameter 'a': .* no list of numbers or words"),
        ({"": [1]}, "has no name"),
        ({3: [1]}, "has no name"),
        (7, "is no design"),
        ([{"a": [1]}, {"a": [2]}], "'a' stands in two designs"),
    ],
)
def test_designs_that_make_no_sense_are_refused(asked, words):
    with pytest.raises(ModelError, match=words):
        Design.of(asked)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: latin_hypercube({"a": (1, 2)}, 5, seed="x"), "latin_hypercube seed: 'x'"),
        (lambda: normal({"a": (1, 1)}, 5, seed=-1), "normal seed: -1"),
        (lambda: sobol({f"p{k}": (0, 1) for k in range(30000)}, 2), "more than the sequence has dimensions"),
        (lambda: latin_hypercube({"a": (-1e308, 1e308)}, 4), "wider than a float holds"),
        (lambda: latin_hypercube({"a": (2.0, 1.0)}, 3), "range of 'a': 2 is above 1"),
        (lambda: sobol({"a": 3.0}, 3), "range of 'a': 3.0 is no pair"),
        (lambda: sobol({"a": (0, 1)}, 2**31), "more than the sequence has"),
        (lambda: normal({"a": (0.0, -1.0)}, 3), "standard deviation"),
        (lambda: normal({}, 3), "no parameters"),
        (lambda: latin_hypercube({"a": (0, 1)}, 0), "latin_hypercube n"),
        (lambda: listed({"a": [1], "b": [1, 2]}), "different lengths"),
    ],
)
def test_samples_that_make_no_sense_are_refused(call, words):
    with pytest.raises(ModelError, match=words):
        call()
