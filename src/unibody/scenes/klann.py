"""A walking machine of Klann linkages: loops whose pins rub, driven by two cranks, on a rough floor (paper 000, Fig. 1d, 5c)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.parts import HINGE, turned
from unibody.shapes import Box, Placed, Sphere
from unibody.spatial.pose import Pose

SCALE = 4e-3
"""Metres per unit of the dimensions below."""

CRANK, ELBOW_ROCKER, HIP_ROCKER = 17.5, 23.7, 34.1
"""Lengths: crank (origin to C), lower rocker (B to H), upper rocker (D to E)."""

B, D = np.array([-38.8, -12.5]), np.array([-14.6, 41.9])
"""Where the rockers turn in the frame, x and z from the crank's axis, of a leg that faces −x."""

CF, CH, FH, EF, EG, FG = 73.4, 38.8, 35.2, 57.7, 111.7, 59.0
"""Distances in the connecting rod C–H–F and in the leg E–F–G, whose foot is G: those of an optimised Klann linkage (boim.com/Walkin8r)."""


WIDTH = 0.016
"""Of the bars [m]."""

RAMP = 0.1
"""Time [s] in which the cranks come up to their speed."""

LEGS = {"left": ((110.0, -1.0), (0.0, 1.0), (230.0, -1.0)), "right": ((120.0, 1.0), (350.0, -1.0), (240.0, 1.0))}
"""Angle [°] of the pin on its crank and facing of every leg. Those that face one way follow each other by a third of a turn, and those that
face the other way tread when they do."""

FOOT = 0.012
"""Radius of the feet [m]."""

FRAME = 2.0
"""Mass of the frame [kg]."""


@dataclass(frozen=True)
class _Ramp:
    """Angle of a crank that starts from rest and nears its speed, or a derivative of it."""

    speed: float
    order: int = 0

    def __call__(self, t: float) -> float:
        fade = math.exp(-max(t, 0.0) / RAMP)
        return self.speed * (max(t, 0.0) - RAMP * (1.0 - fade), 1.0 - fade, fade / RAMP)[self.order]


def meet(a: np.ndarray, r: float, b: np.ndarray, s: float, side: float) -> np.ndarray:
    """The point at r from a and s from b, to the left of the way from a to b where `side` is 1, to the right where −1."""
    way = b - a
    d = float(np.linalg.norm(way))
    along = (r * r - s * s + d * d) / (2.0 * d)
    across = math.sqrt(max(0.0, r * r - along * along))
    return a + (along * way + side * across * np.array([-way[1], way[0]])) / d


def leg_points(angle: float, facing: float) -> dict[str, np.ndarray]:
    """The joints of a leg (x, z) [m] for a crank pin at `angle` from x towards z; `facing` −1 or 1 along x."""
    turn = angle if facing < 0 else math.pi - angle
    C = CRANK * np.array([math.cos(turn), math.sin(turn)])
    H = meet(B, ELBOW_ROCKER, C, CH, 1.0)
    F = meet(C, CF, H, FH, 1.0)
    E = meet(D, HIP_ROCKER, F, EF, -1.0)
    G = meet(E, EG, F, FG, 1.0)
    mirrored = np.array([-facing, 1.0])
    return {k: SCALE * mirrored * p for k, p in {"B": B, "C": C, "D": D, "E": E, "F": F, "G": G, "H": H}.items()}


def _weight(bars: list[tuple[np.ndarray, np.ndarray]], density: float) -> dict[str, Any]:
    """Mass, centre and inertia of bars between points (x, z) of a body, as if all lay in the plane, about whose normal alone they turn."""
    lengths = np.array([np.linalg.norm(q - p) + WIDTH for p, q in bars])
    masses = density * 0.6 * WIDTH**2 * lengths
    middles = np.array([0.5 * (p + q) for p, q in bars])
    com = masses @ middles / masses.sum()
    inertia = float(np.sum(masses * ((lengths**2 + WIDTH**2) / 12.0 + np.sum((middles - com) ** 2, axis=1))))
    return {"mass": float(masses.sum()), "com": (com[0], 0.0, com[1]), "inertia": (inertia, inertia, inertia)}


def _ball(density: float) -> dict[str, Any]:
    """Mass and inertia of a foot, as if it lay in the plane."""
    mass = density * 4.0 / 3.0 * math.pi * FOOT**3
    return {"mass": mass, "com": (0, 0, 0), "inertia": (0.4 * mass * FOOT**2,) * 3}


def _bar(p: np.ndarray, q: np.ndarray, depth: float, width: float) -> Placed:
    """A bar between two points (x, z) of a body, `depth` behind the plane."""
    way = q - p
    middle = 0.5 * (p + q)
    place = turned(math.atan2(way[1], way[0]), (middle[0], depth, middle[1]))
    return Placed(Box((float(np.linalg.norm(way)) + width, 0.6 * width, width)), place)


@scene("klann", summary="a six-legged walking machine of Klann linkages; friction in all its pins loads the two cranks")
def klann(
    *,
    floor: bool = True,
    coefficient: float = 0.2,
    radius: float = 8e-3,
    height: float = 0.02,
    speed: float = math.pi,
    density: float = 600.0,
    floor_friction: float = 0.8,
    gravity: float = 9.81,
) -> Scene:
    """Two cranks turn at `speed` [rad/s] from rest, each with three legs. On the `floor`, of `floor_friction`, the machine walks along x;
    without it the frame is held. Pins of `radius` and `height` [m] rub with `coefficient`. Of 26 velocities of pins 24 are held by the
    loops and two by the cranks."""
    import unibody as ub

    require("klann", coefficient >= 0, f"coefficient={coefficient:g} of friction is negative; give 0 or more")
    require("klann", radius > 0 and height > 0, f"radius={radius:g}, height={height:g} of a pin; give lengths above 0")
    require("klann", density > 0, f"density={density:g}; give more than 0")
    require("klann", floor_friction >= 0, f"floor_friction={floor_friction:g} is negative; give 0 or more")
    # points of all legs in the plane; the frame stands so high that the lowest foot touches the floor
    b = ub.Builder(gravity=(0, 0, -gravity), planar=True)
    hinge = ub.Revolute(axis=HINGE)
    legs = {side: [leg_points(math.radians(angle), facing) for angle, facing in given] for side, given in LEGS.items()}
    up = FOOT - min(float(leg["G"][1]) for side in legs.values() for leg in side)
    base = "frame" if floor else "world"
    origins = {base: np.zeros(2)}

    def link(name: str, depth: float, *chain: np.ndarray) -> None:
        """A body of bars along points (x, z), its origin in their midst and its axes those of the world."""
        middle = np.mean(chain, axis=0)
        origins[name] = middle
        bars = [(p - middle, q - middle) for p, q in pairwise(chain)]
        b.body(name, shape=[_bar(*bar, depth, WIDTH) for bar in bars], **_weight(bars, density))

    def pin(name: str, parent: str, child: str, point: np.ndarray) -> None:
        places = [point - origins[body] for body in (parent, child)]
        b.joint(name, hinge, parent, child, *(Pose(p=(p[0], 0.0, p[1])) for p in places))
        b.add(ub.JointFriction(name, coefficient, radius=radius, height=height), name=f"{name} rub")

    # the frame, or the world in its place
    if floor:
        b.body("ground", shape=ub.Plane(), kind="static")
        beam = Placed(Box((0.16, 0.06, 0.03)), Pose((0.0, 0.0, 0.05)))
        plates = [_bar(first, last, side * 0.045, 0.03) for side in (-1.0, 1.0) for first, last in _plates()]
        b.body("frame", shape=[beam, *plates], mass=FRAME, com=(0, 0, 0.05), inertia=(0.03, 0.03, 0.03), X_WB=Pose((0.0, 0.0, up)))
    # each side: a crank with three arms, driven
    for side in LEGS:
        first = -1.0 if side == "left" else 1.0
        depths = [first * (0.08 + 0.09 * k) for k in range(3)]
        hub = f"{side} crank"
        origins[hub] = np.zeros(2)
        arms = [(np.zeros(2), leg["C"]) for leg in legs[side]]
        b.body(hub, shape=[_bar(*arm, depth, WIDTH) for arm, depth in zip(arms, depths, strict=True)], **_weight(arms, density))
        pin(hub, base, hub, np.zeros(2))
        b.add(ub.PrescribedJoint(hub, _Ramp(speed), rate=_Ramp(speed, 1), acceleration=_Ramp(speed, 2)), name=f"{side} drive")
        # each leg: four links, a foot, and six pins
        for k, (leg, depth) in enumerate(zip(legs[side], depths, strict=True)):
            name = f"{side} {k}"
            back = depth + first * 0.02
            link(f"{name} rod", depth, leg["C"], leg["H"], leg["F"])
            link(f"{name} elbow rocker", back, leg["B"], leg["H"])
            link(f"{name} hip rocker", back, leg["D"], leg["E"])
            link(f"{name} leg", back, leg["E"], leg["F"], leg["G"])
            if floor:
                foot = leg["G"] - origins[f"{name} leg"]
                b.body(f"{name} foot", shape=Placed(Sphere(FOOT), Pose((0.0, back, 0.0))), **_ball(density))
                b.joint(f"{name} ankle", ub.Weld(), f"{name} leg", f"{name} foot", Pose((foot[0], 0.0, foot[1])))
            pin(f"{name} C", hub, f"{name} rod", leg["C"])
            pin(f"{name} B", base, f"{name} elbow rocker", leg["B"])
            pin(f"{name} D", base, f"{name} hip rocker", leg["D"])
            pin(f"{name} F", f"{name} rod", f"{name} leg", leg["F"])
            pin(f"{name} H", f"{name} elbow rocker", f"{name} rod", leg["H"])
            pin(f"{name} E", f"{name} hip rocker", f"{name} leg", leg["E"])
    known = (
        "No exact solution. The drives' efforts, rec.multiplier('left drive'), grow with the coefficient; without friction they are "
        "negative in parts of a turn, where legs push the crank. "
    )
    # in the air nothing touches; on the floor the feet do
    if not floor:
        return Scene(b.build(), 2.0, 1e-2, None, known + "Nothing touches the ground: the frame is held.")
    b.add(ub.Contact(friction=floor_friction, between=("ground", [f"{side} {k} foot" for side in LEGS for k in range(3)])))
    walks = (
        "It walks along x, on two feet at a time, of which one slips, since they tread at unlike speeds. "
        "The world is a plane, so that nothing falls over sideways. floor=False holds the frame in the air."
    )
    return Scene(b.build(), 4.0, 1e-2, None, known + walks, solver="complementarity")


def _plates() -> list[tuple[np.ndarray, np.ndarray]]:
    """The frame's struts (x, z): from the crank to where the rockers turn, of legs that face either way."""
    centre = np.zeros(2)
    return [(centre, SCALE * np.array([side, 1.0]) * p) for side in (-1.0, 1.0) for p in (B, D)]
