"""Cloth, rods and soft solids under `redmax`: laws of motion, two-way coupling to skeletons, agreement with `barrier`."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest

import unibody as ub
from unibody.scenes.starfish import BONE, CORE, animal
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
    """Linear momentum to round-off; angular momentum in first order of the step, as linearly implicit forces have it: half the step leaves
    half, and at 2 ms less than a thousandth."""
    lost = []
    for dt in (2e-3, 1e-3):
        rec = run(spinning(springs), 0.1, dt)
        linear, angular = momenta(rec)
        assert np.abs(linear - linear[0]).max() < 1e-13
        lost.append(np.linalg.norm(angular[-1] - angular[0]) / np.linalg.norm(angular[0]))
    assert lost[1] < 0.6 * lost[0] < 6e-4


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


def test_attached_vertices_are_points_of_their_bodies() -> None:
    """At every step the same point of the body, to round-off of its pose."""
    rec = run(limb(), 0.2)
    for a in rec.model.attachments:
        poses = rec.pose(rec.model.bodies[a.body].name)
        there = np.array([ub.Pose(p[:3], p[3:]).p + a.p @ ub.Pose(p[:3], p[3:]).R.T for p in poses])
        assert np.abs(rec.vertices("arm")[:, a.vertices] - there).max() < 1e-14


def test_reactions_carry_what_hangs_on_them() -> None:
    """The balance of every step: the joint at the world bears the rate of all momentum less all weight, and the attachments together that
    of the flesh. v⁺ = v + h a makes differences of velocities exact accelerations; those of bodies on hinges are so in first order."""
    rec = run(limb(springs=True), 0.2)
    flesh = rec.model.deformable("arm")
    p = (flesh.mass[:, None] * rec.velocities("arm")).sum(axis=1)
    linear, _ = momenta(rec)
    h = rec.t[1] - rec.t[0]
    joint, whole = rec.reaction("shoulder")[1:, 3:], np.diff(linear, axis=0) / h - rec.model.total_mass * rec.model.gravity
    assert np.abs(joint - whole).max() < 0.02 * np.abs(whole).max()
    alone = run(limb(), 0.2)
    p = (flesh.mass[:, None] * alone.velocities("arm")).sum(axis=1)
    held = alone.reaction("on upper").sum(axis=1) + alone.reaction("on lower").sum(axis=1)
    needed = np.diff(p, axis=0) / h - flesh.mass.sum() * rec.model.gravity
    assert np.abs(held[1:] - needed).max() < 0.02 * np.abs(needed).max()


@pytest.mark.parametrize("springs", [False, True])
def test_redmax_and_barrier_agree_as_steps_shrink(springs: bool) -> None:
    """Both rules are of first order: half the step, half the difference; at 1 ms it is a few hundredths of a millimetre."""
    model, apart = limb(springs=springs).build(), []
    for dt in (2e-3, 1e-3):
        ours = run(model, 0.1, dt)
        theirs = ub.Simulation(model, ub.solvers.Barrier(tolerance=1e-8), dt=dt).run(0.1)
        apart.append(np.abs(ours.vertices("arm")[-1] - theirs.vertices("arm")[-1]).max())
        assert abs(ours.joint("elbow")[-1, 0] - theirs.joint("elbow")[-1, 0]) < 1e-3
    assert apart[1] < 0.6 * apart[0] and apart[1] < 3e-5


def bones() -> ub.Builder:
    """The skeleton of the limb alone."""
    b = ub.Builder(gravity=(0, 0, -G))
    upper = b.body("upper", ub.Box((0.2, 0.05, 0.05)), mass=0.3, X_WB=ub.Pose((0.1, 0, 0)))
    lower = b.body("lower", ub.Box((0.2, 0.05, 0.05)), mass=0.3, X_WB=ub.Pose((0.3, 0, 0)))
    b.joint("shoulder", ub.Revolute(axis=(0, 1, 0)), b.world, upper, X_BM=ub.Pose((-0.1, 0, 0)))
    b.joint("elbow", ub.Revolute(axis=(0, 1, 0)), upper, lower, X_PF=ub.Pose((0.1, 0, 0)), X_BM=ub.Pose((-0.1, 0, 0)))
    return b


def test_flesh_of_no_weight_and_no_stiffness_changes_nothing() -> None:
    """1e-9 of a usual flesh moves the bones by about 1e-9."""
    with_flesh, without = run(limb(ub.CoRotated(young=1e-4, poisson=0.3), density=1e-6), 0.3), run(bones(), 0.3)
    assert np.abs(with_flesh.pose("lower") - without.pose("lower")).max() < 1e-8


def test_very_stiff_flesh_is_a_weld() -> None:
    """E = 1e8 Pa makes one body of both bones and the flesh: the elbow does not bend, and the shoulder swings as that body does, up to what
    the step (2 ms and half of it) adds in first order."""
    model = limb().build()
    d = model.deformable("arm")
    m = np.concatenate([[0.3, 0.3], d.mass])
    x = np.concatenate([[[0.1, 0, 0], [0.3, 0, 0]], d.x0])
    com = m @ x / m.sum()
    r = x - com
    of_points = (r**2).sum(1)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None]
    inertia = 2.0 * np.array(model.bodies[1].inertia) + np.einsum("n,nij->ij", m, of_points)
    b = ub.Builder(gravity=(0, 0, -G))
    b.joint("shoulder", ub.Revolute(axis=(0, 1, 0)), b.world, b.body("all", mass=float(m.sum()), com=tuple(com), inertia=inertia))
    off = []
    for dt in (2e-3, 1e-3):
        rec, ref = run(limb(ub.CoRotated(young=1e8, poisson=0.3)), 0.2, dt), run(b, 0.2, dt)
        assert np.abs(rec.joint("elbow")).max() < 2e-4
        off.append(abs(rec.joint("shoulder")[-1, 0] - ref.joint("shoulder")[-1, 0]) / abs(ref.joint("shoulder")[-1, 0]))
    assert off[1] < 0.6 * off[0] and off[1] < 1e-3


@pytest.mark.parametrize("law", [ub.CoRotated, ub.NeoHookean, ub.StVK])
def test_any_stiffness_is_stable_at_a_hundredth_of_a_second(law: type) -> None:
    """1e5 … 1e12 Pa: the limb falls by its length at most, and never has more kinetic energy than weight has given."""
    for young in (1e5, 1e7, 1e9, 1e12):
        rec = run(limb(law(young=young, poisson=0.3)), 1.0, 1e-2)
        e = rec.energy
        assert np.abs(rec.vertices("arm")).max() < 0.45
        assert (e.kinetic + e.gravity < e.kinetic[0] + e.gravity[0] + 0.05 * np.abs(e.gravity).max()).all()


@pytest.mark.parametrize("young", [1e3, 1e4])
def test_soft_flesh_holds_together_at_a_hundredth_of_a_second(young: float) -> None:
    rec = run(limb(ub.CoRotated(young=young, poisson=0.3)), 1.0, 1e-2)
    assert np.abs(rec.vertices("arm")).max() < 0.8


@pytest.mark.parametrize("linear", ["direct", "pcg", "dense", "plain"])
def test_every_way_to_solve_gives_the_same(linear: str) -> None:
    model = limb(springs=True).build()
    ours, reference = run(model, 0.05, linear=linear, tolerance=1e-12), run(model, 0.05, linear="dense")
    assert np.abs(ours.vertices("arm") - reference.vertices("arm")).max() < 1e-11


def shaken(forces: np.ndarray | None = None) -> tuple[ub.Builder, np.ndarray, object]:
    """The limb tied by a spring to a block, one side of which is shaken: told where to be, or pushed by given forces."""
    matter = ub.CoRotated(young=1e5, poisson=0.3, damping=1e-3)
    b = limb(matter, springs=True)
    s = b.soft("block", ub.TetMesh.box((0.3, 0.1, 0.1), cells=(3, 1, 1)), matter, density=1000.0, X_WB=ub.Pose((0, 0.5, 0)))
    b.add(ub.SpringDamper(s.vertex(10), b.bodies["lower"].at(0, 0, 0), stiffness=30.0, damping=0.1))
    x = s.vertices.x
    side = np.flatnonzero(x[:, 0] < -0.149)

    def motion(t: float) -> np.ndarray:
        return x[side] + np.array([0.0, 0.0, 0.05 * np.sin(20.0 * t) ** 2])

    if forces is None:
        b.prescribe(s.vertices[side], motion, name="shake")
    else:
        for k, i in enumerate(side):
            b.add(ub.AppliedWrench(f"block.vertex[{i}]", force=lambda t, k=k: forces[min(round(t / 1e-3) + 1, len(forces) - 1), k]))
    return b, side, motion


def test_prescribed_vertices_and_the_forces_that_they_take() -> None:
    """They are where they are told to be, exactly; and the forces that they took, fed back, repeat the motion of everything to round-off,
    which grows by a few digits in 100 steps."""
    b, side, motion = shaken()
    rec = run(b, 0.1)
    assert max(np.abs(x[side] - motion(t)).max() for t, x in zip(rec.t, rec.vertices("block"), strict=True)) == 0.0
    again = run(shaken(rec.reaction("shake"))[0], 0.1)
    assert np.abs(again.vertices("block") - rec.vertices("block")).max() < 1e-10
    assert np.abs(again.vertices("arm") - rec.vertices("arm")).max() < 1e-10


def test_rollouts_steps_copies_and_checkpoints_agree_bit_for_bit(tmp_path) -> None:
    model = shaken()[0].build()
    rolled, stepped = (ub.Simulation(model, "redmax", dt=1e-3) for _ in range(2))
    rec = rolled.run(0.04)
    for _ in range(20):
        stepped.step()
    twin = copy(stepped)
    for sim in (stepped, twin):
        sim.run(0.02)
        assert np.array_equal(sim.state.q, rolled.state.q) and np.array_equal(sim.state.v, rolled.state.v)
    rec.save(tmp_path / "limb.npz")
    kept = ub.Recording.load(tmp_path / "limb.npz", model)
    assert np.array_equal(kept.vertices("arm"), rec.vertices("arm")) and np.array_equal(kept.reaction("shake"), rec.reaction("shake"))


def test_states_go_from_solver_to_solver_with_their_vertices() -> None:
    model = limb().build()
    first = ub.Simulation(model, "redmax", dt=1e-3)
    first.run(0.1)
    then = ub.Simulation(model, "barrier", dt=1e-3, state=first.state)
    back = ub.Simulation(model, "redmax", dt=1e-3, state=then.state)
    n = 3 * len(model.free_vertices)
    assert np.array_equal(then.state.q[-n:], first.state.q[-n:])
    assert np.abs(back.state.q - first.state.q).max() < 1e-12 and np.abs(back.state.v - first.state.v).max() < 1e-9


def machine(efforts: np.ndarray | None = None) -> ub.Builder:
    """A four-bar linkage with a limit and a drive, two joints coupled 1 : 2 on its rocker, flesh from its coupler to the last of them."""
    b = ub.Builder(gravity=(0, 0, -G))
    crank = b.body("crank", ub.Box((0.1, 0.02, 0.02)), mass=0.2, X_WB=ub.Pose((0, 0, 0.05)))
    rod = b.body("rod", ub.Box((0.3, 0.02, 0.02)), mass=0.3, X_WB=ub.Pose((0.15, 0, 0.1)))
    rocker = b.body("rocker", ub.Box((0.1, 0.02, 0.02)), mass=0.2, X_WB=ub.Pose((0.3, 0, 0.05)))
    y = ub.Revolute(axis=(0, 1, 0))
    b.joint("drive", y, b.world, crank, X_BM=ub.Pose((0, 0, -0.05)))
    b.joint("pin", y, crank, rod, X_PF=ub.Pose((0, 0, 0.05)), X_BM=ub.Pose((-0.15, 0, 0)))
    b.joint("base", y, b.world, rocker, X_PF=ub.Pose((0.3, 0, 0)), X_BM=ub.Pose((0, 0, -0.05)))
    b.joint("close", y, rocker, rod, X_PF=ub.Pose((0, 0, 0.05)), X_BM=ub.Pose((0.15, 0, 0)))
    near = b.body("near", ub.Box((0.1, 0.02, 0.02)), mass=0.1, X_WB=ub.Pose((0.35, 0, 0.05)))
    far = b.body("far", ub.Box((0.1, 0.02, 0.02)), mass=0.1, X_WB=ub.Pose((0.45, 0, 0.05)))
    b.joint("knuckle", y, rocker, near, X_BM=ub.Pose((-0.05, 0, 0)), limits=(-0.1, 0.1))
    b.joint("tip", y, near, far, X_PF=ub.Pose((0.05, 0, 0)), X_BM=ub.Pose((-0.05, 0, 0)))
    b.add(ub.Coupling(["tip"], ["knuckle"], [[2.0]]), name="tendon")
    skin = b.soft("skin", ub.TetMesh.box((0.4, 0.06, 0.06), cells=(6, 2, 2)), FLESH, density=1000.0, X_WB=ub.Pose((0.3, 0, 0.1)))
    x = skin.vertices.x
    core = np.abs(x[:, 1]) < 1e-9
    b.attach(skin.vertices[core & (x[:, 0] < 0.2)], rod)
    b.attach(skin.vertices[core & (x[:, 0] > 0.4)], far)
    if efforts is None:
        b.add(ub.PrescribedJoint("drive", lambda t: 0.5 * np.sin(6.0 * t) ** 2), name="motion")
    else:
        b.add(ub.Motor("drive", effort=lambda t: efforts[min(round(t / 1e-3) + 1, len(efforts) - 1), 0]))
    return b


def test_loops_limits_drives_and_couplings_hold_with_flesh_on_them() -> None:
    """The loop is closed, the tip follows the knuckle twice, the knuckle stops at its limit, the drive is where it is told to be."""
    rec = run(machine(), 0.3)
    drive, knuckle = rec.joint("drive")[:, 0], rec.joint("knuckle")[:, 0]
    assert np.abs(drive - 0.5 * np.sin(6.0 * rec.t) ** 2).max() < 1e-6
    assert np.abs(rec.joint("tip")[:, 0] - 2.0 * knuckle).max() < 1e-6
    assert 0.0999 < knuckle.max() < 0.1001
    assert rec.violation.max() < 1e-6


def test_efforts_of_a_driven_machine_fed_back_repeat_its_motion() -> None:
    """Hybrid dynamics and its inverse, with a loop, a limit, a coupling and flesh: rows are held by multipliers alone."""
    driven = run(machine(), 0.1, project=False)
    repeated = run(machine(driven.multiplier("motion")), 0.1, project=False)
    assert np.abs(driven.joint("drive")).max() > 0.15
    assert np.abs(repeated.vertices("skin") - driven.vertices("skin")).max() < 1e-9


@pytest.mark.parametrize(
    ("what", "said"),
    [("contact", "contact of surfaces"), ("mass", "not lumped")],
)
def test_what_it_does_not_do_is_refused_by_name(what: str, said: str) -> None:
    b = limb()
    if what == "contact":
        b.add(ub.Contact())
    elif what == "mass":
        b.soft("more", block((0.1, 0.1, 0.1), (1, 1, 1)), RUBBER, density=1000.0, mass="consistent")
    with pytest.raises(ub.Unsupported, match=said):
        ub.Simulation(b.build(), "redmax")


def test_solids_turned_inside_out_end_the_run_by_their_name() -> None:
    """Rubber of which one side is pushed through the other within a step."""
    b = ub.Builder(gravity=None)
    cube = b.soft("cube", block((0.1, 0.1, 0.1), (2, 1, 1)), RUBBER, density=1000.0)
    x = cube.vertices.x[cube.vertices.x[:, 0] < -0.04]
    b.prescribe(cube.vertices[cube.vertices.x[:, 0] < -0.04], lambda t: x + (3.0 * t, 0.0, 0.0))
    b.prescribe(cube.vertices[cube.vertices.x[:, 0] > 0.04])
    with pytest.raises(ub.StepFailed, match="'cube'.*inside out"):
        run(b, 0.5, 0.1)


def test_efforts_of_the_starfish_fed_back_repeat_its_motion() -> None:
    """Paper 000, Eq. 7: joints and points of a skeleton prescribed, all else passive, bones and flesh coupled both ways; efforts and
    forces that this took, as motors and applied forces, give the same motion to round-off, which grows by a few digits. One point stays
    held: a skeleton that nothing holds floats, and its centre of mass is kept on its course; nothing else changes velocities."""
    dt, solver = 5e-3, ub.solvers.RedMax(project=False, inertia="explicit")
    driven = ub.Simulation(ub.scenes.make("starfish", fine=False).model, solver, dt=dt).run(0.4)
    told = {name: driven.multiplier(name) for name, _ in driven.model.constraints}

    def later(name: str, columns: tuple[int, ...]):
        """What a row took, as a function of the time at which a step begins."""

        def force(t: float) -> np.ndarray:
            out = np.zeros(3)
            out[list(columns)] = told[name][min(round(t / dt) + 1, len(told[name]) - 1)]
            return out

        return force

    b = animal(2e4, 10, 5e-3, False)
    for k in range(4):
        b.add(ub.Motor(f"arm{k}.0.hinge", effort=lambda t, k=k: later(f"drive{k}", (0,))(t)[0]))
    b.add(ub.AppliedWrench("disc", force=later("centre", (0, 1, 2))))
    b.add(ub.PrescribedPoint(b.bodies["disc"].at(CORE, 0, 0), (CORE, 0.0, 0.0), axes=(1, 2)), name="heading")
    b.add(ub.AppliedWrench("arm4.3", force=later("tip", (2,)), at=(0.5 * BONE, 0, 0)))
    repeated = ub.Simulation(b.build(), solver, dt=dt).run(0.4)
    assert np.ptp(driven.joint("arm1.1.hinge")) > 1e-2
    assert np.abs(repeated.vertices("flesh") - driven.vertices("flesh")).max() < 1e-8


def mixed() -> ub.Model:
    """A solid on a body that is driven, cloth on a vertex of it, a rod clamped to a welded plate, springs on vertices and edges."""
    b = ub.Builder()
    hull = b.body("hull", ub.Box((0.1, 0.1, 0.1)), kind="kinematic", V_WB=(0, 2.0, 0, 0.3, 0, 0))
    plate = b.body("plate", ub.Box((0.1, 0.1, 0.01)), mass=0.2, X_WB=ub.Pose((0, 0.6, 0)))
    b.joint("weld", ub.Weld(), b.world, plate, X_PF=ub.Pose((0, 0.6, 0)))
    matter = ub.CoRotated(1e5, 0.3, damping=1e-3)
    solid = b.soft("solid", ub.TetMesh.box((0.3, 0.1, 0.1), cells=(4, 2, 2)), matter, 1000.0, X_WB=ub.Pose((0.15, 0, 0)))
    x = solid.vertices.x
    b.attach(solid.vertices[x[:, 0] < 1e-9], hull, name="on hull")
    fabric = ub.Fabric(young=1e5, poisson=0.3, thickness=1e-3, damping=0.02)
    cloth = b.cloth("cloth", ub.TriMesh.grid((0.1, 0.1), 0.05), fabric, 300.0, X_WB=ub.Pose((0.3, 0.05, -0.05)))
    corner = int(np.argmin(np.linalg.norm(cloth.vertices.x - (0.3, 0.05, -0.05), axis=1)))
    b.attach(cloth.vertices[[corner]], solid.vertices[[int(np.argmin(np.linalg.norm(x - cloth.vertices.x[corner], axis=1)))]])
    rod = b.rod("rod", [(0, 0.6, z) for z in (0, -0.05, -0.1, -0.15)], 2e-3, ub.RodMaterial(1e7), 1000.0)
    b.attach(rod.end(0), plate, clamped=True, name="on plate")
    b.add(ub.SpringDamper(rod.at(edge=2), plate.at(0.1, 0, 0), stiffness=0.05, rest_length=0.0))
    b.add(ub.SpringDamper(solid.vertex(40), hull.at(0, 0, 0.3), stiffness=20.0, damping=0.1))
    return b.build()


def test_solids_cloth_and_rods_on_bodies_of_all_kinds_agree_with_barrier() -> None:
    """Differences fall in first order of the step, and so do those of what the weld and the driven body bear; the cloth hangs by one vertex
    and flutters, which takes some digits."""
    model, apart, borne = mixed(), [], []
    for dt in (2e-3, 1e-3):
        ours = run(model, 0.1, dt)
        theirs = ub.Simulation(model, ub.solvers.Barrier(tolerance=1e-9), dt=dt).run(0.1)
        apart.append([np.abs(ours.vertices(d.name)[-1] - theirs.vertices(d.name)[-1]).max() for d in model.deformables])
        borne.append(np.abs(ours.reaction("on hull")[-1].sum(axis=0) - theirs.reaction("on hull")[-1].sum(axis=0)).max())
        assert np.abs(ours.reaction("weld")[-1] - theirs.reaction("weld")[-1]).max() < 1e-4
    assert (np.array(apart[1]) < 0.9 * np.array(apart[0])).all()
    assert apart[1][0] < 1e-4 and apart[1][1] < 1e-2 and apart[1][2] < 1e-5 and borne[1] < 0.03
