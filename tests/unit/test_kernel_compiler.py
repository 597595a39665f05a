"""How kernels are compiled: without gathers, as the user's own features ask, and without changing what others in the process get."""

import os
import platform
import subprocess
import sys

import pytest

llvm = pytest.importorskip("llvmlite.binding")

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64") or llvm.llvm_version_info < (17,), reason="gathers of x86, told apart since LLVM 17"
)

ICE_LAKE = "+64bit,+cmov,+cx8,+cx16,+fxsr,+mmx,+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+bmi,+bmi2,+lzcnt"
ICE_LAKE += ",+f16c,+movbe,+avx512f,+avx512dq,+avx512bw,+avx512vl,+avx512cd"

PROGRAM = """
from __future__ import annotations
import numba
from unibody.algebra.tree.pcg import add_product
from unibody.kernel import Floats, kernel

def pick(x, y_out):
    for i in range(y_out.size):
        y_out[i] = x[7 * i] + 1.0

@kernel
def ours(x: Floats, y_out: Floats) -> None:
    for i in range(y_out.size):
        y_out[i] = x[7 * i] + 1.0

def gathers(dispatcher):
    return sum(text.count("vgather") for text in dispatcher.inspect_asm().values())

def of_another():
    array = numba.types.Array(numba.float64, 1, "C")
    return gathers(numba.njit(numba.void(array, array), error_model="numpy")(pick))

counts = [of_another()]
for each in (ours, add_product):
    each.load()
    counts.append(gathers(each.dispatcher))
print(*counts, of_another())
"""


def gathers(tmp_path, features):
    """In a function of another user before, in two of our kernels, and in the other's after, compiled for a processor with AVX-512."""
    told = os.environ | {"UNIBODY_CACHE_DIR": str(tmp_path), "NUMBA_CPU_NAME": "icelake-server", "NUMBA_CPU_FEATURES": features}
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(tmp_path / "program.py")], env=told, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, "the compiler knows every feature"
    return [int(word) for word in done.stdout.split()]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """One cache for both tests: were the features no part of a kernel's name, the second would find the first one's kernels."""
    return tmp_path_factory.mktemp("cache")


def test_our_kernels_hold_no_gathers_and_functions_of_others_keep_theirs(cache):
    before, *ours, after = gathers(cache, ICE_LAKE)
    assert ours == [0, 0]
    assert before > 0 and after > 0


def test_a_user_who_asks_for_gathers_gets_them(cache):
    """This also shows that the two kernels have loads that LLVM gathers where it may."""
    before, *ours, after = gathers(cache, ICE_LAKE + ",-prefer-no-gather")
    assert min(before, *ours, after) > 0
