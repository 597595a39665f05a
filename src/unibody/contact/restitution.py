"""Which barrier bounces how: a mass in one dimension thrown against a barrier, with the solver's own time rules (paper 003, §5 and §6.2).

    m ẍ = −B′(x) − k_d B″(xⁿ) ẋ − m g,   B = κ A d̂ b(x/d̂)

is stepped by implicit Euler or BDF-2 until the mass has left; e = speed after / speed before, both where the barrier begins: weight pushes
back all the while that a mass is in it. Where within a step the mass enters the
barrier matters when steps are coarse, so e is the mean over evenly spread phases. In a step the mass may cross at most the reach:
d̂/h > v (Eq. 23), else the rules cannot give back what came in.
"""

from __future__ import annotations

import numpy as np

from unibody.constraints.contact import Contact
from unibody.contact.barrier import barrier
from unibody.element import number
from unibody.errors import ModelError

RULES = ("implicit", "bdf2")
PHASES = 8
SETTLED = 5
"""Steps behind a barrier after which velocities of BDF-2 are those of free flight."""
DEEPEST = 0.25
"""d/d̂ that an undamped impact should reach: where the barrier is neither flat nor a wall."""
REACHES = 2.0 ** np.arange(2.0, 8.5, 0.5)
"""Reaches that are tried, in units of the way of a step."""


def bounce(
    speed: float, *, mass: float, area: float, dt: float, reach: float, pressure: float, damping: float, rule: str, gravity: float = 0.0
) -> float:
    """The coefficient of restitution of a mass against a barrier; `gravity` [m/s²] towards it.

    >>> law = {"mass": 1.0, "area": 1.0, "dt": 1e-4, "reach": 0.01, "rule": "bdf2"}
    >>> bounce(1.0, pressure=64.0, damping=0.0, **law) > 0.99 > bounce(1.0, pressure=64.0, damping=1e-3, **law)
    True
    """
    # In free fall so that it comes to the barrier with its speed.
    x = reach + speed * dt * (1.5 + np.arange(PHASES) / PHASES)
    v = -np.sqrt(np.maximum(speed**2 - 2.0 * gravity * (x - reach), 0.25 * speed**2))
    x_old, v_old = x - dt * v - 0.5 * gravity * dt**2, v + gravity * dt
    after, out = np.full(PHASES, np.nan), np.zeros(PHASES, int)
    most = 200 + int(50.0 * reach / (speed * dt))
    for _ in range(most):
        if rule == "bdf2":
            origin = (4.0 * x - x_old) / 3.0
            predicted, beta, rate = origin + 2.0 * dt / 9.0 * (4.0 * v - v_old), 4.0 / 9.0, 1.5 / dt
        else:
            origin, predicted, beta, rate = x, x + dt * v, 1.0, 1.0 / dt
        scale = beta * dt * dt * area * pressure
        damped = damping * rate * scale * barrier(x / reach)[2] / reach
        found = _least(predicted - beta * dt * dt * gravity, origin, mass, damped, scale, reach)
        x_old, v_old, x, v = x, v, found, rate * (found - origin)
        # Behind it, the speed it had there.
        out = np.where((x > reach) & (v > 0.0), out + 1, 0)
        gone = (out == SETTLED) & np.isnan(after)
        after[gone] = np.sqrt(v[gone] ** 2 + 2.0 * gravity * (x[gone] - reach))
        if not np.isnan(after).any():
            break
    return float(np.nan_to_num(after).mean() / speed)


def _least(predicted: np.ndarray, origin: np.ndarray, mass: float, damped: np.ndarray, scale: float, reach: float) -> np.ndarray:
    """x with m (x − x̃) + c (x − x₀) + s b′(x/d̂) = 0. The left side grows and is concave, so Newton's method from below cannot pass it."""

    def residual(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        _, first, second = barrier(x / reach)
        return mass * (x - predicted) + damped * (x - origin) + scale * first, mass + damped + scale * second / reach

    free = (mass * predicted + damped * origin) / (mass + damped)
    x = np.where(free >= reach, free, np.clip(free, 1e-3 * reach, reach))
    for _ in range(200):
        above = (residual(x)[0] > 0.0) & (x < reach)
        if not above.any():
            break
        x = np.where(above, 0.5 * x, x)
    for _ in range(100):
        g, slope = residual(x)
        step = g / slope
        x = x - step
        if np.abs(step).max() < 1e-14 * reach:
            break
    return x


def contact_for_restitution(
    restitution: float, *, speed: float, mass: float, area: float, dt: float, rule: str = "bdf2", reach: float | None = None,
    pressure: float | None = None, friction: float = 0.0, gravity: float = 9.81,
) -> Contact:  # fmt: skip
    """The Contact with which a body of `mass` [kg] (of two bodies: m₁ m₂ / (m₁ + m₂)) that hits at `speed` [m/s] leaves with the part
    `restitution` of it, in steps of `dt` [s] of the Barrier solver's `rule`. `area` [m²] is what touches, as barriers count it: of a
    vertex a third of each face around it, so of a box that falls flat on a Plane half its surface. `gravity` [m/s²] is what presses the
    bodies against each other while they touch: 0 where they have no weight or meet sideways.

    `reach` and `pressure` are found unless given: the smallest reach that can bounce so, and a pressure that uses the middle of it.

    >>> contact_for_restitution(0.5, speed=2.0, mass=1.0, area=0.03, dt=1e-3).damping > 0.0
    True
    """
    e = number(restitution, "contact_for_restitution: restitution", minimum=0.0)
    if e > 1.0:
        raise ModelError(f"contact_for_restitution: restitution {e:g} gives back more than came in; give one from 0 to 1")
    if rule not in RULES:
        raise ModelError(f"contact_for_restitution: rule {rule!r} is unknown; give one of {', '.join(RULES)}")
    given = {"speed": speed, "mass": mass, "area": area, "dt": dt, "reach": reach, "pressure": pressure}
    v, m, A, h, d, k = (x if x is None else number(x, f"contact_for_restitution: {name}", positive=True) for name, x in given.items())
    assert v is not None and m is not None and A is not None and h is not None
    g = number(gravity, "contact_for_restitution: gravity", minimum=0.0)
    if d is not None and d / h <= v:
        raise ModelError(
            f"contact_for_restitution: reach / dt = {d / h:g} m/s is not above the speed {v:g} m/s (Eq. 23), so a step may jump over the "
            f"barrier; give reach above {v * h:g} m, or a smaller dt"
        )
    best = 0.0
    for reach_ in REACHES * v * h if d is None else [d]:
        stiff = k if k is not None else 0.5 * m * v * v / (A * reach_ * float(barrier(np.array(DEEPEST))[0]))
        law = {"mass": m, "area": A, "dt": h, "reach": float(reach_), "pressure": stiff, "rule": rule, "gravity": g}
        undamped = bounce(v, damping=0.0, **law)  # type: ignore[arg-type]
        best = max(best, undamped)
        if undamped >= e - 1e-3:
            return Contact(friction=friction, damping=_damping(e, v, law), reach=law["reach"], pressure=stiff)  # type: ignore[arg-type]
    raise ModelError(
        f"contact_for_restitution: {e:g} is out of reach at speed {v:g} m/s and dt {h:g} s, the most is {best:.3g} with rule '{rule}'; "
        "give a smaller dt, a larger reach" + (" or rule 'bdf2'" if rule == "implicit" else "")
    )


def _damping(e: float, speed: float, law: dict) -> float:
    """k_d [s] by bisection; more damping bounces less."""
    if bounce(speed, damping=0.0, **law) <= e:
        return 0.0
    low, high = 0.0, law["reach"] / speed
    for _ in range(40):
        if bounce(speed, damping=high, **law) <= e + 1e-3:
            break
        high *= 2.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        if bounce(speed, damping=middle, **law) > e:
            low = middle
        else:
            high = middle
        if high - low < 1e-4 * high:
            break
    return high
