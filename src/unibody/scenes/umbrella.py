"""The deployable umbrella of Wang et al. 2019, *RedMax*, §6.

Numbers are those of the authors' program (sueda/redmax, `loadUmbrella`), read as SI units. They have y up; here the whole scene is turned
by a quarter about x, so that their (x, y, z) is our (x, −z, y). A rod's body frame sits in its middle with z along it, away from the
tube or the runner; rib and stretcher number k lie in the half-plane that −y becomes when turned by φ = 2π k/8 about z:

    rib: R = R_z(φ) R_x(170°) from (0, 0, 60),      stretcher: R = R_z(φ) R_x(θ) from the runner to the middle of rib body m − 1

with m = ⌊n/2⌋ bodies in a stretcher. Universal joints turn about x, then y. A stretcher's end is held by two rows: the middle of the
rib's body stays on a line through it along the x axis of the stretcher's last body.

A canopy spring of the authors pulls with k (l − l₀)/l₀ + d l̇/l₀ and starts at its rest length: our stiffness is k/l₀, our damping d/l₀.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from unibody.scenes.base import Scene, require, scene
from unibody.spatial.pose import Pose

if TYPE_CHECKING:
    from unibody.joints import Joint
    from unibody.model import Body, Builder
    from unibody.shapes import Shape

RIBS = 8
TUBE, RIB, RUNNER = 60.0, 50.0, 10.0
"""Lengths of the tube and of a rib, and the runner's height at the start [m]."""
TILT = math.radians(10.0)
"""Between a folded rib and the tube."""
RADIUS = 0.3
"""Of ribs and stretchers [m]."""
DENSITY = 1.0


@scene("umbrella", summary="the deployable umbrella of the RedMax paper: eight elastic ribs pushed open, sixteen loop-closing rows")
def umbrella(
    *, n: int = 10, canopy: float = 6.0, canopy_damping: float = 1.0, joint_stiffness: float = 1e5, joint_damping: float = 1.0,
    force: float = 5000.0,
) -> Scene:  # fmt: skip
    """n bodies in a rib, ⌊n/2⌋ in a stretcher: 1 + 16 n + 16 ⌊n/2⌋ degrees of freedom, less sixteen for the closed loops.

    `canopy` is the tension of a canopy spring of twice its length [N] (6 in the paper's video, 1 in its measurements), `force` pushes the
    runner up the tube [N]; weight is left out. Stiffness and damping of the joints [N m/rad, N m s/rad] are those within ribs and
    stretchers; where these are hung they turn freely.
    """
    import unibody as ub

    require("umbrella", n >= 2, f"n={n} bodies in a rib are too few; give 2 or more")
    m = n // 2
    link = RIB / n
    # the tube, and the runner on it
    b = ub.Builder(gravity=None)
    tube = b.body("tube", shape=ub.Cylinder(0.5, TUBE), density=DENSITY, kind="static", X_WB=Pose(p=(0, 0, 0.5 * TUBE)))
    runner = b.body("runner", shape=ub.Cylinder(1.0, 5.0), density=DENSITY)
    b.joint("slide", ub.Prismatic(axis=(0, 0, 1)), tube, runner, Pose(p=(0, 0, RUNNER - 0.5 * TUBE)))
    b.add(ub.BodyDamping(runner, angular=1.0, linear=1.0), name="runner.drag")
    # ribs hang on the tube, stretchers on the runner, and clasps join them
    middle = (m - 0.5) * link  # along the rib, where the stretcher meets it
    out, up = middle * math.sin(TILT), TUBE - RUNNER - middle * math.cos(TILT)
    reach, theta = math.hypot(out, up), math.atan2(out, up)
    elastic = (joint_stiffness, joint_damping)
    ribs = [_rod(b, f"rib{k}", n, link, tube, _turned(k, math.pi - TILT, 0.5 * TUBE), elastic) for k in range(RIBS)]
    stretchers = [_rod(b, f"stretcher{k}", m, reach / m, runner, _turned(k, theta, 0.0), elastic) for k in range(RIBS)]
    for k in range(RIBS):
        end, met = stretchers[k][-1].at(0, 0, 0.5 * reach / m), ribs[k][m - 1].at()
        b.add(ub.PointOnLine(met, end, direction=(1, 0, 0)), name=f"clasp{k}")
    for k in range(RIBS):
        for i in range(n):
            rest = 2.0 * math.sin(math.pi / RIBS) * (i + 0.5) * link * math.sin(TILT)
            spring = ub.SpringDamper(
                ribs[k][i].at(), ribs[(k + 1) % RIBS][i].at(), stiffness=canopy / rest, damping=canopy_damping / rest, rest_length=rest
            )
            b.add(spring, name=f"canopy{k}.{i}")
    b.add(ub.AppliedWrench(runner, force=(0, 0, force)), name="push")
    notes = (
        "No exact solution: the ribs bend, then open. Runs of the authors' program, 1 s long, are compared in the tests. "
        "The step suits explicit rules at n = 10, linearly implicit ones take 0.01 s."
    )
    return Scene(b.build(), 1.0, 1e-3, None, notes)


def _turned(k: int, theta: float, height: float) -> Pose:
    """R_z(2π k/8) R_x(θ) at this height on the tube's or runner's axis."""
    return Pose.about((0, 0, 1), 2.0 * math.pi * k / RIBS, p=(0, 0, height)) @ Pose.about((1, 0, 0), theta)


def _rod(b: Builder, name: str, n: int, link: float, root: Body, X_PF: Pose, elastic: tuple[float, float]) -> list[Body]:
    """n cylinders along z, hung on `root` by a free universal joint and on each other by elastic ones."""
    import unibody as ub

    universal: Joint = ub.Universal()
    shape: Shape = ub.Cylinder(RADIUS, link)
    X_BM, next_X_PF = Pose(p=(0, 0, -0.5 * link)), Pose(p=(0, 0, 0.5 * link))
    bodies: list[Body] = []
    for i in range(n):
        body = b.body(f"{name}.{i}", shape=shape, density=DENSITY)
        stiffness, damping = elastic if i else (0.0, 0.0)
        b.joint(f"{name}.joint{i}", universal, root, body, X_PF, X_BM, stiffness=stiffness, damping=damping)
        b.add(ub.BodyDamping(body, angular=1.0, linear=1.0), name=f"{name}.drag{i}")
        root, X_PF = body, next_X_PF
        bodies.append(body)
    return bodies
