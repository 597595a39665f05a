"""Cable: an elastic string through several points, which pulls and never pushes.

    s_i = x_{i+1} − x_i,  L = Σ |s_i|,  u_i = s_i / |s_i|,  g_i = ∂L/∂x_i = u_{i−1} − u_i,  L̇ = Σ g_i·ẋ_i
    T = max(0, k (L − L₀) + c L̇) while L > L₀, else 0;     f_i = −T g_i,     E = ½ k (L − L₀)² while L > L₀, else 0

The string slides through its inner points without friction, so that one tension T rules all along. Damping never makes it push: a
string that shortens fast goes slack although L > L₀, and its stored energy then goes into the damper, whose power is
−(T − k (L − L₀)) L̇ ≤ 0. With w_i = (ṡ_i − (u_i·ṡ_i) u_i) / |s_i|, in the taut state

    ∂T/∂x_j = k g_j + c (w_{j−1} − w_j),   ∂T/∂ẋ_j = c g_j,   δf_i = −g_i δT + T (δu_i − δu_{i−1}),   δu_i = (1 − u_i u_iᵀ) δs_i / |s_i|

A segment without length has no direction and adds nothing. Implicit terms are those of a tension T (see `implicit`) with these g_i and
e_i = w_{i−1} − w_i; projected, e_i and turns are left out, and with them what they would cancel between two points of one body. A slack
string has none.

What runs over wheels, slides with friction or is wound up is a `PulleyCable` once its model is built (`cable_start`).

Tables: `index` per cable: number of points n, n bodies. `parameters` per cable: k, c, L₀, then n points of 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from unibody.element import DAMPER_POWER, SPRING_ENERGY, Kinematics, Packing, Point, number, point_of
from unibody.errors import ModelError
from unibody.forces.base import Blocks, Force, Loads, add_point_force, point_position, point_velocity
from unibody.forces.cable_start import started_cable
from unibody.forces.implicit import (
    add_across,
    add_column,
    add_tension_pair,
    add_tension_point,
    add_turn,
    point_column,
    rate_column,
    times_twist,
)
from unibody.forces.points import point_damping, point_stiffness
from unibody.forces.pulley import Pulley
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import dot3, load3, load6, norm3, scale3, sub3

__all__ = ["Cable"]

SHORTEST = 1e-12
"""Below this length [m] a segment has no direction."""
SLIP_SPEED = 1e-3
"""[m/s]"""


@device
def segment(index, parameters, X, V, body, point):
    """s and ṡ of the segment that starts at the point with these places in `index` and `parameters`."""
    a = index[body]
    b = index[body + 1]
    p_a = load3(parameters, point)
    p_b = load3(parameters, point + 3)
    s = sub3(point_position(X, b, p_b), point_position(X, a, p_a))
    return s, sub3(point_velocity(X, V, b, p_b), point_velocity(X, V, a, p_a))


@device
def stretch_and_rate(index, parameters, X, V, i, f):
    """L − L₀ and L̇ of the cable at i in `index` and f in `parameters`."""
    L = 0.0
    rate = 0.0
    for m in range(index[i] - 1):
        s, speed = segment(index, parameters, X, V, i + 1 + m, f + 3 + 3 * m)
        length = norm3(s)
        L += length
        if length > SHORTEST:
            rate += dot3(s, speed) / length
    return L - parameters[f + 2], rate


@kernel
def add_cables(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats,
    F_out: Floats, effort_out: Floats, ledger_out: Floats,
) -> None:  # fmt: skip
    i = 0
    f = 0
    while i < index.size:
        n = index[i]
        stretch, rate = stretch_and_rate(index, parameters, X, V, i, f)
        if stretch > 0.0:
            spring = parameters[f] * stretch
            tension = max(0.0, spring + parameters[f + 1] * rate)
            ledger_out[SPRING_ENERGY] += 0.5 * spring * stretch
            ledger_out[DAMPER_POWER] -= (tension - spring) * rate
            for m in range(n - 1):
                body = i + 1 + m
                point = f + 3 + 3 * m
                s, _ = segment(index, parameters, X, V, body, point)
                length = norm3(s)
                if length > SHORTEST:
                    add_point_force(X, index[body], load3(parameters, point), scale3(tension / length, s), F_out)
                    add_point_force(X, index[body + 1], load3(parameters, point + 3), scale3(-tension / length, s), F_out)
        i += n + 1
        f += 3 * n + 3


@device
def fill_columns(index, parameters, X, V, i, f, G_out, E_out):
    """The columns G and E (6 a point) of a cable."""
    n = index[i]
    u_before = (0.0, 0.0, 0.0)
    w_before = (0.0, 0.0, 0.0)
    for m in range(n):
        body = i + 1 + m
        point = f + 3 + 3 * m
        u = (0.0, 0.0, 0.0)
        w = (0.0, 0.0, 0.0)
        if m < n - 1:
            s, speed = segment(index, parameters, X, V, body, point)
            length = norm3(s)
            if length > SHORTEST:
                u = scale3(1.0 / length, s)
                w = scale3(1.0 / length, sub3(speed, scale3(dot3(u, speed), u)))
        p = load3(parameters, point)
        g = sub3(u_before, u)
        G = point_column(X, index[body], p, g)
        E = rate_column(X, V, index[body], p, g, sub3(w_before, w))
        for j in range(6):
            G_out[6 * m + j] = G[j]
            E_out[6 * m + j] = E[j]
        u_before = u
        w_before = w


@kernel
def add_implicit_cables(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats, limit: Floats,
    places: Ints, h: float, project: int, F_out: Floats, effort_out: Floats, own_out: Floats, coupling_out: Floats, diagonal_out: Floats,
) -> None:  # fmt: skip
    G = np.empty(6 * index.size)
    E = np.empty(6 * index.size)
    i = 0
    f = 0
    pair = 0
    while i < index.size:
        # of one cable: T = k (L − L₀) + c L̇ and L̇ = Σ G V; B = (h c + h² k) G Gᵀ, F = −h k L̇ G
        n = index[i]
        k = parameters[f]
        c = parameters[f + 1]
        stretch, rate = stretch_and_rate(index, parameters, X, V, i, f)
        tension = k * stretch + c * rate
        taut = stretch > 0.0 and tension > 0.0
        turns = project == 0
        r = 0.5 * h * h * c if turns else 0.0
        pull = 0.0
        # columns G of all points, and their rates E, which exact terms need
        if taut:
            fill_columns(index, parameters, X, V, i, f, G, E)
            pull = h * k * rate
            for m in range(n):
                if turns:
                    pull += 0.5 * h * c * times_twist(load6(E, 6 * m), V, index[i + 1 + m])
        # each point with itself
        for m in range(n):
            a = index[i + 1 + m]
            p_a = load3(parameters, f + 3 + 3 * m)
            G_a = load6(G, 6 * m)
            E_a = load6(E, 6 * m)
            if taut:
                add_column(a, -pull, G_a, F_out)
                add_tension_point(a, h * c + h * h * k, r, G_a, E_a, own_out)
            if taut and turns:
                add_column(a, -0.5 * h * c * rate, E_a, F_out)
                along = (G_a[3], G_a[4], G_a[5])
                add_turn(V, a, p_a, scale3(-tension, along), h, F_out, own_out)
            # each point with all behind it; across the segment, neighbours only: T/length
            for l in range(m + 1, n):
                b = index[i + 1 + l]
                place = -1
                if a != b:
                    place = places[pair]
                    pair += 1
                if taut:
                    add_tension_pair(a, b, place, h * c + h * h * k, r, G_a, E_a, load6(G, 6 * l), load6(E, 6 * l), own_out, coupling_out)
                if taut and l == m + 1 and (turns or a != b):
                    s, _ = segment(index, parameters, X, V, i + 1 + m, f + 3 + 3 * m)
                    length = norm3(s)
                    if length > SHORTEST:
                        p_b = load3(parameters, f + 3 + 3 * l)
                        u = scale3(1.0 / length, s)
                        add_across(X, V, a, p_a, b, p_b, place, u, tension / length, h, F_out, own_out, coupling_out)
        i += n + 1
        f += 3 * n + 3


class CableCourse(NamedTuple):
    """A cable at an instant: its points' velocities (n×3), its segments' lengths (n−1) and directions (n−1×3), L − L₀, L̇, T."""

    velocities: np.ndarray
    lengths: np.ndarray
    directions: np.ndarray
    stretch: float
    rate: float
    tension: float


@dataclass(frozen=True)
class Cable(Force):
    """`points` (two or more), `stiffness` of the whole string [N/m], `damping` [N s/m], `rest_length` [m] (None: the length at the start).

    Among the points may stand `Pulley`s, over whose radius the cable runs. `friction`: μ on those that say nothing else; `slip_speed`
    [m/s]: below a few of it a cable that sticks creeps. `winch`: what has been paid out at the first point beyond the rest length [m], a
    function of time or a `Table`; below 0 where it hauls in.

    >>> from unibody.element import Point
    >>> Cable([Point("a"), Point("world", (0, 0, 1)), Point("b")], stiffness=1e3).bodies()
    ['a', 'world', 'b']
    """

    points: Any
    stiffness: float = 0.0
    damping: float = 0.0
    rest_length: float | None = None
    friction: float = 0.0
    winch: Any = None
    slip_speed: float = SLIP_SPEED

    add_kernel = add_cables
    implicit_kernel = add_implicit_cables

    def __post_init__(self) -> None:
        if isinstance(self.points, Point) or not isinstance(self.points, Sequence):
            raise ModelError(f"Cable: points {self.points!r} is not a list; give two or more, such as [a.at(0, 0, 0), b.at(0, 0, 1)]")
        points = tuple(p if isinstance(p, Pulley) else point_of(p, "Cable points") for p in self.points)
        if len(points) < 2:
            raise ModelError(f"Cable: {len(points)} points; give at least two")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "stiffness", number(self.stiffness, "Cable stiffness", minimum=0.0))
        object.__setattr__(self, "damping", number(self.damping, "Cable damping", minimum=0.0))
        if self.rest_length is not None:
            object.__setattr__(self, "rest_length", number(self.rest_length, "Cable rest_length", minimum=0.0))
        object.__setattr__(self, "friction", number(self.friction, "Cable friction", minimum=0.0))
        object.__setattr__(self, "slip_speed", number(self.slip_speed, "Cable slip_speed", positive=True))
        if self.winch is not None and not callable(self.winch):
            raise ModelError(f"Cable winch {self.winch!r} is no function of time; give one, or a Table; a fixed length is rest_length")
        if self.friction > 0.0 and not any(isinstance(p, Pulley) for p in points):
            raise ModelError(f"Cable friction {self.friction:g} without a Pulley: points have none; put a Pulley in their place")

    def bodies(self) -> list[str]:
        return list(dict.fromkeys(p.body if isinstance(p, Point) else p.center.body for p in self.points))

    def pairs(self) -> list[tuple[str, str]]:
        """One for each pair of points on different bodies; a pair of bodies may come more than once."""
        return [(p.body, r.body) for p, r in combinations(self.points, 2) if p.body != r.body]

    def started(self, packing: Packing, name: str) -> Force:
        if self.winch is not None or any(isinstance(p, Pulley) for p in self.points):
            law = (self.stiffness, self.damping, self.rest_length, self.friction, self.slip_speed, self.winch)
            return started_cable(self.points, *law, packing, name)
        if self.rest_length is not None:
            return self
        x = np.array([packing.start_position(p) for p in self.points])
        return replace(self, rest_length=float(np.linalg.norm(np.diff(x, axis=0), axis=1).sum()))

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        index = [len(self.points), *(packing.body(p.body) for p in self.points)]
        rest = 0.0 if self.rest_length is None else self.rest_length
        return index, [self.stiffness, self.damping, rest, *(x for p in self.points for x in p.p)]

    def taut(self, at: Kinematics) -> Cable:
        """Never slack at this instant: with a rest length below the length that it has."""
        return replace(self, rest_length=min(self.rest_length or 0.0, self._course(at).lengths.sum() * (1.0 - 1e-9)))

    def tension(self, length: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """T ≥ 0 [N] at whole lengths [m] and their rates [m/s]; takes arrays, in its fields too."""
        stretch = length - self.rest_length
        return np.where(stretch > 0.0, np.maximum(0.0, self.stiffness * stretch + self.damping * rate), 0.0)

    def energy(self, kinematics: Kinematics) -> float:
        return 0.5 * self.stiffness * max(0.0, self._course(kinematics).stretch) ** 2

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        course = self._course(kinematics)
        if course.stretch <= 0.0:
            return
        loads.ledger[SPRING_ENERGY] += 0.5 * self.stiffness * course.stretch**2
        loads.ledger[DAMPER_POWER] -= (course.tension - self.stiffness * course.stretch) * course.rate
        for point, g in zip(self.points, _ends(-course.directions), strict=True):
            loads.add_force_at(kinematics, point.body, point.p, -course.tension * g)

    def stiffness_blocks(self, kinematics: Kinematics) -> Blocks:
        course = self._course(kinematics)
        if course.tension == 0.0:
            return {}
        n, u = len(self.points), course.directions
        g = _ends(-u)
        across = np.zeros((n - 1, 3, 3))
        long = course.lengths > SHORTEST
        across[long] = (np.eye(3) - np.einsum("si,sj->sij", u, u)[long]) / course.lengths[long, None, None]
        w = np.einsum("sij,sj->si", across, np.diff(course.velocities, axis=0))
        by_position = -np.einsum("ia,jb->ijab", g, self.stiffness * g + self.damping * _ends(-w))
        for s in range(n - 1):
            for i, j, sign in ((s, s, -1.0), (s, s + 1, 1.0), (s + 1, s, 1.0), (s + 1, s + 1, -1.0)):
                by_position[i, j] += sign * course.tension * across[s]
        return point_stiffness(kinematics, self.points, -course.tension * g, by_position, self._by_velocity(g))

    def damping_blocks(self, kinematics: Kinematics) -> Blocks:
        course = self._course(kinematics)
        if course.tension == 0.0:
            return {}
        return point_damping(kinematics, self.points, self._by_velocity(_ends(-course.directions)))

    def _by_velocity(self, g: np.ndarray) -> np.ndarray:
        return -self.damping * np.einsum("ia,jb->ijab", g, g)

    def _course(self, kinematics: Kinematics) -> CableCourse:
        x = np.array([kinematics.position(p) for p in self.points])
        velocities = np.array([kinematics.velocity(p) for p in self.points])
        segments = np.diff(x, axis=0)
        lengths = np.linalg.norm(segments, axis=1)
        directions = np.zeros_like(segments)
        long = lengths > SHORTEST
        directions[long] = segments[long] / lengths[long, None]
        stretch = float(lengths.sum()) - (0.0 if self.rest_length is None else self.rest_length)
        rate = float((directions * np.diff(velocities, axis=0)).sum())
        tension = max(0.0, self.stiffness * stretch + self.damping * rate) if stretch > 0.0 else 0.0
        return CableCourse(velocities, lengths, directions, stretch, rate, tension)


def _ends(segments: np.ndarray) -> np.ndarray:
    """Row i: segments[i] − segments[i−1], with nothing beyond the ends (n−1 rows to n)."""
    zero = np.zeros((1, 3))
    return np.diff(segments, axis=0, prepend=zero, append=zero)
