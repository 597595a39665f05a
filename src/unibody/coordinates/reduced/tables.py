"""A model as tables for reduced coordinates: the tree of its joints, and what all coordinates have (`coordinates.tables`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unibody.algebra.tree.aba import BODY, COLUMN, GENERAL, LOOSE, ROTATION, ROW, SLIDE, WELD, A, C
from unibody.coordinates.kick import floating_table, free_joints, free_table
from unibody.coordinates.reduced.kinematics import CONSTANTS as NUMBERS

from unibody.coordinates.reduced.workspace import (  # isort: skip
    BLOCKS, BODIES, COLUMNS, CONSTANTS, DIAGONAL, FLOATING, FRAMES, FREE, LEAST, PARTS, ROWS, SHIFT, SUMS, TABLE_C, TABLE_S, TABLE_X, TURNS,
    UNPROJECTED,
)  # fmt: skip
from unibody.coordinates.tables import ElementTables

from unibody.coordinates.workspace import (  # isort: skip
    ACTIVE, CLASSES, ENTRY_W, INDEX, LOAD, NODE_CONSTANTS, NODE_OF, PARAMETERS, RESPONSE_X, RESPONSE_Y, X_WB, Y,
)  # fmt: skip
from unibody.joints.base import Joint
from unibody.model.model import BodyInfo, Model
from unibody.model.tables import JointTables
from unibody.spatial.pose import Pose


class ReducedTables(ElementTables):
    """Tables of a model in reduced coordinates. `loose`: bodies that fly alone are eliminated by their own mass, without their tree."""

    def __init__(self, model: Model, loose: bool = False):
        super().__init__(model, model.loop_joints, 0, model.nv, model.planar, 6, model.nq)
        tree, rows = JointTables(model.tree_joints, self.callback_errors, turns=True), self.constraints
        self.python_classes |= set(tree.python_classes)
        free, flying = free_table(model, tree)
        n, nv, k = model.n_bodies, model.nv, rows.rows
        self.slots |= {
            CLASSES: tree.classes, INDEX: tree.index, PARTS: tree.parts, PARAMETERS: tree.parameters,
            BODIES: body_integers(model, self.drives, loose), TURNS: turns(model), FREE: free, NODE_CONSTANTS: flying,
            NODE_OF: 6 * rows.entry_body, TABLE_X: 12 * tree.rows, TABLE_S: 6 * model.nv_joints, TABLE_C: 6 * tree.rows,
            ROWS: ground(model), COLUMNS: COLUMN * max(1, nv), SHIFT: 3 * n, X_WB: 12 * n, Y: nv, LOAD: 6 * n, ACTIVE: np.ones(k),
            ENTRY_W: 6 * rows.entries, RESPONSE_X: 6 * n * k, RESPONSE_Y: nv * k,
            FLOATING: floating_table(model, rows.bodies_of_rows(), set(rows.dof_index[1::2].tolist())),
        }  # fmt: skip
        self.slots[CONSTANTS], self.slots[FRAMES] = constants_of_bodies(model)
        if k:  # what projections need
            self.slots |= {UNPROJECTED: model.nq_joints, DIAGONAL: model.nv_joints, LEAST: nv, BLOCKS: 21 * n, SUMS: max(21 * n, nv)}


def column_kind(joint: Joint) -> int:
    """What the tree may take for granted of a joint's only column, or of one without: what its class promises."""
    return {"rotation": ROTATION, "slide": SLIDE, "none": WELD}.get(type(joint).__dict__.get("column", ""), GENERAL)


def body_integers(model: Model, drives: dict[int, int], loose: bool) -> np.ndarray:
    """What BODIES holds."""
    out = np.zeros((model.n_bodies, BODY), np.int64)
    eliminated: set[int] = set()
    for i, j in reversed(list(enumerate(model.tree_joints, start=1))):
        role = (1 if i in eliminated else 0) + (0 if j.parent in eliminated else 2)
        eliminated.add(j.parent)
        out[i] = (j.parent, j.v_start, j.nv, drives.get(i, -1), column_kind(j.element), role)
    for _, _, body, joint in free_joints(model):
        if loose and body is not None:
            out[joint.child, 4] = LOOSE
    return out


def turns(model: Model) -> np.ndarray:
    """What `fill_turns` reads; the last joint stands in for those that are missing in the last three."""
    places = [(j.q_start, 12 * i) for i, j in enumerate(model.tree_joints) if column_kind(j.element) == ROTATION]
    places += places[-1:] * (-len(places) % 3)
    return np.array(places, np.int64).reshape(-1, 3, 2).swapaxes(1, 2)


def z_to_axis(joint: Joint) -> Pose:
    """A rotation that takes z to the axis of a joint that is a pure rotation; none for others."""
    if column_kind(joint) != ROTATION:
        return Pose()
    a = joint.motion(joint.neutral())[:3, 0]
    if a[2] > -0.5:
        return Pose(wxyz=(1.0 + a[2], -a[1], a[0], 0.0))
    # near −z: first half a turn about x, then from −z
    return Pose(wxyz=(1.0 - a[2], a[1], -a[0], 0.0)) @ Pose(wxyz=(0.0, 1.0, 0.0, 0.0))


def constants_of_bodies(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """What CONSTANTS and FRAMES hold. What is alike is computed once: links of a chain are often told by the same objects."""
    numbers = np.zeros((model.n_bodies, NUMBERS))
    frames = np.zeros((model.n_bodies, 12))
    frames[0] = Pose().flat()
    turned: list[Pose] = [Pose()]
    X_MB: list[Pose] = [Pose()]
    alike = Alike()
    for i, j in enumerate(model.tree_joints, start=1):
        body, turn = model.bodies[i], alike.once(z_to_axis, j.element)
        turned.append(turn)
        X_MB.append(alike.once(from_child, turn, j.X_BM))
        numbers[i, :12] = alike.once(to_parent, X_MB[j.parent], j.X_PF, turn)
        frames[i] = alike.once(Pose.flat, X_MB[i])
        if body.kind == "dynamic":
            same = (id(X_MB[i]), body.mass, body.com.tobytes(), body.inertia.tobytes())
            if same not in alike:
                alike[same] = mass_numbers(X_MB[i], body)
            numbers[i, 12:22] = alike[same]
    return numbers, frames


class Alike(dict[tuple[Any, ...], Any]):
    """What functions gave for objects that stay alive."""

    def once(self, make: Callable[..., Any], *given: Any) -> Any:
        """make(*given), of the same objects as before or anew."""
        same = (make, *map(id, given))
        if same not in self:
            self[same] = make(*given)
        return self[same]


def from_child(turn: Pose, X_BM: Pose) -> Pose:
    """X_MB."""
    return turn.inverse() @ X_BM.inverse()


def to_parent(X_MB: Pose, X_PF: Pose, turn: Pose) -> np.ndarray:
    """X of F in the parent's M."""
    return (X_MB @ X_PF @ turn).flat()


def mass_numbers(X_MB: Pose, body: BodyInfo) -> np.ndarray:
    """Mass, m c_M (3) and the inertia about M's origin in M's axes (6)."""
    R, c = X_MB.R, X_MB.apply(body.com)
    inertia = R @ body.inertia @ R.T + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
    return np.array([body.mass, *(body.mass * c), *inertia[np.triu_indices(3)]])


def ground(model: Model) -> np.ndarray:
    """What ROWS begins with: unmoved bodies, and the world falling upwards, which is gravity."""
    rows = np.zeros((model.n_bodies, ROW))
    rows[:, [0, 4, 8]] = 1.0
    rows[0, A + 3 : A + 6] = rows[0, C + 3 : C + 6] = -model.gravity
    return rows
