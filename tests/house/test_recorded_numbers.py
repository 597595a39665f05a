"""The tool that compares numbers of two checkouts: it records what it says, and sees a changed bit."""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recorded_comparison as comparison
import recorded_files as files
import recorded_numbers as numbers
import recorded_scenes
import unibody as ub
from unibody import constraints, forces, joints, shapes
from unibody.simulation.inputs import solver_from
from unibody.solvers import REGISTRY

TOOLS = Path(__file__).resolve().parents[2] / "tools"
PAIRS = "double-pendulum | articulated*"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(TOOLS / "recorded_numbers.py"), *words], capture_output=True, text=True)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("recorded") / "a.jsonl"
    done = run("record", str(file), "--only", PAIRS)
    assert done.returncode == 0, done.stderr
    return file


def other(recorded: Path, folder: Path, change: Any) -> Path:
    """A copy in which `change(entry)` was done to every pair."""
    lines = [json.loads(line) for line in recorded.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if "pair" in line:
            change(line)
    file = folder / "other.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def test_a_second_record_is_the_same_bit_for_bit(recorded: Path, tmp_path: Path) -> None:
    again = tmp_path / "b.jsonl"
    assert run("record", str(again), "--only", PAIRS).returncode == 0
    done = run("compare", str(recorded), str(again))
    assert done.returncode == 0, done.stdout
    assert "4 the same, 0 not, of 4 pairs" in done.stdout


def test_sources_changed_in_the_last_bit_of_a_number_are_seen(root: Path, recorded: Path, tmp_path: Path) -> None:
    """Gravity one unit in its last place larger, 2e-16 of it: found without `--within`, and within 1e-12."""
    shutil.copytree(root / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    pendulums = tmp_path / "src" / "unibody" / "scenes" / "pendulums.py"
    text = pendulums.read_text(encoding="utf-8")
    assert "gravity: float = 9.81" in text
    pendulums.write_text(text.replace("float = 9.81", f"float = {math.nextafter(9.81, 10.0)!r}"), encoding="utf-8")
    changed = tmp_path / "b.jsonl"
    assert run("record", str(changed), "--only", PAIRS, "--checkout", str(tmp_path)).returncode == 0
    done = run("compare", str(recorded), str(changed))
    assert done.returncode == 1 and "0 the same, 4 not" in done.stdout, done.stdout
    # memory of dopri5 holds its estimate of the error, a difference of numbers that are nearly the same
    near = run("compare", str(recorded), str(changed), "--within", "1e-12", "--without", "memory")
    assert near.returncode == 0 and "4 within, 0 beyond" in near.stdout, near.stdout
    assert run("compare", str(recorded), str(changed), "--within", "1e-17").returncode == 1


def bump(value: Any) -> Any:
    """The next number, in every number of a list."""
    if isinstance(value, list):
        return [bump(v) for v in value]
    return math.nextafter(value, math.inf) if isinstance(value, float) else value


@pytest.mark.parametrize("name", ["q", "v", "memory"])
@pytest.mark.parametrize("step", [0, 5, 20])
def test_one_step_with_another_digest_is_seen(recorded: Path, tmp_path: Path, name: str, step: int) -> None:
    def change(entry: Any) -> None:
        entry["step digests"][name][step] = numbers.digest(np.array([float(step)]))

    file = other(recorded, tmp_path, change)
    assert comparison.compare(recorded, file, None, []) == 1
    assert comparison.compare(recorded, file, None, [name]) == 0  # left out on purpose


@pytest.mark.parametrize("field", ["end.reactions", "start.poses", "stepped.kinetic", "report.violation", "report.status"])
def test_what_was_observed_or_reported_otherwise_is_seen(
    recorded: Path, tmp_path: Path, field: str, capsys: pytest.CaptureFixture[str]
) -> None:
    where, key = field.split(".")

    def change(entry: Any) -> None:
        if where == "report":
            entry["reports"][-1][key] = "not converged" if key == "status" else 1e-3
            return
        entry["numbers"][field] = bump(entry["numbers"][field])
        entry["digests"][where] = numbers.of_text(entry["numbers"])

    file = other(recorded, tmp_path, change)
    assert comparison.compare(recorded, file, None, []) == 1
    assert field in capsys.readouterr().out
    assert comparison.compare(recorded, file, 1e-12, []) == (1 if where == "report" else 0)


def test_a_missing_pair_and_an_empty_record_are_no_agreement(recorded: Path, tmp_path: Path) -> None:
    lines = recorded.read_text(encoding="utf-8").splitlines(keepends=True)
    fewer, none = tmp_path / "fewer.jsonl", tmp_path / "none.jsonl"
    fewer.write_text("".join(lines[:-2]), encoding="utf-8")
    none.write_text(lines[0], encoding="utf-8")
    assert comparison.compare(recorded, fewer, 1e-3, []) == 1 and comparison.compare(fewer, recorded, 1e-3, []) == 1
    assert comparison.compare(none, none, None, []) == 1
    assert comparison.compare(recorded, tmp_path / "nowhere.jsonl", None, []) == 2


def test_examples_in_docstrings_hold() -> None:
    for module in (numbers, files, comparison):
        failed, tried = doctest.testmod(module)
        assert tried and not failed, module.__name__


def test_digests_see_signs_of_zero_shapes_and_types() -> None:
    x = np.arange(6.0)
    seen = {numbers.digest(y) for y in (x, x.reshape(2, 3), x.astype(np.float32), x.view(np.int64), -x * 0.0, x * 0.0)}
    assert len(seen) == 6


def test_differences_are_relative_to_the_largest_number_and_to_no_less_than_the_floor() -> None:
    assert comparison.apart([1.0, 2000.0], [1.5, 2000.0]) == 0.5 / 2000.0
    assert comparison.apart([0.0], [1e-17]) == pytest.approx(1e-17 / comparison.FLOOR)
    assert comparison.apart([0.0, math.nan, math.inf], [-0.0, math.nan, math.inf]) == 0.0
    for a, b in (([1.0], [1.0, 2.0]), ("ok", "failed"), ([1.0], [math.nan]), ([1.0], None), ([[1.0], [2.0, 3.0]], [[1.0], [2.0]])):
        assert comparison.apart(a, b) == math.inf


def test_of_very_many_numbers_a_changed_order_is_seen(rng: np.random.Generator) -> None:
    x = rng.standard_normal(numbers.MOST + 1)
    a, b = numbers.kept(x.tolist()), numbers.kept(x[::-1].tolist())
    assert set(a) == {"sha256", "shape", "sums"} and a["sha256"] != b["sha256"]
    assert a["sums"][0] == pytest.approx(b["sums"][0]) and comparison.apart(a, b) > 1e-3  # the same norm, of other numbers


def test_a_record_goes_on_where_it_was_interrupted(recorded: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    lines = recorded.read_text(encoding="utf-8").splitlines(keepends=True)
    first = next(k for k, line in enumerate(lines) if '"pair"' in line[:10])
    file.write_text("".join(lines[: first + 2]) + '{"pair": "double-pen', encoding="utf-8")  # cut off in the middle
    done = run("record", str(file), "--only", PAIRS)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3  # of four, one was there
    assert file.read_text(encoding="utf-8").startswith("".join(lines[: first + 1]))
    assert run("compare", str(recorded), str(file)).returncode == 0


def test_numbers_of_other_sources_do_not_get_into_a_file(recorded: Path, tmp_path: Path) -> None:
    lines = recorded.read_text(encoding="utf-8").splitlines(keepends=True)
    header = json.loads(lines[0])
    header["header"]["sources"] = "0" * 64
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(header) + "\n" + "".join(lines[1:]), encoding="utf-8")
    done = run("record", str(file), "--only", PAIRS)
    assert done.returncode == 2 and "another sources" in done.stderr


def test_refusals_and_failures_are_recorded_with_their_words() -> None:
    job = recorded_scenes.Job("articulated", 1e-3, 2, 2, 2, True, lambda: recorded_scenes.own("one-sided"))
    refused = numbers.run("one-sided | articulated", job)
    assert refused["outcome"] == "refused" and "DistanceRange" in refused["message"] and refused["step digests"]["q"] == []
    broken = recorded_scenes.Job("articulated", 1e-3, 2, 2, 2, True, lambda: recorded_scenes.recorded_models.nowhere())
    assert numbers.run("broken | articulated", broken)["message"].startswith("AttributeError")
    assert any(d.size == math.inf for d in comparison.differences(refused, refused | {"message": "otherwise"}, []))


def test_a_pair_that_kills_its_process_is_recorded_and_the_others_go_on(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, codes = tmp_path / "a.jsonl", [-11, 0]

    def work(command: list[str], **options: Any) -> Any:
        if codes[0] == -11:
            files.append(file, {"begun": "a | b"})
        return subprocess.CompletedProcess(command, codes.pop(0))

    monkeypatch.setattr(numbers, "header_of", lambda checkout: {"sources": "none"})
    monkeypatch.setattr(numbers.subprocess, "run", work)
    assert numbers.record(file, root, None, False) == 0 and not codes
    _, pairs = files.read(file)
    assert pairs["a | b"]["outcome"] == "died" and "signal 11" in pairs["a | b"]["message"]
    assert not comparison.differences(pairs["a | b"], pairs["a | b"], [])


def test_every_scene_solver_rule_and_method_is_recorded() -> None:
    jobs = recorded_scenes.jobs()
    assert {pair.split(" | ")[0] for pair in jobs} >= set(ub.scenes.names())
    assert set(recorded_scenes.VARIANTS) == set(REGISTRY)
    for name, cls in REGISTRY.items():
        for field in dataclasses.fields(cls):
            if isinstance(field.default, str):  # what it knows, a solver says where it is given something else
                with pytest.raises(ub.ModelError, match="give one of") as refused:
                    cls(**{field.name: "nothing of the kind"})
                known = set(str(refused.value).split("give one of ")[1].split(", "))
                tried = {option.split("=")[1] for option in recorded_scenes.VARIANTS[name] if option.startswith(f"{field.name}=")}
                by_itself = {"auto": {"planar", "reduced"}}.get(field.default, set())  # what "auto" takes
                assert known - by_itself == tried | {field.default}, (name, field.name)
    for spec in {job.solver for job in jobs.values()}:
        solver_from(spec)  # what is not known is refused
    quick = sum(job.quick for job in jobs.values())
    assert 0.05 < quick / len(jobs) < 0.2


def test_every_element_of_the_house_is_in_a_recorded_scene() -> None:
    seen: set[type] = set()
    for model in {id(model): model for model in (job.model() for job in recorded_scenes.jobs().values())}.values():
        elements = [*(j.element for j in model.joints), *(e for _, e in (*model.forces, *model.constraints))]
        seen |= {type(e) for e in (*elements, *(p.shape for b in model.bodies for p in b.shapes))}
    for room, base in ((joints, joints.Joint), (forces, forces.Force), (constraints, constraints.Constraint), (shapes, shapes.Shape)):
        own = {getattr(room, n) for n in room.__all__ if inspect.isclass(getattr(room, n)) and issubclass(getattr(room, n), base)}
        missing = {cls.__name__ for cls in own - seen - {base}} - {"Placed", "Gravity"}  # which builders add up
        assert not missing, missing
