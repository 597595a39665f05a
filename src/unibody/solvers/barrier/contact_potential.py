"""Contact in the incremental potential: sums over contacts of the laws in `unibody.contact` (paper 003, Eq. 13–14 and 19–22).

    BarrierPotential     β h² Σ B(d)                          keeps distances positive; steps are filtered by continuous collision detection
    FrictionPotential    β h² Σ μ λ f₀(|w|)                   with normal forces λ and tangents of an earlier iterate
    DamperPotential      β h² ½ (∂v/∂x) wᵀ D w,  w = x − x₀    D = k_d ∂²B/∂x² at the beginning of the step, and dampers of forces (Eq. 20)

A contact's damper is semi-implicit: f = −k_d ∂²B/∂x² v, with v the velocity at the end (Eq. 21). Of driven bodies that velocity is known;
what it does to the others is a load.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unibody.algebra.block.cholesky import BlockMatrix
from unibody.arrays import inner
from unibody.collision.contact_search import ContactSearch
from unibody.collision.proximity import SHARE, WIDTH, ContactSet
from unibody.contact.barrier import (
    add_contact_gradient,
    add_positive_blocks,
    barrier,
    barrier_terms,
    contact_change,
    contact_energy,
    contact_forces,
)  # fmt: skip
from unibody.contact.curvature import add_curvature_contact_blocks, add_exact_contact_blocks
from unibody.contact.friction import LaggedFriction, add_contact_friction, add_friction_contact_blocks, friction_energy, slip
from unibody.kernel import Floats, Ints, device, kernel
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.contact_stiffness import ContactParameters
from unibody.solvers.barrier.incremental_potential import Places, Potential, block_matrix, pair_places
from unibody.spatial.devices import add3, dot3, load3, norm3, scale3, sub3

DOUBLES = 0.5
"""Growth of a distance along Newton's direction, in units of itself, above which its barrier is taken by a secant."""
AT_REST = 1e-4
"""Of the slip speed, for contacts that rest."""
LITTLE = 1e-3
SHARPER = 2.0
"""Slips are found to a twentieth where distances are to a tenth."""
DIGITS = 1e-15
"""Distances are as exact as coordinates: that is what the barriers' values can be trusted to."""


@kernel
def barrier_value(record: Floats, kappa: float, reach: float) -> float:
    """Σ B [J]; infinite where a distance is not positive."""
    total = 0.0
    for k in range(record.size // WIDTH):
        total += contact_energy(record, k, kappa, reach)
    return total


@kernel
def add_barrier_gradient(pair: Ints, record: Floats, kappa: float, reach: float, factor: float, gradient_out: Floats) -> None:
    """gradient += factor ∂ΣB/∂Q, 12 numbers per body."""
    for k in range(pair.size // 2):
        add_contact_gradient(pair[2 * k], pair[2 * k + 1], record, k, kappa, reach, factor, gradient_out)


@kernel
def add_barrier_blocks(
    pair: Ints, place: Ints, record: Floats, kappa: float, reach: float, factor: float, own_out: Floats, between_out: Floats
) -> None:
    """own and between += factor × what is positive of ∂²ΣB/∂Q² by itself."""
    for k in range(pair.size // 2):
        add_positive_blocks(pair[2 * k], pair[2 * k + 1], place[k], record, k, kappa, reach, factor, own_out, between_out)


@kernel
def add_curvature_blocks(
    pair: Ints, place: Ints, record: Floats, kappa: float, reach: float, factor: float, own_out: Floats, between_out: Floats
) -> None:
    """own and between += factor × the rest of ∂²ΣB/∂Q², made positive."""
    for k in range(pair.size // 2):
        add_curvature_contact_blocks(pair[2 * k], pair[2 * k + 1], place[k], record, k, kappa, reach, factor, own_out, between_out)


@kernel
def add_exact_blocks(
    pair: Ints, place: Ints, record: Floats, kappa: float, reach: float, factor: float, own_out: Floats, between_out: Floats
) -> None:
    """own and between += factor ∂²ΣB/∂Q²."""
    for k in range(pair.size // 2):
        add_exact_contact_blocks(pair[2 * k], pair[2 * k + 1], place[k], record, k, kappa, reach, factor, own_out, between_out)


@kernel
def press_and_change(pair: Ints, record: Floats, kappa: float, reach: float, p: Floats, press_out: Floats) -> float:
    """Σ |B′| [N] into press_out[0]; max |∂d/∂Q · p| / d of a direction p."""
    most = 0.0
    press_out[0] = 0.0
    for k in range(pair.size // 2):
        xi = record[WIDTH * k + 11] / (reach * record[WIDTH * k + SHARE])
        if xi < 1.0:
            press_out[0] -= kappa * record[WIDTH * k + 12] * record[WIDTH * k + 13] * barrier_terms(xi)[1]
        most = max(most, contact_change(pair[2 * k], pair[2 * k + 1], record, k, p))
    return most


@device
def contact_growth(pair, record, k, p):
    """∂d/∂Q · p / d of contact k, for a direction p of all bodies (12 each)."""
    at = WIDTH * k
    n = load3(record, at + 8)
    growth = 0.0
    for side in range(2):
        for i in range(4):
            growth += record[at + 4 * side + i] * dot3(n, load3(p, 12 * pair[2 * k + side] + 3 * i))
    return growth / record[at + 11]


@kernel
def loosen_records(pair: Ints, p: Floats, reach: float, record_out: Floats) -> int:
    """Areas of contacts whose distance d grows by δ d > d/2 along p: times 1 − δ, or d/d̂ if that is more. Gives how many there are.

    Of f d − μ ln d Newton's step is d (1 − d/d*) with the minimum d* = μ/f, and the secant from d to d* is μ/(d d*): d/d* = 1 − δ times
    the second derivative, and force and curvature of the surface there are as much smaller. Nothing need go farther than to d̂."""
    found = 0
    for k in range(pair.size // 2):
        grows = contact_growth(pair, record_out, k, p)
        if grows > DOUBLES:
            record_out[WIDTH * k + 12] *= max(1.0 - grows, min(1.0, record_out[WIDTH * k + 11] / (reach * record_out[WIDTH * k + SHARE])))
            found += 1
    return found


@kernel
def friction_value(pair: Ints, record: Floats, bound: Floats, e: Floats, Q: Floats, Q0: Floats) -> float:
    """Σ μ λ f₀(|w|) [J], with ε of every contact."""
    total = 0.0
    for k in range(pair.size // 2):
        total += friction_energy(pair[2 * k], pair[2 * k + 1], record, bound, k, e[k], Q, Q0)
    return total


@kernel
def add_friction_gradient(
    pair: Ints, record: Floats, bound: Floats, e: Floats, factor: float, Q: Floats, Q0: Floats, gradient_out: Floats
) -> None:
    """gradient += factor × that of friction, 12 numbers per body."""
    for k in range(pair.size // 2):
        add_contact_friction(pair[2 * k], pair[2 * k + 1], record, bound, k, e[k], factor, Q, Q0, gradient_out)


@kernel
def add_friction_blocks(
    pair: Ints, place: Ints, record: Floats, bound: Floats, e: Floats, factor: float, Q: Floats, Q0: Floats, careful: bool,
    own_out: Floats, between_out: Floats,
) -> None:  # fmt: skip
    """own and between += factor × second derivative of friction."""
    for k in range(pair.size // 2):
        a = pair[2 * k]
        b = pair[2 * k + 1]
        add_friction_contact_blocks(a, b, place[k], record, bound, k, e[k], factor, Q, Q0, careful, own_out, between_out)


@kernel
def slip_change(pair: Ints, record: Floats, bound: Floats, e: Floats, p: Floats, Q: Floats, Q0: Floats) -> float:
    """max |δw| / max(ε, |w|) of a direction p, over the contacts whose bound is not a mere thousandth of the largest."""
    large = 0.0
    for k in range(bound.size):
        large = max(large, bound[k])
    most = 0.0
    for k in range(bound.size):
        if bound[k] > LITTLE * large:
            n = load3(record, WIDTH * k + 8)
            d = (0.0, 0.0, 0.0)
            for side in range(2):
                for i in range(4):
                    d = add3(d, scale3(record[WIDTH * k + 4 * side + i], load3(p, 12 * pair[2 * k + side] + 3 * i)))
            most = max(most, norm3(sub3(d, scale3(dot3(d, n), n))) / max(e[k], norm3(slip(pair[2 * k], pair[2 * k + 1], record, k, Q, Q0))))
    return most


def smooth_slips(system: AffineSystem, pair: np.ndarray, u: np.ndarray, V: np.ndarray, slip_speed: float, rate: float) -> np.ndarray:
    """(n,) ε [m] of contacts of pairs with weights u, whose bodies have the rates V (bodies, 4, 3) at the beginning of the step."""
    most = np.zeros(len(V))
    speed = np.linalg.norm(np.einsum("nsk,nski->ni", u, V[pair]), axis=1)
    np.maximum.at(most, pair.ravel(), np.repeat(speed, 2))
    most[system.place < 0] = 0.0
    return np.clip(most[pair].max(axis=1), AT_REST * slip_speed, slip_speed) / rate


def as_if_resting(contacts: ContactSet, reach: float) -> ContactSet:
    """Contacts of a start with forces as if barriers had their whole reach, or began at ten times the gap if that is less: at a start they
    hold no force (`contact_stiffness`), and what leans on others would slip before friction is known."""
    record = contacts.record.copy()
    record[:, SHARE] = np.maximum(record[:, SHARE], np.minimum(1.0, 10.0 * contacts.distance / reach))
    return ContactSet(contacts.pair, record, contacts.free_nodes)


class BarrierPotential(Potential):
    """Barriers of all contacts, in a step that begins at x. `alone`: no other potential shortens a way, so that the contacts at its end can
    be found with it."""

    def __init__(self, system: AffineSystem, law: ContactParameters, factor: float, alone: bool, x: np.ndarray):
        self._search = ContactSearch(system.surface, system.broad, system.proximity, law.reach, law.parts, law.shares, system.kept)
        self._system, self._law, self._factor, self._alone = system, law, factor, alone
        self._fixed = system.place[system.surface.plane_body] < 0
        """Which half-spaces do not move by themselves."""
        self._known = [(x.copy(), self._search.contacts(x))]
        """The last two places, with what is near there: a search that turns back knows where it was."""
        self._press = np.zeros(1)
        self._loose: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def reach(self) -> float:
        """Within which contacts are known [m]."""
        return self._law.reach

    def contacts(self, x: np.ndarray) -> ContactSet:
        """Everything nearer than the reach."""
        if not np.array_equal(self._known[0][0], x):
            before = self._known[-1]
            known = before[1] if np.array_equal(before[0], x) else self._search.contacts(x)
            self._known = [(x.copy(), known), self._known[0]]
        return self._known[0][1]

    def pairs(self, x: np.ndarray) -> Sequence[np.ndarray]:
        return (self.contacts(x).pair,)

    def value(self, x: np.ndarray) -> float:
        return self._factor * barrier_value(self.contacts(x).record.ravel(), self._law.pressure, self._law.reach)

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        c = self.contacts(x)
        add_barrier_gradient(c.pair.ravel(), c.record.ravel(), self._law.pressure, self._law.reach, self._factor, gradient_out)

    def add_blocks(self, x: np.ndarray, places: Places, careful: bool, own_out: np.ndarray, between_out: np.ndarray) -> None:
        c, record = self.contacts(x), self.contacts(x).record.ravel()
        if self._loose is not None and np.array_equal(self._loose[0], x):
            record = self._loose[1]
        for add in (add_barrier_blocks, add_curvature_blocks) if careful else (add_exact_blocks,):
            add(c.pair.ravel(), places[0], record, self._law.pressure, self._law.reach, self._factor, own_out, between_out)

    def max_step(self, x: np.ndarray, p: np.ndarray, t: float) -> float:
        begun = (self.contacts(x), self._system.motions(p)[:, 1]) if self._half_spaces_rest(p) else None
        t, ahead = self._search.safe_step(x, p, self._alone, begun)
        if ahead is not None:
            self._known = [(x + t * p, ahead), self._known[0]]
        return t

    def _half_spaces_rest(self, p: np.ndarray) -> bool:
        planes = self._system.surface.plane_body
        return bool(self._fixed.all()) and not (len(planes) and p[: 12 * self._system.rows].reshape(-1, 12)[planes].any())

    def first_hit(self, x: np.ndarray, p: np.ndarray) -> tuple[int, int] | None:
        """The bodies between which the way p ends first."""
        return self._search.first_hit(x, p)

    def loosen(self, x: np.ndarray, p: np.ndarray) -> bool:
        c = self.contacts(x)
        record = c.record.ravel().copy()
        if not loosen_records(c.pair.ravel(), p, self._law.reach, record):
            return False
        self._loose = x.copy(), record
        return True

    def judge(self, x: np.ndarray, p: np.ndarray) -> tuple[float, float]:
        c = self.contacts(x)
        change = press_and_change(c.pair.ravel(), c.record.ravel(), self._law.pressure, self._law.reach, p, self._press)
        return DIGITS * self._factor * float(self._press[0]) * float(np.abs(x).max(initial=0.0)), change


class FrictionPotential(Potential):
    """Friction with slips from `origin` (bodies, 4, 3) on; μ of every pair of bodies, V (bodies, 4, 3) at the beginning of the step.

    A contact is smooth below ε = v / (∂v/∂x), at most the slip speed's and at least a ten-thousandth of that; v is the largest relative
    speed at the contacts of its bodies at the beginning of the step. What sticks with a part f₁ = 2 α − α² < 1 of its bound moves by α ε,
    so the creep of a body that sticks everywhere is α < 1 times that of the step before, until it is a ten-thousandth."""

    def __init__(
        self, system: AffineSystem, law: ContactParameters, mu: np.ndarray, origin: np.ndarray, V: np.ndarray, rate: float, factor: float
    ):  # fmt: skip
        self._system, self._law, self._mu, self._origin, self._V = system, law, mu, origin.ravel(), V
        self._rate, self._factor = rate, factor
        self._pair, self._record, self._bound, self._slip = np.zeros((0, 2), np.int64), np.zeros(0), np.zeros(0), np.zeros(0)

    def renew(self, contacts: ContactSet, x: np.ndarray, balanced: ContactParameters | None = None) -> bool:
        """Take normal forces and tangents from these contacts at x, whose distances balance forces with the κ of this law, or of an earlier
        one; whether any of them rubs."""
        lagged = self._rubbing(contacts, x, balanced)
        rubbing, u = lagged.contacts, lagged.contacts.u
        self._pair, self._record, self._bound = rubbing.pair, rubbing.record.ravel(), lagged.bound
        self._slip = smooth_slips(self._system, rubbing.pair, u, self._V, self._law.slip_speed, self._rate)
        return len(self._bound) > 0

    def _rubbing(self, contacts: ContactSet, x: np.ndarray, balanced: ContactParameters | None) -> LaggedFriction:
        """Those that press and have friction, at the points where surfaces touch."""
        parts = None if balanced is None else (balanced.of_pairs(contacts.pair), self._law.of_pairs(contacts.pair))
        mu = self._mu[contacts.pair[:, 0], contacts.pair[:, 1]]
        force = contact_forces(contacts, self._law.pressure, self._law.reach)
        if parts is not None:
            force = force * parts[0] / parts[1]
        lagged = LaggedFriction.of(contacts, force, mu)
        return LaggedFriction(lagged.contacts.at_surfaces(x), lagged.bound)

    def pairs(self, x: np.ndarray) -> Sequence[np.ndarray]:
        return (self._pair,)

    def value(self, x: np.ndarray) -> float:
        return self._factor * friction_value(self._pair.ravel(), self._record, self._bound, self._slip, x, self._origin)

    def judge(self, x: np.ndarray, p: np.ndarray) -> tuple[float, float]:
        change = slip_change(self._pair.ravel(), self._record, self._bound, self._slip, p, x, self._origin)
        return 0.0, SHARPER * change

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        at = self._pair.ravel(), self._record, self._bound
        add_friction_gradient(*at, self._slip, self._factor, x, self._origin, gradient_out)

    def add_blocks(self, x: np.ndarray, places: Places, careful: bool, own_out: np.ndarray, between_out: np.ndarray) -> None:
        at = self._pair.ravel(), places[0], self._record, self._bound
        add_friction_blocks(*at, self._slip, self._factor, x, self._origin, careful, own_out, between_out)


class DamperPotential(Potential):
    """½ (∂v/∂x) wᵀ D w with w = x − x₀, of a matrix D [N s/m] over the moving bodies (Eq. 20)."""

    whole = False

    def __init__(self, system: AffineSystem, D: BlockMatrix, origin: np.ndarray, rate: float, factor: float):
        self._moving, self._D, self._origin = system.moving, D, origin[system.moving].ravel()
        self._rate, self._factor = rate, factor
        self._pairs = (np.stack([system.moving[D.rows], system.moving[D.columns]], axis=1),)
        self._known: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def _pull(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """w and D w; those of the last call again if nothing has moved."""
        if self._known is None or not np.array_equal(self._known[0], x):
            w = x.reshape(-1, 12)[self._moving].ravel() - self._origin
            self._known = x.copy(), w, self._D.product(w)
        return self._known[1:]

    def pairs(self, x: np.ndarray) -> Sequence[np.ndarray]:
        return self._pairs

    def value(self, x: np.ndarray) -> float:
        w, Dw = self._pull(x)
        return 0.5 * self._factor * self._rate * inner(w, Dw)

    def add_gradient(self, x: np.ndarray, gradient_out: np.ndarray) -> None:
        gradient_out.reshape(-1, 12)[self._moving] += (self._factor * self._rate * self._pull(x)[1]).reshape(-1, 12)

    def add_blocks(self, x: np.ndarray, places: Places, careful: bool, own_out: np.ndarray, between_out: np.ndarray) -> None:
        f = self._factor * self._rate
        own_out.reshape(-1, 12, 12)[self._moving] += f * self._D.diagonal
        between_out.reshape(-1, 12, 12)[places[0]] += f * self._D.between


def contact_damping(system: AffineSystem, contacts: ContactSet, damping: np.ndarray, law: ContactParameters) -> BlockMatrix | None:
    """D of contacts over the moving bodies [N s/m] (Eq. 21), from k_d of every pair of bodies; None if nothing is damped."""
    if not damping.any() or not len(contacts):
        return None
    n, record = len(system.place), contacts.record.copy()
    record[:, 12] *= damping[contacts.pair[:, 0], contacts.pair[:, 1]]
    keys, places = pair_places([contacts.pair], n)
    own, between = np.zeros(144 * n), np.zeros(144 * len(keys))
    add_barrier_blocks(contacts.pair.ravel(), places[0], record.ravel(), law.pressure, law.reach, 1.0, own, between)
    return block_matrix(own, keys, between, system)


def dragged(
    contacts: ContactSet, damping: np.ndarray, law: ContactParameters, targets: dict[int, np.ndarray], origin: np.ndarray, rate: float
) -> np.ndarray:
    """(bodies, 4, 3) what contacts' damping makes of the velocities of driven bodies."""
    out = np.zeros_like(origin)
    if targets and len(contacts) and damping.any():
        a, b = contacts.pair.T
        reach = law.reach * contacts.record[:, SHARE]
        c = damping[a, b] * law.pressure * contacts.area * barrier(contacts.distance / reach)[2] / reach
        way = np.zeros_like(origin)
        for i, target in targets.items():
            way[i] = target - origin[i]
        s = np.einsum("nsk,nski,ni->n", contacts.u, way[contacts.pair], contacts.normal)
        np.add.at(out, contacts.pair, -rate * (c * s)[:, None, None, None] * contacts.u[..., None] * contacts.normal[:, None, None, :])
    return out
