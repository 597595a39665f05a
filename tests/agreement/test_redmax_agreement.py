"""RedMax agrees with itself, whichever way it solves; with Eq. 2 and 3 of paper 000 assembled from the forces' own blocks; with Newton and
Euler; and, as steps shrink, with the articulated bodies.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import unibody as ub
import zoo
from unibody.coordinates.stages import FACTOR_STAGE, PAIR_STAGE
from unibody.coordinates.workspace import SIGNALS, V_WB, X_WB
from unibody.element import Kinematics
from unibody.forces.base import Loads
from unibody.model.builder import Body
from unibody.model.implicit_tables import is_implicit, moving_bodies
from unibody.model.tables import Names
from unibody.solvers import Articulated, RedMax
from unibody.solvers.redmax.linear import factor_projected, solve_projected
from unibody.solvers.redmax.point_pairs import acts_between_points
from unibody.solvers.redmax.workspace import FRONT_STATE, FRONTS
from unibody.spatial.pose import skew

STIFFNESSES = (1.0, 1e2, 1e4, 1e6, 1e8)
STEPS = (1e-3, 1e-2, 1e-1)


def scene(seed: int, stiffness: float, loops: int = 0, bodies: int = 10, springs: bool = True) -> ub.Model:
    """A random tree of all joint types, with springs between arbitrary bodies and to the world, and drag on every body.

    Soft springs are taut, stiff ones begin at rest: a stiff spring that pulls at levers turns bodies away from balance, and exact
    derivatives of that are indefinite. What is done then is tested elsewhere."""
    rng = np.random.default_rng(seed)
    model = zoo.random_tree(rng, bodies, loops=loops, springs="joints")
    names = [body.name for body in model.bodies[1:]]
    more = [("drag", ub.BodyDamping(name, angular=0.2, linear=0.1)) for name in names]

    def spring(a: str, b: str, damping: float):
        ends = [(name, rng.uniform(-0.4, 0.4, 3)) for name in (a, b)]
        x, y = (model.bodies[model.body(name)].X_WB.apply(p) for name, p in ends)
        rest = (1.0 if stiffness > 1e3 else 0.9) * float(np.linalg.norm(x - y))
        return ub.SpringDamper(*(Body(name).at(*p) for name, p in ends), stiffness=stiffness, damping=damping, rest_length=rest)

    for _ in range(3):
        a, b = rng.choice(names, 2, replace=False)
        more.append(("stiff", spring(str(a), str(b), min(0.01 * stiffness, 1.0))))
    more.append(("anchor", spring(names[-1], "world", 0.0)))
    own = [(f"{name}{k}", force) for k, (name, force) in enumerate(more)]
    return replace(model, forces=(*model.forces, *own)) if springs else model


def end_velocity(model: ub.Model, linear: str, h: float, **options) -> tuple[np.ndarray, tuple[str, ...]]:
    bound = RedMax(linear=linear, project=False, geometric="exact", **options).bind(model)
    state, memory = bound.start()
    step = bound.step(state, memory, model.neutral_control(), h)
    return step.state.v, bound.system.notes()


SCENES = [(seed, STIFFNESSES[seed % 5], STEPS[seed % 3], (0, 0, 1, 2)[seed % 4]) for seed in range(45)]


@pytest.mark.parametrize("linear", ["pcg", "plain", "direct"])
@pytest.mark.parametrize(("seed", "stiffness", "h", "loops"), SCENES)
def test_one_step_is_the_same_however_it_is_solved(seed, stiffness, h, loops, linear):
    model = scene(seed, stiffness, loops)
    exact, _ = end_velocity(model, "dense", h)
    # The paper's iteration ends when the residual is small, which the condition (up to 1e8 h²) may make as much larger in v.
    found, notes = end_velocity(model, linear, h, **({"tolerance": 1e-13} if linear == "plain" else {}))
    assert f"linear: {linear}" in notes
    # Ours ends at 1e-7 of the velocity in the norm of the masses, which span a factor of ten, as do levers. Elimination leaves round-off:
    # 1e-9, and ten times as much, on both sides, where the condition is 1e7.
    allowed = (1e-9 if stiffness * h * h < 1e6 else 1e-8) if linear == "direct" else 1e-5
    assert np.abs(found - exact).max() <= allowed * max(1.0, np.abs(exact).max())


class Assembled:
    """Eq. 2 at the start of a model, from the NumPy blocks of its forces: −h D − h² K on bodies (6n×6n) and on joints, J, M and b."""

    def __init__(self, model: ub.Model, h: float):
        self.model, self.h = model, h
        self.articulated = Articulated().bind(model)
        nq, nv, n = model.nq, model.nv, model.n_bodies
        q, v = self.articulated.system.start()
        self.q, self.v = q[:nq].copy(), v[:nv].copy()
        self.kinematics = kinematics_of(self.articulated, 0.0, q, v)
        self.J = np.stack([self.articulated.push(self.q, e).ravel() for e in np.eye(nv)], axis=1)
        self.M = self.articulated.mass_matrix(self.q)
        self.K, self.D, self.K_r, self.D_r = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n)), np.zeros((nv, nv)), np.zeros((nv, nv))
        for _, force in model.forces:
            if is_implicit(force):
                self.add(force.stiffness_blocks(self.kinematics), self.K, self.K_r)
                self.add(force.damping_blocks(self.kinematics), self.D, self.D_r)
        self.K, self.D = 0.5 * (self.K + self.K.T), 0.5 * (self.D + self.D.T)

    def add(self, blocks, on_bodies, on_joints):
        bodies = {body.name: i for i, body in enumerate(self.model.bodies)}
        for (a, b), block in blocks.items():
            if a in bodies:
                i, j = 6 * bodies[a], 6 * bodies[b]
                on_bodies[i : i + 6, j : j + 6] += block
            else:
                j = self.model.joint(a)
                assert a == b
                on_joints[j.v_start : j.v_start + j.nv, j.v_start : j.v_start + j.nv] += majorant(0.5 * (block + block.T))

    def matrix(self, couplings: bool = True) -> np.ndarray:
        """A of Eq. 2, or, without couplings of bodies, of Eq. 3."""
        h, n = self.h, self.model.n_bodies
        on_bodies = -h * self.D - h * h * self.K
        if not couplings:
            on_bodies = on_bodies * np.kron(np.eye(n), np.ones((6, 6)))
        return self.M + self.J.T @ on_bodies @ self.J - h * self.D_r - h * h * self.K_r

    def right(self) -> np.ndarray:
        """b of A a = b without rows; the forces' sum M a₀ from the articulated bodies."""
        a_0 = self.articulated.forward_dynamics(self.q, self.v)
        return self.M @ a_0 + self.h * (self.J.T @ (self.K @ (self.J @ self.v)) + self.K_r @ self.v)


def majorant(block: np.ndarray) -> np.ndarray:
    """What stands beside the diagonal of a joint's block goes onto it, as large: rows of joints keep a diagonal only."""
    diagonal = np.diag(block)
    return np.diag(np.minimum(diagonal - np.abs(block - np.diag(diagonal)).sum(axis=1), 0.0))


def kinematics_of(bound, t: float, q: np.ndarray, v: np.ndarray) -> Kinematics:
    """At a state of all joints (loops fitted), for the forces' NumPy methods."""
    system, model = bound.system, bound.model
    q, v = q.copy(), v.copy()
    system.evaluate(t, q, v, model.neutral_control(), loads=True)
    X, V = system.view(X_WB).reshape(-1, 12).copy(), system.view(V_WB).reshape(-1, 6).copy()
    return Kinematics(t, X, V, q, v, system.view(SIGNALS).copy(), model.neutral_control(), Names(model))


@pytest.mark.parametrize("seed", range(12))
def test_matrix_and_right_side_are_those_of_equation_2(seed):
    h, stiffness = STEPS[seed % 3], STIFFNESSES[seed % 5]
    model = scene(seed, stiffness)
    assembled = Assembled(model, h)
    system = RedMax(linear="dense", geometric="exact").bind(model).system
    system.prepare(h)
    y = system.advance_from(0.0, *system.start(), model.neutral_control()).copy()
    assert "indefinite" not in " ".join(system.notes())
    # rows of D Lᵀ without D, and 1/D
    D = 1.0 / system.view(FRONT_STATE)[: model.nv]
    upper = np.triu(system.view(FRONTS).reshape(model.nv, -1)[:, : model.nv], 1) + np.diag(D)
    A = assembled.matrix()
    # Round-off of sums of some tens of terms.
    np.testing.assert_allclose(upper.T @ (upper / D[:, None]), A, atol=1e-12 * np.abs(A).max())
    b = assembled.right()
    np.testing.assert_allclose(upper.T @ (upper @ y / D), b, atol=1e-10 * np.abs(b).max())


@pytest.mark.parametrize("linear", ["auto", "dense", "direct", "pcg"])
@pytest.mark.parametrize(("seed", "stiffness", "h", "loops"), SCENES[::3])
def test_forces_between_points_are_the_same_apart_from_the_others(seed, stiffness, h, loops, linear):
    """A step takes them apart; whoever looks at its loads afterwards solves it with all forces together."""
    bound = RedMax(linear=linear, project=False).bind(scene(seed, stiffness, loops))
    system, control = bound.system, bound.model.neutral_control()
    assert system.stages(control)[PAIR_STAGE] or system.stages(control)[FACTOR_STAGE] != system.stages(control, False)[FACTOR_STAGE]
    state, memory = bound.start()
    for _ in range(3):
        made = bound.step(state, memory, control, h)
        begun = bound.memory_schema.view(made.memory)
        if begun.curbed:
            return  # that step began slower, by the book
        system.prepare(h)
        a = system.advance_from(state.t, begun.begun_q.copy(), begun.begun_v.copy(), control)
        found = (begun.begun_v[: a.size] + h * a)[: a.size]
        # as above; what floats moves by its momenta, and is left out
        allowed = 1e-5 if linear in ("pcg", "auto") else (1e-9 if stiffness * h * h < 1e6 else 1e-8)
        own = ~floating(bound.model)
        assert np.abs(found - made.state.v[: a.size])[own].max(initial=0.0) <= allowed * max(1.0, np.abs(found).max())
        state, memory = made.state, made.memory


def floating(model: ub.Model) -> np.ndarray:
    """The velocities of joints whose momenta are kept in axes that do not turn."""
    out = np.zeros(model.nv, bool)
    for joint in model.tree_joints:
        loose = joint.nv > 3 or isinstance(joint.element, ub.Planar | ub.Composite | ub.Translational)
        out[joint.v_start : joint.v_start + joint.nv] = loose
    return out


def test_a_class_that_changes_a_force_between_points_is_not_taken_for_it():
    class Half(ub.SpringDamper):
        def apply(self, kinematics, loads):
            half = Loads()
            super().apply(kinematics, half)
            for name, wrench in half.wrenches.items():
                loads.add_wrench(name, 0.5 * wrench[:3], 0.5 * wrench[3:])

    assert acts_between_points(ub.SpringDamper)
    assert not acts_between_points(Half)
    assert acts_between_points(type("Same", (ub.SpringDamper,), {}))


@pytest.mark.parametrize("seed", range(12))
def test_preconditioner_is_the_inverse_of_equation_3(seed):
    h, stiffness = STEPS[seed % 3], STIFFNESSES[seed % 5]
    model = scene(seed, stiffness, loops=seed % 2)
    P = Assembled(model, h).matrix(couplings=False)
    system = RedMax(linear="pcg", geometric="exact").bind(model).system
    system.prepare(h)
    system.advance_from(0.0, *system.start(), model.neutral_control())
    arenas = system.layout, system.ints, system.constants
    assert factor_projected(*arenas, system.work) == 0
    inverse = np.zeros((model.nv, model.nv))
    for j in range(model.nv):
        unit, f, x, y = np.eye(model.nv)[j], np.zeros(6 * model.n_bodies), np.zeros(6 * model.n_bodies), np.zeros(model.nv)
        solve_projected(*arenas, unit, system.work, f, x, y)
        inverse[:, j] = y
    exact = np.linalg.inv(P)
    # The condition of P, which is up to 1e8 h² between a stiff spring's body and the others.
    np.testing.assert_allclose(inverse, exact, atol=max(1e-10, 1e-15 * np.linalg.cond(P)) * np.abs(exact).max())


@pytest.mark.parametrize("linear", ["auto", "pcg", "plain"])
@pytest.mark.parametrize("seed", range(5))
def test_one_iteration_suffices_when_no_spring_couples_two_moving_bodies(seed, linear):
    """Springs to the world, in joints, and drag: then Eq. 3 is Eq. 2."""
    model = scene(seed, 1e6, springs=False)
    anchors = [
        (f"anchor{k}", ub.SpringDamper(Body(body.name).at(0.1, 0.2, 0.0), Body("world").at(1, 0, k), stiffness=1e5, rest_length=0.0))
        for k, body in enumerate(model.bodies[1:])
    ]
    model = replace(model, forces=(*model.forces, *anchors))
    bound = RedMax(linear=linear).bind(model)
    state, memory = bound.start()
    step = bound.step(state, memory, model.neutral_control(), 1e-2)
    assert step.report.iterations == 1
    exact, _ = end_velocity(model, "dense", 1e-2)
    np.testing.assert_allclose(step.state.v, exact, atol=1e-9 * np.abs(exact).max())


LENGTH = 0.25


@cache
def driven_loop() -> ub.Model:
    """Springs, dampers, motors and a loop, nothing that switches."""
    model = zoo.random_tree(np.random.default_rng(2), 8, joints=("revolute", "ball", "universal", "prismatic"), loops=1, springs="joints")
    pair = Body("body2").at(0.1, 0.2, 0.0), Body("body6").at(0.0, -0.2, 0.1)
    spring = ub.SpringDamper(*pair, stiffness=20.0, damping=0.5, rest_length=0.0)
    return replace(model, forces=(*model.forces, ("spring", spring)))


def places(solver, steps: int) -> np.ndarray:
    """Where a point of each body ends up."""
    model = driven_loop()
    rec = ub.Simulation(model, solver, dt=LENGTH / steps).run(LENGTH, every=steps)
    return np.array([rec.point(body.name, (0.3, -0.2, 0.1))[-1] for body in model.bodies[1:]])


@pytest.mark.parametrize(("rule", "order"), [("linearly-implicit", 1), ("implicit", 1), ("bdf2", 2)])
def test_as_steps_shrink_the_motion_becomes_that_of_articulated_bodies(rule, order):
    """log₂ of the ratio of errors of two step lengths; the next term is felt: ±0.2."""
    exact = places(Articulated(rule="rk4"), 500)
    errors = np.array([np.abs(places(RedMax(rule=rule), steps) - exact).max() for steps in (100, 200, 400)])
    assert np.log2(errors[:-1] / errors[1:]) == pytest.approx(order, abs=0.2), f"errors {errors}"


def inertia_at_origin(body) -> np.ndarray:
    """6×6, angular first, body axes, at the body's origin."""
    c = skew(np.array(body.com))
    return np.block([[body.inertia + body.mass * c @ c.T, body.mass * c], [body.mass * c.T, body.mass * np.eye(3)]])


def twist_rates(articulated, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Rates of the components of V_WB_B, (n, 6): J a, and J̇ v by differences of eighth order along the motion."""
    weights, h = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]), 5e-3
    out = articulated.push(q, a)
    for k, weight in zip(range(-4, 5), weights, strict=True):
        there = q.copy()
        for j in articulated.model.tree_joints:
            span = slice(j.q_start, j.q_start + j.nq)
            there[span] = j.element.advance(q[span], v[j.v_start : j.v_start + j.nv], k * h)
        out = out + weight / h * articulated.push(there, v)
    return out


@pytest.mark.parametrize("rule", ["linearly-implicit", "implicit"])
@pytest.mark.parametrize("linear", ["dense", "pcg", "direct"])
@pytest.mark.parametrize(("seed", "loops"), [(k, k % 3) for k in range(9)])
def test_reactions_and_forces_of_a_step_move_every_body(seed, loops, linear, rule):
    """Newton and Euler for each body, joints acting on child and parent in third-law pairs. A linearly implicit step balances where it
    begins, with forces f + h K v + (h D + h² K) a; an implicit one where it ends. The first implicit step counts from velocities that
    earlier steps would have left, so the second is the one whose acceleration is the difference of two recorded velocities."""
    h = 1e-2
    model = scene(seed, 1e2, loops)
    sim = ub.Simulation(model, RedMax(rule=rule, linear=linear, project=False, tolerance=1e-13, geometric="exact"), dt=h)
    steps = 1 if rule == "linearly-implicit" else 2
    rec = sim.run(steps * h)
    nq, nv, n = model.nq, model.nv, model.n_bodies
    a = (rec.v[steps, :nv] - rec.v[steps - 1, :nv]) / h
    if rule == "linearly-implicit":
        # velocities of roots that fly are carried over in fixed axes; those within trees are v + h a
        sim.bound.system.prepare(h)
        found = sim.bound.system.advance_from(0.0, *sim.bound.system.start(), sim.control.flat)[:nv].copy()
        inner = [k for j in model.tree_joints if j.nv < 6 for k in range(j.v_start, j.v_start + j.nv)]
        np.testing.assert_allclose(found[inner], a[inner], rtol=0, atol=1e-8 * (1.0 + np.abs(a).max()))
        a = found
    row = 0 if rule == "linearly-implicit" else steps
    q, v = rec.q[row, :nq].copy(), rec.v[row, :nv].copy()
    assembled = Assembled(model, h)
    articulated = assembled.articulated
    q_all, v_all = articulated.system.start()
    q_all[:nq], v_all[:nv] = q, v
    kinematics = kinematics_of(articulated, h * row, q_all, v_all)
    loads = Loads()
    for _, force in model.forces:
        if not isinstance(force, ub.Gravity):
            force.apply(kinematics, loads)
    total = np.zeros((n, 6))
    for name, wrench in loads.wrenches.items():
        total[model.body(name)] += wrench
    if row == 0:
        implicit = h * assembled.K @ (assembled.J @ (v + h * a)) + h * assembled.D @ (assembled.J @ a)
        total += implicit.reshape(n, 6)
    R = [kinematics.pose(body.name)[0] for body in model.bodies]
    for joint in model.joints:
        M = kinematics.position(Body(model.bodies[joint.child].name).at(*joint.X_BM.p))
        reaction = rec.reaction(joint.name)[steps]
        for i, sign in ((joint.child, 1.0), (joint.parent, -1.0)):
            torque = reaction[:3] + np.cross(M - kinematics.pose(model.bodies[i].name)[1], reaction[3:])
            total[i] += sign * np.concatenate([R[i].T @ torque, R[i].T @ reaction[3:]])
    rates = twist_rates(articulated, q, v, a)
    largest = np.abs(total).max()
    moving = moving_bodies(model)
    for i, body in enumerate(model.bodies):
        if i not in moving:
            continue
        I, V = inertia_at_origin(body), kinematics.twist(body.name)
        momentum = I @ V
        weight = body.mass * R[i].T @ model.gravity
        gyroscopic = np.concatenate([np.cross(V[:3], momentum[:3]) + np.cross(V[3:], momentum[3:]), np.cross(V[:3], momentum[3:])])
        acting = total[i] + np.concatenate([np.cross(body.com, weight), weight])
        # Differences of J̇ v leave 1e-11; an implicit step's iteration ends at 1e-11 of the velocity, which over h is 1e-9 of forces.
        np.testing.assert_allclose(I @ rates[i] + gyroscopic, acting, atol=(1e-9 if row == 0 else 1e-7) * max(largest, 100.0))


def test_weld_of_a_post_carries_what_pulls_at_the_post():
    """A stiff spring between a weightless post, welded to the world, and a stone: what accelerates the stone pulls at the post."""
    b = ub.Builder(gravity=None)
    post, stone = b.body("post", mass=1.0, inertia=(1, 1, 1)), b.body("stone", mass=2.0, inertia=(1, 1, 1))
    b.joint("weld", ub.Weld(), b.world, post)
    b.joint("slide", ub.Prismatic((1, 0, 0)), b.world, stone, X_PF=ub.Pose((1, 0, 0)), q=0.2)
    b.add(ub.SpringDamper(post.at(0, 0, 0), stone.at(0, 0, 0), stiffness=1e4, rest_length=1.0))
    h = 1e-2
    rec = ub.Simulation(b.build(), RedMax(), dt=h).run(h)
    force = 2.0 * (rec.joint_velocity("slide")[1, 0] - rec.joint_velocity("slide")[0, 0]) / h
    assert rec.reaction("weld")[1, 3] == pytest.approx(force, rel=1e-9)
