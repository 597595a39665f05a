"""Deformables that a Builder holds: changed, renamed, removed, included elsewhere, loaded again."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from soft_parts import Bars, builder, rise
from unibody.model.text import model_to_text


def start_of(model, name):
    return model.deformable(name).x0


def test_loaded_again_it_is_the_same():
    model = builder().build()
    again = ub.Builder.load(model).build()
    assert model_to_text(again) == model_to_text(model)
    assert ub.Builder.load(builder()).deformables["flag"].density == 470


def test_names_follow_everywhere():
    b = builder()
    b.rename(bodies={"hull": "ship"}, deformables={"flag": "banner", "block": "flag"})
    assert list(b.deformables) == ["banner", "rope", "flag", "lid"]
    assert list(b.attachments) == ["banner.attach.0", "rope.attach.0", "rope.attach.1"]
    assert b.attachments["rope.attach.0"].body == "ship" and b.attachments["rope.attach.1"].points == ("banner.face[2](0.0, 0.25, 0.75)",)
    assert b.elements["spring"].bodies() == ["flag.vertex[0]", "ship"]
    before, after = builder().build(), b.build()
    np.testing.assert_array_equal(np.concatenate([d.x0 for d in after.deformables]), np.concatenate([d.x0 for d in before.deformables]))
    assert dict(after.forces)["cable"].rest_length == dict(before.forces)["cable"].rest_length
    with pytest.raises(ub.ModelError, match="deformable 'ship' exists already"):
        b.rename(deformables={"flag": "ship"})


def test_changed_it_is_told_anew():
    b = builder()
    b.change_deformable("flag", density=940, X_WB=ub.Pose((0, 0, 7)))
    changed, before = b.build(), builder().build()
    np.testing.assert_allclose(changed.deformable("flag").mass, 2.0 * before.deformable("flag").mass, rtol=1e-15)
    np.testing.assert_allclose(start_of(changed, "flag")[1], before.deformable("flag").X[1] + (0, 0, 7), atol=1e-15)
    b.change_deformable("rope", material=Bars(7.0))
    assert b.build().deformable("rope").stencils[0].energy == Bars(7.0)
    with pytest.raises(ub.ModelError, match=r"another mesh numbers vertices anew, which 'flag.attach.0', 'rope.attach.1', 'cable' name"):
        b.change_deformable("flag", mesh=ub.TriMesh.grid((1, 1), 0.25))
    with pytest.raises(ub.ModelError, match="soft 'block': pressure is for cloth"):
        b.change_deformable("block", pressure=1.0)


def test_what_refers_to_what_is_gone_goes_with_it():
    b = builder()
    gone = b.remove("flag")
    assert gone.deformables == ("flag",) and gone.elements == ("cable",)
    assert gone.attachments == ("flag.attach.0", "rope.attach.1")
    assert list(b.attachments) == ["rope.attach.0"] and list(b.deformables) == ["rope", "block", "lid"]
    gone = b.remove_body("hull")
    assert gone.attachments == ("rope.attach.0",) and gone.elements == ("spring",)
    assert b.remove("wall").attachments == ("wall",)
    assert b.build().n_vertices == 6 + len(b.deformables["block"].mesh.vertices) + 3
    with pytest.raises(ub.ModelError, match="deformable or attachment 'wall' is unknown"):
        b.remove("wall")


def test_included_elsewhere_everything_stands_there():
    X = ub.Pose((5, -1, 2), (1, 0.2, 0.4, -0.3))
    b = ub.Builder()
    assert b.include(builder(), prefix="a_", at=X) == ["a_hull"]
    b.include(builder(), prefix="b_")
    model, alone = b.build(), builder().build()
    for name in ("flag", "rope", "block", "lid"):
        here = alone.deformable(name)
        np.testing.assert_allclose(start_of(model, f"a_{name}"), here.x0 @ X.R.T + X.p, atol=1e-12)
        np.testing.assert_allclose(model.deformable(f"a_{name}").v0, here.v0 @ X.R.T, atol=1e-7)  # the lid's is a difference
        np.testing.assert_array_equal(start_of(model, f"b_{name}"), here.x0)
    lift = next(p for p in model.prescribed if p.name == "a_lid.prescribe.0")
    np.testing.assert_allclose(lift.motion(1.5), np.array(rise(1.5)) @ X.R.T + X.p, atol=1e-12)
    third = repr(1 / 3)
    named = [f"a_flag.face[2]({third}, {third}, {third})", "a_block.tet[0](0.1, 0.2, 0.3, 0.4)"]
    assert dict(model.forces)["a_cable"].bodies()[:2] == named
    with pytest.raises(ub.ModelError, match="body 'b_hull' exists already|exists already; give another prefix"):
        b.include(builder(), prefix="b_")


def test_places_at_the_guests_world_are_places_in_the_host():
    guest = ub.Builder()
    flag = guest.cloth("flag", ub.TriMesh.grid((1, 1), 1.0, "regular"), Bars(), 1)
    guest.attach(flag.vertices[[0, 1]], guest.world, at=[(0, 0, 0), (0, 0, 1)])
    b = ub.Builder()
    wall = b.body("wall", ub.Box((1, 1, 1)), kind="static", X_WB=ub.Pose((0, 3, 0), (1, 1, 0, 0)))
    b.include(guest, parent=wall, at=ub.Pose((1, 0, 0)))
    model = b.build()
    np.testing.assert_allclose(start_of(model, "flag")[:2], [(1, 3, 0), (1, 2, 0)], atol=1e-14)
    b = ub.Builder()
    cart = b.body("cart", ub.Box((1, 1, 1)))
    with pytest.raises(ub.ModelError, match="deformable 'flag' cannot move with 'cart' at the start"):
        b.include(guest, parent=cart)


def test_lists_know_their_names():
    b = builder()
    assert repr(b.deformables) == "deformable names: flag, rope, block, lid" and "flag" in b.deformables
    assert list(b.prescribed) == ["lid.prescribe.0", "wall"]
    with pytest.raises(ub.ModelError, match="deformable 'flga' is unknown; did you mean 'flag'"):
        b.deformables["flga"]
