"""What deformables look like: surfaces of triangles, and rods as tubes, whose places change with time; and the points of deformables that
strands run through, as frames behind those of the bodies, with R = 1.

An embedded surface is shown in the stead of the mesh that moves it: its places are Σ wₖ xₖ. The strain of a cell is that principal one,
λ − 1, which is largest in size; a vertex has the mean of the cells around it, and an embedded one Σ wₖ of those of its cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from unibody.errors import ModelError
from unibody.meshes.strain import principal_strains
from unibody.model import Model
from unibody.view.style import body_colours
from unibody.view.surfaces import cleaned, closed


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
    rest: np.ndarray
    """(V, 3) of what is drawn, without strain: where it has edges there, it has them always."""
    mesh: Any
    """The mesh that it was made of."""
    support: np.ndarray | None = None
    """(V, k) vertices with which the places of an embedded surface go."""
    weights: np.ndarray | None = None

    def places(self, x: np.ndarray) -> np.ndarray:
        """(…, V, 3) of what is drawn, from the vertices of all deformables (…, n, 3)."""
        own = x[..., self.vertices, :]
        if self.support is None or self.weights is None:
            return own
        return np.einsum("vk,...vki->...vi", self.weights, own[..., self.support, :])

    def strains(self, x: np.ndarray) -> np.ndarray:
        """(…, V) of what is drawn, stretched above and pressed below 0, from the vertices of all deformables (…, n, 3)."""
        most = largest_in_size(principal_strains(self.mesh, x[..., self.vertices, :]))
        cells = most.reshape(-1, most.shape[-1])
        own = (self._mean @ cells.T).T.reshape(*most.shape[:-1], -1)
        if self.support is None or self.weights is None:
            return own
        return np.einsum("vk,...vk->...v", self.weights, own[..., self.support])

    @cached_property
    def _mean(self) -> csr_array:
        """(n, m): from cells to the vertices that they meet at."""
        cells = next(getattr(self.mesh, name) for name in ("tets", "faces", "edges") if hasattr(self.mesh, name))
        m, corners = cells.shape
        around = np.bincount(cells.ravel(), minlength=self.vertices.stop - self.vertices.start)
        entries = 1.0 / around[cells.ravel()], (cells.ravel(), np.repeat(np.arange(m), corners))
        return csr_array(entries, shape=(len(around), m))


def largest_in_size(principal: np.ndarray) -> np.ndarray:
    """(…, m) of every cell the principal strain that is largest in size; principal (…, m, k).

    >>> largest_in_size(np.array([[0.1, -0.3], [0.2, 0.0]])).tolist()
    [-0.3, 0.2]
    """
    return np.take_along_axis(principal, np.abs(principal).argmax(axis=-1)[..., None], axis=-1)[..., 0]


def largest_strain(strains: Sequence[np.ndarray]) -> float:
    """The size that all but a two-hundredth of them stay below [–]: full colour; 0 without any."""
    sizes = np.abs(np.concatenate([np.zeros(0), *(np.ravel(s) for s in strains)]))
    sizes = sizes[np.isfinite(sizes)]
    return float(np.quantile(sizes, 0.995)) if sizes.size else 0.0


def softs(model: Model) -> tuple[Soft, ...]:
    """All deformables, in colours that go on where those of the bodies end."""
    bodies = sum(b.kind != "static" for b in model.bodies)
    colours = np.array(body_colours(bodies + len(model.deformables)))[bodies:]
    out = []
    for d, colour in zip(model.deformables, colours, strict=True):
        rest, faces, support, weights = d.look if d.look is not None else (d.X[: d.vertices.stop - d.first], d.faces, None, None)
        inside = d.kind == "soft" and (d.look is None or closed(cleaned(rest, faces)[1]))  # what is embedded may be cut open
        out.append(Soft(d.name, d.vertices, faces, d.edges, d.radius, colour, inside, rest, d.mesh, support, weights))
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
        raise ModelError(f"{what} cannot show deformables ({names}); render a picture or a film: rec.render('film.mp4')")
