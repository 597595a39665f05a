"""All forces at once: wrenches on bodies, efforts on joints, and the ledger of energy and power; and their implicit terms, B = −h D − h² K
in blocks with the h K v that belongs to it (see `AddImplicit`)."""

from __future__ import annotations

from unibody.element import APPLIED_POWER, LEDGER, MOTOR_POWER
from unibody.forces.base import AddForces, AddImplicit
from unibody.kernel import Floats, Ints, cut, kernel
from unibody.model.implicit_tables import IMPLICIT_CLASS
from unibody.model.tables import FORCE_CLASS
from unibody.spatial.devices import load3, load9, rotate_back


@kernel
def load_forces(
    classes: Ints, index: Ints, parameters: Floats, limit: Floats, signals: Floats, X: Floats, V: Floats, q: Floats, v: Floats,
    control: Floats, bodies: int, F_out: Floats, effort_out: Floats, ledger_out: Floats, right_out: Floats,
) -> None:  # fmt: skip
    """F (6 a body, body axes at its origin) and the total effort of every joint velocity, from forces and control; `bodies` of those at
    X are the model's, on which control acts: points of deformables stand behind them.

    Efforts of actuators and of `control` are summed, clamped to the joints' limits, and added to the passive ones.
    """
    n = v.size
    for k in range(F_out.size):
        F_out[k] = 0.0
    for k in range(LEDGER):
        ledger_out[k] = 0.0
    for j in range(n):
        effort_out[j] = 0.0
        effort_out[n + j] = control[j]
    for k in range(classes.size // FORCE_CLASS):
        at = FORCE_CLASS * k
        mine = cut(index, classes[at + 1], classes[at + 2] - classes[at + 1])
        numbers = cut(parameters, classes[at + 3], classes[at + 4] - classes[at + 3])
        AddForces(classes[at], mine, numbers, signals, X, V, q, v, control, F_out, effort_out, ledger_out)
    for j in range(n):
        drive = min(max(effort_out[n + j], -limit[j]), limit[j])
        right_out[j] = effort_out[j] + drive
        ledger_out[MOTOR_POWER] += drive * v[j]
    for i in range(1, bodies):
        idle = True
        for m in range(n + 6 * i, n + 6 * i + 6):
            idle = idle and control[m] == 0.0
        if idle:
            continue
        R = load9(X, 12 * i)
        t = rotate_back(R, load3(control, n + 6 * i))
        f = rotate_back(R, load3(control, n + 6 * i + 3))
        for m in range(3):
            F_out[6 * i + m] += t[m]
            F_out[6 * i + 3 + m] += f[m]
            ledger_out[APPLIED_POWER] += t[m] * V[6 * i + m] + f[m] * V[6 * i + 3 + m]


@kernel
def add_implicit(
    classes: Ints, index: Ints, parameters: Floats, places: Ints, limit: Floats, signals: Floats, X: Floats, V: Floats, q: Floats,
    v: Floats, control: Floats, h: float, project: int,
    F_out: Floats, effort_out: Floats, own_out: Floats, coupling_out: Floats, diagonal_out: Floats,
) -> None:  # fmt: skip
    """Implicit terms of all forces. The outputs, all of them overwritten: h K V (6 a body) and −h k v (one a joint velocity), apart from
    the loads; own blocks (21 a body), couplings (36 a place) and diagonals (one a joint velocity)."""
    for k in range(F_out.size):
        F_out[k] = 0.0
    for k in range(effort_out.size):
        effort_out[k] = 0.0
    for k in range(own_out.size):
        own_out[k] = 0.0
    for k in range(coupling_out.size):
        coupling_out[k] = 0.0
    for k in range(diagonal_out.size):
        diagonal_out[k] = 0.0
    for k in range(classes.size // IMPLICIT_CLASS):
        at = IMPLICIT_CLASS * k
        mine = cut(index, classes[at + 1], classes[at + 2] - classes[at + 1])
        numbers = cut(parameters, classes[at + 3], classes[at + 4] - classes[at + 3])
        coupled = cut(places, classes[at + 5], classes[at + 6] - classes[at + 5])
        AddImplicit(
            classes[at], mine, numbers, signals, X, V, q, v, control, limit, coupled, h, project,
            F_out, effort_out, own_out, coupling_out, diagonal_out,
        )  # fmt: skip
