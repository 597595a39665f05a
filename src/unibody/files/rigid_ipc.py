"""Scenes of the rigid-ipc test suite (JSON): meshes that fall, slide, and must never go through each other.

SI, y up. Degrees for `rotation`, `angular_velocity` and `torque` (value · π/180 N m). A vertex v of the mesh stands at
R (scale · v) + position with R = Rz Ry Rx; velocities and forces are those of the centre of mass. Bodies are put at their centres of mass
with axes along the world's. Meshes are looked for in the scene's folder, then in folders named `meshes` above it.

A mesh that does not close properly is weighed by the volume under its faces, an open sheet as density · area · 1 m, lines without faces
(`l` of an OBJ file) as density · length · 1 m², points alone as density · 1 m³ each; `left_out` says so. Lines and points have next to no
thickness: a millionth of their size.
A scale that mirrors turns the faces over. Every key of a file is honoured, or `left_out` names it; those that begin with # are comments.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from unibody.constraints import Contact
from unibody.element import number
from unibody.errors import ModelError
from unibody.files.xml_safety import Folders, check_name
from unibody.forces import AppliedWrench
from unibody.joints import Ball, Composite, Joint, Prismatic, Revolute, Weld
from unibody.model import Builder
from unibody.scenes import Scene
from unibody.shapes import Mesh, OpenMesh, PointCloud, Shape, Wire
from unibody.shapes.mesh import read_triangles
from unibody.shapes.mesh_files import read_obj_lines
from unibody.spatial.pose import Pose, rotation_from_vector, vector_from_rotation

UPWARD = 8
"""Folders above a scene that may hold `meshes`."""
REACH = 1e-3
LARGEST = 1e100
"""Of a component of a vector; its square is still a number."""
FINE = 1e-6
"""Radius of lines and points, as a part of their size."""
STOUT = 1e-2
"""Radius of gyration that lines and points have about every axis in addition, as a part of their size: a straight line would have none."""
SHOWN = 80
"""Characters of a value in a message."""
KEYS = {
    "mesh", "position", "rotation", "scale", "dimensions", "density", "linear_velocity", "angular_velocity", "force", "torque",
    "is_dof_fixed", "type", "kinematic_poses", "kinematic_max_time", "group_id", "enabled", "split_components",
}  # fmt: skip
BARRIERS = ("distance_barrier_constraint", "distance_barrier_constraints")
HEADS = {"scene_type", "timestep", "max_time", "max_iterations", "rigid_body_problem", *BARRIERS}
PROBLEM = {"gravity", "rigid_bodies", "coefficient_friction", "coefficient_restitution"}
NUMERICS = {"solver", "ipc_solver", "newton_solver", "homotopy_solver", "ncp_solver", "friction_constraints", "volume_constraint"}
"""How the original solves, which a solver here decides for itself."""
BARRIER = {
    "initial_barrier_activation_distance", "minimum_separation_distance", "barrier_type", "trajectory_type", "detection_method",
}  # fmt: skip
SCENE_TYPE = "distance_barrier_rb_problem"
STEPS = 1000
"""Of a scene that does not say how long it lasts."""


def is_rigid_ipc(data: Any) -> bool:
    """Whether parsed JSON is a scene of this dialect."""
    return isinstance(data, dict) and isinstance(data.get("rigid_body_problem"), dict)


def speaks_rigid_ipc(path: Path) -> bool:
    """Whether a JSON file is of this dialect, by its words."""
    data = path.read_bytes()
    return b'"rigid_body_problem"' in data and b'"unibody"' not in data


def load_rigid_ipc(path: str | Path) -> Scene:
    """The scene of a file, with a Contact; what it asks for that is not represented stands in `left_out`."""
    source = Path(path)
    try:
        data = json.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"scene '{source}': not readable as JSON ({error}); correct the file") from None
    if not is_rigid_ipc(data):
        raise ModelError(f"scene '{source}': no object 'rigid_body_problem'; give a scene of the rigid-ipc dialect")
    return _Reader(source, data).scene()


@dataclass(frozen=True)
class Poses:
    """A pose per step of time, straight ways between them, at rest after the last and after `until`."""

    places: tuple[tuple[float, ...], ...]
    """p and rotation vector of each."""
    dt: float
    until: float = math.inf

    def __call__(self, t: float) -> Pose:
        s = min(max(min(t, self.until) / self.dt, 0.0), len(self.places) - 1.0)
        k = min(int(s), len(self.places) - 2) if len(self.places) > 1 else 0
        a, b = np.array(self.places[k]), np.array(self.places[min(k + 1, len(self.places) - 1)])
        R, to = rotation_from_vector(a[3:]), rotation_from_vector(b[3:])
        turn = vector_from_rotation(R.T @ to) * (s - k)
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = R @ rotation_from_vector(turn), a[:3] + (s - k) * (b[:3] - a[:3])
        return Pose.from_matrix(X)


@dataclass(frozen=True)
class Gliding:
    """A constant twist from a place, at rest after `until`."""

    place: tuple[float, ...]
    twist: tuple[float, ...]
    """Angular, linear, world axes."""
    until: float

    def __call__(self, t: float) -> Pose:
        spin, slide = min(t, self.until) * np.array(self.twist).reshape(2, 3)
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = rotation_from_vector(spin), np.array(self.place) + slide
        return Pose.from_matrix(X)


class _Reader:
    def __init__(self, source: Path, data: dict[str, Any]):
        self.source, self.data, self.problem = source, data, data["rigid_body_problem"]
        self.left_out: list[str] = []
        self.dt = number(data.get("timestep", 0.01), f"scene '{source}' timestep", positive=True)
        self.groups: dict[int, list[str]] = {}
        self.meshes: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def scene(self) -> Scene:
        where, problem = f"scene '{self.source}'", self.problem
        b = Builder(gravity=self._vector(problem.get("gravity", (0, 0, 0)), f"{where} gravity"))
        bodies = problem.get("rigid_bodies", [])
        if not isinstance(bodies, list) or not bodies:
            raise ModelError(f"{where}: no list 'rigid_bodies'; give at least one body")
        for k, given in enumerate(bodies):
            if not isinstance(given, dict):
                raise ModelError(f"{where} rigid_bodies[{k}]: {given!r} is no object; give a body with a mesh")
            self._unknown(given, KEYS, f"body {k}")
            if given.get("enabled", True):
                self._body(b, k, given)
        reach, apart = self._barrier(where)
        mu = number(problem.get("coefficient_friction", 0.0), f"{where} coefficient_friction", minimum=0.0)
        b.add(Contact(friction=mu, reach=reach, neighbours=True, thickness=apart), name="contact")
        for group in self.groups.values():
            for i, one in enumerate(group):
                for other in group[i + 1 :]:
                    b.add(Contact(between=(one, other), on=False))
        self._unknown(self.data, HEADS | NUMERICS, "the scene")
        self._unknown(problem, PROBLEM, "rigid_body_problem")
        if number(problem.get("coefficient_restitution", 0.0), f"{where} coefficient_restitution") > 0.0:
            self.left_out.append("rigid_body_problem: coefficient_restitution, which has no effect in the original either")
        if self.data.get("scene_type", SCENE_TYPE) != SCENE_TYPE:
            self.left_out.append(f"the scene: scene_type {shown(self.data['scene_type'])} is taken as {SCENE_TYPE}")
        for key in sorted(k for k in NUMERICS & set(self.data) if (k, self.data[k]) != ("solver", "ipc_solver")):
            self.left_out.append(f"{key}: {shown(self.data[key])}: settings of the original's own solver; choose a solver here")
        return Scene(b.build(), self._duration(where), self.dt, left_out=tuple(self.left_out), name=self.source.stem)

    def _duration(self, where: str) -> float:
        """max_time, else max_iterations steps, else a thousand of them; below 0 means neither."""
        time = number(self.data.get("max_time", -1), f"{where} max_time")
        steps = number(self.data.get("max_iterations", -1), f"{where} max_iterations")
        if time >= 0.0 and steps > 0.0 and abs(steps * self.dt - time) > 0.5 * self.dt:
            self.left_out.append(f"the scene: max_iterations {steps:g}, since max_time {time:g} s is given too")
        return time if time > 0.0 else self.dt * (steps if steps > 0.0 else STEPS)

    def _barrier(self, where: str) -> tuple[float, float]:
        """How near is near [m], and how far apart bodies stay [m]; what else is said of the barrier has no word here."""
        given = [(key, self.data[key]) for key in BARRIERS if self.data.get(key)]
        for key, barrier in given:
            if not isinstance(barrier, dict):
                raise ModelError(f"{where} {key}: {shown(barrier)} is no object; give settings of the barrier")
        name, barrier = given[0] if given else (BARRIERS[0], {})
        self.left_out += [f"{key}: {shown(value)}, since '{name}' is given too" for key, value in given[1:]]
        least = number(barrier.get("minimum_separation_distance", 0.0), f"{where} minimum_separation_distance", minimum=0.0)
        if barrier.get("barrier_type", "ipc") != "ipc":
            self.left_out.append(f"{name}: barrier_type {shown(barrier['barrier_type'])}: the barrier here is the one called 'ipc'")
        if "trajectory_type" in barrier:
            path = shown(barrier["trajectory_type"])
            self.left_out.append(f"{name}: trajectory_type {path}: the way of bodies within a step is that of the solver chosen here")
        if "detection_method" in barrier:
            self.left_out.append(f"{name}: detection_method {shown(barrier['detection_method'])}: pairs are found in one way only")
        self._unknown(barrier, BARRIER, name)
        return number(barrier.get("initial_barrier_activation_distance", REACH), f"{where} activation distance", positive=True), least

    def _body(self, b: Builder, k: int, given: dict[str, Any]) -> None:
        what = f"scene '{self.source}' rigid_bodies[{k}]"
        vertices, faces = self._mesh(given.get("mesh"), what)
        name = f"{Path(str(given['mesh'])).stem}{k}"
        scale = self._scale(given, vertices, what)
        x, faces = vertices * scale, faces[:, ::-1] if np.prod(scale) < 0.0 and faces.shape[1] == 3 else faces
        x = x @ euler(self._vector(given.get("rotation", (0, 0, 0)), f"{what} rotation")).T
        parts = components(faces, len(x)) if given.get("split_components", False) else [faces]
        for i, part in enumerate(parts):
            used = np.unique(part)
            self._part(b, name if len(parts) == 1 else f"{name}.{i}", x[used], np.searchsorted(used, part), given, what)

    def _part(self, b: Builder, name: str, x: np.ndarray, faces: np.ndarray, given: dict[str, Any], what: str) -> None:
        kind = self._kind(given, what)[0]
        density = number(given.get("density", 1000.0), f"{what} density", positive=True)
        shape: Shape
        weight: dict[str, Any]
        if faces.shape[1] < 3:
            shape, com, weight, how = thin_part(x, faces, density, what)
            if kind == "dynamic":
                self.left_out.append(f"body '{name}': its mesh has no faces, so it weighs {how}, {weight['mass']:g} kg")
            self._put(b, name, shape, com, weight, given, what)
            return
        try:
            shape = Mesh(x, faces)
            com = np.array(shape.mass_properties(density).com)
            shape, weight = Mesh(x - com, faces), {"density": density}
        except ModelError:
            shape = OpenMesh(x, faces)  # refuses what cannot be weighed either
            mass, com, inertia, how = open_moments(x, faces, density)
            if not mass > 0.0:
                raise ModelError(f"{what}: its mesh has neither volume nor area; give a mesh that does") from None
            shape, weight = OpenMesh(x - com, faces), {"mass": mass, "com": (0, 0, 0), "inertia": inertia}
            if kind == "dynamic":
                self.left_out.append(f"body '{name}': its mesh does not close properly, so it weighs {how}, {mass:g} kg")
        self._put(b, name, shape, com, weight, given, what)

    def _put(
        self, b: Builder, name: str, shape: Shape, com: np.ndarray, weight: dict[str, Any], given: dict[str, Any], what: str
    ) -> None:
        """A body of a shape about its centre of mass, where and how the file says."""
        kind, free = self._kind(given, what)
        place = Pose(p=self._vector(given.get("position", (0, 0, 0)), f"{what} position") + com)
        spin = np.radians(self._vector(given.get("angular_velocity", (0, 0, 0)), f"{what} angular_velocity"))
        slide = self._vector(given.get("linear_velocity", (0, 0, 0)), f"{what} linear_velocity")
        twist = np.concatenate([spin, slide])
        more: dict[str, Any] = {} if kind == "static" else {"V_WB": twist}
        if kind == "kinematic":
            more = self._moved(given, place, com, twist, what)
        handle = b.body(name, shape=shape, kind=kind, X_WB=place, **weight, **more)
        if kind == "dynamic" and not free.all():
            self._hold(b, name, place, free, twist)
        force = self._vector(given.get("force", (0, 0, 0)), f"{what} force")
        torque = np.radians(self._vector(given.get("torque", (0, 0, 0)), f"{what} torque"))
        if kind == "dynamic" and (force.any() or torque.any()):
            b.add(AppliedWrench(handle, force=tuple(force), torque=tuple(torque)), name=f"{name}.load")
        self._idle(given, name, kind, free, {"force": force, "torque": torque, "linear_velocity": slide, "angular_velocity": spin})
        if "group_id" in given:
            group = given["group_id"]
            if not isinstance(group, int):
                raise ModelError(f"{what} group_id: {shown(group)}; give a whole number")
            self.groups.setdefault(group, []).append(name)

    def _idle(self, given: dict[str, Any], name: str, kind: str, free: np.ndarray, acts: dict[str, np.ndarray]) -> None:
        """Say what has no effect on a body of its kind."""
        without = {"dynamic": (), "kinematic": ("force", "torque"), "static": tuple(acts)}[kind]
        idle = [f"{key} {shown(given[key])}" for key in without if acts[key].any()]
        if kind != "kinematic":
            idle += [key for key in ("kinematic_poses", "kinematic_max_time") if given.get(key) not in (None, [])]
        elif not free.all():
            idle.append(f"is_dof_fixed {shown(given['is_dof_fixed'])}")
        if kind == "kinematic" and given.get("kinematic_poses"):
            idle += [key for key in ("linear_velocity", "angular_velocity") if acts[key].any()]
        if idle:
            self.left_out.append(f"body '{name}' is {kind}: {', '.join(idle)} without effect")

    def _kind(self, given: dict[str, Any], what: str) -> tuple[str, np.ndarray]:
        """static, kinematic or dynamic, and which of x, y, z and the turns about them are free."""
        fixed = given.get("is_dof_fixed", False)
        each = fixed if isinstance(fixed, list) else 6 * [fixed]
        if len(each) != 6 or not all(isinstance(flag, bool | int) for flag in each):
            raise ModelError(f"{what} is_dof_fixed: {shown(fixed)}; give true, false or six of them")
        flags = np.array(each, bool)
        kind = given.get("type", "static" if flags.all() else "dynamic")
        if kind not in ("static", "kinematic", "dynamic"):
            raise ModelError(f"{what} type: {kind!r} is unknown; give static, kinematic or dynamic")
        return ("static" if flags.all() else kind), ~flags

    def _hold(self, b: Builder, name: str, place: Pose, free: np.ndarray, twist: np.ndarray) -> None:
        """A joint to the world that leaves some degrees of freedom, along the world's axes."""
        axes = np.eye(3)
        parts: list[Joint] = [Prismatic(axis=tuple(axes[i])) for i in range(3) if free[i]]
        turns = [i for i in range(3) if free[3 + i]]
        if len(turns) == 3:
            parts.append(Ball())
        else:
            parts += [Revolute(axis=tuple(axes[i])) for i in turns]
            if len(turns) == 2:
                self.left_out.append(f"body '{name}': two of three turns fixed are taken as hinges one after the other")
        speed = np.concatenate([twist[3:][free[:3]], twist[:3][free[3:]]])
        joint = Weld() if not parts else parts[0] if len(parts) == 1 else Composite(*parts)
        b.joint(f"{name}.held", joint, b.world, name, X_PF=place, v=speed if len(speed) else None)

    def _moved(self, given: dict[str, Any], place: Pose, com: np.ndarray, twist: np.ndarray, what: str) -> dict[str, Any]:
        """How a kinematic body moves: by poses or by its velocity, until `kinematic_max_time`, when it stops."""
        until = math.inf
        if given.get("kinematic_max_time") is not None:
            until = max(0.0, number(given["kinematic_max_time"], f"{what} kinematic_max_time"))
        if given.get("kinematic_poses"):
            return {"motion": self._poses(given, place, com, until, what)}
        if until == math.inf:
            return {"V_WB": twist}
        return {"motion": Gliding(tuple(float(x) for x in place.p), tuple(float(x) for x in twist), until)}

    def _poses(self, given: dict[str, Any], place: Pose, com: np.ndarray, until: float, what: str) -> Poses:
        """The start, then a pose for every step; the mesh's own turn is in its vertices already."""
        if not isinstance(given["kinematic_poses"], list) or not all(isinstance(pose, dict) for pose in given["kinematic_poses"]):
            raise ModelError(f"{what} kinematic_poses: {shown(given['kinematic_poses'])}; give objects with position and rotation")
        start = euler(self._vector(given.get("rotation", (0, 0, 0)), f"{what} rotation"))
        out = [(*place.p, 0.0, 0.0, 0.0)]
        for pose in given["kinematic_poses"]:
            self._unknown(pose, {"position", "rotation"}, f"{what} kinematic_poses")
            at = self._vector(pose.get("position", given.get("position", (0, 0, 0))), f"{what} kinematic_poses position")
            angles = self._vector(pose.get("rotation", given.get("rotation", (0, 0, 0))), f"{what} kinematic_poses rotation")
            turned = euler(angles) @ start.T
            out.append((*(at + turned @ com), *vector_from_rotation(turned)))
        self.left_out.append(f"{what}: after its last kinematic pose the body stays where it is")
        return Poses(tuple(tuple(float(x) for x in p) for p in out), self.dt, until)

    def _scale(self, given: dict[str, Any], vertices: np.ndarray, what: str) -> np.ndarray:
        if "dimensions" in given:
            if "scale" in given:
                self.left_out.append(f"{what}: scale {shown(given['scale'])}, since 'dimensions' are given too")
            size = np.ptp(vertices, axis=0)
            return np.where(size > 0.0, self._vector(given["dimensions"], f"{what} dimensions") / np.where(size > 0.0, size, 1.0), 1.0)
        scale = given.get("scale", 1.0)
        return self._vector([scale] * 3 if np.ndim(scale) == 0 else scale, f"{what} scale")

    def _mesh(self, reference: Any, what: str) -> tuple[np.ndarray, np.ndarray]:
        if not isinstance(reference, str):
            raise ModelError(f"{what} mesh: {reference!r} is no file name; give one")
        check_name(reference, f"{what} mesh")
        if reference not in self.meshes:
            home = self.source.resolve().parent
            folders = [home, *(up / "meshes" for up in list(home.parents)[:UPWARD] if (up / "meshes").is_dir())]
            folder = next((f for f in folders if (f / reference).is_file()), home)
            path = Folders(folder).resolve(reference, f"{what} mesh")
            if without_faces(path):
                x, edges = read_obj_lines(path)
                self.meshes[reference] = x, edges if len(edges) else np.arange(len(x))[:, None]
            else:
                self.meshes[reference] = read_triangles(path)
        return self.meshes[reference]

    def _vector(self, value: Any, what: str) -> np.ndarray:
        try:
            out = np.array(value, float)
        except (TypeError, ValueError, OverflowError):
            out = np.zeros(0)
        if out.shape != (3,) or not (np.abs(out) < LARGEST).all():
            raise ModelError(f"{what}: {shown(value)}; give three finite numbers")
        return out

    def _unknown(self, given: dict[str, Any], known: set[str], what: str) -> None:
        for key in given:
            line = f"{what}: '{key}' is not known"
            if key not in known and not key.startswith("#") and line not in self.left_out:
                self.left_out.append(line)


def shown(value: Any) -> str:
    """A value of the file, in short."""
    text = json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def euler(degrees: np.ndarray) -> np.ndarray:
    """Rz Ry Rx."""
    x, y, z = (rotation_from_vector(np.eye(3)[i] * np.radians(degrees[i])) for i in range(3))
    return z @ y @ x


def without_faces(path: Path) -> bool:
    """Whether a mesh file is an OBJ of lines or points alone."""
    if path.suffix.lower() != ".obj" or not path.is_file():
        return False
    words = {line.split(maxsplit=1)[0] for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()}
    return "f" not in words and "v" in words


def thin_part(x: np.ndarray, cells: np.ndarray, density: float, what: str) -> tuple[Shape, np.ndarray, dict[str, Any], str]:
    """Lines (cells (m, 2)) or points (m, 1) about their centre of mass: shape, centre, what is said of the weight, and how it is weighed.

    Of a line from a to b of length l: ∫ x xᵀ = l ((a aᵀ + b bᵀ)/3 + (a bᵀ + b aᵀ)/6)."""
    size = float(np.linalg.norm(np.ptp(x, axis=0))) or 1.0
    if cells.shape[1] == 1:
        centre, how = x.mean(axis=0), "density × 1 m³ a point"
        d = x - centre
        amount, second = float(len(x)), np.einsum("ni,nj->ij", d, d)
        shape: Shape = PointCloud(d, radius=FINE * size)
    else:
        length = np.linalg.norm(x[cells[:, 1]] - x[cells[:, 0]], axis=1)
        cells, length = cells[length > 0.0], length[length > 0.0]
        if not len(cells):
            raise ModelError(f"{what}: its mesh has no line with a length; give a mesh that does")
        ends, how = x[cells], "density × length × 1 m²"
        amount = float(length.sum())
        centre = (length[:, None] * ends.mean(axis=1)).sum(axis=0) / amount
        a, b = ends[:, 0] - centre, ends[:, 1] - centre
        second = np.einsum("n,ni,nj->ij", length / 3.0, a, a) + np.einsum("n,ni,nj->ij", length / 3.0, b, b)
        mixed = np.einsum("n,ni,nj->ij", length / 6.0, a, b)
        second = second + mixed + mixed.T
        used = np.unique(cells)
        shape = Wire(x[used] - centre, radius=FINE * size, pieces=np.searchsorted(used, cells))
    inertia = density * (np.trace(second) * np.eye(3) - second + amount * (STOUT * size) ** 2 * np.eye(3))
    return shape, centre, {"mass": density * amount, "com": (0, 0, 0), "inertia": inertia}, how


def components(faces: np.ndarray, n: int) -> list[np.ndarray]:
    """Faces, edges or points by connected parts of a mesh."""
    last = faces.shape[1] - 1
    i, j = np.concatenate([faces[:, (0, min(1, last))], faces[:, (min(1, last), last)]]).T
    labels = connected_components(coo_matrix((np.ones(len(i)), (i, j)), shape=(n, n)), directed=False)[1][faces[:, 0]]
    return [faces[labels == part] for part in np.unique(labels)]


def open_moments(x: np.ndarray, faces: np.ndarray, density: float) -> tuple[float, np.ndarray, np.ndarray, str]:
    """Mass, centre and inertia of triangles that do not close properly: by the volume under them if there is one, else as a sheet. Of a
    tetrahedron 0 a b c: V = a·(b × c)/6, ∫ x xᵀ = V/20 (Σ vᵢ vᵢᵀ + s sᵀ), s = a + b + c."""
    v = x[faces]
    V = np.einsum("ni,ni->n", v[:, 0], np.cross(v[:, 1], v[:, 2])) / 6.0
    if not V.sum() > 1e-3 * float(np.prod(np.ptp(x, axis=0))) > 0.0:
        return *lamina(x, faces, density), "density × area × 1 m"
    com = (V[:, None] * v.sum(axis=1)).sum(axis=0) / (4.0 * V.sum())
    s = v.sum(axis=1)
    second = np.einsum("n,nki,nkj->ij", V / 20.0, v, v) + np.einsum("n,ni,nj->ij", V / 20.0, s, s) - V.sum() * np.outer(com, com)
    return float(density * V.sum()), com, density * (np.trace(second) * np.eye(3) - second), "density × the volume under its faces"


def lamina(x: np.ndarray, faces: np.ndarray, density: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and inertia about it of a sheet: per triangle ∫ x xᵀ = A/12 (Σ vᵢ vᵢᵀ + s sᵀ), s = Σ vᵢ."""
    v = x[faces]
    area = 0.5 * np.linalg.norm(np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0]), axis=1)
    if not area.any():
        return 0.0, x.mean(axis=0), np.zeros((3, 3))
    com = (area[:, None] * v.mean(axis=1)).sum(axis=0) / area.sum()
    v = v - com
    s = v.sum(axis=1)
    second = np.einsum("n,nki,nkj->ij", area / 12.0, v, v) + np.einsum("n,ni,nj->ij", area / 12.0, s, s)
    return float(density * area.sum()), com, density * (np.trace(second) * np.eye(3) - second)
