"""Surfaces onto a picture: hidden parts left out, light, outlines, and the average of several samples per pixel.

Light is ambient, from above, and from a sun; it is computed at vertices and linear across triangles. Where one thing ends before another,
a darker line is drawn. Things that shine through are blended in one layer, the nearest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unibody.view.render_camera import View
from unibody.view.render_mesh import PATCHES, DrawnSurface
from unibody.view.render_pixels import Pixels, cut, gradient

AMBIENT, ABOVE, SUN, GLOSS = 0.52, 0.20, 0.40, 0.10
GLARE = 0.35
"""How fast a colour turns white where there is more light than it can show."""
TRIFLE = 4e-6
ON_TOP = 100.0
OUTLINE = 0.62
"""Brightness of an outline, in parts of the surface's."""


@dataclass(frozen=True)
class Lit:
    """Triangles on the samples, with what is needed of them per sample; the light is offset + across · column + down · row."""

    corners: np.ndarray
    """(F, 3, 3) column, row, nearness"""
    colour: np.ndarray
    """(F, 3)"""
    patch: np.ndarray
    """(F + 1,); the last, −PATCHES, is that of no triangle."""
    opacity: np.ndarray
    light: np.ndarray
    """(3, F) offset, across, down"""

    @cached_property
    def thing(self) -> np.ndarray:
        """(F + 1,); −1 is no triangle."""
        return (self.patch // PATCHES).astype(np.int32)

    def at(self, face: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
        """(n, 3) colours of triangles `face` at places on the samples."""
        offset, across, down = self.light
        light = offset[face] + across[face] * column + down[face] * row
        out = np.take(self.colour, face, axis=0)
        out *= light[:, None]
        out += GLARE * np.maximum(light - 1.0, 0.0)[:, None]
        return np.minimum(out, 1.0, out=out)


class Painter:
    """Paints for one camera, with `finer`² samples per pixel, under a sun in a direction; what lies below z = `floor` is hidden."""

    def __init__(self, view: View, sun: np.ndarray, finer: int, floor: float):
        self._view, self._sun, self._finer = view, sun, finer
        self._fine = replace(view, size=(finer * view.size[0], finer * view.size[1]))
        self._pixels = Pixels(*self._fine.size, behind=_floor_nearness(self._fine, floor))
        self._glass: Pixels | None = None

    def paint(self, picture: np.ndarray, surfaces: Sequence[DrawnSurface]) -> None:
        """Onto a picture (rows, columns, 3) of numbers 0 … 1."""
        front = self._lit([s for s in surfaces if s.opacity >= 1.0])
        self._pixels.clear()
        self._pixels.draw(front.corners, np.arange(len(front.corners)))
        if len(front.corners):
            self._paint_solid(picture.reshape(-1, 3), front)
        if any(s.opacity < 1.0 for s in surfaces):
            self._paint_clear(picture.reshape(-1, 3), front, self._lit([s for s in surfaces if s.opacity < 1.0]))

    def _paint_solid(self, flat: np.ndarray, front: Lit) -> None:
        """Pixels whose samples and neighbours show one patch take one colour; the others are averaged over their samples."""
        width, height = self._view.size
        pixel, row, column = self._shown()
        face = self._pixels.face[self._samples(row, column)]
        patch = front.patch[face]
        one = (patch[1:] == patch[0]).all(axis=0)
        thing = np.full((height + 2) * (width + 2), -3, np.int32)
        inner = (row + 1) * (width + 2) + column + 1
        thing[inner] = own = np.where(one, front.thing[face[0]], -4)
        for step in (1, -1, width + 2, -width - 2):
            one &= thing[inner + step] == own
        middle = np.float32(0.5 * (self._finer - 1))
        across, down = ((self._finer * x[one]).astype(np.float32) + middle for x in (column, row))
        flat[pixel[one]] = front.at(face[0, one], across, down)
        self._paint_mixed(flat, front, pixel[~one], row[~one], column[~one], face[:, ~one])

    def _paint_mixed(self, flat: np.ndarray, front: Lit, pixel: np.ndarray, row: np.ndarray, column: np.ndarray, face: np.ndarray) -> None:
        colour = np.zeros((len(pixel), 3), np.float32)
        part = np.zeros(len(pixel), np.float32)
        sample, k = self._samples(row, column), self._finer
        for n in range(k * k):
            some = np.flatnonzero(face[n] >= 0)
            own = face[n, some]
            across, down = ((k * x[some] + within).astype(np.float32) for x, within in ((column, n % k), (row, n // k)))
            shown = front.at(own, across, down)
            shown[self._outlined(front, sample[n, some], own)] *= OUTLINE
            colour[some] += shown
            part[some] += 1.0
        share = np.float32(1.0 / (k * k))
        flat[pixel] = flat[pixel] * (1.0 - share * part)[:, None] + share * colour

    def _paint_clear(self, flat: np.ndarray, front: Lit, through: Lit) -> None:
        """Where something clear is nearest, a sample becomes α own + (1 − α) what is behind."""
        glass = self._glass = self._glass or Pixels(*self._fine.size)
        glass.clear()
        glass.draw(through.corners, np.arange(len(through.corners)))
        at = np.flatnonzero((glass.face >= 0) & (glass.near > self._pixels.near))
        row, column = np.divmod(at, self._fine.size[0])
        alpha, change = through.opacity[glass.face[at]], through.at(glass.face[at], column, row)
        behind = self._pixels.face[at]
        solid = behind >= 0
        if solid.any():
            change[solid] -= front.at(behind[solid], column[solid], row[solid])
        pixel = (row // self._finer) * self._view.size[0] + column // self._finer
        share = 1.0 / self._finer**2
        flat *= 1.0 - (share * np.bincount(pixel, alpha * ~solid, len(flat)))[:, None].astype(np.float32)
        for k in range(3):
            flat[:, k] += share * np.bincount(pixel, alpha * change[:, k], len(flat))

    def _shown(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Numbers, rows and columns of the pixels with any sample that shows a triangle."""
        k = self._finer
        lines = self._pixels.face.reshape(-1, k, self._fine.size[0]).max(axis=1)
        most = lines[:, ::k].copy()
        for j in range(1, k):
            np.maximum(most, lines[:, j::k], out=most)
        pixel = np.flatnonzero(most >= 0)
        return pixel, *np.divmod(pixel, self._view.size[0])

    def _samples(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """(finer², n) numbers of the samples of pixels."""
        k, width = self._finer, self._fine.size[0]
        within = (np.arange(k)[:, None] * width + np.arange(k)).ravel()
        return within[:, None] + k * (row * width + column)

    def _lit(self, surfaces: Sequence[DrawnSurface]) -> Lit:
        parts = [self._seen(s) for s in surfaces]
        if not parts:
            return Lit(np.zeros((0, 3, 3)), np.zeros((0, 3), np.float32), np.array([-PATCHES]), np.zeros(0), np.zeros((3, 0), np.float32))
        corners, colour, patch, opacity, light = zip(*parts, strict=True)
        numbers = np.append(np.concatenate(patch), -PATCHES)
        return Lit(np.concatenate(corners), np.concatenate(colour), numbers, np.concatenate(opacity), np.concatenate(light, axis=1))

    def _seen(self, s: DrawnSurface) -> tuple[np.ndarray, ...]:
        """Of those triangles of a surface that face the viewer, cut where they come too near: the fields of Lit.

        Of faces in one plane the thing with the larger number wins, by a trifle of nearness.
        """
        light, depth = self._light(s), self._fine.depth(s.x)
        which = np.arange(len(s.faces))
        if depth.min(initial=np.inf) < self._fine.nearest:
            x, values, which = cut(s.x[s.faces], depth[s.faces], light[s.faces], self._fine.nearest)
            corners = self._fine.pixels(x)
        else:
            corners, values = self._fine.pixels(s.x)[s.faces], light[s.faces]
        d1, d2 = corners[:, 1, :2] - corners[:, 0, :2], corners[:, 2, :2] - corners[:, 0, :2]
        area = d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]
        keep = area < 0.0 if s.closed else area != 0.0  # rows run downwards, so a face towards the viewer has a negative area
        which, corners, values = which[keep], corners[keep], values[keep]
        across, down = gradient(corners, values)
        offset = values[:, 0] + across * (0.5 - corners[:, 0, 0]) + down * (0.5 - corners[:, 0, 1])
        light = np.stack([offset, across, down]).astype(np.float32)
        corners[:, :, 2] *= (ON_TOP if s.on_top else 1.0) * (1.0 + TRIFLE * (s.patch[which] // PATCHES % 16))[:, None]
        return corners, s.colour[which].astype(np.float32), s.patch[which], np.full(len(which), s.opacity), light

    def _light(self, s: DrawnSurface) -> np.ndarray:
        """(V,) brightness; the normals of open surfaces count on the side that is seen."""
        n = s.normals
        if not s.closed:
            n = n * np.where(np.einsum("ij,ij->i", n, self._view.eye - s.x) < 0.0, -1.0, 1.0)[:, None]
        half = self._sun + self._view.axes[2]
        gloss = np.maximum(n @ (half / np.linalg.norm(half)), 0.0) ** 24
        return AMBIENT + ABOVE * (0.5 + 0.5 * n[:, 2]) + SUN * np.maximum(n @ self._sun, 0.0) + GLOSS * gloss

    def _outlined(self, lit: Lit, sample: np.ndarray, face: np.ndarray) -> np.ndarray:
        """(n,) whether samples lie beside a sample that shows another thing, or none, farther away."""
        own, near = lit.thing[face], self._pixels.near
        mine = near[sample]
        out = np.zeros(len(sample), bool)
        for step in (1, -1, self._fine.size[0], -self._fine.size[0]):
            beside = np.clip(sample + step, 0, len(near) - 1)
            out |= (lit.thing[self._pixels.face[beside]] != own) & (near[beside] < mine)
        return out & (own >= 0)


def _floor_nearness(view: View, floor: float) -> np.ndarray | float:
    """(samples,) 1 / depth of the plane z = floor along each ray, 0 where a ray misses it or it is seen from below."""
    above = view.eye[2] - floor
    if above <= 0.0:
        return 0.0
    right, up = view.slopes()
    down = view.axes[2, 2] - right[None, :] * view.axes[0, 2] - up[:, None] * view.axes[1, 2]
    return np.maximum(down / above, 0.0).astype(np.float32).ravel()
