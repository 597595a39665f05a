"""Parts that reach the ground by nothing (`unibody.model.connections`), and bodies that lie in one place.

Bodies with shapes that may touch all others are meant to fly and to fall.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unibody.checks.finding import Finding, quoted
from unibody.coordinates.instant import Instant
from unibody.model import Model
from unibody.model.connections import groups


def touchable(model: Model) -> set[int]:
    """Bodies with a solid shape in a model whose bodies touch each other."""
    if not any(getattr(c, "surfaces", False) and not c.bodies() for _, c in model.constraints):
        return set()
    return {i for i, body in enumerate(model.bodies) if any(placed.solid for placed in body.shapes)}


def connection_findings(here: Instant) -> Iterator[Finding]:
    """Parts that reach the ground by nothing, and bodies lying in one place."""
    model = here.model
    ground, *floating = groups(model)
    touching = touchable(model)
    apart = {i: k for k, g in enumerate([ground, *floating]) for i in g}
    floating = [g for g in floating if not touching.intersection(g)]
    held = any(model.bodies[i].kind == "dynamic" for i in ground)
    weight = float(np.linalg.norm(model.gravity))
    loose = [g[0] for g in floating if len(g) == 1]
    connected = held or any(len(g) > 1 for g in floating)
    if loose and connected:
        names = tuple(model.bodies[i].name for i in loose)
        yield Finding(
            "warning", "floating bodies", names,
            f"{quoted(names)} hang{'s' if len(names) == 1 else ''} on nothing while other bodies are connected; add the joint, constraint"
            " or spring that was meant, or ignore this if it is meant to fly",
        )  # fmt: skip
    for group in (g for g in floating if len(g) > 1):
        names = tuple(model.bodies[i].name for i in group)
        if held:
            yield Finding(
                "warning", "disconnected part", names,
                f"the part of {len(names)} bodies {quoted(names)} has no path to the ground, while other bodies have; connect it, or ignore"
                " this if it is meant to float",
            )  # fmt: skip
    if weight and floating:
        names = tuple(model.bodies[i].name for g in floating for i in g)
        yield Finding(
            "note", "falls freely", names,
            f"nothing holds {quoted(names)} against gravity ({weight:.3g} m/s²): falls for ever; hold it by a joint, a"
            " constraint or a spring, let it touch the ground by Contact(), or give Builder(gravity=None)",
        )  # fmt: skip
    yield from _same_place(here, apart)


def _same_place(here: Instant, group: dict[int, int]) -> Iterator[Finding]:
    """Moving bodies at the same pose without a relation."""
    found: dict[tuple[float, ...], list[int]] = {}
    for i, body in enumerate(here.model.bodies):
        if body.kind == "dynamic":
            found.setdefault(tuple(np.round(here.X[i], 9) + 0.0), []).append(i)
    for same in found.values():
        apart = {group[i]: i for i in reversed(same)}
        if len(apart) > 1:
            names = tuple(here.model.bodies[i].name for i in sorted(apart.values()))
            yield Finding(
                "warning", "same pose", names,
                f"{quoted(names)} start at the same pose, p = ({', '.join(f'{x:.4g}' for x in here.X[same[0], 9:])}), and nothing connects"
                " them; give X_WB, or the joint that was meant",
            )  # fmt: skip
