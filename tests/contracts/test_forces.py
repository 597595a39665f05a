"""What every force class promises inside a whole model: kernel and NumPy methods give the same accelerations, energies and power."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from custom_elements import Gust, SlowTether, Tether, push, swell

import unibody as ub
import zoo
from unibody.forces import Force
from unibody.joints.base import Joint


def without_kernel(force: Force) -> Force:
    """The same force, told by its NumPy methods only."""
    slow = object.__new__(type(f"Slow{type(force).__name__}", (type(force),), {"add_kernel": None}))
    slow.__dict__.update(force.__dict__)
    return slow


def every_force(b: ub.Builder, rng: np.random.Generator, joints: dict[str, Joint]) -> None:
    """At least two of each class, with functions of time, limits and body axes."""
    bodies = [ub.model.builder.Body(f"body{i}") for i in range(len(joints))]
    at = [body.at(*rng.uniform(-0.3, 0.3, 3)) for body in bodies]
    b.add(ub.SpringDamper(at[0], at[-1], stiffness=20.0, damping=1.0, rest_length=0.3))
    b.add(ub.SpringDamper(at[1], b.world.at(1, 0, 0), stiffness=20.0))
    b.add(ub.Cable([at[0], at[2], b.world.at(0, 1, 0), at[3]], stiffness=20.0, damping=1.0, rest_length=0.1))
    b.add(ub.Cable([at[1], at[2]], stiffness=20.0, rest_length=50.0))
    over = [ub.Pulley(b.world.at(3, 0, 2), 0.2, axis=(0, 1, 1), side=1)]
    over.append(ub.Pulley(b.world.at(-3, 1, 4), 0.3, axis=(1, 1, 1), side=-1, turns=1))
    b.add(ub.Cable([at[0], *over, at[3]], stiffness=20.0, damping=1.0, rest_length=1.0, friction=0.1, slip_speed=0.5))
    b.add(ub.Cable([at[1], over[0], at[4]], stiffness=20.0, damping=1.0, rest_length=1.0, winch=swell))
    wrap = ub.TendonWrap(b.world.at(0.5, 0.5, 3.0), 0.4, axis=(1, 0, 1), side=b.world.at(3, -3, 3))
    b.add(ub.Tendon([[at[0], wrap, at[2]], [at[2], at[3]]], stiffness=20.0, damping=1.0, rest=(0.1, 0.2), divisors=(1.0, 2.0)))
    b.add(ub.BodyDamping(bodies[0], angular=0.3, linear=0.2))
    b.add(ub.BodyDamping(bodies[1], linear=0.7))
    b.add(ub.AppliedWrench(bodies[0], torque=(1, 2, 3), force=(4, 5, 6), at=(0.1, 0.2, 0.3)))
    b.add(ub.AppliedWrench(bodies[1], torque=(1, 2, 3), force=push, axes="body"))
    for name, joint in joints.items():
        sprung = [part.nq == part.nv or isinstance(part, ub.Ball) for part in joint.parts() for _ in range(part.nv)]
        if sprung:
            b.add(ub.TorsionSpring(name, stiffness=rng.uniform(1, 9, joint.nv) * sprung, damping=rng.uniform(0, 1, joint.nv)))
            b.add(ub.Motor(name, effort=swell, kd=0.4, target_rate=1.0, dof=joint.nv - 1))
            b.add(ub.DryFriction(name, bound=rng.uniform(0, 2, joint.nv), slip_speed=0.5))
        if joint.nv and joint.parts()[0].nq == joint.parts()[0].nv > 0:
            b.add(ub.Motor(name, kp=50.0, kd=0.4, target=swell, limit=2.0))


def model_with_every_force(seed: int) -> ub.Model:
    rng = np.random.default_rng(seed)
    b = ub.Builder()
    joints = {}
    for i, kind in enumerate(zoo.ALL):
        joint = zoo.JOINTS[kind](rng)
        body = b.body(f"body{i}", mass=1.0 + i, com=rng.uniform(-0.1, 0.1, 3), inertia=zoo.inertia(rng, 1.0 + i))
        parent = b.world if i == 0 else f"body{rng.integers(i)}"
        limit = 1.5 if i % 4 == 0 else np.inf
        start = {"q": zoo.position(joint, rng), "v": rng.uniform(-1, 1, joint.nv)}
        b.joint(f"joint{i}", joint, parent=parent, child=body, X_PF=zoo.pose(rng), X_BM=zoo.pose(rng), effort_limit=limit, **start)
        joints[f"joint{i}"] = joint
    every_force(b, rng, joints)
    return b.build()


def test_every_class_of_the_house_is_in_the_model() -> None:
    """But for friction that grows with reactions, which only solvers that find these can run (`tests/verification`)."""
    house = {cls for cls in Force.__subclasses__() if cls.__module__.startswith("unibody.forces.")} - {ub.Gravity, ub.JointFriction}
    assert house <= {type(force) for _, force in model_with_every_force(0).forces}


@pytest.mark.parametrize("seed", range(3))
def test_kernels_equal_numpy_in_a_whole_model(seed: int) -> None:
    """Accelerations to 1e-12 of the largest; energies and powers likewise."""
    fast = model_with_every_force(seed)
    slow = replace(fast, forces=tuple((name, without_kernel(force)) for name, force in fast.forces))
    by_kernel, by_numpy = (ub.solvers.Articulated().bind(m) for m in (fast, slow))
    assert not by_kernel.system.python_classes
    assert len(by_numpy.system.python_classes) == len({type(f) for _, f in fast.forces})
    q, v = fast.start_q(), fast.start_v()
    a = by_kernel.forward_dynamics(q, v)
    np.testing.assert_allclose(by_numpy.forward_dynamics(q, v), a, rtol=0.0, atol=1e-12 * np.abs(a).max())
    state, memory = by_kernel.start()
    control = fast.neutral_control()
    ours, theirs = (bound.observe(state, memory, control) for bound in (by_kernel, by_numpy))
    assert ours.springs == pytest.approx(theirs.springs, rel=1e-12)
    np.testing.assert_allclose(ours.powers, theirs.powers, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.reactions, theirs.reactions, rtol=0.0, atol=1e-11 * np.abs(theirs.reactions).max())


@pytest.mark.parametrize("kind", ["SpringDamper", "Cable", "TorsionSpring", "BodyDamping", "AppliedWrench", "Motor", "DryFriction"])
def test_runs_are_the_same_without_the_kernel_of(kind: str) -> None:
    """Twenty steps, so that functions of time, limits and the state at later times take part."""
    fast = model_with_every_force(7)
    chosen = getattr(ub, kind)
    slow = replace(fast, forces=tuple((n, without_kernel(f) if type(f) is chosen else f) for n, f in fast.forces))
    by_kernel, by_numpy = (ub.Simulation(m, "articulated", dt=1e-3).run(0.02, every=20) for m in (fast, slow))
    np.testing.assert_allclose(by_numpy.q[-1], by_kernel.q[-1], rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(by_numpy.v[-1], by_kernel.v[-1], rtol=0.0, atol=1e-9)


def pendulum(force: Force) -> ub.Model:
    b = ub.Builder()
    bob = b.body("bob", mass=1.5, inertia=(0.1, 0.2, 0.2))
    b.joint("swing", ub.Ball(), parent=b.world, child=bob, X_BM=ub.Pose((0, 0, 0.7)), v=(0.4, 1.0, -0.3))
    b.add(force)
    return b.build()


@pytest.mark.parametrize("tether", [SlowTether, Tether])
def test_force_in_a_script_equals_the_built_in(tether: type) -> None:
    """A tether is a spring without rest length to the world."""
    point, anchor = ub.model.builder.Body("bob").at(0.1, 0.2, -0.3), (1.0, -0.5, 0.25)
    spring = ub.SpringDamper(point, ub.model.builder.Body("world").at(*anchor), stiffness=12.0, rest_length=0.0)
    ours, built_in = (
        ub.Simulation(pendulum(f), "articulated", dt=1e-3).run(0.5, every=100) for f in (tether(point, anchor, 12.0), spring)
    )
    np.testing.assert_allclose(ours.q, built_in.q, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(ours.energy.springs, built_in.energy.springs, rtol=1e-10)
    noted = "SlowTether" in " ".join(ours.reports[0].notes)
    assert noted == (tether is SlowTether)


@pytest.mark.parametrize("rule", ["semi-implicit", "rk4"])
def test_force_in_a_script_knows_the_time(rule: str) -> None:
    """A gust f = t on a free mass of 2: v = t²/4; the rules sum it as ½ Σ tᵢ h or exactly."""
    b = ub.Builder(gravity=None)
    b.body("mass", mass=2.0, inertia=(1, 1, 1))
    b.add(Gust("mass", 1.0))
    recording = ub.Simulation(b.build(), ub.solvers.Articulated(rule=rule), dt=1e-2).run(1.0, every=100)
    exact = 0.25 if rule == "rk4" else 0.5 * sum(1e-2 * k for k in range(100)) * 1e-2
    assert recording.v[-1][3] == pytest.approx(exact, rel=1e-12)
