"""USD as text (.usda) for Omniverse, Houdini, Blender, usdview: z up, metres, kilograms; what moves has a time sample for each frame.

    /World/Bodies/<name>          Xform with translate and orient, its shapes below as meshes
    /World/Strands/<name>         BasisCurves through the points of springs, cables and rods
    /World/Deformables/<name>     Mesh of a surface, BasisCurves of a rod, with a sample of all vertices a frame

A time code is 1/24 s, so that programs which show 24 frames a second play in real time. Names are made to identifiers; what a thing is
called here stands in its `displayName`. Needs no library: the format is text (Pixar's documentation of USD, "Usda File Format").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.model import Model
from unibody.simulation import Recording
from unibody.simulation.whole_file import path_given, remedy, whole_text
from unibody.view.look import Solids, quaternions
from unibody.view.reel import Reel
from unibody.view.style import INK, rgb

CODES = 24
"""Time codes a second."""


def write_usda(shown: Recording | Model, path: str | Path, *, fps: float | None = None) -> Path:
    """Write a .usda file of a recording (all its states, or `fps` per second of its time) or of a model at its start."""
    target = path_given(path)
    if target.suffix.lower() != ".usda":
        raise ModelError(f"file '{path}' ends in '{target.suffix}'; give a file that ends in .usda")
    reel = Reel.still(shown) if isinstance(shown, Model) else Reel.of(shown, fps)
    try:
        with whole_text(target) as file:
            for part in stage(reel):
                file.write(part)
    except OSError as error:
        raise ModelError(f"file '{target}' cannot be written ({error.strerror}); {remedy(error)}") from None
    return target


def stage(reel: Reel) -> Iterator[str]:
    """The text of a file, prim after prim."""
    codes = reel.t * CODES
    frames = [0] if len(codes) < 2 else [k for k in range(len(codes)) if k == 0 or codes[k] > codes[k - 1]]
    yield "#usda 1.0\n(\n    defaultPrim = \"World\"\n    metersPerUnit = 1\n    kilogramsPerUnit = 1\n    upAxis = \"Z\"\n"
    yield f"    timeCodesPerSecond = {CODES}\n    framesPerSecond = {CODES}\n"
    yield f"    startTimeCode = {codes[frames[0]]:.9g}\n    endTimeCode = {codes[frames[-1]]:.9g}\n)\n\n"
    yield 'def Xform "World"\n{\n'
    samples = _Samples(codes, frames)
    yield from _scope("Bodies", _bodies(reel, samples))
    yield from _scope("Strands", _strands(reel, samples))
    yield from _scope("Deformables", _deformables(reel, samples))
    yield "}\n"


def _scope(name: str, prims: Iterator[str]) -> Iterator[str]:
    yield f'def Scope "{name}"\n{{\n'
    yield from prims
    yield "}\n"


class _Samples:
    """Values over frames as text: once where they never change."""

    def __init__(self, codes: np.ndarray, frames: Sequence[int]):
        self.codes, self.frames = codes, frames

    def of(self, declared: str, values: np.ndarray, text: Any) -> str:
        """`values` (F, …) under a declaration such as `point3f[] points`."""
        if len(self.frames) < 2 or not np.ptp(values[self.frames], axis=0).any():
            return f"{declared} = {text(values[self.frames[0]])}\n"
        rows = "".join(f"    {self.codes[k]:.9g}: {text(values[k])},\n" for k in self.frames)
        return f"{declared}.timeSamples = {{\n{rows}}}\n"


def _number(x: float) -> str:
    return f"{x:.9g}"


def _tuple(values: Any) -> str:
    return f"({', '.join(map(_number, values))})"


def _tuples(rows: np.ndarray) -> str:
    return f"[{', '.join(map(_tuple, rows.tolist()))}]"


def _array(values: np.ndarray) -> str:
    return f"[{', '.join(map(str, values.ravel().tolist()))}]"


class _Names:
    """Identifiers that no two things of a scope share."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def of(self, name: str) -> str:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        new, k = plain, 2
        while new in self.taken:
            new, k = f"{plain}_{k}", k + 1
        self.taken.add(new)
        return new


def _called(name: str) -> str:
    """Metadata that keeps a name as it is."""
    text = name.replace("\\", "\\\\").replace('"', '\\"')
    text = "".join(c if c.isprintable() else " " for c in text)
    return f'(\n    displayName = "{text}"\n)\n'


def _bodies(reel: Reel, samples: _Samples) -> Iterator[str]:
    shapes: dict[int, list[tuple[Solids, int]]] = {}
    for group in reel.look.solids:
        for k, body in enumerate(group.body):
            shapes.setdefault(int(body), []).append((group, k))
    names = _Names()
    for i, body in enumerate(reel.look.model.bodies):
        if i == 0 and i not in shapes:
            continue
        yield f'def Xform "{names.of(body.name)}" {_called(body.name)}{{\n'
        yield samples.of("double3 xformOp:translate", reel.poses[:, i, :3], _tuple)
        yield samples.of("quatd xformOp:orient", reel.poses[:, i, 3:], _tuple)
        yield 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]\n'
        for n, (group, k) in enumerate(shapes.get(i, [])):
            yield _solid(group, k, f"{re.sub('[^a-z]', '_', group.kind)}_{n}")
        yield "}\n"


def _solid(group: Solids, k: int, name: str) -> str:
    """An instance of a mesh in its body's axes."""
    place = f"double3 xformOp:translate = {_tuple(group.p_BS[k])}\nquatd xformOp:orient = {_tuple(quaternions(group.R_BS[k]))}\n"
    place += f"double3 xformOp:scale = {_tuple(group.scale[k])}\n"
    order = 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient", "xformOp:scale"]\n'
    look = f"color3f[] primvars:displayColor = [{_tuple(group.colour[k])}]\n"
    if group.opacity < 1.0:
        look += f"float[] primvars:displayOpacity = [{_number(group.opacity)}]\n"
    points = f"point3f[] points = {_tuples(group.vertices)}\n"
    return f'def Mesh "{name}"\n{{\n{place}{order}{look}{_faces(group.faces, closed=False)}{points}}}\n'


def _faces(faces: np.ndarray, closed: bool) -> str:
    sides = "" if closed else "uniform bool doubleSided = 1\n"
    counts = f"int[] faceVertexCounts = {_array(np.full(len(faces), 3))}\nint[] faceVertexIndices = {_array(faces)}\n"
    return f'{sides}uniform token subdivisionScheme = "none"\n{counts}'


def _strands(reel: Reel, samples: _Samples) -> Iterator[str]:
    names, width = _Names(), 0.004 * _size(reel)
    for strand in reel.look.strands:
        x = strand.points(*reel.placed)
        yield _curves(names.of(strand.name), strand.name, x, [x.shape[1]], width, np.array(rgb(INK)), samples)


def _deformables(reel: Reel, samples: _Samples) -> Iterator[str]:
    names = _Names()
    for soft in reel.look.soft:
        x = soft.places(reel.x)
        if len(soft.faces):
            yield f'def Mesh "{names.of(soft.name)}" {_called(soft.name)}{{\n'
            yield f"color3f[] primvars:displayColor = [{_tuple(soft.colour)}]\n{_faces(soft.faces, soft.closed)}"
            yield samples.of("point3f[] points", x, _tuples) + "}\n"
        if len(soft.edges):
            ends = x[:, soft.edges.ravel()]
            counts = [2] * len(soft.edges)
            yield _curves(names.of(soft.name), soft.name, ends, counts, 2.0 * soft.radius, soft.colour, samples)


def _curves(name: str, called: str, x: np.ndarray, counts: list[int], width: float, colour: np.ndarray, samples: _Samples) -> str:
    """Straight lines through points (F, n, 3)."""
    about = f'uniform token type = "linear"\nuniform token wrap = "nonperiodic"\nint[] curveVertexCounts = {_array(np.array(counts))}\n'
    about += f'float[] widths = [{_number(width)}] (\n    interpolation = "constant"\n)\n'
    about += f"color3f[] primvars:displayColor = [{_tuple(colour)}]\n"
    return f'def BasisCurves "{name}" {_called(called)}{{\n{about}{samples.of("point3f[] points", x, _tuples)}}}\n'


def _size(reel: Reel) -> float:
    R, p = reel.placed
    low, high = reel.look.bounds(R[:1], p[:1], reel.x[:1])
    return float((high - low).max())
