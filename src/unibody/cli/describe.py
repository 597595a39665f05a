"""What `info` says of a model: its tree, its numbers, its elements, and who can simulate it."""

from __future__ import annotations

from typing import Any

from unibody.element import Point
from unibody.model import Model
from unibody.model.model import JointInfo
from unibody.solvers import REGISTRY
from unibody.solvers.base import elements_of


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


def kind(joint: JointInfo) -> str:
    """`Revolute`, or `Free (implicit)` for a body without a joint of its own."""
    return type(joint.element).__name__ + (" (implicit)" if joint.implicit else "")


def touched(element: Any) -> list[str]:
    """Names of the bodies and joints that an element touches."""
    out: list[str] = []
    for ask in ("bodies", "joints"):
        names = getattr(element, ask, None)
        for entry in names() if callable(names) else ():
            out.append(entry.body if isinstance(entry, Point) else str(entry))
    return list(dict.fromkeys(out))


def refusals(solver: str, model: Model) -> list[str]:
    """Why a solver cannot run the model, one line per reason; empty if it can."""
    chosen = REGISTRY[solver]()
    reasons = [(name, chosen.handles(element, model)) for name, element in elements_of(model)]
    return [f"'{name}': {reason}" for name, reason in reasons if reason is not None]


def tree_lines(model: Model, most: int = 60) -> list[str]:
    """The kinematic tree, indented; long ones are cut, and say so."""
    children: dict[int, list[int]] = {}
    for body, joint in enumerate(model.tree_joints, start=1):
        children.setdefault(joint.parent, []).append(body)
    out = ["world"]
    stack = [(body, "") for body in reversed(children.get(0, []))]
    last = {siblings[-1] for siblings in children.values()}
    while stack:
        body, indent = stack.pop()
        joint, info = model.tree_joints[body - 1], model.bodies[body]
        how = info.kind if info.kind != "dynamic" else kind(joint) if joint.implicit else f"{kind(joint)} '{joint.name}'"
        weight = f", {info.mass:.4g} kg" if info.kind == "dynamic" else ""
        out.append(f"{indent}{'└─' if body in last else '├─'} {info.name}  ({how}{weight})")
        deeper = indent + ("   " if body in last else "│  ")
        stack += [(child, deeper) for child in reversed(children.get(body, []))]
    left = len(out) - most
    return out if left <= 0 else [*out[:most], f"… and {left} bodies more"]
