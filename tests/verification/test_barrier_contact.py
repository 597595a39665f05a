"""Bodies never intersect: after every step, judged by the field's own toolkit on the recorded vertices, at any speed and any step.

Without the toolkit the exact test of edges against faces judges. Runs are the same bit for bit.
"""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.constraints.contact import Contact
from unibody.solvers.barrier.solver import Barrier

ipctk = pytest.importorskip("ipctk")

TETRAHEDRON = ub.Mesh(np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float), np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]))
BOX = ub.Box((1.0, 1.0, 1.0))


def ground(b, contact=None):
    b.body("ground", shape=ub.Box((20.0, 20.0, 1.0)), kind="static", X_WB=ub.Pose(p=(0.0, 0.0, -0.5)))
    b.add(contact or Contact(friction=0.3, reach=1e-2))


def falling_boxes():
    b = ub.Builder()
    ground(b)
    for k in range(4):
        b.body(f"b{k}", shape=BOX, X_WB=ub.Pose.about((1, 0.3 * k, 0.2), 0.4 * k, p=(0.3 * (k % 2), 0.2 * k, 1.2 + 1.9 * k)))
    return b.build()


def falling_tetrahedra():
    b = ub.Builder()
    ground(b)
    for k in range(4):
        b.body(f"t{k}", shape=TETRAHEDRON, X_WB=ub.Pose.about((0.2, 1, 0.3 * k), 0.9 * k, p=(0.2 * k, 0.1, 1.0 + 1.5 * k)))
    return b.build()


def round_shapes():
    b = ub.Builder()
    ground(b)
    shapes = (ub.Sphere(0.4), ub.Capsule(0.3, 0.8), ub.Cylinder(0.4, 0.9))
    for k, shape in enumerate(shapes):
        b.body(f"r{k}", shape=shape, X_WB=ub.Pose.about((1, 0.5, 0), 0.7 * k, p=(0.1 * k, 0.05 * k, 0.9 + 1.2 * k)))
    return b.build()


def plate_at_1000_metres_per_second():
    b = ub.Builder(gravity=(0, 0, 0))
    b.body("wall", shape=ub.Box((0.02, 2.0, 2.0)), kind="static", X_WB=ub.Pose(p=(5.0, 0.0, 0.0)))
    b.body("plate", shape=ub.Box((0.01, 1.0, 1.0)), X_WB=ub.Pose.about((0.1, 1, 0.2), 0.2), V_WB=(0.0, 3.0, 1.0, 1000.0, 5.0, 0.0))
    b.add(Contact(reach=1e-3, pressure=1e7))
    return b.build()


def body_in_a_slot():
    """A wedge driven into a gap narrower than its foot, turning."""
    b = ub.Builder()
    ground(b)
    for side in (-1, 1):
        b.body(f"cheek{side}", shape=ub.Box((1.0, 1.0, 1.0)), kind="static", X_WB=ub.Pose(p=(side * 0.8, 0.0, 0.52)))
    b.body("wedge", shape=ub.Box((0.55, 0.4, 0.9)), X_WB=ub.Pose.about((0, 1, 0), 0.25, p=(0.0, 0.0, 1.7)), V_WB=(0, 0, 2.0, 0, 0, -5.0))
    return b.build()


def stack():
    b = ub.Builder()
    ground(b)
    for k in range(4):
        b.body(f"s{k}", shape=BOX, X_WB=ub.Pose(p=(0.05 * k, 0.0, 0.51 + 1.01 * k)))
    return b.build()


SCENES = {
    "boxes": (falling_boxes, 0.02, 60), "boxes, 1/24 s": (falling_boxes, 1.0 / 24.0, 40),
    "tetrahedra": (falling_tetrahedra, 1.0 / 24.0, 40),
    "round": (round_shapes, 0.02, 50), "plate": (plate_at_1000_metres_per_second, 1e-3, 20),
    "plate, 1/24 s": (plate_at_1000_metres_per_second, 1.0 / 24.0, 5), "slot": (body_in_a_slot, 0.02, 50), "stack": (stack, 0.02, 50),
}  # fmt: skip


def vertices(bound, state):
    system = bound.system
    return system.affine.surface.positions(system.affine.whole(state.q, state.t))


def run(model, dt, steps, **options):
    """Vertices after every step, and the bound solver."""
    bound = Barrier(**options).bind(model)
    state, memory = bound.start()
    out, control = [vertices(bound, state)], np.zeros(model.nv_joints + 6 * model.n_bodies)
    for _ in range(steps):
        made = bound.step(state, memory, control, dt)
        state, memory = made.state, made.memory
        out.append(vertices(bound, state))
    return np.array(out), bound, state


@pytest.mark.parametrize("name", SCENES)
def test_no_step_intersects(name):
    make, dt, steps = SCENES[name]
    x, bound, _ = run(make(), dt, steps)
    s = bound.system.affine.surface
    mesh = ipctk.CollisionMesh(x[0], ipctk.edges(s.faces), s.faces.astype(np.int32))
    assert np.isfinite(x).all() and np.abs(x[-1] - x[0]).max() > 1e-3
    for row in x:
        assert not ipctk.has_intersections(mesh, row)


def test_the_plate_stays_on_its_side_of_the_wall():
    for dt in (1e-3, 1.0 / 24.0):
        x, bound, _ = run(plate_at_1000_metres_per_second(), dt, 4)
        plate = bound.system.affine.surface.body == 2
        assert x[:, plate, 0].max() < 4.99 and x[-1, plate, 0].max() > 0.2


def test_the_stack_comes_to_rest_with_its_weight_in_the_contacts():
    x, bound, state = run(stack(), 0.02, 60)
    assert np.abs(state.v.reshape(-1, 4, 3)[:, 0]).max() < 0.02
    heights = x[-1].reshape(-1, 3)[bound.system.affine.surface.vertex_start[2:-1], 2]
    assert np.diff(heights) == pytest.approx(np.full(3, 1.0), abs=0.012)


@pytest.mark.parametrize("side", [0.01, 0.1])
@pytest.mark.parametrize("mass", [5e-4, 1.0])
def test_light_cubes_come_to_rest_at_a_tight_tolerance(mass, side):
    """Three on each other, of 0.5 g or 1 kg, at 1e-7 m/s: every step converges, well below the 200 iterations that it may take, and what
    is left of speed is below the tolerance."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    for i in range(3):
        place = ub.Pose((0.1 * side * i, 0.0, 0.55 * side + 1.1 * side * i))
        b.body(f"cube{i}", shape=ub.Box((side,) * 3), density=mass / side**3, X_WB=place)
    b.add(ub.Contact(friction=0.5))
    rec = ub.Simulation(b.build(), Barrier(tolerance=1e-7), dt=0.01).run(1.0)
    assert max(report.iterations for report in rec.reports) < 50
    assert max(np.abs(rec.twist(f"cube{i}")[-1, 3:]).max() for i in range(3)) < 1e-7
    assert min(c.gaps.min() for c in rec.contacts if len(c)) > 0.0


def test_two_runs_are_the_same_bit_for_bit():
    first, second = (run(falling_boxes(), 0.02, 40)[0] for _ in range(2))
    assert (first == second).all()


def test_a_start_that_intersects_or_touches_is_refused_by_name():
    for height in (0.9, 1.0):
        b = ub.Builder()
        b.body("lower", shape=BOX)
        b.body("upper", shape=BOX, X_WB=ub.Pose(p=(0.0, 0.0, height)))
        b.add(Contact())
        with pytest.raises(ub.ModelError, match="'lower' and 'upper'"):
            Barrier().bind(b.build()).start()


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("after", [1e-3, 1e-4])
def test_what_rests_stays_where_steps_become_shorter(soft, after):
    """κ asks for d̂/h²: a barrier that followed the step would hold 100 or 10 000 times its energy and throw what rests on it, at 0.3 and
    3 m/s here. Bodies stay below 1 mm/s, for their own stiffness follows the step; cloth stays below Newton's tolerance."""
    b = ub.Builder()
    b.body("ground", ub.Plane(), kind="static")
    if soft:
        fabric = ub.Fabric(young=1e5, poisson=0.3, thickness=1e-3)
        b.cloth("lies", ub.TriMesh.grid((0.2, 0.2), spacing=0.1), fabric, 500.0, X_WB=ub.Pose((0, 0, 1e-3)))
    else:
        b.body("lies", ub.Box((0.2, 0.2, 0.02)), density=500.0, X_WB=ub.Pose((0, 0, 0.0105)))
    b.add(ub.Contact(friction=0.5, reach=1e-3))
    sim = ub.Simulation(b.build(), "barrier", dt=1e-2)
    sim.run(1.0)
    sim.dt = after
    rec = sim.run(30 * after)
    speed = rec.velocities("lies") if soft else rec.twist("lies")[:, 3:]
    assert np.abs(speed).max() < (1e-5 if soft else 1e-3)
    force = sum(rec.contacts[-1].normal_forces)
    assert force == pytest.approx(rec.model.total_mass * 9.81, rel=0.1)
