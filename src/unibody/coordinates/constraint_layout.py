"""Auxiliary rows: loop-closing joints and constraint elements as one list of rows over bodies and joint velocities.

Rows are numbered: those of relative joints first (in the order of the joints), then those of constraint elements. A row touches bodies
through entries, 6-wide blocks of G on V_WB_B; joint row r owns the entries 2r (child) and 2r + 1 (parent), then come those of the
elements, then pairs for joint velocities that the coordinates do not contain (v_j = S⁺ V_FM of a relative joint). Joint velocities
that they do contain are touched through J directly.

The armature I of a relative joint is a row v̇_j + α / I = 0 for its effort α: a row with compliance 1/I and without feedback.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unibody.arena import part
from unibody.coordinates.relative_joints import SEEN, fill_complement, wrench_back

from unibody.coordinates.workspace import (  # isort: skip
    BIAS, BORROWED as BORROWED_SLOT, COUNTS, DOF_INDEX, DOF_START, DRIFT, DUAL, ENTRY_BODY, G, J, JOINT_C, PRIMARY, RATE, ROW_ENTRY,
    ROW_START, SEEN as SEEN_SLOT, V_WB,
)  # fmt: skip
from unibody.kernel import Floats, Ints, kernel
from unibody.model.model import JointInfo, Model
from unibody.model.scale import frame_lengths
from unibody.model.tables import ConstraintTables
from unibody.spatial.devices import cross_motion, load6

BORROWED = 6
"""Row, place in J, joint, v index, entry on the child, entry on the parent."""


@dataclass
class ConstraintLayout:
    """Which row touches what."""

    joints: np.ndarray
    joint_rows: int
    primary_rows: int
    rows: int
    entries: int
    row_start: np.ndarray
    row_entry: np.ndarray
    entry_body: np.ndarray
    dof_start: np.ndarray
    dof_index: np.ndarray
    borrowed: np.ndarray
    names: list[str]
    units: list[str]
    compliance: np.ndarray
    places: int
    element_rows: int
    unilateral: np.ndarray
    """Of all rows: whether C ≥ 0 is held by a multiplier ≥ 0, instead of C = 0."""

    def bodies_of_rows(self) -> list[set[int]]:
        """The bodies that each auxiliary row touches; what it does to joint velocities of the coordinates is not counted."""
        entries = (self.row_entry[self.row_start[r] : self.row_start[r + 1]] for r in range(self.auxiliary))
        return [{int(b) for b in self.entry_body[mine]} for mine in entries]

    @property
    def auxiliary(self) -> int:
        """The number of rows beyond the primary ones."""
        return self.rows - self.primary_rows


def lay_out_constraints(
    model: Model, relative: Sequence[JointInfo], primary: int, tables: ConstraintTables, own_dofs: int, planar: bool
) -> ConstraintLayout:
    """Rows of the relative joints (the first `primary` of them are solved elsewhere) and of the constraint elements.

    Joint velocities below `own_dofs` belong to the coordinates themselves.
    """
    joints: list[int] = []
    names: list[str] = []
    units: list[str] = []
    row = primary_rows = 0
    entry_body: list[int] = []
    # rows of joints: two entries each, on child and parent
    for k, j in enumerate(relative):
        rows = row_count(model, j, planar)
        joints += [j.parent, j.child, j.v_start, j.nv, row, rows]
        names += [j.name] * rows
        units += ["m"] * rows
        entry_body += [j.child, j.parent] * rows
        row += rows
        if k < primary:
            primary_rows = row
    joint_rows = row
    of_joint = {v: k for k, j in enumerate(relative) for v in range(j.v_start, j.v_start + j.nv)}
    per_row: list[list[int]] = [[2 * r, 2 * r + 1] for r in range(primary_rows, joint_rows)]
    # rows of elements: an entry per body
    entry = 2 * joint_rows
    for bodies in tables.row_bodies:
        per_row.append(list(range(entry, entry + len(bodies))))
        entry_body += bodies
        entry += len(bodies)
    names_of_armed: list[str] = []
    dof_start, dof_index = [0] * (len(per_row) - len(tables.row_dofs) + 1), []
    borrowed: list[int] = []
    place = 0
    # joint velocities of elements: in J where the coordinates contain them, else as v_j = S⁺ V_FM on two more bodies
    for r, dofs in enumerate(tables.row_dofs):
        for v in dofs:
            if v < own_dofs:
                dof_index += [place, v]
            else:
                borrowed += [joint_rows + r, place, of_joint[v], v, entry, entry + 1]
                per_row[joint_rows - primary_rows + r] += [entry, entry + 1]
                j = relative[of_joint[v]]
                entry_body += [j.child, j.parent]
                entry += 2
            place += 1
        dof_start.append(len(dof_index) // 2)
    # armatures of relative joints beyond the primary ones: a row each with compliance 1/I
    compliance = [0.0] * (joint_rows - primary_rows + tables.rows)
    armed = [(k, v, j.armature[v - j.v_start]) for k, j in enumerate(relative) if k >= primary for v in range(j.v_start, j.v_start + j.nv)]
    extra = 0
    for k, v, inertia in armed:
        if inertia > 0.0:
            borrowed += [joint_rows + tables.rows + extra, place, k, v, entry, entry + 1]
            per_row.append([entry, entry + 1])
            entry_body += [relative[k].child, relative[k].parent]
            dof_start.append(dof_start[-1])
            compliance.append(1.0 / inertia)
            names_of_armed.append(f"{relative[k].name}.armature")
            entry, place, extra = entry + 2, place + 1, extra + 1
    return ConstraintLayout(
        joints=np.array(joints, np.int64), joint_rows=joint_rows, primary_rows=primary_rows, rows=joint_rows + tables.rows + extra,
        entries=entry, row_start=np.cumsum([0] + [len(r) for r in per_row]).astype(np.int64),
        row_entry=np.array([e for r in per_row for e in r], np.int64), entry_body=np.array(entry_body, np.int64),
        dof_start=np.array(dof_start, np.int64), dof_index=np.array(dof_index, np.int64), borrowed=np.array(borrowed, np.int64),
        names=names + tables.row_names + names_of_armed, units=units + tables.row_units + [""] * extra, compliance=np.array(compliance),
        places=place, element_rows=tables.rows, unilateral=np.array([False] * joint_rows + tables.row_unilateral + [False] * extra, bool),
    )  # fmt: skip


def row_count(model: Model, joint: JointInfo, planar: bool) -> int:
    """Rows of a relative joint: what it takes from six velocities, in a plane from three; none between bodies that cannot be moved."""
    moving = any(model.bodies[i].kind == "dynamic" for i in (joint.parent, joint.child))
    return (3 if planar else 6) - joint.nv if moving else 0


def joint_planes(model: Model, relative: Sequence[JointInfo], planar: bool) -> np.ndarray:
    """For planar rows the normal and two in-plane axes in each joint's M frame (9 numbers a joint); empty in space."""
    if not planar or model.plane is None:
        return np.zeros(0)
    e1, e2, n = model.plane
    out = []
    for j in relative:
        R = model.bodies[j.child].X_WB.R @ j.X_BM.R
        out.append(np.concatenate([R.T @ n, R.T @ e1, R.T @ e2]))
    return np.concatenate(out) if out else np.zeros(0)


def row_sizes(model: Model, relative: Sequence[JointInfo], constraints: ConstraintLayout, planes: np.ndarray) -> np.ndarray:
    """What a residual of every row is to be compared with: 1 for turns [rad], for lengths the largest ℓ of the bodies that it holds [m]
    (`model.scale`); a row that is both, as that of a screw joint, the sum of its parts."""
    length = frame_lengths(model)
    out = np.ones(constraints.rows)
    scratch = np.zeros(72)
    for k, j in enumerate(relative):
        row, rows = constraints.joints[6 * k + 4 : 6 * k + 6]
        S, T = np.zeros(6 * j.nv), np.zeros(6 * rows)
        S[:] = np.asarray(j.element.motion(j.q0), float).T.ravel()
        if rows:
            fill_complement(S, planes, k, 0, j.nv, 0, scratch, T)
        ell = max(length[i] for i in (j.parent, j.child) if model.bodies[i].kind == "dynamic" or i == j.child)
        for r in range(rows):
            out[row + r] = np.linalg.norm(T[6 * r : 6 * r + 3]) + ell * np.linalg.norm(T[6 * r + 3 : 6 * r + 6])
    for r in range(constraints.joint_rows, constraints.rows):
        if constraints.units[r] == "m":
            first = constraints.row_start[r - constraints.primary_rows]
            bodies = constraints.entry_body[constraints.row_entry[first : constraints.row_start[r - constraints.primary_rows + 1]]]
            lengths = [length[i] for i in bodies if i >= model.n_bodies or model.bodies[i].kind == "dynamic"]
            out[r] = max(lengths, default=length[0])
    return out


@kernel
def finish_rows(layout: Ints, ints: Ints, v: Floats, work_out: Floats) -> None:
    """Borrowed entries, and the rates G V + J v + drift of the auxiliary rows, which come after the primary ones."""
    first = part(ints, layout, COUNTS)[PRIMARY]
    borrowed = part(ints, layout, BORROWED_SLOT)
    row_start = part(ints, layout, ROW_START)
    row_entry = part(ints, layout, ROW_ENTRY)
    entry_body = part(ints, layout, ENTRY_BODY)
    dof_start = part(ints, layout, DOF_START)
    dof_index = part(ints, layout, DOF_INDEX)
    V = part(work_out, layout, V_WB)
    seen = part(work_out, layout, SEEN_SLOT)
    dual = part(work_out, layout, DUAL)
    c = part(work_out, layout, JOINT_C)
    numbers = part(work_out, layout, J)
    blocks = part(work_out, layout, G)
    rates = part(work_out, layout, RATE)
    bias = part(work_out, layout, BIAS)
    drift = part(work_out, layout, DRIFT)
    # entries of borrowed velocities: J v_j with v_j = S⁺ V_FM, and in the bias v̇_j at zero accelerations
    for k in range(borrowed.size // BORROWED):
        at = BORROWED * k
        row = borrowed[at]
        factor = numbers[borrowed[at + 1]]
        joint = borrowed[at + 2]
        s = load6(dual, 6 * borrowed[at + 3])
        t = (factor * s[0], factor * s[1], factor * s[2], factor * s[3], factor * s[4], factor * s[5])
        on_child = wrench_back(seen, SEEN * joint + 12, t)
        on_parent = wrench_back(seen, SEEN * joint, t)
        turned = cross_motion(load6(seen, SEEN * joint + 24), load6(seen, SEEN * joint + 30))
        for m in range(6):
            blocks[6 * borrowed[at + 4] + m] = on_child[m]
            blocks[6 * borrowed[at + 5] + m] = -on_parent[m]
            bias[row] += t[m] * (turned[m] - c[6 * joint + m])
    # Ċ = G V + J v + ∂C/∂t
    for r in range(row_start.size - 1):
        rate = drift[first + r]
        for k in range(row_start[r], row_start[r + 1]):
            e = row_entry[k]
            for m in range(6):
                rate += blocks[6 * e + m] * V[6 * entry_body[e] + m]
        for k in range(dof_start[r], dof_start[r + 1]):
            rate += numbers[dof_index[2 * k]] * v[dof_index[2 * k + 1]]
        rates[first + r] = rate


