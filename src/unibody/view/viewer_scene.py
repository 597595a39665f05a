"""The look of a model in a browser: each group of solids is one instanced mesh, so that an instant is two arrays per group;
deformables are in `viewer_softs`.

Strands are line segments coloured by how they pull; forces are arrows from where they act, as long as the largest seen so far allows.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from unibody.constraints import PointPlane
from unibody.view.look import CableStrand, Look, quaternions
from unibody.view.motion import COILS, coil
from unibody.view.snapshot import Snapshot
from unibody.view.style import rgb, tension_colours
from unibody.view.viewer_camera import PRESETS, stand
from unibody.view.viewer_pull import MousePull
from unibody.view.viewer_softs import ViewerSofts, bytes3

MOST_LABELS = 200
HIDDEN = 1e-7
"""How large a hidden body is drawn, in parts of itself."""
REACTION, CONTACT, HAND = "#7b4fa3", "#d97706", "#e11d48"
"""Colours of arrows of joint reactions, of contact forces, and of the pulling hand."""


class ViewerStage:
    """Everything in the scene of one page. `scene` is viser's."""

    def __init__(self, scene: Any, look: Look, first: Snapshot, low: np.ndarray, high: np.ndarray):
        self._scene, self.look = scene, look
        self.low, self.high = low, high
        self.span = float((high - low).max()) or 1.0
        self.shown = first
        self.scale = 1.0
        """Of the arrows."""
        self.largest_tension = 0.0
        self._largest = {"reactions": 0.0, "contacts": 0.0}
        self._labels: list[Any] = []
        self.ground = self._add_ground()
        self.solids = self._add_solids(first)
        self.softs = ViewerSofts(scene, look, first.x, self.span)
        self._lines = _Lines(look, 0.011 * self.span)
        self.strands = self._add_strands(first)
        self.frames = self._add_frames(first)
        self.reactions = self._add_arrows("/reactions", REACTION, len(look.frames))
        self.contacts = self._add_arrows("/contacts", CONTACT, 1)
        self.show_contacts = not look.soft  # arrows at every vertex would hide them
        self.hand = self._scene.add_line_segments("/hand", np.zeros((1, 2, 3)), rgb255(HAND), thickness=0.006 * self.span, visible=False)
        self.show(first)

    def _add_ground(self) -> Any:
        if self.look.has_ground:
            return None
        cell = nice(self.span / 8.0)
        middle = 0.5 * (self.low + self.high)
        at = (float(middle[0]), float(middle[1]), self.look.ground_under(self.low, self.high))
        return self._scene.add_grid(
            "/ground", width=400 * cell, height=400 * cell, cell_size=cell, section_size=5 * cell, cell_color=(216, 221, 227),
            section_color=(190, 198, 207), cell_thickness=0.8, section_thickness=1.0, fade_distance=8.0 * self.span, fade_strength=1.5,
            shadow_opacity=0.18, position=at,
        )  # fmt: skip

    def _add_solids(self, first: Snapshot) -> list[Any]:
        out = []
        for k, group in enumerate(self.look.solids):
            R, p = group.placed(first.R, first.p)
            handle = self._scene.add_batched_meshes_simple(
                f"/solids/{k}", group.vertices, group.faces, quaternions(R), p,
                batched_scales=group.scale, batched_colors=bytes3(group.colour), opacity=None if group.opacity >= 1.0 else group.opacity,
                flat_shading=group.flat, lod="off", side="double" if group.kind in ("mesh", "plane") else "front",
                cast_shadow=group.kind != "plane",
            )  # fmt: skip
            out.append(handle)
        return out

    def _add_strands(self, first: Snapshot) -> Any:
        if not self.look.strands:
            return None
        points = self._lines.segments(first.R, first.p)
        return self._scene.add_line_segments("/strands", points, np.zeros(points.shape, np.uint8), thickness=0.006 * self.span)

    def _add_frames(self, first: Snapshot) -> Any:
        if not self.look.frames:
            return None
        wxyz, length = quaternions(first.joint_R), self._frame_length()
        return self._scene.add_batched_axes(
            "/frames", wxyz, first.joint_p, axes_length=length, axes_radius=0.05 * length, visible=False
        )  # fmt: skip

    def _frame_length(self) -> float:
        """Frames of many joints are small enough not to hide them."""
        return float(self.span * np.clip(1.2 / max(1, len(self.look.frames)), 0.03, 0.12))

    def _add_arrows(self, name: str, colour: str, count: int) -> Any:
        thick = 0.006 * self.span
        return self._scene.add_arrows(
            name, np.zeros((max(1, count), 2, 3)), rgb255(colour), shaft_radius=thick, head_radius=2.4 * thick, head_length=5.0 * thick,
            visible=False,
        )  # fmt: skip

    def show(self, now: Snapshot, pull: MousePull | None = None) -> None:
        """Move everything that is visible to an instant."""
        self.shown = now
        for handle, group in zip(self.solids, self.look.solids, strict=True):
            R, p = group.placed(now.R, now.p)
            handle.batched_positions, handle.batched_wxyzs = p, quaternions(R)
        self.softs.show(now.x)
        if self.strands is not None and self.strands.visible:
            self._show_strands(now)
        if self.frames is not None and self.frames.visible:
            self.frames.batched_positions, self.frames.batched_wxyzs = now.joint_p, quaternions(now.joint_R)
        if self.reactions.visible and len(now.force):
            self.reactions.points = self._arrows("reactions", now.joint_p, now.force)
        self._show_contacts(now)
        self._show_labels(now)
        self._show_hand(now, pull)

    def hide(self, bodies: Collection[int], softs: Collection[str]) -> None:
        """Show everything but these; a hidden instance is so small that no click meets it."""
        for handle, group in zip(self.solids, self.look.solids, strict=True):
            seen = ~np.isin(group.body, list(bodies))
            handle.batched_scales = np.where(seen[:, None], 1.0, HIDDEN) * group.scale
        self.softs.hidden = frozenset(softs)
        self.softs.show(self.shown.x)

    def _show_strands(self, now: Snapshot) -> None:
        self.largest_tension = max(self.largest_tension, float(np.nanmax(np.abs(now.tension), initial=0.0)))
        self.strands.points = self._lines.segments(now.R, now.p)
        self.strands.colors = bytes3(self._lines.spread(tension_colours(now.tension, self.largest_tension)))

    def _arrows(self, kind: str, at: np.ndarray, force: np.ndarray) -> np.ndarray:
        """(n, 2, 3): the largest force so far is a fifth of the scene long, times the scale."""
        self._largest[kind] = max(self._largest[kind], float(np.linalg.norm(force, axis=1).max(initial=0.0)))
        per_newton = 0.2 * self.span * self.scale / max(self._largest[kind], 1e-300)
        return np.stack([at, at + per_newton * force], axis=1)

    def _show_contacts(self, now: Snapshot) -> None:
        at, force = contacts(self.look, now) if self.show_contacts else (np.zeros((0, 3)), np.zeros((0, 3)))
        acts = np.linalg.norm(force, axis=1) > 0.0
        if acts.any():
            self.contacts.points = self._arrows("contacts", at[acts], force[acts])
        if self.contacts.visible != acts.any():
            self.contacts.visible = bool(acts.any())

    def _show_labels(self, now: Snapshot) -> None:
        for handle, (body, com) in zip(self._labels, self._labelled(), strict=False):
            handle.position = now.p[body] + now.R[body] @ com

    def _labelled(self) -> list[tuple[int, np.ndarray]]:
        """At most MOST_LABELS bodies, evenly chosen, with their centres of mass."""
        moving = [i for i, b in enumerate(self.look.model.bodies) if i and b.kind != "static"]
        if len(moving) > MOST_LABELS:
            moving = [moving[k] for k in np.linspace(0, len(moving) - 1, MOST_LABELS).round().astype(int)]
        return [(i, self.look.model.bodies[i].com) for i in moving]

    def label(self, on: bool) -> None:
        """Names at the bodies, or none."""
        for handle in self._labels:
            handle.remove()
        self._labels = []
        if on:
            bodies = self.look.model.bodies
            self._labels = [
                self._scene.add_label(f"/labels/{i}", bodies[i].name, font_screen_scale=0.8) for i, _ in self._labelled()
            ]  # fmt: skip
            self._show_labels(self.shown)

    def _show_hand(self, now: Snapshot, pull: MousePull | None) -> None:
        if pull is not None:
            self.hand.points = np.array([[pull.point(now.observation), pull.target]])
        if self.hand.visible != (pull is not None):
            self.hand.visible = pull is not None

    def body_of(self, group: int, instance: int) -> int:
        """The number of the body that an instance of a group of solids shows."""
        return int(self.look.solids[group].body[instance])


class _Lines:
    """All strands as segments: straight from point to point, and springs as coils while they are few."""

    def __init__(self, look: Look, radius: float):
        self._radius = radius
        springs = [k for k, s in enumerate(look.strands) if s.kind == "spring"]
        coiled = springs if len(springs) <= COILS else []
        straight = [k for k in range(len(look.strands)) if k not in coiled]
        self._coiled = [look.strands[k] for k in coiled]
        self._body = np.concatenate([look.strands[k].body for k in straight]) if straight else np.zeros(0, int)
        self._p = np.concatenate([look.strands[k].p_B for k in straight]) if straight else np.zeros((0, 3))
        counts = [len(look.strands[k].body) for k in straight]
        first = np.cumsum([0, *counts])
        numbered = zip(first, (look.strands[k] for k in straight), strict=False)
        self._courses = [(int(a), s) for a, s in numbered if isinstance(s, CableStrand)]
        begins = [np.arange(a, a + n - 1) for a, n in zip(first, counts, strict=False)]
        self._begin = np.concatenate(begins) if begins else np.zeros(0, int)
        per_coil = len(coil(np.zeros(3), np.array([0.0, 0.0, 1.0]), radius, TURNS)) - 1
        each = [len(look.strands[k].body) - 1 for k in straight] + [per_coil] * len(coiled)
        self._strand = np.repeat(np.array(straight + coiled, int), np.array(each, int))
        self._per_coil = per_coil

    def segments(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        """(n, 2, 3)"""
        x = p[self._body] + np.einsum("kij,kj->ki", R[self._body], self._p)
        for first, course in self._courses:
            x[first : first + len(course.body)] = course.points(R, p)
        parts = [np.stack([x[self._begin], x[self._begin + 1]], axis=1)]
        for spring in self._coiled:
            ends = spring.points(R, p)
            curve = coil(ends[0], ends[-1], self._radius, TURNS)
            if len(curve) <= self._per_coil:  # without length
                curve = np.repeat(ends[:1], self._per_coil + 1, axis=0)
            parts.append(np.stack([curve[:-1], curve[1:]], axis=1))
        return np.concatenate(parts)

    def spread(self, colours: np.ndarray) -> np.ndarray:
        """(n, 2, 3) from a colour per strand."""
        return np.repeat(colours[self._strand][:, None, :], 2, axis=1)


TURNS = 8
"""Of a spring drawn as a coil."""


def contacts(look: Look, now: Snapshot) -> tuple[np.ndarray, np.ndarray]:
    """Where contacts act (n, 3) and with which forces (n, 3): the observation's own `contacts`, if a solver gives some, with `points` and
    `forces`; and points held above planes."""
    given = getattr(now.observation, "contacts", None)
    at = [] if given is None else list(np.asarray(given.points, float))
    force = [] if given is None else list(np.asarray(given.forces, float))
    for name, element in look.model.constraints:
        push = now.observation.multipliers.get(name)
        if isinstance(element, PointPlane) and push is not None:
            a, b = look.model.body(element.point.body), look.model.body(element.origin.body)
            at.append(now.p[a] + now.R[a] @ np.array(element.point.p))
            force.append(float(push[0]) * (now.R[b] @ np.array(element.normal)))
    return np.array(at).reshape(-1, 3), np.array(force).reshape(-1, 3)


def rgb255(colour: str) -> tuple[int, int, int]:
    red, green, blue = (round(255 * x) for x in rgb(colour))
    return red, green, blue


def nice(x: float) -> float:
    """The nearest of 1, 2, 5 times a power of ten below x.

    >>> [nice(v) for v in (0.13, 0.7, 4.9)]
    [0.1, 0.5, 2.0]
    """
    power = 10.0 ** np.floor(np.log10(x))
    return float(max(m * power for m in (1.0, 2.0, 5.0) if m * power <= x * (1.0 + 1e-12)))


def view_from(low: np.ndarray, high: np.ndarray, plane: tuple[np.ndarray, np.ndarray, np.ndarray] | None, fov: float) -> tuple[Any, Any]:
    """Where the camera stands and what it looks at: everything in view, from the side of a planar motion, else over a corner."""
    return stand(low, high, PRESETS["Corner"] if plane is None else plane[2] + 0.1 * plane[1] + 0.12 * plane[0], fov)
