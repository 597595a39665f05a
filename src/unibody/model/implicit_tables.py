"""The implicit terms of a model's forces as flat arrays: who has some, which bodies they couple, and the kernels that add them.

A class with an `implicit_kernel` gets its address. A class that only overrides `stiffness_blocks` or `damping_blocks` gets the address of a
callback, which puts an element's blocks into one matrix over all its bodies and joints, makes it symmetric and, if asked to, drops the
negative eigenvalues of −K and of −D. What then stands beside the diagonal in the rows of joint velocities, where methods keep a diagonal
only, is moved to the diagonal by its absolute value, on both sides (a majorant: ±2 x y ≤ x² + y²). A class with neither is explicit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from unibody.element import Kinematics
from unibody.errors import ModelError
from unibody.forces.base import AddImplicit, Blocks, Force, Loads
from unibody.model.model import Model
from unibody.model.tables import CallbackErrors, Names, _address, pack_class

IMPLICIT_CLASS = 8
"""address; index from, to; parameters from, to; places from, to; 0."""

UPPER = np.array([(i, j) for i in range(3) for j in range(i, 3)] + [(i, j) for i in range(3) for j in range(3, 6)]
                 + [(i, j) for i in range(3, 6) for j in range(i, 6)]).T  # fmt: skip
"""Rows and columns of the 21 numbers of a body's own block."""


def is_implicit(force: Force) -> bool:
    """Whether the force can give implicit terms."""
    cls = type(force)
    blocks = cls.stiffness_blocks is not Force.stiffness_blocks or cls.damping_blocks is not Force.damping_blocks
    return not cls.explicit and (cls.implicit_kernel is not None or blocks)


class ImplicitTables:
    """Force classes for `AddImplicit`, without the forces named in `explicit`.

    `couplings`, m×2: the bodies (a, b) of every place. Elements on the same two bodies, in the same order, share a place. First come
    pairs of two moving bodies, those `reserved` before the others, `moving` of them in all; behind them, up to `of_bodies`, pairs with a
    body that is welded to the ground, whose weld feels what the other does; last those with points of deformables.
    `joint_velocities`: those whose diagonal may be touched. `kinds`: the classes of forces, as they stand in `classes`.
    """

    def __init__(
        self, model: Model, callback_errors: CallbackErrors, clock: np.ndarray, explicit: frozenset[str] = frozenset(),
        reserved: Sequence[tuple[int, int]] = (),
    ):  # fmt: skip
        names = Names(model)
        # Signals are numbered by calls: every force is asked, also those left out.
        rows = {name: force.row(names, name) for name, force in model.forces}
        # classes of forces with implicit terms, and the pairs of bodies that they couple
        groups: dict[type[Force], list[tuple[str, Force]]] = {}
        for name, force in model.forces:
            if name not in explicit and is_implicit(force):
                groups.setdefault(type(force), []).append((name, force))
        self.names = [name for members in groups.values() for name, _ in members]
        self.kinds = list(groups)
        self.python_classes = [c.__name__ for c in groups if c.implicit_kernel is None]
        shared = _pairs(model, [force for members in groups.values() for _, force in members], reserved)
        moving = moving_bodies(model)
        self.of_bodies = sum(max(pair) < model.n_bodies for pair in shared)
        self.moving = sum(a in moving and b in moving for a, b in list(shared)[: self.of_bodies])
        # tables of all instances: per class an address and where its integers, parameters and places stand
        classes: list[int] = []
        index: list[int] = []
        parameters: list[float] = []
        places: list[int] = []
        touched: set[int] = set()
        for cls, members in groups.items():
            i0, p0, c0 = len(index), len(parameters), len(places)
            own = [_places(model, force, shared) for _, force in members]
            if cls.implicit_kernel is None:
                address = AddImplicit.callback(
                    callback_errors.guard(_implicit_callback(model, members, own, names, clock, callback_errors), 12)
                )
            else:
                address = _address(cls.implicit_kernel, AddImplicit, cls)
                places += [place for some in own for place in some]
                pack_class(cls, members, names, rows, index, parameters)
            classes += [address, i0, len(index), p0, len(parameters), c0, len(places), 0]
            # joint velocities that some force touches
            for _, force in members:
                for joint in map(model.joint, force.joints()):
                    touched.update(range(joint.v_start, joint.v_start + joint.nv))
        self.classes = np.array(classes, np.int64)
        self.index = np.array(index, np.int64)
        self.parameters = np.array(parameters, np.float64)
        self.places = np.array(places, np.int64)
        self.couplings = np.array(list(shared), np.int64).reshape(-1, 2)
        self.joint_velocities = sorted(touched)


def moving_bodies(model: Model) -> set[int]:
    """The bodies that some joint lets move: dynamic, and not welded to the ground; and points of deformables."""
    moving = set(range(model.n_bodies, model.n_frames))
    for i, joint in enumerate(model.tree_joints, start=1):
        if model.bodies[i].kind == "dynamic" and (joint.nv > 0 or joint.parent in moving):
            moving.add(i)
    return moving


def takes_part(model: Model, i: int) -> bool:
    """Whether forces move a body, or a point of a deformable."""
    return i >= model.n_bodies or model.bodies[i].kind == "dynamic"


def _pairs(model: Model, forces: Sequence[Force], reserved: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """The place of every pair of dynamic bodies that some force couples, or that is reserved, moving ones first; then with points of
    deformables."""
    moving = moving_bodies(model)
    found = [tuple(model.body(name) for name in pair) for force in forces for pair in force.pairs()]
    apart = [*reserved, *((a, b) for a, b in found if a != b and all(takes_part(model, x) for x in (a, b)))]
    of_bodies = [p for p in apart if max(p) < model.n_bodies]
    free = [p for p in of_bodies if p[0] in moving and p[1] in moving]
    held = [p for p in of_bodies if (p[0] in moving) != (p[1] in moving)]
    points = [p for p in apart if max(p) >= model.n_bodies]
    return {pair: place for place, pair in enumerate(dict.fromkeys([*free, *held, *points]))}


def _places(model: Model, force: Force, shared: dict[tuple[int, int], int]) -> list[int]:
    """The place of each pair, −1 for a body with itself or with one that takes no part."""
    return [shared.get((model.body(a), model.body(b)), -1) for a, b in force.pairs()]


def _implicit_callback(
    model: Model,
    members: list[tuple[str, Force]],
    places: list[list[int]],
    names: Names,
    clock: np.ndarray,
    callback_errors: CallbackErrors,
) -> Callable[..., None]:
    elements = [(name, force, ElementMatrix(model, name, force, own)) for (name, force), own in zip(members, places, strict=True)]

    def add(index, parameters, signals, X, V, q, v, control, limit, no_places, h, project, F, effort, own, coupling, diagonal):
        at = Kinematics(float(clock[0]), X.reshape(-1, 12), V.reshape(-1, 6), q, v, signals, control, names)
        for name, force, matrix in elements:
            callback_errors.element = name
            clamped = matrix.clamped(at, force, limit)
            K, D = (
                matrix.majorised(matrix.assembled(blocks, clamped, bool(project)))
                for blocks in (force.stiffness_blocks(at), force.damping_blocks(at))
            )
            matrix.add_blocks(h * D + h * h * K, own.reshape(-1, 21), coupling.reshape(-1, 36), diagonal)
            matrix.add_loads(h * K, at, F.reshape(-1, 6), effort)

    return add


class ElementMatrix:
    """A matrix over the bodies (six rows each) and joint velocities that one force touches, and where its parts go."""

    def __init__(self, model: Model, name: str, force: Force, places: list[int]):
        self.title = f"{type(force).__name__} '{name}'"
        self.bodies = list(dict.fromkeys(model.body(b) for b in force.bodies()))
        joints = [model.joint(j) for j in dict.fromkeys(force.joints())]
        self.velocities = [v for j in joints for v in range(j.v_start, j.v_start + j.nv)]
        self.n_bodies, self.size = 6 * len(self.bodies), 6 * len(self.bodies) + len(self.velocities)
        self.span = {b: slice(6 * k, 6 * k + 6) for k, b in enumerate(self.bodies)}
        by_name = {
            (model.bodies[b] if b < model.n_bodies else model.vertex_points[b - model.n_bodies]).name: span
            for b, span in self.span.items()
        }  # fmt: skip
        at = self.n_bodies
        for j in joints:
            by_name.setdefault(j.name, slice(at, at + j.nv))
            at += j.nv
        self.by_name = by_name
        self.couplings: dict[frozenset[int], tuple[int, int, int]] = {}
        for pair, place in zip(force.pairs(), places, strict=True):
            a, b = (model.body(x) for x in pair)
            if place >= 0:
                self.couplings.setdefault(frozenset((a, b)), (a, b, place))
        self.movable = [b for b in self.bodies if takes_part(model, b)]

    def clamped(self, at: Kinematics, force: Force, limit: np.ndarray) -> list[int]:
        """Rows of joint velocities that the force actuates beyond the joints' effort limits, together with `control`."""
        if not self.velocities:
            return []
        loads = Loads()
        force.apply(at, loads)
        rows = []
        for name, effort in loads.actuation.items():
            v = at.names.joint(name).v_start
            total = effort + at.control[v : v + effort.size]
            rows += [self.n_bodies + self.velocities.index(v + k) for k in range(effort.size) if abs(total[k]) > limit[v + k]]
        return rows

    def assembled(self, blocks: Blocks, clamped: list[int], project: bool) -> np.ndarray:
        """−K^s or −D^s, projected if asked to."""
        out = np.zeros((self.size, self.size))
        for (a, b), block in blocks.items():
            for name in (a, b):
                if name not in self.by_name:
                    raise ModelError(f"{self.title}: a block of '{name}', which is not among its bodies() or joints(); add it there")
            out[self.by_name[a], self.by_name[b]] -= block
        out[clamped] = 0.0
        out = 0.5 * (out + out.T)
        if project and self.size:
            values, vectors = np.linalg.eigh(out)
            if values[0] < 0.0:
                out = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return out

    def majorised(self, matrix: np.ndarray) -> np.ndarray:
        """The matrix with nothing beside the diagonal in the rows and columns of joint velocities, not smaller than it was."""
        beside = np.abs(matrix)
        np.fill_diagonal(beside, 0.0)
        beside[: self.n_bodies, : self.n_bodies] = 0.0
        out = matrix + np.diag(beside.sum(axis=1))
        rows = np.arange(self.n_bodies, self.size)
        kept = np.maximum(out[rows, rows], 0.0)
        out[rows, :] = out[:, rows] = 0.0
        out[rows, rows] = kept
        return out

    def add_blocks(self, B: np.ndarray, own: np.ndarray, coupling: np.ndarray, diagonal: np.ndarray) -> None:
        for k, a in enumerate(self.bodies):
            own[a] += B[self.span[a], self.span[a]][UPPER[0], UPPER[1]]
            for b in self.bodies[k + 1 :]:
                row, column, place = self.couplings.get(frozenset((a, b)), (a, b, -1))
                block = B[self.span[row], self.span[column]]
                if place >= 0:
                    coupling[place] += block.ravel()
                elif a in self.movable and b in self.movable and block.any():
                    raise ModelError(f"{self.title}: a block between two bodies that its pairs() does not list; add the pair there")
        np.add.at(diagonal, self.velocities, np.diag(B)[self.n_bodies :])

    def add_loads(self, hK: np.ndarray, at: Kinematics, F: np.ndarray, effort: np.ndarray) -> None:
        """hK is −h K: the loads are −hK (V, v)."""
        loads = -hK @ np.concatenate([*(at.V[b] for b in self.bodies), at.v[self.velocities]])
        for b in self.bodies:
            F[b] += loads[self.span[b]]
        np.add.at(effort, self.velocities, loads[self.n_bodies :])
