"""Reports of `complementarity` name the joints whose springs, dampers and servos are implicit at the step at hand, once."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.stepping.impulse_reduced import ImpulseReduced

H, INERTIA = 0.01, 0.5


def wheels(*ratios: float) -> ub.Model:
    """Wheels about vertical axes with dampers, h d / I of each at H."""
    b = ub.Builder()
    for k, ratio in enumerate(ratios):
        b.body(f"wheel{k}", mass=1.0, inertia=(INERTIA, INERTIA, INERTIA))
        b.joint(f"axle{k}", ub.Revolute((0, 0, 1)), b.world, f"wheel{k}", v=1.0, damping=ratio * INERTIA / H)
    return b.build()


def told(notes: tuple[str, ...]) -> list[str]:
    return [note for note in notes if "implicit" in note]


def test_the_report_names_joints_whose_efforts_are_implicit() -> None:
    """h d / I = 0.04 and 30: the second only, and no other line says so."""
    sim = ub.Simulation(wheels(0.04, 30.0), "complementarity", dt=H)
    assert told(sim.notes) == []
    (line,) = told(sim.step().notes)
    assert line == "springs, dampers and servos of joint 'axle1' are implicit: dt = 0.01 s cannot follow them"
    rec = sim.run(3 * H)
    assert [told(report.notes) for report in rec.reports] == [[line]] * 4
    # what the line says is what steps do: v / (1 + h d / I), and v (1 − h d / I)
    after = sim.state.v / np.array([0.96, 1.0 / 31.0]) ** 4
    assert after == pytest.approx(1.0, rel=1e-9)


def test_more_than_three_are_counted() -> None:
    (line,) = told(ub.Simulation(wheels(*[30.0] * 5), "complementarity", dt=H).step().notes)
    assert "of joints 'axle0', 'axle1', 'axle2' and 2 more are implicit" in line


def test_nothing_is_said_where_a_step_follows() -> None:
    """At a hundredth of the step all are followed, and at the long one they are not, in either order."""
    sim = ub.Simulation(wheels(30.0), "complementarity", dt=0.01 * H)
    assert told(sim.step().notes) == []
    sim.dt = H
    assert "dt = 0.01 s" in told(sim.step().notes)[0]
    sim.dt = 0.01 * H
    assert told(sim.step().notes) == []


def test_a_servo_and_a_joint_of_several_degrees_are_named_once() -> None:
    b = ub.Builder(gravity=None)
    for name, joint in (("arm", ub.Revolute((0, 1, 0))), ("head", ub.Ball())):
        b.body(name, mass=1.0, inertia=(INERTIA, INERTIA, INERTIA))
        b.joint(f"{name} joint", joint, b.world, name, **({"damping": 100.0 * INERTIA / H} if name == "head" else {}))
    b.add(ub.Motor("arm joint", kp=1e6, kd=1e3), name="servo")
    (line,) = told(ub.Simulation(b.build(), "complementarity", dt=H).step().notes)
    assert "of joints 'arm joint', 'head joint' are implicit" in line


def test_the_line_is_made_when_the_choice_is(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    choose = ImpulseReduced._choose_stiff
    monkeypatch.setattr(ImpulseReduced, "_choose_stiff", lambda self, dt: made.append(dt) or choose(self, dt))
    ub.Simulation(wheels(30.0), "complementarity", dt=H).run(20 * H)
    assert made == [H]
