"""Bombs, outside entities, truncated text, and paths that try to leave the model's folder."""

from __future__ import annotations

from pathlib import Path

import pytest

import unibody as ub
from unibody.files import xml_safety
from unibody.files.xml_safety import Folders, checked_xml

BOMB = """<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<robot name="&b;"/>"""


def written(folder: Path, text: str | bytes, name: str = "model.urdf") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("text", [
    BOMB, BOMB.encode("utf-16"),
    '<!DOCTYPE r SYSTEM "http://localhost/x.dtd"><r/>',
    '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>',
    "<!DOCTYPE r><r/>",
], ids=["bomb", "bomb in UTF-16", "outside type", "outside entity", "bare doctype"])  # fmt: skip
def test_document_types_are_refused(tmp_path: Path, text: str | bytes) -> None:
    with pytest.raises(ub.ModelError, match="line .*DOCTYPE or entity"):
        checked_xml(written(tmp_path, text))


@pytest.mark.parametrize("text, line", [("<robot>\n<link>", 2), ("<robot>\n</link></robot>", 2), ("", 1), ("robot", 1), ("<a/>\n<b/>", 2)])
def test_malformed_text_is_named_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(ub.ModelError, match=f"model.urdf' line {line}: not well-formed"):
        checked_xml(written(tmp_path, text))


def test_undecodable_deep_large_and_missing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ub.ModelError, match="model.urdf"):
        checked_xml(written(tmp_path, '<?xml version="1.0" encoding="no-such"?><r/>'))
    with pytest.raises(ub.ModelError, match="nested"):
        checked_xml(written(tmp_path, "<a>" * 5000 + "</a>" * 5000))
    with pytest.raises(ub.ModelError, match="does not exist"):
        checked_xml(tmp_path / "none.urdf")
    monkeypatch.setattr(xml_safety, "LARGEST_XML", 10)
    with pytest.raises(ub.ModelError, match="at most 10"):
        checked_xml(written(tmp_path, "<robot></robot>"))


def test_plain_text_comes_through_unchanged(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="UTF-8"?>\n<robot name="é">\n<!-- <!DOCTYPE in a comment --></robot>\n'
    assert checked_xml(written(tmp_path, text)) == text.encode()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """arm_pkg/{package.xml, urdf/, meshes/a.stl}, plain/urdf, plain/meshes/a.stl, secret.stl"""
    inside = ("arm_pkg/package.xml", "arm_pkg/meshes/a.stl", "arm_pkg/urdf/b.stl", "plain/urdf/b.stl", "plain/meshes/a.stl")
    for name in (*inside, "secret.stl"):
        written(tmp_path, "x", name)
    return tmp_path


def test_files_in_the_folder_and_in_the_package_around_it(tree: Path) -> None:
    folders = Folders(tree / "arm_pkg" / "urdf")
    assert folders.resolve("b.stl", "mesh") == (tree / "arm_pkg/urdf/b.stl").resolve()
    assert folders.resolve("../meshes/a.stl", "mesh") == (tree / "arm_pkg/meshes/a.stl").resolve()
    assert folders.resolve("package://arm_pkg/meshes/a.stl", "mesh") == (tree / "arm_pkg/meshes/a.stl").resolve()
    assert folders.resolve("..\\meshes\\a.stl", "mesh") == (tree / "arm_pkg/meshes/a.stl").resolve()


def test_files_in_given_packages(tree: Path) -> None:
    wanted = (tree / "plain/meshes/a.stl").resolve()
    root = tree / "arm_pkg" / "urdf"
    assert Folders(root, [tree / "plain"]).resolve("package://plain/meshes/a.stl", "mesh") == wanted
    assert Folders(root, [tree]).resolve("package://plain/meshes/a.stl", "mesh") == wanted
    assert Folders(root, f"other={tree}/plain").resolve("package://other/meshes/a.stl", "mesh") == wanted
    assert Folders(tree / "plain" / "urdf", tree / "plain").resolve("../meshes/a.stl", "mesh") == wanted
    assert Folders(root, tree / "plain").resolve("meshes/a.stl", "mesh") == wanted


@pytest.mark.parametrize("reference", ["../../secret.stl", "../meshes/a.stl", "{tree}/secret.stl", "link.stl", "folder/secret.stl"])
def test_nothing_outside_is_opened_unless_asked(tree: Path, reference: str) -> None:
    root = tree / "plain" / "urdf"
    (root / "link.stl").symlink_to(tree / "secret.stl")
    (root / "folder").symlink_to(tree, target_is_directory=True)
    reference = reference.format(tree=tree)
    with pytest.raises(ub.ModelError, match="outside the model's folder"):
        Folders(root).resolve(reference, "mesh")
    assert Folders(root, allow_outside=True).resolve(reference, "mesh").name in ("secret.stl", "a.stl")


@pytest.mark.parametrize("reference", ["package://arm_pkg/../secret.stl", "package://../secret.stl", "package:///etc/passwd"])
def test_package_addresses_cannot_climb(tree: Path, reference: str) -> None:
    with pytest.raises(ub.ModelError, match="mesh: "):
        Folders(tree / "arm_pkg" / "urdf").resolve(reference, "mesh")


@pytest.mark.parametrize("reference", ["http://localhost/a.stl", "https://localhost/a.stl", "file:///etc/passwd", "FTP://x/y"])
def test_addresses_are_refused_even_outside(tree: Path, reference: str) -> None:
    for outside in (False, True):
        with pytest.raises(ub.ModelError, match="address"):
            Folders(tree, allow_outside=outside).resolve(reference, "mesh")


def test_missing_files_and_packages_say_where_they_were_sought(tree: Path) -> None:
    with pytest.raises(ub.ModelError, match="mesh of link 'a': 'no.stl' does not exist .*urdf/no.stl"):
        Folders(tree / "plain" / "urdf").resolve("no.stl", "mesh of link 'a'")
    with pytest.raises(ub.ModelError, match="no package 'none'.*packages=none=folder"):
        Folders(tree / "plain").resolve("package://none/a.stl", "mesh")
    with pytest.raises(ub.ModelError, match="no folder"):
        Folders(tree, ["nowhere/at/all"])


def test_links_and_folders_above_are_no_packages(tmp_path: Path) -> None:
    """A link beside the file is no way out, nor is the bare name of a folder above it; one that says it is a package is."""
    robots, outside = tmp_path / "robots", tmp_path / "outside"
    for folder in (robots, outside):
        folder.mkdir()
    (outside / "a.stl").write_text("solid")
    (robots / "linked").symlink_to(outside, target_is_directory=True)
    for reference in ("package://linked/a.stl", f"package://{tmp_path.name}/outside/a.stl"):
        with pytest.raises(ub.ModelError, match="does not exist|outside"):
            Folders(robots).resolve(reference, "mesh")
    (tmp_path / "package.xml").write_text("<package/>")
    assert Folders(robots).resolve(f"package://{tmp_path.name}/outside/a.stl", "mesh") == (outside / "a.stl").resolve()
