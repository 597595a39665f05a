"""Where vertices of deformables start when bodies start elsewhere than the model says: what holds a deformable carries it along.

    x = Σ_b w_b D_b x₀,   D_b = X_WB X_WB₀⁻¹,   w_b ∝ 1/r_b²,   v = Σ_b w_b (R_b (v₀ − u_b₀(x₀)) + u_b(x))

over all that holds a deformable, or what that one is attached to: r_b is the distance from the nearest vertex that b holds, D_b how b
stands away from its place in the model, with the rotation R_b, and u_b₀, u_b the velocities of points of b there and now. Bodies that
stand away as one carry the deformable rigidly, whatever the weights; where they stand otherwise to each other, it starts strained,
smoothly from one to the other, and that is told. Prescribed vertices hold like a body that is shifted by their mean way. What nothing
holds stays. States that say themselves where vertices are keep them there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unibody.coordinates.convert import poses_and_twists
from unibody.model.deformed import rate_of
from unibody.model.model import Model
from unibody.model.state import State
from unibody.spatial.pose import Pose

SAME = 1e-6
"""Parts of its size by which what holds a deformable may stand otherwise than in the model without straining it."""
ROUND = 1e-12
"""Parts by which a twist that went through other axes is not the one it was."""
HERE = 1e-12
"""Parts of the largest distance at which a point is at a held place."""


@dataclass(frozen=True)
class Holder:
    """What holds vertices: how it stands away from the model's start, x → R x + s, and its velocities there and now: ω × x + u."""

    name: str
    vertices: np.ndarray
    R: np.ndarray
    s: np.ndarray
    before: tuple[np.ndarray, np.ndarray]
    now: tuple[np.ndarray, np.ndarray]

    @property
    def stays(self) -> bool:
        """Whether it is and moves as in the model, bit for bit."""
        same = all(np.array_equal(a, b) for a, b in zip(self.before, self.now, strict=True))
        return same and not self.s.any() and np.array_equal(self.R, np.eye(3))

    def carried(self, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Places and velocities of points that go with it, which were at x with velocities v."""
        y = x @ self.R.T + self.s
        (w0, u0), (w, u) = self.before, self.now
        return y, (v - u0 - np.cross(w0, x)) @ self.R.T + u + np.cross(w, y)


def carried_vertices(model: Model, state: State | None) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """(n, 3) places and velocities of all vertices at a start whose bodies are at `state` (None: where functions of time put them), and
    what is to be said of strained ones."""
    none = np.zeros((0, 3))
    x = np.concatenate([none, *(d.x0 for d in model.deformables)])
    v = np.concatenate([none, *(d.v0 for d in model.deformables)])
    if state is not None and holds_vertices(model, state):
        free, more = model.free_vertices, 3 * len(model.free_vertices)
        x[free], v[free] = state.q[state.q.size - more :].reshape(-1, 3), state.v[state.v.size - more :].reshape(-1, 3)
        return x, v, ()
    if not model.attachments and not model.prescribed:
        return x, v, ()
    if state is None:
        state = State(0.0, model.start_q()[: model.nq], model.start_v()[: model.nv], "reduced")
    holders, said = _holders(model, *poses_and_twists(model, state), state.t, x), []
    x0 = x.copy()
    for group in _groups(model):
        own = np.concatenate([np.arange(d.every.start, d.every.stop) for d in (model.deformables[k] for k in group)])
        held = [(h, h.vertices[np.isin(h.vertices, own)]) for h in holders]
        held = [(h, vertices) for h, vertices in held if vertices.size]
        if all(h.stays for h, _ in held):
            continue
        ways = [h.carried(x0[own], v[own]) for h, _ in held]
        weights = _weights(x0[own], [x0[vertices] for _, vertices in held])
        x[own] = np.einsum("hn,hni->ni", weights, np.array([y for y, _ in ways]))
        v[own] = np.einsum("hn,hni->ni", weights, np.array([u for _, u in ways]))
        apart = max(float(np.abs(y - ways[0][0]).max()) for y, _ in ways)
        if apart > SAME * float(np.ptp(x0[own], axis=0).max()):
            names = ", ".join(f"'{model.deformables[k].name}'" for k in group)
            by = ", ".join(f"'{h.name}'" for h, _ in held)
            why = f"{by}, which hold it, stand otherwise to each other than in the model, by {apart:.2g} m"
            said.append(f"start: {names} begins strained: {why}")
    return x, v, tuple(said)


def holds_vertices(model: Model, state: State) -> bool:
    """Whether a state says where free vertices are, behind its bodies or joints."""
    more = 3 * len(model.free_vertices)
    return more > 0 and (state.coordinates == "affine" or (state.coordinates == "reduced" and state.q.size == model.nq + more))


def free_vertices(model: Model, state: State | None) -> tuple[np.ndarray, np.ndarray]:
    """(flat) places and velocities of the free vertices in a state: its own, or those that what holds them carries along."""
    x, v, _ = carried_vertices(model, state)
    return x[model.free_vertices].ravel(), v[model.free_vertices].ravel()


def _holders(model: Model, poses: Sequence[Pose], twists: Sequence[np.ndarray], t: float, x: np.ndarray) -> list[Holder]:
    """Bodies, and each set of prescribed vertices."""
    out = []
    on: dict[int, list[np.ndarray]] = {}
    for a in model.attachments:
        if a.body >= 0:
            on.setdefault(a.body, []).append(a.vertices)
    for i, vertices in on.items():
        body, X = model.bodies[i], poses[i]
        V0, V = np.array(body.V_WB, float), np.concatenate([X.R @ twists[i][:3], X.R @ twists[i][3:]])
        away = X @ body.X_WB.inverse()
        same = np.array_equal(X.p, body.X_WB.p) and np.array_equal(X.wxyz, body.X_WB.wxyz)
        R, s = (np.eye(3), np.zeros(3)) if same else (away.R, np.array(away.p))
        if same and np.abs(V - V0).max() <= ROUND * max(1.0, np.abs(V0).max()):
            V = V0
        out.append(Holder(body.name, np.concatenate(vertices), R, s, _field(V0, body.X_WB), _field(V, X)))
    still = np.zeros(3)
    for p in model.prescribed:
        moved = p.motion is not None and t != 0.0
        way, rate = ((p.motion(t) - x[p.vertices]).mean(axis=0), rate_of(p.motion, t).mean(axis=0)) if moved else (still, still)
        before = rate_of(p.motion, 0.0).mean(axis=0) if moved else still
        out.append(Holder(p.name, p.vertices, np.eye(3), way, (still, before), (still, rate)))
    return out


def _field(V: np.ndarray, X: Pose) -> tuple[np.ndarray, np.ndarray]:
    """ω and u of points of a body, ω × x + u, from its twist in world axes at its origin."""
    return V[:3], V[3:] - np.cross(V[:3], X.p)


def _groups(model: Model) -> list[list[int]]:
    """Deformables, by their numbers, that attachments join."""
    owner = np.concatenate([np.full(d.n, k) for k, d in enumerate(model.deformables)])
    group = list(range(len(model.deformables)))
    for a in model.attachments:
        if a.body < 0:
            joined = {group[k] for k in owner[np.concatenate([a.vertices, a.support[a.support >= 0]])]}
            group = [min(joined) if g in joined else g for g in group]
    return [[k for k, g in enumerate(group) if g == first] for first in sorted(set(group))]


def _weights(x: np.ndarray, held: Sequence[np.ndarray]) -> np.ndarray:
    """(holders, n) of points x, from the places that each holds: adding up to 1, and 1 at the places themselves."""
    if len(held) == 1:
        return np.ones((1, len(x)))
    from scipy.spatial import cKDTree

    r2 = np.array([cKDTree(places).query(x)[0] ** 2 for places in held])
    at = r2 <= HERE**2 * max(float(r2.max()), 1e-300)
    w = np.where(at.any(axis=0), at.astype(float), 1.0 / np.where(r2 > 0.0, r2, 1.0))
    return w / w.sum(axis=0)
