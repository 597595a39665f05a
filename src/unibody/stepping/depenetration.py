"""What overlaps: the problem of pseudo-velocities that move positions apart and leave velocities alone.

Only normals take part. A row that overlaps wants to part with a share of its overlap in the step; others may use up what is left of their
gaps. With the wishes w, 0 ≤ λ ⟂ W_nn λ − w ≥ 0 is the least motion in the sense of M (`algebra.contact.depenetration`).

Joints may hold an overlap: a limb inside the trunk that it is hinged to. To part by the gap g, points of the bodies have to move by about
|g| √(d° / d), d = J M⁻¹ Jᵀ being the contact's own response and d° that of the same bodies without joints. Where that is more than a few
times their size, no motion parts them that anybody would want; their overlap is left as it is, and told.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.contact.delassus import DelassusFactors
from unibody.algebra.contact.depenetration import DEPENETRATION_SLOTS, ROW_RECORD, depenetrate_rows
from unibody.algebra.contact.pgs_layout import scratch
from unibody.constraints.contact import Contact
from unibody.kernel import Floats, Ints, kernel
from unibody.model.model import Model

CORRECTED, FASTEST = 0.3, 1.0
"""The part of an overlap taken away in a step, and the speed [m/s] at which at most."""

OVERLAP = 1e-5
"""The overlap that is left alone, in terms of the radius of the smallest body that moves; of limits, in terms of their row's size."""

ROUGHLY, SWEEPS = 1e-8, 100
"""The tolerance of pseudo-velocities, in such radii a step, and the most sweeps for them."""

DEEP, TOLD = 1e-3, 1e-2
"""Of the larger body's reach: overlaps from here on are asked whether joints hold them, and told in reports."""

FARTHEST = 4.0
"""Of the larger body's reach: how far bodies may be moved to part."""

AJAR = 1e9
"""[m] The gap of what shall not be parted."""

LOCKED = 1e-12
"""d / d° below which nothing moves."""

MANY, ROUGH_PART, FEW_SWEEPS = 64, 1e-2, 16
"""From so many contacts on the tolerance is a part of the largest one that is wanted, and sweeps are fewer: what is left goes in the next
steps."""


@kernel
def wish_apart(
    h: float, width: int, residual: Floats, reached: Floats, gaps: Floats, after: Floats, wish_out: Floats
) -> float:
    """Minus the velocities that one-sided constraint rows and then normals of contacts are to reach; the largest wish. `residual` and
    `gaps`: how far they are apart; `reached`: of the constraints', (C⁺ + h Ċ)/h at the end of the step; `after`: velocities of contacts,
    `width` each."""
    push, most = residual.size, 0.0
    for k in range(wish_out.size):
        gap = residual[k] if k < push else gaps[k - push]
        u = reached[k] - max(gap, 0.0) / h if k < push else after[width * (k - push)]
        wish = min(-CORRECTED * gap / h, FASTEST) if gap < 0.0 else -max(gap / h + u, 0.0)
        most = max(most, wish)
        wish_out[k] = -wish
    return most


@kernel
def overlaps(gaps: Floats, radius: float) -> bool:
    """Whether any of these is an overlap that is not left alone; `radius` of the smallest body that moves."""
    deepest = 0.0
    for k in range(gaps.size):
        deepest = min(deepest, gaps[k])
    return deepest < -OVERLAP * radius


@kernel
def part_overlaps(
    h: float, width: int, origin: int, limit: int, radius: float, lowest: float, residual: Floats, reached: Floats, gaps: Floats,
    after: Floats, order: Ints, first: Ints, unit: Ints, islands: Ints, start: Ints, place: Ints, J: Floats, Y: Floats, ints_out: Ints,
    work_out: Floats, wish_out: Floats, impulse_out: Floats,
) -> int:  # fmt: skip
    """As `depenetrate_rows`, of what `wish_apart` wants, by at most `limit` sweeps if that is not 0; 0 where nothing overlaps. `radius`:
    of the smallest body that moves; `lowest`: the least residual, in terms of its row's size."""
    deepest = min(0.0, lowest * radius)
    for k in range(gaps.size):
        deepest = min(deepest, gaps[k])
    if not deepest < -OVERLAP * radius:
        return 0
    tolerance, most = ROUGHLY * radius / h, SWEEPS
    fastest = wish_apart(h, width, residual, reached, gaps, after, wish_out)
    if gaps.size >= MANY:
        tolerance, most = max(tolerance, ROUGH_PART * fastest), FEW_SWEEPS
    if limit > 0:
        most = min(most, limit)
    return depenetrate_rows(
        residual.size, origin, most, tolerance, order, first, unit, islands, start, place, J, Y, wish_out, ints_out, work_out, impulse_out
    )


@kernel
def find_separable(
    width: int, origin: int, least: float, gaps: Floats, bodies: Ints, wrenches: Floats, reach: Floats, tied: Ints, light: Floats,
    agile: Floats, rows: Ints, place: Ints, J: Floats, Y: Floats, gaps_out: Floats,
) -> int:  # fmt: skip
    """The gaps, those that joints hold as AJAR. Twice the number of the deepest contact that is worth telling, plus 1 if joints hold it; −1
    if none is. `least`: shallower overlaps are not looked at; `light`, `agile`: 1/m and the largest 1/J of bodies."""
    worst, depth, found = 0, 0.0, -1
    for k in range(gaps.size):
        gap = gaps[k]
        gaps_out[k] = gap
        if not gap < -least:
            continue
        a, b = bodies[2 * k], bodies[2 * k + 1]
        size = max(reach[a], reach[b])
        stuck = False
        # of what is tied to others, joints may hold an overlap: nothing that contact can do takes it away
        if gap < -DEEP * size and tied[a] + tied[b] > 0:
            free, response, block = 0.0, 0.0, origin + k
            for side in range(2):
                at = 6 * (2 * width * k + side)
                i = bodies[2 * k + side]
                for m in range(3):
                    free += wrenches[at + m] ** 2 * agile[i] + wrenches[at + 3 + m] ** 2 * light[i]
            for at in range(place[block], place[block + 1], rows[block]):
                response += J[at] * Y[at]
            stuck = response <= LOCKED * free or response * (FARTHEST * size) ** 2 < free * gap * gap
        if stuck:
            gaps_out[k] = AJAR
        if (stuck or gap < -TOLD * size) and gap < depth:
            depth, worst = gap, k
            found = 2 * worst + (1 if stuck else 0)
    return found


class DeepOverlaps:
    """Deep overlaps of a step: which of them joints hold, and what a report should say."""

    def __init__(self, model: Model, reach: np.ndarray):
        """`reach`: how far bodies (n,) reach from their centres of mass."""
        self.tied = tied_bodies(model).astype(np.int64)
        self._reach = reach
        self.least = (DEEP if self.tied.any() else TOLD) * float(reach[reach > 0.0].min(initial=np.inf))
        self._names, n = [b.name for b in model.bodies], model.n_bodies
        self.light, self.agile = np.zeros(n), np.zeros(n)
        for i, body in enumerate(model.bodies):
            if i and body.kind == "dynamic":
                least = float(np.linalg.eigvalsh(np.asarray(body.inertia))[0])
                self.light[i], self.agile[i] = (1.0 / x if x > 0.0 else 0.0 for x in (body.mass, least))
        self.warning = ""
        """What a report should say of the last step."""

    def separable(self, gaps: np.ndarray, bodies: np.ndarray, wrenches: np.ndarray, W: DelassusFactors, origin: int) -> np.ndarray:
        """The gaps (n,), those that joints hold as if they were wide open. `bodies` (n, 2); `wrenches` (n, rows, 2, 6) of unit impulses at
        centres of mass, angular first; the contacts are the blocks of W from `origin` on."""
        out = np.empty(gaps.size)
        found = find_separable(
            wrenches.shape[1], origin, self.least, gaps, bodies.ravel(), wrenches.ravel(), self._reach, self.tied, self.light,
            self.agile, W.rows, W.place, W.J, W.Y, out,
        )  # fmt: skip
        if found < 0:
            return gaps
        worst, stuck = divmod(found, 2)
        self.warning = self.words(*bodies[worst].tolist(), -gaps[worst], bool(stuck))
        return out

    def words(self, one: int, other: int, depth: float, stuck: bool) -> str:
        """What is said of two bodies that overlap so deep; `stuck`: joints hold them."""
        said = f"'{self._names[one]}' and '{self._names[other]}' overlap by {depth:.3g} m: "
        if stuck:
            return said + "joints hold them so; move one of them, or add Contact(between=…, on=False)"
        return said + "they are moved apart, which gives them no speed"


def tied_bodies(model: Model) -> np.ndarray:
    """(bodies,) which of them joints or constraints tie to others; a joint that leaves all freedom does not."""
    out = np.zeros(model.n_bodies, bool)
    for joint in model.joints:
        if joint.nv < 6 or joint.parent != 0:
            out[[joint.parent, joint.child]] = True
    for _, constraint in model.constraints:
        if not isinstance(constraint, Contact):
            out[[model.body(name) for name in constraint.bodies()]] = True
    return out & np.array([body.kind == "dynamic" for body in model.bodies])


def impulses_apart(
    W: DelassusFactors, h: float, origin: int, limit: int, radius: float, sizes: np.ndarray, residual: np.ndarray, reached: np.ndarray,
    gaps: np.ndarray, after: np.ndarray, order: np.ndarray,
) -> np.ndarray | None:  # fmt: skip
    """Of one-sided constraint rows, the first blocks of W, with these residuals, and of the normals of contacts, its blocks from `origin`
    on, the impulses that part what overlaps; None where nothing does. `radius`: of the smallest body that moves; `sizes`: of the
    constraints' rows (ROW_SIZE)."""
    count, done = residual.size + gaps.size, -1
    lowest = float((residual / sizes).min()) if residual.size else 0.0
    wish, impulse = np.empty(count), np.empty(count)
    while done < 0:
        scratch.reserve(-done, ROW_RECORD * count + W.first.size + 2 * DEPENETRATION_SLOTS)
        done = part_overlaps(
            h, after.shape[1], origin, limit, radius, lowest, residual, reached, gaps, after.ravel(), order, W.first, W.unit,
            W.flat_islands, W.start, W.place, W.J, W.Y, scratch.ints, scratch.floats, wish, impulse,
        )  # fmt: skip
    return impulse if done > 0 else None
