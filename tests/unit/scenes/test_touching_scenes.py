"""Scenes of bodies that touch against their closed forms, with solver complementarity; parameters that make no sense are refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import unibody as ub
from unibody.scenes.balls import valley

G = 9.81
NEW = (
    "billiards", "bouncing-ball", "dominoes", "gripper", "marbles", "painleve-rod", "ragdoll-pile", "rolling-sphere", "stack",
    "steered-car",
)  # fmt: skip


def run(name: str, duration: float | None = None, dt: float | None = None, every: int = 1, **parameters) -> tuple:
    s = ub.scenes.make(name, **parameters)
    return s, ub.Simulation(s.model, s.default_solver(), dt=dt or s.dt).run(duration or s.duration, every=every, progress=False)


@pytest.mark.parametrize("name", NEW)
def test_builds_passes_the_check_and_names_its_solver(name: str) -> None:
    entry = ub.scenes.get(name)
    assert entry.summary and entry.function.__doc__
    s = entry()
    assert s.default_solver() == "complementarity" and s.notes and s.duration > s.dt > 0.0
    assert not [f for f in ub.check(s.model, solver=s.solver) if f.level == "error"]


def test_without_a_solver_of_its_own_a_scene_runs_with_the_one_that_is_chosen() -> None:
    assert ub.scenes.make("pendulum").default_solver() == "articulated"
    assert ub.scenes.make("card-house").default_solver() == "complementarity"
    assert ub.scenes.make("hand").default_solver() == "redmax" and ub.scenes.make("hand").default_solver(dt=1e-5) == "articulated"


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("stack", {"n": 0}), ("stack", {"ratio": 0.0}), ("dominoes", {"gap": 0.1}), ("bouncing-ball", {"height": 0.0}),
        ("rolling-sphere", {"degrees": 90.0}), ("billiards", {"rows": 9}), ("billiards", {"aside": 0.1}), ("marbles", {"n": 100}),
        ("rolling-sphere", {"radius": 0.0}), ("marbles", {"cells": 1000000}), ("painleve-rod", {"length": 1e300}),
        ("klann", {"radius": 0.0}),
        ("klann", {"coefficient": -1.0}), ("friction-chain", {"height": 0.0}), ("stack", {"n": 10**12}),
        ("painleve-rod", {"degrees": 0.0}), ("steered-car", {"degrees": 60.0}), ("gripper", {"force": 0.0}), ("ragdoll-pile", {"n": 0}),
    ],
)  # fmt: skip
def test_parameters_that_make_no_sense_are_refused(name: str, wrong: dict) -> None:
    with pytest.raises(ub.ModelError, match=f"scene '{name}': .*{next(iter(wrong))}="):
        ub.scenes.make(name, **wrong)


@pytest.mark.parametrize(
    ("name", "absurd", "said"),
    [
        ("rolling-sphere", {"radius": 1e300}, "Sphere: radius 1e[+]300 m .* give 1e-15"), ("stack", {"size": 1e-300}, "Box: .* 1e-300 m"),
        ("bouncing-ball", {"radius": 1e-300}, "Sphere: radius 1e-300 m"), 
        ("bouncing-ball", {"height": 1e300}, "body 'ball' X_WB: 1e[+]300"),
        ("friction-chain", {"link": 1e300}, "Box: .* 1e[+]300 m"), ("dominoes", {"push": 1e300}, "body 'domino0' V_WB: .*give at most"),
        ("steered-car", {"speed": 1e300}, "joint 'road' v: 1e[+]300"), ("stack", {"mass": 1e300}, "body 'box0': mass 1e[+]300"),
    ],
)  # fmt: skip
def test_parameters_beyond_all_scales_are_refused_in_one_line(name: str, absurd: dict, said: str) -> None:
    with pytest.raises(ub.ModelError, match=said) as refused:
        ub.scenes.make(name, **absurd)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("size", [1e-4, 1e3])
def test_small_and_large_bodies_and_unlike_masses_are_taken(size: float) -> None:
    assert ub.scenes.build("stack", size=size, ratio=1e9).n_bodies == 7


def test_a_fast_car_has_steps_in_its_turn() -> None:
    s = ub.scenes.make("steered-car", speed=1e4)
    assert s.duration > 50.0 * s.dt


def test_tops_of_a_bouncing_ball_and_when_it_rests() -> None:
    s, rec = run("bouncing-ball", restitution=0.5, every=2)
    z = rec.pose("ball")[:, 2] - 0.1
    tops = [z[k] for k in range(1, len(z) - 1) if z[k - 1] < z[k] >= z[k + 1] and z[k] > 0.01]
    assert tops[:3] == pytest.approx([s.exact.top(k) for k in (1, 2, 3)], rel=0.05)
    at_rest = rec.t[np.abs(rec.twist("ball")[:, 5]) > 1e-9].max()
    assert at_rest == pytest.approx(s.exact.stops, rel=0.02) and s.exact.stops == pytest.approx(3.0 * math.sqrt(2.0 / G))


@pytest.mark.parametrize(
    "given",
    [{}, {"speed": 1.0, "spin": -20.0}, {"degrees": 20.0, "speed": 0.0}, {"degrees": 50.0, "speed": 0.0}, {"degrees": 15.0, "speed": -1.0}],
)
def test_a_ball_slips_until_it_rolls(given: dict) -> None:
    """Thrown, with backspin, from rest on slopes below and above tan = 7/2 μ, and thrown up a slope."""
    s, rec = run("rolling-sphere", duration=0.8, dt=4e-3, every=10, **given)
    R = ub.Pose.about((0, 1, 0), s.exact.slope).R
    expected = np.array([s.exact.motion(t) for t in rec.t])
    v, w = rec.twist("ball")[:, 3:] @ R[:, 0], rec.twist("ball")[:, 1]
    assert np.abs(v - expected[:, 1]).max() < 1e-2 and np.abs(0.1 * w - expected[:, 2] * 0.1).max() < 1e-2
    assert np.abs((rec.pose("ball")[:, :3] - rec.pose("ball")[0, :3]) @ R[:, 0] - expected[:, 0]).max() < 2e-2
    if not given:
        assert s.exact.rolls_at == pytest.approx(2.0 * 3.0 / (7.0 * 0.2 * G)) and v[-1] == pytest.approx(15.0 / 7.0, rel=1e-3)


def test_two_balls_head_on() -> None:
    s, rec = run("billiards", duration=0.2, rows=1, aside=0.0, friction=0.0, cushions=False, every=100)
    speeds = rec.twist("ball0")[-1, 3], rec.twist("ball1")[-1, 3]
    assert speeds == pytest.approx(s.exact.head_on(), rel=1e-9)


def test_momentum_of_the_break() -> None:
    """Sixteen balls on a table without friction: momentum along it stays, and every impact with friction costs energy."""
    s, rec = run("billiards", duration=0.3, friction=0.0, cushions=False, every=10)
    P = sum(0.17 * rec.twist(f"ball{k}")[:, 3:] for k in range(16))
    assert np.abs(P[:, :2] - s.exact.momentum[:2]).max() < 1e-9 * np.linalg.norm(s.exact.momentum)
    assert (np.diff(rec.energy.kinetic) < 1e-9).all() and rec.energy.kinetic[-1] < 0.9 * rec.energy.kinetic[0]
    assert sum(np.linalg.norm(rec.twist(f"ball{k}")[-1, 3:]) > 0.05 for k in range(16)) >= 12


@pytest.mark.parametrize(("push", "falls"), [(0.95, False), (1.05, True)])
def test_a_domino_falls_over_above_its_least_push(push: float, falls: bool) -> None:
    _, rec = run("dominoes", duration=0.5, dt=1.5e-3, n=1, push=push, friction=1.0, every=20)
    up = np.array([ub.Pose(tuple(p[:3]), tuple(p[3:])).R[2, 2] for p in rec.pose("domino0")])
    over = math.cos(math.atan2(0.0075, 0.048))
    assert up[-1] < 0.1 if falls else up.min() > over


def test_the_first_domino_arrives_as_its_energy_says() -> None:
    s, rec = run("dominoes", duration=0.1, dt=1e-3, n=2, friction=1.0)
    R = [ub.Pose(tuple(p[:3]), tuple(p[3:])).R for p in rec.pose("domino0")]
    angle, rate = np.array([math.atan2(r[0, 2], r[2, 2]) for r in R]), rec.twist("domino0")[:, 1]
    before = angle < s.exact.meets - 0.03
    assert before.sum() > 10
    expected = np.array([s.exact.rate(a, 1.5 * s.exact.least_push) for a in angle[before]])
    assert rate[before] == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("parameters", [{}, {"n": 3, "gap": 0.04}], ids=["usual", "wide"])
def test_dominoes_have_all_fallen_when_the_scene_ends(parameters: dict) -> None:
    """All but the last lean on the next by their upper edge, beyond the angle whose sine is 7/8: for gap 0.02 its side would pass above
    the edge of one that stands; the last lies."""
    _, rec = run("dominoes", every=20, **parameters)
    n = parameters.get("n", 12)
    upright = [ub.Pose(wxyz=rec.pose(f"domino{k}")[-1, 3:]).R[2, 2] for k in range(n)]
    assert max(upright) < math.cos(math.radians(60.0)) and upright[-1] < 0.05


def test_dominoes_fall_one_after_the_other() -> None:
    """Each is at 10° later than the one before; once it runs, the wave keeps its speed, near √(g height)."""
    _, rec = run("dominoes", duration=0.36, n=5, dt=2.5e-3)
    when = []
    for k in range(5):
        up = np.array([ub.Pose(tuple(p[:3]), tuple(p[3:])).R[2, 2] for p in rec.pose(f"domino{k}")])
        when.append(rec.t[np.argmax(up < math.cos(math.radians(10.0)))])
    assert when[0] > 0.0 and (np.diff(when) > 0.0).all()
    speed = 0.0275 / np.diff(when)[1:]
    assert 0.3 < speed.min() and speed.max() < 1.6 * math.sqrt(G * 0.048)


@pytest.mark.parametrize("friction", [0.5, 1.2])
def test_a_rod_slides_below_the_critical_coefficient(friction: float) -> None:
    """Ground force and accelerations of the first instant; a rod of 63.4° is critical at 4/3, but for its thickness."""
    s, rec = run("painleve-rod", duration=1e-3, dt=1e-4, friction=friction)
    assert s.exact.critical == pytest.approx(4.0 / 3.0, rel=0.03) and not s.exact.jams
    assert rec.contacts[1].normal_forces.sum() == pytest.approx(s.exact.force, rel=1e-2)
    assert rec.contacts[0].normal_forces.sum() == pytest.approx(s.exact.force, rel=1e-4)
    assert rec.contacts[1].sliding.all()


@pytest.mark.parametrize("rate", [0.0, 2.0])
def test_a_rod_jams_above_it(rate: float) -> None:
    """An impulse without a collision: the closed form of the end at rest, up to gravity within the step."""
    s, rec = run("painleve-rod", duration=1e-5, dt=1e-5, friction=1.6, rate=rate)
    assert s.exact.jams and math.isnan(s.exact.force)
    twist = rec.twist("rod")[-1]
    assert (twist[3], twist[5], -twist[1]) == pytest.approx(tuple(s.exact.after), abs=5e-4)
    up, along = s.exact.impulse
    assert rec.contacts[-1].normal_forces.sum() * 1e-5 == pytest.approx(up, rel=1e-3) and abs(along) <= 1.6 * up


@pytest.mark.parametrize("degrees", [20.0, -35.0, 0.0])
def test_a_car_follows_ackermanns_circle(degrees: float) -> None:
    s, rec = run("steered-car", duration=1.5, every=30, degrees=degrees)
    x, y, heading = s.exact.place(rec.t)
    p = rec.pose("car")
    assert np.hypot(p[:, 0] - x, p[:, 1] - y).max() < 0.02 * 7.5
    assert rec.joint("road")[:, 2] == pytest.approx(heading, abs=0.02)
    assert np.ptp(rec.energy.kinetic) < 0.02 * rec.energy.kinetic[0]
    if degrees:
        centre = np.array([0.0, s.exact.radius])
        assert np.linalg.norm(p[:, :2] - centre, axis=1) == pytest.approx(abs(s.exact.radius), rel=0.01)


def test_a_car_follows_the_circle_to_first_order() -> None:
    errors = []
    for dt in (1e-2, 5e-3):
        s, rec = run("steered-car", duration=1.0, dt=dt, every=round(1.0 / dt))
        x, y, _ = s.exact.place(1.0)
        errors.append(np.hypot(rec.pose("car")[-1, 0] - x, rec.pose("car")[-1, 1] - y))
    assert errors[1] < 0.6 * errors[0] < 0.1


def test_a_gripper_lifts_what_friction_holds_and_drops_what_it_does_not() -> None:
    s, rec = run("gripper", duration=2.0, every=20)
    block, palm = rec.pose("block"), rec.pose("palm")
    assert s.exact.holds and s.exact.most == pytest.approx(1.4679, rel=1e-4)
    assert block[-1, 2] - block[0, 2] == pytest.approx(0.15, abs=1e-6)
    assert np.ptp((block - palm)[-3:, 2]) < 1e-9
    s, rec = run("gripper", duration=1.6, every=20, mass=1.6)
    assert not s.exact.holds and rec.pose("block")[-1, 2] < 0.1


@pytest.mark.parametrize("parameters", [{}, {"n": 20}, {"ground": "mesh"}], ids=["usual", "twenty", "mesh"])
def test_marbles_gather_in_the_bowl(parameters: dict) -> None:
    """None leaves: rims and banks are higher than where the highest starts, and energy only falls. In the end all lie in the bowl."""
    s, rec = run("marbles", every=20, **parameters)
    n = parameters.get("n", 12)
    x, y = np.linspace(-1.4, 1.6, 41), np.linspace(-1.0, 1.0, 21)
    rim = min(valley(x, y[0], 0.01).min(), valley(x, y[-1], 0.01).min(), valley(x[-1], y, 0.01).min())
    places = np.array([rec.pose(f"marble{k}")[:, :3] for k in range(n)])
    assert rim + 0.04 > places[:, 0, 2].max()
    assert (np.diff(rec.energy.total) < 0.0).all()
    assert (np.abs(places[..., 0] - 0.1) < 1.5).all() and (np.abs(places[..., 1]) < 1.0).all() and (places[..., 2] > 0.0).all()
    ends = places[:, -1]
    assert (0.5 < ends[:, 0]).all() and (ends[:, 0] < 1.2).all() and (ends[:, 2] < 0.08).all()
    # less energy than if each rested with its centre 7 cm above the middle of the bowl, the radius being 4
    assert rec.energy.total[-1] < G * s.model.total_mass * 0.07


def test_marbles_run_down_either_ground() -> None:
    """Heights over a grid and a mesh of the same triangles: the same motion for half a second."""
    ends = []
    for ground in ("height-field", "mesh"):
        _, rec = run("marbles", duration=0.4, dt=1e-2, n=2, bumps=0.0, ground=ground, restitution=0.0, every=10)
        ends.append(np.array([rec.pose(f"marble{k}")[-1, :3] for k in range(2)]))
        assert (np.diff(rec.energy.total) < 1e-9).all()
    assert np.abs(ends[0] - ends[1]).max() < 1e-4
    assert (ends[0][:, 0] > -1.2).all()
