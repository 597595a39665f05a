"""The windmill of paper 003 (Fig. 20) beside PyBullet at equal dt: time per simulated second, and how much goes through each other.

    python benchmarks/barrier_windmill.py [--quick [--whole]]

The scene `windmill` (468 cubes, or 72 with --quick), μ = 0.2, dt = 1/240 s, on both sides from the same start, and Bullet with 4, 16 and 64
steps in the place of one. Every tenth step all pairs of boxes are tested by their fifteen separating axes, outside of either engine: pairs
that overlap, and how deep the deepest is. All take turns, a tenth of a second of motion each; times are of the processor.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from common import machine, table

import unibody as ub
import unibody.scenes as scenes
from unibody.coordinates.affine.body import polar
from unibody.shapes import Box
from unibody.spatial.pose import Pose

DT, TURN = 1.0 / 240.0, 24
FINER = (1, 4, 16, 64)


@dataclass
class Boxes:
    """All boxes of a model: their bodies, places in these, and half sides."""

    body: np.ndarray
    place: list[Pose]
    half: np.ndarray

    @staticmethod
    def of(model: ub.Model) -> Boxes:
        found = [(i, p.X_BS, p.shape.sides) for i, b in enumerate(model.bodies) for p in b.shapes if isinstance(p.shape, Box)]
        return Boxes(np.array([f[0] for f in found]), [f[1] for f in found], 0.5 * np.array([f[2] for f in found]))

    def overlaps(self, poses: list[Pose], plane: bool = True) -> tuple[int, float]:
        """Pairs of boxes of different bodies that overlap, with the ground's half space among them, and the deepest overlap [m]."""
        X = [poses[b] @ p for b, p in zip(self.body, self.place, strict=True)]
        R, c = np.array([x.R for x in X]), np.array([x.p for x in X])
        size = np.linalg.norm(self.half, axis=1)
        i, k = np.triu_indices(len(c), 1)
        near = (self.body[i] != self.body[k]) & (np.linalg.norm(c[i] - c[k], axis=1) < size[i] + size[k])
        i, k = i[near], k[near]
        d, A, B = c[k] - c[i], R[i], R[k]
        edges = np.cross(np.swapaxes(A, 1, 2)[:, :, None], np.swapaxes(B, 1, 2)[:, None, :]).reshape(-1, 9, 3)
        axes = np.concatenate([np.swapaxes(A, 1, 2), np.swapaxes(B, 1, 2), edges], axis=1)
        length = np.linalg.norm(axes, axis=2)
        reach = sum((np.abs(np.einsum("naj,njm->nam", axes, M)) * self.half[at][:, None]).sum(axis=2) for M, at in ((A, i), (B, k)))
        with np.errstate(divide="ignore", invalid="ignore"):
            depth = np.where(length > 1e-9, (reach - np.abs(np.einsum("naj,nj->na", axes, d))) / length, np.inf).min(axis=1, initial=np.inf)
        low = (np.abs(R[:, 2, :]) * self.half).sum(axis=1) - c[:, 2]
        depth = np.concatenate([depth, low if plane else []])
        return int((depth > 0.0).sum()), float(max(depth.max(initial=0.0), 0.0))


@dataclass
class Runner:
    """An engine: a way to take steps, and one to see the bodies."""

    step: Callable[[int], None]
    poses: Callable[[], list[Pose]]
    seconds: float = 0.0
    pairs: list[int] = field(default_factory=list)
    deepest: float = 0.0


def ours(model: ub.Model) -> Runner:
    sim = ub.Simulation(model, ub.solvers.Barrier(), dt=DT)

    def step(times: int) -> None:
        for _ in range(times):
            sim.step()

    def poses() -> list[Pose]:
        Q = sim.bound.system.affine.whole(sim.state.q, sim.state.t)[: model.n_bodies]
        return [pose_of(R, p) for R, p in zip(polar(Q)[0], Q[:, 0], strict=True)]

    return Runner(step, poses)


def pose_of(R: np.ndarray, p: np.ndarray) -> Pose:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return Pose.from_matrix(X)


def bullets(model: ub.Model, friction: float, finer: int) -> Runner:
    """The same bodies in PyBullet: boxes, a plane, and the wheel as the link of a fixed base; so many steps in the place of one."""
    import pybullet as bullet

    client = bullet.connect(bullet.DIRECT)
    known = {"physicsClientId": client}
    bullet.setGravity(*model.gravity, **known)
    bullet.setTimeStep(DT / finer, **known)
    hung = {j.child: j for j in model.joints if not j.implicit}
    where: dict[int, tuple[int, int]] = {}
    for i, body in enumerate(model.bodies):
        if not body.shapes:
            continue
        if not isinstance(body.shapes[0].shape, Box):
            plane = bullet.createCollisionShape(bullet.GEOM_PLANE, **known)
            where[i] = bullet.createMultiBody(0, plane, **known), -1
        else:
            halves = [[0.5 * x for x in p.shape.sides] for p in body.shapes]
            at = [list(p.X_BS.p) for p in body.shapes]
            shape = bullet.createCollisionShapeArray([bullet.GEOM_BOX] * len(at), halfExtents=halves, collisionFramePositions=at, **known)
            mass = body.mass if body.kind == "dynamic" else 0.0
            wxyz = np.array(body.X_WB.wxyz)
            place = {"basePosition": list(body.X_WB.p), "baseOrientation": [*wxyz[1:], wxyz[0]]}
            if i in hung:
                axis = list(hung[i].element.axis)
                none, still = [[0, 0, 0]], [[0, 0, 0, 1]]
                where[i] = (
                    bullet.createMultiBody(
                        0, -1, linkMasses=[mass], linkCollisionShapeIndices=[shape], linkVisualShapeIndices=[-1], linkPositions=none,
                        linkOrientations=still, linkInertialFramePositions=none, linkInertialFrameOrientations=still,
                        linkParentIndices=[0], linkJointTypes=[bullet.JOINT_REVOLUTE], linkJointAxis=[axis], **place, **known,
                    ),
                    0,
                )  # fmt: skip
                bullet.setJointMotorControl2(where[i][0], 0, bullet.VELOCITY_CONTROL, force=0.0, **known)
            else:
                where[i] = bullet.createMultiBody(mass, shape, **place, **known), -1
        nothing = {"linearDamping": 0.0, "angularDamping": 0.0, "jointDamping": 0.0, "restitution": 0.0}
        # Bullet multiplies the coefficients of a pair
        bullet.changeDynamics(*where[i], lateralFriction=friction**0.5, **nothing, **known)

    def step(times: int) -> None:
        for _ in range(finer * times):
            bullet.stepSimulation(**known)

    def poses() -> list[Pose]:
        out = [Pose()] * model.n_bodies
        for i, (body, link) in where.items():
            if link < 0:
                p, xyzw = bullet.getBasePositionAndOrientation(body, **known)
            else:
                p, xyzw = bullet.getLinkState(body, link, computeForwardKinematics=1, **known)[4:6]
            out[i] = Pose(p=p, wxyz=(xyzw[3], *xyzw[:3]))
        return out

    return Runner(step, poses)


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    quick = "--quick" in arguments
    scene = scenes.get("windmill")(**({"levels": 2} if quick else {"levels": 6, "columns": 13}))
    duration = 0.6 if quick and "--whole" not in arguments else 1.5
    boxes = Boxes.of(scene.model)
    runners = {"unibody barrier": ours(scene.model)}
    runners.update({f"pybullet, dt / {finer}": bullets(scene.model, 0.2, finer) for finer in FINER})
    for done in range(0, round(duration / DT), TURN):
        for runner in runners.values():
            for first in range(0, TURN, 10):
                began = time.process_time()
                runner.step(min(10, TURN - first))
                if done:  # the first turn makes ready
                    runner.seconds += time.process_time() - began
                pairs, depth = boxes.overlaps(runner.poses())
                runner.pairs.append(pairs)
                runner.deepest = max(runner.deepest, depth)
    rows = []
    for name, r in runners.items():
        rows.append([name, f"{r.seconds / (duration - TURN * DT):.2f}", max(r.pairs), f"{np.mean(r.pairs):.1f}", f"{1e3 * r.deepest:.2f}"])
        rows[-1].append(f"{runners['unibody barrier'].seconds / r.seconds:.2f}")
    print(f"windmill, {scene.model.n_bodies - 1} bodies, {duration:g} s at dt = 1/240 s")
    print(table(["engine", "s per simulated s", "most pairs that overlap", "mean", "deepest mm", "ours / its time"], rows))
    print(f"paper: 1.4 × faster than Bullet, whose bodies intersect. {machine()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
