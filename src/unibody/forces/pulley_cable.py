"""A cable with wheels, a winch or friction: what a `Cable` becomes when its model is built. The course and its tensions: `cable_course`.

With Λ = Σ G over the spans of a section, W_j of the wheels that rub (w_j = W_j·V + …) and each span's H and E:

    F = −Σ T_i G_i = −T Λ − Σ ΔT_j W_j,      energy Σ ½ k stretch²
    K = −Λ (k Λ + c E)ᵀ − Σ T_i (H_i + ½ [·,·]),      D = −c Λ Λᵀ − Σ (ΔT_j / w_j) W_j W_jᵀ

exact but for two things, both about friction: K takes the jumps ΔT_j as they are, and D the chord of tanh from rest, as `DryFriction` does
and for its reasons. Projected, B = (h c + h² k) Λ Λᵀ + h Σ (ΔT_j/w_j) W_j W_jᵀ + h² Σ T_i H_i with projected H_i: a sum of semidefinite
matrices. Winches put −T ṗ into the bodies, and the part of friction's heat that their paying out feeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from unibody.element import DAMPER_POWER, MOTOR_POWER, SPRING_ENERGY, Kinematics, Packing, Point
from unibody.errors import ModelError
from unibody.forces.base import Blocks, Force, Loads
from unibody.forces.cable_course import (
    ANGLE,
    BEGIN,
    BLIND,
    DAMPING,
    FRICTION,
    MEAN,
    NEXT,
    RADIUS,
    REST,
    SHARE,
    SLIP,
    SLIP_SPEED,
    STATE,
    STIFFNESS,
    STRETCH,
    STRETCH_RATE,
    TENSION,
    TURN,
    WINDOW,
    fill_one_course,
)
from unibody.forces.cable_spans import (
    FIRST_ANGLE,
    FIRST_AT,
    GRADIENT,
    HESSIAN,
    RATE,
    SCRATCH,
    SECOND_ANGLE,
    SECOND_AT,
    SPAN,
)
from unibody.forces.pulley import Pulley
from unibody.forces.pulley_cable_kernels import add_implicit_pulley_cables, add_pulley_cables
from unibody.spatial.pose import skew

CLOSE = 0.1
"""In radii: where a point is so near to a wheel that a step may have brought it in."""
NEARBY = 0.8
"""A step may have turned a cable by so much more [rad] when it is asked what went wrong."""


@dataclass(frozen=True)
class PulleyCable(Force):
    """A `Cable` as its model holds it: `resolved` are the sides of its nodes and their numbers in the tables (`cable_start`)."""

    points: Any
    winch: Any
    resolved: Any

    add_kernel = add_pulley_cables
    implicit_kernel = add_implicit_pulley_cables

    def bodies(self) -> list[str]:
        return list(dict.fromkeys(self._node_bodies()))

    def pairs(self) -> list[tuple[str, str]]:
        """One for each pair of nodes on different bodies; a pair of bodies may come more than once."""
        return [(p, r) for p, r in combinations(self._node_bodies(), 2) if p != r]

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        slot = -1
        if self.winch is not None:
            slot = packing.signal_vector(paid_out(self.winch), 2, f"'{name}': winch")
        return self._integers(packing, slot), self._numbers.ravel().tolist()

    def taut(self, at: Kinematics) -> PulleyCable:
        """Never slack at this instant: with rest lengths below the lengths that it has."""
        course = self._course(at, 0)
        numbers = self._numbers.copy()
        stretch = course.state[:, STRETCH]
        numbers[:, REST] -= np.where(stretch <= 0.0, 1e-9 - stretch, 0.0)
        return replace(self, resolved=(self.resolved[0], tuple(map(tuple, numbers.tolist()))))

    @property
    def several_tensions(self) -> bool:
        """Whether its spans may pull unlike each other: some wheel rubs or grips."""
        return any(isinstance(p, Pulley) and (p.grip or self._numbers[m, FRICTION] > 0.0) for m, p in enumerate(self.points))

    @property
    def loses_while_paying(self) -> bool:
        """Whether what a winch pays out passes a damper or a wheel that rubs."""
        numbers = self._numbers
        return self.winch is not None and bool(numbers[:, DAMPING].any() or numbers[:, FRICTION].any())

    def tensions(self, kinematics: Kinematics) -> np.ndarray:
        """(spans,) the pull of every span between the elements of `points` [N]; spans past a wheel that is left have that of the one span
        which goes past it."""
        state = self._course(kinematics, 0).state
        out = np.zeros(len(self.points) - 1)
        pull = 0.0
        for m in range(len(out)):
            pull = state[m, TENSION] if state[m, NEXT] >= 0.0 else pull
            out[m] = pull
        return out

    def trouble(self, kinematics: Kinematics) -> str | None:
        """Why a step from here may have failed by this cable: a point that came into a wheel, wheels into each other, or a wheel about
        which it is nearly a turn from where it began."""
        course, numbers = self._course(kinematics, 0), self._numbers
        state = course.state
        for m, l in pairwise(course.nodes):
            inside = self._inside(kinematics, m, l)
            if inside is not None:
                return inside
        for m, node in enumerate(self.points):
            lowest, turn = numbers[m, WINDOW], state[m, TURN]
            off = min(turn - lowest, lowest + 2.0 * np.pi - turn)
            if isinstance(node, Pulley) and not node.grip and off < BLIND + NEARBY:
                low, high = (round(np.degrees(x)) for x in (lowest + BLIND, lowest + 2.0 * np.pi - BLIND))
                two = sorted(round(np.degrees(x)) for x in (turn, turn + (2.0 if turn < lowest + np.pi else -2.0) * np.pi))
                return (
                    f"on pulley {m} on '{node.center.body}' the cable turns by {two[0]}° or {two[1]}°, which look alike; from its start it "
                    f"is followed from {low}° to {high}° only; start it nearer to there, give turns=, or let the wheel grip"
                )
        return None

    def _inside(self, kinematics: Kinematics, m: int, l: int) -> str | None:
        """Of two neighbours, what came so near that no tangent is left."""
        a, b = self.points[m], self.points[l]
        wheels = [(k, p) for k, p in ((m, a), (l, b)) if isinstance(p, Pulley)]
        if not wheels:
            return None
        (k, wheel), r = wheels[0], [p.radius for _, p in wheels]
        R, _ = kinematics.pose(wheel.center.body)
        d = np.subtract(*(kinematics.position(p.center if isinstance(p, Pulley) else p) for p in (a, b)))
        apart = np.linalg.norm(np.cross(R @ np.array(wheel.axis), d))
        least = r[0] if len(r) == 1 else abs(r[0] - r[1]) if self._sides[m] == self._sides[l] else r[0] + r[1]
        if apart > (1.0 + CLOSE) * least:
            return None
        if len(r) == 2:
            return f"pulleys {m} and {l} came so near that no cable runs between them; keep them apart, or stop what moves them"
        return f"point {m + l - k} came within pulley {k} on '{wheel.center.body}'; stop what hauls it in, or give the cable more length"

    def lengths(self, kinematics: Kinematics) -> np.ndarray:
        """(sections,) how long the cable is from end to end, or from one wheel that grips to the next, arcs included [m]."""
        course = self._course(kinematics, 0)
        return np.array([course.state[m, STRETCH] + self._numbers[m, REST] for m in course.sections])

    def drawn(self, kinematics: Kinematics, per_arc: int = 16) -> np.ndarray:
        """(n, 3) points along its course in the world, as many at every instant: `per_arc` for a wheel, one for a point."""
        course = self._course(kinematics, 0)
        ends = {m: course.spans[m] for m in course.nodes[:-1]}
        out: list[np.ndarray] = []
        for m, node in enumerate(self.points):
            if isinstance(node, Point):
                out.append(kinematics.position(node)[None, :])
                continue
            before = [k for k in course.nodes if k < m]
            if m not in course.nodes:  # left: it is passed on a straight line
                span = ends[before[-1]]
                out.append(np.linspace(span[FIRST_AT : FIRST_AT + 3], span[SECOND_AT : SECOND_AT + 3], per_arc + 2)[1:-1])
                continue
            R, p = kinematics.pose(node.center.body)
            numbers, side = self._numbers[m], self._sides[m]
            arrived = ends[before[-1]][SECOND_ANGLE] if before else ends[m][FIRST_ANGLE] - side * 2.0 * np.pi
            total = course.state[m, ANGLE] if before and m in ends else 2.0 * np.pi
            angle = arrived + side * np.linspace(0.0, total, per_arc)
            n = np.outer(np.cos(angle), numbers[6:9]) + np.outer(np.sin(angle), np.cross(numbers[3:6], numbers[6:9]))
            out.append(p + (numbers[:3] + numbers[RADIUS] * n) @ R.T)
        return np.concatenate(out)

    def energy(self, kinematics: Kinematics) -> float:
        course = self._course(kinematics, 0)
        return sum(0.5 * self._numbers[m, STIFFNESS] * max(0.0, course.state[m, STRETCH]) ** 2 for m in course.sections)

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        course = self._course(kinematics, 0)
        bodies = self._node_bodies()
        for m, l in pairwise(course.nodes):
            G = course.spans[m, GRADIENT : GRADIENT + 12]
            T = course.state[m, TENSION]
            loads.add_wrench(bodies[m], -T * G[:3], -T * G[3:6])
            loads.add_wrench(bodies[l], -T * G[6:9], -T * G[9:])
        for m in course.sections:
            paying = course.paying if m == 0 else 0.0
            stretch, mean = max(0.0, course.state[m, STRETCH]), course.state[m, MEAN]
            spring = self._numbers[m, STIFFNESS] * stretch
            loads.ledger[SPRING_ENERGY] += 0.5 * spring * stretch
            if stretch > 0.0:
                loads.ledger[DAMPER_POWER] -= (mean - spring) * course.state[m, STRETCH_RATE]
            loads.ledger[MOTOR_POWER] -= mean * paying
        for m, jump in course.jumps():
            paying = course.paying if course.state[m, BEGIN] == 0.0 else 0.0
            loads.ledger[DAMPER_POWER] -= jump * course.state[m, SLIP]
            loads.ledger[MOTOR_POWER] += jump * (1.0 - self._numbers[m, SHARE]) * paying

    def stiffness_blocks(self, kinematics: Kinematics) -> Blocks:
        course = self._course(kinematics, 2)
        K = np.zeros((6 * len(self.points),) * 2)
        for m in course.sections:
            if course.state[m, MEAN] > 0.0:
                along, bent = course.total(m, GRADIENT), course.total(m, RATE)
                K -= np.outer(along, self._numbers[m, STIFFNESS] * along + self._numbers[m, DAMPING] * bent)
        for m, l in pairwise(course.nodes):
            span, where = course.spans[m], course.columns(m, l)
            H, G = span[HESSIAN : HESSIAN + 144].reshape(12, 12).copy(), span[GRADIENT : GRADIENT + 12]
            for at in (0, 6):
                H[at : at + 6, at : at + 6] += 0.5 * _brackets(G[at : at + 6])
            K[np.ix_(where, where)] -= course.state[m, TENSION] * H
        return self._by_bodies(K)

    def damping_blocks(self, kinematics: Kinematics) -> Blocks:
        course = self._course(kinematics, 0)
        D = np.zeros((6 * len(self.points),) * 2)
        for m in course.sections:
            if course.state[m, MEAN] > 0.0:
                along = course.total(m, GRADIENT)
                D -= self._numbers[m, DAMPING] * np.outer(along, along)
        for m, jump in course.jumps():
            begin = int(course.state[m, BEGIN])
            numbers, slip = self._numbers[m], course.state[m, SLIP]
            if numbers[FRICTION] > 0.0 and course.state[begin, MEAN] > 0.0:
                W = numbers[SHARE] * course.total(begin, GRADIENT) - course.total(begin, GRADIENT, until=m)
                rest = (course.state[m, TENSION] - jump) * numbers[FRICTION] * course.state[m, ANGLE] / numbers[SLIP_SPEED]
                D -= (jump / slip if abs(slip) > 1e-9 * numbers[SLIP_SPEED] else rest) * np.outer(W, W)
        return self._by_bodies(D)

    def _by_bodies(self, matrix: np.ndarray) -> Blocks:
        blocks: Blocks = {}
        for m, a in enumerate(self._node_bodies()):
            for l, b in enumerate(self._node_bodies()):
                block = matrix[6 * m : 6 * m + 6, 6 * l : 6 * l + 6]
                blocks[a, b] = blocks[a, b] + block if (a, b) in blocks else block
        return blocks

    def _node_bodies(self) -> list[str]:
        return [p.body if isinstance(p, Point) else p.center.body for p in self.points]

    @property
    def _sides(self) -> tuple[int, ...]:
        return self.resolved[0]

    @property
    def _numbers(self) -> np.ndarray:
        """(nodes, NODE)"""
        return np.array(self.resolved[1])

    def _integers(self, packing: Packing, slot: int) -> list[int]:
        out = [len(self.points), slot]
        for node, side, body in zip(self.points, self._sides, self._node_bodies(), strict=True):
            sense, q = wheel_joint(packing, node) if isinstance(node, Pulley) and node.grip else (0, -1)
            out += [packing.body(body), side, sense, q]
        return out

    def _course(self, kinematics: Kinematics, level: int) -> PulleyCourse:
        signals, slot = np.zeros(2), -1
        if self.winch is not None:
            signals, slot = np.array(paid_out(self.winch)(kinematics.t)), 0
        return course_of(self._integers(kinematics.names, slot), self._numbers, signals, kinematics.X, kinematics.V, kinematics.q, level)


@dataclass(frozen=True)
class PulleyCourse:
    """A course as arrays: `state` (nodes, STATE), `spans` (nodes, SPAN), and the rate at which a winch pays out."""

    state: np.ndarray
    spans: np.ndarray
    paying: float

    @property
    def nodes(self) -> list[int]:
        """Those that the cable touches, in order."""
        out = [0]
        while self.state[out[-1], NEXT] >= 0.0:
            out.append(int(self.state[out[-1], NEXT]))
        return out

    @property
    def sections(self) -> list[int]:
        """Nodes at which sections begin."""
        return [m for m in self.nodes[:-1] if int(self.state[m, BEGIN]) == m]

    def columns(self, m: int, l: int) -> list[int]:
        return [*range(6 * m, 6 * m + 6), *range(6 * l, 6 * l + 6)]

    def total(self, begin: int, what: int, until: int = -1) -> np.ndarray:
        """Λ or E over the spans of a section, all or up to a node."""
        out = np.zeros(6 * len(self.state))
        nodes = self.nodes
        for m, l in pairwise(nodes):
            if int(self.state[m, BEGIN]) == begin and (until < 0 or m < until):
                out[self.columns(m, l)] += self.spans[m, what : what + 12]
        return out

    def jumps(self) -> list[tuple[int, float]]:
        """Wheels between two spans of one section, with ΔT."""
        nodes = self.nodes[:-1]
        T = self.state[:, TENSION]
        return [(m, T[m] - T[k]) for k, m in pairwise(nodes) if int(self.state[m, BEGIN]) != m]


def course_of(
    integers: Sequence[int], numbers: np.ndarray, signals: np.ndarray, X: np.ndarray, V: np.ndarray, q: np.ndarray, level: int
) -> PulleyCourse:
    """The course of one cable from its tables."""
    n = len(numbers)
    course = np.zeros((STATE + SPAN) * n)
    flat = [np.ascontiguousarray(x, float).ravel() for x in (numbers, signals, X, V, q)]
    fill_one_course(np.array(integers, np.int64), *flat, level, course, np.zeros(SCRATCH))
    return PulleyCourse(course[: STATE * n].reshape(n, STATE), course[STATE * n :].reshape(n, SPAN), float(signals[1]))


def paid_out(winch: Callable[[float], float]) -> Callable[[float], np.ndarray]:
    """t ↦ (p, ṗ): a Table's own rate, else central differences."""
    own = getattr(winch, "derivatives", None)
    if own is not None:
        return lambda t: np.asarray(own(t))[:2, 0]
    step = 1e-6

    def differences(t: float) -> np.ndarray:
        p, before, behind = (np.asarray(winch(x), float).reshape(()) for x in (t, max(0.0, t - step), t + step))
        return np.array([p, (behind - before) / (t + step - max(0.0, t - step))])

    return differences


def wheel_joint(packing: Packing, wheel: Pulley) -> tuple[int, int]:
    """The sense of a gripping wheel's joint about the wheel's axis, and its q index."""
    what = f"Pulley on '{wheel.center.body}' with grip"
    joint = packing.joint_above(wheel.center.body)
    axis = getattr(joint.element, "axis", None) if joint is not None else None
    if joint is None or joint.nq != 1 or joint.nv != 1 or axis is None or type(joint.element).__name__ != "Revolute":
        raise ModelError(f"{what}: the body does not hang in a Revolute, which counts its turns; give it one")
    R, p = joint.X_BM.R, np.asarray(joint.X_BM.p)
    along = float(np.dot(R @ np.asarray(axis), wheel.axis))
    arm = np.asarray(wheel.center.p) - p
    off = np.linalg.norm(arm - np.dot(arm, wheel.axis) * np.asarray(wheel.axis))
    if abs(along) < 1.0 - 1e-9 or off > 1e-9 * max(1.0, wheel.radius):
        raise ModelError(f"{what}: joint '{joint.name}' turns about another axis; put the wheel on the joint's axis")
    return (1 if along > 0.0 else -1), joint.q_start


def _brackets(G: np.ndarray) -> np.ndarray:
    """G·[e_l, e_k] in row k and column l: how displacements in a body's own axes fail to commute."""
    out = np.zeros((6, 6))
    out[:3, :3] = skew(G[:3])
    out[:3, 3:] = out[3:, :3] = skew(G[3:])
    return out


def angles_at_start(course: PulleyCourse, m: int) -> tuple[float, float]:
    """φ where the cable arrives at a node and where it leaves it, 0 where it does not."""
    nodes = course.nodes
    place = nodes.index(m)
    arrived = course.spans[nodes[place - 1], SECOND_ANGLE] if place else 0.0
    return float(arrived), float(course.spans[m, FIRST_ANGLE]) if m != nodes[-1] else 0.0


