"""The first hour of somebody who installs the package: a wheel in fresh environments, outside the checkout, and what the pages tell to do.

    python tools/first_time.py [--python 3.12] [--shots FOLDER]

For every Python from 3.11 to 3.13 that is found: a fresh environment, the wheel and nothing of this folder, a scene by command and the
README's Python. In the first of them also the README's commands, the tour, a robot from a file and a replay page, which a headless Chromium
opens; its screenshots go to FOLDER (build/artefacts). Any command that fails, or a page that stays blank, ends the run with its words.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.11", "3.12", "3.13")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")
NOT_HERE = ("view", "verify", "bench")
"""Commands that wait for somebody, or need a checkout."""
COLOURS = """
import sys
from PIL import Image
picture = Image.open(sys.argv[1]).convert("RGB").resize((160, 100))
print(len(set(picture.get_flattened_data() if hasattr(picture, "get_flattened_data") else picture.getdata())))
"""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", help="one version only, such as 3.12")
    parser.add_argument("--shots", type=Path, default=ROOT / "build" / "artefacts")
    asked = parser.parse_args()
    began, shots = time.perf_counter(), asked.shots.absolute()
    shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        do([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT], folder, "build the wheel")
        (wheel,) = folder.glob("*.whl")
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB", flush=True)
        whole = True
        for version, python in interpreters([asked.python] if asked.python else list(VERSIONS)):
            place = folder / version
            place.mkdir()
            do([python, "-m", "venv", "env"], place, f"Python {version}: a fresh environment")
            extras = "[import,render,plot]" if whole else ""
            limits = ["-c", ROOT / "constraints.txt"] if version == VERSIONS[0] else []  # made for this one
            install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", *limits, f"{wheel}{extras}"]
            do([place / "env" / "bin" / "python", *install], place, f"Python {version}: install {wheel.name}{extras}")
            visit(place, whole, shots)
            whole = False
    print(f"all of it in {time.perf_counter() - began:.0f} s")
    return 0


def interpreters(versions: list[str]) -> Iterator[tuple[str, str]]:
    """(version, path) of those that are installed, of the usual places and pyenv's."""
    found = 0
    for version in versions:
        places = [shutil.which(f"python{version}"), *sorted(map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))]
        for place in filter(None, places):
            told = subprocess.run([place, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True)
            if told.stdout.strip() == version:
                found += 1
                yield version, place
                break
        else:
            print(f"Python {version} is not installed here", flush=True)
    if not found:
        raise SystemExit(f"none of Python {', '.join(versions)} is installed")


def visit(place: Path, whole: bool, shots: Path) -> None:
    """What a newcomer does, in `place`."""
    python = place / "env" / "bin" / "python"
    do([python, "-c", "import unibody; print(unibody.__file__)"], place, "import", expect=str(place))
    do([python, "-m", "unibody", "run", "pendulum", "--duration", "0.1"], place, "python -m unibody run pendulum", expect="pendulum")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    do([python, "-c", "\n".join(blocks(readme, "python"))], place, "README's Python")
    if not whole:
        return
    shutil.copy(ROOT / "docs" / "files" / "two_link.urdf", place / "robot.urdf")
    shutil.copy(ROOT / "docs" / "files" / "two_link.urdf", place / "two_link.urdf")
    tour = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    do([python, "-c", "\n".join(blocks(tour, "python"))], place, "the tour's Python")
    for line in "\n".join(blocks(readme, "sh") + blocks(tour, "console")).splitlines():
        if not line.lstrip("$ ").startswith("unibody "):
            continue
        words = shlex.split(line.lstrip("$ "), comments=True)
        if words[1] not in NOT_HERE:
            do([place / "env" / "bin" / "unibody", *words[1:]], place, line.split("#")[0].strip())
    look(place, place / "swing.html", shots / "first-time-replay.png")


def blocks(text: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def look(place: Path, page: Path, shot: Path) -> None:
    """A screenshot of a page, which must show more than a background."""
    chromium = os.environ.get("UNIBODY_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    if chromium is None:
        raise SystemExit("no Chromium on this machine; tools/install_browser.sh installs one, or set UNIBODY_CHROMIUM")
    flags = ["--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=1280,800"]
    flags += ["--virtual-time-budget=4000", f"--user-data-dir={place / 'browser'}", f"--screenshot={shot}"]
    do([chromium, *flags, page.as_uri()], place, f"{page.name} in Chromium")
    done = subprocess.run([place / "env" / "bin" / "python", "-c", COLOURS, shot], capture_output=True, text=True)
    if done.returncode or int(done.stdout) < 50:
        raise SystemExit(f"{page.name} shows nothing: {done.stdout.strip() or done.stderr.strip()} colours; see {shot}")


def do(words: list, place: Path, what: str, expect: str = "") -> None:
    """Run something outside the checkout, without its paths; say how long it took."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME")} | {"MPLBACKEND": "Agg"}
    began = time.perf_counter()
    done = subprocess.run([str(w) for w in words], cwd=place, env=clean, capture_output=True, text=True)
    if done.returncode or expect not in done.stdout:
        raise SystemExit(f"{what}: exit code {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    print(f"{time.perf_counter() - began:6.1f} s  {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
