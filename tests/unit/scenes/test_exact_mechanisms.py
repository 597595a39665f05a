"""Closed forms of linkages and chains: they close, they keep their lengths, and their reduced motion is right."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unibody.scenes.blocks import HINGE, chain_motion, free_flight
from unibody.scenes.chains import Catenary, HangingChain
from unibody.scenes.linkages import FourBar, Peaucellier, SliderCrank, Windows
from unibody.scenes.one_degree import OneDegree, slope
from unibody.scenes.parts import meet, rod_shape
from unibody.scenes.pendulums import PendulumSolution
from unibody.scenes.spatial_linkages import Bennett, Bricard, closure

THETAS = np.linspace(-3.0, 9.0, 25)


def rod(theta: float) -> tuple[np.ndarray, np.ndarray]:
    """A rod of length 1 hung at the origin."""
    s, c = math.sin(theta), math.cos(theta)
    return np.array([[0.5 * s, 0.0, -0.5 * c]]), np.array([[[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]]])


def test_one_degree_of_a_rod_is_the_elliptic_pendulum():
    inertia = rod_shape(1.0, 0.05).mass_properties(1.0).with_mass(2.0).inertia
    reference = OneDegree(("rod",), rod, np.array([2.0]), inertia[None], 9.81, 2.0, 0.5)
    assert reference.inertia(0.3) == pytest.approx(2.0 / 3.0, rel=1e-12)
    t = np.linspace(0.0, 3.0, 13)
    exact = PendulumSolution(math.sqrt(1.5 * 9.81), 2.0, 0.5)
    np.testing.assert_allclose(reference.solve(t)[0], exact.angle(t), atol=1e-8)
    np.testing.assert_allclose(reference.coms(t)[:, 0, 0], 0.5 * np.sin(exact.angle(t)), atol=1e-8)


def test_one_degree_conserves_energy_on_a_four_bar():
    shape = FourBar(1.0, 0.3, 0.9, 0.7)

    def configuration(theta):
        bars = list(shape.segments(theta).values())
        turn = [np.eye(3)[:, [0, 1, 2]] @ rotation(head - foot) for foot, head in bars]
        return np.array([0.5 * (foot + head) for foot, head in bars]), np.array(turn)

    def rotation(d):
        c, s = d[[0, 2]] / np.linalg.norm(d)
        return np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])

    lengths = np.array([0.3, 0.9, 0.7])
    inertias = np.array([np.diag([1e-3, length**3 / 12.0, length**3 / 12.0]) for length in lengths])
    reference = OneDegree(("crank", "coupler", "rocker"), configuration, lengths, inertias, 9.81, 1.0, 4.0)
    theta, rate = reference.solve(np.linspace(0.0, 3.0, 9))
    energy = [reference.energy(*pair) for pair in zip(theta, rate, strict=True)]
    np.testing.assert_allclose(energy, energy[0], atol=1e-8)
    assert theta[-1] > 2 * math.pi  # the crank turns over


def test_slope_is_exact_to_round_off():
    np.testing.assert_allclose(slope(lambda x: np.array([math.sin(x), math.exp(x)]), 0.4), (math.cos(0.4), math.exp(0.4)), rtol=1e-12)


def test_circles_meet_on_the_asked_side():
    P, Q = np.array([1.0, 0.0, 2.0]), np.array([3.0, 0.0, 2.5])
    for side in (1.0, -1.0):
        X = meet(P, Q, 1.5, 1.2, side)
        assert np.linalg.norm(X - P) == pytest.approx(1.5, rel=1e-15)
        assert np.linalg.norm(X - Q) == pytest.approx(1.2, rel=1e-15)
        assert np.cross(Q - P, X - P) @ HINGE * side > 0
    assert np.isnan(meet(P, Q, 0.1, 0.2, 1.0)).any()


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_four_bar_closes_and_obeys_freudenstein(side):
    bar = FourBar(1.0, 0.3, 0.9, 0.7, side)
    for theta in THETAS:
        A, B, D = bar.points(theta)
        np.testing.assert_allclose([np.linalg.norm(B - A), np.linalg.norm(B - D)], (0.9, 0.7), atol=1e-14)
        assert bar.freudenstein(theta, bar.rocker_angle(theta)) == pytest.approx(0.0, abs=1e-13)
        assert abs(bar.freudenstein(theta, bar.rocker_angle(theta) + 0.1)) > 1e-3


def test_slider_crank_closes_and_its_velocity_is_the_derivative():
    machine = SliderCrank(0.3, 0.8, 0.25)
    for theta in THETAS:
        A, B = machine.segments(theta)["rod"]
        assert np.linalg.norm(B - A) == pytest.approx(0.8, abs=1e-14)
        assert machine.velocity(theta, 2.0) == pytest.approx(2.0 * float(slope(machine.position, theta)), abs=1e-12)
    assert machine.position(0.0) == pytest.approx(1.1)
    assert machine.position(math.pi) == pytest.approx(0.5)


def test_peaucellier_inverts_and_draws_a_straight_line():
    cell = Peaucellier(1.0, 0.4, 0.4)
    for theta in np.linspace(-1.4, 1.4, 15):
        p = cell.points(theta)
        assert np.linalg.norm(p["S"]) * np.linalg.norm(p["T"]) == pytest.approx(1.0 - 0.16, rel=1e-14)
        assert np.linalg.norm(p["S"] - p["C"]) == pytest.approx(0.4, abs=1e-15)
        assert p["T"][2] == pytest.approx(cell.line, abs=1e-14)
        lengths = {name: np.linalg.norm(b - a) for name, (a, b) in cell.segments(theta).items()}
        expected = {"OP": 1.0, "OQ": 1.0, "crank": 0.4, "PS": 0.4, "PT": 0.4, "QS": 0.4, "QT": 0.4}
        assert lengths == pytest.approx(expected, abs=1e-14)
        assert math.atan2(*(p["S"] - p["C"])[[0, 2]] * (1, -1)) == pytest.approx(theta, abs=1e-14)


@pytest.mark.parametrize(
    ("n", "period", "corner"),
    [
        (1, 1.92371181733897, (0.47838505775576456, 0.8781501787940453, 1.7272640755369448, -0.9409521793526756)),
        (2, 1.94251492260708, (0.32845811153660776, 0.9445185381800641, 1.423051470197467, -0.4948688454766413)),
        (40, 1.96560192870465, (0.18051222668370737, 0.983572740582866, 1.1484412774635608, -0.21077006677470345)),
    ],
)
def test_windows_match_iftomm_a02(n, period, corner):
    """Published specification; periods and the state of B0 at 10 s by an independent integration."""
    windows = Windows(n, 1.0, 9.81, 1.0)
    assert windows.period == pytest.approx(period, rel=1e-13)
    np.testing.assert_allclose(windows.B0(np.array(0.0)), (0, 1, 1, 0), atol=1e-14)
    np.testing.assert_allclose(windows.B0(np.array(10.0)), corner, atol=1e-9)


@pytest.mark.parametrize("shape", [Bennett(1.0, 0.6, 1.1), Bennett(0.7, 2.0, 0.4), Bricard(1.3)], ids=str)
def test_spatial_loops_close_all_around(shape):
    for theta in THETAS:
        X = closure(shape.links, shape.angles(theta))
        np.testing.assert_allclose(X.matrix(), np.eye(4), atol=3e-15)


def test_bennett_and_bricard_obey_their_published_relations():
    linkage = Bennett(1.0, 0.6, 1.1)
    assert linkage.a / math.sin(0.6) == pytest.approx(linkage.b / math.sin(1.1))
    first, second, third, fourth = linkage.angles(1.2)
    assert math.tan(first / 2) * math.tan(second / 2) == pytest.approx(math.sin(0.85) / math.sin(0.25), rel=1e-14)
    assert (third, fourth) == (-first, -second)
    for s in THETAS:
        theta, phi = Bricard(1.0).angles(s)[:2]
        assert math.cos(theta) + math.cos(phi) + math.cos(theta) * math.cos(phi) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    ("n", "force", "sag"),
    [
        (10, 0.20510510143091198, 0.5059459315710844),
        (20, 0.20539394944630157, 0.5034466343401925),
        (50, 0.2054754354971553, 0.5027628062042631),
    ],
)
def test_catenary_matches_reference_values(n, force, sag):
    """Span 1, length 1.5; values computed independently."""
    chain = Catenary(n, 1.0, 1.5, 2.0, 9.81)
    weight = 2.0 * 9.81
    assert chain.a == pytest.approx(0.3082364697360404, rel=1e-13)
    assert chain.sag == pytest.approx(0.5026332616483151, rel=1e-13)
    assert chain.horizontal_force / weight == pytest.approx(0.20549097982402695, rel=1e-13)
    assert chain.link_horizontal_force / weight == pytest.approx(force, rel=1e-12)
    assert chain.link_sag == pytest.approx(sag, rel=1e-12)


@pytest.mark.parametrize("n", [2, 7, 20])
def test_catenary_links_are_in_equilibrium(n):
    chain = Catenary(n, 1.0, 1.5, 2.0, 9.81)
    joints, weight = chain.joints, np.array([0, 0, -2.0 * 9.81 / n])
    np.testing.assert_allclose(joints[-1], (1.0, 0, 0), atol=1e-14)
    for k in range(n):
        left, right = chain.force(k), -chain.force(k + 1)
        np.testing.assert_allclose(left + right + weight, 0.0, atol=1e-13)
        arm = 0.5 * (joints[k + 1] - joints[k])
        np.testing.assert_allclose(np.cross(-arm, left) + np.cross(arm, right), 0.0, atol=1e-13)


def test_catenary_of_many_links_approaches_the_continuum_at_second_order():
    errors = [abs(Catenary(n, 1.0, 1.5, 1.0, 9.81).link_horizontal_force / 9.81 - 0.20549097982402695) for n in (20, 40, 80)]
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2.0, atol=0.02)


def test_one_hanging_link_is_the_rod_pendulum_and_many_are_the_heavy_string():
    assert HangingChain(1, 1.0, 2.0, 9.81).modes[0][0] == pytest.approx(math.sqrt(1.5 * 9.81), rel=1e-14)
    chain = HangingChain(200, 1.0, 2.0, 9.81)
    # Links of relative length 1/200 differ from the string at second order.
    for mode in (1, 2, 3):
        assert chain.modes[0][mode - 1] == pytest.approx(chain.continuum_frequency(mode), rel=1e-3)
    assert HangingChain(2, 1.0, 2.0, 9.81).tension(1) == pytest.approx(9.81)


def test_free_flight_momentum_of_a_turning_chain():
    rates = [0.3, -0.2, 0.5]
    angles = [0.1, 0.5, -0.4]

    def centres(t):
        return chain_motion([a + t * r for a, r in zip(angles, rates, strict=True)], rates, np.zeros(3))[0]

    positions, velocities = chain_motion(angles, rates, np.zeros(3))
    np.testing.assert_allclose(velocities, slope(centres, 0.0), atol=1e-12)
    flight = free_flight(positions, velocities, rates, 9.81)
    np.testing.assert_allclose(
        flight.com(np.array([0.0, 1.0])),
        [positions.mean(axis=0), positions.mean(axis=0) + velocities.mean(axis=0) + (0, 0, -4.905)],
    )
    rigid = free_flight(np.zeros((1, 3)), np.zeros((1, 3)), [2.0], 9.81)
    assert rigid.angular_momentum == pytest.approx(2.0 * 26.0 / 12.0)
