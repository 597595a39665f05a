"""Safe steps: no published case is missed, and whatever moves how, distances stay positive until the step that is returned."""

from __future__ import annotations

import json

import numpy as np
import pytest

from unibody.collision.ccd import ITERATIONS, KEEP, safe_step, safe_step_over_planes
from unibody.collision.stencils import edge_edge, point_triangle

NONE = np.zeros(0, np.int64)
FACE, EDGES = np.array([1, 2, 3]), np.array([0, 1, 2, 3])


def step(kind: str, x: np.ndarray, dx: np.ndarray, most: float = 1.0, cap: int = ITERATIONS, near: float = 1e-3, radii=(0, 0)) -> float:
    """The safe part of the motion dx of a point and a triangle, or of two edges: x (4, 3); radii of the first and of the second thing."""
    radius = np.repeat(np.array(radii, float), (1, 3) if kind == "point" else (2, 2))
    x, dx = np.ascontiguousarray(x, dtype=float).ravel(), np.ascontiguousarray(dx, dtype=float).ravel()
    if kind == "point":
        return safe_step(np.array([0, 0]), NONE, FACE, NONE, x, dx, radius, near, most, cap)
    return safe_step(NONE, np.array([0, 1]), NONE, EDGES, x, dx, radius, near, most, cap)


def distance(kind: str, x: np.ndarray) -> float:
    which = point_triangle if kind == "point" else edge_edge
    return float(np.linalg.norm(which(*(tuple(p) for p in np.asarray(x, float)))[1]))


def published(reference):
    """(kind, name, x₀, x₁, collision expected, time of impact or None, end of the motion); edges as flat triangles."""
    cases = json.loads((reference / "rigid-ipc" / "ccd_cases.json").read_text())
    corners = {"point_triangle": ("p", "t0", "t1", "t2"), "edge_edge": ("ea0", "ea1", "eb0", "eb1"), "point_edge": ("p", "e0", "e1", "e1")}
    corners["point_point"] = ("p0", "p1", "p1", "p1")
    for kind, names in corners.items():
        for case in cases[kind]:
            x = np.array([[*v, 0.0][:3] for n in names for v in case[n]], float).reshape(4, 2, 3)
            toi, most = case.get("toi_expected"), case.get("tmax", 1.0)
            yield "edge" if kind == "edge_edge" else "point", case["name"], x[:, 0], x[:, 1], case["expected"], toi, most


def test_no_published_case_is_missed(reference):
    count = 0
    for kind, name, x0, x1, expected, toi, most in published(reference):
        t = step(kind, x0, x1 - x0, most)
        count += expected
        if expected:
            assert t < most, name
            if isinstance(toi, int | float):
                assert t <= toi, name
        if distance(kind, x0) > 0.0:
            assert distance(kind, x0 + t * (x1 - x0)) > 0.0, name
            assert t > 0.0, name
        else:
            assert t < 1e-12 or not expected, name
    assert count > 50


def test_published_cases_apart_move_freely(reference):
    """Conservative, but not timid: what stays well apart is let go all the way."""
    for kind, name, x0, x1, expected, _, most in published(reference):
        least = min(distance(kind, x0 + t * (x1 - x0)) for t in np.linspace(0.0, most, 101))
        if not expected and least > 0.2 * distance(kind, x0) > 0.0:
            assert step(kind, x0, x1 - x0, most) == most, name


@pytest.mark.parametrize("kind", ["point", "edge"])
@pytest.mark.parametrize("speed", [0.1, 3.0, 1e4])
def test_nothing_is_crossed_before_the_step(kind, speed):
    """Distances keep a part of theirs all along the step, at sixty instants."""
    rng = np.random.default_rng(int(speed) + len(kind))
    stopped = 0
    for _ in range(400):
        x, dx = rng.uniform(-1.0, 1.0, (4, 3)), speed * rng.standard_normal((4, 3))
        if rng.random() < 0.3:
            dx[1:] = dx[1] if kind == "point" else dx[1:]
        t, start = step(kind, x, dx), distance(kind, x)
        stopped += t < 1.0
        least = min(distance(kind, x + s * t * dx) for s in np.linspace(0.0, 1.0, 60))
        assert t > 0.0 and least >= KEEP**2 * start * (1.0 - 1e-9)
    assert stopped > 20 or speed < 1.0


def test_same_verdict_as_tight_inclusion():
    """Where the field's toolkit finds an impact at time τ, ours stops before it."""
    ipctk = pytest.importorskip("ipctk")
    rng, tight = np.random.default_rng(1), ipctk.TightInclusionCCD(tolerance=1e-6, max_iterations=100_000)
    hits = 0
    for _ in range(300):
        x = rng.uniform(-1.0, 1.0, (4, 3))
        x1 = x + rng.standard_normal((4, 3))
        for kind, check in (("point", tight.point_triangle_ccd), ("edge", tight.edge_edge_ccd)):
            hit, when = check(*x, *x1)
            if hit and when < 1.0:
                hits += 1
                assert step(kind, x, x1 - x) <= when + 1e-5
    assert hits > 20


def test_without_motion_and_with_common_motion_the_way_is_free():
    rng = np.random.default_rng(3)
    x = rng.uniform(-1.0, 1.0, (4, 3))
    for kind in ("point", "edge"):
        assert step(kind, x, np.zeros((4, 3))) == 1.0
        assert step(kind, x, np.tile([1e6, -3.0, 7.0], (4, 1))) == 1.0


def test_touching_at_the_start_does_not_move():
    x = np.array([[0.2, 0.2, 0.0], [0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
    assert step("point", x, np.array([[0, 0, -1.0], [0, 0, 0], [0, 0, 0], [0, 0, 0]])) < 1e-15


def test_head_on_time_is_nearly_the_exact_one():
    """A point falls on a face from height 1 by 2: of the way ½, at least 1 − s of it is allowed."""
    x = np.array([[0.2, 0.2, 1.0], [0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
    t = step("point", x, np.array([[0, 0, -2.0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]))
    assert (1.0 - KEEP) * 0.5 <= t * (1 + 1e-12) < 0.5


def test_cap_of_iterations_is_safe():
    rng = np.random.default_rng(4)
    for _ in range(50):
        x, dx = rng.uniform(-1.0, 1.0, (4, 3)), rng.standard_normal((4, 3))
        free = step("edge", x, dx)
        for cap in (1, 2, 5):
            t = step("edge", x, dx, cap=cap)
            assert 0.0 < t <= free + 1e-12 and distance("edge", x + t * dx) > 0.0


FLOOR = np.array([0, 0, 0, 1, 0, 0, 0, 1, 0], float)


def over_planes(frame: np.ndarray, motion: np.ndarray, x: np.ndarray, dx: np.ndarray, most: float = 1.0, radius: float = 0.0) -> float:
    pairs = np.array([(k, 0) for k in range(len(x))]).ravel()
    flat = (np.ascontiguousarray(a, float).ravel() for a in (x, dx))
    return safe_step_over_planes(pairs, frame, motion, *flat, np.full(len(x), 0.75 * radius), 0.25 * radius, most)


def test_planes_keep_a_part_of_every_height():
    x, dx = np.array([[0, 0, 1.0], [3, 1, 0.5], [0, 2, 2.0]]), np.array([[5, 0, -2.0], [0, 1, 0.3], [0, 0, -0.1]])
    assert over_planes(FLOOR, np.zeros(9), x, dx) == pytest.approx((1.0 - KEEP) * 0.5)
    assert over_planes(FLOOR, np.zeros(9), x, np.abs(dx)) == 1.0


def test_planes_that_turn_and_rise_never_pass_a_point():
    """A floor goes straight from one place to another, turned by up to 100°, while points fly about; heights at 200 instants."""
    rng, stopped = np.random.default_rng(5), 0
    for _ in range(200):
        axis, angle = rng.standard_normal(3), rng.uniform(0.0, 1.75)
        u = axis / np.linalg.norm(axis)
        K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
        R = np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
        end = np.concatenate([rng.standard_normal(3), R[:, 0], R[:, 1]])
        x, dx = rng.uniform(-1, 1, (5, 3)) + (0, 0, 1.2), 0.5 * rng.standard_normal((5, 3))
        t = over_planes(FLOOR, end - FLOOR, x, dx)
        stopped += t < 1.0
        assert t > 0.0
        for s in np.linspace(0.0, t, 200):
            f = (FLOOR + s * (end - FLOOR)).reshape(3, 3)
            n = np.cross(f[1], f[2])
            assert ((x + s * dx - f[0]) @ n > 0.5 * KEEP * x[:, 2]).all()
    assert 20 < stopped < 200


def test_sliding_along_a_face_is_free_however_near():
    """A point 10⁻⁹ above a face slides 1 m along it; an edge 10⁻⁹ above another slides and turns in its plane."""
    x = np.array([[-0.3, 0.2, 1e-9], [-2, -2, 0], [3, -2, 0], [0, 5, 0]], float)
    assert step("point", x, np.array([[1.0, 0.3, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]])) == 1.0
    x = np.array([[-1, 0, 1e-9], [1, 0, 1e-9], [0, -1, 0], [0, 1, 0]], float)
    assert step("edge", x, np.array([[0.2, 0.1, 0], [0.2, -0.1, 0], [0, 0, 0], [0, 0, 0]])) == 1.0


def test_what_stays_far_is_not_looked_at():
    """With and without the look at boxes the same, unless ways keep off each other by more than `near`; then all is free."""
    rng, free = np.random.default_rng(9), 0
    for _ in range(300):
        x, dx = rng.uniform(-1.0, 1.0, (4, 3)), 0.3 * rng.standard_normal((4, 3))
        for kind, cut in (("point", 1), ("edge", 2)):
            both = np.stack([x, x + dx])
            low, high = both.min(axis=0), both.max(axis=0)
            gaps = np.maximum(low[:cut].min(axis=0) - high[cut:].max(axis=0), low[cut:].min(axis=0) - high[:cut].max(axis=0))
            t = step(kind, x, dx, near=0.01)
            if gaps.max() > 0.01:
                free += 1
                assert t == 1.0
            else:
                assert t == step(kind, x, dx, near=np.inf)
    assert 50 < free < 550


@pytest.mark.parametrize("kind", ["point", "edge"])
def test_things_with_radii_keep_a_part_of_their_gap(kind):
    """Head on, the gap falls linearly: exactly KEEP of it is left. In random motions it stays positive at every time up to the safe one."""
    over, across = [(0.2, 0.2, 1.0), (0, 0, 0), (1, 0, 0), (0, 1, 0)], [(-1, 0, 1), (1, 0, 1), (0, -1, 0), (0, 1, 0)]
    x = np.array(over if kind == "point" else across, float)
    down = np.zeros((4, 3))
    down[: 1 if kind == "point" else 2, 2] = -1.0
    t = step(kind, x, down, radii=(0.1, 0.2))
    assert distance(kind, x + t * down) - 0.3 == pytest.approx(KEEP * 0.7, rel=0.1)  # NEARLY: within a tenth of it
    rng, stopped = np.random.default_rng(3), 0
    for _ in range(300):
        x, dx = rng.uniform(-1, 1, (4, 3)), rng.uniform(-3, 3, (4, 3))
        thick = 0.5 * distance(kind, x)
        t = step(kind, x, dx, radii=(0.25 * thick, 0.75 * thick))
        stopped += t < 1.0
        assert min(distance(kind, x + s * t * dx) for s in np.linspace(0.0, 1.0, 50)) > thick
    assert stopped > 30


def test_radii_are_taken_off_heights_over_planes_that_turn():
    x, down = np.array([[0.3, 0.2, 1.0]]), np.array([[0.0, 0.0, -1.0]])
    assert over_planes(FLOOR, np.zeros(9), x, down, radius=0.4) == pytest.approx((1.0 - KEEP) * 0.6)
    rng, stopped = np.random.default_rng(5), 0
    for _ in range(200):
        motion = np.concatenate([np.zeros(3), 0.5 * rng.standard_normal(6)])
        dx = rng.uniform(-1.5, 1.5, (1, 3))
        t = over_planes(FLOOR, motion, x, dx, radius=0.4)
        stopped += t < 1.0
        for s in np.linspace(0.0, t, 30):
            frame = (FLOOR + s * motion).reshape(3, 3)
            m = np.cross(frame[1], frame[2])
            assert (x[0] + s * dx[0] - frame[0]) @ m / np.linalg.norm(m) > 0.4
    assert stopped > 20
