"""What `info` says of a model: its tree, its numbers, its elements, and who can simulate it."""

from __future__ import annotations

from typing import Any

from unibody.model import Model
from unibody.model.model import JointInfo
from unibody.model.summary import kind, touched, tree_lines
from unibody.solvers import REGISTRY
from unibody.solvers.base import elements_of

__all__ = ["describe", "refusals", "tree_lines"]


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
        "solvers": {name: refusals(name, model) for name in REGISTRY},
    }


def refusals(solver: str, model: Model) -> list[str]:
    """Why a solver cannot run the model, one line per reason; empty if it can."""
    chosen = REGISTRY[solver]()
    reasons = [(name, chosen.handles(element, model)) for name, element in elements_of(model)]
    return [f"'{name}': {reason}" for name, reason in reasons if reason is not None]
