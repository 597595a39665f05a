"""Virtual links: which joints get them, that chains of parts are the joint, and where links stand and how they move."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.coordinates.affine.links import expand, place_links
from unibody.spatial.pose import Pose

GIMBAL = ub.Composite(ub.Revolute((0, 1, 0)), ub.Revolute((1, 0, 0)), ub.Revolute((0, 0, 1)))
TILTED = ub.Universal((1, 0.2, 0), (0, 1, 0.3))
MIXED = ub.Composite(ub.Weld(), ub.Revolute((0, 1, 0)), ub.Weld(), TILTED)


def two_bodies(joint: ub.Joint, parent: str = "arm", loop: bool = False) -> ub.Model:
    b = ub.Builder()
    b.body("floor", kind="static", X_WB=Pose((0, 0, -1)))
    arm = b.body("arm", mass=2.0, inertia=(0.05, 0.06, 0.02), X_WB=Pose.about((1, 2, 3), 0.7, p=(1, 0, 2)))
    hand = b.body("hand", mass=0.5, inertia=(0.01, 0.02, 0.02))
    b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, arm, q=0.4, v=0.9)
    v = np.linspace(0.5, -0.8, joint.nv)
    q = joint.advance(joint.neutral(), np.linspace(0.3, 0.9, joint.nv), 1.0)
    b.joint("joint", joint, b.world if parent == "world" else parent, hand, X_PF=Pose((0.1, 0, -0.3)),
            X_BM=Pose.about((1, 1, 0), 0.3, p=(0, 0.1, 0.2)), q=q, v=v)  # fmt: skip
    return b.build()


@pytest.mark.parametrize(("joint", "links"), [(ub.Universal(), 1), (TILTED, 1), (GIMBAL, 2), (MIXED, 2), (ub.Ball(), 0), (ub.Screw(), 0),
                                              (ub.Composite(ub.Translational(), ub.Ball()), 0), (ub.Composite(ub.Weld(), ub.Ball()), 0),
                                              (ub.Composite(ub.Ball(), ub.Weld()), 0), (ub.Composite(ub.Translational(), ub.Revolute()), 1),
                                              (ub.Composite(ub.Prismatic(), ub.Revolute()), 0)])  # fmt: skip
def test_which_joints_have_links(joint, links):
    model = two_bodies(joint)
    parts, made = expand(model)
    assert len(made) == links and len(parts) == 2 + links
    own = [p for p in parts if p.name == "joint"]
    assert [p.parent for p in own] == [model.body("arm"), *range(model.n_bodies, model.n_bodies + links)]
    assert [p.child for p in own] == [*range(model.n_bodies, model.n_bodies + links), model.body("hand")]
    assert sum(p.nq for p in own) == joint.nq and own[0].q_start == model.joint("joint").q_start
    for link in made:
        assert link.mass < 1e-3 * 0.5 and link.joint == own[0].joint
        assert link.volume == 2.0 / 1000.0 and 0.0 < link.radius < 0.3


def test_joints_that_are_exact_on_static_bodies_have_none():
    slide = ub.Composite(ub.Prismatic(), TILTED)
    for joint in (ub.Universal(), GIMBAL, slide):
        assert not expand(two_bodies(joint, "floor"))[1] and not expand(two_bodies(joint, "world"))[1]
    assert not expand(two_bodies(slide))[1]  # between bodies that move a slide is no linear equation


@pytest.mark.parametrize("joint", [TILTED, GIMBAL, MIXED], ids=["universal", "gimbal", "mixed"])
def test_chains_of_parts_are_the_joint(joint):
    """Poses and twists along the parts, from the parent over the links, end at the child's."""
    model = two_bodies(joint)
    parts, links = expand(model)
    X, q, v = [b.X_WB for b in model.bodies] + [link.X_WB for link in links], model.start_q(), model.start_v()
    V = [np.concatenate([b.X_WB.R.T @ b.V_WB[:3], b.X_WB.R.T @ b.V_WB[3:]]) for b in model.bodies] + [link.V_WB for link in links]
    last = parts[-1]
    X_FM = Pose.from_rotation(*last.element.pose(q[last.q_start : last.q_start + last.nq]))
    end = X[last.parent] @ last.X_PF @ X_FM @ last.X_BM.inverse()
    np.testing.assert_allclose(end.matrix(), model.bodies[model.body("hand")].X_WB.matrix(), atol=1e-13)
    # Links move as their poses do when q moves with v.
    h = 1e-6
    later = {s: [j.element.advance(j.q0, j.v0, s * h) for j in model.joints] for s in (-1, 1)}
    moved = {}
    for s, qs in later.items():
        angle = qs[model.joints.index(model.joint("hinge"))]
        hinge = model.joint("hinge")
        arm = Pose() @ hinge.X_PF @ Pose.from_rotation(*hinge.element.pose(angle)) @ hinge.X_BM.inverse()
        poses = [arm if b.name == "arm" else b.X_WB for b in model.bodies]
        moved[s], _ = place_links(model, parts, len(links), poses, V[: model.n_bodies], np.concatenate(qs), v)
    for i, link in enumerate(links):
        rate = (moved[1][i].matrix() - moved[-1][i].matrix()) / (2 * h)
        W = link.X_WB.R.T @ rate[:3, :3]
        found = np.array([W[2, 1], W[0, 2], W[1, 0], *(link.X_WB.R.T @ rate[:3, 3])])
        np.testing.assert_allclose(link.V_WB, found, atol=1e-8)


def test_loop_joints_are_expanded_too():
    b = ub.Builder()
    one, two = (b.body(n, mass=1.0, inertia=(0.1, 0.1, 0.1), X_WB=Pose((0, 0, z))) for n, z in (("one", 0.0), ("two", 0.0)))
    b.joint("a", ub.Ball(), b.world, one)
    b.joint("b", ub.Ball(), b.world, two)
    b.joint("cross", ub.Universal(), one, two, X_PF=Pose((0, 0, 1)), X_BM=Pose((0, 0, 1)))
    model = b.build()
    parts, links = expand(model)
    assert model.joint("cross").loop and len(links) == 1 and len(parts) == 4
    np.testing.assert_allclose(links[0].X_WB.p, (0, 0, 1), atol=1e-14)
