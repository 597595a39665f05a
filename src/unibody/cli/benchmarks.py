"""Finding and running the benchmarks of a source checkout: `benchmarks/<name>.py`, each with a function `main()`."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import sys
import time
from pathlib import Path
from typing import Any

import unibody
from unibody.errors import ModelError
from unibody.model.model import look_up


def checkout(part: str) -> Path | None:
    """The source checkout that this package runs from, or the current folder, if it has a folder `part`; None for an installed package."""
    for root in (Path(unibody.__file__).resolve().parents[2], Path.cwd()):
        if (root / "pyproject.toml").is_file() and (root / part).is_dir():
            return root
    return None


def folder() -> Path | None:
    """`benchmarks/` of the checkout."""
    root = checkout("benchmarks")
    return root / "benchmarks" if root is not None else None


def found() -> dict[str, Path]:
    """Name → file of every benchmark, sorted."""
    place = folder()
    return {p.stem: p for p in sorted(place.glob("[!_]*.py")) if _has_main(p)} if place is not None else {}


def opening(path: Path) -> str:
    """The first sentence or line of what a benchmark says about itself."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.split("\n\n")[0].split("\n")[0]


def run(name: str, arguments: list[str], quiet: bool) -> dict[str, Any]:
    """Call main() of a benchmark with `arguments` as its command line; with `quiet` what it prints is returned instead."""
    here = found()
    if not here:
        raise ModelError(f"benchmark '{name}': no folder benchmarks/ here; they come with the source checkout, run from there")
    path = look_up(name, here, "benchmark")
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    before, printed, began = sys.argv, io.StringIO(), time.perf_counter()
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.parent))
    try:
        with contextlib.redirect_stdout(printed) if quiet else contextlib.nullcontext():
            spec.loader.exec_module(module)
            result = module.main()
    finally:
        sys.argv = before
        sys.path.remove(str(path.parent))
    return {"name": name, "seconds": time.perf_counter() - began, "result": result, "output": printed.getvalue()}


def can_plot(name: str, plot: Path) -> None:
    """Refuse before the run what could not be drawn after it."""
    from unibody.cli.inputs import writable
    from unibody.cli.recorded import can_draw

    writable(plot, "--plot")
    can_draw(plot, "--plot")
    here = found()
    if here and not (name in here and scales(here[name])):
        able = ", ".join(n for n, p in here.items() if scales(p)) or "none"
        raise ModelError(f"--plot: benchmark '{name}' has no times over sizes to draw; those that have: {able}")


def scales(path: Path) -> bool:
    """Whether a benchmark measures times over a size, which it then gives to a function named `plot`."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    return any(isinstance(call.func, ast.Name) and call.func.id == "plot" for call in calls)


def _has_main(path: Path) -> bool:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body)
