"""What every solver promises, for all of them and all their time rules, on scenes that use everything the house has.

A solver is asked only for scenes it says it handles; new solvers come under these tests by registering.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from custom_elements import Cam, Fuse, Gust, SlowCam, SlowTether, push, sway, swell

import unibody as ub
import zoo
from unibody.solvers import REGISTRY, Solver
from unibody.solvers.base import elements_of

ORDERS = {"semi-implicit": 1, "euler": 1, "rk4": 4, "dopri5": None, "linearly-implicit": 1, "implicit": 1, "bdf2": 2}
"""The order each rule declares; None: it chooses its steps."""


def all_choices() -> list[Solver]:
    """Every solver with every rule it knows."""
    out = []
    for cls in REGISTRY.values():
        rules = cls.choices("rule")
        out += [cls(rule=rule) for rule in rules] if rules else [cls()]
    return out


def label(solver: Solver) -> str:
    return f"{solver.name}:{getattr(solver, 'rule', 'default')}"


choices = pytest.mark.parametrize("solver", all_choices(), ids=label)


def pendulums() -> ub.Model:
    """A planar world with a spring."""
    b = ub.Builder(planar=True)
    parent, X_PF = b.world, ub.Pose()
    for k in range(2):
        rod = b.body(f"rod{k}", shape=ub.Box((0.1, 0.1, 1.0)), mass=1.0 + k)
        b.joint(f"hinge{k}", ub.Revolute((0, -1, 0)), parent=parent, child=rod, X_PF=X_PF, X_BM=ub.Pose((0, 0, 0.5)), q=1.0, v=0.5 - k)
        parent, X_PF = rod, ub.Pose((0, 0, -0.5))
    b.add(ub.SpringDamper(parent.at(0, 0, -0.5), b.world.at(1, 0, 0), stiffness=5.0, damping=0.2))
    return b.build()


def springs_and_motors() -> ub.Model:
    return zoo.random_tree(np.random.default_rng(11), 12)


def loops() -> ub.Model:
    return zoo.random_tree(np.random.default_rng(2), 8, joints=("revolute", "ball", "universal", "prismatic"), loops=1, motors=False)


def constraints() -> ub.Model:
    """Coupled joints and a distance, beside a tree."""
    b = ub.Builder()
    arms = []
    for k in range(4):
        arm = b.body(f"arm{k}", mass=1.0, inertia=(0.1, 0.1, 0.02))
        X_PF, X_BM = ub.Pose((0.6 * k, 0, 0)), ub.Pose((0, 0, 0.4))
        b.joint(f"joint{k}", ub.Revolute((0, 1, 0.1 * k)), parent=b.world, child=arm, X_PF=X_PF, X_BM=X_BM)
        arms.append(arm)
    b.add(ub.JointCoupling(("joint0", "joint1"), (1.0, 2.0)))
    b.add(ub.Distance(arms[2].at(0, 0, -0.4), arms[3].at(0, 0, -0.4)))
    b.add(ub.AppliedWrench(arms[0], torque=(0, 1.0, 0)))
    return b.build()


def functions_of_time() -> ub.Model:
    b = ub.Builder()
    base = b.body("platform", kind="kinematic", motion=sway)
    arm = b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.02))
    hand = b.body("hand", mass=0.5, inertia=(0.02, 0.02, 0.02))
    b.joint("shoulder", ub.Universal(), parent=base, child=arm, X_BM=ub.Pose((0, 0, 0.4)))
    b.joint("wrist", ub.Ball(), parent=arm, child=hand, X_PF=ub.Pose((0, 0, -0.4)), X_BM=ub.Pose((0, 0, 0.2)), damping=0.05)
    b.add(ub.Motor("shoulder", effort=swell, kp=5.0, kd=0.5, target=swell))
    b.add(ub.AppliedWrench(hand, force=push))
    return b.build()


def elements_of_a_script() -> ub.Model:
    b = ub.Builder()
    cam = b.body("cam", mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    other = b.body("other", mass=1.0, inertia=(0.1, 0.2, 0.1))
    b.joint("slow", SlowCam(0.3), parent=b.world, child=cam, v=2.0, X_PF=ub.Pose.about((1, 0, 0), 1.0))
    b.joint("fast", Cam(0.2), parent=cam, child=other, X_PF=ub.Pose((0.5, 0, 0)), X_BM=ub.Pose((0.3, 0, 0)), v=-1.0)
    b.add(SlowTether(other.at(0.1, 0, 0), (1.0, 0.0, 0.0), 8.0))
    b.add(Gust("cam", 2.0))
    return b.build()


SCENES: dict[str, Callable[[], ub.Model]] = {
    f.__name__: cache(f) for f in (pendulums, springs_and_motors, loops, constraints, functions_of_time, elements_of_a_script)
}
scenes = pytest.mark.parametrize("scene", SCENES)


def handled(solver: Solver, scene: str) -> ub.Model:
    model = SCENES[scene]()
    reasons = [r for _, e in elements_of(model) if (r := solver.handles(e, model)) is not None]
    if reasons:
        pytest.skip(f"{solver.name} says: {reasons[0]}")
    return model


def same_bits(a: np.ndarray, b: np.ndarray) -> None:
    assert a.shape == b.shape and a.tobytes() == b.tobytes()


def locked(array: np.ndarray) -> np.ndarray:
    out = np.array(array)
    out.flags.writeable = False
    return out


@choices
@scenes
def test_a_step_leaves_its_inputs_alone(solver: Solver, scene: str) -> None:
    model = handled(solver, scene)
    bound = solver.bind(model)
    state, memory = bound.start()
    before = [state.q.copy(), state.v.copy(), memory.copy()]
    control = locked(model.neutral_control())
    step = bound.step(state, locked(memory), control, 1e-3)
    bound.observe(state, memory, control)
    for kept, now in zip(before, (state.q, state.v, memory), strict=True):
        same_bits(kept, now)
    assert step.state.t == 1e-3 and not np.array_equal(step.state.v, state.v)
    assert not np.shares_memory(step.state.q, state.q) and not np.shares_memory(step.memory, memory)


@choices
@scenes
def test_a_step_depends_on_its_inputs_only(solver: Solver, scene: str) -> None:
    """Same input, same bits: whatever the work space holds from before, and in another binding."""
    model = handled(solver, scene)
    bound = solver.bind(model)
    control = model.neutral_control()
    start = bound.start()
    first = bound.step(*start, control, 1e-3)
    later = bound.step(first.state, first.memory, control, 1e-3)
    for _ in range(5):
        later = bound.step(later.state, later.memory, control, 1e-3)
    bound.observe(later.state, later.memory, control)
    again = bound.step(*start, control, 1e-3)
    elsewhere = solver.bind(model).step(*start, control, 1e-3)
    for other in (again, elsewhere):
        same_bits(first.state.q, other.state.q)
        same_bits(first.state.v, other.state.v)
        same_bits(first.memory, other.memory)


@choices
@scenes
def test_a_rollout_is_its_steps_bit_for_bit(solver: Solver, scene: str) -> None:
    model = handled(solver, scene)
    bound = solver.bind(model)
    if ORDERS[getattr(solver, "rule", "semi-implicit")] is None:
        pytest.skip(f"{label(solver)} chooses its own steps: nothing to roll")
    control, dt, steps = model.neutral_control(), 2e-3, 30
    state, memory = bound.start()
    after, kept, rows, done = bound.rollout(state, memory, control, dt, steps, every=10)
    assert done == steps and len(rows) == 3
    for k in range(steps):
        state, memory, _ = (step := bound.step(state, memory, control, dt)).state, step.memory, step.report
        if (k + 1) % 10 == 0:
            row_state, row_memory = bound.split_record(rows[k // 10])
            assert row_state.t == state.t
            for a, b in ((row_state.q, state.q), (row_state.v, state.v), (row_memory, memory)):
                same_bits(a, b)
    assert after.t == state.t
    for a, b in ((after.q, state.q), (after.v, state.v), (kept, memory)):
        same_bits(a, b)


@choices
@scenes
def test_run_is_its_steps_bit_for_bit(solver: Solver, scene: str) -> None:
    """`Simulation.run`, with and without a callback, and `Simulation.step`."""
    model = handled(solver, scene)
    run, called, stepped = (ub.Simulation(model, solver, dt=2e-3) for _ in range(3))
    recording = run.run(0.05, every=5)
    called.run(0.05, control=lambda t, state, control: None)
    for _ in range(25):
        stepped.step()
    assert len(recording) == 6
    for sim in (called, stepped):
        assert run.state.t == sim.state.t
        same_bits(run.state.q, sim.state.q)
        same_bits(run.state.v, sim.state.v)
        same_bits(recording.q[-1], sim.state.q)


@choices
@scenes
def test_a_saved_simulation_goes_on_bit_for_bit(solver: Solver, scene: str, tmp_path) -> None:
    model = handled(solver, scene)
    whole, half = (ub.Simulation(model, solver, dt=2e-3) for _ in range(2))
    for sim in (whole, half):
        sim.control.effort[:] = 0.01
        sim.run(0.03)
    loaded = ub.Simulation.load(half.save(tmp_path / "half.npz"))
    assert loaded.solver == solver and loaded.dt == half.dt
    for a, b in zip(loaded.model.bodies, model.bodies, strict=True):
        assert a.name == b.name and a.mass == b.mass
    ends = [sim.run(0.03, every=15) for sim in (whole, loaded)]
    for quantity in ("t", "q", "v"):
        same_bits(getattr(ends[0], quantity), getattr(ends[1], quantity))
    same_bits(ends[0].energy.total, ends[1].energy.total)


def smooth() -> ub.Model:
    """Springs, dampers and balls, nothing that switches: no cable that may go slack, no limit, moderate speeds."""
    rng = np.random.default_rng(5)
    b = ub.Builder()
    kinds = (ub.Ball(), ub.Revolute((1, 0.2, 0)), ub.Universal(), ub.Ball(), ub.Prismatic((0, 0.3, 1)))
    for i, joint in enumerate(kinds):
        body = b.body(f"body{i}", mass=1.0 + 0.2 * i, com=(0.05, 0, 0.02), inertia=zoo.inertia(rng, 2.0))
        X_PF = ub.Pose() if i == 0 else ub.Pose((0.2, 0, -0.3), (1.0, 0.2, 0.1, 0.0))
        b.joint(
            f"joint{i}", joint, parent=b.world if i == 0 else f"body{i - 1}", child=body, X_PF=X_PF, X_BM=ub.Pose((0, 0, 0.3)),
            v=rng.uniform(-1, 1, joint.nv), stiffness=8.0, damping=0.3, armature=0.05,
        )  # fmt: skip
    b.add(ub.SpringDamper(body.at(0.1, 0, 0), b.world.at(1, 1, 0), stiffness=10.0, damping=0.4, rest_length=0.5))
    b.add(ub.Motor("joint1", kp=4.0, kd=0.3, target=np.cos))
    return b.build()


LENGTH = 0.4
PROBE = (0.3, -0.2, 0.1)


def places(recording: ub.Recording) -> np.ndarray:
    """Where a point of each body ends up, in any coordinates."""
    return np.array([recording.point(b.name, PROBE)[-1] for b in recording.model.bodies[1:]])


@cache
def exact_places() -> np.ndarray:
    """By SciPy's DOP853 on the accelerations, far below the errors measured here."""
    from scipy.integrate import solve_ivp

    model = smooth()
    bound = ub.solvers.Articulated().bind(model)
    control = model.neutral_control()

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        q, v = y[: model.nq].copy(), y[model.nq :].copy()
        bound.system.evaluate(t, q, v, control)
        rates = [j.element.rate(q[j.q_start : j.q_start + j.nq], v[j.v_start : j.v_start + j.nv]) for j in model.joints]
        return np.concatenate([*rates, bound.system.view(Y)])

    from unibody.coordinates.workspace import Y

    start = np.concatenate([model.start_q(), model.start_v()])
    y = solve_ivp(slope, (0.0, LENGTH), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    q = np.concatenate([j.element.advance(y[j.q_start : j.q_start + j.nq], np.zeros(j.nv), 0.0) for j in model.joints])
    at_end = ub.Simulation(model, "articulated", state=ub.State(LENGTH, q, y[model.nq :])).run(0.0)
    return places(at_end)


def error(solver: Solver, steps: int) -> float:
    model = smooth()
    recording = ub.Simulation(model, solver, dt=LENGTH / steps).run(LENGTH, every=steps)
    return float(np.abs(places(recording) - exact_places()).max())


@choices
def test_rule_has_the_order_it_declares(solver: Solver) -> None:
    """log₂ of the ratio of errors of two step lengths, on a smooth scene of springs and balls. Its next term is felt: ±0.15."""
    rule = getattr(solver, "rule", "semi-implicit")
    order = ORDERS[rule]
    if order is None:
        errors = [error(replace(solver, rtol=tolerance, atol=1e-2 * tolerance), 4) for tolerance in (1e-5, 1e-7, 1e-9)]
        assert errors[0] < 1e-4 and errors[1] < 1e-6 and errors[2] < 1e-8
        return
    coarse, within = {1: 200, 2: 100, 4: 40}[order], 0.15
    if solver.name == "barrier":  # steps in Python: fewer of them, so that the next term is felt more; and iterations to their end
        solver, coarse, within = replace(solver, tolerance=1e-8), coarse // 4, 0.3
    errors = [error(solver, coarse * 2**k) for k in range(3)]
    measured = np.log2(np.array(errors[:-1]) / errors[1:])
    assert measured == pytest.approx(order, abs=within), f"errors {errors}"


class Ghost:
    """An element that nobody knows."""


@pytest.mark.parametrize("name", list(REGISTRY))
def test_unknown_elements_are_refused_by_name(name: str) -> None:
    solver = REGISTRY[name]()
    model = replace(pendulums(), forces=(*pendulums().forces, ("magnet", Ghost()), ("poltergeist", Ghost())))
    with pytest.raises(ub.Unsupported, match="'magnet'.*'poltergeist'.*Solvers that can: none") as refused:
        solver.bind(model)
    assert f"'{name}'" in str(refused.value) and "Ghost" in str(refused.value)
    with pytest.raises(ub.Unsupported):
        ub.Simulation(model, name)


@pytest.mark.parametrize("name", list(REGISTRY))
def test_refusal_names_the_solvers_that_can(name: str, monkeypatch) -> None:
    class Medium:
        def handles(self, element, model):
            return None

    Medium.name = "medium"
    monkeypatch.setitem(REGISTRY, "medium", Medium)
    model = replace(pendulums(), forces=(("magnet", Ghost()),))
    with pytest.raises(ub.Unsupported, match="Solvers that can: medium$"):
        REGISTRY[name]().bind(model)


@choices
@pytest.mark.parametrize("how", ["raises", "gives nan"])
@pytest.mark.parametrize("callback", [False, True], ids=["rollout", "steps"])
def test_failed_step_tells_and_keeps_what_was_good(solver: Solver, how: str, callback: bool) -> None:
    """A stone thrown up fails when it is 1 m away, near t = 0.2: until then everything is kept."""
    b = ub.Builder()
    b.body("stone", mass=1.0, inertia=(1, 1, 1), V_WB=(0, 0, 0, 1, 0, 6))
    other = b.body("other", mass=1.0, inertia=(1, 1, 1))
    b.joint("swing", ub.Revolute((0, 1, 0)), parent=b.world, child=other, X_BM=ub.Pose((0, 0, 1)), q=0.5)
    b.add(Fuse("stone", 1.0, how), name="fuse")
    sim = ub.Simulation(b.build(), solver, dt=1e-2)
    with pytest.raises(ub.StepFailed) as caught:
        sim.run(1.0, control=(lambda t, state, control: None) if callback else None, every=2)
    failed = caught.value
    assert 0.15 < failed.time < 0.25
    assert sim.state.t == failed.time and np.isfinite(sim.state.q).all() and np.isfinite(sim.state.v).all()
    assert failed.element == ("fuse" if how == "raises" else "stone")
    assert failed.report.status != "ok" and failed.report.element == failed.element and sim.report is failed.report
    assert f"t = {failed.time:.6g}" in str(failed) and f"'{failed.element}'" in str(failed)
    recording = failed.recording
    assert len(recording) == 1 + round(failed.time / 1e-2) // 2
    assert recording.t[-1] <= failed.time < recording.t[-1] + 2.01e-2 and np.isfinite(recording.q).all()
    if how == "raises":
        assert "the fuse has blown" in str(failed) and isinstance(failed.__cause__, RuntimeError)
    with pytest.raises(ub.StepFailed):
        sim.step()
