"""Books of energy in `barrier`: kinetic and stored energy less all booked work stays what it was, to the order of the rule, where matter is
damped and where bodies and vertices move as they are told."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub


def lifted(t: float) -> np.ndarray:
    """A motion that begins at rest."""
    return np.array([0.0, 0.0, 0.02 * (1.0 - np.cos(8.0 * t))])


def shaken(held: str, damping: float = 0.0, spring: bool = False) -> ub.Model:
    """A bar of rubber whose left end is shaken: its vertices themselves, a driven body that they are attached to, or a body that hangs on a
    driven one by a hinge with friction in its oil."""
    b = ub.Builder()
    bar = b.soft("bar", ub.TetMesh.box((0.2, 0.1, 0.1), (3, 1, 1)), ub.NeoHookean(2e4, 0.3, damping=damping), density=1000)
    left = bar.vertices[bar.vertices.x[:, 0] < -0.1 + 1e-9]
    if held == "vertices":
        x = bar.vertices.x[left.index]
        b.prescribe(left, lambda t: x + lifted(t))
        return b.build()
    arm = b.body("arm", kind="kinematic", motion=lambda t: ub.Pose(lifted(t)))
    if held == "hinge":
        plate = b.body("plate", mass=0.3, inertia=(1e-3,) * 3)
        b.joint("hinge", ub.Revolute((0, 1, 0)), arm, plate, X_PF=ub.Pose((-0.2, 0, 0)), X_BM=ub.Pose((-0.1, 0, 0)), damping=0.05)
        b.attach(left, plate)
    else:
        b.attach(left, arm)
    if spring:
        b.add(ub.SpringDamper(bar.vertex(len(bar.vertices) - 1), arm.at(0, 0, -0.3), stiffness=50.0, damping=1.0))
    return b.build()


def unexplained(model: ub.Model, rule: str, dt: float) -> tuple[np.ndarray, ub.Recording]:
    rec = ub.Simulation(model, ub.solvers.Barrier(rule=rule, tolerance=1e-8), dt=dt).run(0.32)
    e = rec.energy
    return e.total - e.work - e.total[0], rec


@pytest.mark.parametrize("held", ["vertices", "body"])
def test_drives_of_matter_that_is_not_damped_balance_to_second_order(held: str) -> None:
    """BDF-2: halving the step divides what is left by four; without the book of drives all of what they did would be left."""
    coarse, fine = (unexplained(shaken(held), "bdf2", dt) for dt in (8e-3, 4e-3))
    swing = np.ptp(fine[1].energy.drive_work)
    assert swing > 0.3  # J; it is most of what the bar ever has
    assert np.abs(fine[0]).max() < 0.02 * swing
    assert np.abs(coarse[0]).max() > 3.0 * np.abs(fine[0]).max()


def test_implicit_euler_only_takes_energy() -> None:
    """Its work is that of the forces at the ends of steps over the ways, so that what is left falls, step by step: by order one. Rises are
    those of a bar whose energy is not convex, and of Newton's tolerance."""
    coarse, fine = (unexplained(shaken("vertices"), "implicit", dt)[0] for dt in (8e-3, 4e-3))
    assert np.diff(fine).max() < 1e-3 * np.ptp(fine)
    assert 1.5 < coarse[-1] / fine[-1] < 2.2


@pytest.mark.parametrize(("held", "spring"), [("vertices", False), ("body", True), ("hinge", True)])
def test_books_close_with_dampers_of_matter_and_of_elements(held: str, spring: bool) -> None:
    """Damping lags within a step, so the order is one; by then Rayleigh's damping has taken a large part of what drives gave."""
    coarse, fine = (unexplained(shaken(held, 0.02, spring), "bdf2", dt) for dt in (4e-3, 1e-3))
    e = fine[1].energy
    assert -e.damper_work[-1] > 0.25 * np.ptp(e.drive_work)
    assert (np.diff(e.damper_work) <= 0.0).all()
    assert np.abs(fine[0]).max() < 0.02 * -e.damper_work[-1]
    assert np.abs(coarse[0]).max() > 1.5 * np.abs(fine[0]).max()


def test_a_free_damped_cube_loses_what_its_damping_takes() -> None:
    """Nothing is driven: the loss of energy is the work of dampers, and drives have done nothing."""
    b = ub.Builder(gravity=None)
    cube = ub.TetMesh.box((0.1, 0.1, 0.1), (1, 1, 1))
    stretched = cube.vertices * (1.2, 0.95, 0.95)
    b.soft("cube", cube, ub.NeoHookean(2e4, 0.3, damping=5e-3), density=1000, start=stretched)
    missing, rec = unexplained(b.build(), "bdf2", 5e-4)
    e = rec.energy
    assert e.total[-1] < 0.05 * e.total[0]
    assert np.abs(missing).max() < 0.02 * e.total[0]
    assert not e.drive_work.any()


def test_a_driven_arm_does_the_work_that_swings_what_hangs_on_it() -> None:
    """Rigid bodies: a joint's equations transmit it."""
    b = ub.Builder()
    arm = b.body("arm", kind="kinematic", motion=lambda t: ub.Pose(3.0 * lifted(t)))
    bob = b.body("bob", ub.Sphere(0.05), mass=2.0)
    b.joint("hinge", ub.Revolute((0, 1, 0)), arm, bob, X_BM=ub.Pose((0, 0, 0.3)), q=0.8, damping=0.02)
    model = b.build()
    coarse, fine = (unexplained(model, "bdf2", dt) for dt in (8e-3, 4e-3))
    assert np.ptp(fine[1].energy.drive_work) > 0.5
    assert np.abs(fine[0]).max() < 0.02 * np.ptp(fine[1].energy.drive_work)
    assert np.abs(coarse[0]).max() > 1.7 * np.abs(fine[0]).max()
    with pytest.raises(ub.ModelError, match="this solver keeps no book of what driven bodies do"):
        _ = ub.Simulation(model, "articulated", dt=4e-3).run(0.1).energy.drive_work
