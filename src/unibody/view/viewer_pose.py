"""Joints put by hand: which coordinates have sliders, and the state that a slider asks for.

A joint whose coordinates are as many as its velocities has a slider for each. One that holds a unit quaternion has three for the rotation
vector φ of R_FM = exp([φ]×), |φ| ≤ π, after three for p_FM if it moves freely. Where a joint is put, everything is at rest; loops and other
rows are closed by the other joints, by the least change, and where they cannot be, that is an error and nothing moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unibody.constraints import JointLimit
from unibody.coordinates.assembly.assemble import assemble
from unibody.coordinates.convert import to_reduced
from unibody.errors import ModelError
from unibody.model import Model, State
from unibody.model.contents import JointInfo
from unibody.simulation.consistent import has_rows
from unibody.spatial.pose import quaternion_from_rotation, rotation_from_vector, vector_from_rotation

HALF_TURN = 3.14
"""Reach of angles without limits [rad]; π in as many digits as a page has room for."""
MOST = 3
"""Joints that a message names."""


@dataclass(frozen=True)
class JointSlide:
    """One slider: number `k` of those of a joint, in rad or m."""

    joint: str
    k: int
    label: str
    unit: str
    low: float
    high: float


def slides(model: Model, span: float) -> list[JointSlide]:
    """The sliders of all tree joints that move dynamic bodies. Slides without limits reach `span` [m] to either side of their start."""
    out = []
    for joint in model.tree_joints:
        if model.bodies[joint.child].kind != "dynamic" or not joint.nv:
            continue
        start = slid(joint, joint.q0)
        limits = _limits(model, joint)
        names = ("x", "y", "z", "φx", "φy", "φz")[-joint.nv :] if _turns(joint) else [str(k) for k in range(len(start))]
        for k, unit in enumerate(_units(joint)):
            reach = HALF_TURN if unit == "rad" else span
            low, high = limits.get(k, (-np.inf, np.inf))
            around = 0.0 if unit == "rad" else float(start[k])
            low, high = (end if np.isfinite(end) else wide for end, wide in ((low, around - reach), (high, around + reach)))
            if low < high:
                label = joint.name if len(start) == 1 else f"{joint.name} {names[k]}"
                out.append(JointSlide(joint.name, k, f"{label} [{unit}]", unit, min(low, float(start[k])), max(high, float(start[k]))))
    return out


def slid(joint: JointInfo, q: np.ndarray) -> np.ndarray:
    """What the sliders of a joint show of its coordinates q (nq,)."""
    if _turns(joint):
        R, p = joint.element.pose(q)
        return np.concatenate([np.asarray(p)[: joint.nv - 3], vector_from_rotation(np.asarray(R))])
    return np.asarray(q, float)[list(_places(joint))]


def put(model: Model, state: State, name: str, values: Mapping[int, float], close: bool = True) -> tuple[State, list[str]]:
    """`state` with some sliders of a joint at other values, everything at rest, and what else had to move. `close`: rows are met."""
    joint = model.joint(name)
    q, _ = to_reduced(model, state)
    own = slice(joint.q_start, joint.q_start + joint.nq)
    shown = slid(joint, q[own])
    for k, value in values.items():
        if not np.isfinite(value) or not 0 <= k < len(shown):
            raise ModelError(f"joint '{name}': slider {k} at {value} is not one of its {len(shown)}; give a finite number")
        shown[k] = value
    q[own] = _unslid(joint, q[own], shown)
    asked = State(state.t, q, np.zeros(model.nv))
    lines = ["deformables begin in their shape at the start, carried along"] if model.deformables else []
    if not close or not has_rows(model) or model.vertex_points:  # rows may hold points of deformables
        return asked, lines
    made = assemble(model, fixed=name, state=asked)
    moved = [f"'{c.joint}' by {c.by:.2g} {c.unit}" for c in made.moved if not c.unit.endswith("/s")]
    if moved:
        more = f" and {len(moved) - MOST} more" if len(moved) > MOST else ""
        lines.append(f"joint '{name}' was put by hand; to close what it opened, these moved: {', '.join(moved[:MOST])}{more}")
    return made.state, lines


def _turns(joint: JointInfo) -> bool:
    return joint.element.quaternion is not None and joint.nv in (3, 6)


def _places(joint: JointInfo) -> dict[int, int]:
    """Offsets in q of the coordinates with sliders, each with its velocity."""
    if joint.nq == joint.nv:
        return {k: k for k in range(joint.nq)}
    return {place - joint.q_start: dof for dof, place in joint.scalar_dofs().items()}


def _units(joint: JointInfo) -> list[str]:
    if _turns(joint):
        return ["m"] * (joint.nv - 3) + ["rad"] * 3
    S = np.asarray(joint.element.motion(joint.q0))
    return ["rad" if np.abs(S[:3, dof]).max() > 1e-9 else "m" for dof in _places(joint).values()]


def _unslid(joint: JointInfo, q: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Coordinates (nq,) that the sliders show so; those without a slider stay."""
    out = np.array(q, float)
    if _turns(joint):
        at = joint.element.quaternion
        assert at is not None
        out[: joint.nv - 3] = shown[:-3]
        out[at : at + 4] = quaternion_from_rotation(rotation_from_vector(shown[-3:]))
    else:
        out[list(_places(joint))] = shown
    return out


def _limits(model: Model, joint: JointInfo) -> dict[int, tuple[float, float]]:
    """The narrowest bounds of a joint's limits, by slider."""
    out: dict[int, tuple[float, float]] = {}
    of = {dof: k for k, dof in enumerate(_places(joint).values())} if not _turns(joint) else {3 + k: k for k in range(joint.nv - 3)}
    for _, element in model.constraints:
        if not isinstance(element, JointLimit) or element.joint != joint.name:
            continue
        dofs = sorted(of) if element.dof is None else [int(d) for d in np.atleast_1d(element.dof)]
        if not dofs or max(np.size(element.lower), np.size(element.upper)) not in (1, len(dofs)):
            continue
        lows, highs = (np.broadcast_to(np.asarray(bound, float), len(dofs)) for bound in (element.lower, element.upper))
        for dof, low, high in zip(dofs, lows, highs, strict=True):
            if dof in of:
                before = out.get(of[dof], (-np.inf, np.inf))
                out[of[dof]] = (max(before[0], float(low)), min(before[1], float(high)))
    return out
