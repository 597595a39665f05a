"""PrescribedFrame: a body follows a pose over time, in all six directions or in some.

The body's own frame B follows X_WD(t) with twist (ω_D, v_D) in D's axes. With E = R_Dᵀ R, its rotation vector θ, the relative
rotation η = ω − Eᵀ ω_D, and r = Rᵀ (p − p_D),

    C = (θ, r),      θ̇ = Q(θ) η,      ṙ = v − ω × r − w,   w = Eᵀ v_D
    G = (Q  0; [r]×  1),   drift = (−Q Eᵀ ω_D, −w)
    Q = 1 + ½ [θ]× + k(θ²) [θ]×²,   k(s) = (1 − ½ a cot ½ a) / s at a = √s,   Q̇ = ½ [θ̇]× + 2 k′ (θ·θ̇) [θ]×² + k ([θ̇]×[θ]× + [θ]×[θ̇]×)
    bias = (Q̇ η − Q (Eᵀ ω̇_D − η × Eᵀ ω_D),   −ω × ṙ − (Eᵀ (v̇_D + ω_D × v_D) − ω × w))

so that near C = 0 the rows are those of V_WB_B (Q is the inverse of the right Jacobian of the exponential map; θ has the same components
in B and in D). The multiplier is the wrench on the body, torque then force, in body axes at its origin.

Tables: own integers: body, number of rows n, first slot of `signals` (POSE of them), n rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt, tan
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint, Rows, chosen_numbers, signal_motion
from unibody.element import Kinematics, Packing, name_of
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, compose_back, cross, dot3, load3, load9, rotate_back, rotation_vector, scale3, sub3
from unibody.spatial.motion import POSE, Track, checked_motion, pose_track
from unibody.spatial.pose import skew, vector_from_rotation

__all__ = ["PrescribedFrame"]

SERIES = 0.04
"""Below this θ² the coefficients k, k′ are summed as series: the next term is below 1e-15."""

LAST_TERM = 691.0 / 1307674368000.0


@device
def turning_coefficients(s):
    """k(s) and k′(s)."""
    if s < SERIES:
        k = 1.0 / 12.0 + s * (1.0 / 720.0 + s * (1.0 / 30240.0 + s * (1.0 / 1209600.0 + s * (1.0 / 47900160.0 + s * LAST_TERM))))
        return k, 1.0 / 720.0 + s * (2.0 / 30240.0 + s * (3.0 / 1209600.0 + s * (4.0 / 47900160.0 + s * 5.0 * LAST_TERM)))
    a = sqrt(s)
    c = 1.0 / tan(0.5 * a)
    k = (1.0 - 0.5 * a * c) / s
    # d(½ a cot ½ a)/da = ½ cot − ¼ a (1 + cot²), and ds = 2 a da
    return k, -(0.5 * c - 0.25 * a * (1.0 + c * c)) / (2.0 * a * s) - k / s


@device
def turned(k, theta, x):
    """Q x."""
    y = cross(theta, x)
    return add3(add3(x, scale3(0.5, y)), scale3(k, cross(theta, y)))


@kernel
def fill_prescribed_frames(
    index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    i = 0
    while i < index.size:
        row = index[i]
        entry = index[i + 1]
        body = index[i + 3]
        n = index[i + 4]
        at = index[i + 5]
        R = load9(X, 12 * body)
        o = load3(V, 6 * body)
        R_D = load9(signals, at)
        o_D = load3(signals, at + 12)
        v_D = load3(signals, at + 15)
        # E = R_Dᵀ R and θ its rotation vector; θ̇ = Q(θ) η with η = ω − Eᵀ ω_D
        E = compose_back(R_D, R)
        theta = rotation_vector(E)
        k, slope = turning_coefficients(dot3(theta, theta))
        carried = rotate_back(E, o_D)
        eta = sub3(o, carried)
        rate = turned(k, theta, eta)
        # Q̇ η, term by term
        inner = cross(theta, eta)
        swing = scale3(0.5, cross(rate, eta))
        swing = add3(swing, scale3(2.0 * slope * dot3(theta, rate), cross(theta, inner)))
        swing = add3(swing, scale3(k, add3(cross(rate, inner), cross(theta, cross(rate, eta)))))
        turn = sub3(swing, turned(k, theta, sub3(rotate_back(E, load3(signals, at + 18)), cross(eta, carried))))
        # the place: r in body axes against the driven frame, and its rates
        r = rotate_back(R, sub3(load3(X, 12 * body + 9), load3(signals, at + 9)))
        w = rotate_back(E, v_D)
        slip = sub3(sub3(load3(V, 6 * body + 3), cross(o, r)), w)
        pull = rotate_back(E, add3(load3(signals, at + 21), cross(o_D, v_D)))
        slide = sub3(sub3(cross(o, w), cross(o, slip)), pull)
        drift = turned(k, theta, carried)
        # three rows of the rotation, then three of the place; each that is asked for
        for m in range(n):
            e = index[i + 6 + m]
            axis = (1.0 if e % 3 == 0 else 0.0, 1.0 if e % 3 == 1 else 0.0, 1.0 if e % 3 == 2 else 0.0)
            if e < 3:
                residual_out[row + m] = theta[e]
                bias_out[row + m] = turn[e]
                drift_out[row + m] = -drift[e]
                block = turned(k, scale3(-1.0, theta), axis)  # eᵀ Q = (Qᵀ e)ᵀ, and Q(θ)ᵀ = Q(−θ)
                pushed = (0.0, 0.0, 0.0)
            else:
                residual_out[row + m] = r[e - 3]
                bias_out[row + m] = slide[e - 3]
                drift_out[row + m] = -w[e - 3]
                block = cross(axis, r)
                pushed = axis
            for j in range(3):
                G_out[6 * (entry + m) + j] = block[j]
                G_out[6 * (entry + m) + 3 + j] = pushed[j]
        i += 6 + n


@dataclass(frozen=True)
class PrescribedFrame(Constraint):
    """`body` follows `motion`: a function of time that gives a Pose X_WB, a table (times, poses), or a Pose. `held` says which of the six
    directions are held: 0, 1, 2 turns about the body's axes, 3, 4, 5 displacements along them. `rate` and `acceleration`: functions of
    time that give V_WB_B (6, angular first, body axes) and the rates of its components, else by differences.

    >>> PrescribedFrame("hand", lambda t: Pose((t, 0, 0)), held=(1, 3, 5)).units
    ('rad', 'm', 'm')
    """

    body: Any
    motion: Any
    held: Any = (0, 1, 2, 3, 4, 5)
    rate: Any = None
    acceleration: Any = None
    rows: int = field(default=6, init=False, repr=False, compare=False)
    units: tuple[str, ...] = field(default=("rad",) * 3 + ("m",) * 3, init=False, repr=False, compare=False)

    fill_kernel = fill_prescribed_frames

    def __post_init__(self) -> None:
        object.__setattr__(self, "body", name_of(self.body, "PrescribedFrame body"))
        if self.body == "world":
            raise ModelError("PrescribedFrame: the world does not move; give another body")
        what = f"PrescribedFrame on body '{self.body}'"
        held = chosen_numbers(self.held, 6, f"{what} held")
        object.__setattr__(self, "held", held)
        object.__setattr__(self, "rows", len(held))
        object.__setattr__(self, "units", tuple("rad" if e < 3 else "m" for e in held))
        object.__setattr__(self, "motion", checked_motion(self.motion, self.rate, self.acceleration, what))
        self._track(what)

    def bodies(self) -> list[str]:
        return [self.body]

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        what = f"PrescribedFrame '{name}'"
        slot = signal_motion(packing, self.motion, self._track(what), POSE, what)
        return [packing.body(self.body), len(self.held), slot, *self.held], []

    def evaluate(self, kinematics: Kinematics) -> Rows:
        m = self._track(f"PrescribedFrame on body '{self.body}'")(kinematics.t)
        R_D, p_D, o_D, v_D, turn_D, slide_D = m[:9].reshape(3, 3), m[9:12], m[12:15], m[15:18], m[18:21], m[21:]
        R, p = kinematics.pose(self.body)
        V = kinematics.twist(self.body)
        o = V[:3]
        E = R_D.T @ R
        theta = vector_from_rotation(E)
        S = skew(theta)
        k, slope = turning_coefficients(float(theta @ theta))
        Q = np.eye(3) + 0.5 * S + k * S @ S
        carried = E.T @ o_D
        eta = o - carried
        rate = Q @ eta
        S_rate = skew(rate)
        Q_rate = 0.5 * S_rate + 2.0 * slope * (theta @ rate) * S @ S + k * (S_rate @ S + S @ S_rate)
        r, w = R.T @ (p - p_D), E.T @ v_D
        slip = V[3:] - np.cross(o, r) - w
        turn = Q_rate @ eta - Q @ (E.T @ turn_D - np.cross(eta, carried))
        slide = -np.cross(o, slip) - (E.T @ (slide_D + np.cross(o_D, v_D)) - np.cross(o, w))
        G = np.block([[Q, np.zeros((3, 3))], [skew(r), np.eye(3)]])
        held = list(self.held)
        residual, bias, drift = np.concatenate([theta, r]), np.concatenate([turn, slide]), np.concatenate([-Q @ carried, -w])
        return Rows(residual[held], {self.body: G[held]}, {}, bias[held], drift[held])

    def _track(self, what: str) -> Track:
        return pose_track(self.motion, what, self.rate, self.acceleration)
