"""The fields of memory that `stepping.memory` lays out, for the solvers that step with impulses."""

from __future__ import annotations

from collections.abc import Callable

from unibody.rules.memory_fields import Field, count

from unibody.stepping.memory import (  # isort: skip
    CONVERGED, COUNT, DISTANCE, GAINS, ITERATIONS, LENGTH, METHOD, METHODS, PART, RESIDUAL, WIDTH, Layout,
)  # fmt: skip

MOST_CONTACTS = 1e9


def stepping_fields(layout: Layout, behind: Callable[..., slice]) -> list[Field]:
    """Of a layout; `behind` tells where its numbers lie in memory."""
    first, last = layout.ids
    table = behind(first, last)
    names = [slice(table.start + part, table.stop, WIDTH) for part in (0, 1)]
    return [
        Field("the length of the last step", behind(LENGTH), low=0.0), count("iterations", behind(ITERATIONS)),
        Field("the residual", behind(RESIDUAL), infinite=True, missing=True), count("the method", behind(METHOD), len(METHODS) - 1),
        Field("the least gap", behind(DISTANCE), infinite=True), count("contacts", behind(COUNT), MOST_CONTACTS),
        count("whether impulses were found", behind(CONVERGED), 1), count("steps that gained energy", behind(GAINS)),
        *(Field("a contact's name", name, -float(PART), float(PART), whole=True) for name in names if layout.contacts),
    ]  # fmt: skip
