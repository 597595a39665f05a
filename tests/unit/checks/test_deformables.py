"""A check of a model with deformables speaks of its bodies, and says that it leaves the others out."""

from __future__ import annotations

import sys
from pathlib import Path

import unibody as ub
from unibody.model.connections import groups
from unibody.model.deformable_editing import bodies_alone

sys.path.insert(0, str(Path(__file__).parents[2]))
from soft_parts import Bars, builder


def test_bodies_alone_are_checked_and_the_rest_is_named():
    found = ub.check(builder().build())
    (said,) = [f for f in found if f.code == "deformables"]
    assert said.elements == ("flag", "rope", "block", "lid") and said.level == "note"


def test_solvers_that_carry_no_deformables_have_no_safe_step():
    found = ub.check(builder().build())
    said = {step.solver: step.remark for step in found.steps}
    assert "cannot run this model: 'flag'" in said["penalty"] and "cannot" not in said["barrier"]


def test_a_solid_that_starts_inside_out_is_found_where_nothing_touches():
    mesh = ub.TetMesh.box((0.1, 0.1, 0.1), (1, 1, 1))
    b = ub.Builder()
    b.soft("cube", mesh, ub.NeoHookean(1e5, 0.3), 1000, start=mesh.vertices * (1, 1, -1))
    (refused,) = [f for f in ub.check(b.build()) if f.code == "start refused"]
    assert refused.level == "error" and refused.elements == ("cube",)


def test_bodies_alone_keep_what_acts_on_bodies():
    b = builder()
    b.add(ub.SpringDamper(b.bodies["hull"].at(0, 0, 0), b.world.at(0, 0, 3), stiffness=2.0), name="hook")
    alone = bodies_alone(b.build())
    assert not alone.deformables and [name for name, _ in alone.forces] == ["hook"]
    pendulum = ub.scenes.build("pendulum")
    assert bodies_alone(pendulum) is pendulum


def test_deformables_connect_what_they_are_attached_to():
    """Two bodies by a rope from one to cloth on the other; a third by a spring to the cloth; a fourth by nothing."""
    b = ub.Builder()
    for name in ("first", "second", "third", "fourth"):
        b.body(name, ub.Sphere(0.1))
    flag = b.cloth("flag", ub.TriMesh.grid((1, 1), 0.5, "regular"), Bars(), 1)
    rope = b.rod("rope", [(0, 0, 0), (0, 0, 1), (0, 0, 2)], 0.01, Bars(), 1)
    b.attach(flag.vertices[0], "first")
    b.attach(rope.end(0), "second")
    b.attach(rope.end(1), flag.vertex(8))
    b.add(ub.SpringDamper(flag.vertex(4), b.bodies["third"].at(), stiffness=1.0))
    assert groups(b.build()) == [[0], [1, 2, 3], [4]]
