"""Files from strangers: XML without entities, and no file opened outside the folders that a model may use.

A document type declaration is where entities come from, those that grow a kilobyte into gigabytes and those that read other files. A
robot needs none, so a file with one is refused before any other parser sees it, whatever its encoding. The whole text is read
once here by expat, so that what is cut off or badly nested is reported with its line.

A model names other files (meshes, textures, includes). They may lie in the model's own folder, in the package that the model lies
in, and in the packages the user gives; links and `..` are followed first, then the place is judged.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

from unibody.errors import ModelError
from unibody.simulation.whole_file import is_file, path_given

LONGEST_PATH, LONGEST_NAME = 4096, 255
"""Bytes, on all usual file systems."""
LARGEST_XML = 64_000_000
"""Bytes; the largest robots have a few million."""
DEEPEST = 200
"""Levels of nesting."""
UPWARD = 5
"""How many folders above a model are searched for its package."""


def checked_xml(path: str | Path) -> bytes:
    """The bytes of a well-formed XML file without a document type declaration; ModelError for any other."""
    source = path_given(path)
    if not is_file(source):
        raise ModelError(f"file '{source}' does not exist; check the path")
    size = source.stat().st_size
    if size > LARGEST_XML:
        raise ModelError(f"file '{source}': {size} bytes, and a model has at most {LARGEST_XML}; move its data into mesh files")
    data = source.read_bytes()
    check_xml(data, f"file '{source}'")
    return data


def check_xml(data: bytes, what: str) -> None:
    """Refuse XML that is malformed, declares a document type or nests without end; `what` begins the message."""
    parser = expat.ParserCreate()
    depth = 0

    def refuse(*_: object) -> int:
        raise ModelError(f"{what} line {parser.CurrentLineNumber}: a DOCTYPE or entity declaration; models need none, remove it")

    def enter(*_: object) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise ModelError(f"{what} line {parser.CurrentLineNumber}: elements nested more than {DEEPEST} deep; correct the file")

    def leave(*_: object) -> None:
        nonlocal depth
        depth -= 1

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    parser.StartElementHandler = enter
    parser.EndElementHandler = leave
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        said = expat.errors.messages[error.code]
        raise ModelError(f"{what} line {error.lineno}: not well-formed XML ({said}); correct the file") from None
    except (LookupError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{what}: the text cannot be decoded ({' '.join(str(error).split())}); save it as UTF-8") from None


@dataclass(frozen=True)
class Folders:
    """Where a model's files may be.

    >>> Folders(".", ["arm=."]).packages
    ('arm=.',)
    """

    root: str | Path
    """The model's folder."""
    packages: Any = ()
    """Folders that are packages or hold them, or `name=folder`."""
    allow_outside: bool = False
    """Let relative and absolute paths lead anywhere."""

    def __post_init__(self) -> None:
        if not isinstance(self.packages, Iterable | Path):
            raise ModelError(f"packages {self.packages!r} are no list of folders; give folders or name=folder")
        given = [self.packages] if isinstance(self.packages, str | Path) else list(self.packages)
        words = tuple(str(p).strip() for p in given if str(p).strip())
        for word in words:
            folder = Path(word.partition("=")[2] or word).expanduser()
            if not folder.is_dir():
                raise ModelError(f"packages '{word}': no folder '{folder}'; give a folder or name=folder")
        object.__setattr__(self, "root", Path(self.root).resolve())
        object.__setattr__(self, "packages", words)

    def resolve(self, reference: str | None, what: str, base: str | Path | None = None) -> Path:
        """The file that `reference` names: a path from `base` (the root if not given) or package://name/path. `what` begins messages."""
        check_name(reference, what)
        assert reference is not None
        found = re.fullmatch(r"(?:file://)?\$\(\s*find\s+([\w.+-]+)\s*\)/*(.+)", reference.strip())
        if found:  # what xacro writes for package://
            return self.resolve(f"package://{found.group(1)}/{found.group(2)}", what, base)
        if "$(" in reference or "${" in reference:
            raise ModelError(f"{what}: '{reference}' is for xacro to fill in; run `xacro file.xacro > robot.urdf` and load the result")
        scheme, given, rest = reference.partition("://")
        if not given:
            return self._checked(self._beside(reference, Path(base) if base is not None else Path(self.root)), reference, what)
        if scheme.lower() not in ("package", "model"):
            raise ModelError(f"{what}: '{reference}' is a web or file address, which is not opened; give a path or package://name/path")
        name, _, inside = rest.lstrip("/").partition("/")
        candidates = self._package(name)
        for folder in candidates:
            if (folder / inside).is_file():
                return self._within(folder / inside, [folder], reference, what)
        searched = f"not in {_listed(candidates)}" if candidates else f"no package '{name}' near the file"
        raise ModelError(f"{what}: '{reference}' does not exist ({searched}); give packages=folder or packages={name}=folder")

    def _beside(self, reference: str, base: Path) -> Path:
        """Beside the model, else in a folder that the user gave."""
        path = base / reference
        places = [base, *(f for f in self._given_folders() if not Path(reference).is_absolute())]
        others = [folder / name for folder in places for name in (reference, reference.replace("\\", "/"))]
        return next((other for other in others if other.is_file()), path)

    def _checked(self, path: Path, reference: str, what: str) -> Path:
        if not self.allow_outside:
            own = [Path(self.root), *self._given_folders(), *_package_around(Path(self.root))]
            path = self._within(path, own, reference, what)
        if not path.is_file():
            raise ModelError(f"{what}: '{reference}' does not exist (looked for '{path}'); correct the path or put the file there")
        return path.resolve()

    def _within(self, path: Path, folders: list[Path], reference: str, what: str) -> Path:
        """The real place, if it lies in one of the folders."""
        try:
            real = path.resolve()
        except (OSError, RuntimeError):
            raise ModelError(f"{what}: '{reference}' cannot be resolved; correct the path") from None
        if not self.allow_outside and not any(real.is_relative_to(f.resolve()) for f in folders):
            raise ModelError(
                f"{what}: '{reference}' lies outside the model's folder and its packages ('{real}'); give packages=folder, or "
                "allow_outside=true if you trust the file"
            )
        return real

    def _given_folders(self) -> list[Path]:
        return [Path(word.partition("=")[2] or word).expanduser() for word in self.packages]

    def _package(self, name: str) -> list[Path]:
        """Folders that may be the package `name`: those given by the user, then those around the file."""
        if not re.fullmatch(r"[\w.+-]+", name) or set(name) == {"."}:
            return []
        out = []
        for word in self.packages:
            given, equals, folder = word.partition("=")
            if equals:
                out += [Path(folder).expanduser()] if given == name else []
                continue
            place = Path(word).expanduser()
            out += [place / name] if (place / name).is_dir() else []
            out += [place] if place.resolve().name == name else []
        out += [p / name for p in map(Path, os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)) if p.name and (p / name).is_dir()]
        root = Path(self.root)
        for folder in _above(root):
            says_so = (folder / "package.xml").is_file()
            # pkg/urdf/robot.urdf is how packages are laid out.
            if folder.name == name and (folder == self.root or says_so or (folder == root.parent and root.name in ("urdf", "urdfs"))):
                out.append(folder)
            near = folder / name
            # A link near the file is no way out of what the file may open.
            if near.resolve().is_relative_to(folder) and ((near / "package.xml").is_file() or (folder == self.root and near.is_dir())):
                out.append(near)
        return list(dict.fromkeys(p.resolve() for p in out))


def check_name(reference: str | None, what: str) -> None:
    """Refuse what no file can be called, before a file system is asked for it."""
    if not reference or "\0" in reference:
        raise ModelError(f"{what}: no file name; give one")
    try:
        data = os.fsencode(reference)
    except UnicodeEncodeError:
        data = b""
    if not data or len(data) > LONGEST_PATH or max(map(len, data.split(b"/"))) > LONGEST_NAME:
        raise ModelError(f"{what}: '{reference}' is no name of a file; give a shorter one of whole characters")


def _above(root: Path) -> list[Path]:
    """The folder and some above it that could be packages: neither the top of the disk, nor its folders, nor one that holds a home."""
    near = [root, *root.parents][: UPWARD + 1]
    home = Path(os.path.expanduser("~"))
    return [f for f in near if f == root or ((len(f.parts) > 2 or (f / "package.xml").is_file()) and not home.is_relative_to(f))]


def _package_around(root: Path) -> list[Path]:
    """The nearest folder at or above `root` that says it is a package."""
    return [f for f in _above(root) if (f / "package.xml").is_file()][:1]


def _listed(folders: list[Path]) -> str:
    return ", ".join(f"'{f}'" for f in folders)
