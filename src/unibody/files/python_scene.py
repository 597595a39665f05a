"""A Python file with a function `build()` that returns a Model or a Scene.

The file is imported under its own name with its folder on the path, so that classes defined in it can be named in saved recordings and
modules beside it can be imported. What goes wrong in it is reported with the file and the line.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

from unibody.errors import ModelError, UnibodyError
from unibody.model import Model
from unibody.scenes import Scene
from unibody.scenes.base import Parameter, SceneEntry
from unibody.simulation.whole_file import is_file, path_given

DURATION, STEP = 5.0, 1e-3
"""Of a file that returns a bare Model [s]."""


def load_python(path: str | Path, parameters: dict[str, Any] | None = None) -> Scene:
    """The scene that the file's `build(**parameters)` returns."""
    source = path_given(path)
    if not is_file(source):
        raise ModelError(f"file '{source}' does not exist; give a scene's name (see `unibody scenes`) or a file with a build() function")
    module = _imported(source)
    build = getattr(module, "build", None)
    if not callable(build):
        raise ModelError(f"file '{source}' has no function build(); define one that returns a Model or a Scene")
    entry = SceneEntry(source.name, "", build, _parameters(source, build))
    try:
        built = entry(**(parameters or {}))
    except UnibodyError as error:
        raise ModelError(f"file '{source}'{_line_in(source, error)}: {error}") from error
    except Exception as error:
        raise ModelError(f"file '{source}'{_line_in(source, error)}: {_one_line(error)}; correct build()") from error
    if isinstance(built, Model):
        return Scene(built, DURATION, STEP)
    if isinstance(built, Scene):
        return built
    raise ModelError(f"file '{source}': build() returned {type(built).__name__}; return b.build() or a Scene")


def _imported(source: Path) -> types.ModuleType:
    plain = source.stem.isidentifier() and source.stem not in sys.modules
    name = source.stem if plain else f"unibody_scene_{abs(hash(source.resolve())):x}"
    spec = importlib.util.spec_from_file_location(name, source)
    if spec is None or spec.loader is None:
        raise ModelError(f"file '{source}' is not a Python file; give one that ends in .py")
    module = importlib.util.module_from_spec(spec)
    folder = str(source.resolve().parent)
    sys.modules[name] = module
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        sys.modules.pop(name, None)
        raise ModelError(f"file '{source}' line {error.lineno}: {error.msg}; correct the file") from error
    except Exception as error:
        sys.modules.pop(name, None)
        raise ModelError(f"file '{source}'{_line_in(source, error)}: {_one_line(error)}; correct the file") from error
    return module


def _parameters(source: Path, build: Callable[..., Any]) -> tuple[Parameter, ...]:
    """What `--param` may set: typed by annotation, else by the default's type."""
    hints = get_type_hints(build)
    out = []
    for p in inspect.signature(build).parameters.values():
        if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
            raise ModelError(f"file '{source}': build() needs {p.name}; give every parameter a default")
        if p.default is not p.empty and p.kind is not p.POSITIONAL_ONLY:
            out.append(Parameter(p.name, hints.get(p.name, str if p.default is None else type(p.default)), p.default))
    return tuple(out)


def _line_in(source: Path, error: BaseException) -> str:
    """' line 12', the last place in the file that the error passed through."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).resolve() == source.resolve()]
    return f" line {lines[-1]}" if lines else ""


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
