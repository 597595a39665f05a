"""The hand of Wang et al. 2019, *RedMax*, §4 and §6: hyper-reduced fingers in hybrid dynamics.

Bodies, proportions and joints are those of the authors' program: forearm, wrist, a thumb of three bodies and four fingers of four. The
elbow turns about z; wrist, knuckles (MCP) and the thumb's root are cardans; the metacarpals are welded; in each finger the last joint turns
half as far as the one before,

    q_DIP = ½ q_PIP         (Eq. 8)

so that 23 joint coordinates become 19. Five fingertips are prescribed in maximal coordinates (15 rows), elbow and wrist in reduced ones (3
rows); what is left free, one turn of the thumb within itself, is forward dynamics.

The tips' paths are the forward kinematics of a reference motion, so that the hand can reach them; the fingers (three coordinates, three
rows) have to repeat it, the thumb (four coordinates) need not.

No sizes are public, only proportions. Here a unit is 7 mm, which makes a forearm of 0.252 m; bodies are capsules of 1100 kg/m³, 20 mm in
radius for the forearm, 9 mm for the palm and 8.5 to 6.8 mm for the fingers, and every joint that moves has a spring of 0.05 N m/rad towards
q = 0 and a damper of 2 mN m s/rad. There forearm and fingers lie along x, back of the hand up; flexion turns about y, abduction about z.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.spatial.pose import Pose

if TYPE_CHECKING:
    from unibody.model import Body, Builder
    from unibody.shapes import Shape

UNIT = 0.007
"""Metres of one unit of the authors' lengths."""
FOREARM, CARPUS = 36 * UNIT, 5 * UNIT
"""Lengths [m]; the authors give none for the wrist's body."""
DENSITY = 1100.0
STIFFNESS, DAMPING = 0.05, 2e-3
"""Of every joint [N m/rad, N m s/rad]."""


@dataclass(frozen=True)
class Finger:
    """A finger: lengths of its bodies [units], where it starts in the carpus (y) and how it is spread [m, rad], and its part in the
    rhythm [rad]."""

    name: str
    lengths: tuple[float, ...]
    start: float
    spread: float
    phase: float

    @property
    def joints(self) -> list[str]:
        """Joints that move, from the palm outwards."""
        return [f"{self.name}.{joint}" for joint in (("CMC", "MCP", "IP") if self.is_thumb else ("MCP", "PIP", "DIP"))]

    @property
    def is_thumb(self) -> bool:
        return len(self.lengths) == 3

    @property
    def root(self) -> Pose:
        """The first joint's frame in the carpus; a thumb points sideways and down, its flexion closing towards the fingers."""
        if self.is_thumb:
            return Pose.about((0, 0, 1), self.spread, p=(0.1 * CARPUS, self.start, 0)) @ Pose.about((1, 0, 0), math.radians(-55))
        return Pose.about((0, 0, 1), self.spread, p=(CARPUS, self.start, 0))

    def angles(self, t: float, rate: float) -> np.ndarray:
        """Reference coordinates: flexion and abduction of the first joint, then of the two others, (4,) [rad]."""
        wave = math.sin(rate * t - self.phase)
        if self.is_thumb:
            return np.array([0.15 + 0.2 * wave, 0.1 * math.cos(rate * t), 0.35 + 0.25 * wave, 0.3 + 0.2 * wave])
        bent = 0.75 + 0.5 * wave
        return np.array([0.45 + 0.4 * wave, 0.06 * math.sin(2.0 * rate * t + self.phase), bent, 0.5 * bent])

    def tip(self, angles: np.ndarray) -> np.ndarray:
        """The fingertip in the carpus at these coordinates, (3,) [m]."""
        X = self.root
        lengths = [UNIT * length for length in self.lengths]
        if not self.is_thumb:
            X = X @ Pose(p=(lengths.pop(0), 0, 0))
        X = X @ Pose.about((0, 1, 0), angles[0]) @ Pose.about((0, 0, 1), angles[1])
        for length, angle in zip(lengths[:2], angles[2:], strict=True):
            X = X @ Pose.about((0, 1, 0), angle, p=(length, 0, 0))
        return X.apply((lengths[2], 0, 0))


FINGERS = (
    Finger("thumb", (11.5, 6, 4), 3.0 * UNIT, math.radians(38), 0.6),
    Finger("index", (12, 7, 4, 3.5), 2.7 * UNIT, math.radians(7), 0.0),
    Finger("middle", (11, 7, 4.5, 3.5), 0.9 * UNIT, math.radians(1.5), 0.7),
    Finger("ring", (10, 6.5, 4.2, 3.3), -0.9 * UNIT, math.radians(-4), 1.4),
    Finger("pinky", (9, 4, 3, 2.8), -2.7 * UNIT, math.radians(-10), 2.1),
)


@dataclass(frozen=True)
class HandMotion:
    """The reference motion, by forward kinematics alone."""

    period: float

    @property
    def rate(self) -> float:
        return 2.0 * math.pi / self.period

    def elbow(self, t: float) -> float:
        """[rad]"""
        return 0.3 * math.sin(self.rate * t)

    def wrist(self, t: float) -> np.ndarray:
        """Flexion and abduction, (2,) [rad]."""
        return np.array([-0.25 + 0.15 * math.sin(self.rate * t), 0.1 * math.sin(self.rate * t)])

    def angles(self, finger: str, t: float) -> np.ndarray:
        """Coordinates of a finger's joints, (4,) [rad]; the thumb only meets them on average."""
        return self._finger(finger).angles(t, self.rate)

    def tip(self, finger: str, t: float) -> np.ndarray:
        """Where the fingertip is, (3,) [m]."""
        flexion, abduction = self.wrist(t)
        X_W_carpus = (
            Pose.about((0, 0, 1), self.elbow(t)) @ Pose.about((0, 1, 0), flexion, p=(FOREARM, 0, 0)) @ Pose.about((0, 0, 1), abduction)
        )
        return X_W_carpus.apply(self._finger(finger).tip(self.angles(finger, t)))

    def _finger(self, name: str) -> Finger:
        return next(finger for finger in FINGERS if finger.name == name)


@scene("hand", summary="the hand of the RedMax paper: fingertips, elbow and wrist prescribed at once, finger joints coupled 2:1")
def hand(*, period: float = 2.0, gravity: float = 9.81) -> Scene:
    """21 bodies, 23 coordinates, 19 after couplings, 18 of them prescribed.

    `period` of the motion [s]. The multipliers of the constraints are the efforts of elbow and wrist and the forces at the fingertips.
    """
    import unibody as ub

    require("hand", period > 0.0, f"period={period:g} s is not positive; give a number above 0")
    motion = HandMotion(period)
    b = ub.Builder(gravity=(0, 0, -gravity) if gravity else None)
    forearm = b.body("forearm", shape=_bone(FOREARM, 0.02), density=DENSITY)
    q, v = _start(motion.elbow)
    elastic: dict[str, Any] = {"stiffness": STIFFNESS, "damping": DAMPING}
    b.joint("elbow", ub.Revolute((0, 0, 1)), b.world, forearm, q=q, v=v, **elastic)
    carpus = b.body("carpus", shape=ub.Placed(ub.Box((CARPUS, 0.055, 0.02)), Pose(p=(0.5 * CARPUS, 0, 0))), density=DENSITY)
    q, v = _start(motion.wrist)
    b.joint("wrist", ub.Universal((0, 1, 0), (0, 0, 1)), forearm, carpus, X_PF=Pose(p=(FOREARM, 0, 0)), q=q, v=v, **elastic)
    tips = {finger.name: _add_finger(b, carpus, finger, motion) for finger in FINGERS}
    b.add(ub.PrescribedJoint("elbow", motion.elbow), name="elbow.drive")
    b.add(ub.PrescribedJoint("wrist", motion.wrist), name="wrist.drive")
    for finger in FINGERS:
        point = tips[finger.name].at(UNIT * finger.lengths[-1])
        b.add(ub.PrescribedPoint(point, partial(motion.tip, finger.name)), name=f"{finger.name}.tip")
    for finger in FINGERS[1:]:
        b.add(ub.Coupling([f"{finger.name}.DIP"], [f"{finger.name}.PIP"], [[0.5]]), name=f"{finger.name}.tendon")
    notes = (
        "exact.tip(finger, t) is where each fingertip has to be; the four fingers follow exact.angles(finger, t), the thumb near it, "
        "since three rows leave one of its four coordinates to dynamics."
    )
    return Scene(b.build(), period, 0.01, motion, notes)


def _add_finger(b: Builder, carpus: Body, finger: Finger, motion: HandMotion) -> Body:
    """The finger's bodies and joints; returns its last body."""
    import unibody as ub

    def angles(t: float) -> np.ndarray:
        return motion.angles(finger.name, t)

    q, v = _start(angles)
    flexion = ub.Revolute((0, 1, 0))
    elastic: dict[str, Any] = {"stiffness": STIFFNESS, "damping": DAMPING}
    body, X_PF = carpus, finger.root
    lengths = [UNIT * length for length in finger.lengths]
    if not finger.is_thumb:
        first = b.body(f"{finger.name}.metacarpal", shape=_bone(lengths[0], 0.009), density=DENSITY)
        b.joint(f"{finger.name}.CMC", ub.Weld(), carpus, first, X_PF=X_PF)
        body, X_PF = first, Pose(p=(lengths.pop(0), 0, 0))
    parts = ("metacarpal", "proximal", "distal") if finger.is_thumb else ("proximal", "middle", "distal")
    for k, (name, length, radius) in enumerate(zip(parts, lengths, (0.0085, 0.0075, 0.0068), strict=True)):
        child = b.body(f"{finger.name}.{name}", shape=_bone(length, radius), density=DENSITY)
        joint, dofs = (ub.Universal((0, 1, 0), (0, 0, 1)), slice(0, 2)) if k == 0 else (flexion, slice(k + 1, k + 2))
        b.joint(finger.joints[k], joint, body, child, X_PF=X_PF, q=q[dofs], v=v[dofs], **elastic)
        body, X_PF = child, Pose(p=(length, 0, 0))
    return body


def _bone(length: float, radius: float) -> Shape:
    """A capsule along x from the origin, round at both joints."""
    import unibody as ub

    return ub.Placed(ub.Capsule(radius, length), Pose.about((0, 1, 0), 0.5 * math.pi, p=(0.5 * length, 0, 0)))


def _start(motion: Callable[[float], float | np.ndarray], h: float = 1e-4) -> tuple[np.ndarray, np.ndarray]:
    """Value and rate at t = 0; central differences of fourth order, good to 1e-12."""
    at = {k: np.atleast_1d(motion(k * h)) for k in (-2, -1, 0, 1, 2)}
    return at[0], (8.0 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12.0 * h)
