"""What a Builder makes of cloth, rods and soft solids: numbers, masses, where they start, what holds them, and points for elements."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import unibody as ub
from soft_parts import Bars, builder, rise
from unibody.coordinates.affine.control_points import ControlPoints
from unibody.energies.inflation import Inflation
from unibody.model.tables import Names


def frames_of(model):
    """(n, 4, 3) t and the columns of R of all bodies at the start, and of points that elements act on, where they stand for nothing yet."""
    frames = np.zeros((model.n_frames, 4, 3))
    for k, b in enumerate(model.bodies):
        frames[k] = [b.X_WB.p, *b.X_WB.R.T]
    return frames


def test_vertices_are_numbered_through_and_every_one_is_free_or_held():
    model = builder().build()
    assert [d.first for d in model.deformables] == np.cumsum([0, *(len(d.X) for d in model.deformables[:-1])]).tolist()
    assert model.n_vertices == sum(d.n for d in model.deformables) == 9 + 6 + len(model.deformable("block").X) + 3
    parts = (model.free_vertices, model.attached_vertices, model.prescribed_vertices)
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(model.n_vertices))
    assert model.attached_vertices.tolist() == [0, 3, 6, 9, 10, 14]
    assert [a.name for a in model.attachments] == ["flag.attach.0", "rope.attach.0", "rope.attach.1"]
    assert [p.name for p in model.prescribed] == ["lid.prescribe.0", "wall"]


def test_masses_are_those_of_the_volume():
    """Σ m = ρ V, whatever the kind; the lumped quadratic tetrahedron has its centre of mass where the solid has."""
    model = builder().build()
    expected = {"flag": 470 * 1e-3, "rope": 1000 * np.pi * 4e-6 * np.sqrt(0.5), "block": 900 * 0.016, "lid": 470 * 1e-3 * 0.5}
    for name, mass in expected.items():
        assert model.deformable(name).mass.sum() == pytest.approx(mass, rel=1e-12)
        assert (model.deformable(name).mass > 0.0).all()
    block = model.deformable("block")
    np.testing.assert_allclose(block.mass @ block.X / block.mass.sum(), 0.0, atol=1e-14)
    bodies = sum(b.mass for b in model.bodies if b.kind == "dynamic")
    assert model.total_mass == pytest.approx(bodies + sum(expected.values()), rel=1e-12)


def test_a_single_quadratic_tetrahedron_is_lumped_by_its_consistent_diagonal():
    """∫ N² of corners and middles, by a quadrature of high order, scaled so that masses add up."""
    b = ub.Builder()
    b.soft("t", ub.TetMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 1, 2, 3)]), Bars(), 6.0, order=2)
    s, w = np.polynomial.legendre.leggauss(6)
    s, w = 0.5 * (s + 1.0), 0.5 * w
    diagonal = np.zeros(2)
    for x, wx in zip(s, w, strict=True):  # a collapsed cube: x, y (1 − x), z (1 − x)(1 − y); nothing depends on z
        for y, wy in zip(s, w, strict=True):
            L1, L2 = x, y * (1 - x)
            weight = wx * wy * (1 - x) ** 2 * (1 - y)
            diagonal += weight * np.array([(L1 * (2 * L1 - 1)) ** 2, (4 * L1 * L2) ** 2])
    corner, middle = diagonal / (4 * diagonal[0] + 6 * diagonal[1])
    np.testing.assert_allclose(b.build().deformable("t").mass, [corner] * 4 + [middle] * 6, rtol=1e-12)


def test_they_start_where_they_are_put_and_move_as_told():
    model = builder().build()
    flag, block = model.deformable("flag"), model.deformable("block")
    X = ub.Pose((2, 0, 0.5), (1, 0, 0.3, 0))
    np.testing.assert_allclose(block.x0, block.X @ X.R.T + X.p, atol=1e-15)
    assert np.array_equal(block.X, builder().deformables["block"].mesh.vertices)
    np.testing.assert_array_equal(flag.v0[1], (0.0, 1.0, 0.0))
    b = ub.Builder()
    b.cloth("spun", ub.TriMesh.grid((1, 1), 1.0), Bars(), 1, X_WB=ub.Pose((5, 0, 0)), V_WB=(0, 0, 2.0, 0, 0, 1.0))
    spun = b.build().deformable("spun")
    np.testing.assert_allclose(spun.v0, np.cross((0, 0, 2.0), spun.X) + (0, 0, 1.0), atol=1e-15)


def test_start_puts_vertices_elsewhere_than_at_rest():
    b = ub.Builder()
    mesh = ub.TriMesh.grid((1, 1), 0.5)
    b.cloth("sheet", mesh, Bars(), 1, X_WB=ub.Pose((0, 0, 1)), start=1.5 * mesh.vertices)
    sheet = b.build().deformable("sheet")
    np.testing.assert_allclose(sheet.x0, 1.5 * mesh.vertices + (0, 0, 1))
    assert np.array_equal(sheet.X, mesh.vertices)


def test_attached_vertices_are_points_of_their_body_and_move_with_it():
    """p is where they are in the body's axes; their velocity is that of the body's point."""
    model = builder().build()
    hull = model.bodies[model.body("hull")]
    for a in model.attachments[:2]:
        assert a.body == model.body("hull") and (a.support == -1).all()
        x = np.concatenate([d.x0 for d in model.deformables])[a.vertices]
        v = np.concatenate([d.v0 for d in model.deformables])[a.vertices]
        np.testing.assert_allclose(a.p @ hull.X_WB.R.T + hull.X_WB.p, x, atol=1e-14)
        np.testing.assert_allclose(v, np.array(hull.V_WB[3:]) + np.cross(hull.V_WB[:3], x - np.array(hull.X_WB.p)), atol=1e-14)


def test_at_puts_them_at_another_place():
    b = ub.Builder()
    post = b.body("post", ub.Box((1, 1, 1)), X_WB=ub.Pose((0, 0, 2), (1, 0, 0, 1)))
    flag = b.cloth("flag", ub.TriMesh.grid((1, 1), 1.0, "regular"), Bars(), 1)
    b.attach(flag.vertices[[0, 1]], post, at=[(0, 0, 0), (1, 0, 0)])
    b.attach(flag.vertex(2), post.at(0, 0, 1))
    model = b.build()
    np.testing.assert_allclose(model.deformable("flag").x0[:3], [(0, 0, 2), (0, 1, 2), (0, 0, 3)], atol=1e-14)
    np.testing.assert_array_equal(model.attachments[1].p, [(0, 0, 1)])


def test_an_end_that_is_clamped_holds_its_last_edge():
    model = builder().build()
    clamped, on_flag = model.attachments[1:]
    rope = model.deformable("rope")
    assert (clamped.vertices - rope.first).tolist() == [0, 1] and (on_flag.vertices - rope.first).tolist() == [5]


def test_a_point_of_a_deformable_is_a_sum_over_its_vertices():
    """Weights of 0 fall out, so that only free vertices carry what stands on an edge of a face with an attached corner."""
    b = builder()
    model = b.build()
    on_flag = model.attachments[2]
    corners = model.deformable("flag").faces[2]
    assert on_flag.body == -1 and on_flag.support[0].tolist() == [*corners[1:].tolist(), -1, -1]
    np.testing.assert_array_equal(on_flag.weights[0], (0.25, 0.75, 0.0, 0.0))
    x = np.concatenate([d.x0 for d in model.deformables])
    np.testing.assert_allclose(x[on_flag.vertices[0]], 0.25 * x[corners[1]] + 0.75 * x[corners[2]], atol=1e-15)


def test_what_hangs_on_vertices_of_one_body_is_a_point_of_that_body():
    b = ub.Builder()
    post = b.body("post", ub.Box((1, 1, 1)))
    flag = b.cloth("flag", ub.TriMesh.grid((1, 1), 1.0, "regular"), Bars(), 1)
    rope = b.rod("rope", [(0, 0, 0), (0, 0, 1), (0, 0, 2)], 0.01, Bars(), 1)
    b.attach(rope.end(0), flag.at(face=0, weights=(0.2, 0.3, 0.5)))  # before what it hangs on is held
    b.attach(flag.vertices[flag._told().mesh.faces[0]], post)
    first, second = b.build().attachments
    assert (first.name, first.body) == ("rope.attach.0", 1)
    np.testing.assert_allclose(first.p[0], (0.2, 0.3, 0.5) @ second.p, atol=1e-15)


def test_prescribed_vertices_start_and_move_as_the_function_says():
    model = builder().build()
    lid = model.deformable("lid")
    np.testing.assert_array_equal(lid.x0, rise(0.0))
    np.testing.assert_allclose(lid.v0, [(0, 0, 1), (0, 0, 1), (0, 0, 0)], atol=1e-8)  # second differences of 1e-6 s: round-off 1e-16/1e-6
    told = model.prescribed[0]
    np.testing.assert_array_equal(told.motion(2.0), rise(2.0))
    assert model.prescribed[1].motion is None and (model.deformable("block").v0 == 0.0).all()


def test_a_table_prescribes_with_its_own_velocity():
    """z = t², which cubics go through exactly."""
    b = ub.Builder()
    lid = b.cloth("lid", ub.TriMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]), Bars(), 1)
    b.prescribe(lid.vertices[[0, 1]], ub.Table.of(lambda t: (0, 0, t**2, 1, 0, 3 * t), (0.0, 0.5, 2.0)))
    model = b.build()
    np.testing.assert_allclose(model.deformable("lid").v0[:2], [(0, 0, 0), (0, 0, 3)], atol=1e-13)
    np.testing.assert_allclose(model.prescribed[0].motion(1.3), [(0, 0, 1.69), (1, 0, 3.9)], rtol=1e-13)


@pytest.mark.parametrize(("value", "said"), [
    (lambda t: (0, 0), r"shape \(2,\); give \(2, 3\)"), (lambda t: np.full((2, 3), np.nan), "not finite"),
])  # fmt: skip
def test_motions_of_another_shape_are_refused_when_asked(value, said):
    b = ub.Builder()
    lid = b.cloth("lid", ub.TriMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]), Bars(), 1)
    b.prescribe(lid.vertices[[0, 1]], value)
    with pytest.raises(ub.ModelError, match=f"prescribed 'lid.prescribe.0': at t = 0 .*{said}"):
        b.build()


def test_positions_of_all_vertices_follow_from_bodies_and_free_vertices(rng):
    """At the start exactly; anywhere else against each attachment's own formula; velocities are the rates of positions, forces do the work
    of what they act on."""
    model = builder().build()
    points = ControlPoints(model, model.n_frames, np.arange(model.n_frames))

    def positions(frames, free, t):
        return points.of(points.joined(frames, free, points.positions(t)))

    frames, start = frames_of(model), points.start[0]
    free = start[points.free]
    np.testing.assert_allclose(positions(frames, free, 0.0), start, atol=1e-14)
    frames, free = rng.normal(size=frames.shape), rng.normal(size=free.shape)
    x = positions(frames, free, 0.7)
    on_hull, clamped, on_flag = model.attachments
    for a in (on_hull, clamped):
        np.testing.assert_allclose(x[a.vertices], frames[a.body, 0] + a.p @ frames[a.body, 1:], atol=1e-14)
    np.testing.assert_allclose(x[on_flag.vertices[0]], 0.25 * x[on_flag.support[0, 0]] + 0.75 * x[on_flag.support[0, 1]], atol=1e-14)
    np.testing.assert_array_equal(x[model.deformable("lid").vertices], rise(0.7))
    # rates, by a difference of a map that is linear but for the lid's motion: an acceleration of 1 m/s², by a difference over 1e-6 s
    dF, df, h = rng.normal(size=frames.shape), rng.normal(size=free.shape), 1e-4
    ahead, behind = (positions(frames + s * dF, free + s * df, 0.7 + s) for s in (h, -h))
    v = points.of(points.joined(dF, df, points.speeds(0.7)))
    np.testing.assert_allclose(v, (ahead - behind) / (2 * h), atol=1e-6)
    # work of forces: f · v of the vertices that are not driven
    f, pulled = rng.normal(size=x.shape), np.zeros(points.size)
    points.of(pulled)[:] = f
    points.pulled(pulled)
    f[model.prescribed_vertices] = 0.0
    work = float((f * v).sum())
    on_frames, on_free = pulled[: dF.size].reshape(dF.shape), points.of(pulled)[points.free]
    assert float((on_frames * dF).sum() + (on_free * df).sum()) == pytest.approx(work, rel=1e-12)


def test_elements_see_points_as_bodies_behind_the_others():
    model = builder().build()
    names = [p.name for p in model.vertex_points]
    third = repr(1.0 / 3.0)
    assert names == ["block.vertex[0]", f"flag.face[2]({third}, {third}, {third})", "block.tet[0](0.1, 0.2, 0.3, 0.4)"]
    spring, cable = dict(model.forces)["spring"], dict(model.forces)["cable"]
    index, _ = spring.row(Names(model), "spring")
    assert model.n_bodies in index and model.body("block.vertex[0]") == model.n_bodies
    x = np.concatenate([d.x0 for d in model.deformables])
    at = {p.name: p.weights @ x[p.vertices] for p in model.vertex_points}
    start = [at[p.body] if p.body in at else np.array(p.p) for p in cable.points]
    length = np.linalg.norm(np.diff(start, axis=0), axis=1).sum()
    assert cable.rest_length == pytest.approx(length, rel=1e-14)


def test_a_point_within_a_quadratic_tetrahedron_is_where_its_shape_functions_say():
    """On a map of second degree, which they hold exactly."""
    b = ub.Builder()
    mesh = ub.TetMesh.box((1, 1, 1), (1, 1, 1)).quadratic()

    def bend(x):
        return x + 0.1 * np.stack([x[..., 1] ** 2, x[..., 0] * x[..., 2], x[..., 0] ** 2], axis=-1)

    block = b.soft("block", mesh, Bars(), 1, start=bend(mesh.vertices))
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    spring = ub.SpringDamper(block.at(tet=3, weights=weights), b.world.at(0, 0, 0), stiffness=1.0)
    b.add(spring, name="spring")
    here = bend(weights @ mesh.vertices[mesh.tets[3, :4]])
    assert dict(b.build().forces)["spring"].rest_length == pytest.approx(np.linalg.norm(here), rel=1e-13)


def test_pressure_is_the_work_of_the_volume():
    """W = −p V of closed cloth, with its gradient and Hessian by differences; no part of it feels a rigid motion."""
    b = ub.Builder()
    ball = ub.TriMesh(*ub.Sphere(0.3).triangles(8))
    b.cloth("ball", ball, Bars(), 1, pressure=2e3)
    inflation = b.build().deformable("ball").stencils[-1]
    energy = inflation.energy
    assert isinstance(energy, Inflation)
    a, c, d = (ball.vertices[ball.faces[:, k]] for k in range(3))
    volume = np.einsum("ni,ni->n", a, np.cross(c, d)).sum() / 6.0
    R = ub.Pose(wxyz=(1, 2, 3, 4)).R
    for x in (ball.vertices, ball.vertices @ R.T + (3, 4, 5)):
        total = sum(energy.value(p, x[i]) for i, p in zip(inflation.index, inflation.parameters, strict=True))
        assert total == pytest.approx(-2e3 * volume, rel=1e-11)
    x, p = ball.vertices[inflation.index[5]] + 0.01 * np.arange(12).reshape(4, 3) ** 1.5, inflation.parameters[5]
    h, gradient, H = 1e-5, np.zeros(12), np.zeros((12, 12))
    for k in range(12):
        step = h * np.eye(12)[k].reshape(4, 3)
        gradient[k] = (energy.value(p, x + step) - energy.value(p, x - step)) / (2 * h)
        H[k] = ((energy.gradient(p, x + step) - energy.gradient(p, x - step)) / (2 * h)).ravel()
    np.testing.assert_allclose(energy.gradient(p, x).ravel(), gradient, atol=1e-7 * abs(gradient).max())
    np.testing.assert_allclose(energy.hessian(p, x, False), H, atol=1e-7 * abs(H).max())
    assert np.linalg.eigvalsh(energy.hessian(p, x, True)).min() > -1e-12 * abs(H).max()
    np.testing.assert_allclose(energy.gradient(p, x).sum(axis=0), 0.0, atol=1e-12)


def test_an_embedded_surface_goes_with_the_cells_around_it(rng):
    b = ub.Builder()
    shown = ub.Mesh(*ub.Sphere(0.45).triangles(20))
    cage = b.soft("ball", ub.TetMesh.cage(shown, 4), Bars(), 1000)
    cage.embed(shown)
    info = b.build().deformable("ball")
    X, faces, vertices, weights = info.look
    A = rng.normal(size=(3, 3))
    assert np.array_equal(faces, shown.faces)
    np.testing.assert_allclose(np.einsum("nk,nki->ni", weights, (info.X @ A.T)[vertices]), X @ A.T, atol=1e-13)


def test_surfaces_and_reaches():
    model = builder().build()
    block, flag, rope = (model.deformable(n) for n in ("block", "flag", "rope"))
    assert flag.radius == 0.5e-3 and rope.radius == 2e-3 and block.radius == 0.0
    assert len(flag.edges) == len(block.edges) == len(rope.faces) == 0 and len(rope.edges) == 5
    a, b, c = (block.X[block.faces[:, k]] for k in range(3))
    assert np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6.0 == pytest.approx(0.016, rel=1e-12)


def test_copies_are_the_same_and_read_only():
    model = builder().build()
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert [d.name for d in other.deformables] == [d.name for d in model.deformables]
        for mine, theirs in zip(model.deformables, other.deformables, strict=True):
            for key in ("X", "x0", "v0", "mass", "faces", "edges"):
                assert getattr(mine, key).tobytes() == getattr(theirs, key).tobytes()
            with pytest.raises(ValueError, match="read-only"):
                theirs.x0[0] = 1.0
        assert other.body("block.vertex[0]") == model.body("block.vertex[0]")


def test_summaries_tell_of_them():
    model = builder().build()
    assert "4 deformables" in repr(model) and f"{len(model.free_vertices)} free" in repr(model)
    page = model.summary()
    assert "flag  cloth: Bars, 9 vertices, 0.47 kg" in page
    assert "rope.attach.1  1 vertex: flag" in page and "lid.prescribe.0  3 vertices: moved as told" in page
    assert "rope.attach.0" in model._repr_html_()


def test_vertices_are_chosen_as_from_an_array():
    b = builder()
    flag = b.deformable("flag")
    assert flag.vertices[-1].index.tolist() == [8] and flag.vertices[1:4].index.tolist() == [1, 2, 3]
    assert flag.vertices[flag.vertices.x[:, 1] < -0.4].index.tolist() == [0, 1, 2]
    assert flag.vertex(-1).body == "flag.vertex[8]" and len(flag.vertices) == 9
    assert b.deformable("rope").end(1).index.tolist() == [5]


def test_springs_and_cables_act_on_matter_in_a_plane_world():
    """Bodies are held in the plane; vertices are not of it."""
    b = ub.Builder(planar=True)
    arm = b.body("arm", ub.Box((0.2, 0.05, 0.05)), density=500.0, X_WB=ub.Pose((0, 0, 0.3)))
    block = b.soft("block", ub.TetMesh.box((0.1, 0.1, 0.1), (1, 1, 1)), ub.NeoHookean(young=1e5, poisson=0.3), 1000)
    b.add(ub.SpringDamper(block.vertex(0), arm.at(0, 0, 0), stiffness=10.0))
    b.add(ub.Cable([block.vertex(1), arm.at(), block.at(tet=0)], stiffness=10.0))
    recording = ub.Simulation(b.build(), "barrier", dt=1e-3).run(2e-3)
    assert abs(recording.pose("arm")[-1, 1]) < 1e-12
    b.add(ub.SpringDamper(block.vertex(0), arm.at(0, 0.01, 0), stiffness=10.0), name="askew")
    with pytest.raises(ub.ModelError, match=r"'askew': its point on body 'arm' is .* out of the plane"):
        b.build()
