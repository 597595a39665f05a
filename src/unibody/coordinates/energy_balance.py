"""Kinetic and stored energy of all bodies at a state.

    T_i = ½ m |v + ω × c|² + ½ ω·I ω,     U = − Σ m g·(p + R c)

with the body-fixed twist (ω, v) at the body's origin, the centre of mass c and the inertia I about it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.kernel import Floats, Ints, kernel
from unibody.model.model import Model
from unibody.spatial.devices import add3, cross, dot3, load3, load9, rotate

ROW = 13
"""A body's numbers: mass, centre, inertia by rows."""


@dataclass
class EnergyBalance:
    """What moves and what is stored at one state [J], and what was done by motors and applied wrenches up to it."""

    kinetic: np.ndarray
    """(bodies,), each body's own."""
    rotors: float
    """Kinetic energy of armatures."""
    gravity: float
    springs: float
    supplied: float
    """Work of motors and applied wrenches so far."""

    @property
    def moving(self) -> float:
        """The whole kinetic energy."""
        return float(self.kinetic.sum()) + self.rotors


@kernel
def fill_body_energies(moving: Ints, bodies: Floats, X: Floats, V: Floats, g: Floats, kinetic_out: Floats) -> float:
    """Each body's kinetic energy; returns the energy in gravity."""
    down = load3(g, 0)
    gravity = 0.0
    for k in range(moving.size):
        i = moving[k]
        mass = bodies[ROW * k]
        com = load3(bodies, ROW * k + 1)
        spin = load3(V, 6 * i)
        centre = add3(load3(V, 6 * i + 3), cross(spin, com))
        kinetic_out[i] = 0.5 * (mass * dot3(centre, centre) + dot3(spin, rotate(load9(bodies, ROW * k + 4), spin)))
        gravity -= mass * dot3(down, add3(load3(X, 12 * i + 9), rotate(load9(X, 12 * i), com)))
    return gravity


class Masses:
    """Masses, centres and inertias of the bodies that forces move, as kernels read them."""

    def __init__(self, model: Model):
        moving = [(i, b) for i, b in enumerate(model.bodies) if b.kind == "dynamic"]
        self._moving = np.array([i for i, _ in moving], np.int64)
        self._rows = np.concatenate([np.zeros(0), *([b.mass, *b.com, *np.ravel(b.inertia)] for _, b in moving)])
        self._count, self._gravity = model.n_bodies, np.array(model.gravity, float)
        self.total = float(sum(b.mass for _, b in moving))

    def energies(self, X: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, float]:
        """(bodies,) kinetic energies and the energy in gravity, from poses (12 a body) and body-fixed twists (6 a body)."""
        kinetic = np.zeros(self._count)
        return kinetic, fill_body_energies(self._moving, self._rows, X, V, self._gravity, kinetic)
