"""Rows C(q) = 0 at the start: violated, impossible, repeated.

A start that violates its rows is assembled by the least change, as a simulation does it (`coordinates.assembly.assemble`). Where no step
helps, Kᵀ C = 0 with C ≠ 0: the rows that are left over contradict each other, at least near here; a few other starts nearby are tried
before that is said. Velocities may contradict each other too: K v = −∂C/∂t without a solution.

Rows that repeat others are the left null vectors of K M^(−½), each row scaled by its response on free bodies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from unibody.checks.finding import Finding, quoted
from unibody.checks.starts import ASSEMBLED, BOUNDS, POSITIONS, VELOCITIES, deeds, shared_out
from unibody.constraints import JointLimit
from unibody.coordinates.assembly.assemble import CLOSED, SETTLED, Assembler, Impossible
from unibody.coordinates.instant import Instant
from unibody.coordinates.loop_closure import BLUR, REDUNDANT, REDUNDANT_AT_MOST
from unibody.coordinates.observation import touched_names
from unibody.coordinates.workspace import G
from unibody.solvers import Solver


class RowSpace(NamedTuple):
    """Rank, the left null vectors (of the bilateral rows), right singular vectors, and M^(−½)."""

    rank: int
    null: np.ndarray
    Vt: np.ndarray
    root: np.ndarray


def row_space(here: Instant) -> RowSpace:
    """What the bilateral rows hold, and which repeat others."""
    nv = here.model.nv
    root = np.linalg.inv(np.linalg.cholesky(here.mass)).T if nv else np.zeros((0, 0))
    count = here.bilateral.size
    if not count or not nv:
        return RowSpace(0, np.eye(count), np.eye(nv), root)
    K = here.rows[here.bilateral] @ root
    reference = here.free_response()[here.bilateral]
    own = np.einsum("ij,ij->i", K, K)
    scale = np.sqrt(np.where(reference > 0.0, reference, np.where(own > 0.0, own, 1.0)))
    U, s, Vt = np.linalg.svd(K / scale[:, None])
    blur = BLUR * float(np.abs(here.residual[here.bilateral]).max()) ** 2
    rank = int(np.sum(s**2 > min(max(REDUNDANT, blur), REDUNDANT_AT_MOST)))
    return RowSpace(rank, U[:, rank:].T, Vt, root)


def closing_findings(here: Instant, chosen: Solver | None = None) -> Iterator[Finding]:
    """Everything about rows, with what the chosen solver makes of it, or all; leaves the instant assembled where that can be done, else
    at its start."""
    yield from _inequalities(here, chosen)
    if not here.bilateral.size:
        return
    q, v = here.q.copy(), here.v.copy()
    work = Assembler(here, {})
    C = here.residual[here.bilateral]
    violated = bool((work.off(work.C0)[here.bilateral] > CLOSED).any())
    against = bool((work.rates_off(work.rates0) > SETTLED).any())
    rates = here.rates[here.bilateral]
    try:
        work.place()
        here.place(here.q, v)
        closed = True
    except Impossible as error:
        yield Finding("error", "conflicting constraints", error.elements, f"{error}")
        here.place(q, v)
        closed = False
    if closed and violated:
        off = _worst_rows(here, C)
        yield Finding(
            "warning", "start violates constraints", tuple(off),
            f"the start violates {quoted(off)} by up to {max(off.values()):.3g} m or rad; {ASSEMBLED}"
            f"{deeds(POSITIONS, here.model, chosen)} give joints or bodies that fit",
        )  # fmt: skip
    yield from (Finding("note", "ambiguous start", tuple(dict.fromkeys(work.unclear)), note) for note in work.notes if work.unclear)
    yield from _velocities(here, rates, closed, against, chosen)
    space = row_space(here)
    repeated = len(space.null)
    if closed and repeated:
        names = _carrying(here, space.null)
        plural = f"{repeated} rows repeat" if repeated > 1 else "1 row repeats"
        yield Finding(
            "note", "redundant constraints", names,
            f"{plural} others among {quoted(names)}: the motion is the same, {shared_out(chosen)}; free a direction of one of them for"
            " unique reactions",
        )  # fmt: skip


def _carrying(here: Instant, null: np.ndarray) -> tuple[str, ...]:
    """Elements with rows in a null vector, then tree joints that its wrenches go through: the loop it goes round."""
    model, constraints, blocks = here.model, here.system.constraints, here.system.view(G).reshape(-1, 6)
    names = touched_names([here.row_names[r] for r in here.bilateral], null)
    through = np.zeros(model.n_bodies, bool)
    for z in null:
        wrench = np.zeros((model.n_bodies, 6))
        for r, value in zip(here.bilateral, z):
            for e in constraints.row_entry[constraints.row_start[r] : constraints.row_start[r + 1]]:
                i = constraints.entry_body[e]
                R = here.X[i, :9].reshape(3, 3)
                force = value * R @ blocks[e, 3:]
                wrench[i, 3:] += force
                wrench[i, :3] += value * R @ blocks[e, :3] + np.cross(here.X[i, 9:], force)
        for i in range(model.n_bodies - 1, 0, -1):
            wrench[model.parent[i]] += wrench[i]
        through |= np.abs(wrench).max(axis=1) > 1e-6 * np.abs(wrench).max()
    carrying = [j.name for i, j in enumerate(model.tree_joints, start=1) if through[i] and not j.implicit]
    return tuple(dict.fromkeys([*names, *carrying]))


def _velocities(here: Instant, rates: np.ndarray, closed: bool, against: bool, chosen: Solver | None) -> Iterator[Finding]:
    K, drift = here.rows[here.bilateral], here.drift[here.bilateral]
    if closed and drift.any():
        left = K @ np.linalg.lstsq(K, -drift, rcond=1e-9)[0] + drift
        if float(np.abs(left).max()) > 1e-6 * max(1.0, float(np.abs(drift).max())):
            off = _worst_rows(here, left)
            yield Finding(
                "error", "conflicting velocities", tuple(off),
                f"{quoted(off)} prescribe velocities that contradict each other by {max(off.values()):.3g} m/s or rad/s; change one",
            )  # fmt: skip
            return
    if against:
        off = _worst_rows(here, rates)
        yield Finding(
            "warning", "start velocity violates constraints", tuple(off),
            f"the start moves against {quoted(off)} with {max(off.values()):.3g} m/s or rad/s; {ASSEMBLED}"
            f"{deeds(VELOCITIES, here.model, chosen)} give joint velocities that fit",
        )  # fmt: skip


def _worst_rows(here: Instant, values: np.ndarray) -> dict[str, float]:
    """Elements with more than a tenth of the largest value, largest first."""
    by_name: dict[str, float] = {}
    for r, value in zip(here.bilateral, np.abs(values)):
        name = here.row_names[r]
        by_name[name] = max(by_name.get(name, 0.0), float(value))
    worst = max(by_name.values())
    return dict(sorted(((n, x) for n, x in by_name.items() if x > 0.1 * worst), key=lambda item: -item[1]))


def _inequalities(here: Instant, chosen: Solver | None) -> Iterator[Finding]:
    """Rows C ≥ 0 that begin below 0."""
    elements = dict(here.model.constraints)
    below: dict[str, float] = {}
    for r in np.flatnonzero(here.system.constraints.unilateral):
        name, value = here.row_names[r], float(here.residual[r])
        if value < -CLOSED:
            below[name] = min(below.get(name, 0.0), value)
    for name, value in below.items():
        element = elements[name]
        if isinstance(element, JointLimit):
            joint = here.model.joint(element.joint)
            q = ", ".join(f"{x:.4g}" for x in joint.q0)
            yield Finding(
                "warning", "outside joint limit", (element.joint, name),
                f"joint '{element.joint}' starts at {q}, {-value:.3g} m or rad outside its limit '{name}'"
                f" ({_bounds(element)}); {ASSEMBLED}{deeds(BOUNDS, here.model, chosen)} give a q within it",
            )  # fmt: skip
        else:
            yield Finding(
                "warning", "start violates inequality", (name,),
                f"'{name}' ({type(element).__name__}) begins {-value:.3g} m or rad on its wrong side; {ASSEMBLED}"
                f"{deeds(BOUNDS, here.model, chosen)} move the start",
            )  # fmt: skip


def _bounds(limit: JointLimit) -> str:
    pairs = zip(np.atleast_1d(limit.lower), np.atleast_1d(limit.upper), strict=False)
    return ", ".join(f"{low:.4g} … {high:.4g}" for low, high in pairs)
