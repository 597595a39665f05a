"""What every test may ask for: a seeded generator, the checkout's root, the reference folder when there is one, a place in the dossier."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("UNIBODY_COMPILERS", "0")  # tests run side by side: each compiles what it calls, and nothing ahead

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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--dossier", metavar="FILE.json", help="write published values beside measured ones, for tools/make_dossier.py")
    parser.addoption("--shake", metavar="SEED", type=int, help="change all scenes' numbers in their last places; see tests/shaking.py")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--dossier") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Dossier(config.getoption("--dossier")))
    seed = config.getoption("--shake")
    if seed is not None:
        from tests import shaking

        shaking.start(seed)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--shake") is not None:
        for item in items:
            if item.get_closest_marker("processes"):
                item.add_marker(pytest.mark.skip(reason="other processes are not shaken"))


@pytest.fixture
def published(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compare with a published or exact value, and enter both into the dossier: `published(subject, quantity, value, measured, atol=…)`."""

    def compare(
        subject: str, quantity: str, value: object, measured: object, *, atol: float = 0.0, rtol: float = 0.0, unit: str = ""
    ) -> None:  # fmt: skip
        expected, found = np.atleast_1d(np.asarray(value, float)), np.atleast_1d(np.asarray(measured, float))
        entry = {
            "subject": subject, "quantity": quantity, "unit": unit, "test": request.node.nodeid, "count": expected.size,
            "error": float(np.abs(found - expected).max()), "tolerance": atol + rtol * float(np.abs(expected).max()),
            "value": expected.ravel()[:4].tolist(), "measured": found.ravel()[:4].tolist(),
        }  # fmt: skip
        request.node.user_properties.append(("published", entry))
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)

    return compare


class Dossier:
    """Writes what tests compared, whichever process they ran in, with the seconds that each took."""

    def __init__(self, path: str) -> None:
        self.path, self.entries = path, []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.entries += [{**entry, "seconds": report.duration} for kind, entry in report.user_properties if kind == "published"]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.entries.sort(key=lambda e: (e["test"], e["subject"], e["quantity"]))
        Path(self.path).write_text(json.dumps(self.entries, indent=1), encoding="utf-8")
