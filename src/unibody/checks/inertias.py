"""Masses, inertias and sizes that a rigid thing can hardly have, or that make a method suffer.

A principal moment close to the sum of the other two belongs to a flat plate of no thickness; a radius of gyration √(J/m) far below the size
of the body's shapes to a forgotten inertia; a density beyond osmium or below gas to other units. Where a light body carries or pulls a
heavy one, multipliers and iterations lose as many digits as the ratio has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from unibody.checks.finding import Finding, quoted
from unibody.coordinates.instant import Instant
from unibody.model import Model
from unibody.model.model import BodyInfo
from unibody.shapes import HeightField, OpenMesh, Plane

FLAT = 1e-6
"""J₁ + J₂ − J₃ below this part of J₃ is a plate without thickness."""
SMALL_GYRATION = 0.01
"""Of half the diagonal of the shapes' box; a solid has 0.2 and more about its long axes."""
RATIO = 1e4
"""Of masses along a joint or a spring."""
LARGE, TINY, DENSE, THIN = 1e3, 1e-4, 3e4, 1.0
"""Sizes [m] and densities [kg/m³] that suggest other units."""


def box_of(body: BodyInfo) -> np.ndarray | None:
    """The corners (2, 3) of the box around a body's solid shapes, body axes; None without any that end."""
    points = [p.triangles()[0] for p in body.shapes if getattr(p, "solid", True) and not isinstance(getattr(p, "shape", p), Plane)]
    if not points:
        return None
    every = np.concatenate(points)
    return np.array([every.min(axis=0), every.max(axis=0)])


class Odd(NamedTuple):
    """Something odd about a body: its value in words, and how odd it is."""

    code: str
    body: str
    value: str
    oddness: float


REMEDIES = {
    "flat inertia": "one principal moment is the sum of the other two, as for a plate without thickness: check it if the body is not one",
    "tiny inertia": "far smaller than the shapes: right for a point mass, else give the inertia about the centre of mass in kg m²",
    "huge inertia": "far larger than the shapes: give the inertia about the centre of mass, not about a far point",
    "centre of mass outside": "far outside the shapes: give com in body axes, from the body's origin",
    "odd size": "lengths are metres: check the units of the shapes",
    "odd density": "masses are kilograms and lengths metres: check their units",
}
WARN = ("huge inertia", "centre of mass outside")


def inertia_findings(here: Instant) -> Iterator[Finding]:
    """What is odd about single bodies, one finding for each kind of oddness; then about pairs."""
    odd = [o for body in here.model.bodies if body.kind == "dynamic" for o in _oddities(body)]
    for code, remedy in REMEDIES.items():
        mine = sorted((o for o in odd if o.code == code), key=lambda o: -o.oddness)
        if mine:
            names = tuple(o.body for o in mine)
            rest = f" (and {len(names) - 1} more: {quoted(names[1:], 4)})" if len(names) > 1 else ""
            yield Finding("warning" if code in WARN else "note", code, names, f"body '{names[0]}' {mine[0].value}{rest}; {remedy}")
    yield from _ratios(here.model)


def _oddities(body: BodyInfo) -> Iterator[Odd]:
    J = np.sort(np.linalg.eigvalsh(body.inertia))
    box = box_of(body)
    if box is None:
        if J[0] + J[1] - J[2] < FLAT * J[2] and J[0] > FLAT * J[2]:
            yield Odd("flat inertia", body.name, f"has the principal moments {', '.join(f'{x:.4g}' for x in J)} kg m²", 1.0)
        return
    size = box[1] - box[0]
    reach, longest = 0.5 * float(np.linalg.norm(size)), float(size.max())
    gyration = float(np.sqrt(J[2] / body.mass))
    said = f"has a largest radius of gyration of {gyration:.3g} m, and shapes that reach {reach:.3g} m"
    if gyration < SMALL_GYRATION * reach:
        yield Odd("tiny inertia", body.name, said, reach / gyration)
    elif gyration > 3.0 * reach:
        yield Odd("huge inertia", body.name, said, gyration / reach)
    outside = float(np.linalg.norm(np.maximum(np.maximum(box[0] - body.com, body.com - box[1]), 0.0)))
    if outside > 0.25 * longest:
        where = ", ".join(f"{x:.4g}" for x in body.com)
        yield Odd("centre of mass outside", body.name, f"has its centre of mass at ({where}), {outside:.3g} m outside", outside / longest)
    if longest > LARGE or longest < TINY:
        yield Odd("odd size", body.name, f"is {longest:.3g} m long", abs(np.log(longest)))
    solid = [p for p in body.shapes if getattr(p, "solid", True)]
    volume = sum(p.volume for p in solid if not isinstance(getattr(p, "shape", p), Plane | OpenMesh | HeightField))
    if volume > 0.0 and np.isfinite(volume) and not THIN <= body.mass / volume <= DENSE:
        density = body.mass / volume
        yield Odd("odd density", body.name, f"has {body.mass:.4g} kg in {volume:.3g} m³, {density:.3g} kg/m³", abs(np.log(density / 1e3)))


def _ratios(model: Model) -> Iterator[Finding]:
    """Pairs of moving bodies whose masses differ much, by what connects them; the worst five, and how many more."""
    pairs: list[tuple[float, str, str, str]] = []
    for joint in model.joints:
        if not joint.implicit:
            pairs += _ratio(model, joint.parent, joint.child, joint.name)
    for name, force in model.forces:
        touched = [n for n in dict.fromkeys(model.body(b) for b in force.bodies()) if n < model.n_bodies]  # not points of deformables
        for k, a in enumerate(touched):
            for b in touched[k + 1 :]:
                pairs += _ratio(model, a, b, name)
    pairs.sort(reverse=True)
    for ratio, heavy, light, name in pairs[:5]:
        yield Finding(
            "warning", "mass ratio", (heavy, light, name),
            f"'{heavy}' is {ratio:.2g} times as heavy as '{light}', which '{name}' connects it to: 'lagrange' and iterations of 'redmax'"
            f" lose about {np.log10(ratio):.0f} digits, 'articulated' does not; use that, or make them more alike",
        )  # fmt: skip
    if len(pairs) > 5:
        rest = tuple(name for *_, name in pairs[5:])
        said = f"{len(rest)} more pairs of bodies with mass ratios above {RATIO:g}, at {quoted(rest)}; the same holds there"
        yield Finding("warning", "mass ratio", rest, said)


def _ratio(model: Model, a: int, b: int, name: str) -> list[tuple[float, str, str, str]]:
    light, heavy = sorted((model.bodies[a], model.bodies[b]), key=lambda body: body.mass)
    if light.kind != "dynamic" or heavy.kind != "dynamic" or heavy.mass <= RATIO * light.mass:
        return []
    return [(heavy.mass / light.mass, heavy.name, light.name, name)]
