"""The largest safe step of every solver and time rule, from the linear motion at the start."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from unibody.checks.finding import SafeStep
from unibody.checks.flying import in_fixed_axes
from unibody.checks.linear import INERTIAL, Linear, linearise
from unibody.checks.stability import Limit, Modes, by_rates, by_steps, modes_of
from unibody.coordinates.instant import Instant
from unibody.model import Model
from unibody.rules import RULES, smooth
from unibody.solvers import REGISTRY
from unibody.solvers.base import SMOOTH_FEEDBACK, elements_of, reason_against

LARGEST = 2000
"""Degrees of freedom beyond which dense matrices are not made."""
IMPLICIT = ("implicit", "bdf2")
MOMENTA = "semi-implicit in momenta"
"""The rule of maximal coordinates: momenta are carried over, so that spinning by itself does not grow."""
FIXED_AXES = "semi-implicit in fixed axes"
"""The rule of reduced coordinates."""


def rules_of(solver: str) -> tuple[str, ...]:
    """The time rules of a solver."""
    return REGISTRY[solver].choices("rule")


def safe_steps(here: Instant, explicit: Collection[str] = (), whole: Model | None = None) -> Iterator[SafeStep]:
    """One for every solver in the registry and each of its rules; implicit ones leave the forces named `explicit` explicit. `whole`: the
    model that solvers are asked to run, if it has more than bodies."""
    model = here.model
    if model.nv > LARGEST:
        for solver in REGISTRY:
            for rule in rules_of(solver):
                yield SafeStep(solver, rule, np.nan, f"not computed: {model.nv} degrees of freedom, more than {LARGEST}")
        return
    motion = linearise(here, explicit)
    modes = modes_of(motion.A_q, motion.A_v) if motion.N.shape[1] else Modes(np.zeros(0), np.zeros((0, 0)), True)
    limits: dict[str, Limit] = {}
    for solver in REGISTRY:
        refused = _refusal(solver, whole or model)
        for rule in rules_of(solver):
            if refused:
                yield SafeStep(solver, rule, np.nan, f"cannot run this model: {refused}")
            elif rule in RULES and RULES[rule].order is None:
                yield SafeStep(solver, rule, np.inf, "adapts its own steps")
            elif rule in IMPLICIT:
                yield SafeStep(solver, rule, np.inf, "no limit by stability; accuracy decides")
            else:
                kind = _kind(solver, rule, here)
                if kind not in limits:
                    limits[kind] = _limit(kind, here, motion, modes)
                yield _said(solver, rule, limits[kind], motion)


def _kind(solver: str, rule: str, here: Instant) -> str:
    if solver == "penalty":  # penalties follow the step and set no limit; under both rules all other forces are explicit
        rule = "semi-implicit"
    if rule != "semi-implicit" or not here.v.any():
        return rule
    return {"lagrange": MOMENTA, "penalty": MOMENTA, "articulated": FIXED_AXES}.get(solver, rule)


def _refusal(solver: str, model: Model) -> str:
    chosen = REGISTRY[solver]()
    reasons = [(name, reason_against(chosen, element, model)) for name, element in elements_of(model)]
    return next((f"'{name}': {reason}" for name, reason in reasons if reason is not None), "")


def _limit(rule: str, here: Instant, motion: Linear, modes: Modes) -> Limit:
    if not modes.rates.size:
        return Limit(np.inf, None, 0.0, False)
    none = np.zeros_like(motion.A_q)
    if rule == "semi-implicit":
        return by_steps((motion.A_q, motion.A_v, none, none), modes)
    if rule == FIXED_AXES:
        A_q, A_v = in_fixed_axes(here, motion)
        return by_steps((A_q, A_v, none, none), modes_of(A_q, A_v))
    if rule == MOMENTA:
        quiet = motion.A_v - motion.inertial_D
        return by_steps((motion.A_q, quiet, none, none), modes_of(motion.A_q, quiet))
    if rule == "linearly-implicit":
        return by_steps((motion.A_q, motion.A_v, motion.implicit_K, motion.implicit_D), modes)
    amplification = RULES[rule].amplification if rule in RULES else None
    if amplification is None:
        return Limit(np.nan, None, 0.0, False)
    found = by_rates(amplification, modes)
    if not (smooth(rule) and here.bilateral.size):
        return found
    # the feedback of rules of high order does not shrink with the step
    feedback = by_rates(amplification, Modes(np.array([-1.0 / SMOOTH_FEEDBACK]), np.zeros((0, 1)), True))
    return feedback if feedback.dt < found.dt else found


def _said(solver: str, rule: str, limit: Limit, motion: Linear) -> SafeStep:
    if np.isnan(limit.dt):
        return SafeStep(solver, rule, np.nan, "not known: this check has no formula for the rule")
    if limit.mode is None:
        return SafeStep(solver, rule, limit.dt, estimate=limit.estimate)
    if not limit.mode.size:
        return SafeStep(solver, rule, limit.dt, element="the feedback of constraints", rate=abs(limit.rate))
    shares = motion.shares(limit.mode, limit.rate)
    inertial = shares.pop(INERTIAL)
    element = INERTIAL if inertial >= sum(shares.values()) else max(shares, key=lambda name: shares[name])
    return SafeStep(solver, rule, limit.dt, "", element, abs(limit.rate), limit.estimate)
