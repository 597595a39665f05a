"""Linear complementarity by Lemke's pivoting: w = A z + b, w ≥ 0, z ≥ 0, wᵀ z = 0, for matrices that need not be symmetric.

One artificial variable z₀ ≥ 0 makes w = A z + b + d z₀ feasible; the variable that left the basis last is followed by its complement,
until z₀ itself leaves (a solution) or nothing stops the entering variable (a ray: for copositive A this says that w ≥ 0 cannot be
reached; for others only that this path found no solution). Ties are broken by the lexicographic rule, as if b were b + (ε, ε², …), so
that no basis returns. The tableau is a dictionary x_B = q + C x_N of n rows; the perturbation needs no columns of its own: ε_j enters
with minus the coefficient of w_j.

Round-off must not decide how the path ends:

* Rows and columns are scaled alike, z = S y and S w = S A S y + S b, so that the largest entries are near one whatever the units; powers
  of two, which round nothing. In these numbers what is below `SMALL` counts as zero, in ratios, in ties and among the ε's.
* Pivoting loses digits, so that the equations of the last basis are solved afresh.
* What comes out is judged by the problem itself, not by how the path ended: w_i ≥ 0 and min(z_i, w_i) = 0, to `SOUND` of what row i can
  add up and of the largest z. A ray that fails this is tried again from other covers d, along other paths; only if all fail is it reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.kernel import Floats, Ints, device, kernel

SOLVED, RAY, LIMIT = 0, 1, 2
WHY = {SOLVED: "", RAY: "ends on a ray", LIMIT: "not ended within the pivots allowed"}
SMALL = 1e-11
"""Of the largest entry of a column or row: what is smaller is taken for round-off, and what differs by less for equal."""
SOUND = 1e-11
"""Violation up to which a solution is one: its equations were solved to round-off, and a basis of contacts loses four digits or so."""
FAR = 1e9
"""Of the largest b, scaled: a solution farther out is one that round-off has put on a ray."""
COVERS = 5
"""Paths that are tried."""


@dataclass(frozen=True)
class LcpSolution:
    """z, w = A z + b, the largest |min(z_i, w_i)|, the number of pivots, and why it is no solution, or nothing."""

    z: np.ndarray
    w: np.ndarray
    residual: float
    pivots: int
    why: str


def solve_lcp(A: np.ndarray, b: np.ndarray, cover: np.ndarray | None = None, pivots: int = 0) -> LcpSolution:
    """Lemke's method from the cover d > 0 (default: ones); at most `pivots` exchanges (default: 50 n).

    >>> solve_lcp(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])).z.round(9).tolist()
    [1.333333333, 2.333333333]
    """
    n = b.size
    if A.shape != (n, n) or not (np.isfinite(A).all() and np.isfinite(b).all()):
        raise ValueError(f"a complementarity problem of {n} rows needs a finite {n} × {n} matrix, got shape {A.shape}")
    if n == 0 or b.min() >= 0.0:
        return LcpSolution(np.zeros(n), b.copy(), 0.0, 0, "")
    scale = _scaling(A)
    C, c = scale[:, None] * A * scale, scale * b
    limit, used = pivots or 50 * n + 50, 0
    best, least, why = np.zeros(n), np.inf, ""
    for attempt in range(COVERS):
        d = _cover(np.ones(n) if cover is None else np.asarray(cover, float) * scale, attempt)
        y, table, names = np.zeros(n), np.zeros(n * (n + 2)), np.zeros(2 * n + 2, np.int64)
        status = lemke(C.ravel(), c, d, limit - used, table, names, np.zeros(2 * n + 1, np.int64), y)
        used += int(names[-1])
        y = _afresh(C, c, y, names[:n] - n)
        violation = _violation(C, c, y)
        if violation < least:
            best, least, why = y, violation, WHY[status] or "lost to round-off"
        if least <= SOUND or used >= limit:
            break
    z = scale * best
    w = A @ z + b
    return LcpSolution(z, w, float(np.abs(np.minimum(z, w)).max()), used, "" if least <= SOUND else why)


def _scaling(A: np.ndarray) -> np.ndarray:
    """S, powers of two, with the largest entry of every row and column of S A S near one."""
    size = np.maximum(np.abs(A), np.abs(A.T))
    scale = np.ones(len(A))
    for _ in range(8):
        largest = (scale[:, None] * size * scale).max(axis=1)
        scale /= np.sqrt(np.where(largest > 0.0, largest, 1.0))
    return np.exp2(np.rint(np.log2(scale)))


def _cover(first: np.ndarray, attempt: int) -> np.ndarray:
    """The cover of an attempt: the first, then others within a factor of two of it that no symmetry of the problem shares."""
    golden = 0.5 * (5.0**0.5 - 1.0)
    return first * (1.0 + np.modf(golden * attempt * np.arange(1, first.size + 1))[0])


def _violation(A: np.ndarray, b: np.ndarray, z: np.ndarray) -> float:
    """How far z ≥ 0 is from a solution: the largest of −w_i and min(z_i, w_i), with w_i as a part of what its row can add up and z_i of
    the largest z."""
    w, most = A @ z + b, z.max()
    if most > FAR * np.abs(b).max():
        return np.inf
    size = np.abs(A).sum(axis=1) * most + np.abs(b)
    relative = w / np.where(size > 0.0, size, 1.0)
    return float(np.abs(np.minimum(relative, z / most if most else 0.0)).max())


def _afresh(A: np.ndarray, b: np.ndarray, z: np.ndarray, basic: np.ndarray) -> np.ndarray:
    """z from the equations w_i = 0 of the basic z_i, where that is better than what pivoting left."""
    held = np.sort(basic[(basic >= 0) & (basic < b.size)])
    best, size = z, _violation(A, b, z)
    for _ in range(2):
        rest = A[np.ix_(held, held)] @ best[held] + b[held]
        try:
            step = np.linalg.solve(A[np.ix_(held, held)], rest)
        except np.linalg.LinAlgError:
            step = np.linalg.lstsq(A[np.ix_(held, held)], rest, rcond=None)[0]
        other = best.copy()
        other[held] = np.maximum(best[held] - step, 0.0)
        found = _violation(A, b, other)
        if not found < size:
            break
        best, size = other, found
    return best


@device
def perturbation(table, names, place, n, row, j):
    """Coefficient of ε_j in a row: minus that of w_j, or one where w_j is this row's basic variable."""
    at = place[j]
    if at < n:
        return 1.0 if at == row else 0.0
    return -table[row * (n + 2) + at - n]


@device
def comes_first(table, names, place, n, column, a, b):
    """Whether row a leaves before row b by the perturbation alone."""
    width = n + 2
    pa, pb = -table[a * width + column], -table[b * width + column]
    largest = 0.0
    for j in range(n):
        largest = max(largest, abs(perturbation(table, names, place, n, a, j) / pa), abs(perturbation(table, names, place, n, b, j) / pb))
    for j in range(n):
        ea = perturbation(table, names, place, n, a, j) / pa
        eb = perturbation(table, names, place, n, b, j) / pb
        if abs(ea - eb) > SMALL * largest:
            return ea < eb
    return a < b


@device
def leaving_row(table, names, place, n, column):
    """The row that stops the variable of a column, or −1; z₀ leaves where it is among the first."""
    width = n + 2
    largest = 0.0
    scale = 0.0
    for i in range(n):
        largest = max(largest, abs(table[i * width + column]))
        scale = max(scale, abs(table[i * width + n + 1]))
    # how far the variable can come if every row gives way by round-off: whoever stops it before is tied
    least = np.inf
    for i in range(n):
        slope = -table[i * width + column]
        if slope > SMALL * largest:
            least = min(least, (max(table[i * width + n + 1], 0.0) + SMALL * scale) / slope)
    best = -1
    for i in range(n):
        slope = -table[i * width + column]
        if slope > SMALL * largest and max(table[i * width + n + 1], 0.0) <= least * slope:
            if names[i] == 2 * n:
                return i
            if best < 0 or comes_first(table, names, place, n, column, i, best):
                best = i
    return best


@device
def exchange(n, row, column, table_out, names_out, place_out):
    """The basic variable of a row and the other one of a column change places."""
    width = n + 2
    base = row * width
    pivot = table_out[base + column]
    for j in range(width):
        table_out[base + j] /= -pivot
    table_out[base + column] = 1.0 / pivot
    for i in range(n):
        if i == row:
            continue
        f = table_out[i * width + column]
        if f == 0.0:
            continue
        table_out[i * width + column] = 0.0
        for j in range(width):
            table_out[i * width + j] += f * table_out[base + j]
    out, into = names_out[row], names_out[n + column]
    names_out[row], names_out[n + column] = into, out
    place_out[into], place_out[out] = row, n + column


@kernel
def lemke(A: Floats, b: Floats, d: Floats, limit: int, table_out: Floats, names_out: Ints, place_out: Ints, z_out: Floats) -> int:
    """SOLVED, RAY or LIMIT. Variables are numbered w, z, z₀; names: of the n rows, then of the n + 1 columns, then the count of pivots."""
    n = b.size
    width = n + 2
    first = 0
    for i in range(n):
        for j in range(n):
            table_out[i * width + j] = A[i * n + j]
        table_out[i * width + n] = d[i]
        table_out[i * width + n + 1] = b[i]
        names_out[i], names_out[n + i] = i, n + i
        place_out[i], place_out[n + i] = i, n + i
        if b[i] / d[i] <= b[first] / d[first]:
            first = i
    names_out[2 * n], place_out[2 * n] = 2 * n, 2 * n
    left = names_out[first]
    exchange(n, first, n, table_out, names_out, place_out)
    pivots = 1
    status = LIMIT
    while pivots < limit:
        column = place_out[(left + n) if left < n else (left - n)] - n
        row = leaving_row(table_out, names_out, place_out, n, column)
        if row < 0:
            status = RAY
            break
        left = names_out[row]
        exchange(n, row, column, table_out, names_out, place_out)
        pivots += 1
        if left == 2 * n:
            status = SOLVED
            break
    for i in range(n):
        if n <= names_out[i] < 2 * n:
            z_out[names_out[i] - n] = max(table_out[i * width + n + 1], 0.0)
    names_out[2 * n + 1] = pivots
    return status
