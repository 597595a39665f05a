"""Planar worlds: the plane's axes, and the refusal of everything that leaves it.

A plane with unit normal n has in-plane axes e₁, e₂ with e₁ × e₂ = n; for the default normal −y these are x and z.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unibody.errors import ModelError
from unibody.spatial.pose import Pose, vector3

if TYPE_CHECKING:
    from unibody.model.model import Model

Axes = tuple[np.ndarray, np.ndarray, np.ndarray]
TOLERANCE = 1e-9


def plane_axes(normal: Any) -> Axes:
    """e₁, e₂ and the unit normal."""
    n = vector3(normal, "Builder normal")
    size = float(np.linalg.norm(n))
    if size == 0.0:
        raise ModelError(f"Builder normal: {tuple(n)} has no direction; give a non-zero normal such as (0, -1, 0)")
    n = n / size if abs(size - 1.0) > 1e-15 else n  # unit already: the same numbers again
    first = np.eye(3)[0] if abs(n[0]) < 0.9 else np.eye(3)[1]
    e1 = first - n * (n @ first)
    e1 /= np.linalg.norm(e1)
    e2 = np.cross(n, e1)
    return np.round(e1, 16) + 0.0, np.round(e2, 16) + 0.0, n


def plane_frame(axes: Axes) -> Pose:
    """The frame whose x, y, z axes are e₁, e₂ and the normal."""
    return Pose.from_rotation(np.stack(axes, axis=1))


def check_plane(model: Model, poses: Sequence[Pose]) -> None:
    """Refuse what lies or moves outside the plane: gravity, bodies, joint frames and motions."""
    assert model.plane is not None
    n = model.plane[2]
    if abs(model.gravity @ n) > TOLERANCE:
        raise ModelError(f"gravity {tuple(model.gravity)} leaves the plane; its component along the normal {tuple(n)} must be 0")
    for body, pose in zip(model.bodies, poses, strict=True):
        if body.kind == "kinematic":
            _check_driven(body, n)
        if body.kind != "dynamic":
            continue
        com = pose.apply(body.com) @ n
        if abs(com) > TOLERANCE:
            raise ModelError(f"body '{body.name}': its centre of mass is {com:.3g} m out of the plane; keep it in the plane")
        along = pose.R.T @ n
        rest = body.inertia @ along - along * (along @ body.inertia @ along)
        if np.abs(rest).max() > 1e-6 * np.abs(body.inertia).max():
            raise ModelError(f"body '{body.name}': the normal is not a principal axis of its inertia; turn the body or its inertia")
    for joint in model.joints:
        _check_joint(joint, poses, n)
    elements: list[tuple[str, Any]] = [*model.forces, *model.constraints]
    for name, element in elements:
        points = _points(element)
        if any(model.body(point.body) >= len(poses) for point in points):  # matter is no part of the plane, nor is what acts on it
            points = [point for point in points if model.body(point.body) < len(poses)]
            if not points:
                continue
        for point in points:
            away = poses[model.body(point.body)].apply(point.p) @ n
            if abs(away) > TOLERANCE:
                raise ModelError(f"'{name}': its point on body '{point.body}' is {away:.3g} m out of the plane; keep it in the plane")
        on = getattr(element, "body", None)
        if on is not None and model.body(on) >= len(poses):
            continue
        for what, away in _reaches(element, model, poses, n):
            if abs(away) > TOLERANCE:
                raise ModelError(f"'{name}': its {what} {getattr(element, what)} is {away:.3g} out of the plane; keep it in the plane")
        turned = poses[model.body(element.body)].R.T @ n if getattr(element, "axes", "world") == "body" else n
        _check_wrench(name, element, turned)


def check_wrenches(model: Model, wrenches: np.ndarray) -> None:
    """Refuse wrenches on bodies (world axes) that would leave the plane."""
    assert model.plane is not None
    n = model.plane[2]
    for body, wrench in zip(model.bodies, wrenches, strict=True):
        torque, force = wrench[:3], wrench[3:]
        if max(abs(force @ n), np.abs(torque - n * (n @ torque)).max()) > TOLERANCE:
            raise ModelError(f"control: wrench {tuple(map(float, wrench))} on body '{body.name}' leaves the plane; keep it in the plane")


def _check_driven(body: Any, n: np.ndarray) -> None:
    """A kinematic body may turn about the normal and slide in the plane."""
    spin, slide = np.array(body.V_WB[:3]), np.array(body.V_WB[3:])
    if max(abs(slide @ n), np.abs(spin - n * (n @ spin)).max()) > TOLERANCE:
        raise ModelError(f"body '{body.name}': V_WB {body.V_WB} moves it out of the plane; keep it in the plane or use a 3D world")


def _reaches(element: Any, model: Model, poses: Sequence[Pose], n: np.ndarray) -> list[tuple[str, float]]:
    """How far places and directions of an element that are no points of bodies reach out of the plane."""
    from unibody.element import Point

    out = []
    if getattr(element, "position", None) is not None:
        out.append(("position", float(np.asarray(element.position, float) @ n)))
    if getattr(element, "direction", None) is not None and isinstance(getattr(element, "on", None), Point):  # a Contact's `on` is none
        out.append(("direction", float(poses[model.body(element.on.body)].R @ np.asarray(element.direction, float) @ n)))
    if getattr(element, "at", None) is not None and hasattr(element, "axes"):
        out.append(("at", float(poses[model.body(element.body)].apply(element.at) @ n)))
    return out


def _check_joint(joint: Any, poses: Sequence[Pose], n: np.ndarray) -> None:
    """A joint may turn about the normal and slide in the plane."""
    across = poses[joint.parent] @ joint.X_PF
    rng = np.random.default_rng(0)
    for _ in range(3):
        q = joint.element.advance(joint.q0, rng.normal(size=joint.nv), 1.0)
        R, _ = joint.element.pose(q)
        S = joint.element.motion(q)
        to_world = across.R @ R
        turn, slide = to_world @ S[:3], to_world @ S[3:]
        turn_out = turn - np.outer(n, n @ turn)
        if max(np.abs(turn_out).max(initial=0.0), np.abs(n @ slide).max(initial=0.0)) > TOLERANCE:
            raise ModelError(f"joint '{joint.name}': {type(joint.element).__name__} moves out of the plane with normal {tuple(n)}; "
                             "turn about the normal, slide in the plane, or use a 3D world")  # fmt: skip


def _points(element: Any) -> list[Any]:
    from unibody.element import Point

    values = [getattr(element, f) for f in getattr(element, "__dataclass_fields__", {})]
    flat = [x for v in values for x in (v if isinstance(v, list | tuple) else [v])]
    return [x for x in flat if isinstance(x, Point)]


def _check_wrench(name: str, element: Any, n: np.ndarray) -> None:
    for what, out_of_plane in (("force", lambda f: abs(f @ n)), ("torque", lambda t: float(np.abs(t - n * (n @ t)).max()))):
        value = getattr(element, what, None)
        if value is None or not hasattr(element, "axes"):
            continue
        now = np.asarray(value(0.0) if callable(value) else value, float)
        if now.shape == (3,) and out_of_plane(now) > TOLERANCE:
            raise ModelError(f"'{name}': {what} {tuple(now)} leaves the plane with normal {tuple(n)}; keep it in the plane")
