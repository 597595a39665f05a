"""Players: a simulation or a recording as a film that one can stop, wind back, change and touch. There is no browser in here.

Both keep a history and a place in it. Time on the wall becomes simulated time by a speed; `Live` makes new steps when its place reaches
the end of the history, in slices short enough that whoever looks is never kept waiting, `Replay` begins again. One thread drives a player.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from unibody.coordinates.observation import Observation
from unibody.element import number
from unibody.errors import StepFailed, UnibodyError
from unibody.model import Model, State
from unibody.model.model import look_up
from unibody.simulation import Recording, Simulation
from unibody.simulation.consistent import begin
from unibody.solvers import REGISTRY, Solver
from unibody.solvers.base import elements_of, reason_against
from unibody.view.viewer_history import History, HistoryRow
from unibody.view.viewer_pose import put
from unibody.view.viewer_pull import MousePull

SLICE = 1.0 / 30.0
"""The longest time on the wall that one `advance` may take, if a single step does not take longer [s]."""
LONGEST = 0.25
"""A longer time between two calls of `advance` is not made up for [s]."""
SLOWEST, FASTEST = 0.1, 10.0
"""Speeds: simulated seconds per second on the wall."""


class Player:
    """A film: a history, a place in it, whether it runs and how fast."""

    live = False

    def __init__(self, model: Model):
        self.model = model
        self.history = History()
        self.place = 0
        self.playing = False
        self.speed = 1.0
        self.rate = 0.0
        """Simulated seconds per second on the wall, as measured."""
        self.message = ""
        """What the last command or step has to say; empty if nothing went wrong."""
        self._seen: tuple[HistoryRow, Observation] | None = None

    @property
    def row(self) -> HistoryRow:
        return self.history.rows[self.place]

    @property
    def time(self) -> float:
        """Of what is shown [s]."""
        return self.row.time

    @property
    def observation(self) -> Observation:
        """Everything derived at the place."""
        if self._seen is None or self._seen[0] is not self.row:
            self._seen = (self.row, self.row.derived())
        return self._seen[1]

    def play(self) -> None:
        self.playing = True

    def pause(self) -> None:
        self.playing = False
        self.rate = 0.0

    def set_speed(self, speed: float) -> None:
        self.speed = min(FASTEST, number(speed, "speed", minimum=SLOWEST))

    def seek(self, at: float) -> None:
        """Stop at the row nearest to a time."""
        self.pause()
        self.place = self.history.nearest(at)

    def step(self) -> None:
        """Stop, one row on."""
        self.pause()
        self.place = min(self.place + 1, len(self.history) - 1)

    def reset(self) -> None:
        """Back to the start, stopped."""
        self.pause()
        self.place = 0

    def advance(self, seconds: float) -> None:
        """Go on for `seconds` on the wall."""
        raise NotImplementedError

    def _measure(self, simulated: float, seconds: float) -> None:
        """The rate, smoothed over about half a second."""
        if seconds > 0.0:
            part = min(1.0, seconds / 0.5)
            self.rate += part * (simulated / seconds - self.rate)


class Replay(Player):
    """A recording, shown again and again."""

    def __init__(self, recording: Recording):
        super().__init__(recording.model)
        self.recording = recording
        self.loop = True
        for k, t in enumerate(recording.t):
            self.history.rows.append(HistoryRow(float(t), lambda k=k: recording.observe(k)))  # type: ignore[misc]
        self._clock = self.time
        self._derived = 0

    def advance(self, seconds: float) -> None:
        if self.playing:
            if self.history.nearest(self._clock) != self.place:
                self._clock = self.time
            self._clock += self.speed * seconds
            self._measure(self.speed * seconds, seconds)
            if self._clock > self.history.end + 0.5 * self._apart:
                if not self.loop:
                    self.pause()
                self._clock = self.history.start if self.loop else self.history.end
            self.place = self.history.nearest(self._clock)
        self._derive_some()

    @property
    def _apart(self) -> float:
        return (self.history.end - self.history.start) / max(1, len(self.history) - 1)

    def _derive_some(self) -> None:
        """The numbers of the plots, a few rows at a time."""
        until = time.perf_counter() + 0.5 * SLICE
        while self._derived < len(self.history) and time.perf_counter() < until:
            row = self.history.rows[self._derived]
            if row.numbers is None:
                row.derived()
            self._derived += 1


class Live(Player):
    """A simulation that goes on while one watches. What is pulled, or restarted with another solver or step, replaces what followed. It
    begins, and goes over to another solver, at states that meet their rows, as its simulation does; `message` tells what was changed."""

    live = True

    def __init__(self, simulation: Simulation):
        super().__init__(simulation.model)
        self.dt = simulation.dt
        self.control = simulation.control.copy()
        self.pull: MousePull | None = None
        self._bound = simulation.bound
        self._start, self._assemble = simulation.state, simulation.assemble
        self._begin()
        self.message = "; ".join(note for note in simulation.notes if note.startswith("start: ")) or self.message

    @property
    def solver(self) -> Solver:
        return self._bound.solver

    @property
    def options(self) -> dict[str, list[str]]:
        """Every solver with the reasons why it cannot run this model; none if it can."""
        elements, out = elements_of(self.model), {}
        for name, cls in REGISTRY.items():
            solver = cls()
            out[name] = [f"'{n}': {reason}" for n, e in elements if (reason := reason_against(solver, e, self.model)) is not None]
        return out

    def _begin(self) -> None:
        """A new history from the start; the old one stays where the solver refuses it."""
        state, memory = self._consistent(self._start)
        self.history = History()
        self._from(state, memory)

    def _consistent(self, state: State) -> tuple[State, np.ndarray]:
        """A state that meets its rows in the chosen solver, and fresh memory; what was changed is told."""
        made, memory, lines = begin(self._bound, state, self._assemble)
        self.message = "; ".join(lines) or self.message
        return made, memory

    def _from(self, state: State, memory: np.ndarray) -> None:
        """The next step begins at this state, which becomes the last row."""
        self._owed, self._step_seconds = 0.0, 0.0
        self._record(state, memory)

    def _record(self, state: State, memory: np.ndarray) -> None:
        bound, control = self._bound, self.control.flat.copy()

        def observed() -> Observation:
            with bound.turn:
                return bound.observe(state, memory, control)

        row = HistoryRow(state.t, observed, (bound, state, memory), control=control)
        self._seen = (row, row.derived())
        self.history.append(row)
        self.place = len(self.history) - 1

    def reset(self) -> None:
        self.release()
        self.pause()
        self.message = ""
        self._begin()

    def step(self) -> None:
        """Stop, and one row on: of the history, or a new step."""
        if self.place < len(self.history) - 1:
            super().step()
        else:
            self.pause()
            self._march(1)

    def advance(self, seconds: float) -> None:
        if not self.playing:
            return
        before = self.time
        if self.place < len(self.history) - 1:
            self._wind(seconds)
        else:
            self._owed += self.speed * min(seconds, LONGEST)
            most = max(1, int(SLICE / self._step_seconds)) if self._step_seconds else 1
            steps = min(int(self._owed / self.dt + 1e-9), most)
            self._owed = min(self._owed - steps * self.dt, self.dt)  # what a slow machine owes is forgiven
            if steps:
                self._march(steps)
        self._measure(self.time - before, seconds)

    def _wind(self, seconds: float) -> None:
        """Through rows that are already there."""
        self._owed += self.speed * seconds
        while self.place < len(self.history) - 1 and self.history.rows[self.place + 1].time - self.time <= self._owed:
            self._owed -= self.history.rows[self.place + 1].time - self.time
            self.place += 1

    def _march(self, steps: int) -> None:
        """New steps from the last row; a step that fails stops the film at the last good state."""
        made = self.row.made
        assert made is not None
        _, state, memory = made
        fresh, began, done = self._step_seconds == 0.0, time.perf_counter(), 0
        try:
            while done < steps:
                held = steps - done if self.pull is None else min(steps - done, self.pull.steps_held(self.dt))
                with self._bound.turn:
                    self._take_hold(self.observation if done == 0 else self._bound.observe(state, memory, self.control.flat))
                    after, kept, _, good = self._bound.rollout(state, memory, self.control.flat.copy(), self.dt, held, held, record=False)
                    state, memory, done = after, kept, done + good
                    if good < held:
                        raise self._bound.failure(state, memory, self.control.flat, state.t)
        except StepFailed as failed:
            self.pause()
            self.message = str(failed)
        each = (time.perf_counter() - began) / max(1, done)
        if done:
            self._record(state, memory)
        slower = 0.7 * self._step_seconds + 0.3 * each
        self._step_seconds = SLICE if fresh else min(each, slower)  # the first may have compiled

    def _take_hold(self, seen: Observation) -> None:
        if self.pull is not None:
            self.control.wrench[self.pull.body] = self.pull.wrench(seen, self.dt)

    def grab(self, body: int, at: Any, strength: float = 1.0) -> None:
        """Pull a body from now on; `at` is where the pointer holds it. What followed the shown instant is forgotten."""
        self.release()
        try:
            self.pull = MousePull.grab(self.model, self.observation, body, at, strength)
        except UnibodyError as error:
            self.message = str(error)
            return
        self.message = ""
        self._branch()

    def release(self) -> None:
        """Let go."""
        if self.pull is not None:
            self.control.wrench[self.pull.body] = 0.0
            self.pull = None

    def _branch(self) -> None:
        """Go on from the shown instant with the solver that is chosen now."""
        if self.place == len(self.history) - 1 and self.row.made is not None and self.row.made[0] is self._bound:
            return
        assert self.row.made is not None
        bound, state, memory = self.row.made
        if bound is not self._bound:
            state, memory = self._consistent(state)
        self.history.forget_after(self.place)
        if bound is not self._bound:
            self.history.rows.pop()
            self._from(state, memory)

    def put(self, joint: str, values: Mapping[int, float]) -> None:
        """Stop, and put sliders of a joint to values from the shown instant on; everything is at rest there, loops are closed by the other
        joints. What cannot be leaves all as it is and says why; otherwise what followed is forgotten."""
        self.release()
        self.pause()
        assert self.row.made is not None
        rows, place = list(self.history.rows), self.place
        try:
            state, said = put(self.model, self.row.made[1], joint, values, self._assemble)
            state, memory, lines = begin(self._bound, state, self._assemble)
            self.history.forget_after(place)
            self.history.rows.pop()
            self._from(state, memory)
        except UnibodyError as error:
            self.history.rows, self.place = rows, place
            self.message = f"joint '{joint}' stays: {error}"
        else:
            self.message = "; ".join((*said, *lines))

    def restart(self, solver: str | Solver | None = None, dt: float | None = None) -> None:
        """Another solver or step from the shown instant on; from the start if its state cannot be taken over."""
        old, old_dt = self._bound, self.dt
        self.message = ""
        try:
            self.dt = self.dt if dt is None else number(dt, "dt", positive=True)
            if solver is not None:
                chosen = look_up(solver, REGISTRY, "solver")() if isinstance(solver, str) else solver
                self._bound = chosen.bind(self.model)
        except UnibodyError as error:
            self._bound, self.dt, self.message = old, old_dt, str(error)
            return
        try:
            self._branch()
            self._owed, self._step_seconds = 0.0, 0.0
        except UnibodyError as error:
            try:
                self.reset()
                self.message = f"begun again: {error}"
            except UnibodyError:  # not even at its start: the old solver goes on
                self._bound, self.dt, self.message = old, old_dt, str(error)
