"""Scenes of PolyFEM (JSON): soft solids of tetrahedra that fall, are held and moved, and must never go through each other.

SI, y up; `rhs` is minus gravity. A vertex v of a mesh stands at R (scale · v) + translation, with `rotation` in degrees: R = Rz Ry Rx for
the `rotation_mode` "xyz", whose first axis turns first. `dimensions` are sizes before the turn. A mesh in several pieces becomes as many
deformables; an obstacle a body that never moves, or moves without turning. Faces of the surface have the id of the first selection that
holds their middle; all vertices of faces with the id of a `dirichlet_boundary` go where it says, from where they start.

Masses are lumped, gaps count from the surfaces, everything touches everything, itself too, as there. Every key of a file is honoured, or
`left_out` names it; a material without a law here is refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from unibody.constraints import Contact
from unibody.element import number
from unibody.energies import NeoHookean, StVK
from unibody.errors import ModelError
from unibody.files.polyfem_functions import DisplacedPoints, Formula, Shifted
from unibody.files.polyfem_places import LARGEST_ID, SelectedFaces, directed, numbers, pieces, placed
from unibody.files.polyfem_source import mesh_file, read_polyfem, speaks_polyfem
from unibody.files.rigid_ipc import shown
from unibody.meshes import TetMesh
from unibody.meshes.checking import tet_volumes
from unibody.meshes.gmsh import read_msh
from unibody.meshes.loading import read_tets, turned
from unibody.model import Builder
from unibody.scenes import Scene
from unibody.shapes import Mesh, OpenMesh, Plane, Shape
from unibody.shapes.mesh import load_triangles
from unibody.spatial.pose import Pose

__all__ = ["is_polyfem", "load_polyfem", "speaks_polyfem"]

LAWS: dict[str, Any] = {"NeoHookean": NeoHookean, "SaintVenant": StVK}
"""By the names of materials there."""
REACH, SLIP = 1e-3, 1e-3
RULES = {"ImplicitEuler": "implicit", "BDF1": "implicit", "BDF2": "bdf2"}
LONG, PART = 1e-5, 100.0
"""Newton's method ends at the lesser of 1e-5 m/s and a hundredth of the slip speed, or friction would be lost in its tolerance."""
HEADS = {"geometry", "materials", "time", "boundary_conditions", "contact", "solver", "space", "initial_conditions", "output", "tests",
    "root_path", "defaults", "authors", "description", "preset_problem",
}  # fmt: skip
SOLID = {"mesh", "transformation", "volume_selection", "surface_selection", "is_obstacle", "enabled", "type", "extract", "n_refs"}
ENTRY = {"id", "value"}


def is_polyfem(data: Any) -> bool:
    """Whether parsed JSON is a scene of this dialect."""
    return isinstance(data, dict) and "geometry" in data


def load_polyfem(path: str | Path, *, allow_outside: bool = False) -> Scene:
    """The scene of a file; what it asks for that is not represented stands in `left_out`."""
    source = Path(path)
    data = read_polyfem(source, allow_outside)
    if not is_polyfem(data):
        raise ModelError(f"scene '{source}': no 'geometry'; give a scene of PolyFEM")
    return _PolyfemReader(source, data, allow_outside).scene()


class _PolyfemReader:
    def __init__(self, source: Path, data: dict[str, Any], allow_outside: bool):
        self.source, self.data, self.allow_outside = source, data, allow_outside
        self.where, self.home = f"scene '{source}'", source.resolve().parent
        self.left_out: list[str] = []
        self.loaded: dict[Path, tuple[np.ndarray, np.ndarray]] = {}
        conditions = self._object(data, "boundary_conditions", self.where)
        self._unknown(conditions, {"rhs", "dirichlet_boundary", "obstacle_displacements"}, "boundary_conditions")
        self.conditions = conditions
        self.held = self._entries(conditions.get("dirichlet_boundary"), "dirichlet_boundary")
        self.moved = self._entries(conditions.get("obstacle_displacements"), "obstacle_displacements")
        initial = self._object(data, "initial_conditions", self.where)
        self._unknown(initial, {"velocity"}, "initial_conditions")
        self.speeds = self._entries(initial.get("velocity"), "initial velocity")

    def scene(self) -> Scene:
        # loads, and what is in the scene
        b = Builder(gravity=-self._vector(self.conditions.get("rhs", (0, 0, 0)), f"{self.where} rhs"))
        self.order = self._discretization()
        geometry = self.data["geometry"]
        for k, given in enumerate(geometry if isinstance(geometry, list) else [geometry]):
            what = f"{self.where} geometry[{k}]"
            if not isinstance(given, dict):
                raise ModelError(f"{what}: {shown(given)} is no object; give one with a mesh")
            if given.get("enabled", True):
                (self._obstacle if given.get("is_obstacle", False) else self._solid)(b, k, given, what)
        if not b.build().deformables:
            raise ModelError(f"{self.where}: nothing in its geometry moves; give a mesh that is no obstacle")
        # contact, time and how it is solved
        options = self._contact(b)
        dt, duration, rule = self._time()
        options["rule"] = rule
        self._unknown(self.data, HEADS, "the scene")
        self._settings()
        solver = ":".join(["barrier"] + [f"{key}={value}" for key, value in options.items()])
        return Scene(b.build(), duration, dt, left_out=tuple(self.left_out), name=self.source.stem, solver=solver)

    def _discretization(self) -> int:
        """The order of elements."""
        space = self._object(self.data, "space", self.where)
        self._unknown(space, {"discr_order"}, "space")
        order = space.get("discr_order", 1)
        if order not in (1, 2):
            raise ModelError(f"{self.where} discr_order: {shown(order)}; tetrahedra here are of order 1 or 2")
        return int(order)

    def _contact(self, b: Builder) -> dict[str, Any]:
        """Add the Contact; the solver's options that say how it rubs."""
        contact = self._object(self.data, "contact", self.where)
        self._unknown(contact, {"enabled", "dhat", "friction_coefficient", "epsv"}, "contact")
        if not contact.get("enabled", False):
            return {}
        mu = number(contact.get("friction_coefficient", 0.0), f"{self.where} friction_coefficient", minimum=0.0)
        reach = number(contact.get("dhat", REACH), f"{self.where} dhat", positive=True)
        b.add(Contact(friction=mu, reach=reach, neighbours=True, self_contact=True), name="contact")
        if mu == 0.0:
            return {}
        slip = number(contact.get("epsv", SLIP), f"{self.where} epsv", positive=True)
        rubbing = self._object(self._object(self.data, "solver", self.where), "contact", f"{self.where} solver")
        rounds = rubbing.get("friction_iterations", 1)
        whole = int(number(rounds, f"{self.where} friction_iterations"))
        return {"slip_speed": repr(slip), "friction_iterations": max(0, whole), "tolerance": repr(min(LONG, slip / PART))}

    def _time(self) -> tuple[float, float, str]:
        """Step [s], duration [s] and rule."""
        if "time" not in self.data:
            raise ModelError(f"{self.where}: no 'time': a problem of statics; give tend and dt, and damping to the materials")
        time = self._object(self.data, "time", self.where)
        self._unknown(time, {"tend", "dt", "time_steps", "t0", "integrator"}, "time")
        start = number(time.get("t0", 0.0), f"{self.where} t0")
        if start != 0.0:
            raise ModelError(f"{self.where} t0: {start:g}; scenes here begin at 0, shift the functions of t")
        words = {key: number(time[key], f"{self.where} {key}", positive=True) for key in ("tend", "dt", "time_steps") if key in time}
        if len(words) < 2:
            raise ModelError(f"{self.where} time: {shown(time)}; give two of tend, dt and time_steps")
        dt = words["dt"] if "dt" in words else words["tend"] / words["time_steps"]
        duration = words["tend"] if "tend" in words else dt * words["time_steps"]
        if len(words) == 3 and abs(words["time_steps"] * dt - duration) > 0.5 * dt:
            self.left_out.append(f"time: time_steps {words['time_steps']:g}, since tend and dt are given too")
        rule = time.get("integrator", "ImplicitEuler")
        if isinstance(rule, dict):
            self._unknown(rule, {"type", "steps"}, "integrator")
            rule = f"BDF{rule.get('steps', 1)}" if rule.get("type") == "BDF" else rule.get("type")
        if not isinstance(rule, str) or rule not in RULES:
            raise ModelError(f"{self.where} integrator: {shown(time['integrator'])} is none of {', '.join(RULES)}; take one of them")
        return dt, duration, RULES[rule]

    def _settings(self) -> None:
        """Say which settings of the original's own solver and output are not taken."""
        solver = dict(self._object(self.data, "solver", self.where))
        advanced = self._object(solver, "advanced", f"{self.where} solver")
        if not advanced.get("lump_mass_matrix", False):
            self.left_out.append("solver: lump_mass_matrix false: masses are lumped here")
        rest = {key: value for key, value in advanced.items() if key != "lump_mass_matrix"}
        inner = {k: v for k, v in self._object(solver, "contact", f"{self.where} solver").items() if k != "friction_iterations"}
        kept = {**solver, "advanced": rest, "contact": inner}
        for key in sorted(key for key, value in kept.items() if value not in ({}, [], None)):
            self.left_out.append(f"solver {key}: {shown(kept[key])}: settings of the original's own solver; solvers here have their own")
        if self.data.get("output"):
            said = "what the original writes; recordings are written as their caller says"
            self.left_out.append(f"output: {shown(self.data['output'])}: {said}")
        if self.data.get("tests"):
            self.left_out.append(f"tests: {shown(self.data['tests'])}: norms of the original's own displacement")
        for key in ("defaults", "preset_problem"):
            if self.data.get(key):
                self.left_out.append(f"{key}: {shown(self.data[key])}")

    def _solid(self, b: Builder, k: int, given: dict[str, Any], what: str) -> None:
        """Deformables of one mesh, one for each of its pieces."""
        self._geometry_keys(given, SOLID, what)
        path = mesh_file(self.home, given.get("mesh"), f"{what} mesh", self.allow_outside)
        v, tets = read_tets(path)
        x = placed(v, given.get("transformation"), what, self._unknown)
        material, density, volume = self._material(given, what)
        surface = SelectedFaces(given.get("surface_selection"), x, what, self._unknown)
        if (tet_volumes(x, tets) < 0.0).all():  # a scale that mirrors
            tets = turned(tets)
        parts = pieces(tets)
        for i, part in enumerate(parts):
            used = np.unique(part)
            name = f"{path.stem}{k}" if len(parts) == 1 else f"{path.stem}{k}.{i}"
            try:
                one = TetMesh(x[used], np.searchsorted(used, part))
            except ModelError as error:
                raise ModelError(f"{what}: {error}") from None
            if self.order == 2:
                one = one.quadratic()
            handle = b.soft(name, one, material, density, V_WB=(0, 0, 0, *self._speed(volume, what)))
            self._hold(b, handle, one, surface, what)

    def _hold(self, b: Builder, handle: Any, mesh: TetMesh, surface: SelectedFaces, what: str) -> None:
        """Vertices that go where a dirichlet_boundary says; the first that has them keeps them."""
        corners, groups = surface.faces(mesh)
        ids = surface.ids(mesh.vertices[corners].mean(axis=1))
        free = np.ones(len(mesh.vertices), bool)
        for j, entry in enumerate(self.held):
            chosen = np.unique(groups[np.isin(ids, entry["id"]) if entry["id"] != "all" else slice(None)])
            chosen = chosen[free[chosen]]
            if not len(chosen):
                continue
            free[chosen] = False
            formulas = self._formulas(entry["value"], f"{self.where} dirichlet_boundary[{j}]")
            still = all(f.text == "0" for f in formulas)
            places = tuple((float(p[0]), float(p[1]), float(p[2])) for p in mesh.vertices[chosen])
            b.prescribe(handle.vertices[chosen], None if still else DisplacedPoints(places, formulas))

    def _speed(self, volume: int, what: str) -> np.ndarray:
        for entry in self.speeds:
            if entry["id"] in ("all", volume) or (isinstance(entry["id"], list) and volume in entry["id"]):
                return self._vector(entry["value"], f"{what} initial velocity")
        return np.zeros(3)

    def _material(self, given: dict[str, Any], what: str) -> tuple[Any, float, int]:
        """The law, the density and the id of the volume."""
        volume = given.get("volume_selection", 0)
        volume = volume.get("id", volume) if isinstance(volume, dict) and len(volume) == 1 else volume
        if not isinstance(volume, int):
            raise ModelError(f"{what} volume_selection: {shown(volume)}; one mesh has one material here, give one whole number")
        materials = self.data.get("materials", [])
        for m in materials if isinstance(materials, list) else [materials]:
            if not isinstance(m, dict):
                raise ModelError(f"{self.where} materials: {shown(m)} is no object; give one with type, E, nu and rho")
            if "id" not in m or m["id"] in ("all", volume) or (isinstance(m["id"], list) and volume in m["id"]):
                break
        else:
            raise ModelError(f"{what}: no material has the id {volume} of its volume; give one")
        word = f"{self.where} material {volume}"
        if not isinstance(m.get("type"), str) or m["type"] not in LAWS:
            raise ModelError(f"{word}: type {shown(m.get('type'))} has no law here; known are {', '.join(LAWS)}")
        self._unknown(m, {"id", "type", "E", "nu", "rho", "lambda", "mu"}, f"material {volume}")
        if "lambda" in m or "mu" in m:
            lam, mu = (number(m.get(key), f"{word} {key}", minimum=0.0) for key in ("lambda", "mu"))
            E, nu = mu * (3.0 * lam + 2.0 * mu) / (lam + mu), 0.5 * lam / (lam + mu)
        else:
            E, nu = number(m.get("E"), f"{word} E", positive=True), number(m.get("nu"), f"{word} nu")
        return LAWS[m["type"]](young=E, poisson=nu), number(m.get("rho", 1.0), f"{word} rho", positive=True), volume

    def _obstacle(self, b: Builder, k: int, given: dict[str, Any], what: str) -> None:
        kind = given.get("type", "mesh")
        if kind in ("plane", "ground"):
            self._geometry_keys(given, {"type", "is_obstacle", "enabled", "point", "normal", "height"}, what)
            height = number(given.get("height", 0.0), f"{what} height")
            point = (0.0, height, 0.0) if kind == "ground" else self._vector(given.get("point", (0, 0, 0)), f"{what} point")
            normal = np.array([0.0, 1.0, 0.0]) if kind == "ground" else self._vector(given.get("normal", (0, 1, 0)), f"{what} normal")
            b.body(f"{kind}{k}", Plane(), kind="static", X_WB=upright(np.asarray(point, float), normal, f"{what} normal"))
            return
        self._geometry_keys(given, SOLID, what)
        path = mesh_file(self.home, given.get("mesh"), f"{what} mesh", self.allow_outside)
        if path not in self.loaded:
            self.loaded[path] = skin(path)
        v, faces = self.loaded[path]
        x = placed(v, given.get("transformation"), what, self._unknown)
        shape: Shape
        try:
            shape = Mesh(x, faces)
        except ModelError:
            shape = OpenMesh(x, faces)  # refuses what is no surface either
        marked = given.get("surface_selection", 0)
        entry = next((e for e in self.moved if e["id"] in ("all", marked)), None)
        formulas = self._formulas(entry["value"] if entry else [0, 0, 0], f"{self.where} obstacle_displacements")
        if all(f.text == "0" for f in formulas):
            b.body(f"{path.stem}{k}", shape, kind="static")
        elif any(f.names - {"t"} for f in formulas):
            raise ModelError(f"{what}: its displacement depends on x, y or z, so that it changes its shape; obstacles here are rigid")
        else:
            b.body(f"{path.stem}{k}", shape, kind="kinematic", motion=Shifted(formulas))

    def _geometry_keys(self, given: dict[str, Any], known: set[str], what: str) -> None:
        """List keys that are not known, refuse those that would change the mesh."""
        if known is SOLID and given.get("type", "mesh") != "mesh":
            raise ModelError(f"{what} type: {shown(given['type'])} is not read; give meshes one by one")
        if given.get("n_refs"):
            raise ModelError(f"{what} n_refs: {shown(given['n_refs'])}: meshes are taken as they are; refine it in its file")
        if given.get("extract", "volume") not in ("volume", "surface"):
            raise ModelError(f"{what} extract: {shown(given['extract'])} is not read; give a mesh of what is meant")
        self._unknown(given, known, what.removeprefix(f"{self.where} "))

    def _entries(self, given: Any, word: str) -> list[dict[str, Any]]:
        """Conditions with an id and a value; one alone counts as a list."""
        out = []
        for j, entry in enumerate([] if given is None else given if isinstance(given, list) else [given]):
            what = f"{self.where} {word}[{j}]"
            if not isinstance(entry, dict) or "id" not in entry or "value" not in entry:
                raise ModelError(f"{what}: {shown(entry)}; give an object with id and value")
            ids = entry["id"] if isinstance(entry["id"], list) else [entry["id"]]
            if entry["id"] != "all" and not all(isinstance(one, int) and abs(one) <= LARGEST_ID for one in ids):
                raise ModelError(f"{what} id: {shown(entry['id'])}; give a whole number, a list of them, or 'all'")
            held = entry.get("dimension") or [True]
            if not isinstance(held, list) or not all(held):
                raise ModelError(f"{what} dimension: {shown(entry['dimension'])}: vertices here are held in all directions or none")
            self._unknown({k: v for k, v in entry.items() if k != "dimension"}, ENTRY, f"{word}[{j}]")
            out.append(entry)
        return out

    def _formulas(self, value: Any, what: str) -> tuple[Formula, Formula, Formula]:
        if not isinstance(value, list) or len(value) != 3:
            raise ModelError(f"{what} value: {shown(value)}; give three numbers or formulas of x, y, z, t")
        x, y, z = (Formula(v if isinstance(v, str) else _written(number(v, what)), what) for v in value)
        return x, y, z

    def _object(self, data: dict[str, Any], key: str, what: str) -> dict[str, Any]:
        value = data.get(key, {})
        if not isinstance(value, dict):
            raise ModelError(f"{what} {key}: {shown(value)} is no object; give one")
        return value

    def _vector(self, value: Any, what: str) -> np.ndarray:
        return numbers(value, (3,), what)

    def _unknown(self, given: dict[str, Any], known: set[str], what: str) -> None:
        for key in given:
            line = f"{what}: '{key}': {shown(given[key])} is not known"
            if key not in known and not key.startswith("#") and line not in self.left_out:
                self.left_out.append(line)


def upright(p: np.ndarray, normal: np.ndarray, what: str) -> Pose:
    """A place whose z axis is the normal."""
    z = directed(normal, what)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    X = np.eye(4)
    X[:3, 0], X[:3, 2], X[:3, 3] = x / np.linalg.norm(x), z, p
    X[:3, 1] = np.cross(z, X[:3, 0])
    return Pose.from_matrix(X)


def _written(x: float) -> str:
    """A number as a formula."""
    return f"{x:.0f}" if x == np.rint(x) and abs(x) < 1e15 else repr(x)


def skin(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The surface of a mesh file: its triangles, or those around its tetrahedra."""
    if path.suffix.lower() != ".msh":
        return load_triangles(path)
    x, cells = read_msh(path)
    if "tetra" not in cells and "tetra10" not in cells and "triangle" in cells:
        used, index = np.unique(cells["triangle"], return_inverse=True)
        return x[used], index.reshape(-1, 3)
    mesh = TetMesh.load(path)
    faces = mesh.surface()
    used, index = np.unique(faces, return_inverse=True)
    return mesh.vertices[used], index.reshape(-1, 3)


