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
from unibody.coordinates.affine.forces import AffineForces, ForcesInMotion, ForceSlopes, add_slopes
from unibody.coordinates.affine.polar import add_dashpot_blocks
from unibody.coordinates.affine.rigid_view import JointCoordinates, RigidView, SeenBodies
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.incremental_potential import Places, Potential, block_matrix, pair_places, seen_blocks

Pattern = tuple[ForceSlopes, np.ndarray, list[np.ndarray]]
"""Slopes with the keys of the pairs that they couple, and where these stand (`pair_places`)."""


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
        self._patterns: dict[JointCoordinates, list[Pattern]] = {}

    def is_idle(self, control: np.ndarray) -> bool:
        """Whether there is neither a force nor control."""
        f = self._forces
        return not f.model.forces and not control[: f.nv + 6 * f.n].any()

    def powers(self, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray) -> np.ndarray:
        """Of dampers, motors and applied wrenches [W]."""
        return np.zeros(3) if self.is_idle(control) else self._acting(Q, V, q_near, signals, control).powers

    def _acting(
        self, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray
    ) -> ForcesInMotion:
        return self._forces.in_motion(self._joints(control), Q, V, q_near, signals, control)

    def _joints(self, control: np.ndarray) -> JointCoordinates:
        """Those on which something acts."""
        f = self._forces
        return f.every if control[: f.nv].any() else f.touched

    def _slopes(self, control: np.ndarray) -> list[Pattern]:
        """Slopes that there are, with their patterns: those that store energy first."""
        f, joints = self._forces, self._joints(control)
        if joints not in self._patterns:
            made = [(slopes, *pair_places([slopes.pair, joints.pair], self._system.rows)) for slopes in (f.storing, f.other) if slopes.any]
            self._patterns[joints] = made
        return self._patterns[joints]

    def about(
        self, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray, origin: np.ndarray, rate: float
    ) -> tuple[np.ndarray, BlockMatrix | None, np.ndarray]:
        """Constant loads (moving, 12), dampers over the moving bodies [N s/m], and powers."""
        s, f = self._system, self._forces
        if self.is_idle(control):
            return np.zeros((len(s.moving), 12)), None, np.zeros(3)
        patterns, acting = self._slopes(control), self._acting(Q, V, q_near, signals, control)
        # f₀: all that acts, without what stores energy
        out, damper = f.without_energy(acting)[s.moving].ravel(), None
        # D V + K (Q − x₀) and D + K/rate
        for slopes, keys, places in patterns:
            stiffness, damping = slopes.pulled(acting, places, len(keys), slopes is f.other)
            D = block_matrix(damping[0], keys, damping[1], s)
            out = out + D.product(V[s.moving].ravel())
            if stiffness is not None:
                K = block_matrix(stiffness[0], keys, stiffness[1], s)
                out, D = out + K.product((Q - origin)[s.moving].ravel()), D.plus(1.0 / rate, K)
            damper = D if damper is None else damper.plus(1.0, D)
        return out.reshape(-1, 12), damper, acting.powers

    def without_energy(
        self, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray
    ) -> np.ndarray:
        """(bodies and links, 12) all that acts on them, but for what stores energy."""
        if self.is_idle(control):
            return np.zeros((len(Q), 12))
        return self._forces.without_energy(self._acting(Q, V, q_near, signals, control))

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
        points, n = s.vertices.seen, s.rows
        acting = self._acting(Q, V, q_near, signals, control)
        force = acting.F.reshape(-1, 6)[points, 3:]
        if f.energetic:
            force = force - f.stored_in(acting)[1].reshape(-1, 6)[points, 3:]
        out.reshape(-1, 3)[4 * points] += force
        # velocities and ways of bodies and points; vertices by themselves do not appear in these blocks
        speed, way = np.zeros(origin.size), np.zeros(origin.size)
        s.bodies_of(speed)[:], s.bodies_of(way)[:] = V, Q - s.bodies_of(origin)
        found = []
        for slopes, keys, places in self._slopes(control):
            stiffness, damping = slopes.pulled(acting, places, len(keys), slopes is f.other)
            D = seen_blocks(damping[0], keys, damping[1], points, n)
            add_block_products(D.rows, D.columns, D.blocks.ravel(), speed, out)
            found.append(D)
            if stiffness is not None:
                K = seen_blocks(stiffness[0], keys, stiffness[1], points, n)
                add_block_products(K.rows, K.columns, K.blocks.ravel(), way, out)
                found.append(NodeBlocks(K.rows, K.columns, K.blocks / rate))
        return out, NodeBlocks.joined(found) if found else None

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
