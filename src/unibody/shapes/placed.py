"""A shape somewhere else in the body's frame, x_B = R_BS x_S + p_BS; with a colour and a material; to be seen only, or
to be touched only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unibody.errors import ModelError
from unibody.shapes.base import Shape
from unibody.shapes.contact_material import ContactMaterial
from unibody.shapes.mass import MassProperties
from unibody.shapes.skeleton import Skeleton

if TYPE_CHECKING:
    from unibody.spatial.pose import Pose

__all__ = ["Placed"]


@dataclass(frozen=True, eq=False)
class Placed(Shape):
    """`shape` at the pose `X_BS` in a body's frame; a body may carry a list of them.

    >>> import unibody as ub
    >>> ub.Placed(ub.Sphere(0.1), ub.Pose(p=(0, 0, 1))).mass_properties(1000.0).com
    array([0., 0., 1.])
    """

    shape: Shape
    X_BS: Pose
    """Pose of the shape's frame in the body's; anything with `.R` (3, 3) and `.p` (3,)."""
    colour: tuple[float, ...] | None = None
    """Red, green, blue and, if not 1, opacity, each 0 … 1; None: pictures choose."""
    visible: bool = True
    """Whether pictures show it."""
    solid: bool = True
    """Whether it has mass and can be touched; False: it is only looked at."""
    material: ContactMaterial | None = None
    """Its friction, margin, …, and what it touches; None: as the model's Contact says. Of placements within placements the outer holds."""

    def __post_init__(self) -> None:
        self._check_look()
        if self.material is not None and not isinstance(self.material, ContactMaterial):
            raise ModelError(f"Placed: material {self.material!r} is none; give ContactMaterial(friction=…), or None")
        if not isinstance(self.shape, Shape):
            raise ModelError(f"Placed: {self.shape!r} is not a shape; give a Box, a Sphere, ... first, then its pose")
        R, p = np.asarray(getattr(self.X_BS, "R", np.nan)), np.asarray(getattr(self.X_BS, "p", np.nan))
        if R.shape != (3, 3) or p.shape != (3,) or not (np.isfinite(R).all() and np.isfinite(p).all()):
            raise ModelError(f"Placed: {self.X_BS!r} is not a pose; give Pose(p=(x, y, z), wxyz=(w, x, y, z))")
        # The tolerance lets through rotations that went through single precision.
        if np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0.0:
            raise ModelError(f"Placed: the rotation {np.round(R, 6).tolist()} is not a rotation matrix; give one with R Rᵀ = 1, det R = 1")

    def _check_look(self) -> None:
        for field in ("visible", "solid"):
            if not isinstance(getattr(self, field), bool | np.bool_):
                raise ModelError(f"Placed: {field} {getattr(self, field)!r} is neither True nor False; give one of them")
        if not (self.visible or self.solid):
            raise ModelError(f"Placed: {self.shape!r} is neither visible nor solid; leave it out, or make it one of them")
        if self.colour is None:
            return
        try:
            colour = tuple(float(c) for c in self.colour)
        except (TypeError, ValueError, OverflowError):
            colour = ()
        if len(colour) not in (3, 4) or not all(0.0 <= c <= 1.0 for c in colour):
            raise ModelError(f"Placed: colour {self.colour!r} is not a colour; give (red, green, blue) or one more for opacity, each 0 … 1")
        object.__setattr__(self, "colour", colour)

    @property
    def volume(self) -> float:
        return self.shape.volume

    def mass_properties(self, density: float) -> MassProperties:
        return self.shape.mass_properties(density).moved(self.X_BS.R, self.X_BS.p)

    def triangles(self, resolution: int = 16) -> tuple[np.ndarray, np.ndarray]:
        vertices, faces = self.shape.triangles(resolution)
        return self._moved(vertices), faces

    def edges(self, resolution: int = 32) -> tuple[np.ndarray, np.ndarray]:
        vertices, pairs = self.shape.edges(resolution)
        return self._moved(vertices), pairs

    def skeleton(self) -> Skeleton | None:
        thin = self.shape.skeleton()
        return None if thin is None else thin.moved(self.X_BS.R, self.X_BS.p)

    def _moved(self, vertices: np.ndarray) -> np.ndarray:
        return vertices @ np.asarray(self.X_BS.R).T + np.asarray(self.X_BS.p)
