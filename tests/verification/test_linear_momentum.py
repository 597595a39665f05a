"""Linear momentum of what flies, in every solver: constant to round-off without outside forces, and under gravity the parabola of the rule.

    v_n = v + n h g,    x_n = x + n h v + h² g n (n + 1)/2      of the centre of mass, by Euler's semi-implicit rule in any coordinates

The bodies spin fast, have centres of mass away from their origins and other bodies on them: whatever happens inside cancels."""

from __future__ import annotations

import numpy as np
import pytest
from running import com_motion

import unibody as ub
from unibody.solvers import REGISTRY

SOLVERS = sorted(REGISTRY)
H, STEPS = 2e-3, 200
GRAVITY = np.array([0.3, -0.2, -9.81])


def thrown(b: ub.Builder) -> None:
    """One body whose centre of mass is away from its origin."""
    b.body("body", mass=2.0, com=(0.1, -0.2, 0.05), inertia=(0.3, 0.5, 0.6), V_WB=(5.0, -7.0, 9.0, 1.0, 2.0, 3.0))


def centred(b: ub.Builder) -> None:
    b.body("body", mass=2.0, inertia=(0.3, 0.5, 0.6), V_WB=(5.0, -7.0, 9.0, 1.0, 2.0, 3.0))


def tree(b: ub.Builder) -> None:
    """A body with an arm of two links on a hinge and a ball, a damper and a spring in them."""
    body = b.body("body", mass=2.0, com=(0.1, 0, 0), inertia=(0.3, 0.5, 0.6), V_WB=(2.0, -3.0, 4.0, 1.0, 2.0, 3.0))
    arm = b.body("arm", mass=1.0, com=(0, 0, 0.2), inertia=(0.02, 0.02, 0.01))
    hand = b.body("hand", mass=0.5, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
    b.joint("shoulder", ub.Revolute((0, 1, 0)), body, arm, X_PF=ub.Pose((0.3, 0, 0)), v=3.0, damping=0.05)
    b.joint("wrist", ub.Revolute((1, 0, 0)), arm, hand, X_PF=ub.Pose((0, 0, 0.4)), v=-2.0, stiffness=2.0)


def pair(b: ub.Builder) -> None:
    """Two bodies that a spring holds together."""
    left = b.body("left", mass=2.0, inertia=(0.3, 0.5, 0.6), V_WB=(2.0, -3.0, 4.0, 1.0, 2.0, 3.0))
    right = b.body("right", mass=1.0, com=(0, 0.1, 0), inertia=(0.1, 0.1, 0.2), X_WB=ub.Pose((1, 0, 0)), V_WB=(0, 3.0, 0, 0, -1.0, 0))
    b.add(ub.SpringDamper(left.at(0.2, 0, 0), right.at(-0.1, 0.1, 0), 40.0, 1.0))


def run(start, solver, gravity):
    b = ub.Builder(gravity=tuple(gravity))
    start(b)
    rec = ub.Simulation(b.build(), solver, dt=H).run(H * STEPS, every=20)
    bodies = [body for body in rec.model.bodies if body.kind == "dynamic"]
    moved = [com_motion(rec, body.name) for body in bodies]
    if solver == "barrier":  # bodies give a little: their centres of mass are t + A c, beside the rigid poses of the recording
        w = np.array([[1.0, *body.com] for body in bodies])
        Q, rate = (z.reshape(len(rec.t), -1, 4, 3)[:, : len(bodies)] for z in (rec.q, rec.v))
        moved = list(zip(*(np.einsum("nk,tnkj->ntj", w, z) for z in (Q, rate)), strict=True))
    mass = sum(body.mass for body in bodies)
    x = sum(body.mass * m[0] for body, m in zip(bodies, moved, strict=True)) / mass
    v = sum(body.mass * m[1] for body, m in zip(bodies, moved, strict=True)) / mass
    return np.rint(rec.t / H), x, v


def round_off(solver, start):
    """1e-16 a step of numbers of order 10, the forces inside among them; the barrier's Newton method ends at a tolerance."""
    return 1e-7 if solver == "barrier" else 1e-12


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("start", [thrown, centred, tree, pair])
def test_momentum_stays_to_round_off(start, solver):
    n, x, v = run(start, solver, np.zeros(3))
    tolerance = round_off(solver, start)
    assert np.abs(v - v[0]).max() < tolerance * (1.0 + np.abs(v[0]).max())
    assert np.abs(x - x[0] - n[:, None] * H * v[0]).max() < tolerance * (1.0 + np.abs(x).max())


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("start", [thrown, centred, tree, pair])
def test_with_weight_centres_of_mass_fly_the_parabola_of_the_rule(start, solver):
    n, x, v = run(start, solver, GRAVITY)
    n, tolerance = n[:, None], round_off(solver, start)
    assert np.abs(v - v[0] - n * H * GRAVITY).max() < tolerance * 10.0
    assert np.abs(x - x[0] - n * H * v[0] - H * H * GRAVITY * n * (n + 1) / 2).max() < tolerance * 10.0


@pytest.mark.parametrize("solver", ["articulated", "lagrange", "redmax", "complementarity"])
def test_planar_bodies_and_trees_keep_it_too(solver):
    b = ub.Builder(planar=True, gravity=(0, 0, -9.81))
    body = b.body("body", mass=2.0, com=(0.1, 0, -0.2), inertia=(0.3, 0.5, 0.6), V_WB=(0, 7.0, 0, 1.0, 0, 3.0))
    arm = b.body("arm", mass=1.0, com=(0.2, 0, 0), inertia=(0.02, 0.02, 0.01))
    b.joint("shoulder", ub.Revolute((0, 1, 0)), body, arm, X_PF=ub.Pose((0.3, 0, 0)), v=5.0)
    rec = ub.Simulation(b.build(), solver, dt=H).run(H * STEPS, every=STEPS)
    x, v = ((2.0 * p + q) / 3.0 for p, q in zip(com_motion(rec, "body"), com_motion(rec, "arm"), strict=True))
    fallen = np.array([0, 0, -9.81])
    assert np.abs(v[-1] - v[0] - STEPS * H * fallen).max() < 1e-11
    assert np.abs(x[-1] - x[0] - STEPS * H * v[0] - H * H * fallen * STEPS * (STEPS + 1) / 2).max() < 1e-11


@pytest.mark.parametrize("solver", ["articulated", "redmax"])
def test_a_closed_loop_that_floats_keeps_it_as_well_as_its_rows_hold(solver):
    b = ub.Builder(gravity=(0, 0, 0))
    hinge, links = ub.Revolute((0, 1, 0)), [b.body(f"link{i}", ub.Box((0.4, 0.05, 0.05)), mass=1.0 + 0.2 * i) for i in range(4)]
    ahead, behind = ub.Pose((0.2, 0, 0)), ub.Pose((-0.2, 0, 0))
    b.joint("root", ub.Free(), b.world, links[0], v=(0.5, 1.0, -2.0, 1.0, 0.5, 0.2))
    for i, (q, v) in ((1, (1.2, 2.0)), (2, (np.pi - 1.2, -2.0)), (3, (1.2, 2.0))):
        b.joint(f"j{i}", hinge, links[i - 1], links[i], X_PF=ahead, X_BM=behind, q=q, v=v)
    b.joint("last", hinge, links[3], links[0], X_PF=ahead, X_BM=behind)
    rec = ub.Simulation(b.build(), solver, dt=H).run(H * STEPS, every=10)
    masses = [1.0 + 0.2 * i for i in range(4)]
    P = sum(m * com_motion(rec, f"link{i}")[1] for i, m in enumerate(masses))
    # projections push along rows, which are internal, by the factors of the step's beginning
    assert np.abs(P - P[0]).max() < 1e-4
