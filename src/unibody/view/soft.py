"""What deformables look like: surfaces of triangles, and rods as tubes, whose places change with time; and the points of deformables that
strands run through, as frames behind those of the bodies, with R = 1.

An embedded surface is shown in the stead of the mesh that moves it: its places are Σ wₖ xₖ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.errors import ModelError
from unibody.model import Model
from unibody.view.style import body_colours


@dataclass(frozen=True)
class Soft:
    """One deformable."""

    name: str
    vertices: slice
    """Among those of the model."""
    faces: np.ndarray
    """(F, 3)"""
    edges: np.ndarray
    """(k, 2) that are drawn as tubes."""
    radius: float
    """[m] of these."""
    colour: np.ndarray
    """(3,)"""
    closed: bool
    """Whether the surface has an inside."""
    support: np.ndarray | None = None
    """(V, k) vertices with which the places of an embedded surface go."""
    weights: np.ndarray | None = None

    def places(self, x: np.ndarray) -> np.ndarray:
        """(…, V, 3) of what is drawn, from the vertices of all deformables (…, n, 3)."""
        own = x[..., self.vertices, :]
        if self.support is None or self.weights is None:
            return own
        return np.einsum("vk,...vki->...vi", self.weights, own[..., self.support, :])


def softs(model: Model) -> tuple[Soft, ...]:
    """All deformables, in colours that go on where those of the bodies end."""
    bodies = sum(b.kind != "static" for b in model.bodies)
    colours = np.array(body_colours(bodies + len(model.deformables)))[bodies:]
    out = []
    for d, colour in zip(model.deformables, colours, strict=True):
        _, faces, support, weights = d.look if d.look is not None else (None, d.faces, None, None)
        out.append(Soft(d.name, d.vertices, faces, d.edges, d.radius, colour, d.kind == "soft", support, weights))
    return tuple(out)


def start_vertices(model: Model) -> np.ndarray:
    """(n, 3) of all deformables at the start."""
    return np.concatenate([np.zeros((0, 3)), *(d.x0 for d in model.deformables)])


def with_points(model: Model, R: np.ndarray, p: np.ndarray, x: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """R (…, bodies, 3, 3) and p (…, bodies, 3) with frames at the points of deformables behind them; x (…, n, 3) their vertices."""
    if not model.vertex_points or x is None:
        return R, p
    at = np.stack([np.einsum("k,...ki->...i", q.weights, x[..., q.vertices, :]) for q in model.vertex_points], axis=-2)
    turned = np.broadcast_to(np.eye(3), (*at.shape[:-1], 3, 3))
    return np.concatenate([R, turned], axis=-3), np.concatenate([p, at], axis=-2)


def refuse_soft(model: Model, what: str) -> None:
    """Refuse to show a model without its deformables."""
    if model.deformables:
        names = ", ".join(f"'{d.name}'" for d in model.deformables[:4])
        raise ModelError(f"{what} cannot show deformables ({names}) yet; render a picture or a film: rec.render('film.mp4')")
