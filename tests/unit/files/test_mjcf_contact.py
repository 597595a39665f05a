"""Contact of MJCF: which geoms touch and by what law is what MuJoCo itself finds when everything is near everything.

With margins of 50 m MuJoCo lists every pair of geoms that it holds against each other, with condim and friction. Only its boxes sometimes
find no contact at such distances.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.collision.rigid.table import solids
from unibody.collision.shape_rights import ShapeRights
from unibody.contact.pair_laws import PairLaws
from unibody.errors import ModelError
from unibody.files.mjcf import load_mjcf, scene_of

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.peers

FAR = 50.0
SUITE, GYM = "dm_control/suite", "gymnasium/envs/mujoco/assets"
ROBOTS = [
    *(f"{SUITE}/{n}.xml" for n in ("ball_in_cup", "cheetah", "dog", "finger", "hopper", "humanoid", "humanoid_CMU", "manipulator")),
    *(f"{SUITE}/{n}.xml" for n in ("quadruped", "stacker", "walker")),
    *(f"{GYM}/{n}.xml" for n in ("ant", "half_cheetah", "hopper", "humanoid", "humanoidstandup", "point", "pusher_v5", "walker2d_v5")),
]  # fmt: skip
TREE = """<mujoco>{option}<worldbody><geom name="floor" type="plane" size="9 9 1" condim="3" friction=".5 .02 .001"/>
<body name="table" pos="0 0 1"><geom name="top" type="box" size=".5 .5 .1" friction=".3 .005 .0001"/>
  <body name="arm" pos="0 0 .5"><joint axis="0 1 0"/><geom name="arm" type="capsule" size=".05 .3" condim="1" friction="2 .005 .0001"/>
    <body name="plate"><geom name="plate" size=".1" condim="4" priority="1" friction=".1 .3 .1"/>
      <body name="hand" pos="0 0 .4"><joint axis="1 0 0"/><geom name="hand" size=".08" contype="2" conaffinity="1"/>
        <geom name="nail" size=".02" pos=".1 0 0" contype="0" conaffinity="0"/>
        <body name="tip" pos=".2 0 0"><geom name="tip" size=".03" mass="0" condim="6" friction="0 .1 .1"/></body></body></body>
  </body></body>
<body name="swing" pos="1 0 1"><joint axis="0 1 0"/><geom name="swing" size=".1" contype="1" conaffinity="2" margin=".01"/></body>
<body name="ball" pos="2 0 1"><freejoint/><geom name="ball" size=".1" condim="4" friction="1.5 .002 .1" margin=".002"/>
  <geom name="shell" type="box" size=".1 .1 .1" contype="4" conaffinity="4" condim="3"/></body>
<body name="other" pos="3 0 1"><freejoint/><geom name="core" size=".1" contype="-1" conaffinity="0" condim="3"/></body>
<body name="mocap" mocap="true" pos="0 3 1"><geom name="mocap" size=".1"/></body></worldbody>{contact}</mujoco>"""
PAIRS = """<contact><exclude body1="ball" body2="table"/><exclude body1="ball" body2="tip"/>
<pair geom1="nail" geom2="ball" condim="4" friction=".7 .7 .03 .001 .001" margin=".004"/>
<pair geom1="arm" geom2="hand" condim="3" friction=".2 .2 .005 .001 .001"/>
<pair geom1="ball" geom2="top" condim="1"/></contact>"""
FILTER, OFF = '<option><flag filterparent="disable"/></option>', '<option><flag contact="disable"/></option>'
OVERRIDE = '<option o_margin=".006" o_friction=".4 .4 .01 .001 .001"><flag override="enable"/></option>'
FILES = {
    "plain": TREE.format(option="", contact=""), "with pairs": TREE.format(option="", contact=PAIRS),
    "parents too": TREE.format(option=FILTER, contact=PAIRS), "override": TREE.format(option=OVERRIDE, contact=""),
}  # fmt: skip


def geoms_of(m: Any, model: ub.Model) -> list[int]:
    """MuJoCo's geom of each of our solid shapes: the nearest of the same body and size, by place."""
    d = mujoco.MjData(m)
    mujoco.mj_kinematics(m, d)
    named = {int(g) for pair in (m.pair_geom1, m.pair_geom2) for g in pair}
    left = [g for g in range(m.ngeom) if m.geom_contype[g] or m.geom_conaffinity[g] or g in named]
    out = []
    for body in model.bodies:
        for shape, R, p in solids(body):
            place = body.X_WB.apply(p)
            turn = np.asarray(body.X_WB.R) @ R
            radius = getattr(shape, "radius", None)

            def far(g: int, place=place, turn=turn, radius=radius) -> float:
                size = 0.0 if radius is None else abs(m.geom_size[g][0] - radius)
                return float(np.linalg.norm(d.geom_xpos[g] - place) + np.abs(d.geom_xmat[g].reshape(3, 3) - turn).max() + size)

            best = min(left, key=far)
            assert far(best) < 1e-5
            left.remove(best)
            out.append(best)
    assert not left
    return out


def theirs(m: Any) -> dict[tuple[int, int], tuple[float, float]]:
    """μ and the bound on turns of all pairs of geoms that MuJoCo holds against each other."""
    m.geom_margin[:], m.body_margin[:], m.pair_margin[:], m.opt.o_margin = FAR, FAR, 2.0 * FAR, 2.0 * FAR
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
    d = mujoco.MjData(m)
    mujoco.mj_kinematics(m, d)
    mujoco.mj_comPos(m, d)
    mujoco.mj_collision(m, d)
    found = {}
    for c in d.contact:
        mu = 0.0 if c.dim == 1 else c.friction[0]
        found[min(c.geom), max(c.geom)] = (mu, c.friction[2] if c.dim >= 4 else 0.0)
    return found


def ours(m: Any, model: ub.Model) -> dict[tuple[int, int], tuple[float, float]]:
    rights, laws, geoms = ShapeRights(model), PairLaws(model), geoms_of(m, model)
    c, n, found = rights.classes, len(geoms), {}
    for i in range(n):
        for j in range(i + 1, n):
            bodies = c.body[[i, j]]
            moves = any(model.bodies[k].kind == "dynamic" for k in bodies)  # nothing is solved between scenery
            if moves and rights.shapes(*bodies.tolist(), *c.of_shape[[i, j]].tolist()):
                law = laws.of(bodies[None], np.array([(i * n + j) << 31])).friction[0]
                found[min(geoms[i], geoms[j]), max(geoms[i], geoms[j])] = (law[0], law[2])
    return found


def boxes(m: Any, pair: tuple[int, int]) -> bool:
    return all(m.geom_type[g] == int(mujoco.mjtGeom.mjGEOM_BOX) for g in pair)


def compare(m: Any) -> dict[tuple[int, int], tuple[float, float]]:
    model = scene_of(m).model
    own, known = ours(m, model), theirs(m)
    said = [[(m.geom(a).name, m.geom(b).name) for a, b in sorted(some)] for some in (set(known) - set(own), set(own) - set(known))]
    assert set(known) <= set(own) and all(boxes(m, pair) for pair in set(own) - set(known)), f"only in MuJoCo, only here: {said}"
    for pair, law in known.items():
        assert own[pair] == pytest.approx(law, rel=1e-9, abs=1.1e-5), pair  # MuJoCo makes 10⁻⁵ of frictions below it
    return own


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: r.replace("/", "-").removesuffix(".xml"))
def test_a_robot_touches_what_it_touches_in_mujoco(robot: str) -> None:
    package, _, rest = robot.partition("/")
    spec = importlib.util.find_spec(package)
    if spec is None:
        pytest.skip(f"{package} is not installed")
    assert compare(mujoco.MjModel.from_xml_path(str(Path(spec.submodule_search_locations[0]) / rest)))


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_filters_pairs_and_laws_are_those_of_mujoco(text: str) -> None:
    """A body hinged to a static one, a part without mass, priorities, all condims, exclusions, pairs, a mocap body."""
    m = mujoco.MjModel.from_xml_string(text)
    own = compare(m)
    number = {m.geom(g).name: g for g in range(m.ngeom)}
    assert (number["top"], number["arm"]) in own  # the table is static
    assert ((number["arm"], number["hand"]) in own) == ("contact><exclude" in text or "filterparent" in text)


def test_margins_are_those_of_mujoco(tmp_path) -> None:
    """Margins of two geoms add up, a pair has its own: what `includemargin` of a contact is."""
    m = mujoco.MjModel.from_xml_string(FILES["with pairs"])
    model = scene_of(m).model
    c, geoms = ShapeRights(model).classes, geoms_of(m, model)
    number = {m.geom(g).name: geoms.index(g) for g in range(m.ngeom)}
    for one, other, margin in (("ball", "swing", 0.012), ("ball", "core", 0.002), ("nail", "ball", 0.004), ("floor", "swing", 0.01)):
        assert c.offset[c.of_shape[number[one]], c.of_shape[number[other]]] == pytest.approx(margin)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "robot.xml"
    path.write_text(text)
    return path


def contacts(scene: ub.scenes.Scene) -> list[ub.Contact]:
    return [c for _, c in scene.model.constraints if isinstance(c, ub.Contact)]


def test_contact_is_added_only_where_something_may_touch(tmp_path) -> None:
    link = '<body pos="0 0 -1"><joint axis="0 1 0"/><geom type="capsule" size=".05 .4"/>{}</body>'
    pendulum = write(tmp_path, f"<mujoco><worldbody>{link.format(link.format(''))}</worldbody></mujoco>")
    scene = load_mjcf(pendulum)
    assert not scene.model.constraints and ub.Simulation(scene.model, "articulated", dt=1e-3)
    assert not any("contact" in line for line in scene.left_out)
    triple = load_mjcf(write(tmp_path, f"<mujoco><worldbody>{link.format(link.format(link.format('')))}</worldbody></mujoco>"))
    assert contacts(triple) == [ub.Contact()]


def test_contact_is_left_out_as_asked(tmp_path) -> None:
    path = write(tmp_path, FILES["with pairs"])
    assert contacts(load_mjcf(path)) and contacts(load_mjcf(path, limits=False, contact=True))
    for options, word in (({"contact": False}, "contact=False"), ({"limits": False}, "limits=False")):
        scene = load_mjcf(path, **options)
        assert not contacts(scene) and any("contact of" in line and word in line for line in scene.left_out)
        assert any(s.solid for b in scene.model.bodies for s in b.shapes)
    off = load_mjcf(write(tmp_path, TREE.format(option=OFF, contact="")))
    assert not contacts(off) and not any("contact" in line for line in off.left_out)


def test_what_of_contact_is_not_read_is_listed_in_a_line_each(tmp_path) -> None:
    text = FILES["with pairs"].replace('friction=".7 .7', 'friction=".7 .6').replace('margin=".01"', 'margin="-.01"')
    said = load_mjcf(write(tmp_path, text)).left_out
    for words in (("solref", "contact of"), ("'tip'", "rolling"), ("'swing'", "below 0"), ("pair", "larger number")):
        assert len([line for line in said if all(word in line for word in words)]) == 1, words


def test_materials_carry_what_the_file_says(tmp_path) -> None:
    scene = load_mjcf(write(tmp_path, FILES["plain"]))
    of = {b.name: [s.material for s in b.shapes] for b in scene.model.bodies}
    ball, shell = of["ball"]
    assert (ball.friction, ball.torsion, ball.margin, ball.category, ball.mask) == pytest.approx((1.5, 0.002 / 1.5, 0.002, 1, 1))
    assert (shell.category, shell.mask, shell.torsion) == (4, 4, 0.0)
    assert of["arm"][0].friction == 0.0 and of["plate"][0].priority == 1 and of["other"][0].category == (1 << 32) - 1


def test_nothing_is_moved_at_import(tmp_path) -> None:
    """Overlaps and gaps of the file are kept: every shape stands where MuJoCo has it."""
    m = mujoco.MjModel.from_xml_string(FILES["with pairs"])
    geoms_of(m, scene_of(m).model)


CUP = """v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\nv 0 0 .2\n
f 1 3 2\nf 1 4 3\nf 1 2 6\nf 1 6 5\nf 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7\nf 4 1 5\nf 4 5 8\nf 5 6 9\nf 6 7 9\nf 7 8 9\nf 8 5 9\n"""


def test_meshes_touch_by_their_hulls_or_by_their_triangles(tmp_path) -> None:
    """A cube with a pit in its top, whose hull is the cube: a ball above the pit stands on air in MuJoCo."""
    (tmp_path / "cup.obj").write_text(CUP)
    asset, ball = '<asset><mesh name="cup" file="cup.obj"/></asset>', '<body pos="0 0 2"><freejoint/><geom size=".1"/></body>'
    path = write(tmp_path, f'<mujoco>{asset}<worldbody><geom type="mesh" mesh="cup"/>{ball}</worldbody></mujoco>')
    hull, seen = load_mjcf(path).model.bodies[-1].shapes
    assert (hull.solid, hull.visible, seen.solid, seen.visible) == (True, False, False, True) and hull.material and not seen.material
    assert hull.shape.volume == pytest.approx(4.0, rel=1e-6)  # MuJoCo keeps meshes in single precision
    (own,) = load_mjcf(path, meshes="exact").model.bodies[-1].shapes
    assert own.solid and own.visible and own.shape.volume == pytest.approx(4.0 - 4.0 * 0.8 / 3.0, rel=1e-6)
    with pytest.raises(ModelError, match="convex, exact"):
        load_mjcf(path, meshes="rough")


def test_a_height_field_that_rests_is_ground(tmp_path) -> None:
    asset = '<asset><hfield name="hills" nrow="2" ncol="3" size="2 1.5 .8 .1" elevation="0 1 0 0 .5 0"/></asset>'
    ball = '<body pos="0 0 2"><freejoint/><geom size=".1"/></body>'
    path = write(tmp_path, f'<mujoco>{asset}<worldbody><geom type="hfield" hfield="hills"/>{ball}</worldbody></mujoco>')
    (ground,) = load_mjcf(path).model.bodies[-1].shapes  # the first row of the file is that of the largest y
    assert isinstance(ground.shape, ub.HeightField) and ground.shape.spacing == (2.0, 3.0)
    np.testing.assert_allclose(ground.shape.heights, [[0.0, 0.4, 0.0], [0.0, 0.8, 0.0]], rtol=1e-6)
