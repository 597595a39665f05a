"""What holds vertices, and with what force: R = m a − f⁺ of the step that ended at a state (`flesh_bound`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.algebra.tree.aba import A
from unibody.coordinates.reduced.workspace import COUPLING, IMPLICIT_F, OWN, ROWS
from unibody.coordinates.workspace import GRAVITY, MULTIPLIER, X_WB, F, G
from unibody.kernel import Floats, kernel
from unibody.solvers.redmax.flesh_system import FleshSystem, mean_rate, rate_of_rate
from unibody.solvers.redmax.flesh_vertices import classical_acceleration, load_vertices, multiply_stencils
from unibody.solvers.redmax.flesh_workspace import VERTEX_A, VERTEX_F, VERTEX_V, VERTEX_WAY, VERTEX_X
from unibody.spatial.devices import load3


@kernel
def accelerations_of_points(rows: Floats, gravity: Floats, bodies: Floats, x: Floats, a_out: Floats) -> None:
    """(n, 3) of points x (n, 3) of bodies, from the accelerations that stand in the rows; they carry −g, which is taken off."""
    g = load3(gravity, 0)
    for k in range(bodies.size):
        found = classical_acceleration(rows, g, int(bodies[k]), load3(x, 3 * k), A)
        for m in range(3):
            a_out[3 * k + m] = found[m]


def point_accelerations(system: FleshSystem, numbers: np.ndarray) -> np.ndarray:
    """(N, 3) changes of velocity that the implicit terms see, of all vertices: a_f of free ones, Γ x_b on bodies, 0 of known ones."""
    v, free = system.vertices, len(system.vertices.free)
    points = np.zeros((v.points, 3))
    points[:free] = numbers[: 3 * free].reshape(-1, 3)
    border = numbers[3 * free :].reshape(-1, 6)
    X = system.view(X_WB).reshape(-1, 12)
    for k, (_, body) in enumerate(v.held[: v.moved].tolist()):
        twist = border[np.searchsorted(system.flesh.border, body)]
        points[free + k] = X[body, :9].reshape(3, 3) @ (twist[3:] + np.cross(twist[:3], v.held_p[k]))
    out = np.zeros((v.count, 3))
    which = np.repeat(np.arange(v.count), np.diff(v.stands_for.start))
    np.add.at(out, which, v.stands_for.weight[:, None] * points[v.stands_for.of])
    return out


def step_forces(system: FleshSystem, h: float) -> tuple[np.ndarray, np.ndarray]:
    """(N, 3) f⁺ of all vertices over the step of length h that was solved last, weight only of masses that no body has; and a."""
    numbers = system.accelerations()
    a = point_accelerations(system, numbers)
    load_vertices(system.layout, system.ints, system.constants, *_element_loads(system, a, numbers), system.work)
    if h > 0.0:
        f = system.view(VERTEX_F)
        tables, w, u = (system.layout, system.ints, system.constants), system.view(VERTEX_WAY), system.view(VERTEX_V)
        multiply_stencils(*tables, h, 1.0, 1, w, u, system.work, f)
        multiply_stencils(*tables, h * h, h, 0, a.ravel(), a.ravel(), system.work, f)
    return system.view(VERTEX_F).reshape(-1, 3).copy(), a


def _element_loads(system: FleshSystem, a: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Wrenches of elements on bodies and points (6 each), those of the beginning and what implicit terms add to them, of points."""
    model, n = system.model, system.model.n_bodies
    extra = np.array(system.view(IMPLICIT_F)).reshape(-1, 6)
    extra[:n] = 0.0
    points = [p.weights @ a[p.vertices] for p in model.vertex_points]
    own = system.view(OWN).reshape(-1, 21)[n:, 15:]
    for k, (x, c) in enumerate(zip(points, own, strict=True)):
        extra[n + k, 3:] -= np.array([[c[0], c[1], c[2]], [c[1], c[3], c[4]], [c[2], c[4], c[5]]]) @ x
    border = numbers[3 * len(system.vertices.free) :].reshape(-1, 6)
    coupling = system.view(COUPLING).reshape(-1, 6, 6)
    for place, (i, j) in enumerate(system.terms.couplings.tolist()):
        if max(i, j) < n:
            continue
        bodies = system.flesh.border
        of = [np.concatenate([np.zeros(3), points[b - n]]) if b >= n else border[np.searchsorted(bodies, b)] for b in (i, j)]
        if i >= n:
            extra[i] -= coupling[place] @ of[1]
        if j >= n:
            extra[j] -= coupling[place].T @ of[0]
    return np.array(system.view(F)), extra.ravel()


def vertex_reactions(system: FleshSystem, begun: float, h: float) -> np.ndarray:
    """(N, 3) the forces with which what holds vertices acts on them, over the step of length h from the time `begun` that was solved last,
    with loads; h = 0: at that instant."""
    v, gravity = system.vertices, system.model.gravity
    out, f, a = np.zeros((v.count, 3)), *step_forces(system, h)
    # on bodies: of dynamic ones the tables know the masses, and the weight
    if len(v.held):
        mine, rates = v.held[:, 0], np.zeros(3 * len(v.held))
        at = np.ascontiguousarray(system.view(VERTEX_X).reshape(-1, 3)[mine]).ravel()
        accelerations_of_points(system.view(ROWS), system.view(GRAVITY), v.held[:, 1].astype(float), at, rates)
        weight = np.where(v.own_mass[mine, None] > 0.0, 0.0, 1.0) * gravity
        out[mine] = v.mass[mine, None] * (rates.reshape(-1, 3) - weight) - f[mine]
    on_others = v.supported[:, 0]
    out[on_others] = v.mass[on_others, None] * a[on_others] - f[on_others]
    for p in system.model.prescribed:
        rate = 0.0 if p.motion is None else mean_acceleration(p, begun, h)
        out[p.vertices] = v.mass[p.vertices, None] * rate - f[p.vertices]
    return out


def stage_reactions(system: FleshSystem) -> np.ndarray:
    """(N, 3) the same at the end of a step of a fully implicit rule, whose correction was asked for last: VERTEX_F is what is missing of
    the balance, but for inertia and weight of masses that bodies have."""
    v = system.vertices
    a, missing = (system.view(slot).reshape(-1, 3) for slot in (VERTEX_A, VERTEX_F))
    out = (v.mass - v.own_mass)[:, None] * (a - system.model.gravity) - missing - forces_of_rows(system)
    out[v.free] = 0.0
    return out


def forces_of_rows(system: FleshSystem) -> np.ndarray:
    """(N, 3) what the multipliers of the last solution do to vertices."""
    out, n = np.zeros((system.vertices.count, 3)), system.model.n_bodies
    constraints, blocks, multiplier = system.constraints, system.view(G).reshape(-1, 6), system.view(MULTIPLIER)
    for r in range(constraints.rows if system.row_by_row else 0):
        for e in constraints.row_entry[constraints.row_start[r] : constraints.row_start[r + 1]]:
            if (k := int(constraints.entry_body[e]) - n) >= 0:
                point = system.model.vertex_points[k]
                np.add.at(out, point.vertices, np.outer(point.weights, multiplier[r] * blocks[e, 3:]))
    return out


def load_driven(system: FleshSystem, reactions: np.ndarray) -> bool:
    """Add what vertices do to bodies that no force moves to the wrenches on these; whether there are any."""
    v = system.vertices
    X, loads = system.view(X_WB).reshape(-1, 12), system.view(F).reshape(-1, 6)
    for (vertex, body), p in zip(v.held[v.moved :].tolist(), v.held_p[v.moved :], strict=True):
        force = -X[body, :9].reshape(3, 3).T @ reactions[vertex]
        loads[body] += np.concatenate([np.cross(p, force), force])
    return len(v.held) > v.moved


def mean_acceleration(p: Any, t: float, h: float) -> np.ndarray:
    """Of prescribed vertices over a step of length h from t: the change of their mean velocities, the first counted from v(t)."""
    if h == 0.0:
        return rate_of_rate(p.motion, t)
    now = p.motion(t)
    return ((p.motion(t + h) - now) / h - mean_rate(p.motion, now, t, h)) / h
