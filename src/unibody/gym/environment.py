"""A model as a `gymnasium.Env`: an action is efforts and targets, an observation joint coordinates and velocities.

A step holds the action for `frame_skip` steps of the solver; it is the same simulation, bit for bit, as one driven by hand. A step that
fails ends the episode: `terminated` with the reason in info["failure"], and the last good state is kept. Episodes begin as simulations
do: a start that violates rows is assembled, and info["notes"] of `reset` says what was changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from unibody.element import number
from unibody.errors import ModelError, StepFailed
from unibody.gym.actuators import actuators_of
from unibody.model import Model, State
from unibody.scenes import Scene
from unibody.simulation import Recording, Simulation
from unibody.simulation.consistent import begin
from unibody.simulation.inputs import scene_of
from unibody.solvers import Solver

Observe = Callable[[Simulation], Any]
Reward = Callable[[Simulation, np.ndarray], float]
Ends = Callable[[Simulation], bool]
Start = Callable[[np.random.Generator, Model], State]


def make_env(
    model: Model | Scene | str | Path, *, solver: str | Solver = "auto", dt: float | None = None, frame_skip: int = 10,
    actuators: Sequence[Any] | None = None, limit: float = 1.0, observation: str | Observe = "joint", reward: Reward | None = None,
    terminated: Ends | None = None, duration: float | None = None, reset_noise: float | Start = 0.0, render_mode: str | None = None,
    render_size: tuple[int, int] = (480, 360),
) -> ModelEnv:  # fmt: skip
    """An environment over a model, a scene, the name of a scene, or a file.

    `solver`, `dt`: as in `Simulation`; "auto" and the scene's step unless given.
    `actuators`: names of joints or motors (None: all motors, else all joints but `Free` ones); `limit` bounds those that have no bound of
    their own.
    `observation`: "joint" (coordinates, then velocities, of all joints) or a function of the simulation. `reward` (simulation, action) →
    number, 0 unless given; `terminated` (simulation) → bool. `duration` [s] truncates episodes. `reset_noise`: half the width of uniform
    noise on coordinates and velocities of the start, or a function (generator, model) → State; loops and limits that it opens are closed.

    >>> env = make_env("pendulum", duration=1.0)
    >>> env.reset(seed=1)[0]
    array([1.57079633, 0.        ])
    """
    given = scene_of(model) if isinstance(model, str | Path) else model
    if not isinstance(given, Model | Scene):
        raise ModelError(f"make_env: {model!r} is neither a Model, a Scene, a scene's name nor a file; call Builder.build() first")
    step = None if dt is None else number(dt, "make_env dt", positive=True)
    return ModelEnv(
        Simulation(given, solver, dt=step), int(number(frame_skip, "make_env frame_skip", minimum=1)), actuators, limit, observation,
        reward, terminated, duration, reset_noise, render_mode, render_size,
    )  # fmt: skip


class ModelEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """Made by `make_env`. `sim` is the simulation, `actuators` say what each number of an action drives."""

    def __init__(
        self, sim: Simulation, frame_skip: int, actuators: Sequence[Any] | None, limit: float, observation: str | Observe,
        reward: Reward | None, terminated: Ends | None, duration: float | None, reset_noise: float | Start, render_mode: str | None,
        render_size: tuple[int, int],
    ):  # fmt: skip
        self.sim, self.frame_skip = sim, frame_skip
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": max(1, round(1.0 / (sim.dt * frame_skip)))}
        if render_mode not in (None, "rgb_array"):
            raise ModelError(f"make_env: render_mode {render_mode!r} is unknown; give 'rgb_array' or None")
        self.render_mode, self._size = render_mode, render_size
        self._renderer: Any = None
        self.actuators = actuators_of(sim.model, actuators, number(limit, "make_env limit", positive=True))
        self._places = np.array([a.place for a in self.actuators])
        bounds = np.array([[a.low, a.high] for a in self.actuators])
        self.action_space = gymnasium.spaces.Box(bounds[:, 0], bounds[:, 1], dtype=np.float64)
        if not (observation == "joint" or callable(observation)):
            raise ModelError(f"make_env: observation {observation!r} is unknown; give 'joint' or a function of the simulation")
        self._observe = observation if callable(observation) else joint_coordinates
        self._reward, self._ends, self._noise = reward, terminated, reset_noise
        if not callable(reset_noise):
            self._noise = number(reset_noise, "make_env reset_noise", minimum=0.0)
        self._last = float("inf")
        if duration is not None:
            self._last = max(1, round(number(duration, "make_env duration", positive=True) / (sim.dt * frame_skip)))
        self._count = 0
        shape = self._observation().shape
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, shape, dtype=np.float64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Back to the start, with noise; `options` may hold "state", a State to start from."""
        super().reset(seed=seed)
        given = (options or {}).get("state")
        self.sim.reset(given if given is not None else self._start())
        self._count = 0
        return self._observation(), {"time": self.sim.state.t, "notes": self.sim.report.notes}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Hold the action for `frame_skip` steps."""
        asked = np.asarray(action, float)
        if asked.shape != self.action_space.shape or not np.isfinite(asked).all():
            raise ModelError(f"action {action!r} is not {self.action_space.shape} finite numbers; give one for each of env.actuators")
        bounds: Any = self.action_space
        held = np.clip(asked, bounds.low, bounds.high)
        self.sim.control.flat[self._places] = held
        info: dict[str, Any] = {}
        try:
            for _ in range(self.frame_skip):
                self.sim.step()
        except StepFailed as failed:
            info["failure"] = str(failed)
        self._count += 1
        info["time"] = self.sim.state.t
        over = "failure" in info or (self._ends is not None and bool(self._ends(self.sim)))
        reward = 0.0 if self._reward is None else float(self._reward(self.sim, held))
        return self._observation(), reward, over, self._count >= self._last, info

    def render(self) -> np.ndarray | None:
        """(rows, columns, 3) uint8 of the state at hand, if made with render_mode="rgb_array"."""
        if self.render_mode is None:
            return None
        from unibody.view.render import Renderer
        from unibody.view.snapshot import Snapshot

        if self._renderer is None:
            self._renderer = Renderer(self.sim.model, self._size, recording=reach(self.sim))
        return self._renderer.image(Snapshot.of(self._renderer.look, self.sim.observe()))

    def close(self) -> None:
        """Forget the pictures' memory."""
        self._renderer = None

    def _start(self) -> State | None:
        if callable(self._noise):
            return self._noise(self.np_random, self.sim.model)
        if not self._noise:
            return None
        model = self.sim.model
        width = float(self._noise)
        shift, kick = (self.np_random.uniform(-width, width, model.nv) for _ in range(2))
        q, v = model.start_q()[: model.nq], model.start_v()[: model.nv] + kick
        for j in model.tree_joints:
            q[j.q_start : j.q_start + j.nq] = j.element.advance(j.q0, shift[j.v_start : j.v_start + j.nv], 1.0)
        return State(0.0, q, v)

    def _observation(self) -> np.ndarray:
        seen = np.array(self._observe(self.sim), float).ravel()
        if not np.isfinite(seen).all():
            raise ModelError(f"observation at t = {self.sim.state.t:.6g} s is not finite: {seen}; let its function return finite numbers")
        return seen


def joint_coordinates(sim: Simulation) -> np.ndarray:
    """Coordinates, then velocities, of all joints, in every solver."""
    if sim.state.coordinates == "reduced" and not sim.model.loop_joints:
        return np.concatenate([sim.state.q, sim.state.v])
    seen = sim.observe()
    return np.concatenate([seen.joint_q, seen.joint_v])


def reach(sim: Simulation, places: int = 8) -> Recording:
    """The start, and every joint with one degree of freedom moved through ±π or ±1 m by itself: what a camera should see of a model."""
    model = sim.model
    out = Recording(sim.bound, sim.dt)
    control = model.neutral_control()
    states = [State(0.0, model.start_q()[: model.nq], np.zeros(model.nv))]
    moving = [] if model.loop_joints or model.constraints else [j for j in model.tree_joints if j.nv == 1]
    for joint in moving[:6]:
        widest = np.pi if np.abs(joint.element.motion(joint.q0)[:3]).any() else 1.0
        for x in np.linspace(-widest, widest, places):
            q = states[0].q.copy()
            q[joint.q_start] += x
            states.append(State(0.0, q, np.zeros(model.nv)))
    for state in states:
        out.append(*begin(sim.bound, state, sim.assemble)[:2], control)
    return out
