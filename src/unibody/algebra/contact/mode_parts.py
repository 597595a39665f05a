"""Laws of contact at an instant as parts of rows, parts that feel each other, and one solution by Lemke's pivoting.

Rows of w and columns of x differ where a contact slides, x_t = −k x_n: the matrix is then neither symmetric nor copositive, and a ray
at which the path ends proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.algebra.contact.polyhedral import directions
from unibody.algebra.contact.problem import Blocks, ContactProblem, box, contacts, join, unilateral
from unibody.algebra.contact.solve import solve_contacts
from unibody.algebra.lcp import solve_lcp

PUSH, SLIDE, REST, HOLD = "push", "slide", "rest", "hold"

FACETS = 16
"""Of cones, where some force within them has to be found; of the polyhedral problem."""


@dataclass(frozen=True)
class ModePart:
    """The law of some rows, the normal first. numbers: k of a slide, μ of what rests, (c,) of a hold."""

    kind: str
    rows: np.ndarray
    numbers: np.ndarray


def islands(W: np.ndarray, parts: list[ModePart]) -> list[tuple[int, ...]]:
    """Parts that W joins, by their numbers."""
    size = np.array([np.abs(W[np.ix_(p.rows, p.rows)]).max(initial=0.0) for p in parts])
    left, out = set(range(len(parts))), []
    while left:
        todo, mine = [min(left)], set()
        while todo:
            i = todo.pop()
            if i in mine:
                continue
            mine.add(i)
            for j in left - mine:
                if np.abs(W[np.ix_(parts[i].rows, parts[j].rows)]).max() > 1e-12 * np.sqrt(size[i] * size[j]):
                    todo.append(j)
        left -= mine
        out.append(tuple(sorted(mine)))
    return out


def own_response(W: np.ndarray, part: ModePart) -> float:
    """The acceleration of a sliding contact's normal by a normal force of one, its friction included; Painlevé's are not positive."""
    n, t = part.rows[0], part.rows[1:]
    return float(W[n, n] - W[n, t] @ part.numbers)


def pivoted(W: np.ndarray, b: np.ndarray, parts: list[ModePart]) -> np.ndarray | None:
    """x of the polyhedral problem by Lemke's method; None where its path ends on a ray."""
    columns, rows, links, right = [], [], [], []
    offset, none = np.zeros(b.size), np.zeros(b.size)

    def add(column: np.ndarray, row: np.ndarray) -> int:
        columns.append(column)
        rows.append(row)
        return len(columns) - 1

    def unit(at: int) -> np.ndarray:
        return np.eye(b.size)[at]

    # the variables of each part: columns of x, rows of w, and links of bounds β with what they bound
    for p in parts:
        n, t = p.rows[0], p.rows[1:]
        # −c ≤ x ≤ c as x = y − c with 0 ≤ y ≤ 2 c; β is the multiplier of the upper bound
        if p.kind == HOLD:
            offset[n] = -p.numbers[0]
            y, beta = add(unit(n), unit(n)), add(none, none)
            links.append((beta, y, -1.0))
            right.append((beta, 2.0 * p.numbers[0]))
            continue
        column = unit(n)
        # a contact that slides: x_t = −k x_n
        if p.kind == SLIDE:
            column[t] = -p.numbers
        normal = add(column, unit(n))
        # a contact that rests: forces along the spokes of a polyhedral cone, whose sum is at most μ x_n; β is the speed of slip
        if p.kind == REST:
            spokes = []
            for d in directions(t.size, FACETS):
                spoke = np.zeros(b.size)
                spoke[t] = p.numbers * d
                spokes.append(add(spoke, spoke))
            beta = add(none, none)
            links += [(beta, normal, 1.0), *((beta, s, -1.0) for s in spokes)]
    # w = A z + c with x = offset + B z, and Lemke's method
    B, E = np.array(columns).T, np.array(rows).T
    A, c = E.T @ W @ B, E.T @ (W @ offset + b)
    for beta, variable, coefficient in links:
        A[beta, variable] += coefficient
        if coefficient < 0.0:
            A[variable, beta] += 1.0
    for beta, value in right:
        c[beta] += value
    done = solve_lcp(A, c)
    size = float(np.abs(b).max(initial=0.0)) or 1.0
    x = offset + B @ done.z
    if done.why or done.residual > 1e-6 * (size + np.abs(done.z).max(initial=0.0)):
        return None
    return x


def balanced(W: np.ndarray, b: np.ndarray, parts: list[ModePart]) -> np.ndarray | None:
    """x of parts none of which slides, with round cones; None where it is not found."""

    def law(p: ModePart) -> Blocks:
        if p.kind == REST:
            return contacts(p.numbers, planar=True) if p.numbers.size == 1 else contacts(p.numbers[None])
        return unilateral(1) if p.kind == PUSH else box(p.numbers)

    rows = np.concatenate([p.rows for p in parts])
    problem = ContactProblem(W[np.ix_(rows, rows)], b[rows], join(*(law(p) for p in parts)))
    found = solve_contacts(problem, tolerance=1e-12 * (float(np.abs(b).max(initial=0.0)) or 1.0))
    if found.residual.velocity > 1e-6 * np.abs(b).max(initial=0.0):
        return None
    x = np.zeros(b.size)
    x[rows] = found.impulse
    return x
