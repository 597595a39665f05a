"""Rods that resist twist: torsion, its waves, buckling under it, shafts that transmit torque around corners, momentum, energy."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.energies.base import EXACT, GRADIENT
from unibody.energies.evaluate import EnergyTables
from unibody.spatial.rod_frames import twists

YOUNG, NU, R = 1e7, 0.25, 5e-3
GJ = YOUNG / (2.0 * (1.0 + NU)) * np.pi * R**4 / 2.0
STUFF = ub.RodMaterial(YOUNG, twist=True, poisson=NU)


def dense(t: EnergyTables, x: np.ndarray) -> np.ndarray:
    """The exact second derivative at x."""
    t.evaluate(x, EXACT)
    H = np.zeros((x.size, x.size))
    for batch in t.batches:
        for vertices, block in zip(batch.vertices, batch.blocks, strict=True):
            places = (3 * vertices[:, None] + np.arange(3)).ravel()
            np.add.at(H, np.ix_(places, places), block)
    return H


def moment(rec: ub.Recording, name: str, about) -> np.ndarray:
    """(3,) at the end, of what holds vertices, about a point."""
    held = next(a for a in rec.model.attachments if a.name == name)
    x = rec.observations[-1].vertices[held.vertices]
    return np.cross(x - about, rec.reaction(name)[-1]).sum(axis=0)


def test_a_shaft_takes_the_torque_of_its_twist() -> None:
    """Clamped at the middles of its last edges, L apart, and turned by α at one end: G J α/L, of the law y = 2 tan(m/2) at each point:
    (G J/h) y (1 + y²/4). It is the torque at both ends, and nothing else is felt."""
    n, alpha = 8, 1.2
    b = ub.Builder(gravity=None)
    turn = lambda t: ub.Pose.about((1, 0, 0), alpha * min(t / 0.1, 1.0), p=(0.4, 0, 0))  # noqa: E731
    driver = b.body("driver", kind="kinematic", motion=turn)
    X = np.linspace((0, 0, 0), (0.4, 0, 0), n + 1)
    shaft = b.rod("shaft", X, R, ub.RodMaterial(YOUNG, twist=True, poisson=NU, damping=0.02), 1000)
    b.attach(shaft.end(0), b.world, clamped=True, name="fast")
    b.attach(shaft.end(1), driver, clamped=True, name="turned")
    rec = ub.Simulation(b.build(), ub.solvers.Barrier(tolerance=1e-9), dt=0.01).run(1.0)
    h, m = 0.4 / n, alpha / (n - 1)
    y = 2.0 * np.tan(m / 2.0)
    expected = GJ / h * y * (1.0 + y * y / 4.0)
    assert expected == pytest.approx(GJ * alpha / (0.4 - h), rel=0.02)  # the continuum's
    assert moment(rec, "turned", (0.4, 0, 0)) == pytest.approx([expected, 0.0, 0.0], rel=1e-5, abs=1e-5 * expected)
    assert moment(rec, "fast", (0.4, 0, 0)) == pytest.approx([-expected, 0.0, 0.0], rel=1e-5, abs=1e-5 * expected)
    assert rec.rod_twist("shaft")[-1] == pytest.approx(m, rel=1e-5)
    assert np.abs(rec.vertices("shaft")[-1] - X).max() < 1e-9
    assert rec.vertices("shaft").shape[1] == n + 1  # directors are not among them
    F = rec.rod_frames("shaft")[-1]
    assert F[-1] == pytest.approx(ub.Pose.about((1, 0, 0), alpha).R @ F[0], abs=1e-9)


def test_torsion_swings_with_the_speed_of_shear_waves() -> None:
    """n discs of I = m r²/2 on n springs G J/h, the first of which is fast: ω = 2 √(G J/(h I)) sin(π/2(2n + 1)), near (π/2L) √(G/ρ)."""
    n, h, rho = 6, 0.02, 1000.0
    b = ub.Builder(gravity=None)
    mesh = ub.RodMesh(np.linspace((0, 0, 0), ((n + 1) * h, 0, 0), n + 2), R).framed()
    # the first mode, at its largest
    angle = 0.01 * np.sin(np.arange(n + 1) * np.pi / (2 * n + 1))
    start = mesh.vertices.copy()
    u = start[mesh.points :] - 0.5 * (mesh.axis[1:] + mesh.axis[:-1])
    start[mesh.points :] += (np.cos(angle) - 1.0)[:, None] * u + np.sin(angle)[:, None] * np.cross((1, 0, 0), u)
    rod = b.rod("rod", mesh, material=STUFF, density=rho, start=start)
    b.attach(rod.end(0), b.world, clamped=True)
    spin = 0.5 * rho * np.pi * R**2 * h * R**2
    omega = 2.0 * np.sqrt(GJ / (h * spin)) * np.sin(np.pi / (2.0 * (2 * n + 1)))
    assert omega == pytest.approx(np.pi / (2.0 * (n + 0.5) * h) * np.sqrt(GJ / (np.pi * R**4 / 2.0) / rho), rel=0.01)
    period = 2.0 * np.pi / omega
    rec = ub.Simulation(b.build(), ub.solvers.Barrier(rule="bdf2", tolerance=1e-9), dt=period / 300).run(1.3 * period)
    end = rec.rod_twist("rod").sum(axis=1)
    down = np.flatnonzero((end[:-1] > 0.0) & (end[1:] <= 0.0))
    zeros = rec.t[down] + end[down] / (end[down] - end[down + 1]) * rec.dt
    assert np.diff(zeros)[0] == pytest.approx(period, rel=1e-3)
    assert end.max() <= end[0] * 1.0001


@pytest.mark.parametrize("ratio", [2.0, 6.0])
def test_a_clamped_shaft_buckles_at_greenhills_torque(ratio: float) -> None:
    """M L/B = 8.9868, twice the first root of tan z = z: there the least eigenvalue of the exact second derivative passes 0. `ratio`:
    G J/B. 48 edges are 1 % off at most, by order 2."""
    n, B, L = 48, 1.0, 1.0
    h = L / (n - 1)  # clamped at middles of edges
    mesh = ub.RodMesh(np.linspace((0, 0, 0), (n * h, 0, 0), n + 1), 0.01).framed()
    t = EnergyTables([*ub.RodStretch(1e4).stencils(mesh), *ub.RodBend(B).stencils(mesh), *ub.RodTwist(ratio).stencils(mesh),
                      *ub.RodDirector(ratio).stencils(mesh)], len(mesh.vertices))  # fmt: skip
    held = [0, 1, n - 1, n, mesh.points, mesh.points + n - 1]
    free = np.setdiff1d(np.arange(3 * len(mesh.vertices)), (3 * np.array(held)[:, None] + np.arange(3)).ravel())

    def least(torque: float) -> float:
        x = mesh.places(mesh.axis, torque * L / ratio).ravel()
        t.evaluate(x, GRADIENT)
        assert np.abs(t.gradient[free]).max() < 1e-8  # straight and evenly twisted, it is at rest
        return float(np.linalg.eigvalsh(dense(t, x)[np.ix_(free, free)])[0])

    critical = 8.9868 * B / L
    assert least(0.99 * critical) > 0.0
    assert least(1.01 * critical) < 0.0


def test_a_twisted_ring_buckles_at_michells_twist() -> None:
    """A ring of a rod that is straight at rest, closed with one whole turn of twist: plane up to G J/B = √3 (Φ = 2π √3 B/G J, Michell 1889,
    Zajac 1962). Six rigid motions and the rolling of the rod about itself cost nothing."""
    n = 60
    angle = 2.0 * np.pi * np.arange(n) / n

    def least(ratio: float) -> np.ndarray:
        mesh = ub.RodMesh(np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1), 0.05, closed=True).framed()
        energies = ub.RodStretch(1e5), ub.RodBend(1.0), ub.RodTwist(ratio), ub.RodDirector(ratio)
        parts = [part for e in energies for part in e.stencils(mesh)]
        straight = parts[1].parameters.copy()
        straight[:, 1] = 0.0
        parts[1] = ub.energies.Stencils(parts[1].energy, parts[1].index, straight)
        t = EnergyTables(parts, len(mesh.vertices))
        x = mesh.places(mesh.axis, 2.0 * np.pi)
        # grows a little, until its tension holds it
        for _ in range(4):
            slopes = [t.evaluate(mesh.places(s * mesh.axis, 2.0 * np.pi), GRADIENT) for s in (1.0 - 1e-4, 1.0, 1.0 + 1e-4)]
            s = 1.0 - 1e-4 * (slopes[2] - slopes[0]) / (2.0 * (slopes[2] - 2.0 * slopes[1] + slopes[0]))
            mesh = ub.RodMesh(s * mesh.axis, 0.05, closed=True).framed()
        x = mesh.places(mesh.axis, 2.0 * np.pi).ravel()
        t.evaluate(x, GRADIENT)
        assert np.abs(t.gradient).max() < 1e-3
        return np.linalg.eigvalsh(dense(t, x))

    below, above = least(0.97 * np.sqrt(3.0)), least(1.03 * np.sqrt(3.0))
    assert np.abs(below[:7]).max() < 0.1 * below[7]
    assert above[0] < -3.0 * np.abs(above[2:9]).max()  # two: sine and cosine around the ring
    assert below[0] > -0.1 * below[7]


def test_a_bent_shaft_turns_what_is_around_the_corner() -> None:
    """A straight shaft, bent through a right angle, alike in all directions: a wheel in a hinge at its other end turns as far as the driver
    does; with a torque on the wheel it lags by M L/G J, L the length between the clamps."""
    n, torque = 10, 0.005
    b = ub.Builder(gravity=None)
    s = (np.arange(n + 1) - 0.5) / (n - 1)  # clamps at the middles
    arc = 0.3 * np.stack([np.sin(s * np.pi / 2), 0.0 * s, 1.0 - np.cos(s * np.pi / 2)], axis=1)
    straight = ub.RodMesh(np.linspace((0, 0, 0), (n * np.linalg.norm(arc[1] - arc[0]), 0, 0), n + 1), R)
    shaft = b.rod("shaft", straight, None, ub.RodMaterial(YOUNG, twist=True, poisson=NU, damping=0.01), 1000, start=arc)
    drive = b.body("drive", kind="kinematic", motion=lambda t: ub.Pose.about((1, 0, 0), 2.0 * min(t / 0.4, 1.0)))
    wheel = b.body("wheel", mass=0.05, inertia=(1e-5,) * 3, X_WB=ub.Pose((0.3, 0, 0.3)))
    b.joint("hinge", ub.Revolute((0, 0, 1)), b.world, wheel, X_PF=ub.Pose((0.3, 0, 0.3)), damping=5e-4)
    b.attach(shaft.end(0), drive, clamped=True)
    b.attach(shaft.end(1), wheel, clamped=True)
    b.add(ub.AppliedWrench(wheel, torque=lambda t: (0, 0, -torque if t > 1.65 else 0.0)))
    rec = ub.Simulation(b.build(), ub.solvers.Barrier(tolerance=1e-8), dt=0.02).run(3.0)
    at = rec.joint("hinge")[:, 0]
    before = 80  # at 1.6 s
    assert at[before] == pytest.approx(2.0, abs=0.01)
    length = 0.3 * 2.0 * np.sin(np.pi / 4 / (n - 1)) * (n - 1)
    assert at[before] - at[-1] == pytest.approx(torque * length / GJ, rel=0.02)


def test_momentum_and_energy_of_a_twisted_rod_that_flies() -> None:
    """A bent rod let go with twist in it: momentum to round-off, angular momentum and energy to the order of BDF-2."""
    left = []
    for dt in (1e-4, 5e-5):
        b = ub.Builder(gravity=None)
        s = np.linspace(0.0, 1.0, 9)
        mesh = ub.RodMesh(np.stack([0.2 * s, 0.05 * s**2, 0.03 * s**3], axis=1), R).framed()
        b.rod("rod", mesh, material=STUFF, density=1000, start=mesh.places(mesh.axis, 1.5), V_WB=(3.0, 1.0, 0.0, 0.1, 0.2, 0.3))
        rec = ub.Simulation(b.build(), ub.solvers.Barrier(rule="bdf2", tolerance=1e-9), dt=dt).run(0.005)
        e, p, L = rec.energy.total, rec.momentum, rec.angular_momentum
        assert np.abs(p - p[0]).max() < 1e-9 * np.abs(p[0]).max() + 1e-10
        left.append((np.abs(e - e[0]).max() / e[0], np.abs(L - L[0]).max() / np.linalg.norm(L[0])))
        assert rec.energy.elastic[0] == pytest.approx(0.5 * GJ * 1.5**2 / (mesh.length * 7.0 / 8.0), rel=0.03)
    assert left[1][0] < 0.5 * left[0][0] and left[1][1] < 0.02


def test_frames_go_along_by_parallel_transport() -> None:
    """A plane curve turns nothing: directors keep the normal of the plane. Around a closed curve on a sphere they turn by its solid angle:
    of a circle of latitude θ from the pole, 2π (1 − cos θ)."""
    ring = ub.RodMesh(np.stack([np.cos(a := np.linspace(0, 2 * np.pi, 41)[:-1]), np.sin(a), 0 * a], axis=1), 0.01, closed=True).framed()
    assert twists(ring.axis, ring.vertices[40:], True) == pytest.approx(0.0, abs=1e-12)
    # tangents of a helix go around such a circle
    n, pitch = 400, 0.7
    s = np.linspace(0.0, 2.0 * np.pi, n + 1)
    helix = ub.RodMesh(np.stack([np.cos(s), np.sin(s), pitch * s], axis=1), 0.01).framed()
    F = np.stack([np.cross((0, 0, 1.0), t := np.diff(helix.axis, axis=0)), t], axis=0)
    binormal = np.cross(F[1], F[0])
    u = helix.vertices[n + 1 :] - 0.5 * (helix.axis[1:] + helix.axis[:-1])
    turned = [np.arctan2(np.cross(w, v) @ t / np.linalg.norm(t), w @ v) for w, v, t in ((binormal[k], u[k], F[1][k]) for k in (0, n - 1))]
    expected = -2.0 * np.pi * pitch / np.hypot(1.0, pitch)  # torsion times length, against the frame of the curve
    assert np.angle(np.exp(1j * (turned[1] - turned[0] - expected * (n - 1) / n))) == pytest.approx(0.0, abs=1e-3)


def test_what_has_no_frames_or_cannot_close_says_so() -> None:
    b = ub.Builder()
    rope = b.rod("rope", [(0, 0, 0), (1, 0, 0), (2, 0, 0)], 0.01, ub.RodMaterial(1e6))
    with pytest.raises(ub.ModelError, match="'rope' has no directors"):
        _ = rope.directors
    with pytest.raises(ub.ModelError, match="its mesh has directors, which .* does not hold"):
        b.rod("other", ub.RodMesh([(0, 0, 0), (1, 0, 0)], 0.01).framed(), material=ub.RodMaterial(1e6))
    with pytest.raises(ub.ModelError, match="torsion: a rod without material frames does not resist it; give twist=True"):
        ub.RodMaterial(1e6, torsion=1.0)
    ring = ub.RodMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], 0.01, closed=True).framed()
    with pytest.raises(ub.ModelError, match="closes after whole turns only, not after a twist of 1"):
        ring.places(ring.axis, 1.0)
    with pytest.raises(ub.Unsupported, match="material frames, .* need solver 'barrier'"):
        c = ub.Builder()
        c.rod("shaft", [(0, 0, 0), (1, 0, 0), (2, 0, 0)], 0.01, STUFF)
        ub.Simulation(c.build(), "redmax", dt=0.01)
