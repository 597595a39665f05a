"""A fish that bends its spine in free space: hinges in flesh, driven by a wave that travels from head to tail.

Joint k of n, at s = k / n along the spine, has the angle of Lighthill's carangiform swimmers, whose amplitude grows towards the tail:

    θ_k(t) = A s² sin(ω t − 2 π λ s) r(t),     r = 1 − exp(−(t/τ)³)

Nothing is around the fish. Whatever its muscles do, its momentum stays what it was at the start, and so does its angular momentum, which
is zero: where the tail goes to one side, the head goes to the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.flesh import attach_to_nearest, tube
from unibody.spatial.pose import Pose

LENGTH = 0.3
"""From nose to tail [m]."""
SPINE = (0.1, 0.92)
"""Where the spine begins and ends, as parts of the length."""
RISE = 0.3
"""τ [s]: how long the wave takes to rise."""


def profile(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Half width and half height of the body at s = 0 (nose) … 1 (tail) of its length, for a length of 1."""
    body = np.sqrt(np.clip(s, 0.0, 1.0)) * np.clip(1.0 - s, 0.0, 1.0) ** 0.8
    fin = 0.11 * np.clip((s - 0.8) / 0.2, 0.0, 1.0) ** 1.5
    return 0.006 + 0.12 * body, 0.008 + 0.21 * body + fin


@dataclass(frozen=True)
class Wave:
    """The angle of one joint [rad] with its rate and acceleration: `size` sin(`rate` t − `phase`) r(t)."""

    size: float
    rate: float
    phase: float

    def __call__(self, t: float) -> float:
        return self.size * math.sin(self.rate * t - self.phase) * _rise(t)[0]

    def velocity(self, t: float) -> float:
        """[rad/s]"""
        (r, dr, _), x = _rise(t), self.rate * t - self.phase
        return self.size * (self.rate * math.cos(x) * r + math.sin(x) * dr)

    def acceleration(self, t: float) -> float:
        """[rad/s²]"""
        (r, dr, ddr), x = _rise(t), self.rate * t - self.phase
        return self.size * ((ddr - self.rate**2 * r) * math.sin(x) + 2.0 * self.rate * dr * math.cos(x))


def _rise(t: float) -> tuple[float, float, float]:
    """r and its derivatives, with s = t/τ: r' = 3 s² exp(−s³)/τ, r'' = (6 s − 9 s⁴) exp(−s³)/τ²."""
    s = max(0.0, t) / RISE
    e = math.exp(-(s**3))
    return 1.0 - e, 3.0 * s * s * e / RISE, (6.0 * s - 9.0 * s**4) * e / RISE**2


@scene("fish", summary="A spine in flesh bends in a travelling wave; in free space, momentum stays what it was")
def fish(
    *, bones: int = 10, length: float = LENGTH, young: float = 2e4, damping: float = 0.0, cells: int = 12,
    amplitude: float = 0.55, frequency: float = 1.5, waves: float = 0.8, speed: float = 0.2, skin: Literal["whole", "cut"] = "whole",
) -> Scene:  # fmt: skip
    """A fish of `length` [m] with a spine of so many `bones` in flesh of `young` [Pa], in a cage with so many `cells` along it. Joints bend
    by up to `amplitude` [rad] at the tail, at `frequency` [1/s], with so many `waves` on the spine. It glides at `speed` [m/s]. A `skin`
    that is cut shows the bones."""
    import unibody as ub

    require("fish", 2 <= bones <= 100 and 8 <= cells <= 60, f"bones={bones}, cells={cells}; give 2 … 100 and 8 … 60")
    require("fish", length > 0.0 and young > 0.0, f"length={length:g}, young={young:g}; give more than 0")
    require("fish", damping >= 0.0, f"damping={damping:g}; give 0 s or more")
    require("fish", 0.0 <= amplitude <= 1.0, f"amplitude={amplitude:g}; give 0 … 1 rad")
    require("fish", frequency > 0.0, f"frequency={frequency:g}; give more than 0")
    b = ub.Builder(gravity=None)
    glide = (-speed, 0.0, 0.0)
    # the spine: the nose is at x = 0, the tail at x = length; joints turn about z
    begin, bone = SPINE[0] * length, (SPINE[1] - SPINE[0]) * length / bones
    segments, parent = {}, None
    for k in range(bones):
        x, name = begin + (k + 0.5) * bone, f"bone{k}"
        rib = float(np.interp(x / length, *_heights())) * length
        body = b.body(name, ub.Box((0.8 * bone, 0.015 * length, max(0.02 * length, rib))), mass=0.3 * length**3, X_WB=Pose((x, 0, 0)),
                      V_WB=(0, 0, 0, *glide) if parent is None else None)  # fmt: skip
        if parent is not None:
            b.joint(f"spine{k}", ub.Revolute((0, 0, 1)), parent, body, X_PF=Pose((0.5 * bone, 0, 0)), X_BM=Pose((-0.5 * bone, 0, 0)))
            s = k / (bones - 1)
            wave = Wave(amplitude * s * s, 2.0 * math.pi * frequency, 2.0 * math.pi * waves * s)
            b.add(ub.PrescribedJoint(f"spine{k}", wave, rate=wave.velocity, acceleration=wave.acceleration), name=f"drive{k}")
        segments[name] = np.array([x - 0.5 * bone, 0, 0]), np.array([x + 0.5 * bone, 0, 0])
        parent = body
    # flesh in a cage around the skin
    line, axes = np.outer(0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 41)), (length, 0, 0)), np.array([[0, 1, 0], [0, 0, 1]], float)

    def half_axes(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        width, height = profile(s)
        return length * width, length * height

    cage = ub.TetMesh.cage(tube(line, half_axes, axes), cells)
    flesh = b.soft("flesh", cage, ub.CoRotated(young, 0.4, damping=damping), density=1000.0, V_WB=(0, 0, 0, *glide))
    flesh.embed(tube(line, half_axes, axes, part=1.0 if skin == "whole" else 0.5))
    attach_to_nearest(b, flesh, segments, dict.fromkeys(segments, 0.75 * length / cells))
    notes = "Nothing holds it: its centre of mass glides on a straight line, and its head swings against its tail."
    return Scene(b.build(), duration=1.5, dt=2.5e-3, notes=notes, solver="redmax")


def _heights() -> tuple[np.ndarray, np.ndarray]:
    """Heights of ribs along the body, for a length of 1: a little less than its own."""
    s = np.linspace(0.0, 1.0, 41)
    return s, 0.7 * profile(s)[1]

