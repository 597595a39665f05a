"""Imports follow the order of the house, and the contracts that say so can fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import lint_imports


def test_imports_follow_the_house(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    assert lint_imports(config_filename=str(root / "pyproject.toml"), no_cache=True) == 0, "an import points the wrong way; see above"


BREACHES = {
    "house": ("spatial/breach.py", "from unibody.joints import breach"),
    "solvers": ("solvers/lagrange.py", "import unibody.solvers.articulated.solver"),
    "algebra": ("algebra/breach.py", "import unibody.model"),
    "physics": ("solvers/articulated.py", "def draw():\n    import unibody.view"),
    "numba": ("forces/breach.py", "from numba import njit"),
}
ROOMS = ("spatial", "algebra", "model", "joints", "forces", "solvers", "view")


@pytest.mark.parametrize("contract", BREACHES)
def test_contract_notices_a_breach(contract: str, root: Path, tmp_path: Path) -> None:
    """A small house of empty rooms passes; one wrong import in it breaks exactly the contract that forbids it."""
    for room in ROOMS:
        (tmp_path / "unibody" / room).mkdir(parents=True)
        (tmp_path / "unibody" / room / "__init__.py").touch()
        (tmp_path / "unibody" / room / "breach.py").touch()
    (tmp_path / "unibody" / "__init__.py").touch()
    for allowed in ("kernel.py", "triple.py"):
        (tmp_path / "unibody" / allowed).write_text("def compiler():\n    import llvmlite\n    import numba\n    return llvmlite, numba\n")
    (tmp_path / "unibody" / "solvers" / "breach.py").unlink()
    (tmp_path / "unibody" / "solvers" / "articulated.py").touch()
    (tmp_path / "unibody" / "solvers" / "lagrange.py").touch()

    def kept() -> bool:
        command = [sys.executable, "-c", "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"]
        command += ["--config", str(root / "pyproject.toml"), "--contract", contract, "--no-cache"]
        result = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
        assert "Contracts:" in result.stdout, result.stdout + result.stderr
        return result.returncode == 0

    assert kept()
    path, statement = BREACHES[contract]
    (tmp_path / "unibody" / path).write_text(statement + "\n")
    assert not kept()
