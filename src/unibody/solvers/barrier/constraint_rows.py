"""Constraints whose rows are no measures, and what joints' linear equations leave open, as stiff potentials at rigid projections.

Rows are evaluated class by class, kernels or callbacks: C, G on twists of bodies and J on joint velocities. With T and g (`rigid_view`) a
row's gradient in affine coordinates is Gᵀ T on its bodies and J g on those of its joints, and its potential (`element_loads`)

    C = 0    ½ k C²,  k = s m (ℓ²) / (1 + s m (ℓ²) · compliance)            C ≥ 0    κ b(C/ĉ)

Of its second derivative P″ ∇C ∇Cᵀ is taken, which is positive. Joints are looked at as wholes, by pose and motion, as the record sees
them: multipliers k C are large numbers times small ones, and would not bear two views of C.

A joint's remainder (a screw between bodies that move) is ½ k |d|² + ½ k ℓ² |φ|² of the way d and the turn φ that are left between its pose
and the nearest that it allows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from unibody.contact.barrier import barrier
from unibody.coordinates.affine.forces import raise_error_of
from unibody.coordinates.affine.rigid_view import RigidView, nearest, relative, relative_twist
from unibody.coordinates.relative_joints import fill_element_rows
from unibody.element import Kinematics
from unibody.model.model import JointInfo
from unibody.model.tables import ConstraintTables
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.element_loads import CARRIED, REACH, ElementLoads, StepScales, refuse_start
from unibody.solvers.barrier.incremental_potential import Places, Potential
from unibody.solvers.barrier.measure_steps import sampled_step
from unibody.spatial.pose import vector_from_rotation


class UnmeasuredRows:
    """Rows of some constraints of a model, by name."""

    def __init__(self, system: AffineSystem, view: RigidView, only: Collection[str]):
        self.model, self._errors = system.model, system.callback_errors
        self._tables = tables = ConstraintTables(system.model, system.callback_errors, system.clock, only)
        self.elements = [dict(self.model.constraints)[name] for name in tables.row_names]
        """The constraint of every row."""
        self.unilateral = np.array(tables.row_unilateral, bool)
        self.joints = view.coordinates({j for c in self.elements for j in c.joints()}, measured=False)
        # Entries of rows in affine coordinates: bodies of G, then both bodies of every velocity of J.
        rows = range(tables.rows)
        self._G = np.array([(r, b) for r in rows for b in tables.row_bodies[r]], int).reshape(-1, 2)
        self._J = np.array([(r, v) for r in rows for v in tables.row_dofs[r]], int).reshape(-1, 2)
        ends = self.joints.pair[np.searchsorted(self.joints.which, self._J[:, 1])].reshape(-1)
        self.entry_row = np.concatenate([self._G[:, 0], np.repeat(self._J[:, 0], 2)])
        self.entry_body = np.concatenate([self._G[:, 1], ends]).astype(np.int64)
        # Pairs of entries of one row, for ∇C ∇Cᵀ.
        mine = [np.flatnonzero(self.entry_row == r) for r in rows]
        both = np.array([(e, f) for some in mine for e in some for f in some], int).reshape(-1, 2)
        bodies = self.entry_body[both]
        self.same, self.apart = both[bodies[:, 0] == bodies[:, 1]], both[bodies[:, 0] < bodies[:, 1]]
        self._scale(view)

    def _scale(self, view: RigidView) -> None:
        """m (ℓ²), ĉ and what elements give themselves, by row."""
        bodies = [self.entry_body[self.entry_row == r] for r in range(len(self))]
        arm = np.array([view.length(b for b in some if b < self.model.n_frames) for some in bodies])
        turn = np.array([unit != "m" for unit in self._tables.row_units], bool)
        self._per = np.array([view.heavy(b for b in some if b < self.model.n_frames) for some in bodies]) * np.where(turn, arm**2, 1.0)

        def numbers(name: str, otherwise: float) -> np.ndarray:
            return np.array([getattr(c, name, None) or otherwise for c in self.elements], float)

        self._compliance, self.damping, self._given = numbers("compliance", 0.0), numbers("damping", 0.0), numbers("stiffness", np.nan)
        reach = numbers("reach", np.nan)
        self._reach = np.where(np.isnan(reach), REACH * np.where(turn, 1.0, arm), reach)
        self._turn_arm = np.where(turn, arm, 1.0)

    def __len__(self) -> int:
        return self._tables.rows

    @property
    def ranges(self) -> list[str]:
        """Names of those that are C ≥ 0."""
        names = zip(self._tables.row_names, self.unilateral, strict=True)
        return list(dict.fromkeys(name for name, unilateral in names if unilateral))

    def evaluate(self, X: np.ndarray, q: np.ndarray, signals: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """C, G (entries, 6) and J (entries) of bodies at rest."""
        t = self._tables
        G, J, C, bias, drift = (np.zeros(size) for size in (6 * t.entries, t.dof_entries, t.rows, t.rows, t.rows))
        V, v = np.zeros(6 * self.model.n_frames), np.zeros(self.model.nv_joints)
        fill_element_rows(t.classes, t.index, t.parameters, X, V, q, v, signals, G, J, C, bias, drift)
        if self._errors.error is not None:
            raise_error_of(self._errors)
        return C, G.reshape(-1, 6), J

    def weighed(self, C: np.ndarray, scales: StepScales) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """P, P′ and P″ of every row; P is infinite where a range is left."""
        k = scales.scale * self._per
        k = k / (1.0 + k * self._compliance)
        rest = CARRIED * scales.gravity / self._turn_arm + self._reach / scales.step**2
        kappa = np.where(np.isnan(self._given), self._per * self._reach * rest, self._given)
        b, b1, b2 = barrier(C / self._reach)
        left = self.unilateral & ~(C > 0.0)
        value = np.where(self.unilateral, kappa * b, 0.5 * k * C * C)
        first = np.where(self.unilateral, kappa * b1 / self._reach, k * C)
        second = np.where(self.unilateral, kappa * b2 / self._reach**2, k)
        return np.where(left, np.inf, value), np.where(left, 0.0, first), np.where(left, 0.0, second)

    def gradients(self, x: np.ndarray, q_near: np.ndarray, signals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """C of every row, and its gradient (12) by entries, at affine coordinates x (flat)."""
        seen = self.joints.see(x, q_near)
        C, G, J = self.evaluate(seen.X[: 12 * self.model.n_frames], seen.q, signals)
        on_bodies = np.einsum("ei,eij->ej", G, seen.T.reshape(-1, 6, 12)[self._G[:, 1]])
        in_joints = J[:, None, None] * seen.rows.reshape(-1, 2, 12)[self._J[:, 1]]
        return C, np.concatenate([on_bodies, in_joints.reshape(-1, 12)])

    def violation(self, C: np.ndarray) -> float:
        """The largest |C|, or of C ≥ 0 what is below."""
        return float(np.maximum(np.where(self.unilateral, -C, np.abs(C)), 0.0).max(initial=0.0))

    def refuse_outside(self, x: np.ndarray, q: np.ndarray, signals: np.ndarray) -> None:
        """A start at which a range is not open."""
        if not self.unilateral.any():
            return
        C = np.where(self.unilateral, self.gradients(x, q, signals)[0], np.inf)
        r = int(np.argmin(C))
        if not C[r] > 0.0:
            refuse_start(self._tables.row_names[r], -float(C[r]), self._tables.row_units[r])

    def dashpots(
        self, x: np.ndarray, q: np.ndarray, signals: np.ndarray, scales: StepScales, rate: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Damping of ranges on two bodies at the beginning of a step: pairs, ∂C/∂Q (n, 2, 4, 3), k_d P″ · rate (Eq. 20)."""
        C, gradient = self.gradients(x, q, signals)
        strength = rate * self.damping * self.weighed(C, scales)[2]
        pairs, along, held = [], [], []
        for r in np.flatnonzero(self.damping):
            own: dict[int, np.ndarray] = {}
            for e in np.flatnonzero(self.entry_row == r):
                own[int(self.entry_body[e])] = own.get(int(self.entry_body[e]), 0.0) + gradient[e]
            if len(own) == 2:
                pairs.append(list(own))
                along.append(list(own.values()))
                held.append(strength[r])
        return np.array(pairs, np.int64).reshape(-1, 2), np.array(along).reshape(-1, 2, 4, 3), np.array(held, float)

    def loads(self, k: Kinematics, view: RigidView, scales: StepScales, equalities: bool = True) -> ElementLoads:
        """Value, wrenches, efforts, multipliers and violation for the record, at fitted joints."""
        out, t = ElementLoads.of(self.model), self._tables
        if not len(self):
            return out
        C, G, J = self.evaluate(k.X.ravel(), k.q, k.signals)
        value, first, _ = self.weighed(C, scales)
        held = self.unilateral | equalities
        force = np.where(held, -first, 0.0)
        out.value, out.violation = float(value[held].sum()), self.violation(C)
        np.add.at(out.wrench, self._G[:, 1], G * force[self._G[:, 0], None])
        np.add.at(out.efforts, self._J[:, 1], J * force[self._J[:, 0]])
        for name in dict.fromkeys(name for name, some in zip(t.row_names, held, strict=True) if some):
            out.multipliers[name] = force[[n == name for n in t.row_names]]
        view.spread(out.efforts, k, out.wrench)
        return out


class RowPotential(Potential):
    """Constraint rows during one step, with signals of its end and joint coordinates near q."""

    def __init__(self, rows: UnmeasuredRows, q_near: np.ndarray, signals: np.ndarray, scales: StepScales, factor: float):
        self._rows, self._q_near, self._signals, self._scales, self._factor = rows, q_near, signals, scales, factor
        self._pairs = (rows.entry_body[rows.apart].reshape(-1, 2),)
        self._known: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def _at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """C and its gradients; those of the last call again if nothing has moved."""
        if self._known is None or not np.array_equal(self._known[0], x):
            self._known = x.copy(), *self._rows.gradients(x, self._q_near, self._signals)
        return self._known[1:]

    def pairs(self, x: np.ndarray) -> Sequence[np.ndarray]:
        return self._pairs

    def value(self, x: np.ndarray) -> float:
        return self._factor * float(self._rows.weighed(self._at(x)[0], self._scales)[0].sum())

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        C, gradient = self._at(x)
        first = self._factor * self._rows.weighed(C, self._scales)[1]
        np.add.at(gradient_out.reshape(-1, 12), self._rows.entry_body, first[self._rows.entry_row, None] * gradient)

    def add_blocks(self, x: np.ndarray, places: Places, careful: bool, own_out: np.ndarray, between_out: np.ndarray) -> None:
        C, gradient = self._at(x)
        r, second = self._rows, self._factor * self._rows.weighed(C, self._scales)[2]
        for both, to, out in ((r.same, r.entry_body[r.same[:, 0]], own_out), (r.apart, places[0], between_out)):
            e, f = both.T
            np.add.at(out.reshape(-1, 12, 12), to, second[r.entry_row[e], None, None] * gradient[e][:, :, None] * gradient[f][:, None, :])

    def max_step(self, x: np.ndarray, p: np.ndarray, t: float) -> float:
        if not self._rows.unilateral.any():
            return t
        held = self._rows.unilateral
        return sampled_step(lambda s: float(self._rows.gradients(x + s * p, self._q_near, self._signals)[0][held].min()), t)

    def violation(self, x: np.ndarray) -> float:
        return self._rows.violation(self._at(x)[0])


class JointRemainder:
    """The turn and the way that are left between a joint's pose and the nearest that it allows.

    By the envelope theorem the gradient is that at the nearest q held still: k ℓ² φ and k d, turned to M's axes."""

    def __init__(self, view: RigidView, k: int):
        self.number, self.joint = k, view.model.joints[k]
        self._arm = view.length((self.joint.child, self.joint.parent))
        self._mass = view.heavy((self.joint.child, self.joint.parent))

    def at(self, X: np.ndarray, q_near: np.ndarray, scales: StepScales) -> tuple[float, float, np.ndarray, np.ndarray]:
        """Value, what is left at most, gradient (6) with respect to the twist of M in F, and the positive second derivative (6, 6)."""
        j: JointInfo = self.joint
        R, p = relative(j, X)
        q = nearest(j.element, R, p, q_near[j.q_start : j.q_start + j.nq], self._arm)
        R0, p0 = j.element.pose(q)
        xi = np.concatenate([vector_from_rotation(R0.T @ R), R0.T @ (p - p0)])
        weight = scales.scale * self._mass * np.array([self._arm**2] * 3 + [1.0] * 3)
        gradient = np.concatenate([weight[:3] * xi[:3], R.T @ R0 @ (weight[3:] * xi[3:])])
        S = j.element.motion(q)
        WS = weight[:, None] * S
        K = np.diag(weight) - (WS @ np.linalg.pinv(S.T @ WS) @ WS.T if j.nv else 0.0)
        return 0.5 * float(weight @ xi**2), float(np.abs(xi).max()), gradient, K


class RemainderPotential(Potential):
    """Remainders of joints during one step."""

    def __init__(self, view: RigidView, joints: Iterable[int], q_near: np.ndarray, scales: StepScales, factor: float):
        self._bodies, self._remainders = view.coordinates(()), [JointRemainder(view, k) for k in joints]
        self._q_near, self._scales, self._factor = q_near, scales, factor
        ends = np.array([(r.joint.child, r.joint.parent) for r in self._remainders], np.int64).reshape(-1, 2)
        self._pairs = (ends,)
        self._known: tuple[np.ndarray, list[tuple[float, float, np.ndarray, np.ndarray]], np.ndarray] | None = None

    def _at(self, x: np.ndarray) -> tuple[list[tuple[float, float, np.ndarray, np.ndarray]], np.ndarray]:
        """What each remainder gives, and the maps (joints, 2, 6, 12) from affine rates to the twist of M in F."""
        if self._known is None or not np.array_equal(self._known[0], x):
            seen = self._bodies.see(x, self._q_near)
            X, T = seen.X.reshape(-1, 12), seen.T.reshape(-1, 6, 12)
            maps = []
            for j in (r.joint for r in self._remainders):
                on_child, on_parent = relative_twist(j, X)
                maps.append((on_child @ T[j.child], on_parent @ T[j.parent]))
            self._known = x.copy(), [r.at(X, self._q_near, self._scales) for r in self._remainders], np.array(maps)
        return self._known[1:]

    def pairs(self, x: np.ndarray) -> Sequence[np.ndarray]:
        return self._pairs

    def value(self, x: np.ndarray) -> float:
        return self._factor * sum(value for value, *_ in self._at(x)[0])

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        found, maps = self._at(x)
        for ends, (_, _, gradient, _), pair in zip(self._pairs[0], found, maps, strict=True):
            for body, A in zip(ends, pair, strict=True):
                gradient_out[12 * body : 12 * body + 12] += self._factor * (A.T @ gradient)

    def add_blocks(self, x: np.ndarray, places: Places, careful: bool, own_out: np.ndarray, between_out: np.ndarray) -> None:
        found, maps = self._at(x)
        own, between = own_out.reshape(-1, 12, 12), between_out.reshape(-1, 12, 12)
        for ends, place, (*_, K), (on_child, on_parent) in zip(self._pairs[0], places[0], found, maps, strict=True):
            for body, A in zip(ends, (on_child, on_parent), strict=True):
                own[body] += self._factor * (A.T @ K @ A)
            low, high = (on_parent, on_child) if place < 0 else (on_child, on_parent)
            between[-1 - place if place < 0 else place] += self._factor * (low.T @ K @ high)

    def violation(self, x: np.ndarray) -> float:
        return max((left for _, left, *_ in self._at(x)[0]), default=0.0)


def remainder_loads(view: RigidView, joints: Iterable[int], k: Kinematics, scales: StepScales) -> ElementLoads:
    """Value, wrenches, what holds the joints and what is left, for the record."""
    out = ElementLoads.of(view.model)
    for r in (JointRemainder(view, number) for number in joints):
        value, left, gradient, _ = r.at(k.X, k.q, scales)
        out.value, out.violation, out.holding[r.number] = out.value + value, max(out.violation, left), -gradient
        for body, A in zip((r.joint.child, r.joint.parent), relative_twist(r.joint, k.X), strict=True):
            out.wrench[body] -= A.T @ gradient
    return out
