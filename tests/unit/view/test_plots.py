"""Plots show the recording's own numbers, with units from what a degree of freedom does; differences are differences."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.view import motion
from unibody.view.plots import difference, plot_comparison
from unibody.view.series import PlotPanel, coordinate_units, panels, velocity_units

plt = pytest.importorskip("matplotlib.pyplot")


def slider() -> ub.Model:
    """A cart on a spring, a rod hinged to it, a free ball that a cable holds, and a rod that drives nothing."""
    b = ub.Builder()
    cart = b.body("cart", shape=ub.Box((0.2, 0.1, 0.1)), mass=2.0)
    rod = b.body("rod", mass=0.5, com=(0.3, 0.1, 0.0), inertia=(0.01, 0.02, 0.03))
    ball = b.body("ball", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((0, 1, 0)), V_WB=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    b.joint("rail", ub.Prismatic(axis=(1, 0, 0)), b.world, cart, q=0.3, stiffness=50.0)
    b.joint("elbow", ub.Revolute(axis=(0, 1, 0)), cart, rod, q=0.4, v=1.0)
    b.add(ub.Cable([b.world.at(0, 1, 2), ball.at()], stiffness=30.0, rest_length=1.5), name="rope")
    b.add(ub.Distance(b.world.at(0, 1.0, 1.0), ball.at(), length=1.0), name="link")
    return b.build()


@pytest.fixture(scope="module")
def ride() -> ub.Recording:
    return ub.Simulation(slider(), "articulated", dt=2e-3).run(0.04)


def by_title(recording: ub.Recording, what: str) -> dict[str, PlotPanel]:
    return {f"{p.title} [{p.unit}]": p for p in panels(recording, what)}


def test_figure_has_a_labelled_panel_per_unit_on_one_time_axis(ride):
    figure = ride.plot("energy", "q:rail", "q:elbow", "violation", "reaction:elbow")
    titles = [a.get_title(loc="left") for a in figure.axes]
    assert titles == [
        "energy", "coordinates of rail", "coordinates of elbow", "constraint violation",
        "reaction force of elbow", "reaction torque of elbow",
    ]  # fmt: skip
    assert [a.get_ylabel() for a in figure.axes] == ["[J]", "[m]", "[rad]", "[m or rad]", "[N]", "[N m]"]
    assert figure.axes[-1].get_xlabel() == "time [s]"
    assert all(a.get_xlim() == (0.0, pytest.approx(0.04)) for a in figure.axes)
    drawn = figure.axes[2].get_lines()[0]
    assert np.array_equal(drawn.get_xdata(), ride.t) and np.array_equal(drawn.get_ydata(), ride.joint("elbow")[:, 0])
    legend = [t.get_text() for t in figure.axes[0].get_legend().get_texts()]
    assert legend == ["kinetic", "gravity", "total", "springs"]
    plt.close(figure)


def test_curves_are_the_recordings_arrays(ride):
    energy = by_title(ride, "energy")["energy [J]"].curves
    assert np.array_equal(energy["total"], ride.energy.total) and np.array_equal(energy["springs"], ride.energy.springs)
    wrench = ride.reaction("elbow")
    shown = by_title(ride, "reaction:elbow")
    assert np.array_equal(np.stack(list(shown["reaction force of elbow [N]"].curves.values()), 1), wrench[:, 3:])
    assert np.array_equal(np.stack(list(shown["reaction torque of elbow [N m]"].curves.values()), 1), wrench[:, :3])
    part = by_title(ride, "constraint:elbow")["constraint torque of elbow [N m]"].curves
    assert np.array_equal(part["y"], ride.constraint_wrench("elbow")[:, 1])
    assert np.array_equal(by_title(ride, "drift")["energy drift [J]"].curves["drift"], motion.energy_drift(ride))
    assert np.array_equal(by_title(ride, "multiplier:link")["multiplier of link [N or N m]"].curves["link"], ride.multiplier("link")[:, 0])
    pose = by_title(ride, "pose:ball")
    assert np.array_equal(pose["position of ball [m]"].curves["z"], ride.pose("ball")[:, 2])
    assert np.array_equal(pose["orientation of ball, quaternion [–]"].curves["w"], ride.pose("ball")[:, 3])


def test_all_coordinates_are_sorted_by_unit(ride):
    q, v = by_title(ride, "q"), by_title(ride, "v")
    assert {k: len(p.curves) for k, p in q.items()} == {"coordinates [m]": 4, "coordinates [rad]": 1, "coordinates [–]": 4}
    assert {k: len(p.curves) for k, p in v.items()} == {"velocities [m/s]": 4, "velocities [rad/s]": 4}
    (one,) = panels(ride, "v:elbow.0")
    assert np.array_equal(one.curves["elbow"], ride.joint_velocity("elbow")[:, 0])


def test_units_follow_what_a_degree_of_freedom_does():
    assert coordinate_units(ub.Free()) == ["m", "m", "m", "–", "–", "–", "–"]
    assert velocity_units(ub.Free()) == ["rad/s"] * 3 + ["m/s"] * 3
    assert coordinate_units(ub.Composite(ub.Prismatic((1, 0, 0)), ub.Ball(), ub.Revolute((0, 0, 1)))) == ["m", *4 * ["–"], "rad"]
    assert coordinate_units(ub.Screw((0, 0, 1), pitch=0.1)) == ["rad"] and coordinate_units(ub.Weld()) == []
    assert coordinate_units(ub.Translational()) == ["m"] * 3 and coordinate_units(ub.Universal()) == ["rad"] * 2


def test_tension_of_a_cable_is_hookes_law(ride):
    length = np.linalg.norm(ride.point("ball") - (0, 1, 2), axis=1)
    shown = by_title(ride, "tension:rope")["tension of rope [N]"].curves["rope"]
    assert np.allclose(shown, 30.0 * np.maximum(length - 1.5, 0.0), rtol=1e-12) and shown.max() > 1.0


def test_momentum_is_that_of_points_and_spins():
    """A free body: P = m v_c; L about the origin = x_c × P + I ω for a sphere; both constant without gravity."""
    b = ub.Builder(gravity=None)
    b.body("ball", shape=ub.Sphere(0.5), mass=3.0, X_WB=ub.Pose((1, 2, 3)), V_WB=(0.3, -0.2, 0.5, 1.0, 2.0, -1.0))
    b.body("post", shape=ub.Sphere(0.5), kind="static")
    rec = ub.Simulation(b.build(), ub.solvers.Articulated(rule="rk4"), dt=1e-2).run(0.1)
    linear, angular = panels(rec, "momentum")
    P = 3.0 * np.array([1.0, 2.0, -1.0])
    L = np.cross((1, 2, 3), P) + 0.4 * 3.0 * 0.25 * np.array([0.3, -0.2, 0.5])
    assert (linear.unit, angular.unit) == ("kg m/s", "kg m²/s")
    assert np.allclose(np.stack(list(linear.curves.values()), 1), P) and np.allclose(np.stack(list(angular.curves.values()), 1), L)


def test_momentum_changes_by_the_weight():
    """dP/dt = m g for a body with its centre of mass off its origin, thrown."""
    b = ub.Builder(gravity=(0, 0, -10.0))
    b.body("club", mass=2.0, com=(0.3, 0, 0.1), inertia=(0.1, 0.2, 0.25), V_WB=(1, 2, 3, 0, 1, 5))
    rec = ub.Simulation(b.build(), ub.solvers.Articulated(rule="rk4"), dt=1e-3).run(0.05)
    linear, _ = panels(rec, "momentum")
    assert np.allclose(np.diff(linear.curves["z"]) / np.diff(rec.t), -20.0, rtol=1e-6)
    assert np.ptp(linear.curves["x"]) < 1e-7


def test_difference_is_taken_at_the_same_times():
    a = PlotPanel("q", "m", np.linspace(0, 1, 11), {"x": np.linspace(0, 1, 11) * 2.0})
    b = PlotPanel("q", "m", np.linspace(0, 0.8, 5), {"x": np.linspace(0, 0.8, 5) * 3.0})
    t, apart = difference(b, a, "x")
    assert np.array_equal(t, b.t) and np.allclose(apart, b.t)
    t, apart = difference(a, b, "x")
    assert t[-1] == pytest.approx(0.8) and np.allclose(apart, -t)


def test_comparison_overlays_series_and_draws_their_difference(ride, tmp_path):
    other = ub.Simulation(slider(), ub.solvers.Articulated(rule="rk4"), dt=2e-3).run(0.04)
    figure = plot_comparison([ride, other], ["first", "second"], "q:elbow,energy")
    (angle, apart, energy, _) = figure.axes
    assert [len(a.get_lines()) for a in (angle, energy)] == [2, 8]
    assert angle.get_ylabel() == "[rad]" and apart.get_ylabel() == "[rad]" and apart.get_title(loc="left") == "difference to first"
    assert np.array_equal(apart.get_lines()[1].get_ydata(), other.joint("elbow")[:, 0] - ride.joint("elbow")[:, 0])
    assert [t.get_text() for t in angle.get_legend().get_texts()] == ["first", "second"]
    assert "second" in [t.get_text() for t in energy.get_legend().get_texts()]
    plt.close(figure)
    assert plot_comparison([ride, other], ["a", "b"], "drift", tmp_path / "c.png").stat().st_size > 5000
    with pytest.raises(ub.ModelError, match="two or more"):
        plot_comparison([ride], ["a"], "q")


@pytest.mark.parametrize(
    ("what", "match"),
    [
        ("enrgy", "did you mean 'energy'"), ("q:elbwo", "did you mean 'elbow'"), ("q:elbow.3", "1 coordinates"), ("reaction", "of which"),
        ("energy:cart", "leave ':cart' out"), ("pose:bal", "did you mean 'ball'"), ("tension:rop", "did you mean 'rope'"), ("", "nothing"),
        ("multiplier:lnk", "did you mean 'link'"),
    ],
)  # fmt: skip
def test_unknown_names_offer_near_ones(ride, what, match):
    with pytest.raises(ub.ModelError, match=match):
        panels(ride, what)


def test_plot_is_written(ride, tmp_path):
    path = ride.plot("energy", "q", path=tmp_path / "a.svg", title="ride")
    assert path == tmp_path / "a.svg" and "<svg" in path.read_text()
