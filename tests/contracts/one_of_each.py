"""One of everything that a user can add, in one file, as a user writes it: no file of the package knows it, and none is edited.

    Thread     a joint       R_FM = R_z(q), p_FM = a q e_z                         (NumPy)
    Tether     a force       f = −k (x − x₀) at a point of a body                  (NumPy and a kernel)
    OnSphere   a constraint  C = |x − c| − r of a point of a body                  (NumPy)
    Midpoint   a time rule   v½ = v + h/2 a,  q⁺ = q ⊕ h v½,  v⁺ = v + h a(½)      (a kernel, order 2)
    Verlet     a solver      v½ = v + h/2 a(q),  q⁺ = q ⊕ h v½,  v⁺ = v½ + h/2 a(q⁺)    (reduced coordinates and a kernel of its own)

It is also a scene file: `unibody compare one_of_each.py --solvers verlet,articulated:rule=midpoint`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin
from typing import Any

import numpy as np

import unibody as ub
from unibody.arena import part
from unibody.constraints.base import Rows, point_bias, point_map
from unibody.coordinates.reduced.system import ReducedSystem
from unibody.coordinates.reduced.tables import ReducedTables
from unibody.coordinates.stages import EVALUATE_STAGE, Evaluate
from unibody.coordinates.workspace import Y
from unibody.element import SPRING_ENERGY, Kinematics, Packing, Point
from unibody.forces import Loads
from unibody.forces.base import add_point_force, point_position
from unibody.kernel import Floats, Ints, kernel, long_kernel
from unibody.rules import TimeRule
from unibody.rules.base import TIME, advance_own, all_finite, book_work, ledger_of, outruns, write_record
from unibody.solvers import Bound, Solver
from unibody.spatial.devices import dot3, load3, scale3, sub3

UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Thread(ub.Joint):
    """A nut on a thread that rises by `rise` [m/rad]."""

    rise: float = 0.1

    nq = 1
    nv = 1

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        c, s = cos(q[0]), sin(q[0])
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), self.rise * q[0] * UP

    def motion(self, q: np.ndarray) -> np.ndarray:
        return np.concatenate([UP, self.rise * UP])[:, None]

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.zeros(6)


@kernel
def add_tethers(
    index: Ints, parameters: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats, control: Floats,
    F_out: Floats, effort_out: Floats, ledger_out: Floats,
) -> None:  # fmt: skip
    for e in range(index.size):
        p = load3(parameters, 7 * e)
        pull = sub3(load3(parameters, 7 * e + 3), point_position(X, index[e], p))
        k = parameters[7 * e + 6]
        add_point_force(X, index[e], p, scale3(k, pull), F_out)
        ledger_out[SPRING_ENERGY] += 0.5 * k * dot3(pull, pull)


@dataclass(frozen=True)
class Tether(ub.Force):
    """A spring without length from a point of a body to a place in the world."""

    point: Point
    anchor: tuple[float, float, float] = (0.0, 0.0, 0.0)
    stiffness: float = 1.0

    add_kernel = add_tethers

    def bodies(self) -> list[str]:
        return [self.point.body]

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        pull = np.array(self.anchor) - kinematics.position(self.point)
        loads.add_force_at(kinematics, self.point.body, self.point.p, self.stiffness * pull)
        loads.ledger[SPRING_ENERGY] += self.energy(kinematics)

    def energy(self, kinematics: Kinematics) -> float:
        pull = np.array(self.anchor) - kinematics.position(self.point)
        return 0.5 * self.stiffness * float(pull @ pull)

    def row(self, packing: Packing, name: str) -> tuple[list[int], list[float]]:
        return [packing.body(self.point.body)], [*self.point.p, *self.anchor, self.stiffness]


@dataclass(frozen=True)
class OnSphere(ub.Constraint):
    """A point of a body stays on a sphere in the world."""

    point: Point
    centre: tuple[float, float, float]
    radius: float

    rows = 1
    units = ("m",)

    def bodies(self) -> list[str]:
        return [self.point.body]

    def evaluate(self, kinematics: Kinematics) -> Rows:
        d = kinematics.position(self.point) - np.array(self.centre)
        length = float(np.linalg.norm(d))
        u, velocity = d / length, kinematics.velocity(self.point)
        bias = u @ point_bias(kinematics, self.point) + (velocity @ velocity - (u @ velocity) ** 2) / length
        G = {self.point.body: (u @ point_map(kinematics, self.point))[None, :]}
        return Rows(np.array([length - self.radius]), G, {}, np.array([bias]))


@kernel
def step_midpoint(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, h: float,
    work_out: Floats, scratch_out: Floats, q_out: Floats, v_out: Floats, memory_out: Floats,
) -> int:  # fmt: skip
    y = part(work_out, layout, Y)
    nq = q_out.size
    Evaluate(stages[EVALUATE_STAGE], layout, ints, constants, stages, control, t, work_out, q_out, v_out)
    if not all_finite(y):
        return 0
    book_work(ledger_of(layout, work_out), h, memory_out)
    for j in range(nq):
        scratch_out[j] = q_out[j]
    for j in range(v_out.size):
        scratch_out[nq + j] = v_out[j]
    # half a step, to where accelerations are asked for
    advance_own(layout, ints, constants, q_out, v_out, 0.5 * h, q_out)
    for j in range(y.size):
        v_out[j] += 0.5 * h * y[j]
    Evaluate(stages[EVALUATE_STAGE], layout, ints, constants, stages, control, t + 0.5 * h, work_out, q_out, v_out)
    if not all_finite(y):
        for j in range(nq):
            q_out[j] = scratch_out[j]
        for j in range(v_out.size):
            v_out[j] = scratch_out[nq + j]
        return 0
    # the whole step from where it began, with what the middle says; what Evaluate has fitted behind the system's own coordinates stays
    advance_own(layout, ints, constants, scratch_out[0:nq], v_out, h, q_out)
    for j in range(y.size):
        v_out[j] = scratch_out[nq + j] + h * y[j]
    return 1


class Midpoint(TimeRule):
    """The explicit midpoint rule."""

    name = "midpoint"
    order = 2
    step = step_midpoint

    @staticmethod
    def amplification(z: np.ndarray) -> np.ndarray:
        return 1.0 + z + z**2 / 2.0


@long_kernel
def roll_verlet(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t0: float, h: float, steps: int, every: int, told: int,
    work_out: Floats, scratch_out: Floats, q_out: Floats, v_out: Floats, memory_out: Floats, record_out: Floats,
) -> int:  # fmt: skip
    y = part(work_out, layout, Y)
    rows = 0
    t = t0
    for k in range(steps):
        Evaluate(stages[EVALUATE_STAGE], layout, ints, constants, stages, control, t, work_out, q_out, v_out)
        if not all_finite(y):
            return k
        book_work(ledger_of(layout, work_out), h, memory_out)
        for j in range(y.size):
            v_out[j] += 0.5 * h * y[j]
        advance_own(layout, ints, constants, q_out, v_out, h, q_out)
        Evaluate(stages[EVALUATE_STAGE], layout, ints, constants, stages, control, t + h, work_out, q_out, v_out)
        for j in range(y.size):
            v_out[j] += 0.5 * h * y[j]
        t = t + h
        memory_out[TIME] = t
        if (k + 1) % every == 0:
            write_record(rows, t, q_out, v_out, memory_out, record_out)
            rows += 1
        if outruns(layout, y, v_out, work_out):
            return k + 1
    return steps


@dataclass(frozen=True)
class Verlet(Solver):
    """Velocity Verlet in reduced coordinates; trees only."""

    name = "verlet"
    forces = "explicit"

    def handles(self, element: Any, model: ub.Model) -> str | None:
        if model.loop_joints or isinstance(element, ub.Constraint):
            return "it knows trees only, without loops and constraints"
        return None if isinstance(element, ub.Joint | ub.Force | ub.Shape) else f"{type(element).__name__} is unknown to it"

    def bind(self, model: ub.Model) -> Bound:
        self.check(model)
        return Bound(model, self, "reduced", ReducedSystem(ReducedTables(model)), model.nq, model.nv, roll_verlet)


def build(rise: float = 0.1) -> ub.scenes.Scene:
    """A nut on a thread, tied to a place beside it."""
    b = ub.Builder(gravity=(0.0, 0.0, 0.0))
    nut = b.body("nut", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("thread", Thread(rise), b.world, nut, v=1.0)
    b.add(Tether(nut.at(0.5, 0.0, 0.0), (1.0, 0.0, 0.0), 2.0))
    return ub.scenes.Scene(b.build(), duration=0.5, dt=1e-3)
