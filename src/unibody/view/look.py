"""What a model looks like, for every medium: solids as instances of few meshes, strands (springs, cables, rods), joint frames, the ground.

Boxes, spheres, ellipsoids and cylinders of any size are one unit mesh each, stretched: x_B = R_BS diag(scale) x + p_BS. So a scene of
thousands of bodies is a handful of instanced meshes. A moving body without a visible shape is shown as the box that has its mass and
inertia: sides a² = 6 (I_y + I_z − I_x) / m. Nothing here knows a drawing library; viewer, replay page, films and exports share it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from unibody.element import Kinematics, Point
from unibody.forces.base import Force
from unibody.model import Model
from unibody.model.model import start_poses
from unibody.model.tables import Names
from unibody.shapes import Box, Capsule, Cylinder, Ellipsoid, Plane, Shape, Sphere
from unibody.spatial.pose import quaternions_from_rotations
from unibody.view.framing import near, under
from unibody.view.soft import softs, start_vertices, with_points
from unibody.view.style import STATIC, body_colours, rgb

RESOLUTION = 24
"""Segments around a circle."""


@dataclass(frozen=True)
class Solids:
    """One mesh shown n times: on body[k], at p_BS[k], R_BS[k], stretched by scale[k], in colour[k]. All n have the same opacity."""

    kind: str
    """"box", "ellipsoid", "cylinder", "capsule", "mesh", "plane", …: what the mesh is."""
    vertices: np.ndarray
    """(V, 3)"""
    faces: np.ndarray
    """(F, 3)"""
    body: np.ndarray
    """(n,) numbers of bodies."""
    p_BS: np.ndarray
    """(n, 3) [m]"""
    R_BS: np.ndarray
    """(n, 3, 3)"""
    scale: np.ndarray
    """(n, 3)"""
    colour: np.ndarray
    """(n, 3) red, green, blue, 0 … 1."""
    opacity: float = 1.0
    flat: bool = False
    """Whether its faces are flat (a box), not parts of a curved surface."""

    def __len__(self) -> int:
        return len(self.body)

    def placed(self, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """R_WS (…, n, 3, 3) and p_WS (…, n, 3) from the poses of all bodies, R (…, bodies, 3, 3) and p (…, bodies, 3)."""
        on = R[..., self.body, :, :]
        return on @ self.R_BS, p[..., self.body, :] + np.einsum("...nij,nj->...ni", on, self.p_BS)

    def corners(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        """(n, 8, 3) corners of the boxes around the instances in the world, at one time."""
        low, high = self.vertices.min(axis=0), self.vertices.max(axis=0)
        box = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
        R_WS, p_WS = self.placed(R, p)
        return np.einsum("nij,nkj->nki", R_WS, self.scale[:, None, :] * box) + p_WS[:, None, :]


@dataclass(frozen=True)
class Strand:
    """Something drawn as a line through points of bodies."""

    name: str
    """Of the element."""
    kind: str
    """"spring", "cable" or "rod"."""
    body: np.ndarray
    """(k,) numbers of bodies."""
    p_B: np.ndarray
    """(k, 3) the points in them [m]."""

    def points(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        """(…, k, 3) in the world, from the poses of all bodies."""
        return p[..., self.body, :] + np.einsum("...kij,kj->...ki", R[..., self.body, :, :], self.p_B)


@dataclass(frozen=True)
class CableStrand(Strand):
    """A cable over wheels: a line whose points move along bodies; `body` and `p_B` only say how many there are."""

    force: Any
    model: Model

    def points(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        flat = zip(R.reshape(-1, *R.shape[-3:]), p.reshape(-1, *p.shape[-2:]), strict=True)
        return np.array([self.force.drawn(at_poses(self.model, R_t, p_t)) for R_t, p_t in flat]).reshape(*p.shape[:-2], -1, 3)


@dataclass(frozen=True)
class Frame:
    """The frame M of a joint on its child."""

    name: str
    joint: int
    """Its number in `model.joints`."""
    body: int
    p_BM: np.ndarray
    R_BM: np.ndarray


class Look:
    """Everything to draw of a model, with colours; `solids`, `strands` and `frames` do not change with time."""

    def __init__(self, model: Model):
        self.model = model
        self.solids = _solids(model)
        self.strands = strands(model)
        self.soft = softs(model)
        self.frames = tuple(
            Frame(j.name, k, j.child, np.array(j.X_BM.p), np.array(j.X_BM.R)) for k, j in enumerate(model.joints) if not j.implicit
        )  # fmt: skip

    @cached_property
    def frame_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of all frames: numbers of joints (n,) and bodies (n,), p_BM (n, 3), R_BM (n, 3, 3)."""
        joint, body = (np.array([getattr(f, what) for f in self.frames], int) for what in ("joint", "body"))
        p, R = (np.array([getattr(f, what) for f in self.frames], float) for what in ("p_BM", "R_BM"))
        return joint, body, p.reshape(-1, 3), R.reshape(-1, 3, 3)

    @property
    def has_ground(self) -> bool:
        """Whether the model brings its own ground, a Plane."""
        return any(s.kind == "plane" for s in self.solids)

    @cached_property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """R_WB (bodies, 3, 3) and p_WB (bodies, 3) at the start of the model, with frames at points of deformables behind them."""
        return _start(self.model)

    @cached_property
    def start_vertices(self) -> np.ndarray:
        """(n, 3) of all deformables at the start."""
        return start_vertices(self.model)

    def tensions(
        self, R: np.ndarray, p: np.ndarray, twists: np.ndarray, multipliers: Mapping[str, np.ndarray], joint_q: np.ndarray | None = None,
        t: float = 0.0,
    ) -> np.ndarray:  # fmt: skip
        """(strands,) pull [N] of each strand at one time, negative where it pushes, NaN where nobody knows; the largest of its spans.

        `twists` (bodies, 6) are in world axes, at the bodies' origins; `multipliers` by constraint element, as in an Observation, whose
        `joint_q` counts the turns of drums; winches ask for the time.
        """
        pull = np.full(len(self.strands), np.nan)
        for which, law in self._laws:
            points = [self.strands[k] for k in which]
            body, p_B = np.concatenate([s.body for s in points]), np.concatenate([s.p_B for s in points])
            first = np.cumsum([0, *(len(s.body) for s in points)])
            arm = np.einsum("kij,kj->ki", R[body], p_B)
            x, v = p[body] + arm, twists[body, 3:] + np.cross(twists[body, :3], arm)
            d, rate = np.diff(x, axis=0), np.diff(v, axis=0)
            length = np.linalg.norm(d, axis=1)
            growth = np.einsum("ki,ki->k", d, rate) / np.maximum(length, 1e-300)
            within = np.ones(len(length), bool)
            within[first[1:-1] - 1] = False  # from the end of one strand to the beginning of the next
            of = np.repeat(np.arange(len(points)), np.diff(first))[:-1][within]
            pull[which] = law(np.bincount(of, length[within], len(points)), np.bincount(of, growth[within], len(points)))
        for k, strand in enumerate(self.strands):
            if strand.kind == "rod" and len(multipliers.get(strand.name, ())) == 1:
                pull[k] = -multipliers[strand.name][0]
            if isinstance(strand, CableStrand):
                pull[k] = strand.force.tensions(at_poses(self.model, R, p, twists, joint_q, t)).max()
        return pull

    @cached_property
    def _laws(self) -> list[tuple[np.ndarray, Callable[..., np.ndarray]]]:
        """Strands by the class of their force, with its `tension(length, rate)` over all of them at once."""
        elements = dict(self.model.forces)
        groups: dict[type, list[int]] = {}
        for k, strand in enumerate(self.strands):
            if hasattr(elements.get(strand.name), "tension"):
                groups.setdefault(type(elements[strand.name]), []).append(k)
        out: list[tuple[np.ndarray, Callable[..., np.ndarray]]] = []
        for cls, which in groups.items():
            members = [elements[self.strands[k].name] for k in which]
            numbers = [f.name for f in fields(cls) if all(isinstance(getattr(m, f.name), float | int) for m in members)]
            stacked = SimpleNamespace(**{n: np.array([getattr(m, n) for m in members], float) for n in numbers})
            out.append((np.array(which), partial(cls.tension, stacked)))  # type: ignore[attr-defined]
        return out

    def bounds(self, R: np.ndarray, p: np.ndarray, x: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest corner (3,) of what a camera frames (`outline`), or of a metre around the bodies if there is nothing."""
        points = self.outline(R, p, x)
        if not len(points) or not np.isfinite(points).all():
            first = p.reshape(-1, *p.shape[-2:])[0]
            return first.min(axis=0) - 0.5, first.max(axis=0) + 0.5
        return points.min(axis=0), points.max(axis=0)

    def ground_under(self, low: np.ndarray, high: np.ndarray) -> float:
        """Where a floor looks right under things between two corners (`ground_height`) and under what they stand on."""
        R, p = self.start
        corners = [s.corners(R, p)[self._rests(s)] for s in self.solids if s.kind != "plane"]
        return under(ground_height(low, high), np.concatenate([np.zeros((0, 8, 3)), *corners]), low, high)

    def _rests(self, solids: Solids) -> np.ndarray:
        return np.array([self.model.bodies[i].kind == "static" for i in solids.body])

    def outline(self, R: np.ndarray, p: np.ndarray, x: np.ndarray | None = None) -> np.ndarray:
        """(n, 3) points around everything but planes and vast things at rest; R (…, bodies, 3, 3) and p (…, bodies, 3) at one or more
        times, and x (…, n, 3) the vertices of deformables at any."""
        R, p = R.reshape(-1, *R.shape[-3:]), p.reshape(-1, *p.shape[-2:])
        moving, still = [np.zeros((0, 3))], [np.zeros((0, 8, 3))]
        for solids in (s for s in self.solids if s.kind != "plane"):
            rests = self._rests(solids)
            corners = np.array([solids.corners(R_t, p_t) for R_t, p_t in zip(R, p, strict=True)])
            moving.append(corners[:, ~rests].reshape(-1, 3))
            still.append(corners[0, rests])
        moving += [s.points(R_t, p_t) for R_t, p_t in zip(R, p, strict=True) for s in self.strands]
        moving += [x.reshape(-1, 3)] if x is not None else []
        moves = np.concatenate(moving)
        return np.concatenate([moves, near(np.concatenate(still), moves)])


def ground_height(low: np.ndarray, high: np.ndarray) -> float:
    """Where a floor looks right under things between `low` and `high`: at 0 if they stand on it or hang near above, else a little below."""
    span = float((high - low).max()) or 1.0
    return 0.0 if -0.02 * span <= low[2] <= 0.35 * span else float(low[2] - 0.12 * span)


def strands(model: Model) -> tuple[Strand, ...]:
    """Every force or constraint that runs through two or more points."""
    out: list[Strand] = []
    for name, element in (*model.forces, *model.constraints):
        points = points_of(element)
        if hasattr(element, "drawn"):
            count = len(element.drawn(at_poses(model, *_start(model))))
            out.append(CableStrand(name, "cable", np.zeros(count, int), np.zeros((count, 3)), element, model))
        if points:
            bodies, places = np.array([model.body(q.body) for q in points]), np.array([q.p for q in points], float)
            out.append(Strand(name, strand_kind(element), bodies, places))
    return tuple(out)


def _start(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """R and p of all bodies at the start, with frames at points of deformables behind them."""
    poses = start_poses(model.bodies, model.tree_joints)
    return with_points(model, np.array([X.R for X in poses]), np.array([X.p for X in poses]), start_vertices(model))


def at_poses(
    model: Model, R: np.ndarray, p: np.ndarray, twists: np.ndarray | None = None, joint_q: np.ndarray | None = None, t: float = 0.0
) -> Kinematics:
    """What elements are shown of poses R (bodies, 3, 3), p (bodies, 3) and twists in world axes (bodies, 6)."""
    X = np.concatenate([R.reshape(len(R), 9), p], axis=1)
    V = np.zeros((len(R), 6)) if twists is None else np.einsum("nji,nkj->nki", R, twists.reshape(-1, 2, 3)).reshape(-1, 6)
    q = np.zeros(model.nq_joints) if joint_q is None else joint_q
    return Kinematics(t, X, V, q, np.zeros(model.nv_joints), np.zeros(0), np.zeros(0), Names(model))


def strand_kind(element: object) -> str:
    """ "rod" of a constraint, "cable" of a force through a list of points, "spring" of one between two."""
    return "rod" if not isinstance(element, Force) else "cable" if hasattr(element, "points") else "spring"


def points_of(element: object) -> tuple[Point, ...]:
    """The points that a force or constraint runs through: its `points`, or its ends `a` and `b`; none if it has neither."""
    points = getattr(element, "points", None)
    ends = (getattr(element, "a", None), getattr(element, "b", None))
    for candidate in (points, ends):
        if isinstance(candidate, tuple) and len(candidate) > 1 and all(isinstance(q, Point) for q in candidate):
            return candidate
    return ()


def _solids(model: Model) -> tuple[Solids, ...]:
    moving = [i for i, b in enumerate(model.bodies) if b.kind != "static"]
    of_body = dict(zip(moving, body_colours(len(moving)), strict=True))
    still = rgb(STATIC)
    groups: dict[tuple, list[tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]] = {}
    meshes: dict[tuple, tuple[np.ndarray, np.ndarray]] = {}
    for i, body in enumerate(model.bodies):
        own = of_body.get(i, still)
        shown = [s for s in body.shapes if s.visible]
        for placed in shown:
            kind, shape, scale = _unit(placed.shape)
            rgba = (*own, 1.0) if placed.colour is None else (*placed.colour, 1.0)[:4]
            key = (kind, *(shape if isinstance(shape, tuple) else (id(shape),)), rgba[3])
            if key not in meshes:
                meshes[key] = _mesh(kind, placed.shape)
            groups.setdefault(key, []).append((i, np.asarray(placed.X_BS.p), np.asarray(placed.X_BS.R), scale, np.array(rgba[:3])))
        if not shown and body.kind == "dynamic" and not body.shapes:
            sides, R = inertia_box(body.mass, body.inertia)
            key = ("box", 1.0)
            meshes.setdefault(key, _mesh("box", Box((1.0, 1.0, 1.0))))
            groups.setdefault(key, []).append((i, np.asarray(body.com), R, sides, np.asarray(own)))
    out = []
    for key, rows in groups.items():
        body, p, R, scale, colour = zip(*rows, strict=True)
        vertices, faces = meshes[key]
        arrays = (np.array(p, float), np.array(R, float), np.array(scale, float), np.array(colour, float))
        out.append(Solids(key[0], vertices, faces, np.array(body), *arrays, opacity=key[-1], flat=key[0] in ("box", "plane")))
    return tuple(out)


def _unit(shape: Shape) -> tuple[str, tuple[float, ...] | Shape, np.ndarray]:
    """Kind, what tells its mesh from others of the kind, and how the mesh is stretched."""
    if isinstance(shape, Box):
        return "box", (), np.array(shape.sides)
    if isinstance(shape, Sphere):
        return "ellipsoid", (), np.full(3, shape.radius)
    if isinstance(shape, Ellipsoid):
        return "ellipsoid", (), np.array(shape.semi_axes)
    if isinstance(shape, Cylinder):
        return "cylinder", (), np.array([shape.radius, shape.radius, shape.length])
    if isinstance(shape, Capsule):
        return "capsule", (round(shape.length / shape.radius, 9),), np.full(3, shape.radius)
    if isinstance(shape, Plane):
        return "plane", (), np.array([shape.size, shape.size, 1.0])
    return "mesh", shape, np.ones(3)


def _mesh(kind: str, shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(shape, Capsule):
        return Capsule(1.0, shape.length / shape.radius).triangles(RESOLUTION)
    unit = {"box": Box((1.0, 1.0, 1.0)), "ellipsoid": Sphere(1.0), "cylinder": Cylinder(1.0, 1.0), "plane": Plane(1.0)}.get(kind, shape)
    return unit.triangles(RESOLUTION)


def inertia_box(mass: float, inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sides (3,) [m] and axes (3, 3), in columns, of the solid box with this mass and inertia.

    >>> inertia_box(12.0, np.diag([5.0, 10.0, 13.0]))[0].round(12)
    array([3., 2., 1.])
    """
    principal, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    squares = 6.0 / mass * (principal.sum() - 2.0 * principal)
    largest = max(float(squares.max()), 1e-12)
    return np.sqrt(np.maximum(squares, 1e-4 * largest)), axes


def quaternions(R: np.ndarray) -> np.ndarray:
    """(…, 4) wxyz of rotations (…, 3, 3).

    >>> quaternions(np.diag([1.0, -1.0, -1.0])).tolist()
    [0.0, 1.0, 0.0, 0.0]
    """
    return quaternions_from_rotations(R.reshape(-1, 3, 3)).reshape(*R.shape[:-2], 4)


def rotations(wxyz: np.ndarray) -> np.ndarray:
    """(…, 3, 3) of unit quaternions (…, 4)."""
    w, x, y, z = np.moveaxis(wxyz, -1, 0)
    R = np.empty((*w.shape, 3, 3))
    R[..., 0, 0], R[..., 0, 1], R[..., 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    R[..., 1, 0], R[..., 1, 1], R[..., 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    R[..., 2, 0], R[..., 2, 1], R[..., 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    return R
