"""Safe steps along ways of any length: candidates kept are bounded, nothing is passed through, short ways cost one search."""

from __future__ import annotations

import numpy as np
import pytest
from soups import coordinates, everyone

import unibody as ub
from unibody.collision.broad import Broad
from unibody.collision.ccd import ITERATIONS, safe_step
from unibody.collision.contact_search import ContactSearch
from unibody.collision.intersect import crossing
from unibody.collision.proximity import Proximity
from unibody.collision.surface import Surface
from unibody.collision.sweep import FEW, MANY

REACH = 1e-3


def searching(model: ub.Model) -> tuple[Surface, Broad, ContactSearch, np.ndarray]:
    surface = Surface.of(model)
    broad = Broad(surface, everyone(model.n_bodies))
    return surface, broad, ContactSearch(surface, broad, Proximity(surface), REACH, np.ones(model.n_bodies)), coordinates(model)


def lattice(n: int, resolution: int = 6) -> ub.Model:
    """n³ balls of many triangles, a few millimetres apart."""
    b, (x, faces) = ub.Builder(), ub.Sphere(0.5).triangles(resolution)
    for i, place in enumerate(np.ndindex(n, n, n)):
        b.body(f"ball{i}", shape=ub.Mesh(x, faces), X_WB=ub.Pose(p=1.01 * np.array(place)))
    return b.build()


def every_pair(surface: Surface) -> tuple[np.ndarray, np.ndarray]:
    """Every point with every face and every edge with every edge of different bodies."""
    v, f = np.meshgrid(np.arange(len(surface.w)), np.arange(len(surface.faces)), indexing="ij")
    apart = surface.body[v] != surface.body[surface.faces[f, 0]]
    e, g = np.triu_indices(len(surface.edges), 1)
    other = surface.body[surface.edges[e, 0]] != surface.body[surface.edges[g, 0]]
    return np.stack([v[apart], f[apart]], axis=1), np.stack([e[other], g[other]], axis=1)


def test_a_long_way_through_a_dense_scene_keeps_few_candidates():
    surface, broad, search, Q = searching(lattice(4, 12))
    rng = np.random.default_rng(3)
    search.contacts(Q)
    sweep = search._sweep
    at_rest, x = sweep.largest, surface.positions(Q)
    dQ = np.zeros_like(Q)
    dQ[1:, 0] = 5.0 * rng.standard_normal((len(Q) - 1, 3))
    whole = broad.between(x, x + surface.positions(dQ), REACH)
    t, _ = search.safe_step(Q, dQ, True)
    # A part may have so many points with faces and so many edges with edges.
    bound = 2 * max(FEW, MANY * at_rest)
    assert len(whole) > 20 * bound
    assert sweep.largest <= bound
    assert t > 0.0
    assert crossing(surface, broad, surface.positions(Q + t * dQ), surface.planes(Q + t * dQ)) is None


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("length", [0.3, 5.0, 50.0])
def test_the_step_is_that_of_all_pairs(monkeypatch, seed, length):
    """In parts that hold a handful of candidates, or in one: the first to be hit is among all pairs of a small scene."""
    surface, _, search, Q = searching(lattice(2))
    rng = np.random.default_rng(seed)
    dQ = length * rng.standard_normal(Q.shape) * np.array([1.0, 0.05, 0.05, 0.05])[:, None]
    dQ[0] = 0.0
    x, dx = surface.positions(Q), surface.positions(dQ)
    points, edges = every_pair(surface)
    exact = safe_step(
        points.ravel(), edges.ravel(), surface.faces.ravel(), surface.edges.ravel(), x.ravel(), dx.ravel(), surface.radius, np.inf, 1.0,
        ITERATIONS,
    )  # fmt: skip
    whole, _ = search.safe_step(Q, dQ, False)
    monkeypatch.setattr("unibody.collision.sweep.FEW", 8)
    monkeypatch.setattr("unibody.collision.sweep.MANY", 1)
    monkeypatch.setattr("unibody.collision.contact_search.PARTS", 10_000)
    parted = searching(lattice(2))[2]
    in_parts, _ = parted.safe_step(Q, dQ, False)
    assert exact > 0.0
    # Which pair is advanced first leaves the last digits to the planes in between, as safe_time ends within a tenth of what is kept.
    assert whole == pytest.approx(exact, rel=0.05) and in_parts == pytest.approx(exact, rel=0.05)
    assert length < 1.0 or parted._sweep.searches > 2


def test_ways_that_are_not_looked_at_to_the_end_are_safe(monkeypatch):
    monkeypatch.setattr("unibody.collision.sweep.FEW", 8)
    monkeypatch.setattr("unibody.collision.sweep.MANY", 1)
    surface, broad, search, Q = searching(lattice(2))
    dQ = np.zeros_like(Q)
    dQ[1:, 0] = 50.0 * np.random.default_rng(1).standard_normal((len(Q) - 1, 3))
    t, _ = search.safe_step(Q, dQ, False)
    assert 0.0 < t < 1.0
    assert crossing(surface, broad, surface.positions(Q + t * dQ), surface.planes(Q + t * dQ)) is None


def test_short_ways_share_one_search():
    _, _, search, Q = searching(lattice(2))
    search.contacts(Q)
    for k in range(5):
        dQ = np.zeros_like(Q)
        dQ[1:, 0, k % 3] = 0.2 * REACH
        assert search.safe_step(Q, dQ, True)[0] == 1.0
    assert search._sweep.searches == 1
