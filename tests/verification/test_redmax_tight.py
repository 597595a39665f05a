"""The RedMax authors' own regression scenes against their own equations of motion, integrated tightly (relative tolerance 1e-9).

`redmax_tight.json` holds the scenes and the recorded samples (source and licence inside), in cm, g, s. E_ab maps b-coordinates to
a-coordinates; a joint's frame moves by E_pj0 Q(q), and its body sits in it at E_ji. `JointSphericalExp` and `JointFree3D` count rotations
by exponential maps, so orientations are compared, not coordinates. `ConstraintLoop` holds two points together across the hinge's axis in
a planar loop, which a closing hinge does as well; `ConstraintMultQ` is q_B = factor q_A; springs have no rest length.

Dormand and Prince at 1e-9 per step leave about 1e-8 in a second of these motions, more where they are chaotic; order 4 at 0.25 ms
leaves less. Agreement is demanded to 1e-6 of the range of each motion.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from running import SOLVERS, at, rotations, run

import unibody as ub
from unibody.spatial.pose import rotation_from_quaternion, rotation_from_vector

CASES = json.loads(Path(__file__).with_name("redmax_tight.json").read_text(encoding="utf-8"))["cases"]
TOLERANCE = 1e-6


def placed(E):
    """A pose from the rows of [R p]."""
    return ub.Pose.from_matrix(np.vstack([np.reshape(E, (3, 4)), (0, 0, 0, 1)]))


def start(joint):
    """The joint, its q and v from the recorded coordinates."""
    q, v, axis = joint["q0"], joint["qdot0"], joint.get("axis")
    match joint["type"]:
        case "JointFixed":
            return ub.Weld(), None, None
        case "JointRevolute":
            return ub.Revolute(axis=axis), q, v
        case "JointPrismatic":
            return ub.Prismatic(axis=axis), q, v
        case "JointUniversal":
            return ub.Universal(), q, v
        case "JointSphericalExp":
            turn = ub.Pose.from_rotation(rotation_from_vector(q))
            return ub.Ball(), turn.wxyz, body_rate(q, v)
        case "JointFree3D":
            assert not np.any(q)
            return ub.Free(), (0, 0, 0, 1, 0, 0, 0), (*v[3:], *v[:3])
    raise AssertionError(joint["type"])


def body_rate(q, v):
    """ω in body axes of the exponential map: R(q)ᵀ dR/dt, by central differences of fourth order."""
    q, v, h = np.array(q), np.array(v), 1e-3
    samples = [rotation_from_vector(q + k * h * v) for k in (-2, -1, 1, 2)]
    slope = (samples[0] - 8 * samples[1] + 8 * samples[2] - samples[3]) / (12 * h)
    W = rotation_from_vector(q).T @ slope
    return 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])


def build(case):
    b = ub.Builder(gravity=case["gravity"])
    bodies = [b.body(f"body{k}", mass=body["inertia"][3], inertia=body["inertia"][:3]) for k, body in enumerate(case["bodies"], 1)]
    inside = [ub.Pose(), *(placed(body["E_ji"]).inverse() for body in case["bodies"])]
    for k, joint in enumerate(case["joints"], 1):
        parent = joint["parent"]
        element, q, v = start(joint)
        own = {"stiffness": joint.get("stiffness", 0.0), "damping": joint.get("damping", 0.0)}
        outer, X_PF = ([b.world, *bodies][parent]), inside[parent] @ placed(joint["E_pj0"])
        b.joint(f"joint{k}", element, outer, bodies[k - 1], X_PF, inside[k], q=q, v=v, **own)
    for k, constraint in enumerate(case["constraints"]):
        if constraint["type"] == "ConstraintLoop":
            A, B = bodies[constraint["bodyA"] - 1], bodies[constraint["bodyB"] - 1]
            b.joint(f"loop{k}", ub.Revolute(axis=(0, 1, 0)), A, B, ub.Pose(p=constraint["xA"]), ub.Pose(p=constraint["xB"]))
        else:
            pair = [f"joint{constraint['jointB']}", f"joint{constraint['jointA']}"]
            b.add(ub.JointCoupling(pair, (1.0, -constraint["factor"])))
    for spring in case["springs"]:
        ends = (bodies[spring["body1"] - 1].at(*spring["x_1"]), bodies[spring["body2"] - 1].at(*spring["x_2"]))
        b.add(ub.SpringDamper(*ends, stiffness=spring["stiffness"], rest_length=0.0))
    return b.build()


def recorded_rotations(case, joint):
    """Q(q) of a recorded exponential map at the samples."""
    columns = [k for k, (j, component) in enumerate(case["order"]) if j == joint][-3:]
    return np.array([rotation_from_vector(np.array(q)[columns]) for q in case["q"]])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("case", CASES, ids=[f"{case['id'].split('/')[1]}-{case['name'].replace(' ', '-').lower()}" for case in CASES])
def test_motion_is_that_of_the_authors(case, solver):
    rec = run(build(case), solver, "rk4", 2.5e-4, case["t"][-1], every=100)
    rows = [at(rec, t) for t in case["t"]]
    for k, joint in enumerate(case["joints"], 1):
        found = rec.joint(f"joint{k}")
        if joint["type"] in ("JointSphericalExp", "JointFree3D"):
            turns = np.array([rotation_from_quaternion(q[-4:]) for q in found[rows]])
            np.testing.assert_allclose(turns, recorded_rotations(case, k), atol=TOLERANCE)
            continue
        for c in range(found.shape[1]):
            recorded = np.array(case["q"])[:, case["order"].index([k, c + 1])]
            # "Of the motion": angles of order 1 to 6 rad, slides in cm.
            np.testing.assert_allclose(found[rows, c], recorded, atol=TOLERANCE * max(1.0, np.abs(recorded).max()))
    reach = max(np.abs(E).max() for E in case["final"])
    for k, E in enumerate(case["final"], 1):
        X = placed(E)
        np.testing.assert_allclose(rec.pose(f"body{k}")[-1, :3], X.p, atol=TOLERANCE * reach)
        np.testing.assert_allclose(rotations(rec, f"body{k}")[-1], X.R, atol=TOLERANCE * 6)
    # Kinetic energy is quadratic in velocities, which err as much as coordinates times their rates.
    assert rec.energy.kinetic[-1] == pytest.approx(case["T"], rel=2e-5)
