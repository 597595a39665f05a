"""From words to things: a model, a scene, a scene's name or a file; a solver by name, with options.

The packages `scenes` and `files` import `simulation`. So they are imported here by name, and only when a word needs them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

from unibody.errors import ModelError
from unibody.model import Model
from unibody.model.model import look_up
from unibody.model.values import shown
from unibody.simulation.whole_file import is_file
from unibody.solvers import REGISTRY, Choice, Solver, choose
from unibody.solvers.base import refusals


def scene_of(what: Any, parameters: Mapping[str, Any] | None = None) -> Any:
    """The Scene that is given, that a file holds, or that has a name; None for anything else."""
    if isinstance(what, str | Path):
        path = Path(what)
        files = import_module("unibody.files.reading") if path.suffix or os.sep in str(what) or is_file(path) else None
        if files is not None and (path.suffix.lower() in files.READERS or os.sep in str(what) or is_file(path)):
            return files.load(path, parameters)
        return import_module("unibody.scenes").make(str(what), **(parameters or {}))
    return what if isinstance(what, import_module("unibody.scenes").Scene) else None


def solver_from(spec: str, options: Sequence[str] = ()) -> Solver:
    """`name`, `name:key=value` or `name:key=value:key=value` as a solver; `options` are further key=value words.

    >>> solver_from("articulated:rule=rk4").rule
    'rk4'
    """
    name, *inline = spec.split(":")
    cls = look_up(name, REGISTRY, "solver")
    kinds = {f.name: get_type_hints(cls)[f.name] for f in fields(cls)}
    chosen: dict[str, Any] = {}
    for key, value in pairs([*inline, *options], "--option").items():
        kind = look_up(key, kinds, f"solver '{name}': option")
        try:
            chosen[key] = import_module("unibody.scenes.base").convert(kind, value)
        except (TypeError, ValueError, OverflowError):
            word = kind.__name__ if isinstance(kind, type) else str(kind)
            raise ModelError(f"solver '{name}': {key}={value!r} is not {word}; give for example {key}={getattr(cls, key)}") from None
    return cls(**chosen)


def pairs(words: Sequence[str], option: str) -> dict[str, str]:
    """`key=value` words as a dictionary."""
    out = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals):
            raise ModelError(f"{option} '{word}' is not key=value; give for example {option} n=3")
        out[key] = value
    return out


def chosen_solver(solver: Any, options: Sequence[str], model: Model, dt: float, made_for: str = "") -> tuple[Solver, Choice | None]:
    """A solver that is given as it is, by name, or as "auto": the one that a scene is made for, if it can, else by the rule (`choose`);
    and the choice, if there was one. Options of "auto" are those of the solver that it chooses."""
    if not isinstance(solver, str):
        if not isinstance(solver, Solver):
            raise ModelError(f"Simulation: solver {shown(solver)} is neither a name (auto, {', '.join(REGISTRY)}) nor a solver")
        return solver, None
    name, *inline = solver.split(":")
    if name != "auto":
        return solver_from(solver, options), None
    if made_for and not refusals(own := solver_from(made_for), model):
        choice = Choice(made_for, "the scene is made for it")
        return (own if not (inline or options) else solver_from(":".join([made_for, *inline]), options)), choice
    choice = choose(model, dt)
    return solver_from(":".join([choice.solver, *inline]), options), choice
