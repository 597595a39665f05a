"""A slider-crank of which only the crank's speed is given: the force in its pin is right from the first instant on, with every solver.

Loop: r sin θ + l sin β = e, x = r cos θ + l cos β, so that with ′ = d/dθ

    β′ = −r cos θ / (l cos β),   β″ = (r sin θ + l sin β β′²) / (l cos β),

and every centre of mass G(θ) has G̈ = G″ ω² + G′ α. A crank that is let go has one degree of freedom, I(θ) α + ½ I′ ω² = Σ m g·G′, with
I = Σ m |G′|² + J φ′²; a driven one has α = 0. Then the slider along its rail and the rod about its wrist give the force F in the pin:
R_x = m₃ (g_x − ẍ), F_x = m₂ (G̈₂ − g)_x − R_x, (A − B) × F = J₂ β̈ + (G₂ − B) × m₂ (G̈₂ − g).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import unibody as ub
from unibody.solvers import REGISTRY, Articulated, Barrier, Complementarity, Impulse, Lagrange, Penalty, RedMax, Solver

R, L, E = 0.1, 0.3, 0.02
"""[m] Crank, rod, and how far the rail is from the crank's axis."""
MASS = (1.0, 0.5, 2.0)
INERTIA = (1e-3, 4e-3, 1e-3)
"""[kg m²] About centres of mass."""
COM = (0.04 + 0.01j, 0.13 - 0.02j, 0j)
"""[m] Of crank and rod in their own axes, x along the bar, as complex numbers; that of the slider is in its wrist."""
START, OMEGA = np.pi / 3, 150.0
"""[rad, rad/s]"""
G = (2.0, -9.81, 0.0)
"""[m/s²] Not along the rail nor across it."""


def model(omega: float, gravity: bool = False, driven: bool = False, planar: bool = False) -> ub.Model:
    """Only the crank moves: the loop is torn open by metres per second. A driven one is at rest: its drive asks for the speed."""
    b = ub.Builder(gravity=G if gravity else None, **({"planar": True, "normal": (0, 0, 1)} if planar else {}))
    turn, beta = ub.Revolute(axis=(0, 0, 1)), float(np.arcsin((E - R * np.sin(START)) / L))
    crank, rod, slider = (
        b.body(name, mass=m, com=(c.real, c.imag, 0), inertia=(J, J, J))
        for name, m, c, J in zip(("crank", "rod", "slider"), MASS, COM, INERTIA, strict=True)
    )
    b.joint("crank", turn, b.world, crank, q=START, v=0.0 if driven else omega)
    b.joint("pin", turn, crank, rod, X_PF=ub.Pose((R, 0, 0)), q=beta - START)
    b.joint("rail", ub.Prismatic(axis=(1, 0, 0)), b.world, slider, X_PF=ub.Pose((0, E, 0)), q=R * np.cos(START) + L * np.cos(beta))
    b.joint("wrist", turn, rod, slider, X_PF=ub.Pose((L, 0, 0)))
    if driven:
        b.add(ub.PrescribedJoint("crank", lambda t: START + omega * t), name="drive")
    return b.build()


class Place(NamedTuple):
    """At an angle of the crank: that of the rod and the centres of mass (complex), each with its derivatives by θ."""

    beta: tuple[float, float, float]
    G: list[tuple[complex, complex, complex]]
    inertia: float
    slope: float


def place(theta: float) -> Place:
    s, c = np.sin(theta), np.cos(theta)
    b = float(np.arcsin((E - R * s) / L))
    b1 = -R * c / (L * np.cos(b))
    b2 = (R * s + L * np.sin(b) * b1**2) / (L * np.cos(b))

    def turned(z: complex, angle: float, d1: float, d2: float) -> np.ndarray:
        at = z * np.exp(1j * angle)
        return np.array([at, 1j * d1 * at, (1j * d2 - d1**2) * at])

    crank, pin = turned(COM[0], theta, 1.0, 0.0), turned(R, theta, 1.0, 0.0)
    centres = [crank, pin + turned(COM[1], b, b1, b2), pin + turned(L, b, b1, b2)]
    turns = ((1.0, 0.0), (b1, b2), (0.0, 0.0))
    inertia = sum(m * abs(z[1]) ** 2 + J * t[0] ** 2 for m, J, z, t in zip(MASS, INERTIA, centres, turns, strict=True))
    slope = 2.0 * sum(m * dot(z[1], z[2]) + J * t[0] * t[1] for m, J, z, t in zip(MASS, INERTIA, centres, turns, strict=True))
    return Place((b, b1, b2), [tuple(z) for z in centres], float(inertia), float(slope))  # type: ignore[misc]


def dot(a: complex, b: complex) -> float:
    return (np.conj(a) * b).real


def cross(a: complex, b: complex) -> float:
    return (np.conj(a) * b).imag


def acceleration(theta: float, omega: float, g: complex) -> float:
    """α of a crank that is let go."""
    here = place(theta)
    pull = sum(m * dot(g, z[1]) for m, z in zip(MASS, here.G, strict=True))
    return (pull - 0.5 * here.slope * omega**2) / here.inertia


def pin_force(theta: float, omega: float, alpha: float, g: complex) -> np.ndarray:
    """(2,) on the rod."""
    here = place(theta)
    _, a_rod, a_slider = (z[2] * omega**2 + z[1] * alpha for z in here.G)
    angle, b1, b2 = here.beta
    R_x = MASS[2] * (g - a_slider).real
    inert = MASS[1] * (a_rod - g)
    F_x = inert.real - R_x
    to_pin, to_centre = -L * np.exp(1j * angle), here.G[1][0] - here.G[2][0]
    moment = INERTIA[1] * (b2 * omega**2 + b1 * alpha) + cross(to_centre, inert)
    return np.array([F_x, (moment + to_pin.imag * F_x) / to_pin.real])


def right(times: np.ndarray, omega: float, gravity: bool, driven: bool) -> np.ndarray:
    """(T, 2) the force in the pin; the motion of a crank that is let go by an integrator of eighth order."""
    g = complex(*G[:2]) if gravity else 0j
    if driven:
        return np.array([pin_force(START + omega * t, omega, 0.0, g) for t in times])
    end = max(float(times[-1]), 1e-9)
    found = solve_ivp(lambda t, y: (y[1], acceleration(*y, g)), (0.0, end), (START, omega), "DOP853", times, rtol=1e-12, atol=1e-12)
    return np.array([pin_force(x, w, acceleration(x, w, g), g) for x, w in found.y.T])


def test_the_closed_form_balances_power_and_moments() -> None:
    """Against itself by another way: derivatives by differences, and the moment on the crank, which alone changes its speed."""
    h, g = 1e-5, complex(*G[:2])
    for theta in (0.3, START, 2.5, 4.0):
        here, after, before = place(theta), place(theta + h), place(theta - h)
        for z, up, down in zip(here.G, after.G, before.G, strict=True):
            assert abs((up[0] - down[0]) / (2 * h) - z[1]) < 1e-8 and abs((up[1] - down[1]) / (2 * h) - z[2]) < 1e-8
        assert (after.inertia - before.inertia) / (2 * h) == pytest.approx(here.slope, abs=1e-8)
        for omega in (0.0, 20.0):
            alpha = acceleration(theta, omega, g)
            F = complex(*pin_force(theta, omega, alpha, g))
            about = cross(R * np.exp(1j * theta), -F) + cross(here.G[0][0], MASS[0] * g)
            assert about == pytest.approx((INERTIA[0] + MASS[0] * abs(COM[0]) ** 2) * alpha, abs=1e-9 * abs(F))


STEPS = 12


class Case(NamedTuple):
    """A solver, and by how much its force may be off, relative: at the start, in the steps 1 … `settling`, and after them. First-order
    rules report a step's mean, or its end's: forces turn with ω, and by ω h in a step, with that of the accelerations some times more."""

    solver: Solver
    at_start: float
    after: float
    settling: int = 0
    meanwhile: float = 0.0
    dt: float = 1e-6
    omega: float = OMEGA


FIRST = 4.0 * OMEGA * 1e-6
EXACT = 1e-7
"""Forces of the instant, at states that are off by the error of the rule: α h t / ω ≈ 1e-8."""
CASES = {
    "articulated": Case(Articulated(), 1e-12, EXACT),
    "articulated, rk4": Case(Articulated(rule="rk4"), 1e-12, 1e-11),
    "lagrange": Case(Lagrange(), 1e-12, EXACT),
    "lagrange, planar": Case(Lagrange(), 1e-12, EXACT),
    "impulse": Case(Impulse(), 1e-12, EXACT),
    "redmax": Case(RedMax(), 1e-12, FIRST),
    "complementarity": Case(Complementarity(), 1e-12, FIRST),
    "complementarity, maximal": Case(Complementarity(coordinates="maximal"), 1e-12, FIRST),
    # Rules that hold positions at the ends of their steps: their accelerations are differences of positions, which before the start there
    # are none of. They start from velocities that earlier steps would have left; BDF2, of order two, from such as are right to order one.
    "redmax, implicit": Case(RedMax(rule="implicit"), 1e-12, FIRST),
    "redmax, bdf2": Case(RedMax(rule="bdf2"), 1e-12, 1e-5, 3, FIRST),
    # Joints give way by a thousandth of a load, and rows that hold each other, a drive among them, by some times that.
    "penalty": Case(Penalty(), 0.03, 0.01),
    "penalty, semi-implicit": Case(Penalty(rule="semi-implicit"), 0.03, 0.01),
    # Springs that are as stiff at every dt: a step must be longer than their period of about a millisecond for what swings to end soon.
    # The drive is one of them, and swings for some steps; then ω h some times.
    "barrier": Case(Barrier(), 1e-8, 0.01, 3, 0.05, 3e-3, 0.5),
    "barrier, bdf2": Case(Barrier(rule="bdf2"), 1e-8, 0.03, 3, 0.15, 3e-3, 0.5),
}


def run(case: Case, name: str, gravity: bool, driven: bool) -> tuple[ub.Simulation, ub.Recording, np.ndarray]:
    """With how far off the force in the pin is in every state."""
    sim = ub.Simulation(model(case.omega, gravity, driven, "planar" in name), case.solver, dt=case.dt)
    rec = sim.run(STEPS * case.dt)
    wanted = right(np.array(rec.t), case.omega, gravity, driven)
    off = np.linalg.norm(rec.reaction("pin")[:, 3:5] - wanted, axis=1) / np.linalg.norm(wanted, axis=1)
    return sim, rec, off


def test_every_solver_is_looked_at() -> None:
    assert {case.solver.name for case in CASES.values()} == set(REGISTRY)


@pytest.mark.parametrize("driven", [False, True], ids=["let go", "driven"])
@pytest.mark.parametrize("gravity", [False, True], ids=["no weight", "weight"])
@pytest.mark.parametrize("name", CASES)
def test_the_pin_carries_what_newton_says_from_the_first_step_on(name: str, gravity: bool, driven: bool) -> None:
    case = CASES[name]
    sim, rec, off = run(case, name, gravity, driven)
    assert [note.split(" ")[0] for note in sim.notes] == ["start:"] and ("'drive'" if driven else "'wrist'") in sim.notes[0]
    assert off[0] < case.at_start
    assert off[1 : case.settling + 1].max(initial=0.0) <= case.meanwhile
    assert off[case.settling + 1 :].max() < case.after
    force = rec.reaction("pin")[:, 3:]
    assert abs(force[:, 2]).max() < 1e-6 * np.linalg.norm(force[0])  # nothing across the plane


@pytest.mark.parametrize("rule", ["implicit", "bdf2"])
def test_a_drive_that_starts_from_rest_loads_the_pin_from_the_first_step_on(rule: str) -> None:
    """θ = θ₀ + ½ α t²: nothing moves at the start, and all forces come from α (the closed form, without weight)."""
    alpha, h = 40.0, 1e-4
    b = ub.Builder.load(model(0.0, driven=True))
    b.replace("drive", ub.PrescribedJoint("crank", lambda t: START + 0.5 * alpha * t * t))
    rec = ub.Simulation(b.build(), RedMax(rule=rule), dt=h).run(STEPS * h)
    wanted = np.array([pin_force(START + 0.5 * alpha * t * t, alpha * t, alpha, 0j) for t in rec.t])
    off = np.linalg.norm(rec.reaction("pin")[:, 3:5] - wanted, axis=1) / np.linalg.norm(wanted, axis=1)
    # Forces turn with the crank, by ω h = α t h in a step: at most STEPS α h² of themselves, and the linkage turns them some more.
    assert off.max() < 2.0 * STEPS * alpha * h * h


@pytest.mark.parametrize("name", CASES)
def test_a_reset_begins_alike(name: str) -> None:
    """Single steps, after `reset`, give the same force in the first step."""
    case = CASES[name]
    sim, rec, _ = run(case, name, True, False)
    sim.reset()
    sim.step()
    first, pin = sim.observe(), [j.name for j in sim.model.joints].index("pin")
    np.testing.assert_array_equal(first.reactions[pin], rec.observe(1).reactions[pin])


@pytest.mark.parametrize("name", ["articulated", "lagrange", "impulse", "redmax", "complementarity"])
def test_as_given_the_force_would_be_another(name: str) -> None:
    """What this guards against: a loop that is torn open at the start has other forces, by a tenth or more."""
    case = CASES[name]
    sim = ub.Simulation(model(OMEGA), case.solver, dt=case.dt, assemble=False)
    wanted = right(np.zeros(1), OMEGA, False, False)[0]
    assert np.linalg.norm(sim.run(case.dt).reaction("pin")[0, 3:5] - wanted) > 0.1 * np.linalg.norm(wanted)
