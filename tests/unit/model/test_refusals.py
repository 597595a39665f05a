"""What builder, model, state, control and simulation refuse: one line that names the element, the value and the remedy."""

from __future__ import annotations

import math

import numpy as np
import pytest

import unibody as ub

NAN, INF = math.nan, math.inf
UNIT = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
GROUND = ub.Builder().world.at()


def world(**given):
    """A builder with a body 'a' on a hinge 'hinge' and a free body 'b'."""
    b = ub.Builder(**given)
    a = b.body("a", **UNIT)
    b.joint("hinge", ub.Revolute(axis=(0, 1, 0)), b.world, a)
    b.body("b", X_WB=ub.Pose(p=(2.0, 0, 0)), **UNIT)
    return b


def add_body(**given):
    return lambda: world().body("new", **{**UNIT, **given})


def add_joint(**given):
    return lambda: world().joint("new", **{"joint": ub.Revolute(axis=(1, 0, 0)), "parent": "a", "child": "b", **given})


def build_with(element):
    def make():
        b = world()
        b.add(element(b), name="it")
        return b.build()

    return make


def hinged(**given):
    return ub.Simulation(world().build(), **given)


def in_callback(change):
    """A run whose control function does something wrong."""
    return lambda: hinged().run(0.01, control=lambda t, state, control: change(control))


NAMES = {
    "duplicate body": (lambda: world().body("a", **UNIT), ("body 'a'", "exists already")),
    "joint twice": (lambda: world().joint("hinge", ub.Weld(), "a", "b"), ("joint 'hinge'", "exists already")),
    "element twice": (lambda: _element_twice(), ("element 'pull'", "exists already")),
    "empty name": (lambda: world().body("", **UNIT), ("''", "give")),
    "name is a number": (lambda: world().body(3, **UNIT), ("3", "give")),
    "unknown parent": (add_joint(parent="aa"), ("joint 'new'", "'aa'", "did you mean 'a'")),
    "unknown child": (add_joint(child="elbow"), ("joint 'new'", "'elbow'", "unknown")),
    "handle is no body": (add_joint(child=7), ("joint 'new'", "7", "give")),
    "unknown body of a force": (build_with(lambda b: ub.SpringDamper(ub.model.Body("c").at(), b.world.at(), 1.0)), ("'it'", "'c'")),
    "unknown joint of a motor": (build_with(lambda b: ub.Motor("hing", effort=1.0)), ("'it'", "'hing'", "did you mean 'hinge'")),
    "unknown joint of a coupling": (build_with(lambda b: ub.JointCoupling(["nowhere"], (1.0,))), ("'it'", "'nowhere'")),
    "unknown solver": (lambda: hinged(solver="articulate"), ("'articulate'", "did you mean 'articulated'")),
    "solver of a wrong kind": (lambda: hinged(solver=3), ("3", "articulated")),
    "unknown rule": (lambda: ub.solvers.Articulated(rule="rk5"), ("'rk5'", "rk4")),
    "unknown kind": (add_body(kind="fixed"), ("body 'new'", "'fixed'", "static")),
    "unknown body of a recording": (lambda: hinged().run(0.002).pose("bb"), ("'bb'", "did you mean 'b'")),
    "unknown joint of a recording": (lambda: hinged().run(0.002).reaction("hinges"), ("'hinges'", "did you mean 'hinge'")),
    "unknown motor": (in_callback(lambda c: c.set_target("spin", 0.0)), ("'spin'", "none")),
    "unknown joint of a control": (in_callback(lambda c: c.set_effort("hing", 0.0)), ("'hing'", "did you mean 'hinge'")),
    "joint named like a free body": (lambda: _named_like_a_free_body(), ("'b'", "rename")),
}

PHYSICS = {
    "zero axis": (lambda: ub.Revolute(axis=(0, 0, 0)), ("axis", "(0.0, 0.0, 0.0)", "non-zero")),
    "zero slide": (lambda: ub.Prismatic(axis=(0, 0, 0)), ("axis", "non-zero")),
    "parallel universal": (lambda: ub.Universal((1, 0, 0), (2, 0, 0)), ("parallel", "give")),
    "mass 0": (add_body(mass=0.0), ("body 'new'", "0.0", "above 0")),
    "mass negative": (add_body(mass=-1.0), ("body 'new'", "-1.0", "above 0")),
    "density 0": (lambda: world().body("new", shape=ub.Sphere(1.0), density=0.0), ("body 'new'", "density", "above 0")),
    "no mass": (lambda: world().body("new", inertia=(1, 1, 1)), ("body 'new'", "mass", "give")),
    "no inertia": (lambda: world().body("new", mass=1.0), ("body 'new'", "inertia", "give")),
    "density and mass": (lambda: world().body("new", shape=ub.Sphere(1.0), density=1.0, mass=1.0), ("body 'new'", "density", "give one")),
    "inertia not symmetric": (add_body(inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), ("body 'new'", "not symmetric", "give")),
    "inertia not positive": (add_body(inertia=(1, 1, 0)), ("body 'new'", "principal value 0", "positive")),
    "inertia negative": (add_body(inertia=(1, 1, -1)), ("body 'new'", "-1", "positive")),
    "inertia of no body": (add_body(inertia=(1, 1, 3)), ("body 'new'", "1 + 1 < 3", "check")),
    "joint to itself": (add_joint(parent="b"), ("joint 'new'", "'b'", "itself", "two different")),
    "weld to itself": (add_joint(joint=ub.Weld(), parent="b"), ("joint 'new'", "itself")),
    "rest length": (lambda: ub.SpringDamper(GROUND, GROUND, 1.0, rest_length=-0.1), ("rest_length", "-0.1", "give")),
    "stiffness": (add_joint(stiffness=-1.0), ("joint 'new'", "stiffness", "-1.0", "give")),
    "damping": (add_joint(damping=-1.0), ("joint 'new'", "damping", "-1.0", "give")),
    "armature": (add_joint(armature=-1.0), ("joint 'new'", "armature", "-1.0", "give")),
    "effort limit": (add_joint(effort_limit=-1.0), ("joint 'new'", "effort_limit", "-1.0", "give")),
    "static body with a speed": (add_body(kind="static", V_WB=(0, 0, 0, 1, 0, 0)), ("body 'new'", "static", "kinematic")),
    "motion of a dynamic body": (add_body(motion=lambda t: ub.Pose()), ("body 'new'", "motion", "kinematic")),
    "dt 0": (lambda: hinged(dt=0.0), ("dt", "0.0", "above 0")),
    "dt negative": (lambda: hinged(dt=-1e-3), ("dt", "-0.001", "above 0")),
    "duration negative": (lambda: hinged().run(-1.0), ("duration", "-1.0", "give")),
    "duration below a step": (lambda: hinged(dt=0.1).run(0.01), ("duration", "0.01", "0.1", "give")),
    "every 0": (lambda: hinged().run(0.01, every=0), ("every", "0", "give")),
    "zero quaternion": (lambda: ub.Pose(wxyz=(0, 0, 0, 0)), ("wxyz", "(0, 0, 0, 0)", "give")),
    "zero quaternion of a ball": (add_joint(joint=ub.Ball(), q=(0, 0, 0, 0)), ("joint 'new'", "quaternion", "give")),
    "no rotation": (lambda: ub.Pose.from_matrix(np.diag([1.0, 1.0, -1.0, 1.0])), ("rotation", "orthonormalise")),
    "distance 0": (build_with(lambda b: ub.Distance(b.world.at(), ub.model.Body("a").at())), ("0", "FixedPoint")),
}

NOT_FINITE = {
    "position": lambda: ub.Pose(p=(0, NAN, 0)),
    "quaternion": lambda: ub.Pose(wxyz=(1, NAN, 0, 0)),
    "matrix": lambda: ub.Pose.from_matrix(np.full((4, 4), NAN)),
    "point": lambda: world().world.at(0, NAN, 0),
    "mass": add_body(mass=NAN),
    "infinite mass": add_body(mass=INF),
    "centre of mass": add_body(com=(0, 0, NAN)),
    "inertia": add_body(inertia=(1, NAN, 1)),
    "density": lambda: world().body("new", shape=ub.Sphere(1.0), density=NAN),
    "radius": lambda: ub.Sphere(NAN),
    "axis": lambda: ub.Revolute(axis=(NAN, 0, 0)),
    "pitch": lambda: ub.Screw((0, 0, 1), NAN),
    "twist": add_body(V_WB=(0, 0, 0, NAN, 0, 0)),
    "q": add_joint(q=NAN),
    "v": add_joint(v=INF),
    "q of a ball": add_joint(joint=ub.Ball(), q=(NAN, 0, 0, 1)),
    "joint stiffness": add_joint(stiffness=NAN),
    "joint damping": add_joint(damping=NAN),
    "joint rest": add_joint(stiffness=1.0, rest=NAN),
    "armature": add_joint(armature=NAN),
    "effort limit": add_joint(effort_limit=NAN),
    "gravity": lambda: ub.Builder(gravity=(0, 0, NAN)),
    "normal": lambda: ub.Builder(planar=True, normal=(0, NAN, 0)),
    "stiffness": lambda: ub.SpringDamper(GROUND, GROUND, NAN),
    "wrench": lambda: ub.AppliedWrench("a", force=(NAN, 0, 0)),
    "effort": lambda: ub.Motor("hinge", effort=NAN),
    "coupling": lambda: ub.JointCoupling(["hinge"], (NAN,)),
    "dt": lambda: hinged(dt=NAN),
    "infinite dt": lambda: hinged(dt=INF),
    "duration": lambda: hinged().run(NAN),
    "control effort": in_callback(lambda c: c.set_effort("hinge", NAN)),
    "control wrench": in_callback(lambda c: c.set_wrench("a", (NAN, 0, 0, 0, 0, 0))),
    "control effort in the array": in_callback(lambda c: c.effort.__setitem__(0, NAN)),
    "control wrench in the array": in_callback(lambda c: c.wrench.__setitem__((1, 0), INF)),
    "effort before a run": lambda: _effort_before_a_run(NAN),
    "start state q": lambda: hinged(state=_state(q=NAN)),
    "start state v": lambda: hinged(state=_state(v=INF)),
    "start state t": lambda: hinged(state=_state(t=NAN)),
}

SHAPES = {
    "gravity": (lambda: ub.Builder(gravity=(0, 1)), "3 numbers"),
    "position": (lambda: ub.Pose(p=(0, 0)), "3 numbers"),
    "quaternion": (lambda: ub.Pose(wxyz=(1, 0, 0)), "4 numbers"),
    "matrix": (lambda: ub.Pose.from_matrix(np.eye(3)), "4×4"),
    "inertia": (add_body(inertia=np.eye(2)), "3×3"),
    "inertia of words": (add_body(inertia=("a", "b", "c")), "3×3"),
    "centre of mass": (add_body(com=(0, 0)), "3 numbers"),
    "twist": (add_body(V_WB=(0, 0, 1)), "6 numbers"),
    "q": (add_joint(q=(1, 2)), "1 numbers"),
    "v": (add_joint(joint=ub.Universal(), v=1.0), "2 numbers"),
    "q of a ball": (add_joint(joint=ub.Ball(), q=(1, 0, 0)), "4 numbers"),
    "stiffness": (add_joint(joint=ub.Universal(), stiffness=(1, 2, 3)), "2"),
    "rest": (lambda: _ball_with_rest((1, 0, 0)), "4"),
    "mass": (add_body(mass="heavy"), "number"),
    "shape": (lambda: world().body("new", shape="box"), "shape"),
    "pose": (add_body(X_WB=(0, 0, 1)), "Pose"),
    "joint": (add_joint(joint="revolute"), "joint"),
    "element": (lambda: world().add("spring"), "force"),
    "model": (lambda: ub.Simulation(3.0), "Model"),
    "dt": (lambda: hinged(dt="small"), "number"),
    "control wrench": (in_callback(lambda c: c.set_wrench("a", (1, 2, 3))), "6 numbers"),
    "control effort": (in_callback(lambda c: c.set_effort("hinge", (1, 2))), "hinge"),
    "start state q": (lambda: hinged(state=ub.State(0.0, np.zeros(3), np.zeros(7))), "q"),
    "start state v": (lambda: hinged(state=ub.State(0.0, _state().q, np.zeros(2))), "v"),
    "state of another world": (lambda: hinged(state=ub.State(0.0, _state().q, _state().v, "spherical")), "spherical"),
}


def _element_twice():
    b = world()
    for _ in range(2):
        b.add(ub.Motor("hinge", effort=1.0), name="pull")


def _ball_with_rest(rest):
    b = world()
    b.joint("new", ub.Ball(), "a", "b", stiffness=1.0, rest=rest)
    b.build()


def _named_like_a_free_body():
    b = world()
    b.joint("b", ub.Weld(), b.world, "a")
    b.build()


def _effort_before_a_run(value):
    sim = hinged()
    sim.control.effort[0] = value
    sim.run(0.01)


def _state(t=0.0, q=0.0, v=0.0):
    """A state of `world()` in joint coordinates with one entry changed."""
    state = hinged().state
    q_all, v_all = np.array(state.q), np.array(state.v)
    q_all[0], v_all[0] = q, v
    return ub.State(t, q_all, v_all)


def refuses(make):
    with pytest.raises(ub.UnibodyError) as error:
        made = make()
        if isinstance(made, str | ub.model.JointHandle | ub.model.Body):
            pytest.fail("accepted")
    message = str(error.value)
    assert "\n" not in message and len(message) < 400
    return message


@pytest.mark.parametrize("case", NAMES)
def test_names_are_checked(case):
    make, says = NAMES[case]
    message = refuses(make)
    assert all(word in message for word in says), message


@pytest.mark.parametrize("case", PHYSICS)
def test_what_cannot_be_is_refused(case):
    make, says = PHYSICS[case]
    message = refuses(make)
    assert all(word in message for word in says), message


@pytest.mark.parametrize("case", NOT_FINITE)
def test_numbers_must_be_finite(case):
    message = refuses(NOT_FINITE[case])
    assert "finite" in message or "nan" in message or "inf" in message, message


@pytest.mark.parametrize("case", SHAPES)
def test_shapes_and_kinds_are_checked(case):
    make, says = SHAPES[case]
    message = refuses(make)
    assert says in message, message


def flat(**given):
    """A planar world with a hinged body, changed by `given`, and built."""
    usual = {"gravity": (0, 0, -9.81), "com": (0, 0, 0), "X_PF": ub.Pose(), "joint": ub.Revolute(axis=(0, 1, 0))}
    options = usual | {"more": lambda b, a: None} | given
    b = ub.Builder(gravity=options["gravity"], planar=True)
    a = b.body("a", mass=1.0, com=options["com"], inertia=options.get("inertia", (1.0, 1.0, 1.0)))
    b.joint("hinge", options["joint"], b.world, a, X_PF=options["X_PF"])
    options["more"](b, a)
    return b.build()


PLANE = {
    "gravity": ({"gravity": (0, 1.0, -9.81)}, ("gravity", "1.0", "plane")),
    "centre of mass": ({"com": (0, 0.1, 0)}, ("body 'a'", "0.1", "plane")),
    "joint frame": ({"X_PF": ub.Pose(p=(0, 0.1, 0))}, ("body 'a'", "0.1", "plane")),
    "hinge": ({"joint": ub.Revolute(axis=(1, 0, 0))}, ("joint 'hinge'", "Revolute", "plane")),
    "slide": ({"joint": ub.Prismatic(axis=(0, 1, 0))}, ("joint 'hinge'", "Prismatic", "plane")),
    "ball": ({"joint": ub.Ball()}, ("joint 'hinge'", "Ball", "plane")),
    "free body": ({"more": lambda b, a: b.body("f", X_WB=ub.Pose(p=(0, 0.2, 0)), **UNIT)}, ("body 'f'", "plane")),
    "speed": ({"more": lambda b, a: b.body("f", V_WB=(0, 0, 0, 0, 1.0, 0), **UNIT)}, ("body 'f'", "plane")),
    "spin": ({"more": lambda b, a: b.body("f", V_WB=(1.0, 0, 0, 0, 0, 0), **UNIT)}, ("body 'f'", "plane")),
    "inertia": ({"inertia": [[1, 0.1, 0], [0.1, 1, 0], [0, 0, 1]]}, ("body 'a'", "principal axis")),
    "point of a spring": (
        {"more": lambda b, a: b.add(ub.SpringDamper(a.at(0, 0.1, 1), b.world.at(1, 0, 0), 1.0), name="pull")},
        ("'pull'", "body 'a'", "0.1", "plane"),
    ),
    "point of a cable": (
        {"more": lambda b, a: b.add(ub.Cable([a.at(1, 0, 0), b.world.at(0, 3, 0)], 1.0), name="rope")},
        ("'rope'", "plane"),
    ),
    "fixed point": ({"more": lambda b, a: b.add(ub.FixedPoint(a.at(1, 0, 0), (1, 0.5, 0)), name="nail")}, ("'nail'", "plane")),
    "line": (
        {"more": lambda b, a: b.add(ub.PointOnLine(a.at(1, 0, 0), b.world.at(1, 0, 0), (0, 1, 1)), name="rail")},
        ("'rail'", "plane"),
    ),
    "force": ({"more": lambda b, a: b.add(ub.AppliedWrench(a, force=(0, 1, 0)), name="push")}, ("'push'", "force", "plane")),
    "torque": ({"more": lambda b, a: b.add(ub.AppliedWrench(a, torque=(1, 0, 0)), name="push")}, ("'push'", "torque", "plane")),
    "force of time": ({"more": lambda b, a: b.add(ub.AppliedWrench(a, force=lambda t: (0, 1 + t, 0)), name="push")}, ("'push'", "force")),
    "lever": ({"more": lambda b, a: b.add(ub.AppliedWrench(a, force=(1, 0, 0), at=(0, 0.3, 0)), name="push")}, ("'push'", "plane")),
    "kinematic base": (
        {"more": lambda b, a: b.body("base", kind="kinematic", V_WB=(0, 0, 0, 0, 1, 0))},
        ("body 'base'", "plane"),
    ),
}


@pytest.mark.parametrize("case", PLANE)
def test_planar_world_refuses_what_leaves_it(case):
    given, says = PLANE[case]
    message = refuses(lambda: flat(**given))
    assert all(word in message for word in says), message


def test_planar_world_without_any_of_it_is_accepted():
    assert flat().planar


def test_control_wrench_out_of_the_plane_is_refused():
    sim = ub.Simulation(flat())
    message = refuses(lambda: sim.run(0.01, control=lambda t, state, control: control.set_wrench("a", (1, 0, 0, 0, 0, 0))))
    assert "'a'" in message and "plane" in message


def test_every_fault_of_a_model_can_be_mended_after_its_message():
    """A refused call leaves the builder as it was."""
    b = world()
    for make in (lambda: b.body("new", mass=-1.0, inertia=(1, 1, 1)), lambda: b.joint("new", ub.Ball(), "a", "b", q=(0, 0, 0, 0))):
        refuses(make)
    new = b.body("new", **UNIT)
    b.joint("new-joint", ub.Ball(), "a", new)
    assert b.build().n_bodies == 4


def touching(*contacts):
    """A builder with two balls, a frame without a shape, and these Contacts."""
    b = ub.Builder()
    b.body("one", shape=ub.Sphere(0.1))
    b.body("two", shape=ub.Sphere(0.1), X_WB=ub.Pose(p=(1, 0, 0)))
    b.body("frame", X_WB=ub.Pose(p=(2, 0, 0)), **UNIT)
    for k, contact in enumerate(contacts):
        b.add(contact, name=f"contact{k}")
    return b


@pytest.mark.parametrize(
    ("contacts", "said"),
    [
        ((ub.Contact(), ub.Contact(friction=0.5)), "'contact0' and 'contact1': two Contacts for all bodies; keep one"),
        ((ub.Contact(between=("one", "two")), ub.Contact(friction=0.5, between=("two", "one"))), "'contact0' and 'contact1': both are"),
        ((ub.Contact(between=("one", "frame")),), "'contact0': body 'frame' has no solid shape"),
    ],
)
def test_contacts_of_which_one_would_be_ignored_are_refused(contacts, said):
    with pytest.raises(ub.ModelError) as refused:
        touching(*contacts).build()
    assert said in str(refused.value) and "\n" not in str(refused.value) and ";" in str(refused.value)


def test_contacts_that_do_not_speak_of_the_same_are_taken():
    """For all and for one pair; among a group, which names each pair from both sides; a frame without a shape among bodies with one."""
    touching(ub.Contact(), ub.Contact(friction=0.5, between=("one", "two"))).build()
    touching(ub.Contact(between=(["one", "two", "frame"], ["one", "two", "frame"]))).build()
    touching(ub.Contact(), ub.Contact(between=("one", "frame"), on=False)).build()


def test_what_is_said_of_two_bodies_holds_before_what_is_said_of_lists():
    """In either order: friction, and whether they touch at all."""
    from unibody.collision.filters import contact_filter, contact_rules
    from unibody.contact.pair_laws import PairLaws

    lists = ub.Contact(friction=0.7, between=(["one", "two"], ["one", "two", "frame"]))
    pair = ub.Contact(friction=0.2, between=("two", "one"))
    off = ub.Contact(between=("two", "one"), on=False)
    for contacts in ((lists, pair), (pair, lists)):
        model = touching(*contacts).build()
        assert PairLaws(model).of(np.array([[1, 2]])).friction[0, 0] == 0.2
    for contacts in ((lists, off), (off, lists)):
        model = touching(*contacts).build()
        assert (1, 2) in contact_filter(model, contact_rules(model))[1]


@pytest.mark.parametrize("option", ["iterations", "directions"])
def test_counts_of_complementarity_are_whole(option):
    with pytest.raises(ub.ModelError, match=f"Complementarity {option}: 4.5 is not whole; give a whole number"):
        ub.solvers.Complementarity(**{option: 4.5})


def test_motion_that_blows_up_fails_before_it_overflows():
    """A spring far too stiff for the step: speeds would grow by the same factor every step; the first that nothing explains is the end."""
    b = ub.Builder(gravity=(0, 0, 0))
    ball = b.body("ball", **UNIT, X_WB=ub.Pose(p=(1.5, 0, 0)))
    b.add(ub.SpringDamper(ball.at(), b.world.at(), stiffness=1e9, rest_length=1.0), name="spring")
    sim = ub.Simulation(b.build(), "articulated", dt=0.1)
    with pytest.raises(ub.StepFailed, match="failed near"):
        sim.run(100.0)
    assert np.abs(sim.state.v).max() < 1e100
    with pytest.raises(ub.StepFailed, match="not finite"):
        sim.bound.step(ub.State(0.0, [1e200, *sim.state.q[1:]], sim.state.v), sim.bound.start()[1], sim.control.flat, 0.1)


def test_functions_that_raise_at_the_start_are_named_by_their_element():
    """A model asks every function at t = 0 (and prescribed vertices for their speed there)."""

    def broken(t):
        raise ValueError("no signal")

    def breaks_soon(t):
        if t > 0.0:
            raise ValueError("no signal")
        return np.zeros((1, 3))

    cube = ub.TetMesh.box((0.2, 0.2, 0.2), cells=(1, 1, 1))
    for name in ("motor", "drive", "point", "vertex", "speed"):
        b = ub.Builder()
        arm = b.body("arm", **UNIT)
        b.joint("hinge", ub.Revolute((0, 0, 1)), b.world, arm)
        soft = b.soft("soft", cube, ub.NeoHookean(young=1e5, poisson=0.3), density=1.0)
        with pytest.raises(ub.ModelError, match=rf"'{name}'.* at t = 0: ValueError: no signal; mend its function") as refused:
            if name == "motor":
                b.add(ub.Motor("hinge", effort=broken), name=name)
            elif name == "drive":
                b.add(ub.PrescribedJoint("hinge", broken), name=name)
            elif name == "point":
                b.add(ub.PrescribedPoint(arm.at(), broken), name=name)
            else:
                b.prescribe(soft.vertices[[0]], broken if name == "vertex" else breaks_soon, name=name)
            b.build()
        assert isinstance(refused.value.__cause__, ValueError)
