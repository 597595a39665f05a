"""No intersection in any step of any scene with Contact, by an exact test on the recorded vertices that knows nothing of the solver.

Scenes are found by their having a Contact, unless they name another solver as theirs: a new one is run too. Sizes are the smallest that
still touch; runs end after the first contact.
"""

from __future__ import annotations

import numpy as np
import pytest
from crossings import crossing, exact_sign, intersections, touching_pairs

import unibody as ub

SHORT = {
    # parameters, duration [s], step [s] (None: the scene's own)
    "arch": ({"stones": 5}, 0.2, None),
    "bolt-nut": ({"sides": 12, "turns": 2.0}, 0.08, None),
    "box-stack": ({"n": 3}, 0.4, None),
    "candy": ({}, 0.3, None),
    "card-house": ({"levels": 2}, 0.2, None),
    "falling-box": ({"height": 0.05}, 0.2, 4e-3),
    "cloth-drape": ({"spacing": 0.08}, 0.3, None),
    "hammock": ({"spacing": 0.12}, 0.2, None),
    "hinge-boards": ({}, 0.25, None),
    "monocular": ({}, 0.5, None),
    "newtons-cradle": ({"n": 2}, 0.42, 2e-3),
    "nunchaku": ({}, 1.0, 0.02),
    "nunchakus": ({"n": 1, "link": "hinge"}, 0.5, None),
    "rope-bridge": ({"boards": 4}, 0.4, None),
    "ragdolls": ({"height": 0.02}, 0.2, None),
    "rope-ring": ({"pieces": 16}, 0.2, None),
    "slope": ({}, 0.1, None),
    "terrain-vehicle": ({"cells": 24, "sides": 12}, 0.4, None),
    "triple-rod-pendulum": ({"length": 0.3}, 1.0, 0.01),
    "turntable": ({}, 0.1, None),
    "unicycle": ({}, 0.1, None),
    "windmill": ({"levels": 1, "columns": 1}, 0.5, 1e-2),
    "wrecking-ball": ({"links": 1, "columns": 1, "rows": 2, "degrees": 30.0}, 0.8, None),
}
NEVER = {"nunchaku", "triple-rod-pendulum", "monocular", "flag"}
"""Scenes that show joints, or a flag; their bodies may pass without touching."""


def with_contact() -> list[str]:
    scenes = {name: ub.scenes.make(name) for name in ub.scenes.names()}
    touch = {name for name, s in scenes.items() if any(getattr(c, "surfaces", False) for _, c in s.model.constraints)}
    return [name for name in scenes if name in touch and scenes[name].solver in ("", "barrier")]


@pytest.mark.parametrize("step", ["own", "1/24 s"])
@pytest.mark.parametrize("name", with_contact())
def test_no_recorded_step_intersects(name, step):
    parameters, duration, dt = SHORT.get(name, ({}, 0.2, None))
    made = ub.scenes.make(name, **parameters)
    dt = 1.0 / 24.0 if step == "1/24 s" else dt or made.dt
    rec = ub.Simulation(made.model, "barrier", dt=dt).run(max(2, round(duration / dt)) * dt)
    assert not intersections(rec)
    assert name in NEVER or any(len(c) for c in rec.contacts), "nothing touched: run it longer"


def test_a_plate_of_a_centimetre_at_1000_metres_per_second():
    """It passes a hundred times its thickness in a step of 1 ms, and 40 m in one of 1/24 s."""
    for dt in (1e-3, 1.0 / 24.0):
        b = ub.Builder(gravity=None)
        b.body("wall", shape=ub.Box((0.02, 2.0, 2.0)), kind="static", X_WB=ub.Pose(p=(5.0, 0.0, 0.0)))
        b.body("plate", shape=ub.Box((0.01, 1.0, 1.0)), X_WB=ub.Pose.about((0.1, 1, 0.2), 0.2), V_WB=(0.0, 3.0, 1.0, 1000.0, 5.0, 0.0))
        b.add(ub.Contact(reach=1e-3, pressure=1e7))
        rec = ub.Simulation(b.build(), "barrier", dt=dt).run(12 * dt)
        assert not intersections(rec)
        assert rec.vertices("plate")[..., 0].max() < 4.99
        assert rec.vertices("plate")[..., 0].max() > 4.9 and any(len(c) for c in rec.contacts)


def test_the_judge_sees_what_there_is_to_see():
    """A triangle through another, beside it, touching it by a corner in exact arithmetic; half-spaces; pairs that are let through."""
    face = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)], float)
    tri, edge = np.array([(0, 1, 2)]), np.array([(0, 1)])
    assert crossing(np.array([(0.2, 0.2, -1), (0.3, 0.3, 1.0)]), edge, face, tri)
    assert not crossing(np.array([(0.7, 0.7, -1), (0.7, 0.7, 1.0)]), edge, face, tri)
    assert crossing(np.array([(0.1, 0.1, 0.0), (0.1, 0.1, 1.0)]), edge, face, tri)
    assert not crossing(np.array([(0.1, 0.1, 5e-324), (0.1, 0.1, 1.0)]), edge, face, tri)
    for x, meets in ((1.5, False), (1.0, True), (0.5, True)):  # in the face's own plane
        assert crossing(np.array([(x, 0.0, 0.0), (2.0, 0.1, 0.0)]), edge, face, tri) == meets
    assert exact_sign((0.1, 0.1, 0.1), (0.3, 0.3, 0.3), (0.7, 0.2, 0.1), (0.2, 0.9, 0.4)) != 0
    b = ub.Builder(gravity=None)
    b.body("ground", shape=ub.Plane(), kind="static")
    for k, z in enumerate((0.4, 2.0, 2.9, 5.0)):
        b.body(f"box{k}", shape=ub.Box((1, 1, 1)), X_WB=ub.Pose.about((1, 2, 3), 0.1 * k, p=(0, 0, z)))
    b.add(ub.Contact())
    assert [(one, other) for _, one, other in intersections(_start(b.build()))] == [("ground", "box0"), ("box1", "box2")]
    b.add(ub.Contact(between=("box1", "box2"), on=False))
    assert [(one, other) for _, one, other in intersections(_start(b.build()))] == [("ground", "box0")]
    assert len(touching_pairs(b.build())) == 4 + 6 - 1


def _start(model):
    """A recording of one state, made without the solver, which would refuse it."""

    class Still:
        t = np.zeros(1)

        def __init__(self):
            self.model = model

        def __len__(self):
            return 1

        def pose(self, body):
            X = model.bodies[model.body(body)].X_WB
            return np.concatenate([X.p, X.wxyz])[None]

        def vertices(self, body):
            info = model.bodies[model.body(body)]
            return np.concatenate([p.triangles()[0] @ info.X_WB.R.T + info.X_WB.p for p in info.shapes])[None]

    return Still()
