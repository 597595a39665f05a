"""Rows on points of deformables in `redmax` (paper 000, Eq. 4 and 5): planes that vertices stay above, constraints on them."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from verification.soft_meshes import block
from verification.test_redmax_deformables import G, limb, machine, momenta, run, spinning
from verification.test_redmax_flesh_rules import SOFT

RULES = {"linearly-implicit": 1, "implicit": 1, "bdf2": 2}
"""And their orders."""

rules = pytest.mark.parametrize("rule", RULES)
TIE = (0.2, 0.0, 0.25)
"""Where in the world ties end."""


def upmost(part: ub.Soft) -> int:
    return int(np.argmax(part.vertices.x.sum(axis=1)))


def tied(strut: bool = True) -> ub.Builder:
    """The limb on its hinge, a vertex of its flesh on a rod from the world, and a place within it on one from its own bone."""
    b = limb(SOFT, cells=(4, 2, 2))
    arm, upper = b.deformable("arm"), b.bodies["upper"]
    b.add(ub.Distance(b.world.at(*TIE), arm.vertex(upmost(arm))), name="tie")
    if strut:
        b.add(ub.Distance(upper.at(0.0, 0.2, 0.0), arm.at(tet=3)), name="strut")
    return b


@rules
def test_a_soft_cube_lands_on_a_plane_and_rests_with_its_weight(rule: str) -> None:
    """No vertex is ever below the plane, to round-off of its place; at rest the planes bear the weight. Matter is damped: e⁻²⁰ is left."""
    b = ub.Builder()
    matter = ub.CoRotated(young=1e5, poisson=0.3, damping=2e-2)
    cube = b.soft("cube", block((0.1, 0.1, 0.1), (1, 1, 1)), matter, density=1000.0, X_WB=ub.Pose((0, 0, 0.06)))
    feet = range(8)
    for i in feet:
        b.add(ub.PointPlane(cube.vertex(i)), name=f"plane{i}")
    rec = run(b, 0.6, 5e-3, rule=rule)
    borne = sum(rec.multiplier(f"plane{i}")[:, 0] for i in feet)
    assert rec.vertices("cube")[..., 2].min() > -1e-12 and borne[0] == 0.0
    assert borne[-1] == pytest.approx(rec.model.total_mass * G, rel=1e-5)
    assert (np.array([rec.multiplier(f"plane{i}") for i in feet]) > -1e-12).all()


@rules
def test_rows_that_hold_vertices_hold_them_as_prescribing_does(rule: str) -> None:
    """The same equations, by multipliers and by elimination; and multipliers are the forces that prescribed vertices take."""
    made = []
    for rows in (True, False):
        b = limb(SOFT, springs=True)
        arm = b.deformable("arm")
        x = arm.vertices.x
        held = np.flatnonzero((x[:, 0] > 0.399) & (x[:, 2] > 0.01))
        if rows:
            for i in held.tolist():
                b.add(ub.FixedPoint(arm.vertex(i), x[i]), name=f"hold{i}")
        else:
            b.prescribe(arm.vertices[held], name="hold")
        made.append(run(b, 0.05, 2e-3, rule=rule))
    by_rows, told = made
    force = np.stack([by_rows.multiplier(f"hold{i}") for i in held.tolist()], axis=1)
    assert np.ptp(told.joint("elbow")) > 1e-3
    assert np.abs(by_rows.vertices("arm") - told.vertices("arm")).max() < 1e-9
    assert np.abs(force[1:] - told.reaction("hold")[1:]).max() < 1e-6 * np.abs(force).max()


@rules
def test_a_rod_between_flesh_and_bone_keeps_momentum(rule: str) -> None:
    """Linear momentum to round-off, or in the order of fully implicit rules, whose unknowns are joint velocities; angular in the order."""
    lost, off = [], []
    for dt in (2e-3, 1e-3):
        model = spinning(False)
        b = ub.Builder.load(model)
        arm = b.deformable("arm")
        b.add(ub.Distance(b.bodies["upper"].at(0, 0, 0.2), arm.vertex(upmost(arm))), name="rod")
        rec = run(b, 0.1, dt, rule=rule)
        linear, angular = momenta(rec)
        assert np.abs(rec.multiplier("rod")[1:]).min() > 0.0 and rec.violation.max() < 1e-6
        lost.append(np.linalg.norm(angular[-1] - angular[0]) / np.linalg.norm(angular[0]))
        off.append(np.abs(linear - linear[0]).max())
    assert lost[1] < (0.6, 0.35)[RULES[rule] - 1] * lost[0] < 1e-2
    assert off[1] < max(1e-12, (0.6, 0.35)[RULES[rule] - 1] * off[0])


@rules
def test_order_of_the_rules_with_rows_on_flesh(rule: str) -> None:
    """Half the step leaves a half, or a quarter, of the difference from small steps of BDF2."""
    model = tied().build()

    def course(dt: float, rule: str) -> np.ndarray:
        return run(model, 0.04, dt, rule=rule).vertices("arm")[:: round(4e-3 / dt)]

    reference = course(1.25e-4, "bdf2")
    off = np.array([np.abs(course(dt, rule) - reference).max() for dt in (2e-3, 1e-3, 5e-4)])
    order = np.log2(off[:-1] / off[1:])
    assert (np.abs(order - RULES[rule]) < 0.2).all()


@rules
def test_joint_attachments_and_rows_bear_limb_and_flesh(rule: str) -> None:
    """The joint at the world and the rod from there bear the rate of all momentum less all weight, attachments and the rod that of the
    flesh, in the order of the rule."""
    off = []
    for dt in (1e-3, 5e-4):
        rec = run(tied(strut=False), 0.03, dt, rule=rule)
        whole, flesh = momenta(rec)[0], rec.model.deformable("arm").mass
        way = rec.vertices("arm")[:, upmost_of(rec.model)] - np.array(TIE)
        tie = rec.multiplier("tie") * way / np.linalg.norm(way, axis=1)[:, None]
        held = rec.reaction("on upper").sum(axis=1) + rec.reaction("on lower").sum(axis=1)
        made = []
        joint, soft = rec.reaction("shoulder")[:, 3:], flesh @ rec.velocities("arm")
        for borne, p, mass in ((joint, whole, rec.model.total_mass), (held, soft, flesh.sum())):
            rate = np.gradient(p, dt, axis=0) if rule == "bdf2" else np.diff(p, axis=0, prepend=p[:1]) / dt
            needed = rate - mass * rec.model.gravity
            made.append(np.abs(borne + tie - needed)[8:-1].max() / np.abs(needed).max())
        off.append(made)
    assert max(off[0]) < 5e-3 and (np.array(off[1]) < (0.6, 0.45)[RULES[rule] - 1] * np.array(off[0])).all()


def upmost_of(model: ub.Model) -> int:
    return int(np.argmax(model.deformable("arm").x0.sum(axis=1)))


@pytest.mark.parametrize("linear", ["direct", "pcg", "dense", "plain"])
def test_every_way_to_solve_gives_the_same(linear: str) -> None:
    """Of iterations, to their tolerance of 1e-12 of the velocities."""
    model = tied().build()
    ours, reference = run(model, 0.04, linear=linear, tolerance=1e-12), run(model, 0.04, linear="dense")
    assert np.abs(ours.vertices("arm") - reference.vertices("arm")).max() < 1e-10


@rules
def test_loops_limits_drives_and_rows_on_vertices_hold_at_once(rule: str) -> None:
    """A four-bar linkage with a limit, a drive and a coupling, a vertex of whose flesh hangs on a rod: all rows are held."""
    b = machine()
    skin = b.deformable("skin")
    vertex = upmost(skin)
    b.add(ub.Distance(b.world.at(*(skin.vertices.x[vertex] + (0.0, 0.0, 0.2))), skin.vertex(vertex)), name="hanger")
    rec = run(b, 0.2, 2e-3, rule=rule)
    drive, knuckle = rec.joint("drive")[:, 0], rec.joint("knuckle")[:, 0]
    assert np.abs(drive - 0.5 * np.sin(6.0 * rec.t) ** 2).max() < 1e-6
    assert np.abs(rec.joint("tip")[:, 0] - 2.0 * knuckle).max() < 1e-6
    assert knuckle.max() < 0.1 + 1e-6 and rec.violation.max() < 1e-6
    assert np.abs(rec.multiplier("hanger")).max() > 0.1


def test_bones_and_flesh_fall_onto_a_plane_together() -> None:
    """A limb that swings onto a floor at steps of 10 ms: neither a bone's ends nor a vertex go below it, at any stiffness."""
    for young in (1e3, 1e6, 1e12):
        b = limb(ub.CoRotated(young=young, poisson=0.3, damping=5e-3), cells=(4, 2, 2))
        arm = b.deformable("arm")
        for i in range(len(arm.vertices.x)):
            b.add(ub.PointPlane(arm.vertex(i), (0, 0, -0.2)), name=f"vertex{i}")
        for end in ((-0.1, 0, 0), (0.1, 0, 0)):
            b.add(ub.PointPlane(b.bodies["lower"].at(*end), (0, 0, -0.2)), name=f"bone{end[0]}")
        rec = run(b, 0.5, 1e-2)
        assert rec.vertices("arm")[..., 2].min() > -0.2 - 1e-9 and rec.point("lower", (0.1, 0, 0))[:, 2].min() > -0.2 - 1e-6
        assert rec.energy.kinetic.max() < rec.model.total_mass * G * 0.3


def test_rows_on_prescribed_vertices_are_refused_by_name() -> None:
    b = limb()
    arm = b.deformable("arm")
    b.prescribe(arm.vertices[[upmost(arm)]])
    b.add(ub.Distance(b.world.at(0, 0, 1), arm.vertex(upmost(arm))), name="tie")
    with pytest.raises(ub.Unsupported, match="'tie'.*prescribed vertices"):
        ub.Simulation(b.build(), "redmax")


def test_strands_with_flesh_on_them_touch_and_do_not_pass() -> None:
    """Self-contact by splines: a rod that carries flesh is pushed across another; it stops where their radii meet, and once all is at rest
    the multipliers are the force. Drag of 2 N s/m and matter are damped within 0.2 s: e⁻⁷ of the force is left."""
    b = ub.Builder(gravity=None)
    points = []
    for name, z, kind in (("low", 0.0, "static"), ("high", 0.05, "dynamic")):
        rod = b.body(name, shape=ub.Box((0.2, 0.02, 0.02)), density=1000.0, kind=kind, X_WB=ub.Pose((0, 0, z)))
        ends = np.linspace(-0.1, 0.1, 5)
        points += [rod.at(x, 0.0, 0.0) if name == "low" else rod.at(0.0, x, 0.0) for x in ends]
    b.joint("slide", ub.Prismatic((0, 0, 1)), b.world, rod, X_PF=ub.Pose((0, 0, 0.05)))
    b.add(ub.BodyDamping(rod, linear=2.0))
    b.add(ub.AppliedWrench(rod, force=(0, 0, -1.0)))
    matter = ub.CoRotated(young=1e5, poisson=0.3, damping=1e-2)
    flesh = b.soft("flesh", block((0.05, 0.05, 0.05), (1, 1, 1)), matter, density=500.0, X_WB=ub.Pose((0, 0, 0.075)))
    b.attach(flesh.vertices[flesh.vertices.x[:, 2] < 0.051], rod)
    b.add(ub.SplineContact(points, 0.01, blocks=9), name="skin")
    rec = run(b, 1.5, 0.01)
    height = rec.pose("high")[:, 2]
    assert height.min() > 0.02 - 1e-9 and height[-1] == pytest.approx(0.02, abs=1e-6)
    assert rec.multiplier("skin")[-1].sum() == pytest.approx(1.0, abs=1e-3)
