"""JointLimit: what a joint moves by stays within bounds (the mathematics of the rows: `joint_limit_rows`).

    angles and slides:  lower ≤ q ≤ upper                            (a row for every finite bound)
    Free:               lower ≤ p ≤ upper, p the place of M in F, in F's axes
    Ball, Free:         the angle between `axis` in F and in M ≤ `angle`; the turn about it within `twist`

The multiplier is the effort [N m or N] away from the bound, ≥ 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint, Rows, barrier_numbers, unit_direction
from unibody.constraints.joint_coordinates import is_dof, unit_of
from unibody.constraints.joint_limit_rows import COORDINATE, SLIDE, SWING, TWIST, LimitRow, fill_joint_limits, measure
from unibody.element import JointView, Kinematics, Packing, name_of, number, several
from unibody.errors import ModelError
from unibody.joints.ball import Ball
from unibody.joints.free import Free
from unibody.measure import MeasuredRow, cone, slide, turn

__all__ = ["JointLimit"]

AXES = tuple(tuple(row) for row in np.eye(3).tolist())


@dataclass(frozen=True)
class JointLimit(Constraint):
    """`lower` ≤ q ≤ `upper` for the coordinates of `joint`: numbers, or one per coordinate; infinite bounds hold nothing. `dof`: None all
    of them, or which; 3, 4, 5 of a Free are the three displacements of M along F's axes, which `lower` and `upper` bound.

    Of a rotation (of a Ball, a Free, or such a part of a Composite) `angle` is the largest between `axis` in F and in M, and `twist` is a
    pair that bounds the turn about it, between −π and π; or one of each per rotation. On a Ball `upper` may stand for `angle`.

    Solvers with barriers put one before each bound: `damping` [s] is its k_d, the larger the less the joint bounces; `reach` [rad, m] is
    where it begins and `stiffness` [J] its κ (None: from masses and step). Other solvers refuse these three.

    >>> JointLimit("knee", lower=0.0, upper=2.5).unilateral
    True
    >>> JointLimit("base", lower=(-1.0, -1.0, 0.0), angle=0.5).angle
    0.5
    """

    joint: Any
    lower: Any = -np.inf
    upper: Any = np.inf
    dof: Any = None
    axis: Any = (0.0, 0.0, 1.0)
    angle: Any = None
    twist: Any = None
    damping: float = 0.0
    reach: float | None = None
    stiffness: float | None = None
    rows: int = field(default=1, init=False, repr=False, compare=False)
    units: tuple[str, ...] = field(default=("rad",), init=False, repr=False, compare=False)

    unilateral = True
    fill_kernel = fill_joint_limits

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint", name_of(self.joint, "JointLimit joint"))
        what = f"JointLimit on joint '{self.joint}'"
        for name in ("lower", "upper"):
            object.__setattr__(self, name, _numbers(getattr(self, name), f"{what} {name}"))
        low, high = np.broadcast_arrays(self.lower, self.upper) if self._match() else (None, None)
        if low is None or high is None:
            raise ModelError(f"{what}: {np.size(self.lower)} lower and {np.size(self.upper)} upper bounds; give numbers or one per dof")
        if (low > high).any() or (low == np.inf).any() or (high == -np.inf).any():
            raise ModelError(f"{what}: lower {self.lower} lies above upper {self.upper}; give lower ≤ upper")
        if self.angle is not None:
            object.__setattr__(self, "angle", _numbers(self.angle, f"{what} angle"))
        if not all(0.0 < x <= np.pi or x == np.inf for x in np.atleast_1d(np.inf if self.angle is None else self.angle)):
            raise ModelError(f"{what}: angle {self.angle} is no angle of a cone; give one above 0, at most π")
        if self.twist is not None:
            object.__setattr__(self, "twist", _twists(self.twist, what))
        if not np.isfinite([*np.atleast_1d(low), *np.atleast_1d(high), *self._turns(np.inf)]).any():
            raise ModelError(f"{what}: no bound is finite, which limits nothing; give lower, upper, angle or twist")
        object.__setattr__(self, "axis", unit_direction(self.axis, what, "axis"))
        barrier_numbers(self, what)

    def _match(self) -> bool:
        return np.ndim(self.lower) == 0 or np.ndim(self.upper) == 0 or np.shape(self.lower) == np.shape(self.upper)

    def _turns(self, missing: float) -> list[float]:
        """All numbers that bound rotations."""
        angles = np.atleast_1d(missing if self.angle is None else self.angle)
        return [*angles.tolist(), *np.ravel(missing if self.twist is None else self.twist).tolist()]

    @property
    def barred(self) -> bool:
        return bool(self.damping or self.reach or self.stiffness)

    @property
    def cone(self) -> bool:
        """Whether it bounds a swing."""
        return self.angle is not None

    def joints(self) -> list[str]:
        return [self.joint]

    def dofs(self, packing: Packing) -> list[int]:
        joint = packing.joint(self.joint)
        return [joint.v_start + d for d in self._columns(self._rows(joint), joint)]

    def started(self, packing: Packing, name: str) -> JointLimit:
        joint, what = packing.joint(self.joint), f"JointLimit '{name}'"
        out = self._coned(what) if isinstance(joint.element, Ball) else self
        rotations, coordinates = len(_rotations(joint)), list(_bounded(joint))
        if not rotations and (out.angle is not None or out.twist is not None):
            kind = type(joint.element).__name__
            raise ModelError(f"{what}: joint '{joint.name}' of {kind} has no Ball or Free to bound by angle or twist; give lower or upper")
        for given, count, side in ((out.angle, np.size(out.angle), "angle"), (out.twist, np.size(out.twist) // 2, "twist")):
            if given is not None and count not in (1, rotations):
                raise ModelError(f"{what}: {count} bounds of {side} for {rotations} rotations; give one, or {rotations}")
        if np.isfinite([*np.atleast_1d(out.lower), *np.atleast_1d(out.upper)]).any():
            dofs = tuple(coordinates) if out.dof is None else out._named(joint, coordinates, what)
            if not dofs:
                raise ModelError(f"{what}: joint '{joint.name}' of {type(joint.element).__name__} {_why_not(joint)}")
            bounds = [_spread(given, len(dofs), side, what) for given, side in ((out.lower, "lower"), (out.upper, "upper"))]
            out = replace(out, lower=bounds[0], upper=bounds[1], dof=dofs)
        elif out.dof is not None:
            raise ModelError(f"{what}: dof {out.dof!r} without a finite lower or upper says nothing; leave it out")
        rows = out._rows(joint)
        object.__setattr__(out, "rows", len(rows))
        units = {SLIDE: "m", SWING: "rad", TWIST: "rad"}
        object.__setattr__(out, "units", tuple(units.get(row.kind) or unit_of(joint, row.dof) for row in rows))
        return out

    def _coned(self, what: str) -> JointLimit:
        """Of a Ball: `angle` for `upper`."""
        if np.ndim(self.lower) or (np.isfinite(self.lower) and self.lower != 0.0) or self.dof is not None:
            raise ModelError(f"{what}: a Ball has no scalar coordinate, so lower and dof say nothing; give angle, that of its cone")
        if not np.ndim(self.upper) and self.upper == np.inf:
            return replace(self, lower=-np.inf)
        if self.angle is not None:
            raise ModelError(f"{what}: upper and angle both name the cone of a Ball; give angle alone")
        if np.ndim(self.upper) or not 0.0 < self.upper <= np.pi:
            raise ModelError(f"{what}: upper {self.upper} is no angle of a Ball's cone; give one number above 0, at most π")
        return replace(self, lower=-np.inf, upper=np.inf, angle=self.upper)

    def _named(self, joint: JointView, coordinates: Sequence[int], what: str) -> tuple[int, ...]:
        """The degrees of freedom that `dof` names, if each can be bounded."""
        dofs = tuple(self.dof) if isinstance(self.dof, tuple | list) else (self.dof,)
        if not dofs or not all(is_dof(d) for d in dofs) or len(set(dofs)) < len(dofs):
            raise ModelError(f"{what}: dof {self.dof!r} names no degrees of freedom; give 0, 1, ..., or several, each once")
        for d in dofs:
            if d >= joint.nv:
                raise ModelError(f"{what}: joint '{joint.name}' has no dof {d}; it has {joint.nv} degrees of freedom, counted from 0")
            if d not in coordinates:
                raise ModelError(f"{what}: dof {d} of joint '{joint.name}' of {type(joint.element).__name__} {_why_not(joint)}")
        return tuple(int(d) for d in dofs)

    def _rows(self, joint: JointView) -> list[LimitRow]:
        """The rows of a limit that has been started."""
        where, rows = _bounded(joint), []
        for d, low, high in zip(self.dof or (), np.atleast_1d(self.lower), np.atleast_1d(self.upper), strict=False):
            kind, first, place, axis = where[d]
            rows += [LimitRow(kind, first, place, joint.v_start + first, *side, axis) for side in ((1.0, float(low)), (-1.0, float(high)))]
        rotations = _rotations(joint)
        angles = np.broadcast_to(np.inf if self.angle is None else self.angle, len(rotations))
        twists = np.broadcast_to((-np.inf, np.inf) if self.twist is None else self.twist, (len(rotations), 2))
        for (d, place), angle, (low, high) in zip(rotations, angles, twists, strict=True):
            sides = ((SWING, -1.0, float(angle)), (TWIST, 1.0, float(low)), (TWIST, -1.0, float(high)))
            rows += [LimitRow(kind, d, place, joint.v_start + d, sign, bound, self.axis) for kind, sign, bound in sides]
        return [row for row in rows if np.isfinite(row.bound)]

    def _columns(self, rows: Sequence[LimitRow], joint: JointView) -> list[int]:
        """Degrees of freedom that have entries of J: the bounded ones alone, if all are plain coordinates."""
        return list(self.dof) if all(row.kind == COORDINATE for row in rows) else list(range(joint.nv))

    def row(self, packing: Packing, name: str) -> tuple[Sequence[int], Sequence[float]]:
        joint = packing.joint(self.joint)
        rows = self._rows(joint)
        columns = self._columns(rows, joint)
        own = [i for r in rows for i in (r.kind, columns.index(r.dof), r.place, r.start)]
        return [len(columns), len(rows), *own], [x for r in rows for x in (r.sign, r.bound, *r.axis)]

    def measures(self, packing: Packing) -> list[MeasuredRow]:
        """Coordinates as their joint measures them; places, cones and twists of the part whose quaternion they look at. None of a cone of
        half a turn, which bounds nothing."""
        joint, out = packing.joint(self.joint), []
        pieces = {place + k: part for part, _, place in _parts(joint) for k in range(part.nq)}
        for row in self._rows(joint):
            if row.kind == SWING and row.bound >= np.pi:
                return []
            if row.kind == COORDINATE:
                out.append(MeasuredRow(row.bound, row.sign, joint=self.joint, place=row.place, velocity=row.start))
            else:
                measured = {SLIDE: slide, SWING: cone, TWIST: turn}[row.kind](row.axis)
                out.append(MeasuredRow(row.bound, row.sign, measured, joint=self.joint, within=pieces[row.place]))
        return out

    def evaluate(self, kinematics: Kinematics) -> Rows:
        joint = kinematics.names.joint(self.joint)
        rows = self._rows(joint)
        J, residual, bias = np.zeros((len(rows), joint.nv)), np.zeros(len(rows)), np.zeros(len(rows))
        for k, row in enumerate(rows):
            x, slope, rest = measure(row, kinematics.q, kinematics.v)
            J[k, row.dof : row.dof + slope.size] = row.sign * slope
            residual[k], bias[k] = row.sign * (x - row.bound), row.sign * rest
        return Rows(residual, {}, {self.joint: J}, bias)


def _numbers(given: Any, what: str) -> Any:
    """A number, or a tuple of them."""
    values = [number(x, what, infinite=True) for x in (given if several(given) else [given])]
    return tuple(values) if np.ndim(given) else values[0]


def _twists(given: Any, what: str) -> tuple[Any, ...]:
    """A pair (lower, upper), or one per rotation, as tuples."""
    try:
        pairs = np.array(given, float)
    except (TypeError, ValueError, OverflowError):
        pairs = np.zeros(0)
    if pairs.ndim not in (1, 2) or pairs.shape[-1] != 2 or np.isnan(pairs).any():
        raise ModelError(f"{what}: twist {given!r} is no pair; give (lower, upper), or one per rotation")
    if (np.isfinite(pairs) & (np.abs(pairs) > np.pi)).any() or (pairs[..., 0] > pairs[..., 1]).any():
        raise ModelError(f"{what}: twist {given!r} is no range between −π and π; give lower ≤ upper in it")
    return tuple(pairs.tolist()) if pairs.ndim == 1 else tuple(tuple(p) for p in pairs.tolist())


def _spread(given: Any, count: int, side: str, what: str) -> tuple[float, ...]:
    """One bound per coordinate."""
    if np.ndim(given) and len(given) != count:
        raise ModelError(f"{what}: {len(given)} {side} bounds for {count} coordinates; give a number or {count}")
    return tuple(np.broadcast_to(given, count).tolist())


def _parts(joint: JointView) -> list[tuple[Any, int, int]]:
    """(part, first degree of freedom, its q index) of a joint, Composite or not."""
    out, d, place = [], 0, joint.q_start
    for part in joint.element.parts():
        out.append((part, d, place))
        d, place = d + part.nv, place + part.nq
    return out


def _bounded(joint: JointView) -> dict[int, tuple[int, int, int, tuple[float, ...]]]:
    """Degree of freedom → (kind, first degree of freedom of the row, q index, axis), of all that `lower` and `upper` can bound."""
    out: dict[int, tuple[int, int, int, tuple[float, ...]]] = {}
    for d, place in joint.scalar_dofs().items():
        out[d] = COORDINATE, d, place, AXES[2]
    for part, d, place in _parts(joint):
        if isinstance(part, Free):
            out.update({d + 3 + k: (SLIDE, d, place, AXES[k]) for k in range(3)})
    return dict(sorted(out.items()))


def _rotations(joint: JointView) -> list[tuple[int, int]]:
    """(first degree of freedom, q index of the quaternion) of every Ball and Free."""
    parts = [(part, d, place) for part, d, place in _parts(joint) if isinstance(part, Ball | Free)]
    return [(d, place + 3 * isinstance(part, Free)) for part, d, place in parts]


def _why_not(joint: JointView) -> str:
    """Why lower and upper cannot bound a degree of freedom, and what can."""
    if not joint.nv:
        return "has no degree of freedom; give a joint that moves"
    names = ", ".join(map(str, _bounded(joint)))
    remedy = f"give dof= one of {names}" if names else "hold points of its bodies by PointPlane or Distance"
    if _rotations(joint):
        return f"is a rotation without a scalar coordinate; give angle or twist{', or dof= one of ' + names if names else ''}"
    return f"has no coordinate whose rate is its velocity, so no bound on it is a row; {remedy}"
