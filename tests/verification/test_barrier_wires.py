"""Edges and points without faces under `barrier`: weight carried, no tunnelling, links that stay links, thickness."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

G = 9.81
STRAIGHT = [(-0.5, 0.0, 0.0), (0.5, 0.0, 0.0)]


def circle(n: int, radius: float) -> np.ndarray:
    angle = 2.0 * np.pi * np.arange(n) / n
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), 0.0 * angle], axis=1)


def lifted(recording: ub.Recording, name: str) -> float:
    """The upward force of all contacts on a body at the end [N]."""
    c, body = recording.contacts[-1], recording.model.body(name)
    sign = np.where(c.bodies[:, 0] == body, 1.0, np.where(c.bodies[:, 1] == body, -1.0, 0.0))
    return float((sign * (c.normal_forces * c.normals[:, 2] + c.friction[:, 2])).sum())


def run(b: ub.Builder, seconds: float, dt: float = 0.01) -> ub.Recording:
    return ub.Simulation(b.build(), "barrier", dt=dt).run(seconds)


def crossing(angle: float, radius: float = 0.02) -> ub.Builder:
    """A wire on two others that lie 0.3 m apart, turned so far from lying along them; it starts 1 cm above."""
    b = ub.Builder()
    for k, y in enumerate((-0.15, 0.15)):
        b.body(f"rail{k}", shape=ub.Wire(STRAIGHT, radius=0.01), kind="static", X_WB=ub.Pose((0, y, 0)))
    b.body("wire", shape=ub.Wire(STRAIGHT, radius=radius), mass=2.0, X_WB=ub.Pose.about((0, 0, 1), angle, p=(0, 0, 0.01 + radius + 0.01)))
    b.add(ub.Contact(friction=0.5, reach=2e-3))
    return b


def test_a_wire_across_two_wires_is_carried():
    """At right angles: m g, half on each, at the sum of the radii and less than the reach above it."""
    rec = run(crossing(0.5 * np.pi), 0.5)
    assert lifted(rec, "wire") == pytest.approx(2.0 * G, rel=1e-6)
    assert rec.contacts[-1].normal_forces == pytest.approx(np.full(2, G), rel=1e-6)
    assert 0.03 < rec.pose("wire")[-1, 2] < 0.032


@pytest.mark.parametrize("angle", [0.0, 1e-4, 0.02])
def test_a_wire_nearly_along_two_wires_is_carried(angle):
    """In the groove between two rails, parallel to them or nearly: contacts of edges are softened to nothing there, points carry.

    Radii 0.2 and 0.01, rails 0.3 apart: where the centre line is y off the middle of the groove, it lies at √((0.21 + gap)² − (0.15 − y)²)
    above the rails; its ends, at y = ½ sin α, are what touches first."""
    body = ub.Pose.about((0, 0, 1), angle, p=(0, 0, 0.165))
    b = ub.Builder()
    for k, y in enumerate((-0.15, 0.15)):
        b.body(f"rail{k}", shape=ub.Wire([(-0.8, 0, 0), (0.8, 0, 0)], radius=0.01), kind="static", X_WB=ub.Pose((0, y, 0)))
    b.body("wire", shape=ub.Wire(STRAIGHT, radius=0.2), mass=2.0, X_WB=body)
    b.add(ub.Contact(friction=0.5, reach=2e-3))
    rec = run(b, 0.5)
    low, high = np.sqrt(0.21**2 - 0.15**2), np.sqrt(0.212**2 - (0.15 - 0.5 * np.sin(angle)) ** 2)  # it may turn into the groove
    # Newton's method ends at 1e-5 m/s, of which a step of 10 ms makes 1e-3 m/s², 1e-4 of the weight.
    assert lifted(rec, "wire") == pytest.approx(2.0 * G, rel=1e-4) and low < rec.pose("wire")[-1, 2] < high


def test_a_ring_hangs_on_a_peg():
    """A closed wire around a peg that is a wire, and around one that is a mesh: carried, and still around it."""
    upright, ring = ub.Pose.about((1, 0, 0), 0.5 * np.pi, p=(0, 0, -0.17)), ub.Wire(circle(24, 0.2), radius=0.005, closed=True)
    for peg, angle in ((ub.Wire([(0, -1, 0), (0, 1, 0)], radius=0.02), 0.0), (ub.Cylinder(0.02, 2.0), 0.5 * np.pi)):
        b = ub.Builder()
        b.body("peg", shape=peg, kind="static", X_WB=ub.Pose.about((1, 0, 0), angle))
        b.body("ring", shape=ring, mass=0.8, X_WB=upright)
        b.add(ub.Contact(friction=0.5, reach=2e-3))
        rec = run(b, 1.0)
        assert lifted(rec, "ring") == pytest.approx(0.8 * G, rel=0.02)  # it swings a little
        assert abs(rec.pose("ring")[-1, 2] + 0.2 - 0.025) < 6e-3 and np.abs(rec.pose("ring")[-1, :2]).max() < 0.02


def test_a_needle_stands_between_two_plates():
    """Its point carries itself and the plate on it: (m + M) g below, M g above."""
    b = ub.Builder()
    b.body("bottom", shape=ub.Box((1, 1, 0.1)), kind="static", X_WB=ub.Pose((0, 0, -0.05)))
    b.body("needle", shape=ub.Wire([(0, 0, 0), (0, 0, 0.3)], radius=0.001), mass=0.01, X_WB=ub.Pose((0, 0, 0.0015)))
    top = b.body("top", shape=ub.Box((0.5, 0.5, 0.05)), mass=3.0, X_WB=ub.Pose((0, 0, 0.3285)))
    b.joint("slide", ub.Prismatic((0, 0, 1)), b.world, top, X_PF=ub.Pose((0, 0, 0.3285)))
    b.add(ub.Contact(friction=0.3))
    rec = run(b, 0.5)
    forces = {tuple(sorted(pair)): f for pair, f in zip(rec.contacts[-1].bodies.tolist(), rec.contacts[-1].normal_forces, strict=True)}
    assert forces[1, 2] == pytest.approx(3.01 * G, rel=1e-5) and forces[2, 3] == pytest.approx(3.0 * G, rel=1e-5)
    assert (rec.contacts[-1].gaps > 0.0).all()


@pytest.mark.parametrize("offset", [0.0, 0.1])
def test_a_wire_thrown_at_a_wire_does_not_pass(offset):
    """100 m/s, 0.1 m a step, at a wire of a fifth of a millimetre: hit in the middle it stops there or comes back; hit beside it, its point
    over the other wire never gets below that, while the rest turns around it."""
    b = ub.Builder(gravity=None)
    b.body("held", shape=ub.Wire(STRAIGHT, radius=1e-4), kind="static")
    thrown = {"X_WB": ub.Pose((0.1, offset, 1)), "V_WB": (0, 0, 0, 0, 0, -100)}
    b.body("thrown", shape=ub.Wire([(0, -0.5, 0), (0, 0.5, 0)], radius=1e-4), mass=0.1, **thrown)
    b.add(ub.Contact())
    rec = run(b, 0.015, dt=1e-3)
    for pose in rec.pose("thrown"):
        ends = np.array([[0, -0.5, 0], [0, 0.5, 0]]) @ np.asarray(ub.Pose(p=pose[:3], wxyz=pose[3:]).R).T + pose[:3]
        s = ends[0, 1] / (ends[0, 1] - ends[1, 1])  # where it crosses the plane y = 0 of the other
        assert 0.0 < s < 1.0 and ends[0, 2] + s * (ends[1, 2] - ends[0, 2]) > 2e-4
    assert rec.pose("thrown")[-1, 2] < 0.1 + 0.05  # it has been there


def linking_number(x: np.ndarray, y: np.ndarray) -> float:
    """Gauss's integral of two closed polygons, by the solid angles of pairs of sides."""

    def angle(p, q, s):
        a, b, c = (np.linalg.norm(v, axis=-1) for v in (p, q, s))
        dot = [np.einsum("...i,...i->...", u, v) for u, v in ((p, q), (q, s), (s, p))]
        return 2.0 * np.arctan2(np.einsum("...i,...i->...", p, np.cross(q, s)), a * b * c + dot[0] * c + dot[1] * a + dot[2] * b)

    a, b, c, d = x[:, None], np.roll(x, -1, axis=0)[:, None], y[None], np.roll(y, -1, axis=0)[None]
    return float((angle(c - a, c - b, d - b) + angle(d - b, d - a, c - a)).sum() / (4.0 * np.pi))


@pytest.mark.parametrize("speed", [10.0, 1000.0])
def test_linked_rings_stay_linked(speed):
    """Thrown apart at up to 2000 m/s, twenty metres a step, rings of 40 cm of a wire of 2 mm keep their linking number in every step."""
    ring, b = circle(16, 0.2), ub.Builder(gravity=None)
    b.body("a", shape=ub.Wire(ring, radius=1e-3, closed=True), density=7800, V_WB=(3, 1, 2, 0, 0, speed))
    turned = ub.Pose.about((1, 0, 0), 0.5 * np.pi, p=(0.2, 0, 0))
    b.body("b", shape=ub.Wire(ring, radius=1e-3, closed=True), density=7800, X_WB=turned, V_WB=(0, 1, 2, 0, 0, -speed))
    b.add(ub.Contact(friction=0.2))
    model = b.build()
    bound = ub.solvers.Barrier().bind(model)
    state, memory = bound.start()
    for _ in range(15):
        x = bound.system.affine.surface.positions(bound.system.affine.whole(state.q, state.t))
        assert linking_number(x[:16], x[16:]) == pytest.approx(-1.0, abs=1e-6)
        made = bound.step(state, memory, model.neutral_control(), 0.01)
        state, memory = made.state, made.memory
        assert made.report.minimum_distance > 0.0


def test_points_without_edges_touch_points_edges_and_faces():
    """Balls of a cloud hit head on: by a cloud, on a wire, on a mesh; what carries m g keeps the sum of the radii."""
    for below, height in (
        (ub.PointCloud([(0, 0, 0)], radius=0.05), 0.1),
        (ub.Wire(STRAIGHT, radius=0.03), 0.08),
        (ub.Mesh(*ub.Box((1, 1, 0.2)).triangles()), 0.15),
        (ub.Plane(), 0.05),
    ):
        b = ub.Builder()
        b.body("below", shape=below, kind="static")
        ball = b.body("ball", shape=ub.PointCloud([(0, 0, 0)], radius=0.05), mass=0.3, X_WB=ub.Pose((0, 0, height + 0.005)))
        b.joint("slide", ub.Prismatic((0, 0, 1)), b.world, ball, X_PF=ub.Pose((0, 0, height + 0.005)))
        b.add(ub.Contact(reach=2e-3))
        rec = run(b, 0.4)
        assert lifted(rec, "ball") == pytest.approx(0.3 * G, rel=1e-6)
        assert 0.0 < rec.pose("ball")[-1, 2] - height < 2e-3 and rec.pose("ball")[:, 2].min() > height


def test_a_wire_slides_with_coulombs_friction():
    """Thrown along a plane it is braked by μ g, once it has stopped bouncing at its start."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("wire", shape=ub.Wire(STRAIGHT, radius=0.01), mass=1.0, X_WB=ub.Pose((0, 0, 0.0109)), V_WB=(0, 0, 0, 2, 0, 0))
    b.add(ub.Contact(friction=0.3, reach=1e-3))
    rec = run(b, 0.3, dt=1e-3)
    speed = rec.twist("wire")[:, 3]
    assert speed[-1] > 0.5 and speed[-101] - speed[-1] == pytest.approx(0.3 * G * 0.1, rel=1e-3)  # normal forces lag by a step


@pytest.mark.parametrize("ground", ["plane", "rails"])
def test_a_wire_thrown_across_itself_rolls_at_two_thirds_of_its_speed(ground):
    """A round rod with I = m r²/2 that slides at first, without spin: m v = −F t, I ω = F r t end at ω r = v = 2/3 v₀, whatever μ is."""
    b, r, v = ub.Builder(), 0.02, 1.0
    if ground == "plane":
        b.body("ground", shape=ub.Plane(), kind="static", X_WB=ub.Pose((0, 0, -0.01)))
    else:
        for k, x in enumerate((-0.3, 0.3)):
            b.body(f"rail{k}", shape=ub.Wire([(x, -1, 0), (x, 2, 0)], radius=0.01), kind="static", X_WB=ub.Pose((0, 0, -0.02)))
    b.body("rod", shape=ub.Wire(STRAIGHT, radius=r), mass=1.0, X_WB=ub.Pose((0, 0, r - 0.01 + 9e-4)), V_WB=(0, 0, 0, 0, v, 0))
    b.add(ub.Contact(friction=0.5, reach=1e-3))
    rec = run(b, 0.15, dt=1e-3)
    omega, speed = rec.twist("rod")[-1, 0], rec.twist("rod")[-1, 4]
    # implicit Euler brakes turning by ω² h / 2 of its speed a second: 33² · 10⁻³ / 2 · 0.1 s, 5 %, shared between turning and going on
    assert speed == pytest.approx(2.0 / 3.0 * v, rel=0.05) and -omega * r == pytest.approx(speed, rel=0.05)


@pytest.mark.parametrize("ground", ["plane", "mesh"])
def test_thickness_keeps_surfaces_apart(ground):
    """Two boxes on each other on a ground with thickness ξ: they rest at ξ and a gap below the reach, pressed by what they carry."""
    xi, reach = 0.02, 2e-3
    b = ub.Builder()
    if ground == "plane":
        b.body("ground", shape=ub.Plane(), kind="static")
    else:
        b.body("ground", shape=ub.Box((2, 2, 1)), kind="static", X_WB=ub.Pose((0, 0, -0.5)))
    for k, z in enumerate((0.1 + xi + 0.004, 0.3 + 2.0 * xi + 0.008)):
        b.body(f"box{k}", shape=ub.Box((0.2, 0.2, 0.2)), mass=2.0, X_WB=ub.Pose.about((0, 0, 1), 0.3 * k, p=(0, 0, z)))
    b.add(ub.Contact(friction=0.5, thickness=xi, reach=reach))
    rec = run(b, 0.6)
    low, high = rec.pose("box0")[:, 2], rec.pose("box1")[:, 2]
    assert low.min() > 0.1 + xi and (high - low).min() > 0.2 + xi
    assert low[-1] < 0.1 + xi + reach and high[-1] - low[-1] < 0.2 + xi + reach
    assert lifted(rec, "box1") == pytest.approx(2.0 * G, rel=1e-5) and lifted(rec, "box0") == pytest.approx(2.0 * G, rel=1e-5)
    assert 0.0 < rec.contacts[-1].gaps.min() and rec.contacts[-1].gaps.max() < reach


def test_starts_nearer_than_thickness_or_radii_are_refused_by_name():
    def start(shape, z, **contact):
        b = ub.Builder()
        b.body("ground", shape=ub.Box((1, 1, 1)), kind="static", X_WB=ub.Pose((0, 0, -0.5)))
        b.body("thing", shape=shape, mass=1.0, X_WB=ub.Pose((0, 0, z)))
        b.add(ub.Contact(**contact))
        return ub.Simulation(b.build(), "barrier", dt=0.01)

    for shape, rest, contact in (
        (ub.Box((0.2, 0.2, 0.2)), 0.13, {"thickness": 0.03}),
        (ub.Wire([(-0.1, 0, 0), (0.1, 0, 0)], radius=0.02), 0.02, {}),
        (ub.Wire([(-0.1, 0, 0), (0.1, 0, 0)], radius=0.02), 0.05, {"thickness": 0.03}),
        (ub.PointCloud([(0, 0, 0)], radius=0.02), 0.02, {}),
    ):
        start(shape, rest + 1e-6, **contact)
        with pytest.raises(ub.ModelError, match="bodies 'ground' and 'thing' intersect at the start"):
            start(shape, rest - 1e-6, **contact)
    with pytest.raises(ub.ModelError, match="intersect"):
        start(ub.Wire([(0, 0, -2), (0, 0.01, 2)], radius=1e-3), 0.0)  # through the box, no vertex within
    with pytest.raises(ub.ModelError, match="intersect"):
        start(ub.PointCloud([(0, 0, 0)], radius=1e-3), -0.4)  # within


def test_continued_runs_are_the_same_bit_for_bit():
    sim = ub.Simulation(crossing(0.7).build(), "barrier", dt=0.01)
    whole = sim.run(0.2)
    half = ub.Simulation(crossing(0.7).build(), "barrier", dt=0.01)
    half.run(0.1)
    rest = half.run(0.1)
    assert (whole.pose("wire")[-1] == rest.pose("wire")[-1]).all()
