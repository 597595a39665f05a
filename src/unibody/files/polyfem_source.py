"""A PolyFEM scene as one object: what it has in common with other files filled in, patches applied; and where its files may be.

    data = patch(merge(data of `common`, data without `patch`), `patch`)

`common` is filled in the same way first. Merging is that of RFC 7396 (null takes away, objects are merged, all else is replaced), patches
are those of RFC 6902. Names of meshes are taken from the scene's own folder. A scene may open files in its folder, in folders named
`meshes` above it, and `common` files in the folders above it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from unibody.errors import ModelError
from unibody.files.xml_safety import Folders, check_name

UPWARD = 8
"""Folders above a scene in which its files may lie."""
DEEPEST = 8
"""Files that have a file in common, one after the other."""
LARGEST = 64_000_000
"""Bytes of a scene."""


def speaks_polyfem(path: Path) -> bool:
    """Whether a JSON file is of this dialect, by its words."""
    data = path.read_bytes()
    if b'"unibody"' in data:
        return False
    common = b'"common"' in data
    return (b'"geometry"' in data and (b'"materials"' in data or common)) or (common and (b'"patch"' in data or b'"time"' in data))


def read_polyfem(path: Path, allow_outside: bool = False) -> dict[str, Any]:
    """The whole of a scene."""
    return _filled(path, path.resolve().parent, allow_outside, 0)


def _filled(path: Path, home: Path, allow_outside: bool, depth: int) -> dict[str, Any]:
    what = f"scene '{path}'"
    try:
        if path.stat().st_size > LARGEST:
            raise ModelError(f"{what}: {path.stat().st_size} bytes, and a scene has at most {LARGEST}; move its data into mesh files")
        data = json.loads(path.read_text(encoding="utf-8"))
    except ModelError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{what}: not readable as JSON ({error}); correct the file") from None
    if not isinstance(data, dict):
        raise ModelError(f"{what}: no object; give a scene of PolyFEM")
    common, patch = data.pop("common", ""), data.pop("patch", [])
    if common:
        if depth >= DEEPEST:
            raise ModelError(f"{what} common: more than {DEEPEST} files in common; do they name each other?")
        check_name(common if isinstance(common, str) else None, f"{what} common")
        folders = [home, *list(home.parents)[:UPWARD]]
        place = (path.parent / common).resolve()
        folder = next((f for f in folders if place.parent == f), home)
        found = Folders(folder, allow_outside=allow_outside).resolve(str(place), f"{what} common")
        data = merged(_filled(found, home, allow_outside, depth + 1), data)
    return patched(data, patch, f"{what} patch") if patch else data


def mesh_file(home: Path, reference: Any, what: str, allow_outside: bool) -> Path:
    """The file of a mesh: in the scene's folder, or in a folder `meshes` above it."""
    if not isinstance(reference, str):
        raise ModelError(f"{what}: {reference!r} is no file name; give one")
    check_name(reference, what)
    place = (home / reference).resolve()
    above = [up / "meshes" for up in list(home.parents)[:UPWARD] if (up / "meshes").is_dir()]
    folder = next((f for f in above if place.is_relative_to(f.resolve())), home)
    return Folders(folder, allow_outside=allow_outside).resolve(str(place), what)


def merged(base: Any, more: Any) -> Any:
    """RFC 7396.

    >>> merged({"a": {"b": 1, "c": 2}}, {"a": {"b": None, "d": 3}})
    {'a': {'c': 2, 'd': 3}}
    """
    if not isinstance(more, dict):
        return more
    out = dict(base) if isinstance(base, dict) else {}
    for key, value in more.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = merged(out.get(key), value)
    return out


def patched(data: dict[str, Any], patch: Any, what: str) -> dict[str, Any]:
    """RFC 6902's add, remove and replace.

    >>> patched({"a": [1, 2]}, [{"op": "replace", "path": "/a/0", "value": 5}, {"op": "add", "path": "/a/-", "value": 6}], "patch")
    {'a': [5, 2, 6]}
    """
    out = json.loads(json.dumps(data))
    if not isinstance(patch, list):
        raise ModelError(f"{what}: {type(patch).__name__} is no list; give operations")
    for k, step in enumerate(patch):
        op, path = (step.get("op"), step.get("path")) if isinstance(step, dict) else (None, None)
        if op not in ("add", "remove", "replace") or not isinstance(path, str) or not path.startswith("/"):
            raise ModelError(f"{what}[{k}]: {step!r} is unknown; give add, remove or replace with a path")
        *way, last = [word.replace("~1", "/").replace("~0", "~") for word in path[1:].split("/")]
        try:
            at = out
            for word in way:
                at = at[int(word)] if isinstance(at, list) else at[word]
            if isinstance(at, list) and op == "add":
                at.insert(len(at) if last == "-" else int(last), step["value"])
            elif op == "remove":
                del at[int(last) if isinstance(at, list) else last]
            else:
                key: Any = int(last) if isinstance(at, list) else last
                if op == "replace":
                    at[key]  # it must be there
                at[key] = step["value"]
        except (KeyError, IndexError, ValueError, TypeError):
            raise ModelError(f"{what}[{k}]: {op} at '{path}' finds nothing there; correct the path") from None
    return out
