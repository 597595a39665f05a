"""Rods and solids under `redmax` against closed forms: elastica, catenary, cantilevers at rest and in vibration."""

from __future__ import annotations

from math import cos, cosh, pi, sin, sinh, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import unibody as ub

YOUNG, RADIUS, DENSITY = 1e7, 0.01, 1000.0
B = YOUNG * pi * RADIUS**4 / 4.0
"""Bending stiffness."""
MU = DENSITY * pi * RADIUS**2
"""Mass per length."""


def line(n: int) -> np.ndarray:
    """A rod of length 1 from the middle of its first edge on, along x."""
    return np.outer((np.arange(n + 1) - 0.5) / (n - 0.5), (1.0, 0.0, 0.0))


@pytest.mark.parametrize(("alpha", "tip"), [(2, (0.839358, 0.493457)), (5, (0.612372, 0.713792))])
def test_elastica_under_a_tip_load(alpha: float, tip: tuple[float, float], published: Any) -> None:
    """Bisshopp and Drucker (1945), a damped rod that has come to rest: 0.2 % with 50 edges, clamped at the middle of the first."""
    b = ub.Builder(gravity=None)
    rod = b.rod("rod", line(50), RADIUS, ub.RodMaterial(young=YOUNG, damping=0.5), DENSITY)
    b.attach(rod.end(0), b.world, clamped=True)
    b.add(ub.AppliedWrench("rod.vertex[50]", force=(0.0, 0.0, alpha * B)))
    x = ub.Simulation(b.build(), "redmax", dt=0.02).run(11.0).vertices("rod")
    assert np.abs(x[-1] - x[-25]).max() < 1e-4
    published(f"Elastica in redmax, P L²/B = {alpha}", "tip / L", tip, x[-1, -1, [0, 2]], rtol=2e-3)


def test_catenary_of_a_rope_and_what_its_ends_bear(published: Any) -> None:
    """Length 1.2 over a span of 1, EA = 3 kN; it starts on the catenary and stays there, up to what stretch and edges make it swing."""
    n = 60
    a = brentq(lambda a: 2.0 * a * sinh(0.5 / a) - 1.2, 0.1, 5.0)
    s = 1.2 * np.linspace(0.0, 1.0, n + 1) - 0.6
    start = np.stack([0.5 + a * np.arcsinh(s / a), 0.0 * s, np.sqrt(a**2 + s**2) - a * cosh(0.5 / a)], axis=1)
    b = ub.Builder()
    rest = ub.RodMesh(np.outer(s, (1.0, 0.0, 0.0)), 1e-3)
    rope = b.rod("rope", rest, material=ub.RodMaterial(young=1e9, bending=0.0, damping=2e-3), density=DENSITY, start=start)
    b.prescribe(rope.vertices[[0, n]], name="ends")
    rec = ub.Simulation(b.build(), "redmax", dt=1e-3).run(0.5)
    w = rec.model.total_mass * 9.81 / 1.2
    published("Catenary in redmax, length / span 1.2", "sag / span", 0.292344, -rec.vertices("rope")[-1, :, 2].min(), rtol=3e-3)
    tension = np.linalg.norm(rec.reaction("ends")[:, 0], axis=1)
    published("Catenary in redmax, length / span 1.2", "tension at the end / w", 0.761885, tension[-250:].mean() / w, rtol=5e-3)


def test_lowest_frequency_of_a_cantilever(published: Any) -> None:
    """ω = 3.5160 √(B/μ)/L² of a rod that starts in its first mode: 1 % with 20 edges and 400 steps a period."""
    n, beta = 20, 1.8751041
    ratio = (cos(beta) + cosh(beta)) / (sin(beta) + sinh(beta))
    s = np.maximum(line(n)[:, 0], 0.0)
    shape = np.cosh(beta * s) - np.cos(beta * s) - ratio * (np.sinh(beta * s) - np.sin(beta * s))
    start = line(n) + np.outer(1e-3 * shape, (0.0, 0.0, 1.0))
    start[:2] = line(n)[:2]
    b = ub.Builder(gravity=None)
    rod = b.rod("rod", ub.RodMesh(line(n), RADIUS), material=ub.RodMaterial(young=YOUNG), density=DENSITY, start=start)
    b.attach(rod.end(0), b.world, clamped=True)
    exact = 3.5160 * sqrt(B / MU)
    rec = ub.Simulation(b.build(), "redmax", dt=2.0 * pi / exact / 400).run(1.8 * 2.0 * pi / exact)
    found = frequency(rec.t, rec.vertices("rod")[:, -1, 2])
    published("Cantilever in redmax", "lowest angular frequency", exact, found, rtol=1e-2, unit="rad/s")


def frequency(t: np.ndarray, z: np.ndarray) -> float:
    """π over the mean time between zeros."""
    k = np.flatnonzero(z[1:-1] * z[2:] < 0.0) + 1
    zeros = t[k] - z[k] * (t[1] - t[0]) / (z[k + 1] - z[k])
    return float(pi / np.diff(zeros).mean())


@pytest.mark.parametrize("solver", ["redmax", "barrier"])
def test_a_rigid_mass_on_an_elastic_cantilever_has_its_frequency(solver: str, published: Any) -> None:
    """1 + cos β cosh β + (m/μL) β (cos β sinh β − sin β cosh β) = 0, ω = β² √(B/μ)/L²; the mass moves the rod and the rod the mass. 1 %: 20
    edges, 200 steps a period."""
    m, n = 0.5, 20
    beta = brentq(lambda b: 1.0 + cos(b) * cosh(b) + m / MU * b * (cos(b) * sinh(b) - sin(b) * cosh(b)), 0.3, 1.87)
    exact = beta**2 * sqrt(B / MU)
    b = ub.Builder(gravity=None)
    ball = b.body("ball", ub.Sphere(0.01), mass=m, X_WB=ub.Pose((1.0, 0, 0)), V_WB=(0, 0, 0, 0, 0, 1e-3))
    rod = b.rod("rod", ub.RodMesh(line(n), RADIUS), material=ub.RodMaterial(young=YOUNG), density=DENSITY)
    b.attach(rod.end(0), b.world, clamped=True)
    b.attach(rod.end(1), ball)
    chosen = ub.solvers.Barrier(rule="bdf2", tolerance=1e-9) if solver == "barrier" else solver
    rec = ub.Simulation(b.build(), chosen, dt=2.0 * pi / exact / (100 if solver == "barrier" else 400)).run(1.6 * 2.0 * pi / exact)
    found = frequency(rec.t, rec.pose("ball")[:, 2])
    published(f"Mass on a cantilever in {solver}", "angular frequency", exact, found, rtol=1e-2, unit="rad/s")


def test_deflection_of_a_cantilever_of_quadratic_tetrahedra(published: Any) -> None:
    """Timoshenko's deflection under a tip load, L/a = 10: within 4 % with two cells across and twelve along."""
    a, young, nu, load = 0.1, 1e6, 0.3, 1e-2
    b = ub.Builder(gravity=None)
    matter = ub.CoRotated(young, nu, damping=0.6)
    bar = b.soft("bar", ub.TetMesh.box((1.0, a, a), cells=(12, 2, 2)), material=matter, density=1000.0, order=2)
    x = bar.vertices.x
    b.prescribe(bar.vertices[x[:, 0] < x[:, 0].min() + 1e-9])
    end = np.flatnonzero(x[:, 0] > x[:, 0].max() - 1e-9)
    for i in end:
        b.add(ub.AppliedWrench(f"bar.vertex[{i}]", force=(0.0, 0.0, load / len(end))))
    z = ub.Simulation(b.build(), "redmax", dt=0.1).run(4.0).vertices("bar")[-1, end, 2] - x[end, 2]
    exact = load / (3.0 * young * a**4 / 12.0) + load / (5.0 / 6.0 * 0.5 * young / (1.0 + nu) * a**2)
    published("Cantilever of a solid in redmax, L/a = 10", "deflection", exact, z.mean(), rtol=0.04, unit="m")
