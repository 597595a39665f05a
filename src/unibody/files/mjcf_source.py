"""An MJCF file on its way to MuJoCo: checked here first, then read and compiled by MuJoCo's own parser.

MuJoCo opens whatever a file names: other XML files that it includes, meshes, textures, height fields, models that it attaches. All of
them are found here beforehand, by the rules of the format (paths go from the main file's folder; `meshdir`, `texturedir` and
`assetdir` lead to assets; `strippath` leaves the last word of a path). Each must lie where `Folders` allows, and no XML may
declare a document type. Where the rules leave doubt, every place that holds such a file is judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from unibody.errors import ModelError
from unibody.files.mjcf_growth import ELEMENTS, FILES, check_numbers, copies, parts
from unibody.files.xml_safety import Folders, check_name, checked_xml

DIRECTORIES = ("assetdir", "meshdir", "texturedir")


def mujoco_module() -> Any:
    """MuJoCo, or a ModelError that says how to get it."""
    try:
        import mujoco
    except ImportError:
        raise ModelError("reading MJCF needs mujoco, which is not installed; pip install unibody[import]") from None
    return mujoco


def compiled(path: str | Path, folders: Folders) -> tuple[Any, list[str]]:
    """The file as MuJoCo's compiled model, and what MuJoCo warned of."""
    source = Path(path)
    check_sources(source, folders)
    mujoco = mujoco_module()
    warnings: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: warnings.append(_one_line(text)))
    try:
        return mujoco.MjModel.from_xml_path(str(source)), warnings
    except (ValueError, mujoco.FatalError) as error:
        raise ModelError(f"file '{source}': {_one_line(error)}; correct the file") from None
    finally:
        mujoco.set_mju_user_warning(before)


def check_sources(source: Path, folders: Folders) -> None:
    """Refuse the file unless it and everything it names may be opened."""
    _Walk(source, folders).visit(source, ())


@dataclass
class _Walk:
    """The main file with all that it includes; models that it attaches are walked on their own."""

    main: Path
    folders: Folders
    above: tuple[Path, ...] = ()
    """The files that attach this one, to notice a circle."""
    directories: dict[str, str] = field(default_factory=dict)
    strip: bool = False
    assets: list[tuple[str, str, Path]] = field(default_factory=list)
    """What is named, in which words to complain, and by which file."""
    made: float = 0.0
    """Elements so far, each as often as it is copied."""
    files: int = 0
    attached: float = 1.0
    """Elements of the largest model that may be attached."""

    def visit(self, source: Path, including: tuple[Path, ...], times: float = 1.0) -> None:
        self.files += 1
        if self.files > FILES:
            raise ModelError(f"file '{self.main}': it includes more than {FILES} files; include each once")
        chain = (*including, source.resolve())
        if source.resolve() in (*including, *self.above):
            names = " → ".join(p.name for p in (*self.above, *chain))
            raise ModelError(f"file '{self.main}': the files include each other in a circle ({names}); break it")
        try:
            root = ElementTree.fromstring(checked_xml(source))
        except ElementTree.ParseError as error:
            raise ModelError(f"file '{source}': not well-formed XML ({error}); correct the file") from None
        if not including and root.tag != "mujoco":
            raise ModelError(f"file '{source}': its root is <{root.tag}>, not <mujoco>; give an MJCF file")
        self._descend(root, source, chain, times)
        if not including:
            for name, what, by in self.assets:
                self._asset(name, what, by)

    def _descend(self, element: ElementTree.Element, source: Path, chain: tuple[Path, ...], times: float) -> None:
        """An element that stands in what is copied so many times, and all in it."""
        what = f"file '{source}': <{element.tag}>"
        inside = times * copies(element)
        self.made += times * (parts(element) if element.tag != "attach" else self.attached)
        if not (inside <= ELEMENTS and self.made <= ELEMENTS):
            most = f"more than {ELEMENTS} elements, which no model has"
            raise ModelError(f"{what}: count {element.attrib.get('count', '1')[:20]!r} makes {most}; make it smaller")
        check_numbers(element, what)
        self._read(element, source, chain, inside)
        for child in element:
            self._descend(child, source, chain, inside)

    def _read(self, element: ElementTree.Element, source: Path, chain: tuple[Path, ...], times: float) -> None:
        if element.tag == "compiler":
            self.directories |= {d: element.attrib[d] for d in DIRECTORIES if d in element.attrib}
            for d in DIRECTORIES:
                if element.attrib.get(d):
                    check_name(element.attrib[d], f"file '{source}': {d} of <compiler>")
            self.strip = element.attrib.get("strippath", "true" if self.strip else "false") == "true"
        name = element.attrib.get("file")
        what = f"file '{source}': <{element.tag}>"
        if element.tag == "include":
            for place in self._places(name, what, [self.main.parent, source.parent]):
                self.visit(place, chain, times)
        elif element.tag == "model" and name is not None:
            for place in self._places(name, what, [self.main.parent, source.parent]):
                other = _Walk(place, self.folders, (*self.above, *chain))
                other.visit(place, ())
                self.attached = max(self.attached, other.made)
        else:
            self.assets += [(value, what, source) for key, value in element.attrib.items() if key.startswith("file") and _names_file(key)]

    def _asset(self, name: str, what: str, source: Path) -> None:
        words = [Path(name).name] if self.strip else [name]
        bases = [base / d for base in (self.main.parent, source.parent) for d in (*self.directories.values(), "")]
        self._places(words[0], what, list(dict.fromkeys(bases)))

    def _places(self, name: str | None, what: str, bases: list[Path]) -> list[Path]:
        """Every existing file that the name may mean, none of them outside; an error if there is none."""
        if name:
            check_name(name, what)
        found = [base for base in bases if name and (base / name).is_file()]
        return list(dict.fromkeys(self.folders.resolve(name, what, base) for base in found or bases[:1]))


def _names_file(key: str) -> bool:
    """`file` and the six faces of a cube texture."""
    return key == "file" or key[4:] in ("right", "left", "up", "down", "front", "back")


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
