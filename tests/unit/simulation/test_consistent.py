"""Simulations begin at a consistent start and say what was changed; `assemble=False` keeps what was given."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import unibody as ub
from unibody.solvers import Articulated, Lagrange, Penalty

TURN = ub.Revolute(axis=(0, 0, 1))


def told(sim: ub.Simulation) -> tuple[str, ...]:
    """What is said of the start; not which solver was chosen."""
    return tuple(note for note in sim.notes if note.startswith("start: "))


def geared(q: float = 0.0, v: float = 0.0, limit: bool = False) -> ub.Model:
    """Two wheels that turn alike, one ahead by q and v."""
    b = ub.Builder(gravity=None)
    for name, at, rate in (("a", q, v), ("c", 0.0, 0.0)):
        body = b.body(name, mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
        b.joint(name, TURN, b.world, body, q=at, v=rate)
    b.add(ub.JointCoupling(["a", "c"], [1.0, -1.0]), name="belt")
    if limit:
        b.add(ub.JointLimit("a", upper=0.5), name="stop")
    return b.build()


def test_a_violated_start_is_assembled_and_told() -> None:
    """Equal wheels meet in the middle, and the one at rest takes the velocity of the other."""
    sim = ub.Simulation(geared(0.2, 3.0), dt=1e-3)
    np.testing.assert_allclose(sim.state.q, (0.1, 0.1), atol=1e-12)
    np.testing.assert_allclose(sim.state.v, (3.0, 3.0), atol=1e-12)
    (note,) = told(sim)
    assert sim.report.notes == told(sim) and sim.report.status == "start"
    for words in ("start: 'belt' was violated by 0.2 rad", "'a' by 0.1 rad", "velocity of 'c' by 3 rad/s", "assemble=False"):
        assert words in note
    assert sim.step().violation < 1e-12


def test_as_given_if_asked_for() -> None:
    sim = ub.Simulation(geared(0.2, 3.0), dt=1e-3, assemble=False)
    for _ in range(2):
        assert not sim.assemble and told(sim) == ()
        assert sim.state.q == pytest.approx([0.2, 0.0], rel=1e-13) and sim.state.v == pytest.approx([3.0, 0.0], rel=1e-13)
        sim.reset()
    with pytest.raises(ub.ModelError, match="assemble 1 is neither True nor False"):
        ub.Simulation(geared(), assemble=1)  # type: ignore[arg-type]


def test_reset_and_given_states_are_assembled_too_and_notes_follow() -> None:
    sim = ub.Simulation(geared(), dt=1e-3)
    assert told(sim) == () and sim.report.notes == ()
    sim.state = ub.State(0.5, [0.3, 0.1], [0.0, 0.0])
    assert "'belt' was violated by 0.2 rad" in told(sim)[0] and sim.state.t == 0.5
    np.testing.assert_allclose(sim.state.q, (0.2, 0.2), atol=1e-12)
    sim.reset(ub.State(0.0, [0.4, 0.4], [1.0, 1.0]))
    assert told(sim) == () and sim.state.q.tolist() == [0.4, 0.4] and sim.state.v.tolist() == [1.0, 1.0]
    sim.reset(ub.State(0.0, [0.4, 0.2], [1.0, 1.0]))
    assert len(told(sim)) == 1
    sim.reset()
    assert told(sim) == ()


def test_consistent_starts_keep_every_bit_with_every_solver() -> None:
    model = ub.scenes.build("four-bar", rate=2.0)
    for name in ("articulated", "lagrange", "impulse", "penalty"):
        sim, bound = ub.Simulation(model, name), ub.solvers.REGISTRY[name]().bind(model)
        begun, _ = bound.start()
        assert sim.state.q.tobytes() == begun.q.tobytes() and sim.state.v.tobytes() == begun.v.tobytes() and not told(sim)


def test_states_of_runs_are_taken_as_they_are() -> None:
    """Mid-run states meet their rows as well as their solver holds them; joints of penalties are stretched, which carries their loads."""
    model = ub.scenes.build("four-bar")
    for solver in (Articulated(), Lagrange(), Penalty(omega=50.0)):
        sim = ub.Simulation(model, solver, dt=1e-3)
        sim.run(0.2)
        there = sim.state
        sim.state = there
        assert told(sim) == () and sim.state.q.tobytes() == there.q.tobytes() and sim.state.v.tobytes() == there.v.tobytes()


def test_maximal_states_with_open_joints_are_closed() -> None:
    """A pendulum's body given 0.1 m off its hinge, which reduced coordinates cannot say."""
    b = ub.Builder(gravity=None)
    bob = b.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("hinge", TURN, b.world, bob, X_BM=ub.Pose((-1, 0, 0)))
    given = ub.State(0.0, [1.0, 0.0, 0.1, 1, 0, 0, 0], np.zeros(6), "maximal")
    sim = ub.Simulation(b.build(), "lagrange", state=given)
    assert "joint 'hinge' was violated by 0.1 m" in told(sim)[0]
    np.testing.assert_allclose(sim.state.q[:3], (1.0, 0.0, 0.0), atol=1e-12)
    assert not ub.Simulation(b.build(), "lagrange", state=ub.State(0.0, [1.0, 0, 0, 1, 0, 0, 0], np.zeros(6), "maximal")).notes


def test_velocities_into_a_limit_that_is_met_are_left_to_the_solver() -> None:
    """At the limit and turning into it: an impact, whose bounce is no matter of the start."""
    b = ub.Builder(gravity=None)
    b.joint("hinge", TURN, b.world, b.body("a", mass=1.0, inertia=(0.1, 0.1, 0.1)), q=0.5, v=1.0)
    b.add(ub.JointLimit("hinge", upper=0.5), name="stop")
    sim = ub.Simulation(b.build(), "complementarity")
    assert sim.state.v.tolist() == [1.0] and told(sim) == ()


def test_a_start_beyond_a_bound_is_put_where_a_barrier_has_room() -> None:
    b = ub.Builder(gravity=None)
    b.joint("hinge", TURN, b.world, b.body("a", mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1)), q=0.7)
    b.add(ub.JointLimit("hinge", upper=0.5, reach=0.02), name="stop")
    model = b.build()
    sim = ub.Simulation(model, "barrier", dt=1e-3)
    rec = sim.run(0.05)
    assert "'stop' was violated by 0.2 rad" in told(sim)[0]
    assert rec.joint("hinge")[0, 0] == pytest.approx(0.48, abs=1e-9) and rec.energy.kinetic.max() < 1e-9


def contradicting() -> ub.Model:
    b = ub.Builder(gravity=None)
    bob = b.body("bob", mass=1.0, inertia=(1, 1, 1), X_WB=ub.Pose((1, 0, 0)))
    b.add(ub.Distance(bob.at(), b.world.at(), 1.0), name="short")
    b.add(ub.Distance(bob.at(), b.world.at(), 1.2), name="long")
    return b.build()


def test_rows_that_contradict_each_other_are_refused_with_names_and_kept_by_who_meets_them_halfway() -> None:
    """The best of two rods leaves 0.1 m in each."""
    with pytest.raises(ub.ModelError, match=r"'(short|long)' stays violated by 0\.1 m, '(short|long)' .* 0\.1 m.*assemble=False"):
        ub.Simulation(contradicting(), "articulated")
    for name in ("penalty", "redmax"):
        sim = ub.Simulation(contradicting(), name)
        assert "cannot be assembled" in told(sim)[0] and "kept" in told(sim)[0] and sim.state.q[0] == 1.0
    assert ub.Simulation(contradicting(), "articulated", assemble=False).notes == ()


def test_drives_that_contradict_each_other_are_refused() -> None:
    b = ub.Builder(gravity=None)
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, b.body("bob", mass=1.0, inertia=(1, 1, 1)))
    b.add(ub.PrescribedJoint("slide", lambda t: 1.0 * t), name="slow")
    b.add(ub.PrescribedJoint("slide", lambda t: 3.0 * t), name="fast")
    with pytest.raises(ub.ModelError, match="velocities contradict each other: .*m/s"):
        ub.Simulation(b.build())


def test_copies_and_pickles_keep_their_notes() -> None:
    sim = ub.Simulation(geared(0.2), dt=1e-3)
    for twin in (copy.copy(sim), copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))):
        assert twin.notes == sim.notes and twin.state.q.tobytes() == sim.state.q.tobytes()


def test_bad_arguments_of_assemble_are_named() -> None:
    model = geared(0.1)
    for given, words in (
        ({"fixed": ["b"]}, "joint or body 'b' is unknown"), ({"fixed": 3}, "fixed 3"),
        ({"weights": {"a": -1.0}}, "weight -1.0 of joint 'a'"),
        ({"weights": {"z": 1.0}}, "joint 'z' is unknown"), ({"weights": [1.0]}, "weights of shape (1,)"),
        ({"weights": np.array([[1.0, 2.0], [2.0, 1.0]])}, "weights of shape (2, 2)"), ({"state": 1}, "state 1 is not a State"),
    ):  # fmt: skip
        with pytest.raises(ub.ModelError) as caught:
            ub.assemble(model, **given)
        assert words in str(caught.value)
    with pytest.raises(ub.ModelError, match="is not a Model"):
        ub.assemble("model")  # type: ignore[arg-type]
    with pytest.raises(ub.ModelError, match="with 'a', 'c' fixed: 'belt' stays violated by 0.1 rad; free one of these"):
        ub.assemble(model, fixed=["a", "c"])
