"""A cable's numbers at the start of a model: sides of wheels, the lengths between wheels that grip, shares of the rest length, marks.

A stiffness k of the whole string, of length L, is k L / L_i for a section of length L_i; a rest length below L makes all sections taut
alike. Half of the arc on a wheel counts to either side.

Of a wheel, θ at the start is from −90° to 270°, and `turns` whole turns more. From then on it is looked for in the turn that begins at

    −90°, but at least 45° … 135° below the start and at most 270° below it;   θ₀ − 180° with whole turns, where no wheel is left

so that what starts straight may move off by 135° or be wrapped by 225°, and what starts at 180° by 90° off or 270°.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from unibody.element import Packing, Point
from unibody.errors import ModelError
from unibody.forces.cable_course import (
    ANGLE,
    ARRIVED,
    DAMPING,
    FRICTION,
    HEAD,
    LEFT,
    NODE,
    NODE_INTS,
    RADIUS,
    REST,
    SHARE,
    SLIP_SPEED,
    STIFFNESS,
    STRETCH,
    TURN,
    TURNED,
    WINDOW,
)
from unibody.forces.cable_spans import LENGTH, MISSED, TANGENT
from unibody.forces.pulley import Pulley
from unibody.forces.pulley_cable import PulleyCable, angles_at_start, course_of, wheel_joint

LOWEST, TURN_ROUND = -0.5 * np.pi, 2.0 * np.pi
"""θ of a wheel at the start begins there."""
STRAIGHT = 1e-9
"""Below this sine of the bend at a wheel's centre, nothing says on which side the cable passes."""


def started_cable(
    points: Sequence[Point | Pulley], stiffness: float, damping: float, rest_length: float | None, friction: float, slip_speed: float,
    winch: Any, packing: Packing, name: str,
) -> PulleyCable:  # fmt: skip
    """The cable as its model holds it."""
    n = len(points)
    centres = [p if isinstance(p, Point) else p.center for p in points]
    # every node's body by itself, as it stands at the start
    X = np.array([_start_pose(packing, c.body) for c in centres])
    places = np.array([packing.start_position(c) for c in centres])
    sides = [_side(p, X[m], places, m, name) for m, p in enumerate(points)]
    numbers = np.zeros((n, NODE))
    integers, q = [n, -1], np.zeros(n)
    for m, (p, c) in enumerate(zip(points, centres, strict=True)):
        numbers[m, :3], numbers[m, 3:6], numbers[m, 6:9] = c.p, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
        numbers[m, SLIP_SPEED], sense = slip_speed, 0
        if isinstance(p, Pulley):
            numbers[m, 3:6], numbers[m, 6:9] = p.axis, _across(np.array(p.axis))
            mu = friction if p.friction is None else p.friction
            numbers[m, RADIUS], numbers[m, FRICTION], numbers[m, WINDOW] = p.radius, 0.0 if p.grip else mu, LOWEST + TURN_ROUND * p.turns
            if p.grip:
                sense, q[m] = _sense(packing, p, name)
                numbers[m, TURNED] = q[m]
        integers += [m, sides[m], sense, m]
    _check_tangents(points, sides, X, places, name)
    # marks: where the cable touches wheels that grip; then lengths between them
    course = course_of(integers, numbers, np.zeros(2), X, np.zeros((n, 6)), q, -1)
    for m, l in pairwise(course.nodes):
        if course.spans[m, MISSED] > TANGENT:
            raise no_tangent(points, m, l, name)
    for m in course.nodes:
        numbers[m, ARRIVED], numbers[m, LEFT] = angles_at_start(course, m)
    course = course_of(integers, numbers, np.zeros(2), X, np.zeros((n, 6)), q, -1)
    for m, p in enumerate(points):
        if isinstance(p, Pulley):
            numbers[m, WINDOW] = _lowest(float(course.state[m, TURN]), p.turns)
    gripping = [m for m in course.nodes if integers[HEAD + NODE_INTS * m + 2]]
    ends = sorted({0, *gripping, n - 1})
    arcs = course.state[:, ANGLE] * numbers[:, RADIUS]
    arcs[[0, n - 1]] = 0.0
    for begin, end in pairwise(ends):
        within = [m for m in course.nodes if begin <= m < end]
        gone, length = 0.5 * arcs[begin], 0.0
        shares = {}
        for m in within:
            shares[m] = gone + (0.5 * arcs[m] if m != begin else 0.0)
            gone += course.spans[m, LENGTH] + (arcs[m] if m != begin else 0.0)
        length = gone + 0.5 * arcs[end]
        if length <= 0.0:
            raise ModelError(f"'{name}': the cable has no length at the start; put its ends apart")
        passed = 0.0
        for m in range(begin, end):
            passed = shares.get(m, passed) if m != begin else 0.0
            numbers[m, SHARE] = passed / length
        numbers[begin, STIFFNESS] = length  # for now
        numbers[begin, REST] = course.state[begin, STRETCH]
    total = float(numbers[:, STIFFNESS].sum())
    for begin in ends[:-1]:
        length = numbers[begin, STIFFNESS]
        numbers[begin, STIFFNESS], numbers[begin, DAMPING] = stiffness * total / length, damping * total / length
        if rest_length is not None:
            numbers[begin, REST] -= length * (1.0 - rest_length / total)
    return PulleyCable(tuple(points), winch, (tuple(sides), tuple(map(tuple, numbers.tolist()))))


def _lowest(turn: float, turns: int) -> float:
    """The lowest θ of a wheel, by the one at the start."""
    return turn - np.pi if turns else min(max(LOWEST, turn - 1.5 * np.pi), turn - 0.75 * np.pi)


def _start_pose(packing: Packing, body: str) -> np.ndarray:
    origin = packing.start_position(Point(body))
    columns = [packing.start_position(Point(body, tuple(e))) - origin for e in np.eye(3)]
    return np.concatenate([np.stack(columns, axis=1).ravel(), origin])


def _across(axis: np.ndarray) -> np.ndarray:
    """A unit vector across an axis."""
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(axis, np.cross(other, axis))
    return x / np.linalg.norm(x)


def _side(node: Point | Pulley, X: np.ndarray, places: np.ndarray, m: int, name: str) -> int:
    """s of a wheel, 0 of a point; asked of the bend of the line through the centres where it is not given."""
    if isinstance(node, Point):
        return 0
    what = f"'{name}': pulley {m} on '{node.center.body}'"
    if m in (0, len(places) - 1) and not node.grip:
        raise ModelError(f"{what} is at an end of the cable, which would slip off; give grip=True (a drum), or a point as the end")
    if node.side is not None:
        return int(node.side)
    if m in (0, len(places) - 1):
        raise ModelError(f"{what}: nothing says in which sense the cable runs around a drum; give side=1 or side=-1")
    axis = X[:9].reshape(3, 3) @ np.array(node.axis)
    come, go = places[m] - places[m - 1], places[m + 1] - places[m]
    bend, size = float(np.cross(come, go) @ axis), float(np.linalg.norm(come) * np.linalg.norm(go))
    if abs(bend) <= STRAIGHT * size:
        raise ModelError(f"{what}: the cable does not bend about its axis at the start; give side=1 or side=-1")
    return 1 if bend > 0.0 else -1


def _check_tangents(points: Sequence[Point | Pulley], sides: Sequence[int], X: np.ndarray, places: np.ndarray, name: str) -> None:
    """Points within a wheel have no tangent to it, nor have wheels beside each other that overlap as they must not."""
    for m, (a, b) in enumerate(pairwise(points)):
        wheels = [(m + k, p) for k, p in enumerate((a, b)) if isinstance(p, Pulley)]
        if not wheels:
            continue
        at, wheel = wheels[0]
        axis, d = X[at, :9].reshape(3, 3) @ np.array(wheel.axis), places[m + 1] - places[m]
        apart = np.linalg.norm(d - (d @ axis) * axis)
        if len(wheels) == 1 and apart <= wheel.radius:
            raise ModelError(
                f"'{name}': point {2 * m + 1 - at} lies within pulley {at} of radius {wheel.radius:g} m on '{wheel.center.body}'; "
                "put it farther away"
            )
        if isinstance(a, Pulley) and isinstance(b, Pulley):
            other = X[m + 1, :9].reshape(3, 3) @ np.array(b.axis)
            one_plane = abs(d @ axis) < 0.5 * min(a.radius, b.radius) and np.linalg.norm(np.cross(axis, other)) < 0.1
            alike = sides[m] * sides[m + 1] * (axis @ other) > 0.0
            if one_plane and apart <= (abs(a.radius - b.radius) if alike else a.radius + b.radius):
                raise no_tangent(points, m, m + 1, name)


def no_tangent(points: Sequence[Point | Pulley], m: int, l: int, name: str) -> ModelError:
    told = ", ".join(f"{k} on '{p.center.body}' of {p.radius:g} m" for k, p in ((m, points[m]), (l, points[l])) if isinstance(p, Pulley))
    why = f"no tangent between {m} and {l} (pulleys {told}) as the cable turns"
    return ModelError(f"'{name}': {why}; put them farther apart, or give another side")


def _sense(packing: Packing, wheel: Pulley, name: str) -> tuple[int, float]:
    try:
        sense, _ = wheel_joint(packing, wheel)
    except ModelError as error:
        raise ModelError(f"'{name}': {error}") from None
    joint = packing.joint_above(wheel.center.body)
    assert joint is not None
    return sense, float(joint.q0[0])
