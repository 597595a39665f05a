"""Maximal coordinates whose joints and constraints are penalty forces (paper 002 §3.2.1).

    λ = −α (C̈ + 2 Ω μ Ċ + Ω² C)   of rows C = 0,         λ = −α (C̈ + ν Ċ)   of rows on velocities alone,         M V̇ = f + Jᵀ λ

C̈ = J V̇ + c holds the unknown V̇, so that M + Jᵀ α J is the matrix. It is never made: with λ as an unknown the same equations are

    (M  −Jᵀ ) (V̇)   (f)
    (J  1/α ) (λ) = (−c − 2 Ω μ Ċ − Ω² C)

the saddle system of Lagrange multipliers with a compliance 1/α, which the forest's factors solve in O(n). With the forces of the end of a
step h, Ċ⁺ = Ċ + h C̈ and C⁺ = C + h Ċ⁺, it keeps its form:

    σ = 1 + 2 Ω μ h + Ω² h²,    compliance 1/(α σ),    right side −c − ((2 Ω μ + Ω² h) Ċ + Ω² C)/σ

Steps that carry momenta go straight in the world, with centres of mass at constant speed, while rows are bent: at the end of a step that
stays at C = 0, Ċ is not 0 but h b/2, b being C̈ of that straight motion. Ċ stands for the mean rate over the last step, which is h b/2 less.
(Else C would be held at −μ h b/Ω.)

A start has no step before it: its velocities are on the rows, Ċ = 0, and a step that held C = 0 would have to make up for h b/2, with
forces as large as those that it is asked for. So steps of another length than h₋₁ of the last one (0 at a start) begin with velocities that
earlier ones of their length would have left,

    v ← v − ½ (h − h₋₁) n,      M n = Jᵀ ν,      J n = −b      of rows C = 0,

which changes no motion along the rows, and momenta by forces in the rows alone. It is left out where h n is larger than v itself: such rows
are not followed by steps of this length.

One-sided rows C ≥ 0 only push: among those that are violated (or would be at the end of the step) a set with λ ≥ 0 is found by leaving
out what pulls and taking back what would push; past ROUNDS of that, only by leaving out.

Books: the springs' line also holds Σ ½ α Ω² C²; the dampers' line the rest of what the rows do, at the power λ Ċ + α Ω² C Ċ.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from unibody.algebra.least_change import least_sparse
from unibody.arena import part
from unibody.coordinates.kick import NODE_NUMBERS
from unibody.coordinates.maximal.forest import solve_by_planar_tree, solve_by_tree
from unibody.coordinates.maximal.system import MaximalSystem
from unibody.coordinates.maximal.tables import MaximalTables
from unibody.coordinates.maximal.workspace import NODE_B, NODE_BODY, NODE_C, NODE_JOINT, NODE_L, NODE_M, NODE_Y
from unibody.coordinates.relative_joints import JOINT
from unibody.coordinates.system import SystemAround

from unibody.coordinates.workspace import (  # isort: skip
    ACTIVE, COMPLIANCE, COUNTS, ENTRY_BODY, ENTRY_W, G, JOINTS, LEDGER, MULTIPLIER, NODE_CONSTANTS, NODE_OF, PRIMARY, RATE, RESIDUAL,
    ROW_ENTRY, ROW_START, STABILISER, TARGET, V_WB, WIDTH,
)  # fmt: skip
from unibody.element import DAMPER_POWER, SPRING_ENERGY
from unibody.kernel import Floats, Ints, device, kernel
from unibody.model.model import Model
from unibody.solvers.penalty.workspace import AIM, PENALISED, PENALTY
from unibody.spatial.devices import add3, cross, dot3, load3

SOFT, LAG, K_V, K_Q, STIFFNESS, SIDED, AHEAD = range(7)
"""Numbers of a row: its compliance (0: not a penalty), h/2, the gains of Ċ and C, α Ω², whether it only pushes, and the time by which
one-sided rows look ahead."""
ROW = 7

ELSEWHERE = 2.0
"""SIDED of rows that only push and whose forces are found elsewhere, together with contacts."""

ROUNDS = 8

LONGEST_ARM = 1e9
"""[m] A row with a longer arm about a centre of mass turns a body and pushes it by round-off alone."""


class Gains(NamedTuple):
    """Ω [rad/s], μ [1] and ν [1/s]."""

    omega: float
    mu: float
    rate: float


class PenaltyParameters(NamedTuple):
    """α [kg, of angles kg m²], or the multiple of the mass that a row feels at the start; the gains by step; whether forces
    are those of the end of the step."""

    alpha: float | None
    ratio: float
    gains: Callable[[float], Gains]
    implicit: bool


@device
def straight(width, G6, entry_body, place, numbers, V, e):
    """G V̇ of an entry on a body that goes straight: V̇ = (0, −ω × v_c)."""
    if place[e] < 0:
        return 0.0
    i = 6 * entry_body[e]
    o = load3(V, i)
    v = add3(load3(V, i + 3), cross(o, load3(numbers, NODE_NUMBERS * (place[e] // width) + 1)))
    return -dot3(load3(G6, 6 * e + 3), cross(o, v))


@kernel
def soften(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """Compliances and right sides of all rows; which one-sided ones may push."""
    width = part(ints, layout, COUNTS)[WIDTH]
    first = part(ints, layout, COUNTS)[PRIMARY]
    joints = part(ints, layout, JOINTS)
    node_joint = part(ints, layout, NODE_JOINT)
    row_start = part(ints, layout, ROW_START)
    row_entry = part(ints, layout, ROW_ENTRY)
    entry_body = part(ints, layout, ENTRY_BODY)
    place = part(ints, layout, NODE_OF)
    numbers = part(constants, layout, NODE_CONSTANTS)
    table = part(constants, layout, PENALTY)
    G6 = part(work_out, layout, G)
    V = part(work_out, layout, V_WB)
    residual = part(work_out, layout, RESIDUAL)
    rate = part(work_out, layout, RATE)
    compliance = part(work_out, layout, NODE_C)
    right = part(work_out, layout, NODE_B)
    target = part(work_out, layout, TARGET)
    aim = part(work_out, layout, AIM)
    active = part(work_out, layout, ACTIVE)
    # joints of the forest: compliance 1/(α σ), Ċ less h b/2, right side −c − k_v Ċ − k_q C
    for i in range(node_joint.size // 2):
        if node_joint[2 * i] >= 0:
            row = joints[JOINT * node_joint[2 * i] + 4]
            for r in range(joints[JOINT * node_joint[2 * i] + 5]):
                at = ROW * (row + r)
                compliance[width * i + r] = table[at + SOFT]
                e = 2 * (row + r)
                bent = right[width * i + r] - straight(width, G6, entry_body, place, numbers, V, e)
                rate[row + r] += table[at + LAG] * (bent - straight(width, G6, entry_body, place, numbers, V, e + 1))
                right[width * i + r] -= table[at + K_V] * rate[row + r] + table[at + K_Q] * residual[row + r]
    # the same of auxiliary rows, kept as what is aimed at
    for r in range(target.size):
        at = ROW * (first + r)
        bent = target[r]
        for k in range(row_start[r], row_start[r + 1]):
            bent -= straight(width, G6, entry_body, place, numbers, V, row_entry[k])
        rate[first + r] += table[at + LAG] * bent
        aim[r] = target[r] - table[at + K_V] * rate[first + r] - table[at + K_Q] * residual[first + r]
    # one-sided rows that are open, now and at the end of the step, take no part
    for r in range(active.size):
        at = ROW * (first + r)
        near = min(residual[first + r], residual[first + r] + table[at + AHEAD] * rate[first + r])
        active[r] = -1.0 if table[at + SIDED] == ELSEWHERE or (table[at + SIDED] == 1.0 and near >= 0.0) else 1.0


@kernel
def only_push(layout: Ints, ints: Ints, constants: Floats, adding: int, work_out: Floats) -> bool:
    """Leave out one-sided rows that pull and, if `adding`, take back those that would push; whether the rows that act are others now."""
    width = part(ints, layout, COUNTS)[WIDTH]
    first = part(ints, layout, COUNTS)[PRIMARY]
    row_start = part(ints, layout, ROW_START)
    row_entry = part(ints, layout, ROW_ENTRY)
    place = part(ints, layout, NODE_OF)
    table = part(constants, layout, PENALTY)
    entries = part(work_out, layout, ENTRY_W)
    y = part(work_out, layout, NODE_Y)
    aim = part(work_out, layout, AIM)
    active = part(work_out, layout, ACTIVE)
    multiplier = part(work_out, layout, MULTIPLIER)
    changed = False
    for r in range(active.size):
        if table[ROW * (first + r) + SIDED] == 0.0 or active[r] < 0.0:
            continue
        if active[r] == 1.0:
            if multiplier[r] < 0.0:
                active[r] = 0.0
                changed = True
        elif adding == 1:
            push = aim[r]
            for k in range(row_start[r], row_start[r + 1]):
                e = row_entry[k]
                if place[e] >= 0:
                    for m in range(width):
                        push -= entries[width * e + m] * y[place[e] + m]
            if push > 0.0:
                active[r] = 1.0
                changed = True
    return changed


@kernel
def set_targets(layout: Ints, work_out: Floats) -> None:
    target = part(work_out, layout, TARGET)
    aim = part(work_out, layout, AIM)
    for r in range(target.size):
        target[r] = aim[r]


@device
def constraint_row(table, at, residual, rate, multiplier, ledger_out):
    """What one row stores, and the power of the rest of what it does."""
    if table[at + SOFT] > 0.0:
        c = min(residual, 0.0) if table[at + SIDED] > 0.0 else residual
        ledger_out[SPRING_ENERGY] += 0.5 * table[at + STIFFNESS] * c * c
        ledger_out[DAMPER_POWER] += (multiplier + table[at + STIFFNESS] * c) * rate


@kernel
def book_penalty(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """Enter all rows into the ledger."""
    width = part(ints, layout, COUNTS)[WIDTH]
    first = part(ints, layout, COUNTS)[PRIMARY]
    joints = part(ints, layout, JOINTS)
    node_joint = part(ints, layout, NODE_JOINT)
    table = part(constants, layout, PENALTY)
    residual = part(work_out, layout, RESIDUAL)
    rate = part(work_out, layout, RATE)
    primary = part(work_out, layout, NODE_L)
    multiplier = part(work_out, layout, MULTIPLIER)
    active = part(work_out, layout, ACTIVE)
    ledger = part(work_out, layout, LEDGER)
    for i in range(node_joint.size // 2):
        if node_joint[2 * i] >= 0:
            row = joints[JOINT * node_joint[2 * i] + 4]
            for r in range(joints[JOINT * node_joint[2 * i] + 5]):
                constraint_row(table, ROW * (row + r), residual[row + r], rate[row + r], primary[width * i + r], ledger)
    for r in range(multiplier.size):
        if active.size > 0 and active[r] < 1.0:
            multiplier[r] = 0.0
        constraint_row(table, ROW * (first + r), residual[first + r], rate[first + r], multiplier[r], ledger)


@kernel
def solve_penalised(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """Accelerations and penalty forces, bodies in space."""
    soften(layout, ints, constants, work_out)
    for k in range(ROUNDS + part(work_out, layout, ACTIVE).size + 1):
        set_targets(layout, work_out)
        solve_by_tree(layout, ints, constants, control, work_out, q_out, v_out)
        if not only_push(layout, ints, constants, 1 if k < ROUNDS else 0, work_out):
            break
    book_penalty(layout, ints, constants, work_out)


@kernel
def solve_penalised_planar(
    layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """The penalised solve for bodies in a plane."""
    soften(layout, ints, constants, work_out)
    for k in range(ROUNDS + part(work_out, layout, ACTIVE).size + 1):
        set_targets(layout, work_out)
        solve_by_planar_tree(layout, ints, constants, control, work_out, q_out, v_out)
        if not only_push(layout, ints, constants, 1 if k < ROUNDS else 0, work_out):
            break
    book_penalty(layout, ints, constants, work_out)


def penalised_bodies(model: Model, planar: bool) -> MaximalSystem:
    """Bodies in maximal or planar coordinates whose rows are penalties, steps in world momenta."""
    tables = MaximalTables(model, planar, "tree")
    rows, auxiliary = tables.constraints.rows, tables.constraints.auxiliary
    more = {PENALTY: ROW * rows, AIM: auxiliary, ACTIVE: auxiliary if tables.constraints.unilateral.any() else 0}
    out = MaximalSystem(tables, more, PENALISED, solve_penalised_planar if planar else solve_penalised)
    out.momenta = True
    return out


class PenaltyRows:
    """How the rows of bodies give way. `pushed`: SIDED of rows that only push."""

    def __init__(self, bodies: MaximalSystem, choice: PenaltyParameters, pushed: float = 1.0):
        self.bodies, self.choice, self.pushed, constraints = bodies, choice, pushed, bodies.constraints
        self.step_length = 0.0
        elements = {name for name, c in bodies.model.constraints if c.nonholonomic}
        self.nonholonomic = np.array([name in elements for name in constraints.names], bool)
        self.nonholonomic[: constraints.joint_rows] = False
        self._armed = np.concatenate([np.zeros(constraints.primary_rows), constraints.compliance]) > 0.0
        self._rows = self._sparse_rows()
        felt = self._felt()
        usual = float(np.median(felt[felt > 0.0])) if (felt > 0.0).any() else 1.0
        given = choice.alpha
        self.alpha = np.full(constraints.rows, given) if given is not None else choice.ratio * np.where(felt > 0.0, felt, usual)

    def prepare(self, dt: float) -> None:
        """Before steps of length dt."""
        self.step_length = finite = dt if dt < inf else 0.0
        self.soften(self.choice.gains(finite), finite, self.choice.implicit)

    def _sparse_rows(self) -> Any:
        """J M^(-½) of all rows at the start, without those of armatures."""
        q, v = self.bodies.start()
        self.bodies.evaluate(0.0, q, v, self.bodies.model.neutral_control())
        self.bodies.callback_errors.error = None
        constraints = self.bodies.constraints
        rows = [r for r in range(constraints.primary_rows) for _ in range(2)]
        rows += [
            constraints.primary_rows + r
            for r in range(constraints.auxiliary)
            for _ in range(constraints.row_start[r], constraints.row_start[r + 1])
        ]
        self._entries = np.array([*range(2 * constraints.primary_rows), *constraints.row_entry], np.int64)
        self._row_of_entry = np.array(rows, np.int64)
        w = self.bodies.width
        self._roots = np.linalg.inv(np.linalg.cholesky(self.bodies.view(NODE_M).reshape(-1, w, w)))
        return self._scaled_rows()

    def _scaled_rows(self) -> Any:
        """J M^(-½) of all rows as the last evaluation has them, without those of armatures."""
        from scipy.sparse import csr_matrix

        w, rows, entries = self.bodies.width, self._row_of_entry, self._entries
        place, blocks = self.bodies.view(NODE_OF)[entries], self.bodies.view(ENTRY_W).reshape(-1, w)[entries]
        moves = (place >= 0) & ~self._armed[rows] if len(rows) else np.zeros(0, bool)
        values = np.einsum("eij,ej->ei", self._roots[place[moves] // w], blocks[moves])
        at = (np.repeat(rows[moves], w), (place[moves][:, None] + np.arange(w)).ravel())
        return csr_matrix((values.ravel(), at), shape=(self.bodies.constraints.rows, w * self.bodies.n))

    def follow(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, longer: float) -> None:
        """v ← v − ½ (h − h₋₁) n where a step h follows one that was shorter by `longer`. Then `prepare` is due."""
        bilateral = ~(self._armed | self.nonholonomic | self.bodies.constraints.unilateral)
        if not bilateral.any():
            return
        # −b: what a lag of 1 adds to the rates
        rates = []
        for lag in (0.0, 1.0):
            self.soften(Gains(0.0, 0.0, 0.0), 2.0 * lag)
            self.bodies.evaluate(t, q.copy(), v.copy(), control)
            rates.append(self.bodies.view(RATE)[bilateral].copy())
        B = self._scaled_rows()[np.flatnonzero(bilateral)]
        # n of J M⁻¹ Jᵀ ν = −b, from y = M^½ n
        y = least_sparse(B, rates[1] - rates[0])
        w = self.bodies.width
        n, state = np.einsum("nji,nj->ni", self._roots, y.reshape(-1, w)), self.bodies.view(NODE_BODY).reshape(-1, 2)[:, 1]
        own = v[: w * self.bodies.n].reshape(-1, w)
        moved = np.einsum("nij,nj->ni", np.linalg.inv(self._roots).transpose(0, 2, 1), own[state])
        if np.isfinite(y).all() and abs(longer) * np.linalg.norm(y) <= np.linalg.norm(moved):
            own[state] -= 0.5 * longer * n

    def _felt(self) -> np.ndarray:
        """The mass that every row feels, as if it moved bodies of moment m ℓ² about every axis: ℓ² is the largest radius of gyration,
        squared, and the longest arm of a row about the centre of mass, squared. (A point mass on a rod would feel like nothing at the far
        end; but other rows hold it.) 0 where a row moves nothing."""
        constraints, bodies, entry_body = self.bodies.constraints, self.bodies.model.bodies, self.bodies.view(ENTRY_BODY)
        com = np.array([b.com if b.kind == "dynamic" else np.zeros(3) for b in bodies])[entry_body]
        push = self.bodies.view(G).reshape(-1, 6)[:, 3:]
        turn = self.bodies.view(G).reshape(-1, 6)[:, :3] - np.cross(com, push)
        size = np.einsum("ej,ej->e", push, push)
        turned = np.einsum("ej,ej->e", turn, turn)
        size[size * LONGEST_ARM**2 < turned] = 0.0
        arms = np.divide(turned, size, out=np.zeros(len(size)), where=size > 0.0)
        longest = np.zeros(len(bodies))
        np.maximum.at(longest, entry_body, arms)
        response = np.zeros(len(entry_body))
        for i, body in enumerate(bodies):
            if body.kind == "dynamic":
                mine = entry_body == i
                moment = np.linalg.eigvalsh(body.inertia)[-1] + body.mass * longest[i]
                response[mine] = size[mine] / body.mass + turned[mine] / moment
        responses = np.zeros(constraints.rows)
        np.add.at(responses, self._row_of_entry, response[self._entries])
        return np.divide(1.0, responses, out=np.zeros_like(responses), where=responses > 0.0)

    def soften(self, gains: Gains, h: float, end: bool = False) -> None:
        """The forces at a state to which steps of length h led, or at the `end` of such a step that begins there."""
        table, on = self.bodies.view(PENALTY).reshape(-1, ROW), ~self._armed
        plain = self.nonholonomic
        d = np.where(plain, gains.rate, 2.0 * gains.omega * gains.mu)
        k = np.where(plain, 0.0, gains.omega**2)
        ahead = h if end else 0.0
        sigma = 1.0 + d * ahead + k * ahead * ahead
        columns = (1.0 / (self.alpha * sigma), np.where(plain, 0.0, 0.5 * h), (d + k * ahead) / sigma, k / sigma, self.alpha * k)
        for column, values in enumerate(columns):
            table[:, column] = np.where(on, values, 0.0)
        table[:, SIDED], table[:, AHEAD] = self.pushed * self.bodies.constraints.unilateral, ahead
        auxiliary = slice(self.bodies.constraints.primary_rows, None)
        self.bodies.view(COMPLIANCE)[:] = np.where(on, table[:, SOFT], 0.0)[auxiliary] + self.bodies.constraints.compliance
        self.bodies.view(STABILISER)[:] = 0.0

    def largest_share(self) -> float:
        """s = κ/(1 + κ) < 1 for the largest eigenvalue κ of M⁻¹ Jᵀ α J at the start, by power iterations."""
        B = self._rows.multiply(np.sqrt(self.alpha)[:, None]).tocsr()
        if B.nnz == 0:
            return 0.0
        x, kappa = np.random.default_rng(0).standard_normal(B.shape[1]), 0.0
        for _ in range(500):
            y = B.T @ (B @ (x / np.linalg.norm(x)))
            before, kappa, x = kappa, float(np.linalg.norm(y)), y
            if abs(kappa - before) < 1e-9 * kappa:
                break
        return kappa / (1.0 + kappa)

    def stable_step(self, gains: Gains) -> float:
        """The largest h [s] at which the semi-implicit rule does not let the rows' own motion grow.

        In a mode of M⁻¹ Jᵀ α J it is C̈ + 2 Ω μ s Ċ + Ω² s C = 0, and h² Ω² s + 4 h Ω μ s < 4; on velocities C̈ + ν s Ċ = 0, h ν s < 2.
        """
        s, out = self.largest_share(), inf
        if s > 0.0 and gains.omega > 0.0 and not self.nonholonomic[~self._armed].all():
            d, k = 2.0 * gains.omega * gains.mu * s, gains.omega**2 * s
            out = 4.0 / (d + sqrt(d * d + 4.0 * k))
        if s > 0.0 and self.nonholonomic.any() and gains.rate > 0.0:
            out = min(out, 2.0 / (gains.rate * s))
        return out


class PenalisedSystem(SystemAround[MaximalSystem]):
    """A model in maximal or planar coordinates whose joints and constraints are penalty forces."""

    def __init__(self, model: Model, planar: bool, choice: PenaltyParameters):
        super().__init__(penalised_bodies(model, planar))
        self.rows = PenaltyRows(self.dynamics, choice)

    def prepare(self, dt: float) -> None:
        """Before steps of length dt: gains that follow the step; no other feedback."""
        self.rows.prepare(dt)
