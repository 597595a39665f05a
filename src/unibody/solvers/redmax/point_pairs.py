"""Forces between two points each, with their implicit terms, apart from all other forces: each is evaluated once, in world axes.

A spring from x_a on body a to x_b on body b gives f on a, −f on b, and S (3×3, symmetric, positive semidefinite; see `FillPairs`). With the
arm r = x − p of a point from its joint's origin and J = (−[r]×  1) its motion, the tree gets

    wrenches    (r_a × f, f) on a,  −(r_b × f, f) on b
    blocks      J_aᵀ S J_a,  J_bᵀ S J_b,  and between the two  N_ab = −J_aᵀ S J_b
                J_aᵀ S J_b = ([r_a] S [r_b]ᵀ  [r_a] S;  S [r_b]ᵀ  S)

which is what `add_forces`, `fill_implicit` and `matrix` find for the definite terms, in body axes and by way of the bodies' origins, but
for round-off. Rollouts come this way; whoever looks at the loads of a step (`settle_loads`) takes all forces together, as other solvers do.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from unibody.algebra.tree.aba import ROW, P, W
from unibody.algebra.tree.joint_matrix import NODE as END
from unibody.algebra.tree.joint_matrix import add_point_block, skew_by
from unibody.arena import part
from unibody.coordinates.reduced.dynamics import load_by
from unibody.coordinates.reduced.kinematics import fill_bodies
from unibody.solvers.redmax.matrix import fill_terms

from unibody.coordinates.reduced.workspace import (  # isort: skip
    BLOCKS, FRAMES, IMPLICIT_CHOICE, IMPLICIT_INDEX, IMPLICIT_PARAMETERS, ROWS, STEP_LENGTH,
)  # fmt: skip
from unibody.coordinates.workspace import COUNTS, JOINTS, LEDGER, RIGHT, ROW_COUNT, SIGNALS, V_WB, X_WB
from unibody.forces.base import PAIR, FillPairs, Force
from unibody.kernel import Floats, Ints, cut, device, kernel
from unibody.model.implicit_tables import IMPLICIT_CLASS, ImplicitTables
from unibody.model.model import Model
from unibody.model.tables import FORCE_CLASS
from unibody.solvers.redmax.workspace import (
    OTHER_FORCES,
    OTHER_IMPLICIT,
    PAIR_CLASSES,
    PAIR_ENDS,
    PAIR_FORCES,
    WORLD_COUPLING,
)
from unibody.spatial.devices import cross, load3, sub3

PAIR_CLASS = 7
"""Integers of a class: address; integers from, to; parameters from, to; its pairs from, to. Of a pair: bodies a and b, and the place of
their coupling, or −1."""


def acts_between_points(cls: type[Force]) -> bool:
    """Whether a class's `pair_kernel` speaks for it: no class derived from the one that gave it changed what it stands for."""
    if cls.pair_kernel is None:
        return False
    owner = {name: next(c for c in cls.__mro__ if name in c.__dict__) for name in ("pair_kernel", *STANDS_FOR)}
    return all(issubclass(owner["pair_kernel"], owner[name]) for name in STANDS_FOR)


STANDS_FOR = ("add_kernel", "implicit_kernel", "apply", "stiffness_blocks", "damping_blocks", "pairs", "row", "pack")


class PairTables:
    """The tables of forces between points, and those of all others; `explicit` ones, by name, are no pairs, nor others of their class."""

    def __init__(self, model: Model, terms: ImplicitTables, forces: np.ndarray, explicit: Collection[str]):
        named = {type(force) for name, force in model.forces if name in explicit}
        ends: list[int] = []
        classes: list[int] = []
        others: list[np.ndarray] = []
        of_pairs: set[type[Force]] = set()
        for cls, row in zip(terms.kinds, terms.classes.reshape(-1, IMPLICIT_CLASS), strict=True):
            if cls in named or not acts_between_points(cls):
                others.append(row)
                continue
            assert cls.pair_kernel is not None
            of_pairs.add(cls)
            first = len(ends) // END
            members = [force for _, force in model.forces if type(force) is cls]
            for force, place in zip(members, terms.places[row[5] : row[6]].tolist(), strict=True):
                ((a, b),) = force.pairs()
                ends += [model.body(a), model.body(b), place if place < terms.moving else -1]
            classes += [cls.pair_kernel.address, *row[1:5].tolist(), first, len(ends) // END]
        self.classes, self.ends = np.array(classes, np.int64), np.array(ends, np.int64)
        self.other_implicit = np.array(others, np.int64).ravel()
        kinds = list(dict.fromkeys(type(force) for _, force in model.forces))
        rest = [row for cls, row in zip(kinds, forces.reshape(-1, FORCE_CLASS), strict=True) if cls not in of_pairs]
        self.other_forces = np.array(rest, np.int64).ravel()


@kernel
def load_apart(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """All forces, as wrenches in the sweep's rows and efforts in RIGHT: those between points from their pairs."""
    rows = part(work_out, layout, ROWS)
    X = part(work_out, layout, X_WB)
    V = part(work_out, layout, V_WB)
    if part(ints, layout, JOINTS).size == 0 and part(ints, layout, COUNTS)[ROW_COUNT] == 0:  # else they were seen with the rows
        fill_bodies(part(constants, layout, FRAMES), rows, X, V)
    if part(ints, layout, OTHER_FORCES).size > 0 or not all_zero(control):
        load_by(part(ints, layout, OTHER_FORCES), layout, ints, constants, control, work_out, q_out, v_out)
    else:
        clear(part(work_out, layout, RIGHT))
        clear(part(work_out, layout, LEDGER))
    classes = part(ints, layout, PAIR_CLASSES)
    pairs = part(work_out, layout, PAIR_FORCES)
    h = part(constants, layout, IMPLICIT_CHOICE)[STEP_LENGTH]
    for k in range(classes.size // PAIR_CLASS):
        at = PAIR_CLASS * k
        mine = cut(part(ints, layout, IMPLICIT_INDEX), classes[at + 1], classes[at + 2] - classes[at + 1])
        numbers = cut(part(constants, layout, IMPLICIT_PARAMETERS), classes[at + 3], classes[at + 4] - classes[at + 3])
        found = cut(pairs, PAIR * classes[at + 5], PAIR * (classes[at + 6] - classes[at + 5]))
        FillPairs(classes[at], mine, numbers, part(work_out, layout, SIGNALS), X, V, h, found, part(work_out, layout, LEDGER))
    load_pairs(part(ints, layout, PAIR_ENDS), pairs, rows)


@device
def all_zero(x):
    for k in range(x.size):
        if x[k] != 0.0:
            return False
    return True


@device
def clear(x_out):
    for k in range(x_out.size):
        x_out[k] = 0.0


@kernel
def load_pairs(ends: Ints, pairs: Floats, rows_out: Floats) -> None:
    """Take the wrenches of pairs off w."""
    for e in range(ends.size // END):
        at = PAIR * e
        f = load3(pairs, at + 6)
        take_wrench(ROW * ends[END * e], load3(pairs, at), f, 1.0, rows_out)
        take_wrench(ROW * ends[END * e + 1], load3(pairs, at + 3), f, -1.0, rows_out)


@device
def take_wrench(k, x, f, sign, rows_out):
    """Take the force ± f at x off the w of the body at k."""
    t = cross(sub3(x, load3(rows_out, k + P)), f)
    for j in range(3):
        rows_out[k + W + j] -= sign * t[j]
        rows_out[k + W + 3 + j] -= sign * f[j]


@kernel
def fill_apart(
    layout: Ints, ints: Ints, constants: Floats, control: Floats, project: int, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """The implicit terms of all forces that are no pairs."""
    fill_terms(part(ints, layout, OTHER_IMPLICIT), layout, ints, constants, control, project, work_out, q_out, v_out)


@device
def take_coupling(m, n, r, d, o, k, coupling_out):
    """Take ([r_a] S [r_b]ᵀ  [r_a] S; ([r_b] S)ᵀ  S) off a coupling; m = [r_a] S, n = [r_b] S, r = r_b."""
    x, y, z = r
    for i in range(3):
        coupling_out[k + 6 * i] -= y * m[3 * i + 2] - z * m[3 * i + 1]
        coupling_out[k + 6 * i + 1] -= z * m[3 * i] - x * m[3 * i + 2]
        coupling_out[k + 6 * i + 2] -= x * m[3 * i + 1] - y * m[3 * i]
        for j in range(3):
            coupling_out[k + 6 * i + 3 + j] -= m[3 * i + j]
            coupling_out[k + 18 + 6 * i + j] -= n[3 * j + i]
    s = (d[0], o[2], o[1], o[2], d[1], o[0], o[1], o[0], d[2])
    for i in range(3):
        for j in range(3):
            coupling_out[k + 21 + 6 * i + j] -= s[3 * i + j]


@kernel
def add_pair_blocks(layout: Ints, ints: Ints, implicit: int, work_out: Floats) -> None:
    """The implicit terms of pairs, into BLOCKS and WORLD_COUPLING, behind those of other forces if there are any."""
    ends = part(ints, layout, PAIR_ENDS)
    pairs = part(work_out, layout, PAIR_FORCES)
    rows = part(work_out, layout, ROWS)
    blocks = part(work_out, layout, BLOCKS)
    placed = part(work_out, layout, WORLD_COUPLING)
    if implicit == 0:
        for k in range(placed.size):
            placed[k] = 0.0
    for e in range(ends.size // END):
        a, b, place = ends[END * e], ends[END * e + 1], ends[END * e + 2]
        at = PAIR * e
        d = load3(pairs, at + 9)
        o = load3(pairs, at + 12)
        r_a = sub3(load3(pairs, at), load3(rows, ROW * a + P))
        r_b = sub3(load3(pairs, at + 3), load3(rows, ROW * b + P))
        m = skew_by(r_a, d, o)
        n = skew_by(r_b, d, o)
        add_point_block(m, r_a, d, o, 21 * a, blocks)
        add_point_block(n, r_b, d, o, 21 * b, blocks)
        if place >= 0:
            take_coupling(m, n, r_b, d, o, 36 * place, placed)
