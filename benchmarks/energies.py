"""Energies of deformables: nanoseconds a stencil for the value alone, with the gradient, and with projected and exact second derivatives.

    python benchmarks/energies.py [--quick]

Stencils stand apart (their vertices are nobody else's), strained at random by some hundredths, so that many matrices are indefinite and
must be projected. Contenders take turns; numbers are the least of the turns. Below, the shell's bending energy over a plate's on surfaces
of constant curvature, and deflections over a plate's, mesh by mesh: the table of docs/howto/materials.md.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
from common import TESTS, interleaved, machine, table

import unibody as ub
from unibody.energies.base import EXACT, GRADIENT, PROJECTED, VALUE, Stencils
from unibody.energies.evaluate import EnergyTables

ASKS = {"value": VALUE, "gradient": GRADIENT, "projected": PROJECTED, "exact": EXACT}
TET = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
EDGES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
TET10 = np.concatenate([TET, [0.5 * (TET[a] + TET[b]) for a, b in EDGES]])
PATCH = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 0.9, 0], [1.5, 0.9, 0], [-0.5, 0.9, 0], [0.5, -0.9, 0]])


def shapes() -> dict[str, tuple[ub.Energy, np.ndarray]]:
    """Energies with the rest shape of one stencil."""
    laws = {name: cls(1e5, 0.4) for name, cls in (("NeoHookean", ub.NeoHookean), ("CoRotated", ub.CoRotated), ("StVK", ub.StVK))}
    ten = SimpleNamespace(vertices=TET10, tets=np.arange(10)[None])
    quadratic = {f"{name}, 10 vertices": law.stencils(ten)[0].energy for name, law in laws.items()}
    return {
        **{name: (law, TET) for name, law in laws.items()},
        **{name: (energy, TET10) for name, energy in quadratic.items()},
        "Membrane": (ub.Membrane(1e5, 0.3, 1e-3), PATCH[:3]),
        "WovenMembrane": (ub.WovenMembrane(1e5, 5e4, 0.3, 1e-3), PATCH[:3]),
        "StrainLimit": (ub.StrainLimit(1.0, 1e5, 1e-3), PATCH[:3]),
        "ShellBending": (ub.ShellBending(1.0, 0.3), PATCH),
        "HingeBending": (ub.HingeBending(1.0), PATCH[[0, 1, 2, 5]]),
        "RodStretch": (ub.RodStretch(1e3), PATCH[:2]),
        "RodBend": (ub.RodBend(1.0), np.outer(np.arange(3.0), (1.0, 0.0, 0.0))),
    }


def strained(energy: ub.Energy, X: np.ndarray, count: int) -> tuple[EnergyTables, np.ndarray]:
    """Many copies of a stencil and positions of their vertices."""
    rng, k = np.random.default_rng(0), len(X)
    rest = np.tile(X, (count, 1, 1)) + 0.02 * rng.standard_normal((count, k, 3)) * (len(X) != 10)
    stencils = Stencils(energy, np.arange(count * k).reshape(count, k), energy.rest(rest))
    return EnergyTables([stencils], count * k), (rest + 0.03 * rng.standard_normal(rest.shape)).reshape(-1, 3)


def timed(count: int) -> list[list[Any]]:
    contenders: dict[str, Any] = {}
    for name, (energy, X) in shapes().items():
        tables, x = strained(energy, X, count)
        for what, ask in ASKS.items():

            def run(times: int, tables: EnergyTables = tables, x: np.ndarray = x, ask: int = ask) -> None:
                for _ in range(times):
                    tables.evaluate(x, ask)

            contenders[f"{name}/{what}"] = run
    times = interleaved(contenders)
    return [[name, *(f"{1e9 * times[f'{name}/{what}'].least / count:.0f}" for what in ASKS)] for name in shapes()]


def plates(cells: int) -> list[list[Any]]:
    """Mesh by mesh: energies of inner triangles, centre of a supported plate, end of a cantilever."""
    sys.path.insert(0, str(TESTS / "verification"))
    from elastic_statics import Statics, sheet, vertex_areas

    rows = []
    for kind in ("one-diagonal", "rows", "random", "alternating", "crossed"):
        mesh, nu = sheet((1.0, 1.0), (cells, cells), kind), 0.3
        X = mesh.vertices
        (s,) = ub.ShellBending(1.0, nu).stencils(mesh)
        inner = (np.abs(X[s.index[:, :3]].mean(axis=1)[:, :2] - 0.5) < 0.3).all(axis=1)
        corners = X[s.index[inner, :3]]
        area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()
        t = EnergyTables([Stencils(s.energy, s.index[inner], s.parameters[inner])], len(X))
        row: list[Any] = [kind]
        for a, b, c in ((1.0, 0.0, 0.0), (0.5, 0.5, 0.5), (1.0, 1.0, 0.0), (1.0, -1.0, 0.0)):
            x = X.copy()
            x[:, 2] = 1e-4 * (0.5 * a * X[:, 0] ** 2 + 0.5 * b * X[:, 1] ** 2 + c * X[:, 0] * X[:, 1])
            row.append(f"{t.evaluate(x) / (0.5e-8 * area * ((a + b) ** 2 - 2.0 * (1.0 - nu) * (a * b - c * c))):.3f}")
        fixed = np.ones(X.shape, bool)
        fixed[:, 2] = ((X[:, :2] < 1e-9) | (X[:, :2] > 1.0 - 1e-9)).any(axis=1)
        f = np.zeros(X.shape)
        f[:, 2] = vertex_areas(mesh)
        u = Statics([s], fixed).linear(X, f)
        row.append(f"{u[np.argmin(np.linalg.norm(X - (0.5, 0.5, 0.0), axis=1)), 2] / 0.004062:.3f}")
        strip = sheet((1.0, 0.25), (2 * cells, cells // 2), kind)
        X, h = strip.vertices, 0.5 / cells
        fixed = np.ones(X.shape, bool)
        fixed[:, 2] = X[:, 0] < h * 1.01
        tip = X[:, 0] > 1.0 - 1e-9
        f = np.zeros(X.shape)
        f[tip, 2] = 0.25 / tip.sum()
        u = Statics(ub.ShellBending(1.0, 0.0).stencils(strip), fixed).linear(X, f)
        rows.append([*row, f"{u[tip, 2].mean() / ((1.0 - 0.5 * h) ** 3 / 3.0):.3f}"])
    return rows


def main() -> None:
    quick = "--quick" in sys.argv
    print(table(["ns a stencil", *ASKS], timed(500 if quick else 5000)))
    print()
    head = ["mesh", "cylinder", "at 45°", "sphere", "saddle", "supported plate", "cantilever"]
    print(table(head, plates(8 if quick else 16)))
    print(machine())


if __name__ == "__main__":
    main()
