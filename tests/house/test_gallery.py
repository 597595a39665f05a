"""The gallery of the documentation: thirty scenes that exist, pictures that show something, nothing made twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from unibody import scenes

TOOL = Path(__file__).resolve().parents[2] / "tools" / "make_gallery.py"


def made(folder: Path) -> str:
    command = [sys.executable, str(TOOL), "--only", "double-pendulum", "--folder", str(folder), "--jobs", "1"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_thirty_scenes_are_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOOL.parent))
    import make_gallery

    assert len(make_gallery.SCENES) >= 30 and set(make_gallery.SCENES) <= set(scenes.names())


def test_a_scene_is_drawn_once_and_stands_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed; pip install unibody[render]")
    assert "double-pendulum: 5 s of 'articulated'" in made(tmp_path)
    assert made(tmp_path) == ""
    (tmp_path / "double-pendulum.made").write_text("of other sources")
    assert "double-pendulum" in made(tmp_path)
    seen = np.asarray(image.open(tmp_path / "double-pendulum.png").convert("RGB"))
    assert len(np.unique(seen.reshape(-1, 3), axis=0)) > 100
    monkeypatch.syspath_prepend(str(TOOL.parent))
    import make_gallery

    text = make_gallery.page(tmp_path)
    assert '<a href="gallery/double-pendulum.html"><img src="gallery/double-pendulum.png"' in text and "soft-finger" not in text
