"""J̇ v of contacts of boxes by their closed forms, also where the face by which a contact is found changes at that very moment."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.collision.rigid import RigidCollision
from unibody.stepping.body_motion import BodyMotion
from unibody.stepping.contact_rates import contact_rates, moved_on
from unibody.stepping.contact_rows import contact_rows

TILT = 2e-3
FEATURE = (1 << 31) - 1
SPIN = np.array([0.3, 0.5, 0.2])
RADII = np.array([0.0, 0.0, 0.8])


@pytest.fixture(scope="module")
def boxes() -> RigidCollision:
    """A box on a larger one."""
    b = ub.Builder(gravity=None)
    b.body("a", shape=ub.Box((1.0, 1.0, 1.0)), kind="static")
    b.body("b", shape=ub.Box((0.8, 0.8, 1.0)))
    b.add(ub.Contact())
    return RigidCollision(b.build(), 0.01)


def placed(slide: float) -> np.ndarray:
    """The upper box tilted about y and moved along x, its lower edge about on the other's top, over whose end it hangs from 0.1 m on."""
    X = np.tile(np.r_[np.eye(3).ravel(), 0.0, 0.0, 0.0], (3, 1))
    X[2] = np.r_[np.asarray(ub.Pose.about((0, 1, 0), TILT).R).ravel(), slide, 0.0, 1.0 + 0.4 * TILT]
    return X


def leans(boxes: RigidCollision, X: np.ndarray) -> bool:
    """Whether contacts have the normal of the upper box."""
    return bool(boxes.find(X).normal[0, 0] > 0.5 * TILT)


def motion_of(X: np.ndarray, velocity: tuple[float, float, float]) -> BodyMotion:
    twist = np.zeros((3, 6))
    twist[2] = np.r_[SPIN, velocity]
    return BodyMotion(X[:, 9:].copy(), twist, np.zeros((3, 6)))


def rates(boxes: RigidCollision, X: np.ndarray, motion: BodyMotion):
    found = boxes.find(X).copy()
    rows = contact_rows(found.body, found.point, found.normal, None)
    return found, *contact_rates(boxes.find, X, motion, rows, found.id, RADII)


def upper_corners(found) -> list[int]:
    """Contacts of those corners of the upper box that stay over the lower one: the higher ones."""
    return [c for c in range(len(found)) if 8 <= (int(found.id[c]) & FEATURE) < 16 and found.point[c, 0] < 0.0]


def expected(found, c: int, motion: BodyMotion, leaning: bool) -> float:
    """Of a corner of the upper box: n·(ω × (ω × r)), and (ω × n)·u where the normal turns with it. To the order of TILT: contacts lie
    midway in their gaps, of up to 0.8 TILT, and move at speeds of about 1."""
    r = found.point_b[c] - motion.centre[2]
    out = found.normal[c] @ np.cross(SPIN, np.cross(SPIN, r))
    if leaning:
        out += np.cross(SPIN, found.normal[c]) @ (motion.velocity[2, 3:] + np.cross(SPIN, r))
    return float(out)


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("way", [-1.0, 1.0])
def test_rates_follow_one_face_where_the_other_takes_over(boxes, side, way):
    low, high = 0.08, 0.12
    assert not leans(boxes, placed(low)) and leans(boxes, placed(high))
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if leans(boxes, placed(middle)) else (middle, high)
    X = placed(low - 1e-6 if side < 0.0 else high + 1e-6)
    motion = motion_of(X, (way, 0.1, 0.0))
    before, after = (leans(boxes, moved_on(X, motion, t)) for t in (-1e-4, 1e-4))
    assert before != after  # the change lies within the places that the rate is taken from
    found, rate, known = rates(boxes, X, motion)
    corners = upper_corners(found)
    assert len(corners) == 2 and known[corners].all()
    for c in corners:
        assert rate[c, 0] == pytest.approx(expected(found, c, motion, leans(boxes, X)), abs=TILT)


def test_rates_away_from_a_change_are_those_of_the_corner(boxes):
    for slide in (0.08, 0.12):
        X = placed(slide)
        motion = motion_of(X, (1.0, 0.1, 0.0))
        found, rate, known = rates(boxes, X, motion)
        assert known.all() and len(upper_corners(found)) == 2
        for c in upper_corners(found):
            assert rate[c, 0] == pytest.approx(expected(found, c, motion, leans(boxes, X)), abs=TILT)
