"""Designs: which runs a study makes, as points in the space of its parameters.

A design has dimensions, and says of every parameter along which of them it varies. A grid has a dimension for each parameter; a list or a
sample has one for all of them. The product of two designs makes every run of the one with every run of the other. Runs are numbered by
rows, the last dimension fastest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from unibody.element import number, whole_number
from unibody.errors import ModelError
from unibody.model.values import shown

MOST_RUNS = 10**8
"""Of one study: more is a slip of the pen."""
MOST_LOOKED_AT = 100_000
SOBOL_BITS = 30
"""Sobol's sequence as SciPy makes it has 2³⁰ points."""


@dataclass(frozen=True)
class Design:
    """Values of parameters over dimensions: `sizes` by dimension, and for every parameter its dimensions and values.

    >>> grid = Design.of({"mass": [1.0, 2.0], "height": [0.1, 0.2, 0.3]})
    >>> len(grid), grid.point(4)
    (6, {'mass': 2.0, 'height': 0.2})
    """

    sizes: Mapping[str, int]
    values: Mapping[str, tuple[tuple[str, ...], np.ndarray]]

    @staticmethod
    def of(asked: Any) -> Design:
        """A design, a mapping of parameters to their values (a grid), or a sequence of such, of which the product is taken."""
        if isinstance(asked, Design):
            return asked
        if isinstance(asked, Mapping):
            columns = {_name(name): _column(name, values) for name, values in asked.items()}
            return Design({name: len(x) for name, x in columns.items()}, {name: ((name,), x) for name, x in columns.items()})
        if isinstance(asked, Sequence) and not isinstance(asked, str):
            out = Design({}, {})
            for each in asked:
                out = out * Design.of(each)
            return out
        raise ModelError(f"parameters {shown(asked)} is no design; give a mapping of names to lists of values, or a sample")

    def __mul__(self, other: Design) -> Design:
        twice = [*(self.sizes.keys() & other.sizes.keys()), *(self.values.keys() & other.values.keys())]
        if twice:
            raise ModelError(f"parameters: '{twice[0]}' stands in two designs of a product; give it once, or another dimension (dim=…)")
        return Design({**self.sizes, **other.sizes}, {**self.values, **other.values})

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.sizes.values())

    def __len__(self) -> int:
        return prod(self.shape)

    def place(self, run: int) -> tuple[int, ...]:
        """Where a run stands along the dimensions."""
        return tuple(int(k) for k in np.unravel_index(run, self.shape)) if self.sizes else ()

    def point(self, run: int) -> dict[str, Any]:
        """The values of all parameters in a run, as plain Python numbers and words."""
        at = dict(zip(self.sizes, self.place(run), strict=True))
        return {name: x[tuple(at[d] for d in dims)].item() for name, (dims, x) in self.values.items()}


def listed(parameters: Mapping[str, Any], dim: str = "run") -> Design:
    """Runs with the first value of every parameter, the second, and so on.

    >>> listed({"mass": [1.0, 2.0], "height": [0.1, 0.2]}).point(1)
    {'mass': 2.0, 'height': 0.2}
    """
    columns = {_name(name): _column(name, values) for name, values in parameters.items()}
    lengths = {name: len(x) for name, x in columns.items()}
    if len(set(lengths.values())) != 1:
        told = ", ".join(f"{name} {n}" for name, n in lengths.items()) or "none"
        raise ModelError(f"listed parameters have lists of different lengths ({told}); give as many values of each")
    return Design({dim: next(iter(lengths.values()))}, {name: ((dim,), x) for name, x in columns.items()})


def latin_hypercube(ranges: Mapping[str, Any], n: int, seed: int = 0, dim: str = "sample") -> Design:
    """n points of a Latin hypercube over `ranges` (name → (lowest, highest)): each range cut into n parts, a point in every part.

    >>> len(latin_hypercube({"mass": (1.0, 2.0), "height": (0.1, 0.2)}, 10))
    10
    """
    from scipy.stats import qmc

    names, lowest, highest = _ranges(ranges)
    count = whole_number(n, "latin_hypercube n")
    return _sampled(names, qmc.LatinHypercube(len(names), rng=_seed(seed, "latin_hypercube")).random(count), lowest, highest, dim)


def sobol(ranges: Mapping[str, Any], n: int, seed: int = 0, dim: str = "sample") -> Design:
    """The first n points of a scrambled Sobol' sequence over `ranges` (name → (lowest, highest)); a power of two keeps its balance.

    >>> len(sobol({"mass": (1.0, 2.0)}, 8))
    8
    """
    from scipy.stats import qmc

    names, lowest, highest = _ranges(ranges)
    count = whole_number(n, "sobol n")
    if count > 1 << SOBOL_BITS:
        raise ModelError(f"sobol n: {n!r} is more than the sequence has; give at most 2**{SOBOL_BITS}")
    if len(names) > qmc.Sobol.MAXDIM:
        raise ModelError(f"sobol: {len(names)} parameters are more than the sequence has dimensions; give at most {qmc.Sobol.MAXDIM}")
    power = (count - 1).bit_length()  # SciPy warns of other lengths, which are asked for here on purpose
    return _sampled(names, qmc.Sobol(len(names), rng=_seed(seed, "sobol")).random_base2(power)[:count], lowest, highest, dim)


def normal(parameters: Mapping[str, Any], n: int, seed: int = 0, dim: str = "sample") -> Design:
    """n points drawn from normal distributions, name → (mean, standard deviation).

    >>> len(normal({"mass": (1.0, 0.1)}, 5))
    5
    """
    names, means, deviations = _pairs(parameters, "normal", "(mean, standard deviation)")
    for name, deviation in zip(names, deviations, strict=True):
        number(float(deviation), f"normal '{name}': standard deviation", minimum=0.0)
    drawn = np.random.default_rng(_seed(seed, "normal")).standard_normal((whole_number(n, "normal n"), len(names)))
    return Design({dim: len(drawn)}, {name: ((dim,), means[k] + deviations[k] * drawn[:, k]) for k, name in enumerate(names)})


def seeds(n: int, seed: int = 0) -> np.ndarray:
    """n different seeds that follow from one, for scenes with a parameter `seed`.

    >>> len(set(seeds(100)))
    100
    """
    source = np.random.SeedSequence(_seed(seed, "seeds"))
    return np.array([s.generate_state(1)[0] for s in source.spawn(whole_number(n, "seeds n"))], np.int64)


def _sampled(names: list[str], unit: np.ndarray, lowest: np.ndarray, highest: np.ndarray, dim: str) -> Design:
    x = lowest + unit * (highest - lowest)
    return Design({dim: len(x)}, {name: ((dim,), np.ascontiguousarray(x[:, k])) for k, name in enumerate(names)})


def _seed(seed: Any, what: str) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ModelError(f"{what} seed: {shown(seed)} is no whole number of 0 or more; give one")
    return int(seed)


def _ranges(ranges: Mapping[str, Any]) -> tuple[list[str], np.ndarray, np.ndarray]:
    names, lowest, highest = _pairs(ranges, "range", "(lowest, highest)")
    for name, a, b in zip(names, lowest, highest, strict=True):
        if a > b:
            raise ModelError(f"range of '{name}': {a:g} is above {b:g}; give (lowest, highest)")
        if not np.isfinite(float(b) - float(a)):
            raise ModelError(f"range of '{name}': {a:g} … {b:g} is wider than a float holds; give a narrower one")
    return names, lowest, highest


def _pairs(given: Mapping[str, Any], what: str, wanted: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    out = []
    for name, pair in given.items():
        if np.shape(pair) != (2,):
            raise ModelError(f"{what} of '{name}': {shown(pair)} is no pair; give {wanted}")
        out.append([number(x, f"{what} of '{name}'") for x in pair])
    if not out:
        raise ModelError(f"{what}: no parameters; give name → {wanted}")
    x = np.array(out)
    return [_name(name) for name in given], x[:, 0], x[:, 1]


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise ModelError(f"parameter {shown(name)} has no name; give a word such as 'mass' or 'elbow.damping'")
    return name


def _column(name: str, values: Any) -> np.ndarray:
    """The values of one parameter: numbers, words or truth values, one kind of them."""
    listed = values if isinstance(values, Sequence | np.ndarray) and not isinstance(values, str) else [values]
    try:
        x = np.asarray(listed)
    except (ValueError, OverflowError):
        x = np.zeros(0, object)
    kinds = {"word" if isinstance(v, str) else "truth" if isinstance(v, bool) else "number" for v in listed[:MOST_LOOKED_AT]}
    if len(kinds) > 1 and not isinstance(listed, np.ndarray):
        raise ModelError(f"parameter '{name}': {shown(values)} mixes words, numbers and truth values; give one kind of them")
    if x.ndim != 1 or x.dtype.kind not in "bifuU":
        raise ModelError(f"parameter '{name}': {shown(values)} is no list of numbers or words; give one, and make other things in build()")
    if not len(x):
        raise ModelError(f"parameter '{name}': no values; give at least one")
    if x.dtype.kind == "f" and not np.isfinite(x).all():
        raise ModelError(f"parameter '{name}': {x[~np.isfinite(x)][0]} is not finite; give finite numbers")
    if len(x) > MOST_RUNS:
        raise ModelError(f"parameter '{name}': {len(x)} values; give at most {MOST_RUNS}")
    return x
