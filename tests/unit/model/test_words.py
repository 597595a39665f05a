"""What is printed of models, states, controls, reports, simulations and recordings can be read, and holds the numbers."""

from __future__ import annotations

import pytest

import unibody as ub


def crane() -> ub.Model:
    b = ub.Builder()
    boom = b.body("boom <b>", shape=ub.Box((0.1, 0.1, 1.0)), mass=3.0)
    b.joint("slew", ub.Revolute(axis=(0, 0, 1)), b.world, boom)
    b.add(ub.SpringDamper(boom.at(0, 0, 0.5), b.world.at(1, 0, 1), stiffness=10.0), name="stay")
    b.add(ub.Motor("slew", kp=1.0), name="drive")
    b.body("pier", shape=ub.Box((1, 1, 1)), kind="static")
    return b.build()


def test_a_model_in_one_line_and_on_a_page():
    model = crane()
    text = repr(model)
    assert "\n" not in text and "1 body (+ 1 fixed or driven)" in text and "1 degree of freedom" in text and "3 kg" in text
    assert "loop" not in text and "constraint" not in text
    page = model.summary()
    for words in ("world", "Revolute 'slew'", "stay  SpringDamper: boom <b>, world", "drive  Motor: slew"):
        assert words in page


def test_a_model_in_a_notebook_is_tables_without_raw_names():
    html = crane()._repr_html_()
    assert html.count("<table>") == html.count("</table>") == 2  # bodies, forces; the two others are empty
    assert "boom &lt;b&gt;" in html and "boom <b>" not in html


def test_long_models_are_cut_and_say_so():
    model = ub.scenes.build("serial-arm", n=60)
    assert "… and 20 more" in model._repr_html_() and len(model.summary().splitlines()) < 70


def test_states_controls_and_reports():
    assert repr(ub.State(0.25, [1.0, 2.5], [0.0, -1.0])) == "State(t = 0.25 s, reduced, q = [1, 2.5], v = [0, -1])"
    assert "… 20 numbers" in repr(ub.State(0.0, range(20), range(20)))
    control = ub.Control(crane())
    assert repr(control) == "Control(nothing)"
    control.set_effort("slew", 2.0)
    control.set_target("drive", 0.5)
    assert repr(control) == "Control(efforts 'slew' [2]; targets 'drive' 0.5)"
    report = ub.Report(time=0.5, violation=1e-9, redundant=3, redundant_names=("a", "b"), seconds=2e-3, notes=("Python callbacks: X",))
    assert repr(report) == (
        "Report(ok at t = 0.5 s, violation 1e-09 m or rad, 3 redundant rows among a, b, took 2 ms; Python callbacks: X)"
    )


def test_simulations_and_recordings_name_solver_rule_and_step():
    sim = ub.Simulation(ub.scenes.build("pendulum"), ub.solvers.Articulated(rule="rk4"), dt=1e-2)
    first = sim.state.q[0]
    recording = sim.run(0.05, progress=False)
    assert "t = 0.05 s, dt = 0.01 s, solver 'articulated' (rk4)" in repr(sim)
    assert "6 states, 0 … 0.05 s in steps of 0.01 s" in repr(recording)
    sim.reset()
    assert sim.state.t == 0.0 and sim.state.q[0] == first == pytest.approx(ub.scenes.build("pendulum").start_q()[0])
