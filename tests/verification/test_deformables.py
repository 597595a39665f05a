"""Cloth, rods and soft solids under `barrier`: laws of motion without contact, attachments, prescribed vertices, continuation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import unibody as ub
from unibody.energies import Energy, Stencils
from verification.soft_meshes import block, sheet

G = 9.81
RUBBER = ub.NeoHookean(young=1e5, poisson=0.4)


@dataclass(frozen=True)
class Spring(Energy):
    """½ k (|x₁ − x₀| − L)² of every edge: a class of a user's own, with NumPy methods only."""

    k: float
    thickness: float = 1e-3

    vertices = 2

    def rest(self, X):
        return np.linalg.norm(X[:, 1] - X[:, 0], axis=1)[:, None]

    def value(self, parameters, x):
        return 0.5 * self.k * (np.linalg.norm(x[1] - x[0]) - parameters[0]) ** 2

    def gradient(self, parameters, x):
        d = x[1] - x[0]
        length = np.linalg.norm(d)
        f = self.k * (length - parameters[0]) * d / length
        return np.stack([-f, f])

    def hessian(self, parameters, x, project):
        d = x[1] - x[0]
        length = np.linalg.norm(d)
        n = d / length
        across = 1.0 - parameters[0] / length
        K = self.k * (np.outer(n, n) + (max(across, 0.0) if project else across) * (np.eye(3) - np.outer(n, n)))
        return np.block([[K, -K], [-K, K]])

    def stencils(self, mesh):
        cells = mesh.faces if hasattr(mesh, "faces") else mesh.edges
        edges = np.unique(np.sort(np.concatenate([cells[:, :2], cells[:, -2:], cells[:, [0, -1]]]), axis=1), axis=0)
        return [Stencils(self, edges, self.rest(mesh.vertices[edges]))]


def masses(model: ub.Model) -> np.ndarray:
    return np.concatenate([d.mass for d in model.deformables])


def run(b: ub.Builder, seconds: float, dt: float = 0.01, **options) -> ub.Recording:
    return ub.Simulation(b.build(), ub.solvers.Barrier(**options), dt=dt).run(seconds)


def momenta(rec: ub.Recording, name: str) -> tuple[np.ndarray, np.ndarray]:
    """(T, 3) of its vertices: linear, and about the origin."""
    x, v, m = rec.vertices(name), rec.velocities(name), rec.model.deformable(name).mass[:, None]
    return (m * v).sum(axis=1), (m * np.cross(x, v)).sum(axis=1)


def tumbling(**options) -> ub.Builder:
    b = ub.Builder(gravity=(0, 0, 0))
    b.soft("cube", block((0.1, 0.2, 0.1), (1, 2, 1)), RUBBER, density=1000, V_WB=(3.0, 1.0, 2.0, 0.5, -0.2, 0.1))
    return b


@pytest.mark.parametrize("rule", ["implicit", "bdf2"])
def test_a_free_solid_falls_with_g(rule):
    """The centre of mass of what is only pulled by g: implicit Euler is ahead by g h t / 2, exactly; BDF-2, whose first step is implicit
    Euler's, by what that step left, of second order."""
    b = ub.Builder()
    b.soft("cube", block((0.1, 0.1, 0.1), (1, 1, 1)), RUBBER, density=1000, V_WB=(1.0, 2.0, 3.0, 0.5, 0, 0))
    rec = run(b, 0.2, rule=rule)
    m, t = masses(rec.model), rec.t
    centre = np.einsum("n,tni->ti", m / m.sum(), rec.vertices("cube"))
    exact = 0.5 * t[:, None] * np.array([1.0, 0, 0]) - 0.5 * G * t[:, None] ** 2 * np.array([0, 0, 1.0])
    ahead = 0.5 * G * 0.01 * t if rule == "implicit" else np.zeros_like(t)
    tolerance = 1e-9 if rule == "implicit" else 0.75 * G * 0.01**2
    assert np.abs(centre - exact + ahead[:, None] * np.array([0, 0, 1.0])).max() < tolerance


def test_momentum_of_a_free_solid_is_kept():
    """Internal forces add up to nothing: linear momentum to the tolerance. Angular momentum is that of the rule's midpoint: implicit Euler
    loses it in first order of the step, BDF-2 in second, so halving the step leaves a half and a quarter."""
    lost = {}
    for rule in ("implicit", "bdf2"):
        for dt in (0.01, 0.005):
            rec = run(tumbling(), 0.2, dt, rule=rule, tolerance=1e-8)
            linear, angular = momenta(rec, "cube")
            assert np.abs(linear - linear[0]).max() < 1e-8
            lost[rule, dt] = np.linalg.norm(angular[-1] - angular[0]) / np.linalg.norm(angular[0])
    assert 1.7 < lost["implicit", 0.01] / lost["implicit", 0.005] < 2.3
    assert lost["bdf2", 0.01] / lost["bdf2", 0.005] > 3.0
    assert lost["bdf2", 0.005] < 0.01


def test_energy_of_a_free_solid_is_kept_to_second_order():
    """A tumbling solid swings in itself: BDF-2 keeps the sum of kinetic and stored energy with an error of second order or better."""
    error = []
    for dt in (0.004, 0.002):
        e = run(tumbling(), 0.1, dt, rule="bdf2", tolerance=1e-8).energy
        error.append(abs(e.total[-1] - e.total[0]) / e.total[0])
    assert error[1] < error[0] / 3.0
    assert error[1] < 1e-3


def hanging(attach: bool) -> ub.Builder:
    """A block of rubber at the end of a hinged arm."""
    b = ub.Builder()
    arm = b.body("arm", shape=ub.Box((0.5, 0.05, 0.05)))
    b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, arm, X_BM=ub.Pose((-0.25, 0, 0)), q=-0.3)
    soft = b.soft("cube", block((0.1, 0.1, 0.1), (2, 2, 2)), RUBBER, density=1000, X_WB=ub.Pose((0.25, 0, -0.08)))
    b.attach(soft.vertices[soft.vertices.x[:, 0] < 0.21], arm)
    if attach:
        cloth = b.cloth("flag", sheet((0.1, 0.1), (2, 2)), Spring(100.0), density=1000, X_WB=ub.Pose((0.35, 0, -0.08)))
        b.attach(cloth.vertices[cloth.vertices.x[:, 0] < 0.301], soft.vertices[[19, 22, 25]])
    return b


def test_attached_vertices_are_points_of_their_body_exactly():
    """x = t + A p of a body, Σ wₖ xₖ of vertices, at every step: not held by forces, but the same numbers."""
    rec = run(hanging(True), 0.2)
    of_body, of_vertices = rec.model.attachments
    first = rec.model.deformable("flag").first
    for o, cube, flag in zip(rec.observations, rec.vertices("cube"), rec.vertices("flag"), strict=True):
        M = o.material[rec.model.body("arm")]
        assert np.abs(cube[of_body.vertices] - M[0] - of_body.p @ M[1:]).max() < 1e-12
        held = np.einsum("nk,nki->ni", of_vertices.weights, np.where(of_vertices.support[:, :, None] >= 0, cube[of_vertices.support], 0.0))
        assert np.abs(flag[of_vertices.vertices - first] - held).max() < 1e-12


def test_reactions_of_an_attachment_carry_what_hangs_on_it():
    """At rest the forces on the held vertices of a sheet carry its weight, also where it hangs on a wall."""
    b = ub.Builder()
    wall = b.body("wall", shape=ub.Box((0.1, 0.1, 0.1)), kind="static", X_WB=ub.Pose((-0.2, 0, 0)))
    cloth = b.cloth("flag", sheet((0.1, 0.1), (2, 2)), Spring(1000.0), density=1000, X_WB=ub.Pose.about((0, 1, 0), 0.5 * np.pi))
    name = b.attach(cloth.vertices[cloth.vertices.x[:, 2] > 0.04], wall)
    rec = run(b, 3.0, dt=0.05)
    weight = masses(rec.model).sum() * G
    assert rec.reaction(name)[-1].sum(axis=0) == pytest.approx([0, 0, weight], abs=1e-5 * weight)


def test_prescribed_vertices_go_where_they_are_told_and_say_what_they_take():
    """A sheet held at two sides that move up with the acceleration a: at every step they are where the motion says. Once it moves on
    without swinging, the forces on them are m (g + a)."""
    a = 2.0
    b = ub.Builder()
    cloth = b.cloth("flag", sheet((0.2, 0.2), (2, 2)), Spring(1000.0), density=1000)
    held = cloth.vertices[np.abs(cloth.vertices.x[:, 0]) > 0.09]
    start = cloth.vertices.x[held.index]
    name = b.prescribe(held, lambda t: start + [0, 0, 0.5 * a * t * t])
    rec = run(b, 2.0, dt=0.02)
    index = rec.model.prescribed[0].vertices
    for t, x in zip(rec.t, rec.vertices("flag"), strict=True):
        assert np.abs(x[index] - start - [0, 0, 0.5 * a * t * t]).max() < 1e-12
    whole = masses(rec.model).sum() * (G + a)
    assert rec.reaction(name)[-1].sum(axis=0) == pytest.approx([0, 0, whole], rel=0.01, abs=0.01 * whole)


def test_a_class_of_ones_own_swings_like_a_pendulum_of_springs():
    """An energy of this file, in NumPy: one mass on a spring, ω = √(k/m), by BDF-2 to its order."""
    k, count = 50.0, 3
    b = ub.Builder(gravity=(0, 0, 0))
    rod = b.rod("rod", [(0, 0, 0), (0.1, 0, 0)], radius=1e-3, material=Spring(k), density=1e5, start=[(0, 0, 0), (0.11, 0, 0)])
    b.prescribe(rod.vertices[[0]])
    m = masses(b.build())[1]
    period = 2.0 * np.pi * np.sqrt(m / k)
    rec = run(b, count * period, dt=period / 100, rule="bdf2", tolerance=1e-9)
    x = rec.vertices("rod")[:, 1, 0] - 0.1
    # BDF-2 turns the phase by (ωh)²/3 of itself, here 3e-4, and damps in third order
    assert x == pytest.approx(0.01 * np.cos(2.0 * np.pi * rec.t / period), abs=0.01 * (0.03 + 2e-3))


def scene(contact: bool = True) -> ub.Builder:
    """A bit of everything: a driven pusher, a jointed arm with cloth, a soft cube that lands on both."""
    b = hanging(True)
    b.body("ground", shape=ub.Plane(), kind="static", X_WB=ub.Pose((0, 0, -0.4)))
    b.soft(
        "ball",
        block((0.1, 0.1, 0.1), (1, 1, 1)),
        ub.NeoHookean(young=2e4, poisson=0.3, damping=1e-3),
        density=500,
        X_WB=ub.Pose((0.2, 0, 0.25)),
    )
    if contact:
        b.add(ub.Contact(friction=0.4, damping=1e-3, self_contact=True, reach=2e-3))
    return b


@pytest.mark.parametrize("rule", ["implicit", "bdf2"])
def test_a_rollout_is_its_steps_and_continues_bit_for_bit(rule, tmp_path):
    model = scene().build()
    bound = ub.solvers.Barrier(rule=rule).bind(model)
    state, memory = bound.start()
    control = model.neutral_control()
    after, kept, _, _ = bound.rollout(state, memory, control, 0.01, 24)
    for k in range(24):
        if k == 12:  # another solver, which knows nothing of what was before
            bound = ub.solvers.Barrier(rule=rule).bind(scene().build())
        made = bound.step(state, memory, control, 0.01)
        state, memory = made.state, made.memory
    assert np.array_equal(state.q, after.q) and np.array_equal(state.v, after.v) and np.array_equal(memory, kept)


@pytest.mark.parametrize("where", ["vertex", "face", "attached vertex"])
def test_springs_and_dampers_act_on_points_of_cloth(where):
    """A sheet hangs by a spring from the ceiling, at a vertex, at a point of a face, or at a vertex that belongs to a weight under it: at
    rest the spring is stretched by the whole weight over k, and its damper has brought it there."""
    k, b = 100.0, ub.Builder()
    cloth = b.cloth("flag", sheet((0.1, 0.1), (2, 2)), Spring(1000.0), density=1000)
    weight = b.body("weight", shape=ub.Sphere(0.01), mass=0.1, X_WB=ub.Pose((0, 0, -0.05)))
    b.attach(cloth.vertices[[4]], weight)
    point = {"vertex": cloth.vertex(0), "face": cloth.at(face=0, weights=(0.25, 0.25, 0.5)), "attached vertex": cloth.vertex(4)}[where]
    top = b.world.at(0, 0, 0.5)
    b.add(ub.SpringDamper(top, point, stiffness=k, rest_length=0.2, damping=2.0))
    rec = run(b, 4.0, dt=0.08)
    x, model = rec.vertices("flag")[-1], rec.model
    at = {"vertex": x[0], "face": np.array([0.25, 0.25, 0.5]) @ x[model.deformables[0].mesh.faces[0]], "attached vertex": x[4]}[where]
    assert np.linalg.norm([0, 0, 0.5] - at) == pytest.approx(0.2 + model.total_mass * G / k, rel=1e-4)


def test_a_cable_and_a_fixed_point_hold_points_of_cloth():
    """A range of distance ends where it should, and a point that is held by a constraint stays there to the error of a stiff potential."""
    b = ub.Builder()
    cloth = b.cloth("flag", sheet((0.1, 0.1), (2, 2)), Spring(1000.0), density=1000)
    b.add(ub.DistanceRange(b.world.at(0, 0, 0.1), cloth.vertex(0), upper=0.2))
    b.add(ub.FixedPoint(cloth.vertex(8), (0.05, 0.05, 0.0)))
    rec = run(b, 0.5)
    x = rec.vertices("flag")
    assert (np.linalg.norm(x[:, 0] - [0, 0, 0.1], axis=1) < 0.2).all()
    assert np.abs(x[:, 8] - [0.05, 0.05, 0.0]).max() < 1e-5


def test_failures_and_bad_starts_name_the_deformable():
    b = ub.Builder()
    b.soft("cube", block((0.1, 0.1, 0.1), (1, 1, 1)), RUBBER, density=1000, start=-block((0.1, 0.1, 0.1), (1, 1, 1)).vertices)
    with pytest.raises(ub.ModelError, match="'cube'"):
        ub.Simulation(b.build(), "barrier", dt=0.01)
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.cloth("flag", sheet((0.1, 0.1), (2, 2)), Spring(1000.0), density=1000, X_WB=ub.Pose.about((0, 1, 0), 0.3))
    b.add(ub.Contact())
    with pytest.raises(ub.ModelError, match="'ground' and 'flag' intersect at the start"):
        ub.Simulation(b.build(), "barrier", dt=0.01)
    b = ub.Builder()
    mesh = sheet((0.2, 0.1), (4, 2))
    folded = mesh.vertices.copy()
    folded[:, 0] = np.abs(folded[:, 0])
    folded[:, 2] = np.where(mesh.vertices[:, 0] > 0.0, mesh.vertices[:, 0] - 0.05, 0.0)
    b.cloth("flag", mesh, Spring(1000.0), density=1000, start=folded)
    b.add(ub.Contact(self_contact=True))
    with pytest.raises(ub.ModelError, match="'flag' crosses itself at the start"):
        ub.Simulation(b.build(), "barrier", dt=0.01)


def test_a_spring_between_cloth_and_a_body_pulls_both():
    """Linear momentum of both together is kept, and the spring ends at its length, also if it is a class without a kernel."""

    class Elastic(ub.SpringDamper):
        add_kernel = implicit_kernel = None

    for kind in (ub.SpringDamper, Elastic):
        b = ub.Builder(gravity=(0, 0, 0))
        cloth = b.cloth("flag", sheet((0.1, 0.1), (2, 2)), Spring(1000.0), density=1000)
        ball = b.body("ball", shape=ub.Sphere(0.02), mass=0.02, X_WB=ub.Pose((0, 0, 0.2)))
        b.add(kind(cloth.vertex(4), ball.at(0, 0, 0), stiffness=50.0, damping=0.3, rest_length=0.1))
        rec = run(b, 1.0, tolerance=1e-8)
        x, m = rec.vertices("flag"), masses(rec.model)
        centre = (m @ x[-1] + 0.02 * rec.point("ball", (0, 0, 0))[-1]) / (m.sum() + 0.02)
        assert centre == pytest.approx([0, 0, 0.02 * 0.2 / (m.sum() + 0.02)], abs=1e-7)
        assert np.linalg.norm(x[-1, 4] - rec.point("ball", (0, 0, 0))[-1]) == pytest.approx(0.1, abs=2e-3)


def test_a_body_may_be_inside_an_open_tube_and_not_inside_a_closed_skin():
    """An open surface encloses nothing; in a closed one there is no way out, so such a start is taken for a mistake."""
    tube = ub.TriMesh.cylinder(0.1, 0.4, 0.05)
    fabric = ub.Fabric(young=1e5, poisson=0.3, thickness=1e-3)

    def model(mesh):
        b = ub.Builder(gravity=None)
        b.body("ball", ub.Sphere(0.05), mass=0.1)
        b.cloth("skin", mesh, fabric, 500.0)
        b.add(ub.Contact(reach=1e-3))
        return b.build()

    rec = ub.Simulation(model(tube), "barrier", dt=1e-2).run(0.05)
    assert np.abs(rec.pose("ball")[:, :3]).max() < 1e-9
    solid = ub.TetMesh.ball(0.2, 4)
    used, faces = np.unique(solid.surface(), return_inverse=True)
    ball = solid.vertices[used], faces.reshape(-1, 3)
    with pytest.raises(ub.ModelError, match="'ball' and 'skin'"):
        ub.Simulation(model(ub.TriMesh(*ball)), "barrier", dt=1e-2).run(0.01)


def test_long_runs_know_where_bodies_beside_deformables_are():
    """A body falls beside a cloth for 3 s without a floor: the run ends, and says that it falls."""
    b = ub.Builder()
    b.body("stone", ub.Sphere(0.05), mass=0.1, X_WB=ub.Pose((1, 0, 0)))
    b.cloth("cloth", ub.TriMesh.grid((0.2, 0.2), spacing=0.1), ub.Fabric(young=1e4, poisson=0.3, thickness=1e-3), 500.0)
    with pytest.warns(ub.UnibodyWarning, match="fall"):
        rec = ub.Simulation(b.build(), "barrier", dt=2e-2).run(3.0, every=50)
    # implicit Euler falls by g t (t + h) / 2
    assert rec.pose("stone")[-1, 2] == pytest.approx(-0.5 * 9.81 * 3.0 * 3.02, rel=1e-6)


def test_a_table_moves_vertices_to_its_end():
    """½ a t² through three times is told exactly by a cubic with three-point slopes: at the last time, too, vertices are where it ends,
    with its speed a t, here and where the scene is turned by a half turn."""
    a, times = 3.0, (0.0, 0.05, 0.1)
    for place in (None, ub.Pose((1, 0, 0), (0, 0, 0, 1))):
        b = ub.Builder()
        cloth = b.cloth("flag", sheet((0.2, 0.2), (2, 2)), Spring(1000.0), density=1000)
        held = cloth.vertices[np.abs(cloth.vertices.x[:, 0]) > 0.09]
        start = cloth.vertices.x[held.index]
        b.prescribe(held, ub.Table(times, [(start + [0.5 * a * t * t, 0, 0]).ravel() for t in times]))
        if place is not None:
            outer = ub.Builder()
            outer.include(b.build(), at=place)
            b = outer
        rec = run(b, times[-1])
        sign, end = (1.0, start) if place is None else (-1.0, start @ place.R.T + np.array(place.p))
        index = rec.model.prescribed[0].vertices
        np.testing.assert_allclose(rec.vertices("flag")[-1, index], end + [sign * 0.5 * a * 0.01, 0, 0], atol=1e-12)
        np.testing.assert_allclose(rec.velocities("flag")[-1, index, 0], sign * a * 0.1, rtol=1e-12)


def test_a_motion_that_fails_later_is_named():
    b = ub.Builder()
    cloth = b.cloth("flag", sheet((0.2, 0.2), (2, 2)), Spring(1000.0), density=1000)
    start = cloth.vertices.x[:2]
    b.prescribe(cloth.vertices[:2], lambda t: start if t < 0.015 else {}["nothing"], name="hand")
    with pytest.raises(ub.StepFailed, match="failed near 'hand': KeyError: 'nothing'"):
        run(b, 0.1)


def test_a_rope_hangs_from_a_body_that_is_welded_fast():
    """Joints leave nothing free; the weld carries both weights."""
    b = ub.Builder()
    ball = b.body("ball", shape=ub.Sphere(0.05), mass=1.0, X_WB=ub.Pose((0, 0, 1)))
    b.joint("weld", ub.Weld(), b.world, ball, X_PF=ub.Pose((0, 0, 1)))
    rope = b.rod("rope", np.linspace((0, 0, 1), (0, 0, 0.5), 6), 0.01, ub.RodMaterial(young=1e7, damping=0.01), density=900)
    b.attach(rope.end(0), ball)
    rec = run(b, 1.0)
    assert rec.reaction("weld")[-1, 3:] == pytest.approx([0, 0, rec.model.total_mass * G], abs=1e-6)


def test_a_spring_acts_on_a_point_of_a_quadratic_tetrahedron():
    """Σ wₖ xₖ over its ten vertices, of which each gets its share of the force: a free block under one spring gains its impulse."""
    k, b = 50.0, ub.Builder(gravity=None)
    solid = b.soft("block", block((0.2, 0.1, 0.1), (2, 1, 1)), RUBBER, density=1000, order=2)
    b.add(ub.SpringDamper(b.world.at(0.3, 0, 0.3), solid.at(tet=3, weights=(0.1, 0.2, 0.3, 0.4)), stiffness=k, rest_length=0.0))
    rec = run(b, 0.05)
    (point,) = rec.model.vertex_points
    assert len(point.vertices) == 10
    pull = k * (np.array([0.3, 0, 0.3]) - rec.vertices("block")[1:, point.vertices].transpose(0, 2, 1) @ point.weights)
    np.testing.assert_allclose(rec.momentum[-1], 0.01 * pull.sum(axis=0), rtol=1e-4)  # implicit Euler: forces at the ends of steps


def test_states_of_deformables_are_understood_between_runs():
    """A long fall is watched and told of; a state with a solid inside out is refused by name."""
    b = ub.Builder()
    solid = b.soft("cube", block((0.1, 0.1, 0.1), (1, 1, 1)), RUBBER, density=1000)
    ball = b.body("ball", shape=ub.Sphere(0.02), mass=0.1, X_WB=ub.Pose((0, 0, 0.05)))
    b.attach(solid.vertices[[0]], ball)
    simulation = ub.Simulation(b.build(), "barrier", dt=0.05)
    with pytest.warns(ub.UnibodyWarning, match="falls for ever|has fallen"):
        fall = simulation.run(5.0).pose("ball")[-1, 2]
    assert fall == pytest.approx(0.05 - 0.5 * G * 5.0 * 5.05, rel=0.01)  # implicit Euler: ½ g t (t + dt), of the centre of both
    state = simulation.state
    with pytest.raises(ub.ModelError, match="'cube' starts where its energy is infinite"):
        ub.Simulation(simulation.model, "barrier", dt=0.05, state=ub.State(state.t, state.q * 0.0 + 1.0, state.v, "affine"))
