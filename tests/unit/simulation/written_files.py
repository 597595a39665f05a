"""Every kind of file that the program writes, and what writes it; run as a script, a process that is killed or whose disk is full.

    python written_files.py FOLDER seeds     prints one line per file that was found neither old nor new
"""

from __future__ import annotations

import hashlib
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import unibody as ub
from unibody.files.scene_json import save_json
from unibody.files.urdf_export import save_urdf
from unibody.view import draw_motion

KILLS = 30
SMALL = {"size": (96, 64)}


def falling(height: float) -> tuple[ub.Recording, ub.Simulation]:
    """A box that meets the ground, with contacts; and a mesh, which URDF exports as a file of its own."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("box", shape=ub.Box((0.2, 0.2, 0.2)), density=500.0, X_WB=ub.Pose((0, 0, height)))
    corners = height * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    wedge = ub.Mesh(corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    b.body("wedge", shape=wedge, density=500.0, X_WB=ub.Pose((2, 0, 1)))
    b.add(ub.Contact(friction=0.5))
    sim = ub.Simulation(b.build(), "penalty", dt=1e-3)
    return sim.run(0.4, every=4, progress=False), sim


def writers() -> dict[str, Callable[[ub.Recording, ub.Simulation, Path], object]]:
    """By file name."""
    return {
        "recording.npz": lambda r, s, p: r.save(p),
        "checkpoint.npz": lambda r, s, p: s.save(p),
        "arrays.npz": lambda r, s, p: r.to_npz(p),
        "table.csv": lambda r, s, p: r.to_csv(p),
        "contacts.csv": lambda r, s, p: r.contacts_to_csv(p),
        "page.html": lambda r, s, p: r.to_html(p),
        "motion.glb": lambda r, s, p: r.to_gltf(p),
        "motion.gltf": lambda r, s, p: r.to_gltf(p),
        "scene.json": lambda r, s, p: save_json(r.model, p),
        "robot.urdf": lambda r, s, p: save_urdf(r.model, p, partial=True),
        "plot.png": lambda r, s, p: r.plot("energy", path=p),
        "plot.svg": lambda r, s, p: r.plot("energy", path=p),
        "drawn.jpg": lambda r, s, p: draw_motion(r, p),
        "picture.png": lambda r, s, p: r.render(p, at=0.1, **SMALL),
        "picture.webp": lambda r, s, p: r.render(p, at=0.1, **SMALL),
        "film.gif": lambda r, s, p: r.render(p, fps=10.0, **SMALL),
        "film.mp4": lambda r, s, p: r.render(p, fps=10.0, **SMALL),
    }


def content(path: Path) -> str:
    """A digest of the file and of those that it names, or 'absent'; drawings with their dates and random names left out."""
    if not path.exists():
        return "absent"
    data = path.read_bytes()
    if path.suffix == ".svg":
        return "whole" if data.rstrip().endswith(b"</svg>") else "torn"
    if path.suffix == ".urdf":
        for mesh in sorted(path.parent.glob(f"{path.stem}_meshes/*.stl")):
            data += (mesh.read_bytes() if mesh.name.encode() in data else b"")
    return hashlib.sha256(data).hexdigest()


def killed(folder: Path, seed: int) -> list[str]:
    """Children write old and new in turn until they are killed; what was then neither absent, old nor new, or left behind afterwards."""
    chance, wrong = random.Random(seed), []
    runs = [falling(0.3), falling(0.5)]
    known: dict[str, set[str]] = {}
    spent: dict[str, float] = {}
    for name, write in writers().items():
        known[name] = {"absent"}
        for each in runs:
            began = time.perf_counter()
            write(*each, folder / name)
            known[name].add(content(folder / name))
            spent[name] = time.perf_counter() - began
    names = list(known)
    for kill in range(KILLS):
        name = names[kill % len(names)]
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            while True:
                for each in runs:
                    writers()[name](*each, folder / name)
        time.sleep(chance.uniform(0.2, 2.2) * spent[name])
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found = content(folder / name)
        if found not in known[name]:
            wrong.append(f"{name} after kill {kill}: {found}")
    for name, write in writers().items():  # the next write to each target removes what the killed ones left
        write(*runs[0], folder / name)
    left = [str(p.relative_to(folder)) for p in folder.rglob("*.part")]
    return wrong + [f"{path} left behind" for path in left]


def full(folder: Path) -> list[str]:
    """Each file is replaced by one that does not fit, and made anew in another folder: half of its bytes can be written. What is wrong
    afterwards."""
    old, new = falling(0.3), falling(0.5)
    wrong = []
    for name, write in writers().items():
        path, fresh = folder / name, folder / "none" / name
        fresh.parent.mkdir(exist_ok=True)
        write(*new, path)
        room = path.stat().st_size // 2
        if name == "robot.urdf":
            room = 100  # less than one of its meshes
        write(*old, path)
        before = content(path)
        for target in (path, fresh) if path.suffix not in (".svg", ".jpg", ".gif") else (path,):
            limits = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
            try:
                write(*new, target)
                wrong.append(f"{name}: no error")
            except (OSError, ub.UnibodyError) as error:
                if name not in str(error) and ".stl" not in str(error):
                    wrong.append(f"{name}: the error does not name it: {error}")
                if "\n" in str(error):
                    wrong.append(f"{name}: more than one line: {error}")
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        if content(path) != before:
            wrong.append(f"{name}: neither old nor new")
        wrong += [f"{p.name} left behind" for p in [*folder.glob(".*"), *fresh.parent.iterdir()]]
    return wrong


if __name__ == "__main__":
    place = Path(sys.argv[1])
    print("\n".join(full(place) if sys.argv[2] == "full" else killed(place, int(sys.argv[2]))))
