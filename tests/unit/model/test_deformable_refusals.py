"""What a Builder refuses of deformables: one line that names the thing, the value and the remedy. And solvers that carry none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import unibody as ub
from soft_parts import Bars, builder
from unibody.energies.base import Stencils
from unibody.solvers import REGISTRY
from unibody.solvers.base import reason_against

SHEET = ub.TriMesh.grid((1, 1), 0.5, "regular")
BLOCK = ub.TetMesh.box((1, 1, 1), (1, 1, 1))
LINE = [(0, 0, 0), (1, 0, 0), (2, 0, 0)]


@dataclass(frozen=True)
class Odd(Bars):
    """A material whose stencils are not what they should be."""

    how: str = ""

    def stencils(self, mesh):
        (good,) = super().stencils(mesh)
        if self.how == "list":
            return [good.index]
        if self.how == "far":
            return [Stencils(self, good.index + 1, good.parameters)]
        return [Stencils(self, good.index, good.parameters[:-1])]


def refused(act, said):
    with pytest.raises(ub.ModelError, match=said) as caught:
        act(builder())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("act", "said"), [
    (lambda b: b.soft("new", SHEET, Bars(), 1), r"soft 'new': mesh TriMesh.* is no TetMesh; give one such as TetMesh.box"),
    (lambda b: b.cloth("new", BLOCK, Bars(), 1), r"cloth 'new': mesh .* is no TriMesh"),
    (lambda b: b.cloth("new", SHEET, Bars(thickness=0.0), 1), r"cloth 'new': material Bars.* has no thickness above 0"),
    (lambda b: b.soft("new", BLOCK, 3.0, 1), r"soft 'new': material 3.0 is none; give one such as NeoHookean"),
    (lambda b: b.rod("new", LINE, 0.1, None, 1), r"rod 'new': material None is none; give one such as RodMaterial"),
    (lambda b: b.rod("new", LINE, -1.0, Bars(), 1), r"rod 'new': RodMesh: radius -1.0 is not a positive number"),
    (lambda b: b.rod("new", ub.RodMesh(LINE, 0.1), 0.2, Bars(), 1), r"radius and closed belong to its RodMesh"),
    (lambda b: b.soft("new", BLOCK, Bars(), 0.0), r"soft 'new' density: 0.0 is not positive"),
    (lambda b: b.soft("new", BLOCK, Bars(), 1, order=3), r"order 3 cannot be; give 1 or 2"),
    (lambda b: b.soft("new", BLOCK.quadratic(), Bars(), 1, order=1), r"order 1 cannot be; its mesh is quadratic already"),
    (lambda b: b.soft("new", BLOCK, Bars(), 1, mass="heavy"), r"masses 'heavy' are unknown; give one of lumped, consistent"),
    (lambda b: b.soft("new", BLOCK, Bars(), 1, start=[(0, 0, 0)]), r"soft 'new' start: shape \(1, 3\); give \(8, 3\)"),
    (lambda b: b.soft("new", BLOCK, Bars(), 1, V_WB=(0, 0, 0, 1e13, 0, 0)), r"soft 'new' V_WB: 1e\+13 is beyond"),
    (lambda b: b.cloth("new", SHEET, Bars(), 1, pressure=5.0), r"pressure 5 Pa in cloth that is open \(a boundary of 8 edges\)"),
    (lambda b: b.cloth("flag", SHEET, Bars(), 1), r"cloth 'flag' exists already"),
    (lambda b: b.cloth("hull", SHEET, Bars(), 1), r"cloth 'hull' exists already"),
    (lambda b: b.body("flag", ub.Sphere(1.0)), r"body 'flag' exists already"),
    (lambda b: b.deformable("flog"), r"deformable 'flog' is unknown; did you mean 'flag'"),
    (lambda b: b.deformable("flag").end(0), r"'flag': a cloth has no ends; choose from vertices"),
    (lambda b: b.rod("new", LINE, 0.1, Bars(), 1, closed=True).end(0), r"'new': a closed rod has no ends"),
    (lambda b: b.deformable("rope").end(2), r"end 2 is unknown; give 0, the first point, or 1"),
    (lambda b: b.deformable("flag").vertex(9), r"'flag' vertices: 9 names none of 0 … 8"),
    (lambda b: b.deformable("flag").vertices[[]], r"chooses none|names none"),
    (lambda b: b.deformable("flag").at(tet=0), r"'flag': at\(tet=…\) is no place in a cloth; give face="),
    (lambda b: b.deformable("flag").at(face=8), r"'flag' has no face 8; it has 0 … 7"),
    (lambda b: b.deformable("flag").at(face=0, weights=(0.5, 0.5)), r"'flag' face 0: 2 weights; give 3 finite numbers"),
    (lambda b: b.deformable("flag").at(face=0, weights=(0.5, 0.5, 0.5)), r"'flag' face 0: weights add up to 1.5; give weights that add up"),
    (lambda b: b.deformable("flag").vertex(1.7), r"'flag' vertex 1.7 is no whole number; give one"),
    (lambda b: b.deformable("flag").at(face=-1), r"'flag' has no face -1; it has 0 … 7"),
    (lambda b: b.deformable("flag").at(face=0, weights="all"), r"'flag': weights 'all' are no numbers; give 3, one a corner"),
    (lambda b: ub.TriMesh.grid((1, 1), 1e-6), r"TriMesh.grid: spacing 1e-06 m: about 1e\+12 cells, more than 1e\+07; give fewer"),
    (lambda b: ub.TetMesh.box((1, 1, 1), (10000, 10000, 10000)), r"10000 × 10000 × 10000, each cut into six: about 6e\+12 cells"),
    (lambda b: b.deformable("rope").embed(SHEET), r"'rope': a rod is drawn as it is"),
    (lambda b: b.deformable("flag").embed(3), r"'flag' embed: 3 is no surface"),
])  # fmt: skip
def test_what_cannot_be_made(act, said):
    refused(act, said)


def flag(b):
    return b.deformable("flag")


@pytest.mark.parametrize(("act", "said"), [
    (lambda b: b.attach(flag(b).vertices[0], "hull"), r"vertex 0 of 'flag' is held by 'flag.attach.0' already; leave it out here or there"),
    (lambda b: b.prescribe(flag(b).vertices[[1, 3]]), r"vertex 3 of 'flag' is held by 'flag.attach.0' already"),
    (lambda b: b.attach(b.deformable("lid").vertices[0], "hull"), r"vertex 0 of 'lid' is held by 'lid.prescribe.0' already"),
    (lambda b: b.attach(flag(b).vertices[[1, 1]], "hull"), r"vertex 1 of 'flag' stands there twice"),
    (lambda b: b.attach(flag(b).vertices[1], flag(b).vertex(2)), r"'flag' is attached to itself; give a body or another deformable"),
    (lambda b: b.attach(flag(b).vertices[[1, 2]], b.deformable("block").vertices[0]), r"2 vertices on 1 points; give as many"),
    (lambda b: b.attach(flag(b).vertices[1], "hall"), r"attachment 'flag.attach.1': body 'hall' is unknown; did you mean 'hull'"),
    (lambda b: b.attach(flag(b).vertices[1], b.deformable("block")), r"deformable 'block' as a whole is no place"),
    (lambda b: b.attach(flag(b).vertices[1], b.deformable("block").vertex(1), at=(0, 0, 0)), r"at is a place in a body"),
    (lambda b: b.attach(flag(b).vertices[1], b.world.at(0, 0, 1), at=(0, 0, 0)), r"both a point of 'world' and at; give one"),
    (lambda b: b.attach(flag(b).vertices[[1, 2]], "hull", at=(0, 0, 0)), r"one place for 2 vertices; give at \(2, 3\), of the last"),
    (lambda b: b.attach(flag(b).vertices[1], "hull", at="there"), r"at: 'there' are no places"),
    (lambda b: b.attach(flag(b).vertices[1], "hull", clamped=True), r"clamped is for the end of a rod; give rope.end"),
    (lambda b: b.attach(b.rod("new", LINE, 0.1, Bars(), 1).end(0), flag(b).vertex(1), clamped=True), r"an end is clamped to a body"),
    (lambda b: b.attach("flag", "hull"), r"attach: 'flag' are no vertices; give flag.vertices"),
    (lambda b: b.attach(b.world.at(0, 0, 0), "hull"), r"attach: Point.* are no vertices"),
    (lambda b: b.attach(flag(b).vertices[1], "hull", name="wall"), r"attachment 'wall' exists already"),
    (lambda b: b.prescribe(flag(b).vertices[1], (0, 0, 0)), r"motion \(0, 0, 0\) is no function of time; give one, a Table, or None"),
])  # fmt: skip
def test_what_cannot_be_held(act, said):
    refused(act, said)


def chained(b):
    """Onto the end of the rope, which hangs on the flag itself."""
    new = b.rod("new", LINE, 0.1, Bars(), 1)
    b.attach(new.end(0), b.deformable("rope").vertex(5))
    b.build()


def half_held(b):
    b.attach(b.rod("new", LINE, 0.1, Bars(), 1).end(0), flag(b).at(face=0))
    b.build()


def on_driven(b):
    b.attach(b.rod("new", LINE, 0.1, Bars(), 1).end(0), b.deformable("lid").vertex(0))
    b.build()


def on_quadratic(b):
    b.attach(b.rod("new", LINE, 0.1, Bars(), 1).end(0), b.deformable("block").at(tet=0))
    b.build()


@pytest.mark.parametrize(("act", "said"), [
    (chained, r"attachment 'new.attach.0': vertex 5 of 'rope' is itself attached to a deformable; attach both to the same one"),
    (half_held, r"it rests on vertices that are attached to bodies themselves, and on others that are not"),
    (on_driven, r"it rests on vertices whose motion is prescribed; prescribe its own, too"),
    (on_quadratic, r"a point of a quadratic tetrahedron of 'block' rests on 10 vertices; give one of its vertices"),
    (lambda b: (b.soft("new", BLOCK, ub.RodMaterial(young=1e5), 1), b.build()),
     r"soft 'new': RodMaterial asks a TetMesh for 'radius', which it has not; give a material for a soft, such as NeoHookean"),
    (lambda b: (b.rod("new", LINE, 0.1, ub.NeoHookean(1e5, 0.3), 1), b.build()), r"rod 'new': NeoHookean asks a RodMesh for 'tets'"),
    (lambda b: (b.body("flag.vertex[0]", mass=1.0, shape=ub.Sphere(0.1)), b.build()),
     r"body 'flag.vertex\[0\]' is called as a point of cloth 'flag' is; give it another name"),
    (lambda b: (b.prescribe(flag(b).vertices[1], lambda t: [[1.0], [2.0, 3.0]]), b.build()),
     r"prescribed 'flag.prescribe.0': at t = 0 its motion gives list that is no array of numbers; give \(1, 3\) positions"),
    (lambda b: (b.cloth("new", SHEET, Odd(how="list"), 1), b.build()), r"cloth 'new': stencils of Odd are .*; give Stencils"),
    (lambda b: (b.cloth("new", SHEET, Odd(how="far"), 1), b.build()), r"index \(16, 2\), parameters \(16, 2\) of Odd; give \(m, 2\)"),
    (lambda b: (b.cloth("new", SHEET, Odd(), 1), b.build()), r"parameters \(15, 2\) of Odd"),
])  # fmt: skip
def test_what_is_found_when_the_model_is_built(act, said):
    refused(act, said)


def added(b, element):
    b.add(element, name="it")
    b.build()


@pytest.mark.parametrize(("element", "said"), [
    (lambda p: ub.AppliedWrench(p.body, torque=(0, 0, 1)), "takes a force in the world's axes, no torque and no other axes"),
    (lambda p: ub.AppliedWrench(p.body, force=(0, 0, 1), axes="body"), "takes a force in the world's axes"),
    (lambda p: ub.PointOnLine(ub.element.Point("hull"), p, (0, 0, 1)), "has no axes; give a body there"),
    (lambda p: ub.PointPlane(ub.element.Point("hull"), p, (0, 0, 1)), "has no axes; give a body there"),
    (lambda p: ub.BodyDamping(p.body, linear=1.0), "has no axes; give a body there, or an element on points"),
    (lambda p: ub.SpringDamper(ub.element.Point(p.body, (0, 0, 1)), ub.element.Point("hull"), 1.0), "is where it is; leave p out"),
    (lambda p: ub.SpringDamper(ub.element.Point("flag.vertex[9]"), ub.element.Point("hull"), 1.0), "'flag' has no vertex 9; it has 0 … 8"),
    (lambda p: ub.SpringDamper(ub.element.Point("flog.vertex[1]"), ub.element.Point("hull"), 1.0), r"body 'flog.vertex\[1\]' is unknown"),
])  # fmt: skip
def test_elements_that_ask_more_of_a_point_than_a_place(element, said):
    refused(lambda b: added(b, element(flag(b).vertex(1))), f"^'it': .*{said}")


@pytest.mark.parametrize("element", [
    lambda p: ub.AppliedWrench(p.body, force=lambda t: (0, 0, t)), lambda p: ub.PointPlane(p, (0, 0, 0), (0, 0, 1)),
    lambda p: ub.Distance(p, ub.element.Point("hull", (0, 0, 1))), lambda p: ub.FixedPoint(p),
    lambda p: ub.PointOnLine(p, ub.element.Point("hull"), (0, 0, 1)),
    lambda p: ub.PrescribedPoint(p, lambda t: (0, 0, t)), lambda p: ub.DistanceRange(p, ub.element.Point("world"), 0.1, 9.0),
    lambda p: ub.Contact(friction=0.2, between=("flag", "hull")),
])  # fmt: skip
def test_elements_between_places_take_points_of_deformables(element):
    b = builder()
    added(b, element(flag(b).vertex(1)))


def test_a_call_that_refuses_leaves_the_builder_as_it_was():
    b = builder()
    before = (list(b.deformables), list(b.attachments), list(b.prescribed))
    for act in (
        lambda: b.soft("new", BLOCK, Bars(), 0.0), lambda: b.attach(flag(b).vertices[0], "hull"),
        lambda: b.prescribe(flag(b).vertices[1], 3), lambda: b.change_deformable("flag", density=-1.0), lambda: b.remove_deformable("none"),
    ):
        with pytest.raises(ub.ModelError):
            act()
    assert before == (list(b.deformables), list(b.attachments), list(b.prescribed))


@pytest.mark.parametrize("name", [name for name, cls in REGISTRY.items() if not cls.deformables])
def test_solvers_that_carry_none_refuse_by_name(name):
    b = ub.Builder()
    b.cloth("flag", SHEET, Bars(), 1)
    b.rod("rope", LINE, 0.1, Bars(), 1)
    model = b.build()
    with pytest.raises(ub.Unsupported, match="'flag', 'rope': cloth, rods and soft solids need a solver that carries deformables"):
        ub.Simulation(model, solver=name)
    solver = REGISTRY[name]()
    assert all("carries deformables" in str(reason_against(solver, d, model)) for d in model.deformables)


def test_a_solver_that_opts_in_is_asked_by_handles():
    class Carrier(ub.solvers.Solver):
        deformables = True

        def handles(self, element, model):
            return None if getattr(element, "kind", "cloth") == "cloth" else "only cloth"

    b = ub.Builder()
    b.cloth("flag", SHEET, Bars(), 1)
    b.soft("block", BLOCK, Bars(), 1)
    model = b.build()
    assert [reason_against(Carrier(), d, model) for d in model.deformables] == [None, "only cloth"]


def test_moved_vertices_are_named_when_a_pickle_cannot_take_their_motion():
    import pickle

    b = builder()
    b.remove("lid.prescribe.0")
    b.prescribe(b.deformable("lid").vertices[:], lambda t: np.zeros((3, 3)), name="lift")
    with pytest.raises(ub.ModelError, match="'lift' cannot be pickled .*give a unibody.Table"):
        pickle.dumps(b.build())
