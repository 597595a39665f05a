"""Files of all kinds: the ending tells the reader, and for .xml the root element.

    .py → a function build()      .json → our own, rigid-ipc's, PolyFEM's      .urdf → URDF      .sdf → SDF
    .xml, .mjcf → MJCF, or URDF if the root is <robot>

A reader for another ending enters itself by `@reads(".ending")`. Parameters are those of the reader, as values or as strings from a command
line: `floating=true`, `packages=a,b`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

from unibody.errors import ModelError
from unibody.files.python_scene import load_python
from unibody.scenes import Scene
from unibody.scenes.base import Parameter, SceneEntry
from unibody.simulation.whole_file import is_file, path_given

READERS: dict[str, Callable[[Path, dict[str, Any]], Scene]] = {}
"""By the ending of a file: what makes a scene of it and of parameters."""


def reads(*endings: str) -> Callable[[Callable[..., Scene]], Callable[..., Scene]]:
    """Decorator: a function of a path that returns a Scene reads files with these endings (`".toy"`). Its keyword-only parameters are those
    that `load` and `--param` take, by their annotations."""

    def register(reader: Callable[..., Scene]) -> Callable[..., Scene]:
        READERS.update(dict.fromkeys(endings, partial(_called, reader)))
        return reader

    return register


def load(path: str | Path, parameters: Mapping[str, Any] | None = None) -> Scene:
    """The scene of a file, with the parameters that its reader (or its `build()`) knows."""
    if not isinstance(parameters, Mapping | None):
        raise ModelError(f"load: parameters {parameters!r} are no mapping; give {{name: value}}")
    source, given = path_given(path), dict(parameters or {})
    if not is_file(source):
        raise ModelError(f"file '{source}' does not exist; give a scene's name (see `unibody scenes`) or a file that ends in {_endings()}")
    if source.suffix.lower() not in READERS:
        raise ModelError(f"file '{source}': no reader for '{source.suffix}' files; give one that ends in {_endings()}")
    return READERS[source.suffix.lower()](source, given)


def _json(source: Path, given: dict[str, Any]) -> Scene:
    from unibody.files.rigid_ipc import load_rigid_ipc, speaks_rigid_ipc

    if speaks_rigid_ipc(source):
        return _called(load_rigid_ipc, source, given)
    from unibody.files.polyfem_source import speaks_polyfem

    if speaks_polyfem(source):
        from unibody.files.polyfem import load_polyfem

        return _called(load_polyfem, source, given)
    from unibody.files.scene_json import load_json

    return _called(load_json, source, given, {"trust": Parameter("trust", tuple[str, ...], ())})


def _urdf(source: Path, given: dict[str, Any]) -> Scene:
    from unibody.files.urdf import load_urdf

    return _called(load_urdf, source, given)


def _xml(source: Path, given: dict[str, Any]) -> Scene:
    first = root_element(source)
    if first in ("robot", "sdf"):
        return _urdf(source, given) if first == "robot" else _sdf(source, given)
    from unibody.files.mjcf import load_mjcf

    return _called(load_mjcf, source, given)


def _sdf(source: Path, given: dict[str, Any]) -> Scene:
    from unibody.files.sdf import load_sdf

    return _called(load_sdf, source, given)


READERS.update({".py": load_python, ".json": _json, ".urdf": _urdf, ".sdf": _sdf, ".xml": _xml, ".mjcf": _xml})


def root_element(path: Path) -> str:
    """The first element's name in an XML file, by its opening only; '' when there is none."""
    with path.open("rb") as file:
        data = file.read(100_000)
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", errors="replace")
    text = re.sub(r"<!--.*?-->|<\?.*?\?>", "", text, flags=re.DOTALL)
    found = re.search(r"<\s*([\w.:-]+)", text)
    return found.group(1) if found else ""


def _called(reader: Callable[..., Scene], source: Path, given: dict[str, Any], known: dict[str, Parameter] | None = None) -> Scene:
    """Call a reader with its keyword-only parameters, converted by their annotations."""
    if known is None:
        kinds = get_type_hints(reader)
        signature = inspect.signature(reader).parameters.values()
        known = {p.name: Parameter(p.name, kinds[p.name], p.default) for p in signature if p.kind is p.KEYWORD_ONLY}
    entry = SceneEntry(source.name, "", partial(reader, source), tuple(known.values()))
    return entry(**given)


def _endings() -> str:
    *others, last = READERS
    return f"{', '.join(others)} or {last}"
