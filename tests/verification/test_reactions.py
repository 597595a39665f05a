"""Forces in joints: textbook values, statics solved by hand, and Newton's and Euler's laws for every body of random mechanisms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from running import SOLVERS, com_motion, rotations, run, spin

import unibody as ub

solvers = pytest.mark.parametrize("solver", SOLVERS)
_FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])


@solvers
@pytest.mark.parametrize(("kind", "bottom"), [("rod", 2.5), ("point", 3.0)])
def test_pendulum_carries_its_textbook_load_all_the_way_down(kind, bottom, solver, published):
    """5/2 m g for a rod and 3 m g for a point mass at the bottom; everywhere m (c̈ − g), from elliptic functions."""
    scene = ub.scenes.make("pendulum", kind=kind, mass=2.0)
    rec = run(scene.model, solver, "rk4", 1e-3, 1.0, every=10)
    # Forces err as θ̇² does: order 4 leaves 1e-10 in 1 s.
    np.testing.assert_allclose(rec.reaction("pivot")[:, 3:], scene.exact.reaction(rec.t), atol=1e-7)
    speed = math.sqrt((bottom - 1.0) * 9.81 / scene.exact.lever)  # m d θ̇² is what exceeds the weight
    hanging = ub.scenes.make("pendulum", kind=kind, mass=2.0, angle=0.0, rate=speed)
    force = run(hanging.model, solver, "rk4", 1e-3, 1e-3).reaction("pivot")[0]
    # As fast as after a fall from the horizontal; nothing is integrated before row 0.
    published(f"Pendulum, a {kind}", "reaction at the bottom", (0, 0, bottom * 2.0 * 9.81), force[3:], atol=1e-9, unit="N")
    np.testing.assert_allclose(force[:3], 0.0, atol=1e-9)


@solvers
@pytest.mark.parametrize("planar", [True, False])
def test_hanging_chain_joint_carries_the_weight_below(solver, planar):
    scene = ub.scenes.make("heavy-chain", n=12, mode=0, mass=3.0, planar=planar)
    rec = run(scene.model, solver, "semi-implicit", 1e-3, 0.05, every=50)
    for k in range(12):
        for row in (0, -1):
            # At rest; round-off of some N.
            np.testing.assert_allclose(rec.reaction(f"joint{k}")[row], (0, 0, 0, 0, 0, scene.exact.tension(k)), atol=1e-9)


@solvers
@pytest.mark.parametrize("world", ["four-bar", "spatial-four-bar"])
def test_four_bar_held_at_rest_carries_the_forces_of_statics(world, solver):
    """Nine equations of equilibrium for the forces of four hinges and the torque that holds the crank."""
    scene = ub.scenes.make(world)
    A, B, D = scene.exact.shape.points(1.0)
    O = np.zeros(3)
    masses = dict(zip(scene.exact.motion.names, scene.exact.motion.masses, strict=True))
    # Unknowns: forces (x, z) of O on the crank, A on the coupler, D on the rocker, B on the rocker; the torque on the crank.
    bars = {
        "crank": ((O, A), {"O": 1.0, "A": -1.0}, 1.0),
        "coupler": ((A, B), {"A": 1.0, "B": -1.0}, 0.0),
        "rocker": ((D, B), {"D": 1.0, "B": 1.0}, 0.0),
    }
    place = {"O": O, "A": A, "D": D, "B": B}
    column = {"O": 0, "A": 2, "D": 4, "B": 6}
    M, f = np.zeros((9, 9)), np.zeros(9)
    for i, (name, ((start, end), pins, driven)) in enumerate(bars.items()):
        middle = 0.5 * (start + end)
        f[3 * i + 1] = masses[name] * 9.81
        M[3 * i + 2, 8] = driven
        for pin, sign in pins.items():
            x, z = (place[pin] - middle)[[0, 2]]
            c = column[pin]
            M[3 * i, c] = M[3 * i + 1, c + 1] = sign
            M[3 * i + 2, c], M[3 * i + 2, c + 1] = -z * sign, x * sign  # counter-clockwise
    solution = np.linalg.solve(M, f)

    sim = ub.Simulation(scene.model, solver=solver, dt=1e-3)
    sim.control.set_effort("O", solution[8])
    rec = sim.run(0.01)
    # At rest to round-off, and it stays so for ten steps.
    assert np.abs(rec.joint_velocity("O")).max() < 1e-9
    for pin, c in column.items():
        force = rec.reaction(pin)[0]
        np.testing.assert_allclose(force[[3, 5]], solution[c : c + 2], atol=1e-9)
        np.testing.assert_allclose(force[4], 0.0, atol=1e-9)
    # About the hinge's axis −y, the motor's torque; the reaction is the whole wrench, the constraint's part leaves it out.
    assert -rec.reaction("O")[0, 1] == pytest.approx(solution[8], abs=1e-9)
    assert rec.constraint_wrench("O")[0, 1] == pytest.approx(0.0, abs=1e-9)


def mechanism(seed: int, loop: bool = True) -> tuple[ub.Model, dict]:
    """A random spatial loop with a branch: hinge, ball, universal, closing ball; a slide on springs; a motor; a spring with damper.

    Returns the spring's data beside the model, so that a test can compute its force by itself.
    """
    rng = np.random.default_rng(seed)

    def frame():
        return ub.Pose(p=rng.uniform(-0.6, 0.6, 3), wxyz=rng.normal(size=4))

    frames = [(frame(), frame()) for _ in range(4)]
    starts = (rng.normal(), rng.normal(size=4), rng.normal(size=2), rng.normal())
    bodies_at = [dict(mass=rng.uniform(0.5, 2.0), com=rng.uniform(-0.2, 0.2, 3), inertia=rng.uniform(0.1, 0.19, 3)) for _ in range(4)]
    tip, ends = rng.uniform(-0.5, 0.5, 3), (rng.uniform(-0.3, 0.3, 3), rng.uniform(-0.3, 0.3, 3))
    kinds = (ub.Revolute(axis=rng.normal(size=3)), ub.Ball(), ub.Universal(), ub.Prismatic(axis=rng.normal(size=3)))

    def describe(anchor):
        b = ub.Builder()
        a, coupler, last, slider = bodies = [b.body(f"body{k}", **given) for k, given in enumerate(bodies_at)]
        for k, (parent, child) in enumerate(((b.world, a), (a, coupler), (coupler, last), (coupler, slider))):
            own = {"stiffness": 30.0, "damping": 0.5, "rest": float(starts[3])} if k == 3 else {}
            b.joint(f"joint{k}", kinds[k], parent, child, *frames[k], q=starts[k], **own)
        b.add(ub.Motor("joint0", effort=1.5))
        b.add(ub.SpringDamper(a.at(*ends[0]), bodies[3].at(*ends[1]), stiffness=20.0, damping=0.3, rest_length=0.4))
        if anchor is not None:
            b.joint("closing", ub.Ball(), b.world, last, ub.Pose(p=anchor), ub.Pose(p=tip))
        return b.build()

    model = describe(None)
    if loop:
        model = describe(model.bodies[model.body("body2")].X_WB.apply(tip))
    return model, {"ends": ends, "stiffness": 20.0, "damping": 0.3, "rest": 0.4}


def spring_forces(rec: ub.Recording, spring: dict) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Force on body0 and body3 and where it acts, (T, 3) each."""
    points, velocities = [], []
    for body, p in zip(("body0", "body3"), spring["ends"], strict=True):
        arm = rotations(rec, body) @ p
        points.append(rec.pose(body)[:, :3] + arm)
        velocities.append(rec.twist(body)[:, 3:] + np.cross(rec.twist(body)[:, :3], arm))
    d = points[1] - points[0]
    length = np.linalg.norm(d, axis=1, keepdims=True)
    u = d / length
    rate = ((velocities[1] - velocities[0]) * u).sum(axis=1, keepdims=True)
    tension = (spring["stiffness"] * (length - spring["rest"]) + spring["damping"] * rate) * u
    return {"body0": (tension, points[0]), "body3": (-tension, points[1])}


def joint_place(rec: ub.Recording, joint) -> np.ndarray:
    """Origin of the joint's frame M in the world, (T, 3)."""
    return rec.point(rec.model.bodies[joint.child].name, joint.X_BM.p)


@solvers
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loop", [True, False], ids=["loop", "tree"])
def test_every_body_obeys_newton_and_euler(seed, loop, solver):
    """ṗ and L̇ of recorded momenta, by differences of eighth order, are gravity, spring and what the joints report, in third-law pairs."""
    model, spring = mechanism(seed, loop)
    sim = ub.Simulation(model, solver=ub.solvers.REGISTRY[solver](rule="rk4"), dt=5e-4)
    sim.run(0.3, every=600)
    rec = sim.run(0.02)
    step, rows = 4, np.arange(4, 41, 4)[:9]  # every 2 ms
    middle = rows[4]
    forces = spring_forces(rec, spring)
    for body in model.bodies[1:]:
        c, velocity = com_motion(rec, body.name)
        p_dot = body.mass * (_FIRST @ velocity[rows]) / (step * 5e-4)
        L_dot = _FIRST @ spin(rec, body.name)[rows] / (step * 5e-4)
        force, torque = body.mass * np.array([0, 0, -9.81]), np.zeros(3)
        for joint in model.joints:
            names = model.bodies[joint.parent].name, model.bodies[joint.child].name
            if body.name in names:
                sign = 1.0 if names[1] == body.name else -1.0
                w = sign * rec.reaction(joint.name)[middle]
                force = force + w[3:]
                torque = torque + w[:3] + np.cross(joint_place(rec, joint)[middle] - c[middle], w[3:])
        if body.name in forces:
            pull, where = forces[body.name]
            force = force + pull[middle]
            torque = torque + np.cross(where[middle] - c[middle], pull[middle])
        # Forces of some 10 N. Differences: (2 ms · 10 rad/s)⁸ and round-off 1e-14 / 2 ms; projection moves velocities by 1e-12 a step.
        np.testing.assert_allclose(force, p_dot, atol=1e-9, err_msg=f"{body.name}: force")
        np.testing.assert_allclose(torque, L_dot, atol=1e-9, err_msg=f"{body.name}: torque")


@solvers
@pytest.mark.parametrize("seed", range(3))
def test_constraint_wrenches_do_no_work(seed, solver):
    """Sᵀ w = 0 for every joint, in the joint's own axes."""
    model, _ = mechanism(seed)
    rec = run(model, solver, "rk4", 1e-3, 0.2, every=50)
    for joint in model.joints:
        R = rotations(rec, model.bodies[joint.child].name) @ joint.X_BM.R
        for row, q in enumerate(rec.joint(joint.name)):
            w = rec.constraint_wrench(joint.name)[row].reshape(2, 3) @ R[row]
            # Round-off of wrenches of some 10 N m.
            np.testing.assert_allclose(joint.element.motion(q).T @ w.ravel(), 0.0, atol=1e-9)


@solvers
@pytest.mark.parametrize("seed", range(3))
def test_what_works_in_a_joint_is_its_motor_spring_and_damper(seed, solver):
    """Sᵀ (reaction) is the effort: the motor's 1.5 N m; −k (q − q₀) − c v of the sprung slide; nothing in the others."""
    model, _ = mechanism(seed)
    rec = run(model, solver, "rk4", 1e-3, 0.2, every=50)
    for name in ("joint0", "joint1", "joint2", "joint3"):
        joint = model.joint(name)
        R = rotations(rec, model.bodies[joint.child].name) @ joint.X_BM.R
        q, v = rec.joint(name), rec.joint_velocity(name)
        for row in range(len(rec)):
            effort = joint.element.motion(q[row]).T @ (rec.reaction(name)[row].reshape(2, 3) @ R[row]).ravel()
            sprung = -30.0 * (q[row, 0] - joint.q0[0]) - 0.5 * v[row, 0]
            np.testing.assert_allclose(effort, {"joint0": 1.5, "joint3": sprung}.get(name, 0.0), atol=1e-9)  # round-off


@solvers
def test_reactions_of_redundant_hinges_are_those_of_least_norm_and_flagged(solver):
    """A door on two equal hinges in line: each carries half of the weight; the report says how many rows repeat others."""
    b = ub.Builder()
    door = b.body("door", mass=10.0, inertia=(1.0, 1.0, 1.0))
    for name, z in (("upper", 0.5), ("lower", -0.5)):
        b.joint(name, ub.Revolute(axis=(0, 0, 1)), b.world, door, ub.Pose(p=(0, 0, z)), ub.Pose(p=(-0.4, 0, z)))
    rec = run(b.build(), solver, "semi-implicit", 1e-3, 0.01, every=10)
    assert rec.reports[-1].redundant == 5 and "lower" in rec.reports[-1].redundant_names
    for row in (0, -1):
        total = rec.reaction("upper")[row, 3:] + rec.reaction("lower")[row, 3:]
        np.testing.assert_allclose(total, (0, 0, 98.1), atol=1e-9)
        # Of all splittings of 98.1 N, equal halves have the least norm.
        np.testing.assert_allclose(rec.reaction("upper")[row, 5], 49.05, atol=1e-9)
        # Moments about the lower hinge: the weight's 39.24 N m is taken by couples.
        upper, lower = rec.reaction("upper")[row], rec.reaction("lower")[row]
        moment = upper[:3] + lower[:3] + np.cross((0, 0, 1.0), upper[3:]) + np.cross((0.4, 0, 0.5), (0, 0, -98.1))
        np.testing.assert_allclose(moment, 0.0, atol=1e-9)
