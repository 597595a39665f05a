"""Names of the parts of a joint: wherever a joint is read or driven, a part's name means that part alone.

Expected: the same element on the whole joint with its degree of freedom, and the motion of three hinges with massless links between.
"""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.constraints import Constraint
from unibody.constraints.base import Rows
from unibody.element import SPRING_ENERGY, Kinematics, Packing
from unibody.forces import Force, Loads
from unibody.forces.base import Blocks

PARTS = ("x", "turn", "y")
WHOLE = "hip"


def leg(*elements: Any, parts: Any = PARTS, **options: Any) -> ub.Builder:
    """A shin on a thigh, whose hip slides along x, turns as a ball and slides along the turned y."""
    b = ub.Builder(**options)
    thigh, shin = b.body("thigh", shape=ub.Box((0.1, 0.1, 0.4)), mass=2.0), b.body("shin", shape=ub.Box((0.1, 0.1, 0.3)), mass=1.0)
    hip = ub.Composite(ub.Prismatic((1, 0, 0)), ub.Ball(), ub.Prismatic((0, 1, 0)))
    start = {"q": (0.1, 1.0, 0.1, 0.0, 0.2, -0.3), "v": (0.2, 0.1, 0.4, -0.3, 0.5)}
    b.joint(WHOLE, hip, b.world, thigh, X_BM=ub.Pose((0, 0, 0.2)), armature=(0.1, 0, 0, 0, 0.2), parts=parts, **start)
    b.joint("knee", ub.Revolute((0, 1, 0)), thigh, shin, X_PF=ub.Pose((0, 0, -0.2)), X_BM=ub.Pose((0, 0, 0.15)), q=0.4)
    for k, element in enumerate(elements):
        b.add(element, name=f"e{k}")
    return b


def run(b: ub.Builder, solver: str = "articulated", duration: float = 0.02, **options: Any) -> ub.Recording:
    return ub.Simulation(b.build(), solver, dt=1e-3, **options).run(duration)


def end(rec: ub.Recording) -> bytes:
    return b"".join(read(name)[-1].tobytes() for read in (rec.joint, rec.joint_velocity) for name in (WHOLE, "knee"))


# reading


def test_a_part_is_read_alone():
    rec = run(leg())
    q, v = rec.joint(WHOLE), rec.joint_velocity(WHOLE)
    for part, at_q, at_v in (("x", slice(0, 1), slice(0, 1)), ("turn", slice(1, 5), slice(1, 4)), ("y", slice(5, 6), slice(4, 5))):
        assert np.array_equal(rec.joint(part), q[:, at_q]) and np.array_equal(rec.joint_velocity(part), v[:, at_v])
        assert np.array_equal(rec.reaction(part), rec.reaction(WHOLE))
        assert np.array_equal(rec.constraint_wrench(part), rec.constraint_wrench(WHOLE))
    with pytest.raises(ub.ModelError, match="joint 'turm' is unknown; did you mean 'turn'?"):
        rec.joint("turm")


def test_the_model_shows_a_part_as_a_joint():
    model = leg().build()
    part = model.joint("y")
    assert (part.whole, part.q_start, part.v_start, part.nq, part.nv) == (WHOLE, 5, 4, 1, 1)
    assert part.armature.tolist() == [0.2] and isinstance(part.element, ub.Prismatic) and part.child == model.joint(WHOLE).child
    assert part not in model.joints and model.joint(WHOLE).parts == PARTS and model.nv == 6


def test_imported_joints_keep_their_own_names(tmp_path):
    assets = pytest.importorskip("gymnasium")
    mujoco = pytest.importorskip("mujoco")
    path = Path(assets.__file__).parent / "envs" / "mujoco" / "assets" / "humanoid.xml"
    model = ub.load(path).model
    theirs = mujoco.MjModel.from_xml_path(str(path))
    names = [theirs.joint(j).name for j in range(theirs.njnt)]
    assert "right_hip_y" in names
    for name in names:
        j = model.joint(name)
        assert (j.q_start, j.v_start) == (theirs.joint(name).qposadr[0], theirs.joint(name).dofadr[0])
    b = ub.Builder.load(path, limits=False)
    b.start({"right_hip_y": -0.3}, v={"left_hip_z": 0.7})
    rec = ub.Simulation(b.build(), dt=1e-3).run(0.003)
    starts = rec.joint("right_hip_y")[0, 0], rec.joint_velocity("left_hip_z")[0, 0]
    assert np.allclose(starts, (-0.3, 0.7), rtol=1e-14)  # what a scene that is shaken changes
    rec.save(tmp_path / "walk.npz")
    again = ub.Recording.load(tmp_path / "walk.npz")
    assert np.array_equal(again.joint("right_hip_y"), rec.joint("right_hip_y"))


def test_names_survive_files_recordings_and_copies(tmp_path):
    b = leg(ub.Motor("y", kp=3.0, target=0.2))
    b.save(tmp_path / "leg.json")
    model = b.build()
    rec = ub.Simulation(model, dt=1e-3).run(0.003)
    rec.save(tmp_path / "leg.npz")
    read = ub.load(tmp_path / "leg.json").model, ub.Recording.load(tmp_path / "leg.npz").model
    for twin in (*read, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert twin.joint("turn").whole == WHOLE and twin.description["elements"]["e0"].joint == "y"
        assert dict(twin.forces)["e0"].dof == 4
    assert '"parts": ["x", "turn", "y"]' in (tmp_path / "leg.json").read_text()


# driving


def test_control_drives_a_part():
    model = leg().build()
    control = ub.Control(model)
    control.set_effort("y", 3.0)
    control.set_effort("turn", (1.0, 2.0, 4.0))
    assert control.effort.tolist() == [0, 1, 2, 4, 3, 0]
    with pytest.raises(ub.ModelError, match="effort of joint 'y'"):
        control.set_effort("y", (1.0, 2.0))


def test_actions_of_an_environment_drive_a_part():
    pytest.importorskip("gymnasium")
    from unibody.gym.actuators import actuators_of

    b = leg()
    b.change_joint("y", effort_limit=7.0)
    found = actuators_of(b.build(), ["y", "turn"], 2.0)
    assert [(a.name, a.place, a.low, a.high) for a in found] == [("y", 4, -7, 7), *((f"turn.{k}", 1 + k, -2, 2) for k in range(3))]
    b.motors(stiffness=5.0, joints=["y"])
    b.change_joint("y", limits=(-0.5, 0.25))
    (motor,) = actuators_of(b.build(), None, 2.0)
    assert (motor.name, motor.low, motor.high) == ("y.motor", -0.5, 0.25)
    with pytest.raises(ub.ModelError, match="actuator 'z' is neither a motor nor a joint; give some of y.motor"):
        actuators_of(b.build(), ["z"], 1.0)


def wave(t: float) -> float:
    return 0.1 * np.sin(3.0 * t) - 0.3


PAIRS = [
    (ub.Motor("y", kp=30.0, kd=0.1, target=0.5, limit=4.0), ub.Motor(WHOLE, kp=30.0, kd=0.1, target=0.5, limit=4.0, dof=4)),
    (ub.Motor("turn", kd=0.3, dof=1), ub.Motor(WHOLE, kd=0.3, dof=2)),
    (ub.TorsionSpring("y", 5.0, 0.1, 0.3), ub.TorsionSpring(WHOLE, 5.0, 0.1, 0.3, dof=4)),
    (ub.TorsionSpring("x", (5.0,), 0.1), ub.TorsionSpring(WHOLE, (5.0, 0, 0, 0, 0), (0.1, 0, 0, 0, 0))),
    (ub.TorsionSpring("turn", (1.0, 2.0, 3.0), 0.1, (0.8, 0.6, 0, 0)),
     ub.TorsionSpring(WHOLE, (0, 1.0, 2.0, 3.0, 0), (0, 0.1, 0.1, 0.1, 0), (0, 0.8, 0.6, 0, 0, 0))),
    (ub.DryFriction("y", 0.4), ub.DryFriction(WHOLE, 0.4, dof=4)),
    (ub.DryFriction("turn", (0.1, 0.2, 0.3)), ub.DryFriction(WHOLE, (0, 0.1, 0.2, 0.3, 0))),
    (ub.PrescribedJoint("y", wave), ub.PrescribedJoint(WHOLE, wave, dof=4)),
    (ub.JointCoupling(["y", "knee"], (1.0, -2.0), -1.1), ub.JointCoupling([(WHOLE, 4), "knee"], (1.0, -2.0), -1.1)),
    (ub.Coupling(["knee"], ["y"], [[0.5]], 0.55), ub.Coupling(["knee"], [(WHOLE, 4)], [[0.5]], 0.55)),
    (ub.Coupling(["y"], ["x", "knee"], [[0.5, -1.0]], 0.05), ub.Coupling([(WHOLE, 4)], [(WHOLE, 0), "knee"], [[0.5, -1.0]], 0.05)),
]  # fmt: skip


@pytest.mark.parametrize(("part", "whole"), PAIRS, ids=lambda e: f"{type(e).__name__} {e.joints()[0]}")
def test_an_element_on_a_part_is_the_one_on_the_whole(part, whole):
    assert end(run(leg(part))) == end(run(leg(whole)))


LIMITS = [
    (ub.JointLimit("y", -0.31, 0.5), ub.JointLimit(WHOLE, -0.31, 0.5, dof=4)),
    (ub.JointLimit("turn", angle=0.42), ub.JointLimit(WHOLE, angle=0.42)),
    (ub.JointLimit("turn", upper=0.42), ub.JointLimit(WHOLE, angle=0.42)),
    (ub.JointLimit("turn", twist=(-0.5, 0.4)), ub.JointLimit(WHOLE, twist=(-0.5, 0.4))),
]


@pytest.mark.parametrize(("part", "whole"), LIMITS, ids=["coordinate", "cone", "cone by upper", "twist"])
def test_a_limit_on_a_part_is_the_one_on_the_whole(part, whole):
    first, second = (leg(e).build().constraints[0][1] for e in (part, whole))
    assert (first.rows, first.units, first.joint) == (second.rows, second.units, second.joint)
    assert end(run(leg(part), "complementarity")) == end(run(leg(whole), "complementarity"))


def test_one_rotation_among_two_is_bounded():
    b = ub.Builder()
    b.joint("both", ub.Composite(ub.Ball(), ub.Ball()), b.world, b.body("a", shape=ub.Sphere(0.1)), parts=("first", "second"))
    b.add(ub.JointLimit("second", angle=0.5, twist=(-0.1, 0.2)), name="cone")
    limit = b.build().constraints[0][1]
    assert limit.angle == (np.inf, 0.5) and limit.twist == ((-np.inf, np.inf), (-0.1, 0.2)) and limit.rows == 3


def test_elements_on_parts_that_cannot_be_are_refused_by_the_parts_name():
    for element, complaint in (
        (ub.Motor("y", kp=1.0, target=0.0, dof=1), "Motor on joint 'y': dof 1 of a joint with 1 degree of freedom"),
        (ub.Motor("turn", kp=1.0), "Motor on joint 'turn': kp = 1 needs a scalar coordinate, and Ball has none"),
        (ub.TorsionSpring("y", (1.0, 2.0)), "TorsionSpring on joint 'y': 2 values of stiffness for 1 degrees of freedom"),
        (ub.JointFriction("y", 0.3, width=0.1, height=0.1), "JointFriction on joint 'y': a part of 'hip' has no reaction of its own"),
        (ub.JointCoupling([("y", 1), "knee"], (1, 1)), "JointCoupling: joint 'y' has no dof 1; it has 1, counted from 0"),
        (ub.JointCoupling(["y", (WHOLE, 4)], (1, 1)), "joint 'hip' dof 4 is given more than once"),
        (ub.PrescribedJoint("turn", 0.0), "joint 'turn' of Ball has degrees of freedom without scalar coordinates"),
        (ub.Motor("z"), "'e0': joint 'z' is unknown"),
    ):
        with pytest.raises(ub.ModelError) as error:
            leg(element).build()
        assert complaint in str(error.value) and "\n" not in str(error.value)


@dataclass(frozen=True)
class Pull(Force):
    """A user's spring in one coordinate, which has never heard of parts."""

    joint: str
    k: float

    def joints(self) -> list[str]:
        return [self.joint]

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        (q,) = kinematics.joint_q(self.joint)
        loads.add_effort(self.joint, np.array([-self.k * q]))
        loads.ledger[SPRING_ENERGY] += 0.5 * self.k * q * q

    def energy(self, kinematics: Kinematics) -> float:
        return 0.5 * self.k * float(kinematics.joint_q(self.joint)[0]) ** 2

    def stiffness_blocks(self, kinematics: Kinematics) -> Blocks:
        return {(self.joint, self.joint): np.array([[-self.k]])}


@dataclass(frozen=True)
class Hold(Constraint):
    """A user's constraint q = c in one coordinate."""

    joint: str
    at: float

    rows = 1
    units = ("rad",)

    def joints(self) -> list[str]:
        return [self.joint]

    def dofs(self, packing: Packing) -> list[int]:
        return [packing.joint(self.joint).v_start]

    def evaluate(self, kinematics: Kinematics) -> Rows:
        return Rows(kinematics.joint_q(self.joint) - self.at, {}, {self.joint: np.ones((1, 1))}, np.zeros(1))


@pytest.mark.parametrize("solver", ["articulated", "lagrange", "redmax", "penalty", "barrier"])
def test_elements_of_somebodys_own_are_shown_the_part(solver):
    """Against those of the house. What one solver does with NumPy methods and with kernels agrees to round-off; `barrier` holds rows that
    it has no equation for by stiff penalties."""
    for own, house in ((Pull("y", 5.0), ub.TorsionSpring("y", 5.0)), (Hold("y", -0.3), ub.PrescribedJoint("y", -0.3))):
        first, second = (np.frombuffer(end(run(leg(e), solver))) for e in (own, house))
        assert np.allclose(first, second, atol=1e-4 if solver == "barrier" else 1e-11)
        assert not np.allclose(first, np.frombuffer(end(run(leg(), solver))), atol=1e-2)
    model = leg(Pull("y", 5.0), Hold("x", 0.1)).build()
    assert [e.joints() for _, e in (*model.forces, *model.constraints)] == [[WHOLE], [WHOLE]]
    twin = pickle.loads(pickle.dumps(model))
    assert isinstance(twin.forces[0][1], Pull) and twin.forces[0][1].joints() == [WHOLE]
    assert isinstance(copy.deepcopy(model).constraints[0][1], Hold)
    assert ub.Builder.load(model).elements["e0"] == Pull("y", 5.0)


# names


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        (("a", "b"), "2 names of parts, and Composite has 3 parts; give one for each, or none"),
        (("a", "b", "a"), "parts a, b, a have the same name"),
        (("a", "b", "hip"), "joint 'hip' exists already"),
        (("a", "b", ""), "joint name '' is not a non-empty string"),
        (("a", "b", 3), "joint name 3 is not a non-empty string"),
    ],
)
def test_names_of_parts_are_names_of_joints(parts, complaint):
    with pytest.raises(ub.ModelError) as error:
        leg(parts=parts)
    assert complaint in str(error.value) and "\n" not in str(error.value)


def test_a_name_is_taken_once_by_joints_parts_and_bodies_without_joints():
    b = leg()
    with pytest.raises(ub.ModelError, match="joint 'turn' exists already"):
        b.joint("turn", ub.Weld(), b.world, b.body("c", shape=ub.Sphere(0.1)))
    with pytest.raises(ub.ModelError, match="joint 'x' exists already"):
        b.joint("more", ub.Composite(ub.Prismatic((1, 0, 0)), ub.Ball()), b.world, "c", parts=("x", "z"))
    b.body("y", shape=ub.Sphere(0.1))
    with pytest.raises(ub.ModelError, match="joint 'y' has the name of body 'y', whose implicit joint needs it"):
        b.build()
    with pytest.raises(ub.ModelError, match="one part 'a' is the joint itself"):
        leg().change_joint("knee", parts=("a",))


def test_parts_are_renamed_and_included():
    b = leg(ub.Motor("y", kp=3.0, target=0.2))
    b.rename(joints={"y": "pitch"})
    assert b.joints[WHOLE].parts == ("x", "turn", "pitch") and b.elements["e0"].joint == "pitch"
    out = ub.Builder()
    out.include(b, prefix="left_")
    assert out.build().joint("left_pitch").whole == "left_hip" and out.elements["left_e0"].joint == "left_pitch"
    assert dict(out.build().forces)["left_e0"].dof == 4


def test_a_plot_shows_a_part():
    from unibody.view.series import panels

    rec = run(leg())
    (panel,) = panels(rec, "q:y")
    assert np.array_equal(panel.curves["y"], rec.joint(WHOLE)[:, 5])
