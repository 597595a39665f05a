"""Contact at an instant: which forces and accelerations satisfy the laws of contact at a state, if any (CP1 of paper 002).

    M a = f + Jᵀ λ,    joints and loops C̈ = 0,    0 ≤ λ_n ⟂ C̈_n ≥ 0,    friction μ λ_n against the slip; where nothing slips, within its
    cone and C̈_t = 0, or on it and against C̈_t

Unlike a step, an instant can have several solutions, or none: a rod that slides on its tip may be pressed down by its own friction
(Painlevé). What approaches hits: then velocities jump first, and accelerations mean nothing yet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any

import numpy as np

from unibody.algebra.contact.mode_parts import HOLD, PUSH, REST, SLIDE, ModePart, own_response
from unibody.algebra.contact.modes import STARTS, IslandModes, ModeSolution, blamed, solve_modes
from unibody.stepping.contact_margin import NOTHING, Touches, radii
from unibody.stepping.contact_rates import contact_rates
from unibody.stepping.contact_rows import contact_rows
from unibody.stepping.impulses import ImpulseOutcome
from unibody.stepping.step_problem import Assembled

TOUCHING = 1e-6
"""[m, rad] What is nearer touches."""

MOVES = 1e-6
"""[m/s, rad/s] What slips, parts or approaches faster does so."""

MOST = 32
"""Combinations of the solutions of islands that are listed."""


@dataclass
class InstantOutcome:
    """One way in which all goes on. Forces act on the first body of each contact, as in `Touching`."""

    modes: tuple[str, ...]
    """Of contacts: "separates", "presses" (without friction), "slides", "sticks", "starts to slide"."""
    normal_forces: np.ndarray
    """(n,) [N]"""
    friction: np.ndarray
    """(n, 3) [N]"""
    torsion: np.ndarray
    """(n,) about the normal [N m]"""
    normal_accelerations: np.ndarray
    """(n,) of the gaps [m/s²], 0 where contact goes on."""
    slip_accelerations: np.ndarray
    """(n, 3) of the first body against the second, across the normal [m/s²]."""
    accelerations: np.ndarray
    """(bodies, 6) of all bodies, angular then linear at the centre of mass, world axes."""
    reactions: dict[str, np.ndarray]
    """By joint, torque then force on the child at M, world axes."""
    multipliers: dict[str, np.ndarray]
    """By constraint element."""
    forces_unique: bool
    """Whether no other forces give the same motion."""


@dataclass
class ContactInstant:
    """What `contact_instant` found. Contacts are numbered; `bodies` (n, 2) as in `Touching`, normals from the second to the first."""

    verdict: str
    """"unique", "several", "none"; "found": one that may not be the only one; "impact": velocities have to jump first."""
    proved: bool
    """Whether every mode was examined, so that there are no other solutions."""
    names: list[tuple[str, str]]
    bodies: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    gaps: np.ndarray
    slips: np.ndarray
    """(n, 3) velocities of the first bodies against the second, across the normals [m/s]."""
    answers: np.ndarray
    """(n,) how the gap of a sliding contact answers to its own normal force with the friction that comes along [1/kg]; not positive:
    Painlevé's. nan where nothing slides."""
    critical: np.ndarray
    """(n,) the coefficient of friction at which that answer is zero; infinite where friction parts the bodies, or nothing slides."""
    outcomes: list[InstantOutcome] = field(default_factory=list)
    causes: tuple[int, ...] = ()
    """The contacts that are why there is none, or more than one, or that hit."""
    note: str = ""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def only(self) -> InstantOutcome:
        """The outcome, where there is one alone."""
        if len(self.outcomes) != 1:
            raise ValueError(f"the instant has {len(self.outcomes)} outcomes ({self.verdict}); choose among .outcomes")
        return self.outcomes[0]

    def __str__(self) -> str:
        blame = "; ".join(f"'{self.names[c][0]}' on '{self.names[c][1]}'" for c in self.causes)
        said = {
            "unique": "one solution", "found": "a solution; whether there are others is not known",
            "several": f"{len(self.outcomes)} solutions, by the contact of {blame}",
            "none": f"no solution, by the contact of {blame}" if blame else "no solution",
            "impact": f"an impact{' of ' + blame if blame else ''}: velocities jump before accelerations mean anything",
        }[self.verdict]  # fmt: skip
        proved = "" if self.proved or self.verdict in ("impact", "found") else " (not every mode was examined)"
        return f"{len(self)} contacts: {said}{proved}{'; ' + self.note if self.note else ''}"


class _Instant:
    """The problem at the state at which the rule's system has looked last."""

    def __init__(self, rule: Any, find: Any, touching: float):
        self.rule, self.system = rule, rule.system
        self.motion, self.constraints = self.system.motion(), self.system.constraint_rows()
        self.notes: list[str] = []
        X = self.system.poses().copy()
        touches = self._near(find, X, touching)
        rows = contact_rows(touches.bodies, touches.points, touches.normals, rule.plane_normal)
        parting = rows.velocities(self.motion, 0.0)[:, 0] > MOVES
        self.touches = touches.some(~parting)
        self.rows, self.laws = rule._rows(self.touches)
        self.before = self.rows.velocities(self.motion, 0.0)
        drift, known = np.zeros_like(self.before), np.ones(len(self.touches.gaps), bool)
        if len(known):
            drift, known = contact_rates(find, X, self.motion, self.rows, self.touches.ids, radii(rule.model))
        if not known.all():
            self.notes.append(f"the curvature at {int((~known).sum())} contacts is not known and was left out")
        self.free = self.rows.velocities(self.motion, 1.0) - self.before + drift
        self.known = bool(known.all())
        self._constraints(touching)

    def _near(self, find: Any, X: np.ndarray, touching: float) -> Touches:
        if find is None:
            return NOTHING
        found = find(X)
        near = (found.gap <= touching) & self.system.moving[found.body].any(axis=1) if len(found) else np.zeros(0, bool)
        if not near.any():
            return NOTHING
        return Touches(found.body[near].copy(), found.point[near], found.normal[near].copy(), found.gap[near].copy(), found.id[near].copy())

    def _constraints(self, touching: float) -> None:
        """b of the constraint rows, and which limits hit."""
        rule, constraints = self.rule, self.constraints
        b = constraints.acceleration.copy()
        at_end = rule.unilateral & (constraints.residual <= touching)
        self.limits_hit = [
            rule.system.constraints.names[rule.system.constraints.primary_rows + r]
            for r in np.flatnonzero(at_end & (constraints.rate < -MOVES))
        ]
        b[rule.unilateral & (~at_end | (constraints.rate > MOVES))] = np.inf
        self.b_constraints = b

    def problem(self) -> tuple[Assembled, np.ndarray, list[ModePart], list[int]]:
        """W and b of what is not bilateral, the laws, and the contact of each part (−1: none)."""
        rule, laws = self.rule, self.laws
        made = Assembled(rule, self.rows.wrenches(self.motion), self.constraints, self.b_constraints, self.rows, laws, 1.0, rule.options)
        k, w = made.rest.size, self.rows.width
        b = np.concatenate([made.b_rest, self.free.ravel()]) - made.fixed
        parts, owner = [ModePart(PUSH, np.array([r]), np.zeros(0)) for r in range(made.push.size)], [-1] * k
        for r in range(made.push.size, k):
            row = made.rest[r]
            moves = self.constraints.rate[row]
            bound = float(rule.bound[row])
            if abs(moves) > MOVES:
                b = b - made.whole[:, r] * np.sign(moves) * bound
                parts.append(ModePart(HOLD, np.array([r]), np.zeros(1)))
            else:
                parts.append(ModePart(HOLD, np.array([r]), np.array([bound])))
        self.constant = b
        for c in range(len(self.before)):
            at = k + w * c + np.arange(w)
            mu = laws.friction[c, : w - 1]
            slip = self.before[c, 1:]
            rough = np.flatnonzero(mu > 0.0)
            owner.append(c)
            if not rough.size:
                parts.append(ModePart(PUSH, at[:1], np.zeros(0)))
            elif self.slides(c):
                scaled = mu * slip
                parts.append(ModePart(SLIDE, at, mu * scaled / np.linalg.norm(scaled)))
            else:
                parts.append(ModePart(REST, np.concatenate([at[:1], at[1 + rough]]), mu[rough] * laws.stick[c]))
        return made, b, parts, owner

    def slides(self, c: int) -> bool:
        """Whether a contact slips, or turns about its normal where friction holds that."""
        mu = self.laws.friction[c, : self.rows.width - 1]
        length = np.array([1.0, 1.0, mu[2] / max(mu[0], mu[1], 1e-300)])[: mu.size] if mu.size == 3 else np.ones(mu.size)
        return bool(np.linalg.norm(np.where(mu > 0.0, length, 0.0) * self.before[c, 1:]) > MOVES)


def contact_instant(rule: Any, find: Any, look: Any, touching: float = TOUCHING, resting: bool = True) -> ContactInstant:
    """At the state of `look()`, which evaluates the rule's system anew; `find`: contacts at poses, or None; `resting`: whether all modes of
    what rests are examined too, where nothing slides."""
    look()
    here = _Instant(rule, find, touching)
    made, b, parts, owner = here.problem()
    n, w = here.before.shape
    hits = tuple(int(c) for c in np.flatnonzero(here.before[:, 0] < -MOVES))
    # of sliding contacts: how their gaps answer to their own force, and from which friction on not at all
    answers, critical = np.full(n, np.nan), np.full(n, np.inf)
    for part, c in zip(parts, owner, strict=True):
        if part.kind == SLIDE:
            answers[c] = own_response(made.whole, part)
            alone = float(made.whole[part.rows[0], part.rows[0]])
            if answers[c] < alone:
                critical[c] = here.laws.friction[c, 0] * alone / (alone - answers[c])
    bodies = here.touches.bodies[:, ::-1].copy()
    slips = np.einsum("nk,nkj->nj", here.before[:, 1:3], here.rows.directions[:, 1:3])
    known = [b.name for b in rule.model.bodies]
    out = ContactInstant(
        "impact", here.known, [(known[i], known[j]) for i, j in bodies], bodies, here.touches.points, here.rows.directions[:, 0],
        here.touches.gaps, slips, answers, critical, note="; ".join(here.notes),
    )  # fmt: skip
    # what still approaches is an impact, and no matter of accelerations
    if hits or here.limits_hit:
        out.causes = hits
        if here.limits_hit:
            out.note = "; ".join([*here.notes, f"at their ends and still moving: {', '.join(dict.fromkeys(here.limits_hit))}"])
        return out
    # all modes of every part: none, one or several solutions
    found = _solved(made.whole, b, parts, here, owner, resting)
    bad = [g for g in found if not g.found]
    out.proved = here.known and all(g.complete for g in bad or found)
    if bad:
        out.verdict = "none"
        out.causes = _contacts(owner, [i for g in bad for i in blamed(made.whole, b, parts, g)])
        return out
    many = [g for g in found if len(g.found) > 1]
    out.verdict = "several" if many else ("unique" if all(g.examined > 1 or g.complete for g in found) else "found")
    out.causes = _contacts(owner, [i for g in many for i in _differ(g)])
    for choice in islice(product(*(g.found for g in found)), MOST):
        look()
        out.outcomes.append(_outcome(here, made, parts, owner, found, choice, n, w))
    return out


def _solved(W: Any, b: np.ndarray, parts: list[ModePart], here: _Instant, owner: list[int], resting: bool) -> list[IslandModes]:
    """The islands' solutions. What static friction cannot hold slides with sliding friction, as in steps."""
    found = solve_modes(W, b, parts, resting=resting)
    if not (here.laws.stick > 1.0).any():
        return found
    begins = {i for g in found for f in g.found for i, mode in zip(g.parts, f.modes, strict=True) if mode == STARTS}
    loose = [i for i in begins if here.laws.stick[owner[i]] > 1.0]
    if not loose:
        return found
    eased = [ModePart(p.kind, p.rows, p.numbers / here.laws.stick[owner[i]]) if i in loose else p for i, p in enumerate(parts)]
    return solve_modes(W, b, eased, resting=resting)


def _differ(island: IslandModes) -> list[int]:
    """Parts that do not do the same in all solutions; all, if only numbers differ."""
    out = [i for at, i in enumerate(island.parts) if len({f.modes[at] for f in island.found}) > 1]
    return out or list(island.parts)


def _contacts(owner: list[int], parts: list[int]) -> tuple[int, ...]:
    return tuple(sorted({owner[i] for i in parts if owner[i] >= 0}))


def _outcome(
    here: _Instant, made: Assembled, parts: list[ModePart], owner: list[int], islands: list[IslandModes], choice: tuple[ModeSolution, ...],
    n: int, w: int,
) -> InstantOutcome:  # fmt: skip
    system, k = here.system, made.rest.size
    x, a = np.zeros(k + n * w), np.zeros(k + n * w)
    modes = ["separates"] * n
    for island, f in zip(islands, choice, strict=True):
        x += f.x
        for i, mode in zip(island.parts, f.modes, strict=True):
            if owner[i] >= 0:
                modes[owner[i]] = mode
    for part in parts:  # friction of dry joints in motion is in b already
        if part.kind == HOLD and part.numbers[0] == 0.0:
            row = made.rest[part.rows[0]]
            x[part.rows[0]] = -np.sign(here.constraints.rate[row]) * here.rule.bound[row]
    for part in parts:
        if part.kind == SLIDE:
            x[part.rows[1:]] = -part.numbers * x[part.rows[0]]
    a = made.whole @ x + np.concatenate([made.b_rest, here.free.ravel()]) - made.fixed
    total = made._made(here.touches, here.before, here.free, ImpulseOutcome(x, a), a[k:].reshape(n, w)).constraint_impulse
    force, motion = x[k:].reshape(n, w), a[k:].reshape(n, w)
    wrenches = here.rows.on_bodies(made.wrenches, force, here.rule.model.n_bodies)
    system.accelerate(total, here.constraints, wrenches, 1.0)
    through = system.through()
    across = here.rows.directions[:, 1:3]
    spins = here.rows.spin
    reactions = {j.name: wrench for j, wrench in zip(here.rule.model.joints, through.reactions, strict=True)}
    return InstantOutcome(
        tuple(modes), force[:, 0], np.einsum("nk,nkj->nj", force[:, 1:3], across), force[:, -1].copy() if spins else np.zeros(n),
        motion[:, 0], np.einsum("nk,nkj->nj", motion[:, 1:3], across), system.motion().rate.copy(), reactions, dict(through.multipliers),
        all(f.forces_unique for f in choice),
    )  # fmt: skip
