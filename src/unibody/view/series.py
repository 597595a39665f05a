"""Series over time of a recording, by name: what plots show, with units.

    energy, drift, violation, momentum        of the whole; springs and works only where there are any
    q, v, q:joint, q:joint.k                  joint coordinates and velocities, in rad or m by what the degree of freedom does
    reaction:joint, constraint:joint          the whole wrench of a joint on its child, and its part that does no work
    multiplier:element, tension:element       of constraints, and of springs, cables and rods
    pose:body                                 position and orientation

Momentum is P = Σ m ẋ_c and L = Σ x_c × m ẋ_c + R I Rᵀ ω about the world's origin, over the bodies that move by dynamics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unibody.errors import ModelError
from unibody.joints.base import Joint
from unibody.model.model import JointInfo, look_up, with_parts
from unibody.simulation import Recording
from unibody.view import motion
from unibody.view.look import Look
from unibody.view.snapshot import snapshots

XYZ = ("x", "y", "z")


@dataclass(frozen=True)
class PlotPanel:
    """Curves with one unit over one time axis."""

    title: str
    unit: str
    t: np.ndarray
    curves: dict[str, np.ndarray]
    """Label → (T,)."""
    logarithmic: bool = False


def panels(recording: Recording, what: str | Sequence[str]) -> list[PlotPanel]:
    """One or more panels per item of `what`, a sequence or words with commas between them."""
    items = [w.strip() for w in (what.split(",") if isinstance(what, str) else what) if w.strip()]
    if not items:
        raise ModelError(f"plot of nothing; give some of {', '.join(KINDS)}")
    if not len(recording):
        raise ModelError("the recording is empty, so there is nothing to plot; run the simulation first")
    return [panel for item in items for panel in _panels(recording, item)]


def _panels(recording: Recording, item: str) -> list[PlotPanel]:
    kind, colon, name = item.partition(":")
    function, named = look_up(kind, KINDS, "plot of")
    if colon and not named:
        raise ModelError(f"plot of '{item}': {kind} is of the whole model; leave ':{name}' out")
    if named == "always" and not name:
        raise ModelError(f"plot of '{item}': say of which, for example {kind}:NAME")
    return function(recording, name)


def _energy(recording: Recording, _: str) -> list[PlotPanel]:
    e = recording.energy
    always = {"kinetic": e.kinetic, "gravity": e.gravity, "total": e.total}
    others = {"springs": e.springs, "work of dampers": e.damper_work, "work of motors": e.motor_work, "work applied": e.applied_work}
    others["work of drives"] = e.work - sum(others[k] for k in list(others)[1:])
    return [PlotPanel("energy", "J", recording.t, always | {k: x for k, x in others.items() if x.any()})]


def _drift(recording: Recording, _: str) -> list[PlotPanel]:
    return [PlotPanel("energy drift", "J", recording.t, {"drift": motion.energy_drift(recording)})]


def _violation(recording: Recording, _: str) -> list[PlotPanel]:
    return [PlotPanel("constraint violation", "m or rad", recording.t, {"violation": recording.violation}, logarithmic=True)]


def _momentum(recording: Recording, _: str) -> list[PlotPanel]:
    return [
        PlotPanel("linear momentum", "kg m/s", recording.t, _xyz(recording.momentum)),
        PlotPanel("angular momentum about the origin", "kg m²/s", recording.t, _xyz(recording.angular_momentum)),
    ]


def _coordinates(recording: Recording, name: str) -> list[PlotPanel]:
    return _of_joints(recording, name, "coordinates", Recording.joint, coordinate_units)


def _velocities(recording: Recording, name: str) -> list[PlotPanel]:
    return _of_joints(recording, name, "velocities", Recording.joint_velocity, velocity_units)


def _of_joints(
    recording: Recording, name: str, title: str, values: Callable[[Recording, str], np.ndarray], units: Callable[[Joint], list[str]]
) -> list[PlotPanel]:
    """The curves of one joint or of all, sorted into a panel per unit."""
    by_unit: dict[str, dict[str, np.ndarray]] = {}
    chosen, only = _joint(recording, name) if name else (None, None)
    for joint in [chosen] if chosen is not None else [j for j in recording.model.joints if j.nq]:
        own = units(joint.element)
        for k, (column, unit) in enumerate(zip(values(recording, joint.name).T, own, strict=True)):
            if only is None or only == k:
                by_unit.setdefault(unit, {})[joint.name if len(own) == 1 else f"{joint.name}.{k}"] = column
    if not by_unit:
        raise ModelError(f"plot of {title}{f' of {name!r}' if name else ''}: no degree of freedom there; choose a joint that moves")
    whose = f" of {name}" if name else ""
    return [PlotPanel(f"{title}{whose}", unit, recording.t, curves) for unit, curves in by_unit.items()]


def _joint(recording: Recording, name: str) -> tuple[JointInfo, int | None]:
    """A joint, and which of its coordinates if the name ends in .k."""
    table = with_parts(recording.model.joints)
    first, dot, last = name.rpartition(".")
    if name not in table and dot and first in table and last.isdigit():
        if int(last) >= table[first].nq:
            raise ModelError(f"joint '{first}' has {table[first].nq} coordinates, counted from 0; there is no '{name}'")
        return table[first], int(last)
    return look_up(name, table, "joint"), None


def _reaction(recording: Recording, name: str) -> list[PlotPanel]:
    return _wrench(recording, _joint(recording, name)[0].name, "reaction", Recording.reaction)


def _constraint(recording: Recording, name: str) -> list[PlotPanel]:
    return _wrench(recording, _joint(recording, name)[0].name, "constraint", Recording.constraint_wrench)


def _wrench(recording: Recording, name: str, title: str, values: Callable[[Recording, str], np.ndarray]) -> list[PlotPanel]:
    wrench = values(recording, name)
    force, torque = _xyz(wrench[:, 3:]), _xyz(wrench[:, :3])
    return [
        PlotPanel(f"{title} force of {name}", "N", recording.t, force),
        PlotPanel(f"{title} torque of {name}", "N m", recording.t, torque),
    ]


def _multiplier(recording: Recording, name: str) -> list[PlotPanel]:
    look_up(name, dict(recording.model.constraints), "constraint")
    rows = recording.multiplier(name).T
    curves = {name if len(rows) == 1 else f"{name}.{k}": row for k, row in enumerate(rows)}
    return [PlotPanel(f"multiplier of {name}", "N or N m", recording.t, curves)]


def _tension(recording: Recording, name: str) -> list[PlotPanel]:
    look = Look(recording.model)
    names = [s.name for s in look.strands]
    if not names:
        raise ModelError("plot of tension: no spring, cable or rod in the model; choose something else")
    pull = np.array([s.tension for s in snapshots(look, recording)]).reshape(len(recording), len(names))
    chosen = [names.index(look_up(name, dict.fromkeys(names, name), "spring, cable or rod"))] if name else range(len(names))
    unknown = [names[k] for k in chosen if np.isnan(pull[:, k]).all()]
    if unknown:
        raise ModelError(f"plot of tension: nobody knows the pull of '{unknown[0]}'; choose another, or its multiplier")
    return [PlotPanel(f"tension{f' of {name}' if name else ''}", "N", recording.t, {names[k]: pull[:, k] for k in chosen})]


def _pose(recording: Recording, name: str) -> list[PlotPanel]:
    look_up(name, {b.name: b for b in recording.model.bodies}, "body")
    pose = recording.pose(name)
    turn = dict(zip(("w", "x", "y", "z"), pose[:, 3:].T, strict=True))
    return [
        PlotPanel(f"position of {name}", "m", recording.t, _xyz(pose[:, :3])),
        PlotPanel(f"orientation of {name}, quaternion", "–", recording.t, turn),
    ]


def _xyz(values: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(XYZ, values.T, strict=True))


def velocity_units(joint: Joint) -> list[str]:
    """Of each velocity: rad/s where the degree of freedom turns the child, m/s where it only moves it.

    >>> from unibody.joints import Planar
    >>> velocity_units(Planar()), coordinate_units(Planar())
    (['m/s', 'm/s', 'rad/s'], ['m', 'm', 'rad'])
    """
    out = []
    for part in joint.parts():
        turns = np.abs(part.motion(part.neutral())[:3]).max(axis=0, initial=0.0) > 1e-12
        out += ["rad/s" if t else "m/s" for t in turns]
    return out


def coordinate_units(joint: Joint) -> list[str]:
    """Of each coordinate; the four of a quaternion, the last ones of their joint, have none."""
    out = []
    for part in joint.parts():
        units = [u.removesuffix("/s") for u in velocity_units(part)]
        if part.nq == part.nv + 1:
            units = [u for u in units if u == "m"][: part.nq - 4] + 4 * ["–"]
        out += units if len(units) == part.nq else part.nq * ["–"]
    return out


KINDS: dict[str, tuple[Callable[[Recording, str], list[PlotPanel]], str]] = {
    "energy": (_energy, ""), "drift": (_drift, ""), "violation": (_violation, ""), "momentum": (_momentum, ""),
    "q": (_coordinates, "if wanted"), "v": (_velocities, "if wanted"), "tension": (_tension, "if wanted"),
    "reaction": (_reaction, "always"), "constraint": (_constraint, "always"), "multiplier": (_multiplier, "always"),
    "pose": (_pose, "always"),
}  # fmt: skip
"""Name → how to find it, and whether something must, may or cannot be named after a colon."""
