"""Parameters of a block from measured tosses of it (examples/tosses.py), judged on tosses that the fit has not seen."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "tosses.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("example_of_tosses", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_friction_of_the_measured_block_and_the_error_on_other_tosses(example, reference, tmp_path):
    """Six of the 399 tosses, and others to judge: friction is that of all (0.17), and other tosses are told to a fifth of the block.

    Their means scatter by a quarter (some tosses fall on another face than measured, which six may or may not hold), hence the bounds.
    """
    tosses = example.read(reference / "tosses.npz")
    seen, unseen = tosses[:6], tosses[200:216]
    found = example.fit(seen)
    assert 0.12 < found.values["friction"] < 0.22, found
    error = example.errors(unseen, **found.values)
    guess = example.errors(unseen, **{name: first for name, (first, *_) in example.FIRST_GUESS.items()})
    assert error[:, 0].mean() < 0.2 and error[:, 0].mean() < 0.5 * guess[:, 0].mean(), (error.mean(axis=0), guess.mean(axis=0))
    assert np.median(error[:, 1]) < 20.0
    page = found.report(tmp_path / "tosses.html", notes={"16 tosses not seen": f"{error[:, 0].mean():.3f} widths"})
    assert f"<th>16 tosses not seen</th><td>{error[:, 0].mean():.3f} widths</td>" in page.read_text(encoding="utf-8")


def test_a_run_begins_as_its_toss_does(example):
    """Free fall meets the parabola through the first frames, to round-off, until something touches; so a made-up toss is met."""
    (toss,) = example.made_up(1, friction=0.2, restitution=0.1)
    again = example.thrown(toss, friction=0.2, restitution=0.1, size=1.0)
    np.testing.assert_allclose(again, toss[:, :7], atol=1e-6)
