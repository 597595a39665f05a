"""Contact: what MuJoCo lets touch, and how it rubs, as materials of shapes and Contact elements.

Of two geoms MuJoCo takes the larger of condim and of each friction, or all of the one with the higher priority; margins add up. condim 1
is without friction, 3 with Coulomb's μ = friction[0], from 4 on with a bound friction[1] · force on turns about the normal, which is
μ · torsion here. Where `ContactMaterial`s do not combine to that (condim 1 beside 3), and for an explicit <pair>, a Contact names the two
materials.

Two geoms are held against each other if

    they move against each other, their bodies are not parent and child (of which neither is fixed to the world) nor excluded,
    and contype of one has a bit of conaffinity of the other;      or a <pair> names them

Our own filter leaves out all bodies at a joint. Where MuJoCo does not (a body hinged to the world or to a table, flag filterparent off,
bodies that an equality joins), contact is asked of neighbours too, and turned off between those that MuJoCo leaves out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from unibody.collision.filters import immovable, neighbours
from unibody.constraints.contact import Contact
from unibody.contact.pair_laws import combined
from unibody.files.mjcf_reading import Reading, listed
from unibody.shapes import ContactMaterial

LEAST_FRICTION = 1e-5
"""MuJoCo's own (mjMINMU): what holds turns needs some."""
SAME = 1e-12
"""Relative: coefficients that differ less are the same."""
BITS = (1 << 32) - 1
"""contype and conaffinity are sets of 32 bits, written as numbers with a sign."""


class GeomLaw(NamedTuple):
    """What MuJoCo says of two geoms."""

    friction: float
    torsion: float
    margin: float


class Kind(NamedTuple):
    """What counts of a geom in contact; `own` ≥ 0 if it is named alone."""

    condim: int
    priority: int
    friction: tuple[float, ...]
    margin: float
    contype: int
    conaffinity: int
    own: int


@dataclass
class MjcfContacts:
    """The solid geoms of a file, in kinds."""

    r: Reading
    solid: list[bool]
    host: list[int]
    """The body of MuJoCo that each of its bodies is part of here."""
    names: dict[Kind, str] = field(default_factory=dict)

    @cached_property
    def geoms(self) -> list[int]:
        return [g for g, solid in enumerate(self.solid) if solid]

    @cached_property
    def excluded(self) -> set[tuple[int, int]]:
        """Pairs of MuJoCo's bodies."""
        pairs = [(int(s) >> 16, int(s) & 0xFFFF) for s in self.r.m.exclude_signature]
        return {(min(p), max(p)) for p in pairs}

    @cached_property
    def pairs(self) -> list[tuple[int, int, int]]:
        """Explicit ones, between geoms that move against each other: number, geoms."""
        m = self.r.m
        found = [(p, int(m.pair_geom1[p]), int(m.pair_geom2[p])) for p in range(m.npair)]
        return [x for x in found if m.body_weldid[m.geom_bodyid[x[1]]] != m.body_weldid[m.geom_bodyid[x[2]]]]

    @cached_property
    def of_body(self) -> dict[int, list[int]]:
        """Solid geoms of MuJoCo's bodies."""
        out: dict[int, list[int]] = {}
        for g in self.geoms:
            out.setdefault(int(self.r.m.geom_bodyid[g]), []).append(g)
        return out

    @cached_property
    def members(self) -> dict[int, list[int]]:
        """MuJoCo's bodies with solid geoms that are one of ours, by their host."""
        out: dict[int, list[int]] = {}
        for b in self.of_body:
            out.setdefault(self.host[b], []).append(b)
        return out

    @cached_property
    def split(self) -> list[tuple[int, int]]:
        """Exclusions that speak of a part of one of our bodies only."""
        out = []
        for a, b in sorted(self.excluded):
            sides = [self.members.get(self.host[i], []) for i in (a, b)]
            if a in self.of_body and b in self.of_body and any(self.free(x, y) for x, y in product(*sides)):
                out.append((a, b))
        return out

    @cached_property
    def kinds(self) -> dict[int, Kind]:
        """Of solid geoms."""
        m, alone = self.r.m, {g for _, one, other in self.pairs for g in (one, other)}
        alone |= {g for pair in self.split for b in pair for g in self.of_body[b]}
        override = bool(m.opt.enableflags & int(self.r.mj.mjtEnableBit.mjENBL_OVERRIDE))
        out = {}
        for g in self.geoms:
            friction, margin = m.geom_friction[g], float(m.geom_margin[g])
            if override:  # the file gives all contacts the same
                friction, margin = np.array(m.opt.o_friction)[[0, 2, 3]], 0.5 * float(m.opt.o_margin)
            out[g] = Kind(
                int(m.geom_condim[g]), int(m.geom_priority[g]), tuple(float(x) for x in friction), max(margin, 0.0),
                int(m.geom_contype[g]) & BITS, int(m.geom_conaffinity[g]) & BITS, g if g in alone else -1,
            )  # fmt: skip
        return out

    @cached_property
    def with_kind(self) -> dict[Kind, list[int]]:
        """MuJoCo's bodies with geoms of each kind."""
        out: dict[Kind, dict[int, None]] = {}
        for g, kind in self.kinds.items():
            out.setdefault(kind, {})[int(self.r.m.geom_bodyid[g])] = None
        return {kind: list(bodies) for kind, bodies in out.items()}

    def free(self, a: int, b: int) -> bool:
        """Whether MuJoCo holds two of its bodies against each other."""
        m = self.r.m
        one, other = int(m.body_weldid[a]), int(m.body_weldid[b])
        if one == other or (min(a, b), max(a, b)) in self.excluded:
            return False
        above, below = int(m.body_weldid[m.body_parentid[one]]), int(m.body_weldid[m.body_parentid[other]])
        return not (self.parents_filtered and one and other and (one == below or other == above))

    @cached_property
    def parents_filtered(self) -> bool:
        return not self.r.m.opt.disableflags & int(self.r.mj.mjtDisableBit.mjDSBL_FILTERPARENT)

    def occurs(self, one: Kind, other: Kind) -> bool:
        """Whether geoms of two kinds may touch by their bits and bodies."""
        return _meet(one, other) and any(self.free(a, b) for a, b in product(self.with_kind[one], self.with_kind[other]))

    @cached_property
    def meetings(self) -> list[tuple[Kind, Kind]]:
        """Kinds of geoms that may touch, without explicit pairs."""
        kinds = list(self.with_kind)
        return [pair for pair in [*combinations(kinds, 2), *((k, k) for k in kinds)] if self.occurs(*pair)]

    @cached_property
    def laws(self) -> dict[tuple[Kind, Kind], GeomLaw | None]:
        """Of kinds whose materials do not say it by themselves; None: kept apart."""
        out: dict[tuple[Kind, Kind], GeomLaw | None] = {}
        for one, other in self.meetings:
            said, law = combined(material(one), material(other), Contact()), mixed(one, other)
            if not np.allclose((said.friction, said.friction * said.torsion), (law.friction, law.friction * law.torsion), SAME, 0.0):
                out[one, other] = law
        for a, b in self.split:
            for g, h in product(self.of_body[a], self.of_body[b]):
                out.pop((self.kinds[h], self.kinds[g]), None)
                out[self.kinds[g], self.kinds[h]] = None
        for p, g, h in self.pairs:
            out.pop((self.kinds[h], self.kinds[g]), None)
            out[self.kinds[g], self.kinds[h]] = _pair_law(self.r.m, p)
        return out

    def give_names(self) -> None:
        """To the kinds that a Contact speaks of: that of their first geom."""
        taken: set[str] = set()
        for g, kind in self.kinds.items():
            if kind not in self.names and any(kind in pair for pair in self.laws):
                name = self.r.name("geom", g)
                while name in taken:
                    name += "'"
                taken.add(name)
                self.names[kind] = name

    def material(self, g: int) -> ContactMaterial:
        kind = self.kinds[g]
        return material(kind, self.names.get(kind))


def material(kind: Kind, name: str | None = None) -> ContactMaterial:
    friction, torsion = _coefficients(kind.condim, kind.friction)
    return ContactMaterial(
        friction=friction, torsion=torsion, margin=kind.margin, category=kind.contype, mask=kind.conaffinity, priority=kind.priority,
        name=name,
    )  # fmt: skip


def _coefficients(condim: int, friction: Any) -> tuple[float, float]:
    """μ and the length that holds turns."""
    if condim == 1:
        return 0.0, 0.0
    if condim == 3:
        return float(friction[0]), 0.0
    mu = max(float(friction[0]), LEAST_FRICTION)
    return mu, float(friction[1]) / mu


def _meet(one: Kind, other: Kind) -> bool:
    return bool(one.contype & other.conaffinity or other.contype & one.conaffinity)


def mixed(one: Kind, other: Kind) -> GeomLaw:
    """As MuJoCo mixes the parameters of two geoms."""
    if one.priority == other.priority:
        condim, friction = max(one.condim, other.condim), np.maximum(one.friction, other.friction)
    else:
        first = max(one, other, key=lambda kind: kind.priority)
        condim, friction = first.condim, np.array(first.friction)
    return GeomLaw(*_coefficients(condim, friction), one.margin + other.margin)


def _pair_law(m: Any, p: int) -> GeomLaw:
    f = m.pair_friction[p]
    return GeomLaw(*_coefficients(int(m.pair_dim[p]), (max(f[0], f[1]), f[2])), max(float(m.pair_margin[p]), 0.0))


def add_contact(r: Reading, touching: MjcfContacts | None) -> None:
    """The Contact elements, if anything may touch."""
    if touching is None:
        _leave_out_all(r)
        return
    if not (touching.meetings or touching.pairs):
        return
    off, asked = _apart(r, touching)
    r.builder.add(Contact(neighbours=asked), name=r.element("contact", "contact"))
    for a, b in off:
        r.builder.add(Contact(between=(a, b), on=False), name=r.element(f"{a} apart from {b}", "contact"))
    pairs = {(touching.kinds[g], touching.kinds[h]): p for p, g, h in touching.pairs}
    for (one, other), law in touching.laws.items():
        names = (touching.names[one], touching.names[other])
        p = pairs.get((one, other))
        name = r.name("pair", p) if p is not None else f"{names[0]} on {names[1]}"
        told: dict[str, Any] = {"on": False} if law is None else {**law._asdict(), "neighbours": p is not None}
        r.builder.add(Contact(materials=names, **told), name=r.element(name, "contact"))
    _leave_out(r, touching)


def _apart(r: Reading, touching: MjcfContacts) -> tuple[list[tuple[str, str]], bool]:
    """Our bodies that are kept apart by name, and whether contact is asked of neighbours."""
    name = {b: r.ground if b == 0 else r.bodies[b].name for b in touching.members}
    host = {n: b for b, n in name.items()}
    kinds = {b: {touching.kinds[g] for i in those for g in touching.of_body[i]} for b, those in touching.members.items()}

    def wanted(a: int, b: int) -> bool:
        return any(_meet(x, y) for x, y in product(kinds[a], kinds[b]))

    def free(a: int, b: int) -> bool:
        return any(touching.free(x, y) for x, y in product(touching.members[a], touching.members[b]))

    plain = r.builder.build()
    still = immovable(plain)
    known = [host.get(body.name, -1) for body in plain.bodies]
    near = {(known[a], known[b]) for a, b in neighbours(plain) - still if min(known[a], known[b]) >= 0}
    fixed = {(known[a], known[b]) for a, b in still}
    asked = any(wanted(a, b) and free(a, b) for a, b in near)
    # what MuJoCo leaves out: parents and children, and exclusions
    m, out = r.m, {(min(pair), max(pair)) for pair in near}
    groups: dict[int, set[int]] = {}
    for b in touching.of_body:
        groups.setdefault(int(m.body_weldid[b]), set()).add(touching.host[b])
    for w, own in groups.items():
        above = groups.get(int(m.body_weldid[m.body_parentid[w]]), set())
        out |= {(min(a, b), max(a, b)) for a, b in product(own, above) if a != b}
    hosts = [(touching.host[x], touching.host[y]) for x, y in touching.excluded if m.body_weldid[x] != m.body_weldid[y]]
    out |= {(min(a, b), max(a, b)) for a, b in hosts if a in name and b in name}
    covered = fixed | (set() if asked else near)
    out = {(a, b) for a, b in out if m.body_weldid[a] != m.body_weldid[b]}
    left = sorted(p for p in out if p not in covered and p[::-1] not in covered and wanted(*p) and not free(*p))
    return [(name[a], name[b]) for a, b in left], asked


def _leave_out_all(r: Reading) -> None:
    m = r.m
    count = 0 if r.off("contact") else int(np.count_nonzero(np.array(m.geom_contype) | np.array(m.geom_conaffinity)))
    if count or (m.npair and not r.off("contact")):
        how = "contact=False" if r.limits else "limits=False, without contact=True"
        r.leave(f"contact of {count} geoms: left out as asked ({how}); they are solid shapes")


def _leave_out(r: Reading, touching: MjcfContacts) -> None:
    m = r.m
    r.leave(f"contact of {len(touching.geoms)} geoms: hard here; its softness (solref, solimp) and gap are not read")
    sticky = [g for g in touching.geoms if m.geom_adhesion[g] or np.any(m.geom_surfacevel[g])]
    r.leave_all("geoms", "geom", sticky, "adhesion and moving surfaces have no element here")
    rolling = [g for g in touching.geoms if m.geom_condim[g] == 6 and m.geom_friction[g][2] > 0.0]
    r.leave_all("geoms", "geom", rolling, "rolling friction (condim 6) has no law here; sliding and torsional friction are kept")
    r.leave_all("geoms", "geom", [g for g in touching.geoms if m.geom_margin[g] < 0.0], "a margin below 0 is kept as 0")
    rolls = [r.name("pair", p) for p, _, _ in touching.pairs if m.pair_dim[p] == 6 and np.any(m.pair_friction[p][3:] > 0.0)]
    skewed = [r.name("pair", p) for p, _, _ in touching.pairs if m.pair_friction[p][0] != m.pair_friction[p][1] and m.pair_dim[p] >= 3]
    if rolls:
        r.leave(f"contact pairs: {listed(rolls)}: rolling friction (condim 6) has no law here")
    if skewed:
        r.leave(f"contact pairs: {listed(skewed)}: friction that differs with the direction is kept as the larger number")
