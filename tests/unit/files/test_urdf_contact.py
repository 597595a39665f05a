"""Robots of URDF files on a floor: where they rest, what they weigh, how they rub, and which links do not touch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unibody as ub
from unibody.files import load_urdf
from unibody.files.urdf_repairs import extent, support

pytest.importorskip("yourdfpy")

SOLID = '<inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>'


def shape(inside: str, origin: str = "") -> str:
    return f"<collision>{origin}<geometry>{inside}</geometry></collision>"


BOX = shape('<box size="0.4 0.3 0.2"/>')


def robot(folder: Path, *parts: str, **options: object) -> ub.scenes.Scene:
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r">\n{"".join(parts)}\n</robot>\n')
    return load_urdf(path, **options)


def link(name: str, inside: str) -> str:
    return f'<link name="{name}">{SOLID}{inside}</link>\n'


def hinge(name: str, parent: str, child: str, inside: str = "", kind: str = "continuous") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>\n'


def contacts(scene: ub.scenes.Scene) -> list[ub.Contact]:
    return [c for _, c in scene.model.constraints if isinstance(c, ub.Contact)]


def test_no_contact_unless_a_floor_or_contact_is_asked_for(tmp_path: Path) -> None:
    assert not contacts(robot(tmp_path, link("a", BOX)))
    assert not contacts(robot(tmp_path, link("a", BOX), floor=True, contact=False))
    asked = [({"floor": True}, 0.5), ({"contact": True}, 0.5), ({"contact": 0.8}, 0.8), ({"floor": 0.1, "contact": 1}, 1.0)]
    for options, friction in asked:
        (rule,) = contacts(robot(tmp_path, link("a", BOX), **options))
        assert rule.friction == friction and rule.between is None
    own = ub.Contact(friction=0.3, restitution=0.5)
    assert contacts(robot(tmp_path, link("a", BOX), floor=True, contact=own)) == [own]
    assert contacts(ub.load(tmp_path / "robot.urdf", contact=own)) == [own]


def test_the_words_of_a_command_line(tmp_path: Path) -> None:
    """A height of 0 is a floor at 0, and a friction of 1 is a friction, not a yes."""
    robot(tmp_path, link("a", BOX))
    scene = ub.load(tmp_path / "robot.urdf", floor="0", contact="1", floating="true", height="on floor")
    floor = scene.model.bodies[scene.model.body("floor")]
    assert floor.X_WB.p[2] == 0.0 and contacts(scene)[0].friction == 1.0
    assert scene.model.bodies[scene.model.body("a")].X_WB.p[2] == pytest.approx(0.1, abs=1e-15)
    assert ub.load(tmp_path / "robot.urdf", floor="-0.5").model.bodies[-1].X_WB.p[2] == -0.5


def test_import_moves_nothing_unless_asked(tmp_path: Path) -> None:
    scene = robot(tmp_path, link("a", BOX), floating=True, floor=True)
    assert scene.model.bodies[scene.model.body("a")].X_WB == ub.Pose()
    assert "starts inside the floor, 'a' by 0.1 m; height='on floor'" in scene.notes
    high = robot(tmp_path, link("a", BOX), floating=True, height=0.7, at=(1, 2, 9))
    assert high.model.bodies[high.model.body("a")].X_WB.p == (1.0, 2.0, 0.7)
    welded = robot(tmp_path, link("a", BOX), at=(1, 2, 3))
    assert welded.model.bodies[welded.model.body("a")].X_WB.p == (1.0, 2.0, 3.0)


@pytest.mark.parametrize("inside, origin, below", [
    ('<box size="0.4 0.3 0.2"/>', '<origin rpy="0.5 0 0"/>', 0.15 * np.sin(0.5) + 0.1 * np.cos(0.5)),
    ('<sphere radius="0.3"/>', '<origin xyz="0 0 0.1"/>', 0.2),
    ('<cylinder radius="0.1" length="1"/>', '<origin rpy="0 0.3 0"/>', 0.5 * np.cos(0.3) + 0.1 * np.sin(0.3)),
    ('<capsule radius="0.1" length="1"/>', '<origin rpy="0 0.3 0"/>', 0.5 * np.cos(0.3) + 0.1),
    ('<mesh filename="t.obj" scale="1 1 -2"/>', "", 2.0),
])  # fmt: skip
def test_on_the_floor_the_lowest_point_touches_it(tmp_path: Path, inside: str, origin: str, below: float) -> None:
    """The root's height is the depth of the shape below it, by its support function."""
    (tmp_path / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    scene = robot(tmp_path, link("a", shape(inside, origin)), floating=True, floor=-0.25, height="on floor")
    assert scene.model.bodies[scene.model.body("a")].X_WB.p[2] == pytest.approx(below - 0.25, abs=1e-12)


def test_support_and_extent_of_shapes(rng: np.random.Generator) -> None:
    """Against many points of the surfaces; the sides of a turned box by hand."""
    for some in (ub.Box((1, 2, 3)), ub.Sphere(0.5), ub.Capsule(0.2, 1.0), ub.Cylinder(0.3, 1.0), ub.Ellipsoid((1, 2, 3))):
        n = rng.normal(size=3)
        n /= np.linalg.norm(n)
        # 400 sides: the polyhedron lies within the surface by less than 3 (1 − cos(π/400)).
        assert support(some, n) == pytest.approx(float((some.triangles(400)[0] @ n).max()), abs=2e-4)
    quarter = ub.Placed(ub.Box((1, 2, 3)), ub.Pose.about((1, 0, 0), np.pi / 2))
    assert extent([quarter, ub.Placed(ub.Sphere(0.1), ub.Pose(p=(0.9, 0, 0)))]) == pytest.approx(1.5**2 + 3**2 + 2**2)


def test_the_floors_name_is_free(tmp_path: Path) -> None:
    scene = robot(tmp_path, link("floor", BOX), floating=True, floor=True)
    assert [b.name for b in scene.model.bodies] == ["world", "floor", "floor_2"]


CHAIN = (
    link("base", BOX), link("near", shape('<sphere radius="0.2"/>')), link("far", shape('<sphere radius="0.2"/>')),
    hinge("j1", "base", "near", '<origin xyz="0.2 0 0"/>'), hinge("j2", "near", "far", '<origin xyz="0.1 0 0"/>'),
)  # fmt: skip


def test_links_that_overlap_are_named_and_do_not_touch(tmp_path: Path) -> None:
    """base reaches to x = 0.2, the ball at 0.3 of radius 0.2 to 0.1; both are neighbours of near, and not of each other."""
    scene = robot(tmp_path, *CHAIN, contact=True)
    off = [c for c in contacts(scene) if not c.on]
    assert [set(c.between) for c in off] == [{"base", "far"}]
    assert "no contact between links that overlap: 'base' and 'far' (0.1 m at the start)" in scene.notes
    loose = robot(tmp_path, *CHAIN, contact=True, self_collision=False)
    assert "self_collision=false" in loose.notes and [c.on for c in contacts(loose)] == [True, False]


def test_overlaps_at_q_0_count_where_the_robot_starts_elsewhere(tmp_path: Path) -> None:
    """A slide that must stay beyond 0.5 starts there, clear of the base; at 0 it would be inside it."""
    slide = '<axis xyz="1 0 0"/><limit lower="0.5" upper="1" effort="1" velocity="1"/>'
    parts = (link("base", BOX), link("mid", ""), link("far", shape('<sphere radius="0.1"/>')), hinge("j1", "base", "mid"),
             hinge("j2", "mid", "far", slide, "prismatic"))  # fmt: skip
    scene = robot(tmp_path, *parts, contact=True)
    assert "'base' and 'far' (0.2 m at q = 0)" in scene.notes  # 0.1 of the box's half height, 0.1 of the ball


def test_an_arm_on_the_ground_may_reach_into_it(tmp_path: Path) -> None:
    """What hangs on a fixed base and starts in the floor would be pressed against its own joint."""
    parts = (link("base", BOX), link("arm", shape('<box size="0.1 0.1 0.5"/>')), hinge("j", "base", "arm"))
    scene = robot(tmp_path, *parts, floor=True)
    assert [set(c.between) for c in contacts(scene) if not c.on] == [{"arm", "floor"}] and "'arm' and 'floor' (0.25 m" in scene.notes


def test_friction_of_links_in_bullets_and_gazebos_words(tmp_path: Path) -> None:
    words = ('<contact><lateral_friction value="1.5"/><spinning_friction value="0.03"/><restitution value="0.4"/>'
             '<rolling_friction value="0.1"/></contact>')  # fmt: skip
    parts = (
        link("base", BOX), link("foot", words + shape('<sphere radius="0.1"/>')), link("toe", shape('<sphere radius="0.1"/>')),
        hinge("j1", "base", "foot", '<origin xyz="1 0 0"/>'), hinge("j2", "base", "toe", '<origin xyz="-1 0 0"/>'),
        '<gazebo reference="toe"><mu1>0.9</mu1><mu2>0.2</mu2><kp>1e6</kp></gazebo>',
    )  # fmt: skip
    scene = robot(tmp_path, *parts, floor=True, floating=True)
    named = {c.between: c for c in contacts(scene) if c.between is not None}
    foot, toe = named["foot", "floor"], named["toe", "floor"]
    assert (foot.friction, foot.restitution, toe.friction) == (1.5, 0.4, 0.9) and foot.torsion == pytest.approx(0.02)
    assert contacts(scene)[0].friction == 0.5 and "friction 0.9 between the floor and 'toe', as the file says" in scene.notes
    said = "\n".join(scene.left_out)
    assert "rolling friction of links 'foot'" in said and "<mu2> of links 'toe'" in said and "<gazebo> of 'toe'" in said
    assert any("friction of links 'foot': no contact was asked for" in line for line in robot(tmp_path, *parts).left_out)


def test_one_friction_for_all_links_holds_among_them_too(tmp_path: Path) -> None:
    words = '<contact><lateral_friction value="0.7"/></contact>'
    scene = robot(tmp_path, link("a", words + BOX), link("b", words + shape('<sphere radius="0.1"/>')), hinge("j", "a", "b"), floor=True)
    assert [c.friction for c in contacts(scene) if c.on] == [0.7]


@pytest.mark.parametrize("options, message", [
    ({"height": "on floor"}, "height='on floor' without a floor"), ({"meshes": "all"}, "meshes='all'; give convex"),
    ({"floor": float("nan")}, "floor"), ({"contact": -1.0}, "contact"), ({"roots": "some"}, "roots='some'"),
    ({"height": "high"}, "height='high'"), ({"height": float("inf")}, "height"),
])  # fmt: skip
def test_bad_parameters_are_refused_in_one_line(tmp_path: Path, options: dict, message: str) -> None:
    with pytest.raises(ub.ModelError, match=message) as caught:
        robot(tmp_path, link("a", BOX), **options)
    assert "\n" not in str(caught.value)
    with pytest.raises(ub.ModelError, match="no solid shape"):
        robot(tmp_path, link("a", ""), floor=True, height="on floor", floating=True)


def on_the_floor(scene: ub.scenes.Scene, duration: float) -> tuple[ub.Recording, float, float]:
    """A run by complementarity, the floor's force at its end over the weight, and the largest speed then."""
    model = scene.model
    recording = ub.Simulation(model, ub.solvers.Complementarity(), dt=2e-3).run(duration)
    weight = 9.81 * sum(b.mass for b in model.bodies[1:] if b.kind == "dynamic")
    last, floor = recording.contacts[-1], model.body("floor")
    press = (last.normal_forces * np.abs(last.normals[:, 2]))[(last.bodies == floor).any(axis=1)].sum()
    return recording, float(press / weight), float(np.abs(recording.v[-1]).max())


def test_a_cart_dropped_on_the_floor_rests_on_its_wheels_with_its_weight(tmp_path: Path) -> None:
    """Four balls of radius 0.1 at the corners of a plate: it rests with its axles 0.1 m above the floor."""
    ball = shape('<sphere radius="0.1"/>')
    corners = {"fl": (1, 1), "fr": (1, -1), "rl": (-1, 1), "rr": (-1, -1)}
    parts = [link("plate", shape('<box size="1 0.6 0.05"/>'))]
    for name, (x, y) in corners.items():
        parts += [link(name, ball), hinge(f"to {name}", "plate", name, f'<origin xyz="{0.5 * x} {0.5 * y} -0.1"/><axis xyz="0 1 0"/>')]
    scene = robot(tmp_path, *parts, floating=True, floor=0.3, height=0.6)
    recording, share, speed = on_the_floor(scene, 1.0)
    assert share == pytest.approx(1.0, abs=1e-6) and speed < 1e-6
    assert recording.point("fl")[-1, 2] == pytest.approx(0.4, abs=1e-4)  # a contact's slop after the impact


def pybullet_data() -> Path:
    return Path(pytest.importorskip("pybullet_data").getDataPath())


@pytest.mark.slow
@pytest.mark.parametrize("name, height, duration", [
    ("r2d2.urdf", 0.47, 1.5), ("husky/husky.urdf", None, 1.5), ("a1/a1.urdf", None, 1.5), ("quadruped/minitaur.urdf", None, 4.0),
    ("laikago/laikago_toes.urdf", None, 4.0),
])  # fmt: skip
def test_robots_of_bullet_put_their_weight_on_the_floor(name: str, height: float | None, duration: float) -> None:
    """Put on the floor without motors they stand or sink down; once at rest the floor bears their weight. r2d2 stands on
    wheels of radius 0.035 m, 0.25 − 0.6 − 0.085 m above its root's frame."""
    scene = load_urdf(pybullet_data() / name, floating=True, floor=True, height="on floor")
    recording, share, speed = on_the_floor(scene, duration)
    assert np.isfinite(recording.q).all() and speed < 1e-6
    assert share == pytest.approx(1.0, abs=1e-6)
    if height is not None:
        assert recording.point("base_link")[-1, 2] == pytest.approx(height, abs=1e-4)
