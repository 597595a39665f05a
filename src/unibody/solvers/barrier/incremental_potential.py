"""A model in affine coordinates, ready to step, and the incremental potential of one step (paper 003, Eq. 1–3).

    Ψ(x) = ½ (x − x̃)ᵀ M (x − x̃) + β h² (gravity + stiffness + springs + barrier + friction + damping)

over the moving bodies; bodies that are static or driven have known coordinates. `IncrementalStep` is the problem that `algebra.minimise`
solves: its unknowns are the affine coordinates of all bodies, its directions respect the joints (x = x₀ + N z).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from unibody.algebra.block.cholesky import BlockMatrix
from unibody.algebra.block.reduced_pcg import ChangeOfVariables, solve_reduced, solve_reduced_directly
from unibody.algebra.minimise import ROUND_OFF, Direction
from unibody.arena import HoldsAddresses
from unibody.collision.broad import Broad
from unibody.collision.ccd import ITERATIONS, safe_step, safe_step_over_planes
from unibody.collision.filters import body_filter
from unibody.collision.surface import Surface
from unibody.collision.sweep import Sweep
from unibody.contact.barrier import add_barrier_blocks, add_barrier_gradient, barrier_value, contact_forces, largest_change
from unibody.contact.curvature import add_curvature_blocks, add_exact_blocks
from unibody.contact.friction import Lagged, add_friction_blocks, add_friction_gradient, friction_value
from unibody.contact.proximity import ContactSet, Proximity
from unibody.coordinates.affine.body import affine_of_motion, affine_of_pose, masses, volume
from unibody.coordinates.affine.joints import Reduction
from unibody.coordinates.affine.links import expand, in_body_axes, place_links
from unibody.coordinates.convert import joint_coordinates, poses_and_twists
from unibody.coordinates.signals import drive
from unibody.model import Model, State
from unibody.solvers.barrier.body_terms import own_blocks, own_gradient, own_value
from unibody.solvers.barrier.elements import ElementPull, Elements, Stiff, twist_maps

SAMPLED = (0.25, 0.5, 0.75, 1.0)
HALVINGS = 12


@dataclass(frozen=True)
class ContactParameters:
    """Numbers of contact and stiffness, in physical units."""

    reach: float
    """d̂ [m]"""
    pressure: float
    """κ [Pa]"""
    modulus: float
    """Y [Pa]"""
    slip_speed: float
    """ε_v [m/s]"""
    parts: np.ndarray
    """(rows of Q,) part of κ that each body asks for; a pair has the larger."""


class AffineSystem(HoldsAddresses):
    """What does not change from step to step."""

    def __init__(self, model: Model, touching: bool = True, off: Collection[tuple[int, int]] = (), also: Collection[tuple[int, int]] = ()):
        self.model = model
        self.parts, self.links = expand(model)
        self.start = self._start()
        self.reduction = Reduction(model, self.start[0], (self.parts, self.links))
        self.change = ChangeOfVariables.of(self.reduction.N, self.reduction.group_of_body, self.reduction.group)
        self.moving = self.reduction.moving
        """Affine bodies: the model's own, then virtual links."""
        self.real = len(self.moving) - len(self.links)
        """How many of them are the model's."""
        self.moving_list = np.array(self.moving, np.int64)
        own = self.moving[: self.real]
        self.M4 = np.concatenate([masses(model, own), *(link.moments[None] for link in self.links)])
        self.spread = np.sqrt(np.einsum("naa->na", self.M4) / self.M4[:, :1, 0])
        self.surface = Surface.of(model)
        self.stiffness_volumes = np.array([volume(model.bodies[i]) for i in own] + [link.volume for link in self.links])
        n = model.n_bodies
        self.filter = body_filter(model, touching, off, also)
        self.broad, self.nearness = Broad(self.surface, self.filter), Proximity(self.surface)
        self.place = np.full(n + len(self.links), -1)
        self.place[self.moving] = np.arange(len(self.moving))

    def _start(self) -> tuple[np.ndarray, np.ndarray]:
        model = self.model
        if any(b.motion is not None for b in model.bodies):  # what hangs on a driven body starts where that is at t = 0
            return self.placed(State(0.0, model.start_q()[: model.nq], model.start_v()[: model.nv], "reduced"))
        poses = [b.X_WB for b in model.bodies] + [link.X_WB for link in self.links]
        twists = [in_body_axes(b.X_WB, np.array(b.V_WB, float)) for b in model.bodies] + [link.V_WB for link in self.links]
        return affine_of_motion(poses, twists)

    def placed(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Q and its rates (bodies and links, 4, 3) of a state in rigid coordinates; links stand where the joints' coordinates say."""
        model = self.model
        poses, twists = poses_and_twists(model, state)
        q, v = joint_coordinates(model, state, poses, twists, {link.joint for link in self.links})
        places, rates = place_links(model, self.parts, len(self.links), poses, twists, q, v)
        return affine_of_motion([*poses, *places], [*twists, *rates])

    def driven(self, t: float) -> dict[int, np.ndarray]:
        """Coordinates (4, 3) of kinematic bodies at time t."""
        out = {}
        for i, body in enumerate(self.model.bodies):
            if body.kind == "kinematic":
                now = drive(body, t)
                out[i] = affine_of_pose(now[:9].reshape(3, 3), now[9:12])
        return out


@dataclass
class Terms:
    """The model's own elements during one step: time, last fitted joint coordinates, signals and control at its end."""

    elements: Elements
    t: float
    q_near: np.ndarray
    signals: np.ndarray
    control: np.ndarray
    stiff: Stiff

    def pull(self, Q: np.ndarray, blocks: bool) -> ElementPull:
        k = self.elements.kinematics(self.t, Q, np.zeros_like(Q), self.q_near, self.signals, self.control)
        return self.elements.potential(k, self.stiff, blocks)

    def reach(self, Q: np.ndarray, dQ: np.ndarray, t: float) -> float:
        """The part of dQ, at most t, along which no range that has no gauge reaches its bound: sampled, then halved."""
        if not self.elements.ranges:
            return t
        good = 0.0
        for share in SAMPLED:
            if not self._open(Q + share * t * dQ):
                bad = share * t
                for _ in range(HALVINGS):
                    middle = 0.5 * (good + bad)
                    good, bad = (middle, bad) if self._open(Q + middle * dQ) else (good, middle)
                return 0.9 * good
            good = share * t
        return t

    def _open(self, Q: np.ndarray) -> bool:
        k = self.elements.kinematics(self.t, Q, np.zeros_like(Q), self.q_near, self.signals, self.control)
        return self.elements.least_gap(k)[0] > 0.0


def element_matrix(system: AffineSystem, Q: np.ndarray, blocks: dict[tuple[int, int], np.ndarray]) -> BlockMatrix:
    """Symmetric blocks 6×6 between bodies, body axes, as a matrix over the affine coordinates of the moving ones."""
    place, m = system.place, len(system.moving)
    pairs = np.array([(a, b) for a, b in blocks if 0 <= place[a] <= place[b]], int).reshape(-1, 2)
    diagonal = np.zeros((m, 12, 12))
    used, at = np.unique(pairs, return_inverse=True)
    T = twist_maps(Q[used])[at.reshape(-1, 2)]
    data = np.swapaxes(T[:, 0], 1, 2) @ np.array([blocks[a, b] for a, b in pairs]).reshape(-1, 6, 6) @ T[:, 1]
    rows, columns = place[pairs].T
    same = rows == columns
    diagonal[rows[same]] = data[same]
    apart = np.flatnonzero(~same)[np.lexsort((columns[~same], rows[~same]))]
    return BlockMatrix(diagonal, rows[apart], columns[apart], data[apart])


def contact_matrix(system: AffineSystem, contacts: ContactSet, law: ContactParameters) -> BlockMatrix:
    """The barriers' second derivative over the moving bodies."""
    n = len(system.place)
    keys, places = pair_places([contacts.pair], n)
    own, between = np.zeros(144 * n), np.zeros(144 * len(keys))
    add_barrier_blocks(contacts.pair.ravel(), places[0], contacts.record.ravel(), law.pressure, law.reach, 1.0, own, between)
    return block_matrix(own.reshape(-1, 12, 12)[system.moving], keys, between.reshape(-1, 12, 12), system.place, n)


class Potential(Protocol):
    """A potential of affine coordinates x (12 per body, flat) that couples pairs of bodies, in two lists."""

    @property
    def pairs(self) -> list[np.ndarray]: ...

    def value(self, x: np.ndarray) -> float: ...

    def add_gradient(self, x: np.ndarray, factor: float, out: np.ndarray) -> None: ...

    def add_blocks(
        self, x: np.ndarray, places: list[np.ndarray], exact: bool, factor: float, own: np.ndarray, between: np.ndarray
    ) -> None: ...

    def reach(self, x: np.ndarray, p: np.ndarray, t: float) -> float:
        """The part of p, at most t, along which it stays finite."""
        ...

    def noise(self) -> float:
        """Σ |P′| of what is nearly infinite at the last point."""
        ...

    def change(self, x: np.ndarray, p: np.ndarray) -> float:
        """By which part of itself p changes at most what must stay positive, at the last point, x."""
        ...


SHARES = (0.05, 0.25, 1.0)
"""Where the exact matrix is not positive: parts of the way from it to the careful one, of which the first that is positive is taken. The
careful one errs far on the large side, and would crawl along directions in which the potential bends down."""


@dataclass
class Counts:
    """What a step has done."""

    contacts: int = 0
    candidates: int = 0
    reach: list[float] = field(default_factory=list)


class IncrementalStep:
    """One step's potential. x is (bodies, 4, 3), flattened; only moving bodies and the rest of driven bodies' ways change."""

    def __init__(
        self, system: AffineSystem, law: ContactParameters, predicted: np.ndarray, lagged_from: np.ndarray, targets: dict[int, np.ndarray],
        beta_h2: float, rate: float, loads: np.ndarray, terms: Terms | None = None, potentials: Sequence[Potential] = (),
    ):  # fmt: skip
        self.system, self.law, self.beta_h2, self.rate = system, law, beta_h2, rate
        self.predicted, self.origin, self.targets = predicted, lagged_from, targets
        self.lag, self.loads, self.terms, self.potentials = Lagged.none(), np.array(loads), terms, list(potentials)
        self.damped: BlockMatrix | None = None
        """Matrix of dampers [N s/m] over the moving bodies."""
        self.counts = Counts()
        self.sweep = Sweep(system.broad, law.reach, law.reach)
        self._own = (
            system.moving_list, system.M4.ravel(), np.ascontiguousarray(predicted).ravel(), self.loads.ravel(),
            law.modulus * system.stiffness_volumes, beta_h2,
        )  # fmt: skip
        self._known: tuple[np.ndarray, ContactSet] | None = None
        self._last: tuple[np.ndarray, np.ndarray] | None = None

    def value(self, x: np.ndarray) -> float:
        s, law = self.system, self.law
        Q = x.reshape(-1, 4, 3)
        total = own_value(x, *self._own)
        total += self.beta_h2 * barrier_value(self.contacts(Q).record.ravel(), law.pressure, law.reach)
        if len(self.lag.bound):
            total += self.beta_h2 * friction_value(*self._lag, law.slip_speed / self.rate, x, self.origin.ravel())
        if self.damped is not None:
            w = (Q - self.origin)[s.moving].ravel()
            total += 0.5 * self.beta_h2 * self.rate * float(w @ self.damped.product(w))
        for potential in self.potentials:
            total += self.beta_h2 * potential.value(x)
        if self.terms is not None:
            total += self.beta_h2 * self.terms.pull(Q, blocks=False).value
        return total

    @property
    def _lag(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs, records and bounds of friction, flat."""
        return self.lag.contacts.pair.ravel(), self.lag.contacts.record.ravel(), self.lag.bound

    def contacts(self, Q: np.ndarray) -> ContactSet:
        """Everything nearer than the reach; those of the last call again if nothing has moved."""
        if self._known is None or not np.array_equal(self._known[0], Q):
            x = self.system.surface.positions(Q)
            self._known = (Q.copy(), self.system.nearness.contacts(self.sweep.between(x, x), Q, x, self.law.reach, self.law.parts))
        return self._known[1]

    def gradient(self, Q: np.ndarray, contacts: ContactSet, pull: ElementPull | None = None) -> np.ndarray:
        """(12 per moving body,) ∂Ψ/∂x."""
        s, law, x = self.system, self.law, np.ascontiguousarray(Q).ravel()
        every = np.zeros(Q.size)
        add_barrier_gradient(contacts.pair.ravel(), contacts.record.ravel(), law.pressure, law.reach, self.beta_h2, every)
        if len(self.lag.bound):
            add_friction_gradient(*self._lag, law.slip_speed / self.rate, self.beta_h2, x, self.origin.ravel(), every)
        for potential in self.potentials:
            potential.add_gradient(x, self.beta_h2, every)
        flat = np.empty(12 * len(s.moving))
        own_gradient(x, *self._own, every, flat)
        if self.damped is not None:
            flat += self.beta_h2 * self.rate * self.damped.product((Q - self.origin)[s.moving].ravel())
        if self.terms is not None:
            pull = self.terms.pull(Q, blocks=False) if pull is None else pull
            own = s.moving[: s.real]
            flat[: 12 * s.real] -= self.beta_h2 * np.einsum("nij,ni->nj", twist_maps(Q[own]), pull.wrench[own]).ravel()
        return flat

    def polished(self, x: np.ndarray, value: float) -> np.ndarray:
        """x, or where the last direction from it leads if nothing is in the way: forces of stiff terms are then balanced much better than
        the tolerance of motions asks for."""
        if self._last is None or not np.array_equal(self._last[0], x) or self.reach(x, self._last[1]) < 1.0:
            return x
        trial = x + self._last[1]
        return trial if self.value(trial) <= value + ROUND_OFF * abs(value) else x

    def matrix(self, Q: np.ndarray, contacts: ContactSet, careful: bool) -> BlockMatrix:
        """∂²Ψ/∂x² over the moving bodies, without dampers and elements: exact, or `careful`, positive and rather too large."""
        s, law, x = self.system, self.law, np.ascontiguousarray(Q).ravel()
        n = len(Q)
        more = [pairs for potential in self.potentials for pairs in potential.pairs]
        keys, places = pair_places([contacts.pair, self.lag.contacts.pair, *more], n)
        own, between = np.zeros(144 * n), np.zeros(144 * len(keys))
        for add_blocks in (add_barrier_blocks, add_curvature_blocks) if careful else (add_exact_blocks,):
            add_blocks(contacts.pair.ravel(), places[0], contacts.record.ravel(), law.pressure, law.reach, self.beta_h2, own, between)
        if len(self.lag.bound):
            pair, record, bound = self._lag
            add_friction_blocks(
                pair, places[1], record, bound, law.slip_speed / self.rate, self.beta_h2, x, self.origin.ravel(), careful, own, between
            )
        for k, potential in enumerate(self.potentials):
            potential.add_blocks(x, places[2 + 2 * k : 4 + 2 * k], not careful, self.beta_h2, own, between)
        moving, M4, _, _, stiff, factor = self._own
        diagonal = np.empty(144 * len(moving))
        own_blocks(x, moving, M4, stiff, factor, own, careful, diagonal)
        return block_matrix(diagonal.reshape(-1, 12, 12), keys, between.reshape(-1, 12, 12), s.place, n)

    def direction(self, x: np.ndarray, careful: bool = False) -> Direction:
        s = self.system
        Q = x.reshape(-1, 4, 3)
        contacts = self.contacts(Q)
        self.counts.contacts = len(contacts)
        pull = self.terms.pull(Q, blocks=True) if self.terms is not None else None
        g = self.gradient(Q, contacts, pull)
        p = np.zeros_like(Q)
        for i, target in self.targets.items():
            p[i] = target - Q[i]
        own, exact = None, None if careful else self._whole_matrix(Q, contacts, pull, False)
        if exact is not None:
            own = self._solved(Q, p, g, exact, False)
        if own is None:
            bounding = self._whole_matrix(Q, contacts, pull, True)
            for share in SHARES if exact is not None else (1.0,):
                H = bounding if exact is None or share == 1.0 else exact.between_this_and(bounding, share)
                own, careful = self._solved(Q, p, g, H, share == 1.0), share == 1.0
                if own is not None:
                    break
        if own is None:
            return Direction(np.full(x.size, np.nan), 0.0, np.inf)
        p[s.moving] = own.reshape(-1, 4, 3)
        moved = s.surface.positions(p) if len(s.surface.w) else p[:, 0]
        # A body without a shape is as large as its inertia says.
        inside = p[s.moving] * s.spread[:, :, None]
        length = max(float(np.abs(way).max(initial=0.0)) for way in (moved, p[:, 0], inside)) * self.rate
        self._last = x.copy(), p.ravel()
        # Distances are as exact as coordinates: that is what the barriers' values can be trusted to.
        noise = 1e-15 * self.beta_h2 * float(self.forces(contacts).sum()) * float(np.abs(Q).max(initial=0.0))
        forces = sum(potential.noise() for potential in self.potentials)
        noise += 1e-15 * self.beta_h2 * forces * max(1.0, float(np.abs(Q).max(initial=0.0)))
        change = largest_change(contacts.pair.ravel(), contacts.record.ravel(), p.ravel())
        change = max([change, *(potential.change(x, p.ravel()) for potential in self.potentials)])
        return Direction(p.ravel(), float(g @ own), length, noise, careful, change)

    def _whole_matrix(self, Q: np.ndarray, contacts: ContactSet, pull: ElementPull | None, careful: bool) -> BlockMatrix:
        """∂²Ψ/∂x² with dampers and elements."""
        blocks = self.matrix(Q, contacts, careful)
        if self.damped is not None:
            blocks = blocks.plus(self.beta_h2 * self.rate, self.damped)
        if pull is not None and pull.blocks:
            blocks = blocks.plus(self.beta_h2, element_matrix(self.system, Q, pull.blocks))
        return blocks

    def _solved(self, Q: np.ndarray, p: np.ndarray, g: np.ndarray, H: BlockMatrix, careful: bool) -> np.ndarray | None:
        """Newton's direction with H; None if H is not positive or, unless `careful`, if it leads up."""
        own = self._solve_joined(Q, p, g, H, careful) if len(self.system.reduction.equations) else H.solve(-g)
        return None if own is not None and not careful and float(g @ own) > 0.0 else own

    def _solve_joined(self, Q: np.ndarray, p: np.ndarray, g: np.ndarray, H: BlockMatrix, careful: bool) -> np.ndarray | None:
        """Newton's direction of the moving bodies with joints; p holds what is left of driven bodies' ways."""
        s = self.system
        start, right = np.zeros(g.size), -g
        if self.targets:  # what the driven bodies' remaining way asks of the joints comes first
            start = (s.reduction.put(Q + p) - Q)[s.moving].ravel()
            right = -(g + H.product(start))
        found = solve_reduced(H, s.change, right)
        if found is None and careful:
            found = solve_reduced_directly(H, s.change, right)
        return start + found if found is not None else None

    def reach(self, x: np.ndarray, p: np.ndarray) -> float:
        s = self.system
        Q, dQ = x.reshape(-1, 4, 3), p.reshape(-1, 4, 3)
        x0, dx = s.surface.positions(Q), s.surface.positions(dQ)
        near = self.sweep.between(x0, x0 + dx)
        self.counts.candidates = len(near.points) + len(near.edges)
        t = 1.0
        if len(near.planes):
            frames, motion = s.surface.plane_frames(Q).ravel(), s.surface.plane_frames(dQ).ravel()
            t = safe_step_over_planes(near.planes.ravel(), frames, motion, x0.ravel(), dx.ravel(), t)
        t = safe_step(
            near.points.ravel(), near.edges.ravel(), s.surface.faces.ravel(), s.surface.edges.ravel(), x0.ravel(),
            dx.ravel(), 0.0, self.law.reach, t, ITERATIONS,
        )  # fmt: skip
        for potential in self.potentials:
            t = potential.reach(x, p, t)
        if self.terms is not None:
            t = self.terms.reach(Q, dQ, t)
        self.counts.reach.append(t)
        return t

    def arrived(self, x: np.ndarray) -> bool:
        """Whether driven bodies are where they should be."""
        Q = x.reshape(-1, 4, 3)
        return all(np.abs(Q[i] - target).max() < 1e-12 for i, target in self.targets.items())

    def forces(self, contacts: ContactSet) -> np.ndarray:
        return contact_forces(contacts, self.law.pressure, self.law.reach)


def pair_places(lists: list[np.ndarray], n: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Sorted keys a n + b (a < b) of all pairs, and for each list where its pairs stand (−1 − place if b comes first)."""
    keys = [np.minimum(p[:, 0], p[:, 1]) * n + np.maximum(p[:, 0], p[:, 1]) for p in lists]
    known = np.unique(np.concatenate(keys)) if keys else np.zeros(0, np.int64)
    out = []
    for p, key in zip(lists, keys, strict=True):
        place = np.searchsorted(known, key)
        out.append(np.where(p[:, 0] < p[:, 1], place, -1 - place).astype(np.int64))
    return known, out


def block_matrix(diagonal: np.ndarray, keys: np.ndarray, between: np.ndarray, place: np.ndarray, n: int) -> BlockMatrix:
    """The matrix of moving bodies from diagonal blocks and blocks between pairs a < b of which both move."""
    a, b = place[keys // n], place[keys % n]
    both = (a >= 0) & (b >= 0)
    return BlockMatrix(diagonal, a[both], b[both], between[: len(keys)][both])
