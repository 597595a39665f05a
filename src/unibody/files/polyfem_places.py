"""Where a PolyFEM scene puts its meshes, and which faces of their surfaces its selections mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from unibody.errors import ModelError
from unibody.files.rigid_ipc import shown
from unibody.meshes import TetMesh
from unibody.spatial.pose import rotation_from_quaternion, rotation_from_vector

AXES = "xyz"
NO_ID = -1
SELECTED = {"id", "relative", "axis", "position", "box", "center", "radius", "normal", "point", "offset"}
Listed = Callable[[dict[str, Any], set[str], str], None]
"""Lists keys that are not known."""


def placed(v: np.ndarray, given: Any, what: str, listed: Listed) -> np.ndarray:
    """Vertices at R (scale · v) + translation."""
    if given is None:
        return v
    if not isinstance(given, dict):
        raise ModelError(f"{what} transformation: {shown(given)} is no object; give one")
    listed(given, {"translation", "rotation", "rotation_mode", "scale", "dimensions"}, "transformation")
    scale = numbers(given.get("scale", 1.0), (3,), f"{what} scale", spread=True)
    if given.get("dimensions") is not None:
        size = np.ptp(v, axis=0)
        wanted = numbers(given["dimensions"], (3,), f"{what} dimensions", spread=True)
        scale = np.where(size > 0.0, wanted / np.where(size > 0.0, size, 1.0), 1.0)
    if not scale.all():
        raise ModelError(f"{what}: a scale of 0 along one axis; give a size")
    R = rotation(given.get("rotation"), given.get("rotation_mode", "xyz"), what)
    return (v * scale) @ R.T + numbers(given.get("translation", (0, 0, 0)), (3,), f"{what} translation")

LARGEST_ANGLE = 1e9
"""Of a rotation vector [degrees]: of larger ones nothing is left but round-off."""


def rotation(value: Any, mode: Any, what: str) -> np.ndarray:
    """The matrix of a rotation, by its mode: axes in the order in which they turn, "axis_angle" (angle first), "quaternion" (x, y, z, w),
    "rotation_vector"; all in degrees."""
    if value is None or (isinstance(value, list) and not value):
        return np.eye(3)
    word = str(mode).lower()
    if word == "axis_angle":
        turn = numbers(value, (4,), f"{what} rotation")
        return rotation_from_vector(np.radians(np.fmod(turn[0], 360.0)) * _direction(turn[1:], f"{what} rotation: axis"))
    if word == "quaternion":
        q = numbers(value, (4,), f"{what} rotation")
        return rotation_from_quaternion(_direction(np.roll(q, 1), f"{what} rotation: quaternion"))
    if word == "rotation_vector":
        v = numbers(value, (3,), f"{what} rotation")
        largest = float(np.abs(v).max())
        if largest > LARGEST_ANGLE:
            raise ModelError(f"{what} rotation: {largest:g} degrees; give an angle of at most {LARGEST_ANGLE:g}")
        return rotation_from_vector(np.radians(v))
    if not word or set(word) - set(AXES):
        known = "axes such as 'xyz', axis_angle, quaternion or rotation_vector"
        raise ModelError(f"{what} rotation_mode: {shown(mode)} is unknown; give {known}")
    if isinstance(value, int | float) and len(word) == 1:
        value = [value if turned == word else 0.0 for turned in AXES]
    angles, R = np.radians(np.fmod(numbers(value, (3,), f"{what} rotation"), 360.0)), np.eye(3)
    for axis in word:
        k = AXES.index(axis)
        R = rotation_from_vector(angles[k] * np.eye(3)[k]) @ R
    return R


def _direction(x: np.ndarray, what: str) -> np.ndarray:
    """x/|x|, without overflow."""
    largest = np.abs(x).max()
    if largest == 0.0:
        raise ModelError(f"{what} {shown(x.tolist())} has no direction; give numbers that are not all 0")
    return x / largest / np.linalg.norm(x / largest)


def numbers(value: Any, shape: tuple[int, ...], what: str, spread: bool = False) -> np.ndarray:
    """Finite numbers of a shape; one alone counts for all if `spread`."""
    try:
        out = np.array(value, float)
    except (TypeError, ValueError):
        out = np.array(np.nan)
    if spread and out.ndim == 0:
        out = np.full(shape, out)
    if out.shape != shape or not np.isfinite(out).all():
        raise ModelError(f"{what}: {shown(value)}; give {' × '.join(map(str, shape))} finite numbers")
    return out


def pieces(tets: np.ndarray) -> list[np.ndarray]:
    """Tetrahedra by the pieces that hang together by their vertices, in the order in which they begin."""
    n = int(tets.max()) + 1
    pairs = np.concatenate([tets[:, [0, k]] for k in range(1, tets.shape[1])])
    label = connected_components(coo_array((np.ones(len(pairs)), pairs.T), shape=(n, n)), directed=False)[1][tets[:, 0]]
    _, first = np.unique(label, return_index=True)
    return [tets[label == label[k]] for k in np.sort(first)]


class SelectedFaces:
    """Ids of faces of a mesh's surface."""

    def __init__(self, given: Any, x: np.ndarray, what: str, listed: Listed):
        self.low, self.high, self.what = x.min(axis=0), x.max(axis=0), f"{what} surface_selection"
        self.tests: list[tuple[int, Callable[[np.ndarray], np.ndarray]]] = []
        for one in [] if given is None else given if isinstance(given, list) else [given]:
            if isinstance(one, int):
                self.tests.append((one, lambda p: np.ones(len(p), bool)))
                continue
            if not isinstance(one, dict) or not isinstance(one.get("id"), int):
                raise ModelError(f"{self.what}: {shown(one)}; give a whole number, or objects with an id")
            listed(one, SELECTED, "surface_selection")
            self.tests.append((one["id"], self._test(one)))

    def faces(self, mesh: TetMesh) -> tuple[np.ndarray, np.ndarray]:
        """(k, 3) corners of the faces of tetrahedra at the surface, and (k, 3 or 6) all their vertices."""
        faces = mesh.surface()
        if mesh.order == 1:
            return faces, faces
        four = faces.reshape(-1, 4, 3)  # about the corners one by one, then the middle
        corners = four[:, [0, 1, 2], [0, 1, 2]]
        return corners, np.concatenate([corners, four[:, 3]], axis=1)

    def ids(self, p: np.ndarray) -> np.ndarray:
        """Of faces with their middles at p: that of the first selection that holds it."""
        out = np.full(len(p), NO_ID)
        for number, test in reversed(self.tests):
            out[test(p)] = number
        return out

    def _test(self, one: dict[str, Any]) -> Callable[[np.ndarray], np.ndarray]:
        """Whether points are in a box, in a ball, on one side of a plane."""
        size, relative = self.high - self.low, bool(one.get("relative", False))
        if "box" in one:
            box = numbers(one["box"], (2, 3), self.what)
            low, high = self.low + size * box if relative else box
            return lambda p: ((p >= low) & (p <= high)).all(axis=1)
        if "center" in one:
            centre, radius = numbers(one["center"], (3,), self.what), float(numbers(one.get("radius"), (), self.what))
            if relative:
                centre, radius = self.low + size * centre, radius * float(np.linalg.norm(size))
            return lambda p: np.linalg.norm(p - centre, axis=1) <= radius
        if "axis" in one:
            axis = signed_axis(one["axis"], self.what)
            k, at = abs(axis) - 1, float(numbers(one.get("position"), (), self.what))
            at = size[k] * at + self.low[k] if relative else at
            return lambda p: p[:, k] >= at if axis > 0 else p[:, k] <= at
        if "normal" in one:
            normal = numbers(one["normal"], (3,), self.what)
            point = numbers(one.get("point", normal * float(numbers(one.get("offset", 0.0), (), self.what))), (3,), self.what)
            point = self.low + size * point if relative and "point" in one else point
            return lambda p: (p - point) @ normal >= 0.0
        raise ModelError(f"{self.what}: {shown(one)} is no selection; give box, center and radius, axis and position, or normal and point")


def signed_axis(value: Any, what: str) -> int:
    """1 to 3 of x to z, negative for the side below: from a number or from "-x"."""
    if isinstance(value, str) and value.lower().lstrip("+-") in tuple(AXES):
        return (AXES.index(value[-1].lower()) + 1) * (-1 if value.startswith("-") else 1)
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= abs(value) <= 3:
        return value
    raise ModelError(f"{what} axis: {shown(value)}; give one of x, -x, y, -y, z, -z, or 1 to 3")
