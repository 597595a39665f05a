"""How stiff barriers are where no pressure is given: κ per body, from mass, surface, step, gravity and speed.

    κ_b = (m / A) (10 g + d̂/h² + v/h),   κ_ab = max(κ_a, κ_b)

A is a sixth of the body's surface: what it may rest on. The first term carries ten bodies like this one in the middle of the barrier, the
second makes the barrier as quick as the step, the third stops a body of speed v (of its fastest vertex, and of the fastest driven body)
within one step. Pairs of light bodies so stay soft beside heavy ones, and a heavy one on a light one is carried.

Speeds change, so κ_b is the first two terms times 2ᵉ. Of a body that touches nothing, e is what its speed asks for, up and down, which
nobody feels. While it touches something, e only rises, with the speed and as smoothly, so that what comes to rest keeps its κ; and after a
step that ended with distances below 0.02 d̂, by what would have kept them above (near the wall of a barrier distances grow as κ), though
not beyond the κ of a body of the mass of all: where a body is squeezed, no κ makes room. Where the step becomes shorter or longer, what
touches something keeps its κ too (e may be below 0 then): or a shorter step would throw what rests, since the barrier would hold a multiple
of its energy. The numbers e are memory, so a run that is continued goes on as it would have. A pressure that is given holds for all pairs,
always.

Where κ has risen, a contact's force at the beginning of a step is that which the old κ has balanced: friction's bounds are taken with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.collision.proximity import ContactSet
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.element_loads import CARRIED
from unibody.solvers.barrier.memory import MOST

DEEP = 0.02
"""d/d̂ at the end of a step below which the next one is stiffer."""


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

    def of_pairs(self, pair: np.ndarray) -> np.ndarray:
        """(n,) κ of pairs of bodies (n, 2)."""
        return self.pressure * self.parts[pair].max(axis=1)


class Pressures:
    """κ of a system's bodies; `given` [Pa] holds for all of them."""

    def __init__(self, system: AffineSystem, reach: float, given: float | None):
        self._system, self.reach, self._given = system, reach, given
        s, bodies, rows, soft = system.surface, system.model.bodies, system.rows, system.model.deformables
        n = system.touchables
        self._moving = np.concatenate([system.moving, rows + np.arange(len(soft))]).astype(np.int64)
        """Of which the numbers e are kept: moving bodies and links, then deformables."""
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

    def law(self, h: float, steps: np.ndarray, slip_speed: float) -> ContactParameters:
        """With the numbers e of the moving bodies."""
        if self._given is not None:
            return ContactParameters(self.reach, self._given, slip_speed, np.ones(len(self._weight)))
        kappa = self._weight * self._rest(h)
        kappa[self._moving] *= 2.0**steps
        most = float(kappa.max(initial=0.0))
        if most <= 0.0:
            return ContactParameters(self.reach, 1.0, slip_speed, np.ones(len(kappa)))
        return ContactParameters(self.reach, most, slip_speed, kappa / most)

    def _rest(self, h: float) -> float:
        return CARRIED * self._gravity + self.reach / h**2

    def raised(self, steps: np.ndarray, touching: np.ndarray, h: float, V: np.ndarray) -> np.ndarray:
        """The numbers e for a step that begins with velocities V (of all control points), of which bodies that are touching keep theirs."""
        if self._given is not None or not len(self._system.surface.body):
            return steps
        kept = np.where(touching > 0.0, steps, 0.0)
        return np.maximum(kept, self._asked(h, V, 2.0 ** np.minimum(kept, 0.0)))

    def carried(self, steps: np.ndarray, touching: np.ndarray, before: float, h: float) -> np.ndarray:
        """The numbers e with which what touches something keeps the κ of steps of length `before` in one of length h."""
        if self._given is not None:
            return steps
        return np.where(touching > 0.0, np.clip(steps + np.log2(self._rest(before) / self._rest(h)), -MOST, MOST), steps)

    def _asked(self, h: float, V: np.ndarray, least: np.ndarray | float = 1.0) -> np.ndarray:
        """(moving,) e for the speeds of V, of bodies that have this part of κ at rest."""
        moving, speed = self._moving, self._system.motions(np.ascontiguousarray(V).ravel())[:, 1]
        driven = [i for i, b in enumerate(self._system.model.bodies) if b.kind == "kinematic"]
        ask = least + (speed[moving] + speed[driven].max(initial=0.0)) / h / self._rest(h)
        return np.minimum(np.log2(ask), MOST)

    def deep(self, distance: float) -> bool:
        """Whether the least distance at the end of a step asks for more."""
        return self._given is None and distance < DEEP * self.reach

    def deepened(self, steps: np.ndarray, contacts: ContactSet, h: float, V: np.ndarray) -> np.ndarray:
        """The numbers e after a step that ended with these contacts and with velocities V."""
        least = np.full(len(self._weight), DEEP * self.reach)
        np.minimum.at(least, contacts.pair.ravel(), np.repeat(contacts.distance, 2))
        more = steps + np.log2(DEEP * self.reach / least[self._moving])
        return np.maximum(steps, np.minimum(np.minimum(more, self._asked(h, V) + self._most), MOST))
