"""Contacts that cannot act by themselves: left out, and taken in where what acts pushes others into them."""

from __future__ import annotations

import pytest

import unibody as ub
from unibody.stepping import inactive_contacts

DT = 5e-3


def a_row(speed: float, gap: float, count: int = 14) -> ub.Model:
    """Spheres in a row without weight, `gap` apart; the first flies into the second."""
    b = ub.Builder(gravity=(0, 0, 0))
    for k in range(count):
        at = ub.Pose((k * (0.2 + gap), 0.01 * (k % 2), 0))
        b.body(f"b{k}", shape=ub.Sphere(0.1), mass=1.0 + 0.1 * k, X_WB=at, V_WB=(0, 0, 0, 0.0 if k else speed, 0, 0))
    b.add(ub.Contact(friction=0.4))
    return b.build()


def stepped(model: ub.Model, steps: int = 1, **options) -> ub.State:
    """The state after so many steps."""
    bound = ub.solvers.Complementarity(**options).bind(model)
    bound.quick = None  # kernel by kernel: steps in one kernel leave out what does not act in their own way
    state, memory = bound.start()
    for _ in range(steps):
        made = bound.step(state, memory, model.neutral_control(), DT)
        state, memory = made.state, made.memory
    return state


@pytest.fixture
def rounds(monkeypatch):
    """Counts how often problems are solved, and how many contacts each had."""
    sizes: list[int] = []
    some = inactive_contacts.Near.some
    monkeypatch.setattr(inactive_contacts.Near, "some", lambda near, which: sizes.append(len(which)) or some(near, which))
    return sizes


@pytest.mark.parametrize("coordinates", ["reduced", "maximal"])
def test_one_that_is_pushed_into_a_bystander_is_held_by_it(coordinates, rounds):
    model = a_row(20.0, 5e-3)
    found = stepped(model, coordinates=coordinates)
    assert len(rounds) > 1 and rounds[-1] > rounds[0], "the first problem left out contacts that acted"
    whole = stepped(model, coordinates=coordinates, margin=0.2)  # a given margin leaves nothing out
    assert found.v == pytest.approx(whole.v, abs=1e-9)


def test_a_fast_body_far_away_does_not_make_a_stack_larger(rounds):
    b = ub.Builder()
    b.body("floor", shape=ub.Plane(), kind="static")
    for k in range(4):
        b.body(f"box{k}", shape=ub.Box((0.3, 0.3, 0.1)), mass=1.0, X_WB=ub.Pose((0, 0, 0.05 + 0.1 * k)))
        b.body(f"side{k}", shape=ub.Box((0.3, 0.3, 0.1)), mass=1.0, X_WB=ub.Pose((0.31, 0, 0.05 + 0.1 * k)))
    b.body("bullet", shape=ub.Sphere(0.05), mass=0.1, X_WB=ub.Pose((9, 0, 5)), V_WB=(0, 0, 0, 5, 0, 0))
    b.add(ub.Contact(friction=0.5))
    model = b.build()
    found, whole = stepped(model, 3), stepped(model, 3, margin=0.05)
    assert max(rounds) == 32, "eight faces of four corners; between the stacks, 1 cm apart, nothing"
    assert found.v == pytest.approx(whole.v, abs=1e-9)
