"""`pytest --shake SEED`: every scene that a test runs starts from numbers that are changed by some units in their last place.

What a processor, a compiler or a library for linear algebra rounds differently is of that size; a claim that this changes is decided by
round-off. Changed are the constants of the bound systems (masses, frames, parameters of elements) and the model's own start; left as they
are: zeros, small whole numbers (ones of identities, flags), what is not finite, and states that a test gives itself. The change of a number
depends on its value, its place and the seed alone, so that the same model bound twice is the same twice, and promises of equal bits hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

RELATIVE = 1e-15
WHOLE = 64.0


def shake(x: np.ndarray, seed: int) -> np.ndarray:
    """x with relative changes of at most RELATIVE."""
    bits = np.ascontiguousarray(x, float).view(np.uint64).ravel()
    with np.errstate(over="ignore"):  # integers mod 2⁶⁴, mixed as in SplitMix64
        mixed = bits ^ (np.arange(1, bits.size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ np.uint64(seed * 7919 + 1)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    chance = (mixed >> np.uint64(11)).astype(float).reshape(np.shape(x)) / 2.0**52 - 1.0
    kept = ~np.isfinite(x) | ((np.abs(x) <= WHOLE) & (x == np.rint(x)))
    with np.errstate(invalid="ignore"):
        return np.where(kept, x, x * (1.0 + RELATIVE * chance))


def start(seed: int) -> None:
    """From now on, in this process."""
    from unibody.coordinates.maximal.system import MaximalSystem
    from unibody.coordinates.reduced.system import ReducedSystem
    from unibody.model import State
    from unibody.solvers.barrier.solver import BarrierBound
    from unibody.solvers.base import Bound

    def constants(made: Any) -> Any:
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            made(self, *args, **kwargs)
            self.constants[:] = shake(self.constants, seed)

        return init

    def begun(made: Any) -> Any:
        def start(self: Any, state: State | None = None) -> tuple[State, np.ndarray]:
            first, memory = made(self, state)
            if state is None:
                first = State(first.t, shake(first.q, seed), shake(first.v, seed), first.coordinates)
            return first, memory

        return start

    for system in (ReducedSystem, MaximalSystem):
        system.__init__ = constants(system.__init__)
    for bound in (Bound, BarrierBound):
        bound.start = begun(bound.start)
