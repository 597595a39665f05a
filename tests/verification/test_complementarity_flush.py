"""Complementarity: what slides and rolls over flush tiles meets no seam, steps stop it, and thin boards rest on thin and ridged ground."""

from __future__ import annotations

import numpy as np
import pytest
from tests.zoo import angle_plate

import unibody as ub

G = 9.81
TILE = ub.Box((1.0, 1.0, 0.2))
LYING, CROSSWISE = ub.Pose.about((0, 1, 0), np.pi / 2).wxyz, ub.Pose.about((1, 0, 0), np.pi / 2).wxyz
SLIDERS = {
    "box": (ub.Box((0.2, 0.2, 0.2)), (1, 0, 0, 0)),
    "turned box": (ub.Box((0.2, 0.3, 0.2)), ub.Pose.about((0, 0, 1), 0.3).wxyz),
    "sphere": (ub.Sphere(0.1), (1, 0, 0, 0)),
    "capsule along": (ub.Capsule(0.1, 0.3), LYING),
    "capsule across": (ub.Capsule(0.1, 0.3), CROSSWISE),
    "cylinder upright": (ub.Cylinder(0.1, 0.2), (1, 0, 0, 0)),
    "cylinder across": (ub.Cylinder(0.1, 0.2), CROSSWISE),
}


def run(b: ub.Builder, time: float, dt: float, friction: float = 0.0) -> ub.Recording:
    b.add(ub.Contact(friction=friction))
    return ub.Simulation(b.build(), "complementarity", dt=dt).run(time)


def tiles(count: int, rows: int = 1) -> ub.Builder:
    b = ub.Builder()
    for i in range(count):
        for j in range(rows):
            b.body(f"tile{i}.{j}", shape=TILE, kind="static", X_WB=ub.Pose((i, j, -0.1)))
    return b


@pytest.mark.parametrize("name", SLIDERS)
@pytest.mark.parametrize("dt", [1e-2, 4e-3])
def test_what_slides_over_flush_tiles_keeps_its_velocity(name: str, dt: float) -> None:
    """Without friction nothing acts along the floor. Cylinders rest where coal sees them, to 1e-8 of their size."""
    shape, wxyz = SLIDERS[name]
    if "cylinder" in name:
        pytest.importorskip("coal")
    b = tiles(4)
    b.body("load", shape=shape, mass=1.0, X_WB=ub.Pose((0, 0.07, 0.1), wxyz), V_WB=(0, 0, 0, 3, 0, 0))
    recording = run(b, 0.8, dt)
    assert recording.point("load")[-1] == pytest.approx([2.4, 0.07, 0.1], abs=3e-6)
    assert np.abs(recording.twist("load") - [0, 0, 0, 3, 0, 0]).max() < (1e-6 if "cylinder" not in name else 1e-4)


@pytest.mark.parametrize("name", ["box", "turned box", "sphere"])
def test_what_slides_over_a_floor_of_tiles_askew_keeps_its_velocity(name: str) -> None:
    """Over sides and over the points where four tiles meet."""
    shape, wxyz = SLIDERS[name]
    b = tiles(3, 3)
    b.body("load", shape=shape, mass=1.0, X_WB=ub.Pose((0, 0, 0.1), wxyz), V_WB=(0, 0, 0, 2, 2, 0))
    recording = run(b, 1.0, 5e-3)
    assert recording.point("load")[-1] == pytest.approx([2.0, 2.0, 0.1], abs=3e-6)
    assert np.abs(recording.twist("load") - [0, 0, 0, 2, 2, 0]).max() < 1e-6


def test_friction_on_tiles_is_that_of_a_floor() -> None:
    """v = 3 − μ g t, in the same attitude. The step's velocities are the end's, so that v is exact."""
    b = tiles(4)
    b.body("load", shape=SLIDERS["box"][0], mass=1.0, X_WB=ub.Pose((0, 0, 0.1)), V_WB=(0, 0, 0, 3, 0, 0))
    recording = run(b, 0.8, 5e-3, 0.2)
    assert recording.twist("load")[-1] == pytest.approx([0, 0, 0, 3.0 - 0.2 * G * 0.8, 0, 0], abs=1e-5)


def test_a_box_that_covers_a_tile_can_be_pushed_onto_the_next() -> None:
    """From rest, sides flush with the seams all around: a = F/m − μ g."""
    b = tiles(3, 3)
    box = b.body("load", shape=ub.Box((1.0, 1.0, 0.4)), mass=2.0, X_WB=ub.Pose((1, 1, 0.2)))
    b.add(ub.AppliedWrench(box, force=(12.0, 0, 0)))
    recording = run(b, 0.3, 5e-3, 0.3)
    assert recording.twist("load")[-1, 3] == pytest.approx((6.0 - 0.3 * G) * 0.3, rel=1e-4)


@pytest.mark.parametrize("step", [1e-4, 1e-3, 1e-2])
def test_a_box_that_meets_a_step_turns_over_its_edge(step: float) -> None:
    """Without gravity, touching it at v = 3: a perfectly inelastic impact at the step's edge, c = 0.1 − step below and a = 0.1 before the
    middle, and on the floor under its lower front edge. J and G on it: m Vx = m v − J, m Vz = G, m k² ω = c J − a G, with Vx = c ω and
    Vz = a ω, so that ω = c v / (k² + c² + a²)."""
    b = ub.Builder(gravity=None)
    b.body("floor", shape=TILE, kind="static", X_WB=ub.Pose((0, 0, -0.1)))
    b.body("step", shape=TILE, kind="static", X_WB=ub.Pose((1.0, 0, -0.1 + step)))
    b.body("box", shape=ub.Box((0.2, 0.2, 0.2)), mass=1.0, X_WB=ub.Pose((0.4, 0, 0.1)), V_WB=(0, 0, 0, 3, 0, 0))
    recording = run(b, 1e-3, 1e-3)
    a, c, k2 = 0.1, 0.1 - step, 0.04 / 6.0
    turn = 3.0 * c / (k2 + c * c + a * a)
    assert recording.twist("box")[-1] == pytest.approx([0, turn, 0, c * turn, 0, a * turn], abs=1e-6)


@pytest.mark.parametrize("step", [1e-3, 1e-2])
def test_a_box_that_slides_against_a_step_does_not_pass_it_upright(step: float) -> None:
    """From afar: it loses what the impact takes, (c² / (k² + c² + a²) of v is left), and no more than sinks in a step is inside."""
    b = tiles(1)
    b.body("step", shape=TILE, kind="static", X_WB=ub.Pose((1.0, 0, -0.1 + step)))
    b.body("box", shape=ub.Box((0.2, 0.2, 0.2)), mass=1.0, X_WB=ub.Pose((0, 0, 0.1)), V_WB=(0, 0, 0, 3, 0, 0))
    recording = run(b, 0.16, 1e-3)
    assert recording.twist("box")[:, 3].min() < 1.5 and recording.twist("box")[:, 1].max() > 8.0
    assert min(c.gaps.min(initial=0.0) for c in recording.contacts) > -1e-3 and (np.diff(recording.energy.total) < 1e-3).all()


@pytest.mark.parametrize(("name", "speed"), [("sphere", 0.05), ("sphere", 1.0), ("capsule across", 1.0)])
def test_what_rolls_off_a_table_falls(name: str, speed: float) -> None:
    """Over its edge without going in, hanging in the air, turning askew or gaining."""
    shape, wxyz = SLIDERS[name]
    b = ub.Builder()
    b.body("table", shape=TILE, kind="static", X_WB=ub.Pose((-0.5, 0, -0.1)))
    b.body("load", shape=shape, mass=1.0, X_WB=ub.Pose((-0.2 * speed, 0, 0.1), wxyz), V_WB=(0, 0, 0, speed, 0, 0))
    recording = run(b, 0.2 + (1.0 if speed < 0.1 else 0.3), 5e-3)
    assert min(c.gaps.min(initial=0.0) for c in recording.contacts) > -2e-4 and (np.diff(recording.energy.total) < 1e-6).all()
    x, z = recording.point("load")[-1, [0, 2]]
    assert x > 0.0 and z < 0.05 and np.abs(recording.twist("load")[-1, :3]).max() < 1e-6
    if speed == 1.0:  # faster than √(g r), it leaves at once: a parabola from the edge
        late = recording.t > 0.21
        fallen = 0.5 * G * (recording.t[late] - 0.2) ** 2
        # the first step falls by h² g at most, later ones by g h t more
        assert np.abs(0.1 - recording.point("load")[late, 2] - fallen).max() < 2.0 * G * 5e-3 * 0.3


ROWS = ub.HeightField(np.where(np.arange(9) % 2, 0.1, 0.0) * np.ones((9, 1)), spacing=0.5)


@pytest.mark.parametrize("ground", [ROWS, ub.OpenMesh(*ROWS.triangles()), angle_plate(0.02)], ids=["field", "open", "plate"])
@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_a_thin_board_rests_on_ridges_and_on_a_thin_plate(ground: ub.Mesh, turn: float) -> None:
    """Where it lies, with its weight; dropped by a millimetre, it stops there."""
    top = 0.01 if isinstance(ground, ub.Mesh) else 0.1
    for drop in (0.0, 1e-3):
        b = ub.Builder()
        b.body("ground", shape=ground, kind="static")
        b.body("board", shape=ub.Box((2.5, 0.5, 0.02)), mass=1.0, X_WB=ub.Pose.about((0, 0, 1), turn, p=(0, 0, top + 0.01 + drop)))
        recording = run(b, 0.3, 5e-3, 0.5)
        assert recording.point("board")[-1] == pytest.approx([0, 0, top + 0.01], abs=3e-6)
        assert recording.contacts[-1].on(2) == pytest.approx([0, 0, G], abs=1e-5)
        assert min(c.gaps.min(initial=0.0) for c in recording.contacts) > -3e-6


def test_a_capsule_deep_in_a_thin_plate_comes_out_upwards() -> None:
    """3 mm into a plate of 2 mm, over its rim."""
    b = ub.Builder()
    b.body("plate", shape=ub.Mesh(*ub.Box((1, 1, 0.002)).triangles()), kind="static")
    b.body("load", shape=ub.Capsule(0.05, 0.4), mass=1.0, X_WB=ub.Pose((0.45, 0, 0.048), LYING))
    recording = run(b, 0.3, 5e-3, 0.3)
    z = recording.point("load")[:, 2]
    assert z[-1] == pytest.approx(0.051, abs=3e-6) and (np.diff(z) > -1e-6).all()
