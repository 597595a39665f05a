"""Robots that come inside other people's wheels, read from MJCF: mass, degrees of freedom and accelerations are MuJoCo's.

Both compute in float64 with different recursions and joint frames, so they may differ by round-off only. What the import says it
leaves out is switched off in MuJoCo: contact, fluid, actuators that drive tendons or bodies, springs of several joints together. Soft
constraints and dry friction, which are other laws here, have tests of their own. Kept are gravity, springs, dampers, armature, gravity
compensation and the servos.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import unibody as ub
from peers.robots import GYM, SUITE, WALKERS, find
from unibody.files.mjcf import load_mjcf, scene_of

pytestmark = pytest.mark.peers

ROBOTS = [
    *(f"{SUITE}/{name}.xml" for name in ("acrobot", "ball_in_cup", "cartpole", "cheetah", "finger", "fish", "hopper", "humanoid")),
    *(f"{SUITE}/{name}.xml" for name in ("humanoid_CMU", "manipulator", "quadruped", "stacker", "swimmer", "walker", "dog")),
    *(f"{GYM}/{name}.xml" for name in ("ant", "half_cheetah", "humanoid", "pusher_v5", "reacher", "walker2d_v5")),
    *(f"{WALKERS}/{name}.xml" for name in ("humanoid_CMU_V2020", "rodent", "fruitfly_v2/fruitfly")),
    "dm_control/third_party/kinova/jaco_arm.xml",
    "dm_control/third_party/kinova/jaco_hand.xml",
    "dm_control/mjcf/test_assets/robot_arm.xml",
    "dm_control/mujoco/testing/assets/model_with_ball_joints.xml",
    "pybullet_data/mjcf/striker.xml",
]
TOLERANCE = 1e-8


@pytest.fixture(scope="module")
def mujoco() -> Iterator[Any]:
    """MuJoCo, which writes its warnings to a file in the working directory unless somebody listens."""
    module = pytest.importorskip("mujoco")
    before = module.get_mju_user_warning()
    module.set_mju_user_warning(lambda text: None)
    yield module
    module.set_mju_user_warning(before)


def without_what_is_left_out(mujoco: Any, m: Any) -> None:
    """Switch off what the import lists, and the constraints, in MuJoCo's model itself."""
    off = mujoco.mjtDisableBit
    for flag in (off.mjDSBL_CONTACT, off.mjDSBL_LIMIT, off.mjDSBL_EQUALITY, off.mjDSBL_FRICTIONLOSS):
        m.opt.disableflags |= int(flag)
    m.opt.density = m.opt.viscosity = 0.0
    m.opt.wind[:] = 0.0
    for i in range(m.nu):
        if m.actuator_trntype[i] != int(mujoco.mjtTrn.mjTRN_JOINT):
            m.actuator_gainprm[i], m.actuator_biasprm[i] = 0.0, 0.0
    m.tendon_stiffness[:] = 0.0
    m.tendon_damping[:] = 0.0


class Peer:
    """MuJoCo's model in our coordinates. Our joints are called as MuJoCo's, several of one body with a plus between them."""

    def __init__(self, mujoco: Any, m: Any, model: ub.Model):
        self.mujoco, self.m, self.d, self.model = mujoco, m, mujoco.MjData(m), model
        self.pieces = []
        for j in model.tree_joints:
            if j.nv:
                first = j.name.split("+")[0]
                i = int(first.removeprefix("joint ")) if first.startswith("joint ") else m.joint(first).id
                self.pieces.append((j, slice(m.jnt_qposadr[i], m.jnt_qposadr[i] + j.nq), slice(m.jnt_dofadr[i], m.jnt_dofadr[i] + j.nv)))

    def random_qpos(self, rng: np.random.Generator) -> np.ndarray:
        q = np.array(self.m.qpos0)
        for i in range(self.m.njnt):
            at = self.m.jnt_qposadr[i]
            kind = self.m.jnt_type[i]
            if kind == 0:
                q[at : at + 3] += rng.standard_normal(3)
            if kind <= 1:
                turn = slice(at + 3 * (kind == 0), at + 4 + 3 * (kind == 0))
                q[turn] = rng.standard_normal(4)
                q[turn] /= np.linalg.norm(q[turn])
            else:
                low, high = self.m.jnt_range[i] if self.m.jnt_limited[i] else q[at] + np.array([-1.5, 1.5])
                q[at] = rng.uniform(low, high)
        return q

    def ours(self, qpos: np.ndarray, qvel: np.ndarray, qacc: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """State and acceleration in our coordinates; with v = Rᵀ ẋ, v̇ = Rᵀ ẍ − ω × v for a free body."""
        model = self.model
        q, v, a = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
        for j, at, dofs in self.pieces:
            own_q, own_v = slice(j.q_start, j.q_start + j.nq), slice(j.v_start, j.v_start + j.nv)
            q[own_q], v[own_v], a[own_v] = qpos[at], qvel[dofs], qacc[dofs]
            if isinstance(j.element, ub.Free):
                R, slide, turn = ub.Pose(wxyz=q[own_q][3:]).R, qvel[dofs][:3], qvel[dofs][3:]
                v[own_v] = np.concatenate([turn, R.T @ slide])
                a[own_v] = np.concatenate([qacc[dofs][3:], R.T @ qacc[dofs][:3] - np.cross(turn, R.T @ slide)])
        return q, v, a

    def efforts(self, q: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Random efforts, within what our joints can bear, in MuJoCo's coordinates and in ours."""
        theirs, own = np.zeros(self.m.nv), np.zeros(self.model.nv)
        scale = float(self.m.body_mass[1:].sum())
        for j, _, dofs in self.pieces:
            effort = scale * rng.uniform(-1.0, 1.0, j.nv)
            effort = np.clip(effort, -j.effort_limit, j.effort_limit)
            own[j.v_start : j.v_start + j.nv] = theirs[dofs] = effort
            if isinstance(j.element, ub.Free):
                R = ub.Pose(wxyz=q[j.q_start + 3 : j.q_start + 7]).R
                theirs[dofs] = np.concatenate([R @ effort[3:], effort[:3]])
        return theirs, own

    def accelerations(self, qpos: np.ndarray, qvel: np.ndarray, effort: np.ndarray) -> np.ndarray:
        self.d.qpos[:], self.d.qvel[:], self.d.qfrc_applied[:] = qpos, qvel, effort
        self.mujoco.mj_forward(self.m, self.d)
        return np.array(self.d.qacc)


def distance(mujoco: Any, m: Any, model: ub.Model, rng: np.random.Generator, states: int = 3) -> float:
    """The largest relative difference of an acceleration at random states under random efforts; those below a ten-thousandth of the
    largest count as that."""
    peer, bound = Peer(mujoco, m, model), ub.solvers.Articulated().bind(model)
    worst = 0.0
    for _ in range(states):
        qpos, qvel = peer.random_qpos(rng), rng.uniform(-2.0, 2.0, m.nv)
        q = peer.ours(qpos, qvel, np.zeros(m.nv))[0]
        theirs, own = peer.efforts(q, rng)
        q, v, expected = peer.ours(qpos, qvel, peer.accelerations(qpos, qvel, theirs))
        found = bound.forward_dynamics(q, v, own)
        small = 1e-4 * np.abs(expected).max()
        worst = max(worst, float((np.abs(found - expected) / (np.abs(expected) + small)).max()))
    return worst


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: r.rpartition("/")[2].removesuffix(".xml"))
def test_a_robot_moves_as_in_mujoco(mujoco, robot: str, rng) -> None:
    path = find(robot)
    begun = time.perf_counter()
    scene = load_mjcf(path)
    taken = time.perf_counter() - begun
    m = mujoco.MjModel.from_xml_path(str(path))
    moving = np.array(m.body_weldid) != 0
    assert scene.model.nv == m.nv
    np.testing.assert_allclose(scene.model.total_mass, m.body_mass[moving].sum(), rtol=1e-12)
    without_what_is_left_out(mujoco, m)
    worst = distance(mujoco, m, scene_of(m, limits=False).model, rng)
    print(f"{robot}: {scene.model.n_bodies - 1} bodies, {m.nv} degrees of freedom, read in {taken:.2f} s, accelerations within {worst:.1e}")
    assert worst < TOLERANCE


@pytest.mark.parametrize("robot", [f"{SUITE}/walker.xml", f"{GYM}/half_cheetah.xml", f"{GYM}/hopper.xml"])
def test_a_robot_steps_as_in_mujoco(mujoco, robot: str) -> None:
    """MuJoCo's Euler rule is ours: v⁺ = v + h a(q, v), q⁺ = q + h v⁺; no free bodies, whose positions the two move differently."""
    m = mujoco.MjModel.from_xml_path(str(find(robot)))
    without_what_is_left_out(mujoco, m)
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)
    m.opt.integrator = int(mujoco.mjtIntegrator.mjINT_EULER)
    scene = scene_of(m, limits=False)
    recording = ub.Simulation(scene.model, "articulated", dt=scene.dt).run(40 * scene.dt, every=40)
    d = mujoco.MjData(m)
    for _ in range(40):
        mujoco.mj_step(m, d)
    expected, speeds, _ = Peer(mujoco, m, scene.model).ours(d.qpos, d.qvel, d.qacc)
    assert np.abs(recording.q[-1] - scene.model.start_q()).max() > 1e-3
    np.testing.assert_allclose(recording.q[-1], expected, atol=1e-9)
    np.testing.assert_allclose(recording.v[-1], speeds, atol=1e-9 * max(1.0, np.abs(speeds).max()))


def numbers(values: Any) -> str:
    return " ".join(f"{x:.6f}" for x in np.atleast_1d(values))


def random_joint(rng: np.random.Generator, name: str, kind: str) -> str:
    at = f'pos="{numbers(rng.uniform(-0.3, 0.3, 3))}"' if rng.random() < 0.7 else ""
    acts = f'stiffness="{numbers(rng.uniform(0, 5))}" damping="{numbers(rng.uniform(0, 1))}" armature="{numbers(rng.uniform(0, 0.3))}"'
    if kind == "ball":
        return f'<joint name="{name}" type="ball" {at} {acts}/>'
    scale = 40.0 if kind == "hinge" else 0.3
    turned = f'ref="{numbers(rng.uniform(-scale, scale))}" springref="{numbers(rng.uniform(-scale, scale))}"'
    return f'<joint name="{name}" type="{kind}" axis="{numbers(rng.standard_normal(3))}" {at} {turned} {acts}/>'


def random_body(rng: np.random.Generator, number: list[int], depth: int) -> str:
    """A body with none to three joints, or a free one at the top, a geom or none, and one to two children."""
    number[0] += 1
    own = number[0]
    kinds = list(rng.choice(["hinge", "slide"], rng.integers(0, 4))) + ["ball"] * int(rng.random() < 0.2)
    joints = "".join(random_joint(rng, f"j{own}-{k}", kind) for k, kind in enumerate(kinds))
    if depth == 0 and rng.random() < 0.4:
        acts = rng.choice(["", 'damping=".3"', 'stiffness="2" armature=".1"'])
        joints = f'<joint name="f{own}" type="free" {acts}/>'
    size, at, turn = rng.uniform(0.05, 0.3, 3), rng.uniform(-0.2, 0.2, 3), rng.uniform(-90, 90, 3)
    solid = f'<geom type="box" size="{numbers(size)}" pos="{numbers(at)}" euler="{numbers(turn)}"/>'
    geom = solid if joints or rng.random() < 0.6 else ""
    below = "".join(random_body(rng, number, depth + 1) for _ in range(rng.integers(0, 3))) if depth < 3 else ""
    at, turn, lift = rng.uniform(-0.5, 0.5, 3), rng.uniform(-90, 90, 3), rng.uniform(0, 1.5)
    place = f'pos="{numbers(at)}" euler="{numbers(turn)}" gravcomp="{numbers(lift)}"'
    return f'<body name="b{own}" {place}>{joints}{geom}{below}</body>'


@pytest.mark.parametrize("seed", range(30))
def test_random_trees_move_as_in_mujoco(mujoco, seed: int) -> None:
    rng = np.random.default_rng(seed)
    number = [0]
    bodies = "".join(random_body(rng, number, 0) for _ in range(3))
    m = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    without_what_is_left_out(mujoco, m)
    if m.nv:
        assert distance(mujoco, m, scene_of(m).model, rng, states=1) < TOLERANCE
