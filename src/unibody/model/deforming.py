"""What a Builder says of deformables: cloth, rods and soft solids, what they are attached to, and vertices that move as they are told.
Methods only; what they become is worked out in `deformed`, when the model is built.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unibody.element import Point, is_word, name_of, number
from unibody.errors import ModelError
from unibody.meshes import RodMesh, TetMesh, TriMesh
from unibody.model.checking import FARTHEST, FASTEST, check_new, checked_pose, within
from unibody.model.deformable import AskedAttachment, AskedDeformable, AskedPrescribed
from unibody.model.deformable_points import EXAMPLES, DeformableHandle, Vertices, joined_name, point_of_name, shortly, split_name
from unibody.model.model import look_up
from unibody.spatial.pose import Pose, vector

GREATEST = 1e20
"""Of pressures [Pa]: what they move stays within what can be counted."""
MASSES = ("lumped", "consistent")
"""How a cell's mass is given to its vertices: to each a share, or by the matrix of its shape functions."""


class Deforming:
    """The part of `Builder` that speaks about deformables."""

    _bodies: dict[str, Any]
    _deformables: dict[str, AskedDeformable]
    _attachments: dict[str, AskedAttachment]
    _prescribed: dict[str, AskedPrescribed]

    def soft(
        self, name: str, mesh: TetMesh, material: Any, density: float, X_WB: Pose | None = None, V_WB: Any = None, order: int | None = None,
        start: Any = None, mass: str = "lumped",
    ) -> DeformableHandle:  # fmt: skip
        """A soft solid of tetrahedra, of `density` [kg/m³]. `order=2` makes them quadratic, with vertices at the middles of edges: they
        bend without locking. It stands at X_WB; `start` (n, 3), in the axes of the mesh, puts its vertices elsewhere than at rest.
        `mass` "consistent" takes the mass matrix of the shape functions; frequencies are then as much too high as lumped ones are too
        low."""
        what = f"soft '{name}'"
        if not isinstance(mesh, TetMesh):
            raise ModelError(f"{what}: mesh {shortly(mesh)} is no TetMesh; give one such as TetMesh.box((1, 0.1, 0.1), cells=(10, 1, 1))")
        if order not in (None, 1, 2) or (order == 1 and mesh.order == 2):
            remedy = "give 1 or 2" if order not in (1, 2) else "its mesh is quadratic already; leave order out"
            raise ModelError(f"{what}: order {order!r} cannot be; {remedy}")
        return self._deformable("soft", name, mesh.quadratic() if order == 2 else mesh, material, density, X_WB, V_WB, start, mass)

    def cloth(
        self, name: str, mesh: TriMesh, material: Any, density: float, X_WB: Pose | None = None, V_WB: Any = None, start: Any = None,
        pressure: float = 0.0, mass: str = "lumped",
    ) -> DeformableHandle:  # fmt: skip
        """Cloth or a shell, of `density` [kg/m³], as thick as its material says. `pressure` [Pa] within a closed one pushes outwards."""
        what = f"cloth '{name}'"
        if not isinstance(mesh, TriMesh):
            raise ModelError(f"{what}: mesh {shortly(mesh)} is no TriMesh; give one such as TriMesh.grid((1, 1), spacing=0.05)")
        if not getattr(material, "thickness", 0.0) > 0.0:
            raise ModelError(f"{what}: material {shortly(material)} has no thickness above 0; give one such as Fabric(…, thickness=3e-4)")
        p = number(pressure, f"{what} pressure")
        if abs(p) > GREATEST:
            raise ModelError(f"{what}: pressure {p:g} Pa is beyond {GREATEST:g} Pa; give one in pascals")
        if p and not mesh.closed:
            rim = len(mesh.boundary())
            raise ModelError(f"{what}: pressure {p:g} Pa in cloth that is open (a boundary of {rim} edges); close it, or leave it out")
        return self._deformable("cloth", name, mesh, material, density, X_WB, V_WB, start, mass, p)

    def rod(
        self, name: str, points: Any, radius: float | None = None, material: Any = None, density: float = 1000.0, closed: bool = False,
        X_WB: Pose | None = None, V_WB: Any = None, start: Any = None, mass: str = "lumped",
    ) -> DeformableHandle:  # fmt: skip
        """A rod or rope along points, or along a RodMesh; `closed` goes on from the last point to the first. A material with `twist` gives
        every edge a director; `start` is then of the points alone, without twist, or `mesh.places(points, twist)`."""
        what = f"rod '{name}'"
        if isinstance(points, RodMesh):
            if radius is not None or closed:
                raise ModelError(f"{what}: radius and closed belong to its RodMesh; leave them out")
            mesh = points
        else:
            try:
                mesh = RodMesh(points, radius, closed)  # type: ignore[arg-type]
            except ModelError as error:
                raise ModelError(f"{what}: {error}") from None
        if getattr(material, "twist", False):
            mesh = mesh.framed()
            if start is not None and np.size(start) == 3 * mesh.points:
                start = mesh.places(placed_as(start, mesh.points, f"{what} start"))
        elif mesh.directors:
            raise ModelError(f"{what}: its mesh has directors, which {shortly(material)} does not hold; give a material with twist=True")
        return self._deformable("rod", name, mesh, material, density, X_WB, V_WB, start, mass)

    def _deformable(
        self, kind: str, name: str, mesh: Any, material: Any, density: Any, X_WB: Any, V_WB: Any, start: Any, mass: str,
        pressure: float = 0.0,
    ) -> DeformableHandle:  # fmt: skip
        what = f"{kind} '{name}'"
        check_new(name, ChainMap(self._deformables, self._bodies), kind)
        if not callable(getattr(material, "stencils", None)):
            raise ModelError(f"{what}: material {shortly(material)} is none; give one such as {EXAMPLES[kind]}")
        if not is_word(mass, MASSES):
            raise ModelError(f"{what}: masses {shortly(mass)} are unknown; give one of {', '.join(MASSES)}")
        at = checked_pose(X_WB, f"{what} X_WB")
        within(at.p, FARTHEST, f"{what} X_WB")
        twist = tuple(float(x) for x in within(vector((0.0,) * 6 if V_WB is None else V_WB, 6, f"{what} V_WB"), FASTEST, f"{what} V_WB"))
        placed = None if start is None else placed_as(start, len(mesh.vertices), f"{what} start")
        rho = number(density, f"{what} density", positive=True)
        self._deformables[name] = AskedDeformable(name, kind, mesh, material, rho, at, twist, placed, pressure, mass=mass)
        return self._handle(name)

    def _handle(self, name: str) -> DeformableHandle:
        def embed(surface: Any) -> None:
            self._deformables[name] = replace(self._deformables[name], look=checked_look(surface, self._deformables[name]))

        return DeformableHandle(name, lambda: look_up(name, self._deformables, "deformable"), embed)

    def deformable(self, name: Any) -> DeformableHandle:
        """The handle of a deformable that is already there."""
        key = name_of(name, "deformable")
        look_up(key, self._deformables, "deformable")
        return self._handle(key)

    def attach(self, points: Vertices, target: Any, at: Any = None, clamped: bool = False, name: str | None = None) -> str:
        """Make vertices points of a body, exactly: where they are at the start, or `at` (n, 3) in the body's axes. Or points of another
        deformable: of `flag.at(face=…, weights=…)`, of as many of its vertices. `clamped`, for the end of a rod on a body, holds its
        direction, too: the rod is clamped at the middle of its last edge, and, if it resists twist, does not turn there. Returns the
        name."""
        chosen = self._chosen(points, "attach")
        called = self._element_name(name, f"{chosen.deformable}.attach", self._attachments)
        index = chosen.index
        if clamped:
            if chosen.end is None:
                remedy = "give rope.end(0) or rope.end(1), or all vertices that are held"
                raise ModelError(f"attachment '{called}': clamped is for the end of a rod; {remedy}")
            index = np.array(chosen.end)
        if isinstance(target, Point) and split_name(target.body) is None:
            if at is not None:
                raise ModelError(f"attachment '{called}': both a point of '{target.body}' and at; give one of them")
            at, target = target.p, target.body
        body, through = self._target(f"attachment '{called}'", target, len(index))
        if through and clamped:
            raise ModelError(f"attachment '{called}': an end is clamped to a body; '{through[0]}' has no direction, leave clamped out")
        self._attach(called, chosen.deformable, index, body, through, at)
        return called

    def _attach(self, name: str, deformable: str, index: np.ndarray, body: str, points: tuple[str, ...], at: Any) -> None:
        """An attachment in its plain terms: a body, with places in its axes, or one point of another deformable for each vertex."""
        what = f"attachment '{name}'"
        self._refuse_twice(what, deformable, index)
        if body:
            look_up(body, self._bodies, f"{what}: body")
        elif at is not None:
            raise ModelError(f"{what}: at is a place in a body, and '{points[0]}' is a point already; leave it out")
        for point in points:
            try:
                found = point_of_name(point, self._deformables)
            except ModelError as error:
                raise ModelError(f"{what}: {error}") from None
            if found is None:
                raise ModelError(f"{what}: '{point}' is no point of a deformable; give flag.vertex(3) or flag.at(face=12, weights=…)")
            if found[0] == deformable:
                raise ModelError(f"{what}: '{deformable}' is attached to itself; give a body or another deformable")
        if not body and len(points) != len(index):
            raise ModelError(f"{what}: {len(index)} vertices on {len(points)} points; give as many")
        if at is not None and np.size(at) == 3 and len(index) > 1:
            said = "of the last vertex and the next" if len(index) == 2 else "one for each vertex, in their order"
            raise ModelError(f"{what}: one place for {len(index)} vertices; give at ({len(index)}, 3), {said}")
        places = None if at is None else placed_as(at, len(index), f"{what} at")
        self._attachments[name] = AskedAttachment(name, deformable, index, body, points, places)

    def prescribe(self, points: Vertices, motion: Any = None, name: str | None = None) -> str:
        """Make vertices move as a function of time says: t ↦ (n, 3) positions in the world [m], a Table of 3 n numbers a row, or None: held
        where they start. Returns the name."""
        chosen = self._chosen(points, "prescribe")
        called = self._element_name(name, f"{chosen.deformable}.prescribe", self._prescribed)
        what = f"prescribed '{called}'"
        if motion is not None and not callable(motion):
            raise ModelError(f"{what}: motion {shortly(motion)} is no function of time; give one, a Table, or None to hold them")
        self._refuse_twice(what, chosen.deformable, chosen.index)
        self._prescribed[called] = AskedPrescribed(called, chosen.deformable, chosen.index, motion)
        return called

    def _chosen(self, points: Any, what: str) -> Vertices:
        if isinstance(points, Point):
            parts = split_name(points.body)
            if parts is not None and parts[1] == "vertex" and parts[0] in self._deformables:
                return self.deformable(parts[0]).vertices[parts[2]]
        if not isinstance(points, Vertices):
            raise ModelError(f"{what}: {shortly(points)} are no vertices; give flag.vertices[…], flag.vertex(3) or rope.end(0)")
        look_up(points.deformable, self._deformables, f"{what}: deformable")
        return points

    def _element_name(self, name: str | None, stem: str, taken: Mapping[str, Any]) -> str:
        both: dict[str, Any] = {**self._attachments, **self._prescribed}
        k = sum(key.startswith(f"{stem}.") for key in taken)
        while name is None or (name in both and name.startswith(f"{stem}.")):
            name, k = f"{stem}.{k}", k + 1
        check_new(name, both, "attachment")
        return name

    def _refuse_twice(self, what: str, deformable: str, index: np.ndarray) -> None:
        """A vertex is a point of one thing only."""
        values, counts = np.unique(index, return_counts=True)
        if (counts > 1).any():
            raise ModelError(f"{what}: vertex {values[np.argmax(counts > 1)]} of '{deformable}' stands there twice; leave one out")
        held: Sequence[Any] = [*self._attachments.values(), *self._prescribed.values()]
        for other in held:
            both = np.intersect1d(other.vertices, index)
            if other.deformable == deformable and both.size:
                said = f"vertex {both[0]} of '{deformable}' is held by '{other.name}' already"
                raise ModelError(f"{what}: {said}; leave it out here or there")

    def _target(self, what: str, target: Any, count: int) -> tuple[str, tuple[str, ...]]:
        """The body, or the points of another deformable."""
        if isinstance(target, Vertices):
            return "", tuple(joined_name(target.deformable, "vertex", int(k), None) for k in target.index)
        if isinstance(target, Point):
            return "", (target.body,) * count
        body = name_of(target, f"{what} to")
        if body in self._deformables:
            raise ModelError(f"{what}: deformable '{body}' as a whole is no place; give its at(…), vertex(i) or vertices[…]")
        return body, ()


def placed_as(value: Any, n: int, what: str) -> np.ndarray:
    """(n, 3) places, read-only."""
    try:
        out = np.array(value, float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what}: {shortly(value)} are no places; give ({n}, 3) in metres") from None
    if out.size != 3 * n or not np.isfinite(out).all():
        raise ModelError(f"{what}: shape {out.shape}; give ({n}, 3) finite numbers in metres")
    out = out.reshape(n, 3)
    within(out.ravel(), FARTHEST, what)
    out.flags.writeable = False
    return out


def checked_look(surface: Any, asked: AskedDeformable) -> Any:
    """A surface to be shown, if it has vertices and faces."""
    if asked.kind == "rod":
        raise ModelError(f"'{asked.name}': a rod is drawn as it is; embed a surface in a soft solid or in cloth")
    if not (hasattr(surface, "vertices") and hasattr(surface, "faces")):
        raise ModelError(f"'{asked.name}' embed: {shortly(surface)} is no surface; give a TriMesh or a Mesh")
    return surface


