"""The hagfish of Wang et al. 2019, *RedMax*, §6: an animal that ties itself into a knot.

A hundred joints, revolute ones about the body's axis z (twist) and universal ones about x and y (bends) in turn, 150 degrees of freedom;
the head is held, as in the jar of the paper's Fig. 3. A spline through the body keeps it from passing through itself, as rows C ≥ 0 without
friction: hagfish are slimy.

The motion is one of muscles: every bend has a motor that pulls towards an angle. The angles are those of a body that slides, tail first,
along a curve at rest: straight, then an overhand knot, then straight again (`knots.OVERHAND`). With the curve's arclength σ, the point
a [m] behind the head lies at

    σ = a − L + u(t),   u from 0 (straight) to u_end (the knot in mid-body),

so the shapes on the way are parts of one curve that keeps off itself, and the tail passes through its own loop. Seen from the head, the
knot forms at the tail and runs towards the head. At last the curve shrinks, σ → σ/λ, λ < 1, below what the body's thickness admits: muscles
tighten the knot and contact carries it.

Sizes, after a Pacific hagfish (*Eptatretus stoutii*) of 0.5 m: radius 9 mm in the middle, 6 mm at the head, 4 mm at the tail; density of
sea water, 1025 kg/m³, so that weight is borne (there is no gravity), 0.105 kg in all; bends within ±0.8 rad per centimetre and plane, twist
within ±0.5 rad per centimetre; muscles of 2 N m/rad and 0.02 N m s/rad at every joint. Drag is linear, 2 N s/m per metre of body, and
2e-5 N m s/rad on each body's turning. The measurements that the authors used are not public.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.knots import OVERHAND, arclength, closed, determinant
from unibody.scenes.parts import add_body
from unibody.spatial.pose import Pose

LENGTH, DENSITY = 0.5, 1025.0
HEAD, MIDDLE, TAIL = 0.006, 0.009, 0.004
"""Radii [m]."""
JOINTS = 100
LINK = LENGTH / JOINTS
BEND, TWIST = 0.8, 0.5
"""Limits of a joint's coordinates [rad]."""
MUSCLE = (2.0, 0.02)
"""kp [N m/rad] and kd [N m s/rad] of the motors."""
BLOCKS = 20
"""Stretches of the body that are kept apart."""


def radius(a: float | np.ndarray) -> np.ndarray:
    """The body's radius [m] at a [m] behind the head."""
    x = 2.0 * np.asarray(a) / LENGTH - 1.0
    return MIDDLE + np.where(x < 0.0, HEAD - MIDDLE, TAIL - MIDDLE) * np.abs(x) ** 3


@dataclass(frozen=True)
class Tying:
    """The way into the knot: which shape the muscles aim at, and whether a body is tied."""

    duration: float
    """[s]; seven tenths of it for sliding into the knot, two for tightening it, the last to rest."""
    shrink: float
    """λ at the end."""
    travel: float = 0.43
    """u at the end [m]."""
    _last: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tying, (self.duration, self.shrink, self.travel)

    @cached_property
    def _curve(self) -> Callable[[np.ndarray], np.ndarray]:
        from scipy.interpolate import CubicSpline

        lead = np.array([(-0.01 * k, 0, 0) for k in range(3, 0, -1)])
        points = np.concatenate([lead, OVERHAND, OVERHAND[-1] - lead[::-1]])
        way = arclength(points)
        spline, first, last = CubicSpline(way, points), way[2], way[-3]

        def curve(sigma: np.ndarray) -> np.ndarray:
            inside = np.clip(sigma + way[3], first, last)
            return spline(inside) + (sigma + way[3] - inside)[:, None] * np.array([1.0, 0.0, 0.0])

        return curve

    def progress(self, t: float) -> tuple[float, float]:
        """u [m] and λ."""
        slide, tighten = (_eased(x) for x in (t / (0.7 * self.duration), (t - 0.7 * self.duration) / (0.2 * self.duration)))
        return self.travel * slide, 1.0 + (self.shrink - 1.0) * tighten

    def shape(self, a: np.ndarray, t: float) -> np.ndarray:
        """Where the curve would have the points a [m] behind the head, (n, 3) [m]."""
        u, scale = self.progress(t)
        return scale * self._curve((np.asarray(a) - LENGTH + u) / scale)

    def bends(self, t: float) -> np.ndarray:
        """Angles of the universal joints at which the body's links are parallel to the curve's chords, (50, 2) [rad]."""
        if self._last.get("t") != t:
            self._last.update(t=t, bends=self._fitted(t))
        return self._last["bends"]

    def _fitted(self, t: float) -> np.ndarray:
        a = np.concatenate([[0.0], np.arange(1, JOINTS, 2) * LINK, [LENGTH]])
        d = np.diff(self.shape(a, t), axis=0)
        d /= np.linalg.norm(d, axis=1, keepdims=True)
        R = _upright(d[0])
        out = np.empty((len(d) - 1, 2))
        for k, direction in enumerate(d[1:]):
            x, y, z = R.T @ direction
            out[k] = math.atan2(-y, z), math.asin(max(-1.0, min(1.0, x)))
            (c1, s1), (c2, s2) = ((math.cos(q), math.sin(q)) for q in out[k])
            R = R @ np.array([[c2, 0.0, s2], [s1 * s2, c1, -s1 * c2], [-c1 * s2, s1, c1 * c2]])
        return out

    def determinant(self, centres: np.ndarray) -> int:
        """Of the body along these points, its ends led on: 1 while it is not tied, 3 when it is."""
        return determinant(closed(centres))


def _eased(x: float) -> float:
    """From 0 to 1 without a jerk at either end."""
    x = min(max(x, 0.0), 1.0)
    return x * x * x * (10.0 + x * (6.0 * x - 15.0))


def _upright(z: np.ndarray) -> np.ndarray:
    """A rotation whose z axis is this."""
    x = np.cross((0.0, 1.0, 0.0), z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


@scene("hagfish", summary="the hagfish of the RedMax paper: 150 degrees of freedom tie themselves into a knot, kept apart by contact")
def hagfish(*, duration: float = 10.0, shrink: float = 0.84, contact: bool = True) -> Scene:
    """`duration` of tying [s]; `shrink`, how far the knot is tightened (1: not at all); `contact=False` leaves the rows of contact out.

    At 0.84 three pairs of strands press on each other and the skin holds. Strands that are pressed on further, at 0.8, come to lie along
    each other; a row knows one pair of closest points, which then slides far within a step, and the skin is pressed in by 1 or 2 mm.

    Needs a solver of one-sided rows. exact.determinant(centres) tells whether the body is tied.
    """
    import unibody as ub

    require("hagfish", duration > 0.0, f"duration={duration:g} s is not positive; give a number above 0")
    require("hagfish", 0.5 <= shrink <= 1.0, f"shrink={shrink:g} is out of reach; give a number from 0.5 to 1")
    tying = Tying(duration, shrink)
    b = ub.Builder(gravity=None)
    body, X_PF = b.world, Pose.about((0, 1, 0), 0.5 * math.pi)
    twist, bend = ub.Revolute((0, 0, 1)), ub.Universal()
    points = []
    for k in range(JOINTS):
        name, r = f"joint{k}", float(radius((k + 0.5) * LINK))
        child = add_body(b, f"link{k}", [ub.Capsule(r, LINK)], ub.Cylinder(r, LINK).mass_properties(DENSITY))  # drawn without gaps
        b.joint(name, bend if k % 2 else twist, body, child, X_PF=X_PF, X_BM=Pose(p=(0, 0, -0.5 * LINK)))
        limit = BEND if k % 2 else TWIST
        b.add(ub.JointLimit(name, -limit, limit), name=f"{name}.limit")
        b.add(ub.BodyDamping(child, angular=2e-5, linear=2.0 * LINK), name=f"link{k}.drag")
        for dof in range(2 if k % 2 else 1):
            target = partial(_target, tying, k // 2, dof) if k % 2 else 0.0
            b.add(ub.Motor(name, kp=MUSCLE[0], kd=MUSCLE[1], target=target, dof=dof), name=f"{name}.muscle{dof}")
        if k % 2 == 0:
            points.append(child.at())
        body, X_PF = child, Pose(p=(0, 0, 0.5 * LINK))
    points.append(body.at(0, 0, 0.5 * LINK))
    if contact:
        along = [(k + 0.5) * LINK for k in range(0, JOINTS, 2)] + [LENGTH]
        b.add(ub.SplineContact(points, radius(np.array(along)), blocks=BLOCKS), name="skin")
    notes = (
        "No exact motion; what is known is topology: the body, its ends led on, is unknotted at the start (determinant 1) and a trefoil at "
        "the end (determinant 3), and never passes through itself."
    )
    return Scene(b.build(), duration, 0.01, tying, notes)


def _target(tying: Tying, joint: int, dof: int, t: float) -> float:
    return float(tying.bends(t)[joint, dof])
