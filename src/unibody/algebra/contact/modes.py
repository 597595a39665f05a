"""Forces and accelerations at an instant: every way in which contacts can go on, examined one by one (CP1 of paper 002, Eq. 25–34).

    a = W x + b        one law per part of rows

    push      x ≥ 0 ⟂ a ≥ 0                                         (limits, contact without friction)
    slide     x_t = −k x_n, a known slip;  x_n ≥ 0 ⟂ a_n ≥ 0        (column n of W becomes that of n − Σ k t: no longer symmetric)
    rest      x_n ≥ 0 ⟂ a_n ≥ 0;  a_t = 0 within the cone Σ (x_i / μ_i)² ≤ x_n², or friction on it and against a_t
    hold      |x| ≤ c;  a = 0, or x = ±c against a                  (dry friction of constant bound)

A mode says of every part what it does: then all is linear, but for the directions in which resting contacts begin to slide; these are found
by Newton's method on products of spheres: u(e) has to lie along e, and the part of u across e vanishes smoothly even where u itself passes
through zero and its direction would jump. A mode is a solution if its inequalities hold. Because of the second law there may be several, or
none at all (Painlevé): for parts without such directions the examination proves it. Where modes are too many, Lemke's pivoting on the
polyhedral problem gives one solution, or a ray, which then proves nothing.

Parts that do not feel each other (no entry of W joins them) are examined apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from unibody.algebra.contact.mode_parts import FACETS, HOLD, PUSH, REST, SLIDE, ModePart, balanced, islands, own_response, pivoted
from unibody.algebra.contact.polyhedral import directions

SEPARATES, PRESSES, SLIDES, STICKS, STARTS, YIELDS = "separates", "presses", "slides", "sticks", "starts to slide", "yields"

MODES = 7000
"""As many modes of an island are examined one by one."""
TURNING = 300
"""As many, where directions of sliding have to be found."""
SMALL = 1e-9
"""Parts of the largest acceleration and force that count as zero."""
SINGULAR = 1e-10
"""Part of the largest singular value below which forces are not determined."""
STEPS, HALVINGS = 20, 6
SHIFT, ENOUGH = 1e-6, 1e-12
"""Slip directions: the steps of Newton's method and of its line search, the shift of differences, the part of u across e at which it
ends."""

Directions = dict[int, np.ndarray]
"""Unit vectors of parts that begin to slide."""


@dataclass(frozen=True)
class ModeSolution:
    """One solution: forces x, accelerations a, what each part does, and whether other forces would give the same accelerations."""

    x: np.ndarray
    a: np.ndarray
    modes: tuple[str, ...]
    forces_unique: bool


@dataclass(frozen=True)
class IslandModes:
    """Parts that feel each other: their solutions, in how many modes they were sought, and whether there can be no others."""

    parts: tuple[int, ...]
    found: tuple[ModeSolution, ...]
    examined: int
    complete: bool


def solve_modes(W: np.ndarray, b: np.ndarray, parts: list[ModePart], most: int = MODES, resting: bool = True) -> list[IslandModes]:
    """All solutions of every island of parts; x and a of an island are zero in the rows of others. Without `resting`, one solution is
    enough of islands in which nothing slides: these have one.

    >>> rod = np.array([[1.0, 2.0], [2.0, 5.0]])
    >>> [len(solve_modes(rod, np.array([-g, 0.0]), [ModePart(SLIDE, np.arange(2), np.array([1.0]))])[0].found) for g in (9.81, -9.81)]
    [0, 2]
    """
    W, b = np.asarray(W, float), np.asarray(b, float)
    if not (np.isfinite(W).all() and np.isfinite(b).all()):
        raise ValueError("a problem of modes needs finite numbers")
    found = []
    for island in islands(W, parts):
        slides = any(parts[i].kind == SLIDE for i in island)
        found.append(_Search(W, b, parts, island, most if resting or slides else 0).run())
    return found


def blamed(W: np.ndarray, b: np.ndarray, parts: list[ModePart], island: IslandModes) -> tuple[int, ...]:
    """Which parts of an island without solutions cause that: those whose friction alone, taken away, gives it one; else all that slide
    and are pulled in by their own normal force; else all that slide; else all."""
    slides = [i for i in island.parts if parts[i].kind == SLIDE and parts[i].numbers.any()]
    cured = []
    for i in slides:
        smooth = [replace(p, numbers=np.zeros_like(p.numbers)) if k == i else p for k, p in enumerate(parts)]
        if any(g.found for g in solve_modes(W, b, smooth) if i in g.parts):
            cured.append(i)
    pulled = [i for i in slides if own_response(W, parts[i]) <= 0.0]
    return tuple(cured or pulled or slides or island.parts)


class _Search:
    """The modes of one island, scaled so that a normal force of one accelerates its own part by one."""

    def __init__(self, W: np.ndarray, b: np.ndarray, parts: list[ModePart], island: tuple[int, ...], most: int):
        self.island, self.most, self.total = island, most, b.size
        self.at = np.concatenate([parts[i].rows for i in island])
        place = np.full(b.size, -1)
        place[self.at] = np.arange(self.at.size)
        self.parts = [replace(parts[i], rows=place[parts[i].rows]) for i in island]
        self.D = np.ones(self.at.size)
        for p in self.parts:
            own = max(np.diag(W)[self.at[p.rows]].max(), 1e-12 * np.diag(W).max(initial=0.0))
            self.D[p.rows] = own**-0.5 if own > 0.0 else 1.0
        self.parts = [replace(p, numbers=p.numbers / self.D[p.rows]) if p.kind == HOLD else p for p in self.parts]
        self.W, self.b = self.D[:, None] * W[np.ix_(self.at, self.at)] * self.D, self.D * b[self.at]
        self.size = float(np.abs(self.b).max(initial=0.0)) or 1.0
        self.found: list[ModeSolution] = []

    def run(self) -> IslandModes:
        choices = [self._choices(p) for p in self.parts]
        count = int(np.prod([float(len(c)) for c in choices]))
        turning = [p for p in self.parts if p.kind == REST and p.rows.size > 2]
        examined, complete = 0, False
        if count <= self.most:
            complete = not turning
            for modes in product(*choices):
                begins = any(m == STARTS and p.rows.size > 2 for (m, _), p in zip(modes, self.parts, strict=True))
                if begins and count > TURNING:
                    continue
                examined += 1
                for direction in self._starts(modes) if begins else (None,):
                    self._offer(modes, direction)
        if not self.found or turning:
            examined += 1
            self._pivot()
        return IslandModes(self.island, tuple(self._outside(f) for f in self.found), examined, complete)

    @staticmethod
    def _choices(p: ModePart) -> list[tuple[str, float]]:
        if p.kind == PUSH:
            return [(PRESSES, 0.0), (SEPARATES, 0.0)]
        if p.kind == SLIDE:
            return [(SLIDES, 0.0), (SEPARATES, 0.0)]
        if p.kind == HOLD:
            return [(STICKS, 0.0), (YIELDS, 1.0), (YIELDS, -1.0)]
        if p.rows.size == 2:
            return [(STICKS, 0.0), (STARTS, 1.0), (STARTS, -1.0), (SEPARATES, 0.0)]
        return [(STICKS, 0.0), (STARTS, 0.0), (SEPARATES, 0.0)]

    def _starts(self, modes: tuple) -> Iterator[Directions]:
        """Directions to begin with: against what sticking would take, along what no friction gives; and some by chance."""
        stuck = tuple((STICKS, 0.0) if m == STARTS else (m, s) for m, s in modes)
        smooth = {k: np.zeros(p.rows.size - 1) for k, p in enumerate(self.parts)}
        begins = [k for k, (m, _) in enumerate(modes) if m == STARTS]
        for x, a in ((self._linear(stuck, None)[0], None), (None, self._linear(modes, smooth)[1])):
            given = {}
            for k in begins:
                p = self.parts[k]
                t = p.rows[1:]
                e = -x[t] / p.numbers if x is not None else p.numbers * a[t]  # type: ignore[index]
                given[k] = unit(e) if e.any() else np.eye(t.size)[0]
            yield given
        chance = np.random.default_rng(0)
        for _ in range(4 if len(begins) < 3 else 2):
            yield {k: unit(chance.normal(size=self.parts[k].rows.size - 1)) for k in begins}

    def _columns(self, modes: tuple, direction: Directions | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What is unknown as columns of x, the rows that are zero, and what is given of x."""
        columns, rows, given = [], [], np.zeros(self.at.size)
        for k, ((mode, sign), p) in enumerate(zip(modes, self.parts, strict=True)):
            n, t = p.rows[0], p.rows[1:]
            if mode == SEPARATES:
                continue
            if mode == YIELDS:
                given[n] = sign * p.numbers[0]
                continue
            if mode == STICKS:
                for r in p.rows:
                    columns.append(np.eye(self.at.size)[r])
                    rows.append(r)
                continue
            column = np.zeros(self.at.size)
            column[n] = 1.0
            if mode == SLIDES:
                column[t] = -p.numbers
            elif mode == STARTS and (direction is None or k not in direction):
                column[t] = -sign * p.numbers
            elif mode == STARTS:
                column[t] = -p.numbers * direction[k]
            columns.append(column)
            rows.append(n)
        return np.array(columns).reshape(-1, self.at.size).T, np.array(rows, np.int64), given

    def _linear(self, modes: tuple, direction: Directions | None) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
        """x and a of a mode with its directions, the forces (columns) that change no row of it, and whether its equations can be met."""
        P, rows, x = self._columns(modes, direction)
        none = np.zeros((self.at.size, 0))
        if not rows.size:
            return x, self.W @ x + self.b, none, True
        A, right = (self.W @ P)[rows], -(self.W[rows] @ x + self.b[rows])
        U, s, Vt = np.linalg.svd(A)
        kept = s > SINGULAR * max(s.max(), 1.0)
        y = Vt[: s.size][kept].T @ ((U[:, kept].T @ right) / s[kept])
        met = float(np.abs(A @ y - right).max()) <= SMALL * self.size
        x = x + P @ y
        return x, self.W @ x + self.b, P @ Vt[~kept].T if not kept.all() else none, met

    def _slip_directions(self, modes: tuple, direction: Directions) -> Directions | None:
        """Directions that are those of their own tangential accelerations."""

        def pushed(given: Directions) -> Directions:
            a = self._linear(modes, given)[1]
            return {k: self.parts[k].numbers * a[self.parts[k].rows[1:]] for k in given}

        return slip_directions(pushed, {k: e for k, e in direction.items() if modes[k][0] == STARTS})

    def _offer(self, modes: tuple, direction: Directions | None) -> None:
        """Keep the solution of a mode, if it is one and not known yet."""
        if direction is not None and (direction := self._slip_directions(modes, direction)) is None:
            return
        x, a, null, met = self._linear(modes, direction)
        if not met:
            return
        slack = self._slack(modes, x, a, direction)
        if slack < -SMALL * (self.size + float(np.abs(x).max(initial=0.0))):
            if not null.shape[1] or (x := self._within(modes, x, a, null, direction)) is None:
                return
            a = self.W @ x + self.b
            if any(np.linalg.norm(self._across(k, e, a)) > 1e2 * SMALL * self.size for k, e in (direction or {}).items()):
                return  # other forces turn the directions
        for k, known in enumerate(self.found):
            if np.abs(a - known.a).max() <= 1e3 * SMALL * (self.size + np.abs(a).max()):
                same = np.abs(x - known.x).max() <= 1e3 * SMALL * (self.size + np.abs(x).max())
                self.found[k] = replace(known, forces_unique=known.forces_unique and bool(same) and not null.shape[1])
                return
        self.found.append(ModeSolution(x, a, self._said(x, a), not null.shape[1]))

    def _across(self, k: int, e: np.ndarray, a: np.ndarray) -> np.ndarray:
        """What a start along e has of its acceleration across it."""
        push = self.parts[k].numbers * a[self.parts[k].rows[1:]]
        return push - (push @ e) * e

    def _slack(self, modes: tuple, x: np.ndarray, a: np.ndarray, direction: Directions | None) -> float:
        """The least of all inequalities of a mode."""
        least = np.inf
        for k, ((mode, sign), p) in enumerate(zip(modes, self.parts, strict=True)):
            n, t = p.rows[0], p.rows[1:]
            if mode == SEPARATES:
                value = a[n]
            elif mode == YIELDS:
                value = -sign * a[n]
            elif mode == STICKS:
                value = (p.numbers[0] - abs(x[n])) if p.kind == HOLD else x[n] - float(np.linalg.norm(x[t] / p.numbers))
            elif mode == STARTS:
                heading = p.numbers * (np.array([sign]) if direction is None or k not in direction else direction[k])
                value = min(x[n], float(heading @ a[t]))
            else:
                value = x[n]
            least = min(least, float(value))
        return least

    def _within(
        self, modes: tuple, x: np.ndarray, a: np.ndarray, null: np.ndarray, direction: Directions | None
    ) -> np.ndarray | None:
        """Among forces x + null z those within all inequalities, cones being polyhedra inside them; None if there are none."""
        from scipy.optimize import linprog

        upper, right = [], []  # upper z ≤ right − s
        along = self.W @ null

        def at_least(row: np.ndarray, value: float) -> None:
            upper.append(-row)
            right.append(value)

        for k, ((mode, sign), p) in enumerate(zip(modes, self.parts, strict=True)):
            n, t = p.rows[0], p.rows[1:]
            if mode == STARTS:
                heading = p.numbers * (np.array([sign]) if direction is None or k not in direction else direction[k])
                at_least(heading @ along[t], float(heading @ a[t]))
            if mode == SEPARATES:
                at_least(along[n], a[n])
            elif mode == YIELDS:
                at_least(-sign * along[n], -sign * a[n])
            elif mode == STICKS and p.kind == HOLD:
                for side in (1.0, -1.0):
                    at_least(side * null[n], p.numbers[0] + side * x[n])
            elif mode == STICKS:
                flat = 1.0 if t.size == 1 else np.cos(np.pi / FACETS) if t.size == 2 else 0.8
                for d in directions(t.size, FACETS):
                    at_least(flat * null[n] - d @ (null[t] / p.numbers[:, None]), flat * x[n] - d @ (x[t] / p.numbers))
            else:
                at_least(null[n], x[n])
        m = null.shape[1]
        table = np.hstack([np.array(upper), np.ones((len(upper), 1))])
        found = linprog(np.r_[np.zeros(m), -1.0], table, np.array(right), bounds=[(None, None)] * m + [(None, self.size)], method="highs")
        if not found.success or found.x[-1] < -SMALL * self.size:
            return None
        return x + null @ found.x[:-1]

    def _said(self, x: np.ndarray, a: np.ndarray) -> tuple[str, ...]:
        """What each part does, by its numbers."""
        out = []
        force = 1e2 * SMALL * (self.size + float(np.abs(x).max(initial=0.0)))
        motion = 1e2 * SMALL * (self.size + float(np.abs(a).max(initial=0.0)))
        for p in self.parts:
            n, t = p.rows[0], p.rows[1:]
            if p.kind == HOLD:
                out.append(STICKS if abs(a[n]) <= motion else YIELDS)
            elif x[n] <= force:
                out.append(SEPARATES)
            elif p.kind == REST:
                out.append(STICKS if np.abs(a[t]).max(initial=0.0) <= motion else STARTS)
            else:
                out.append(PRESSES if p.kind == PUSH else SLIDES)
        return tuple(out)

    def _pivot(self) -> None:
        """One solution by Lemke's method, or by that of the round cone where nothing slides yet; its mode is solved for afresh."""
        x = pivoted(self.W, self.b, self.parts) if any(p.kind == SLIDE for p in self.parts) else balanced(self.W, self.b, self.parts)
        if x is None:
            return
        a = self.W @ x + self.b
        modes, direction = [], {}
        for k, (said, p) in enumerate(zip(self._said(x, a), self.parts, strict=True)):
            n, t = p.rows[0], p.rows[1:]
            sign = 0.0
            if said == YIELDS:
                sign = float(np.sign(x[n]))
            if said in (STICKS, STARTS) and p.kind == REST:
                inside = np.linalg.norm(x[t] / p.numbers) < (1.0 if t.size == 1 else 0.97) * x[n] * (1.0 - 1e-7)
                said = STICKS if inside else said
                sign = -float(np.sign(x[t[0]])) if said == STARTS and t.size == 1 else 0.0
                if said == STARTS and t.size > 1:
                    direction[k] = unit(-x[t] / p.numbers)
            modes.append((said, sign))
        self._offer(tuple(modes), direction or None)

    def _outside(self, f: ModeSolution) -> ModeSolution:
        """In the scale and rows of the whole problem."""
        x, a = np.zeros(self.total), np.zeros(self.total)
        x[self.at], a[self.at] = self.D * f.x, f.a / self.D
        return replace(f, x=x, a=a)


def unit(v: np.ndarray) -> np.ndarray:
    return v / max(float(np.linalg.norm(v)), 1e-300)


def across(e: np.ndarray) -> np.ndarray:
    """(m, m − 1) unit vectors across one."""
    return np.linalg.svd(e[None])[2][1:].T


def slip_directions(u: Callable[[Directions], Directions], start: Directions) -> Directions | None:
    """e with u(e) along e, or against it, near a start; None where it is not found."""
    e = {k: unit(v) for k, v in start.items()}

    def missed(e: Directions) -> tuple[np.ndarray, float]:
        found = u(e)
        parts = [found[k] - (found[k] @ e[k]) * e[k] for k in e]
        return np.concatenate(parts), max(float(np.linalg.norm(v)) for v in found.values())

    r, size = missed(e)
    for _ in range(STEPS):
        if np.abs(r).max() <= ENOUGH * size:
            return e
        bases = {k: across(v) for k, v in e.items()}
        count = sum(basis.shape[1] for basis in bases.values())
        J = np.zeros((r.size, count))
        for c in range(count):
            J[:, c] = (missed(_moved(e, bases, SHIFT * np.eye(count)[c]))[0] - r) / SHIFT
        change = np.linalg.lstsq(J, -r, rcond=1e-12)[0]
        change *= min(1.0, 1.0 / max(float(np.abs(change).max()), 1e-300))
        for half in range(HALVINGS):
            tried = _moved(e, bases, 0.5**half * change)
            there, size = missed(tried)
            if np.linalg.norm(there) < np.linalg.norm(r):
                break
        else:
            return e if np.abs(r).max() <= 1e3 * ENOUGH * size else None
        e, r = tried, there
    return None


def _moved(e: Directions, bases: Directions, change: np.ndarray) -> Directions:
    """Directions rotated by steps in their tangent planes."""
    out, at = {}, 0
    for k, basis in bases.items():
        m = basis.shape[1]
        out[k], at = unit(e[k] + basis @ change[at : at + m]), at + m
    return out
