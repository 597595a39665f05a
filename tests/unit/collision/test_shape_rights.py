"""Which shapes touch, by what law and how far apart, where shapes have materials of their own."""

from itertools import product

import numpy as np
import pytest

import unibody as ub
from unibody.collision.rigid import RigidCollision
from unibody.collision.rigid.overlapping import overlaps
from unibody.collision.shape_rights import ShapeRights
from unibody.contact.pair_laws import PairLaws
from unibody.errors import ModelError, Unsupported
from unibody.model.text import model_from_text, model_to_text
from unibody.solvers.barrier.body_laws import body_laws

M = ub.ContactMaterial


PLAIN = (ub.Contact(),)


def model_of(*materials, contacts=PLAIN, joints=(), shapes=None, apart=0.0):
    """Bodies '0', '1', …, each with a sphere of radius 0.5 for each of its materials, all about the origin."""
    b = ub.Builder(gravity=None)
    for i, own in enumerate(materials):
        own = own if isinstance(own, tuple) else (own,)
        placed = [ub.Placed(ub.Sphere(0.5), ub.Pose(p=(apart * i, 0, 0)), material=m) for m in own]
        b.body(str(i), shape=placed, mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    for a, c in joints:
        b.joint(f"{a}-{c}", ub.Revolute(), parent=str(a), child=str(c))
    for c in contacts:
        b.add(c)
    return b.build()


def still(model) -> np.ndarray:
    return np.tile(np.r_[np.eye(3).ravel(), 0, 0, 0], (model.n_bodies, 1))


def touching(model, few: int | None = None) -> set[tuple[int, int]]:
    """Pairs of shapes that the search finds."""
    search = RigidCollision(model, 0.1)
    if few is not None:
        search.few = few
    return {tuple(p) for p in search.pairs(still(model)).tolist()}


def by_rights(model) -> set[tuple[int, int]]:
    """The same by `ShapeRights`, pair by pair."""
    rights = ShapeRights(model)
    c = rights.classes
    n = len(c.of_shape)
    pairs = [(i, j) for i, j in product(range(n), range(n)) if i < j]
    return {(i, j) for i, j in pairs if rights.shapes(*c.body[[i, j]].tolist(), *c.of_shape[[i, j]].tolist())}


def test_one_wish_is_enough_and_bits_need_not_be_few():
    """contype/conaffinity: either's category in the other's mask. 100 classes and bits: no limit of 63."""
    model = model_of(M(category=1, mask=0), M(category=0, mask=1), M(category=2, mask=2), M(category=0, mask=0), None)
    assert touching(model) == {(0, 1), (0, 4), (1, 4)} == by_rights(model)
    many = model_of(*(M(category=1 << k, mask=1 << (k ^ 1)) for k in range(100)))
    assert touching(many) == {(k, k + 1) for k in range(0, 100, 2)} == by_rights(many)


def test_shapes_of_one_body_differ():
    model = model_of((M(), M(category=2, mask=2)), (M(), M(category=2, mask=2)))
    assert touching(model) == {(0, 2), (1, 3)}


@pytest.mark.parametrize("few", (None, 0), ids=("sorted", "grids"))
def test_who_holds_before_whom(few):
    """Materials by name before bodies by name before masks before all; neighbours only when asked."""
    rubber, ghost = M(name="rubber"), M(category=0, mask=0, name="ghost")
    bodies = (rubber, ghost, (rubber, ghost), None)
    masks, named = {(0, 2), (0, 4), (2, 4)}, ub.Contact(materials=("rubber", "ghost"))
    cases = {
        (): masks,
        (ub.Contact(between=("0", "1")),): masks | {(0, 1)},
        (ub.Contact(between=("0", "2"), on=False),): {(0, 4), (2, 4)},
        (named,): masks | {(0, 1), (0, 3), (1, 2)},
        (ub.Contact(materials=("rubber", "rubber"), on=False),): {(0, 4), (2, 4)},
        (named, ub.Contact(between=("0", "1"), on=False)): masks | {(0, 1), (0, 3), (1, 2)},
    }
    for contacts, expected in cases.items():
        model = model_of(*bodies, contacts=(ub.Contact(), *contacts))
        assert touching(model, few) == expected == by_rights(model), contacts
    alone = model_of(*bodies, contacts=(ub.Contact(materials=("rubber", "ghost")),))
    assert touching(alone, few) == {(0, 1), (0, 3), (1, 2)} == by_rights(alone)
    for neighbours, expected in ((False, set()), (True, {(0, 1)})):
        joined = model_of(rubber, ghost, contacts=(ub.Contact(materials=("rubber", "ghost"), neighbours=neighbours),), joints=((0, 1),))
        assert touching(joined, few) == expected == by_rights(joined)


def test_bodies_that_cannot_move_against_each_other_never_touch():
    b = ub.Builder()
    one = ub.Placed(ub.Sphere(0.5), ub.Pose(), material=M(name="x"))
    b.body("a", shape=one)
    b.body("b", shape=one)
    b.joint("glue", ub.Weld(), parent="a", child="b")
    b.add(ub.Contact(materials=("x", "x"), neighbours=True))
    assert touching(b.build()) == set()


def law(model, i: int, j: int) -> tuple[float, float, float]:
    """Friction, its bound on turns and restitution of two shapes."""
    laws, n = PairLaws(model), len(ShapeRights(model).classes.of_shape)
    body = ShapeRights(model).classes.body
    found = laws.of(body[[i, j]][None], np.array([(i * n + j) << 31]))
    return float(found.friction[0, 0]), float(found.friction[0, 2]), float(found.restitution[0])


def test_the_larger_friction_holds_or_that_of_the_higher_priority():
    low, high = M(friction=0.2, torsion=0.1), M(friction=0.8, torsion=0.01)
    first = M(friction=0.3, torsion=0.0, priority=1, restitution=0.5)
    model = model_of(low, high, first, None, contacts=(ub.Contact(friction=0.4, torsion=0.02, restitution=0.1),))
    assert law(model, 0, 1) == pytest.approx((0.8, 0.02, 0.1))  # the larger of each: μ, μ · torsion, e
    assert law(model, 0, 2) == law(model, 1, 2) == law(model, 2, 3) == pytest.approx((0.3, 0.0, 0.5))
    assert law(model, 0, 3) == pytest.approx((0.4, 0.02, 0.1))  # what is not said is the Contact's


def test_laws_by_name_hold_before_materials():
    own, about = (M(friction=0.2, name="x"), M(friction=0.3, name="y")), ub.Contact(between=("0", "1"), friction=0.9)
    by_bodies = model_of(*own, contacts=(ub.Contact(), about))
    assert law(by_bodies, 0, 1)[0] == 0.9
    both = model_of(*own, contacts=(ub.Contact(), about, ub.Contact(materials=("y", "x"), friction=0.7)))
    assert law(both, 0, 1)[0] == 0.7
    with pytest.raises(ModelError, match="give ids"):
        PairLaws(both).of(np.array([[1, 2]]))


def test_margins_add_up_and_leave_points_midway():
    """Spheres of radius 0.5 whose middles are 1.1 apart: a gap of 0.1 − 0.03 − 0.04, at the middle."""
    model = model_of(M(margin=0.03), M(margin=0.04), apart=1.1)
    found = RigidCollision(model, 0.1).find(still(model))
    np.testing.assert_allclose(found.gap, 0.03, rtol=1e-12)
    np.testing.assert_allclose(found.point, [[0.55, 0, 0]], atol=1e-15)
    np.testing.assert_allclose(found.point_b, found.point_a + found.gap[:, None] * found.normal, atol=1e-15)
    assert len(RigidCollision(model, 0.02).find(still(model))) == 0 == len(overlaps(model, still(model)))
    named = [M(margin=0.03, name="x"), M(margin=0.04, name="y")]
    closer = model_of(*named, contacts=(ub.Contact(), ub.Contact(materials=("x", "y"), margin=0.12)), apart=1.1)
    assert [round(o.depth, 12) for o in overlaps(closer, still(closer))] == [0.02]


def test_only_what_may_touch_overlaps():
    for materials, found in (((M(category=2, mask=2), M()), []), ((M(), M(margin=0.1)), [("0", "1")])):
        model = model_of(*materials, apart=0.3)
        assert [(o.one, o.other) for o in overlaps(model, still(model))] == found
        assert [f.elements for f in ub.check(model, solver="complementarity") if f.code == "intersecting shapes"] == found


def test_a_barrier_takes_what_agrees_over_a_body_and_refuses_the_rest_by_name():
    agreed = model_of(M(friction=0.5), M(category=2, mask=2), (M(friction=0.7), M(friction=0.7)))
    laws = body_laws(agreed)
    assert laws.mixed is None and laws.off == {(1, 2), (2, 3)} and laws.friction == {(1, 3): 0.7}
    for materials, word in (
        (((M(), M(category=2, mask=2)), M()), "others may not"), ((M(margin=0.1), M()), "margins"),
        (((M(friction=0.1), M(friction=0.2)), M(friction=0.0)), "several coefficients"), ((M(torsion=0.1, friction=1.0), M()), "torsion"),
    ):  # fmt: skip
        with pytest.raises(Unsupported, match=word) as refused:
            ub.Simulation(model_of(*materials), "barrier", dt=1e-2)
        assert "'0' and '1'" in str(refused.value)


def test_penalty_forces_refuse_torsion_and_restitution():
    for material in (M(friction=1.0, torsion=0.1), M(restitution=0.5)):
        with pytest.raises(Unsupported, match="ContactMaterial"):
            ub.Simulation(model_of(material, None), "penalty", dt=1e-3)


@pytest.mark.parametrize(
    ("make", "word"),
    (
        (lambda: M(friction=-1.0), "friction"), (lambda: M(margin=np.inf), "margin"), (lambda: M(margin=None), "margin"),
        (lambda: M(restitution=1.5), "energy"), (lambda: M(category=1.5), "whole"), (lambda: M(mask=-1), "bits"),
        (lambda: M(name=""), "name"), (lambda: ub.Placed(ub.Sphere(1), ub.Pose(), material="ice"), "ContactMaterial"),
        (lambda: ub.Contact(materials=("x",)), "two names"),
        (lambda: ub.Contact(margin=0.1), "materials"), (lambda: ub.Contact(materials=("x", "y"), between=("a", "b")), "between"),
        (lambda: model_of(M(name="x"), contacts=(ub.Contact(materials=("x", "y")),)), "'y'"),
        (lambda: model_of(M(name="x"), contacts=(ub.Contact(materials=("x", "x")), ub.Contact(materials=("x", "x")))), "both"),
    ),
)  # fmt: skip
def test_bad_input_is_refused_in_one_line(make, word):
    with pytest.raises(ModelError, match=word) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_materials_survive_the_text_form():
    own = M(0.5, 0.01, 0.25, 0.002, 6, 9, 3, "sole")
    nested = ub.Placed(ub.Placed(ub.Sphere(0.1), ub.Pose(), material=M(0.1)), ub.Pose(p=(0, 0, 1)))
    b = ub.Builder()
    b.body("foot", shape=[ub.Placed(ub.Sphere(0.5), ub.Pose(), material=own), nested, ub.Sphere(0.2)])
    b.body("hand", shape=ub.Sphere(0.2))
    b.add(ub.Contact())
    b.add(ub.Contact(materials=("sole", "sole"), friction=0.3, margin=0.01))
    model = b.build()
    text = model_to_text(model)
    again = model_from_text(text, "here")
    first, second, third = again.bodies[1].shapes
    assert first.material == own and second.shape.material == M(0.1) and third.material is None
    assert [c for _, c in again.constraints] == [c for _, c in model.constraints]
    assert "material" not in text["bodies"][1]["shapes"][0]  # files without materials stay as they were
    text["bodies"][0]["shapes"][0]["material"] = {"friction": 0.5}  # people need not say the type
    assert model_from_text({**text, "elements": []}, "here").bodies[1].shapes[0].material == M(0.5)
    told = {**text["bodies"][0]["shapes"][0], "material": {"friction": 0.5, "margin": "wide"}}
    text["bodies"][0]["shapes"][0] = told
    with pytest.raises(ModelError, match=r"margin.*wide"):
        model_from_text(text, "here")
