"""A model as tables for maximal or planar coordinates: the spanning forest of its joints, masses and planes of moving bodies, and what all
coordinates have (`coordinates.tables`)."""

from __future__ import annotations

import numpy as np

from unibody.algebra.saddle import baraff, baraff_planar
from unibody.algebra.saddle.gauss_seidel import sweep_memory
from unibody.algebra.saddle.schur import dense_work, schur_work
from unibody.coordinates.constraint_layout import row_count
from unibody.coordinates.convert import plane_in_body, start_angle
from unibody.coordinates.kick import NODE_NUMBERS, free_joints, kicked_numbers
from unibody.coordinates.maximal.block_gauss_seidel import make_groups
from unibody.coordinates.maximal.dynamics import PLANE_NUMBERS, advance_plane, rate_plane

from unibody.coordinates.maximal.workspace import (  # isort: skip
    A_WB, DRIVEN, FACTOR, GROUPS, SAVED_Y, INVERSE, NODE_B, NODE_BODY, NODE_C, NODE_F, NODE_G, NODE_JOINT, NODE_L, NODE_M, NODE_P,
    NODE_PARENT, NODE_PLAN, NODE_ROWS, NODE_Y, PLANES, SIDE, WORLD_PLANE,
)  # fmt: skip
from unibody.coordinates.tables import ElementTables, joined
from unibody.coordinates.workspace import CLASSES, ENTRY_W, INDEX, LOAD, NODE_CONSTANTS, NODE_OF, RESPONSE_X, RESPONSE_Y, X_WB, Y
from unibody.joints.free import advance_free, rate_free
from unibody.model.model import JointInfo, Model
from unibody.spatial.pose import Pose, spatial_inertia

Node = tuple[int, int, JointInfo | None, int]
"""Body, parent node or −1, the joint between them or None, 1 if the node's body is the joint's parent."""


def span_forest(model: Model, planar: bool) -> list[Node]:
    """Moving bodies as nodes, parents first; each hangs by the first joint that can take it. Free joints without armature hold nothing."""
    group = list(range(model.n_bodies))

    def root(i: int) -> int:
        while group[i] != i:
            group[i] = group[group[i]]
            i = group[i]
        return i

    for i, body in enumerate(model.bodies):
        if body.kind != "dynamic":
            group[root(i)] = root(0)
    neighbours: dict[int, list[tuple[int, JointInfo]]] = {i: [] for i in range(model.n_bodies)}
    for joint in model.joints:
        a, b = root(joint.parent), root(joint.child)
        if a != b and (row_count(model, joint, planar) > 0 or joint.armature.any()):
            group[b] = a
            neighbours[joint.parent].append((joint.child, joint))
            neighbours[joint.child].append((joint.parent, joint))
    nodes: list[Node] = []
    number: dict[int, int] = {i: -1 for i, b in enumerate(model.bodies) if b.kind != "dynamic"}
    starts: list[int] = [*number, *(i for i in range(model.n_bodies) if i not in number)]
    for start in starts:
        if start not in number:
            number[start] = len(nodes)
            nodes.append((start, -1, None, 0))
        stack = [(start, other, joint) for other, joint in reversed(neighbours[start])]
        while stack:
            parent, body, joint = stack.pop()
            if body in number:
                continue
            number[body] = len(nodes)
            nodes.append((body, number[parent], joint, 1 if joint.parent == body else 0))
            stack += [(body, other, j) for other, j in reversed(neighbours[body])]
    return nodes


class MaximalTables(ElementTables):
    """Tables of a model in maximal coordinates (6 velocities a body) or planar ones (3), for a method of solving the saddle problem."""

    def __init__(self, model: Model, planar: bool, method: str):
        self.planar, self.method = planar, method
        self.width, self.q_width = (3, 3) if planar else (6, 7)
        nodes = span_forest(model, planar)
        primary = [joint for _, _, joint, _ in nodes if joint is not None]
        chosen = {id(j) for j in primary}
        relative = primary + [j for j in model.joints if id(j) not in chosen]
        self.n, w = len(nodes), self.width
        super().__init__(model, relative, len(primary), 0, planar, w, self.q_width * self.n)
        n, k, constraints = self.n, self.constraints.auxiliary, self.constraints
        # numbers of moving bodies in the state, of nodes in the forest, of joints among the relative ones
        state_of = {i: m for m, i in enumerate(i for i, b in enumerate(model.bodies) if b.kind == "dynamic")}
        node_of = {body: k for k, (body, *_) in enumerate(nodes)}
        order = {id(j): k for k, j in enumerate(relative)}

        def rows_of(joint: JointInfo | None) -> int:
            """Rows of a node's joint: its own, and one per armature."""
            return 0 if joint is None else int(constraints.joints[6 * order[id(joint)] + 5]) + int((joint.armature > 0.0).sum())

        rows = np.array([rows_of(joint) for _, _, joint, _ in nodes], np.int64)
        parents = np.array([p for _, p, _, _ in nodes], np.int64)
        plan = (baraff_planar if planar else baraff).plan_tree(parents, rows)
        masses, flying = masses_of_nodes(model, nodes, planar)
        memory = {"tree": 0, "schur": schur_work(w, k, n, int(rows.sum())), "dense": dense_work(w, k, n, int(rows.sum()))}
        if method == "local":
            self.slots[GROUPS] = groups = make_groups(constraints)
            self.slots[INVERSE], self.slots[SIDE] = np.linalg.inv(masses.reshape(n, w, w)), 2 * constraints.rows
            memory["local"] = sweep_memory(w, constraints.entries, int(groups[0]))
        self.slots[CLASSES], self.slots[INDEX] = self._movement()
        self.slots[PLANES], self.slots[WORLD_PLANE] = planes_of_bodies(model) if planar else (0, 0)
        self.slots |= {
            NODE_PARENT: parents, NODE_ROWS: rows, NODE_PLAN: plan, NODE_M: masses, NODE_CONSTANTS: flying,
            NODE_BODY: np.array([(body, state_of[body]) for body, *_ in nodes], np.int64),
            NODE_JOINT: np.array([(order[id(j)] if j is not None else -1, flip) for _, _, j, flip in nodes], np.int64),
            NODE_OF: np.array([w * node_of[b] if b in node_of else -1 for b in constraints.entry_body], np.int64),
            DRIVEN: np.array([(i, s) for i, s in self.drives.items()], np.int64),
            X_WB: joined([b.X_WB.flat() for b in model.bodies]), A_WB: 6 * model.n_bodies, Y: w * n, ENTRY_W: w * constraints.entries,
            RESPONSE_X: k * n * w, RESPONSE_Y: k * n * w, LOAD: k * n * w, NODE_G: n * w * w, NODE_P: n * w * w, NODE_C: n * w,
            NODE_B: n * w, NODE_F: n * w, NODE_Y: n * w, NODE_L: n * w, SAVED_Y: n * w, FACTOR: max(int(plan[-1]), memory[method]),
        }  # fmt: skip

    def _movement(self) -> tuple[np.ndarray, np.ndarray]:
        """One class of moving bodies: how their coordinates follow their velocities."""
        advance, rate = (advance_plane, rate_plane) if self.planar else (advance_free, rate_free)
        index = np.array([(m, self.q_width * m, self.width * m) for m in range(self.n)], np.int64).ravel()
        return np.array([0, advance.address, rate.address, 0, index.size, 0, 0, 0, 0], np.int64), index


def planes_of_bodies(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """What PLANES and WORLD_PLANE hold of a planar world."""
    if model.plane is None:
        return np.zeros(0), np.zeros(0)
    e1, e2, normal = model.plane
    out = np.zeros((model.n_bodies, PLANE_NUMBERS))
    for i, body in enumerate(model.bodies):
        axes = plane_in_body(model, i)
        out[i, :9] = np.concatenate([axes[:, 2], axes[:, 0], axes[:, 1]])
        out[i, 9:18] = (Pose.about(normal, -start_angle(model, i)).R @ body.X_WB.R).ravel()
        out[i, 18:] = normal * (normal @ np.array(body.X_WB.p))
    return out, np.concatenate([normal, e1, e2])


def plane_map(model: Model, body: int) -> np.ndarray:
    """(6, 3) the twist of a body in a plane, in its axes, of (ω, v₁, v₂)."""
    axes, P = plane_in_body(model, body), np.zeros((6, 3))
    P[:3, 0], P[3:, 1], P[3:, 2] = axes[:, 2], axes[:, 0], axes[:, 1]
    return P


def masses_of_nodes(model: Model, nodes: list[Node], planar: bool) -> tuple[np.ndarray, np.ndarray]:
    """What NODE_M and NODE_CONSTANTS hold."""
    blocks, numbers = [], np.zeros((len(nodes), NODE_NUMBERS))
    alone = {joint.child for _, _, body, joint in free_joints(model) if body is not None}
    for k, (i, *_) in enumerate(nodes):
        body = model.bodies[i]
        M = spatial_inertia(body.mass, body.com, body.inertia)
        numbers[k] = kicked_numbers(body.mass, body.com, body.inertia, 0.5 if i in alone else 0.0)
        if planar:
            P = plane_map(model, i)
            M = P.T @ M @ P
        blocks.append(M.ravel())
    return joined(blocks), numbers
