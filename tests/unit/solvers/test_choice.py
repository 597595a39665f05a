"""solver="auto": the choice is the stated rule's, its reason is told, and a model that nobody can run is refused with every reason once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import unibody as ub
from unibody.solvers import REGISTRY, choose
from unibody.solvers.stiffness import stiffness


def hung(stiff: float = 0.0, damping: float = 0.0, **more) -> ub.Model:
    """A bob of 1 kg on a spring."""
    b = ub.Builder()
    bob = b.body("bob", shape=ub.Sphere(0.1), mass=1.0)
    b.joint("slide", ub.Prismatic(axis=(0, 0, 1)), b.world, bob, stiffness=stiff, damping=damping, **more)
    return b.build()


def on_floor(spring: float = 0.0, height: float = 0.2, **contact) -> ub.Model:
    """A ball of 1 kg over a floor, on a spring if asked for."""
    b = ub.Builder()
    b.body("floor", shape=ub.Plane(), kind="static")
    ball = b.body("ball", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose(p=(0, 0, height)))
    b.add(ub.Contact(**contact), name="touch")
    if spring:
        b.add(ub.SpringDamper(b.world.at(0, 0, 1.0), ball.at(), stiffness=spring), name="spring")
    return b.build()


@pytest.mark.parametrize(("k", "d", "dt"), [(1e4, 0.0, 1e-3), (1e8, 0.0, 1e-3), (1e4, 0.0, 5e-2), (0.0, 10.0, 1e-3), (0.0, 1e4, 1e-3)])
def test_stiff_is_what_the_closed_form_of_an_oscillator_says(k: float, d: float, dt: float) -> None:
    """λ = 2 h d / m + h² k / m; above 1 it is stiff, and at the largest dt it is 4."""
    load = 2.0 * dt * d + dt * dt * k
    found = stiffness(hung(k, d), dt)
    assert found is not None and found.load == pytest.approx(load, rel=1e-9)
    h = found.largest_dt
    assert 2.0 * h * d + h * h * k == pytest.approx(4.0, rel=1e-9)
    choice = choose(hung(k, d), dt)
    assert choice.solver == ("redmax" if load > 1.0 else "articulated")
    assert ("stiff" in choice.reason) == (load > 1.0)


def test_the_estimate_is_the_largest_stable_step_of_a_chain() -> None:
    """`check` finds the limit from whole steps; a chain without loops is held by nothing that the estimate leaves out."""
    scene = ub.scenes.make("stiff-chain")
    found = stiffness(scene.model, scene.dt)
    assert found is not None  # weight and inertia, which the estimate leaves out too, are slow
    assert found.largest_dt == pytest.approx(ub.check(scene.model).safe_step("articulated", "semi-implicit").dt, rel=1e-2)


def test_a_chain_is_run_by_its_choice_where_the_other_fails() -> None:
    scene = ub.scenes.make("stiff-chain", stiffness=1e8)
    with pytest.raises(ub.StepFailed, match="stiff for solver 'articulated', stable up to about dt = .*try solver='redmax'"):
        ub.Simulation(scene.model, "articulated", dt=2e-3).run(0.5, progress=False)
    sim = ub.Simulation(scene.model, dt=2e-3)
    assert sim.solver.name == "redmax" and np.isfinite(sim.run(0.1, progress=False).q).all()


def test_contact_takes_complementarity_and_barriers_what_only_they_have() -> None:
    assert choose(on_floor()).solver == choose(on_floor(restitution=0.5)).solver == "complementarity"
    assert choose(on_floor(damping=0.1)).solver == "barrier"
    assert "'touch'" in choose(on_floor()).reason


def test_limits_without_contact_take_redmax() -> None:
    choice = choose(hung(limits=(-1.0, 1.0)))
    assert choice.solver == "redmax" and "JointLimit is unilateral" in choice.reason


def test_contact_with_unstable_springs_takes_a_barrier_or_tells_where_none_can() -> None:
    """λ = h² k / m = 10⁴; a barrier takes neither restitution nor what begins inside the floor."""
    assert choose(on_floor(1e8), 1e-2).solver == "barrier" and choose(on_floor(1e3), 1e-2).solver == "complementarity"
    for model in (on_floor(1e8, restitution=0.5), on_floor(1e8, height=0.05)):
        choice = choose(model, 1e-2)
        assert choice.solver == "complementarity" and choice.warning and "smaller dt" in choice.reason
        with pytest.warns(ub.UnibodyWarning, match="'spring' is stiff"):
            ub.Simulation(model, dt=1e-2)


def test_dry_friction_is_no_stiff_damper_for_a_solver_that_holds_it() -> None:
    def joint(floor: bool) -> ub.Model:
        b = ub.Builder()
        bob = b.body("bob", shape=ub.Sphere(0.1), mass=1.0)
        b.joint("slide", ub.Prismatic(axis=(0, 0, 1)), b.world, bob)
        b.add(ub.DryFriction("slide", 100.0))
        if floor:
            b.body("floor", shape=ub.Plane(), kind="static", X_WB=ub.Pose(p=(0, 0, -1)))
            b.add(ub.Contact())
        return b.build()

    assert choose(joint(False)).solver == "redmax" and choose(joint(True)).solver == "complementarity"


class Ghost:
    """An element that nobody knows."""


def test_a_model_that_no_solver_runs_is_refused_with_every_reason_once() -> None:
    model = replace(hung(), forces=(("magnet", Ghost()), ("ghost", Ghost())))
    with pytest.raises(ub.Unsupported, match="no solver can run this model") as refused:
        ub.Simulation(model)
    said = str(refused.value)
    reasons = {REGISTRY[name]().handles(Ghost(), model) for name in REGISTRY}
    assert all(said.count(str(reason)) == 1 for reason in reasons) and all(name in said for name in REGISTRY)
    assert "'magnet', 'ghost'" in said and "articulated, redmax" in said


def test_a_refusal_names_the_solvers_that_can_and_auto() -> None:
    with pytest.raises(ub.Unsupported, match=r'solver="auto" takes one that can\. Solvers that can: .*complementarity'):
        ub.Simulation(on_floor(), "articulated")


def test_the_choice_is_told() -> None:
    sim = ub.Simulation(on_floor())
    assert sim.notes[0] == "solver 'complementarity' chosen: contact 'touch'" and "chosen: contact 'touch'" in repr(sim)
    named = ub.Simulation(hung(), "lagrange")
    assert named.notes == () and "chosen" not in repr(named)


@pytest.mark.parametrize("spec", ["articulated:rule=rk4", "auto:rule=rk4"])
def test_options_of_a_solver_by_name(spec: str) -> None:
    assert ub.Simulation(hung(), spec).solver.rule == "rk4"


def test_a_scene_that_is_made_for_a_solver_gets_it() -> None:
    sim = ub.Simulation("falling-box")
    assert sim.solver == ub.solvers.Barrier(rule="bdf2") and "made for it" in sim.notes[0]


# An independent statement of the rule, over our scenes and other people's robots.


def stated(model: ub.Model, dt: float) -> set[str]:
    """By words and by `check`, which looks at whole steps with all constraints; two answers where springs are near the limit, since the
    estimate asks for a margin and leaves constraints out."""
    constraints = [c for _, c in model.constraints]
    contacts = [c for c in constraints if isinstance(c, ub.Contact)]
    if model.deformables:  # winches that damp lose work to nothing that a potential knows
        return {"redmax" if any(getattr(f, "loses_while_paying", False) for _, f in model.forces) else "barrier"}
    if any(c.damping > 0.0 or c.pressure is not None for c in contacts):
        return {"barrier"}
    if any(isinstance(c, ub.JointLimit) and c.barred for c in constraints):
        return {"barrier"}
    one_sided = any(c.unilateral for c in constraints) or any(isinstance(f, ub.JointFriction) for _, f in model.forces)
    if one_sided and not contacts:
        return {"redmax"}
    usual, implicit = ("complementarity", "barrier") if contacts else ("articulated", "redmax")
    if not model.forces:
        return {usual}
    held = tuple((n, c) for n, c in model.constraints if not c.unilateral)
    smooth = tuple((n, f) for n, f in model.forces if not isinstance(f, ub.JointFriction))
    steps = ub.check(replace(model, constraints=held, forces=smooth)).steps
    limit = next(s.dt for s in steps if (s.solver, s.rule) == ("articulated", "semi-implicit"))
    return {usual} if not dt > 0.1 * limit else {usual, implicit} if dt < limit or contacts else {implicit}


@pytest.mark.parametrize("name", ub.scenes.names())
def test_the_choice_for_a_scene_is_the_rule_in_words(name: str) -> None:
    scene = ub.scenes.make(name)
    assert choose(scene.model, scene.dt).solver in stated(scene.model, scene.dt)


GYMNASIUM = ["ant", "half_cheetah", "hopper", "humanoid", "inverted_double_pendulum", "inverted_pendulum", "reacher", "swimmer", "walker2d"]
PYBULLET = ["kuka_iiwa/model.urdf", "cartpole.urdf", "pendulum5.urdf", "TwoJointRobot_wo_fixedJoints.urdf", "r2d2.urdf"]


@pytest.mark.peers
@pytest.mark.parametrize("name", [*(f"{n}.xml" for n in GYMNASIUM), *PYBULLET])
def test_the_choice_for_a_robot_is_the_rule_in_words(name: str) -> None:
    if name.endswith(".xml"):
        folder = Path(pytest.importorskip("gymnasium").__file__).parent / "envs" / "mujoco" / "assets"
    else:
        folder = Path(pytest.importorskip("pybullet_data").__file__).parent
    try:
        scene = ub.load(folder / name)
    except ub.ModelError as error:
        pytest.skip(f"not read: {error}")
    assert choose(scene.model, scene.dt).solver in stated(scene.model, scene.dt)
    with np.errstate(all="ignore"):
        sim = ub.Simulation(folder / name)
    assert sim.dt == scene.dt and any("chosen: " in note for note in sim.notes)
