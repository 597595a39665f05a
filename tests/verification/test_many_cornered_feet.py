"""What stands on a foot with many corners, flat or nearly flat, comes to rest on it.

At rest the floor carries the weight, and the centre of pressure is under the centre of mass. Dropped and tilted a little, each body lands
on an edge and falls flat. Slower than 1e-6 m/s and rad/s is rest: a step of free fall is 1e-2 m/s or more, contacts that come and go leave
1e-3 … 1e-1 rad/s, and what solvers leave is below 1e-8.
"""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

G = 9.81
QUIET = 1e-6
"""[m/s, rad/s]"""
SIZE = 0.1
"""[m] Radius and height of all bodies."""


def ring(n: int, r: float, z: np.ndarray | float) -> np.ndarray:
    t = 2.0 * np.pi * np.arange(n) / n
    return np.column_stack([r * np.cos(t), r * np.sin(t), np.broadcast_to(z, n)])


def prism(n: int) -> ub.Mesh:
    return ub.Mesh.convex_hull(np.concatenate([ring(n, SIZE, 0.0), ring(n, SIZE, SIZE)]))


def cone(n: int) -> ub.Mesh:
    return ub.Mesh.convex_hull(np.concatenate([ring(n, SIZE, 0.0), [(0.0, 0.0, SIZE)]]))


def uneven(n: int, by: float) -> ub.Mesh:
    """Corners of the foot at heights that differ by up to `by`."""
    heights = by * np.random.default_rng(0).uniform(size=n)
    return ub.Mesh.convex_hull(np.concatenate([ring(n, SIZE, heights), ring(n, 0.7 * SIZE, SIZE)]))


def bulging(n: int, by: float) -> ub.Mesh:
    """A foot like a lens, `by` lower in its middle than at its rim."""
    rng = np.random.default_rng(1)
    r, t = np.sqrt(rng.uniform(size=n)), rng.uniform(0.0, 2.0 * np.pi, n)
    low = np.column_stack([SIZE * r * np.cos(t), SIZE * r * np.sin(t), by * r * r])
    return ub.Mesh.convex_hull(np.concatenate([low, ring(12, 0.7 * SIZE, SIZE)]))


def bowl(n: int) -> ub.Mesh:
    """Upside down: an outer and an inner dome, joined by a flat rim."""
    levels = np.linspace(0.0, 0.5 * np.pi, 5)[:-1]
    outer = [ring(n, SIZE * np.cos(a), SIZE * np.sin(a)) for a in levels]
    inner = [ring(n, 0.8 * SIZE * np.cos(a), 0.8 * SIZE * np.sin(a)) for a in levels]
    x = np.concatenate([*outer, [(0.0, 0.0, SIZE)], *inner, [(0.0, 0.0, 0.8 * SIZE)]])
    top, k, after = len(levels) * n, np.arange(n), (np.arange(n) + 1) % n

    def dome(begin: int) -> np.ndarray:
        low, high = ([begin + m * n + np.stack([k, after]) for m in range(j, j + len(levels) - 1)] for j in (0, 1))
        walls = [np.stack([a[0], a[1], b[1]], axis=1) for a, b in zip(low, high, strict=True)]
        walls += [np.stack([a[0], b[1], b[0]], axis=1) for a, b in zip(low, high, strict=True)]
        return np.concatenate([*walls, np.stack([begin + top - n + k, begin + top - n + after, np.full(n, begin + top)], axis=1)])

    rim = np.concatenate([np.column_stack([k, top + 1 + k, top + 1 + after]), np.column_stack([k, top + 1 + after, after])])
    return ub.Mesh(x, np.concatenate([dome(0), dome(top + 1)[:, ::-1], rim]))


FEET = {
    **{f"prism of {n}": prism(n) for n in (6, 8, 12, 13, 17, 24, 50, 100, 200)},
    "cylinder": ub.Cylinder(SIZE, SIZE), "cone of 64": cone(64), "bowl of 40": bowl(40),
    **{f"uneven by {by:g}": uneven(60, by) for by in (1e-7, 1e-6, 1e-5, 1e-4)},
    **{f"bulging by {by:g}": bulging(200, by) for by in (1e-6, 1e-5, 1e-4)},
}  # fmt: skip
STEPS = (1e-3, 2e-3, 5e-3, 1e-2)
SECONDS = 1.5


def dropped(shape: ub.Shape) -> ub.Model:
    """A centimetre above a floor, tilted by 0.02 rad."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    turned = ub.Pose.about((1.0, 0.6, 0.0), 0.02) @ ub.Pose.about((0.0, 0.0, 1.0), 0.3)
    height = 0.01 - float((shape.triangles()[0] @ np.asarray(turned.R).T)[:, 2].min())
    b.body("body", shape=shape, density=1000.0, X_WB=ub.Pose((0.0, 0.0, height), turned.wxyz))
    b.add(ub.Contact(friction=0.5))
    return b.build()


def check_rest(model: ub.Model, recording: ub.Recording) -> None:
    """Nothing moves, the floor carries the weight, and its forces have no moment about the centre of mass."""
    body = next(b for b in model.bodies if b.name == "body")
    assert np.abs(recording.twist("body")[-1]).max() < QUIET
    X, touching = recording.pose("body")[-1], recording.contacts[-1]
    ground = next(i for i, b in enumerate(model.bodies) if b.name == "ground")
    force = -np.asarray(touching.on(ground))
    assert abs(force[2] / (G * body.mass) - 1.0) < 1e-6 and np.hypot(force[0], force[1]) < 1e-6 * G * body.mass
    pressed = touching.normal_forces @ touching.points[:, :2] / touching.normal_forces.sum()
    R = np.asarray(ub.Pose(X[:3], X[3:]).R)
    assert np.abs(pressed - (X[:3] + R @ np.asarray(body.com))[:2]).max() < 1e-6 * SIZE


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("foot", FEET)
def test_a_body_comes_to_rest_on_its_foot(foot: str, dt: float) -> None:
    model = dropped(FEET[foot])
    recording = ub.Simulation(model, "complementarity", dt=dt).run(SECONDS, every=round(SECONDS / dt))
    check_rest(model, recording)
