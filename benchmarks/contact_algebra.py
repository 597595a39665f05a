"""Contact with friction as algebra: milliseconds, iterations and residual of each method on problems of about 10, 100 and 1000 contacts.

Towers are cubes on four corners each (W singular, 12 rows for 6 motions), `heavy` ones with masses that grow a million times upwards; walls
are bricks in running bond, one of them pushed (24 rows for 6 motions); piles are close-packed spheres that fall with some disorder. `warm`
begins at the solution for velocities that differ by a part in a hundred, as from one step to the next.
The residual is the largest violation of the laws in m/s, where gravity added 0.098 m/s. `pgs` stops at 1e-6 or 1000 sweeps, the
others at 1e-10; `clarabel` (if installed) solves the convex law as a conic program. In the end, the nanoseconds of a contact in a sweep.

    python benchmarks/contact_algebra.py [--quick]
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from unibody.algebra.contact.augmented import solve_augmented
from unibody.algebra.contact.pgs import solve_pgs
from unibody.algebra.contact.problem import ContactProblem, Residual, Solution
from unibody.algebra.contact.scaling import ScaledProblem
from unibody.algebra.contact.solve import solve_contacts

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "unit" / "algebra"))
from contact_cases import BodyProblem, brick_wall, sphere_pile, tower

PROBLEMS = {
    "tower": [lambda: tower(3), lambda: tower(25), lambda: tower(250)],
    "heavy": [lambda: tower(3, mass=np.geomspace(1.0, 1e6, 3)), lambda: tower(25, mass=np.geomspace(1.0, 1e6, 25))],
    "wall": [lambda: brick_wall(2, 2, push=0.5), lambda: brick_wall(4, 5, push=0.5), lambda: brick_wall(10, 14, push=0.5)],
    "pile": [lambda: sphere_pile(2, 2), lambda: sphere_pile(4, 4), lambda: sphere_pile(9, 4)],
}
METHODS = {  # method: (tolerance, iterations, most rows)
    "pgs": (1e-6, 1000, 10**9),
    "newton": (1e-10, None, 1500),
    "proximal": (1e-10, 2000, 1500),
    "augmented": (1e-10, 300, 10**9),
    "auto": (1e-10, None, 1500),
    "warm": (1e-8, None, 1500),
    "lemke": (1e-10, None, 100),
}
FACTORED = {"pgs": solve_pgs, "augmented": solve_augmented}
"""Methods that take W in factors over bodies; the others take it whole."""


def measure(problem: BodyProblem, method: str) -> tuple[float, Solution]:
    """Milliseconds (the least of a few), and the solution."""
    tolerance, iterations, _ = METHODS[method]
    best, began, warm = np.inf, time.perf_counter(), None
    factors = problem.factors() if method in FACTORED else None
    if method == "warm":
        other = replace(problem, b=problem.b * (1.0 + 0.01 * np.random.default_rng(0).standard_normal(problem.b.size)))
        warm = solve_contacts(other, "auto", tolerance=tolerance).impulse
    while True:
        start = time.perf_counter()
        if factors is not None:
            found = FACTORED[method](factors, problem.b, problem.blocks, problem.law, None, tolerance, iterations)
        else:
            found = solve_contacts(problem, "auto" if method == "warm" else method, warm, tolerance, iterations)
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() - began > 0.2:
            return 1e3 * best, found


def clarabel(problem: ContactProblem) -> tuple[float, Residual] | None:
    """The convex law by Clarabel, in the same variables as ours, so that its residual is judged alike."""
    try:
        import clarabel
    except ImportError:
        return None
    import scipy.sparse as sp

    scaled = ScaledProblem(problem)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    W = sp.csc_matrix(np.triu(scaled.W))
    cones = [clarabel.SecondOrderConeT(3)] * scaled.rows.size
    start = time.perf_counter()
    solved = clarabel.DefaultSolver(W, scaled.b, sp.csc_matrix(-sp.eye(scaled.size)), np.zeros(scaled.size), cones, settings).solve()
    x = np.array(solved.x)
    return 1e3 * (time.perf_counter() - start), scaled.residual(x, scaled.velocity(x))


def sweep_cost(problem: BodyProblem, few: int = 10, many: int = 110) -> tuple[float, float]:
    """Nanoseconds of processor time of a contact in one sweep more, and in each of a few with all that begins and ends them."""
    W = problem.factors()
    seconds = []
    for limit in (few, many):
        turns = []
        for _ in range(20):
            start = time.process_time()
            solve_pgs(W, problem.b, problem.blocks, "coulomb", None, 0.0, limit)
            turns.append(time.process_time() - start)
        seconds.append(min(turns))
    count = problem.blocks.rows.size
    return 1e9 * (seconds[1] - seconds[0]) / ((many - few) * count), 1e9 * seconds[0] / (few * count)


def main() -> None:
    sizes = slice(0, 2) if "--quick" in sys.argv else slice(0, 3)
    solve_contacts(tower(1), "auto")
    solve_contacts(tower(1), "lemke")
    print(f"{'problem':<8}{'law':<9}{'contacts':>9}  {'method':<10}{'ms':>10}{'steps':>7}{'residual':>10}  what it did")
    for name, makers in PROBLEMS.items():
        for make in makers[sizes]:
            problem = make()
            count = problem.blocks.rows.size
            for law in ("coulomb", "convex"):
                posed = replace(problem, law=law)
                for method, (_, _, most) in METHODS.items():
                    if posed.b.size <= most:
                        ms, found = measure(posed, method)
                        start = f"{name:<8}{law:<9}{count:>9}  {method:<10}{ms:>10.2f}{found.iterations:>7}"
                        print(f"{start}{found.residual.velocity:>10.0e}  {found.note[:90]}", flush=True)
                outside = clarabel(posed) if law == "convex" else None
                if outside:
                    print(
                        f"{name:<8}{law:<9}{count:>9}  {'clarabel':<10}{outside[0]:>10.2f}{'':>7}{outside[1].velocity:>10.0e}", flush=True
                    )
    for problem in (sphere_pile(9, 4), brick_wall(10, 14)):
        more, each = sweep_cost(problem)
        print(f"{problem.blocks.rows.size} contacts: {more:.0f} ns a contact and sweep, {each:.0f} ns in each of ten from begin to end")


if __name__ == "__main__":
    main()
