"""How bodies in maximal coordinates move and respond to wrenches, with the joints of a spanning forest held:

    (M  −Gᵀ) (y)   (Jᵀ)
    (G   C ) (λ) = ( 0 )          the response of a row J, in O(n) by the factors that the last evaluation left

Vectors over bodies run in the order of the forest's nodes here, and in the order of the state where they leave. What else holds, and how
rows are joined to islands by it, is said by who is made of this: `ImpulseMaximal` (rows come as impulses) and `Penalty` (rows give way).
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.contact.delassus import DelassusFactors
from unibody.algebra.saddle.baraff import solve_tree_many
from unibody.coordinates.maximal.dynamics import kick_maximal
from unibody.coordinates.maximal.observe import reactions_maximal
from unibody.coordinates.maximal.system import MaximalSystem
from unibody.coordinates.maximal.workspace import A_WB, FACTOR, NODE_BODY, NODE_PARENT, NODE_PLAN, NODE_ROWS
from unibody.coordinates.observation import Reactions
from unibody.coordinates.system import SystemAround
from unibody.coordinates.workspace import V_WB, X_WB, Y
from unibody.stepping.body_motion import BodyMotion, centres_in_bodies, cross_rows, motion_of
from unibody.stepping.islands import make_islands


class ForestSystem(SystemAround[MaximalSystem]):
    """A system in maximal coordinates as contact sees it; `holds`: which auxiliary rows tie bodies together."""

    def __init__(self, dynamics: MaximalSystem, holds: np.ndarray):
        super().__init__(dynamics)
        self.n = dynamics.n
        self._com = centres_in_bodies(self.model)
        self._body, self._state = self.view(NODE_BODY).reshape(-1, 2).T
        self._node = np.full(self.model.n_bodies, -1)
        self._node[self._body] = np.arange(self.n)
        self.moving = self._node >= 0
        parent, above = np.zeros(len(self._node), np.int64), self.view(NODE_PARENT)
        parent[self._body] = np.where(above >= 0, self._body[above], 0)
        self.islands = make_islands(parent, self.moving, np.repeat(self._body, 6), self.constraints, holds)
        """The velocities that respond to each other where these rows hold."""
        self._kept: tuple[np.ndarray, np.ndarray, DelassusFactors] | None = None

    def look(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, change: np.ndarray | None = None) -> bool:
        """Evaluate the motion that nothing else holds; whether it is finite. (Coriolis terms are those of its beginning: no `change`.)"""
        self._kept = None
        self.evaluate(t, q, v, control)
        return bool(np.isfinite(self.view(Y)).all())

    def poses(self) -> np.ndarray:
        """(n, 12) X_WB at the last evaluation."""
        return self.view(X_WB).reshape(-1, 12)

    def _rates(self) -> np.ndarray:
        """(bodies, 6) rates of the components of V_WB_B."""
        out = self.view(A_WB).reshape(-1, 6).copy()
        out[self._body] = self.view(Y).reshape(-1, 6)[self._state]
        return out

    def motion(self) -> BodyMotion:
        """How bodies move, with the accelerations of the last evaluation."""
        X = self.poses()
        R = X[:, :9].reshape(-1, 1, 3, 3)
        V, A = (np.einsum("nkij,nkj->nki", R, x.reshape(-1, 2, 3)).reshape(-1, 6) for x in (self.view(V_WB), self._rates()))
        return motion_of(X, self._com, X[:, 9:], V, A)

    def turning(self) -> None:
        """Not known: what joints as rows ask of accelerations is not told apart from what loads do."""

    def response(self, loads: np.ndarray, right: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Velocities and multipliers of the forest's joints (m, 6n) for loads (m, 6n), or for one load and right sides of the joints."""
        m, size = len(loads), 6 * self.n
        y, multipliers = np.zeros((m, size)), np.zeros((m, size))
        if m and size:
            solve_tree_many(
                m, self.view(NODE_PARENT), self.view(NODE_ROWS), self.view(NODE_PLAN), self.view(FACTOR),
                np.ascontiguousarray(loads).ravel(), np.zeros(0) if right is None else right, y.ravel(), multipliers.ravel(),
            )  # fmt: skip
        return y, multipliers

    def _in_bodies(self, bodies: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
        """Wrenches in world axes at centres of mass, in body axes at the bodies' origins."""
        R = self.poses()[:, :9].reshape(-1, 3, 3)[bodies]
        out = np.empty_like(wrenches)
        out[..., 3:] = np.einsum("...ji,...j->...i", R, wrenches[..., 3:])
        out[..., :3] = np.einsum("...ji,...j->...i", R, wrenches[..., :3]) + cross_rows(self._com[bodies], out[..., 3:])
        return out

    def respond(self, front: DelassusFactors, bodies: np.ndarray, wrenches: np.ndarray) -> DelassusFactors:
        """The blocks of `front`, and then those of rows that are wrenches (k, rows, 2, 6) on pairs of bodies (k, 2), in world axes at their
        centres of mass. The last responses are kept until the system looks elsewhere, for who asks the same again."""
        if self._kept is None or not (np.array_equal(self._kept[0], bodies) and np.array_equal(self._kept[1], wrenches)):
            self._kept = (bodies.copy(), wrenches.copy(), self._respond(bodies, wrenches))
        return front.followed_by(self._kept[2])

    def _respond(self, bodies: np.ndarray, wrenches: np.ndarray) -> DelassusFactors:
        """The blocks of such rows alone."""
        raise NotImplementedError(f"{type(self).__name__} must say how bodies respond to rows")

    def wrench_rows(self, bodies: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
        """J (m, 6n) of rows that are wrenches (m, 2, 6) on pairs of bodies (m, 2), in world axes at their centres of mass."""
        J = np.zeros((len(bodies), self.n, 6))
        local = self._in_bodies(bodies, wrenches)
        for side in range(2):
            nodes = self._node[bodies[:, side]]
            moves = np.flatnonzero(nodes >= 0)
            J[moves, nodes[moves]] += local[moves, side]
        return J.reshape(-1, 6 * self.n)

    def _loads(self, load: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
        """(1, 6n) loads on nodes and wrenches (bodies, 6) on bodies, together."""
        return (self._in_bodies(np.arange(len(wrenches)), wrenches)[self._body].ravel() + load)[None, :]

    def ordered(self, nodes: np.ndarray) -> np.ndarray:
        """From the order of nodes to that of the state."""
        out = np.zeros((self.n, 6))
        out[self._state] = nodes.reshape(-1, 6)
        return out.ravel()

    def through(self) -> Reactions:
        """Reactions from the multipliers of the last evaluation."""
        return reactions_maximal(self.dynamics)

    def kick(self, h: float, q: np.ndarray, v: np.ndarray) -> None:
        """v by h times the accelerations, q along the new v; in place."""
        kick_maximal(self.layout, self.ints, self.constants, h, self.work, q, v)
