"""Scenes of cloth, ropes and rubber: nothing passes through anything, friction's threshold, what they are at other sizes.

What each does at its defaults is in `tests/agreement/soft_scene_claims.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from verification.test_deformable_contact import intersections

G = 9.81


def run(made, seconds: float) -> ub.Recording:
    return ub.Simulation(made.model, made.default_solver(), dt=made.dt).run(seconds, progress=False)


def apart(x: np.ndarray, pairs: np.ndarray, y: np.ndarray, others: np.ndarray) -> float:
    """The least distance of points, 17 along each, of the segments x[pairs] from those of y[others]."""
    s = np.linspace(0.0, 1.0, 17)[:, None]
    p = np.concatenate([x[i] + s * (x[j] - x[i]) for i, j in pairs])
    q = np.concatenate([y[i] + s * (y[j] - y[i]) for i, j in others])
    return float(np.linalg.norm(p[:, None] - q[None], axis=2).min())


@pytest.mark.parametrize(
    ("name", "parameters", "seconds", "itself"),
    [
        ("candy", {}, 0.6, ("wrapper",)),
        ("cloth-drape", {"on": "ball", "spacing": 0.05}, 0.5, ("cloth",)),
        ("flag", {"spacing": 0.08}, 1.0, ("flag",)),
        ("trampoline", {"spacing": 0.1}, 0.6, ()),
        ("soft-finger", {"cells": 4}, 0.6, ()),
        ("tyre", {"sectors": 16}, 0.3, ()),
        ("hammock", {"spacing": 0.09}, 0.5, ("bed",)),
    ],
)
def test_nothing_passes_through_anything(name, parameters, seconds, itself):
    """By the exact test of edges against faces, which knows nothing of the solver, in every fifth state. What is attached moves with its
    body and may be inside it: bones and rims are left out."""
    rec = run(ub.scenes.make(name, **parameters), seconds)
    met = {frozenset(("bed", f"{end}-rope{k}")) for end in ("left", "right") for k in (0, 1)}  # a rope ends in a corner
    if name in ("soft-finger", "tyre"):
        met = {frozenset((rec.model.bodies[a.body].name, d.name)) for a in rec.model.attachments for d in rec.model.deformables}
    assert [found for found in intersections(rec, every=5, itself=itself) if frozenset(found[:2]) not in met] == []
    assert name == "flag" or any(len(c) for c in rec.contacts), "nothing touched"


def test_a_cloth_on_wires_keeps_their_distance():
    """Edges of cloth and wires: never nearer than the wire's radius and half the cloth's thickness."""
    rec = run(ub.scenes.make("cloth-drape", spacing=0.05), 0.5)
    model = rec.model
    cloth, rack = model.deformable("cloth"), model.bodies[model.body("rack")]
    edges = cloth.mesh.edges()
    nearest = np.inf
    for shape in rack.shapes:
        y = shape.shape.points @ shape.X_BS.R.T + shape.X_BS.p
        pieces = np.stack([np.arange(len(y) - 1), np.arange(1, len(y))], axis=1)
        nearest = min(nearest, min(apart(x, edges, y, pieces) for x in rec.vertices("cloth")[10::8]))
    assert 6e-3 + 0.5 * cloth.radius < nearest < 10e-3


@pytest.mark.parametrize("friction", [0.49, 0.45])
def test_cloth_below_the_friction_of_its_slope_slides_as_a_block_does(friction):
    """Down the slope with g (sin α − μ cos α), once it has landed; a holding cloth is the scene's claim."""
    made = ub.scenes.make("cloth-slope", friction=friction)
    assert not made.exact.holds
    rec = run(made, 0.8)
    m = rec.model.deformable("cloth").mass
    speed = np.linalg.norm(np.einsum("n,tni->ti", m / m.sum(), rec.velocities("cloth")), axis=1)
    late = rec.t > 0.3
    slope, _ = np.polyfit(rec.t[late], speed[late], 1)
    assert slope == pytest.approx(made.exact.acceleration, rel=0.01)


def test_the_paper_s_bridge_has_ten_rods_and_forty_boards():
    """Its two ropes, two hand ropes and six hangers begin where they are attached, and stay there."""
    made = ub.scenes.make("rope-bridge", boards=40, hangers=3)
    assert len(made.model.deformables) == 10 and sum(b.name.startswith("board") for b in made.model.bodies) == 40
    rec = run(made, 0.05)
    for a in made.model.attachments:
        for k in (0, -1):
            if a.body >= 0:
                M = rec.observations[k].material[a.body]
                at = M[0] + a.p @ M[1:]
            else:
                x = np.concatenate([rec.vertices(d.name)[k] for d in made.model.deformables])
                at = np.einsum("nk,nki->ni", a.weights, np.where(a.support[..., None] >= 0, x[a.support], 0.0))
            x = np.concatenate([rec.vertices(d.name)[k] for d in made.model.deformables])[a.vertices]
            assert np.abs(x - at).max() < 1e-12, a.name


def test_a_hanging_rope_s_closed_form():
    """The catenary of length 1.2 over a span of 1: sag 0.292344, by its tables; and its points are that far apart along it."""
    from unibody.scenes.ropes import HangingRope

    curve = HangingRope(1.0, 1.2)
    assert curve.sag == pytest.approx(0.292344, abs=1e-6)
    x = curve.points(101)
    assert np.linalg.norm(np.diff(x, axis=0), axis=1).sum() == pytest.approx(1.2, rel=1e-4)


def test_a_slippery_finger_lets_the_ball_slide():
    """The torque over its arm presses with some F; friction carries 2 μ F at most, so at μ = 0.05 a heavy ball stays on the table."""
    made = ub.scenes.make("soft-finger", friction=0.05, mass=0.3, cells=4)
    rec = run(made, 0.8)
    assert rec.joint("arm")[-1, 0] > 0.14 and rec.pose("ball")[-1, 2] < 0.05


@pytest.mark.parametrize(
    ("name", "wrong", "word"),
    [
        ("candy", {"degrees": 200.0}, "degrees=200"),
        ("cloth-drape", {"spacing": 0.0}, "spacing=0"),
        ("cloth-drape", {"width": -1.0}, "width=-1"),
        ("flag", {"length": 0.0}, "length=0"),
        ("trampoline", {"springs": 2}, "springs=2"),
        ("rope-bridge", {"boards": 2}, "boards=2"),
        ("rope-bridge", {"hangers": 99}, "hangers=99"),
        ("rope-ring", {"span": 2.0}, "span=2"),
        ("soft-finger", {"cells": 3}, "cells=3"),
        ("tyre", {"sectors": 4}, "sectors=4"),
        ("hammock", {"mass": 0.0}, "mass=0"),
    ],
)
def test_bad_parameters_are_named(name, wrong, word):
    with pytest.raises(ub.ModelError, match=f"scene '{name}': .*{word}"):
        ub.scenes.make(name, **wrong)
