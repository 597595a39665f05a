"""Impacts at speeds and steps that nobody prepared for: no pressure is given, nothing intersects (judged by the field's own toolkit), and
what mathematics says of momentum and weight holds."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.solvers.barrier.solver import Barrier

GRAVITY = 9.81


def steps(model: ub.Model, dt: float, count: int, **options):
    """The bound solver, and state and memory after every step."""
    bound = Barrier(**options).bind(model)
    out, control = [bound.start()], np.zeros(model.nv_joints + 6 * model.n_bodies)
    for _ in range(count):
        made = bound.step(*out[-1], control, dt)
        out.append((made.state, made.memory))
    return bound, out


def refuse_intersections(bound, out) -> None:
    ipctk = pytest.importorskip("ipctk")
    s = bound.system.affine.surface
    x = [s.positions(bound.system.affine.whole(state.q, state.t)) for state, _ in out]
    mesh = ipctk.CollisionMesh(x[0], ipctk.edges(s.faces), s.faces.astype(np.int32))
    for row in x:
        assert np.isfinite(row).all() and not ipctk.has_intersections(mesh, row)


def plate() -> ub.Model:
    b = ub.Builder(gravity=None)
    b.body("wall", shape=ub.Box((0.02, 2.0, 2.0)), kind="static", X_WB=ub.Pose(p=(5.0, 0.0, 0.0)))
    b.body("plate", shape=ub.Box((0.01, 1.0, 1.0)), X_WB=ub.Pose.about((0.1, 1, 0.2), 0.2), V_WB=(0.0, 3.0, 1.0, 1000.0, 5.0, 0.0))
    b.add(ub.Contact())
    return b.build()


@pytest.mark.parametrize(("dt", "count"), [(1e-3, 12), (1.0 / 240.0, 6), (1.0 / 24.0, 4)])
def test_a_plate_of_one_centimetre_at_1000_metres_per_second(dt, count):
    bound, out = steps(plate(), dt, count)
    refuse_intersections(bound, out)
    s = bound.system.affine.surface
    for state, _ in out:
        assert s.positions(bound.system.affine.whole(state.q, state.t))[s.body == 2, 0].max() < 4.99
    # The wall is flat and smooth: what moves along it keeps its momentum.
    assert out[-1][0].v[1:3] == pytest.approx([5.0, 0.0], abs=1e-2)


def thrown(n: int, friction: float = 0.0) -> ub.Model:
    """Cubes of 0.2 m, every which way, thrown at a wall with 100 m/s: a metre per step."""
    rng, b = np.random.default_rng(0), ub.Builder(gravity=None)
    b.body("wall", shape=ub.Box((0.2, 40.0, 40.0)), kind="static", X_WB=ub.Pose(p=(3.0, 0.0, 0.0)))
    for k in range(n):
        place = (0.45 * (k // 4), 0.4 * (k % 2), 0.4 * (k // 2 % 2))
        X = ub.Pose.about(rng.normal(size=3), rng.uniform(0, 3), p=place)
        b.body(f"cube{k}", shape=ub.Box((0.2,) * 3), X_WB=X, V_WB=(*rng.normal(size=3), 100.0, 0.0, 0.0))
    b.add(ub.Contact(friction=friction))
    return b.build()


@pytest.mark.parametrize("n", [4, 12])
def test_cubes_thrown_at_a_wall_keep_their_momentum_along_it(n):
    bound, out = steps(thrown(n), 0.01, 12)
    refuse_intersections(bound, out)
    momentum = np.array([state.v.reshape(-1, 4, 3)[:, 0].sum(axis=0) * 8.0 for state, _ in out])
    assert np.abs(momentum[:, 1:] - momentum[0, 1:]).max() < 1e-3 * momentum[0, 0]
    assert momentum[-1, 0] < 0.5 * momentum[0, 0]


def test_cubes_that_rub_are_thrown_too():
    bound, out = steps(thrown(8, friction=0.5), 0.01, 8)
    refuse_intersections(bound, out)


def test_light_cards_carry_heavy_blocks():
    """Three cards of 0.2 g … 20 g between blocks of 1000 kg: contacts carry the weights above them, in barriers not yet used up."""
    b = ub.Builder(gravity=(0, 0, -GRAVITY))
    b.body("ground", shape=ub.Plane(), kind="static")
    z, gap = 0.0, 8e-4
    for k, density in enumerate((10.0, 100.0, 1000.0)):
        b.body(f"card{k}", shape=ub.Box((0.2, 0.1, 1e-3)), density=density, X_WB=ub.Pose(p=(0, 0, z + gap + 5e-4)))
        z += gap + 1e-3
        b.body(f"block{k}", shape=ub.Box((0.5, 0.5, 0.5)), mass=1000.0, X_WB=ub.Pose(p=(0, 0, z + gap + 0.25)))
        z += gap + 0.5
    b.add(ub.Contact(friction=0.3, reach=1e-3))
    rec = ub.Simulation(b.build(), Barrier(tolerance=1e-7), dt=0.01).run(1.0)
    last = rec.contacts[-1]
    ground = last.bodies.min(axis=1) == 1
    weight = sum(body.mass for body in rec.model.bodies if body.kind == "dynamic") * GRAVITY
    assert last.normal_forces[ground].sum() == pytest.approx(weight, rel=1e-3)
    assert last.gaps.min() > 0.015e-3
    for body in rec.model.bodies[2:]:  # all are where they were, but for the gaps, which close by as much as a reach each
        assert np.abs(rec.point(body.name)[-1] - rec.point(body.name)[0]).max() < 6e-3


def test_a_run_that_is_continued_goes_on_bit_for_bit():
    """κ that rose with speed is memory."""
    bound, out = steps(thrown(4), 0.01, 8)
    again = Barrier().bind(thrown(4))
    state, memory = out[4]
    memory = memory.copy()
    for k in range(4):
        made = again.step(state, memory, np.zeros(6 * 6 + again.model.nv_joints), 0.01)
        state, memory = made.state, made.memory
        assert (state.q == out[5 + k][0].q).all() and (memory == out[5 + k][1]).all()
    assert max(bound.memory_schema.view(kept).stiffer.max() for _, kept in out) > 3.0


def test_a_pressure_that_is_given_holds_at_any_speed():
    b = ub.Builder(gravity=None)
    b.body("a", shape=ub.Box((0.1,) * 3), V_WB=(0, 0, 0, 500.0, 0, 0))
    b.body("b", shape=ub.Box((0.1,) * 3), X_WB=ub.Pose(p=(0.5, 0, 0)), mass=100.0)
    b.add(ub.Contact(pressure=123.0))
    bound, out = steps(b.build(), 1e-3, 3)
    law = bound.system.law(1e-3, out[-1][1])
    assert law.pressure == 123.0 and (law.parts == 1.0).all()
    assert (bound.memory_schema.view(out[-1][1]).stiffer == 0.0).all()


def test_forces_on_a_side_of_a_box_are_normal_and_friction_as_statics_says():
    """A block rests, aslant, on a sloping box of two triangles a side, over their diagonal: N = m g cos α, T = m g sin α."""
    angle = 0.3
    b = ub.Builder(gravity=(0, 0, -GRAVITY))
    X = ub.Pose.about((0, 1, 0), angle)
    b.body("slope", shape=ub.Box((4, 4, 0.5)), kind="static", X_WB=ub.Pose.about((0, 1, 0), angle, p=X.R @ np.array([0, 0, -0.25])))
    above = X @ ub.Pose.about((0, 0, 1), 0.4, p=(0.0, 0.0, 0.1008))
    b.body("block", shape=ub.Box((0.5, 0.5, 0.2)), mass=50.0, X_WB=above)
    b.add(ub.Contact(friction=0.6, reach=1e-3))
    solver = Barrier(tolerance=1e-8, friction_iterations=0, slip_speed=1e-4)
    last = ub.Simulation(b.build(), solver, dt=0.02).run(1.0).contacts[-1]
    up, down = X.R[:, 2], X.R[:, 0]
    side = np.where(last.bodies[:, :1] == 2, 1.0, -1.0)
    assert (side * last.normals) @ up == pytest.approx(np.ones(len(side)), abs=1e-9)
    assert last.normal_forces.sum() == pytest.approx(50.0 * GRAVITY * np.cos(angle), rel=1e-4)
    assert ((side * last.friction) @ down).sum() == pytest.approx(-50.0 * GRAVITY * np.sin(angle), rel=1e-3)


def test_a_hanging_cradle_passes_its_momentum_on():
    """Just before the blow of the scene's fall from 40°: the last cube takes at least 98 % of the first one's speed, the others rest."""
    model, n, speed = ub.scenes.build("newtons-cradle"), 5, 3.02
    start = ub.State(0.0, np.eye(1, n)[0] * 0.04, -np.eye(1, n)[0] * speed, "reduced")
    rec = ub.Simulation(model, Barrier(rule="bdf2", tolerance=1e-6), dt=2e-4, state=start).run(0.05)
    spins = np.array([rec.twist(f"cube{k}")[:, 1] for k in range(n)])
    blow = np.abs(spins[0]).max()
    assert blow == pytest.approx(speed, rel=5e-3)
    assert 0.98 * blow < np.abs(spins[-1]).max() < 1.001 * blow
    assert np.abs(spins[:-1, -1]).max() < 0.02 * blow


def test_a_driven_body_that_is_held_up_is_named_with_what_holds_it():
    b = ub.Builder(gravity=None)
    b.body("bar", shape=ub.Box((1, 0.2, 0.2)), kind="kinematic", V_WB=(0, 0, 0, 5.0, 0, 0))
    b.body("far", shape=ub.Box((0.2,) * 3), X_WB=ub.Pose(p=(0, 3, 0)))
    b.body("wall", shape=ub.Box((0.2, 2, 2)), kind="static", X_WB=ub.Pose(p=(0.75, 0, 0)))
    b.add(ub.Contact())
    with pytest.raises(ub.StepFailed, match="'bar' does not get to its place: 'wall' is in the way"):
        steps(b.build(), 0.05, 3)


def test_a_plane_that_turns_never_passes_a_block():
    """A driven half-space tips up with 2 rad/s under a smooth block: at coarse steps every corner stays above, and the block is lifted."""
    b = ub.Builder(gravity=(0, 0, -GRAVITY))
    b.body("flap", shape=ub.Plane(), kind="kinematic", V_WB=(0, -2.0, 0, 0, 0, 0))
    b.body("block", shape=ub.Box((0.4, 0.4, 0.2)), X_WB=ub.Pose(p=(0.5, 0, 0.11)))
    b.add(ub.Contact())
    bound, out = steps(b.build(), 1.0 / 24.0, 10)
    s = bound.system.affine.surface
    for state, _ in out:
        Q = bound.system.affine.whole(state.q, state.t)
        point, normal = s.planes(Q)
        assert normal[0] == pytest.approx([-np.sin(2.0 * state.t), 0.0, np.cos(2.0 * state.t)], abs=1e-9)
        assert ((s.positions(Q) - point[0]) @ normal[0] > 0.0).all()
    assert out[-1][0].q[2] > 0.3


def test_needle_triangles_carry_weight_like_others():
    """A cube whose lower side is cut into needles 10⁻⁷ wide rests on a box with its weight, and crosses nothing."""
    x, f = (np.array(a) for a in ub.Box((0.4, 0.4, 0.4)).triangles())
    low = [k for k, face in enumerate(f) if (x[face, 2] < 0).all()]
    a, c, d = f[low[0]]
    point = 0.5 * (x[a] + x[c]) + 1e-7 * (x[d] - x[c])
    faces = np.concatenate([np.delete(f, low[0], axis=0), [(a, c, len(x)), (c, d, len(x)), (d, a, len(x))]])
    b = ub.Builder(gravity=(0, 0, -GRAVITY))
    b.body("table", shape=ub.Box((2, 2, 0.2)), kind="static", X_WB=ub.Pose(p=(0, 0, -0.1)))
    b.body("cube", shape=ub.Mesh(np.concatenate([x, [point]]), faces), mass=10.0, X_WB=ub.Pose(p=(0.1, 0.05, 0.2008)))
    b.add(ub.Contact(friction=0.3, reach=1e-3))
    rec = ub.Simulation(b.build(), Barrier(tolerance=1e-7), dt=0.01).run(0.5)
    assert rec.contacts[-1].normal_forces.sum() == pytest.approx(10.0 * GRAVITY, rel=1e-3)
    assert 0.2 < rec.point("cube")[-1, 2] < 0.201
