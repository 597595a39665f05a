"""The replay page and the GLB file of thrown bodies: size per body and frame, and how long writing takes.

    python benchmarks/replay.py [--quick]

The bodies tumble freely, which compresses worse than a mechanism at work. Poses alone take 14 bytes per body and frame before compression,
forces of joints 6 more. What is fixed, the page's script, its style and the meshes, is given apart. If viser is there, its own page of the
same motion (instanced boxes, no plots) stands beside.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, table

import unibody as ub
from unibody.view.gltf import write_glb
from unibody.view.look import Look
from unibody.view.replay import write_html

FRAMES = 300
FPS = 60.0


def thrown(n: int, frames: int) -> ub.Recording:
    """n bodies of four shapes, thrown up with spin."""
    rng, side = np.random.default_rng(20260101), int(np.ceil(np.sqrt(n)))
    b = ub.Builder()
    shapes = (ub.Box((0.4, 0.3, 0.2)), ub.Sphere(0.2), ub.Capsule(0.1, 0.3), ub.Cylinder(0.15, 0.3))
    for k in range(n):
        X = ub.Pose(p=(0.8 * (k % side), 0.8 * (k // side), 1.0))
        b.body(f"body{k}", shape=shapes[k % 4], X_WB=X, V_WB=(*rng.normal(scale=3.0, size=3), 0.0, 0.0, rng.uniform(20.0, 25.0)))
    recording = ub.Simulation(b.build(), dt=1.0 / FPS).run((frames - 1) / FPS, progress=False)
    _ = recording.observations
    return recording


def measured(write: Callable[..., Any], recording: ub.Recording, path: Path) -> tuple[int, float]:
    """Bytes, and the least of three times [s]."""
    taken = []
    for _ in range(3):
        began = time.perf_counter()
        write(recording, path)
        taken.append(time.perf_counter() - began)
    return path.stat().st_size, min(taken)


def html(recording: ub.Recording, path: Path) -> None:
    write_html(recording, path, fps=FPS)


def with_viser(recording: ub.Recording, path: Path) -> None:
    """The same poses on viser's timeline."""
    import viser

    look = Look(recording.model)
    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        poses = np.array([o.poses for o in recording.observations])
        handles = [
            server.scene.add_batched_meshes_simple(
                f"/{k}", vertices=s.vertices.astype(np.float32), faces=s.faces.astype(np.uint32), batched_scales=s.scale.astype(np.float32),
                batched_wxyzs=poses[0, s.body, 3:], batched_positions=poses[0, s.body, :3],
                batched_colors=(255 * s.colour).astype(np.uint8),
            )
            for k, s in enumerate(look.solids)
        ]  # fmt: skip
        recorder = server.get_scene_serializer()
        for row in poses:
            for handle, s in zip(handles, look.solids, strict=True):
                handle.batched_positions, handle.batched_wxyzs = row[s.body, :3], row[s.body, 3:]
            recorder.insert_sleep(1.0 / FPS)
        path.write_text(recorder.as_html())
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()


def main(arguments: list[str] | None = None) -> int:
    quick = "--quick" in (sys.argv[1:] if arguments is None else arguments)
    frames = 60 if quick else FRAMES
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in (10, 100) if quick else (10, 100, 1000):
            recording = thrown(n, frames)
            for name, write, ending in (("page", html, "html"), ("GLB", write_glb, "glb"), ("viser's page", with_viser, "viser.html")):
                path = Path(folder) / f"a.{ending}"
                try:
                    size, seconds = measured(write, recording, path)
                    still = ub.Simulation(recording.model, dt=1.0 / FPS).run(1.0 / FPS, progress=False)
                    fixed, _ = measured(write, still, path)
                except ImportError:
                    continue
                per = (size - fixed) / (n * (frames - 2))
                rows.append([f"{n} × {frames}, {name}", f"{size / 1e3:.0f}", f"{fixed / 1e3:.0f}", f"{per:.1f}", f"{1e3 * seconds:.0f}"])
    print(table(["bodies × frames", "kB", "of which fixed", "bytes per body and frame", "ms to write"], rows))
    print(machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())
