"""Deformables under `barrier` against closed forms, and stiff ones against rigid bodies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import unibody as ub
from verification.soft_meshes import block

G = 9.81


def run(b: ub.Builder, seconds: float, dt: float = 0.01, **options) -> ub.Recording:
    return ub.Simulation(b.build(), ub.solvers.Barrier(**options), dt=dt).run(seconds)


def period(t: np.ndarray, x: np.ndarray) -> float:
    """Of a swing around 0: twice the mean distance of its zeros."""
    k = np.flatnonzero(x[:-1] * x[1:] < 0.0)
    zeros = t[k] - x[k] * (t[k + 1] - t[k]) / (x[k + 1] - x[k])
    return 2.0 * (zeros[-1] - zeros[0]) / (len(zeros) - 1)


def test_a_clamped_rod_swings_with_the_frequency_of_a_beam():
    """ω = 1.8751² √(EI / ρA) / L², clamped at the middle of its first edge; with 20 edges the error of the mesh is some 1e-3, that of
    BDF-2 with 150 steps a period (ωh)²/3 = 6e-4."""
    n, whole, radius, young, density = 20, 1.0, 0.01, 1e8, 1000.0
    edge = whole / n
    length = whole - 0.5 * edge
    root = brentq(lambda z: np.cos(z) * np.cosh(z) + 1.0, 1.8, 2.0)
    omega = root**2 * np.sqrt(young * radius**2 / (4.0 * density)) / length**2
    s = np.maximum(np.linspace(0.0, whole, n + 1) - 0.5 * edge, 0.0) * root / length
    share = (np.sinh(root) - np.sin(root)) / (np.cosh(root) + np.cos(root))
    mode = np.cosh(s) - np.cos(s) - share * (np.sinh(s) - np.sin(s))
    points = np.stack([np.linspace(0.0, whole, n + 1), np.zeros(n + 1), np.zeros(n + 1)], axis=1)
    b = ub.Builder(gravity=(0, 0, 0))
    rod = b.rod("rod", points, radius, ub.RodMaterial(young=young), density, start=points + 0.005 * mode[:, None] * [0, 0, 1])
    b.attach(rod.end(0), b.world, clamped=True, at=points[:2])
    exact = 2.0 * np.pi / omega
    rec = run(b, 1.3 * exact, exact / 150, rule="bdf2")
    assert period(rec.t, rec.vertices("rod")[:, -1, 2]) == pytest.approx(exact, rel=0.01)


def test_a_bar_of_tetrahedra_swings_along_itself_with_the_speed_of_sound():
    """Held at one end, without Poisson's effect: period 4 L / √(E/ρ); 16 elements along it and 150 steps err by less than 1e-2."""
    size, young, density = (0.4, 0.02, 0.02), 1e6, 1000.0
    mesh = block(size, (16, 1, 1))
    along = mesh.vertices[:, 0] + 0.5 * size[0]
    b = ub.Builder(gravity=(0, 0, 0))
    start = mesh.vertices + (1e-3 * np.sin(0.5 * np.pi * along / size[0]))[:, None] * [1, 0, 0]
    bar = b.soft("bar", mesh, ub.NeoHookean(young=young, poisson=0.0), density, start=start)
    b.prescribe(bar.vertices[along < 1e-9])
    exact = 4.0 * size[0] / np.sqrt(young / density)
    rec = run(b, 1.3 * exact, exact / 150, rule="bdf2", tolerance=1e-7)
    end = along > size[0] - 1e-9
    x = (rec.vertices("bar")[:, end, 0] - mesh.vertices[end, 0]).mean(axis=1)
    assert period(rec.t, x) == pytest.approx(exact, rel=0.01)


def test_a_rope_comes_to_rest_as_a_catenary():
    """a (cosh(x/a) − cosh(D/2a)) between ends D apart, 2 a sinh(D/2a) = L; 30 pieces err by some (L/30)²."""
    n, length, apart = 30, 1.0, 0.7
    x = np.linspace(-0.5 * apart, 0.5 * apart, n + 1)
    drop = brentq(lambda h: np.sum(np.hypot(np.diff(x), np.diff(h * (4.0 * x**2 / apart**2 - 1.0)))) - length, 0.01, 1.0)
    start = np.stack([x, 0.0 * x, drop * (4.0 * x**2 / apart**2 - 1.0)], axis=1)
    straight = np.stack([np.linspace(0.0, length, n + 1), np.zeros(n + 1), np.zeros(n + 1)], axis=1)
    b = ub.Builder()
    rope = b.rod("rope", straight, 2e-3, ub.RodMaterial(young=1e8, bending=0.0, damping=0.01), 1000.0, start=start)
    b.prescribe(rope.vertices[[0, n]])
    found = run(b, 4.0, 0.05).vertices("rope")[-1]
    a = brentq(lambda a: 2.0 * a * np.sinh(0.5 * apart / a) - length, 0.05, 10.0)
    exact = a * (np.cosh(found[:, 0] / a) - np.cosh(0.5 * apart / a))
    assert np.abs(found[:, 2] - exact).max() < 2e-3 * length


def lumped(info) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and inertia about it of the masses of a deformable at rest."""
    m, X = info.mass, info.X
    centre = m @ X / m.sum()
    d = X - centre
    return float(m.sum()), centre, np.einsum("n,nij->ij", m, (d**2).sum(axis=1)[:, None, None] * np.eye(3) - d[:, :, None] * d[:, None, :])


SPIN = (2.0, -1.0, 3.0, 0.3, 0.2, 0.1)


def test_a_stiff_solid_flies_like_the_rigid_body_of_its_masses():
    """Centrifugal strain is ρ ω² L² / E: it goes with the modulus. What is left is an error of the steps, which begin differently: of
    second order."""
    mesh, off = block((0.1, 0.2, 0.05), (1, 2, 1)), []
    for young, dt in ((1e5, 5e-3), (1e7, 5e-3), (1e7, 2.5e-3)):
        b = ub.Builder(gravity=(0, 0, 0))
        b.soft("soft", mesh, ub.NeoHookean(young=young, poisson=0.3), density=1000, V_WB=SPIN)
        mass, com, inertia = lumped(b.build().deformables[0])
        b.body("rigid", mass=mass, com=tuple(com), inertia=inertia, V_WB=SPIN)
        rec = run(b, 0.3, dt, rule="bdf2", tolerance=1e-8)
        M = rec.observations[-1].material[rec.model.body("rigid")]
        off.append(np.abs(rec.vertices("soft")[-1] - M[0] - mesh.vertices @ M[1:]).max())
    assert off[1] < 0.2 * off[0]
    assert off[2] < off[1] / 3.0
    assert off[2] < 1e-4 * 0.2


def chain(young: float | None) -> tuple[ub.Builder, str]:
    """A hinged arm, a soft box attached to it, and another arm attached to that; with None, the soft box is a body welded to the first."""
    b = ub.Builder()
    one = b.body("one", shape=ub.Box((0.3, 0.04, 0.04)), X_WB=ub.Pose((0.15, 0, 0)))
    two = b.body("two", shape=ub.Box((0.3, 0.04, 0.04)), X_WB=ub.Pose((0.55, 0, 0)))
    name = b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, one, X_BM=ub.Pose((-0.15, 0, 0)))
    mesh = block((0.1, 0.04, 0.04), (2, 1, 1))
    soft = b.soft("soft", mesh, ub.NeoHookean(young=young or 1e6, poisson=0.3), density=2000, X_WB=ub.Pose((0.35, 0, 0)))
    if young is None:
        mass, com, inertia = lumped(b.build().deformables[0])
        b.remove("soft")
        middle = b.body("soft", mass=mass, com=tuple(com), inertia=inertia, X_WB=ub.Pose((0.35, 0, 0)))
        b.joint("left", ub.Weld(), one, middle, X_PF=ub.Pose((0.2, 0, 0)))
        b.joint("right", ub.Weld(), middle, two, X_PF=ub.Pose((0.2, 0, 0)))
    else:
        b.attach(soft.vertices[mesh.vertices[:, 0] < -0.049], one)
        b.attach(soft.vertices[mesh.vertices[:, 0] > 0.049], two)
    return b, name


def test_a_jointed_chain_with_a_soft_box_becomes_the_rigid_chain_as_its_modulus_grows():
    angles = []
    for young in (1e6, 1e8, 1e10, None):
        b, _ = chain(young)
        angles.append(float(run(b, 0.3, 5e-3, rule="bdf2").joint("hinge")[-1, 0]))
    off = np.abs(np.array(angles[:3]) - angles[3])
    assert off[1] < 0.1 * off[0]
    assert off[2] < 1e-4
