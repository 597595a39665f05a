"""Cloth, rods and soft solids that touch under `barrier`: no intersection at any step, friction, extremes of mass, stiffness and shape."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from verification.crossings import Skin, crossing
from verification.soft_meshes import block, sheet

G = 9.81
RUBBER = ub.NeoHookean(young=1e5, poisson=0.4)
COTTON = ub.Fabric(young=1e6, poisson=0.3, thickness=1e-3)


def run(b: ub.Builder, seconds: float, dt: float = 0.01, **options) -> ub.Recording:
    return ub.Simulation(b.build(), ub.solvers.Barrier(**options), dt=dt).run(seconds)


class Surface:
    """Edges and faces of a deformable."""

    def __init__(self, info):
        sides = np.concatenate([info.faces[:, [0, 1]], info.faces[:, [1, 2]], info.faces[:, [2, 0]], info.edges]).reshape(-1, 2)
        self.faces, self.edges, self.planes = info.faces, np.unique(np.sort(sides, axis=1), axis=0), []
        self.vertices = np.unique(self.edges)


def crosses_itself(x: np.ndarray, skin) -> bool:
    """Whether an edge crosses a face with which it shares no vertex: exact, as `crossings`. Edges are tried in groups of those that share
    none with a face, so that neighbours are left out."""
    for face in skin.faces:
        apart = skin.edges[~np.isin(skin.edges, face).any(axis=1)]
        if crossing(x, apart, x, face[None]):
            return True
    return False


def intersections(rec: ub.Recording, every: int = 1, itself: tuple[str, ...] = ()) -> list:
    """Names and times of surfaces that cross, by the exact test of every edge against every face."""
    model, found = rec.model, []
    bodies = {b.name: Skin(b) for b in model.bodies[1:] if b.shapes}
    skins = {**bodies, **{d.name: Surface(d) for d in model.deformables}}
    names = list(skins)
    for k in range(0, len(rec.t), every):
        x = {name: rec.vertices(name)[k] for name in names if len(skins[name].vertices)}
        for i, one in enumerate(names):
            for other in names[i + 1 :]:
                for a, b in ((one, other), (other, one)):
                    if a in x and b in x and crossing(x[a], skins[a].edges, x[b], skins[b].faces):
                        found.append((one, other, k))
        found += [(name, name, k) for name in itself if crosses_itself(x[name], skins[name])]
    return found


def ground(b: ub.Builder) -> None:
    b.body("ground", shape=ub.Plane(), kind="static")


ANGLE = np.arctan(0.5)
TILT = ub.Pose.about((0, 1, 0), -ANGLE)


def slope(friction: float, start: np.ndarray) -> ub.Builder:
    """Cloth on a plane of slope 1/2; `start` in the axes of the slope."""
    b = ub.Builder()
    b.body("slope", shape=ub.Plane(), kind="static", X_WB=TILT)
    b.cloth("cloth", sheet((0.2, 0.2), (4, 4)), COTTON, density=500, X_WB=TILT, start=start)
    b.add(ub.Contact(friction=friction, reach=2e-4))
    return b


def test_cloth_on_a_slope_holds_at_its_friction_and_slides_below_it():
    """tan α = 0.5: at μ = 0.5 it stays, but for the creep of smooth friction, below the slip speed; at 0.49 it slides with
    (0.5 − 0.49) g cos α. It has come to rest before, held by more friction."""
    placed = run(slope(1.0, sheet((0.2, 0.2), (4, 4)).vertices + [0, 0, 6e-4]), 0.5).vertices("cloth")[-1] @ TILT.R
    down, moved = -TILT.R[:, 0], {}
    for friction in (0.5, 0.49):
        rec = run(slope(friction, placed), 1.0, friction_iterations=0)
        x = rec.vertices("cloth").mean(axis=1)
        moved[friction] = (x[-1] - x[0]) @ down
    assert abs(moved[0.5]) < 1e-3 * 1.0
    assert moved[0.49] == pytest.approx(0.5 * 0.01 * G * np.cos(ANGLE), rel=0.05)


def test_contact_carries_a_soft_cube_and_a_body_on_it():
    """At rest the ground pushes with the weight of both, and the cube with that of the body."""
    b = ub.Builder()
    ground(b)
    b.soft(
        "cube",
        block((0.1, 0.1, 0.1), (3, 3, 3)),
        ub.NeoHookean(young=1e5, poisson=0.4, damping=2e-3),
        density=1000,
        X_WB=ub.Pose((0, 0, 0.051)),
    )
    b.body("plate", shape=ub.Box((0.08, 0.08, 0.02)), mass=0.5, X_WB=ub.Pose((0, 0, 0.112)))
    b.add(ub.Contact(friction=0.5))
    rec = run(b, 1.0)
    assert rec.contact_forces("cube")[-1].sum(axis=0) == pytest.approx([0, 0, 1.0 * G], abs=2e-3 * G)
    c = rec.contacts[-1]
    on_ground = (c.bodies == rec.model.body("ground")).any(axis=1)
    assert c.normal_forces[on_ground].sum() == pytest.approx(1.5 * G, rel=2e-3)
    assert intersections(rec, every=5) == []


def test_cloth_falls_over_a_ball_and_onto_itself():
    b = ub.Builder()
    ground(b)
    b.body("ball", shape=ub.Sphere(0.08), kind="static", X_WB=ub.Pose((0, 0, 0.15)))
    b.cloth("cloth", sheet((0.5, 0.5), (10, 10)), COTTON, density=500, X_WB=ub.Pose.about((0, 0, 1), 0.3, p=(0.03, 0, 0.25)))
    b.add(ub.Contact(friction=0.3, self_contact=True))
    rec = run(b, 0.6)
    x = rec.vertices("cloth")[-1]
    assert x[:, 2].min() < 0.02 and x[:, 2].max() > 0.23
    assert intersections(rec, every=4, itself=("cloth",)) == []


def folded(n: int, layers: int, gap: float) -> tuple[ub.TriMesh, np.ndarray]:
    """A strip and where it starts when it lies folded on itself: a zigzag of so many layers."""
    per = n // layers
    mesh = sheet((0.1 * layers, 0.1), (n, 3))
    column = np.round((mesh.vertices[:, 0] / (0.1 * layers) + 0.5) * n).astype(int)
    x, place = mesh.vertices.copy(), [(0.0, 0.0)]
    for k in range(n):  # turn back over two columns at the end of each layer
        layer, inside = divmod(k, per)
        u, z = place[-1]
        turn = inside == per - 1 and layer < layers - 1
        place.append((u, z + gap) if turn else (u + (0.1 / per) * (1 if layer % 2 == 0 else -1), z))
    u, z = np.array(place).T
    x[:, 0], x[:, 2] = u[column], z[column]
    return mesh, x


def test_cloth_folded_on_itself_four_times_is_pressed_flat():
    """Five layers under a weight: no layer goes through another, and what carries the weight is the cloth."""
    mesh, start = folded(20, 5, 0.02)
    b = ub.Builder()
    ground(b)
    b.cloth("cloth", mesh, COTTON, density=500, X_WB=ub.Pose((0, 0, 0.002)), start=start)
    b.body("plate", shape=ub.Box((0.3, 0.3, 0.02)), mass=1.0, X_WB=ub.Pose((0.04, 0, 0.1)))
    b.add(ub.Contact(friction=0.3, self_contact=True, reach=5e-4))
    rec = run(b, 0.4)
    assert intersections(rec, every=4, itself=("cloth",)) == []
    assert rec.pose("plate")[-1, 2] < 0.06
    assert rec.pose("plate")[-1, 2] > 0.01 + 5 * 1e-3 * 0.5


def test_a_rod_stays_in_a_ring():
    """A rope that hangs through a ring of wire, pulled sideways against it: it cannot get out, however it swings."""
    angle = 2.0 * np.pi * np.arange(16) / 16
    circle = np.stack([0.05 * np.cos(angle), 0.05 * np.sin(angle), 0.0 * angle], axis=1)
    b = ub.Builder()
    b.body("ring", shape=ub.Wire(circle, radius=5e-3, closed=True), kind="static")
    rope = b.rod(
        "rope",
        [(0, 0, z) for z in np.linspace(0.2, -0.2, 17)],
        radius=5e-3,
        material=ub.RodMaterial(young=1e6),
        density=1000,
        V_WB=(0, 0, 0, 3.0, 0, 0),
    )
    b.prescribe(rope.vertices[[0]])
    b.add(ub.Contact(friction=0.2))
    rec = run(b, 0.5)
    x = rec.vertices("rope")
    for points in x:  # where it passes the plane of the ring
        k = np.flatnonzero((points[:-1, 2] > 0.0) & (points[1:, 2] <= 0.0))
        assert len(k) % 2 == 1
        s = points[k, 2] / (points[k, 2] - points[k + 1, 2])
        at = points[k] + s[:, None] * (points[k + 1] - points[k])
        assert (np.linalg.norm(at[:, :2], axis=1) < 0.05).all()


def test_a_needle_on_cloth_does_not_pierce_it():
    """A thin cone-like needle, point down, falls on stretched cloth."""
    b = ub.Builder()
    cloth = b.cloth("cloth", sheet((0.2, 0.2), (6, 6)), COTTON, density=500)
    b.prescribe(cloth.vertices[np.abs(cloth.vertices.x[:, :2]).max(axis=1) > 0.099])
    needle = ub.Mesh(
        [(0, 0, 0), (0.002, 0, 0.1), (-0.001, 0.0017, 0.1), (-0.001, -0.0017, 0.1)], [(0, 2, 1), (0, 3, 2), (0, 1, 3), (1, 2, 3)]
    )
    b.body("needle", shape=needle, mass=0.02, X_WB=ub.Pose((0.011, 0.007, 0.01)), V_WB=(0, 0, 0, 0, 0, -3.0))
    b.add(ub.Contact(friction=0.3))
    rec = run(b, 0.2, dt=0.005)
    assert intersections(rec) == []
    assert rec.vertices("cloth")[:, :, 2].min() < -0.005


def test_a_soft_cube_is_pressed_to_a_tenth_and_comes_back():
    """Between the ground and a plate that is driven down: nothing turns inside out, nothing crosses, and it regains its height."""
    b = ub.Builder()
    ground(b)
    b.soft(
        "cube",
        block((0.1, 0.1, 0.1), (3, 3, 3)),
        ub.NeoHookean(young=1e4, poisson=0.3, damping=5e-3),
        density=1000,
        X_WB=ub.Pose((0, 0, 0.051)),
    )
    way = lambda t: 0.112 - 0.1 * min(max(t - 0.02, 0.0), 0.4) / 0.4 * 0.92 + 0.1 * min(max(t - 0.5, 0.0), 0.2) / 0.2  # noqa: E731
    b.body("plate", shape=ub.Box((0.6, 0.6, 0.02)), kind="kinematic", motion=lambda t: ub.Pose((0, 0, way(t))))
    b.add(ub.Contact(friction=0.2, reach=1e-3))
    rec = run(b, 1.0, dt=0.02)
    height = rec.vertices("cube")[:, :, 2].max(axis=1)
    assert height.min() < 0.0105
    assert height[-1] == pytest.approx(0.1, abs=3e-3)
    assert intersections(rec, every=2) == []


@pytest.mark.parametrize("ratio", [1e-3, 1e3])
def test_masses_a_million_times_apart(ratio):
    """A body a thousand times heavier, or lighter, than a cloth that is a thousand times heavier, or lighter, than another on top."""
    b = ub.Builder()
    ground(b)
    mass = 0.04 * 500 * 1e-3
    low = sheet((0.2, 0.2), (3, 3))
    b.cloth("one", low, COTTON, density=500, X_WB=ub.Pose((0, 0, 0.005)))
    b.body("plate", shape=ub.Box((0.15, 0.15, 0.02)), mass=mass * ratio, X_WB=ub.Pose((0, 0, 0.02)))
    b.cloth("two", low, COTTON, density=500 * ratio**2, X_WB=ub.Pose((0, 0, 0.035)))
    b.add(ub.Contact(friction=0.3))
    rec = run(b, 0.3)
    assert intersections(rec, every=5) == []
    assert rec.pose("plate")[-1, 2] > 0.01


def test_stiffnesses_a_million_times_apart():
    """Jelly of 1 kPa under rubber of 1 GPa."""
    b = ub.Builder()
    ground(b)
    b.soft(
        "jelly",
        block((0.1, 0.1, 0.05), (2, 2, 1)),
        ub.NeoHookean(young=2e4, poisson=0.3, damping=1e-2),
        density=1000,
        X_WB=ub.Pose((0, 0, 0.026)),
    )
    b.soft("brick", block((0.08, 0.08, 0.04), (2, 2, 1)), ub.NeoHookean(young=2e10, poisson=0.3), density=2000, X_WB=ub.Pose((0, 0, 0.073)))
    b.add(ub.Contact(friction=0.5))
    rec = run(b, 0.5)
    assert intersections(rec, every=5) == []
    strain = rec.strain("brick")[-1]
    assert np.abs(strain).max() < 1e-6
    assert rec.contact_forces("brick")[-1].sum(axis=0) == pytest.approx([0, 0, 0.08 * 0.08 * 0.04 * 2000 * G], rel=0.02, abs=0.02)


def test_what_is_attached_touches_its_body_elsewhere_if_it_is_asked_to():
    """Cloth nailed to a post by one side swings against it: through it by default, like neighbours at a joint; with neighbours=True not."""
    deepest = {}
    for neighbours in (False, True):
        b = ub.Builder()
        post = b.body("post", shape=ub.Box((0.1, 0.1, 0.4)), kind="static", X_WB=ub.Pose((-0.0501, 0, -0.2)))
        cloth = b.cloth("cloth", sheet((0.2, 0.1), (6, 3)), COTTON, density=500, X_WB=ub.Pose((0.1011, 0, 0)))
        b.attach(cloth.vertices[cloth.vertices.x[:, 0] < 2e-3], post)
        b.add(ub.Contact(friction=0.2, neighbours=neighbours))
        rec = run(b, 0.5)
        deepest[neighbours] = rec.vertices("cloth")[:, :, 0].min()
    assert deepest[False] < -0.01
    assert deepest[True] > -1e-4


def test_a_bridge_of_ropes_and_boards_carries_a_ball():
    """The paper's hanging bridge in small: two ropes between walls, boards attached to both, exactly, and a ball that falls on them."""
    n, b = 5, ub.Builder()
    walls = [
        b.body(f"wall{k}", shape=ub.Box((0.1, 0.6, 0.1)), kind="static", X_WB=ub.Pose((x, 0, 0)))
        for k, x in enumerate((-0.06, 0.1 * n + 0.06))
    ]
    ropes = []
    for k, y in enumerate((-0.15, 0.15)):
        rope = b.rod(f"rope{k}", [(x, y, 0) for x in np.linspace(0.0, 0.1 * n, 4 * n + 1)], 3e-3, ub.RodMaterial(young=1e8), 1000.0)
        b.attach(rope.vertices[[0]], walls[0])
        b.attach(rope.vertices[[4 * n]], walls[1])
        ropes.append(rope)
    for i in range(n):
        board = b.body(f"board{i}", shape=ub.Box((0.08, 0.36, 0.01)), density=500, X_WB=ub.Pose((0.1 * i + 0.05, 0, -0.01)))
        for rope in ropes:
            b.attach(rope.vertices[[4 * i + 1, 4 * i + 3]], board)
    b.body("ball", shape=ub.Sphere(0.05), mass=0.5, X_WB=ub.Pose((0.25, 0, 0.1)))
    b.add(ub.Contact(friction=0.4))
    rec = run(b, 0.4)
    assert rec.pose("ball")[-1, 2] > -0.05
    assert intersections(rec, every=8) == []
    for a in rec.model.attachments:
        if a.body in (rec.model.body(f"board{i}") for i in range(n)):
            M = rec.observations[-1].material[a.body]
            assert np.abs(rec.observations[-1].vertices[a.vertices] - M[0] - a.p @ M[1:]).max() < 1e-12


def test_recordings_tell_the_least_gap():
    """Of cloth that lies on the ground: within the reach, never 0; of cloth that flies, none."""
    b = ub.Builder()
    ground(b)
    b.cloth("cloth", sheet((0.2, 0.2), (2, 2)), COTTON, density=500, X_WB=ub.Pose((0, 0, 2e-3)))
    b.add(ub.Contact(reach=1e-3))
    gaps = [r.minimum_distance for r in run(b, 0.2).reports]
    assert gaps[0] == np.inf
    assert 0.0 < gaps[-1] < 1e-3


def on_steel(friction: float) -> tuple[np.ndarray, np.ndarray]:
    """Times, and the way down of a block of hard rubber on a thin slab of steel whose vertices are all held, of slope 1/2."""
    b = ub.Builder()
    slab = b.soft("slab", block((10, 10, 0.01), (1, 1, 1)), ub.NeoHookean(young=2e11, poisson=0.3), density=7750, X_WB=TILT)
    b.prescribe(slab.vertices[:])
    at = ub.Pose(tuple(TILT.R @ (0.0, 0.0, 0.5059)), TILT.wxyz)
    b.soft("block", block((1, 1, 1), (1, 1, 1)), ub.NeoHookean(young=1e9, poisson=0.4), density=1000, X_WB=at)
    b.add(ub.Contact(friction=friction, reach=1e-3))
    rec = run(b, 0.5, 0.025, slip_speed=1e-5, tolerance=1e-7, friction_iterations=0)
    assert intersections(rec, every=4) == []
    return rec.t, rec.vertices("block").mean(axis=1) @ -TILT.R[:, 0]


def test_matter_that_is_held_hides_nothing_from_the_search():
    """What the slab would store at strains of 1 is 10⁷ times what the block would; none of that is round-off of the search, which has
    to find where the block sticks. It comes to rest where μ > tan α, and slides with (tan α − μ) g cos α where not."""
    t, s = on_steel(0.6)
    assert abs(s[-1] - s[10]) < 1e-4
    t, s = on_steel(0.4)
    v = np.diff(s) / np.diff(t)
    assert np.polyfit(t[9:], v[8:], 1)[0] == pytest.approx(0.1 * G * np.cos(ANGLE), rel=0.01)


@pytest.mark.parametrize("other", ["static", "sheet"])
def test_what_moves_as_it_is_told_does_not_pass_through_what_stands(other):
    """A sheet of which every vertex is prescribed goes down through a ball that stands, or a sheet that is held: the step that would cross
    fails by name; the last one ends with the sheet above."""
    b = ub.Builder(gravity=None)
    grid = ub.TriMesh.grid((0.3, 0.3), 0.1)
    if other == "static":
        b.body("below", ub.Sphere(0.1), kind="static", X_WB=ub.Pose((0, 0, -0.1)))
    else:
        below = b.cloth("below", grid, ub.Fabric(young=1e5, poisson=0.3, thickness=1e-3), density=200)
        b.prescribe(below.vertices[:], None)
    sheet = b.cloth("sheet", grid, ub.Fabric(young=1e5, poisson=0.3, thickness=1e-3), density=200, X_WB=ub.Pose((0, 0, 0.05)))
    x = sheet.vertices.x.copy()
    b.prescribe(sheet.vertices[:], lambda t: x - (0, 0, t))
    b.add(ub.Contact())
    simulation = ub.Simulation(b.build(), "barrier", dt=0.01)
    with pytest.raises(ub.StepFailed, match="prescribed vertices of 'sheet' do not get to their places: 'below' is in the way"):
        simulation.run(0.2)
    assert simulation.state.t == pytest.approx(0.04)


def test_a_rope_slips_over_a_drum_as_the_capstan_equation_says(published):
    """Half a turn at μ = 0.2: pulled at one end with a load at the other, both tensions told by what holds the ends, e^(μ π) apart while it
    slips; friction renewed until it changes no more."""
    b = ub.Builder()
    R, r, edge, steps = 0.1, 2e-3, 0.01, 8
    b.body("drum", ub.Mesh(*ub.Cylinder(R, 0.06).triangles(64)), kind="static", X_WB=ub.Pose.about((1, 0, 0), np.pi / 2))
    outer = R + r + 1.5e-3
    angle = np.linspace(np.pi, 0.0, round(np.pi * outer / edge) + 1)
    arc = outer * np.stack([np.cos(angle), 0.0 * angle, np.sin(angle)], axis=1)
    down = np.stack([np.zeros(steps), np.zeros(steps), -edge * np.arange(1, steps + 1)], axis=1)
    X = np.concatenate([down[::-1] - (outer, 0, 0), arc, down + (outer, 0, 0)])
    rope = b.rod("rope", X, r, ub.RodMaterial(young=1e7, bending=0.0, damping=1e-3), density=50)
    load = b.body("load", mass=0.5, inertia=(1e-4,) * 3, X_WB=ub.Pose(X[-1]))
    b.joint("guide", ub.Prismatic((0, 0, 1)), b.world, load, X_PF=ub.Pose(X[-1]))
    b.attach(rope.vertices[[-1]], load, name="hang")
    b.prescribe(rope.vertices[[0]], lambda t: X[0] - (0, 0, 0.1 * t), name="pull")
    b.add(ub.Contact(friction=0.2, reach=2e-3))
    rec = ub.Simulation(b.build(), ub.solvers.Barrier(friction_iterations=0), dt=5e-3).run(0.4)
    pull, hang = (rec.reaction(name)[-30:, 0, 2] for name in ("pull", "hang"))
    published("Rope over a drum, half a turn, μ = 0.2", "tension ratio (capstan)", 1.87446, (pull / hang).mean(), rtol=0.02)
