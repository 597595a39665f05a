"""Cloth, rods and soft solids under `redmax`: laws of motion, two-way coupling to skeletons, agreement with `barrier`."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from verification.soft_meshes import block

G = 9.81
RUBBER = ub.NeoHookean(young=1e5, poisson=0.4)
FLESH = ub.CoRotated(young=1e5, poisson=0.3)


def run(b: ub.Builder | ub.Model, seconds: float, dt: float = 1e-3, **options) -> ub.Recording:
    return ub.Simulation(b.build() if isinstance(b, ub.Builder) else b, ub.solvers.RedMax(**options), dt=dt).run(seconds)


def limb(material=FLESH, density: float = 1000.0, springs: bool = False, held: bool = True, cells=(6, 2, 2)) -> ub.Builder:
    """Two bones in one piece of flesh, hung on a hinge in the world, or not held at all."""
    b = ub.Builder(gravity=(0, 0, -G) if held else None)
    upper = b.body("upper", ub.Box((0.2, 0.05, 0.05)), mass=0.3, X_WB=ub.Pose((0.1, 0, 0)))
    lower = b.body("lower", ub.Box((0.2, 0.05, 0.05)), mass=0.3, X_WB=ub.Pose((0.3, 0, 0)))
    if held:
        b.joint("shoulder", ub.Revolute(axis=(0, 1, 0)), b.world, upper, X_BM=ub.Pose((-0.1, 0, 0)))
    b.joint("elbow", ub.Revolute(axis=(0, 1, 0)), upper, lower, X_PF=ub.Pose((0.1, 0, 0)), X_BM=ub.Pose((-0.1, 0, 0)))
    arm = b.soft("arm", ub.TetMesh.box((0.4, 0.1, 0.1), cells=cells), material=material, density=density, X_WB=ub.Pose((0.2, 0, 0)))
    x = arm.vertices.x
    core = (np.abs(x[:, 1]) < 1e-9) & (np.abs(x[:, 2]) < 1e-9)
    b.attach(arm.vertices[core & (x[:, 0] < 0.19)], upper, name="on upper")
    b.attach(arm.vertices[core & (x[:, 0] > 0.21)], lower, name="on lower")
    if springs:
        b.add(ub.SpringDamper(arm.vertex(int(np.argmax(x.sum(axis=1)))), upper.at(0, 0, 0.2), stiffness=200.0, damping=0.5))
        b.add(ub.SpringDamper(arm.at(tet=3), lower.at(0, 0, 0.2), stiffness=200.0, damping=0.5))
        b.add(ub.Cable([arm.at(tet=5), upper.at(0, 0.1, 0.3), arm.vertex(0)], stiffness=50.0))
    return b


def momenta(rec: ub.Recording) -> tuple[np.ndarray, np.ndarray]:
    """(T, 3) linear momentum of everything, and angular momentum about the origin."""
    linear, angular = 0.0, 0.0
    for body in rec.model.bodies[1:]:
        pose, twist = rec.pose(body.name), rec.twist(body.name)
        R = np.array([ub.Pose(p[:3], p[3:]).R for p in pose])
        arm = np.einsum("tij,j->ti", R, np.array(body.com))
        p = body.mass * (twist[:, 3:] + np.cross(twist[:, :3], arm))
        spin = np.einsum("tij,jk,tlk,tl->ti", R, np.array(body.inertia), R, twist[:, :3])
        linear, angular = linear + p, angular + np.cross(pose[:, :3] + arm, p) + spin
    for d in rec.model.deformables:
        x, p = rec.vertices(d.name), d.mass[:, None] * rec.velocities(d.name)
        linear, angular = linear + p.sum(axis=1), angular + np.cross(x, p).sum(axis=1)
    return linear, angular


def test_a_solid_without_bodies_falls_as_the_rule_says() -> None:
    """Semi-implicit Euler is ahead of −g t²/2 by −g h t / 2, exactly, whatever the solid does within; no joint, no body."""
    b = ub.Builder()
    b.soft("cube", block((0.1, 0.1, 0.1), (1, 1, 1)), RUBBER, density=1000.0, V_WB=(1.0, 2.0, 3.0, 0.5, 0.0, 0.0))
    rec = run(b, 0.2, 0.01)
    m, t = rec.model.deformable("cube").mass, rec.t
    centre = np.einsum("n,tni->ti", m / m.sum(), rec.vertices("cube"))
    exact = 0.5 * t[:, None] * np.array([1.0, 0.0, 0.0]) - 0.5 * G * (t * (t + 0.01))[:, None] * np.array([0.0, 0.0, 1.0])
    assert np.abs(centre - exact).max() < 1e-12


@pytest.mark.parametrize("springs", [False, True])
def test_momentum_of_a_limb_that_floats_is_kept(springs: bool) -> None:
    """Linear momentum to round-off; angular momentum in first order of the step, as linearly implicit forces have it."""
    lost = []
    for dt in (2e-3, 1e-3):
        b = limb(held=False, springs=springs)
        b.edit_body = None if False else b  # noqa: F841
        rec = ub.Simulation(spinning(springs), "redmax", dt=dt).run(0.1)
        linear, angular = momenta(rec)
        assert np.abs(linear - linear[0]).max() < 1e-12
        lost.append(np.linalg.norm(angular[-1] - angular[0]) / np.linalg.norm(angular[0]))
    assert lost[1] < 0.6 * lost[0] < 0.05


def spinning(springs: bool) -> ub.Model:
    """The limb in free flight, turning; its flesh starts as it is held."""
    b = ub.Builder(gravity=None)
    spin = (0.0, 3.0, 0.0)
    upper = b.body("upper", ub.Box((0.2, 0.05, 0.05)), mass=0.3, X_WB=ub.Pose((0.1, 0, 0)), V_WB=(*spin, *np.cross(spin, (0.1, 0, 0))))
    lower = b.body("lower", ub.Box((0.2, 0.05, 0.05)), mass=0.3, X_WB=ub.Pose((0.3, 0, 0)), V_WB=(*spin, *np.cross(spin, (0.3, 0, 0))))
    b.joint("elbow", ub.Revolute(axis=(0, 1, 0)), upper, lower, X_PF=ub.Pose((0.1, 0, 0)), X_BM=ub.Pose((-0.1, 0, 0)), v=2.0)
    arm = b.soft("arm", ub.TetMesh.box((0.4, 0.1, 0.1), cells=(6, 2, 2)), material=FLESH, density=1000.0, X_WB=ub.Pose((0.2, 0, 0)),
                 V_WB=(*spin, *np.cross(spin, (0.2, 0, 0))))  # fmt: skip
    x = arm.vertices.x
    core = (np.abs(x[:, 1]) < 1e-9) & (np.abs(x[:, 2]) < 1e-9)
    b.attach(arm.vertices[core & (x[:, 0] < 0.19)], upper)
    b.attach(arm.vertices[core & (x[:, 0] > 0.21)], lower)
    if springs:
        b.add(ub.SpringDamper(arm.vertex(3), upper.at(0, 0, 0.2), stiffness=200.0, damping=0.5))
        b.add(ub.SpringDamper(arm.at(tet=3), lower.at(0, 0, 0.2), stiffness=200.0, damping=0.5))
        b.add(ub.Cable([arm.at(tet=5), upper.at(0, 0.1, 0.3), arm.vertex(0)], stiffness=50.0))
    return b.build()
