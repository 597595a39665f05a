"""What `tools/recorded_numbers.py` runs: scenes, solvers with their options, and how many steps of each.

Scenes are all of the registry, and the models of `recorded_models.py`. Every solver runs every scene by its own choice and with each of its
options: what it refuses is recorded too. Steps are counted, never timed. Names of the public face only, so that older and newer
checkouts run the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import recorded_models
import unibody as ub

VARIANTS: dict[str, tuple[str, ...]] = {
    "articulated": ("rule=rk4", "rule=dopri5", "project=false"),
    "lagrange": ("rule=euler", "rule=rk4", "method=schur", "method=dense", "coordinates=maximal", "project=false"),
    "redmax": ("rule=implicit", "rule=bdf2", "linear=pcg", "linear=direct", "linear=dense", "linear=plain", "linear=kkt",
               "limits=violated", "geometric=exact", "inertia=explicit", "project=false"),
    "barrier": ("rule=bdf2", "friction_iterations=0", "linear=direct", "linear=pcg"),
    "complementarity": ("coordinates=maximal", "relaxation=anitescu-potra", "directions=4", "method=lemke", "method=pgs", "method=newton",
                        "method=proximal", "method=augmented", "clip=true", "project=false"),
    "impulse": ("method=local", "coordinates=maximal"),
    "penalty": ("rule=semi-implicit", "coordinates=maximal"),
}  # fmt: skip
"""Options by solver, beside its own choice; one that a checkout does not know is recorded as refused."""

METHODS = ("relaxation", "directions", "method", "clip", "limits")
"""Options of complementarity and redmax about what is bounded: contact, limits, dry friction."""

FEWER = {"directions=4": 36, "method=lemke": 36, "method=newton": 72, "method=proximal": 72}
"""Options whose steps take minutes where many bodies touch, and up to how many velocities a model has them."""
LEFT_OUT = {
    "hand | articulated:rule=dopri5", "hand | impulse:method=local", "hagfish | complementarity:coordinates=maximal",
    "terrain-vehicle | barrier:friction_iterations=0", "wrecking-ball | barrier:friction_iterations=0",
}  # fmt: skip
"""Other pairs that take long and show nothing that others do not."""

NEARER: dict[str, dict[str, Any]] = {
    "bouncing-ball": {"height": 0.002}, "falling-box": {"height": 0.065}, "rotating-board": {"speed": 30.0},
}  # fmt: skip
"""Parameters with which scenes that begin with a flight come to what they are about within their steps."""

DT = {"hand": 1e-3}
"""[s] Of scenes whose own step is one for implicit rules, and in which the others would only blow up."""

STEPS = (3, 8, 9)
"""How many one by one from the start, in one rollout behind them, and one by one again."""
LATER = {"hinge-boards": (3, 14, 9), "nunchakus": (3, 18, 9), "ragdoll-pile": (3, 18, 9), "ragdolls": (3, 28, 9), "marbles": (3, 10, 9)}
"""Of scenes whose contacts come later than their first twenty steps."""
HEAVY = {
    ("hagfish", "barrier"): (1, 0, 1), ("hagfish", ""): (2, 2, 2), ("umbrella", "barrier"): (2, 2, 2), ("umbrella", "redmax"): (2, 2, 2),
    ("hand", "barrier"): (2, 2, 3), ("terrain-vehicle", ""): (2, 2, 3), ("arch", ""): (2, 2, 3),
}  # fmt: skip
"""Of scenes whose steps take long, by solver; "" is every other solver."""
QUICK = ("box-stack", "bridge", "cable-toy", "double-pendulum", "four-bar", "n-four-bar", "walker", "all-joints", "one-sided", "script")


@dataclass(frozen=True)
class Job:
    """A pair to run: `single` steps, `rolled` ones in one rollout, and `last` single ones."""

    solver: str
    dt: float
    single: int
    rolled: int
    last: int
    quick: bool
    model: Callable[[], ub.Model]
    effort: float = 0.0
    """[N or N m] in every joint coordinate."""


@cache
def registered(name: str) -> Any:
    """A scene of the registry, once: nobody writes a model."""
    return ub.scenes.make(name, **NEARER.get(name, {}))


@cache
def own(name: str) -> ub.Model:
    return recorded_models.MODELS[name]()


def matters(solver: str, option: str, model: ub.Model) -> bool:
    """Whether an option can make a difference in a model, and takes seconds at most."""
    what = option.split("=")[0]
    bounded = any(c.unilateral for _, c in model.constraints) or any("Friction" in type(f).__name__ for _, f in model.forces)
    if solver == "complementarity" and model.nv > FEWER.get(option, model.nv):
        return False
    if option == "linear=kkt":
        return 0 < len(model.free_vertices) <= 200  # a form of steps with deformables, written out densely
    if solver in ("complementarity", "redmax") and what in METHODS:
        return bounded
    if what == "friction_iterations":
        return any(isinstance(c, ub.Contact) for _, c in model.constraints)
    return model.planar or what != "coordinates" or solver == "complementarity"


def solvers(model: ub.Model) -> list[str]:
    """Every solver by its own choice and with each option that can make a difference."""
    out = []
    for name, options in VARIANTS.items():
        out += [name, *(f"{name}:{option}" for option in options if matters(name, option, model))]
    return out


def steps_of(scene: str, solver: str) -> tuple[int, int, int]:
    name = solver.split(":")[0]
    return HEAVY.get((scene, name)) or HEAVY.get((scene, "")) or LATER.get(scene) or STEPS


def jobs() -> dict[str, Job]:
    """All pairs, by "scene | solver"."""
    out = {}
    for scene in ub.scenes.names():
        made = registered(scene)
        for solver in solvers(made.model):
            model = lambda scene=scene: registered(scene).model  # noqa: E731
            out[f"{scene} | {solver}"] = Job(solver, DT.get(scene, float(made.dt)), *steps_of(scene, solver), scene in QUICK, model)
    for scene in recorded_models.MODELS:
        for solver in solvers(own(scene)):
            model = lambda scene=scene: own(scene)  # noqa: E731
            effort = 0.3 if scene == "all-joints" else 0.0
            out[f"{scene} | {solver}"] = Job(solver, 2e-3, *steps_of(scene, solver), scene in QUICK, model, effort)
    return {pair: job for pair, job in out.items() if pair not in LEFT_OUT}
