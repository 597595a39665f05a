"""`assemble`: the consistent start nearest to a given one.

    positions     minimise ½ Δᵀ W Δ        subject to  C(q₀ ⊕ Δ, t) = 0,  C ≥ 0 of limits and ranges
    velocities    minimise ½ δᵀ W δ        subject to  K (v + δ) + ∂C/∂t = 0,  Ċ ≥ 0 of limits that are reached

W is the mass matrix, at the start for positions and where they end for velocities, so that Δ is the displacement of least ∫ m |dx|² and δ
what an impact without friction would do; weights of the user's take its place. C are the rows of joints that close loops and of
constraint elements, drives at their time among them; rows of velocities alone (knife edges, rolling) enter with the velocities. Parts of
a model that hang together are looked at one by one, and a part whose rows are met keeps every bit.

Three things can be said of a part: it is assembled; it cannot be (`Impossible`: the rows that are left contradict each other, or what
is kept leaves no way); it is, but **ambiguous**: two branches meet there, or a start that differs a little ends far away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unibody.algebra.least_change import Closed, Contradiction, LeastChangeProblem, Nearest, close, hold, least_linear, slide
from unibody.coordinates.assembly.outcome import Assembly, Change, Impossible, Violation, checked_weights, names_of, quoted, rate_unit
from unibody.coordinates.assembly.rows import Displaced, dof_units
from unibody.coordinates.convert import poses_and_twists, to_reduced
from unibody.coordinates.instant import Instant
from unibody.errors import ModelError
from unibody.model.model import Model, look_up
from unibody.model.scale import body_lengths
from unibody.model.state import State
from unibody.spatial.pose import vector_from_rotation

CLOSED, SETTLED = 1e-9, 1e-7
"""Violations below these are round-off of what was typed: of positions, relative to the size of what a row holds or to 1 rad; of
velocities, relative to that a second or to the fastest motion."""
KICKS = ((0.01, False), (0.1, False), *((size, True) for _ in range(5) for size in (0.1, 0.4, 1.2)), (0.3, False), (1.0, False))
"""[rad, lengths of bodies] How far off it is tried again where no step helps: off the start, or off the best end so far in the joints
whose rows are still open."""
LITTLE, FAR = 1e-3, 0.05
"""[rad, lengths of bodies] Two starts that differ by a little, and ends that are far from each other."""


@np.errstate(over="ignore", invalid="ignore")  # rows that no float holds are not closed, and it is said
def assemble(model: Model, fixed: Any = (), weights: Any = None, state: State | None = None, follow: bool = False) -> Assembly:
    """The consistent start nearest to the model's start, or to a given state.

    `fixed` names joints (or bodies) whose positions and velocities are kept. `weights` replaces the mass matrix as the measure of change: a
    mapping from joint names to factors (2: half as willing, unnamed ones 1), one positive number per degree of freedom of the tree
    joints, or a symmetric positive definite matrix. With `follow`, as a Simulation does it, joints at rest follow those that move: the
    velocities of the latter are kept wherever rows allow it.

    >>> import unibody as ub
    >>> b = ub.Builder()
    >>> bob = b.body("bob", mass=1.0, inertia=(1, 1, 1), X_WB=ub.Pose((1.2, 0, 0)))
    >>> _ = b.add(ub.Distance(bob.at(), b.world.at(), 1.0), name="rod")
    >>> found = assemble(b.build())
    >>> found.outcome, [f"{v.element} {v.before:.3g} {v.unit}" for v in found.violation]
    ('converged', ['rod 0.2 m'])
    """
    if not isinstance(model, Model):
        raise ModelError(f"assemble: {model!r} is not a Model; call Builder.build() first")
    here, gaps = instant_at(model, state)
    return Assembler(here, gaps, fixed, weights).run(everywhere=True, follow=bool(follow))


def instant_at(
    model: Model, state: State | None, here: Instant | None = None
) -> tuple[Instant, dict[str, tuple[float, str, float]]]:
    """The model at a state, or at its start (`here`: an instant of the model that may be used for it); and how far tree joints are open
    there, which reduced coordinates do not show: by name, with the unit and as a part of the size."""
    if state is not None and not isinstance(state, State):
        raise ModelError(f"assemble: state {state!r} is not a State; give State(t, q, v)")
    t = 0.0 if state is None else state.t
    if here is None:
        here = Instant(model, t)
    else:
        here.set_time(t)
    q, v = here.system.start()
    if state is None:
        here.place(q, v)
        return here, {}
    q[: model.nq], v[: model.nv] = to_reduced(model, state)
    here.place(q, v)
    return here, {} if state.coordinates == "reduced" else _gaps(model, state, here)


def _gaps(model: Model, state: State, here: Instant) -> dict[str, tuple[float, str, float]]:
    """Where bodies of a state of other coordinates are not where the tree joints put them."""
    poses, _ = poses_and_twists(model, state)
    lengths, out = body_lengths(model), {}
    for i, joint in enumerate(model.tree_joints, start=1):
        if model.bodies[i].kind != "dynamic":
            continue
        R, p = here.X[i, :9].reshape(3, 3), here.X[i, 9:]
        turn = float(np.linalg.norm(vector_from_rotation(R.T @ poses[i].R)))
        way = float(np.linalg.norm(np.array(poses[i].p) - p))
        worst = max((turn, "rad", turn), (way, "m", way / lengths[i]), key=lambda gap: gap[2])
        if worst[2] > CLOSED:
            out[joint.name] = worst
    return out


class Assembler:
    """The work of `assemble` on one instant."""

    def __init__(self, here: Instant, gaps: Mapping[str, tuple[float, str, float]], fixed: Any = (), weights: Any = None):
        self.here, self.model, self.gaps = here, here.model, gaps
        self.fixed = names_of(fixed)
        kept, still = [], np.zeros(self.model.nv, bool)
        for name in self.fixed:
            joint = self.model._joint_index.get(name)
            if joint is not None and not joint.loop:
                still[joint.v_start : joint.v_start + joint.nv] = True
            elif joint is not None:
                kept.append((name, None))
            else:
                known = {**dict.fromkeys(self.model._joint_index, -1), **self.model._body_index}
                kept.append((name, int(look_up(name, known, "assemble fixed: joint or body"))))
        self.free = np.flatnonzero(~still)
        self.weights = checked_weights(weights, self.model)
        self.at = Displaced(here, kept)
        self._refuse_callback_errors()
        self.C0, self.rates0 = self.at.residual(), self.at.rates()
        self.notes: list[str] = []
        self.unclear: list[str] = []
        self.optimality = 0.0

    def _refuse_callback_errors(self) -> None:
        callback_errors = self.here.system.callback_errors
        if callback_errors.error is not None:
            error, callback_errors.error = callback_errors.error, None
            if not isinstance(error, Exception):
                raise error
            raise ModelError(f"'{callback_errors.blamed}' failed at the start: {type(error).__name__}: {error}; mend its code") from error

    def off(self, C: np.ndarray) -> np.ndarray:
        """Relative violations of positions of all rows."""
        counted = np.where(self.at.bounded, np.minimum(C, 0.0), np.where(self.at.equal, C, 0.0))
        return np.abs(counted) / self.at.sizes

    def pace(self) -> float:
        """The fastest motion [1/s], at least 1: what rates are compared with."""
        drift = np.abs(self.here.drift) / self.at.sizes[: self.here.system.constraints.rows]
        moving = np.abs(self.here.v[: self.model.nv]) / self.at.dof_sizes
        return max(1.0, float(moving.max(initial=0.0)), float(drift.max(initial=0.0)))

    def rates_off(self, rates: np.ndarray) -> np.ndarray:
        """Relative violations of velocities of the rows C = 0, in units of the pace."""
        return np.where(self.at.equal, np.abs(rates), 0.0) / (self.at.sizes * self.pace())

    def violated(self, closed: float = CLOSED, settled: float = SETTLED, beyond: float = CLOSED) -> bool:
        """Whether the start needs assembly: rows C = 0 by more than `closed`, their rates by `settled`, rows C ≥ 0 by `beyond`."""
        gap = max((g[2] for g in self.gaps.values()), default=0.0)
        off = self.off(self.C0) > np.where(self.at.bounded, beyond, closed)
        return bool(off.any() or (self.rates_off(self.rates0) > settled).any() or gap > closed)

    def leave_room(self, part: float) -> None:
        """Bring violated rows C ≥ 0 to the reach of their barriers (`part` of their size unless they say it), and not onto their bounds."""
        elements, at = dict(self.model.constraints), self.at
        for r in np.flatnonzero(at.bounded & (self.C0 < -CLOSED * at.sizes)):
            at.room[r] = getattr(elements.get(at.names[r]), "reach", None) or part * at.sizes[r]

    def run(self, everywhere: bool = False, impacts: bool = False, follow: bool = False) -> Assembly:
        """Assemble what is violated. `everywhere`: look for ambiguity also where nothing is; `impacts`: velocities against limits that were
        met are left to the solver, as impacts; `follow`: joints at rest follow those that move, if they can."""
        try:
            return self._run(everywhere, impacts, follow)
        except np.linalg.LinAlgError:
            bodies = quoted(b.name for b in self.model.bodies if b.kind == "dynamic" and not b.mass > 0.0) or "all"
            why = f"the mass matrix is not positive definite (bodies {bodies})"
            raise Impossible(f"the start cannot be assembled: {why}; give masses, inertias or armature, or weights", (), False) from None

    def _run(self, everywhere: bool, impacts: bool, follow: bool) -> Assembly:
        model, at, here = self.model, self.at, self.here
        delta, parts = self.place(everywhere)
        units = at.units()
        v = here.v[: model.nv].copy()
        change = self.velocities(parts, at.residual(), at.rates(), units, impacts, follow)
        v[change != 0.0] += change[change != 0.0]  # −0 stays −0
        here.place(here.q, np.concatenate([v, here.v[model.nv :]]))
        state = State(here.t, at.coordinates(delta)[: model.nq], v)
        changed = bool(delta.any() or (v != at.v0[: model.nv]).any() or self.gaps)
        outcome = "ambiguous" if self.unclear else "converged" if changed else "unchanged"
        moved = self.changes(delta, "") + self.changes(v - at.v0[: model.nv], "/s")
        names = tuple(dict.fromkeys(self.unclear))
        return Assembly(state, outcome, tuple(moved), tuple(self.violations(units)), tuple(self.notes), names, self.optimality)

    def place(self, everywhere: bool = False) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
        """Put the instant where its positions are consistent: Δ, and the parts there are. If that is impossible, where least is left."""
        at, model = self.at, self.model
        delta, units = np.zeros(model.nv), at.units()
        W = self.metric() if model.nv else np.zeros((0, 0))
        scale = at.scales(self.free, W[np.ix_(self.free, self.free)]) if at.names else np.zeros(0)
        parts = at.parts(self.free)
        before = self.off(self.C0)
        for dofs, rows in parts:
            wrong = bool((before[rows] > CLOSED).any())
            if wrong and not dofs.size:
                raise self.impossible(self.C0, rows, units, True)
            if dofs.size and (wrong or everywhere) and at.positional[rows].any():
                problem = at.problem(dofs, rows, W[np.ix_(dofs, dofs)], scale, delta)
                y = self.positions(problem, dofs, rows, units) if wrong else np.zeros(dofs.size)
                delta[dofs] = problem.shape @ y * at.dof_sizes[dofs]
                self.singular(problem, y, dofs)
        if delta.any():
            at.go(delta)
        else:
            self.here.place(at.q0, at.v0)
        return delta, parts

    def metric(self) -> np.ndarray:
        """W here."""
        given, M = self.weights, self.here.mass
        if given is None:
            return M
        if isinstance(given, np.ndarray):
            return given if given.ndim == 2 else np.diag(given)
        factor = np.ones(self.model.nv)
        for name, value in given.items():
            j = self.model.joint(name)
            factor[j.v_start : j.v_start + j.nv] = np.sqrt(value)
        return factor[:, None] * M * factor

    def positions(self, problem: LeastChangeProblem, dofs: np.ndarray, rows: np.ndarray, units: list[str]) -> np.ndarray:
        """The nearest y of one part."""
        start = np.zeros(dofs.size)
        first = found = close(problem, start)
        tried, best, chance = [first], first, np.random.default_rng(0)
        touched = self.here.row_dofs() + [set(dofs.tolist())] * self.at.extra
        for size, onwards in KICKS if not first.good else ():
            problem.evaluate(best.y)
            still = self.off(self.at.residual()) > CLOSED
            among = {v for r in rows if still[r] for v in touched[r]}
            way = chance.standard_normal(dofs.size) * ([v in among for v in dofs] if onwards else np.ones(dofs.size))
            tried.append(close(problem, (best.y if onwards else start) + _step_of(problem, way, size)))
            if tried[-1].left < best.left:
                best = tried[-1]
            if best.good:
                found = best
                break
        if not found.good:
            problem.evaluate(best.y)
            # beyond doubt where several tries end with the same rest
            again = sum(one.left < 1.001 * best.left for one in tried) > 2
            raise self.impossible(self.at.residual(), rows, units, again and all(one.stuck for one in tried))
        nearest = slide(problem, found.y)
        self.optimality = max(self.optimality, nearest.stationary)
        self.judge(problem, nearest, first, found, dofs)
        return nearest.y

    def judge(self, problem: LeastChangeProblem, nearest: Nearest, first: Closed, found: Closed, dofs: np.ndarray) -> None:
        """Whether another end is as near."""
        if not first.good:
            self.say(
                "the start is stuck: no small motion brings its rows nearer to zero; another one nearby was assembled, and its branch may"
                " be another than is meant", problem.shape @ nearest.y, dofs,
            )  # fmt: skip
            return
        if nearest.saddle or (nearest.direction is not None and nearest.curvature < 1e-3):
            assert nearest.direction is not None
            self.say("several ends are equally near to the start", problem.shape @ nearest.direction, dofs)
            return
        if nearest.stationary > 1e-6:
            self.notes.append(f"the change is the least to {nearest.stationary:.1e} of it")
        way = np.random.default_rng(1).standard_normal(dofs.size)
        for sign in (1.0, -1.0):
            other = close(problem, sign * _step_of(problem, way, LITTLE))
            apart = problem.shape @ (other.y - first.y)
            if other.good and float(np.abs(apart).max()) > FAR:
                self.say(f"a start that differs by {LITTLE:g} rad, or of the bodies' size, is assembled otherwise", apart, dofs)
                return

    def singular(self, problem: LeastChangeProblem, y: np.ndarray, dofs: np.ndarray) -> None:
        """Whether rows lose rank here that they have beside: branches of the motion meet."""
        c, A = problem.evaluate(y)
        here = hold(problem, y, c, A)
        if here.free.shape[1] in (0, dofs.size):
            return
        chance = np.random.default_rng(2)
        for size in (0.02, 0.02):
            way = here.free @ chance.standard_normal(here.free.shape[1])
            beside = close(problem, y + way * (size / max(problem.length(way), 1e-300)), 40)
            if not beside.good or problem.length(beside.y - y) < 0.1 * size:
                continue
            c, A = problem.evaluate(beside.y)
            held = hold(problem, beside.y, c, np.where(here.pushing[:, None], A, 0.0))
            if held.free.shape[1] < here.free.shape[1]:
                ways = np.abs(problem.shape @ here.free).max(axis=1)
                self.say("the start is at a singular configuration, where branches of the motion meet", ways, dofs)
                return

    def say(self, what: str, ways: np.ndarray, dofs: np.ndarray) -> None:
        """An ambiguity, with the joints whose motion it is about."""
        size = np.zeros(self.model.nv)
        size[dofs] = np.abs(ways)
        names = [j.name for j in self.model.tree_joints if size[j.v_start : j.v_start + j.nv].max(initial=0.0) > 0.2 * size.max()]
        self.unclear += names
        self.notes.append(f"ambiguous: {what}: joints {quoted(names)}; give a start nearer to the one that is meant")

    def velocities(
        self, parts: Sequence[tuple[np.ndarray, np.ndarray]], C: np.ndarray, rates: np.ndarray, units: list[str], impacts: bool,
        follow: bool,
    ) -> np.ndarray:  # fmt: skip
        """The least change of v, at the positions at hand."""
        at, change = self.at, np.zeros(self.model.nv)
        reached = at.bounded & (C <= CLOSED * at.sizes)
        if impacts:
            reached &= self.C0 < -CLOSED * at.sizes
        against = np.where(reached, np.minimum(rates, 0.0), 0.0) / (at.sizes * self.pace())
        wrong = np.maximum(self.rates_off(rates), np.abs(against)) > SETTLED
        if not wrong.any():
            return change
        moving = np.zeros(self.model.nv, bool)
        for j in self.model.tree_joints if follow else ():
            moving[j.v_start : j.v_start + j.nv] = at.v0[j.v_start : j.v_start + j.nv].any()
        W, K = self.metric(), at.jacobian()
        scale = at.scales(self.free, W[np.ix_(self.free, self.free)])
        for dofs, rows in parts:
            if not wrong[rows].any():
                continue
            equal, limits = rows[at.equal[rows]], rows[reached[rows]]
            both = np.concatenate([equal, limits])
            A, b, split = K[both] / scale[both, None], rates[both] / scale[both], equal.size
            slack = 10.0 * SETTLED * self.pace() * at.sizes[both] / scale[both]
            left = np.zeros(len(at.names))
            for some in [dofs[~moving[dofs]], dofs] if moving[dofs].any() else [dofs]:
                back = np.linalg.inv(np.linalg.cholesky(W[np.ix_(some, some)])).T if some.size else np.zeros((0, 0))
                B = A[:, some] @ back
                try:
                    change[some] = back @ least_linear(B[:split], b[:split], B[split:], b[split:], slack)
                    break
                except Contradiction as conflict:
                    left[both] = conflict.left * scale[both]
            else:
                raise self.impossible(left, both, units, True, "/s")
        return change

    def impossible(self, left: np.ndarray, rows: np.ndarray, units: list[str], certain: bool, per: str = "") -> Impossible:
        """The error that names what stays violated."""
        at = self.at
        counted = np.where(at.bounded, np.minimum(left, 0.0), left) if not per else left
        among = np.zeros(len(at.names), bool)
        among[rows] = True
        found = sorted(self.by_element(np.where(among, np.abs(counted), 0.0), units), key=lambda one: -one[0])
        worst = [(name, value, unit) for part, name, value, unit in found if part > 0.1 * found[0][0]]
        names = tuple(dict.fromkeys(name for name, _, _ in worst))
        said = ", ".join(f"'{name}' stays violated by {value:.3g} {rate_unit(unit + per)}" for name, value, unit in worst[:6])
        kept = f" with {quoted(self.fixed)} fixed" if self.fixed else ""
        if per:
            what = f"velocities contradict each other{kept}"
        else:
            what = f"the start cannot be assembled{kept}" if certain else f"no way was found to assemble the start{kept}"
        change = "remove one of them or change its numbers" if certain else "give a start that is nearer"
        remedy = "free one of these" if self.fixed else change
        return Impossible(f"{what}: {said}; {remedy}", names, certain)

    def changes(self, by: np.ndarray, per: str) -> list[Change]:
        """The largest per joint and unit; those that differ by round-off stand in the order of their joints."""
        out: list[tuple[float, Change]] = []
        for j in self.model.tree_joints:
            mine, units = np.abs(by[j.v_start : j.v_start + j.nv]), dof_units(j) if j.nv else []
            for unit in dict.fromkeys(units):
                most = max(x for x, u in zip(mine, units, strict=True) if u == unit)
                if most > 0.0:
                    size = 1.0 if unit == "rad" else self.at.lengths[j.child]
                    out.append((float(most) / size, Change(j.name, float(most), unit + per)))
        most_of_all = max((part for part, _ in out), default=0.0)
        return [c for part, c in sorted(out, key=lambda item: -float(f"{item[0]:.6g}")) if part > 1e-12 * most_of_all]

    def violations(self, units: list[str]) -> list[Violation]:
        """What was violated, the worst first."""
        at, out = self.at, []
        for before, after, limit, per in (
            (self.off(self.C0), self.off(at.residual() + at.room), CLOSED, ""),
            (self.rates_off(self.rates0), np.where(at.equal, np.abs(at.rates()), 0.0) / (at.sizes * self.pace()), SETTLED, "/s"),
        ):
            size = at.sizes * (self.pace() if per else 1.0)
            ends = {(name, unit): value for _, name, value, unit in self.by_element(after * size, units)}
            for part, name, value, unit in sorted(self.by_element(before * size, units), key=lambda one: -one[0]):
                if part > limit * (self.pace() if per else 1.0):
                    out.append(Violation(name, value, ends[name, unit], rate_unit(unit + per)))
        out += [Violation(name, gap, 0.0, unit) for name, (gap, unit, _) in self.gaps.items()]
        return out

    def by_element(self, values: np.ndarray, units: list[str]) -> list[tuple[float, str, float, str]]:
        """Violations of rows as those of elements, by unit: the length over its rows, also as a part of the size; name, value, unit."""
        squares: dict[tuple[str, str], np.ndarray] = {}
        for r, (name, unit) in enumerate(zip(self.at.names, units, strict=True)):
            squares.setdefault((name, unit), np.zeros(2))[:] += (values[r] / self.at.sizes[r]) ** 2, values[r] ** 2
        return [(float(np.sqrt(part)), name, float(np.sqrt(value)), unit) for (name, unit), (part, value) in squares.items()]


def _step_of(problem: LeastChangeProblem, way: np.ndarray, size: float) -> np.ndarray:
    """A step in a direction given in rad and lengths of bodies, whose largest part is `size`."""
    step = np.linalg.solve(problem.shape, way)
    return step * (size / max(problem.length(step), 1e-300))


__all__ = ["Assembler", "Assembly", "Change", "Impossible", "Violation", "assemble", "instant_at"]
