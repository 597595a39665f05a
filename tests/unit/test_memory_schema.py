"""Schemas of memory: what is written by name is read by name, and what cannot be is refused by name."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from unibody.arrays import HUGE
from unibody.memory import Field, MemorySchema, count
from unibody.rules import base
from unibody.solvers.impulse import step as impulse
from unibody.solvers.redmax import linearly_implicit as redmax
from unibody.stepping import memory as stepping

POINT = MemorySchema(Field("place", (2,), "m", "where it is"), count("kind", "which it is", 3))
SCHEMA = MemorySchema(
    Field("length", (), "s", "of the last step", low=0.0),
    Field("matrix", (2, 3), "kg", "row by row"),
    Field("none", (0,), "m", "nothing of this"),
    Field("points", (2,), "", "touched", record=POINT),
    Field("one", (), "", "apart", record=POINT),
    Field("gap", (), "m", "the least", infinite=True),
    Field("target", (), "m", "given", missing=True),
)


def test_fields_lie_one_behind_the_other():
    assert SCHEMA.size == 1 + 6 + 0 + 2 * 3 + 3 + 1 + 1
    assert SCHEMA.at("length", "matrix", "none", "points", "one", "gap", "target") == (0, 1, 7, 7, 13, 16, 17)
    longer = SCHEMA.followed_by(Field("more", (2,), "m", "behind"))
    assert longer.at("target", "more") == (17, 18) and longer.size == 20
    with pytest.raises(ValueError, match="two fields named 'gap'"):
        SCHEMA.followed_by(Field("gap", (), "m", "again"))


def test_what_is_written_by_name_is_read_by_name_and_shares_the_array():
    memory = np.zeros(SCHEMA.size)
    view = SCHEMA.view(memory)
    view.length, view.matrix, view.gap = 0.5, np.arange(6.0).reshape(2, 3), np.inf
    view.points.place = [[1.0, 2.0], [3.0, 4.0]]
    view.points.kind, view.one.kind = (1, 2), 3
    view.matrix[1, 2] += 10.0
    assert memory.tolist() == [0.5, 0, 1, 2, 3, 4, 15, 1, 2, 1, 3, 4, 2, 0, 0, 3, np.inf, 0]
    assert isinstance(view.length, float) and view.none.size == 0 and view.one.kind == 3.0
    assert view.points[1:].place.tolist() == [[3.0, 4.0]]
    with pytest.raises(AttributeError, match="no field 'lenght'; it has length, matrix"):
        _ = view.lenght
    with pytest.raises(AttributeError, match="no attribute 'lenght'"):
        view.lenght = 1.0


def test_many_memories_are_looked_at_together_and_the_first_fields_alone():
    rows = np.arange(2.0 * SCHEMA.size).reshape(2, -1)
    view = SCHEMA.view(rows)
    assert view.length.tolist() == [0.0, 18.0] and view.matrix.shape == (2, 2, 3) and view.points.place.shape == (2, 2, 2)
    assert view.points.kind.tolist() == [[9.0, 12.0], [27.0, 30.0]]
    assert SCHEMA.view(rows[1, :7]).matrix[0].tolist() == [19.0, 20.0, 21.0]


def test_numbers_that_cannot_be_are_refused_by_the_name_of_their_field():
    good = np.zeros((3, SCHEMA.size))
    assert SCHEMA.fault(good) is None
    for place, values, says in (
        (0, (-1e-9, np.nan, np.inf, 2 * HUGE), "as length"), (6, (np.nan, -np.inf, -2 * HUGE), "as matrix"),
        (12, (0.5, -1.0, 4.0, np.nan), "as kind of points"), (15, (1.5,), "as kind of one"), (7, (np.inf,), "as place of points"),
        (16, (np.nan, -np.inf), "as gap"), (17, (np.inf,), "as target"),
    ):  # fmt: skip
        for value in values:
            bad = good.copy()
            bad[1, place] = value
            assert SCHEMA.fault(bad) == f"{value:.6g} {says}"
    for place, value in ((16, np.inf), (17, np.nan), (12, 3.0), (0, HUGE)):
        fine = good.copy()
        fine[1, place] = value
        assert SCHEMA.fault(fine) is None


def test_schemas_and_views_print_a_table():
    lines = repr(SCHEMA).splitlines()
    assert lines[0].split() == ["field", "shape", "unit", "where", "meaning"]
    assert lines[2].split() == ["matrix", "2×3", "kg", "1:7", "row", "by", "row"]
    assert lines[4].split() == ["points[2].kind", "1", "9", "which", "it", "is"] and not any("nothing of this" in line for line in lines)
    memory = np.arange(float(SCHEMA.size))
    told = repr(SCHEMA.view(memory)).splitlines()
    assert "1 2 3 4 5 6" in told[2] and told[0].split()[1] == "value" and len(told) == len(lines)


def test_views_travel_with_their_numbers():
    view = SCHEMA.view(np.arange(float(SCHEMA.size)))
    again = pickle.loads(pickle.dumps(view))
    assert again.length == 0.0 and again.points.kind.tolist() == [9.0, 12.0] and repr(again) == repr(view)


def test_the_constants_of_kernels_are_those_of_the_schemas():
    """Named as their fields, or as said here."""
    of_redmax = base.COMMON.followed_by(*redmax.BEGINNING)
    of_impulse = base.COMMON.followed_by(*impulse.PREVIEW_FACTS)
    kept = {"KEPT_COUNTDOWN": "countdown", "KEPT_ITERATIONS": "iterations"}
    other = {**kept, "LENGTH": "step_length", "DISTANCE": "least_gap", "COUNT": "contact_count"}
    for module, schema, names in (
        (base, base.COMMON, ("WORK", "POWER", "LAST_STEP", "TIME")),
        (redmax, of_redmax, ("STEP_LENGTH", *kept, "EXPLAINED", "UNEXPLAINED", "PEAK", "CURBED", "TAKEN", "FLATTENED")),
        (impulse, of_impulse, ("PREVIEWS", "LEFT", "LEFT_RATE")),
        (stepping, stepping.STEP, ("LENGTH", "ITERATIONS", "RESIDUAL", "METHOD", "DISTANCE", "GAINED", "COUNT", "CONVERGED", "GAINS")),
        (stepping, stepping.CONTACT, ("ID", "IMPULSE", "GAP", "SLIP", "APPROACH")),
    ):  # fmt: skip
        for name in names:
            assert getattr(module, name) == schema.slices[other.get(name, name.lower())].start, name
