"""What a model knows of deformables: vertices with masses, energies between them, a surface, and what they are attached to.

Vertices of all deformables are numbered one after the other, in the order of the deformables. A vertex is free, a control point of its own
(three coordinates), or attached: then it is a point Σ wₖ xₖ of something else, exactly and for ever,

    x = R p + t of a body, or x = Σ wₖ xₖ of up to four vertices that are free,

and has no coordinates of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.energies.base import Stencils


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
    """(n,) of its vertices [kg]."""
    stencils: tuple[Stencils, ...]
    faces: np.ndarray
    """(m, 3) of its surface, numbered within it; outwards where it is a solid."""
    edges: np.ndarray
    """(k, 2) of its surface that belong to no face: a rod."""
    radius: float
    """[m] how far matter reaches beyond the surface: half the thickness of cloth, the radius of a rod."""
    look: Any = None
    """An embedded surface that is shown in its stead: (X, faces, vertices of the cells, weights)."""


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
