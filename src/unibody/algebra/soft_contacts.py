"""Forces of contacts that give way: Newton's method on their law, which has kinks, with steps as long as they do good.

All forces are functions of the motion u = W λ of their rows, changes of accelerations over a step h,

    p = max(0, (right − u)/soft)                    of rows that push: one-sided ones and normals
    f = −m p w / max(|w|, w_s),   w = free + h u    of the tangents of a contact, m Coulomb's coefficient

so that λ = φ(W λ) is to be solved. φ is steep: which piece of it holds is better told from force and motion together, by

    y = p + ρ (right − u − soft p),     z = f − ρ' (w + w_s f/(m p)),     ρ, ρ' about the mass that the row feels (over h, of z)

a row pushes if y > 0, a contact sticks if |z| ≤ m p, and at the solution these pieces are those of φ. Each iteration solves the law with
its slopes there: f follows p as well as w; of one that slips only w across z/|z| matters, with 1/(|z|/(m p) − 1 + ρ' w_s/(m p)) ρ', which
is m p/|w| in the end. Of three lengths of the step that one is taken which leaves the least of p − max(0, y) and f − z min(1, m p/|z|).
That can go round in circles, from which a few iterations lead away in which f follows w alone. The first two iterations, and the last
resort, are a fixed point that keeps p and |w|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.algebra.contact_groups import Grouped
from unibody.algebra.soft_answers import DENSE, Slopes, soft_answers

ITERATIONS, TOLERANCE = 200, 1e-9
"""The most solutions of a step, and how far forces may be from their law, of the largest force."""

ROUND_OFF = 1e-14

PLAIN, LEAVING, KEEPING, NEWTON = "plain", "leaving", "keeping", "newton"
"""Slopes of the fixed point; the same while rows may only cease to push; of Newton's method with m p kept; of Newton's method."""

FIRST, LAST, FINAL, PERIOD, KEPT = 2, 142, 160, 20, 6
"""Solutions up to which, and from which on, slopes are plain, and from which on rows only leave; in between m p is kept in the last KEPT
of every PERIOD."""

FAST = 0.03
"""Plain iterations go on while they leave less than this part."""

LENGTHS = (1.0, 0.5, 0.25)
"""Of a step: the best of these, or the first that leaves less than LITTLE of what was wrong."""
LITTLE = 0.25

SHARE = 0.03
"""ρ' as a part of the mass that tangents feel."""


def kind_of(count: int) -> str:
    """The slopes of the iteration after so many solutions."""
    if count < FIRST or count >= LAST:
        return LEAVING if count >= FINAL else PLAIN
    return KEEPING if (count - FIRST) % PERIOD >= PERIOD - KEPT else NEWTON


@dataclass(frozen=True)
class SoftContacts:
    """rows: m by themselves, then n blocks of w, the normal first; right: (m + n,) of rows that push, soft: (m + n,) their compliances;
    coefficient: (n,); free: (n, w − 1) slip without forces."""

    rows: Grouped
    right: np.ndarray
    soft: np.ndarray
    coefficient: np.ndarray
    free: np.ndarray
    slip_speed: float
    h: float

    @property
    def singles(self) -> int:
        """m."""
        return len(self.right) - len(self.free)

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of rows: (m + n,) of those that push, (n, w − 1) of tangents."""
        m, (n, w) = self.singles, self.free.shape
        contacts = x[m:].reshape(n, w + 1)
        return np.concatenate([x[:m], contacts[:, 0]]), contacts[:, 1:]

    def joined(self, pushes: np.ndarray, across: np.ndarray) -> np.ndarray:
        """The reverse."""
        m = self.singles
        return np.concatenate([pushes[:m], np.concatenate([pushes[m:, None], across], axis=1).ravel()])

    def law(self, u: np.ndarray) -> np.ndarray:
        """φ(u)."""
        along, across = self.split(u)
        push = np.maximum((self.right - along) / self.soft, 0.0)
        w = self.free + self.h * across
        return self.joined(push, -(self.coefficient * push[self.singles :] / np.maximum(lengths(w), self.slip_speed))[:, None] * w)


@dataclass(frozen=True)
class SoftForces:
    """λ and W λ, the number of solutions, and how far λ is from its law, of the largest force."""

    forces: np.ndarray
    motion: np.ndarray
    iterations: int
    residual: float


def lengths(x: np.ndarray) -> np.ndarray:
    """|x| of rows."""
    return np.sqrt(np.einsum("nk,nk->n", x, x))


def over(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b, 0 where b is not positive."""
    return np.where(b > 0.0, a / np.where(b > 0.0, b, 1.0), 0.0)


class Pieces:
    """Which pieces of the law hold at forces and a motion, and the law's slopes on them."""

    def __init__(self, problem: SoftContacts):
        self.problem, m, width = problem, problem.singles, problem.free.shape[1]
        self.felt, across = problem.split(problem.rows.diagonal(len(problem.rows.rows)))
        self.felt_across = across.sum(axis=1) / width
        self.share = over(np.ones(len(self.felt)), self.felt + problem.soft)
        self.share_across = SHARE / problem.h * over(np.ones(len(across)), self.felt_across)
        self._normal = slice(m, None)

    def wrong(self, force: np.ndarray, u: np.ndarray) -> float:
        """What is left of the law, as energy."""
        problem = self.problem
        push, f = problem.split(force)
        along, across = problem.split(u)
        bound = problem.coefficient * np.maximum(push[self._normal], 0.0)
        y = push + self.share * (problem.right - along - problem.soft * push)
        z = self._predicted(f, problem.free + problem.h * across, bound)
        far = f - z * np.where(bound > 0.0, np.minimum(1.0, over(bound, lengths(z))), 0.0)[:, None]
        return float((push - np.maximum(y, 0.0)) ** 2 @ self.felt + np.einsum("nk,nk->n", far, far) @ self.felt_across)

    def best(self, force: np.ndarray, u: np.ndarray, change: np.ndarray, moved: np.ndarray) -> float:
        """The length of a step that leaves least of the law."""
        enough, left = LITTLE * self.wrong(force, u), []
        for x in LENGTHS:
            left.append(self.wrong(force + x * change, u + x * moved))
            if left[-1] < enough:
                return x
        return LENGTHS[left.index(min(left))]

    def _predicted(self, f: np.ndarray, w: np.ndarray, bound: np.ndarray) -> np.ndarray:
        """z."""
        give = over(np.full(len(bound), self.problem.slip_speed), bound)
        return (1.0 - self.share_across * give)[:, None] * f - self.share_across[:, None] * w

    def at(self, force: np.ndarray, u: np.ndarray, kind: str) -> tuple[np.ndarray, Slopes]:
        """δ and Φ."""
        problem, normal = self.problem, self._normal
        push, f = problem.split(force)
        along, across = problem.split(u)
        acts = push + self.share * (problem.right - along - problem.soft * push) > 0.0
        if kind == LEAVING:
            acts &= push > 0.0
        wish, slope = np.where(acts, (problem.right - along) / problem.soft, 0.0), np.where(acts, -1.0 / problem.soft, 0.0)
        w = problem.free + problem.h * across
        p = np.where(acts, np.maximum(push, 0.0), 0.0)[normal]
        n, width = w.shape
        blocks = np.zeros((n, width + 1, width + 1))
        blocks[:, 0, 0] = slope[normal]
        if kind in (PLAIN, LEAVING):
            hold = problem.coefficient * p / np.maximum(lengths(w), problem.slip_speed)
            rub = -hold[:, None] * w
            blocks[:, 1:, 1:] = (-problem.h * hold)[:, None, None] * np.eye(width)
        else:
            drag, follow, keep = self._rubs(f, w, p, acts[normal])
            blocks[:, 1:, 1:] = -problem.h * drag
            if kind == NEWTON:
                blocks[:, 1:, 0] = follow * slope[normal, None]
            rub = follow * ((wish[normal] if kind == NEWTON else p) - keep)[:, None] - np.einsum("nij,nj->ni", drag, w)
        return problem.joined(wish, rub) - force, Slopes(slope[: problem.singles], blocks)

    def _rubs(self, f: np.ndarray, w: np.ndarray, p: np.ndarray, acts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Friction as follow · (new p − keep) − drag · new w: drag (n, k, k), follow (n, k), keep (n,)."""
        problem = self.problem
        bound = problem.coefficient * p
        f = f * np.minimum(1.0, np.where(bound > 0.0, over(bound, lengths(f)) + (lengths(f) == 0.0), 0.0))[:, None]
        z = self._predicted(f, w, bound)
        size = lengths(z)
        sticks = (bound > 0.0) & (size <= bound)
        along = z * over(np.ones(len(size)), size)[:, None]
        give = over(np.full(len(bound), problem.slip_speed), bound)
        beta = over(bound, size)
        turn = np.where(sticks, 0.0, over(beta * self.share_across, 1.0 - beta * (1.0 - self.share_across * give)))
        hold = np.where(sticks, bound / problem.slip_speed, turn)
        drag = hold[:, None, None] * np.eye(w.shape[1]) - turn[:, None, None] * along[:, :, None] * along[:, None, :]
        follow = np.where(sticks[:, None], f * over(np.ones(len(p)), p)[:, None], problem.coefficient[:, None] * along) * acts[:, None]
        return drag, follow, np.where(sticks, p, 0.0)


def missing(law: np.ndarray, force: np.ndarray) -> float:
    """How far forces are from their law, of the largest one."""
    largest = max(np.abs(law).max(initial=0.0), np.abs(force).max(initial=0.0))
    return float(np.abs(law - force).max(initial=0.0) / largest) if largest > 0.0 else 0.0


def soft_forces(problem: SoftContacts, dense: int = DENSE) -> SoftForces:
    """All forces of a step; `dense`: the largest dense matrix."""
    size = problem.rows.size
    force, u, count = np.zeros(size), np.zeros(size), 0
    if not (problem.right > 0.0).any():
        return SoftForces(force, u, 0, 0.0)
    pieces = Pieces(problem)
    answers = soft_answers(problem.rows, problem.singles, problem.free.shape[1] + 1, dense)
    residual, before, kind = 1.0, 1.0, PLAIN
    while residual > TOLERANCE and count < ITERATIONS:
        kind = PLAIN if kind == PLAIN and residual < FAST * before else kind_of(count)
        before = residual
        gap, slopes = pieces.at(force, u, kind)
        change, moved = answers.solve(slopes, gap)
        length = 1.0 if kind in (PLAIN, LEAVING) else pieces.best(force, u, change, moved)
        force, u, count = force + length * change, u + length * moved, count + 1
        residual = missing(problem.law(u), force)
        if residual <= TOLERANCE:  # once more without the round-off of what was added up
            u = answers.motion(force)
            residual = missing(problem.law(u), force)
    return SoftForces(allowed(problem, force), u, count, residual)


def allowed(problem: SoftContacts, force: np.ndarray) -> np.ndarray:
    """The same without what pulls, and without what exceeds Coulomb's bound where it is but round-off of the largest force. (To cut off
    more would be felt: the law answers to a change of forces with thousands of times as much.)"""
    pushes, across = problem.split(force)
    pushes, size = np.maximum(pushes, 0.0), lengths(across)
    bound = problem.coefficient * pushes[problem.singles :]
    cut = (size > bound) & (size < ROUND_OFF * np.abs(force).max())
    return problem.joined(pushes, across * np.where(cut, over(bound, size), 1.0)[:, None])
