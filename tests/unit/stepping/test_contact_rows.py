"""Contacts as rows: directions are orthonormal, wrenches and velocities are each other's transposes, laws belong to pairs."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.contact.pair_laws import PairLaws
from unibody.stepping.body_motion import BodyMotion, cross_rows
from unibody.stepping.contact_rows import contact_rows


def test_cross_products_are_those_of_numpy() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(4, 1, 3)), rng.normal(size=(4, 5, 3))
    np.testing.assert_allclose(cross_rows(a, b), np.cross(a, b), atol=1e-15)


@pytest.mark.parametrize("spin", [False, True])
def test_power_of_impulses_is_that_of_their_wrenches(spin: bool) -> None:
    rng = np.random.default_rng(1)
    n, bodies = 6, 4
    motion = BodyMotion(rng.normal(size=(bodies, 3)), rng.normal(size=(bodies, 6)), rng.normal(size=(bodies, 6)))
    pairs = np.array([(0, 1), (1, 2), (2, 3), (0, 3), (1, 3), (0, 2)])
    normals = rng.normal(size=(n, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    rows = contact_rows(pairs, rng.normal(size=(n, 3)), normals, spin=spin)
    assert rows.width == (4 if spin else 3)
    impulses = rng.normal(size=(n, rows.width))
    wrenches = rows.wrenches(motion)
    total = rows.on_bodies(wrenches, impulses, bodies)
    for h in (0.0, 0.3):
        power = np.sum(total * (motion.velocity + h * motion.rate))
        assert np.sum(impulses * rows.velocities(motion, h)) == pytest.approx(power, rel=1e-12)
    assert np.abs(total[:, 3:].sum(axis=0)).max() < 1e-13  # what acts on one acts back on the other


def test_directions_are_orthonormal_and_follow_a_wish() -> None:
    rng = np.random.default_rng(2)
    n = rng.normal(size=(5, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    wish = np.tile([1.0, 0.0, 0.0], (5, 1))
    wish[3] = np.nan
    n[4] = wish[4]  # a wish along the normal is none
    pairs = np.zeros((5, 2), np.int64)
    plain, wished = (contact_rows(pairs, n, n, wishes=w, spin=True).directions for w in (None, wish))
    for d in (plain, wished):
        frame = d[:, :3]
        np.testing.assert_allclose(frame @ frame.transpose(0, 2, 1), np.tile(np.eye(3), (5, 1, 1)), atol=1e-14)
        np.testing.assert_allclose(np.linalg.det(frame), 1.0, atol=1e-14)
        np.testing.assert_allclose(d[:, [0, 3]], np.stack([n, n], axis=1), atol=0.0)
    axis = np.eye(3)[np.abs(n).argmin(axis=1)]
    assert np.abs(np.einsum("nj,nj->n", axis, plain[:, 2])).max() < 1e-14  # the second one lies across the axis that is most across
    assert np.abs(wished[:3, 2, 0]).max() < 1e-14  # or across the wish
    np.testing.assert_allclose(wished[3:], plain[3:], atol=0.0)
    planar = contact_rows(pairs, n, n, plane_normal=np.array([0.0, 0.0, 1.0])).directions
    np.testing.assert_allclose(planar[:, 1], np.cross([0.0, 0.0, 1.0], n), atol=1e-15)


def test_laws_of_pairs() -> None:
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    balls = [b.body(f"ball{k}", shape=ub.Sphere(0.1), X_WB=ub.Pose((0.3 * k, 0, 1))) for k in range(3)]
    b.add(ub.Contact(friction=0.5, static=0.6, restitution=0.1))
    b.add(ub.Contact(between=(balls[2], balls[0]), friction=0.2, torsion=0.01, impact="poisson"))
    model = b.build()
    i, j, k = (model.body(f"ball{n}") for n in range(3))
    laws = PairLaws(model).of(np.array([(i, j), (i, k), (k, i), (1, k)]))
    assert laws.friction[:, 0].tolist() == [0.5, 0.2, 0.2, 0.5] and laws.friction[1].tolist() == [0.2, 0.2, 0.002]
    assert laws.stick == pytest.approx([1.2, 1.0, 1.0, 1.2]) and laws.restitution.tolist() == [0.1, 0.0, 0.0, 0.1]
    assert laws.impact.tolist() == [0, 1, 1, 0]
