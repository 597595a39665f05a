"""What newcomers get wrong is told in one line, as a warning and in `notes`; what is meant is not."""

from __future__ import annotations

import warnings

import pytest

import unibody as ub


def ball(height: float = 1.0, floor: bool = False, contact: bool = False, gravity=(0, 0, -9.81), **body) -> ub.Model:
    b = ub.Builder(gravity=gravity)
    b.body("ball", shape=ub.Sphere(0.1), X_WB=ub.Pose(p=(0, 0, height)), **body)
    if floor:
        b.body("floor", shape=ub.Plane(), kind="static")
    if contact:
        b.add(ub.Contact(friction=0.5))
    return b.build()


def told(model: ub.Model, solver: str = "auto") -> tuple[str, ...]:
    """The lines of a new simulation that are warnings, and no others."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim = ub.Simulation(model, solver)
    lines = tuple(str(w.message) for w in caught if issubclass(w.category, ub.UnibodyWarning))
    assert set(lines) <= set(sim.notes) and all("\n" not in line for line in lines)
    assert not caught or caught[0].filename == __file__
    return lines


@pytest.mark.parametrize("contact", [False, True])
def test_a_fall_without_a_floor(contact: bool) -> None:
    (line,) = told(ball(contact=contact))
    assert "'ball' falls for ever" in line and "floor" in line


@pytest.mark.parametrize(
    "model",
    [
        ball(gravity=None), ball(V_WB=(0, 0, 0, 1, 0, 3)), ball(floor=True, contact=True), ub.scenes.build("pendulum"),
    ],
    ids=["no weight", "thrown", "floor", "hung"],
)  # fmt: skip
def test_nothing_is_told_of_what_is_meant(model: ub.Model) -> None:
    assert told(model) == ()


RUBBER = ub.NeoHookean(young=1e5, poisson=0.3)


def with_cube(floor: bool = False, contact: bool = False) -> ub.Builder:
    b = ub.Builder()
    b.soft("cube", ub.TetMesh.box((0.1, 0.1, 0.1), cells=(1, 1, 1)), RUBBER, density=1000, X_WB=ub.Pose((0, 0, 0.5)))
    if floor:
        b.body("floor", shape=ub.Plane(), kind="static")
    if contact:
        b.add(ub.Contact(friction=0.5))
    return b


def test_soft_bodies_fall_and_land_as_rigid_ones_do() -> None:
    """What is held, by its vertices or by a spring, does not fall, and held cloth is something to land on."""
    assert "'cube' falls for ever" in told(with_cube().build())[0]
    assert "ground 'floor' touches nothing" in told(with_cube(floor=True).build())[0]
    assert told(with_cube(floor=True, contact=True).build()) == ()
    pinned = with_cube()
    pinned.prescribe(pinned.deformable("cube").vertices[[0]])
    assert told(pinned.build()) == ()
    hung = with_cube()
    hung.add(ub.SpringDamper(hung.deformable("cube").vertex(0), hung.world.at(0, 0, 1), stiffness=10.0))
    assert told(hung.build()) == ()
    net = with_cube(contact=True)
    cloth = net.cloth("net", ub.TriMesh.grid((1, 1), spacing=0.5), ub.Fabric(young=1e5, poisson=0.3, thickness=1e-3), density=200)
    net.prescribe(cloth.vertices[[0, 2, 6, 8]])
    net.body("ball", shape=ub.Sphere(0.1), X_WB=ub.Pose((0, 0, 1)))
    assert told(net.build()) == ()


def test_what_flies_by_its_own_wrench_is_left_alone() -> None:
    b = ub.Builder()
    drone = b.body("drone", shape=ub.Box((0.2, 0.2, 0.05)), mass=1.0)
    b.add(ub.AppliedWrench(drone, force=(0, 0, 9.81)))
    assert told(b.build()) == ()


def test_scenes_by_name_mean_what_they_do() -> None:
    scene = ub.scenes.make("serial-arm", base="free")
    assert scene.ours
    with warnings.catch_warnings():
        warnings.simplefilter("error", ub.UnibodyWarning)
        ub.Simulation(scene)
    assert "fall" in told(scene.model)[0]


@pytest.mark.parametrize("solver", ["auto", "articulated", "complementarity"])
def test_ground_that_touches_nothing(solver: str) -> None:
    assert told(ball(floor=True), solver) == ("ground 'floor' touches nothing: no Contact in the model; b.add(ub.Contact(friction=0.5))",)


def test_bodies_that_begin_inside_each_other() -> None:
    (line,) = told(ball(height=0.06, floor=True, contact=True))
    assert "'ball' and 'floor' begin 0.04 m inside each other" in line


def geared() -> ub.Model:
    """Two wheels that turn alike, one ahead by 0.2 rad."""
    b = ub.Builder()
    for name, at in (("a", 0.2), ("c", 0.0)):
        b.joint(name, ub.Revolute((0, 0, 1)), b.world, b.body(name, ub.Box((0.4, 0.1, 0.1))), q=at)
    b.add(ub.JointCoupling(["a", "c"], [1.0, -1.0]), name="belt")
    return b.build()


@pytest.mark.parametrize("solver", ["auto", "lagrange", "penalty"])
def test_a_start_that_rows_forbid_is_told_once(solver: str) -> None:
    (line,) = told(geared(), solver)
    assert line.startswith("start: 'belt' was violated by 0.2 rad; changed 'a' by 0.1 rad, 'c' by 0.1 rad")
    sim = ub.Simulation(geared(), solver)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ub.UnibodyWarning)
        sim.reset()  # not again, though it stands among the notes
        assert line in sim.notes
        ub.Simulation(geared(), solver, assemble=False)  # and not of what stays


def test_a_solver_that_cannot_is_refused_with_those_that_can() -> None:
    with pytest.raises(ub.Unsupported) as caught:
        ub.Simulation(ball(floor=True, contact=True), "articulated")
    line = str(caught.value)
    assert "\n" not in line and "solver 'articulated' cannot honour 'Contact[0]'" in line and "complementarity" in line and "auto" in line


def test_a_body_that_has_fallen_far_is_told_after_the_run_once() -> None:
    """Free fall of 10 s: 490.5 m, far above a hundred times 0.1 m."""
    sim = ub.Simulation(ball(V_WB=(0, 0, 0, 1, 0, 3)), dt=1e-2)
    with pytest.warns(ub.UnibodyWarning, match="'ball' has fallen .* ever faster") as caught:
        sim.run(10.0, progress=False)
        sim.run(1.0, progress=False)
    assert len(caught) == 1 and "has fallen" in sim.notes[-1]


def test_a_body_that_drag_holds_back_has_not_fallen_ever_faster() -> None:
    """Drag c = 10 m: it soon falls with g / 10, 0.98 m/s, so that v² is far below g d."""
    b = ub.Builder()
    flake = b.body("flake", shape=ub.Sphere(0.05), mass=1.0, V_WB=(0, 0, 0, 0.1, 0, 0))
    b.add(ub.BodyDamping(flake, linear=10.0))
    sim = ub.Simulation(b.build(), dt=1e-2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ub.UnibodyWarning)
        sim.run(30.0, progress=False)


@pytest.mark.parametrize("what", ["pendulum", ub.scenes.make("pendulum"), ub.scenes.build("pendulum")], ids=["name", "scene", "model"])
def test_a_simulation_takes_a_name_a_scene_or_a_model(what) -> None:
    sim = ub.Simulation(what)
    assert sim.dt == 1e-3 and sim.model.joint("pivot").nv == 1


@pytest.mark.parametrize("ending", [".json", ".py"])
def test_a_simulation_takes_a_file(tmp_path, ending: str) -> None:
    path = tmp_path / f"mine{ending}"
    if ending == ".json":
        from unibody.files import save_json

        save_json(ub.scenes.make("stack"), path)
    else:
        path.write_text("import unibody as ub\n\n\ndef build():\n    return ub.scenes.make('stack')\n")
    for word in (path, str(path)):
        sim = ub.Simulation(word)
        assert sim.dt == ub.scenes.make("stack").dt and sim.solver.name == "complementarity"


@pytest.mark.parametrize("wrong", ["pendulun", 3, None])
def test_what_is_no_model_is_refused_in_one_line(wrong) -> None:
    with pytest.raises(ub.ModelError, match="did you mean 'pendulum'|is not a Model"):
        ub.Simulation(wrong)


def gripper(damping: float, limited: bool = True) -> ub.Model:
    """A light jaw on a heavy base: 4e-5 + 0.05 · 0.1² kg m² on its hinge, so that dt = 1 ms follows 2 h d / J < 4, d < 1.08 N m s."""
    b = ub.Builder()
    base = b.body("base", mass=50.0, inertia=(1.0, 1.0, 1.0), kind="static")
    jaw = b.body("jaw", mass=0.05, inertia=(1e-5, 4e-5, 4e-5), X_WB=ub.Pose((0.1, 0.0, 0.0)))
    b.joint("hinge", ub.Revolute((0, 0, 1)), base, jaw, X_BM=ub.Pose((-0.1, 0.0, 0.0)), damping=damping,
            limits=(-0.3, 0.3) if limited else None)  # fmt: skip
    return b.build()


@pytest.mark.parametrize("solver, limited", [("articulated", False), ("lagrange", False), ("impulse", True), ("penalty", True)])
def test_what_explicit_steps_cannot_follow_is_told(solver: str, limited: bool) -> None:
    """Limits keep such a joint from blowing up, so that nothing else would say that it shakes."""
    (line,) = told(gripper(1.3, limited), solver)
    assert "'hinge" in line and "stable up to about 0.00083 s" in line and "solver='redmax'" in line
    assert not told(gripper(0.9, limited), solver)


@pytest.mark.parametrize("solver", ["complementarity", "redmax"])
def test_solvers_that_take_efforts_at_the_end_of_a_step_have_nothing_to_tell(solver: str) -> None:
    assert not told(gripper(1.3), solver)
