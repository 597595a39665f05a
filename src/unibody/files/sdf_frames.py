"""The frames of an SDF model: poses relative to links, joints, frames and nested models, by name.

    X_M(thing) = X_M(relative_to) · pose        relative_to: by default the model for links and models, a joint's child, a frame's holder

A name `a::b` is b of the nested model a. Poses are "x y z roll pitch yaw" (R = Rz(yaw) Ry(pitch) Rx(roll)), in degrees if `degrees="true"`,
or "x y z  qx qy qz qw" if `rotation_format="quat_xyzw"`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.model.model import look_up
from unibody.spatial.pose import Pose

WORLD = "world"


def floats(text: str | None, counts: tuple[int, ...], what: str) -> list[float]:
    """Numbers of a text, as many as one of `counts`."""
    words = (text or "").split()
    try:
        values = [float(word) for word in words]
    except ValueError:
        raise ModelError(f"{what}: {text!r} holds something that is not a number; correct it") from None
    if len(values) not in counts:
        raise ModelError(f"{what}: {len(values)} numbers; give {' or '.join(map(str, counts))}")
    if not np.isfinite(values).all() or max(map(abs, values), default=0.0) > 1e300:
        raise ModelError(f"{what}: {text!r} is not finite; give finite numbers")
    return values


def pose_in(element: Any, what: str) -> tuple[Pose, str]:
    """The pose of a <pose> child, and what it is relative to ('' where that is not said)."""
    found = element.find("pose")
    if found is None:
        return Pose(), ""
    relative = (found.get("relative_to") or found.get("frame") or "").strip()
    if not (found.text or "").split():
        return Pose(), relative
    if found.get("rotation_format", "euler_rpy") == "quat_xyzw":
        x = floats(found.text, (7,), f"{what} pose")
        if not np.linalg.norm(x[3:]) > 0.0:
            raise ModelError(f"{what} pose: its quaternion is 0; give a unit quaternion x y z w")
        return Pose(x[:3], (x[6], *x[3:6])), relative
    x = floats(found.text, (6,), f"{what} pose")
    angles = np.deg2rad(x[3:]) if found.get("degrees", "false").strip() in ("true", "1") else np.array(x[3:])
    return Pose(x[:3], rpy(angles)), relative


def rpy(angles: np.ndarray) -> Any:
    """wxyz of Rz(yaw) Ry(pitch) Rx(roll)."""
    turns = [Pose.about(axis.tolist(), float(angle)) for axis, angle in zip(np.eye(3), angles, strict=True)]
    return (turns[2] @ turns[1] @ turns[0]).wxyz


@dataclass
class Frames:
    """Poses in the root model's frame, found when they are asked for."""

    given: dict[str, tuple[Pose, str, str]] = field(default_factory=dict)
    """name → (pose, relative to, what it is called in messages)."""
    found: dict[str, Pose] = field(default_factory=dict)

    def add(self, name: str, pose: Pose, relative_to: str, what: str) -> None:
        if name in self.given:
            raise ModelError(f"{what}: the name is taken by another link, joint, frame or model; give each a name of its own")
        self.given[name] = (pose, relative_to, what)

    def of(self, name: str, what: str) -> Pose:
        """X of a frame in the file's outermost frame."""
        path: list[str] = []
        while name not in self.found and name != "":
            if name in path:
                raise ModelError(
                    f"{what}: the poses of {', '.join(path)} are relative to each other in a circle; give one of them to the model"
                )
            if name not in self.given:
                look_up(name, self.given, f"{what}: frame")
            path.append(name)
            name = self.given[name][1]
        X = self.found.get(name, Pose())
        for step in reversed(path):
            X = X @ self.given[step][0]
            self.found[step] = X
        return X
