"""Forces in affine coordinates: gradients of their energy, and the loads and dampers that the elements' own NumPy methods give."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import unibody as ub
from unibody.coordinates.affine.forces import AffineForces, has_energy
from unibody.coordinates.affine.rigid_view import RigidView
from unibody.forces import Loads
from unibody.solvers import Barrier
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.forces import LaggedForces, StoredEnergy
from unibody.solvers.barrier.incremental_potential import pair_places


def model_of(push: bool = True) -> ub.Model:
    b = ub.Builder()
    arms = [b.body(f"arm{k}", shape=ub.Box((0.1, 0.2, 0.4)), X_WB=ub.Pose((0.5 * k, 0, 0))) for k in range(4)]
    loose = b.body("loose", shape=ub.Box((0.2, 0.2, 0.2)), X_WB=ub.Pose.about((1, 2, 3), 0.4, p=(0, 1, 0)))
    hang = {"X_PF": ub.Pose.about((1, 0, 1), 0.3, p=(0.1, 0, -0.2)), "X_BM": ub.Pose.about((0, 1, 1), -0.5, p=(0, 0, 0.25))}
    b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, arms[0], q=0.4, v=0.7, effort_limit=2.0, **hang)
    b.joint("ball", ub.Ball(), arms[0], arms[1], q=(0.9, 0.2, -0.3, 0.1), v=(0.5, -0.4, 0.8), **hang)
    b.joint("cross", ub.Universal(), arms[1], arms[2], q=(0.3, -0.5), v=(0.4, 0.9), **hang)
    b.joint("slide", ub.Prismatic((0, 0, 1)), arms[2], arms[3], q=0.1, v=-0.3, **hang)
    b.add(ub.SpringDamper(arms[0].at(0.1, 0, 0), loose.at(0, 0.1, 0), stiffness=120.0, damping=2.0, rest_length=0.3), name="spring")
    points = [arms[1].at(0, 0, 0.1), loose.at(0.1, 0, 0), b.world.at(0, 0, 2)]
    b.add(ub.Cable(points, stiffness=80.0, damping=1.0, rest_length=0.5), name="cable")
    b.add(ub.TorsionSpring("ball", stiffness=(3.0, 4.0, 5.0), damping=0.2), name="ball spring")
    b.add(ub.TorsionSpring("cross", stiffness=2.0, damping=0.3), name="cross spring")
    b.add(ub.TorsionSpring("slide", stiffness=50.0, damping=1.5, rest=0.05), name="slide spring")
    b.add(ub.Motor("hinge", kp=8.0, kd=0.5, target=0.6), name="motor")
    b.add(ub.DryFriction("slide", bound=0.4, slip_speed=0.5), name="friction")
    b.add(ub.BodyDamping(loose, angular=0.2, linear=0.6), name="drag")
    if push:
        b.add(ub.AppliedWrench(arms[3], force=(1, 2, 3), at=(0.1, 0, 0)), name="push")
    return b.build()


@pytest.fixture
def bound():
    model = model_of()
    system = AffineSystem(model)
    view = RigidView(model, system.parts, system.links)
    return model, system, view, AffineForces(view, system.callback_errors, system.clock)


def strained(Q, size, seed=1):
    return Q + size * np.random.default_rng(seed).normal(size=Q.shape)


def test_gradient_of_stored_energy(bound):
    model, system, _, forces = bound
    Q = strained(system.start[0], 0.02)
    terms = StoredEnergy(forces, model.start_q(), system.signals(0.0), 1.0)
    out, x, step = np.zeros(Q.size), np.ascontiguousarray(Q).reshape(-1), 1e-6
    terms.add_gradient(x, out)
    expected = [(terms.value(x + d) - terms.value(x - d)) / (2.0 * step) for d in step * np.eye(x.size)]
    assert np.allclose(out, expected, atol=1e-7 * np.abs(expected).max())


def test_blocks_are_positive_and_near_the_second_derivative(bound):
    """Of a spring at rest length and springs in joints at rest, without geometric terms, blocks are exact; here near."""
    model, system, _, forces = bound
    x = np.ascontiguousarray(system.start[0]).reshape(-1)
    terms = StoredEnergy(forces, model.start_q(), system.signals(0.0), 1.0)
    n = len(system.start[0])
    keys, places = pair_places(list(terms.pairs(x)), n)
    own, between = np.zeros(144 * n), np.zeros(144 * len(keys))
    terms.add_blocks(x, places, False, own, between)
    H = np.zeros((12 * n, 12 * n))
    for i in range(n):
        H[12 * i : 12 * i + 12, 12 * i : 12 * i + 12] = own[144 * i : 144 * i + 144].reshape(12, 12)
    moving = np.repeat(system.place >= 0, 12)
    for key, block in zip(keys, between.reshape(-1, 12, 12), strict=True):
        a, b = 12 * (key // n), 12 * (key % n)
        H[a : a + 12, b : b + 12] += block
        H[b : b + 12, a : a + 12] += block.T
    H = H[np.ix_(moving, moving)]
    assert np.allclose(H, H.T, atol=1e-10 * np.abs(H).max()) and np.linalg.eigvalsh(H).min() > -1e-9 * np.abs(H).max()

    def gradient(y):
        out = np.zeros(y.size)
        terms.add_gradient(y, out)
        return out

    step = 1e-6
    expected = np.array([(gradient(x + d) - gradient(x - d)) / (2.0 * step) for d in step * np.eye(x.size)])[np.ix_(moving, moving)]
    assert np.linalg.norm(H - expected) < 0.5 * np.linalg.norm(expected)


def own_loads(model, view, k):
    """Wrenches (bodies, 6) of all forces and control that store no energy, by the elements' own methods, and powers; what stores energy
    counts with what it does beyond its action at rest."""
    wrench, passive, ledger = np.zeros((model.n_bodies, 6)), np.zeros(model.nv_joints), np.zeros(4)
    driven = k.control[: model.nv_joints].copy()
    still = type(k)(k.t, k.X, 0.0 * k.V, k.q, 0.0 * k.v, k.signals, k.control, k.names)
    for _, force in model.forces:
        for at, sign in ((k, 1.0), (still, -1.0)) if has_energy(force) else ((k, 1.0),):
            loads = Loads()
            force.apply(at, loads)
            for body, w in loads.wrenches.items():
                wrench[model.body(body)] += sign * w
            for efforts, out in ((loads.efforts, passive), (loads.actuation, driven)):
                for name, effort in efforts.items():
                    j = model.joint(name)
                    out[j.v_start : j.v_start + j.nv] += sign * np.asarray(effort)
            ledger += loads.ledger if sign > 0.0 else 0.0
    limits = np.concatenate([j.effort_limit for j in model.joints])
    clamped = np.clip(driven, -limits, limits)
    view.spread(passive + clamped, k, wrench)
    applied = k.control[model.nv_joints : model.nv_joints + 6 * model.n_bodies].reshape(-1, 2, 3)
    given = np.einsum("nji,nkj->nki", k.X[:, :9].reshape(-1, 3, 3), applied).reshape(-1, 6)
    return wrench + given, np.array([ledger[1], ledger[2] + clamped @ k.v, ledger[3] + (given * k.V).sum()])


def test_lag_equals_the_elements_own(bound):
    """Loads and powers as NumPy methods have them, in motion and with control, and dampers by differences of these."""
    model, system, view, forces = bound
    Q, V = system.start
    control, rate, none = model.neutral_control(), 100.0, system.signals(0.0)
    control[model.joint("cross").v_start] = 0.3
    control[model.nv_joints + 6 * 2 + 4] = 1.5
    origin = Q - V / rate
    loads, damper, powers = LaggedForces(system, view, forces).about(Q, V, model.start_q(), none, control, origin, rate)
    # Efforts act on virtual links here and on bodies there: the same to motions that joints allow.
    rigid = rigid_motions(Q[system.moving])
    Z = scipy.linalg.null_space(system.reduction.C @ rigid)
    G = rigid @ Z

    def acting(V):
        """Generalised forces along the motions, and powers."""
        k = view.kinematics(0.0, Q, V, model.start_q(), none, control, model.joints)
        wrench, own = own_loads(model, view, k)
        on_moving = np.zeros((len(system.moving), 6))
        on_moving[: system.real] = wrench[system.own]
        return Z.T @ on_moving.reshape(-1), own

    assert np.allclose(powers, acting(V)[1], atol=1e-12)
    # What acts at the velocities and coordinates of the start: the constant less what the damper takes there.
    here = G.T @ (loads.reshape(-1) - damper.product(rate * (Q - origin)[system.moving].reshape(-1)))
    assert np.allclose(here, acting(V)[0], atol=1e-9 * np.abs(acting(V)[0]).max())
    # Damping is linear in most of these forces, so that it is nearly what differences of loads give.
    D = G.T @ damper.sparse() @ G
    slopes = []
    for way in G.T:
        dV = np.zeros_like(V)
        dV[system.moving] = 1e-4 * way.reshape(-1, 4, 3)
        slopes.append((acting(V - dV)[0] - acting(V + dV)[0]) / 2e-4)
    assert np.abs(D - np.array(slopes).T).max() < 0.05 * np.abs(D).max()


def rigid_motions(Q: np.ndarray) -> np.ndarray:
    """(12 n, 6 n) δQ of displacements: what a wrench does to strains is nobody's business."""
    out = np.zeros((len(Q), 4, 3, len(Q), 6))
    for i, body in enumerate(Q):
        R = body[1:].T
        out[i, 0, :, i, 3:] = R
        for k in range(3):
            for m in range(3):
                out[i, k + 1, :, i, m] = R @ np.cross(np.eye(3)[m], np.eye(3)[k])
    return out.reshape(12 * len(Q), 6 * len(Q))


def without_kernels(force: ub.Force) -> ub.Force:
    """The same force, of a class that has only its NumPy methods."""
    cls = type(force)
    slow = type(f"Slow{cls.__name__}", (cls,), {"add_kernel": None, "implicit_kernel": None})
    out = object.__new__(slow)
    out.__dict__.update(force.__dict__)
    return out


@pytest.mark.parametrize("rule", ["implicit", "bdf2"])
def test_steps_by_callbacks_are_those_by_kernels(rule):
    """Ten steps with and without kernels: some blocks between joint velocities are only diagonal there."""
    ends = []
    for slow in (False, True):
        model = model_of(push=False)
        if slow:
            object.__setattr__(model, "forces", tuple((name, without_kernels(f)) for name, f in model.forces))
        bound = Barrier(rule=rule, tolerance=1e-9).bind(model)
        assert bound.system.callback_errors.guards == slow
        state, memory = bound.start()
        for _ in range(10):
            made = bound.step(state, memory, model.neutral_control(), 5e-3)
            state, memory = made.state, made.memory
        ends.append(state)
    assert np.abs(ends[0].q - ends[1].q).max() < 2e-5
    assert np.abs(ends[0].v - ends[1].v).max() < 1e-3


class Pull(ub.Force):
    """NumPy only."""

    def bodies(self):
        return ["arm0"]

    def apply(self, kinematics, loads):
        loads.add_force_at(kinematics, "arm0", (0, 0, 0), np.array([1.0, 0, 0]))


def test_a_force_of_ones_own():
    b = ub.Builder(gravity=None)
    b.body("arm0", mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.add(Pull(), name="pull")
    assert ub.Simulation(b.build(), Barrier(), dt=0.01).run(0.1).twist("arm0")[-1, 3] == pytest.approx(0.05, rel=1e-6)


def test_a_force_of_ones_own_moves_no_other_to_numpy():
    """Damping whose NumPy method would fail runs by its kernel beside it: v = (f / c) (1 − e^(−c t / m))."""

    class OnlyKernel(ub.BodyDamping):
        def apply(self, kinematics, loads):
            raise AssertionError("asked in NumPy")

    b = ub.Builder(gravity=None)
    arm = b.body("arm0", mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.add(Pull(), name="pull")
    b.add(OnlyKernel(arm, linear=4.0), name="drag")
    v = ub.Simulation(b.build(), Barrier(rule="bdf2"), dt=0.002).run(0.5).twist("arm0")[-1, 3]
    assert v == pytest.approx(0.25 * (1.0 - np.exp(-1.0)), rel=1e-3)
