"""Forces in the incremental potential, evaluated by `coordinates.affine.forces`.

    forces with an energy    a potential (`StoredEnergy`); of its second derivative the positive part of each element
    other forces             f ≈ f₀ − K (x − Q) − D (v − V) about coordinates Q with rates V where the step will end; with v = rate (x − x₀)
                             that is the constant load f₀ + D V + K (Q − x₀) and the damper D + K/rate (`LaggedForces`)
    armatures                efforts −I v̇ with v̇ = rate (v − v₀) of the time rule: a damper rate I and a constant

Driven bodies are where they will be at the end, so they need no slopes of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unibody.algebra.block.cholesky import BlockMatrix
from unibody.algebra.block.node_blocks import NodeBlocks, add_block_products
from unibody.coordinates.affine.forces import AffineForces, ForceSlopes, Slopes, add_slopes
from unibody.coordinates.affine.polar import add_dashpot_blocks
from unibody.coordinates.affine.rigid_view import JointCoordinates, RigidView, SeenBodies
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.incremental_potential import Places, Potential, block_matrix, pair_places, seen_blocks


class StoredEnergy(Potential):
    """The energy of springs and other forces during one step, with signals of its end and joint coordinates near q."""

    def __init__(self, forces: AffineForces, q_near: np.ndarray, signals: np.ndarray, factor: float):
        self._forces, self._q_near, self._signals, self._factor = forces, q_near, signals, factor
        self._known: tuple[SeenBodies, tuple[float, np.ndarray, np.ndarray]] | None = None

    def _at(self, x: np.ndarray) -> tuple[SeenBodies, tuple[float, np.ndarray, np.ndarray]]:
        """Bodies as forces see them, with energy, wrenches and efforts; those of the last call again if nothing has moved."""
        if self._known is None or not np.array_equal(self._known[0].x, x):
            seen = self._forces.sprung.see(x, self._q_near)
            self._known = seen, self._forces.stored(seen.X[: 12 * self._forces.n], seen.q, self._signals)
        return self._known

    def pairs(self, x: np.ndarray) -> Sequence[np.ndarray]:
        return self._forces.storing.pair, self._forces.sprung.pair

    def value(self, x: np.ndarray) -> float:
        return self._factor * self._at(x)[1][0]

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        seen, (_, F, efforts) = self._at(x)
        self._forces.sprung.pull(seen, F, efforts, -self._factor, gradient_out)

    def add_blocks(self, x: np.ndarray, places: Places, careful: bool, own_out: np.ndarray, between_out: np.ndarray) -> None:
        """Positive in any case."""
        seen, f = self._at(x)[0], self._forces
        V, v = f.rest
        stiffness, _ = f.storing.blocks(self._signals, seen.X[: 12 * f.n], V, seen.q, v, f.neutral)
        add_slopes(stiffness, f.storing, f.sprung, seen, places, self._factor, own_out, between_out)


class LaggedForces:
    """Forces without an energy, control and armatures, linear over a step."""

    def __init__(self, system: AffineSystem, view: RigidView, forces: AffineForces):
        self._system, self._forces = system, forces
        self.armed = [j for j in system.model.joints if j.armature.any()]
        self._armed = view.coordinates({j.name for j in self.armed}, measured=False)

    def is_idle(self, control: np.ndarray) -> bool:
        """Whether there is neither a force nor control."""
        f = self._forces
        return not f.model.forces and not control[: f.nv + 6 * f.n].any()

    def powers(self, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray) -> np.ndarray:
        """Of dampers, motors and applied wrenches [W]."""
        return np.zeros(3) if self.is_idle(control) else self._seen(Q, V, q_near, signals, control)[-1]

    def _seen(
        self, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray
    ) -> tuple[JointCoordinates, SeenBodies, tuple[np.ndarray, ...], np.ndarray, np.ndarray, np.ndarray]:
        """Joints and bodies as forces see them, what slopes are asked with, and wrenches, efforts and powers there."""
        f = self._forces
        joints = f.every if control[: f.nv].any() else f.touched
        seen = joints.see(np.ascontiguousarray(Q).ravel(), q_near)
        twists = np.einsum("nij,nj->ni", seen.T.reshape(-1, 6, 12), V.reshape(-1, 12))[: f.n]
        X, V_seen, v = seen.X[: 12 * f.n], np.ascontiguousarray(twists).ravel(), joints.velocities(seen, V)
        return joints, seen, (signals, X, V_seen, seen.q, v, control), *f.acting(X, V_seen, seen.q, v, signals, control)

    def about(
        self, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray, origin: np.ndarray, rate: float
    ) -> tuple[np.ndarray, BlockMatrix | None, np.ndarray]:
        """Constant loads (moving, 12), dampers over the moving bodies [N s/m], and powers."""
        s, f = self._system, self._forces
        if self.is_idle(control):
            return np.zeros((len(s.moving), 12)), None, np.zeros(3)
        joints, seen, at, F, efforts, powers = self._seen(Q, V, q_near, signals, control)
        # f₀: all that acts, without what stores energy
        loads = np.zeros(Q.size)
        joints.pull(seen, F, efforts, 1.0, loads)
        if f.energetic:
            _, F_stored, stored = f.stored(at[1], seen.q, signals)
            joints.pull(seen, F_stored, stored, -1.0, loads)
        out, damper = loads.reshape(-1, 12)[s.moving].ravel(), None
        # D V + K (Q − x₀) and D + K/rate
        for slopes, stores in ((f.storing, True), (f.other, False)):
            if slopes.any:
                stiffness, damping = slopes.blocks(*at)
                D = self._matrix(damping, slopes, joints, seen)
                out = out + D.product(V[s.moving].ravel())
                if not stores:
                    K = self._matrix(stiffness, slopes, joints, seen)
                    out, D = out + K.product((Q - origin)[s.moving].ravel()), D.plus(1.0 / rate, K)
                damper = D if damper is None else damper.plus(1.0, D)
        return out.reshape(-1, 12), damper, powers

    def without_energy(
        self, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray
    ) -> np.ndarray:
        """(bodies and links, 12) all that acts on them, but for what stores energy."""
        f, loads = self._forces, np.zeros(Q.size)
        if not self.is_idle(control):
            joints, seen, at, F, efforts, _ = self._seen(Q, V, q_near, signals, control)
            joints.pull(seen, F, efforts, 1.0, loads)
            if f.energetic:
                _, F_stored, stored = f.stored(at[1], seen.q, signals)
                joints.pull(seen, F_stored, stored, -1.0, loads)
        return loads.reshape(-1, 12)

    def about_points(
        self, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray, origin: np.ndarray, rate: float
    ) -> tuple[np.ndarray, NodeBlocks | None]:
        """As `about`, what acts on points of deformables, and between these and bodies: constant loads, and dampers, over all control
        points. `origin` of these, flat."""
        s, f = self._system, self._forces
        assert s.vertices is not None
        out = np.zeros(origin.size)
        if self.is_idle(control):
            return out, None
        points = s.vertices.seen
        joints, seen, at, F, _, _ = self._seen(Q, V, q_near, signals, control)
        force = F.reshape(-1, 6)[points, 3:]
        if f.energetic:
            force = force - f.stored(at[1], seen.q, signals)[1].reshape(-1, 6)[points, 3:]
        out.reshape(-1, 3)[4 * points] += force
        # velocities and ways of bodies and points; vertices by themselves do not appear in these blocks
        speed, way = np.zeros(origin.size), np.zeros(origin.size)
        s.bodies_of(speed)[:], s.bodies_of(way)[:] = V, Q - s.bodies_of(origin)
        found = []
        for slopes, stores in ((f.storing, True), (f.other, False)):
            if slopes.any:
                stiffness, damping = slopes.blocks(*at)
                D = self._point_blocks(damping, slopes, joints, seen)
                add_block_products(D.rows, D.columns, D.blocks.ravel(), speed, out)
                found.append(D)
                if not stores:
                    K = self._point_blocks(stiffness, slopes, joints, seen)
                    add_block_products(K.rows, K.columns, K.blocks.ravel(), way, out)
                    found.append(NodeBlocks(K.rows, K.columns, K.blocks / rate))
        return out, NodeBlocks.joined(found) if found else None

    def _point_blocks(self, blocks: Slopes, slopes: ForceSlopes, joints: JointCoordinates, seen: SeenBodies) -> NodeBlocks:
        assert self._system.vertices is not None
        own, keys, between = self._raw(blocks, slopes, joints, seen)
        return seen_blocks(own, keys, between, self._system.vertices.seen, seen.x.size // 12)

    def _matrix(self, blocks: Slopes, slopes: ForceSlopes, joints: JointCoordinates, seen: SeenBodies) -> BlockMatrix:
        return block_matrix(*self._raw(blocks, slopes, joints, seen), self._system)

    def _raw(
        self, blocks: Slopes, slopes: ForceSlopes, joints: JointCoordinates, seen: SeenBodies
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Blocks of bodies, keys of pairs, and their blocks."""
        n = seen.x.size // 12
        keys, places = pair_places([slopes.pair, joints.pair], n)
        own, between = np.zeros(144 * n), np.zeros(144 * len(keys))
        add_slopes(blocks, slopes, joints, seen, places, 1.0, own, between)
        return own, keys, between

    def armatures(
        self, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, before: np.ndarray, rate: float
    ) -> tuple[np.ndarray, BlockMatrix]:
        """Constant loads (moving, 12) and dampers of −I rate (v − before), along the joints' motions at Q."""
        s, joints = self._system, self._armed
        seen = joints.see(np.ascontiguousarray(Q).ravel(), q_near)
        strength = np.concatenate([rate * j.armature for j in s.model.joints])[joints.which]
        rows, loads = seen.rows.reshape(-1, 2, 12)[joints.which], np.zeros((len(Q), 12))
        # Of bodies that do not move freely the velocity is known.
        known = np.where(s.place[joints.pair] < 0, np.einsum("nsj,nsj->ns", rows, V.reshape(-1, 12)[joints.pair]), 0.0).sum(axis=1)
        np.add.at(loads, joints.pair, (strength * (before[joints.which] - known))[:, None, None] * rows)
        keys, places = pair_places([joints.pair], len(Q))
        own, between = np.zeros(144 * len(Q)), np.zeros(144 * len(keys))
        add_dashpot_blocks(joints.pair.ravel(), places[0], np.ascontiguousarray(rows).ravel(), strength, 1.0, own, between)
        return loads[s.moving], block_matrix(own, keys, between, s)
