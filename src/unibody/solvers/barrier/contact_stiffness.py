"""Where barriers begin and how stiff they are where no pressure is given: d̂ and κ per body, from gaps, mass, surface, step, gravity, speed.

    κ_b = (m / A) (10 g + d̂_b/h² + min(v/h, 2 v²/d̂_b)),   κ_ab = max(κ_a, κ_b),   d̂_ab = max(d̂_a, d̂_b)

A is a sixth of the body's surface: what it may rest on. The first term carries ten bodies like this one in the middle of the barrier, the
second makes the barrier as quick as the step, the third stops a body of speed v (of its fastest vertex, and of the fastest driven body)
within one step, or within half of d̂ if that takes more steps. Pairs of light bodies so stay soft beside heavy ones, and a heavy one on a
light one is carried.

A body that starts nearer to others than the reach has d̂_b as long as its least gap, so that no barrier holds energy at the start: with the
whole reach it would be m (d̂/h)² and more, and throw what rests, the faster the shorter the step. d̂_b grows with the least gap, up to the
reach, and never falls. Neither of it changes a force, as every gap of a body is then at or beyond the end of its own barrier. Where nobody
gives the reach, which is then a part of the scene, d̂_b is at most a part of the body's own size: a die on a wide floor does not hover.

Speeds change, so κ_b is the first two terms times 2ᵉ. Of a body that touches nothing, e is what its speed asks for, up and down, which
nobody feels. While it touches something, e only rises, with the speed and as smoothly, so that what comes to rest keeps its κ; and after a
step that ended with distances below 0.02 d̂, by what would have kept them above (near the wall of a barrier distances grow as κ), though
not beyond the κ of a body of the mass of all: where a body is squeezed, no κ makes room. Where the step becomes shorter or longer, or d̂_b
longer, what touches something keeps its κ too (e may be below 0 then): or a shorter step would throw what rests, since the barrier would
hold a multiple of its energy. The numbers e are memory, so a run that is continued goes on as it would have. A pressure that is given holds
for all pairs, always.

Where κ has risen, a contact's force at the beginning of a step is that which the old κ has balanced: friction's bounds are taken with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.collision.proximity import SHARE, ContactSet
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.element_loads import CARRIED
from unibody.solvers.barrier.memory import MOST

DEEP = 0.02
"""d/d̂ at the end of a step below which the next one is stiffer."""
LEAST = 1e-6
"""d̂_b of a body that starts still nearer than that, in units of the reach: such barriers hold next to nothing at any step."""
OWN = 0.03
"""d̂_b of a body in units of its own size, at most, where the reach is a part of the scene's size."""
STOPS = 2.0
"""κ d̂ in units of m v²/A: b is then ¼ where a body stops, in the middle of the barrier."""


@dataclass(frozen=True)
class ContactParameters:
    """Numbers of contact during one step, in physical units."""

    reach: float
    """d̂ [m]"""
    pressure: float
    """κ [Pa]"""
    slip_speed: float
    """ε_v [m/s]"""
    parts: np.ndarray
    """(bodies, links and deformables,) part of κ that each asks for; a pair has the larger."""
    shares: np.ndarray
    """(bodies, links and deformables,) d̂_b in units of the reach, 0 of what does not move; a pair has the larger."""

    def of_pairs(self, pair: np.ndarray) -> np.ndarray:
        """(n,) κ of pairs of bodies (n, 2)."""
        return self.pressure * self.parts[pair].max(axis=1)


class Pressures:
    """κ of a system's bodies; `given` [Pa] holds for all of them."""

    def __init__(self, system: AffineSystem, reach: float, given: float | None, meant: bool = True):
        """`meant`: whether the reach is one that somebody gave."""
        self._system, self.reach, self._given = system, reach, given
        s, bodies, rows, soft = system.surface, system.model.bodies, system.rows, system.model.deformables
        n = system.touchables
        self._moving = np.concatenate([system.moving, rows + np.arange(len(soft))]).astype(np.int64)
        """Of which the numbers e are kept: moving bodies and links, then deformables."""
        self._longest = np.full(n, reach)
        """(bodies, links and deformables,) d̂_b where nothing is near [m]."""
        if not meant and given is None:
            size = sizes(s.body, s.rest, n)
            self._longest = np.where(size > 0.0, np.minimum(reach, OWN * size), reach)
        area = np.bincount(s.body, s.vertex_area, n) / 6.0 if len(s.body) else np.zeros(n)
        self._weight = np.zeros(n)
        """(bodies, links and deformables,) mass over area of what moves and can be touched [kg/m²]."""
        for i in system.moving:
            if area[i] > 0.0 and i < len(bodies):
                self._weight[i] = bodies[i].mass / area[i]
        total = sum(bodies[i].mass for i in system.own)
        mass = np.array([bodies[i].mass if i < len(bodies) else total for i in system.moving])
        if soft:
            own = np.array([float(d.mass.sum()) for d in soft])
            # what bends may rest on all of one side; a solid, like a body, on a sixth
            rest = area[rows:] * np.array([1.0 if d.kind == "soft" else 6.0 for d in soft])
            self._weight[rows:] = np.where(rest > 0.0, own / np.where(rest > 0.0, rest, 1.0), 0.0)
            total, mass = total + float(own.sum()), np.concatenate([mass, own])
        self._most = np.log2(np.maximum(total / np.where(mass > 0.0, mass, total or 1.0), 1.0)) if total > 0.0 else np.zeros(len(mass))
        """(moving,) log₂ of the mass of all in that of each."""
        self._gravity = float(np.linalg.norm(system.model.gravity))

    def law(self, h: float, steps: np.ndarray, nearer: np.ndarray, slip_speed: float) -> ContactParameters:
        """With the numbers e of the moving bodies, and log₂ of their shares of the reach."""
        kappa, shares = np.zeros(len(self._weight)), np.zeros(len(self._weight))
        shares[self._moving] = 2.0**nearer
        kappa[self._moving] = self._weight[self._moving] * self._rest(h, nearer) * 2.0**steps
        most = float(kappa.max(initial=0.0))
        if self._given is not None or most <= 0.0:
            every = np.ones(len(kappa))
            return ContactParameters(self.reach, self._given or 1.0, slip_speed, every, every)
        return ContactParameters(self.reach, most, slip_speed, kappa / most, shares)

    def _rest(self, h: float, nearer: np.ndarray) -> np.ndarray:
        """(moving,) κ at rest, in units of m/A."""
        return CARRIED * self._gravity + self.reach * 2.0**nearer / h**2

    def nearest(self, pair: np.ndarray, gaps: np.ndarray) -> np.ndarray:
        """(moving,) log₂ of the share of the reach that ends before all contacts of a body, of these pairs and gaps."""
        least = self._longest.copy()
        np.minimum.at(least, pair.ravel(), np.repeat(gaps, 2))
        return np.log2(np.maximum(least[self._moving] / self.reach, LEAST))

    def raised(self, steps: np.ndarray, nearer: np.ndarray, touching: np.ndarray, h: float, V: np.ndarray) -> np.ndarray:
        """The numbers e for a step that begins with velocities V (of all control points), of which bodies that are touching keep theirs."""
        if self._given is not None or not len(self._system.surface.body):
            return steps
        kept = np.where(touching > 0.0, steps, 0.0)
        return np.maximum(kept, self._asked(h, V, nearer, 2.0 ** np.minimum(kept, 0.0)))

    def carried(
        self, steps: np.ndarray, touching: np.ndarray, before: tuple[float, np.ndarray], now: tuple[float, np.ndarray]
    ) -> np.ndarray:  # fmt: skip
        """The numbers e with which what touches something keeps the κ of other steps and shares of the reach, (length, log₂)."""
        if self._given is not None:
            return steps
        return np.where(touching > 0.0, np.clip(steps + np.log2(self._rest(*before) / self._rest(*now)), -MOST, MOST), steps)

    def _asked(self, h: float, V: np.ndarray, nearer: np.ndarray, least: np.ndarray | float = 1.0) -> np.ndarray:
        """(moving,) e for the speeds of V, of bodies that have this part of κ at rest."""
        moving, speed = self._moving, self._system.motions(np.ascontiguousarray(V).ravel())[:, 1]
        driven = [i for i, b in enumerate(self._system.model.bodies) if b.kind == "kinematic"]
        v = speed[moving] + speed[driven].max(initial=0.0)
        ask = least + np.minimum(v / h, STOPS * v * v / (self.reach * 2.0**nearer)) / self._rest(h, nearer)
        return np.minimum(np.log2(ask), MOST)

    def deep(self, distance: float) -> bool:
        """Whether the least distance at the end of a step asks for more."""
        return self._given is None and distance < DEEP * self.reach

    def deepened(self, steps: np.ndarray, nearer: np.ndarray, contacts: ContactSet, h: float, V: np.ndarray) -> np.ndarray:
        """The numbers e after a step that ended with these contacts and with velocities V."""
        least = np.full(len(self._weight), DEEP)
        np.minimum.at(least, contacts.pair.ravel(), np.repeat(contacts.distance / (self.reach * contacts.record[:, SHARE]), 2))
        more = steps + np.log2(DEEP / least[self._moving])
        return np.maximum(steps, np.minimum(np.minimum(more, self._asked(h, V, nearer) + self._most), MOST))


def sizes(owner: np.ndarray, rest: np.ndarray, n: int) -> np.ndarray:
    """(n,) diagonals of the boxes around the vertices of each, at rest [m]."""
    low, high = np.full((n, 3), np.inf), np.full((n, 3), -np.inf)
    np.minimum.at(low, owner, rest)
    np.maximum.at(high, owner, rest)
    span = np.zeros((n, 3))
    np.subtract(high, low, out=span, where=high >= low)
    return np.asarray(np.linalg.norm(span, axis=1))
