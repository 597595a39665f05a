"""Sparse Cholesky factors of cloth and of solids: ours against SuperLU (scipy's splu) and Pardiso, factor and solution.

    python benchmarks/supernodal.py [--quick] [--plot FILE.png]

Matrices of springs in blocks 3×3: cloth is a square of triangles, with couplings along edges and across them (hinges); solids are cubes cut
into tetrahedra, coupled along edges. All hang on soft springs to the ground. Contenders take turns; milliseconds are the least of the
turns, in processor time of this process, one thread each. `plan` is what depends on the pattern only: nested dissection from positions, and
symbolic factorisation. SuperLU makes its plan in every factorisation, and its pattern is no part of ours. Pardiso (pypardiso) takes part if
it is installed, with its phases apart: analysis once, then factors, then solutions.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from common import machine, plot, table, verdict

from unibody.algebra.supernodal.entries import block_entries
from unibody.algebra.supernodal.plan import SupernodalPlan

EDGES_2D = ((1, 0), (0, 1), (1, 1))
HINGES_2D = ((1, -1), (2, 1), (1, 2))
EDGES_3D = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1))
GOAL = 5.0


def sprung_grid(shape: tuple[int, ...], steps: tuple[tuple[int, ...], ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows and columns of blocks, their values (…, 3, 3), positive definite with the transposes, and positions of the nodes."""
    number, pairs = np.arange(int(np.prod(shape))).reshape(shape), []
    for step in steps:
        ends = [tuple(slice(max(0, s * d), min(n, n + s * d)) for d, n in zip(step, shape, strict=True)) for s in (-1, 1)]
        pairs.append(np.stack([number[ends[0]].ravel(), number[ends[1]].ravel()], axis=1))
    every, n = np.concatenate(pairs), number.size
    direction = np.random.default_rng(0).standard_normal((len(every), 3))
    K = direction[:, :, None] * direction[:, None, :] + 0.1 * np.eye(3)
    own = np.tile(1e-2 * np.eye(3), (n, 1, 1))
    np.add.at(own, every[:, 0], K)
    np.add.at(own, every[:, 1], K)
    positions = np.zeros((n, 3))
    positions[:, : len(shape)] = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(n, -1)
    rows, columns = (np.concatenate([np.arange(n), every[:, k]]) for k in (1, 0))
    return rows, columns, np.concatenate([own, -K]), positions


def least(contenders: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Seconds of processor time, the least of the rounds, by turns."""
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            began = time.process_time()
            run()
            taken[name].append(time.process_time() - began)
    return {name: min(t) for name, t in taken.items()}


def pardiso(upper: sp.csr_matrix, b: np.ndarray) -> tuple[Callable[[], Any], Callable[[], Any]] | None:
    """Factorisation and solution by Pardiso for a symmetric positive definite matrix that has been analysed, or None."""
    os.environ.setdefault("MKL_NUM_THREADS", "1")
    try:
        solver = importlib.import_module("pypardiso").PyPardisoSolver(mtype=2)
    except ImportError:
        return None
    right = np.asfortranarray(b.reshape(-1, 1))

    def phase(number: int) -> Any:
        solver.set_phase(number)
        return solver._call_pardiso(upper, right)

    phase(11)
    phase(22)
    return lambda: phase(22), lambda: phase(33)


def measure(name: str, shape: tuple[int, ...], steps: tuple[tuple[int, ...], ...], with_lu: bool) -> tuple[list[object], int, float]:
    rows, columns, blocks, positions = sprung_grid(shape, steps)
    row, column, take, node = block_entries(np.full(len(positions), 3), rows, columns)
    values, n = blocks.ravel()[take], 3 * len(positions)
    half = sp.coo_matrix((values, (row, column)), shape=(n, n)).tocsc()
    A = (half + half.T - sp.diags(half.diagonal())).tocsc()
    b = np.random.default_rng(1).standard_normal(n)
    # ready: everything compiled, factors to solve with
    plan = SupernodalPlan.of(n, row, column, node, positions)
    room = plan.workspace()
    factor = plan.factor(values, room)
    assert np.abs(A @ factor.solve(b) - b).max() < 1e-9
    making: dict[str, Callable[[], Any]] = {
        "plan": lambda: SupernodalPlan.of(n, row, column, node, positions), "ours": lambda: plan.factor(values, room)
    }  # fmt: skip
    solving: dict[str, Callable[[], Any]] = {"ours": lambda: factor.solve(b)}
    if with_lu:
        lu = spl.splu(A, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        making["splu"] = lambda: spl.splu(A, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        solving["splu"] = lambda: lu.solve(b)
    if (other := pardiso(sp.triu(A).tocsr(), b)) is not None:
        making["pardiso"], solving["pardiso"] = other
        assert np.abs(A @ other[1]().ravel() - b).max() < 1e-9
    made, solved = least(making, 5), least(solving, 5)
    ms = {f"{kind} {who}": f"{1e3 * t:.1f}" for kind, some in (("factor", made), ("solve", solved)) for who, t in some.items()}
    absent = "not installed" if other is None else "-"
    out = [name, len(positions), f"{plan.flops / 1e9:.2f}", f"{plan.flops / made['ours'] / 1e9:.0f}", ms["factor plan"], ms["factor ours"]]
    out += [ms["solve ours"], ms.get("factor splu", "-"), ms.get("solve splu", "-"), ms.get("factor pardiso", absent)]
    out += [ms.get("solve pardiso", absent), verdict(made["splu"] / made["ours"], GOAL) if with_lu else "-"]
    out += [verdict(made["pardiso"] / made["ours"], 1.0 / 1.5) if other is not None else "-"]
    return out, len(positions), made["ours"]


def main(arguments: list[str] | None = None) -> int:
    quick = "--quick" in (sys.argv[1:] if arguments is None else arguments)
    sizes = ((45, True),) if quick else ((45, True), (100, True), (173, True))
    cubes = ((10, True),) if quick else ((17, True), (27, False))
    rows, drawn = [], []
    cases = [("cloth", (k, k), EDGES_2D + HINGES_2D, lu) for k, lu in sizes] + [("solid", (k, k, k), EDGES_3D, lu) for k, lu in cubes]
    for name, shape, steps, lu in cases:
        row, size, seconds = measure(name, shape, steps, lu)
        rows.append(row)
        drawn.append((name, float(size), seconds))
    head = ["", "vertices", "Gflop", "Gflop/s", "plan", "factor", "solve", "splu", "solve", "pardiso", "solve", "splu / ours"]
    head.append("pardiso / ours")
    print(table(head, rows))
    print(machine())
    print(plot(drawn, "Sparse Cholesky factors", size_label="vertices"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
