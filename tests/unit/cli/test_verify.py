"""`unibody verify`: numbers are made again and told; one that is wrong fails, one that cannot be made again is said."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from unibody.cli import benchmarks

TESTS = '''
import pytest

def test_good(published):
    published("Circle", "area / r²", 3.14159, 3.1416, atol=1e-4)

def test_wrong(published):
    published("Circle", "circumference / r", 6.2832, 6.3, rtol=1e-4, unit="m")

def test_left_out(published):
    pytest.skip("no circle here")

def test_named():
    assert 1e-9 < 1e-8

def test_of_something_else():
    raise SystemExit("no number of a page")

@pytest.mark.slow
def test_late(published):
    published("Square", "diagonal / a", 1.41421, 1.4142, atol=1e-4)
'''
RUN = """
import json, sys
from pathlib import Path
from unibody.cli import verifying
root, budget = Path(sys.argv[1]), float(sys.argv[2])
found = verifying.verify(root, None, budget or None, lambda line: print(line, file=sys.stderr))
verifying.write_page(root, found, root / "page.md")
print(json.dumps(found.plain()))
"""


@pytest.fixture(scope="module")
def checkout(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with tests of its own, and our fixture and maker of pages."""
    place = tmp_path_factory.mktemp("checkout")
    for folder in ("tests", "tools", "docs"):
        (place / folder).mkdir()
    (place / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['slow: slow']\n")
    (place / "docs" / "numbers.toml").write_text('number = [{ page = "x.md", text = "1e-8", test = "test_named" }]\n')
    (place / "tests" / "test_circle.py").write_text(TESTS)
    shutil.copy(root / "tests" / "conftest.py", place / "tests")
    for tool in ("make_dossier.py", "dossier_speed.md"):
        shutil.copy(root / "tools" / tool, place / "tools")
    return place


def run(checkout: Path, budget: float) -> tuple[dict, str]:
    done = subprocess.run([sys.executable, "-c", RUN, str(checkout), str(budget)], capture_output=True, text=True, cwd=checkout)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_numbers_are_told_and_a_wrong_one_fails(checkout: Path) -> None:
    found, told = run(checkout, 0.0)
    assert [e["subject"] for e in found["entries"]] == ["Circle", "Circle", "Square"] and found["beyond"] == 1
    assert found["passed"] == 3 and [name.split("::")[-1] for name in found["wrong"]] == ["test_wrong"]
    assert [why for why in found["not run"].values()] == ["no circle here"]
    assert "ok     area / r²: 3.1416, reference 3.14159, off 1.0e-05 of 1.0e-04 allowed" in told
    assert "WRONG  circumference / r [m]: 6.3, reference 6.2832" in told and "unibody verify -k test_named" in told
    page = (checkout / "page.md").read_text(encoding="utf-8")
    assert "| area / r² | 3.14159 | 3.1416 | 1.0e-05 | 1.0e-04 | 0.0 | `test_good` |" in page


def test_nothing_begins_when_the_time_is_spent(checkout: Path) -> None:
    found, _ = run(checkout, 1e-9)
    assert not found["entries"] and found["passed"] == 0 and set(found["not run"].values()) == {"beyond the time of --quick"}
    assert len(found["not run"]) == 5  # the test that no page names was not among them


def test_a_number_of_the_page_from_the_command_line(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "unibody", "verify", "-k", "test_catenary_of_a_rope", "--json"], capture_output=True, text=True, cwd=root
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {e["quantity"] for e in told["entries"]} == {"sag / span", "tension at the end / w"} and told["page"] is None


def test_without_a_checkout_it_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(benchmarks.unibody, "__file__", str(tmp_path / "a" / "b" / "c" / "__init__.py"))
    assert benchmarks.checkout("tests") is None
    from typer.testing import CliRunner

    from unibody.cli.app import app

    done = CliRunner().invoke(app, ["verify"])
    assert done.exit_code == 2 and "no folder tests/ here; they come with the source checkout" in done.output
