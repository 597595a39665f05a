"""All implicit terms of forces at once: B = −h D − h² K in blocks, and the h K v that belongs to it (see `AddImplicit`)."""

from __future__ import annotations

from unibody.forces.base import AddImplicit
from unibody.kernel import Floats, Ints, cut, kernel
from unibody.model.implicit_tables import IMPLICIT_CLASS


@kernel
def add_implicit(
    classes: Ints, index: Ints, parameters: Floats, places: Ints, limit: Floats, signals: Floats, X: Floats, V: Floats, q: Floats,
    v: Floats, control: Floats, h: float, project: int,
    F_out: Floats, effort_out: Floats, own_out: Floats, coupling_out: Floats, diagonal_out: Floats,
) -> None:  # fmt: skip
    """The outputs, all of them overwritten: h K V (6 a body) and −h k v (one a joint velocity), apart from the loads; own blocks (21 a
    body), couplings (36 a place) and diagonals (one a joint velocity)."""
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
