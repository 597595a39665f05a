"""What of a recording is worth showing or comparing: poses as arrays, traces, lines between points, energy drift, differences.

The energy drift is what the books do not explain: E(t) − E(0) − work of dampers, motors and applied wrenches. It is zero for an exact
solution unless a driven (kinematic) body puts in work, which is not on the books.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.element import Point
from unibody.model import Model
from unibody.simulation import Recording
from unibody.view.look import CableStrand, points_of, rotations, strand_kind, strands

MOST_TRACES = 8
FINER = 4
"""Points of a drawn trace per recorded one; the curve between two recorded points follows their velocities."""
FLAT = 1e-7
"""A motion that leaves its plane by less than this part of its size [–] is drawn from the side."""


@dataclass(frozen=True)
class Trace:
    """The path of one point of a body: times (T,) and positions (T, 3)."""

    body: int
    t: np.ndarray
    x: np.ndarray


@dataclass(frozen=True)
class Line:
    """Something that pulls or holds between points of bodies: "spring", "cable" or "rod"."""

    kind: str
    points: tuple[Point, ...]
    course: CableStrand | None = None
    """Of a cable over wheels, which has no points that stay."""


def poses(recording: Recording) -> tuple[np.ndarray, np.ndarray]:
    """R_WB (T, bodies, 3, 3) and p_WB (T, bodies, 3)."""
    rows = np.array([o.poses for o in recording.observations])
    return rotations(rows[..., 3:]), rows[..., :3]


def centres(recording: Recording) -> np.ndarray:
    """(T, bodies, 3) centres of mass in the world."""
    R, p = poses(recording)
    return p + np.einsum("tnij,nj->tni", R, np.array([b.com for b in recording.model.bodies]))


def energy_drift(recording: Recording) -> np.ndarray:
    """(T,) energy that nothing accounts for [J]."""
    e = recording.energy
    return e.total - e.total[0] - (e.work - e.work[0])


def energy_scale(recording: Recording) -> float:
    """The energy that changes hands [J]: the largest kinetic energy or the swing of the potential one."""
    e = recording.energy
    return float(max(e.kinetic.max(), np.ptp(e.potential)))


def position_difference(recording: Recording, reference: Recording) -> np.ndarray:
    """(rows both have,) the largest distance between the centres of mass of the same body in two recordings of one scene [m]."""
    a, b = centres(recording), centres(reference)
    rows = min(len(a), len(b))
    with np.errstate(all="ignore"):  # a run that failed may hold positions that overflow
        return np.linalg.norm(a[:rows] - b[:rows], axis=2).max(axis=1)


def viewing_plane(recording: Recording) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Axes to the right, up and towards the viewer, if everything moves in one plane (x–z, y–z or x–y); else None."""
    if recording.model.plane is not None:
        return recording.model.plane
    if recording.model.deformables:
        return None
    x, y, z = np.eye(3)
    twists = np.array([o.twists for o in recording.observations])
    fastest = np.abs(twists).max(initial=0.0)
    axes = np.array([j.X_PF.p for j in recording.model.joints if j.parent == 0]).reshape(-1, 3)
    for right, up, out in ((x, z, -y), (y, z, x), (x, y, z)):
        sideways = np.abs(twists[..., 3:] @ out).max(initial=0.0)
        tumbling = max(np.abs(twists[..., :3] @ right).max(initial=0.0), np.abs(twists[..., :3] @ up).max(initial=0.0))
        spread = np.ptp(centres(recording)[:, 1:] @ out) if recording.model.n_bodies > 2 else 0.0
        seated = np.ptp(axes @ out) if len(axes) > 1 else 0.0
        if fastest > 0.0 and max(sideways, tumbling) <= FLAT * fastest and max(spread, seated) <= FLAT * max(1.0, size(recording)):
            return right, up, out
    return None


def size(recording: Recording) -> float:
    """The diagonal of the box that holds all centres of mass at all times [m]."""
    x = centres(recording).reshape(-1, 3)
    return float(np.linalg.norm(np.ptp(x, axis=0)))


def traces(recording: Recording) -> list[Trace]:
    """The tips of the bodies that nothing hangs on and the points where loops close, a handful of them, finely interpolated."""
    model = recording.model
    points = _points_to_trace(model)
    if len(points) > MOST_TRACES:
        points = [points[k] for k in np.unique(np.linspace(0, len(points) - 1, MOST_TRACES).round().astype(int))]
    R, p = poses(recording)
    twists = np.array([o.twists for o in recording.observations])
    return [_trace(body, recording.t, R[:, body] @ local, p[:, body], twists[:, body]) for body, local in points]


def _points_to_trace(model: Model) -> list[tuple[int, np.ndarray]]:
    parents = {j.parent for j in model.tree_joints}
    moving = [(i, j) for i, j in enumerate(model.tree_joints, start=1) if model.bodies[i].kind == "dynamic"]
    closing = [(j.child, np.array(j.X_BM.p)) for j in model.loop_joints if j.parent and j.child]
    closed = {j.child for j in model.loop_joints} | {j.parent for j in model.loop_joints}
    tips = [(i, _tip(model, i, j)) for i, j in moving if i not in parents and i not in closed]
    return closing + tips or [(i, np.array(model.bodies[i].com)) for i, _ in moving]


def _tip(model: Model, body: int, joint: Any) -> np.ndarray:
    """The far end of a body as seen from its joint, on the line through the centre of mass."""
    info = model.bodies[body]
    away = info.com - np.array(joint.X_BM.p)
    reach = float(np.linalg.norm(away))
    if joint.implicit or not info.shapes or reach < 1e-9:
        return np.array(info.com)
    away = away / reach
    vertices = np.concatenate([s.triangles()[0] for s in info.shapes])
    longest = float(((vertices - joint.X_BM.p) @ away).max())
    return np.array(joint.X_BM.p) + away * (longest if longest > 1.3 * reach else reach)


def _trace(body: int, t: np.ndarray, arm: np.ndarray, p: np.ndarray, twist: np.ndarray) -> Trace:
    """Cubic Hermite interpolation between recorded positions with the recorded velocities."""
    x, v = p + arm, twist[:, 3:] + np.cross(twist[:, :3], arm)
    if len(t) < 2:
        return Trace(body, t, x)
    s = np.arange(FINER) / FINER
    h = np.diff(t)[:, None, None]
    h00, h10, h01, h11 = 2 * s**3 - 3 * s**2 + 1, s**3 - 2 * s**2 + s, -2 * s**3 + 3 * s**2, s**3 - s**2
    fine = h00[:, None] * x[:-1, None] + h10[:, None] * h * v[:-1, None] + h01[:, None] * x[1:, None] + h11[:, None] * h * v[1:, None]
    times = t[:-1, None] + s * np.diff(t)[:, None]
    return Trace(body, np.append(times.ravel(), t[-1]), np.concatenate([fine.reshape(-1, 3), x[-1:]]))


def shown_rows(recording: Recording, frames: int) -> list[int]:
    """Rows to draw, oldest first: the last stretch of motion, about as long as the scene is large, in equal times."""
    moved = np.linalg.norm(np.diff(centres(recording), axis=0), axis=2).max(axis=1, initial=0.0)
    way = np.concatenate([[0.0], np.cumsum(moved)])
    last = len(recording) - 1
    first = int(np.searchsorted(way, way[-1] - 1.1 * size(recording))) if last else 0
    return sorted({int(k) for k in np.linspace(min(first, last), last, max(1, frames)).round()})


COILS = 12
"""Springs beyond this number hide each other as coils."""


def lines(model: Model) -> list[Line]:
    """Springs, cables and rods: every force or constraint with two or more points; more than COILS springs are drawn straight."""
    out = [Line(strand_kind(e), points) for _, e in (*model.forces, *model.constraints) if (points := points_of(e))]
    out += [Line("cable", (), strand) for strand in strands(model) if isinstance(strand, CableStrand)]
    if sum(line.kind == "spring" for line in out) > COILS:
        out = [Line("cable", line.points) if line.kind == "spring" else line for line in out]
    return out


def line_positions(model: Model, line: Line, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """(n, 3) world positions of a line's points; R (bodies, 3, 3) and p (bodies, 3) at one time."""
    if line.course is not None:
        return line.course.points(R, p)
    bodies = [model.body(q.body) for q in line.points]
    return np.array([p[i] + R[i] @ np.array(q.p) for i, q in zip(bodies, line.points, strict=True)])


def coil(a: np.ndarray, b: np.ndarray, radius: float, turns: int, per_turn: int = 14) -> np.ndarray:
    """(n, 3) a helix from a to b with straight ends; seen from the side it is the zigzag of a drawing."""
    d = b - a
    length = float(np.linalg.norm(d))
    if length < 1e-9:
        return np.array([a, b])
    u = d / length
    side = np.cross(u, (0.0, 1.0, 0.0) if abs(u[1]) < 0.9 else (1.0, 0.0, 0.0))
    side /= np.linalg.norm(side)
    other = np.cross(u, side)
    s = np.linspace(0.12, 0.88, turns * per_turn + 1)
    angle = np.linspace(0.0, 2.0 * np.pi * turns, s.size)
    turn = a + s[:, None] * d + radius * (np.sin(angle)[:, None] * side + np.cos(angle)[:, None] * other)
    return np.concatenate([[a], [a + 0.1 * d], turn, [a + 0.9 * d], [b]])


def axis_names(plane: tuple[np.ndarray, np.ndarray, np.ndarray]) -> tuple[str, str]:
    """What to write at the two axes of a plane: x, y, z where they are these, else e₁, e₂."""

    def name(axis: np.ndarray, otherwise: str) -> str:
        k = int(np.argmax(np.abs(axis)))
        return "xyz"[k] if axis[k] > 1.0 - 1e-9 else otherwise

    return name(plane[0], "e₁"), name(plane[1], "e₂")
