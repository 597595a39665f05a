"""Code of users that runs within steps may raise, return what is not finite, or of another shape or type: in every solver the step fails by
name, the exception is chained, and state and recording are those of the last good step. Ctrl-C goes through."""

from __future__ import annotations

import math
import signal
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from simulation_parts import Pull, Turn
from test_copies import DT, all_choices, label

import unibody as ub
from unibody.constraints.base import Constraint, Rows
from unibody.solvers import REGISTRY

LATE = 2.4 * DT
ANSWERS = {
    "raises": None, "NaN": math.nan, "infinite": math.inf, "text": "seven", "nothing": ..., "too many": (1.0,) * 7,
    "ragged": ((1.0,), (1.0, 2.0)),
}  # fmt: skip


def spoilt(how: str, good: Any) -> Any:
    """What bad code gives in the place of a good answer."""
    if how == "raises":
        raise ArithmeticError("out of order")
    if how == "nothing":
        return None
    if how in ("NaN", "infinite") and np.ndim(good):
        return np.full(np.shape(good), ANSWERS[how])
    return ANSWERS[how]


@dataclass(frozen=True)
class BadPull(Pull):
    how: str = "raises"

    def apply(self, kinematics, loads):
        if kinematics.t < LATE:
            return super().apply(kinematics, loads)
        loads.add_force_at(kinematics, self.body, (0.0, 0.0, 0.0), spoilt(self.how, np.zeros(3)))


@dataclass(frozen=True)
class BadTurn(Turn):
    """Joints are not told the time: it goes bad at a position, which the model reaches at LATE."""

    how: str = "raises"
    far: float = LATE

    def pose(self, q):
        R, p = super().pose(q)
        return (R, p) if q[0] < self.far else (spoilt(self.how, R), p)


@dataclass(frozen=True)
class BadPlane(Constraint):
    """z = 0 of a body's origin."""

    body: str
    how: str = "raises"

    rows = 1
    units = ("m",)

    def bodies(self):
        return [self.body]

    def evaluate(self, kinematics):
        R, p = kinematics.pose(self.body)
        G = np.concatenate([np.zeros(3), R[2]])[None]
        V = kinematics.twist(self.body)
        bias = float(R[2] @ np.cross(V[:3], V[3:]))
        residual = np.array([p[2]])
        return Rows(residual if kinematics.t < LATE else spoilt(self.how, residual), {self.body: G}, {}, np.array([bias]), None)


def with_force(how):
    b = ub.Builder(gravity=None)
    b.body("stone", mass=1.0, inertia=(1, 1, 1), V_WB=(0, 0, 1.0, 0.1, 0, 0))
    b.add(BadPull("stone", (0, 0, 0), 3.0, how), name="mine")
    return b.build()


def with_function(how):
    b = ub.Builder(gravity=None)
    b.body("stone", mass=1.0, inertia=(1, 1, 1))
    b.add(ub.AppliedWrench("stone", force=lambda t: (1.0, 0.0, 0.0) if t < LATE else spoilt(how, np.zeros(3))), name="mine")
    return b.build()


def with_motion(how):
    b = ub.Builder(gravity=None)
    b.body("mine", kind="kinematic", motion=lambda t: ub.Pose(p=(0.1 * t, 0, 0)) if t < LATE + 2e-2 else spoilt(how, ub.Pose()))
    b.body("stone", mass=1.0, inertia=(1, 1, 1))
    return b.build()


def with_joint(how):
    b = ub.Builder(gravity=None)
    arm = b.body("arm", mass=1.0, inertia=(1, 1, 1))
    b.joint("mine", BadTurn(how, LATE), b.world, arm, v=1.0)
    return b.build()


def with_constraint(how):
    b = ub.Builder(gravity=None)
    b.body("stone", mass=1.0, inertia=(1, 1, 1), V_WB=(0, 0, 0, 0.1, 0, 0))
    b.add(BadPlane("stone", how), name="mine")
    return b.build()


def with_motor(how):
    b = ub.Builder(gravity=None)
    arm = b.body("arm", mass=1.0, inertia=(1, 1, 1))
    b.joint("hinge", ub.Revolute((0, 0, 1)), b.world, arm)
    b.add(ub.Motor("hinge", kp=1.0, kd=1.0, target=lambda t: 0.1 if t < LATE else spoilt(how, 0.0)), name="mine")
    return b.build()


MODELS = {
    "force": with_force, "function": with_function, "motion": with_motion, "joint": with_joint, "constraint": with_constraint,
    "motor": with_motor,
}  # fmt: skip


@pytest.mark.parametrize("solver", all_choices(), ids=label)
@pytest.mark.parametrize("what", list(MODELS))
def test_bad_code_fails_the_step_by_name(what, solver):
    for how in ANSWERS if what != "motion" else ("raises", "text", "nothing"):
        try:
            sim = ub.Simulation(MODELS[what](how), solver, DT)
        except ub.ModelError as refused:  # this solver asks a joint for many poses when it is bound
            assert (what, solver.name) == ("joint", "barrier") and "'mine'" in str(refused) and "\n" not in str(refused)
            continue
        with pytest.raises(ub.StepFailed) as caught:
            sim.run(0.1)
        failed = caught.value
        said = f"{what} {how}: {failed}"
        assert "\n" not in str(failed), said
        blamed = ("mine",) if how not in ("NaN", "infinite") or what != "force" else ("mine", "stone")
        assert any(name in failed.element for name in blamed), said
        assert failed.report.status != "ok" and failed.report.element == failed.element and sim.report is failed.report
        if how == "raises":
            assert isinstance(failed.__cause__, ArithmeticError) and "out of order" in str(failed), said
        assert sim.state.t == failed.time < 0.06 and np.isfinite(sim.state.q).all() and np.isfinite(sim.state.v).all()
        assert failed.recording.t[-1] == failed.time and len(failed.recording) == 1 + round(failed.time / DT)
        with pytest.raises(ub.StepFailed):  # and again, from the same state
            sim.step()
        assert sim.state.t == failed.time


class Stop(BaseException):
    """Not an Exception, as KeyboardInterrupt."""


@pytest.mark.parametrize("name", list(REGISTRY))
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, Stop])
def test_what_is_no_error_goes_through(name, error):
    def stop(t):
        if t > LATE:
            raise error
        return 0.0, 0.0, 0.0

    b = ub.Builder()
    b.body("stone", mass=1.0, inertia=(1, 1, 1))
    b.add(ub.AppliedWrench("stone", force=stop))
    sim = ub.Simulation(b.build(), name, DT)
    with pytest.raises(error):
        sim.run(0.1)
    assert 0.0 <= sim.state.t <= 3 * DT and np.isfinite(sim.state.q).all()


@dataclass(frozen=True)
class ToldPull(Pull):
    """Says when it is asked."""

    asked: threading.Event = field(default_factory=threading.Event)

    def apply(self, kinematics, loads):
        self.asked.set()
        super().apply(kinematics, loads)


@pytest.fixture
def heard():
    """Ctrl-C is heard, also where whoever started the tests ignores it, as shells do with what runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("name", ["articulated", "lagrange", "redmax", "barrier"])
def test_ctrl_c_while_compiled_code_calls_back(name, heard):
    """The signal arrives at any line of a run, mostly while a kernel runs."""
    b = ub.Builder()
    b.body("stone", mass=1.0, inertia=(1, 1, 1))
    pull = ToldPull("stone", (0, 0, 0), 3.0)
    b.add(pull)
    sim = ub.Simulation(b.build(), name, 1e-4)
    sim.run(2e-4)
    handler = signal.getsignal(signal.SIGINT)

    def interrupt():
        pull.asked.wait()
        time.sleep(0.02)
        signal.raise_signal(signal.SIGINT)

    for _ in range(5):
        pull.asked.clear()
        thread = threading.Thread(target=interrupt)
        with pytest.raises(KeyboardInterrupt):
            thread.start()
            sim.run(1000.0, every=10**7)
        thread.join()
        assert signal.getsignal(signal.SIGINT) is handler and np.isfinite(sim.state.q).all()
    assert sim.step().status == "ok"


def test_handlers_that_raise_nothing_are_called_and_nothing_stops():
    heard = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: heard.append(number))
    try:
        b = ub.Builder()
        b.body("stone", mass=1.0, inertia=(1, 1, 1))
        b.add(Pull("stone", (0, 0, 0), 3.0))
        sim = ub.Simulation(b.build(), "articulated", 1e-3)
        signal.raise_signal(signal.SIGUSR1)
        timer = threading.Timer(0.02, signal.raise_signal, [signal.SIGUSR1])
        timer.start()
        began = time.monotonic()
        while len(heard) < 2 and time.monotonic() - began < 30.0:
            assert len(sim.run(0.1)) == 101
        timer.join()
        assert heard == [signal.SIGUSR1] * 2
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_singular_equations_fail_the_step_by_name():
    """A solver's linear algebra that gives up is no traceback."""
    sim = ub.Simulation(with_motor("raises"), "articulated", DT)

    def singular(dt):
        raise np.linalg.LinAlgError("Singular matrix")

    sim.bound.system.prepare = singular
    with pytest.raises(ub.StepFailed, match="no solution.*Singular matrix") as caught:
        sim.step()
    assert isinstance(caught.value.__cause__, np.linalg.LinAlgError) and caught.value.report.status == "singular"
