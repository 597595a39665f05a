"""Forces that are linear over a step, from compiled kernels, in affine coordinates.

Without what stores energy, f ≈ f₀ − K (x − Q) − D (v − V) about coordinates Q with rates V; with v = rate (x − x₀) that is the constant
f₀ + D V + K (Q − x₀) and the damper D + K/rate. Driven bodies are where they will be at the end, so they need no slopes of their own.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.block.cholesky import BlockMatrix
from unibody.coordinates.affine.polar import add_pulled_loads
from unibody.element import APPLIED_POWER, DAMPER_POWER, MOTOR_POWER
from unibody.solvers.barrier.forces import CompiledForces, ForceSlopes, SeenBodies, Velocities, add_slopes
from unibody.solvers.barrier.incremental_potential import AffineSystem, block_matrix, pair_places


class AffineLag:
    """Forces and control of one model."""

    def __init__(self, system: AffineSystem, forces: CompiledForces):
        self.system, self.forces = system, forces
        self._idle = not forces.model.forces

    def powers(self, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray) -> np.ndarray:
        """Of dampers, motors and applied wrenches [W]."""
        if self._is_idle(control):
            return np.zeros(3)
        velocities = self._velocities(control)
        seen = self.forces.see(Q, q_near, velocities)
        ledger = self.forces.acting(seen, signals, *self._rates(seen, V, velocities), control)[2]
        return ledger[[DAMPER_POWER, MOTOR_POWER, APPLIED_POWER]]

    def about(
        self, Q: np.ndarray, V: np.ndarray, q_near: np.ndarray, signals: np.ndarray, control: np.ndarray, origin: np.ndarray, rate: float
    ) -> tuple[np.ndarray, BlockMatrix | None, np.ndarray]:
        """Constant loads (moving, 4, 3), dampers over the moving bodies [N s/m], and powers."""
        s, f = self.system, self.forces
        if self._is_idle(control):
            return np.zeros((len(s.moving), 4, 3)), None, np.zeros(3)
        velocities = self._velocities(control)
        seen = f.see(Q, q_near, velocities)
        rates = self._rates(seen, V, velocities)
        F, efforts, ledger = f.acting(seen, signals, *rates, control)
        loads, pair = np.zeros(Q.size), velocities.pair.ravel()
        add_pulled_loads(F, seen.T, velocities.which, pair, seen.rows, efforts, 1.0, loads)
        if f.energetic:
            _, F, efforts = f.stored(seen, signals)
            add_pulled_loads(F, seen.T, velocities.which, pair, seen.rows, efforts, -1.0, loads)
        out, damper = loads.reshape(Q.shape)[s.moving].ravel(), None
        for slopes, stores in ((f.storing, True), (f.other, False)):
            if slopes.any:
                stiffness, damping = slopes.blocks(seen, signals, *rates, control, f.n)
                D = self._matrix(damping, slopes, velocities, seen)
                out = out + D.product(V[s.moving].ravel())
                if not stores:
                    K = self._matrix(stiffness, slopes, velocities, seen)
                    out, D = out + K.product((Q - origin)[s.moving].ravel()), D.plus(1.0 / rate, K)
                damper = D if damper is None else damper.plus(1.0, D)
        return out.reshape(-1, 4, 3), damper, ledger[[DAMPER_POWER, MOTOR_POWER, APPLIED_POWER]]

    def _is_idle(self, control: np.ndarray) -> bool:
        return self._idle and not control[: self.forces.nv + 6 * self.forces.n].any()

    def _velocities(self, control: np.ndarray) -> Velocities:
        return self.forces.every if control[: self.forces.nv].any() else self.forces.touched

    def _rates(self, seen: SeenBodies, V: np.ndarray, velocities: Velocities) -> tuple[np.ndarray, np.ndarray]:
        """Twists of bodies (6 each, body axes) and joint velocities."""
        twists = np.einsum("nij,nj->ni", seen.T.reshape(-1, 6, 12), V.reshape(-1, 12))[: self.forces.n]
        v = np.zeros(self.forces.nv)
        rows = seen.rows.reshape(-1, 2, 12)[velocities.which]
        v[velocities.which] = np.einsum("nsj,nsj->n", rows, V.reshape(-1, 12)[velocities.pair])
        return np.ascontiguousarray(twists).ravel(), v

    def _matrix(self, blocks: list[np.ndarray], slopes: ForceSlopes, velocities: Velocities, seen: SeenBodies) -> BlockMatrix:
        s, n = self.system, seen.x.size // 12
        keys, places = pair_places([slopes.pair, velocities.pair], n)
        own, between = np.zeros(144 * n), np.zeros(144 * len(keys))
        add_slopes(blocks, slopes, velocities, seen, places, 1.0, own, between)
        return block_matrix(own.reshape(-1, 12, 12)[s.moving], keys, between.reshape(-1, 12, 12), s.place, n)
