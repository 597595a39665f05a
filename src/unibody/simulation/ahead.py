"""Which kernels a run will ask for, before it does: so that all processors compile them at once.

`foreseen.json` holds, for each kernel that recorded runs of scenes asked for, what all of a solver's runs that did had in common: its rule,
classes of joints, shapes, forces, constraints, and closed loops where none without them asked. A scene that has all of it will probably ask
for it, too. It is a guess that costs time where it is wrong, and nothing else: what was not foreseen is compiled when it is called.
`tools/make_foreseen.py` records the runs.
"""

from __future__ import annotations

import json
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

from unibody import kernel_crew
from unibody.model import Model

WORTH = 3.0
"""Estimated seconds of compiling from which on it is done ahead: a helper takes one or two to start."""


def features(model: Model, solver: Any) -> frozenset[str]:
    """What kernels depend on: "solver redmax", "joint Revolute", "shape Box" …"""
    found = {f"solver {solver.name}", f"solver {solver.name} {getattr(solver, 'rule', '')}".strip()}
    found |= {f"joint {type(each.element).__name__}" for each in model.joints if each.element is not None}
    found |= {"loops"} if any(each.loop for each in model.joints) else set()
    found |= {f"shape {type(placed.shape).__name__}" for body in model.bodies for placed in body.shapes}
    for elements in (model.forces, model.constraints):
        found |= {type(element).__name__ for _, element in elements}
    found |= {f"deformable {type(each).__name__}" for each in model.deformables}
    return frozenset(found)


@cache
def _needs() -> dict[str, list[frozenset[str]]]:
    text = Path(__file__).with_name("foreseen.json").read_text(encoding="utf-8")
    return {name: [frozenset(each) for each in needs] for name, needs in json.loads(text).items()}


def foreseen(found: frozenset[str]) -> list[str]:
    """Names of the kernels that a run with these features will probably ask for."""
    return [name for name, needs in _needs().items() if any(each <= found for each in needs)]


_seen: set[frozenset[str]] = set()
"""Features for which this process has looked already: thousands of runs of a sweep look once."""


def compile_for(model: Model, solver: Any) -> None:
    """Compile what a run will ask for, where that is worth it; says how long it will take."""
    from unibody import kernel

    if not kernel.JIT or (crew := kernel_crew.processes()) == 0:
        return
    found = features(model, solver)
    if found in _seen:
        return
    _seen.add(found)
    wanted = kernel_crew.missing(foreseen(found))
    work = sum(seconds for seconds, _ in wanted)
    if work < WORTH:
        return
    seconds = max(work / crew, wanted[0][0]) + (1.5 if crew > 1 else 0.0)
    sys.stderr.write(f"compiling {len(wanted)} kernels, once: about {seconds:.0f} seconds by {crew} process{'es' if crew > 1 else ''}\n")
    sys.stderr.flush()
    if crew == 1:
        return  # each when it is called
    began, terminal = time.perf_counter(), sys.stderr.isatty()

    def tell(done: int, of: int) -> None:
        if terminal:
            sys.stderr.write(f"\r{done} of {of} kernels, {time.perf_counter() - began:.0f} s " + ("\n" if done == of else ""))
            sys.stderr.flush()

    kernel_crew.compile_ahead(wanted, crew, tell)
