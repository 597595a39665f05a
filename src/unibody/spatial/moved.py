"""Motions seen from elsewhere: poses, places and directions of a frame A that stands at X = X_WA, in the world.

    pose X_WA X_AB,      place R_WA p + p_WA,      direction R_WA d
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.spatial.motion import is_table
from unibody.spatial.pose import Pose

HERE = Pose()


@dataclass(frozen=True)
class Moved:
    """A function of time seen from elsewhere: `motion` gives poses, places or directions (`kind`) in a frame that stands at `X`.

    >>> Moved(lambda t: (t, 0.0, 0.0), Pose((0, 0, 1)), "place")(2.0)
    (2.0, 0.0, 1.0)
    """

    motion: Callable[[float], Any]
    X: Pose
    kind: str = "pose"

    def __post_init__(self) -> None:
        if not callable(self.motion) or not isinstance(self.X, Pose) or self.kind not in ("pose", "place", "direction"):
            said = f"{self.motion!r} at {self.X!r} as {self.kind!r}"
            raise ModelError(f"Moved: {said} moves nothing; give a function of time, a Pose, and pose, place or direction")

    def __call__(self, t: float) -> Any:
        return moved_value(self.motion(t), self.X, self.kind)


@dataclass(frozen=True)
class MovedPlaces:
    """Many places as a function of time, seen from elsewhere: `motion` gives (n, 3), or as many numbers in a row, in a frame at `X`.

    >>> MovedPlaces(lambda t: (t, 0, 0, 0, t, 0), Pose((0, 0, 1)))(2.0).tolist()
    [[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]]
    """

    motion: Callable[[float], Any]
    X: Pose

    def __post_init__(self) -> None:
        if not callable(self.motion) or not isinstance(self.X, Pose):
            raise ModelError(f"MovedPlaces: {self.motion!r} at {self.X!r} moves nothing; give a function of time and a Pose")

    def __call__(self, t: float) -> np.ndarray:
        return np.reshape(np.asarray(self.motion(t), float), (-1, 3)) @ self.X.R.T + np.array(self.X.p)


def moved_value(value: Any, X: Pose, kind: str) -> Any:
    """A pose, place or direction of a frame at X; the same numbers where X is identity."""
    if X == HERE:
        return value
    if kind == "pose":
        return X @ value
    return tuple((X.apply(value) if kind == "place" else X.R @ np.asarray(value, float)).tolist())


def moved_motion(motion: Any, X: Pose, kind: str) -> Any:
    """A motion (a function, a table (times, values), or a constant) of a frame at X."""
    if motion is None or X == HERE:
        return motion
    if callable(motion):
        return Moved(motion, X, kind)
    if not isinstance(motion, Pose) and is_table(motion):
        return motion[0], tuple(moved_value(value, X, kind) for value in motion[1])
    return moved_value(motion, X, kind)
