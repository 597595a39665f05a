"""What a recording says of the whole: momentum, centre of mass, tensions, tables; poses from Euler angles."""

from __future__ import annotations

import csv
import subprocess
import sys

import numpy as np
import pytest

import unibody as ub
from unibody.errors import ModelError


@pytest.fixture(scope="module")
def thrown() -> ub.Recording:
    """Two linked bodies that fly: p grows by M g t, L about the centre of mass stays."""
    b = ub.Builder(gravity=(0, 0, -10.0))
    one = b.body("one", mass=2.0, inertia=(0.1, 0.2, 0.3), com=(0.1, 0, 0), V_WB=(1.0, 2.0, -1.0, 3.0, 0.0, 4.0))
    two = b.body("two", mass=1.0, inertia=(0.05, 0.04, 0.03), com=(0, 0.2, 0))
    b.joint("link", ub.Ball(), one, two, X_PF=ub.Pose((0.3, 0, 0)), X_BM=ub.Pose((0, -0.1, 0)))
    return ub.Simulation(b.build(), "articulated:rule=rk4", dt=1e-3).run(0.2, every=50)


def test_momentum_grows_by_weight_and_turns_as_the_centre_of_mass_falls(thrown):
    weight = np.array([0, 0, -30.0])
    np.testing.assert_allclose(thrown.momentum, thrown.momentum[0] + np.outer(thrown.t, weight), atol=1e-9)
    np.testing.assert_allclose(np.gradient(thrown.center_of_mass, thrown.t, axis=0)[1:-1], thrown.momentum[1:-1] / 3.0, atol=1e-9)
    about = thrown.angular_momentum - np.cross(thrown.center_of_mass, thrown.momentum)
    np.testing.assert_allclose(about, np.broadcast_to(about[0], about.shape), atol=1e-9)  # rk4 at 1 ms keeps it to 1e-11


def test_momentum_of_one_body_is_that_of_the_book():
    """A body that turns about its own centre of mass, which stands 1 m off its origin, at (1, 2, 3): p = 0, L = I ω."""
    b = ub.Builder(gravity=None)
    b.body("top", mass=2.0, inertia=(0.1, 0.2, 0.3), com=(1, 0, 0), X_WB=ub.Pose((0, 2, 3)), V_WB=(0, 0, 5.0, 0, -5.0, 0))
    rec = ub.Simulation(b.build()).run(0.0)
    np.testing.assert_allclose(rec.momentum[0], 0, atol=1e-14)
    np.testing.assert_allclose(rec.angular_momentum[0], (0, 0, 1.5), atol=1e-14)
    np.testing.assert_allclose(rec.center_of_mass[0], (1, 2, 3), atol=1e-14)


def test_tensions_hold_what_hangs():
    """A weight of 2 kg that hangs on a damped spring comes to rest under T = m g; one on a cable over a fixed eye, too."""
    b = ub.Builder()
    low = b.body("low", mass=2.0, inertia=(0.01,) * 3, X_WB=ub.Pose((0, 0, -1)))
    far = b.body("far", mass=3.0, inertia=(0.01,) * 3, X_WB=ub.Pose((1, 0, -1)))
    b.add(ub.SpringDamper(low.at(), b.world.at(), stiffness=500.0, damping=40.0), name="spring")
    b.add(ub.Cable([far.at(), b.world.at(1, 0, 0), b.world.at(2, 0, 0)], stiffness=500.0, damping=60.0), name="cable")
    rec = ub.Simulation(b.build(), "redmax", dt=1e-2).run(8.0, every=100)
    assert rec.tension("spring")[0] == 0.0
    np.testing.assert_allclose(rec.tension("spring")[-1], 2.0 * 9.81, rtol=1e-6)
    np.testing.assert_allclose(rec.tension("cable")[-1], 3.0 * 9.81, rtol=1e-6)
    with pytest.raises(ModelError, match="force 'rope' is unknown"):
        rec.tension("rope")


def test_tension_counts_damping():
    """Two points that part at 3 m/s, a spring of no stiffness and c = 2 N s/m: T = 6 N."""
    b = ub.Builder(gravity=None)
    one = b.body("one", mass=1.0, inertia=(1, 1, 1), V_WB=(0, 0, 1.0, 1.0, 0, 0))
    two = b.body("two", mass=1.0, inertia=(1, 1, 1), X_WB=ub.Pose((2, 0, 0)), V_WB=(0, 0, 0, 3.0, 7.0, 0))
    b.add(ub.SpringDamper(one.at(0, -1, 0), two.at(0, -1, 0), damping=2.0), name="dashpot")
    # the point at (0, −1, 0) of a body that turns by 1 rad/s about z moves by (1, 0, 0) more
    assert ub.Simulation(b.build()).run(0.0).tension("dashpot")[0] == pytest.approx(2.0 * (3.0 - 2.0), rel=1e-14)


def test_vertices_of_deformables_count_and_are_pulled_at():
    """A rod of 10 g that falls free: p = m g t. The end of a rod on a damped spring: the spring carries the rod at rest, T = m g."""
    b = ub.Builder(gravity=(0, 0, -10.0))
    points = [(0.1 * k, 0, 0) for k in range(4)]
    b.rod("free", points, radius=1e-2, material=ub.RodMaterial(young=1e6), density=1000.0)
    rec = ub.Simulation(b.build(), "barrier", dt=1e-2).run(0.05)
    m = 1000.0 * np.pi * 1e-4 * 0.3
    np.testing.assert_allclose(rec.momentum, np.outer(rec.t, (0, 0, -10.0 * m)), atol=1e-5 * m)  # Newton's tolerance, 1e-5 m/s
    np.testing.assert_allclose(rec.center_of_mass[0], (0.15, 0, 0), atol=1e-14)
    b = ub.Builder(gravity=(0, 0, -10.0))
    rope = b.rod("rope", [(0, 0, -0.1 * k) for k in range(4)], radius=1e-2, material=ub.RodMaterial(young=1e6), density=1000.0)
    b.add(ub.SpringDamper(b.world.at(0, 0, 0.2), rope.vertex(0), stiffness=50.0, damping=5.0, rest_length=0.2), name="spring")
    rec = ub.Simulation(b.build(), "barrier", dt=2e-2).run(3.0, every=150)
    np.testing.assert_allclose(rec.tension("spring")[-1], 10.0 * m, rtol=1e-3)


def test_tables_hold_what_the_recording_says(thrown, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = thrown.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame.index.name == "t"
    assert np.array_equal(frame["one.vz"], thrown.twist("one")[:, 5]) and np.array_equal(frame["link.fx"], thrown.reaction("link")[:, 3])
    assert np.array_equal(thrown["t"], thrown.t) and np.array_equal(thrown["link.v2"], thrown.joint_velocity("link")[:, 2])
    with open(thrown.to_csv(tmp_path / "a.csv")) as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["t", *frame.columns]
    assert np.array_equal(np.array(rows[1:], float)[:, 1:], frame.to_numpy())
    with pytest.raises(ModelError, match=r"recorded quantity 'poke' is unknown; did you mean 'poses'"):
        thrown["poke"]
    with pytest.raises(ModelError, match=r"rec\.some"):
        thrown[0]


def test_tables_hold_contact_forces():
    """A box at rest: the ground carries its weight, and the table says so of both."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("box", shape=ub.Box((0.2, 0.2, 0.2)), mass=2.0, X_WB=ub.Pose((0, 0, 0.1)))
    b.add(ub.Contact(friction=0.5))
    rec = ub.Simulation(b.build(), dt=1e-2).run(0.1)
    assert rec["contacts"][-1] > 0
    np.testing.assert_allclose(rec["box.contact_fz"][-1], 2.0 * 9.81, rtol=1e-6)
    np.testing.assert_allclose(rec["ground.contact_fz"][-1], -2.0 * 9.81, rtol=1e-6)


@pytest.mark.parametrize("sequence", ["xyz", "ZYX", "ZXZ", "YX", "z", "zyz", "XYX"])
def test_poses_from_euler_angles_are_scipys(sequence):
    from scipy.spatial.transform import Rotation

    angles = np.array([0.3, -0.7, 1.9])[: len(sequence)]
    found = ub.Pose.from_euler(sequence, angles, p=(1, 2, 3))
    theirs = Rotation.from_euler(sequence, angles if len(angles) > 1 else angles[0]).as_matrix()
    np.testing.assert_allclose(found.R, theirs, atol=1e-14)
    assert found.p == (1.0, 2.0, 3.0)
    np.testing.assert_allclose(ub.Pose.from_euler(sequence, np.degrees(angles), degrees=True).R, found.R, atol=1e-14)


BAD_ANGLES = [("xYz", (1, 2, 3)), ("", ()), ("xyzx", (1, 2, 3, 4)), ("abc", (1, 2, 3)), (3, (1,)), ("xyz", (1, 2))]


@pytest.mark.parametrize(("sequence", "angles"), BAD_ANGLES)
def test_euler_angles_that_make_no_sense_are_refused(sequence, angles):
    with pytest.raises(ModelError, match=r"Pose\.from_euler"):
        ub.Pose.from_euler(sequence, angles)


def test_the_package_runs_as_the_command():
    told = subprocess.run([sys.executable, "-m", "unibody", "--help"], capture_output=True, text=True, check=True).stdout
    assert "scenes" in told and "run" in told
