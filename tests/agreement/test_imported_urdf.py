"""Robots that ship inside wheels, read by us and by Pinocchio's own URDF reader: the same mass, freedom and accelerations.

Pinocchio's accelerations know neither damping, friction, limits nor mimic joints, so they are taken off ours; mimic joints are then tested
by the projection of its mass matrix. Its inertia of links that a fixed base holds still is on no joint, so masses that move are compared.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import files
from pathlib import Path

import numpy as np
import pytest

import unibody as ub
import zoo
from unibody.files.urdf import load_urdf

pytestmark = pytest.mark.peers

STATES = 4
ROUND_OFF = 1e-8

FLOATING = {
    "solo12 (quadruped)": "solo_description/robots/solo12.urdf",
    "a1 (quadruped)": "a1_description/urdf/a1.urdf",
    "anymal (quadruped)": "anymal_b_simple_description/robots/anymal.urdf",
    "hyq (quadruped)": "hyq_description/robots/hyq_no_sensors.urdf",
    "talos (humanoid)": "talos_data/robots/talos_reduced.urdf",
    "g1 with hands (humanoid)": "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "simple humanoid": "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "hextilt (flying arm)": "hextilt_description/urdf/hextilt_flying_arm_5.urdf",
}
FIXED = {
    "panda (manipulator)": "panda_description/urdf/panda.urdf",
    "ur5 (manipulator)": "ur_description/urdf/ur5_robot.urdf",
    "baxter (two arms)": "baxter_description/urdf/baxter.urdf",
    "tiago dual (101 degrees)": "tiago_description/robots/tiago_dual.urdf",
    "double pendulum (continuous)": "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "allegro (hand)": "allegro_hand_description/urdf/allegro_right_hand.urdf",
}


@pytest.fixture(scope="module")
def pin():
    return pytest.importorskip("pinocchio")


def shipped(name: str) -> Path:
    """The file of example-robot-data, or of pybullet_data where the name begins so."""
    if name.startswith("pybullet_data/"):
        data = pytest.importorskip("pybullet_data")
        return Path(data.getDataPath()) / name.removeprefix("pybullet_data/")
    try:
        found = [f for f in files("example-robot-data") or [] if str(f).endswith(f"example-robot-data/robots/{name}")]
    except ImportError:
        found = []
    if not found:
        pytest.skip("example-robot-data is not installed")
    return Path(str(found[0].locate()))


class Twin:
    """A robot in Pinocchio, spoken to in our coordinates."""

    def __init__(self, pin, path: Path, ours: ub.Model, floating: bool):
        self.pin, self.ours = pin, ours
        self.theirs = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(str(path))
        self.theirs.gravity = pin.Motion(np.array(ours.gravity), np.zeros(3))
        self.data = self.theirs.createData()
        self.pairs = []
        for k in range(1, self.theirs.njoints):
            name = self.theirs.names[k]
            mine = ours.joints[0] if name == "root_joint" and floating else ours.joint(name)
            self.pairs.append((mine, self.theirs.joints[k]))

    def q(self, q: np.ndarray) -> np.ndarray:
        out = self.pin.neutral(self.theirs)
        for mine, joint in self.pairs:
            x = q[mine.q_start : mine.q_start + mine.nq]
            if isinstance(mine.element, ub.Free):
                x = x[[0, 1, 2, 4, 5, 6, 3]]
            elif joint.nq == 2:
                x = [np.cos(x[0]), np.sin(x[0])]
            out[joint.idx_q : joint.idx_q + joint.nq] = x
        return out

    def places(self) -> np.ndarray:
        """Where our velocities stand in theirs."""
        out = np.zeros(self.ours.nv, int)
        for mine, joint in self.pairs:
            order = [3, 4, 5, 0, 1, 2] if isinstance(mine.element, ub.Free) else range(mine.nv)
            out[mine.v_start : mine.v_start + mine.nv] = [joint.idx_v + k for k in order]
        return out

    def accelerations(self, q: np.ndarray, v: np.ndarray, effort: np.ndarray) -> np.ndarray:
        at = self.places()
        speed, load = np.zeros(self.theirs.nv), np.zeros(self.theirs.nv)
        speed[at], load[at] = v, effort
        return np.array(self.pin.aba(self.theirs, self.data, self.q(q), speed, load))[at]

    def mass_and_bias(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at, speed = self.places(), np.zeros(self.theirs.nv)
        speed[at] = v
        upper = np.triu(self.pin.crba(self.theirs, self.data, self.q(q)))
        M = upper + np.triu(upper, 1).T
        return M[np.ix_(at, at)], np.array(self.pin.nonLinearEffects(self.theirs, self.data, self.q(q), speed))[at]


def bare(model: ub.Model) -> ub.Model:
    """Without damping, friction, limits and mimic joints, and without bounds on efforts."""
    joints = tuple(replace(j, effort_limit=np.full(j.nv, np.inf)) for j in model.joints)
    return replace(model, forces=(), constraints=(), joints=joints)


def moving_mass(model: ub.Model) -> float:
    """Of all bodies that something can move."""
    fixed = {0}
    for j in model.tree_joints:
        if j.nv == 0 and j.parent in fixed:
            fixed.add(j.child)
    return sum(b.mass for i, b in enumerate(model.bodies) if i not in fixed and b.kind == "dynamic")


def check_against(pin, path: Path, scene: ub.scenes.Scene, floating: bool) -> None:
    model = bare(scene.model)
    twin = Twin(pin, path, model, floating)
    assert model.nv == twin.theirs.nv == twin.places().size
    assert moving_mass(model) == pytest.approx(pin.computeTotalMass(twin.theirs), rel=1e-12)
    bound = ub.solvers.Articulated().bind(model)
    rng = np.random.default_rng(len(model.bodies))
    for _ in range(STATES):
        q, v = zoo.random_state(model, rng, speed=2.0)
        effort = rng.uniform(-5.0, 5.0, model.nv)
        theirs = twin.accelerations(q, v, effort)
        assert np.abs(bound.forward_dynamics(q, v, effort) - theirs).max() < ROUND_OFF * np.abs(theirs).max()


@pytest.mark.parametrize("name", FLOATING)
def test_robots_that_float(pin, name: str) -> None:
    path = shipped(FLOATING[name])
    check_against(pin, path, load_urdf(path, floating=True, meshes=False), floating=True)


@pytest.mark.parametrize("name", FIXED)
def test_robots_that_stand(pin, name: str) -> None:
    path = shipped(FIXED[name])
    check_against(pin, path, load_urdf(path, meshes=False), floating=False)


@pytest.mark.parametrize("name", ["kuka_iiwa/model.urdf", "r2d2.urdf", "quadruped/vision60.urdf", "aliengo/aliengo.urdf", "cartpole.urdf"])
def test_robots_of_pybullet(pin, name: str) -> None:
    path = shipped(f"pybullet_data/{name}")
    check_against(pin, path, load_urdf(path, meshes=False), floating=False)


def test_dummy_links_without_mass_between_joints(pin) -> None:
    """Nineteen links of this human only connect two hinges; with a mass of 1e-12 kg the motion is that of none at all."""
    path = shipped("human_description/robots/human.urdf")
    scene = load_urdf(path, floating=True, meshes=False, massless=1e-12)
    assert sum("without mass of its own" in line for line in scene.left_out) == 19
    model = bare(scene.model)
    twin, bound, rng = Twin(pin, path, model, True), ub.solvers.Articulated().bind(model), np.random.default_rng(2)
    for _ in range(STATES):
        q, v = zoo.random_state(model, rng, speed=2.0)
        theirs = twin.accelerations(q, v, np.zeros(model.nv))
        assert np.abs(bound.forward_dynamics(q, v) - theirs).max() < ROUND_OFF * np.abs(theirs).max()


def test_mimic_joints_move_as_one(pin) -> None:
    """The Panda's fingers: with v = G u, the accelerations are G (Gᵀ M G)⁻¹ Gᵀ (τ − h) for Pinocchio's M and h."""
    path = shipped("panda_description/urdf/panda.urdf")
    model = load_urdf(path, meshes=False, limits=False).model
    follower, leader = (model.joint(f"panda_finger_joint{k}").v_start for k in (2, 1))
    couplings = tuple((n, c) for n, c in model.constraints if isinstance(c, ub.Coupling))
    assert len(couplings) == 1
    coupled = replace(bare(model), constraints=couplings)
    twin, bound, rng = Twin(pin, path, coupled, False), ub.solvers.Articulated().bind(coupled), np.random.default_rng(3)
    G = np.delete(np.eye(model.nv), follower, axis=1)
    G[follower] = G[leader]
    for _ in range(STATES):
        q, v = zoo.random_state(coupled, rng)
        q[model.joint("panda_finger_joint2").q_start] = q[model.joint("panda_finger_joint1").q_start]
        v[follower] = v[leader]
        effort = rng.uniform(-5.0, 5.0, model.nv)
        M, h = twin.mass_and_bias(q, v)
        theirs = G @ np.linalg.solve(G.T @ M @ G, G.T @ (effort - h))
        assert np.abs(bound.forward_dynamics(q, v, effort) - theirs).max() < ROUND_OFF * np.abs(theirs).max()


def test_welds_in_maximal_coordinates(pin) -> None:
    """Fixed joints stay joints: Lagrange multipliers hold them, with the same accelerations as the tree."""
    path = shipped("ur_description/urdf/ur5_robot.urdf")
    model = bare(load_urdf(path, meshes=False).model)
    q, v = zoo.random_state(model, np.random.default_rng(4))
    state = ub.State(0.0, q, v)
    runs = [ub.Simulation(model, solver, dt=1e-4, state=state).run(2e-4) for solver in ("articulated", "lagrange")]
    poses = [np.concatenate([rec.pose(b.name)[-1] for b in model.bodies[1:]]) for rec in runs]
    np.testing.assert_allclose(poses[0], poses[1], atol=1e-6)


def test_the_largest_robot_with_all_its_meshes(record_property) -> None:
    """130 links, 101 degrees of freedom: read within a minute (it takes a few seconds)."""
    import time

    path = shipped("tiago_description/robots/tiago_dual.urdf")
    begin = time.perf_counter()
    scene = load_urdf(path)
    seconds = time.perf_counter() - begin
    triangles = sum(len(s.triangles()[1]) for b in scene.model.bodies for s in b.shapes)
    record_property("seconds", seconds)
    print(f"\n{path.name}: {len(scene.model.bodies) - 1} bodies, {scene.model.nv} degrees, {triangles} triangles in {seconds:.2f} s")
    assert seconds < 60.0 and scene.model.nv == 101 and triangles > 100_000
