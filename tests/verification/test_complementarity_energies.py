"""Complementarity: no impact gains energy by Stronge's law, nor by the others without friction or with clipping, whatever hits: rods, boxes
on corners, edges and faces, several bodies at once, mechanisms with loops; and both coordinates agree on random scenes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import unibody as ub

KINDS = ("rod", "corner", "face", "pair", "linkage", "loop")


def thrown(kind: str, rng: np.random.Generator, **contact: float | str) -> ub.Model:
    """Something in free space that is about to hit a wall, oblique and spinning."""
    b = ub.Builder(gravity=None)
    b.body("wall", shape=ub.Plane(), kind="static")

    def twist() -> tuple[float, ...]:
        return (*rng.uniform(-3, 3, size=3), *rng.uniform(-4, 4, size=2), -rng.uniform(3, 6))

    if kind == "rod":
        tilt = rng.uniform(0.2, 1.3)
        pose = ub.Pose.about((0, 1, 0), tilt, p=(0, 0, 0.5 * np.cos(tilt) + 0.01))
        b.body("rod", shape=ub.Capsule(0.01, 1.0), mass=1.0, X_WB=pose, V_WB=twist())
    elif kind in ("corner", "face"):
        turn = ub.Pose.about(rng.normal(size=3), rng.uniform(0.3, 2.0)) if kind == "corner" else ub.Pose()
        low = float(0.5 * np.abs(turn.R[2]) @ (0.3, 0.2, 0.1))
        b.body("box", shape=ub.Box((0.3, 0.2, 0.1)), mass=1.0, X_WB=ub.Pose((0, 0, low), turn.wxyz), V_WB=twist())
    elif kind == "pair":
        b.body("low", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((0, 0, 0.1)), V_WB=twist())
        b.body("high", shape=ub.Sphere(0.15), mass=3.0, X_WB=ub.Pose((0.05, 0, 0.1 + np.sqrt(0.25**2 - 0.05**2))), V_WB=twist())
    else:
        pose = ub.Pose.about((0, 1, 0), 1.2, p=(0, 0, 0.05 + 0.2 * np.cos(1.2)))
        one = b.body("one", shape=ub.Capsule(0.05, 0.4), mass=1.0)
        two = b.body("two", shape=ub.Capsule(0.05, 0.4), mass=0.7)
        rates = np.array(twist()).reshape(2, 3) @ pose.R  # in body axes
        b.joint("fly", ub.Free(), b.world, one, q=(*pose.p, *pose.wxyz), v=tuple(rates.ravel()))
        b.joint("knee", ub.Ball(), one, two, X_PF=ub.Pose((0, 0, 0.25)), X_BM=ub.Pose((0, 0, -0.25)), v=tuple(rng.normal(size=3)))
        if kind == "loop":
            three = b.body("three", shape=ub.Sphere(0.05), mass=0.5)
            b.joint("slide", ub.Prismatic((1, 0, 0)), one, three, X_PF=ub.Pose((0.2, 0, 0)), v=rng.normal())
            b.add(ub.Distance(three.at(), two.at(0, 0, 0.1)), name="link")
    b.add(ub.Contact(**contact))
    return b.build()


def energies(model: ub.Model, **options: bool) -> tuple[float, float, tuple[str, ...], int]:
    """Before and after a step so short that nothing but the impact matters, what its report says, and how many contacts pushed; velocities
    of loops are made to fit by a step without contact."""
    sim = ub.Simulation(model, ub.solvers.Complementarity(**options), dt=1e-8)
    if any(name == "link" for name, _ in model.constraints):
        apart = replace(model, constraints=tuple((n, c) for n, c in model.constraints if not isinstance(c, ub.Contact)))
        calm = ub.Simulation(apart, "complementarity", dt=1e-9)
        calm.step()
        sim.reset(ub.State(0.0, sim.state.q, calm.state.v))
    before = sim.observe().kinetic
    sim.step()
    after = sim.observe()
    assert after.contacts is not None
    return before, after.kinetic, sim.report.notes, int((after.contacts.normal_forces > 0.0).sum())


@pytest.mark.parametrize("kind", KINDS)
def test_impacts_never_gain_energy(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    most = hits = 0
    slack = 1e-8 if kind == "loop" else 1e-9  # loops close to as much
    for _ in range(8):
        seed, e, mu = int(rng.integers(1 << 30)), rng.uniform(0.0, 1.0), rng.uniform(0.1, 1.2)

        def model(law: str, friction: float, seed: int = seed, e: float = e) -> ub.Model:
            return thrown(kind, np.random.default_rng(seed), impact=law, friction=friction, restitution=e)

        before, after, notes, pushed = energies(model("stronge", mu))
        hits, most = hits + bool(pushed), max(most, pushed)
        assert after <= before * (1.0 + slack) and not any("added" in n and "would" not in n for n in notes)
        for law in ("newton", "poisson"):
            before, after, _, _ = energies(model(law, 0.0))
            assert after <= before * (1.0 + slack)
            before, after, notes, _ = energies(model(law, mu))
            told = any("added" in n for n in notes)
            assert told or after <= before * (1.0 + 1e-7)
            if told:
                before, after, notes, _ = energies(model(law, mu), clip=True)
                assert after <= before * (1.0 + slack)
    assert hits >= 6 and (most >= 4 if kind == "face" else most >= 2 if kind == "pair" else most >= 1)


def scene(seed: int) -> ub.Model:
    """A chain of three links with random joints, a loop and dry friction; its foot and some balls touch the ground and each other."""
    rng = np.random.default_rng(seed)
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    joints = (ub.Revolute((0, 1, 0)), ub.Universal(), ub.Ball(), ub.Prismatic((0, 0, 1)), ub.Revolute((1, 0, 0)))
    parent, height = b.world, 1.25
    for k in range(3):
        link = b.body(f"link{k}", shape=ub.Capsule(0.05, 0.3), mass=rng.uniform(0.5, 2.0))
        place = ub.Pose((0, 0, height)) if k == 0 else ub.Pose((0, 0, -0.2))
        joint = joints[int(rng.integers(2))] if k == 0 else joints[int(rng.integers(len(joints)))]
        rate = tuple(0.3 * rng.normal(size=joint.nv))
        b.joint(f"joint{k}", joint, parent, link, X_PF=place, X_BM=ub.Pose((0, 0, 0.2)), v=rate)
        parent = link
    b.body("foot", shape=ub.Sphere(0.08), mass=0.5)
    b.joint("ankle", ub.Weld(), parent, "foot", X_PF=ub.Pose((0, 0, -0.2)))
    side = b.body("side", shape=ub.Sphere(0.06), mass=0.4)
    b.joint("post", ub.Revolute((0, 1, 0)), b.world, side, X_PF=ub.Pose((0.5, 0, 0.3)), X_BM=ub.Pose((0, 0, 0.2)), v=0.2)
    b.add(ub.Distance(side.at(), parent.at(0, 0, 0.05)), name="link")
    b.add(ub.DryFriction("post", bound=0.1))
    for k in range(3):
        p = (0.1495 * (1 + k), 0.01 * k, 0.0699 + 0.0001 * k)
        b.body(f"ball{k}", shape=ub.Sphere(0.07), mass=rng.uniform(0.2, 2.0), X_WB=ub.Pose(p), V_WB=tuple(rng.normal(size=6) * 0.5))
    b.add(ub.Contact(friction=rng.uniform(0.0, 0.8), restitution=rng.choice([0.0, 0.5])))
    return b.build()


def new_velocities(model: ub.Model, coordinates: str, h: float) -> tuple[np.ndarray, int]:
    """Velocities of all centres of mass at the end of a step from the start, and how many contacts push."""
    bound = ub.solvers.Complementarity(coordinates=coordinates, tolerance=1e-13).bind(model)
    system = bound.system
    q, v, _ = bound._unpack(*bound.start())
    system.prepare(h)
    assert system.look(0.0, q, v, model.neutral_control())
    held = bound.rule.solve_step(h)
    bound._push(held, h)
    motion = system.motion()
    return motion.velocity + h * motion.rate, int((held.impulse[:, 0] > 0).sum())


@pytest.mark.parametrize("seed", range(5))
def test_reduced_and_maximal_coordinates_agree_on_random_scenes(seed: int) -> None:
    model = scene(seed)
    reduced, touching = new_velocities(model, "reduced", 1e-2)
    maximal, also = new_velocities(model, "maximal", 1e-2)
    assert touching == also >= 2
    assert np.abs(reduced - maximal).max() < 1e-9 * max(1.0, np.abs(reduced).max())
