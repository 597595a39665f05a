"""Whatever is given to a constructor or to a verb of the Builder is taken, or refused in one line by an error of ours, and what refuses
changes nothing: a function of this file asks for every argument of every public class, with values that no argument expects."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody import files
from unibody.errors import UnibodyError
from unibody.model.text import model_to_text

ODD = [
    None, True, -1, 2**70, 1e300, np.nan, -np.inf, 1j, "", "a\nb", "\udcff", b"ab", (), {}, [[1, 2], [3]], (1, 2, 3), np.full(3, np.nan),
    np.zeros((0, 3)), np.eye(3), np.array([1, "a"], object), object(), lambda *a: 1, ub.Pose(), iter([1, 2]), ub.Sphere, "9" * 5000,
]  # fmt: skip
USUAL = {
    "axis": (0, 0, 1), "joint": "j", "body": "b", "g": (0, 0, -9.81), "shape": ub.Sphere(0.1), "points": [(0, 0, 0), (1, 0, 0)],
    "vertices": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], "faces": [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)],
    "heights": np.zeros((3, 3)), "sides": (1, 1, 1), "semi_axes": (1, 1, 1),
}  # fmt: skip
"""Good values of arguments that are needed, by their names; 1 for others."""
NOT_ASKED = ("Builder", "Coupling", "FunctionCoupling", "Model", "Recording", "Simulation")
"""Classes that take many kinds of things, or any number of arguments."""


def arguments(function: Any) -> list[inspect.Parameter]:
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p for p in inspect.signature(function).parameters.values() if p.kind not in kinds and p.name not in ("self", "cls")]


def classes() -> Iterator[tuple[str, type]]:
    for home in (ub, ub.solvers):
        for name in sorted(dir(home)):
            found = getattr(home, name)
            if inspect.isclass(found) and found.__module__.startswith("unibody") and not issubclass(found, Exception):
                yield name, found


CLASSES = {name: found for name, found in classes() if name not in NOT_ASKED}


def refused_well(what: str, call: Callable[[], Any]) -> bool:
    """Whether it was refused, which has to be in one line that can be printed."""
    try:
        call()
    except UnibodyError as error:
        said = str(error)
        assert said.strip() and "\n" not in said and said.isprintable() and len(said) < 2000, (what, said[:200])
        return True
    except Exception as error:
        pytest.fail(f"{what}: {type(error).__name__}: {error}"[:400])
    return False


@pytest.mark.parametrize("name", CLASSES)
def test_constructors_take_or_refuse_odd_values(name: str) -> None:
    asked = arguments(CLASSES[name])
    base = {p.name: USUAL.get(p.name, 1.0) for p in asked if p.default is p.empty}
    for p in asked:
        for value in ODD:
            refused_well(f"{name}({p.name}={value!r})"[:200], lambda p=p, value=value: CLASSES[name](**{**base, p.name: value}))


def arm() -> ub.Builder:
    b = ub.Builder()
    b.body("upper", shape=ub.Box((0.1, 0.1, 0.4)), density=500.0)
    b.body("lower", shape=ub.Sphere(0.1), density=500.0, X_WB=ub.Pose((0, 0, 2)))
    b.body("floor", shape=ub.Plane(), kind="static", X_WB=ub.Pose((0, 0, -3)))
    b.joint("shoulder", ub.Revolute((0, 1, 0)), b.world, "upper", limits=(-1, 1), damping=0.1)
    b.joint("elbow", ub.Composite(ub.Revolute((1, 0, 0)), ub.Revolute((0, 1, 0))), "upper", "lower", X_PF=ub.Pose((0, 0, -0.5)))
    b.add(ub.Contact(friction=0.5), name="touch")
    return b


VERBS: dict[str, dict[str, Any]] = {
    "body": {"name": "new"}, "joint": {"name": "new", "joint": ub.Revolute((0, 0, 1)), "parent": "world", "child": "lower"},
    "add": {"element": ub.Gravity()}, "change_body": {"name": "upper"}, "change_joint": {"name": "shoulder"}, "start": {}, "rename": {},
    "motors": {}, "place": {"body": "upper", "X_WB": ub.Pose()}, "include": {"other": "pendulum", "prefix": "p_"},
    "replace": {"name": "touch", "element": ub.Contact()}, "remove": {"name": "upper"}, "remove_body": {"name": "upper"},
    "remove_joint": {"name": "shoulder"}, "remove_element": {"name": "touch"}, "load": {"source": "pendulum"},
}  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_of_the_builder_take_or_refuse_odd_values_and_change_nothing_then(verb: str) -> None:
    before = model_to_text(arm().build())
    for p in arguments(getattr(ub.Builder, verb)):
        for value in ODD:
            b, given = arm(), {**VERBS[verb], p.name: value}
            what = f"{verb}({p.name}={value!r})"[:200]
            if refused_well(what, lambda b=b, given=given: getattr(b, verb)(**given)):
                assert model_to_text(b.build()) == before, what
            else:
                refused_well(what, b.build)


MAPPINGS = [("start", "q"), ("start", "v"), ("rename", "bodies"), ("rename", "joints"), ("rename", "elements")]


@pytest.mark.parametrize("verb, argument", MAPPINGS)
def test_mappings_by_names_are_taken_or_refused(verb: str, argument: str) -> None:
    before = model_to_text(arm().build())
    for key in ("upper", "shoulder", "elbow", "touch", "world", "nobody", 1, None, ("upper",)):
        for value in ODD:
            b, what = arm(), f"{verb}({argument}={{{key!r}: {value!r}}})"[:200]
            if refused_well(what, lambda b=b, key=key, value=value: getattr(b, verb)(**{argument: {key: value}})):
                assert model_to_text(b.build()) == before, what


def test_a_joint_whose_limits_are_refused_is_not_left_behind() -> None:
    b = arm()
    for limits in ((1.0,), (1.0, -1.0), "wide"):
        with pytest.raises(ub.ModelError, match="imit"):
            b.joint("new", ub.Revolute((0, 0, 1)), b.world, "lower", limits=limits)
        assert "new" not in b.joints
    b.add(ub.JointLimit("shoulder", upper=0.5), name="new.limit")
    with pytest.raises(ub.ModelError, match=r"'new\.limit' exists already"):
        b.joint("new", ub.Revolute((0, 0, 1)), b.world, "lower", limits=(-1.0, 1.0))
    assert "new" not in b.joints and b.build().body("lower")


def test_verbs_of_simulations_and_recordings_take_or_refuse_odd_values(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    sim = ub.Simulation("bouncing-ball", dt=1e-3)
    rec = sim.run(0.01)
    sim.save("saved.npz")
    for value in ODD:
        told = repr(value)[:60]
        for argument in ("model", "solver", "dt", "state", "control", "assemble"):
            given = {"model": sim.model, "solver": "complementarity", argument: value}
            refused_well(f"Simulation({argument}={told})", lambda given=given: ub.Simulation(**given))
        for argument in ("duration", "every", "progress"):
            if not (argument == "duration" and value is True):
                given = {"duration": 0.002, argument: value}
                refused_well(f"run({argument}={told})", lambda given=given: ub.Simulation(sim.model, "complementarity", 1e-3).run(**given))
        for name, call in {
            "save": sim.save if not isinstance(value, str) else lambda x: None, "load": ub.Simulation.load, "ub.load": ub.load,
            "make": ub.scenes.make, "observe": rec.observe, "some": rec.some, "pose": rec.pose, "joint": rec.joint,
            "point": lambda x: rec.point("ball", x), "reset": ub.Simulation(sim.model, "complementarity", 1e-3).reset,
            "urdf": files.load_urdf, "json": files.load_json, "mjcf": files.load_mjcf, "python": files.load_python,
        }.items():  # fmt: skip
            refused_well(f"{name}({told})", lambda call=call, value=value: call(value))
    assert rec.some([0, -1]).t.tolist() == [rec.t[0], rec.t[-1]]
    np.testing.assert_array_equal(rec.observe(np.int64(-1)).poses, rec.observe(len(rec) - 1).poses)
