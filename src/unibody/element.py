"""What every element is told, and in which words: points, kinematics, packing, and the ledger of energy and power.

Forces, constraints and joints speak only about bodies and joint coordinates. At build time a `Packing` turns their names into
numbers; at run time NumPy methods are shown a `Kinematics` and kernels the same arrays, flat:

    X        12 a body: R_WB row-major, p_WB [m]            V   6 a body: V_WB_B [rad/s, m/s], body axes, at the body's origin
    q, v     coordinates and velocities of all joints, tree joints first, then those that close loops
    signals  the values at this time of everything that may be a function of time
    control  joint efforts, then a wrench per body (world axes, at its origin), then two numbers per motor (target q, target v)

Body 0 is the world.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from unibody.errors import ModelError
from unibody.spatial.pose import vector3

SPRING_ENERGY, DAMPER_POWER, MOTOR_POWER, APPLIED_POWER = range(4)
LEDGER = 4
"""Slots of the ledger: energy stored [J]; power put into the bodies by dampers (≤ 0), by motors, by applied wrenches [W]."""

TimeFunction = Callable[[float], float]


@dataclass(frozen=True)
class Point:
    """A point fixed in a body: the body's name and the position [m] in its axes."""

    body: str
    p: Any = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        p = vector3(self.p, f"point of body '{self.body}'")
        object.__setattr__(self, "p", (float(p[0]), float(p[1]), float(p[2])))


class JointView(Protocol):
    """What an element may know of a joint."""

    @property
    def name(self) -> str: ...
    @property
    def element(self) -> Any: ...
    @property
    def q_start(self) -> int: ...
    @property
    def v_start(self) -> int: ...
    @property
    def nq(self) -> int: ...
    @property
    def nv(self) -> int: ...
    @property
    def q0(self) -> np.ndarray:
        """Its coordinates at the start."""
        ...

    def scalar_dofs(self) -> dict[int, int]: ...


class Packing(Protocol):
    """How elements turn names into numbers at build time."""

    def body(self, name: str) -> int: ...
    def joint(self, name: str) -> JointView: ...
    def joint_above(self, body: str) -> Any:
        """The joint by which a body hangs in the tree, with the frames X_PF and X_BM; None for the world."""
        ...

    def signal(self, value: float | TimeFunction, what: str) -> int:
        """A slot of `signals` that holds the value, or the function's value at each time; numbered by the order of these calls."""
        ...

    def signal_vector(self, value: Any, count: int, what: str) -> int:
        """The first of `count` slots of `signals` in a row that hold these numbers, or those that a function gives at each time."""
        ...

    def motor_target(self, name: str) -> int:
        """Where `control` holds this motor's target (q, then v); NaN there means: as the motor itself says."""
        ...

    def start_position(self, point: Point) -> np.ndarray:
        """Where the point is in the world at the start."""
        ...


@dataclass
class Kinematics:
    """Where everything is and how fast: the arrays of this module's docstring as (n, …) views, with look-up by name."""

    t: float
    X: np.ndarray
    V: np.ndarray
    q: np.ndarray
    v: np.ndarray
    signals: np.ndarray
    control: np.ndarray
    names: Packing

    def pose(self, body: str) -> tuple[np.ndarray, np.ndarray]:
        """R_WB, p_WB."""
        row = self.X[self.names.body(body)]
        return row[:9].reshape(3, 3), row[9:]

    def twist(self, body: str) -> np.ndarray:
        """V_WB_B."""
        return self.V[self.names.body(body)]

    def position(self, point: Point) -> np.ndarray:
        """The point in the world [m]."""
        R, p = self.pose(point.body)
        return p + R @ np.array(point.p)

    def velocity(self, point: Point) -> np.ndarray:
        """The point's velocity in the world [m/s]."""
        R, _ = self.pose(point.body)
        V = self.twist(point.body)
        return R @ (V[3:] + np.cross(V[:3], point.p))

    def joint_q(self, joint: str) -> np.ndarray:
        j = self.names.joint(joint)
        return self.q[j.q_start : j.q_start + j.nq]

    def joint_v(self, joint: str) -> np.ndarray:
        j = self.names.joint(joint)
        return self.v[j.v_start : j.v_start + j.nv]


def name_of(thing: Any, what: str) -> str:
    """The name of a body or joint given as a handle or as a string."""
    name = getattr(thing, "name", thing)
    if not isinstance(name, str):
        raise ModelError(f"{what}: {thing!r} is neither a handle nor a name; give b.body(...)/b.joint(...) or its name")
    return name


def point_of(value: Any, what: str) -> Point:
    """A point fixed in a body, or a ModelError that says how to get one."""
    if not isinstance(value, Point):
        raise ModelError(f"{what}: {value!r} is not a point; give body.at(x, y, z)")
    return value


def is_word(value: Any, known: Collection[str]) -> bool:
    """Whether it is one of these words; arrays, say, are none."""
    return isinstance(value, str) and value in known


def several(value: Any) -> bool:
    """Whether it is a list of numbers, be it a ragged one, and not a single one."""
    try:
        return np.ndim(value) > 0
    except ValueError:
        return True


def whole_number(value: Any, what: str) -> int:
    """A whole number above 0, or a ModelError that says so."""
    x = number(value, what, minimum=1)
    if x != int(x) or x > 2**53:
        raise ModelError(f"{what}: {value!r} is not a whole number; give 1, 2, 3 …")
    return int(x)


SHORTEST, LONGEST = 1e-15, 1e9
"""[s] Of a step: beyond them 1/dt² or dt² leaves the numbers of mechanics."""


def step_length(value: Any, what: str) -> float:
    """A step length dt [s], or a ModelError that says so."""
    dt = number(value, what, positive=True)
    if not SHORTEST <= dt <= LONGEST:
        raise ModelError(f"{what}: {value!r} s is beyond the scales of mechanics; give {SHORTEST:g} … {LONGEST:g} s")
    return dt


def at_start(function: Callable[[float], Any], what: str) -> Any:
    """What a user's function gives at t = 0, or a ModelError that says what it raises instead."""
    try:
        return function(0.0)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{what} at t = 0: {type(error).__name__}: {error}; mend its function") from error


def number(value: Any, what: str, *, minimum: float = -np.inf, positive: bool = False, infinite: bool = False) -> float:
    """A finite float within bounds, or a ModelError that says so."""
    try:
        x = float(value)
    except (TypeError, ValueError):
        raise ModelError(f"{what}: {value!r} is not a number; give one") from None
    except OverflowError:
        raise ModelError(f"{what}: a number of more digits than a float holds; give a finite number") from None
    if np.isnan(x) or (np.isinf(x) and not infinite):
        raise ModelError(f"{what}: {value!r} is not finite; give a finite number")
    if x < minimum:
        raise ModelError(f"{what}: {value!r} is below {minimum:g}; give {minimum:g} or more")
    if positive and x <= 0:
        raise ModelError(f"{what}: {value!r} is not positive; give a number above 0")
    return x
