"""Players without a browser: real time, history, winding back, restarting, failing, and pulling at bodies in every solver."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.coordinates.observation import Observation
from unibody.errors import ModelError
from unibody.view import viewer_player
from unibody.view.viewer_history import History, HistoryRow
from unibody.view.viewer_player import Live, Replay
from unibody.view.viewer_pull import FREQUENCY, MousePull


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices are as long as they need, so that a busy machine simulates the same time."""
    monkeypatch.setattr(viewer_player, "SLICE", 10.0)


def pendulum(planar: bool = False) -> ub.Model:
    b = ub.Builder(gravity=(0, 0, -9.81), planar=planar)
    rod = b.body("rod", shape=ub.Box((0.1, 0.1, 1.0)), mass=2.0)
    b.joint("pivot", ub.Revolute((0, -1, 0)), parent=b.world, child=rod, X_PF=ub.Pose((0, 0, 2)), X_BM=ub.Pose((0, 0, 0.5)), q=0.4)
    return b.build()


def floating() -> ub.Model:
    b = ub.Builder(gravity=(0, 0, 0))
    b.body("brick", shape=ub.Box((0.4, 0.2, 0.1)), mass=3.0)
    return b.build()


def live(model: ub.Model, solver: str = "articulated", dt: float = 0.01) -> Live:
    return Live(ub.Simulation(model, solver, dt))


def played(player: Live | Replay, seconds: float, frame: float = 0.02) -> None:
    """As a page would: `advance` once per picture."""
    player.play()
    for _ in range(round(seconds / frame)):
        player.advance(frame)


def test_time_passes_at_the_chosen_speed_and_not_when_paused():
    player = live(pendulum())
    played(player, 0.6)
    slow = player.time
    assert slow == pytest.approx(0.6, abs=0.05)  # a slice of one step, to learn what a step costs, comes first
    player.pause()
    player.advance(1.0)
    assert player.time == slow
    player.set_speed(2.0)
    played(player, 0.4)
    assert player.time - slow == pytest.approx(0.8, abs=0.03)


def test_slices_stay_short_when_steps_are_slow(monkeypatch):
    player = live(pendulum(), dt=1e-4)
    player._step_seconds = 5.0
    counts: list[int] = []
    monkeypatch.setattr(player, "_march", counts.append)
    player.play()
    player.advance(0.1)
    assert counts == [2]


def test_film_is_the_simulation():
    player = live(pendulum())
    played(player, 0.5)
    rec = ub.Simulation(pendulum(), dt=0.01).run(player.time)
    assert player.observation.joint_q[0] == pytest.approx(rec.joint("pivot")[-1, 0], abs=1e-12)
    assert player.row.numbers is not None
    kinetic, potential, violation, q = player.row.numbers
    assert (kinetic, potential, q) == pytest.approx((rec.energy.kinetic[-1], rec.energy.potential[-1], rec.joint("pivot")[-1, 0]))
    assert violation == rec.violation[-1]


def test_winding_back_and_playing_again_gives_the_same_film_and_then_goes_on():
    player = live(pendulum())
    played(player, 0.4)
    end, last = player.time, player.observation.joint_q.copy()
    player.seek(0.2)
    assert not player.playing
    assert player.time == pytest.approx(0.2, abs=0.011)
    shown = player.observation.joint_q.copy()
    again = ub.Simulation(pendulum(), dt=0.01).run(player.time)
    assert shown == pytest.approx(again.joint("pivot")[-1])
    rows = len(player.history)
    played(player, 0.1)
    assert len(player.history) == rows
    played(player, 0.3)
    assert player.time > end
    assert player.history.rows[rows - 1].derived().joint_q == pytest.approx(last)


def test_step_is_one_step_and_reset_goes_to_the_start():
    player = live(pendulum())
    player.step()
    assert player.time == pytest.approx(0.01)
    player.step()
    assert player.time == pytest.approx(0.02)
    player.seek(0.0)
    player.step()
    assert (player.time, len(player.history)) == (pytest.approx(0.01), 3)
    player.reset()
    assert (player.time, len(player.history), player.playing) == (0.0, 1, False)


@pytest.mark.parametrize("solver", ["lagrange", "redmax"])
def test_another_solver_takes_over_the_shown_state(solver):
    player = live(pendulum())
    played(player, 0.4)
    player.seek(0.2)
    before = player.observation
    player.restart(solver=solver, dt=0.005)
    assert (player.message, player.solver.name, player.dt) == ("", solver, 0.005)
    assert player.time == before.time == player.history.end
    assert player.observation.poses == pytest.approx(before.poses, abs=1e-9)
    assert player.observation.twists == pytest.approx(before.twists, abs=1e-9)
    played(player, 0.2)
    reference = ub.Simulation(pendulum(), ub.solvers.Articulated(rule="rk4"), dt=1e-3).run(player.time)
    assert player.observation.joint_q[0] == pytest.approx(reference.joint("pivot")[-1, 0], abs=0.02)


def test_solver_that_cannot_is_refused_with_its_reason_and_nothing_changes():
    b = ub.Builder()
    ball = b.body("ball", shape=ub.Sphere(0.1), X_WB=ub.Pose((0, 0, 1)))
    b.add(ub.PointPlane(ball.at(0, 0, -0.1), (0, 0, 0), (0, 0, 1)), name="floor")
    player = live(b.build(), "redmax")
    assert player.options["redmax"] == []
    assert "floor" in player.options["articulated"][0]
    played(player, 0.1)
    player.restart(solver="articulated")
    assert "floor" in player.message and player.solver.name == "redmax"
    played(player, 0.1)
    assert player.message and player.time > 0.1


def test_failed_step_stops_the_film_at_the_last_good_state():
    b = ub.Builder()
    b.body("ball", shape=ub.Sphere(0.1))
    b.add(ub.AppliedWrench("ball", force=lambda t: (0, 0, 0) if t < 0.095 else (np.nan, 0, 0)), name="gust")
    player = live(b.build())
    played(player, 0.5)
    assert not player.playing
    assert "failed" in player.message
    assert player.time == pytest.approx(0.1, abs=0.011)
    assert np.isfinite(player.observation.poses).all()
    player.reset()
    assert (player.message, player.time) == ("", 0.0)


def test_recording_is_shown_again_and_again():
    rec = ub.Simulation(pendulum(), dt=0.01).run(0.3, every=2)
    player = Replay(rec)
    assert len(player.history) == len(rec)
    played(player, 0.2)
    assert player.observation.joint_q == pytest.approx(rec.joint("pivot")[player.place])
    assert player.time == pytest.approx(0.2, abs=0.011)
    played(player, 0.2)
    assert player.playing and player.time < 0.15
    player.loop = False
    played(player, 0.5)
    assert not player.playing and player.time == rec.t[-1]
    t, numbers = player.history.series(1000)
    assert t == pytest.approx(rec.t)
    assert numbers[:, 0] == pytest.approx(rec.energy.kinetic)


def observed(t: float) -> Observation:
    zero = np.zeros((1, 6))
    return Observation(t, np.zeros((1, 7)), zero, np.array([t]), np.zeros(1), 2 * t, 0.0, 0.0, np.zeros(3), zero, zero, 0.0, 0, ())


def test_history_is_bounded_keeps_both_ends_and_thins_the_old():
    history = History(most_rows=100)
    for k in range(1000):
        row = HistoryRow(0.1 * k, lambda k=k: observed(0.1 * k))
        row.derived()
        history.append(row)
    times = np.array([r.time for r in history.rows])
    assert len(history) <= 101
    assert times[0] == 0.0 and times[-1] == pytest.approx(99.9)
    assert (np.diff(times) > 0).all() and np.diff(times)[0] > np.diff(times)[-1]
    t, numbers = history.series(30)
    assert len(t) == 30 and numbers[:, 0] == pytest.approx(2 * t)
    assert history.rows[history.nearest(50.0)].time == pytest.approx(times[np.abs(times - 50.0).argmin()])


@pytest.mark.parametrize("solver", ["articulated", "lagrange", "redmax"])
@pytest.mark.parametrize("planar", [False, True])
def test_pulled_pendulum_comes_to_where_the_spring_balances_gravity(solver, planar):
    """Held at its centre of mass with k = s m ω² and critical damping, it settles where ∂/∂q [½ k |x − target|² + m g z] = 0."""
    player = live(pendulum(planar), solver)
    target = np.array([0.6, 0.0, 1.9])
    player.grab(1, player.observation.poses[1, :3], strength=4.0)
    assert player.pull is not None
    player.pull.move(target)
    k, _ = player.pull.spring(player.dt)
    assert k == pytest.approx(4.0 * 2.0 * (2 * pi * FREQUENCY) ** 2)
    played(player, 3.0)
    angles = np.linspace(-pi, pi, 200001)
    x, z = 0.5 * np.sin(angles), 2 - 0.5 * np.cos(angles)
    energy = 0.5 * k * ((x - target[0]) ** 2 + (z - target[2]) ** 2) + 2.0 * 9.81 * z
    assert player.observation.joint_q[0] == pytest.approx(angles[energy.argmin()], abs=2e-3)
    assert np.abs(player.observation.joint_v).max() < 1e-2
    player.release()
    assert not player.control.wrench.any()
    played(player, 0.5)
    assert np.abs(player.observation.joint_v).max() > 0.1


@pytest.mark.parametrize(("solver", "dt"), [("articulated", 0.005), ("articulated", 0.03), ("lagrange", 0.03), ("redmax", 0.03)])
def test_pulling_at_a_corner_is_stable_at_any_step(solver, dt):
    """A free brick, pulled a hundred times harder than usual, comes to rest with its corner at the hand."""
    player = live(floating(), solver, dt)
    player.grab(1, (0.2, 0.1, 0.05), strength=100.0)
    assert player.pull is not None
    target = np.array([1.0, 0.5, -0.3])
    player.pull.move(target)
    played(player, 4.0, frame=max(dt, 0.03))
    assert np.linalg.norm(player.pull.point(player.observation) - target) < 0.02
    kinetic = player.history.series(1000)[1][:, 0]
    assert kinetic[-1] < 0.01 * kinetic.max()
    assert player.message == ""


def test_wrench_of_the_hand_is_its_force_at_the_point():
    model = floating()
    seen = ub.Simulation(model).run(0.0).observations[0]
    pull = MousePull(model, 1, np.array([0.2, 0.0, 0.0]), np.array([0.2, 0.0, 1.0]))
    k, _ = pull.spring(1e-3)
    assert pull.wrench(seen, 1e-3) == pytest.approx([0.0, -0.2 * k, 0.0, 0.0, 0.0, k])


def test_point_mass_is_held_at_its_centre_and_keeps_its_distance_to_the_pointer():
    b = ub.Builder(gravity=(0, 0, 0))
    b.body("ball", mass=1.0, com=(0.5, 0, 0), inertia=(1e-8, 1e-8, 1e-8))
    model = b.build()
    seen = ub.Simulation(model).run(0.0).observations[0]
    pull = MousePull.grab(model, seen, 1, (0.0, 0.0, 0.2))
    assert pull.p == pytest.approx([0.5, 0, 0])
    pull.move((0.0, 0.0, 0.7))
    assert pull.target == pytest.approx([0.5, 0, 0.5])


def test_what_does_not_move_cannot_be_pulled():
    player = live(pendulum())
    player.grab(0, (0, 0, 0))
    assert player.pull is None and "cannot be pulled" in player.message


def test_pull_in_the_past_begins_another_future():
    player = live(pendulum())
    played(player, 0.4)
    player.seek(0.2)
    player.grab(1, player.observation.poses[1, :3])
    assert player.history.end == player.time
    played(player, 0.1)
    assert player.time > 0.25


def test_speed_is_kept_within_bounds():
    player = live(pendulum())
    player.set_speed(1e3)
    assert player.speed == 10.0
    with pytest.raises(ModelError, match="speed"):
        player.set_speed(0.0)


def cranked(**more: Any) -> ub.Simulation:
    """A slider-crank of which only the crank moves, at 5 rad/s."""
    model = ub.scenes.build("slider-crank")
    speed = np.zeros(model.nv)
    speed[model.joint("O").v_start] = 5.0
    return ub.Simulation(model, dt=1e-3, state=ub.State(0.0, model.start_q()[: model.nq], speed), **more)


def test_a_violated_start_is_assembled_as_simulations_do_and_told_once():
    sim = cranked()
    player = Live(sim)
    assert player.message.startswith("start: ") and player.message in sim.notes
    assert player.row.made is not None and player.row.made[1].v.tobytes() == sim.state.v.tobytes()
    assert player.observation.violation < 1e-12 and np.count_nonzero(sim.state.v) > 1
    player.reset()
    assert player.message == "" and player.row.made[1].v.tobytes() == sim.state.v.tobytes()


def test_a_start_that_is_to_stay_as_it_is_stays():
    sim = cranked(assemble=False)
    player = Live(sim)
    assert player.message == "" and player.row.made is not None
    assert np.count_nonzero(player.row.made[1].v) == 1
    player.reset()
    assert np.count_nonzero(player.row.made[1].v) == 1


def test_joints_that_gave_way_are_closed_for_a_solver_whose_joints_do_not():
    """Springs in place of joints are stretched by the weight they carry; whoever takes over begins where a simulation would."""
    sim = ub.Simulation(pendulum(), ub.solvers.Penalty(omega=20.0), dt=1e-3)
    player = Live(sim)
    player._march(200)
    assert player.message == "" and player.observation.violation > 1e-5 and player.row.made is not None
    other = ub.Simulation(player.model, "lagrange", state=player.row.made[1])
    player.restart(solver="lagrange")
    assert player.solver.name == "lagrange" and player.message in other.notes and player.message.startswith("start: ")
    assert player.row.made[1].q.tobytes() == other.state.q.tobytes() and player.observation.violation < 1e-12
    player.step()
    assert player.time == pytest.approx(0.201)


def test_a_solver_that_cannot_begin_leaves_the_old_one_and_its_film():
    """Two rods of 1 m and 1.2 m to one point: springs meet them halfway, others cannot."""
    b = ub.Builder(gravity=None)
    bob = b.body("bob", mass=1.0, inertia=(1, 1, 1), X_WB=ub.Pose((1, 0, 0)))
    for name, length in (("short", 1.0), ("long", 1.2)):
        b.add(ub.Distance(bob.at(), b.world.at(), length), name=name)
    player = Live(ub.Simulation(b.build(), "penalty", dt=1e-3))
    player.step()
    player.restart(solver="articulated")
    assert player.solver.name == "penalty" and "'short'" in player.message and len(player.history) == 2
    player.step()
    assert player.time == pytest.approx(2e-3)
