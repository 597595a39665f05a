"""SpringDamper: a straight spring and damper between two points.

    d = x_b − x_a,  L = |d|,  u = d / L,  T = k (L − L₀) + c L̇ (tension),  f_a = T u,  f_b = −T u,  E = ½ k (L − L₀)²

The derivative of f_a with respect to d is  k u uᵀ + (T / L)(1 − u uᵀ) + c u (δL̇/δd),  with δL̇ = (ḋ − L̇ u)ᵀ (1/L) δd; that to ḋ is c u uᵀ.
Without length there is no direction and no force; the energy stays. For L₀ = 0 the force is k d there too, and its derivative k 1.
Its implicit terms are those of a tension T (see `implicit`); projected, T / L becomes max(T, 0) / L, and turns and δL̇/δd are left out.
Between two points of one body all of them cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from unibody.element import DAMPER_POWER, SPRING_ENERGY, Kinematics, Packing, Point, number, point_of
from unibody.forces.base import PAIR, Blocks, Force, Loads, add_point_force, point_position, point_velocity
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
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import add3, dot3, load3, norm3, scale3, store3, sub3

__all__ = ["SpringDamper"]

SHORTEST = 1e-12
"""Below this length [m] a spring has no direction and pulls nowhere."""


@kernel
def add_spring_dampers(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats,
    F_out: Floats, effort_out: Floats, ledger_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size // 2):
        a = index[2 * e]
        b = index[2 * e + 1]
        p_a = load3(parameters, 9 * e)
        p_b = load3(parameters, 9 * e + 3)
        k = parameters[9 * e + 6]
        c = parameters[9 * e + 7]
        d = sub3(point_position(X, b, p_b), point_position(X, a, p_a))
        L = norm3(d)
        stretch = L - parameters[9 * e + 8]
        ledger_out[SPRING_ENERGY] += 0.5 * k * stretch * stretch
        if L > SHORTEST:
            u = scale3(1.0 / L, d)
            rate = dot3(u, sub3(point_velocity(X, V, b, p_b), point_velocity(X, V, a, p_a)))
            ledger_out[DAMPER_POWER] -= c * rate * rate
            f = scale3(k * stretch + c * rate, u)
            add_point_force(X, a, p_a, f, F_out)
            add_point_force(X, b, p_b, scale3(-1.0, f), F_out)
        elif parameters[9 * e + 8] == 0.0:
            add_point_force(X, a, p_a, scale3(k, d), F_out)
            add_point_force(X, b, p_b, scale3(-k, d), F_out)


@kernel
def add_implicit_spring_dampers(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats, limit: Floats,
    places: Ints, h: float, project: int, F_out: Floats, effort_out: Floats, own_out: Floats, coupling_out: Floats, diagonal_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size // 2):
        a = index[2 * e]
        b = index[2 * e + 1]
        if a == b:
            continue
        p_a = load3(parameters, 9 * e)
        p_b = load3(parameters, 9 * e + 3)
        k = parameters[9 * e + 6]
        c = parameters[9 * e + 7]
        rest = parameters[9 * e + 8]
        # of one spring: T = k (L − L₀) + c L̇ along u
        d = sub3(point_position(X, b, p_b), point_position(X, a, p_a))
        L = norm3(d)
        place = places[e]
        # without length there is no direction: k in all of them, if that is its rest
        if L <= SHORTEST:
            if rest == 0.0:
                add_across(X, V, a, p_a, b, p_b, place, (0.0, 0.0, 0.0), k, h, F_out, own_out, coupling_out)
            continue
        # columns G of both ends, L̇ = G V
        u = scale3(1.0 / L, d)
        g_a = scale3(-1.0, u)
        speed = sub3(point_velocity(X, V, b, p_b), point_velocity(X, V, a, p_a))
        rate = dot3(u, speed)
        tension = k * (L - rest) + c * rate
        G_a = point_column(X, a, p_a, g_a)
        G_b = point_column(X, b, p_b, u)
        E_a = G_a
        E_b = G_b
        r = 0.0
        pull = k * rate
        # definite: across the spring only while it pulls; exact: with the rates E of the columns and the turn of the wrenches
        if project == 1:
            tension = max(0.0, tension)
        else:
            w = scale3(1.0 / L, sub3(speed, scale3(rate, u)))
            E_a = rate_column(X, V, a, p_a, g_a, scale3(-1.0, w))
            E_b = rate_column(X, V, b, p_b, u, w)
            r = 0.5 * h * h * c
            pull += 0.5 * c * (times_twist(E_a, V, a) + times_twist(E_b, V, b))
            add_column(a, -0.5 * h * c * rate, E_a, F_out)
            add_column(b, -0.5 * h * c * rate, E_b, F_out)
            add_turn(V, a, p_a, scale3(-tension, (G_a[3], G_a[4], G_a[5])), h, F_out, own_out)
            add_turn(V, b, p_b, scale3(-tension, (G_b[3], G_b[4], G_b[5])), h, F_out, own_out)
        # B = (h c + h² k) G Gᵀ along the spring, T/L across it; F = −h k L̇ G
        add_column(a, -h * pull, G_a, F_out)
        add_column(b, -h * pull, G_b, F_out)
        s = h * c + h * h * k
        add_tension_point(a, s, r, G_a, E_a, own_out)
        add_tension_point(b, s, r, G_b, E_b, own_out)
        add_tension_pair(a, b, place, s, r, G_a, E_a, G_b, E_b, own_out, coupling_out)
        add_across(X, V, a, p_a, b, p_b, place, u, tension / L, h, F_out, own_out, coupling_out)


@kernel
def fill_spring_dampers(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, h: float, pairs_out: Floats, ledger_out: Floats
) -> None:
    """f_a = (T + h k L̇) u + h t (ḋ − L̇ u) and S = (h c + h² k) u uᵀ + h² t (1 − u uᵀ) with t = max(T, 0) / L."""
    for e in range(index.size // 2):
        a = index[2 * e]
        b = index[2 * e + 1]
        k = parameters[9 * e + 6]
        c = parameters[9 * e + 7]
        # of one spring: length and rate
        p_a = load3(parameters, 9 * e)
        p_b = load3(parameters, 9 * e + 3)
        x_a = point_position(X, a, p_a)
        x_b = point_position(X, b, p_b)
        d = sub3(x_b, x_a)
        speed = sub3(point_velocity(X, V, b, p_b), point_velocity(X, V, a, p_a))
        squared = dot3(d, d)
        L = sqrt(squared)
        stretch = L - parameters[9 * e + 8]
        ledger_out[SPRING_ENERGY] += 0.5 * k * stretch * stretch
        # force, and stiffness along and across
        along = 0.0
        across = 0.0
        f = (0.0, 0.0, 0.0)
        u = (0.0, 0.0, 0.0)
        if L > SHORTEST:
            inverse = 1.0 / L
            u = scale3(inverse, d)
            rate = dot3(u, speed)
            ledger_out[DAMPER_POWER] -= c * rate * rate
            tension = k * stretch + c * rate
            t = max(0.0, tension) * inverse
            along = h * (c + h * k)
            across = h * h * t
            f = add3(scale3(tension + h * (k - t) * rate, u), scale3(h * t, speed))
        elif parameters[9 * e + 8] == 0.0:
            along = h * h * k
            across = along
            f = scale3(k, add3(d, scale3(h, speed)))
        if a == b:  # nothing that moves
            along = 0.0
            across = 0.0
        # the numbers of the pair
        s = along - across
        at = PAIR * e
        store3(x_a, at, pairs_out)
        store3(x_b, at + 3, pairs_out)
        store3(f, at + 6, pairs_out)
        store3((s * u[0] * u[0] + across, s * u[1] * u[1] + across, s * u[2] * u[2] + across), at + 9, pairs_out)
        store3((s * u[1] * u[2], s * u[2] * u[0], s * u[0] * u[1]), at + 12, pairs_out)


@dataclass(frozen=True)
class SpringDamper(Force):
    """`stiffness` [N/m], `damping` [N s/m], `rest_length` [m] (None: the length at the start).

    >>> from unibody.element import Point
    >>> SpringDamper(Point("bob"), Point("world", (0, 0, 1)), stiffness=50.0, rest_length=0.4).bodies()
    ['bob', 'world']
    """

    a: Point
    b: Point
    stiffness: float = 0.0
    damping: float = 0.0
    rest_length: float | None = None

    add_kernel = add_spring_dampers
    implicit_kernel = add_implicit_spring_dampers
    pair_kernel = fill_spring_dampers

    def __post_init__(self) -> None:
        point_of(self.a, "SpringDamper a")
        point_of(self.b, "SpringDamper b")
        object.__setattr__(self, "stiffness", number(self.stiffness, "SpringDamper stiffness", minimum=0.0))
        object.__setattr__(self, "damping", number(self.damping, "SpringDamper damping", minimum=0.0))
        if self.rest_length is not None:
            object.__setattr__(self, "rest_length", number(self.rest_length, "SpringDamper rest_length", minimum=0.0))

    def bodies(self) -> list[str]:
        return list(dict.fromkeys([self.a.body, self.b.body]))

    def pairs(self) -> list[tuple[str, str]]:
        """Always one, also for two points of one body, which has no place among the couplings."""
        return [(self.a.body, self.b.body)]

    def started(self, packing: Packing, name: str) -> SpringDamper:
        if self.rest_length is not None:
            return self
        return replace(self, rest_length=float(np.linalg.norm(packing.start_position(self.b) - packing.start_position(self.a))))

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        index = [packing.body(self.a.body), packing.body(self.b.body)]
        return index, [*self.a.p, *self.b.p, self.stiffness, self.damping, self._rest()]

    def tension(self, length: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """T [N] at lengths [m] and their rates [m/s]; takes arrays, in its fields too."""
        return self.stiffness * (length - self.rest_length) + self.damping * rate

    def energy(self, kinematics: Kinematics) -> float:
        return 0.5 * self.stiffness * self._stretch(kinematics)[2] ** 2

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        L, u, stretch, rate, tension = self._stretch(kinematics)
        loads.ledger[SPRING_ENERGY] += 0.5 * self.stiffness * stretch**2
        if L > SHORTEST:
            loads.ledger[DAMPER_POWER] -= self.damping * rate**2
            loads.add_force_at(kinematics, self.a.body, self.a.p, tension * u)
            loads.add_force_at(kinematics, self.b.body, self.b.p, -tension * u)
        elif self._rest() == 0.0:
            pull_a = self.stiffness * (kinematics.position(self.b) - kinematics.position(self.a))
            loads.add_force_at(kinematics, self.a.body, self.a.p, pull_a)
            loads.add_force_at(kinematics, self.b.body, self.b.p, -pull_a)

    def stiffness_blocks(self, kinematics: Kinematics) -> Blocks:
        L, u, _, rate, tension = self._stretch(kinematics)
        if L > SHORTEST:
            across = np.eye(3) - np.outer(u, u)
            velocity = kinematics.velocity(self.b) - kinematics.velocity(self.a)
            law = self.stiffness * np.outer(u, u) + tension / L * across
            law = law + self.damping / L * np.outer(u, velocity - rate * u)
        else:
            law = (self.stiffness if self._rest() == 0.0 else 0.0) * np.eye(3)
        forces = tension * np.array([u, -u])
        return point_stiffness(kinematics, [self.a, self.b], forces, pull(law), pull(self.damping * np.outer(u, u)))

    def damping_blocks(self, kinematics: Kinematics) -> Blocks:
        u = self._stretch(kinematics)[1]
        return point_damping(kinematics, [self.a, self.b], pull(self.damping * np.outer(u, u)))

    def _rest(self) -> float:
        return 0.0 if self.rest_length is None else self.rest_length

    def _stretch(self, kinematics: Kinematics) -> tuple[float, np.ndarray, float, float, float]:
        """L, u, L − L₀, L̇, T; without length u, L̇ and T are zero."""
        d = kinematics.position(self.b) - kinematics.position(self.a)
        L = float(np.linalg.norm(d))
        stretch = L - self._rest()
        if L <= SHORTEST:
            return L, np.zeros(3), stretch, 0.0, 0.0
        u = d / L
        rate = float(u @ (kinematics.velocity(self.b) - kinematics.velocity(self.a)))
        return L, u, stretch, rate, self.stiffness * stretch + self.damping * rate


def pull(law: np.ndarray) -> np.ndarray:
    """∂f_i/∂x_j (2×2×3×3) of f_a = −f_b from its derivative with respect to x_b − x_a."""
    return np.array([[-law, law], [law, -law]])
