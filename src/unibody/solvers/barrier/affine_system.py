"""A model in affine coordinates: bodies and virtual links, the equations of their joints, where they start, which move by themselves.

Coordinates Q (bodies and links, 4, 3) run over the model's bodies, then points of deformables on which elements act (which have axes for
their sake, and follow their vertices), then its virtual links. The moving ones are unknown; static and driven
ones are known functions of time. Vertices of deformables stand behind them (`vertices`, None without any): x is Q, flat, and 3 for each
vertex; unknown are 12 of each moving body, then 3 of each free vertex.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from unibody.algebra.block.reduced_pcg import ChangeOfVariables
from unibody.arena import HoldsAddresses
from unibody.collision.broad import Broad
from unibody.collision.filters import body_filter
from unibody.collision.proximity import Proximity
from unibody.collision.surface import RESOLUTION, Surface
from unibody.collision.sweep import KeptCandidates
from unibody.coordinates.affine.body import affine_of_motion, affine_of_pose, masses, rate_of_twist, volume
from unibody.coordinates.affine.control_points import ControlPoints
from unibody.coordinates.affine.forces import asked
from unibody.coordinates.affine.joints import Reduction
from unibody.coordinates.affine.links import expand, in_body_axes, place_links
from unibody.coordinates.affine.points import PointMap, placed_point
from unibody.coordinates.convert import joint_coordinates, poses_and_twists
from unibody.coordinates.signals import DRIVE, signal_function
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, kernel
from unibody.model import Model, State
from unibody.model.tables import CallbackErrors
from unibody.solvers.barrier.deformable_surfaces import with_deformables
from unibody.spatial.devices import norm3
from unibody.spatial.pose import Pose


@kernel
def fill_motions(p: Floats, w: Floats, body: Ints, motion_out: Floats) -> None:
    """Of every body the largest component and the largest length of the motions of its points, for a motion p of all (12 each)."""
    for v in range(body.size):
        x = placed_point(p, w, v, body[v])
        at = 2 * body[v]
        motion_out[at] = max(motion_out[at], max(abs(x[0]), max(abs(x[1]), abs(x[2]))))
        motion_out[at + 1] = max(motion_out[at + 1], norm3(x))


class AffineSystem(HoldsAddresses):
    """What does not change from step to step. Without `touching` nothing of collision is built."""

    def __init__(
        self, model: Model, touching: bool = True, off: Collection[tuple[int, int]] = (), also: Collection[tuple[int, int]] = (),
        thickness: float = 0.0, self_contact: bool = False, segments: int = RESOLUTION,
    ):  # fmt: skip
        self.model = model
        self.parts, self.links = expand(model)
        self.start = self._start()
        self.reduction = Reduction(model, self.start[0], (self.parts, self.links))
        self.change = ChangeOfVariables.of(self.reduction.N, self.reduction.group_of_body, self.reduction.group)
        self.moving = np.array(self.reduction.moving, np.int64)
        """Affine bodies: the model's own, then virtual links."""
        self.real = len(self.moving) - len(self.links)
        """How many of them are the model's."""
        self.own = self.reduction.moving[: self.real]
        self.M4 = np.concatenate([masses(model, self.own), *(link.moments[None] for link in self.links)])
        self.spread = np.sqrt(np.einsum("naa->na", self.M4) / self.M4[:, :1, 0])
        self.stiffness_volumes = np.array([volume(model.bodies[i]) for i in self.own] + [link.volume for link in self.links])
        self.place = np.full(model.n_frames + len(self.links), -1)
        self.place[self.moving] = np.arange(len(self.moving))
        self.rows = len(self.place)
        """Of Q."""
        self.vertices = ControlPoints(model, self.rows, self.place) if model.deformables else None
        self.touching = touching
        if touching:
            self.surface = Surface.of(model, segments, thickness)
            rules = body_filter(model, touching, off, also)
            if self.vertices is not None:
                self.surface, rules = with_deformables(
                    self.surface, rules, model, self.rows, self.vertices.rests, off, self_contact
                )  # fmt: skip
            self.broad, self.proximity = Broad(self.surface, rules), Proximity(self.surface)
            self.kept: KeptCandidates | None = None
            """Candidates that are kept from step to step, once it is known how far contact reaches."""
            own = slice(self.surface.rigid)
            self.points = PointMap(self.surface.w[own], self.surface.body[own])
        else:
            self.points = PointMap.of_shapes(model, RESOLUTION)
        self.callback_errors, self.clock = CallbackErrors(), np.zeros(1)
        given, self._fill_signals = signal_function(model, self.callback_errors, self.clock)
        self._signals, self.drives = given.values, given.drives

    def _start(self) -> tuple[np.ndarray, np.ndarray]:
        model = self.model
        if any(b.motion is not None for b in model.bodies):  # what hangs on a driven body starts where that is at t = 0
            return self.placed(State(0.0, model.start_q()[: model.nq], model.start_v()[: model.nv], "reduced"))
        points = self._points(np.concatenate([np.zeros((0, 3)), *(d.x0 for d in model.deformables)]))
        poses = [b.X_WB for b in model.bodies] + points + [link.X_WB for link in self.links]
        twists = [in_body_axes(b.X_WB, np.array(b.V_WB, float)) for b in model.bodies]
        twists += [np.zeros(6)] * len(points) + [link.V_WB for link in self.links]
        return affine_of_motion(poses, twists)

    def placed(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Q and its rates (bodies and links, 4, 3) of a state in rigid coordinates; links stand where the joints' coordinates say."""
        model = self.model
        poses, twists = poses_and_twists(model, state)
        q, v = joint_coordinates(model, state, poses, twists, {link.joint for link in self.links})
        places, rates = place_links(model, self.parts, len(self.links), poses, twists, q, v)
        points = self._points(np.concatenate([np.zeros((0, 3)), *(d.x0 for d in model.deformables)]))
        return affine_of_motion([*poses, *points, *places], [*twists, *[np.zeros(6)] * len(points), *rates])

    def _points(self, x: np.ndarray) -> list[Pose]:
        """Points of deformables as elements see them, of vertices at x (n, 3)."""
        return [Pose(tuple(p.weights @ x[p.vertices])) for p in self.model.vertex_points]

    def own_state(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """q and v of a state in affine coordinates, of this model."""
        count = self.unknowns
        if state.q.size != count or state.v.size != count:
            raise ModelError(f"state holds {state.q.size} coordinates, this model has {count}; give one of the same model")
        return state.q, state.v

    def motions(self, p: np.ndarray) -> np.ndarray:
        """(bodies, links and deformables, 2) the largest component and length of their points' motions, for a motion p of all (flat)."""
        out = np.zeros((self.touchables, 2))
        fill_motions(p[: 12 * self.rows], self.points.w.ravel(), self.points.body, out.ravel())
        if self.vertices is not None:
            ways = self.vertices.of(p)
            for k, most in enumerate((np.abs(ways).max(axis=1, initial=0.0), np.linalg.norm(ways, axis=1))):
                np.maximum.at(out[self.rows :, k], self.vertices.owner, most)
        return out

    def signals(self, t: float) -> np.ndarray:
        """The values at time t of all that may depend on it, drives of kinematic bodies among them; sets the clock of NumPy methods."""
        out, self.clock[0] = self._signals.copy(), t
        if self._fill_signals is not None:
            asked(self.callback_errors, self._fill_signals, t, out)
        return out

    def _drives(self, t: float) -> dict[int, np.ndarray]:
        """X_WB, V_WB_B and its rate of kinematic bodies at time t."""
        if not self.drives:
            return {}
        now = float(self.clock[0])
        signals, self.clock[0] = self.signals(t), now
        return {i: signals[at : at + DRIVE] for i, at in self.drives.items()}

    def driven(self, t: float) -> dict[int, np.ndarray]:
        """Coordinates (4, 3) of kinematic bodies at time t."""
        return {i: affine_of_pose(now[:9].reshape(3, 3), now[9:12]) for i, now in self._drives(t).items()}

    def whole(self, q: np.ndarray, t: float) -> np.ndarray:
        """Q with static and driven bodies, from that of the moving ones."""
        Q = self.start[0].copy()
        for i, place in self.driven(t).items():
            Q[i] = place
        Q[self.moving] = q[: 12 * len(self.moving)].reshape(-1, 4, 3)
        return Q

    def rates(self, v: np.ndarray, t: float) -> np.ndarray:
        """Q̇ with static and driven bodies, from that of the moving ones."""
        out = np.zeros_like(self.start[1])
        for i, now in self._drives(t).items():
            R = now[:9].reshape(3, 3)
            out[i] = rate_of_twist(affine_of_pose(R, now[9:12]), R @ now[12:15], R @ now[15:18])
        out[self.moving] = v[: 12 * len(self.moving)].reshape(-1, 4, 3)
        return out

    def everything(self, Q: np.ndarray, q: np.ndarray, t: float) -> np.ndarray:
        """x of all control points at time t, from Q of all bodies and the unknowns q, of which those of free vertices are read."""
        if self.vertices is None:
            return Q.ravel()
        return self.vertices.joined(Q, q[12 * len(self.moving) :], self.vertices.positions(t))

    def rates_of_all(self, V: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        """ẋ of all control points."""
        if self.vertices is None:
            return V.ravel()
        return self.vertices.joined(V, v[12 * len(self.moving) :], self.vertices.speeds(t))

    def bodies_of(self, x: np.ndarray) -> np.ndarray:
        """Q (bodies and links, 4, 3) in x of all control points: a view."""
        return x[: 12 * self.rows].reshape(-1, 4, 3)

    def unknown(self, x: np.ndarray) -> np.ndarray:
        """(flat) of the moving bodies and the free vertices in x of all control points."""
        own = self.bodies_of(x)[self.moving].ravel()
        return own if self.vertices is None else np.concatenate([own, self.vertices.free_of(x)])

    def put_unknown(self, own: np.ndarray, x: np.ndarray) -> None:
        """`unknown` in x set to `own`; attached vertices follow."""
        m = 12 * len(self.moving)
        self.bodies_of(x)[self.moving] = own[:m].reshape(-1, 4, 3)
        if self.vertices is not None:
            self.vertices.of(x)[self.vertices.free] = own[m:].reshape(-1, 3)
            self.vertices.placed(x)

    def velocity_origin(self, t: float, h: float, own: np.ndarray, second: bool, like: np.ndarray) -> np.ndarray:
        """x₀ at all control points of a step of length h from t, from that of the unknowns: (4 x − x₋₁) / 3 of what is known, too, if it is
        `second` order, else x. What rests is as in `like`."""
        out = like.copy()
        Q, earlier = self.bodies_of(out), self.driven(t - h) if second else {}
        for i, place in self.driven(t).items():
            Q[i] = (4.0 * place - earlier[i]) / 3.0 if second else place
        if (v := self.vertices) is not None and len(v.prescribed):
            now = v.positions(t)
            v.of(out)[v.prescribed] = (4.0 * now - v.positions(t - h)) / 3.0 if second else now
        self.put_unknown(own, out)
        return out

    @property
    def touchables(self) -> int:
        """How many bodies, links and deformables there are; deformables are the last."""
        return self.rows + len(self.model.deformables)

    def name_of(self, i: int) -> str:
        """The name of one of these."""
        if i < self.model.n_bodies:
            return self.model.bodies[i].name
        if i < self.model.n_frames:
            return self.model.vertex_points[i - self.model.n_bodies].name
        if i < self.rows:
            return self.model.joints[self.links[i - self.model.n_frames].joint].name
        return self.model.deformables[i - self.rows].name

    @property
    def free_vertices(self) -> int:
        return 0 if self.vertices is None else len(self.vertices.free)

    @property
    def unknowns(self) -> int:
        """How many numbers are unknown."""
        return 12 * len(self.moving) + 3 * self.free_vertices

    def driven_accelerations(self, t: float) -> dict[int, np.ndarray]:
        """Q̈ (4, 3) of kinematic bodies at time t."""
        out = {}
        for i, now in self._drives(t).items():
            R = now[:9].reshape(3, 3)
            omega, alpha, rate = R @ now[12:15], R @ now[18:21], R @ (now[21:24] + np.cross(now[12:15], now[15:18]))
            out[i] = np.concatenate([rate[None], np.cross(alpha, R.T) + np.cross(omega, np.cross(omega, R.T))])
        return out

    def known_accelerations(self, t: float) -> np.ndarray:
        """(flat) ẍ of all control points whose motion is known, at time t; 0 of the others."""
        out = np.zeros(12 * self.rows if self.vertices is None else self.vertices.size)
        for i, rate in self.driven_accelerations(t).items():
            self.bodies_of(out)[i] = rate
        if (v := self.vertices) is not None:
            v.of(out)[v.prescribed] = v.accelerations(t)
            v.placed(out)
        return out

    def ahead_of_known(self, t: float, factor: float, like: np.ndarray) -> np.ndarray:
        """x − factor ẍ of all control points whose motion is known, at time t; others as in `like`."""
        out = like.copy()
        for i, place in self.driven(t).items():
            self.bodies_of(out)[i] = place
        if (v := self.vertices) is not None:
            v.of(out)[v.prescribed] = v.positions(t)
            v.placed(out)
        return out - factor * self.known_accelerations(t)

    def accelerations(self, t: float) -> dict[int, np.ndarray]:
        """V̇ (6, body axes) of kinematic bodies at time t."""
        return {i: now[18:24] for i, now in self._drives(t).items()}
