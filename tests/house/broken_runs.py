"""Broken programs on purpose: what `Builder.build` gives is changed, so that whatever is then run is wrong in one known way.

A test of standing, resting or holding that still passes is blind. Each mutation takes a model and gives the broken one; `None` where it
does not apply, so that nobody takes an unchanged model for a broken one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

import numpy as np

import unibody as ub
from unibody.solvers import Complementarity

Mutation = Callable[[ub.Model], ub.Model | None]


def _constraints(model: ub.Model, change: Callable[[ub.Contact], ub.Contact | None]) -> ub.Model | None:
    changed = [(name, change(c) if isinstance(c, ub.Contact) else c) for name, c in model.constraints]
    kept = tuple((name, c) for name, c in changed if c is not None)
    return replace(model, constraints=kept) if kept != model.constraints else None


def frictionless(model: ub.Model) -> ub.Model | None:
    """No friction at contacts nor in joints."""
    smooth = _constraints(model, lambda c: replace(c, friction=0.0, static=None, torsion=0.0, across=None, direction=None))
    forces = tuple((name, f) for name, f in model.forces if not isinstance(f, ub.DryFriction | ub.JointFriction))
    return replace(smooth or model, forces=forces) if smooth is not None or forces != model.forces else None


def untouched(model: ub.Model) -> ub.Model | None:
    """Bodies pass through each other; the element stays, so that contacts can be asked for."""
    return _without(model, [b.name for b in model.bodies])


def _without(model: ub.Model, names: list[str]) -> ub.Model | None:
    """These bodies touch none of the others."""
    if not any(isinstance(c, ub.Contact) for _, c in model.constraints):
        return None
    every = [b.name for b in model.bodies]
    pairs = {frozenset((a, b)) for a in names for b in every if a != b}
    off = [(f"off {k}", ub.Contact(between=tuple(sorted(pair)), on=False)) for k, pair in enumerate(sorted(pairs, key=sorted))]
    own = [(n, c) for n, c in model.constraints if not (isinstance(c, ub.Contact) and c.narrowness == 2 and frozenset(c.between) in pairs)]
    return replace(model, constraints=(*own, *off))


def first_lets_go(model: ub.Model) -> ub.Model | None:
    """The first body that moves touches nothing."""
    return _without(model, [b.name for b in model.bodies if b.kind == "dynamic"][:1])


def last_lets_go(model: ub.Model) -> ub.Model | None:
    """So does the last."""
    return _without(model, [b.name for b in model.bodies if b.kind == "dynamic"][-1:])


def one_pair_apart(model: ub.Model) -> ub.Model | None:
    """The first two bodies that move do not touch each other."""
    moving = [b.name for b in model.bodies if b.kind == "dynamic"][:2]
    if len(moving) < 2 or not any(isinstance(c, ub.Contact) for _, c in model.constraints):
        return None
    return replace(model, constraints=(*model.constraints, ("off", ub.Contact(between=tuple(moving), on=False))))


def _gravity(model: ub.Model, times: float) -> ub.Model | None:
    forces = tuple((n, ub.Gravity(times * np.array(f.g)) if isinstance(f, ub.Gravity) else f) for n, f in model.forces)
    return replace(model, gravity=times * model.gravity, forces=forces) if model.gravity.any() else None


def half_gravity(model: ub.Model) -> ub.Model | None:
    return _gravity(model, 0.5)


def upside_down(model: ub.Model) -> ub.Model | None:
    return _gravity(model, -1.0)


def bouncy(model: ub.Model) -> ub.Model | None:
    """Restitution 1, or no damping."""
    return _constraints(model, lambda c: replace(c, restitution=1.0))


def unlimited(model: ub.Model) -> ub.Model | None:
    """No limits and no other bounds, contact apart."""
    kept = tuple((n, c) for n, c in model.constraints if isinstance(c, ub.Contact) or not c.unilateral)
    return replace(model, constraints=kept) if kept != model.constraints else None


MUTATIONS: dict[str, Mutation] = {
    f.__name__.replace("_", " "): f
    for f in (frictionless, untouched, first_lets_go, last_lets_go, one_pair_apart, half_gravity, upside_down, bouncy, unlimited)
}


@contextmanager
def broken(mutation: str) -> Iterator[list[str]]:
    """Every model that is built meanwhile is broken; the list that is given fills with the names of bodies of those that were."""
    build, told = ub.Builder.build, []

    def build_broken(self: ub.Builder) -> ub.Model:
        model = build(self)
        changed = MUTATIONS[mutation](model)
        if changed is not None:
            told.append(", ".join(b.name for b in model.bodies))
        return changed or model

    with mock.patch.object(ub.Builder, "build", build_broken):
        yield told


@contextmanager
def one_sweep() -> Iterator[None]:
    """Impulses after a single sweep."""
    made = Complementarity.__post_init__

    def hasty(self: Complementarity) -> None:
        made(self)
        object.__setattr__(self, "method", "pgs")
        object.__setattr__(self, "iterations", 1)

    with mock.patch.object(Complementarity, "__post_init__", hasty):
        yield
