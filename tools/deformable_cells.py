"""The rows of the table of deformables in docs/capabilities.md: for each a small model in which what it names matters, and one without it.

Both `make_capabilities.py`, which asks solvers about the models, and `tests/agreement/test_deformable_cells.py`, which runs them, take the
rows from here. Everything is soft enough for explicit steps of two milliseconds, so that a referee needs no solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import unibody as ub
from unibody.energies import Energy
from unibody.energies.base import Stencils

SHEARED = np.array([[1.12, 0.1, 0.0], [0.05, 0.93, 0.0], [0.0, 0.08, 1.05]])
"""How matter starts that is to swing by its energy alone."""
STILL = (0.0, 0.0, 0.0)
G = (0.0, 0.0, -9.81)
TOP = np.array([0.0, 0.0, 0.3])
"""Where springs, cables and distances begin."""
CUBE_WEIGHTS = np.array([0.1, 0.2, 0.3, 0.4])


@dataclass(frozen=True)
class Strut(Energy):
    """k (|x₁ − x₀| − L)² / 2 of every edge of a rod: an energy of one's own, in NumPy."""

    k: float
    vertices = 2

    def rest(self, X: np.ndarray) -> np.ndarray:
        return np.linalg.norm(X[:, 1] - X[:, 0], axis=1)[:, None]

    def value(self, parameters: np.ndarray, x: np.ndarray) -> float:
        return 0.5 * self.k * float(np.linalg.norm(x[1] - x[0]) - parameters[0]) ** 2

    def gradient(self, parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
        r = x[1] - x[0]
        length = np.linalg.norm(r)
        pull = self.k * (length - parameters[0]) * r / length
        return np.array([-pull, pull])

    def hessian(self, parameters: np.ndarray, x: np.ndarray, project: bool) -> np.ndarray:
        r = x[1] - x[0]
        length = np.linalg.norm(r)
        n, across = r / length, 1.0 - parameters[0] / length
        block = self.k * (np.outer(n, n) + (max(across, 0.0) if project else across) * (np.eye(3) - np.outer(n, n)))
        return np.block([[block, -block], [-block, block]])

    def stencils(self, mesh: Any) -> list[Stencils]:
        return [Stencils(self, mesh.edges, self.rest(mesh.vertices[mesh.edges]))]


SOFT, CLOTH = ub.NeoHookean(young=3e3, poisson=0.3), ub.Fabric(young=3e3, poisson=0.3, thickness=2e-2)
DAMPED = ub.NeoHookean(young=3e3, poisson=0.3, damping=0.05)
CUBE = ub.TetMesh.box((0.2, 0.2, 0.2), cells=(1, 1, 1))
SHEET = ub.TriMesh.grid((0.2, 0.2), spacing=0.1, pattern="regular")
LINE = [(0.1 * k, 0.0, 0.0) for k in range(4)]
ROPE = ub.RodMaterial(young=2e4, bending=1e-2)


def swinging(kind: str, shape: Any, material: Any, gravity: Any = STILL, start: Any = SHEARED, **more: Any) -> tuple[ub.Builder, Any]:
    """A builder with one deformable that starts out of shape."""
    b = ub.Builder(gravity=gravity)
    at = np.asarray(shape if kind == "rod" else shape.vertices, float)
    mesh = shape.quadratic() if more.get("order") == 2 else shape
    if kind == "rod":
        return b, b.rod("own", shape, radius=0.02, material=material, density=1000.0, start=at @ start.T, **more)
    make = b.soft if kind == "soft" else b.cloth
    return b, make("own", shape, material, density=1000.0 if kind == "soft" else 300.0, start=mesh.vertices @ start.T, **more)


def matter(kind: str, shape: Any, material: Any, **more: Any) -> Callable[[], ub.Model]:
    return lambda: swinging(kind, shape, material, **more)[0].build()


def sheet(add: Callable[[ub.Builder, Any], Any], gravity: Any = G) -> Callable[[], ub.Model]:
    """A flat sheet, and what is done with it."""

    def make() -> ub.Model:
        b, cloth = swinging("cloth", SHEET, CLOTH, gravity, np.eye(3))
        add(b, cloth)
        return b.build()

    return make


def rope(add: Callable[[ub.Builder, Any], Any]) -> Callable[[], ub.Model]:
    def make() -> ub.Model:
        b, rod = swinging("rod", LINE, ROPE, G, np.eye(3))
        add(b, rod)
        return b.build()

    return make


def wall(b: ub.Builder) -> Any:
    return b.body("wall", shape=ub.Box((0.1, 0.1, 0.1)), kind="static", X_WB=ub.Pose((-0.4, 0, 0)))


def beside(b: ub.Builder, cloth: Any, tied: bool = True) -> None:
    """A soft cube next to the sheet, which flies the other way; a vertex of the sheet is a point of it."""
    cube = b.soft("cube", CUBE, SOFT, density=1000.0, X_WB=ub.Pose((-0.2, 0, 0.1)), V_WB=(0, 0, 0, 0, 0, 1.0))
    if tied:
        b.attach(cloth.vertices[[3]], cube.at(tet=0, weights=tuple(CUBE_WEIGHTS)))


def nothing(b: ub.Builder, cloth: Any) -> None:
    """What a twin without it does."""


def falling(contact: ub.Contact | None, soft: bool = False) -> Callable[[], ub.Model]:
    """A sheet that comes down fast on a plane, or on a soft cube that is held."""

    def make() -> ub.Model:
        b = ub.Builder(gravity=G)
        if not soft:
            b.body("ground", shape=ub.Plane(), kind="static", X_WB=ub.Pose((0, 0, -0.1)))
        else:
            cube = b.soft("cube", CUBE, SOFT, density=1000.0, X_WB=ub.Pose((0.0, 0.0, -0.2)))
            b.prescribe(cube.vertices[:])
        b.cloth("own", SHEET, CLOTH, density=300.0, V_WB=(0, 0, 0, 0, 0, -3.0))
        if contact is not None:
            b.add(contact)
        return b.build()

    return make


def folded(contact: bool) -> Callable[[], ub.Model]:
    """A sheet folded in the middle whose upper half comes down on the lower, which is held."""

    def make() -> ub.Model:
        b = ub.Builder(gravity=(0, 0, -60.0))
        mesh = ub.TriMesh.grid((0.4, 0.1), spacing=0.1, pattern="regular")
        x = mesh.vertices.copy()
        x[:, 2] = np.where(x[:, 0] > 0.05, 0.1, np.where(x[:, 0] > -0.05, 0.05, 0.0))
        x[:, 0] = np.where(x[:, 0] > 0.05, -x[:, 0] - 0.02, np.where(x[:, 0] > -0.05, 0.05, x[:, 0]))
        cloth = b.cloth("own", mesh, ub.Fabric(young=3e3, poisson=0.3, thickness=2e-3, bending=0.0), density=3000.0, start=x)
        b.prescribe(cloth.vertices[mesh.vertices[:, 0] < 0.05])
        if contact:
            b.add(ub.Contact(self_contact=True))
        return b.build()

    return make


@dataclass(frozen=True)
class Row:
    """What the page calls it, a model in which it matters, and one in which it is missing (None: without energies)."""

    name: str
    model: Callable[[], ub.Model]
    twin: Callable[[], ub.Model] | None = None
    miss: Callable[[Any], float] | None = None
    """[m] By how much a recording misses what is asked for; None: a referee without a solver says how everything moves."""


def row(
    name: str, add: Callable[[ub.Builder, Any], Any], miss: Callable[[Any], float] | None = None, of: Callable[..., Any] = sheet
) -> Row:
    return Row(name, of(add), of(nothing), miss)


def on_the_cube(rec: Any) -> float:
    """How far the sheet's vertex is from the point of the cube."""
    cube = rec.model.deformable("cube")
    return float(np.abs(rec.vertices("own")[:, 3] - np.einsum("k,tki->ti", CUBE_WEIGHTS, rec.vertices("cube")[:, cube.mesh.tets[0]])).max())


def length_kept(rec: Any) -> float:
    length = np.linalg.norm(rec.vertices("own")[:, 0] - TOP, axis=1)
    return float(np.abs(length - length[0]).max())


def stays(rec: Any) -> float:
    x = rec.vertices("own")[:, 0]
    return float(np.abs(x - x[0]).max())


def below(z: float, vertices: Any = slice(None)) -> Callable[[Any], float]:
    return lambda rec: max(0.0, z - float(rec.vertices("own")[:, vertices, 2].min()))


def spring(b: ub.Builder, cloth: Any) -> None:
    b.add(ub.SpringDamper(cloth.vertex(0), b.world.at(*TOP), stiffness=40.0, damping=0.5), name="it")


def cable(b: ub.Builder, cloth: Any) -> None:
    b.add(ub.Cable([cloth.at(face=0), b.world.at(*TOP)], stiffness=30.0, damping=0.3, rest_length=0.1), name="it")


def moved(b: ub.Builder, cloth: Any) -> None:
    b.prescribe(cloth.vertices[[0]], lambda t: np.array([[-0.1, -0.1, 8.0 * t * t]]))


WOVEN = ub.Fabric(young=3e3, poisson=0.1, thickness=2e-2, warp=6e3, weft=2e3, shear=1e3)
LOOSE = ub.Fabric(young=3e2, poisson=0.3, thickness=2e-2)
LIMITED = ub.Fabric(young=3e2, poisson=0.3, thickness=2e-2, strain_limit=0.4)
BALLOON = ub.TriMesh(*ub.Box((0.2, 0.2, 0.2)).triangles())
RING = [(0.2, 0, 0), (0, 0.2, 0), (-0.2, 0, 0), (0, -0.2, 0)]

ROWS = (
    Row("soft solid, `NeoHookean`", matter("soft", CUBE, SOFT)),
    Row("soft solid, `CoRotated`", matter("soft", CUBE, ub.CoRotated(young=3e3, poisson=0.3))),
    Row("soft solid, `StVK`", matter("soft", CUBE, ub.StVK(young=3e3, poisson=0.3))),
    Row("soft solid of quadratic tetrahedra (`order=2`)", matter("soft", CUBE, SOFT, order=2)),
    Row("cloth, `Fabric`", matter("cloth", SHEET, CLOTH)),
    Row("`Fabric(warp=…, weft=…, shear=…)`", matter("cloth", SHEET, WOVEN)),
    Row("`Fabric(strain_limit=…)`", matter("cloth", SHEET, LIMITED), matter("cloth", SHEET, LOOSE)),
    Row("`pressure` in closed cloth", matter("cloth", BALLOON, CLOTH, start=np.eye(3), pressure=60.0)),
    Row("rod, `RodMaterial`", matter("rod", LINE, ROPE)),
    Row("closed rod", matter("rod", RING, ROPE, closed=True)),
    Row("`damping` of a material", matter("soft", CUBE, DAMPED), matter("soft", CUBE, SOFT)),
    Row("an energy of one's own", matter("rod", LINE, Strut(200.0))),
    row("`attach` to a body", lambda b, cloth: b.attach(cloth.vertices[:3], wall(b))),
    Row("`attach` to another deformable", sheet(beside), sheet(lambda b, cloth: beside(b, cloth, False)), on_the_cube),
    row("`attach(clamped=True)` of a rod", lambda b, rod: b.attach(rod.end(0), wall(b), clamped=True), of=rope),
    row("`prescribe`: held", lambda b, cloth: b.prescribe(cloth.vertices[[0, 2]])),
    row("`prescribe`: moved", moved),
    row("`SpringDamper` at a vertex", spring),
    row("`Cable` at a point of a face", cable),
    row("`Distance` at a vertex", lambda b, cloth: b.add(ub.Distance(cloth.vertex(0), b.world.at(*TOP))), length_kept),
    row("`FixedPoint` at a vertex", lambda b, cloth: b.add(ub.FixedPoint(cloth.vertex(0), None)), stays),
    row("`PointPlane` at a vertex", lambda b, cloth: b.add(ub.PointPlane(cloth.vertex(4), (0, 0, -0.01), (0, 0, 1))), below(-0.01, 4)),
    Row("`Contact` with a body", falling(ub.Contact()), falling(None), below(-0.1)),
    Row("`Contact` of two deformables", falling(ub.Contact(), True), falling(None, True), below(-0.1)),
    Row("`Contact(self_contact=True)`", folded(True), folded(False), below(0.0)),
)
