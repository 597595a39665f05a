"""Contact in solver `barrier` wherever a scene stands and however large it is: neither the place in the world nor the width of a floor
decides how near things come, and what leaves at once is not rubbed."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

DT = 2e-3


def cubes(at=(0.0, 0.0, 0.0), floor=1.0, height=2e-3, V=(0.0, 0.0, 0.0), mu=0.3) -> ub.Simulation:
    """A rigid cube and a soft one over a floor, gaps of `height` beneath them, all of it moved by `at`."""
    b, p = ub.Builder(), np.array(at)
    b.body("floor", ub.Box((floor, floor, 0.1)), kind="static", X_WB=ub.Pose(tuple(p + (0, 0, -0.05))))
    z, V = 0.05 + height, (0.0, 0.0, 0.0, *V)
    b.body("cube", ub.Box((0.1, 0.1, 0.1)), density=1000, X_WB=ub.Pose(tuple(p + (0, 0, z))), V_WB=V)
    rubber = ub.NeoHookean(young=2e5, poisson=0.3)
    b.soft("soft", ub.TetMesh.box((0.1, 0.1, 0.1), (1, 1, 1)), rubber, 1000, X_WB=ub.Pose(tuple(p + (0, 0.3, z))), V_WB=V)
    b.add(ub.Contact(friction=mu))
    return ub.Simulation(b.build(), ub.solvers.Barrier(tolerance=1e-9), dt=DT)


def test_a_scene_moves_alike_far_from_the_origin():
    """Coordinates of 1 km carry 1e-13 m of round-off; contact multiplies it, but not to a micrometre."""
    here, there = cubes(V=(0.3, 0, 0)).run(0.04), cubes((1000.0, -500.0, 30.0), V=(0.3, 0, 0)).run(0.04)
    for a, b in ((here.vertices("soft"), there.vertices("soft")), (here.pose("cube")[:, :3], there.pose("cube")[:, :3])):
        assert a - a[0] == pytest.approx(b - b[0], abs=1e-6)
    assert here.contact_forces("soft")[-1, :, 2].sum() > 1.0


def test_a_cube_rests_on_its_floor_however_wide_that_is():
    """Beneath it is at most the distance at which its barrier begins, a thirtieth of its size (0.17 m); a thousandth of the wide floor is
    1.4 m, in which a cube hung that fell from 0.05 m."""
    recording = ub.Simulation(cubes(floor=1000.0, height=0.05).model, "barrier", dt=0.01).run(0.2)
    for low in (recording.pose("cube")[-1, 2] - 0.05, recording.vertices("soft")[-1, :, 2].min()):
        assert 0.0 < low < 0.03 * np.sqrt(0.03)


@pytest.mark.parametrize("rule", ["implicit", "bdf2"])
@pytest.mark.parametrize("height", [1e-4, 5e-4])
def test_what_leaves_the_floor_in_its_first_step_is_not_rubbed(rule, height):
    """Friction of a first step is found from forces as if all that is near leaned on what it is near; there are none, and free flight
    keeps the speed along the floor to Newton's tolerance."""
    sim = cubes(height=height, V=(1.0, 0.0, 0.5), mu=0.5)
    sim = ub.Simulation(sim.model, ub.solvers.Barrier(rule=rule, tolerance=1e-9), dt=1e-3)
    sim.step()
    seen = sim.run(0.0)
    assert seen.twist("cube")[-1] == pytest.approx([0, 0, 0, 1.0, 0, 0.5 - 9.81e-3], abs=1e-8)
    assert seen.velocities("soft")[-1].mean(axis=0) == pytest.approx([1.0, 0, 0.5 - 9.81e-3], abs=1e-8)
