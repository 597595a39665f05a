"""Steps in one kernel are the steps that `time_stepping` makes kernel by kernel, and a rollout is its steps one by one, bit for bit."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.rules.base import COMMON
from unibody.solvers.complementarity.compiled_layout import REASONS, WHY
from unibody.solvers.complementarity.solver import BoundComplementarity

DT = 4e-3
SAME = 1e-8
"""[m/s, and times dt in positions] Both solve to 1e-10 m/s in each row; what rows leave open is divided by leg lengths of 0.2 m."""


def walker(servo: float = 60.0, friction: float = 0.0, floor: ub.Contact | None = None) -> ub.Model:
    """A body on four legs of two hinges each, with limits, dropped askew; `servo` [N m/rad]; `friction` [N m] in its hips."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    start = ub.Pose((0.0, 0.0, 0.45), wxyz=(0.99, 0.1, 0.05, 0.0))
    trunk = b.body("trunk", shape=ub.Box((0.4, 0.2, 0.1)), density=600.0, X_WB=start)
    held: dict[str, Any] = {"stiffness": servo, "damping": 0.01 * servo}
    for i, (x, y) in enumerate([(0.18, 0.12), (0.18, -0.12), (-0.18, 0.12), (-0.18, -0.12)]):
        thigh, shin = (b.body(f"{part} {i}", shape=ub.Capsule(0.02, 0.16), density=900.0) for part in ("thigh", "shin"))
        at, up, down = ub.Pose((x, y, 0.0)), ub.Pose((0.0, 0.0, 0.1)), ub.Pose((0.0, 0.0, -0.1))
        hip, knee = (held | {"rest": q} if servo else {} for q in (0.6, -1.2))
        b.joint(f"hip {i}", ub.Revolute((0, 1, 0)), trunk, thigh, at, up, q=0.6, limits=(-1.0, 1.0), **hip)
        b.joint(f"knee {i}", ub.Revolute((0, 1, 0)), thigh, shin, down, up, q=-1.2, limits=(-2.5, -0.2), **knee)
        if friction:
            b.add(ub.DryFriction(f"hip {i}", friction))
    b.add(floor or ub.Contact(friction=0.7))
    return b.build()


def boxes() -> ub.Model:
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    for i in range(2):
        b.body(f"box {i}", shape=ub.Box((0.2, 0.3, 0.1)), X_WB=ub.Pose((0.03 * i, 0.0, 0.06 + 0.11 * i)))
    b.add(ub.Contact(friction=0.5))
    return b.build()


MODELS = {
    "limp walker": lambda: walker(servo=0.0), "walker": walker, "rubbing walker": lambda: walker(friction=0.3),
    "walker on pins": lambda: walker(floor=ub.Contact(friction=0.7, torsion=0.02)), "boxes": boxes,
}  # fmt: skip


def bound(model: ub.Model, **options: Any) -> BoundComplementarity:
    made = ub.solvers.Complementarity(**options).bind(model)
    assert isinstance(made, BoundComplementarity)
    return made


def long_way(made: BoundComplementarity) -> BoundComplementarity:
    made.quick = None
    return made


@pytest.mark.parametrize("name", MODELS)
def test_a_step_is_the_same_by_one_kernel_and_by_many(name: str) -> None:
    """From each state of a fall, bounce and rest; compared are the next states, works, contacts and their impulses."""
    model = MODELS[name]()
    quick, long, control = bound(model), long_way(bound(model)), model.neutral_control()
    state, memory = quick.start()
    reasons: Counter[str] = Counter()
    for _ in range(300):
        one, other = quick.step(state, memory, control, DT), long.step(state, memory, control, DT)
        assert quick.quick is not None
        reasons[REASONS[int(quick.quick.told[WHY])]] += 1
        np.testing.assert_allclose(one.state.q, other.state.q, atol=DT * SAME)
        np.testing.assert_allclose(one.state.v, other.state.v, atol=SAME)
        np.testing.assert_allclose(one.memory[: COMMON.size], other.memory[: COMMON.size], rtol=1e-9, atol=1e-9)
        assert one.report.minimum_distance == pytest.approx(other.report.minimum_distance, abs=1e-12)
        state, memory = one.state, one.memory
    assert reasons["made"] > (150 if name == "walker on pins" else 250), reasons  # Newton's method likes turning friction less


@pytest.mark.parametrize("name", MODELS)
def test_a_rollout_is_its_steps(name: str) -> None:
    """Bit for bit, with records between; also where it is begun again from a record, by another bound solver."""
    model = MODELS[name]()
    one, other, control = bound(model), bound(model), model.neutral_control()
    state, memory, rows, done = one.rollout(*one.start(), control, DT, 120, 7)
    assert done == 120 and len(rows) == 17
    at, kept = other.start()
    for k in range(120):
        made = other.step(at, kept, control, DT)
        at, kept = made.state, made.memory
        if (k + 1) % 7 == 0:
            np.testing.assert_array_equal(rows[(k + 1) // 7 - 1], np.concatenate([[at.t], at.q, at.v, kept]))
    np.testing.assert_array_equal(np.concatenate([state.q, state.v, memory]), np.concatenate([at.q, at.v, kept]))
    again = bound(model)
    begun, kept = again.split_record(rows[9])
    ended, _, _, _ = again.rollout(begun, kept, control, DT, 120 - 70, 1000, False)
    np.testing.assert_array_equal(ended.q, state.q)


def test_what_is_not_of_the_usual_kind_is_left_as_it_was_and_made_the_long_way() -> None:
    """A body that flies farther in a step than contacts are seen ahead: the kernel says so, and touches nothing."""
    model = boxes()
    made, control = bound(model), model.neutral_control()
    state, memory = made.start()
    v = np.array(state.v)
    v[3:6] = 0.0, 0.0, 500.0
    q, v, kept = np.array(state.q), v, np.array(memory)
    begun = q.copy(), v.copy(), kept.copy()
    made.system.prepare(DT)
    assert made.quick is not None
    assert made.quick.roll(0.0, DT, control, 5, 0, 9, np.inf, q, v, kept, np.zeros(0)) == 0
    assert REASONS[int(made.quick.told[WHY])] == "fast or unknown pairs"
    for before, after in zip(begun, (q, v, kept), strict=True):
        np.testing.assert_array_equal(before, after)
    fast = ub.State(0.0, q, v, state.coordinates)
    report = made.step(fast, memory, control, DT).report
    assert any("goes 2 m in a step" in note for note in report.notes)


def test_a_rollout_pauses_where_velocities_pass_the_limit() -> None:
    model = boxes()
    made, control = bound(model), model.neutral_control()
    made.speed_limit = 9.81 * 10.5 * DT  # free fall passes it in the eleventh step
    state = ub.State(0.0, np.array(made.start()[0].q) + np.tile([0, 0, 5.0, 0, 0, 0, 0], 2), np.zeros(made.nv), "reduced")
    _, _, _, done = made.rollout(state, made.start()[1], control, DT, 100, 1000, False)
    assert done == 11


def test_contacts_are_seen_alike_whichever_way_the_step_was_made() -> None:
    """Contact forces of an observation carry the weight of what rests, to round-off of the impulses."""
    model = walker()
    made, control = bound(model), model.neutral_control()
    state, memory, _, _ = made.rollout(*made.start(), control, DT, 1500, 2000, False)
    seen = made.observe(state, memory, control)
    weight = float(np.linalg.norm(model.gravity)) * sum(body.mass for body in model.bodies if body.kind == "dynamic")
    carried = float((seen.contacts.normal_forces * np.abs(seen.contacts.normals[:, 2])).sum())
    assert carried == pytest.approx(weight, rel=1e-4)  # all contacts are with the floor
    assert np.abs(state.v).max() < 1e-3
