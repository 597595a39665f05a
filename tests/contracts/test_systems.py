"""What every system promises: how coordinates follow velocities, twists and their transpose, accelerations by dense mechanics, and slots.

The dense law (d'Alembert) knows only masses, `advance` and poses: with V = P v of all bodies,

    Σ Pᵀ (I (P a + Ṗ v) + V ×* I V − W) = Kᵀ μ,        K a + K̇ v = 0

P is compared with differences of poses; Ṗ v, K̇ v are differences of P v and K v along q ⊕ h v.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody import arena
from unibody.arena import SlotBlock, SlotNumber, part
from unibody.coordinates.maximal.system import MaximalSystem
from unibody.coordinates.maximal.tables import MaximalTables
from unibody.coordinates.maximal.workspace import NODE_F
from unibody.coordinates.reduced.dynamics import evaluate_reduced
from unibody.coordinates.reduced.system import ReducedSystem
from unibody.coordinates.reduced.tables import ReducedTables
from unibody.coordinates.reduced.workspace import REDUCED
from unibody.coordinates.stages import EVALUATE_STAGE
from unibody.coordinates.system import System, SystemAround
from unibody.coordinates.workspace import RATE, RESIDUAL, SPEED_LIMIT, STABILISER, V_WB, X_WB, Y
from unibody.kernel import JIT, Device, Floats, Ints, Kernel, kernel
from unibody.rules.base import MEMORY
from unibody.rules.euler import roll_euler
from unibody.solvers.penalty.dynamics import PenaltyDynamics
from unibody.solvers.penalty.system import Gains, PenalisedSystem, PenaltyParameters
from unibody.solvers.redmax.system import RedMaxSystem
from unibody.spatial.pose import skew, spatial_inertia
from unibody.stepping.impulse_dynamics import ImpulseDynamics
from unibody.stepping.impulse_maximal import ImpulseMaximal
from unibody.stepping.impulse_reduced import ImpulseReduced
from zoo import random_tree

STEP = 1e-5
NEAR = 1e-7
"""Of central differences: STEP² times third derivatives of order 100, and round-off 1e-15 / STEP, of numbers of order 10."""

SOFT = PenaltyParameters(None, 1e2, lambda h: Gains(0.0, 1.0, 0.0), False)
"""Penalty forces λ = −α C̈ alone."""

MAKERS: dict[str, Callable[[ub.Model], Any]] = {
    "reduced": lambda model: ReducedSystem(ReducedTables(model)),
    "redmax": lambda model: RedMaxSystem(model, "auto", frozenset(), 1e-12, None, True, False),
    "redmax dense": lambda model: RedMaxSystem(model, "dense", frozenset(), 1e-12, None, True, False),
    "maximal": lambda model: MaximalSystem(MaximalTables(model, False, "tree")),
    "maximal dense": lambda model: MaximalSystem(MaximalTables(model, False, "dense")),
    "planar": lambda model: MaximalSystem(MaximalTables(model, True, "tree")),
    "impulse reduced": ImpulseReduced,
    "impulse maximal": ImpulseMaximal,
    "penalty": lambda model: PenalisedSystem(model, False, SOFT),
    "penalty planar": lambda model: PenalisedSystem(model, True, SOFT),
    "penalty with contact": lambda model: PenaltyDynamics(model, SOFT),
}
IMPULSES = ("impulse reduced", "impulse maximal")
PENALTIES = ("penalty", "penalty planar", "penalty with contact")


def four_bar(planar: bool) -> ub.Model:
    """A parallelogram of hinges about y, turning at 1.3 rad/s; in space three of its five closing rows repeat others."""
    b, hinge, angle, rate = ub.Builder(planar=planar), ub.Revolute((0.0, 1.0, 0.0)), 0.6, 1.3
    bars = [b.body(f"bar{k}", mass=1.0 + k, inertia=(0.1, 0.2, 0.15), com=(0.05 * k, 0.0, 0.02)) for k in range(3)]
    b.joint("hinge0", hinge, b.world, bars[0], q=angle, v=rate)
    b.joint("hinge1", hinge, bars[0], bars[1], X_PF=ub.Pose((0.5, 0, 0)), q=-angle, v=-rate)
    b.joint("hinge2", hinge, bars[1], bars[2], X_PF=ub.Pose((0.8, 0, 0)), q=angle, v=rate)
    # the third bar is parallel to the first: what lies 0.5 m before its joint stands still
    b.joint("closing", hinge, b.world, bars[2], X_PF=ub.Pose((0.8, 0, 0)), X_BM=ub.Pose((-0.5, 0, 0)), q=angle, v=rate)
    return b.build()


def driven() -> ub.Model:
    """A tree on a base whose motion is told, beside a free body."""
    b = ub.Builder()
    base = b.body("base", kind="kinematic", V_WB=(0.0, 0.1, 0.5, 0.2, 0.0, 0.0))
    arm = b.body("arm", mass=2.0, inertia=(0.2, 0.3, 0.4), com=(0.1, 0.2, 0.0))
    hand = b.body("hand", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("shoulder", ub.Ball(), base, arm, X_PF=ub.Pose((0, 0, 1)), q=(0.9, 0.2, -0.3, 0.1), v=(0.5, -0.4, 0.8))
    b.joint("wrist", ub.Universal(), arm, hand, X_BM=ub.Pose((0.2, 0, 0.3)), q=(0.3, -0.5), v=(0.4, 0.9))
    b.body("free", mass=1.5, inertia=(0.3, 0.2, 0.1), com=(0.1, 0, 0), X_WB=ub.Pose((2, 0, 0)), V_WB=(0.3, 0.2, -0.4, 0.1, 0.5, -0.2))
    return b.build()


def tree(loops: int) -> ub.Model:
    return random_tree(np.random.default_rng(7 + loops), 12, springs=False, motors=False, armature=False, loops=loops)


MODELS: dict[str, Callable[[], ub.Model]] = {
    "tree": lambda: tree(0),
    "loops": lambda: tree(2),
    "four-bar": lambda: four_bar(False),
    "flat four-bar": lambda: four_bar(True),
    "driven": driven,
}
CASES = [(s, m) for s in MAKERS for m in MODELS if m == "flat four-bar" or "planar" not in s]
FREE_CASES = [(s, m) for s, m in CASES if m != "driven"]


@cache
def model_of(name: str) -> ub.Model:
    return MODELS[name]()


@cache
def made(system: str, model: str) -> Any:
    """A system at an instant: no feedback, no length of a step."""
    out = MAKERS[system](model_of(model))
    out.prepare(np.inf)
    return out


def bodies_of(system: Any) -> Any:
    """The system of coordinates inside."""
    return getattr(system, "dynamics", system)


def own_nv(system: Any) -> int:
    bodies = bodies_of(system)
    return bodies.width * bodies.n if hasattr(bodies, "width") else system.model.nv


def own_nq(system: Any) -> int:
    bodies = bodies_of(system)
    return bodies.q_width * bodies.n if hasattr(bodies, "width") else system.model.nq


def evaluated(system: Any, q: np.ndarray, v: np.ndarray) -> None:
    """At copies, so that joints are fitted anew."""
    system.evaluate(0.0, q.copy(), v.copy(), system.model.neutral_control(), loads=True)


def poses(system: Any, q: np.ndarray) -> np.ndarray:
    evaluated(system, q, np.zeros(system.nv_all))
    return system.view(X_WB).reshape(-1, 12).copy()


def padded(system: Any, v: np.ndarray) -> np.ndarray:
    return np.concatenate([v, np.zeros(system.nv_all - v.size)])


def moved(system: Any, q: np.ndarray, v: np.ndarray, h: float) -> np.ndarray:
    out = q.copy()
    system.advance(out, padded(system, v), h)
    return out


def rates(system: Any, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    evaluated(system, q, padded(system, v))
    return system.view(RATE).copy()


@pytest.mark.parametrize(("system", "model"), CASES)
def test_systems_have_what_the_contract_names(system: str, model: str) -> None:
    here = made(system, model)
    assert isinstance(here, System)
    assert isinstance(here, ImpulseDynamics) == (system in IMPULSES)
    assert all(isinstance(note, str) for note in here.notes())
    names = {b.name for b in here.model.bodies} | {j.name for j in here.model.joints}
    assert here.culprit(0.0, *here.start(), here.model.neutral_control()) in names


@pytest.mark.parametrize(("system", "model"), CASES)
def test_a_start_converts_to_itself(system: str, model: str) -> None:
    """From own coordinates, and from reduced ones: the same bodies at the same places."""
    here = made(system, model)
    q, v = here.start()
    nq, nv = own_nq(here), own_nv(here)
    assert q.size == here.nq_all and v.size == here.nv_all
    planar = "planar" in system
    coordinates = "planar" if planar else "maximal" if hasattr(bodies_of(here), "width") else "reduced"
    for state in (
        ub.State(0.0, q[:nq], v[:nv], coordinates),
        ub.State(0.0, here.model.start_q()[: here.model.nq], here.model.start_v()[: here.model.nv], "reduced"),
    ):
        again_q, again_v = here.convert(state)
        np.testing.assert_allclose(again_q, q[:nq], atol=1e-13)  # sines and cosines of a few compositions
        np.testing.assert_allclose(again_v, v[:nv], atol=1e-13)


@pytest.mark.parametrize(("system", "model"), CASES)
def test_advance_is_a_flow(system: str, model: str, rng: np.random.Generator) -> None:
    """q ⊕ 0 v = q, and (q ⊕ h v) ⊕ k v = q ⊕ (h + k) v."""
    here = made(system, model)
    q, n = here.start()[0], own_nq(here)
    v = rng.standard_normal(own_nv(here))
    np.testing.assert_allclose(moved(here, q, v, 0.0)[:n], q[:n], atol=1e-15)
    np.testing.assert_allclose(moved(here, moved(here, q, v, 0.1), v, 0.2)[:n], moved(here, q, v, 0.3)[:n], atol=1e-13)


@pytest.mark.parametrize(("system", "model"), CASES)
def test_push_is_linear_and_the_rate_of_poses(system: str, model: str, rng: np.random.Generator) -> None:
    here = made(system, model)
    q, n = here.start()[0], own_nv(here)
    u, v = rng.standard_normal((2, n))
    V = here.push(q, v)
    np.testing.assert_allclose(here.push(q, 2.0 * u - 3.0 * v), 2.0 * here.push(q, u) - 3.0 * V, atol=1e-12)
    X, before, after = (poses(here, moved(here, q, v, h)) for h in (0.0, -STEP, STEP))
    R, slope = X[:, :9].reshape(-1, 3, 3), (after - before) / (2.0 * STEP)
    spin = R.transpose(0, 2, 1) @ slope[:, :9].reshape(-1, 3, 3)
    expected = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    np.testing.assert_allclose(V[:, :3], expected, atol=NEAR)
    np.testing.assert_allclose(V[:, 3:], np.einsum("nji,nj->ni", R, slope[:, 9:]), atol=NEAR)


@pytest.mark.parametrize(("system", "model"), CASES)
def test_evaluation_moves_bodies_by_push(system: str, model: str, rng: np.random.Generator) -> None:
    """V_WB at v less V_WB at rest, which is the motion of what is driven."""
    here = made(system, model)
    q, v = here.start()[0], rng.standard_normal(own_nv(here))
    found = []
    for own in (v, 0.0 * v):
        evaluated(here, q, padded(here, own))
        found.append(here.view(V_WB).reshape(-1, 6).copy())
    np.testing.assert_allclose(found[0] - found[1], here.push(q, v), atol=1e-12)


@pytest.mark.parametrize(("system", "model"), CASES)
def test_pull_is_the_transpose_of_push(system: str, model: str, rng: np.random.Generator) -> None:
    here = made(system, model)
    q, v, F = here.start()[0], rng.standard_normal(own_nv(here)), rng.standard_normal((here.model.n_bodies, 6))
    assert here.pull(q, F).shape == v.shape
    assert here.pull(q, F) @ v == pytest.approx(np.sum(F * here.push(q, v)), abs=1e-11)


def dense(here: Any, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """M and Pᵀ (W − I Ṗ v − V ×* I V) of a system, from masses, gravity and `push`."""
    n, model, X = v.size, here.model, poses(here, q)
    P = np.stack([here.push(q, e) for e in np.eye(n)], axis=2)  # (bodies, 6, n)
    V = P @ v
    bent = (here.push(moved(here, q, v, STEP), v) - here.push(moved(here, q, v, -STEP), v)) / (2.0 * STEP)
    M, f = np.zeros((n, n)), np.zeros(n)
    for i, body in enumerate(model.bodies):
        if body.kind != "dynamic":
            continue
        inertia = spatial_inertia(body.mass, body.com, body.inertia)
        weight = X[i, :9].reshape(3, 3).T @ (body.mass * np.asarray(model.gravity))
        momentum = inertia @ V[i]
        o, l = V[i, :3], V[i, 3:]
        turned = np.concatenate([skew(o) @ momentum[:3] + skew(l) @ momentum[3:], skew(o) @ momentum[3:]])
        M += P[i].T @ inertia @ P[i]
        f += P[i].T @ (np.concatenate([np.cross(body.com, weight), weight]) - inertia @ bent[i] - turned)
    return M, f


def rows_of(here: Any, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """K of all rows and K̇ v."""
    rest = rates(here, q, 0.0 * v)
    K = np.stack([rates(here, q, e) - rest for e in np.eye(v.size)], axis=1)
    return K, (rates(here, moved(here, q, v, STEP), v) - rates(here, moved(here, q, v, -STEP), v)) / (2.0 * STEP)


@pytest.mark.parametrize(("system", "model"), FREE_CASES)
def test_accelerations_obey_the_dense_equations_of_motion(system: str, model: str) -> None:
    """M a = f + Kᵀ μ with K a + K̇ v = 0 of the rows that the evaluation closes: all, those of the forest's joints where the others come
    as impulses, and none of a tree; of penalty forces μ = −α (K a + K̇ v)."""
    here = made(system, model)
    q, v_all = here.start()
    v = v_all[: own_nv(here)].copy()
    M, f = dense(here, q, v)
    K, turned = rows_of(here, q, v)
    evaluated(here, q, v_all)
    a = here.view(Y).copy()
    scale = np.abs(f).max() + np.abs(M @ a).max()
    if system in PENALTIES:
        force = here.rows.alpha * (K @ a + turned)
        scale += here.rows.alpha.max(initial=0.0) * (np.abs(K @ a).max(initial=0.0) + np.abs(turned).max(initial=0.0))  # errors times α
        np.testing.assert_allclose(M @ a + K.T @ force, f, atol=10.0 * NEAR * scale)
        return
    if system in IMPULSES:
        K, turned = K[: here.constraints.primary_rows], turned[: here.constraints.primary_rows]
    _, size, right = np.linalg.svd(K) if len(K) else (None, np.zeros(0), np.eye(v.size))
    free = right[int((size > 1e-9 * size.max(initial=0.0)).sum()) :]  # what no row holds
    np.testing.assert_allclose(free @ (M @ a - f), 0.0, atol=10.0 * NEAR * scale)
    np.testing.assert_allclose(K @ a + turned, 0.0, atol=10.0 * NEAR * (np.abs(a).max() + np.abs(turned).max(initial=1.0)))


@pytest.mark.parametrize(("system", "model"), CASES)
def test_evaluation_writes_nothing_that_is_given_and_repeats_itself(system: str, model: str) -> None:
    """Own coordinates, velocities, the control and all that does not change; only fitted joints may."""
    here = made(system, model)
    q, v = here.start()
    control = here.model.neutral_control()
    given = [x.copy() for x in (q, v, control, here.layout, here.ints, here.constants)]
    found = []
    for _ in range(2):
        here.evaluate(0.0, q, v, control)
        found.append(here.view(Y).copy())
    nq, nv = own_nq(here), own_nv(here)
    assert np.array_equal(q[:nq], given[0][:nq]) and np.array_equal(v[:nv], given[1][:nv])
    for now, before in zip((control, here.layout, here.ints, here.constants), given[2:], strict=True):
        assert np.array_equal(now, before, equal_nan=True)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-9)  # joints are fitted from where they were


@pytest.mark.parametrize(("system", "model"), [(s, m) for s, m in FREE_CASES if s not in IMPULSES + PENALTIES])
def test_rank_is_that_of_the_dense_rows(system: str, model: str) -> None:
    """What the auxiliary rows add to the rank of those that are solved apart."""
    here = made(system, model)
    q, v = here.start()
    K, _ = rows_of(here, q, v[: own_nv(here)])
    first = here.constraints.primary_rows
    evaluated(here, q, v)
    rank, count = here.rank()
    assert count == len(K) - first
    assert rank == (np.linalg.matrix_rank(K, tol=1e-9) if len(K) else 0) - (np.linalg.matrix_rank(K[:first], tol=1e-9) if first else 0)


@pytest.mark.parametrize(("system", "model"), CASES)
def test_what_is_observed_is_the_state(system: str, model: str) -> None:
    """Poses as evaluated, kinetic energy Σ ½ V·I V."""
    here = made(system, model)
    q, v = here.start()
    seen = here.observe(0.0, q, v, here.model.neutral_control())
    V = here.view(V_WB).reshape(-1, 6)
    kinetic = sum(
        0.5 * V[i] @ spatial_inertia(b.mass, b.com, b.inertia) @ V[i] for i, b in enumerate(here.model.bodies) if b.kind == "dynamic"
    )
    assert seen.kinetic == pytest.approx(kinetic, rel=1e-12)
    np.testing.assert_allclose(seen.poses[:, :3], here.view(X_WB).reshape(-1, 12)[:, 9:], atol=1e-15)


# --- dynamics whose rows are impulses


def held_apart(here: Any) -> int:
    """How many rows the dynamics hold by themselves."""
    return here.constraints.primary_rows


@pytest.mark.parametrize(("system", "model"), [(s, m) for s, m in FREE_CASES if s in IMPULSES])
def test_impulses_change_velocities_by_dense_algebra(system: str, model: str, rng: np.random.Generator) -> None:
    """M Δv = Jᵀ λ + Pᵀ W, along what the forest's joints leave free; `carried` is the same motion at centres of mass."""
    here = made(system, model)
    q, v_all = here.start()
    n = own_nv(here)
    M, _ = dense(here, q, v_all[:n])
    K, _ = rows_of(here, q, v_all[:n])
    first = held_apart(here)
    assert here.look(0.0, q.copy(), v_all.copy(), here.model.neutral_control())
    rows, motion, X = here.constraint_rows(), here.motion(), here.poses().copy()
    R = X[:, :9].reshape(-1, 3, 3)
    wrenches = rng.standard_normal((here.model.n_bodies, 6))
    wrenches[~here.moving] = 0.0
    impulses = rng.standard_normal(len(K) - first)
    change, carried = here.change(impulses, rows, wrenches), here.carried(impulses, rows, wrenches)
    # wrenches in world axes at centres of mass, in body axes at origins
    local = np.concatenate([np.einsum("nji,nj->ni", R, w) for w in (wrenches[:, :3], wrenches[:, 3:])], axis=1)
    com = np.einsum("nji,nj->ni", R, motion.centre - X[:, 9:])
    local[:, :3] += np.cross(com, local[:, 3:])
    load = K[first:].T @ impulses + here.pull(q, local)
    _, size, right = np.linalg.svd(K[:first]) if first else (None, np.zeros(0), np.eye(n))
    free = right[int((size > 1e-9).sum()) :]
    np.testing.assert_allclose(free @ (M @ change - load), 0.0, atol=1e-9 * np.abs(load).max())
    np.testing.assert_allclose(K[:first] @ change, 0.0, atol=1e-9 * np.abs(change).max())
    V = here.push(q, change)
    V[:, 3:] += np.cross(V[:, :3], com)
    expected = np.concatenate([np.einsum("nij,nj->ni", R, x) for x in (V[:, :3], V[:, 3:])], axis=1)
    np.testing.assert_allclose(carried, expected, atol=1e-9 * np.abs(change).max())


@pytest.mark.parametrize(("system", "model"), [(s, m) for s, m in FREE_CASES if s in IMPULSES and model_of(m).loop_joints])
def test_projection_meets_the_rows_again(system: str, model: str, rng: np.random.Generator) -> None:
    """After a displacement of 1e-4, with all rows held: C and Ċ are 0 again."""
    here = made(system, model)
    q, v = here.start()
    q = moved(here, q, 1e-4 * rng.standard_normal(own_nv(here)), 1.0)
    control = here.model.neutral_control()
    assert here.look(0.0, q, v, control)
    rows = here.constraint_rows()
    here.project(0.0, q, v, control, np.ones(len(here.constraints.names) - held_apart(here)), rows)
    evaluated(here, q, v)
    assert np.abs(here.view(RESIDUAL)).max() < 1e-9 and np.abs(here.view(RATE)).max() < 1e-9


# --- a system of one's own

COUNTED = SlotBlock("a test's system", REDUCED)
COUNT = COUNTED.work("COUNT", "(1,) how often accelerations were found")


@kernel
def evaluate_counted(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """As the tree does, and counted."""
    evaluate_reduced(layout, ints, constants, stages, control, t, work_out, q_out, v_out)
    part(work_out, layout, COUNT)[0] += 1.0


class CountedSystem(SystemAround[ReducedSystem]):
    """Reduced coordinates with a slot and an evaluation of a test's own."""

    def __init__(self, model: ub.Model):
        super().__init__(ReducedSystem(ReducedTables(model), {COUNT: 1}, COUNTED))

    def stages(self, control: np.ndarray) -> np.ndarray:
        out = self.dynamics.stages(control)
        out[EVALUATE_STAGE] = evaluate_counted.address
        return out


def test_a_system_of_ones_own_declares_its_slots_and_runs_in_a_rule() -> None:
    """Semi-implicit Euler asks once a step; the motion is that of `Articulated` to the last bit."""
    model = ub.scenes.make("double-pendulum").model
    system, control, steps = CountedSystem(model), model.neutral_control(), 20
    system.prepare(0.01)
    system.view(SPEED_LIMIT)[0] = np.inf
    q, v = system.start()
    ledger = np.zeros(MEMORY)
    done = roll_euler(
        system.layout, system.ints, system.constants, system.stages(control), control, 0.0, 0.01, steps, steps + 1, 0, system.work,
        np.zeros(0), q, v, ledger, np.zeros(0),
    )  # fmt: skip
    bound = ub.solvers.Articulated().bind(model)
    state, memory = bound.start()
    state, *_ = bound.rollout(state, memory, control, 0.01, steps)
    assert done == steps and system.view(COUNT)[0] == steps
    assert np.array_equal(q, state.q) and np.array_equal(v, state.v)
    assert "COUNT" in repr(system.dynamics.arenas) and "how often accelerations were found" in repr(system.dynamics.arenas)


def blocks() -> list[tuple[Any, SlotBlock]]:
    """Modules that declare slots, with their blocks."""
    from unibody.coordinates import workspace
    from unibody.coordinates.maximal import workspace as maximal
    from unibody.coordinates.reduced import workspace as reduced
    from unibody.solvers.penalty import workspace as penalty
    from unibody.solvers.redmax import workspace as redmax
    from unibody.stepping import workspace as stepping

    return [
        (workspace, workspace.COMMON), (reduced, reduced.REDUCED), (maximal, maximal.MAXIMAL), (redmax, redmax.REDMAX),
        (penalty, penalty.PENALISED), (stepping, stepping.IMPULSE_REDUCED),
    ]  # fmt: skip


def test_slots_have_the_names_of_their_constants() -> None:
    """So that errors and `repr` say what kernels are written in."""
    for module, block in blocks():
        for number, slot in enumerate(block.slots):
            if hasattr(module, slot.name):
                assert getattr(module, slot.name) == number, slot.name
            assert slot.meaning and slot.arena in (arena.INTEGERS, arena.CONSTANTS, arena.WORK)
        names = [slot.name for slot in block.slots]
        assert len(set(names)) == len(names)


# --- slots of a block are not read by another's number


def slots_of(function: Callable[..., Any], seen: set[Any]) -> Iterator[SlotNumber]:
    """The slots that a kernel names, and those of the kernels and devices that it calls by name."""
    if function in seen:
        return
    seen.add(function)
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, SlotNumber):
            yield value
        elif isinstance(value, Kernel | Device):
            yield from slots_of(value.function, seen)


@cache
def kernels_of_the_package() -> dict[str, Kernel | Device]:
    for found in pkgutil.walk_packages(ub.__path__, "unibody."):
        if not found.name.rpartition(".")[2].startswith("__"):
            importlib.import_module(found.name)
    modules = [module for name, module in sys.modules.items() if name.startswith("unibody.")]
    return {
        f"{value.function.__module__}.{name}": value
        for module in modules for name, value in vars(module).items() if isinstance(value, Kernel | Device)
    }  # fmt: skip


def mixed(kernels: dict[str, Kernel | Device]) -> dict[str, set[str]]:
    """Kernels with slots of blocks of which none has the others': siblings, whose numbers mean other arrays."""
    out = {}
    for name, k in kernels.items():
        named = {slot.block for slot in slots_of(k.function, set())}
        if not any(named <= set(block.family) for block in named) and named:
            out[name] = {block.name for block in named}
    return out


@kernel
def read_of_siblings(layout: Ints, work: Floats) -> float:
    return part(work, layout, COUNT)[0] + part(work, layout, NODE_F)[0]


def test_no_kernel_reads_slots_of_siblings() -> None:
    found = kernels_of_the_package()
    assert sum(any(True for _ in slots_of(k.function, set())) for k in found.values()) > 100
    assert mixed(found) == {}
    assert mixed({"wrong": read_of_siblings}) == {"wrong": {"a test's system", "maximal coordinates"}}


@pytest.mark.parametrize(("system", "model"), CASES)
def test_stages_of_a_system_use_its_slots_alone(system: str, model: str) -> None:
    """What compiled loops call by address is not found by name: so every stage is held against the block of the system."""
    here = made(system, model)
    stages = here.stages(here.model.neutral_control()).tolist()
    by_address = {k.address: k for k in kernels_of_the_package().values() if isinstance(k, Kernel) and k._address is not None}
    block, checked = bodies_of(here).arenas.block, 0
    for address in stages:
        if address in by_address:
            checked += 1
            assert all(slot.block in block.family for slot in slots_of(by_address[address].function, set())), by_address[address]
    assert checked or not JIT


def test_settings_of_a_system_around_another_are_those_inside() -> None:
    """Put on the outer one alone nobody would see them; those that the inner one does not know are refused."""
    around = ImpulseReduced(model_of("loops"))
    around.feedback_time = 0.25
    around.prepare(0.01)
    assert around.dynamics.feedback_time == around.feedback_time == 0.25
    assert np.allclose(around.view(STABILISER), (2.0 / 0.25, 1.0 / 0.25**2), rtol=1e-15)  # k_v = 2/τ, k_q = 1/τ²
    with pytest.raises(AttributeError, match="ImpulseReduced: ReducedSystem inside has no setting k_q"):
        around.k_q = 3.0
