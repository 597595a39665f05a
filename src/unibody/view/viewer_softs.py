"""Deformables in a browser: a mesh each whose vertices are sent anew with every instant, and rods as thick lines.

A mesh of the page has one colour. So surfaces that show their strain are shown in steps of colour: a mesh per step, of the triangles whose
mean strain is nearest to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.view.look import Look
from unibody.view.render_mesh import broken
from unibody.view.soft import Soft, largest_strain
from unibody.view.style import tension_colours

STEPS = 15
"""Colours from the most pressed to the most stretched."""
THINNEST = 0.004
"""Of a rod, in spans of the scene."""


class ViewerSofts:
    """All deformables in the scene of one page. `scene` is viser's; x (n, 3) are their vertices."""

    def __init__(self, scene: Any, look: Look, x: np.ndarray, span: float):
        self.strained = False
        self.hidden: frozenset[str] = frozenset()
        """Names of deformables that are not shown."""
        self.largest = 0.0
        """Strain so far."""
        self._look = look
        with_faces = [(k, soft) for k, soft in enumerate(look.soft) if len(soft.faces)]
        self.surfaces = [ViewerSurface(scene, k, soft, x) for k, soft in with_faces]
        self.rods = [(soft, self._add_rod(scene, k, soft, x, span)) for k, soft in enumerate(look.soft) if len(soft.edges)]

    def _add_rod(self, scene: Any, k: int, soft: Soft, x: np.ndarray, span: float) -> Any:
        ends = soft.places(x)[soft.edges]
        thickness = max(2.0 * soft.radius, THINNEST * span)
        return scene.add_line_segments(f"/rods/{k}", ends, bytes3(np.broadcast_to(soft.colour, ends.shape)), thickness=thickness)

    def show(self, x: np.ndarray) -> None:
        """Move everything to an instant."""
        strains = {soft.name: soft.strains(x) for soft in self._look.soft} if self.strained else {}
        self.largest = max(self.largest, largest_strain(list(strains.values())))
        for surface in self.surfaces:
            surface.show(x, strains.get(surface.soft.name), self.largest, surface.soft.name in self.hidden)
        for soft, handle in self.rods:
            handle.visible = soft.name not in self.hidden
            handle.points = soft.places(x)[soft.edges]
            strain = strains.get(soft.name)
            colours = np.broadcast_to(soft.colour, (*soft.edges.shape, 3))
            handle.colors = bytes3(colours if strain is None else tension_colours(strain[soft.edges], self.largest))


class ViewerSurface:
    """One surface: a mesh in its own colour, and those of the colours of strain once they are asked for."""

    def __init__(self, scene: Any, k: int, soft: Soft, x: np.ndarray):
        self.soft, self._scene, self._steps_name = soft, scene, f"/strains/{k}"
        self._of, _, self._faces = broken(soft.rest, soft.faces)
        colour = tuple(int(c) for c in np.rint(255.0 * soft.colour))
        self._side = "front" if soft.closed else "double"
        self.mesh = scene.add_mesh_simple(f"/softs/{k}", soft.places(x)[self._of], self._faces, color=colour, side=self._side)
        self._steps: list[Any] = []

    def show(self, x: np.ndarray, strain: np.ndarray | None, largest: float, hidden: bool = False) -> None:
        """At an instant, in its own colour or by the strains (V,) of its vertices, or not at all."""
        places = self.soft.places(x)
        own = strain is None and not hidden
        if self.mesh.visible != own:
            self.mesh.visible = own
        if strain is None or hidden:
            if own:
                self.mesh.vertices = places[self._of]
            for handle in self._steps:
                if handle.visible:
                    handle.visible = False
            return
        part = np.clip(strain[self.soft.faces].mean(axis=1) / max(largest, 1e-300), -1.0, 1.0)
        step = np.rint(0.5 * (part + 1.0) * (STEPS - 1)).astype(int)
        corners = places[self.soft.faces]
        if not self._steps:
            self._steps = [self._add_step(s, corners[:1]) for s in range(STEPS)]
        for s, handle in enumerate(self._steps):
            chosen = corners[step == s]
            if len(chosen):
                handle.vertices, handle.faces = chosen.reshape(-1, 3), _apart(len(chosen))
            if handle.visible != bool(len(chosen)):
                handle.visible = bool(len(chosen))

    def _add_step(self, s: int, corners: np.ndarray) -> Any:
        at = np.array([2.0 * s / (STEPS - 1) - 1.0])
        colour = tuple(int(c) for c in np.rint(255.0 * tension_colours(at, 1.0)[0]))
        return self._scene.add_mesh_simple(
            f"{self._steps_name}/{s}", corners.reshape(-1, 3), _apart(1), color=colour, side=self._side, flat_shading=True, visible=False
        )  # fmt: skip


def _apart(triangles: int) -> np.ndarray:
    """(n, 3) faces that share no vertex."""
    return np.arange(3 * triangles, dtype=np.uint32).reshape(-1, 3)


def bytes3(colours: np.ndarray) -> np.ndarray:
    """Red, green and blue as whole numbers 0 … 255 of light, which is what the page takes them for; ours are those of a screen."""
    light = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return np.round(255.0 * light).astype(np.uint8)
