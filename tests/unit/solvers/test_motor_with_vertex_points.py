"""A motor's target stands behind the wrenches of a control, where points of deformables must not look for theirs."""

from __future__ import annotations

import numpy as np

import unibody as ub


def test_a_motor_with_a_target_and_a_spring_on_a_vertex_run_together() -> None:
    b = ub.Builder(gravity=None)
    base = b.body("base", ub.Box((0.1, 0.1, 0.1)), mass=1.0)
    b.joint("hinge", ub.Revolute(axis=(0, 1, 0)), b.world, base)
    b.add(ub.Motor("hinge", kp=10.0, kd=1.0), name="motor")
    arm = b.soft("arm", ub.TetMesh.box((0.3, 0.1, 0.1), cells=(1, 1, 1)), material=ub.CoRotated(young=1e5, poisson=0.3), density=1000.0)
    b.attach(arm.vertices[arm.vertices.x[:, 0] < 0.01], base)
    b.add(ub.SpringDamper(b.world.at(1, 0, 0), arm.vertex(7), stiffness=10.0))
    sim = ub.Simulation(b.build(), "barrier", dt=1e-3)
    sim.control.set_target("motor", 0.1)
    assert np.isfinite(sim.run(3e-3).vertices("arm")).all()
