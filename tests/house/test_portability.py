"""The runs of the suite under other round-off: which they are, and that shaken numbers are what they claim to be."""

import importlib.util
import sys

import numpy as np
import pytest
from tests import shaking


@pytest.fixture(scope="module")
def portability(root):
    spec = importlib.util.spec_from_file_location("portability", root / "tools" / "portability.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_processor_is_asked_only_for_what_it_can_run(portability):
    old = portability.ways({"sse3"})
    new = portability.ways({"sse3", "sse4_2", "avx", "avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl"})
    assert [name for name in old if name.startswith("blas")] == ["blas-Prescott"]
    assert "blas-SkylakeX" in new and {"generic", "shake-1"} <= set(old) & set(new)


def test_another_processors_kernels_have_a_cache_of_their_own(portability):
    environment, _ = portability.ways({"sse3"})["generic"]
    assert environment["NUMBA_CPU_NAME"] == "generic" and environment["UNIBODY_CACHE_DIR"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/cpuinfo")
def test_an_unknown_way_is_refused(portability, capsys):
    assert portability.main(["--only", "blas-Z80"]) == 2
    assert "blas-Z80" in capsys.readouterr().out


def test_shaken_numbers_differ_in_their_last_places_and_the_same_input_gives_the_same(rng):
    x = np.concatenate([rng.standard_normal(1000), [0.0, 1.0, -1.0, 3.0, np.inf, np.nan]])
    y = shaking.shake(x, 1)
    assert y[1000:].tobytes() == x[1000:].tobytes()  # structure and flags stay
    change = y[:1000] / x[:1000] - 1.0
    assert 0.5e-15 < np.abs(change).max() <= shaking.RELATIVE + 2.3e-16  # and one rounding
    assert np.count_nonzero(change) > 700  # in both directions: what is below half a unit rounds to nothing
    assert (change > 0).any() and (change < 0).any()
    assert shaking.shake(x, 1).tobytes() == y.tobytes()
    assert shaking.shake(x, 2)[:1000].tobytes() != y[:1000].tobytes()
    same = shaking.shake(np.full(100, 0.3), 1)
    assert np.unique(same).size > 3  # what is alike in a symmetric scene is alike no more
