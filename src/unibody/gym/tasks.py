"""Ready tasks: a model, a reward, an end. `register()` makes them known to `gymnasium.make`."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from unibody.gym.environment import ModelEnv, make_env
from unibody.joints import Prismatic, Revolute
from unibody.model import Builder, Model, State
from unibody.scenes import build
from unibody.shapes import Box, Capsule
from unibody.simulation import Simulation
from unibody.spatial import Pose


def pendulum_swing_up(render_mode: str | None = None, torque: float = 3.0, **more: Any) -> ModelEnv:
    """A hanging rod of 1 kg and 1 m that must stand: at most `torque` [N m], less than the 4.9 N m that would lift it in one go.

    Observed: cos θ, sin θ, θ̇, with θ = 0 hanging. Reward: −(distance to upright)² − 0.1 θ̇² − 0.001 u², once a step of 0.05 s; 10 s.
    """

    def seen(sim: Simulation) -> np.ndarray:
        return np.array([np.cos(sim.state.q[0]), np.sin(sim.state.q[0]), sim.state.v[0]])

    def reward(sim: Simulation, action: np.ndarray) -> float:
        off = (sim.state.q[0] % (2.0 * np.pi)) - np.pi
        return -float(off**2 + 0.1 * sim.state.v[0] ** 2 + 1e-3 * action[0] ** 2)

    options: dict[str, Any] = {"dt": 5e-3, "frame_skip": 10, "duration": 10.0, "reset_noise": 0.1}
    model = build("pendulum", kind="rod", angle=0.0)
    return make_env(model, limit=torque, observation=seen, reward=reward, render_mode=render_mode, **(options | more))


def cart_pole_model(cart: float = 1.0, pole: float = 0.1, length: float = 1.0) -> Model:
    """A cart [kg] on a rail along x, and a pole [kg, m] standing on it; angle 0 is upright."""
    b = Builder()
    base = b.body("cart", shape=Box((0.4, 0.2, 0.2)), mass=cart)
    stick = b.body("pole", shape=Capsule(0.03, length - 0.06), mass=pole)
    b.joint("rail", Prismatic(axis=(1, 0, 0)), b.world, base)
    b.joint("pivot", Revolute(axis=(0, 1, 0)), base, stick, X_BM=Pose(p=(0, 0, -0.5 * length)))
    return b.build()


def cart_pole(render_mode: str | None = None, force: float = 10.0, **more: Any) -> ModelEnv:
    """Keep the pole within 12° and the cart within 2.4 m by pushing the cart, at most `force` [N]; reward 1 a step of 0.02 s; 10 s.

    Observed: x, θ, ẋ, θ̇.
    """

    def fallen(sim: Simulation) -> bool:
        return bool(abs(sim.state.q[0]) > 2.4 or abs(sim.state.q[1]) > np.radians(12.0))

    def start(chance: np.random.Generator, model: Model) -> State:
        return State(0.0, chance.uniform(-0.05, 0.05, 2), chance.uniform(-0.05, 0.05, 2))

    options: dict[str, Any] = {"dt": 5e-3, "frame_skip": 4, "duration": 10.0, "reset_noise": start}
    return make_env(
        cart_pole_model(), actuators=["rail"], limit=force, reward=lambda sim, action: float(not fallen(sim)), terminated=fallen,
        render_mode=render_mode, **(options | more),
    )  # fmt: skip


TASKS = {"unibody/PendulumSwingUp-v0": "pendulum_swing_up", "unibody/CartPole-v0": "cart_pole"}
"""Name for `gymnasium.make` → function of this module."""


def register() -> list[str]:
    """Make the tasks known to `gymnasium.make`; their names."""
    for name, function in TASKS.items():
        if name not in gymnasium.registry:
            gymnasium.register(name, entry_point=f"{__name__}:{function}")
    return list(TASKS)
