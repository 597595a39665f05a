"""The elements of a model in the slots that systems of all coordinates have: forces, relative joints, rows, bodies.

What a kind of coordinates adds (the tree, the spanning forest) goes into the same `slots`, from which its system makes its arenas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unibody.coordinates.constraint_layout import joint_planes, lay_out_constraints, row_sizes
from unibody.coordinates.loop_closure import closure_size
from unibody.coordinates.signals import signal_filler

from unibody.coordinates.workspace import (  # isort: skip
    ARMATURE, BIAS, BORROWED, CLOSURE, COMPLIANCE, COUNTS, DOF_INDEX, DOF_START, DRIFT, DUAL, EFFORT, ENTRY_BODY, F, FORCE_CLASSES,
    FORCE_INDEX, FORCE_PARAMETERS, G, GRAM, GRAVITY, J, JOINTS, JOINT_C, JOINT_CLASSES, JOINT_FRAMES, JOINT_INDEX, JOINT_PARAMETERS,
    JOINT_PARTS, JOINT_PLANES, JOINT_S, JOINT_X, LEDGER, LIMIT, MASSES, MULTIPLIER, RANK, RATE, RESIDUAL, RIGHT, ROW_CLASSES, ROW_ENTRY,
    ROW_INDEX, ROW_PARAMETERS, ROW_SIZE, ROW_START, SCRATCH, SEEN, SIGNALS, SPEED_LIMIT, STABILISER, STEP, T, TARGET, V_WB, VIOLATION,
)  # fmt: skip
from unibody.coordinates.relative_joints import SEEN as SEEN_NUMBERS
from unibody.element import LEDGER as LEDGER_SIZE
from unibody.model.model import JointInfo, Model
from unibody.model.tables import CallbackErrors, ConstraintTables, ForceTables, JointTables


class ElementTables:
    """Forces, constraints and relative joints of a model as tables. Of the relative joints the first `primary` are solved apart; the
    coordinates contain the first `own_dofs` joint velocities, `width` velocities of a body and `own_q` coordinates."""

    def __init__(
        self, model: Model, relative: Sequence[JointInfo], primary: int, own_dofs: int, planar: bool, width: int, own_q: int
    ):  # fmt: skip
        self.model, self.relative = model, relative
        self.callback_errors = CallbackErrors()
        self.clock = np.zeros(1)
        """[s] The time that NumPy methods of elements are told."""
        self.joints = joints = JointTables(relative, self.callback_errors)
        forces = ForceTables(model, self.callback_errors, self.clock)
        self.force_ranges = forces.ranges
        elements = ConstraintTables(model, self.callback_errors, self.clock)
        self.constraints = rows = lay_out_constraints(model, relative, primary, elements, own_dofs, planar)
        self.python_classes = {*joints.python_classes, *forces.python_classes, *elements.python_classes}
        signals, self.signal_address = signal_filler(model, self.callback_errors, self.clock)
        self.drives = signals.drives
        """Of kinematic bodies: where their motion stands among the signals."""
        n, nv, k, a = model.n_bodies, model.nv_joints, rows.rows, rows.auxiliary
        planes = joint_planes(model, relative, planar)
        counts = [rows.primary_rows, rows.joint_rows, k, rows.entries, elements.rows, width, own_q]
        self.slots: dict[int, Any] = {
            FORCE_CLASSES: forces.classes, FORCE_INDEX: forces.index, FORCE_PARAMETERS: forces.parameters,
            JOINTS: rows.joints, JOINT_CLASSES: joints.classes, JOINT_INDEX: joints.index, JOINT_PARTS: joints.parts,
            JOINT_PARAMETERS: joints.parameters, JOINT_PLANES: planes,
            JOINT_FRAMES: joined([X.flat() for j in relative for X in (j.X_PF, j.X_BM)]),
            ROW_CLASSES: elements.classes, ROW_INDEX: elements.index, ROW_PARAMETERS: elements.parameters,
            ROW_START: rows.row_start, ROW_ENTRY: rows.row_entry, ENTRY_BODY: rows.entry_body, DOF_START: rows.dof_start,
            DOF_INDEX: rows.dof_index, BORROWED: rows.borrowed, COUNTS: np.array(counts, np.int64), COMPLIANCE: rows.compliance,
            STABILISER: 2, MASSES: inverse_masses(model), ARMATURE: joined([j.armature for j in model.joints]),
            LIMIT: joined([j.effort_limit for j in model.joints]), GRAVITY: model.gravity,
            SIGNALS: signals.values, V_WB: 6 * n, F: 6 * n, EFFORT: 2 * nv, RIGHT: nv, LEDGER: LEDGER_SIZE, SPEED_LIMIT: 1,
            JOINT_X: 12 * joints.rows, JOINT_S: 6 * nv, JOINT_C: 6 * joints.rows, SCRATCH: 36 + max(36, nv), STEP: nv,
            SEEN: SEEN_NUMBERS * len(relative), T: 6 * rows.joint_rows, DUAL: 6 * nv, G: 6 * rows.entries, J: np.ones(rows.places),
            RESIDUAL: k, RATE: k, BIAS: k, DRIFT: k, VIOLATION: k, ROW_SIZE: row_sizes(model, relative, rows, planes),
            GRAM: a * a, TARGET: a, MULTIPLIER: a, CLOSURE: closure_size(a), RANK: 1,
        }  # fmt: skip


def joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """One after the other; empty if there is none."""
    return np.concatenate(arrays) if arrays else np.zeros(0)


def inverse_masses(model: Model) -> np.ndarray:
    """1/m and 3/trace of the inertia about the centre of mass of every body; 0 where it cannot be moved."""
    out = np.zeros((model.n_bodies, 2))
    for i, b in enumerate(model.bodies):
        if b.kind == "dynamic":
            out[i] = 1.0 / b.mass, 3.0 / np.trace(b.inertia)
    return out
