"""Tendon: MuJoCo's spatial tendon, a spring and damper on the length of a course through points and around spheres and cylinders.

    L = Σ_b (1/divisor_b) Σ stretches,      T = k (L − high) above `high`, −k (low − L) below `low`, 0 between;  + c L̇ always
    F = −T Λ,  Λ = ∂L/∂ξ = Σ G/divisor,     E = ½ k (L − high)² or ½ k (low − L)²
    K = −Λ (k Λ + c E)ᵀ − T Σ (H + ½ [·,·])/divisor,      D = −c Λ Λᵀ,      E = ∂L̇/∂ξ          (k = 0 between `low` and `high`)

Branches are what lies between MuJoCo's `pulley` elements. Stretches are straight (`cable_spans`) or go around an obstacle
(`tendon_wraps`); G and H are exact. Projected, B = (h c + h² k) Λ Λᵀ + h² max(T, 0) Σ H of the straight ones: what
wraps add across the tendon is left out.

Tables: `index`, per tendon: nodes n, stretches m, bodies of the nodes n, then 3 a stretch: nodes a, b and that of the obstacle (−1: none).
`parameters`: k, c, low, high, then NODE a node, then 1/divisor and WRAP a stretch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from unibody.element import DAMPER_POWER, SPRING_ENERGY, Kinematics, Packing, Point, number, point_of, several
from unibody.errors import ModelError
from unibody.forces.base import Blocks, Force, Loads
from unibody.forces.cable_spans import GRADIENT, HESSIAN, LENGTH, SCRATCH, SPAN, fill_span
from unibody.forces.implicit import COUPLING
from unibody.forces.pulley_cable import _brackets
from unibody.forces.pulley_cable_kernels import add_own_block, add_square
from unibody.forces.tendon_wraps import (
    NOT_TOUCHED,
    WRAP,
    WRAP_SCRATCH,
    across_axis,
    fill_wrap,
    seen_from_obstacle,
    touching_points,
    way_around,
)
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import cross, load3
from unibody.spatial.pose import vector3

__all__ = ["Tendon", "TendonWrap"]

NODE = 10
"""Numbers of a node as `cable_spans` wants an end: its place 3, axes 6, radius 0."""
LAW = 4
"""k, c, low, high."""
G_AT, H_AT, SPAN_AT, SCRATCH_AT = 0, 18, 342, 342 + SPAN
WORK = SCRATCH_AT + SCRATCH + WRAP_SCRATCH
"""Numbers that a stretch is worked out in: G 18, H 18×18, a span and scratch."""


@device
def obstacle_way(index, parameters, X, i, f, s):
    """Which way stretch s goes around its obstacle, if it touches one."""
    n = index[i]
    at = i + 2 + n + 3 * s
    if index[at + 2] < 0:
        return NOT_TOUCHED
    w = f + LAW + NODE * n + (1 + WRAP) * s + 1
    obstacle = index[i + 2 + index[at + 2]]
    centre = load3(parameters, w)
    a, b = index[at], index[at + 1]
    x = seen_from_obstacle(X, index[i + 2 + a], load3(parameters, f + LAW + NODE * a), obstacle, centre)
    y = seen_from_obstacle(X, index[i + 2 + b], load3(parameters, f + LAW + NODE * b), obstacle, centre)
    return way_around(across_axis(x, parameters, w), across_axis(y, parameters, w), parameters, w)


@device
def fill_stretch(index, parameters, X, V, i, f, s, way, level, work_out):
    """L of stretch s; G over (a, b, obstacle) and, for a level above 0, H, in the work."""
    n = index[i]
    at = i + 2 + n + 3 * s
    a, b = index[at], index[at + 1]
    body_a, body_b = index[i + 2 + a], index[i + 2 + b]
    at_a, at_b = f + LAW + NODE * a, f + LAW + NODE * b
    for k in range(SPAN_AT):
        work_out[k] = 0.0
    if way != NOT_TOUCHED:
        w = f + LAW + NODE * n + (1 + WRAP) * s + 1
        return fill_wrap(
            X, body_a, load3(parameters, at_a), body_b, load3(parameters, at_b), index[i + 2 + index[at + 2]], way, parameters, w,
            level > 0, G_AT, H_AT, work_out, work_out[SCRATCH_AT:],
        )  # fmt: skip
    fill_span(X, V, body_a, at_a, 0.0, body_b, at_b, 0.0, parameters, level == 2, level > 0, SPAN_AT, work_out, work_out[SCRATCH_AT:])
    for k in range(12):
        work_out[G_AT + k] = work_out[SPAN_AT + GRADIENT + k]
        if level > 0:
            for m in range(12):
                work_out[H_AT + 18 * k + m] = work_out[SPAN_AT + HESSIAN + 12 * k + m]
    return work_out[SPAN_AT + LENGTH]


@device
def node_of(index, at, k):
    """The node of the k-th of 18 displacements of a stretch."""
    if k < 12:
        return index[at + k // 6]
    return index[at + 2]


@device
def fill_tendon(index, parameters, X, V, i, f, level, sums_out, H_out, work_out):
    """L and L̇; Λ and, at level 2, E (6 a node each) in `sums_out`; at level 1 and 2 Σ H/divisor (6 n × 6 n): projected or exact."""
    n, m = index[i], index[i + 1]
    size = 6 * n
    for k in range(2 * size):
        sums_out[k] = 0.0
    if level > 0:
        for k in range(size * size):
            H_out[k] = 0.0
    # span by span, straight or around its obstacle: L, Λ and Σ H
    L = 0.0
    for s in range(m):
        at = i + 2 + n + 3 * s
        share = parameters[f + LAW + NODE * n + (1 + WRAP) * s]
        way = obstacle_way(index, parameters, X, i, f, s)
        L += share * fill_stretch(index, parameters, X, V, i, f, s, way, level, work_out)
        count = 12 if way == NOT_TOUCHED else 18
        for k in range(count):
            row = 6 * node_of(index, at, k) + k % 6
            sums_out[row] += share * work_out[G_AT + k]
            if level > 0 and (level == 2 or way == NOT_TOUCHED):
                for l in range(count):
                    H_out[size * row + 6 * node_of(index, at, l) + l % 6] += share * work_out[H_AT + 18 * k + l]
    # L̇ = Λ·V; E = H V + ½ (ω×G_ω + v×G_v, ω×G_v)
    rate = 0.0
    for k in range(size):
        rate += sums_out[k] * V[6 * index[i + 2 + k // 6] + k % 6]
    if level == 2:
        for k in range(size):
            for l in range(size):
                sums_out[size + k] += H_out[size * k + l] * V[6 * index[i + 2 + l // 6] + l % 6]
        for node in range(n):
            body = 6 * index[i + 2 + node]
            omega = load3(V, body)
            G_v = load3(sums_out, 6 * node + 3)
            turning = cross(omega, load3(sums_out, 6 * node))
            sliding = cross(load3(V, body + 3), G_v)
            moving = cross(omega, G_v)
            for j in range(3):
                sums_out[size + 6 * node + j] += 0.5 * (turning[j] + sliding[j])
                sums_out[size + 6 * node + 3 + j] += 0.5 * moving[j]
    return L, rate


@device
def spring_of(parameters, f, L):
    """Stretch beyond the dead band: above `high` positive, below `low` negative."""
    return max(0.0, L - parameters[f + 3]) - max(0.0, parameters[f + 2] - L)


@device
def most_nodes(index):
    """The most nodes of a tendon in the tables."""
    most = 0
    i = 0
    while i < index.size:
        most = max(most, index[i])
        i += 2 + index[i] + 3 * index[i + 1]
    return most


@kernel
def add_tendons(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats,
    F_out: Floats, effort_out: Floats, ledger_out: Floats,
) -> None:  # fmt: skip
    sums = np.empty(12 * most_nodes(index))
    nothing = np.empty(1)
    work = np.empty(WORK)
    i = 0
    f = 0
    while i < index.size:
        n = index[i]
        L, rate = fill_tendon(index, parameters, X, V, i, f, 0, sums, nothing, work)
        stretch = spring_of(parameters, f, L)
        spring = parameters[f] * stretch
        damping = parameters[f + 1] * rate
        ledger_out[SPRING_ENERGY] += 0.5 * spring * stretch
        ledger_out[DAMPER_POWER] -= damping * rate
        for k in range(6 * n):
            F_out[6 * index[i + 2 + k // 6] + k % 6] -= (spring + damping) * sums[k]
        f += LAW + NODE * n + (1 + WRAP) * index[i + 1]
        i += 2 + n + 3 * index[i + 1]


@kernel
def add_implicit_tendons(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats, limit: Floats,
    places: Ints, h: float, project: int, F_out: Floats, effort_out: Floats, own_out: Floats, coupling_out: Floats, diagonal_out: Floats,
) -> None:  # fmt: skip
    most = most_nodes(index)
    sums = np.empty(12 * most)
    H = np.empty(36 * most * most)
    work = np.empty(WORK)
    i = 0
    f = 0
    pair = 0
    while i < index.size:
        n = index[i]
        size = 6 * n
        L, rate = fill_tendon(index, parameters, X, V, i, f, 1 if project else 2, sums, H, work)
        # T of the tendon as it is
        stretch = spring_of(parameters, f, L)
        c = parameters[f + 1]
        k = parameters[f] if stretch != 0.0 else 0.0
        tension = parameters[f] * stretch + c * rate
        if project:
            tension = max(0.0, tension)
        # B = h² T H + (h c + h² k) Λ Λᵀ + ½ h² c (Λ Eᵀ + E Λᵀ),   F = −h T H V − h k L̇ Λ − ½ h c (Λ E·V + E L̇)
        bending = 0.0
        for x in range(size):
            bending += sums[size + x] * V[6 * index[i + 2 + x // 6] + x % 6]
        for x in range(size):
            turning = 0.0
            for y in range(size):
                turning += H[size * x + y] * V[6 * index[i + 2 + y // 6] + y % 6]
                H[size * x + y] *= h * h * tension
                H[size * x + y] += 0.5 * h * h * c * (sums[x] * sums[size + y] + sums[size + x] * sums[y])
            body = 6 * index[i + 2 + x // 6] + x % 6
            F_out[body] -= h * (tension * turning + k * rate * sums[x] + 0.5 * c * (bending * sums[x] + rate * sums[size + x]))
        add_square(n, h * c + h * h * k, sums, H)
        # blocks of nodes to those of bodies and to couplings
        for m in range(n):
            a = index[i + 2 + m]
            add_own_block(a, 6 * size * m + 6 * m, size, H, own_out)
            for l in range(m + 1, n):
                at = 6 * size * m + 6 * l
                if a == index[i + 2 + l]:
                    add_own_block(a, at, size, H, own_out)
                    add_own_block(a, at, size, H, own_out)
                    continue
                place = places[pair]
                pair += 1
                if place >= 0:
                    for x in range(6):
                        for y in range(6):
                            coupling_out[COUPLING * place + 6 * x + y] += H[at + size * x + y]
        f += LAW + NODE * n + (1 + WRAP) * index[i + 1]
        i += 2 + n + 3 * index[i + 1]


@kernel
def fill_one_tendon(
    index: Ints, parameters: Floats, X: Floats, V: Floats, level: int, lengths_out: Floats, sums_out: Floats, H_out: Floats
) -> None:
    """L, L̇, Λ, E and H of the one tendon in the tables."""
    work = np.empty(WORK)
    L, rate = fill_tendon(index, parameters, X, V, 0, 0, level, sums_out, H_out, work)
    lengths_out[0] = L
    lengths_out[1] = rate


@kernel
def fill_arcs(index: Ints, parameters: Floats, X: Floats, arcs_out: Floats) -> None:
    """Per stretch: which way it goes around, and the angles of its arc from x̂ towards y."""
    for s in range(index[1]):
        way = obstacle_way(index, parameters, X, 0, 0, s)
        arcs_out[3 * s] = float(way)
        if way != NOT_TOUCHED:
            n = index[0]
            at = 2 + n + 3 * s
            a, b = index[at], index[at + 1]
            arcs_out[3 * s + 1], arcs_out[3 * s + 2] = touching_points(
                X, index[2 + a], load3(parameters, LAW + NODE * a), index[2 + b], load3(parameters, LAW + NODE * b),
                index[2 + index[at + 2]], way, parameters, LAW + NODE * n + (1 + WRAP) * s + 1,
            )  # fmt: skip


@dataclass(frozen=True)
class TendonWrap:
    """An obstacle on a tendon between two points: a sphere of `radius` at `center`, or with `axis` (in the body's axes) an endless
    cylinder. `side`: a point outside on the side on which it passes; None: the tendon may leave it, and goes the shorter way around.

    >>> TendonWrap(Point("femur"), 0.02, axis=(0, 1, 0)).radius
    0.02
    """

    center: Any
    radius: float
    axis: Any = None
    side: Any = None

    def __post_init__(self) -> None:
        point_of(self.center, "TendonWrap center")
        what = f"TendonWrap on '{self.center.body}'"
        object.__setattr__(self, "radius", number(self.radius, f"{what}: radius", positive=True))
        if self.axis is not None:
            axis = vector3(self.axis, f"{what}: axis")
            if not np.linalg.norm(axis) > 0.0:
                raise ModelError(f"{what}: axis {tuple(self.axis)} has no direction; give a non-zero axis, or None for a sphere")
            object.__setattr__(self, "axis", tuple((axis / np.linalg.norm(axis)).tolist()))
        if self.side is not None:
            side = point_of(self.side, f"{what}: side")
            if side.body != self.center.body:
                raise ModelError(f"{what}: its side is a point of '{side.body}'; give one of the same body")
            if np.linalg.norm(self._to_side()) < self.radius:
                raise ModelError(f"{what}: its side lies within it, which would wrap the tendon inside; give a point outside")

    def _to_side(self) -> np.ndarray:
        d = np.subtract(self.side.p, self.center.p)
        return d if self.axis is None else d - np.dot(d, self.axis) * np.array(self.axis)

    def numbers(self) -> list[float]:
        side = np.zeros(3) if self.side is None else self._to_side()
        axis = (0.0, 0.0, 0.0) if self.axis is None else self.axis
        return [*self.center.p, *axis, self.radius, float(self.side is not None), *side, *np.zeros(6)]


@dataclass(frozen=True)
class Tendon(Force):
    """`branches`: courses through points and `TendonWrap`s, with a wrap between two points; all of them count. `divisors`: what the length
    of each branch is divided by, None for 1. `rest`: (low, high) between which the spring is slack [m]; None: its length at the start.

    >>> Tendon([[Point("a"), TendonWrap(Point("world"), 0.1), Point("b")]], stiffness=10.0).bodies()
    ['a', 'world', 'b']
    """

    branches: Any
    stiffness: float = 0.0
    damping: float = 0.0
    rest: Any = None
    divisors: Any = None

    add_kernel = add_tendons
    implicit_kernel = add_implicit_tendons

    def __post_init__(self) -> None:
        if not several(self.branches) or not all(several(branch) for branch in self.branches):
            raise ModelError(f"Tendon: branches {self.branches!r} are no lists of points; give [[point, …, point], …]")
        branches = tuple(tuple(branch) for branch in self.branches)
        for branch in branches:
            wraps = [isinstance(node, TendonWrap) for node in branch]
            for node, wrap in zip(branch, wraps, strict=True):
                if not wrap:
                    point_of(node, "Tendon branches")
            if len(branch) < 2 or wraps[0] or wraps[-1] or any(a and b for a, b in pairwise(wraps)):
                raise ModelError(f"Tendon: branch {branch!r} does not go from point to point; begin and end it with one, one between wraps")
        if not branches:
            raise ModelError("Tendon: no branches; give at least one list of points")
        object.__setattr__(self, "branches", branches)
        object.__setattr__(self, "stiffness", number(self.stiffness, "Tendon stiffness", minimum=0.0))
        object.__setattr__(self, "damping", number(self.damping, "Tendon damping", minimum=0.0))
        if self.divisors is not None and not several(self.divisors):
            raise ModelError(f"Tendon: divisors {self.divisors!r} are no list of numbers; give one for each branch, or None")
        divisors = (1.0,) * len(branches) if self.divisors is None else tuple(self.divisors)
        if len(divisors) != len(branches):
            raise ModelError(f"Tendon: {len(divisors)} divisors for {len(branches)} branches; give one for each")
        object.__setattr__(self, "divisors", tuple(number(d, "Tendon divisors", positive=True) for d in divisors))
        if self.rest is not None:
            bounds = tuple(self.rest) if several(self.rest) else (self.rest, self.rest)
            if len(bounds) != 2:
                raise ModelError(f"Tendon: rest {self.rest!r} has {len(bounds)} numbers; give (low, high), or one length")
            low, high = bounds
            low, high = number(low, "Tendon rest"), number(high, "Tendon rest")
            if low > high:
                raise ModelError(f"Tendon rest ({low:g}, {high:g}): the first is above the second; exchange them")
            object.__setattr__(self, "rest", (low, high))

    def _nodes(self) -> list[Any]:
        return [node for branch in self.branches for node in branch]

    def _node_bodies(self) -> list[str]:
        return [node.body if isinstance(node, Point) else node.center.body for node in self._nodes()]

    def bodies(self) -> list[str]:
        return list(dict.fromkeys(self._node_bodies()))

    def pairs(self) -> list[tuple[str, str]]:
        """One for each pair of nodes on different bodies; a pair of bodies may come more than once."""
        return [(p, r) for p, r in combinations(self._node_bodies(), 2) if p != r]

    def started(self, packing: Packing, name: str) -> Tendon:
        if self.rest is not None:
            return self
        n = len(self._nodes())
        bodies = self._node_bodies()
        X = np.zeros((n, 12))
        for m, body in enumerate(bodies):
            X[m, 9:] = packing.start_position(Point(body))
            R = [packing.start_position(Point(body, tuple(e))) - X[m, 9:] for e in np.eye(3)]
            X[m, :9] = np.stack(R, axis=1).ravel()
        index, parameters = self._tables(list(range(n)))
        L = _filled(index, parameters, X, np.zeros((n, 6)), 0)[0]
        return replace(self, rest=(L, L))

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        return self._tables([packing.body(body) for body in self._node_bodies()])

    def _tables(self, bodies: Sequence[int]) -> tuple[list[int], list[float]]:
        low, high = (0.0, 0.0) if self.rest is None else self.rest
        index, ends, stretches = list(bodies), list[float](), list[float]()
        links: list[int] = []
        first = 0
        for branch, divisor in zip(self.branches, self.divisors, strict=True):
            points = [m for m, node in enumerate(branch) if isinstance(node, Point)]
            for a, b in pairwise(points):
                wrap = branch[a + 1] if b == a + 2 else None
                links += [first + a, first + b, -1 if wrap is None else first + a + 1]
                stretches += [1.0 / divisor, *([0.0] * WRAP if wrap is None else wrap.numbers())]
            for node in branch:
                place = node.p if isinstance(node, Point) else node.center.p
                ends += [*place, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]
            first += len(branch)
        return [first, len(links) // 3, *index, *links], [self.stiffness, self.damping, low, high, *ends, *stretches]

    def _at(self, kinematics: Kinematics, level: int) -> tuple[float, float, np.ndarray, np.ndarray, np.ndarray, float]:
        """L, L̇, Λ, E, H, T."""
        index, parameters = self._tables([kinematics.names.body(body) for body in self._node_bodies()])
        L, rate, along, bent, H = _filled(index, parameters, kinematics.X, kinematics.V, level)
        return L, rate, along, bent, H, float(self.stiffness * self._stretch(L) + self.damping * rate)

    def _stretch(self, L: float) -> float:
        low, high = self.rest
        return max(0.0, L - high) - max(0.0, low - L)

    def length(self, kinematics: Kinematics) -> float:
        """L [m]."""
        return self._at(kinematics, 0)[0]

    @property
    def several_tensions(self) -> bool:
        return False

    def tensions(self, kinematics: Kinematics) -> np.ndarray:
        """(1,) T [N]; below 0 where it pushes."""
        return np.array([self._at(kinematics, 0)[5]])

    def energy(self, kinematics: Kinematics) -> float:
        return 0.5 * self.stiffness * self._stretch(self.length(kinematics)) ** 2

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        L, rate, along, _, _, T = self._at(kinematics, 0)
        loads.ledger[SPRING_ENERGY] += 0.5 * self.stiffness * self._stretch(L) ** 2
        loads.ledger[DAMPER_POWER] -= self.damping * rate**2
        for m, body in enumerate(self._node_bodies()):
            loads.add_wrench(body, -T * along[6 * m : 6 * m + 3], -T * along[6 * m + 3 : 6 * m + 6])

    def stiffness_blocks(self, kinematics: Kinematics) -> Blocks:
        L, _, along, bent, H, T = self._at(kinematics, 2)
        k = self.stiffness if self._stretch(L) != 0.0 else 0.0
        for m in range(0, len(along), 6):
            H[m : m + 6, m : m + 6] += 0.5 * _brackets(along[m : m + 6])
        return self._by_bodies(-np.outer(along, k * along + self.damping * bent) - T * H)

    def damping_blocks(self, kinematics: Kinematics) -> Blocks:
        along = self._at(kinematics, 0)[2]
        return self._by_bodies(-self.damping * np.outer(along, along))

    def _by_bodies(self, matrix: np.ndarray) -> Blocks:
        blocks: Blocks = {}
        for m, a in enumerate(self._node_bodies()):
            for l, b in enumerate(self._node_bodies()):
                block = matrix[6 * m : 6 * m + 6, 6 * l : 6 * l + 6]
                blocks[a, b] = blocks[a, b] + block if (a, b) in blocks else block
        return blocks

    def drawn(self, kinematics: Kinematics, per_arc: int = 12) -> np.ndarray:
        """(n, 3) points along its branches in the world, as many at every instant; branches follow each other."""
        index, parameters = self._tables([kinematics.names.body(body) for body in self._node_bodies()])
        arcs = np.zeros(3 * index[1])
        fill_arcs(np.array(index, np.int64), np.array(parameters), np.ascontiguousarray(kinematics.X).ravel(), arcs)
        out, s = [], 0
        for branch in self.branches:
            points = [m for m, node in enumerate(branch) if isinstance(node, Point)]
            out.append(kinematics.position(branch[0])[None])
            for a, b in pairwise(points):
                if b == a + 2:
                    out.append(_arc(kinematics, branch[a], branch[a + 1], branch[b], arcs[3 * s : 3 * s + 3], per_arc))
                out.append(kinematics.position(branch[b])[None])
                s += 1
        return np.concatenate(out)


def _arc(kinematics: Kinematics, a: Point, wrap: TendonWrap, b: Point, arc: np.ndarray, count: int) -> np.ndarray:
    """Points of the stretch on its obstacle; on the straight line where it does not touch."""
    P, Q = kinematics.position(a), kinematics.position(b)
    if arc[0] == 0.0:
        return np.linspace(P, Q, count + 2)[1:-1]
    c = kinematics.position(wrap.center)
    axis = np.zeros(3) if wrap.axis is None else kinematics.pose(wrap.center.body)[0] @ np.array(wrap.axis)
    x, y = (d - (d @ axis) * axis for d in (P - c, Q - c))
    x1 = x / np.linalg.norm(x)
    e = y - (y @ x1) * x1
    angle = np.linspace(arc[1], arc[2], count)
    on = c + wrap.radius * (np.outer(np.cos(angle), x1) + np.outer(np.sin(angle), e / np.linalg.norm(e)))
    free = np.sqrt(x @ x - wrap.radius**2), np.sqrt(y @ y - wrap.radius**2)
    whole = free[0] + free[1] + wrap.radius * abs(arc[2] - arc[1])
    part = (free[0] + wrap.radius * np.abs(angle - arc[1])) / whole
    return on + np.outer((1.0 - part) * ((P - c) @ axis) + part * ((Q - c) @ axis), axis)


def _filled(
    index: Sequence[int], parameters: Sequence[float], X: np.ndarray, V: np.ndarray, level: int
) -> tuple[float, float, np.ndarray, np.ndarray, np.ndarray]:
    """L, L̇, Λ, E and H of one tendon."""
    size = 6 * index[0]
    lengths, sums, H = np.zeros(2), np.zeros(2 * size), np.zeros(size * size)
    flat = [np.ascontiguousarray(x, float).ravel() for x in (parameters, X, V)]
    fill_one_tendon(np.array(index, np.int64), *flat, level, lengths, sums, H)
    return float(lengths[0]), float(lengths[1]), sums[:size], sums[size:], H.reshape(size, size)
