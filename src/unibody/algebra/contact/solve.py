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
from unibody.algebra.contact.augmented_restart import augmented
from unibody.algebra.contact.de_saxce import Inner, fixed_point
from unibody.algebra.contact.interior_point import interior
from unibody.algebra.contact.newton import FIRST_SWEEPS, FUNCTIONS, Progress, newton
from unibody.algebra.contact.pgs import COULOMB
from unibody.algebra.contact.problem import ContactProblem, Residual, Solution
from unibody.algebra.contact.scaling import Units

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
    relaxation: float = 1.0,
    symmetric: bool = False,
    function: str = FUNCTIONS[0],
    first: int = FIRST_SWEEPS,
) -> Solution:
    """Impulses λ and velocities u = W λ + b under the laws of the problem.

    warm: impulses to begin with, (m,). tolerance: of the residual's velocity, in units of u. iterations: of the method (pivots, sweeps,
    Newton steps, proximal iterations), by default `ITERATIONS`. relaxation, symmetric: of the sweeps, 0 < relaxation < 2. function: whose
    zero "newton" seeks, of `FUNCTIONS`; first: sweeps before its steps. Without them loads that are not determined come out of least norm.

    >>> from unibody.algebra.contact.problem import Dense, contacts
    >>> block = ContactProblem(Dense(np.eye(3)), np.array([-1.0, 2.0, 0.0]), contacts([0.5]))
    >>> solve_contacts(block).impulse.round(12).tolist()
    [1.0, -0.5, 0.0]
    """
    if method not in METHODS:
        raise ValueError(f"method {method!r} is none of {', '.join(METHODS)}")
    if function not in FUNCTIONS:
        raise ValueError(f"function {function!r} is none of {', '.join(FUNCTIONS)}")
    if not 0.0 < relaxation < 2.0:
        raise ValueError(f"relaxation {relaxation} must lie between 0 and 2")
    polyhedral = method == "lemke" or (problem.directions > 0 and problem.blocks.contact.any())
    if polyhedral and method not in ("lemke", "auto"):
        raise ValueError(f"method {method!r} solves the round cone; a problem with directions={problem.directions} needs 'lemke' or 'auto'")
    units = Units(problem)
    limit = ITERATIONS[method] if iterations is None else iterations
    if polyhedral:
        return _pivoted(units, limit if method == "lemke" else 0, tolerance)
    x = units.start_from(warm)
    if method == "pgs":
        best = _swept(units, x, tolerance, limit, relaxation, symmetric)
    elif method == "newton":
        best = _newton(units, x, tolerance, limit, first, function)
    elif method in ("proximal", "augmented"):
        best = (proximal if method == "proximal" else augmented)(units, x, tolerance, limit)
    else:
        best = _auto(units, x, tolerance, limit)
    return _solution(units, best, method, tolerance)


def _solution(units: Units, best: Progress, method: str, tolerance: float, residual: Residual | None = None) -> Solution:
    problem = units.problem
    impulse = units.impulse(best.x)
    velocity = problem.W.times(impulse) + problem.b
    residual = residual or units.residual(best.x, units.D * velocity[units.keep])
    converged = residual.velocity <= max(tolerance, units.round_off(best.x))
    notes = best.notes if converged else [*best.notes, f"no solution within {tolerance:g}: the residual is {residual.velocity:.1e}"]
    return Solution(impulse, velocity, residual, best.iterations, method, "; ".join(notes), bool(converged))


def _pivoted(units: Units, pivots: int, tolerance: float) -> Solution:
    count = units.problem.directions or polyhedral.DIRECTIONS
    best, velocity, impulse = polyhedral.lemke(units, count, pivots)
    if (units.rows > 1).any():
        round_cone = units.residual(best.x, units.velocity(best.x)).velocity
        best.notes.append(f"{count} directions; {round_cone:.1e} from the law of the round cone")
    return _solution(units, best, "lemke", tolerance, Residual(velocity, impulse))


def _swept(units: Units, x: np.ndarray, tolerance: float, limit: int, relaxation: float = 1.0, symmetric: bool = False) -> Progress:
    """Sweeps, with a look at the residual after 1, 2, 4, … and then every 32."""
    best, chunk = Progress(x.copy()), 2 if symmetric else 1
    best.offer(units, x, units.velocity(x))
    while best.iterations < limit and best.velocity > max(tolerance, units.round_off(best.x)):
        before = x.copy()
        best.iterations += units.sweep(x, min(chunk, limit - best.iterations), relaxation, symmetric)
        if not np.isfinite(x).all():  # blocks that nothing moves have no solution of their own: others may know better
            x[:] = before
            best.notes.append("sweeps came to no finite numbers")
            break
        best.offer(units, x, units.velocity(x))
        chunk = min(2 * chunk, 32)
        if (x == before).all():
            break
    best.notes.append(f"{best.iterations} sweeps")
    return best


def _convex(units: Units, x: np.ndarray, tolerance: float, limit: int) -> Progress:
    """A convex problem: Newton's method from x (in large ones hardly tried), or from the end of an interior path."""
    best = newton(units, x, tolerance, min(limit, 25) if units.size <= SMALL else min(limit, 5), failures=2 if units.size <= SMALL else 0)
    if best.velocity <= max(tolerance, units.round_off(best.x)) or best.iterations >= limit:
        return best
    inside = interior(units, tolerance, min(60, limit))
    ended = newton(units, inside.x.copy(), tolerance, 15, failures=3, first=0)
    spent = best.iterations + inside.iterations + ended.iterations
    notes = best.notes + inside.notes + ended.notes
    found = min((best, inside, ended), key=lambda p: p.velocity)
    found.iterations, found.notes = spent, notes
    return found


def _polish(units: Units, x: np.ndarray, tolerance: float, limit: int) -> Progress:
    return newton(units, x, tolerance, limit, failures=0, first=0)


def _newton(units: Units, x: np.ndarray, tolerance: float, limit: int, first: int = FIRST_SWEEPS, function: str = FUNCTIONS[0]) -> Progress:
    if (units.law != COULOMB or not (units.rows > 1).any()) and function == FUNCTIONS[0]:
        return _convex(units, x, tolerance, limit)
    few = units.size > SMALL
    best = newton(units, x, tolerance, min(limit, 15 if few else 60), failures=2 if few else 4, first=first, function=function)
    if best.velocity <= max(tolerance, units.round_off(best.x)) or best.iterations >= limit:
        return best
    if units.law != COULOMB or not (units.rows > 1).any():
        found = _convex(units, best.x.copy(), tolerance, limit - best.iterations)
    else:
        found = fixed_point(units, best.x, _convex, tolerance, limit - best.iterations, _polish, trust=False)
    found.iterations, found.notes = found.iterations + best.iterations, best.notes + found.notes
    if found.velocity > best.velocity:
        found.x, found.velocity = best.x, best.velocity
    return found


def _auto(units: Units, x: np.ndarray, tolerance: float, limit: int) -> Progress:
    """Sweeps, proximal steps by Newton's method, and then in small problems whatever else there is."""
    best = _swept(units, x, tolerance, SWEEPS_FIRST)
    plan: list[tuple[Inner, int]] = [(augmented, min(limit, max(WORK // max(units.rows.size, 1), LEAST)))]
    if units.size <= SMALL:
        plan += [(partial(_newton, first=0), limit), (proximal, PROXIMAL)]
    enough = ENOUGH * float((np.abs(units.b) / units.D).max(initial=0.0))
    for turn, (algorithm, most) in enumerate(plan):
        if best.velocity <= max(tolerance, units.round_off(best.x), enough if turn else 0.0):
            break
        found = algorithm(units, best.x.copy(), tolerance, most)
        found.iterations, found.notes = best.iterations + found.iterations, best.notes + found.notes
        if found.velocity > best.velocity:
            found.x, found.velocity = best.x, best.velocity
        best = found
    return best
