"""Environments over robots from files, MJCF and URDF, with contact: episodes of random actions stay finite, and seeds repeat them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import unibody as ub
from peers.robots import BULLET, GYM, find, weight

gymnasium = pytest.importorskip("gymnasium")

from unibody.gym import make_env  # noqa: E402

pytestmark = pytest.mark.peers

STANDING = {"floating": True, "floor": True, "height": "on floor"}
ROBOTS: dict[str, tuple[str, dict[str, Any], int]] = {
    "ant": (f"{GYM}/ant.xml", {}, 8),
    "half cheetah": (f"{GYM}/half_cheetah.xml", {}, 6),
    "hopper": (f"{GYM}/hopper.xml", {}, 3),
    "a1": (f"{BULLET}/a1/a1.urdf", STANDING, 12),
    "r2d2": (f"{BULLET}/r2d2.urdf", STANDING, 8),
    "cartpole": (f"{BULLET}/cartpole.urdf", {}, 2),
}
"""File, how it is loaded, and how many motors or movable joints the file has, counted there."""


def environment(robot: str, **options: Any) -> Any:
    file, given, _ = ROBOTS[robot]
    return make_env(ub.load(find(file), **given) if given else find(file), frame_skip=5, reset_noise=0.01, **options)


def episode(robot: str, seed: int, steps: int = 50) -> tuple[Any, np.ndarray, list[dict[str, Any]]]:
    env = environment(robot)
    seen, info = env.reset(seed=seed)
    env.action_space.seed(seed)
    rows, told = [seen], [info]
    for _ in range(steps):
        seen, reward, over, truncated, info = env.step(env.action_space.sample())
        assert not over and not truncated and reward == 0.0, info
        assert env.observation_space.contains(seen)
        rows.append(seen)
        told.append(info)
    return env, np.array(rows), told


@pytest.mark.parametrize("robot", ROBOTS)
def test_random_actions_give_finite_episodes_that_seeds_repeat(robot: str) -> None:
    env, rows, told = episode(robot, 1)
    model, dt = env.sim.model, env.sim.dt
    assert len(env.actuators) == ROBOTS[robot][2] and env.observation_space.shape == (model.nq + model.nv,)
    assert np.isfinite(rows).all() and told[-1]["time"] == pytest.approx(250 * dt)
    assert np.abs(np.diff(rows, axis=0)).max(axis=1).min() > 0.0  # it moves in every step
    _, again, _ = episode(robot, 1)
    assert again.tobytes() == rows.tobytes()
    _, other, _ = episode(robot, 2, steps=1)
    assert np.abs(other[0] - rows[0]).max() > 1e-3


@pytest.mark.parametrize("robot", ["ant", "half cheetah", "hopper", "a1", "r2d2"])
def test_the_floor_holds_robots_that_flail(robot: str) -> None:
    """No contact ends deeper than 5 mm in the floor, after steps of up to 10 ms, and whoever lies on it is pushed up by it."""
    env = environment(robot)
    env.reset(seed=3)
    env.action_space.seed(3)
    pushed, deepest = 0.0, 0.0
    for _ in range(50):
        env.step(env.action_space.sample())
        touching = env.sim.observe().contacts
        deepest = max(deepest, float((-touching.gaps).max(initial=0.0)))
        pushed = max(pushed, float(touching.normal_forces.sum()))
    assert deepest < 5e-3 and pushed > 0.1 * weight(env.sim.model)


def test_gymnasiums_own_checker_takes_a_robot() -> None:
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about boxes without end
        check_env(environment("hopper"), skip_render_check=True)
