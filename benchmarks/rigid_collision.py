"""Collision of rigid shapes: time of one `RigidCollision.find` on piles, beside MuJoCo, PyBullet and coal on the same poses.

Piles are layers of boxes or spheres on a plane, each layer shifted by half a width against the one below, so that every body rests on four
others and carries four; gaps are a few per mille of their size, attitudes random by as much. MuJoCo's time
is `mj_collision`, PyBullet's `performCollisionDetection` (both with their broad phases and contact points), coal's the bare `coal.collide`
of the pairs that our search found, without a broad phase, with contacts but without patches. Goals: 1000 boxes below 10 ms, 100 spheres
below 0.2 ms, time growing as N to the power of at most 1.1.

    python benchmarks/rigid_collision.py [largest number of bodies]
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from common import interleaved, machine, repeated, table

import unibody as ub
from unibody.collision.rigid import RigidCollision

MARGIN = 0.01


def pile(count: int, shape: ub.shapes.Shape, seed: int = 0) -> tuple[ub.Model, np.ndarray]:
    """Shapes of unit width in a cube of a grid over a plane, and their poses."""
    rng = np.random.default_rng(seed)
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    side = round(count ** (1.0 / 3.0))
    while side**3 < count:
        side += 1
    for k in range(count):
        layer = k // side**2
        rise = 1.0 if isinstance(shape, ub.Box) else np.sqrt(1.0 - 2.0 * 0.51**2)
        place = np.array([1.02 * (k % side) + 0.51 * (layer % 2), 1.02 * (k // side % side) + 0.51 * (layer % 2), 0.5 + rise * layer])
        place += 0.003 * rng.uniform(-1.0, 1.0, 3)
        w = rng.normal(size=3)
        b.body(f"b{k}", shape=shape, X_WB=ub.Pose.about(w, 0.005 * rng.uniform(), p=place))
    b.add(ub.Contact())
    model = b.build()
    return model, np.array([np.r_[np.asarray(x.X_WB.R).ravel(), x.X_WB.p] for x in model.bodies])


def in_mujoco(model: ub.Model, X: np.ndarray, boxes: bool) -> Callable[[int], None]:
    import mujoco

    kind = 'type="box" size="0.5 0.5 0.5"' if boxes else 'type="sphere" size="0.5"'
    geoms = []
    for x in model.bodies[2:]:
        w = " ".join(map(str, x.X_WB.wxyz))
        p = " ".join(map(str, x.X_WB.p))
        geoms.append(f'<body pos="{p}" quat="{w}"><freejoint/><geom {kind} margin="{0.5 * MARGIN}"/></body>')
    ground = f'<geom type="plane" size="9 9 1" margin="{0.5 * MARGIN}"/>'
    text = f'<mujoco><size memory="2G"/><worldbody>{ground}{"".join(geoms)}</worldbody></mujoco>'
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    mujoco.mj_kinematics(m, d)
    mujoco.mj_comPos(m, d)

    def run(times: int) -> None:
        for _ in range(times):
            mujoco.mj_collision(m, d)

    run(1)
    run.contacts = d.ncon  # type: ignore[attr-defined]
    return run


def in_pybullet(model: ub.Model, X: np.ndarray, boxes: bool) -> Callable[[int], None]:
    import pybullet as p

    if p.isConnected():
        p.disconnect()
    p.connect(p.DIRECT)
    plane = p.createCollisionShape(p.GEOM_PLANE)
    p.createMultiBody(0.0, plane)
    shape = p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.5] * 3) if boxes else p.createCollisionShape(p.GEOM_SPHERE, radius=0.5)
    for x in model.bodies[2:]:
        w, *v = x.X_WB.wxyz
        p.createMultiBody(1.0, shape, basePosition=list(x.X_WB.p), baseOrientation=[*v, w])
    run = repeated(p.performCollisionDetection)
    run(2)
    run.contacts = len(p.getContactPoints())  # type: ignore[attr-defined]
    return run


def by_coal(rigid: RigidCollision, X: np.ndarray, boxes: bool) -> Callable[[int], None]:
    import coal

    shape = coal.Box(1.0, 1.0, 1.0) if boxes else coal.Sphere(0.5)
    plane = coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    pairs = rigid.pairs(X).tolist()
    frames = [coal.Transform3s(x[:9].reshape(3, 3), x[9:]) for x in X[1:]]
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    request.num_max_contacts, request.enable_contact, request.security_margin = 8, True, MARGIN

    def run(times: int) -> None:
        run.contacts = 0  # type: ignore[attr-defined]
        for _ in range(times):
            for i, j in pairs:
                result.clear()
                coal.collide(plane if i == 0 else shape, frames[i], shape, frames[j], request, result)
                run.contacts += result.numContacts()  # type: ignore[attr-defined]

    return run


def main(largest: int = 1000) -> None:
    print(machine())
    rows, times = [], {}
    for boxes in (False, True):
        for count in (n for n in (100, 300, 1000, 3000, 10000) if n <= largest):
            model, X = pile(count, ub.Box((1.0, 1.0, 1.0)) if boxes else ub.Sphere(0.5))
            rigid = RigidCollision(model, MARGIN)
            found = len(rigid.find(X))
            contenders: dict[str, Callable[[int], None]] = {"ours": repeated(lambda r=rigid, x=X: r.find(x))}
            for name, make in (("MuJoCo", in_mujoco), ("PyBullet", in_pybullet)):
                try:
                    contenders[name] = make(model, X, boxes)
                except ImportError:
                    continue
            try:
                contenders["coal"] = by_coal(rigid, X, boxes)
            except ImportError:
                pass
            taken = interleaved(contenders, rounds=7, block=0.02)
            times[boxes, count] = taken["ours"].least
            contacts = {n: getattr(run, "contacts", found) for n, run in contenders.items()}
            cells = [f"{1e3 * taken[n].least:.3f} ({contacts[n]})" if n in taken else "–" for n in ("ours", "MuJoCo", "PyBullet", "coal")]
            rows.append([f"{count} {'boxes' if boxes else 'spheres'}", len(rigid.pairs(X)), *cells])
    print(table(["pile", "pairs", "ours", "MuJoCo", "PyBullet", "coal's pairs alone"], rows))
    print("ms per call, least of the turns; contacts in parentheses (coal: of all its calls, PyBullet: penetrating ones and a little more)")
    for boxes in (False, True):
        sizes = np.array([n for b, n in times if b == boxes], float)
        if len(sizes) > 1:
            slope = np.polyfit(np.log(sizes), np.log([times[boxes, int(n)] for n in sizes]), 1)[0]
            print(f"{'boxes' if boxes else 'spheres'}: time grows as N^{slope:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
