"""Pinocchio and MuJoCo as witnesses: the same trees, the same accelerations, mass matrices and steps.

Random trees mix all joints that the engines share, in random frames, with random inertias, velocities, efforts and armature.
All three compute in float64 with different recursions, so they may differ by round-off only.
"""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
import zoo
from peers.to_mujoco import to_mujoco
from peers.to_pinocchio import to_pinocchio

pytestmark = pytest.mark.peers

TREES = 60
ROUND_OFF = 1e-10
MUJOCO_JOINTS = tuple(name for name in zoo.ALL if name not in ("screw", "composite"))


def relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max(initial=0.0) / np.abs(theirs).max(initial=1e-300))


@pytest.fixture(scope="module")
def pin():
    return pytest.importorskip("pinocchio")


@pytest.fixture(scope="module")
def mujoco():
    return pytest.importorskip("mujoco")


@pytest.mark.parametrize("seed", range(TREES))
def test_accelerations_equal_pinocchio_aba(pin, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = zoo.random_tree(rng, int(rng.integers(1, 30)), springs=False, motors=False)
    peer, bound = to_pinocchio(model), ub.solvers.Articulated().bind(model)
    for _ in range(2):
        q, v = zoo.random_state(model, rng, speed=3.0)
        effort = rng.uniform(-10.0, 10.0, model.nv)
        assert relative(bound.forward_dynamics(q, v, effort), peer.forward_dynamics(q, v, effort)) < ROUND_OFF


@pytest.mark.parametrize("seed", range(TREES))
def test_mass_matrix_equals_pinocchio_crba(pin, seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    model = zoo.random_tree(rng, int(rng.integers(1, 30)), springs=False, motors=False)
    q, _ = zoo.random_state(model, rng)
    assert relative(ub.solvers.Articulated().bind(model).mass_matrix(q), to_pinocchio(model).mass_matrix(q)) < 1e-13


@pytest.mark.parametrize("seed", range(TREES))
def test_accelerations_equal_mujoco_forward(mujoco, seed: int) -> None:
    """Every other tree has springs and dampers in its joints."""
    rng = np.random.default_rng(2000 + seed)
    springs = "joints" if seed % 2 else False
    model = zoo.random_tree(rng, int(rng.integers(1, 30)), joints=MUJOCO_JOINTS, springs=springs, motors=False, shared=True)
    peer, bound = to_mujoco(model), ub.solvers.Articulated().bind(model)
    for _ in range(2):
        q, v = zoo.random_state(model, rng, speed=3.0)
        effort = rng.uniform(-10.0, 10.0, model.nv)
        assert relative(bound.forward_dynamics(q, v, effort), peer.forward_dynamics(q, v, effort)) < ROUND_OFF


@pytest.mark.parametrize("alternate", [False, True], ids=["hinges parallel", "hinges crossed"])
def test_chain_of_100_moves_as_in_mujoco(mujoco, alternate: bool) -> None:
    """MuJoCo's Euler rule is ours: v⁺ = v + h a(q, v), q⁺ = q ⊕ h v⁺. In one second, 1000 steps, the chain falls but is not yet chaotic."""
    model = zoo.chain(100, alternate=alternate)
    start = 0.02 * np.random.default_rng(3).standard_normal(model.nq)
    peer = to_mujoco(model, dt=1e-3)
    peer.set_state(start, np.zeros(model.nv))
    sim = ub.Simulation(model, "articulated", dt=1e-3, state=ub.State(0.0, start, np.zeros(model.nv)))
    recording = sim.run(1.0, every=1000)
    for _ in range(1000):
        mujoco.mj_step(peer.model, peer.data)
    assert np.abs(recording.q[-1] - start).max() > 0.5
    np.testing.assert_allclose(recording.q[-1], peer.data.qpos, rtol=0.0, atol=1e-9)


def test_free_body_tumbles_as_in_mujoco(mujoco) -> None:
    """Both turn quaternions by the exponential; MuJoCo moves the origin along world axes, we along a screw: first order apart."""
    b = ub.Builder()
    b.body("box", mass=2.0, inertia=(0.1, 0.2, 0.25), V_WB=(1.0, 2.0, 0.5, 0.3, -0.2, 4.0))
    model = b.build()
    distance = []
    for dt in (2e-3, 1e-3):
        peer = to_mujoco(model, dt=dt)
        peer.set_state(model.start_q(), model.start_v())
        recording = ub.Simulation(model, "articulated", dt=dt).run(0.5, every=round(0.5 / dt))
        for _ in range(round(0.5 / dt)):
            mujoco.mj_step(peer.model, peer.data)
        distance.append(np.abs(recording.q[-1] - peer.data.qpos).max())
    assert distance[1] < 0.55 * distance[0] < 0.05
