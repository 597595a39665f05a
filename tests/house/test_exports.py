"""What packages export is found in their modules, once, and type checkers see the same."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import make_exports
import unibody as ub

PACKAGES = [".".join(p.relative_to(make_exports.PACKAGE.parent).parts) for p in make_exports.packages()]

JOINT = '''
"""A joint that is new."""
from unibody.joints.weld import Weld

__all__ = ["Glue"]


class Glue(Weld):
    """Holds everything."""
'''
SOLVER = '''
"""A solver that is new."""
from unibody.solvers.base import Solver

__all__ = ["Stillness"]


class Stillness(Solver):
    """Nothing moves."""

    name = "stillness"
'''
RULE = '''
"""A rule that is new."""
from unibody.rules.time_rule import TimeRule

__all__ = ["Nap"]


class Nap(TimeRule):
    """Leaves a step out."""

    name = "nap"
'''


def test_stubs_say_what_packages_export() -> None:
    assert make_exports.main(["--check"]) == 0


@pytest.mark.parametrize("package", PACKAGES)
def test_type_checkers_see_what_a_package_exports(package: str) -> None:
    module = import_module(package)
    stub = ast.parse((Path(module.__path__[0]) / "__init__.pyi").read_text(encoding="utf-8"))
    seen = {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert set(module.__all__) <= seen and all(hasattr(module, str(name)) for name in seen)


def test_elements_are_exported_by_the_package_too() -> None:
    for package in (ub.joints, ub.forces, ub.constraints, ub.shapes):
        assert all(getattr(ub, name) is getattr(package, name) for name in package.__all__)
    assert len(set(ub.__all__)) == len(ub.__all__)


def test_a_new_element_is_one_new_file(root: Path, tmp_path: Path) -> None:
    """In a copy of the package: a file, and it is exported, registered and known to `unibody`."""
    copy = tmp_path / "unibody"
    shutil.copytree(root / "src" / "unibody", copy, ignore=shutil.ignore_patterns("__pycache__"))
    for place, text in (("joints/glue.py", JOINT), ("solvers/stillness.py", SOLVER), ("rules/nap.py", RULE)):
        (copy / place).write_text(text, encoding="utf-8")
    words = (
        "import unibody as ub; from unibody.rules import RULES; "
        "print(ub.Glue is ub.joints.Glue, ub.solvers.Stillness.name in ub.solvers.REGISTRY, 'nap' in RULES, 'Glue' in ub.__all__)"
    )
    result = subprocess.run([sys.executable, "-c", words], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
    assert result.stdout.split() == ["True"] * 4, result.stderr
