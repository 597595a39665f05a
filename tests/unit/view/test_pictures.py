"""Pictures are written, show something, and say what they show."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import unibody as ub
from unibody.view import draw_comparison, draw_motion, draw_scaling, motion, pictures

plt = pytest.importorskip("matplotlib.pyplot")


def recorded(name: str, solver: ub.solvers.Solver | None = None, **parameters: object) -> ub.Recording:
    scene = ub.scenes.make(name, **parameters)
    return ub.Simulation(scene.model, solver or "articulated", dt=scene.dt).run(50 * scene.dt, every=2)


@pytest.fixture(scope="module")
def swing() -> ub.Recording:
    return recorded("double-pendulum")


@pytest.fixture(scope="module")
def crane() -> ub.Recording:
    return recorded("cable-toy")


def pixels(path) -> np.ndarray:
    return plt.imread(path)[..., :3]


def shows_something(path) -> bool:
    """More than a blank sheet with a title: at least a thousandth of it in colours (a lone ball and its trace), and levels that differ."""
    image = pixels(path)
    coloured = np.ptp(image, axis=2) > 0.1
    return bool(image.std() > 0.02 and coloured.mean() > 0.001)


def test_planar_motion_is_drawn(swing, tmp_path):
    assert draw_motion(swing, tmp_path / "a.png") == tmp_path / "a.png"
    assert shows_something(tmp_path / "a.png")


def test_spatial_motion_is_drawn(crane, tmp_path):
    draw_motion(crane, tmp_path / "a.png", frames=3, title="crane")
    assert shows_something(tmp_path / "a.png")


def test_motion_of_a_body_without_shape_is_drawn(tmp_path):
    b = ub.Builder()
    b.body("point", mass=1.0, inertia=(0.1, 0.1, 0.1), V_WB=(0, 0, 1, 1, 1, 0))
    rec = ub.Simulation(b.build(), dt=1e-2).run(0.3)
    draw_motion(rec, tmp_path / "a.png", frames=2)
    assert shows_something(tmp_path / "a.png")


def test_comparison_has_three_labelled_panels(swing, tmp_path, monkeypatch):
    kept = {}
    monkeypatch.setattr(pictures, "saved", lambda figure, path: kept.update(figure=figure) or path)
    other = recorded("double-pendulum", ub.solvers.Articulated(rule="rk4"))
    draw_comparison([swing, other], ["first", "second"], tmp_path / "c.png")
    left, *panels = kept["figure"].axes
    assert [p.get_title(loc="left") for p in panels] == ["energy drift", "constraint violation", "position difference to first"]
    assert [p.get_ylabel() for p in panels] == ["[J]", "[m or rad]", "[m]"]
    assert panels[-1].get_xlabel() == "time [s]"
    assert (left.get_xlabel(), left.get_ylabel()) == ("x [m]", "z [m]")
    assert [t.get_text() for t in panels[0].get_legend().get_texts()] == ["first", "second"]
    assert [len(p.get_lines()) for p in panels] == [2, 2, 1]
    plt.close(kept["figure"])


def test_comparison_is_drawn(swing, tmp_path):
    draw_comparison([swing, recorded("double-pendulum", ub.solvers.Articulated(rule="rk4"))], ["a", "b"], tmp_path / "c.png")
    assert shows_something(tmp_path / "c.png")


def test_scaling_is_drawn_with_fitted_slopes(tmp_path, monkeypatch):
    kept = {}
    draw_scaling([("tree", n, 1e-6 * n) for n in (10, 100, 1000)], tmp_path / "s.png")
    assert shows_something(tmp_path / "s.png")
    monkeypatch.setattr(pictures, "saved", lambda figure, path: kept.update(figure=figure) or path)
    rows = [("tree", n, 1e-6 * n) for n in (10, 100, 1000)] + [("dense", n, 1e-9 * n**3) for n in (10, 100, 1000)]
    draw_scaling(rows, tmp_path / "s.png", title="times")
    (axes,) = kept["figure"].axes
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["dense  ∝ n$^{3.00}$", "tree  ∝ n$^{1.00}$"]
    assert axes.get_xlabel() == "number of bodies n" and axes.get_ylabel() == "time [s]"
    plt.close(kept["figure"])


def test_drift_of_an_accurate_rule_is_small_though_motor_and_dampers_work():
    """The books: E − E(0) = work; their trapezoidal rule and Runge–Kutta leave less than 1e-6 of the energy in 0.1 s."""
    rec = recorded("cable-toy", ub.solvers.Articulated(rule="rk4"))
    assert np.abs(motion.energy_drift(rec)).max() < 1e-5 * motion.energy_scale(rec)
    assert abs(rec.energy.total[-1] - rec.energy.total[0]) > 1e-4 * motion.energy_scale(rec)


def test_position_difference_of_equal_runs_is_zero(swing):
    assert motion.position_difference(swing, recorded("double-pendulum")).max() == 0.0


def test_plane_is_recognised_where_there_is_one(swing, crane):
    assert np.allclose(motion.viewing_plane(swing), [(1, 0, 0), (0, 0, 1), (0, -1, 0)])
    assert motion.viewing_plane(crane) is None


def test_trace_follows_the_bob_between_recorded_points():
    """The bob of a pendulum stays on its circle; cubic pieces through points 2 ms apart leave it by far less than 1e-9."""
    rec = recorded("pendulum", ub.solvers.Articulated(rule="rk4"))
    (trace,) = motion.traces(rec)
    assert len(trace.x) == motion.FINER * (len(rec) - 1) + 1
    assert np.abs(np.linalg.norm(trace.x, axis=1) - 1.0).max() < 1e-9


def test_bad_requests_are_refused_in_words(swing, tmp_path):
    with pytest.raises(ub.ModelError, match="labels"):
        draw_comparison([swing], ["a", "b"], tmp_path / "c.png")
    with pytest.raises(ub.ModelError, match="positive"):
        draw_scaling([("a", 0, 1.0)], tmp_path / "s.png")
    with pytest.raises(ub.ModelError, match="no rows"):
        draw_scaling([], tmp_path / "s.png")
    with pytest.raises(ub.ModelError, match="cannot be written"):
        draw_motion(swing, tmp_path / "nowhere" / "a.png")


def test_without_matplotlib_the_extra_is_named(swing, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ub.ModelError, match=r"pip install unibody\[plot\]"):
        draw_motion(swing, tmp_path / "a.png")
