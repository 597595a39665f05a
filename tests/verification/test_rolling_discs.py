"""Cylinders that roll: down a slope without slipping, and on an edge in a circle, the steady precession of a coin."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

G = 9.81
R, LONG = 0.1, 0.04
TILT = 0.1


def on_a_slope(floor: ub.Shape | ub.Placed, gap: float = 0.0) -> ub.Model:
    b = ub.Builder()
    b.body("floor", floor, kind="static", X_WB=ub.Pose.about((0, 1, 0), TILT))
    up = np.array([np.sin(TILT), 0.0, np.cos(TILT)])
    b.body("disc", ub.Cylinder(R, LONG), mass=1.0, X_WB=ub.Pose(up * (R + gap), ub.Pose.about((1, 0, 0), np.pi / 2).wxyz))
    b.add(ub.Contact(friction=0.8))
    return b.build()


def rolled(model: ub.Model, solver: object, dt: float, duration: float) -> tuple[float, float, float]:
    """Speed down the slope and R ω, as parts of ⅔ g sin(tilt) t, and how far the height over the slope varies."""
    rec = ub.Simulation(model, solver, dt=dt).run(duration, every=10)
    down, up = np.array([np.cos(TILT), 0.0, -np.sin(TILT)]), np.array([np.sin(TILT), 0.0, np.cos(TILT)])
    wanted = 2.0 / 3.0 * G * np.sin(TILT) * duration
    twist = rec.twist("disc")[-1]
    return twist[3:] @ down / wanted, R * twist[1] / wanted, float(np.ptp(rec.pose("disc")[:, :3] @ up))


@pytest.mark.parametrize("floor", [ub.Plane(), ub.Placed(ub.Box((8, 2, 0.2)), ub.Pose((0, 0, -0.1)))], ids=["plane", "box"])
@pytest.mark.parametrize("solver", ["complementarity", "impulse"])
def test_a_disc_rolls_down_a_slope_as_a_circle(solver: str, floor: ub.Shape) -> None:
    """a = ⅔ g sin; semi-implicit steps are exact under constant forces, and the circle has no corners: round-off of the solution."""
    speed, spin, bump = rolled(on_a_slope(floor), solver, 2e-3, 0.6)
    assert speed == pytest.approx(1.0, abs=1e-9) and spin == pytest.approx(1.0, abs=1e-9)
    assert bump < 1e-10


def test_barriers_roll_what_has_enough_segments() -> None:
    """Of 16 sides it lies, since half an angle of 11° is above the slope's 6°; of 128 it loses what corners cost."""
    speed, _, _ = rolled(on_a_slope(ub.Plane(), 1e-4), "barrier", 5e-3, 0.5)
    assert abs(speed) < 0.2
    speed, spin, _ = rolled(on_a_slope(ub.Plane(), 1e-4), ub.solvers.Barrier(segments=128), 5e-3, 0.5)
    assert speed == pytest.approx(1.0, abs=0.04) and spin == pytest.approx(1.0, abs=0.04)
    with pytest.raises(ub.ModelError, match="segments: 2 is below 3"):
        ub.solvers.Barrier(segments=2)


@pytest.mark.parametrize(("dt", "within"), [(2e-3, 1.0), (5e-4, 0.25)])
def test_a_coin_rolls_in_a_circle(dt: float, within: float) -> None:
    """Steady motion with the axis 70° from the vertical and Ω = 3 rad/s: r × F = Ω z × L, F = m (Ω z × v + g z), v = −ω × r for the lowest
    point r of the rim gives the spin. A method of the first order leaves it by a lean of some tenths of a degree, in proportion to dt."""
    half, m, Omega, lean = 1e-3, 1.0, 3.0, np.radians(70.0)
    C, A = 0.5 * m * R**2, 0.25 * m * R**2 + m * (2.0 * half) ** 2 / 12.0
    e = np.array([np.sin(lean), 0.0, np.cos(lean)])
    r = R * np.array([np.cos(lean), 0.0, -np.sin(lean)]) - half * e
    z = np.array([0.0, 0.0, 1.0])
    across = z - (z @ e) * e

    def left(spin: float) -> tuple[float, np.ndarray, np.ndarray]:
        w = Omega * across + spin * e
        v = -np.cross(w, r)
        F = m * (Omega * np.cross(z, v) + G * z)
        return float((np.cross(r, F) - Omega * np.cross(z, A * Omega * across + C * spin * e))[1]), w, v

    at0, at1 = left(0.0)[0], left(1.0)[0]
    _, w, v = left(-at0 / (at1 - at0))
    b = ub.Builder()
    b.body("floor", ub.Plane(), kind="static")
    start = ub.Pose((0, 0, -r[2]), ub.Pose.about((0, 1, 0), lean).wxyz)
    b.body("coin", ub.Cylinder(R, 2.0 * half), mass=m, com=(0, 0, 0), inertia=np.diag([A, A, C]), X_WB=start, V_WB=[*w, *v])
    b.add(ub.Contact(friction=1.0))
    rec = ub.Simulation(b.build(), "complementarity", dt=dt).run(1.0, every=max(1, round(0.02 / dt)))
    axis = np.array([np.array(ub.Pose(wxyz=p[3:]).R)[:, 2] for p in rec.pose("coin")])
    assert np.abs(np.degrees(np.arccos(axis[:, 2])) - 70.0).max() < 0.5 * within
    turned = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    assert turned[-1] == pytest.approx(Omega * 1.0, rel=0.02 * within)
