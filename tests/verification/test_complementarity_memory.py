"""Complementarity with contact: what a step remembers, and worlds of one plane."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.stepping.memory import room_for


def heap(restitution: float = 0.3) -> ub.Model:
    """Boxes that slide on each other, a gate on a hinge, a ball that flies into it."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    for k in range(2):
        place, twist = ub.Pose((0.02 * k, 0, 0.05 + 0.1 * k)), (0, 0, 0.3, 0.5 - k, 0, 0)
        b.body(f"box{k}", shape=ub.Box((0.2, 0.2, 0.1)), mass=1.0 + k, X_WB=place, V_WB=twist)
    gate = b.body("gate", shape=ub.Box((0.2, 0.05, 0.1)), mass=1.0)
    b.joint("hinge", ub.Revolute((0, 0, 1)), b.world, gate, X_PF=ub.Pose((-0.3, 0.3, 0.2)), X_BM=ub.Pose((-0.1, 0, 0)), v=2.0)
    b.body("ball", shape=ub.Sphere(0.05), mass=0.3, X_WB=ub.Pose((-0.12, 0.36, 0.2)), V_WB=(0, 0, 1, 0, -1.0, 0))
    b.add(ub.Contact(friction=0.4, restitution=restitution))
    return b.build()


@pytest.mark.parametrize("coordinates", ["reduced", "maximal"])
def test_a_saved_simulation_goes_on_bit_for_bit(coordinates: str, tmp_path) -> None:
    solver = ub.solvers.Complementarity(coordinates=coordinates)
    whole, half = (ub.Simulation(heap(), solver, dt=5e-3) for _ in range(2))
    for sim in (whole, half):
        sim.run(0.02)
    loaded = ub.Simulation.load(half.save(tmp_path / "half.npz"))
    ends = [sim.run(0.02) for sim in (whole, loaded)]
    for a, b in ((ends[0].q, ends[1].q), (ends[0].v, ends[1].v)):
        assert a.tobytes() == b.tobytes()
    for a, b in zip(ends[0].contacts, ends[1].contacts, strict=True):
        assert a.forces.tobytes() == b.forces.tobytes()


@pytest.mark.parametrize("room", [64, 2])
def test_recorded_forces_are_those_of_the_step_and_move_the_bodies(room: int, monkeypatch) -> None:
    """m Δv = h (m g + contact forces). Where memory has no room for all contacts they are solved for again, from a cold start: friction
    that has more than one solution may then differ, by less than a hundredth of the weights: what was found, no bound of theory."""
    model = heap()
    assert room_for(model, True) > 64
    monkeypatch.setattr("unibody.solvers.complementarity.solver.room_for", lambda model, touching: room)
    recording = ub.Simulation(model, "complementarity", dt=5e-3).run(0.02)
    for name in ("box0", "box1", "ball"):
        i = model.body(name)
        for k in range(1, len(recording)):
            change = recording.twist(name)[k, 3:] - recording.twist(name)[k - 1, 3:]
            force = recording.contacts[k].on(i) + model.bodies[i].mass * model.gravity
            weight = 5e-3 * model.bodies[i].mass * 9.81
            assert model.bodies[i].mass * change == pytest.approx(5e-3 * force, abs=1e-7 if room > 2 else 0.01 * weight)


@pytest.mark.parametrize("coordinates", ["reduced", "maximal"])
def test_planar_worlds(coordinates: str) -> None:
    """A block on a slope of 0.5 rad in a plane: g (sin − μ cos)."""
    b = ub.Builder(planar=True, gravity=(9.81 * np.sin(0.5), 0, -9.81 * np.cos(0.5)))
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("block", shape=ub.Box((0.2, 0.2, 0.1)), mass=1.0, X_WB=ub.Pose((0, 0, 0.05)))
    b.add(ub.Contact(friction=0.3))
    recording = ub.Simulation(b.build(), ub.solvers.Complementarity(coordinates=coordinates), dt=1e-2).run(0.2, every=20)
    assert recording.twist("block")[-1, 3] / 0.2 == pytest.approx(9.81 * (np.sin(0.5) - 0.3 * np.cos(0.5)), rel=1e-7)


def test_what_is_not_honoured_is_refused_by_name() -> None:
    def model(planar: bool = False, **fields) -> ub.Model:
        b = ub.Builder(planar=planar)
        b.body("ground", shape=ub.Plane(), kind="static")
        b.body("ball", shape=ub.Sphere(0.1), X_WB=ub.Pose((0, 0, 1)))
        b.add(ub.Contact(**fields), name="touch")
        return b.build()

    for fields in ({"damping": 0.1}, {"pressure": 1e6}, {"torsion": 0.1, "planar": True}):
        with pytest.raises(ub.Unsupported, match="'touch'"):
            ub.Simulation(model(**fields), "complementarity")
    for fields in ({"restitution": 0.5}, {"friction": 0.1, "static": 0.2}, {"torsion": 0.1}):
        with pytest.raises(ub.Unsupported, match="'touch'.*Solvers that can: complementarity"):
            ub.Simulation(model(**fields), "barrier")
    with pytest.raises(ub.ModelError, match="'pgs' solves the round cone"):
        ub.solvers.Complementarity(method="pgs", directions=8)
    bad = ({"restitution": 1.5}, {"impact": "hertz"}, {"friction": 0.3, "static": 0.2}, {"across": 0.2}, {"torsion": -1.0})
    for wrong in bad:
        with pytest.raises(ub.ModelError):
            ub.Contact(**wrong)


def test_reports_name_the_method_that_shared_a_load_out():
    """Four corners of a face, whose loads are not determined: Newton's method makes them equal up to its regularisation."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("box", shape=ub.Box((0.2, 0.2, 0.2)), mass=1.0, X_WB=ub.Pose((0, 0, 0.1)))
    b.add(ub.Contact(friction=0.5))
    rec = ub.Simulation(b.build(), "complementarity", dt=1e-2).run(0.02)
    assert rec.reports[1].iterations > 0 and any("by newton" in note for note in rec.reports[1].notes)
    assert np.allclose(rec.contacts[1].normal_forces, 9.81 / 4, rtol=1e-5)
