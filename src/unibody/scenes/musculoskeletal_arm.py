"""An arm that lifts a weight: two bones on hinges, line muscles, and flesh around the bones.

A muscle is a cable through points of bones, along which one tension T acts. It contracts as its rest length does, by what a winch hauls
in, and damps as muscles do. By virtual work its torque about a joint is T times its moment arm r(θ) = −∂L/∂θ. At rest, about the elbow,

    Σ T_i r_i(θ) = g Σ_k m_k x_k + τ_flesh(θ)

with the weights m_k g of forearm, load and what flesh goes with them, at the horizontal distances x_k from the elbow; about the shoulder,
where the flesh is within what turns, Σ T_i r_i = g Σ m x of all that moves.

x is forwards, z up. Hinges turn x towards z: a bent elbow has a positive angle. Sizes are those of a grown-up's arm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.flesh import attach_to_nearest, smooth_step, tube
from unibody.scenes.parts import HINGE
from unibody.spatial.pose import Pose

if TYPE_CHECKING:
    from unibody.meshes import TriMesh

UPPER, FORE, HAND = 0.30, 0.25, 0.31
"""Lengths of the bones, and from the elbow to the load [m]."""
THICK = 0.045
"""Radius of the flesh [m]."""
OLECRANON = 0.02
"""Radius of the elbow, around which the triceps runs [m]."""


@dataclass(frozen=True)
class Contraction:
    """What a muscle's rest length has grown by [m]: less and less, by `by` between 0.1 s and 0.9 s."""

    by: float

    def __call__(self, t: float) -> float:
        return -self.by * smooth_step((t - 0.1) / 0.8)


def surface(part: float) -> TriMesh:
    """The surface of the flesh, from above the shoulder to the wrist; `part` < 1: cut open in front of the plane of motion."""
    s = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 49))
    line = np.outer(s, (0.0, 0.0, -(UPPER + FORE - 0.01)))

    def radii(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        bulge = 0.72 + 0.28 * np.cos(2.0 * np.pi * (s - 0.28)) * np.exp(-((s - 0.28) ** 2) / 0.1) - 0.25 * np.clip(s - 0.6, 0.0, 1.0)
        return THICK * bulge, THICK * bulge

    return tube(line, radii, np.array([[0, 1, 0], [1, 0, 0]], float), part=part)


@scene("musculoskeletal-arm", summary="Muscles as cables bend an elbow in flesh until their torque is that of the weight in the hand")
def musculoskeletal_arm(
    *, load: float = 2.0, contraction: float = 0.06, young: float = 1e4, cells: int = 12, skin: Literal["whole", "cut"] = "cut",
) -> Scene:  # fmt: skip
    """A `load` [kg] in the hand; biceps and brachialis contract by up to `contraction` [m] within a second. Flesh of `young` [Pa] in
    a cage with so many `cells` along the arm. Its `skin` is shown whole, or cut open before the bones."""
    import unibody as ub

    what = "musculoskeletal-arm"
    require(what, load > 0.0 and young > 0.0, f"load={load:g}, young={young:g}; give more than 0")
    require(what, 0.0 <= contraction <= 0.07, f"contraction={contraction:g}; give 0 … 0.07 m")
    require(what, 8 <= cells <= 60, f"cells={cells}; give 8 … 60")
    b = ub.Builder()
    # bones hang down: shoulder blade, upper arm, forearm, and what is held
    blade = b.body("shoulder blade", [ub.Placed(ub.Box((0.1, 0.03, 0.03)), Pose((-0.01, 0, 0.045)))], kind="static")
    upper = b.body("upper arm", ub.Capsule(0.012, UPPER - 0.02), mass=0.4, X_WB=Pose((0, 0, -0.5 * UPPER)))
    fore = b.body("forearm", ub.Capsule(0.01, FORE - 0.02), mass=0.3, X_WB=Pose((0, 0, -UPPER - 0.5 * FORE)))
    held = b.body("load", ub.Sphere(0.05), mass=load, X_WB=Pose((0, 0, -UPPER - HAND)))
    ahead = Pose((0, 0, -0.5 * UPPER))
    b.joint("shoulder", ub.Revolute(HINGE), b.world, upper, X_BM=Pose((0, 0, 0.5 * UPPER)), damping=3.0)
    b.joint("elbow", ub.Revolute(HINGE), upper, fore, X_PF=ahead, X_BM=Pose((0, 0, 0.5 * FORE)), damping=0.2)
    b.joint("grip", ub.Weld(), fore, held, X_PF=Pose((0, 0, 0.5 * FORE - HAND)))

    def on_upper(x: float, down: float) -> ub.Point:
        return upper.at(x, 0, 0.5 * UPPER - down)

    def on_fore(x: float, down: float) -> ub.Point:
        return fore.at(x, 0, 0.5 * FORE - down)

    # muscles, from origin to insertion; the triceps runs around the elbow, and does not contract
    elbow = ub.Pulley(upper.at(0, 0, -0.5 * UPPER), OLECRANON, axis=(0, 1, 0), side=-1)
    muscles = {
        "biceps": ([blade.at(0.035, 0, 0.03), on_upper(0.03, 0.10), on_fore(0.012, 0.05)], 1.5e4, contraction),
        "brachialis": ([on_upper(0.018, 0.16), on_fore(0.012, 0.035)], 1.5e4, 0.7 * contraction),
        "triceps": ([on_upper(-0.018, 0.08), elbow, on_fore(-0.018, 0.06)], 200.0, 0.0),
        "deltoid": ([blade.at(0.04, 0, 0.06), on_upper(0.022, 0.12)], 1e4, 0.0),
        "teres": ([blade.at(-0.06, 0, 0.03), on_upper(-0.015, 0.10)], 500.0, 0.0),
    }
    for name, (points, stiffness, by) in muscles.items():
        winch = Contraction(by) if by > 0.0 else None
        b.add(ub.Cable(points, stiffness=stiffness, damping=0.04 * stiffness, winch=winch), name=name)
    # flesh goes with the bones that it is nearest to
    flesh = b.soft("flesh", ub.TetMesh.cage(surface(1.0), cells), ub.CoRotated(young, 0.4, damping=5e-3), density=1000.0)
    flesh.embed(surface(0.5 if skin == "cut" else 1.0))
    z = {"upper arm": (0.0, -UPPER), "forearm": (-UPPER, -UPPER - FORE)}
    lines = {name: (np.array([0, 0, a]), np.array([0, 0, e])) for name, (a, e) in z.items()}
    attach_to_nearest(b, flesh, lines, dict.fromkeys(lines, 0.75 * (UPPER + FORE) / cells))
    notes = "The arm comes to rest where muscles carry load, bones and flesh; more load, a straighter elbow."
    return Scene(b.build(), duration=3.0, dt=5e-3, notes=notes, solver="redmax")
