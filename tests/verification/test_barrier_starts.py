"""Bodies that start nearer to each other than barriers reach, and runs whose step changes: nothing is thrown, however short the step.

A barrier may hold no energy that nobody has put in. So kinetic and potential energy (½ v·Mv + m g z, without what barriers store) never
rise above their value at the start, without gravity nothing moves, and what rests goes on resting when the step becomes a thousandth.
"""

import numpy as np
import pytest

import unibody as ub

REACH, STEPS = 1e-3, 12
G = 9.81


def cube(gap: float, v: float, g: float, plane: bool) -> ub.Model:
    b = ub.Builder(gravity=(0.0, 0.0, -g))
    if plane:
        b.body("ground", shape=ub.Plane(), kind="static")
    else:
        b.body("ground", shape=ub.Box((1.0, 1.0, 0.2)), X_WB=ub.Pose((0, 0, -0.1)), kind="static")
    b.body("cube", shape=ub.Box((0.2, 0.2, 0.2)), X_WB=ub.Pose((0, 0, 0.1 + gap)), V_WB=(0, 0, 0, 0, 0, v))
    b.add(ub.Contact(friction=0.3, reach=REACH))
    return b.build()


def speed(simulation: ub.Simulation) -> float:
    """The largest of a point [m/s]."""
    system = simulation.bound.system.affine
    return float(system.motions(system.rates(simulation.state.v, simulation.state.t).ravel())[:, 1].max())


@pytest.mark.parametrize("dt", [1e-2, 1e-3, 1e-4, 1e-5])
@pytest.mark.parametrize("v", [0.0, -1.0])
def test_energy_never_rises_from_a_start_within_the_reach(dt, v):
    """Before, half a millimetre at 0.1 ms asked for κ of d̂/h² and threw the cube at metres a second."""
    for plane, rule in ((True, "implicit"), (False, "bdf2")):
        for gap in (1e-9, 1e-6, 0.5 * REACH, 0.9 * REACH):
            simulation = ub.Simulation(cube(gap, v, G, plane), ub.solvers.Barrier(rule=rule), dt=dt)
            begun = 0.5 * v * v + G * gap
            for _ in range(STEPS):
                simulation.step()
                z, w = simulation.state.q[2] - 0.1, speed(simulation)
                # round-off of positions, 1e-16 m in g z
                assert 0.5 * w * w + G * z <= begun + 1e-14, (gap, plane)


@pytest.mark.parametrize("dt", [1e-2, 1e-5])
def test_without_gravity_nothing_moves_that_starts_within_the_reach(dt):
    for gap in (1e-9, 0.5 * REACH):
        simulation = ub.Simulation(cube(gap, 0.0, 0.0, False), "barrier", dt=dt)
        for _ in range(5):
            simulation.step()
        assert speed(simulation) < 1e-15


def test_cloth_and_wires_are_not_thrown_from_within_the_reach():
    b = ub.Builder(gravity=(0.0, 0.0, 0.0))
    b.body("ground", shape=ub.Box((1.0, 1.0, 0.2)), X_WB=ub.Pose((0, 0, -0.1)), kind="static")
    b.body("wire", shape=ub.Wire([(-0.1, 0, 0), (0.1, 0, 0)], radius=0.01), mass=0.1, X_WB=ub.Pose((0, 0.3, 0.01 + 0.4 * REACH)))
    sheet = ub.TriMesh.grid((0.2, 0.2), 0.1).moved(ub.Pose((0, 0, 0.5e-3 + 0.3 * REACH)))  # half of its thickness above
    b.cloth("sheet", sheet, ub.Fabric(young=1e5, poisson=0.3, thickness=1e-3), 500.0)
    b.add(ub.Contact(reach=REACH))
    simulation = ub.Simulation(b.build(), "barrier", dt=1e-5)
    for _ in range(5):
        simulation.step()
    assert np.abs(simulation.state.v).max() < 1e-9


@pytest.mark.parametrize("heavy", [1.0, 100.0])
def test_what_rests_goes_on_resting_when_the_step_changes(heavy):
    """κ and the bodies' own stiffness are proportional to 1/h² at the start of a run; if they followed the step, a stack that has come to
    rest at 10 ms would be thrown at 10 µs (up to 8 m/s before, under a body a hundred times as heavy)."""
    b = ub.Builder()
    b.body("ground", shape=ub.Box((1.0, 1.0, 0.2)), X_WB=ub.Pose((0, 0, -0.1)), kind="static")
    for k, mass in enumerate((8.0, 8.0, 8.0 * heavy)):
        z = 2e-4 + k * 0.2002
        b.body(f"cube {k}", shape=ub.Box((0.2, 0.2, 0.2)), X_WB=ub.Pose((0.01 * k, 0, z + 0.1)), mass=mass)
    b.add(ub.Contact(friction=0.3, reach=REACH))
    simulation = ub.Simulation(b.build(), "barrier", dt=1e-2)
    for _ in range(100):
        simulation.step()
    rest = speed(simulation)
    assert rest < 1e-5
    for dt in (1e-3, 1e-5, 1e-4, 1e-2, 1e-5):
        simulation.dt = dt
        for _ in range(15):
            simulation.step()
            assert speed(simulation) < max(2.0 * rest, 1e-8), dt
