"""All stencils of a list at once, class by class, as solvers see them: Σ W, ∂/∂x, and the blocks of every stencil, by one kernel.

    tables = EnergyTables([(stencils, first), …])        first: the number of the deformable's vertex 0 among all
    value = tables.evaluate(x, ask)                      x, flat, 3 a vertex; VALUE, GRADIENT, EXACT or PROJECTED
    tables.gradient                                      3 a vertex, flat
    tables.batches[k].blocks                             (n, 3k, 3k) a class, vertices `tables.batches[k].vertices` (n, k)

A class with an `add_kernel` is called by its address; one without is called back in Python, stencil by stencil, by the same signature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.energies.base import EXACT, GRADIENT, PROJECTED, VALUE, AddEnergy, Energy, Stencils
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, Kernel, cut, kernel

BATCH = 7
"""Numbers a batch in the table of `add_energies`: address, then first and end of its index, parameters and blocks."""


@kernel
def add_energies(
    batches: Ints, index: Ints, parameters: Floats, x: Floats, ask: int, value_out: Floats, gradient_out: Floats, blocks_out: Floats
) -> None:
    """All batches: Σ W added to `value_out[0]`, and what else is asked for."""
    for k in range(batches.size // BATCH):
        at = BATCH * k
        mine = cut(index, batches[at + 1], batches[at + 2] - batches[at + 1])
        rows = cut(parameters, batches[at + 3], batches[at + 4] - batches[at + 3])
        blocks = cut(blocks_out, batches[at + 5], batches[at + 6] - batches[at + 5])
        AddEnergy(batches[at], mine, rows, x, ask, value_out, gradient_out, blocks)


def finite(value: Any, shape: tuple[int, ...], what: str) -> np.ndarray:
    """What an energy's NumPy method returned, as finite floats of a shape."""
    out = np.asarray(value, float)
    if out.shape != shape:
        raise ValueError(f"{what} has shape {out.shape}; it must have {shape}")
    if not np.isfinite(out).all():
        raise ValueError(f"{what} is not finite where the value is")
    return out


def by_numpy(energy: Energy) -> Callable[..., None]:
    """A function of the signature `AddEnergy` that asks the NumPy methods of an energy."""
    k, name = energy.vertices, type(energy).__name__

    def add(index: Any, parameters: Any, x: Any, ask: int, value_out: Any, gradient_out: Any, blocks_out: Any) -> None:
        nodes, X, G = index.reshape(-1, k), x.reshape(-1, 3), gradient_out.reshape(-1, 3)
        rows = parameters.reshape(len(nodes), -1)
        for e, mine in enumerate(nodes):
            at = X[mine]
            value = float(energy.value(rows[e], at))
            if np.isnan(value) or value == -np.inf:
                raise ValueError(f"{name}: the value of stencil {e} is {value}; it must be a number, or infinite where x is not allowed")
            value_out[0] += value
            allowed = value < np.inf
            if ask >= GRADIENT and allowed:
                np.add.at(G, mine, finite(energy.gradient(rows[e], at), (k, 3), f"{name}.gradient"))
            if ask >= EXACT:
                blocks = blocks_out[9 * k * k * e : 9 * k * k * (e + 1)]
                blocks[:] = 0.0
                if allowed:
                    what = f"{name}.hessian"
                    blocks[:] = finite(energy.hessian(rows[e], at, ask == PROJECTED), (3 * k, 3 * k), what).ravel()

    return add


@dataclass(eq=False)
class KeptError:
    """The first exception raised in a callback, for whoever called the kernel: none may pass through compiled code."""

    error: BaseException | None = None
    element: str = ""
    """The class whose NumPy methods ran last."""

    def guard(self, function: Callable[..., None], *outputs: int) -> Callable[..., None]:
        """The function, made safe: on an exception its outputs (argument numbers) become NaN."""

        def guarded(*arguments: Any) -> None:
            try:
                if self.error is None:
                    function(*arguments)
            except BaseException as error:
                self.error = error
            if self.error is not None:
                for k in outputs:
                    arguments[k][:] = np.nan

        return guarded

    def tell(self) -> None:
        """Raise it."""
        error, self.error = self.error, None
        if error is not None:
            raise error


@dataclass(frozen=True, eq=False)
class EnergyBatch:
    """Stencils of one class, of one or several materials and deformables."""

    energy: Energy
    """That of the first."""
    address: int
    """Of a kernel or callback of the signature `AddEnergy`."""
    vertices: np.ndarray
    """(n, k) among all. Those of a stencil may be repeated where it does not depend on one of them; their blocks then add up."""
    parameters: np.ndarray
    """(n, m)"""
    damping: np.ndarray
    """(n,) Rayleigh's [s]."""
    blocks: np.ndarray
    """(n, 3k, 3k) ∂²W/∂x² of the last evaluation with EXACT or PROJECTED."""

    @property
    def compiled(self) -> bool:
        """Whether it runs without Python."""
        return self.energy.add_kernel is not None


class EnergyTables:
    """The stencils of a list as arrays, with room for what they give. `errors` keeps exceptions of NumPy methods for its owner (it has a
    method `guard`, as `CallbackErrors` of a model); without it, `evaluate` raises them."""

    def __init__(self, parts: Iterable[Stencils | tuple[Stencils, int]], n_vertices: int, errors: Any = None):
        self._kept = KeptError() if errors is None else None
        self.errors: Any = self._kept or errors
        pairs = [part if isinstance(part, tuple) else (part, 0) for part in parts]
        grouped: list[list[tuple[Stencils, int]]] = []
        places: dict[int, int] = {}
        # stencils of one kernel go together; NumPy methods may read the fields of their object, so each of these stands alone
        for pair in pairs:
            if not len(pair[0].index):
                continue
            add = pair[0].energy.add_kernel
            place = len(grouped) if add is None else places.setdefault(id(add), len(grouped))
            if place == len(grouped):
                grouped.append([])
            grouped[place].append(pair)
        vertices = [np.concatenate([s.index + first for s, first in group]).astype(np.int64) for group in grouped]
        parameters = [np.concatenate([s.parameters for s, _ in group]).astype(float) for group in grouped]
        sizes = [9 * v.shape[1] ** 2 * len(v) for v in vertices]
        self.index, self.parameters = joined(vertices, np.int64), joined(parameters, np.float64)
        self.x = np.zeros(3 * n_vertices)
        self.value = np.zeros(1)
        self.gradient = np.zeros(3 * n_vertices)
        """∂W/∂x of the last evaluation, 3 a vertex."""
        self.block_values = np.zeros(sum(sizes))
        ends = np.cumsum([0, *sizes])
        self.batches = [
            EnergyBatch(
                group[0][0].energy, self._address(group[0][0].energy), v, p,
                np.concatenate([np.full(len(s.index), s.damping) for s, _ in group]),
                self.block_values[a:b].reshape(len(v), 3 * v.shape[1], 3 * v.shape[1]),
            )
            for group, v, p, a, b in zip(grouped, vertices, parameters, ends, ends[1:])
        ]  # fmt: skip
        self.table = self._table(vertices, parameters, ends)

    def _address(self, energy: Energy) -> int:
        add = energy.add_kernel
        if add is None:
            return AddEnergy.callback(self.errors.guard(self._told(energy), 4, 5, 6))
        if not isinstance(add, Kernel) or not AddEnergy.admits(add):
            raise ModelError(f"{type(energy).__name__}: its add_kernel has not the signature AddEnergy; see its arguments")
        return add.address

    def _told(self, energy: Energy) -> Callable[..., None]:
        """The function that asks NumPy methods; says first whose they are."""
        add, name = by_numpy(energy), type(energy).__name__

        def told(*arguments: Any) -> None:
            self.errors.element = name
            add(*arguments)

        return told

    @staticmethod
    def _table(vertices: Sequence[np.ndarray], parameters: Sequence[np.ndarray], ends: np.ndarray) -> np.ndarray:
        index = np.cumsum([0, *(v.size for v in vertices)])
        rows = np.cumsum([0, *(p.size for p in parameters)])
        table = np.zeros((len(vertices), BATCH), np.int64)
        for k, bounds in enumerate((index, rows, ends)):
            table[:, 2 * k + 1], table[:, 2 * k + 2] = bounds[:-1], bounds[1:]
        return table

    @property
    def batch_table(self) -> np.ndarray:
        """The table of `add_energies`, flat; addresses are those of this process."""
        self.table[:, 0] = [batch.address for batch in self.batches]
        return self.table.ravel()

    @property
    def python_classes(self) -> set[type]:
        """Those without a kernel."""
        return {type(batch.energy) for batch in self.batches if not batch.compiled}

    def evaluate(self, x: np.ndarray, ask: int = VALUE) -> float:
        """Σ W [J] at x; fills `gradient` from GRADIENT on, and the `blocks` of all batches with EXACT and PROJECTED."""
        self.x[:] = np.asarray(x, float).ravel()
        self.value[0] = 0.0
        if ask >= GRADIENT:
            self.gradient[:] = 0.0
        add_energies(self.batch_table, self.index, self.parameters, self.x, ask, self.value, self.gradient, self.block_values)
        if self._kept is not None:
            self._kept.tell()
        return float(self.value[0])


def joined(arrays: Sequence[np.ndarray], dtype: Any) -> np.ndarray:
    """All numbers one after the other."""
    return np.concatenate([a.ravel() for a in arrays]) if arrays else np.zeros(0, dtype)
