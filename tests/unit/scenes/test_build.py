"""Every scene builds with its defaults and with its options; loops start closed."""

from __future__ import annotations

import numpy as np
import pytest

from unibody import scenes
from unibody.errors import ModelError

OPTIONS = [
    ("pendulum", {"kind": "rod", "planar": "true"}),
    ("conical-pendulum", {"kind": "rod"}),
    ("double-pendulum", {"planar": "yes"}),
    ("spinning-body", {"inertia": "0.04,0.04,0.02", "omega": "1,0.5,3"}),
    ("precessing-top", {"root": "fast"}),
    ("heavy-chain", {"mode": 0, "planar": False}),
    ("serial-arm", {"base": "free", "rate": 0.3}),
    ("serial-arm", {"planar": False, "bend": 0.2}),
    ("binary-tree", {"base": "free"}),
    ("closed-ring", {"support": "free", "rate": 0.7}),
    ("closed-ring", {"planar": False}),
    ("catenary", {"start": "vee", "n": 21}),
    ("catenary", {"planar": "no"}),
    ("four-bar", {"rate": 3.0}),
    ("spatial-four-bar", {"rate": 3.0}),
    ("slider-crank", {"rate": 3.0, "planar": False}),
    ("peaucellier", {"rate": 1.0}),
    ("n-four-bar", {"n": 40}),
    ("bennett", {"rate": 2.0}),
    ("bricard", {"rate": 2.0}),
]


def loop_errors(model) -> tuple[float, float]:
    """Largest position and velocity error of the joints that close loops, from the model's start poses and twists."""
    position = velocity = 0.0
    for joint in model.joints:
        if not joint.loop:
            continue
        parent, child = model.bodies[joint.parent], model.bodies[joint.child]
        X_WF, X_WM = parent.X_WB @ joint.X_PF, child.X_WB @ joint.X_BM
        R, p = joint.element.pose(np.array(joint.q0))
        gap = X_WF.R @ p + X_WF.p - np.array(X_WM.p)
        position = max(position, np.abs(gap).max(), np.abs(X_WF.R @ R - X_WM.R).max())
        V = [np.array(body.V_WB) for body in (parent, child)]
        at_M = [v[3:] + np.cross(v[:3], np.array(X_WM.p) - body.X_WB.p) for v, body in zip(V, (parent, child), strict=True)]
        allowed = joint.element.motion(np.array(joint.q0)) @ joint.v0
        relative = np.concatenate([X_WM.R.T @ (V[1][:3] - V[0][:3]), X_WM.R.T @ (at_M[1] - at_M[0])])
        velocity = max(velocity, np.abs(relative - allowed).max())
    return position, velocity


@pytest.mark.parametrize("name", scenes.names())
def test_every_scene_builds_with_its_defaults(name):
    made = scenes.make(name)
    assert made.duration > made.dt > 0.0
    assert made.notes
    assert made.model.nv > 0 or made.model.deformables  # whose vertices are no coordinates of joints


@pytest.mark.parametrize(("name", "options"), [(name, {}) for name in scenes.names()] + OPTIONS, ids=str)
def test_loops_start_closed_and_moving_consistently(name, options):
    position, velocity = loop_errors(scenes.build(name, **options))
    # Geometry is analytic; lengths reach 10 m in the ring. Rates come from differences good to about 1e-13 of the speeds.
    assert position < 1e-13 * 10
    assert velocity < 1e-12


@pytest.mark.parametrize("planar", [True, False])
def test_zero_start_puts_every_block_in_one_place_with_violated_joints(planar):
    model = scenes.build("binary-tree", start="zero", planar=planar)
    dynamic = [body for body in model.bodies if body.kind == "dynamic"]
    assert len(dynamic) == 7
    for body in dynamic:
        np.testing.assert_array_equal(body.X_WB.p, (0, 0, 0))
    assert loop_errors(model)[0] == pytest.approx(4.0)
    assert sum(joint.loop for joint in model.joints) == 7  # six pairs and the base


def test_papers_ring_start_has_all_blocks_at_the_origin():
    model = scenes.build("closed-ring", start="zero", support="free", n=4)
    assert loop_errors(model)[0] > 1.0
    assert sum(joint.loop for joint in model.joints) == 4


@pytest.mark.parametrize(
    ("name", "given", "complaint"),
    [
        ("serial-arm", {"n": 0}, "n=0 blocks are too few"),
        ("binary-tree", {"height": 0}, "height=0 is too low"),
        ("closed-ring", {"n": 2}, "n=2 blocks make no ring"),
        ("closed-ring", {"rate": 1.0}, "rate=1.0 turns a hung ring off its pin"),
        ("closed-ring", {"rate": 1.0, "support": "free", "start": "zero"}, "rate=1.0 needs a ring to turn"),
        ("catenary", {"gravity": 0.0}, "gravity=0.0 must be positive"),
        ("heavy-chain", {"gravity": -1.0}, "gravity=-1.0 must be positive"),
        ("catenary", {"length": 0.5}, "length=0.5 must exceed span=1.0"),
        ("catenary", {"n": 1}, "n=1 links are too few"),
        ("heavy-chain", {"mode": 99}, "mode=99 does not exist"),
        ("four-bar", {"coupler": 0.1}, "do not close at angle=1.0"),
        ("slider-crank", {"rod": 0.1}, "rod=0.1 must be longer"),
        ("peaucellier", {"angle": 3.0}, "angle=3.0 is out of the cell's reach"),
        ("n-four-bar", {"n": 0}, "n=0 windows are too few"),
        ("bennett", {"beta": 0.6}, "alpha=0.6 equals beta"),
        ("bricard", {"a": 0.0}, "a=0.0 must be positive"),
        ("precessing-top", {"spin": 1.0}, "spin=1.0 is too slow"),
        ("conical-pendulum", {"angle": 2.0}, "angle=2.0 must lie between"),
        ("spinning-body", {"inertia": (1, 1, 3)}, "no body has the principal inertias"),
    ],
)
def test_impossible_parameters_are_refused_in_one_line(name, given, complaint):
    with pytest.raises(ModelError, match=complaint) as caught:
        scenes.build(name, **given)
    assert str(caught.value).startswith(f"scene '{name}'") and "\n" not in str(caught.value)
