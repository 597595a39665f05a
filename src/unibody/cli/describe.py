"""What `info` says of a model: its tree, its numbers, its elements, and who can simulate it."""

from __future__ import annotations

from typing import Any

from unibody.cli.inputs import solver_for
from unibody.errors import Unsupported
from unibody.model import Model
from unibody.model.model import JointInfo
from unibody.model.summary import held_rows, kind, soft_rows, touched, tree_lines
from unibody.scenes import Scene
from unibody.solvers import REGISTRY
from unibody.solvers.base import by_reason
from unibody.solvers.base import refusals as refusals_of
from unibody.solvers.choice import grouped

__all__ = ["chosen", "describe", "refusals", "refused", "tree_lines"]


def describe(model: Model) -> dict[str, Any]:
    """Plain data about a model."""

    def ends(j: JointInfo) -> dict[str, Any]:
        parent, child = model.bodies[j.parent].name, model.bodies[j.child].name
        return {"joint": j.name, "joint_type": kind(j), "parent": parent, "child": child, "dofs": j.nv}

    pairs = zip(model.bodies[1:], model.tree_joints, strict=True)
    return {
        "bodies": [{"name": b.name, "kind": b.kind, "mass": b.mass} | ends(j) for b, j in pairs],
        "loops": [ends(j) for j in model.loop_joints],
        "dofs": model.nv,
        "planar": model.planar,
        "total_mass": model.total_mass,
        "gravity": [float(x) for x in model.gravity],
        "forces": [{"name": n, "type": type(e).__name__, "on": touched(e)} for n, e in model.forces],
        "constraints": [{"name": n, "type": type(e).__name__, "on": touched(e)} for n, e in model.constraints],
        "deformables": [{"name": n, "type": what, "on": [on]} for n, what, on in soft_rows(model)],
        "attachments": [{"name": n, "type": what, "on": [on]} for n, what, on in held_rows(model)],
        "solvers": {name: refusals(name, model) for name in REGISTRY},
    }


def refusals(solver: str, model: Model) -> list[str]:
    """Why a solver cannot run the model, one line per reason; empty if it can."""
    return by_reason(refusals_of(REGISTRY[solver](), model))


def refused(model: Model) -> list[str]:
    """Which solvers cannot run the model, and why, every reason once."""
    return grouped({name: refusals_of(REGISTRY[name](), model) for name in REGISTRY})


def chosen(scene: Scene) -> str:
    """The solver that is taken where none is asked for, and why."""
    try:
        label, _, choice = solver_for(scene, None)
    except Unsupported:
        return "none: no solver can run it"
    return f"{label}: {choice.reason}" if choice is not None else label
