"""Motions over time: value, rate and acceleration of what is given as a function, as a table, or as a constant.

A function without derivatives is differentiated by central differences of fourth order. A table (times, values) is interpolated by cubic
Hermite polynomials whose slopes are those of parabolas through three neighbours, so that the velocity is continuous; beyond its ends it
says nothing. Tables of poses interpolate positions and quaternions u (of one sign, made unit afterwards), with

    ω = 2 vec(ū u̇) / |u|²,      ω̇ = 2 vec(ū ü) / |u|² − 2 (u·u̇) ω / |u|²         (body axes; vec(ū̇ u̇) = 0)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.spatial.pose import Pose, vector, vector_from_rotation

DIFFERENCE = 2e-3
"""Step [s] of the differences: their error is its fourth power, round-off in the acceleration about 1e-15 over its square."""

STENCIL = (-2, -1, 0, 1, 2)
SLACK = 1e-9
"""How far beyond the ends of a table, in parts of its length, a time may lie: round-off of summed steps."""

POSE = 24
"""Numbers of a pose in motion: X_WB (R, p), V_WB_B, and the rates of its components."""

Track = Callable[[float], np.ndarray]


def first_difference(x: Sequence[np.ndarray], h: float = DIFFERENCE) -> np.ndarray:
    """ẋ from five values h apart."""
    return (x[0] - 8 * x[1] + 8 * x[3] - x[4]) / (12 * h)


def second_difference(x: Sequence[np.ndarray], h: float = DIFFERENCE) -> np.ndarray:
    """ẍ from five values h apart."""
    return (-x[0] + 16 * x[1] - 30 * x[2] + 16 * x[3] - x[4]) / (12 * h * h)


def is_table(motion: Any) -> bool:
    """Whether a motion is a pair (times, values) of sequences."""
    return isinstance(motion, tuple | list) and len(motion) == 2 and all(isinstance(m, tuple | list | np.ndarray) for m in motion)


def checked_motion(motion: Any, rate: Any, acceleration: Any, what: str) -> Any:
    """A motion in plain form: a function, a table (times, values) of tuples, or a tuple of numbers; shapes of values are checked later."""
    for given, name in ((rate, "rate"), (acceleration, "acceleration")):
        if given is not None and not (callable(given) and callable(motion)):
            raise ModelError(f"{what}: {name} must be a function beside a motion that is one; give functions of time or leave it out")
    if acceleration is not None and rate is None:
        raise ModelError(f"{what}: acceleration without rate; give rate too")
    if callable(motion) or isinstance(motion, Pose):
        return motion
    if not is_table(motion):
        try:
            return tuple(float(x) for x in np.ravel(np.asarray(motion, float)))
        except (TypeError, ValueError, OverflowError):
            raise ModelError(f"{what}: {motion!r} is no motion; give a function of time, a table (times, values) or a constant") from None
    times, values = motion
    try:
        when = [float(t) for t in times]
        kept = tuple(values) if all(isinstance(x, Pose) for x in values) else tuple(map(tuple, _column(np.asarray(values, float)).tolist()))
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what}: the table holds what is not numeric; give (times, values) of numbers") from None
    if len(when) < 2 or len(when) != len(kept):
        raise ModelError(f"{what}: {len(when)} times and {len(kept)} values; give as many values as times, two or more")
    if not (np.isfinite(when).all() and (np.diff(when) > 0.0).all()):
        raise ModelError(f"{what}: the times of the table do not grow; give them in order, each once, finite")
    return tuple(when), kept


def _column(values: np.ndarray) -> np.ndarray:
    """(n, k) from (n,) or (n, k)."""
    if values.ndim not in (1, 2):
        raise ValueError
    return values.reshape(len(values), -1)


def vector_track(motion: Any, count: int, what: str, rate: Any = None, acceleration: Any = None) -> Track:
    """t → value, rate, acceleration (3·count numbers) of a checked motion of `count` numbers."""
    if rate is None and callable(derivatives := getattr(motion, "derivatives", None)):  # a Table, which knows nothing outside its times
        return lambda t: vector(np.ravel(derivatives(t)), 3 * count, f"{what} at t = {t:g}")
    if callable(motion):
        return _function_track(motion, count, what, rate, acceleration)
    if is_table(motion):
        values = np.array(motion[1])
        if values.shape[1:] != (count,):
            raise ModelError(f"{what}: the table has {values[0].size} numbers a time; give {count}")
        if not np.isfinite(values).all():
            raise ModelError(f"{what}: the table holds numbers that are not finite; give finite ones")
        curve = _hermite(np.array(motion[0]), values, what)
        return lambda t: np.concatenate(curve(t))
    constant = np.concatenate([vector(motion, count, what), np.zeros(2 * count)])
    return lambda t: constant


def _function_track(motion: Any, count: int, what: str, rate: Any, acceleration: Any) -> Track:
    def at(function: Any, t: float) -> np.ndarray:
        return vector(np.atleast_1d(function(t)), count, f"{what} at t = {t:g}")

    def track(t: float) -> np.ndarray:
        around = [t + k * DIFFERENCE for k in STENCIL]
        if rate is None:
            x = [at(motion, s) for s in around]
            return np.concatenate([x[2], first_difference(x), second_difference(x)])
        if acceleration is None:
            v = [at(rate, s) for s in around]
            return np.concatenate([at(motion, t), v[2], first_difference(v)])
        return np.concatenate([at(motion, t), at(rate, t), at(acceleration, t)])

    return track


def pose_track(motion: Any, what: str, rate: Any = None, acceleration: Any = None) -> Track:
    """t → X_WB, V_WB_B and its rate (POSE numbers) of a checked motion of poses; `rate` and `acceleration` give the last two (6 each)."""
    if isinstance(motion, Pose):
        constant = np.concatenate([motion.flat(), np.zeros(12)])
        return lambda t: constant
    if is_table(motion):
        return _pose_table(motion, what)
    if not callable(motion):
        raise ModelError(f"{what}: motion {motion!r} gives no poses; give a Pose, a function of time that returns one, or (times, poses)")

    def track(t: float) -> np.ndarray:
        if rate is None:
            return differentiated_pose(motion, t, what)
        X = _pose(motion(t), t, what).flat()
        speed = [vector(rate(t + k * DIFFERENCE), 6, f"{what} rate at t = {t:g}") for k in (STENCIL if acceleration is None else (0,))]
        if acceleration is None:
            return np.concatenate([X, speed[2], first_difference(speed)])
        return np.concatenate([X, speed[0], vector(acceleration(t), 6, f"{what} acceleration at t = {t:g}")])

    return track


def differentiated_pose(motion: Callable[[float], Any], t: float, what: str) -> np.ndarray:
    """X_WB, V_WB_B and its rate of a function that gives poses."""
    poses = [_pose(motion(t + k * DIFFERENCE), t + k * DIFFERENCE, what) for k in STENCIL]
    R = poses[2].R
    turns = [vector_from_rotation(R.T @ X.R) for X in poses]
    places = [np.array(X.p) for X in poses]
    # turns φ(t) relative to now: ω = φ̇ and ω̇ = φ̈ in body axes at φ = 0
    o, v = first_difference(turns), R.T @ first_difference(places)
    return np.concatenate([R.ravel(), places[2], o, v, second_difference(turns), R.T @ second_difference(places) - np.cross(o, v)])


def _pose(pose: Any, t: float, what: str) -> Pose:
    if not isinstance(pose, Pose):
        raise ModelError(f"{what}: motion({t:g}) gave {pose!r}; it must return a Pose")
    return pose


def _hermite(times: np.ndarray, values: np.ndarray, what: str) -> Callable[[float], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """t → value, rate, acceleration of the cubic through a table (n,), (n, k)."""
    slopes = np.gradient(values, times, axis=0, edge_order=2 if len(times) > 2 else 1)
    slack = SLACK * (times[-1] - times[0])

    def curve(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if not times[0] - slack <= t <= times[-1] + slack:
            raise ModelError(f"{what}: t = {t:g} is outside its table, {times[0]:g} … {times[-1]:g} s; give a longer table or stop before")
        i = min(max(int(np.searchsorted(times, t, side="right")) - 1, 0), len(times) - 2)
        h = times[i + 1] - times[i]
        s = (t - times[i]) / h
        a, b = values[i], h * slopes[i]
        rise = values[i + 1] - a
        c, d = 3.0 * rise - 2.0 * b - h * slopes[i + 1], b + h * slopes[i + 1] - 2.0 * rise
        return a + s * (b + s * (c + s * d)), (b + s * (2.0 * c + 3.0 * s * d)) / h, (2.0 * c + 6.0 * s * d) / (h * h)

    return curve


def _pose_table(motion: Any, what: str) -> Track:
    times, poses = motion
    for t, X in zip(times, poses, strict=True):
        _pose(X, t, what)
    quaternions = np.array([X.wxyz for X in poses], float)
    for k in range(1, len(quaternions)):
        if quaternions[k] @ quaternions[k - 1] < 0.0:
            quaternions[k] *= -1.0
    curve = _hermite(np.array(times), np.concatenate([quaternions, [X.p for X in poses]], axis=1), what)

    def track(t: float) -> np.ndarray:
        x, v, a = curve(t)
        u, size = x[:4], float(x[:4] @ x[:4])
        R = Pose(wxyz=u / np.sqrt(size)).R
        o = 2.0 * _vector_part(u, v[:4]) / size
        turn = 2.0 * (_vector_part(u, a[:4]) - (u @ v[:4]) * o) / size
        slide = R.T @ v[4:]
        return np.concatenate([R.ravel(), x[4:], o, slide, turn, R.T @ a[4:] - np.cross(o, slide)])

    return track


def _vector_part(u: np.ndarray, w: np.ndarray) -> np.ndarray:
    """vec(ū w)."""
    return u[0] * w[1:] - w[0] * u[1:] - np.cross(u[1:], w[1:])
