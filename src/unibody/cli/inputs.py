"""From words to things: `key=value` pairs, a scene's name or a file, a solver with its options."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

from unibody import scenes
from unibody.errors import ModelError
from unibody.files import load
from unibody.files.reading import ENDINGS
from unibody.model.model import look_up
from unibody.scenes import Scene
from unibody.scenes.base import convert
from unibody.solvers import REGISTRY, Solver


def pairs(words: Sequence[str], option: str) -> dict[str, str]:
    """`key=value` words as a dictionary."""
    out = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals):
            raise ModelError(f"{option} '{word}' is not key=value; give for example {option} n=3")
        out[key] = value
    return out


def scene_from(word: str, parameters: Sequence[str]) -> tuple[str, Scene]:
    """A short name for files and titles, and the scene: by name, or from a file that holds one."""
    given = pairs(parameters, "--param")
    path = Path(word)
    if path.suffix.lower() in ENDINGS or os.sep in word or path.is_file():
        return path.stem, load(path, given)
    return word, scenes.make(word, **given)


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
            chosen[key] = convert(kind, value)
        except (TypeError, ValueError):
            shown = kind.__name__ if isinstance(kind, type) else str(kind)
            raise ModelError(f"solver '{name}': {key}={value!r} is not {shown}; give for example {key}={getattr(cls, key)}") from None
    return cls(**chosen)


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
