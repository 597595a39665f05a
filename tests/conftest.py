"""What every test may ask for: a seeded generator, the checkout's root, and the reference folder when there is one."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

os.environ.setdefault("MPLBACKEND", "Agg")

# Same input, same verdict: examples are drawn from a fixed seed, and a slow first call (compilation) is not a failure.
settings.register_profile("unibody", derandomize=True, deadline=None)
settings.load_profile("unibody")


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `shared` beside the checkout, which holds published reference data that is not ours to distribute."""
    if not SHARED.is_dir():
        pytest.skip("no folder `shared` beside the checkout: published reference data are not there to compare with")
    return SHARED


@pytest.fixture(scope="session")
def reference(shared: Path) -> Path:
    """`shared/reference`: published trajectories, benchmarks and scenes."""
    folder = shared / "reference"
    if not folder.is_dir():
        pytest.skip("no folder `shared/reference` beside the checkout: published reference data are not there to compare with")
    return folder


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with the same seed in every test, whatever ran before."""
    return np.random.default_rng(20260101)
