"""`unibody render`, `plot`, and the plots of `compare` and `bench`: files, exit codes, JSON."""

from __future__ import annotations

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def no_screen(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)


def test_bridge_is_drawn_with_deck_cables_and_ground(unibody):
    answer = unibody("render", "bridge", "-t", "0.003", "--size", "480x270", "--json")
    assert answer.code == 0 and answer.data["file"] == "bridge.png" and answer.data["pictures"] == 1
    picture = np.asarray(Image.open("bridge.png")).astype(int)
    assert picture.shape == (270, 480, 3)
    r, g, b = np.moveaxis(picture, 2, 0)
    assert ((r > g + 50) & (r > b + 30)).sum() > 100, "cables that pull are red"
    assert ((g > r + 30) & (g > b + 20)).sum() > 100, "the deck runs from violet to green"
    coloured = np.ptp(picture, axis=2) > 40
    assert coloured.any(axis=0).mean() > 0.6, "it fills the width"
    border = np.concatenate([coloured[0], coloured[-1], coloured[:, 0], coloured[:, -1]])
    assert not border.any(), "nothing is cut off"


def test_film_of_a_recording(unibody):
    assert unibody("run", "pendulum", "-t", "0.2", "--dt", "0.005", "--out", "swing.npz").code == 0
    answer = unibody("render", "swing.npz", "--out", "swing.gif", "--size", "160x120", "--fps", "20", "--json")
    assert answer.code == 0 and answer.data["pictures"] == 5
    assert Image.open("swing.gif").n_frames == 5


@pytest.mark.parametrize(
    "words",
    [
        ("pendulum", "--out", "a.tiff"), ("pendulum", "--size", "big"), ("pendulum", "--camera", "1"), ("pendulm",), ("missing.npz",),
        ("pendulum", "-t", "0.1", "--at", "0.2"), ("pendulum", "--out", "nowhere/a.png"), ("pendulum", "-t", "0", "--size", "2x2"),
        ("pendulum", "-t", "0", "--colour", "heat"),
    ],
)  # fmt: skip
def test_bad_renders_end_with_one_line_and_code_2(unibody, words):
    answer = unibody("render", *words)
    assert answer.code == 2 and answer.err.startswith("unibody: ") and answer.err.count("\n") == 1


def test_options_of_a_run_do_not_apply_to_a_recording(unibody):
    unibody("run", "pendulum", "-t", "0.01", "--out", "a.npz")
    answer = unibody("render", "a.npz", "--dt", "0.1")
    assert answer.code == 2 and "--dt" in answer.err


def test_plot_says_what_it_drew(unibody):
    answer = unibody("plot", "pendulum", "-t", "0.02", "--what", "energy,q,violation", "--json")
    assert answer.code == 0 and answer.data["file"] == "pendulum-plot.png"
    assert {(s["panel"], s["unit"]) for s in answer.data["series"]} == {
        ("energy", "J"), ("coordinates", "rad"), ("constraint violation", "m or rad"),
    }  # fmt: skip
    assert np.ptp(np.asarray(Image.open("pendulum-plot.png").convert("RGB")).astype(int), axis=2).max() > 60
    assert "total" in unibody("plot", "pendulum", "-t", "0.01", "--what", "energy").out


@pytest.mark.parametrize("what", ["enrgy", "q:nothing", "reaction", "energy:bob", "pose:bobb", "tension", ","])
def test_unknown_series_end_with_code_2(unibody, what):
    answer = unibody("plot", "pendulum", "-t", "0.002", "--what", what)
    assert answer.code == 2 and answer.err.count("\n") == 1


def test_compare_draws_overlays_with_differences(unibody):
    answer = unibody("compare", "pendulum", "-s", "articulated,articulated:rule=rk4", "-t", "0.02", "--plot", "c.png", "--json")
    assert answer.code == 0 and answer.data["files"]["plot"] == "c.png"
    assert Image.open("c.png").size[0] > 1000


SCALING = '''"""Grows."""
from common import plot

def main():
    print(plot([("square", n, 1e-9 * n**2) for n in (10, 100, 1000)], "squares"))
'''


def test_bench_plots_what_scales_and_refuses_what_does_not(unibody, tmp_path, monkeypatch):
    from pathlib import Path

    from unibody.cli import benchmarks

    folder = tmp_path / "benchmarks"
    folder.mkdir()
    common = Path(__file__).parents[3] / "benchmarks" / "common.py"
    (folder / "common.py").write_text(common.read_text())
    (folder / "growing.py").write_text(SCALING)
    (folder / "plain.py").write_text('"""Does not."""\ndef main():\n    return 1\n')
    monkeypatch.setattr(benchmarks, "folder", lambda: folder)
    monkeypatch.delitem(__import__("sys").modules, "common", raising=False)
    assert "--plot FILE.png" in unibody("bench", "growing").out and not (tmp_path / "g.png").exists()
    assert unibody("bench", "growing", "--plot", "g.png").code == 0
    assert Image.open(tmp_path / "g.png").size[0] > 500
    answer = unibody("bench", "plain", "--plot", "p.png")
    assert answer.code == 2 and "growing" in answer.err
