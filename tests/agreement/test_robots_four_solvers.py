"""A dozen robots from other projects' wheels, dropped on a floor in all four contact solvers: each lands, in the same place in all of them.

Of every step of every run, whatever the solver:

    p⁺ − p = h (f − m g)        p the momentum upwards, f the force of the floor, summed over the run

which no contact force that is told wrongly, or left out, fulfils. Overlaps are those of the solver's law: none where contacts are
anticipated, but for what turning within a step leaves, ω² r h²; what falls in a step, v h, where penalties begin at the surface; and never
any behind a barrier.

Joints are held more softly than in `test_robots_at_rest`, for springs and dampers are explicit in `impulse` and in `penalty`, and bound
their steps by 2 I / c of the lightest link. The files' friction, torsion and margins give way to one friction for all: a barrier knows no
margins, and penalties no torsion.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import unibody as ub
from peers.held_robots import FRICTION, extent, held
from peers.robots import BULLET, DATA, GYM, SUITE, force_from_ground, weight

pytestmark = pytest.mark.peers

STIFFNESS, DELAY = 1.0, 0.02
"""[1, s] See `peers.held_robots`."""
IMPLICIT = 5e-3
"""[s] The step of solvers that take springs and dampers implicitly."""
ROBOTS: dict[str, tuple[float, float]] = {
    # robot: the step [s] of those that do not, and how long it takes to land and settle [s]: 2 cm take 64 ms, the 0.9 m of some 430 ms
    **dict.fromkeys((f"{BULLET}/{name}.urdf" for name in ("cube", "sphere2", "lego/lego")), (5e-3, 0.3)),
    **dict.fromkeys((f"{BULLET}/mjcf/{name}.xml" for name in ("capsule", "cylinder", "hello_mjcf")), (2e-3, 0.6)),
    **dict.fromkeys((f"{GYM}/{name}.xml" for name in ("ant", "half_cheetah", "walker2d")), (2e-3, 0.6)),
    f"{SUITE}/hopper.xml": (2e-3, 0.6), f"{DATA}/quadruped.urdf": (1e-3, 0.3), f"{DATA}/iris.urdf": (1e-3, 0.3),
    f"{BULLET}/quadruped/spirit40.urdf": (5e-4, 0.3), f"{BULLET}/mini_cheetah/mini_cheetah.urdf": (7.5e-4, 0.3),
}  # fmt: skip
REACH = 1e-3
"""Of the robot's size: where the barrier begins, which is how far above the floor it rests at most."""
FASTEST = 20.0
"""[m/s, rad/s] Four times what the highest falls reach."""


def ready(robot: str) -> ub.Model:
    """The robot held, with one friction and without margins."""
    b = held(robot, STIFFNESS, DELAY).builder
    size = extent(b.build())
    for name, body in list(b.bodies.items()):
        if any(p.material is not None for p in body.shapes):
            b.change_body(name, shape=[replace(p, material=_bits(p.material)) for p in body.shapes])
    for name, element in list(b.elements.items()):
        if isinstance(element, ub.Contact) and element.materials is not None:
            b.remove_element(name)
        elif isinstance(element, ub.Contact) and element.on:
            reach = {"reach": REACH * size} if element.everywhere else {}
            b.change(name, friction=FRICTION, torsion=0.0, static=None, restitution=0.0, **reach)
    return b.build()


def _bits(material: ub.ContactMaterial | None) -> ub.ContactMaterial | None:
    """What it touches, and nothing else."""
    return None if material is None else ub.ContactMaterial(category=material.category, mask=material.mask)


def momentum(recording: ub.Recording) -> np.ndarray:
    """(T,) [kg m/s] upwards."""
    p = np.zeros(len(recording))
    for body in recording.model.bodies:
        if body.kind == "dynamic":
            twist, arm = recording.twist(body.name), recording.point(body.name, body.com) - recording.point(body.name)
            p += body.mass * (twist[:, 3:] + np.cross(twist[:, :3], arm))[:, 2]
    return p


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_robot_lands_alike_in_all_four_solvers(robot: str) -> None:
    model, (fine, seconds) = ready(robot), ROBOTS[robot]
    load, mass = weight(model), weight(model) / float(np.linalg.norm(model.gravity))
    root = next(body.name for body in model.bodies[1:] if body.kind == "dynamic")
    heights = {}
    for solver, dt in (("complementarity", IMPLICIT), ("impulse", fine), ("penalty", fine), ("barrier", IMPLICIT)):
        recording = ub.Simulation(model, solver, dt=dt).run(seconds)
        steps = len(recording) - 1
        fastest = max(float(np.abs(recording.twist(body.name)).max()) for body in model.bodies if body.kind == "dynamic")
        assert fastest < FASTEST, solver
        # no overlap but that of the law
        deepest = {"complementarity": 5e-4, "impulse": 5e-4, "penalty": fastest * dt, "barrier": 0.0}[solver]
        gap = min(float(c.gaps.min(initial=np.inf)) for c in recording.contacts)
        assert gap > -deepest, solver
        # the floor's impulses and gravity's are the change of momentum, to Newton's tolerance of every step of a barrier, and to the first
        # order of the step where reduced coordinates turn within it; else to round-off and what joints are apart
        force = np.array([force_from_ground(recording, k)[2] for k in range(1, steps + 1)])
        left = np.abs(np.diff(momentum(recording)).cumsum() - (force - load).cumsum() * dt).max() / mass
        assert left < {"complementarity": IMPLICIT, "impulse": 1e-8, "penalty": 1e-8, "barrier": 1e-5 * steps}[solver], solver
        # it has landed: over the last tenth of a second the floor carries the weight, but for what still swings
        last = round(0.1 / dt)
        assert abs(force[-last:].mean() / load - 1.0) < 0.05, solver
        heights[solver] = float(recording.pose(root)[-1, 2])
    spread = max(heights.values()) - min(heights.values())
    assert spread < 2.0 * REACH * extent(model) + 1e-3, heights


def test_a_dozen_are_run() -> None:
    assert len(ROBOTS) >= 12
