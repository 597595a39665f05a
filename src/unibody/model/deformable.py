"""What a model knows of deformables: vertices with masses, energies between them, a surface, and what they are attached to.

Vertices of all deformables are numbered one after the other, in the order of the deformables. A vertex is free, a control point of its own
(three coordinates), or attached: then it is a point Σ wₖ xₖ of something else, exactly and for ever,

    x = R p + t of a body, or x = Σ wₖ xₖ of up to four vertices that are free,

and has no coordinates of its own; or prescribed, a function of time. Elements act on points x = Σ wₖ xₖ of deformables as on points of
bodies (`VertexPoint`). `Asked…` is what the Builder was told, `…Info` what it made of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.energies.base import Stencils
from unibody.errors import ModelError
from unibody.model.vertex_masses import MassMatrix
from unibody.spatial.moved import MovedPlaces
from unibody.spatial.pose import Pose
from unibody.spatial.table import Table

NOBODY = -1


@dataclass(frozen=True, eq=False)
class AskedDeformable:
    """One cloth, rod or soft solid as it was asked for."""

    name: str
    kind: str
    """"soft", "cloth" or "rod"."""
    mesh: Any
    """A TetMesh, TriMesh or RodMesh: the shape at rest."""
    material: Any
    density: float
    """[kg/m³]"""
    X_WB: Pose = Pose()
    """Where its mesh stands at the start."""
    V_WB: tuple[float, ...] = (0.0,) * 6
    """How it moves at the start, as a rigid body with its origin there: world axes [rad/s, m/s]."""
    start: np.ndarray | None = None
    """(n, 3) where its vertices start, in the axes of the mesh [m], if not as at rest."""
    pressure: float = 0.0
    """[Pa] of closed cloth."""
    look: Any = None
    """A surface (a TriMesh or a Mesh) that is shown in its stead."""
    mass: str = "lumped"
    """Or "consistent"."""


@dataclass(frozen=True, eq=False)
class AskedAttachment:
    """Vertices of a deformable that are points of something, as asked for."""

    name: str
    deformable: str
    vertices: np.ndarray
    """(n,) numbered within the deformable."""
    body: str = ""
    """The body; or "": `points`."""
    points: tuple[str, ...] = ()
    """The points of another deformable, by name, one for each vertex."""
    at: np.ndarray | None = None
    """(n, 3) in the body's axes [m]; None: where they are at the start."""


@dataclass(frozen=True, eq=False)
class AskedPrescribed:
    """Vertices of a deformable that move as a function of time says, as asked for."""

    name: str
    deformable: str
    vertices: np.ndarray
    motion: Any = None


@dataclass(frozen=True)
class DeformableInfo:
    """One cloth, rod or soft solid."""

    name: str
    kind: str
    """"soft", "cloth" or "rod"."""
    first: int
    """The number of its first vertex among those of the model."""
    X: np.ndarray
    """(n, 3) at rest [m]."""
    x0: np.ndarray
    """(n, 3) at the start, in the world [m]."""
    v0: np.ndarray
    """(n, 3) at the start [m/s]."""
    mass: np.ndarray
    """(n,) of its vertices [kg]: what weight acts on, Σ M v being its momentum."""
    stencils: tuple[Stencils, ...]
    faces: np.ndarray
    """(m, 3) of its surface, numbered within it; outwards where it is a solid."""
    edges: np.ndarray
    """(k, 2) of its surface that belong to no face: a rod."""
    radius: float
    """[m] how far matter reaches beyond the surface: half the thickness of cloth, the radius of a rod."""
    look: Any = None
    """An embedded surface that is shown in its stead: (X, faces, vertices of the cells, weights)."""
    mesh: Any = None
    """The mesh that it was made of."""
    material: Any = None
    inertia: MassMatrix | None = None
    """M where it is not diagonal; the sums of its rows are `mass`."""

    def momenta(self, v: np.ndarray) -> np.ndarray:
        """M v of velocities (…, n, 3)."""
        return self.mass[:, None] * v if self.inertia is None else self.inertia.product(v)

    @property
    def n(self) -> int:
        """How many vertices it has, the directors of a rod among them, which are the last."""
        return len(self.X)

    @property
    def every(self) -> slice:
        """All of them among those of the model."""
        return slice(self.first, self.first + len(self.X))

    @property
    def vertices(self) -> slice:
        """Its vertices among those of the model, without directors."""
        return slice(self.first, self.first + getattr(self.mesh, "points", len(self.X)))


@dataclass(frozen=True)
class AttachmentInfo:
    """Vertices that are points of a body, or of another deformable."""

    name: str
    vertices: np.ndarray
    """(n,) numbered among all of the model."""
    body: int
    """The body, or −1."""
    p: np.ndarray
    """(n, 3) in the body's axes [m]."""
    support: np.ndarray
    """(n, 4) vertices of the other deformable, numbered among all; −1 behind the last."""
    weights: np.ndarray
    """(n, 4) which add up to 1."""


@dataclass(frozen=True)
class PrescribedVertices:
    """Vertices that move as a function of time says."""

    name: str
    vertices: np.ndarray
    """(n,) numbered among all of the model."""
    motion: Any
    """t ↦ (n, 3) positions in the world [m]; None: where they start, for ever."""


@dataclass(frozen=True)
class VertexPoint:
    """A point of a deformable on which elements act: Σ wₖ xₖ. Elements see the k-th of a model as body n_bodies + k, with R = 1."""

    name: str
    vertices: np.ndarray
    """(k,) numbered among all of the model."""
    weights: np.ndarray
    """(k,)"""


@dataclass(frozen=True)
class Places:
    """A motion of n vertices, whatever shape its numbers come in: t ↦ (n, 3)."""

    motion: Callable[[float], Any]
    count: int
    what: str

    def __call__(self, t: float) -> np.ndarray:
        given = self.motion(t)
        try:
            value = np.asarray(given, float)
        except (TypeError, ValueError, OverflowError):
            said = f"at t = {t:g} its motion gives {type(given).__name__} that is no array of numbers"
            raise ModelError(f"{self.what}: {said}; give ({self.count}, 3) positions in the world [m]") from None
        if value.size != 3 * self.count or not np.isfinite(value).all():
            said = f"shape {value.shape}" if value.size != 3 * self.count else "numbers that are not finite"
            raise ModelError(f"{self.what}: at t = {t:g} its motion gives {said}; give ({self.count}, 3) positions in the world [m]")
        return value.reshape(self.count, 3)

    def derivatives(self, t: float) -> tuple[np.ndarray, np.ndarray] | None:
        """(n, 3) velocities and accelerations of a Table, here or seen from elsewhere; None of other functions."""
        R = np.eye(3)
        motion: Any = self.motion
        while isinstance(motion, MovedPlaces):
            motion, R = motion.motion, R @ motion.X.R
        if not isinstance(motion, Table):
            return None
        _, velocities, accelerations = motion.derivatives(t).reshape(3, self.count, 3) @ R.T
        return velocities, accelerations
