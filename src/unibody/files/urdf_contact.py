"""A floor for a robot, and contact: with which friction, and between which links not.

A link's friction against the floor is its own: Bullet's `<lateral_friction>`, Gazebo's `<mu1>`, else `FRICTION` (Bullet's for links, whose
ground has 1). `<spinning_friction>` s bounds the moment about the normal by s · force, which is torsion s / μ; `<restitution>` is Newton's.
Between links the common friction holds: theirs, if all have the same.

Links that overlap where the robot starts, or at q = 0, are shapes made larger than the robot; what is between them is no contact. Links at
a joint never touch each other (see `collision.filters`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unibody.collision.rigid.overlapping import Overlap, overlaps
from unibody.constraints import Contact
from unibody.errors import ModelError
from unibody.files.urdf_grammar import Read, named
from unibody.files.urdf_repairs import reach
from unibody.model import Builder, Model
from unibody.model.model import start_poses
from unibody.shapes import Plane
from unibody.spatial.pose import Pose

FRICTION = 0.5
"""Of links that say nothing: Bullet's default."""
SHOWN = 12
"""Pairs named in a note; the rest are counted."""


@dataclass
class Touch:
    """Adds floor and contact to a robot, and collects what is said about them."""

    read: Read
    host: dict[str, str]
    """The body of each link, by its name in the model."""
    floor: float | None
    contact: Any
    """None (no contact), a friction, or a Contact."""
    self_collision: bool
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    name: str = ""
    """Of the floor's body."""
    _solid: list[str] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)

    def add(self, b: Builder, robot: Model, fixed: bool) -> None:
        """`robot`: as it is without floor and contact. `fixed`: its root does not move."""
        self._solid = [body.name for body in robot.bodies if any(s.solid for s in body.shapes)]
        self._taken = {name for name, _ in (*robot.forces, *robot.constraints)}
        if self.floor is not None:
            taken = {*(body.name for body in robot.bodies), *(j.name for j in robot.joints)}
            self.name = next(n for n in ("floor", *(f"floor_{k}" for k in range(2, len(taken) + 3))) if n not in taken)
            b.body(self.name, Plane(), kind="static", X_WB=Pose(p=(0.0, 0.0, self.floor)))
            self.notes.append(f"'{self.name}' at z = {self.floor:g} m")
        if self.contact is None:
            self._unused("no contact was asked for")
            return
        self._rules(b)
        if not self.self_collision:
            if len(self._solid) > 1:
                self._add(b, Contact(between=(self._solid, self._solid), on=False), "contact.self")
            self.notes.append("links do not touch each other, since self_collision=false")
        self._exclude(b, fixed)

    def _add(self, b: Builder, element: Contact, name: str) -> None:
        """By a name that nothing has."""
        new = next(n for n in (name, *(f"{name}_{k}" for k in range(2, len(self._taken) + 3))) if n not in self._taken)
        self._taken.add(new)
        b.add(element, name=new)

    def _rules(self, b: Builder) -> None:
        """The Contact among all, and those of links whose friction is their own."""
        if isinstance(self.contact, Contact):
            self._add(b, self.contact, "contact")
            self._unused("a Contact was given, which says all")
            return
        surfaces, usual = self._surfaces(), float(self.contact)
        kinds = {n: surfaces.get(n, (usual, 0.0, 0.0)) for n in self._solid}
        common = {mu for mu, _, _ in kinds.values()}
        among = next(iter(common)) if len(common) == 1 else usual
        self._add(b, Contact(friction=among), "contact")
        self.notes.append(f"contact with friction {among:g}" + ("" if self.name else " among links"))
        for kind in dict.fromkeys(kinds.values()) if self.name else ():
            mu, bounce, spin = kind
            if kind == (among, 0.0, 0.0):
                continue
            those = [n for n in self._solid if kinds[n] == kind]
            torsion = spin / mu if mu > 0.0 else 0.0
            rule = Contact(friction=mu, restitution=bounce, torsion=torsion, between=(those, self.name))
            self._add(b, rule, f"contact.{those[0]}")
            more = (f", restitution {bounce:g}" if bounce else "") + (f", torsion {torsion:.3g} m" if torsion else "")
            self.notes.append(f"friction {mu:g}{more} between the floor and {named(those)}, as the file says")
        if not self.name and (len(common) > 1 or any(k[1] or k[2] for k in kinds.values())):
            self.left_out.append(f"friction of links {named(self.read.surfaces)}: there is no floor; between links the common one holds")

    def _surfaces(self) -> dict[str, tuple[float, float, float]]:
        """Friction, restitution and spinning friction of bodies whose links give some; of several links in a body the first counts."""
        out: dict[str, tuple[float, float, float]] = {}
        told: dict[str, str] = {}
        rolling, unequal, clashing, unknown = [], [], [], []
        for link, words in self.read.surfaces.items():
            body = self.host.get(link)
            if body is None:
                unknown.append(link)
                continue
            mu = words.get("lateral_friction", words.get("mu1", FRICTION))
            kind = (mu, words.get("restitution", 0.0), words.get("spinning_friction", 0.0))
            if min(kind) < 0.0 or kind[1] > 1.0:
                raise ModelError(f"link '{link}': friction {kind[0]:g}, restitution {kind[1]:g}, spinning friction {kind[2]:g}; "
                                 "give numbers from 0 on, and a restitution up to 1")  # fmt: skip
            if out.setdefault(body, kind) != kind:
                clashing.append(f"{link}' in '{told[body]}")
            told.setdefault(body, link)
            rolling += [link] if words.get("rolling_friction") else []
            unequal += [link] if words.get("mu2", words.get("mu1")) != words.get("mu1") else []
        reasons = {
            "rolling friction of links {}: no solver resists rolling": rolling,
            "<mu2> of links {}: friction is the same in all directions here, and <mu1> was taken": unequal,
            "friction of links {}: they are one body, whose first link's was taken": clashing,
            "friction of {}: no such link": unknown,
        }
        self.left_out += [line.format(named(names)) for line, names in reasons.items() if names]
        return out

    def _unused(self, why: str) -> None:
        links = [link for link in self.read.surfaces if link not in self.read.other]
        if links:
            self.left_out.append(f"friction of links {named(links)}: {why}")

    def _exclude(self, b: Builder, fixed: bool) -> None:
        """No contact between links that overlap at the start or at q = 0."""
        model = b.build()
        poses = [model.bodies[i].X_WB for i in range(model.n_bodies)]
        places = {"at the start": poses}
        if any(j.nq == 1 and j.q0[0] != 0.0 for j in model.tree_joints):
            zero = [replace(j, q0=np.zeros(1)) if j.nq == 1 else j for j in model.tree_joints]
            places["at q = 0"] = start_poses(model.bodies, zero)
        found: dict[tuple[str, str], str] = {}
        sunk: list[Overlap] = []
        for where, X in places.items():
            table = np.array([np.r_[x.R.ravel(), x.p] for x in X])
            try:
                seen = overlaps(model, table)
            except ModelError as error:  # a pair of shapes that needs coal, which is not there
                self.left_out.append(f"links that overlap were not looked for: {error}")
                return
            for o in seen:
                if self.name in (o.one, o.other) and not fixed:
                    sunk += [o] if where == "at the start" else []
                else:
                    found.setdefault((o.one, o.other), f"'{o.one}' and '{o.other}' ({o.depth:.2g} m {where})")
        for one, other in found:
            self._add(b, Contact(between=(one, other), on=False), f"apart.{one}.{other}")
        if found:
            shown = list(found.values())[:SHOWN]
            rest = f" and {len(found) - SHOWN} more pairs" if len(found) > SHOWN else ""
            self.notes.append(f"no contact between links that overlap: {', '.join(shown)}{rest}")
        if sunk:
            who = next(n for n in (sunk[0].one, sunk[0].other) if n != self.name)
            self.notes.append(f"the robot starts inside the floor, '{who}' by {sunk[0].depth:.3g} m; height='on floor' puts it on it")


def lowest(model: Model) -> float:
    """The least height of a robot's solid shapes at the start [m]."""
    down = np.array([0.0, 0.0, -1.0])
    heights = [
        -reach(s, body.X_WB.R.T @ down) + body.X_WB.p[2]
        for body in model.bodies for s in body.shapes if s.solid and not isinstance(s.shape, Plane)
    ]  # fmt: skip
    if not heights:
        raise ModelError("height='on floor', but the robot has no solid shape; give height as a number, or <collision> shapes")
    return float(min(heights))
