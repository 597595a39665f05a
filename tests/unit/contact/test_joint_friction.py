"""Contact points of joints: right frames for any axis, shares of least norm, and what a load makes each joint's friction."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.contact.joint_friction import across_axis, carry_loads, contacts_of

AXES = [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0, -1), (1, 1, 1), (1, -2, 0.5), (1e-9, 0, 1)]
MU, R, L = 0.3, 0.02, 0.05


def hinge(axis=(0, 0, 1), **options):
    return contacts_of(ub.JointFriction("j", MU, radius=R, height=L, **options), ub.Revolute(axis))


def slide(axis=(0, 0, 1), width=0.04):
    return contacts_of(ub.JointFriction("j", MU, width=width, height=L), ub.Prismatic(axis))


def ball(points=None):
    return contacts_of(ub.JointFriction("j", MU, radius=R, points=points), ub.Ball())


@pytest.mark.parametrize("axis", AXES)
def test_frames_are_right_handed_for_any_axis(axis):
    a = np.array(axis, float) / np.linalg.norm(axis)
    x, y = across_axis(a)
    np.testing.assert_allclose(np.stack([x, y, a]) @ np.stack([x, y, a]).T, np.eye(3), atol=1e-12)
    assert np.linalg.det(np.stack([x, y, a])) == pytest.approx(1.0)


@pytest.mark.parametrize("axis", AXES)
def test_first_width_lies_where_it_is_asked_to_across_the_axis(axis):
    a = np.array(axis, float) / np.linalg.norm(axis)
    wish = np.array([0.3, -1.1, 0.4])
    x, y = across_axis(a, wish)
    across = wish - (wish @ a) * a
    np.testing.assert_allclose(x, across / np.linalg.norm(across), atol=1e-12)
    np.testing.assert_allclose(y, np.cross(a, x), atol=1e-12)


@pytest.mark.parametrize(
    ("axis", "first"), [((0, 0, 1), (1, 0, 0)), ((1, 0, 0), (0, 1, 0)), ((0, 1, 0), (1, 0, 0)), ((3, 0, 4), (0, 1, 0))]
)  # fmt: skip
def test_first_width_lies_along_the_frame_axis_that_is_most_across_unless_told(axis, first):
    a = np.array(axis, float) / np.linalg.norm(axis)
    np.testing.assert_allclose(across_axis(a)[0], first, atol=1e-15)


def test_sizes_of_a_slider_lie_along_the_directions_told():
    """Corners at half the widths along the direction and across it."""
    made = contacts_of(ub.JointFriction("j", MU, width=(0.1, 0.2), height=L, direction=(0, 1, 0)), ub.Prismatic((0, 0, 1)))
    np.testing.assert_allclose(np.abs(made.places), np.tile([0.1, 0.05, 0.5 * L], (8, 1)), atol=1e-15)


def test_slider_under_a_torque_about_its_axis_rubs_by_its_widths():
    """2 μ T (a + b) / (a² + b²)."""
    a, b, torque = 0.1, 0.2, 3.0
    made = contacts_of(ub.JointFriction("j", MU, width=(a, b), height=L), ub.Prismatic((0, 0, 1)))
    bound = made.bounds(made.normal_forces(np.array([0, 0, torque, 0, 0, 0.0])))
    assert bound[0] == pytest.approx(2.0 * MU * torque * (a + b) / (a**2 + b**2))


@pytest.mark.parametrize(
    ("options", "joint", "message"),
    [
        (
            {"width": 0.1, "height": L, "direction": (0, 0, 2)}, ub.Prismatic((0, 0, 1)),
            r"direction \(0, 0, 2\) has no part across the axis \(0, 0, 1\); give one",
        ),
        ({"radius": R, "height": L, "direction": (0, 0, 0)}, ub.Revolute((0, 0, 1)), r"direction \(0, 0, 0\) has no part across"),
        ({"radius": R, "direction": (1, 0, 0)}, ub.Ball(), "a Ball has its points along M's axes, and no direction; leave it out"),
        ({"radius": R, "height": L, "direction": (1, 0)}, ub.Revolute((0, 0, 1)), r"direction \(1, 0\) is no direction; give three"),
    ],
)  # fmt: skip
def test_directions_without_meaning_are_refused(options, joint, message):
    b = ub.Builder()
    b.joint("j", joint, b.world, b.body("part", mass=1.0, inertia=(1, 1, 1)))
    with pytest.raises(ub.ModelError, match="joint 'j': " + message):
        b.add(ub.JointFriction("j", MU, **options))
        b.build()


@pytest.mark.parametrize("axis", AXES)
def test_points_of_a_hinge_lie_on_its_cylinder(axis):
    a = np.array(axis, float) / np.linalg.norm(axis)
    for p in hinge(axis).places:
        assert abs(p @ a) == pytest.approx(0.5 * L)
        assert np.linalg.norm(p - (p @ a) * a) == pytest.approx(R)


@pytest.mark.parametrize("made", [hinge((1, 2, 3)), hinge(points=3), slide((1, 2, 3)), slide(width=(0.1, 0.2)), ball(), ball(8), ball(12)])
def test_normals_hold_all_that_the_joint_holds_and_nothing_else(made):
    assert np.linalg.matrix_rank(made.N) == 6 - made.along.shape[1]
    np.testing.assert_allclose(made.N @ made.along, 0.0, atol=1e-15)
    wrench = made.across @ np.random.default_rng(0).standard_normal(6)
    np.testing.assert_allclose(made.N.T @ (made.share @ wrench), wrench, atol=1e-12)


@pytest.mark.parametrize("made", [hinge((1, 2, 3)), slide((1, 2, 3)), ball(12)])
def test_tangents_are_across_the_normals(made):
    """At a point, t · n = 0 for the linear parts."""
    normals = made.N.reshape(len(made.places), -1, 6)[:, :, 3:]
    np.testing.assert_allclose(np.einsum("pni,pti->pnt", normals, made.T[:, :, 3:]), 0.0, atol=1e-15)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("points", [3, 4, 5, 8, 64])
def test_hinge_under_a_load_across_its_axis(axis, points):
    """τ = μ r F (2/n) Σ |cos(θ_k − φ)|: between μ r F and √2 μ r F for four points, 4/π μ r F for many."""
    made, F = hinge(axis, points=points), 7.0
    x, y = across_axis(np.array(axis, float) / np.linalg.norm(axis))
    for phi in (0.0, 0.25 * np.pi, 0.3, 2.0):
        wrench = np.concatenate([np.zeros(3), F * (np.cos(phi) * x + np.sin(phi) * y)])
        theta = 2.0 * np.pi * np.arange(points) / points
        expected = MU * R * F * 2.0 / points * np.abs(np.cos(theta - phi)).sum()
        assert made.bounds(made.normal_forces(wrench)) == pytest.approx([expected])
        if points == 4:
            assert MU * R * F * (1.0 - 1e-12) <= expected <= np.sqrt(2.0) * MU * R * F * (1.0 + 1e-12)
        if points == 64:
            assert expected == pytest.approx(4.0 / np.pi * MU * R * F, rel=1e-3)


@pytest.mark.parametrize("axis", AXES)
def test_hinge_under_a_load_along_its_axis(axis):
    """A thrust bearing: τ = μ r F, whatever the number of points."""
    a = np.array(axis, float) / np.linalg.norm(axis)
    for points in (3, 4, 7):
        made = hinge(axis, points=points)
        assert made.bounds(made.normal_forces(np.concatenate([np.zeros(3), -5.0 * a]))) == pytest.approx([MU * R * 5.0])


def test_torque_across_the_axis_loads_the_rims_less_the_longer_the_bearing():
    """Short bearings pinch: of a torque M, forces M / lever."""
    wrench = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    made = [contacts_of(ub.JointFriction("j", MU, radius=R, height=h), ub.Revolute()) for h in (0.05, 0.1, 0.2)]
    bounds = [float(m.bounds(m.normal_forces(wrench))[0]) for m in made]
    assert bounds[0] > bounds[1] > bounds[2]


def test_slide_under_a_load_across_its_axis():
    """μ F where the load is square to a face, μ (|F_x| + |F_y|) else."""
    made = slide((0, 0, 1))
    assert made.bounds(made.normal_forces(np.array([0, 0, 0, 6.0, 0, 0]))) == pytest.approx([MU * 6.0])
    assert made.bounds(made.normal_forces(np.array([0, 0, 0, 6.0, -2.0, 0]))) == pytest.approx([MU * 8.0])


@pytest.mark.parametrize(("points", "pivot"), [(6, 0.0), (8, np.sqrt(2.0))])
def test_ball_under_a_load(points, pivot):
    """Least norm gives α = 3 F·n / points. Turning about the load: nothing at the poles of an octahedron, √2 μ r F on a cube."""
    made, F = ball(points), 5.0
    carried = made.normal_forces(np.array([0, 0, 0, 0, 0, F]))
    np.testing.assert_allclose(carried, 3.0 * F * np.abs(made.places[:, 2]) / R / points, atol=1e-12)
    slips = np.linalg.norm(np.cross([0, 0, 1.0], made.places), axis=1)
    assert made.bounds(carried) @ slips == pytest.approx(pivot * MU * R * F, abs=1e-15)


def test_friction_of_a_hinge_is_shared_as_its_points_are_loaded():
    made = hinge((0, 1, 0))
    carried = made.normal_forces(np.array([0.1, 0, 0.05, 3.0, 2.0, 1.0]))
    u = 0.4 * made.bounds(carried)
    shares = made.tangential_forces(u, carried)
    np.testing.assert_allclose(shares[:, 0], 0.4 * MU * carried)
    torque = sum(np.cross(p, t[0, 3:] * s[0]) for p, t, s in zip(made.places, made.T, shares, strict=True))
    assert torque @ (0, 1, 0) == pytest.approx(u[0])


def test_opposite_points_bear_a_pure_couple():
    """Under a force alone friction adds nothing to what the joint holds; thrust and torque together make it uneven."""
    made = hinge()
    for wrench, even in ((np.array([0, 0, 0, 3.0, 2.0, 0]), True), (np.array([0.2, 0, 0, 0, 0, 9.0]), False)):
        carried = made.normal_forces(wrench)
        assert (np.abs(made.idle(made.bounds(carried), carried)).max() < 1e-12) == even


def test_loads_of_all_joints_at_once_are_those_of_each():
    """The kernel against the methods: Nᵀ α with what friction bears taken off, to the fixed point."""
    rng = np.random.default_rng(3)
    made = [hinge((1, 2, 3)), ball(8), slide((0, 1, 1), (0.03, 0.05)), hinge(points=5)]
    wrenches = [rng.standard_normal(6) for _ in made]
    u = [0.3 * m.bounds(m.normal_forces(w)) if m.single else 0.1 * rng.standard_normal(2 * len(m.places)) for m, w in zip(made, wrenches)]
    numbers, constraints = [m.numbers() for m in made], []
    for m, first in zip(made, np.cumsum([0, *(x.size for x in numbers)]), strict=False):
        constraints += [len(m.places), len(m.N) // len(m.places), m.T.shape[1], int(m.single), int(first)]
    carried, bounds = np.zeros(sum(len(m.places) for m in made)), np.zeros(sum(len(m.widths) for m in made))
    carry_loads(np.array(constraints), np.concatenate(numbers), np.concatenate(wrenches), np.concatenate(u), carried, bounds)
    at = block = 0
    for m, w, own in zip(made, wrenches, u):
        mine = carried[at : at + len(m.places)]
        np.testing.assert_allclose(mine, m.normal_forces(w - m.idle(own, mine)), rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(bounds[block : block + len(m.widths)], m.bounds(mine), rtol=1e-12)
        at, block = at + len(m.places), block + len(m.widths)
