"""Tables 1 and 2 of paper 001 (seconds to solve for λ), extended to 100 000 bodies, and the same for a chain in 3D.

The paper's bodies: rectangles of width 1, height 5, mass 1, with joints 2 from the centre of mass on the long axis; serial arms and binary
trees, the root free. Three methods on the same problem: the tree LDLᵀ (Sparse), the Schur complement (A\\b) and the dense LDLᵀ (Dense).
The paper's machine was a Core i7-7500U with MATLAB, so the speed-up beside it says what a user gains, not which code is better
written. The 3D chain has 6-dof bodies and 5-row joints. Bodies of a binary tree are numbered level by level, and once more depth first,
as the solver numbers them.

Times are the thread's processor time, which is the clock's time on an idle machine; on a shared one the clock also counts what others
do, and a solve of a large tree is longer than the slice a scheduler gives. The exponent is a least-squares line through the logarithms
of the least times of all sizes from 1000 bodies on, which are measured in turn, so that a busy moment meets all of them.

    python benchmarks/algebra_tree_ldl.py [--quick] [--plot FILE.png]
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from common import plot

from unibody.algebra.saddle import baraff, baraff_planar, schur

PAPER_SERIAL = {  # n: (A\b, Sparse, Dense), Table 1
    2: (2.23e-05, 3.89e-04, 3.94e-04),
    5: (1.28e-04, 6.52e-04, 1.20e-03),
    10: (3.06e-04, 1.00e-03, 4.00e-03),
    20: (9.34e-04, 1.90e-03, 1.97e-02),
    50: (2.30e-03, 4.10e-03, 2.38e-01),
    100: (8.50e-03, 8.00e-03, 1.67e00),
    200: (6.47e-02, 1.90e-02, 1.35e01),
}
PAPER_BINARY = {  # n: (A\b, Sparse, Dense), Table 2
    3: (1.35e-05, 3.98e-04, 5.27e-04),
    7: (1.35e-05, 9.15e-04, 2.60e-03),
    15: (5.13e-04, 2.00e-03, 1.05e-02),
    31: (1.40e-03, 4.20e-03, 5.55e-02),
    63: (4.60e-03, 5.40e-03, 3.99e-01),
    127: (2.27e-02, 1.05e-02, 3.67e00),
    255: (2.44e-01, 3.82e-02, 3.97e01),
}
SIZES = {
    "2D serial": [*PAPER_SERIAL, 1000, 10_000, 100_000],
    "2D binary tree": [*PAPER_BINARY, 2**10 - 1, 2**13 - 1, 2**16 - 1, 2**17 - 1],
    "2D binary tree, depth first": [2**8 - 1, 2**10 - 1, 2**13 - 1, 2**16 - 1, 2**17 - 1],
    "3D serial": [2, 10, 100, 1000, 10_000, 100_000],
}
PAPER = {"2D serial": PAPER_SERIAL, "2D binary tree": PAPER_BINARY}
LARGE = 1000
"""Bodies from which on the exponent is fitted."""
DENSE_LIMIT = 5.0
"""Seconds beyond which the two cubic methods are no longer asked."""


@dataclass
class Row:
    """One line of a table; times in seconds per solve, (minimum, median)."""

    structure: str
    n: int
    tree: tuple[float, float]
    schur: tuple[float, float] | None
    dense: tuple[float, float] | None
    paper: tuple[float, float, float] | None
    bytes_per_body: float
    disagreement: float | None
    """Largest difference of λ between the tree and the other methods, relative to the largest λ."""
    speedup: float | None = field(init=False)
    """The paper's sparse column over the tree's minimum: on a shared machine the median measures the neighbours too."""
    ns_per_body: float = field(init=False)

    def __post_init__(self) -> None:
        self.speedup = self.paper[1] / self.tree[0] if self.paper else None
        self.ns_per_body = 1e9 * self.tree[0] / self.n


def depth_first(n: int) -> np.ndarray:
    """Parents in a full binary tree, each body followed by its first child's whole subtree."""
    parent = np.full(n, -1)
    subtrees = [(0, n)]
    while subtrees:
        root, size = subtrees.pop()
        if size > 1:
            half = (size - 1) // 2
            children = root + 1, root + 1 + half
            parent[list(children)] = root
            subtrees += [(child, half) for child in children]
    return parent


def problem(structure: str, n: int) -> dict[str, np.ndarray]:
    """The forest's arrays in a posture with random angles; gravity and the joints' velocity terms on the right-hand side."""
    generator = np.random.default_rng(n)
    parent = np.arange(-1, n - 1)
    if "binary" in structure:
        parent = depth_first(n) if "depth first" in structure else (np.arange(n) - 1) // 2
    if structure.startswith("2D"):
        w, r = 3, 2
        angle = generator.uniform(-np.pi, np.pi, n)
        arm = 2.0 * np.stack([-np.sin(angle), np.cos(angle)], axis=1)
        M = np.zeros((n, 3, 3))
        M[:] = np.diag([1.0, 1.0, (1.0**2 + 5.0**2) / 12.0])
        Gc, Gp = np.zeros((2, n, 3, 3))
        # The child's posterior joint minus the parent's anterior joint, differentiated: ∂(p ∓ arm)/∂(x, y, angle).
        for G, sign, at in ((Gc, 1.0, -arm), (Gp, -1.0, arm[parent])):
            G[:, 0, 0], G[:, 1, 1] = sign, sign
            G[:, 0, 2], G[:, 1, 2] = -sign * at[:, 1], sign * at[:, 0]
        f = np.tile([0.0, -9.81, 0.0], n)
    else:
        w, r = 6, 5
        axis = np.linalg.qr(generator.standard_normal((n, 3, 3)))[0]
        arm = 2.0 * np.linalg.qr(generator.standard_normal((n, 3, 3)))[0][:, 0]
        M = np.zeros((n, 6, 6))
        M[:] = np.diag([2.2, 2.2, 0.5, 1.0, 1.0, 1.0])
        Gc, Gp = np.zeros((2, n, 6, 6))
        # Twists angular first: two rows for the axis, three for the point.
        for G, sign, at in ((Gc, 1.0, -arm), (Gp, -1.0, arm[parent])):
            G[:, 0:2, 0:3] = sign * axis[:, 0:2]
            G[:, 2:5, 3:6] = sign * np.eye(3)
            for row, (i, j) in enumerate([(2, 1), (0, 2), (1, 0)]):
                G[:, 2 + row, i], G[:, 2 + row, j] = sign * at[:, j], -sign * at[:, i]
        f = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, -9.81], n)
    rows = np.full(n, r)
    rows[0] = 0  # the paper's root is free
    return dict(
        w=w, parent=parent, rows=rows, M=M.ravel(), Gc=Gc.ravel(), Gp=Gp.ravel(), C=np.zeros(n * w), f=f,
        b=generator.standard_normal(n * w),
    )  # fmt: skip


def calls(p: dict) -> dict:
    """Per method a function without arguments that solves once, and the λ it writes."""
    tree = baraff_planar if p["w"] == 3 else baraff
    w, n, total = p["w"], p["parent"].size, int(p["rows"].sum())
    arrays = [p[name] for name in ("M", "Gc", "Gp", "C")]
    plan = tree.plan_tree(p["parent"], p["rows"])
    factor, y, multipliers = np.zeros(plan[-1]), np.zeros(n * w), np.zeros(n * w)
    arguments = (p["parent"], p["rows"], plan, *arrays, p["f"], p["b"], factor, y, multipliers)
    found = {"tree": (partial(tree.factor_solve_tree.load(), *arguments), multipliers)}
    found["bytes"] = 8 * (plan.size + factor.size + y.size + multipliers.size) + sum(
        a.nbytes for a in p.values() if isinstance(a, np.ndarray)
    )
    empty = np.empty(0)
    for name, solve, size in (
        ("schur", schur.solve_schur, schur.schur_work),
        ("dense", schur.solve_dense, schur.dense_work),
    ):
        if size(w, 0, n, total) < 4e7:
            out = np.zeros(n * w)
            work = np.zeros(size(w, 0, n, total))
            arguments = (w, 0, p["parent"], p["rows"], *arrays, empty, p["f"], p["b"], empty, 1e-9, work, y, out, empty)
            found[name] = (partial(solve.load(), *arguments), out)
    return found


def measure(function, seconds: float) -> float:
    """Seconds per call, from as many calls as fit."""
    once = timed(function)
    repeats = max(1, min(10_000, int(seconds / max(once, 1e-9))))
    began = time.thread_time()
    for _ in range(repeats):
        function()
    return (time.thread_time() - began) / repeats


def table(structure: str, sizes: list[int] | None = None, rounds: int = 15, seconds: float = 0.01) -> list[Row]:
    """One `Row` per size: `rounds` interleaved measurements of at least `seconds` for each method."""
    too_slow: set[str] = set()
    sizes = sizes or SIZES[structure]
    measured = []
    for n in sizes:
        found = calls(problem(structure, n))
        memory = found.pop("bytes") / n
        times: dict[str, list[float]] = {name: [] for name in found if name not in too_slow}
        for _ in range(rounds):
            for name, spent in times.items():
                # A cubic method that takes long is measured once.
                if not spent or spent[-1] < 0.2:
                    spent.append(measure(found[name][0], seconds) if not spent or spent[-1] < seconds else timed(found[name][0]))
        multipliers = found["tree"][1]
        others = [np.abs(found[name][1] - multipliers).max() / np.abs(multipliers).max() for name in times if name != "tree"]
        following = next((m for m in sizes if m > n), n)
        too_slow |= {name for name, spent in times.items() if name != "tree" and min(spent) * (following / n) ** 3 > DENSE_LIMIT}
        measured.append((n, found["tree"][0], times, memory, max(others, default=None)))
    for _ in range(4 * rounds):
        for n, solve, times, *_ in measured:
            if n >= LARGE:
                times["tree"].append(measure(solve, seconds / 5.0))
    result = []
    for n, _, times, memory, disagreement in measured:
        summary = {name: (min(spent), float(np.median(spent))) for name, spent in times.items()}
        paper = PAPER.get(structure, {}).get(n)
        result.append(Row(structure, n, summary["tree"], summary.get("schur"), summary.get("dense"), paper, memory, disagreement))
    return result


def timed(function) -> float:
    began = time.thread_time()
    function()
    return time.thread_time() - began


def slope(rows: list[Row], most: int) -> float:
    """The exponent of n in the tree's time, fitted from n ≈ 1000 to `most`."""
    large = [row for row in rows if LARGE <= row.n <= most]
    return float(np.polyfit(np.log([row.n for row in large]), np.log([row.tree[0] for row in large]), 1)[0])


def show(rows: list[Row]) -> None:
    def seconds(x: float | None) -> str:
        return f"{x:9.2e}" if x is not None else "        –"

    print(f"\n{rows[0].structure}: seconds per solve; ours minimum and (tree) median of interleaved rounds")
    print(f"{'n':>7} |{'tree':>10}{'median':>10}{'schur':>10}{'dense':>10} |{'paper A|b':>10}{'sparse':>10}{'dense':>10}", end="")
    print(f" |{'speed-up':>9}{'ns/body':>9}{'B/body':>8}{'differ':>9}")
    for row in rows:
        paper = row.paper or (None, None, None)
        ours = (row.tree[0], row.tree[1], row.schur and row.schur[0], row.dense and row.dense[0])
        print(f"{row.n:>7} |" + "".join(f" {seconds(x)}" for x in ours), end=" |")
        print("".join(f" {seconds(x)}" for x in paper), end=" |")
        print(f"{row.speedup:>9.0f}" if row.speedup else "        –", end="")
        print(f"{row.ns_per_body:>9.1f}{row.bytes_per_body:>8.0f}", end="")
        print(f"{row.disagreement:>9.0e}" if row.disagreement is not None else "        –")
    if sum(row.n >= LARGE for row in rows) > 1:
        for most in sorted({max(row.n for row in rows if row.n <= 100_000), rows[-1].n}):
            print(f"exponent of n from 1000 to {most}: {slope(rows, most):.3f}")


def main() -> None:
    quick = "--quick" in sys.argv
    points = []
    for structure, sizes in SIZES.items():
        rows = table(structure, [n for n in sizes if n <= 1100] if quick else sizes, rounds=3 if quick else 15)
        show(rows)
        points += [(f"{structure}, tree", r.n, r.tree[0]) for r in rows]
        points += [(f"{structure}, {name}", r.n, getattr(r, name)[0]) for r in rows for name in ("schur", "dense") if getattr(r, name)]
    print(f"log–log plot: {plot(points, 'Solving for λ: seconds per solve', fit_from=100)}")


if __name__ == "__main__":
    main()
