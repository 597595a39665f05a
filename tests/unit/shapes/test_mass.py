"""Mass properties move, combine and refuse what no body can have."""

from __future__ import annotations

import numpy as np
import pytest

from unibody.errors import ModelError
from unibody.shapes import Box, MassProperties, combine


def test_two_half_boxes_make_a_whole_one():
    half = Box((1.0, 2.0, 1.5)).mass_properties(3.0)
    whole = combine([half.moved(np.eye(3), (0, 0, 0.75)), half.moved(np.eye(3), (0, 0, -0.75))])
    expected = Box((1.0, 2.0, 3.0)).mass_properties(3.0)
    assert whole.mass == pytest.approx(expected.mass, rel=1e-15)
    np.testing.assert_allclose(whole.com, 0.0, atol=1e-15)
    np.testing.assert_allclose(whole.inertia, expected.inertia, rtol=1e-14, atol=1e-14)


def test_moving_there_and_back_changes_nothing():
    c, s = np.cos(0.7), np.sin(0.7)
    R, p = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), np.array([1.0, 2.0, 3.0])
    start = MassProperties(2.0, (0.1, 0.2, 0.3), (1.0, 2.0, 2.5))
    back = start.moved(R, p).moved(R.T, -R.T @ p)
    np.testing.assert_allclose(back.com, start.com, atol=1e-15)
    np.testing.assert_allclose(back.inertia, start.inertia, atol=1e-15)


def test_inertia_about_another_point_is_steiner():
    properties = MassProperties(2.0, (0, 0, 1), (1, 1, 1))
    np.testing.assert_allclose(np.diag(properties.about((0, 0, 0))), [3, 3, 1])


def test_with_mass_scales_the_inertia():
    properties = Box((1, 1, 1)).mass_properties(1.0).with_mass(6.0)
    assert properties.mass == 6.0
    np.testing.assert_allclose(np.diag(properties.inertia), 1.0)


@pytest.mark.parametrize(
    ("properties", "complaint"),
    [
        ((0.0, (0, 0, 0), (1, 1, 1)), r"mass 0 .*give a positive mass"),
        ((-1.0, (0, 0, 0), (1, 1, 1)), r"mass -1 "),
        ((np.nan, (0, 0, 0), (1, 1, 1)), r"mass nan "),
        ((1.0, (0, np.inf, 0), (1, 1, 1)), r"com \(0, inf, 0\) is not finite"),
        ((1.0, (0, 0, 0), (1, np.nan, 1)), r"inertia .* is not finite"),
        ((1.0, (0, 0, 0), [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), r"inertia .* is not symmetric"),
        ((1.0, (0, 0, 0), (0, 1, 1)), r".* principal value 0; all must be positive"),
        ((1.0, (0, 0, 0), (-1, 1, 1)), r".* principal value -1; all must be positive"),
        ((1.0, (0, 0, 0), (1, 1, 3)), r"no body has the principal inertias \(1, 1, 3\)"),
    ],
)
def test_unphysical_properties_are_refused_in_one_line(properties, complaint):
    with pytest.raises(ModelError, match=rf"^body 'arm': {complaint}") as caught:
        MassProperties(*properties).check("body 'arm'")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("inertia", [(1, 1, 2), (1.0, 1.0, 2.0 + 1e-10), (1e-12, 1e-12, 1e-12), (1e9, 1e9, 1e-3)])
def test_plates_rods_and_round_off_are_allowed(inertia):
    MassProperties(1.0, (0, 0, 0), inertia).check("plate")


def test_wrong_shapes_and_empty_lists_are_refused():
    with pytest.raises(ModelError, match="com has shape"):
        MassProperties(1.0, (0, 0), (1, 1, 1))
    with pytest.raises(ModelError, match="inertia has shape"):
        MassProperties(1.0, (0, 0, 0), np.ones((2, 2)))
    with pytest.raises(ModelError, match="nothing to combine"):
        combine([])
