"""The things of one instant as lit triangles: solids, deformables, strands coloured by tension, arrows of reactions, axes of joint frames.

Deformables have their own colours or those of their strain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unibody.view import motion
from unibody.view.look import Look, Solids
from unibody.view.render_camera import View
from unibody.view.render_mesh import PATCHES, DrawnSurface, patches, segments, with_normals
from unibody.view.snapshot import Snapshot
from unibody.view.soft import Soft, largest_strain
from unibody.view.style import rgb, tension_colours

FORCE, TORQUE = "#e4572e", "#8e5ea2"
AXES = ("#d1495b", "#3a9d5d", "#2e6fab")
CLOSED = ("box", "ellipsoid", "cylinder", "capsule")
THINNEST = 0.8
"""Radius of a strand in pixels, at least."""
MANY = 60
"""Strands beyond this number are drawn thinner."""


@dataclass(frozen=True)
class Scales:
    """What is fixed for all pictures of a motion: the size of the scene [m], the largest tension and force [N], torque [N m] and strain."""

    span: float
    tension: float
    force: float
    torque: float
    strain: float = 1e-9

    def grown(self, snapshot: Snapshot) -> Scales:
        """Large enough for a snapshot too."""
        sizes = (np.abs(snapshot.tension), np.linalg.norm(snapshot.force, axis=1), np.linalg.norm(snapshot.torque, axis=1))
        most = [float(np.nan_to_num(x, posinf=0.0).max(initial=0.0)) for x in sizes]
        return Scales(self.span, max(self.tension, most[0]), max(self.force, most[1]), max(self.torque, most[2]), self.strain)

    def strained(self, look: Look, x: np.ndarray) -> Scales:
        """Large enough for the strains of deformables, whose vertices are at x (…, n, 3)."""
        return replace(self, strain=max(self.strain, largest_strain([soft.strains(x) for soft in look.soft])))


class Scenery:
    """Turns snapshots of one look into surfaces."""

    def __init__(self, look: Look, scales: Scales, reactions: bool = False, frames: bool = False, strain: bool = False):
        self._look, self.scales, self._reactions, self._frames, self._strain = look, scales, reactions, frames, strain
        self._meshes = [with_normals(s.vertices, s.faces, s.flat) for s in look.solids]
        self._patches = [patches(faces) for _, _, faces in self._meshes]
        self._springs = sum(s.kind == "spring" for s in look.strands)
        self._begin = np.cumsum([0, *(len(s) for s in look.solids)])

    def solids(self, snapshot: Snapshot, ground: float) -> list[DrawnSurface]:
        """Everything that casts a shadow; planes at the height of the ground are the ground itself."""
        out = []
        for k, solids in enumerate(self._look.solids):
            R, p = solids.placed(snapshot.R, snapshot.p)
            shown = np.ones(len(solids), bool) if solids.kind != "plane" else ~is_ground(R, p, ground)
            if shown.any():
                out.append(self._surface(k, solids, R, p, shown))
        return out + self._soft(snapshot)

    def _colours(self, soft: Soft, x: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """(k, 3) of triangles or segments: the deformable's own colour, or that of the mean strain of their corners."""
        if not self._strain:
            return np.tile(soft.colour, (len(cells), 1))
        return tension_colours(soft.strains(x)[cells].mean(axis=1), self.scales.strain)

    def _soft(self, snapshot: Snapshot) -> list[DrawnSurface]:
        """Surfaces of deformables, each without edges within; cloth has no inside."""
        out, x = [], snapshot.x
        first = int(self._begin[-1]) + len(self._look.strands)
        for k, soft in enumerate(self._look.soft):
            if len(soft.faces):
                places, normals, faces = with_normals(soft.places(x), soft.faces)
                colour, patch = self._colours(soft, x, soft.faces), np.full(len(faces), (first + k) * PATCHES)
                out.append(DrawnSurface(places, normals, faces, colour, patch, soft.closed))
        return out

    def _rods(self, snapshot: Snapshot, view: View) -> list[DrawnSurface]:
        """Rods as tubes of their own radius, or as thin as can be seen."""
        out, x = [], snapshot.x
        first = int(self._begin[-1]) + len(self._look.strands)
        for k, soft in enumerate(self._look.soft):
            if len(soft.edges):
                a, b = (soft.places(x)[soft.edges[:, i]] for i in (0, 1))
                at_a, at_b = (np.maximum(soft.radius, THINNEST * view.depth(end) / view.focal) for end in (a, b))
                n = len(a)
                out.append(segments(a, b, at_a, at_b, self._colours(soft, x, soft.edges), np.full(n, first + k)))
        return out

    def _surface(self, k: int, solids: Solids, R: np.ndarray, p: np.ndarray, shown: np.ndarray) -> DrawnSurface:
        vertices, normals, faces = self._meshes[k]
        which = np.flatnonzero(shown)
        R, p, scale = R[which], p[which], solids.scale[which][:, None, :]
        x = (scale * vertices) @ R.transpose(0, 2, 1) + p[:, None, :]
        n = (normals / scale) @ R.transpose(0, 2, 1)
        n /= np.linalg.norm(n, axis=2, keepdims=True)
        faces = (faces + len(vertices) * np.arange(len(which))[:, None, None]).reshape(-1, 3)
        colour = np.repeat(solids.colour[which], len(self._patches[k]), axis=0)
        patch = ((self._begin[k] + which)[:, None] * PATCHES + self._patches[k]).ravel()
        return DrawnSurface(x.reshape(-1, 3), n.reshape(-1, 3), faces, colour, patch, solids.kind in CLOSED, solids.opacity)

    def strands(self, snapshot: Snapshot, view: View) -> list[DrawnSurface]:
        """Cables, rods and springs, a few springs as coils; red where they pull and blue where they push."""
        look, span = self._look, self.scales.span
        rods = self._rods(snapshot, view)
        if not look.strands:
            return rods
        colours = tension_colours(snapshot.tension, self.scales.tension)
        paths = [s.points(snapshot.R, snapshot.p) for s in look.strands]
        for k, strand in enumerate(look.strands):
            if strand.kind == "spring" and self._springs <= motion.COILS:
                a, b = paths[k][0], paths[k][-1]
                paths[k] = motion.coil(a, b, min(0.02 * span, 0.15 * float(np.linalg.norm(b - a))), 9)
        a, b = np.concatenate([x[:-1] for x in paths]), np.concatenate([x[1:] for x in paths])
        number = np.repeat(np.arange(len(paths)), [len(x) - 1 for x in paths])
        thick = (0.0035 if len(paths) <= MANY else 0.002) * span
        at_a, at_b = (np.maximum(thick, THINNEST * view.depth(x) / view.focal) for x in (a, b))
        return [segments(a, b, at_a, at_b, colours[number], self._begin[-1] + number), *rods]

    def marks(self, snapshot: Snapshot) -> list[DrawnSurface]:
        """Arrows and axes, where they were asked for."""
        out: list[DrawnSurface] = []
        span = self.scales.span
        if self._reactions and len(snapshot.joint_p):
            out += arrows(snapshot.joint_p, snapshot.force * (0.25 * span / self.scales.force), 0.006 * span, rgb(FORCE))
            out += arrows(snapshot.joint_p, snapshot.torque * (0.15 * span / self.scales.torque), 0.004 * span, rgb(TORQUE))
        if self._frames and len(snapshot.joint_p):
            for axis, colour in enumerate(AXES):
                out += arrows(snapshot.joint_p, 0.07 * span * snapshot.joint_R[:, :, axis], 0.003 * span, rgb(colour))
        return [replace(mark, on_top=True) for mark in out]


def arrows(at: np.ndarray, along: np.ndarray, thick: float, colour: tuple[float, float, float]) -> list[DrawnSurface]:
    """A shaft and a head from each point (n, 3) along a vector (n, 3); those shorter than their own thickness are left out."""
    length = np.linalg.norm(along, axis=1)
    some = np.isfinite(length) & (length > thick)
    at, along, length = at[some], along[some], length[some]
    if not len(at):
        return []
    neck = at + along * (1.0 - np.minimum(5.0 * thick, 0.6 * length) / length)[:, None]
    n, colours, none = len(at), np.tile(colour, (len(at), 1)), np.full(len(at), -2)
    shaft = segments(at, neck, np.full(n, thick), np.full(n, thick), colours, none)
    return [shaft, segments(neck, at + along, np.full(n, 2.4 * thick), np.full(n, 1e-3 * thick), colours, none)]


def is_ground(R: np.ndarray, p: np.ndarray, height: float) -> np.ndarray:
    """(n,) whether planes at R (n, 3, 3), p (n, 3) are level and at this height."""
    return (R[:, 2, 2] > 1.0 - 1e-9) & (np.abs(p[:, 2] - height) < 1e-9)
