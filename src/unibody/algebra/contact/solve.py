"""`solve_contacts`: one contact problem, six ways to its impulses, and the residual that each of them reached.

| method | what it does | best for |
|---|---|---|
| `"lemke"` | pivoting on the polyhedral problem (`polyhedral`, `lcp`) | few contacts; an answer in finitely many steps, or a ray |
| `"pgs"` | block Gauss–Seidel, every contact solved exactly in its turn (`pgs`) | many contacts, modest accuracy, warm starts |
| `"newton"` | nonsmooth Newton; where it stalls, convex rounds (`newton`, `de_saxce`, `interior_point`) | accuracy |
| `"proximal"` | ADMM on the exact cone (`admm`) | a second opinion, by other means |
| `"augmented"` | proximal steps by Newton's method on velocities, sparse (`augmented`) | many contacts, degenerate ones, accuracy |
| `"auto"` | sweeps, then augmented; if that stalls, newton and proximal in small problems; says what it did | everything |

Problems without a solution (Painlevé's, walls that close on a body) end with the best impulses found, `converged` false and a residual
that is not small; never with numbers that are not finite.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from unibody.algebra.contact import polyhedral
from unibody.algebra.contact.admm import proximal
from unibody.algebra.contact.augmented import augmented
from unibody.algebra.contact.de_saxce import Inner, fixed_point
from unibody.algebra.contact.interior_point import interior
from unibody.algebra.contact.newton import FIRST_SWEEPS, newton
from unibody.algebra.contact.pgs import sweep_scaled
from unibody.algebra.contact.problem import COULOMB, ContactProblem, Residual, Solution
from unibody.algebra.contact.scaling import Progress, ScaledProblem

METHODS = ("auto", "lemke", "pgs", "newton", "proximal", "augmented")
TOLERANCE = 1e-10
ITERATIONS = {"lemke": 0, "pgs": 2000, "newton": 300, "proximal": 5000, "augmented": 300, "auto": 300}
SMALL = 600
"""Rows up to which no effort is spared; beyond, a factorisation is dear."""
SWEEPS_FIRST = 64
"""Sweeps of "auto" before Newton's method."""
ENOUGH, PROXIMAL = 1e-7, 1000
"""The part of the velocities given at which it asks no further methods, and the proximal iterations that it allows as the last of them."""
WORK, LEAST = 180_000, 60
"""Newton's steps of "auto" in large problems: as many as this many contacts allow, and no fewer than these."""


def solve_contacts(
    problem: ContactProblem,
    method: str = "auto",
    warm: np.ndarray | None = None,
    tolerance: float = TOLERANCE,
    iterations: int | None = None,
    first: int = FIRST_SWEEPS,
) -> Solution:
    """Impulses λ and velocities u = W λ + b under the laws of the problem.

    warm: impulses to begin with, (m,). tolerance: of the residual's velocity, in units of u. iterations: of the method (pivots, sweeps,
    Newton steps, proximal iterations), by default `ITERATIONS`. first: sweeps before the steps of "newton". Without them loads that are not
    determined come out of least norm.

    >>> from unibody.algebra.contact.problem import contacts
    >>> block = ContactProblem(np.eye(3), np.array([-1.0, 2.0, 0.0]), contacts([0.5]))
    >>> solve_contacts(block).impulse.round(12).tolist()
    [1.0, -0.5, 0.0]
    """
    if method not in METHODS:
        raise ValueError(f"method {method!r} is none of {', '.join(METHODS)}")
    polyhedral = method == "lemke" or (problem.directions > 0 and problem.blocks.contact.any())
    if polyhedral and method not in ("lemke", "auto"):
        raise ValueError(f"method {method!r} solves the round cone; a problem with directions={problem.directions} needs 'lemke' or 'auto'")
    scaled = ScaledProblem(problem)
    limit = ITERATIONS[method] if iterations is None else iterations
    if polyhedral:
        return _pivoted(scaled, limit if method == "lemke" else 0, tolerance)
    x = scaled.start_from(warm)
    if method == "pgs":
        best = _swept(scaled, x, tolerance, limit)
    elif method == "newton":
        best = _newton(scaled, x, tolerance, limit, first)
    elif method in ("proximal", "augmented"):
        best = (proximal if method == "proximal" else augmented)(scaled, x, tolerance, limit)
    else:
        best = _auto(scaled, x, tolerance, limit)
    return _solution(scaled, best, method, tolerance)


def _solution(scaled: ScaledProblem, best: Progress, method: str, tolerance: float, residual: Residual | None = None) -> Solution:
    problem = scaled.problem
    impulse = scaled.impulse(best.x)
    velocity = problem.W @ impulse + problem.b
    residual = residual or scaled.residual(best.x, scaled.D * velocity[scaled.keep])
    converged = residual.velocity <= max(tolerance, scaled.round_off(best.x))
    notes = best.notes if converged else [*best.notes, f"no solution within {tolerance:g}: the residual is {residual.velocity:.1e}"]
    return Solution(impulse, velocity, residual, best.iterations, method, "; ".join(notes), bool(converged))


def _pivoted(scaled: ScaledProblem, pivots: int, tolerance: float) -> Solution:
    count = scaled.problem.directions or polyhedral.DIRECTIONS
    best, velocity, impulse = polyhedral.lemke(scaled, count, pivots)
    if (scaled.rows > 1).any():
        round_cone = scaled.residual(best.x, scaled.velocity(best.x)).velocity
        best.notes.append(f"{count} directions; {round_cone:.1e} from the law of the round cone")
    return _solution(scaled, best, "lemke", tolerance, Residual(velocity, impulse))


def _swept(scaled: ScaledProblem, x: np.ndarray, tolerance: float, limit: int) -> Progress:
    """Sweeps; the residual is computed after 1, 2, 4, … and then every 32."""
    best, chunk = Progress(x.copy()), 1
    best.offer(scaled, x, scaled.velocity(x))
    while best.iterations < limit and best.velocity > max(tolerance, scaled.round_off(best.x)):
        before = x.copy()
        best.iterations += sweep_scaled(scaled, x, min(chunk, limit - best.iterations))
        if not np.isfinite(x).all():  # blocks that nothing moves have no solution of their own: others may know better
            x[:] = before
            best.notes.append("sweeps came to no finite numbers")
            break
        best.offer(scaled, x, scaled.velocity(x))
        chunk = min(2 * chunk, 32)
        if (x == before).all():
            break
    best.notes.append(f"{best.iterations} sweeps")
    return best


def _convex(scaled: ScaledProblem, x: np.ndarray, tolerance: float, limit: int) -> Progress:
    """A convex problem: Newton's method from x (in large ones hardly tried), or from the end of an interior path."""
    steps, failures = (25, 2) if scaled.size <= SMALL else (5, 0)
    best = newton(scaled, x, tolerance, min(limit, steps), failures=failures)
    if best.velocity <= max(tolerance, scaled.round_off(best.x)) or best.iterations >= limit:
        return best
    inside = interior(scaled, tolerance, min(60, limit))
    ended = newton(scaled, inside.x.copy(), tolerance, 15, failures=3, first=0)
    spent = best.iterations + inside.iterations + ended.iterations
    notes = best.notes + inside.notes + ended.notes
    found = min((best, inside, ended), key=lambda p: p.velocity)
    found.iterations, found.notes = spent, notes
    return found


def _polish(scaled: ScaledProblem, x: np.ndarray, tolerance: float, limit: int) -> Progress:
    return newton(scaled, x, tolerance, limit, failures=0, first=0)


def _newton(scaled: ScaledProblem, x: np.ndarray, tolerance: float, limit: int, first: int = FIRST_SWEEPS) -> Progress:
    """Newton's method; where it stalls under Coulomb's law, rounds of convex problems."""
    if scaled.law != COULOMB or not (scaled.rows > 1).any():
        return _convex(scaled, x, tolerance, limit)
    few = scaled.size > SMALL
    best = newton(scaled, x, tolerance, min(limit, 15 if few else 60), failures=2 if few else 4, first=first)
    if best.velocity <= max(tolerance, scaled.round_off(best.x)) or best.iterations >= limit:
        return best
    found = fixed_point(scaled, best.x, _convex, tolerance, limit - best.iterations, _polish, trust=False)
    found.iterations, found.notes = found.iterations + best.iterations, best.notes + found.notes
    if found.velocity > best.velocity:
        found.x, found.velocity = best.x, best.velocity
    return found


def _auto(scaled: ScaledProblem, x: np.ndarray, tolerance: float, limit: int) -> Progress:
    """Sweeps, proximal steps by Newton's method, and then in small problems whatever else there is."""
    best = _swept(scaled, x, tolerance, SWEEPS_FIRST)
    plan: list[tuple[Inner, int]] = [(augmented, min(limit, max(WORK // max(scaled.rows.size, 1), LEAST)))]
    if scaled.size <= SMALL:
        plan += [(partial(_newton, first=0), limit), (proximal, PROXIMAL)]
    enough = ENOUGH * float((np.abs(scaled.b) / scaled.D).max(initial=0.0))
    for turn, (algorithm, most) in enumerate(plan):
        if best.velocity <= max(tolerance, scaled.round_off(best.x), enough if turn else 0.0):
            break
        found = algorithm(scaled, best.x.copy(), tolerance, most)
        found.iterations, found.notes = best.iterations + found.iterations, best.notes + found.notes
        if found.velocity > best.velocity:
            found.x, found.velocity = best.x, best.velocity
        best = found
    return best
