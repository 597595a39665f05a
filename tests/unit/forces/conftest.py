"""The stand-in for the model, as a fixture."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

FakeWorld = runpy.run_path(str(Path(__file__).parents[1] / "forces" / "fake_world.py"))["FakeWorld"]


@pytest.fixture(params=[0, 1, 2])
def world(request):
    """Bodies and joints in random states, three times."""
    return FakeWorld(request.param)
