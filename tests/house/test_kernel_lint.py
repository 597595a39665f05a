"""The tree keeps the rules of compiled code, and the lint that says so can fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LINT = Path(__file__).resolve().parents[2] / "tools" / "kernel_lint.py"
HEAD = "from __future__ import annotations\nimport numpy as np\nfrom unibody.kernel import Floats, Ints, device, kernel, prototype\n"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(LINT), *arguments], capture_output=True, text=True)


def lint(folder: Path, source: str, name: str = "snippet.py") -> subprocess.CompletedProcess[str]:
    (folder / name).write_text(source, encoding="utf-8")
    result = run(str(folder))
    assert not result.stderr, result.stderr
    return result


def test_tree_keeps_the_rules() -> None:
    result = run()
    assert result.returncode == 0, result.stdout + result.stderr


LOOP = "@kernel\ndef f(x: Floats, n: int, y_out: Floats) -> None:\n    for i in range(n):\n        {}\n"

GOOD = {
    "writes what ends in _out": LOOP.format("y_out[i] += x[i]"),
    "permits one line": LOOP.format("s = np.zeros(3)  # kernel-lint: allow-alloc"),
    "loops over an array made once": LOOP.replace("range", "np.arange").format("y_out[i] = x[i]"),
    "allocates outside its loop": "@kernel\ndef f(n: int):\n    s = np.zeros(3)\n    for i in range(n):\n        s[i] = 0.0\n",
    "writes through a view": "@kernel\ndef f(n: int, y_out: Floats):\n    row = y_out[3:6]\n    row[0] = n\n",
    "writes a local array": "@kernel\ndef f(x: Floats):\n    s = np.zeros(3)\n    s[0] = x[0]\n",
    "rebinds a scalar": "@kernel\ndef f(n: int, y_out: Floats):\n    n += 1\n    y_out[0] = n\n",
    "device of scalars": "@device\ndef f(a, b):\n    c = a\n    c += b\n    return c, (a, b)\n",
    "prototype": '@prototype\ndef Fill(x: Floats, first: int, y_out: Floats) -> None:\n    """Fill."""\n',
    "fourteen arrays": f"@kernel\ndef f({', '.join(f'x{i}: Floats' for i in range(14))}): ...\n",
    "raises outside kernels": "def f(x):\n    for i in x:\n        raise ValueError([i])\n",
}


@pytest.mark.parametrize("case", GOOD)
def test_lets_pass(case: str, tmp_path: Path) -> None:
    result = lint(tmp_path, HEAD + GOOD[case])
    assert (result.returncode, result.stdout) == (0, "")


# case: (source, line of the finding counted from the end of HEAD, words of the message)
BAD = {
    "argument without annotation": ("@kernel\ndef f(x, y_out: Floats): ...\n", 2, "`x` has no annotation"),
    "argument of another type": ("@kernel\ndef f(x: np.ndarray): ...\n", 2, "annotated `np.ndarray`"),
    "prototype without annotation": ("@prototype\ndef F(x, y_out: Floats): ...\n", 2, "no annotation"),
    "prototype with a body": ("@prototype\ndef F(y_out: Floats):\n    y_out[0] = 1.0\n", 3, "has no body"),
    "default": ("@kernel\ndef f(x: Floats, n: int = 3): ...\n", 2, "no defaults"),
    "keyword-only argument": ("@kernel\ndef f(x: Floats, *, n: int): ...\n", 2, "keyword-only"),
    "array returned": ("@kernel\ndef f(x: Floats) -> Floats: ...\n", 2, "returns `Floats`"),
    "scalar _out": ("@kernel\ndef f(n_out: int): ...\n", 2, "cannot be written"),
    "decorator called": ("@kernel()\ndef f(n: int): ...\n", 1, "no options"),
    "_out before read-only": ("@kernel\ndef f(y_out: Floats, x: Floats): ...\n", 2, "written arguments come last"),
    "_out before read-only in a device": ("@device\ndef f(y_out, x): ...\n", 2, "written arguments come last"),
    "subscript assigned": ("@kernel\ndef f(x: Floats):\n    x[0] = 1.0\n", 3, "writes argument `x`"),
    "subscript augmented": ("@kernel\ndef f(x: Floats):\n    x[0] += 1.0\n", 3, "writes argument `x`"),
    "slice assigned": ("@kernel\ndef f(x: Floats):\n    x[1:3] = 1.0\n", 3, "writes argument `x`"),
    "tuple assigned": ("@kernel\ndef f(x: Floats):\n    x[0], a = 1.0, 2.0\n", 3, "writes argument `x`"),
    "array augmented": ("@kernel\ndef f(x: Floats):\n    x += 1.0\n", 3, "writes argument `x`"),
    "view written": ("@kernel\ndef f(x: Floats):\n    row = x[3:6]\n    row[0] = 1.0\n", 4, "through `row`"),
    "reshaped view written": ("@kernel\ndef f(x: Floats):\n    A = x.reshape(3, 3)\n    A[0, 1] = 1.0\n", 4, "through `A`"),
    "part of an arena written": ("@kernel\ndef f(x: Floats, at: Ints):\n    s = part(x, at, 3)\n    s[0] = 1.0\n", 4, "through `s`"),
    "filled": ("@kernel\ndef f(x: Floats):\n    x.fill(0.0)\n", 3, "writes argument `x`"),
    "device writes": ("@device\ndef f(x, i):\n    x[i] = 0.0\n", 3, "writes argument `x`"),
    "seventeen arrays": (f"@kernel\ndef f({', '.join(f'x{i}: Floats' for i in range(17))}): ...\n", 2, "17 array arguments"),
    "raise": ("@kernel\ndef f(n: int):\n    if n < 0:\n        raise ValueError\n", 4, "`raise`"),
    "raise in a device": ("@device\ndef f(n):\n    raise ValueError\n", 3, "`raise`"),
    "assert": ("@kernel\ndef f(n: int):\n    assert n > 0\n", 3, "`assert`"),
    "fastmath": ("options = dict(fastmath=True)\n", 1, "fastmath"),
    "numba imported": ("import numba\n", 1, "triple.py only"),
    "numba imported from": ("def f():\n    from numba.core import types\n", 2, "triple.py only"),
    "numba by name": ("import importlib\nimportlib.import_module('numba')\n", 2, "triple.py only"),
    "closure": ("def make(a):\n    @kernel\n    def f(n: int): ...\n    return f\n", 3, "inside make()"),
    "np.zeros in a loop": (LOOP.format("s = np.zeros(3)"), 4, "np.zeros()"),
    "np.empty in a loop": (LOOP.format("s = np.empty(3)"), 4, "np.empty()"),
    "np.array in a loop": (LOOP.format("s = np.array((1.0, 2.0))"), 4, "np.array()"),
    "np.dot in a loop": (LOOP.format("y_out[i] = np.dot(x, x)"), 4, "np.dot()"),
    "np.linalg in a loop": (LOOP.format("s = np.linalg.solve(x, x)"), 4, "np.linalg.solve()"),
    "matrix product in a loop": (LOOP.format("y_out[i] = x @ x"), 4, "`@`"),
    "list in a loop": (LOOP.format("s = [i]"), 4, "list"),
    "dict in a loop": (LOOP.format("s = {i: i}"), 4, "dict"),
    "comprehension in a loop": (LOOP.format("s = [k for k in x]"), 4, "comprehension"),
    "copy in a loop": (LOOP.format("s = x.copy()"), 4, ".copy()"),
    "allocation in a while's test": ("@device\ndef f(x):\n    while np.array(x)[0] > 0:\n        x = x - 1\n", 3, "np.array()"),
    "allocation in an inner loop's range": (LOOP.format("for k in np.arange(i):\n            y_out[k] = 0.0"), 4, "np.arange()"),
    "allocation in a device's loop": ("@device\ndef f(n):\n    for i in range(n):\n        s = np.zeros(3)\n", 4, "np.zeros()"),
    "permission for nothing": ("@kernel\ndef f(n: int):\n    s = np.zeros(3)  # kernel-lint: allow-alloc\n", 3, "permits nothing"),
}


@pytest.mark.parametrize("case", BAD)
def test_catches(case: str, tmp_path: Path) -> None:
    source, line, words = BAD[case]
    result = lint(tmp_path, HEAD + source)
    assert result.returncode == 1
    findings = result.stdout.splitlines()
    assert len(findings) == 1, result.stdout
    assert findings[0].split(":")[1] == str(line + HEAD.count("\n"))
    assert words in findings[0]


def test_catches_annotations_that_are_not_text(tmp_path: Path) -> None:
    result = lint(tmp_path, "from unibody.kernel import kernel\n@kernel\ndef f(n: int): ...\n")
    assert result.returncode == 1 and "from __future__ import annotations" in result.stdout


def test_kernel_module_may_name_numba(tmp_path: Path) -> None:
    assert lint(tmp_path, "import numba\n", name="kernel.py").returncode == 0
