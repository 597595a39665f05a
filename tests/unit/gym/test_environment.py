"""Environments obey Gymnasium's contract and hold the physics of a simulation driven by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import unibody as ub

gymnasium = pytest.importorskip("gymnasium")

from unibody.gym import TASKS, make_env, register  # noqa: E402


@pytest.mark.parametrize("name", TASKS)
def test_tasks_pass_gymnasiums_own_checker(name):
    from gymnasium.utils.env_checker import check_env

    assert name in register() and register()
    env = gymnasium.make(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about boxes without end
        check_env(env.unwrapped, skip_render_check=True)
    env.close()


def arm() -> ub.Model:
    b = ub.Builder()
    upper = b.body("upper", shape=ub.Capsule(0.05, 0.5))
    lower = b.body("lower", shape=ub.Capsule(0.05, 0.5))
    b.joint("shoulder", ub.Revolute(axis=(0, 1, 0)), b.world, upper, X_BM=ub.Pose(p=(0, 0, 0.25)), effort_limit=2.0)
    b.joint("elbow", ub.Revolute(axis=(0, 1, 0)), upper, lower, X_PF=ub.Pose(p=(0, 0, -0.25)), X_BM=ub.Pose(p=(0, 0, 0.25)), q=0.5)
    return b.build()


@pytest.mark.parametrize("solver", ["articulated", "lagrange"])
def test_the_motion_is_that_of_a_simulation_driven_by_hand_bit_for_bit(solver):
    env = make_env(arm(), solver=solver, dt=2e-3, frame_skip=3, limit=5.0)
    env.reset(seed=0)
    sim = ub.Simulation(arm(), solver, dt=2e-3)
    chance = np.random.default_rng(5)
    for _ in range(8):
        action = chance.uniform(env.action_space.low, env.action_space.high)
        env.step(action)
        sim.control.set_effort("shoulder", action[0])
        sim.control.set_effort("elbow", action[1])
        for _ in range(3):
            sim.step()
        assert np.array_equal(env.sim.state.q, sim.state.q) and np.array_equal(env.sim.state.v, sim.state.v)
    mine, theirs = env.sim.observe(), sim.observe()
    assert mine.kinetic == theirs.kinetic and mine.gravity == theirs.gravity and np.array_equal(mine.work, theirs.work)


def test_same_seed_same_episode_other_seed_another():
    def episode(seed: int) -> np.ndarray:
        env = make_env(arm(), dt=5e-3, frame_skip=2, reset_noise=0.2)
        first, _ = env.reset(seed=seed)
        env.action_space.seed(seed)
        return np.array([first, *(env.step(env.action_space.sample())[0] for _ in range(5))])

    assert np.array_equal(episode(3), episode(3)) and not np.allclose(episode(3)[0], episode(4)[0])
    assert np.abs(episode(3)[0] - [0.0, 0.5, 0.0, 0.0]).max() <= 0.2


def test_spaces_come_from_the_model_and_actions_are_clipped():
    env = make_env(arm(), limit=7.0)
    assert env.action_space.high.tolist() == [2.0, 7.0] and env.observation_space.shape == (4,)
    env.reset(seed=0)
    env.step(np.array([100.0, 0.0]))
    assert env.sim.control.effort.tolist() == [2.0, 0.0]
    with pytest.raises(ub.ModelError, match="finite numbers"):
        env.step(np.array([np.nan, 0.0]))
    only = make_env(arm(), actuators=["elbow"], limit=3.0)
    assert [a.name for a in only.actuators] == ["elbow"]
    with pytest.raises(ub.ModelError, match="neither a motor nor a joint"):
        make_env(arm(), actuators=["knee"])


def test_motors_take_targets_within_the_joints_limits():
    b = ub.Builder(gravity=None)
    bob = b.body("bob", shape=ub.Sphere(0.1), mass=1.0)
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, bob, limits=(-0.2, 0.5))
    b.add(ub.Motor("slide", kp=400.0, kd=40.0), name="servo")
    env = make_env(b.build(), solver="redmax", dt=5e-3, frame_skip=20)
    assert (env.action_space.low[0], env.action_space.high[0]) == (-0.2, 0.5)
    env.reset(seed=0)
    for _ in range(10):
        seen, *_ = env.step(np.array([0.3]))
    # Critically damped at 20 rad/s: after 1 s the rest is (1 + 20) e^−20 of the way.
    assert seen[0] == pytest.approx(0.3, abs=1e-4)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of arithmetic with NaN, where kernels run as plain Python
def test_a_step_that_fails_ends_the_episode_and_keeps_the_last_good_state():
    b = ub.Builder(gravity=None)
    bob = b.body("bob", shape=ub.Sphere(0.1), mass=1.0)
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, bob)

    def effort(t: float) -> float:
        if t > 0.045:
            raise ValueError("out of fuel")
        return 1.0

    b.add(ub.Motor("slide", effort=effort), name="broken")
    env = make_env(b.build(), dt=1e-2, frame_skip=2, limit=1.0)
    env.reset(seed=0)
    for _ in range(10):
        seen, _, terminated, truncated, info = env.step(np.zeros(1))
        if terminated:
            break
    assert terminated and not truncated and "out of fuel" in info["failure"] and np.isfinite(seen).all()
    assert 0.0 < info["time"] <= 0.06
    assert env.reset(seed=0)[1]["time"] == 0.0


def test_episodes_are_truncated_and_rewards_are_asked_for():
    env = make_env("pendulum", dt=1e-2, frame_skip=5, duration=0.2, reward=lambda sim, action: sim.state.t, terminated=lambda sim: False)
    env.reset(seed=0)
    steps = [env.step(np.zeros(1)) for _ in range(4)]
    assert [s[3] for s in steps] == [False, False, False, True]
    assert [s[1] for s in steps] == pytest.approx([0.05, 0.1, 0.15, 0.2])


def test_many_environments_at_once():
    envs = gymnasium.vector.SyncVectorEnv([lambda: make_env(arm(), dt=5e-3, frame_skip=2, reset_noise=0.1) for _ in range(3)])
    seen, _ = envs.reset(seed=[1, 2, 3])
    assert seen.shape == (3, 4) and np.unique(seen[:, 0]).size == 3
    seen, rewards, *_ = envs.step(envs.action_space.sample())
    assert seen.shape == (3, 4) and rewards.shape == (3,)
    envs.close()


def test_a_pole_that_is_left_alone_falls_and_one_that_is_pushed_rightly_stands():
    """A linear feedback that places the poles of the linearised cart-pole keeps it up for the whole episode."""
    from unibody.gym.tasks import cart_pole

    env = cart_pole()
    env.reset(seed=1)
    alone = sum(1 for _ in range(200) if not env.step(np.zeros(1))[2])
    seen, _ = env.reset(seed=1)
    total = 0.0
    for _ in range(100):
        push = 2.0 * seen[0] + 60.0 * seen[1] + 4.0 * seen[2] + 15.0 * seen[3]
        seen, reward, over, _, _ = env.step(np.array([push]))
        total += reward
        assert not over
    assert alone < 150 and total == 100.0


def test_pictures():
    pytest.importorskip("unibody.view.render")
    env = make_env(arm(), render_mode="rgb_array", render_size=(160, 120))
    env.reset(seed=0)
    first = env.render()
    env.reset(options={"state": ub.State(0.0, [1.5, 0.5], [0.0, 0.0])})
    second = env.render()
    assert first.shape == (120, 160, 3) and first.dtype == np.uint8
    assert first.std() > 5.0 and (first != second).any(axis=2).sum() > 50
    assert make_env(arm()).render() is None
    with pytest.raises(ub.ModelError, match="render_mode"):
        make_env(arm(), render_mode="human")


def test_noise_on_a_closed_loop_is_closed():
    """Bars stay joined in every episode, and no two begin alike."""
    env = make_env("four-bar", reset_noise=0.1)
    begun = []
    for seed in (1, 1, 2, 3):
        seen, info = env.reset(seed=seed)
        assert len(info["notes"]) == 1 and "was violated by" in info["notes"][0] and env.sim.observe().violation < 1e-10
        begun.append(seen)
    assert np.array_equal(begun[0], begun[1]) and np.abs(begun[0] - begun[2]).max() > 1e-3 < np.abs(begun[2] - begun[3]).max()


def test_noise_beyond_a_limit_ends_at_the_limit():
    """A slide at its stop: half of all starts would be beyond it."""
    b = ub.Builder(gravity=None)
    b.joint("slide", ub.Prismatic((1, 0, 0)), b.world, b.body("bob", shape=ub.Sphere(0.1), mass=1.0), limits=(-1.0, 0.0))
    env = make_env(b.build(), reset_noise=0.1)
    begun = np.array([env.reset(seed=seed)[0][0] for seed in range(12)])
    assert begun.max() <= 1e-12 and (begun > -1e-12).sum() >= 2 and begun.min() < -0.01


def test_a_floating_base_is_not_driven_unless_it_is_named():
    b = ub.Builder()
    base, leg = (b.body(name, shape=ub.Sphere(0.1), mass=1.0) for name in ("base", "leg"))
    b.joint("root", ub.Free(), b.world, base)
    b.joint("hip", ub.Revolute((0, 1, 0)), base, leg, X_BM=ub.Pose((0, 0, 0.3)))
    model = b.build()
    assert [a.name for a in make_env(model).actuators] == ["hip"]
    assert [a.name for a in make_env(model, actuators=["root"]).actuators] == [f"root.{k}" for k in range(6)]
    b = ub.Builder()
    b.joint("root", ub.Free(), b.world, b.body("rock", shape=ub.Sphere(0.1), mass=1.0))
    with pytest.raises(ub.ModelError, match="nothing to actuate"):
        make_env(b.build())


def crank_alone(model: ub.Model, rate: float = 5.0) -> ub.State:
    """The model's start, of which only the crank moves."""
    speed = np.zeros(model.nv)
    speed[model.joint("O").v_start] = rate
    return ub.State(0.0, model.start_q()[: model.nq], speed)


def test_episodes_begin_at_consistent_starts_and_say_so():
    """x = r cos θ + l cos β gives the slider's speed; pictures and given states begin alike."""
    model = ub.scenes.build("slider-crank")
    env = make_env(model, dt=1e-3, frame_skip=2, actuators=["O"], reset_noise=lambda chance, m: crank_alone(m, chance.uniform(4.0, 6.0)))
    for options in (None, {"state": crank_alone(model)}):
        _, info = env.reset(seed=3, options=options)
        (note,) = info["notes"]
        assert note.startswith("start: ") and "was violated by" in note and "assemble=False" in note
        sim = ub.Simulation(model, state=crank_alone(model, env.sim.state.v[model.joint("O").v_start]))
        assert np.abs(env.sim.state.v - sim.state.v).max() < 1e-12 and np.count_nonzero(sim.state.v) > 1
        assert env.sim.observe().violation < 1e-12
        env.step(np.zeros(1))
    assert env.reset(options={"state": ub.State(0.0, model.start_q()[: model.nq], np.zeros(model.nv))})[1]["notes"] == ()


def test_pictures_of_models_with_an_open_start_are_framed_at_the_closed_one():
    from unibody.gym.environment import reach

    b = ub.Builder(gravity=None)
    for name, at in (("a", 0.2), ("c", 0.0)):
        b.joint(name, ub.Revolute((0, 0, 1)), b.world, b.body(name, shape=ub.Box((0.4, 0.1, 0.1)), X_WB=ub.Pose((0, 0, at))), q=at)
    b.add(ub.JointCoupling(["a", "c"], [1.0, -1.0]), name="belt")
    shown = reach(make_env(b.build()).sim)
    assert shown.joint("a")[0, 0] == pytest.approx(0.1) == shown.joint("c")[0, 0]  # equal wheels meet in the middle
