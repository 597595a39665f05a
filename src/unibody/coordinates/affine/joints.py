"""The change of variables that holds linear equations in affine coordinates exactly (paper 003, §4.1).

All equations C x = s are solved in two stages, x = x₀(s) + N z. Those of a spanning tree are solved body by body in local bases
(`basis`): for n bodies a small factorisation each, and as many entries of N as the tree's locality allows, O(n) for chains and
trees of hinges and points. The rest, rows that close loops or of several joints on one body, become equations L N z = s' of their group
and are solved for pivots by pivoted QR: O(l² k) for l such rows and k coordinates in one group, dense in these. Equations that repeat
others are dropped and named; those that contradict them, or a start that does not obey them, are refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from unibody.coordinates.affine.basis import DUST, RANK, Basis, LinearRows, Walk, bases, change_of_variables, walk
from unibody.coordinates.affine.body import affine_of_pose, radius
from unibody.coordinates.affine.links import Link, expand
from unibody.coordinates.affine.rows import JointPart, equations
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, kernel
from unibody.model import Model

FITS = 1e-6
"""How far the start may be from the equations, relative to the size of the scene."""


class Reduction:
    """x = x₀ + N z over the moving bodies and the virtual links, 12 numbers each in the order of `moving`."""

    def __init__(self, model: Model, Q: np.ndarray | None = None, expanded: tuple[Sequence[JointPart], Sequence[Link]] | None = None):
        """Q (bodies and links, 4, 3) at the start; where the model says, unless given."""
        self.model = model
        self.parts, self.links = expand(model) if expanded is None else expanded
        starts = [b.X_WB for b in model.bodies] + [link.X_WB for link in self.links]
        if Q is None:
            Q = affine_of_pose(np.array([X.R for X in starts]), np.array([X.p for X in starts]))
        self.moving = [i for i, b in enumerate(model.bodies) if b.kind == "dynamic"] + list(range(model.n_frames, len(starts)))
        self.equations, self.missing = equations(model, self.parts, self.moving, starts)
        self.equations = [e for e in self.equations if len(e)]
        self.names = [e.owner for e in self.equations for _ in range(len(e))]
        """Of every row."""
        self.joint = np.array([e.joint for e in self.equations for _ in range(len(e))], int)
        self.child = np.array([e.child for e in self.equations for _ in range(len(e))], int)
        self.parent = np.array([e.parent for e in self.equations for _ in range(len(e))], int)
        self.last = np.array([e.last for e in self.equations for _ in range(len(e))], bool)
        """Rows that act on the child of their joint."""
        empty = np.zeros((0, 4, 3))
        self.on_child = np.concatenate([empty, *(e.on_child for e in self.equations)])
        self.on_parent = np.concatenate([empty, *(e.on_parent for e in self.equations)])
        self.right = np.concatenate([np.zeros(0), *(e.right for e in self.equations)])
        bodies = [model.bodies[i] for i in self.moving[: len(self.moving) - len(self.links)]]
        self.radius = np.array([radius(b) for b in bodies] + [link.radius for link in self.links])
        """Of gyration, of everything that moves [m]."""
        self.redundant: list[str] = []
        self.dropped = 0
        self._change_variables(Q)

    @property
    def rows(self) -> int:
        return len(self.right)

    def _change_variables(self, Q: np.ndarray) -> None:
        count = len(self.moving)
        place = np.full(self.model.n_frames + len(self.links), -1)
        place[self.moving] = np.arange(count)
        number = np.array([k for k, e in enumerate(self.equations) for _ in range(len(e))], int)
        plane = np.array([e.owner == "plane" and e.joint < 0 for e in self.equations for _ in range(len(e))], bool)
        rows = LinearRows(
            place[self.child], place[self.parent], self.on_child.reshape(-1, 12), self.on_parent.reshape(-1, 12), number, plane
        )
        way = walk(rows, count)
        local = bases(rows, way, self._units())
        N, group = change_of_variables(rows, way, local)
        self.C = matrix(rows, count)
        self._keep_tree(rows, way, local)
        left = np.setdiff1d(np.arange(self.rows), self._own)
        self.group_of_body = way.group
        """Group of every moving body: those that equations connect."""
        repeated = self._close_loops(left, N, group, way.group, rows)
        self._judge(repeated, Q)

    def _units(self) -> np.ndarray:
        """(moving, 12, 12) x to the centre of mass and columns times the radius of gyration."""
        out, own = np.zeros((len(self.moving), 4, 4)), len(self.moving) - len(self.links)
        out[:, 0, 0] = 1.0
        out[:own, 0, 1:] = np.array([self.model.bodies[i].com for i in self.moving[:own]]).reshape(-1, 3)
        out[:, [1, 2, 3], [1, 2, 3]] = self.radius[:, None]
        return np.einsum("nab,ij->naibj", out, np.eye(3)).reshape(-1, 12, 12)

    def _keep_tree(self, rows: LinearRows, way: Walk, local: list[Basis]) -> None:
        """Flat arrays for the sweeps along the trees."""
        order = way.order
        self._own = np.concatenate([np.zeros(0, int), *(local[i].rows for i in order)]).astype(np.int64)
        self._first = np.concatenate([[0], np.cumsum([len(local[i].rows) for i in order])]).astype(np.int64)
        self._order = np.asarray(order, np.int64)
        self._B = np.concatenate([np.zeros(0), *(np.ascontiguousarray(local[i].B.T).ravel() for i in order)])
        self._places = np.ascontiguousarray(rows.child, np.int64), np.ascontiguousarray(rows.parent, np.int64)
        self._bodies = np.asarray(self.moving, np.int64)

    def _close_loops(self, left: np.ndarray, N: sp.csr_matrix, group: np.ndarray, of_body: np.ndarray, rows: LinearRows) -> np.ndarray:
        """What the trees' rows leave: N with them, and which of them repeat others."""
        free, repeated, made = np.ones(N.shape[1], bool), [np.zeros(0, int)], []
        self._loops: list[tuple[np.ndarray, np.ndarray, tuple, sp.csr_matrix]] = []
        mine = of_body[np.maximum(rows.child, rows.parent)[left]] if len(left) else left
        size = np.sqrt((self.on_child[left] ** 2).sum(axis=(1, 2)) + (self.on_parent[left] ** 2).sum(axis=(1, 2)))
        LN = self.C[left] @ N if len(left) else None
        for g in np.unique(mine):
            here = np.flatnonzero(mine == g)
            columns = np.flatnonzero(group == g)
            dense = LN[here][:, columns].toarray()
            dependent, chosen = pivots(dense / size[here, None])
            repeated.append(left[np.setdiff1d(here, here[chosen])])
            if not len(chosen):
                continue
            factor = scipy.linalg.lu_factor(dense[np.ix_(chosen, dependent)])
            other = np.setdiff1d(np.arange(len(columns)), dependent)
            block = -scipy.linalg.lu_solve(factor, dense[np.ix_(chosen, other)])
            block[np.abs(block) < DUST] = 0.0
            free[columns[dependent]] = False
            made.append((columns[dependent], columns[other], block))
            self._loops.append((left[here[chosen]], columns[dependent], factor, N[:, columns[dependent]].tocsr()))
        number = np.cumsum(free) - 1
        i, j, a = [np.flatnonzero(free)], [number[free]], [np.ones(int(free.sum()))]
        for dependent, other, block in made:
            at = np.nonzero(block)
            i.append(dependent[at[0]])
            j.append(number[other[at[1]]])
            a.append(block[at])
        self._N_tree = N
        close = sp.csr_matrix((np.concatenate(a), (np.concatenate(i), np.concatenate(j))), shape=(N.shape[1], int(free.sum())))
        self.N = (N @ close).tocsr() if made else N
        self.N.sum_duplicates()
        self.group = group[free]
        """Of every z, ascending."""
        return np.concatenate(repeated)

    def _judge(self, repeated: np.ndarray, Q: np.ndarray) -> None:
        """Names rows that repeat others; refuses a start that disobeys, and rows that no motion could obey together."""
        self.dropped = len(repeated)
        self.redundant = list(dict.fromkeys(self.names[r] for r in repeated))
        if not self.rows:
            return
        if len(repeated):
            after, allowed = np.abs(self.residual(self.put(Q)))[repeated], self._allowed(Q)
            if after.max() > allowed:
                wrong = ", ".join(dict.fromkeys(f"'{self.names[r]}'" for r in repeated[after > allowed]))
                raise ModelError(f"{wrong}: contradict the other joints by {after.max():.3g} m; correct frames or the start")
        self.refuse_open(Q)

    def _allowed(self, Q: np.ndarray) -> float:
        return FITS * max(1.0, float(np.abs(Q[:, 0]).max()))

    def refuse_open(self, Q: np.ndarray) -> None:
        """A start (bodies, 4, 3) that disobeys the equations."""
        start, allowed = np.abs(self.residual(Q)), self._allowed(Q)
        if start.max(initial=0.0) > allowed:
            wrong = ", ".join(dict.fromkeys(f"'{self.names[r]}'" for r in np.flatnonzero(start > allowed)))
            raise ModelError(f"{wrong}: open by {start.max():.3g} m at the start; stiff bodies cannot be pulled together; close them")

    def residual(self, Q: np.ndarray) -> np.ndarray:
        """(rows,) C x − s [m]; Q of all bodies."""
        if not self.rows:
            return np.zeros(0)
        return (self.on_child * Q[self.child]).sum(axis=(1, 2)) + (self.on_parent * Q[self.parent]).sum(axis=(1, 2)) - self.right

    def put(self, Q: np.ndarray) -> np.ndarray:
        """Q of all bodies with the dependent coordinates solved for, from the free ones and the bodies that do not move freely."""
        return self._solved(Q, self.right)

    def put_rates(self, V: np.ndarray) -> np.ndarray:
        """V of all bodies with the dependent velocities solved for, from the free ones."""
        return self._solved(V, np.zeros(self.rows))

    def _solved(self, Q: np.ndarray, right: np.ndarray) -> np.ndarray:
        x = np.array(Q, float).ravel()
        solve_trees(
            self._order, self._first, self._own, self._B, self._bodies, self.child, self.parent, self.on_child.ravel(),
            self.on_parent.ravel(), right, np.empty(len(self._own)), x,
        )  # fmt: skip
        out = x.reshape(-1, 4, 3)
        if self._loops:
            error = self.residual(out) + self.right - right
            own = out[self.moving].ravel()
            for rows, _, factor, columns in self._loops:
                own -= columns @ scipy.linalg.lu_solve(factor, error[rows])
            out[self.moving] = own.reshape(-1, 4, 3)
        return out

    def multipliers(self, gradient: np.ndarray) -> np.ndarray:
        """λ (rows,) with gradient + Cᵀ λ = 0 on the dependent coordinates; of dropped equations 0."""
        out, g = np.zeros(self.rows), np.array(gradient, float)
        for rows, _, factor, columns in self._loops:
            out[rows] = scipy.linalg.lu_solve(factor, -(columns.T @ g), trans=1)
        if self._loops:
            g += self.C.T @ out
        balance_trees(self._order, self._first, self._own, self._B, *self._places, self.on_child.ravel(), self.on_parent.ravel(), g, out)
        return out

    def wrenches(self, Q: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """(rows, 6) torque about the child's origin and force on the child, world axes, of each row: forces F_k = λ C_k at the material
        vectors of its frame."""
        F = multipliers[:, None, None] * self.on_child
        return np.concatenate([np.cross(Q[self.child, 1:], F[:, 1:]).sum(axis=1), F[:, 0]], axis=1)


@kernel
def solve_trees(
    order: Ints, first: Ints, own: Ints, B: Floats, bodies: Ints, child: Ints, parent: Ints, on_child: Floats, on_parent: Floats,
    right: Floats, error_out: Floats, x_out: Floats,
) -> None:  # fmt: skip
    """x_b ← x_b − B (O x_b + P x_p − s), outwards; x of all affine bodies."""
    for k in range(order.size):
        body = bodies[order[k]]
        for at in range(first[k], first[k + 1]):
            r = own[at]
            error = -right[r]
            for i in range(12):
                error += on_child[12 * r + i] * x_out[12 * child[r] + i] + on_parent[12 * r + i] * x_out[12 * parent[r] + i]
            error_out[at] = error
        for at in range(first[k], first[k + 1]):
            for i in range(12):
                x_out[12 * body + i] -= B[12 * at + i] * error_out[at]


@kernel
def balance_trees(
    order: Ints, first: Ints, own: Ints, B: Floats, child: Ints, parent: Ints, on_child: Floats, on_parent: Floats, g_out: Floats,
    multipliers_out: Floats,
) -> None:  # fmt: skip
    """λ = −Bᵀ g of a body's rows, inwards, with what the rows of the bodies after it have added to g; child and parent are places."""
    for n in range(order.size):
        k = order.size - 1 - n
        place = order[k]
        for at in range(first[k], first[k + 1]):
            r = own[at]
            s = 0.0
            for i in range(12):
                s -= B[12 * at + i] * g_out[12 * place + i]
            multipliers_out[r] = s
        for at in range(first[k], first[k + 1]):
            r = own[at]
            for i in range(12):
                if child[r] >= 0 and child[r] != place:
                    g_out[12 * child[r] + i] += on_child[12 * r + i] * multipliers_out[r]
                if parent[r] >= 0 and parent[r] != place:
                    g_out[12 * parent[r] + i] += on_parent[12 * r + i] * multipliers_out[r]


def matrix(rows: LinearRows, count: int) -> sp.csr_matrix:
    """C over the moving bodies."""
    i, j, a = [], [], []
    for place, values in ((rows.child, rows.on_child), (rows.parent, rows.on_parent)):
        at = np.flatnonzero(place >= 0)
        i.append(np.repeat(at, 12))
        j.append((12 * place[at][:, None] + np.arange(12)).ravel())
        a.append(values[at].ravel())
    out = sp.csr_matrix((np.concatenate(a), (np.concatenate(i), np.concatenate(j))), shape=(len(rows.child), 12 * count))
    out.eliminate_zeros()
    return out


def pivots(scaled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns to solve for and rows to solve of C x = s, whose rows are in units of their own size; the other rows repeat these."""
    _, R, order = scipy.linalg.qr(scaled, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    rank = int((size > RANK * max(1.0, float(size.max(initial=0.0)))).sum())
    dependent = np.sort(order[:rank])
    if not rank:
        return dependent, dependent
    _, _, by_row = scipy.linalg.qr(scaled[:, dependent].T, mode="economic", pivoting=True)
    return dependent, np.sort(by_row[:rank])
