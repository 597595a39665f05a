"""Tables: the elements of a model as flat arrays, one stretch per class, with the addresses of the kernels that read them.

Kernels walk over `classes` and call addresses; they never name a class. A class without kernels gets addresses of callbacks that run its
NumPy methods; what such a callback raises is kept in `callback_errors`, and the numbers it owed become NaN, which the step reports.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint, FillRows
from unibody.element import Kinematics
from unibody.errors import ModelError
from unibody.forces.base import AddForces, Force, Loads
from unibody.joints.base import AdvanceJoints, FillJoints, Joint, RateJoints, advance_straight, rate_straight
from unibody.kernel import Kernel, Prototype
from unibody.model.interruptions import Pending, deliver
from unibody.model.model import JointInfo, Model

FORCE_CLASS = 5
"""address; index from, to; parameters from, to. Constraint classes have the same five."""


class CallbackErrors:
    """The first exception raised inside a callback."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.element = self.blamed = ""
        """The element whose Python code ran last, and that of the error."""
        self.pending: Pending = []
        """Signals that arrived since the last callback."""
        self.guards = False
        """Whether compiled code calls back at all."""

    def guard(self, function: Callable[..., None], *outputs: int) -> Callable[..., None]:
        """The function, made safe: on an exception its outputs (argument numbers) become NaN. An interruption is kept too, for whoever
        called the kernel; no exception may pass through compiled code."""
        self.guards = True

        def guarded(*args: Any) -> None:
            try:
                if self.pending:
                    deliver(self.pending)
                if self.error is not None and not isinstance(self.error, Exception):
                    raise self.error  # interrupted: the rest of the step is not asked for any more
                function(*args)
            except BaseException as error:
                if self.error is None or not isinstance(error, Exception):
                    self.error, self.blamed = error, self.element
                for k in outputs:
                    args[k][:] = np.nan

        return guarded


def answer(value: Any, shape: tuple[int, ...], what: str) -> np.ndarray:
    """What an element's NumPy method returned, as finite floats of a shape; nothing else is spread over it but one number for all."""
    out = np.asarray(value, float)
    if out.shape != shape and (out.size != prod(shape) or out.ndim > len(shape)) and not (out.ndim == 0 and out == 0.0):
        raise ValueError(f"{what} has shape {out.shape}; it must have {shape}")
    if not np.isfinite(out).all():
        raise ValueError(f"{what} is {np.array2string(out, threshold=12, separator=', ').replace(chr(10), ' ')}; it must be finite")
    return np.broadcast_to(out, shape) if out.ndim == 0 else out.reshape(shape)


def _address(kernel: Kernel, prototype: Prototype, cls: type) -> int:
    if not prototype.admits(kernel):
        raise ModelError(f"class {cls.__name__}: kernel {kernel.__name__} has not the signature {prototype.__name__}; see its arguments")
    return kernel.address


class JointTables:
    """Joint classes for kernels. Row k of the joint table is the k-th joint given; parts of composites have rows after them.

    `turns`: pure rotations and welds are taken care of elsewhere; a class of such joints, none of them a part, is not filled (address
    0)."""

    def __init__(self, joints: Sequence[JointInfo], callback_errors: CallbackErrors, turns: bool = False):
        # joints by class; parts of a composite have rows of their own behind those of the joints
        groups: dict[type[Joint], list[tuple[Joint, int, int, int]]] = {}
        parts: list[int] = []
        named: dict[int, str] = {}
        inner: set[type[Joint]] = set()
        row = len(joints)
        for k, joint in enumerate(joints):
            pieces = joint.element.parts()
            q, v = joint.q_start, joint.v_start
            for number, piece in enumerate(pieces):
                at = k if len(pieces) == 1 else row
                named[at] = joint.name
                groups.setdefault(type(piece), []).append((piece, at, q, v))
                if piece is not joint.element:
                    inner.add(type(piece))
                if len(pieces) > 1:
                    parts += [k, row, v, piece.nv, 1 if number == 0 else 0]
                    row += 1
                q, v = q + piece.nq, v + piece.nv
        self.rows = row
        self.types = list(groups)
        self.parts = np.array(parts, np.int64)
        self.python_classes = [c.__name__ for c in groups if c.fill_kernel is None]
        # per class: addresses, and where its integers and parameters stand
        classes: list[int] = []
        index: list[int] = []
        parameters: list[float] = []
        for cls, members in groups.items():
            i0, p0 = len(index), len(parameters)
            index += [n for _, *numbers in members for n in numbers]
            parameters += [x for joint, *_ in members for x in joint.parameters()] if cls.fill_kernel is not None else []
            i1, p1 = len(index), len(parameters)
            a0, a1 = p0, p1
            filled = not turns or cls.__dict__.get("column") not in ("rotation", "none") or cls in inner
            fill, advance, rate = self._addresses(cls, members, named, callback_errors, filled)
            # joints without a kernel for q ⊕ h v: straight on, told nv
            if cls.advance_kernel is None and cls.fill_kernel is not None:
                a0 = p1
                parameters.append(float(members[0][0].nv))
                a1 = len(parameters)
            classes += [fill, advance, rate, i0, i1, p0, p1, a0, a1]
        self.classes = np.array(classes, np.int64)
        self.index = np.array(index, np.int64)
        self.parameters = np.array(parameters, np.float64)

    @staticmethod
    def _addresses(
        cls: type[Joint], members: list[tuple[Joint, int, int, int]], named: dict[int, str], callback_errors: CallbackErrors, filled: bool
    ) -> tuple[int, int, int]:
        def fill(index, parameters, q, v, X, S, c):
            for joint, row, q0, v0 in members:
                callback_errors.element = named[row]
                qj, vj = q[q0 : q0 + joint.nq], v[v0 : v0 + joint.nv]
                R, p = joint.pose(qj)
                X[12 * row : 12 * row + 9] = answer(R, (3, 3), "R of pose").ravel()
                X[12 * row + 9 : 12 * row + 12] = answer(p, (3,), "p of pose")
                S[6 * v0 : 6 * (v0 + joint.nv)] = answer(joint.motion(qj), (6, joint.nv), "motion").T.ravel()
                c[6 * row : 6 * row + 6] = answer(joint.bias(qj, vj), (6,), "bias")

        def advance(index, parameters, q, v, h, q_out):
            for joint, row, q0, v0 in members:
                callback_errors.element = named[row]
                moved = joint.advance(q[q0 : q0 + joint.nq].copy(), v[v0 : v0 + joint.nv], h)
                q_out[q0 : q0 + joint.nq] = answer(moved, (joint.nq,), "advance")

        def rate(index, parameters, q, v, qdot):
            for joint, row, q0, v0 in members:
                callback_errors.element = named[row]
                qdot[q0 : q0 + joint.nq] = answer(joint.rate(q[q0 : q0 + joint.nq], v[v0 : v0 + joint.nv]), (joint.nq,), "rate")

        if cls.fill_kernel is None:
            return (
                FillJoints.callback(callback_errors.guard(fill, 4)) if filled else 0,
                AdvanceJoints.callback(callback_errors.guard(advance, 5)),
                RateJoints.callback(callback_errors.guard(rate, 4)),
            )
        straight = cls.advance_kernel is None
        if straight and members[0][0].nq != members[0][0].nv:
            raise ModelError(f"joint class {cls.__name__}: nq differs from nv; give advance_kernel and rate_kernel beside fill_kernel")
        return (
            _address(cls.fill_kernel, FillJoints, cls) if filled else 0,
            _address(advance_straight if straight else cls.advance_kernel, AdvanceJoints, cls),  # type: ignore[arg-type]
            _address(rate_straight if straight else cls.rate_kernel, RateJoints, cls),  # type: ignore[arg-type]
        )


class Names:
    """Look-up by name for NumPy methods, on a built model; functions of time that elements ask for are added to `functions`, if given."""

    def __init__(self, model: Model, functions: list[tuple[int, int, Callable[[float], Any], str]] | None = None):
        self._model = model
        self._slot = 0
        self._functions = functions

    def body(self, name: str) -> int:
        return self._model.body(name)

    def joint(self, name: str) -> JointInfo:
        return self._model.joint(name)

    def joint_above(self, body: str) -> JointInfo | None:
        i = self._model.body(body)
        return self._model.joints[i - 1] if 0 < i < self._model.n_bodies else None

    def signal(self, value: Any, what: str) -> int:
        return self.signal_vector(value, 1, what)

    def signal_vector(self, value: Any, count: int, what: str) -> int:
        if self._functions is not None and callable(value):
            self._functions.append((self._slot, count, value, what))
        self._slot += count
        return self._slot - count

    def motor_target(self, name: str) -> int:
        return self._model.motor_targets[name]

    def start_position(self, point: Any) -> np.ndarray:
        k = self._model.body(point.body)
        if k >= self._model.n_bodies:
            on = self._model.vertex_points[k - self._model.n_bodies]
            return on.weights @ np.concatenate([d.x0 for d in self._model.deformables])[on.vertices]
        return self._model.bodies[k].X_WB.apply(point.p)


Row = tuple[Sequence[int], Sequence[float]]


def pack_class(
    cls: type[Force], members: list[tuple[str, Force]], names: Names, rows: Mapping[str, Row], index: list[int], parameters: list[float]
) -> None:
    """Append the integers and parameters of a class of forces, from its rows or as it packs them itself."""
    if cls.pack.__func__ is Force.pack.__func__:  # type: ignore[attr-defined]
        for name, _ in members:
            index += [int(i) for i in rows[name][0]]
            parameters += [float(x) for x in rows[name][1]]
    else:
        own_index, own_parameters = cls.pack(members, names)
        index += own_index.tolist()
        parameters += own_parameters.tolist()


class ForceTables:
    """Force classes for kernels; `only` some forces, by name."""

    def __init__(self, model: Model, callback_errors: CallbackErrors, clock: np.ndarray, only: Collection[str] | None = None):
        groups: dict[type[Force], list[tuple[str, Force]]] = {}
        for name, force in model.forces:
            if only is not None and name not in only:
                continue
            groups.setdefault(type(force), []).append((name, force))
        self.python_classes = [c.__name__ for c in groups if c.add_kernel is None]
        self.ranges: dict[type[Force], tuple[int, int]] = {}
        """Where the parameters of each class begin and end."""
        names = Names(model)
        rows = {name: force.row(names, name) for name, force in model.forces}
        classes: list[int] = []
        index: list[int] = []
        parameters: list[float] = []
        for cls, members in groups.items():
            i0, p0 = len(index), len(parameters)
            if cls.add_kernel is None:
                address = AddForces.callback(callback_errors.guard(_force_callback(model, members, names, clock, callback_errors), 8))
            else:
                address = _address(cls.add_kernel, AddForces, cls)
                pack_class(cls, members, names, rows, index, parameters)
            classes += [address, i0, len(index), p0, len(parameters)]
            self.ranges[cls] = p0, len(parameters)
        self.classes = np.array(classes, np.int64)
        self.index = np.array(index, np.int64)
        self.parameters = np.array(parameters, np.float64)


def _force_callback(
    model: Model, members: list[tuple[str, Force]], names: Names, clock: np.ndarray, callback_errors: CallbackErrors
) -> Callable[..., None]:
    def add(index, parameters, signals, X, V, q, v, control, F, effort, ledger):
        at = Kinematics(float(clock[0]), X.reshape(-1, 12), V.reshape(-1, 6), q, v, signals, control, names)
        loads = Loads()
        for name, force in members:
            callback_errors.element = name
            force.apply(at, loads)
        half = effort.size // 2
        for body, wrench in loads.wrenches.items():
            F.reshape(-1, 6)[model.body(body)] += wrench
        for table, offset in ((loads.efforts, 0), (loads.actuation, half)):
            for joint, values in table.items():
                j = model.joint(joint)
                effort[offset + j.v_start : offset + j.v_start + j.nv] += values
        ledger += loads.ledger

    return add


class ConstraintTables:
    """Constraint classes for kernels, and which bodies and joint velocities each row touches; `only` some constraints, by name."""

    def __init__(self, model: Model, callback_errors: CallbackErrors, clock: np.ndarray, only: Collection[str] | None = None):
        names = Names(model)
        for name, force in model.forces:  # signals are numbered over forces first, as the builder does
            force.row(names, name)
        numbers = {name: constraint.row(names, name) for name, constraint in model.constraints}
        # constraints by class
        groups: dict[type[Constraint], list[tuple[str, Constraint]]] = {}
        for name, constraint in model.constraints:
            if not getattr(constraint, "surfaces", False) and (only is None or name in only):  # those have no rows
                groups.setdefault(type(constraint), []).append((name, constraint))
        self.row_names: list[str] = []
        self.row_units: list[str] = []
        self.row_bodies: list[list[int]] = []
        self.row_dofs: list[list[int]] = []
        self.row_unilateral: list[bool] = []
        self.python_classes = [c.__name__ for c in groups if c.fill_kernel is None]
        # per class an address, and where its integers and parameters stand; rows, entries of G and of J are numbered through
        classes: list[int] = []
        index: list[int] = []
        parameters: list[float] = []
        row = entry = dof_entry = 0
        for cls, members in groups.items():
            i0, p0 = len(index), len(parameters)
            starts = []
            for name, constraint in members:
                bodies = [model.body(b) for b in constraint.bodies()]
                dofs = list(constraint.dofs(names))
                own, floats = numbers[name]
                starts.append((row, entry, dof_entry))
                if cls.fill_kernel is not None:
                    index += [row, entry, dof_entry, *(int(i) for i in own)]
                    parameters += [float(x) for x in floats]
                for k in range(constraint.rows):
                    self.row_names.append(name)
                    self.row_units.append(constraint.units if isinstance(constraint.units, str) else constraint.units[k])
                    self.row_bodies.append(bodies)
                    self.row_dofs.append(dofs)
                    self.row_unilateral.append(constraint.unilateral)
                row += constraint.rows
                entry += constraint.rows * len(bodies)
                dof_entry += constraint.rows * len(dofs)
            # a class without a kernel is called back
            if cls.fill_kernel is None:
                fill = _constraint_callback(model, members, starts, names, clock, callback_errors)
                address = FillRows.callback(callback_errors.guard(fill, 7, 9, 10, 11))
            else:
                address = _address(cls.fill_kernel, FillRows, cls)
            classes += [address, i0, len(index), p0, len(parameters)]
        self.rows, self.entries, self.dof_entries = row, entry, dof_entry
        self.classes = np.array(classes, np.int64)
        self.index = np.array(index, np.int64)
        self.parameters = np.array(parameters, np.float64)


def _constraint_callback(
    model: Model, members: list, starts: list, names: Names, clock: np.ndarray, callback_errors: CallbackErrors
) -> Callable[..., None]:
    def fill(index, parameters, X, V, q, v, signals, G, J, residual, bias, drift):
        at = Kinematics(float(clock[0]), X.reshape(-1, 12), V.reshape(-1, 6), q, v, signals, np.zeros(0), names)
        for (name, constraint), (row, entry, dof_entry) in zip(members, starts, strict=True):
            callback_errors.element = name
            C, blocks, joint_blocks, c, C_t = constraint.evaluate(at)
            bodies = constraint.bodies()
            n = (constraint.rows,)
            residual[row : row + constraint.rows] = answer(C, n, "residual")
            bias[row : row + constraint.rows] = answer(c, n, "bias")
            drift[row : row + constraint.rows] = 0.0 if C_t is None else answer(C_t, n, "drift")
            if bodies:
                end = 6 * (entry + constraint.rows * len(bodies))
                G[6 * entry : end] = np.stack([answer(blocks[b], (constraint.rows, 6), f"G of '{b}'") for b in bodies], axis=1).ravel()
            dofs = list(constraint.dofs(names))
            if dofs:
                wide = np.zeros((constraint.rows, v.size))
                for joint, block in joint_blocks.items():
                    j = model.joint(joint)
                    wide[:, j.v_start : j.v_start + j.nv] += answer(block, (constraint.rows, j.nv), f"J of '{joint}'")
                J[dof_entry : dof_entry + constraint.rows * len(dofs)] = wide[:, dofs].ravel()

    return fill
