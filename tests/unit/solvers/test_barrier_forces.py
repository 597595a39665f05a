"""Compiled forces in affine coordinates: gradients of their energy, and the same loads and dampers as the elements' own NumPy methods."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import unibody as ub
from unibody.coordinates.affine.body import polar
from unibody.coordinates.affine.polar import project_bodies
from unibody.solvers import Barrier
from unibody.solvers.barrier.elements import Elements
from unibody.solvers.barrier.forces import CompiledForces, ForceTerms
from unibody.solvers.barrier.incremental_potential import AffineSystem, element_matrix, pair_places
from unibody.solvers.barrier.lagged_forces import AffineLag
from unibody.solvers.barrier.rigid_maps import twist_maps
from unibody.solvers.barrier.step import BarrierSystem


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
    assert CompiledForces.covers(model, system.parts)
    return model, system, CompiledForces(model, system.parts)


def strained(Q, size, seed=1):
    return Q + size * np.random.default_rng(seed).normal(size=Q.shape)


def test_projection_is_the_polar_one():
    Q = strained(AffineSystem(model_of()).start[0], 0.05)
    X, T = np.empty(Q.size), np.empty(6 * Q.size)
    project_bodies(np.ascontiguousarray(Q).reshape(-1), X, T)
    R, _ = polar(Q)
    assert np.allclose(X.reshape(-1, 12)[:, :9].reshape(-1, 3, 3), R, atol=1e-14)
    assert np.allclose(T.reshape(-1, 6, 12), twist_maps(Q), atol=1e-13)


def test_gradient_of_stored_energy(bound):
    model, system, forces = bound
    Q = strained(system.start[0], 0.02)
    terms = ForceTerms(forces, model.start_q(), np.array(model.signals))
    out, x, step = np.zeros(Q.size), np.ascontiguousarray(Q).reshape(-1), 1e-6
    terms.add_gradient(x, 1.0, out)
    expected = [(terms.value(x + d) - terms.value(x - d)) / (2.0 * step) for d in step * np.eye(x.size)]
    assert np.allclose(out, expected, atol=1e-7 * np.abs(expected).max())


def test_blocks_are_positive_and_near_the_second_derivative(bound):
    """Of a spring at rest length and springs in joints at rest, without geometric terms, blocks are exact; here near."""
    model, system, forces = bound
    x = np.ascontiguousarray(system.start[0]).reshape(-1)
    terms = ForceTerms(forces, model.start_q(), np.array(model.signals))
    n = len(system.start[0])
    keys, places = pair_places(terms.pairs, n)
    own, between = np.zeros(144 * n), np.zeros(144 * len(keys))
    terms.add_blocks(x, places, True, 1.0, own, between)
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
        terms.add_gradient(y, 1.0, out)
        return out

    step = 1e-6
    expected = np.array([(gradient(x + d) - gradient(x - d)) / (2.0 * step) for d in step * np.eye(x.size)])[np.ix_(moving, moving)]
    assert np.linalg.norm(H - expected) < 0.5 * np.linalg.norm(expected)


def test_lag_equals_the_elements_own(bound):
    """Loads, dampers and powers as the NumPy path has them, in motion and with control."""
    model, system, forces = bound
    whole = BarrierSystem(model, Barrier())
    Q, V = system.start
    control, signals, rate = model.neutral_control(), np.array(model.signals), 100.0
    control[model.joint("cross").v_start] = 0.3
    control[model.nv_joints + 6 * 2 + 4] = 1.5
    origin = Q - V / rate
    elements = Elements(model, [])
    k = elements.kinematics(0.0, Q, V, model.start_q(), signals, control)
    lag = elements.lagged(k)
    expected, blocks = whole._lagged(Q, k.V, lag, origin, rate)
    expected[: system.real] -= system.M4[: system.real, :, :1] * model.gravity
    loads, damper, powers = AffineLag(system, forces).about(Q, V, model.start_q(), signals, control, origin, rate)
    assert np.allclose(powers, lag.powers, atol=1e-12)
    # What acts at the velocities and coordinates of the start: the constant less what the damper takes there.
    D = element_matrix(system, Q, blocks)
    moved = rate * (Q - origin)[system.moving].reshape(-1)
    # Efforts act on virtual links here and on bodies there: the same to motions that joints allow.
    G = rigid_motions(Q[system.moving])
    G = G @ scipy.linalg.null_space(system.reduction.C @ G)
    here, there = G.T @ (loads.reshape(-1) - damper.product(moved)), G.T @ (expected.reshape(-1) - D.product(moved))
    assert np.allclose(here, there, atol=1e-9 * np.abs(there).max())
    difference = damper.plus(-1.0, D).sparse()
    assert np.abs(G.T @ difference @ G).max() < 0.02 * np.abs(G.T @ D.sparse() @ G).max()  # AppliedWrench has a slope in NumPy only


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


@pytest.mark.parametrize("rule", ["implicit", "bdf2"])
def test_steps_are_those_of_the_numpy_path(rule):
    """Ten steps with and without kernels."""
    ends = []
    for compiled in (True, False):
        bound = Barrier(rule=rule, tolerance=1e-9).bind(model_of(push=False))  # whose slope only NumPy takes
        system = bound.system
        assert system.lag is not None
        if not compiled:
            system.lag, system.stepping = None, system.elements
        state, memory = bound.start()
        for _ in range(10):
            made = bound.step(state, memory, system.model.neutral_control(), 5e-3)
            state, memory = made.state, made.memory
        ends.append(state)
    assert np.abs(ends[0].q - ends[1].q).max() < 2e-5
    assert np.abs(ends[0].v - ends[1].v).max() < 1e-3


def test_a_force_of_ones_own_stays_in_numpy():
    class Pull(ub.Force):
        def bodies(self):
            return ["arm0"]

        def apply(self, kinematics, loads):
            loads.add_force_at(kinematics, "arm0", (0, 0, 0), np.array([1.0, 0, 0]))

    b = ub.Builder(gravity=None)
    b.body("arm0", mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.add(Pull(), name="pull")
    sim = ub.Simulation(b.build(), Barrier(), dt=0.01)
    assert sim.bound.system.lag is None
    assert sim.run(0.1).twist("arm0")[-1, 3] == pytest.approx(0.05, rel=1e-6)
