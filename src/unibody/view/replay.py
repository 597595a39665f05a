"""The replay page: one HTML file with a recording inside, which plays offline in any browser.

The page is ours (`replay_page/`), shows with WebGL 2 what `Look` describes, and loads nothing: its policy allows the one script and the
one style whose hashes it names, so that no name from a file can run. Positions are within 1e-5 of the way of their body along each axis,
rotations within 1e-4 rad (see `packing`); so are the vertices of deformables; frames between are interpolated.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.simulation import Recording
from unibody.simulation.whole_file import remedy, whole_file
from unibody.view.look import CableStrand, Look, Solids, Strand, ground_height
from unibody.view.motion import viewing_plane
from unibody.view.packing import LARGEST, Block, quantised, scaled, track
from unibody.view.reel import Reel
from unibody.view.render_camera import beside
from unibody.view.render_mesh import broken
from unibody.view.soft import largest_strain
from unibody.view.style import PULL, PUSH, SLACK, rgb
from unibody.view.surfaces import smooth

FPS, FEWEST = 30.0, 120
"""Frames per second of the recording's time; short runs get more, up to this number of frames."""
SURVEYED = 100
"""Frames from which the bounds of the motion are taken."""
LARGEST_INLINE = 12_000_000
"""Characters of a page that a notebook takes."""
SCRIPTS = ("data.js", "softs.js", "camera.js", "shaders.js", "renderer.js", "tubes.js", "plots.js", "pointer.js", "main.js")


def write_html(
    recording: Recording, path: str | Path, *, title: str | None = None, fps: float | None = None, compress: bool = True
) -> Path:
    """Write a page that plays the recording, `fps` frames per second of its time (default: 30, more for short runs).

    `compress=False` makes a larger page, for browsers older than 2023, which cannot inflate.
    """
    target = Path(path)
    text = page(recording, title=title or target.stem, fps=fps, compress=compress)
    try:
        with whole_file(target) as file:
            file.write(text.encode("utf-8"))
    except OSError as error:
        raise ModelError(f"replay page '{target}' cannot be written ({error.strerror}); {remedy(error)}") from None
    return target


def page(recording: Recording, *, title: str = "Replay", fps: float | None = None, compress: bool = True) -> str:
    """The text of the page."""
    import unibody

    if fps is None and len(recording):
        fps = max(FPS, FEWEST / max(float(recording.t[-1] - recording.t[0]), 1e-9))
    reel = Reel.of(recording, fps)
    block, head = Block(), {"encoding": "deflate" if compress else "raw", **_staging(recording, reel)}
    head |= _motion(block, reel) | _scenery(block, reel) | _softs(block, reel)
    head["sections"] = block.sections
    style, script = _asset("style.css"), "\n".join(_asset(name) for name in SCRIPTS)
    moving = sum(b.kind != "static" for b in recording.model.bodies)
    bodies = "1 body" if moving == 1 else f"{moving} bodies"
    if soft := len(recording.model.deformables):
        bodies += f", {soft} deformable{'s' * (soft > 1)}"
    subtitle = f"{bodies} · {recording.solver.name} · steps of {recording.dt:g} s · {len(reel.t)} frames"
    parts = {
        "title": html.escape(title), "subtitle": html.escape(subtitle), "version": unibody.__version__, "style": style, "script": script,
        "style_hash": _hash(style), "script_hash": _hash(script), "head": json_text(head), "data": block.text(compress),
    }  # fmt: skip
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _asset("page.html"))


def inline(recording: Recording, height: int = 560) -> str:
    """The page in a frame of a notebook that can reach nothing outside it; with fewer frames, or only words, if it would be too large."""
    fps = None
    for _ in range(4):
        text = page(recording, fps=fps)
        if len(text) <= LARGEST_INLINE:
            look = f"width: 100%; height: {height:d}px; border: 1px solid #dfe5ea; border-radius: 8px"
            return f'<iframe sandbox="allow-scripts" style="{look}" srcdoc="{html.escape(text)}"></iframe>'
        fps = 0.5 * (fps or FPS)
    words = f"{recording!r}: its replay takes {len(text) / 1e6:.0f} MB, too much for a notebook; rec.to_html('replay.html') writes it"
    return f"<p>{html.escape(words)}</p>"


def json_text(data: Any) -> str:
    """JSON that may stand inside a script element: no text in it can end the element or begin a comment."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _asset(name: str) -> str:
    return (Path(__file__).parent / "replay_page" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _motion(block: Block, reel: Reel) -> dict[str, Any]:
    poses = reel.poses
    moving = np.flatnonzero((np.ptp(poses, axis=0) > 0.0).any(axis=-1))
    numbers, centre, step = quantised(np.moveaxis(poses[:, moving, :3], 0, -1))
    turns = np.rint(np.moveaxis(poses[:, moving, 3:], 0, -1) * LARGEST)
    pulls = np.abs(reel.tension[np.isfinite(reel.tension)])
    pull = float(np.quantile(pulls, 0.995)) if pulls.size else 0.0
    sizes = np.linalg.norm(reel.force, axis=-1)
    sizes = sizes[np.isfinite(sizes) & (sizes > 0.0)]
    shown = float(np.quantile(sizes, 0.95)) if sizes.size else 0.0
    force = min(float(sizes.max(initial=0.0)), 8.0 * shown)
    block.add("t", reel.t, "f8")
    block.add("rest", poses[0], "f4")
    block.add("moving", moving, "u4")
    block.add("centre", centre, "f4")
    block.add("step", step, "f4")
    block.add("poses", track(np.concatenate([numbers, turns], axis=1)), "u1")
    block.add("tensions", track(scaled(reel.tension.T, pull)), "u1")
    block.add("forces", track(scaled(np.nan_to_num(np.moveaxis(reel.force, 0, -1)), force)), "u1")
    block.add("energies", reel.energies, "f4")
    block.add("joints", reel.joints, "f4")
    block.add("contact", reel.contact, "f4")
    return {
        "tension": {"largest": pull, "pushes": bool((reel.tension < -1e-9 * pull).any()), "colours": [rgb(c) for c in (SLACK, PULL, PUSH)]},
        "forces": {"largest": force, "shown": shown},
        "plotted": list(reel.joint_names),
    }  # fmt: skip


def _scenery(block: Block, reel: Reel) -> dict[str, Any]:
    """Meshes and their instances, strands and joint frames."""
    look = reel.look
    solids: list[dict[str, Any]] = []
    for group in look.solids:
        if _floor(group, look) is None:
            solids.append(_group(block, group, len(solids)))
    return {
        "bodies": [b.name for b in look.model.bodies],
        "solids": solids,
        "strands": [_strand(block, reel, k, strand) for k, strand in enumerate(look.strands)],
        "joints": [{"body": f.body, "p": f.p_BM.tolist(), "R": f.R_BM.T.tolist()} for f in look.frames],
    }


def _strand(block: Block, reel: Reel, k: int, strand: Strand) -> dict[str, Any]:
    """Points fixed in bodies; of a cable over wheels the tracks of its points."""
    if not isinstance(strand, CableStrand):
        return {"kind": strand.kind, "body": strand.body.tolist(), "p": strand.p_B.tolist()}
    numbers, centre, step = quantised(np.moveaxis(strand.points(*reel.placed), 0, -1))
    block.add(f"coursecentre{k}", centre, "f4")
    block.add(f"coursestep{k}", step, "f4")
    block.add(f"course{k}", track(numbers), "u1")
    return {"kind": strand.kind, "count": len(strand.body)}


def _group(block: Block, group: Solids, k: int) -> dict[str, Any]:
    x, normals, faces = smooth(group.vertices, group.faces, group.flat)
    low, extent = x.min(axis=0), np.ptp(x, axis=0)
    extent = np.maximum(extent, 1e-6 * max(float(extent.max()), 1e-12))
    columns = group.R_BS * (group.scale * extent)[:, None, :]
    origin = group.p_BS + np.einsum("nij,nj->ni", group.R_BS, group.scale * low)
    block.add(f"places{k}", np.rint((x - low) / extent * 65535.0), "u2")
    block.add(f"normals{k}", np.rint(normals * 127.0), "i1")
    block.add(f"faces{k}", faces, "u2" if len(x) < 65536 else "u4")
    block.add(f"body{k}", group.body, "u4")
    block.add(f"local{k}", np.concatenate([np.swapaxes(columns, 1, 2).reshape(-1, 9), origin], axis=1), "f4")
    block.add(f"colour{k}", np.rint(np.clip(group.colour, 0.0, 1.0) * 255.0), "u1")
    return {"kind": group.kind, "extent": extent.tolist(), "opacity": group.opacity}


def _softs(block: Block, reel: Reel) -> dict[str, Any]:
    """Deformables: tracks of the vertices that are drawn and of their strains, triangles with broken edges, and edges of rods."""
    strains = [np.array([soft.strains(x) for x in reel.x]) for soft in reel.look.soft]  # frame by frame: many cells take much memory
    largest = largest_strain(strains)
    out = []
    for k, (soft, strain) in enumerate(zip(reel.look.soft, strains, strict=True)):
        numbers, centre, step = quantised(np.moveaxis(soft.places(reel.x), 0, -1))
        block.add(f"softcentre{k}", centre, "f4")
        block.add(f"softstep{k}", step, "f4")
        block.add(f"soft{k}", track(numbers), "u1")
        block.add(f"strain{k}", track(scaled(strain.T, largest)), "u1")
        of, _, faces = broken(soft.rest, soft.faces) if len(soft.faces) else (np.zeros(0), None, soft.faces)
        block.add(f"softof{k}", of, "u4")
        block.add(f"softfaces{k}", faces, "u4")
        block.add(f"softedges{k}", soft.edges, "u4")
        out.append({"name": soft.name, "colour": soft.colour.tolist(), "radius": soft.radius})
    return {"softs": out, "strain": largest}


def _floor(group: Solids, look: Look) -> float | None:
    """The height of a group that is nothing but level ground at rest, which the page shows as its own ground."""
    if group.kind != "plane" or any(look.model.bodies[i].kind != "static" for i in group.body):
        return None
    R, p = group.placed(*look.start)
    level = (R[:, 2, 2] > 1.0 - 1e-9).all() and float(np.ptp(p[:, 2])) < 1e-9
    return float(p[0, 2]) if level else None


def _staging(recording: Recording, reel: Reel) -> dict[str, Any]:
    """Axes (right, away, up), bounds of the motion, the ground, and where the page looks from: angles about up and above the horizon."""
    axes = np.eye(3)
    if recording.model.plane is not None:
        right, up, out = recording.model.plane
        axes = np.array([right, -np.asarray(out), up])
    some = np.unique(np.linspace(0, len(reel.t) - 1, SURVEYED).round().astype(int))
    R, p = reel.placed
    low, high = reel.look.bounds(R[some], p[some], reel.x[some])
    floors = [h for s in reel.look.solids if (h := _floor(s, reel.look)) is not None]
    corners = np.sort(np.array([axes @ low, axes @ high]), axis=0)
    own_ground = reel.look.has_ground and not floors
    return {
        "axes": axes.tolist(), "low": low.tolist(), "high": high.tolist(), "angles": _angles(recording, axes, low, high),
        "ground": {"height": floors[0] if floors else ground_height(*corners), "shown": not own_ground},
    }  # fmt: skip


def _angles(recording: Recording, axes: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    plane = viewing_plane(recording)
    towards = beside(low, high)[2] if plane is None else axes @ np.asarray(plane[2])
    if plane is not None and abs(towards[2]) > 0.9:
        return 0.0, 1.1
    turn = float(np.arctan2(towards[0], -towards[1]))
    return (turn, float(np.arcsin(towards[2]))) if plane is None else (turn + 0.16, 0.14)
