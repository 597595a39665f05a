"""Mechanisms that tests of assembly take apart, with their closed forms."""

from __future__ import annotations

import numpy as np

import unibody as ub
from unibody.coordinates.assembly.rows import Displaced
from unibody.coordinates.instant import Instant

REVOLUTE = ub.Revolute(axis=(0, 0, 1))


def four_bar(
    q: tuple[float, ...], v: tuple[float, ...] = (0, 0, 0), bars: tuple[float, ...] = (1.0, 2.0, 1.5), ground: float = 2.0,
    unit: float = 1.0, planar: bool = True, more: dict[str, ub.Constraint] | None = None,
) -> ub.Model:  # fmt: skip
    """Crank O–A, coupler A–B, rocker D–B of slender bars of 1 kg/m; lengths in any unit. Angles of crank and rocker from x, that of the
    coupler from the crank."""
    b = ub.Builder(gravity=None, planar=planar, **({"normal": (0, 0, 1)} if planar else {}))
    made = []
    for name, length in zip(("crank", "coupler", "rocker"), bars, strict=True):
        size = length * unit
        made.append(b.body(name, mass=length, com=(0.5 * size, 0, 0), inertia=(1e-3 * unit**2,) + (length * size**2 / 12.0,) * 2))
    crank, coupler, rocker = made
    b.joint("O", REVOLUTE, b.world, crank, q=q[0], v=v[0])
    b.joint("A", REVOLUTE, crank, coupler, X_PF=ub.Pose((bars[0] * unit, 0, 0)), q=q[1], v=v[1])
    b.joint("D", REVOLUTE, b.world, rocker, X_PF=ub.Pose((ground * unit, 0, 0)), q=q[2], v=v[2])
    b.joint("B", REVOLUTE, coupler, rocker, X_PF=ub.Pose((bars[1] * unit, 0, 0)), X_BM=ub.Pose((bars[2] * unit, 0, 0)))
    for name, element in (more or {}).items():
        b.add(element, name=name)
    return b.build()


def closure(q: np.ndarray, bars: tuple[float, ...] = (1.0, 2.0, 1.5), ground: float = 2.0) -> np.ndarray:
    """The two equations of the four-bar's loop, written down."""
    t, s, w = q[0], q[0] + q[1], q[2]
    a, c, r = bars
    return np.array([a * np.cos(t) + c * np.cos(s) - ground - r * np.cos(w), a * np.sin(t) + c * np.sin(s) - r * np.sin(w)])


def four_bar_mass(q: np.ndarray, bars: tuple[float, ...] = (1.0, 2.0, 1.5)) -> np.ndarray:
    """M of the open four-bar, written down: crank and coupler are a double pendulum of slender bars of mass = length."""
    a, c, r = bars
    I_a, I_c, I_r = a**3 / 3.0, c**3 / 12.0, r**3 / 3.0
    # coupler's centre: a e(t) + c/2 e(s), with t' = v0 and s' = v0 + v1
    far, cross = c * (0.5 * c) ** 2 + I_c, c * a * 0.5 * c * np.cos(q[1])
    return np.array([[I_a + c * a * a + 2.0 * cross + far, cross + far, 0.0], [cross + far, far, 0.0], [0.0, 0.0, I_r]])


def slider_crank(omega: float, theta: float = np.pi / 3, r: float = 0.1, l: float = 0.3) -> ub.Model:
    """A crank that turns at ω, and nothing else that moves: its loop is torn open by 3 m/s."""
    b = ub.Builder(gravity=None)
    beta = -np.arcsin(r * np.sin(theta) / l)
    crank = b.body("crank", mass=1.0, com=(0.5 * r, 0, 0), inertia=(1e-3, 1e-3, 1e-3))
    rod = b.body("rod", mass=0.5, com=(0.5 * l, 0, 0), inertia=(4e-3, 4e-3, 4e-3))
    slider = b.body("slider", mass=2.0, inertia=(1e-3, 1e-3, 1e-3))
    b.joint("crank", REVOLUTE, b.world, crank, q=theta, v=omega)
    b.joint("pin", REVOLUTE, crank, rod, X_PF=ub.Pose((r, 0, 0)), q=beta - theta)
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, slider, q=r * np.cos(theta) + l * np.cos(beta))
    b.joint("wrist", REVOLUTE, rod, slider, X_PF=ub.Pose((l, 0, 0)))
    return b.build()


def slider_crank_rates(omega: float, theta: float = np.pi / 3, r: float = 0.1, l: float = 0.3) -> np.ndarray:
    """Velocities of crank, pin and slide that the loop asks for: l sin β = −r sin θ, x = r cos θ + l cos β."""
    beta = -np.arcsin(r * np.sin(theta) / l)
    turn = -r * np.cos(theta) / (l * np.cos(beta)) * omega
    return np.array([omega, turn - omega, -r * np.sin(theta) * omega - l * np.sin(beta) * turn])


def slider_crank_pin(omega: float, theta: float = np.pi / 3, r: float = 0.1, l: float = 0.3) -> float:
    """The force in the crank's pin by Newton's equations: one degree of freedom, I(θ) θ̈ + ½ I′ ω² = 0, then rod and slider apart."""
    I_O, m, I_G, m_s = 1e-3 + 1.0 * (0.5 * r) ** 2, 0.5, 4e-3, 2.0
    s, c, b = np.sin(theta), np.cos(theta), -np.arcsin(r * np.sin(theta) / l)
    sb, cb = np.sin(b), np.cos(b)
    b1 = -r * c / (l * cb)
    b2 = (r * s + l * sb * b1**2) / (l * cb)
    x1, x2 = -r * s - l * sb * b1, -r * c - l * cb * b1**2 - l * sb * b2
    g1 = np.array([-r * s - 0.5 * l * sb * b1, r * c + 0.5 * l * cb * b1])
    g2 = np.array([-r * c - 0.5 * l * (cb * b1**2 + sb * b2), -r * s + 0.5 * l * (-sb * b1**2 + cb * b2)])
    inertia = I_O + m * g1 @ g1 + I_G * b1**2 + m_s * x1**2
    slope = 2.0 * (m * g1 @ g2 + I_G * b1 * b2 + m_s * x1 * x2)
    alpha = -0.5 * slope / inertia * omega**2
    a_G, a_B, beta2 = g2 * omega**2 + g1 * alpha, x2 * omega**2 + x1 * alpha, b2 * omega**2 + b1 * alpha
    # on the rod: F at its pin, R at the wrist; R_x = −m_s a_B and F + R = m a_G, moments about its centre of mass give F_y
    R_x = -m_s * a_B
    F_x = m * a_G[0] - R_x
    to_A = -0.5 * l * np.array([cb, sb])
    # (to_A × F) + (−to_A × R) = I_G β̈ with R_y = m a_Gy − F_y
    F_y = (I_G * beta2 + to_A[1] * (F_x - R_x) + to_A[0] * m * a_G[1]) / (2.0 * to_A[0])
    return float(np.hypot(F_x, F_y))


def stewart(unit: float = 1.0) -> ub.Model:
    """A platform on six legs of two bodies each: universal joint below, slide, ball above; five legs close loops of 3 rows."""
    b = ub.Builder(gravity=(0, 0, -9.81))
    height = 1.2 * unit
    top = b.body("platform", mass=5.0, inertia=np.array((0.3, 0.3, 0.6)) * unit**2)
    for k in range(6):
        below = np.pi / 3 * (k // 2) * 2 + (0.25 if k % 2 else -0.25)
        above = np.pi / 3 * (k // 2) * 2 + (0.8 if k % 2 else -0.8)
        foot, head = (unit * R * np.array([np.cos(x), np.sin(x), 0.0]) for R, x in ((1.0, below), (0.6, above)))
        way = head + np.array([0, 0, height]) - foot
        length = float(np.linalg.norm(way))
        e3 = way / length
        e1 = np.cross([0.0, 1.0, 0.0], e3)
        e1 /= np.linalg.norm(e1)
        R = np.stack([e1, np.cross(e3, e1), e3], axis=1)
        lower = b.body(f"lower{k}", mass=1.0, com=(0, 0, 0.3 * unit), inertia=np.array((0.03, 0.03, 0.002)) * unit**2)
        upper = b.body(f"upper{k}", mass=0.5, com=(0, 0, -0.3 * unit), inertia=np.array((0.02, 0.02, 0.001)) * unit**2)
        b.joint(f"foot{k}", ub.Universal(), b.world, lower, X_PF=ub.Pose.from_rotation(R, foot))
        b.joint(f"leg{k}", ub.Prismatic(axis=(0, 0, 1)), lower, upper, q=length)
        b.joint(f"head{k}", ub.Ball(), upper, top, X_PF=ub.Pose.from_rotation(R.T), X_BM=ub.Pose(tuple(head)))
    return b.build()


def displaced(model: ub.Model, size: float, rng: np.random.Generator, speed: float = 0.0) -> ub.State:
    """The start, every tree joint moved and turned by random amounts of so many rad or lengths of its body."""
    at = Displaced(Instant(model))
    q = at.coordinates(size * rng.standard_normal(model.nv) * at.dof_sizes)[: model.nq]
    return ub.State(0.0, q, speed * rng.standard_normal(model.nv) * at.dof_sizes)
