"""Pictures and replay pages of thirty scenes for the documentation, into build/gallery; `make docs` runs it before it builds the site.

    python tools/make_gallery.py [--only NAME[,NAME]] [--folder FOLDER] [--jobs 2]

A scene is run as `unibody run NAME` runs it, at most MOST seconds of its time. What is there already, of the same sources, is kept: a mark
beside it holds a digest of the package and of how the picture is made. A scene that fails is named, and the gallery goes without it.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCENES: dict[str, dict[str, object]] = {
    "gripper": {"t": 8.0}, "ragdolls": {}, "dominoes": {}, "card-house": {}, "billiards": {}, "wrecking-ball": {}, "bouncing-ball": {},
    "stack": {}, "rolling-sphere": {}, "marbles": {}, "steered-car": {"t": 4.0}, "terrain-vehicle": {}, "bolt-nut": {}, "painleve-rod": {},
    "soft-finger": {}, "cloth-drape": {}, "hammock": {}, "flag": {}, "trampoline": {}, "candy": {}, "tyre": {}, "rope-ring": {},
    "rope-bridge": {}, "bridge": {}, "umbrella": {}, "peaucellier": {}, "klann": {}, "bennett": {}, "double-pendulum": {"t": 5.0},
    "precessing-top": {}, "spinning-body": {"t": 10.0}, "hand": {}, "cable-toy": {},
}  # fmt: skip
"""Name → what differs from the scene's own: `t`, seconds of its time."""
MOST = 3.0
"""Seconds of a scene's time, unless it says otherwise."""
SIZE = (520, 340)


@cache
def digest() -> str:
    """Of all sources that a picture depends on."""
    found = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in (".py", ".js", ".css", ".html"):
            found.update(path.read_bytes())
    return found.hexdigest()


def make(name: str, folder: Path) -> str:
    """Run a scene, draw its end and write its page; what is said of it."""
    import unibody as ub

    began, scene = time.perf_counter(), ub.scenes.make(name)
    duration = float(SCENES.get(name, {}).get("t", min(scene.duration, MOST)))  # type: ignore[arg-type]
    steps = max(1, round(duration / scene.dt))
    rec = ub.Simulation(scene.model, scene.default_solver(), dt=scene.dt).run(duration, every=max(1, steps // 240), progress=False)
    rec.render(folder / f"{name}.png", size=SIZE)
    rec.to_html(folder / f"{name}.html", title=name)
    (folder / f"{name}.made").write_text(digest(), encoding="utf-8")
    return f"{name}: {duration:g} s of '{rec.solver.name}' in {time.perf_counter() - began:.1f} s"


def page(folder: Path) -> str:
    """The page of the gallery: every scene that was made, with what it is."""
    from unibody import scenes

    made = [name for name in SCENES if (folder / f"{name}.png").is_file() and (folder / f"{name}.html").is_file()]
    text = "# Gallery\n\nScenes at the end of their run. A click plays one, in the browser and offline; `unibody view NAME` runs it.\n\n"
    if not made:
        return text + "No pictures are here: `make docs` makes them, and takes some minutes at first.\n"
    cells = [
        f'<a href="gallery/{name}.html"><img src="gallery/{name}.png" alt="{name}" loading="lazy"></a>'
        f"<b>{name}</b> {scenes.get(name).summary}" for name in made
    ]  # fmt: skip
    return text + '<div class="gallery">\n' + "\n".join(f"<p>{cell}</p>" for cell in cells) + "\n</div>\n"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", help="names with commas between them")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "gallery")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    names = asked.only.split(",") if asked.only else list(SCENES)
    asked.folder.mkdir(parents=True, exist_ok=True)
    marks = {name: asked.folder / f"{name}.made" for name in names}
    waiting = [n for n in names if not marks[n].is_file() or marks[n].read_text(encoding="utf-8") != digest()]
    failed = 0
    with ProcessPoolExecutor(asked.jobs, get_context("spawn")) as pool:
        runs = {pool.submit(make, name, asked.folder): name for name in waiting}
        for k, run in enumerate(as_completed(runs), 1):
            try:
                print(f"{k} of {len(waiting)}  {run.result()}", flush=True)
            except Exception as error:
                failed += 1
                print(f"{k} of {len(waiting)}  {runs[run]} FAILED: {error}", file=sys.stderr, flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
