"""Bodies of the barrier solver are rigid: strains stay below 1e-4 whatever pulls, BDF2 is of second order on mechanisms, and stiffness
costs no iterations.

The squeezer's angles at 30 ms are those of Hairer and Wanner (Solving ODEs II, §VII.7); a pendulum's are elliptic functions, here by an
integration of articulated bodies to 1e-11.
"""

from __future__ import annotations

import numpy as np
import pytest
from test_fast_spins import PUBLISHED, squeezer

import unibody as ub
from unibody.coordinates.affine.body import strain
from unibody.solvers import Articulated, Barrier

GOAL = 1e-4


def stepped(model: ub.Model, solver: Barrier, dt: float, steps: int) -> tuple[float, int, list]:
    """The largest |AᵀA − 1| of all steps, Newton's iterations, and the states with their memories."""
    bound = solver.bind(model)
    state, memory = bound.start()
    most, iterations, out = 0.0, 0, [(state, memory)]
    for _ in range(steps):
        made = bound.step(state, memory, np.zeros(bound.control_length), dt)
        state, memory = made.state, made.memory
        most = max(most, float(np.abs(strain(state.q.reshape(-1, 4, 3))).max()))
        iterations += made.report.iterations
        out.append((state, memory))
    return most, iterations, out


def spinning_rod(omega: float) -> ub.Model:
    b = ub.Builder(gravity=None)
    b.body("rod", shape=ub.Box((2.0, 0.1, 0.1)), density=7800.0, V_WB=(0, 0, omega, 0, 0, 0))
    return b.build()


SCENES = {
    "wrecking ball": (lambda: ub.scenes.build("wrecking-ball"), 1e-2, 60),
    "arch": (lambda: ub.scenes.build("arch"), 1e-2, 20),
    "squeezer": (squeezer, 5e-5, 200),
    "heavy chain": (lambda: ub.scenes.build("heavy-chain", n=8), 1e-2, 60),
    "spinning rod": (lambda: spinning_rod(300.0), 1e-3, 30),  # a strain of ρ ω² L² / (6 Y) = 0.47 at 1e9 Pa
}


@pytest.mark.parametrize("name", SCENES)
def test_strains_stay_below_the_goal(name):
    make, dt, steps = SCENES[name]
    assert stepped(make(), Barrier(rule="bdf2"), dt, steps)[0] < GOAL


def test_a_modulus_that_is_given_stretches_as_it_says():
    """c E / 2 = S ω² along the rod, c = Y V, S = m L² / 12: E = ρ ω² L² / (6 Y), to E² and what BDF2 loses of ω."""
    omega, modulus = 20.0, 1e8
    _, _, out = stepped(spinning_rod(omega), Barrier(rule="bdf2", modulus=modulus, tolerance=1e-7), 1e-4, 640)
    E = np.array([strain(state.q.reshape(-1, 4, 3))[0, 0, 0] for state, _ in out])
    expected = 7800.0 * omega**2 * 4.0 / (6.0 * modulus)
    assert expected == pytest.approx(0.0208, rel=1e-2)
    assert E.mean() == pytest.approx(expected, rel=0.1)  # let go unstretched, the rod swings about that: two periods 2π √(ρ L² / (12 Y))


@pytest.mark.parametrize(("scene", "parameters"), [("pendulum", {}), ("double-pendulum", {}), ("four-bar", {"rate": 3.0})])
def test_bdf2_is_of_second_order_down_to_small_steps(scene, parameters):
    """Between 200 and 800 steps, where strains of 2e-5 would be a floor of 1e-5 m."""
    model = ub.scenes.build(scene, **parameters)

    def places(solver, steps):
        rec = ub.Simulation(model, solver, dt=0.5 / steps).run(0.5, every=steps)
        return np.array([rec.point(b.name, (0.3, -0.2, 0.1))[-1] for b in model.bodies[1:]])

    exact = places(Articulated(rule="dopri5", rtol=1e-11, atol=1e-13), 4)
    errors = [np.abs(places(Barrier(rule="bdf2", tolerance=1e-8), n) - exact).max() for n in (200, 800)]
    assert np.log2(errors[0] / errors[1]) / 2.0 == pytest.approx(2.0, abs=0.1), errors


def test_andrews_squeezer_is_followed_at_second_order():
    """At 600 steps its crank turns by 0.03 rad a step; errors fall fourfold, to 1.5e-2 rad of 15.8 at 1200."""
    errors = []
    for n in (600, 1200):
        rec = ub.Simulation(squeezer(), Barrier(rule="bdf2", tolerance=1e-7), dt=0.03 / n).run(0.03, every=n)
        errors.append(max(abs(rec.joint(name)[-1, 0] - angle) for name, angle in PUBLISHED.items()))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.4), errors
    assert errors[1] < 1.5e-2


@pytest.mark.parametrize(("scene", "parameters"), [("pendulum", {}), ("four-bar", {}), ("slider-crank", {"angle": 0.8, "rate": 4.0})])
def test_stiffness_costs_no_iterations(scene, parameters):
    """Newton's directions turn bodies, they do not stretch them: 1e13 Pa takes what 1e9 Pa takes, up to a half (without: elevenfold)."""
    model = ub.scenes.build(scene, **parameters)
    soft, stiff = (stepped(model, Barrier(modulus=modulus), 1e-2, 100)[1] for modulus in (1e9, 1e13))
    assert stiff < 1.5 * soft


def test_a_run_with_stiffer_bodies_goes_on_bit_for_bit():
    """Cubes on top of each other fall on the ground: stiffness has been raised, and is memory."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    for k in range(3):
        b.body(f"cube{k}", shape=ub.Box((1.0, 1.0, 0.01)), mass=(1.0, 1e3, 1e5)[k], X_WB=ub.Pose(p=(0, 0, 0.3 + 0.1 * k)))
    b.add(ub.Contact(friction=0.3))
    model = b.build()
    most, _, out = stepped(model, Barrier(), 1e-2, 40)
    bound = Barrier().bind(model)
    assert most < GOAL
    assert bound.system.memory.view(out[-1][1]).stiffer_bodies.max() > 0.0
    state, memory = out[20]
    for expected, kept in out[21:]:
        made = bound.step(state, memory, np.zeros(bound.control_length), 1e-2)
        state, memory = made.state, made.memory
        assert np.array_equal(state.q, expected.q) and np.array_equal(state.v, expected.v) and np.array_equal(memory, kept)


def test_a_modulus_is_a_number_or_auto():
    with pytest.raises(ub.ModelError, match="is no number in Pa; give one, or give one of auto"):
        Barrier(modulus="stiff")
