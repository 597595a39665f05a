"""From words to things: a scene's name or a file, the solver for it, files that can be written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from unibody.errors import ModelError
from unibody.files.reading import READERS
from unibody.scenes import Scene
from unibody.simulation.inputs import chosen_solver, pairs, scene_of, solver_from
from unibody.solvers import Choice, Solver

__all__ = ["different", "pairs", "scene_from", "solver_for", "solver_from", "writable"]


def scene_from(word: str, parameters: Sequence[str]) -> tuple[str, Scene]:
    """A short name for files and titles, and the scene: by name, or from a file that holds one."""
    path = Path(word)
    is_file = path.suffix.lower() in READERS or os.sep in word or os.path.isfile(path)
    return path.stem if is_file else word, scene_of(word, pairs(parameters, "--param"))


def solver_for(scene: Scene, spec: str | None, options: Sequence[str] = (), dt: float | None = None) -> tuple[str, Solver, Choice | None]:
    """What is run: the solver that is named, or chosen for the scene and the step; its name as a person would type it, and the choice."""
    solver, choice = chosen_solver(spec or "auto", options, scene.model, scene.dt if dt is None else dt, scene.solver)
    return spec if spec and choice is None else choice.solver if choice is not None else solver.name, solver, choice


def different(paths: Mapping[str, Path | None]) -> None:
    """Refuse before the run files that could not be written after it, or would overwrite each other."""
    taken: dict[Path, str] = {}
    for option, path in paths.items():
        writable(path, option)
        if path is not None and path.resolve() in taken:
            raise ModelError(f"{option} '{path}': {taken[path.resolve()]} writes the same file; give another")
        if path is not None:
            taken[path.resolve()] = option


def writable(path: Path | None, option: str) -> None:
    """Refuse before the run what could not be written after it."""
    if path is None:
        return
    if path.is_dir():
        raise ModelError(f"{option} '{path}' is a folder; give the name of a file in it")
    if not path.parent.is_dir():
        raise ModelError(f"{option} '{path}': folder '{path.parent}' does not exist; make it first or give another")
    if not os.access(path.parent, os.W_OK):
        raise ModelError(f"{option} '{path}': folder '{path.parent}' cannot be written; give another")
