"""Actuators on hinges and slides as motors.

An actuator with gear g on a joint has length g q, and its force works at the joint g times as strong:

    effort = g clamp(k u + b₀ + b₁ g q + b₂ g q̇),      u the control within its range, the clamp that of the force range

which is a Motor with kp = −b₁ g², kd = −b₂ g², feed-forward g b₀, and the target such that kp target = g k u (target rate, if kp = 0 and
kd > 0). Without either, as in MuJoCo's `motor`, the control is the joint's own effort, and what the actuators can give together
is the joint's effort limit. Damping and armature of an actuator are those of the joint times g².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.files.mjcf_reading import Reading, listed, number_text
from unibody.forces import Motor

LAGS = ("none", "filter", "filterexact")
"""Dynamics of the activation that only delay the control."""


@dataclass(frozen=True)
class ActuatorLoads:
    """What actuators add to each of MuJoCo's degrees of freedom."""

    armature: np.ndarray
    damping: np.ndarray
    limit: np.ndarray


@dataclass(frozen=True)
class Servo:
    """One actuator on a hinge or slide, in terms of the joint: effort = slope·u + constant − kp q − kd q̇, clamped to ±most."""

    i: int
    joint: int
    slope: float
    constant: float
    kp: float
    kd: float
    most: float


def actuator_loads(r: Reading) -> ActuatorLoads:
    m = r.m
    armature, damping, limit = np.zeros(m.nv), np.zeros(m.nv), np.full(m.nv, np.inf)
    for i in range(m.nu):
        if on_scalar_joint(r, i):
            dof = int(m.jnt_dofadr[m.actuator_trnid[i, 0]])
            armature[dof] += m.actuator_armature[i] * m.actuator_gear[i, 0] ** 2
            damping[dof] += m.actuator_damping[i] * m.actuator_gear[i, 0] ** 2
    given: dict[int, float] = {}
    for servo in servos(r)[0]:
        dof = int(m.jnt_dofadr[servo.joint])
        given[dof] = given.get(dof, 0.0) + (servo.most if servo.kp == servo.kd == 0.0 else np.inf)
    for dof, most in given.items():
        limit[dof] = most
    for dof in pulled_by_tendons(r):
        limit[dof] = np.inf
    for j in np.flatnonzero(m.jnt_actfrclimited).tolist():
        low, high = (float(x) for x in m.jnt_actfrcrange[j])
        dof = int(m.jnt_dofadr[j])
        limit[dof] = min(limit[dof], max(abs(low), abs(high)))
        if abs(low + high) > 1e-9 * max(abs(low), abs(high)):
            kept = f"actfrcrange {number_text(low)} … {number_text(high)} is kept as ±{number_text(limit[dof])}"
            r.leave(f"joint '{r.name('joint', j)}': {kept}")
    return ActuatorLoads(armature, damping, limit)


def pulled_by_tendons(r: Reading) -> list[int]:
    """Degrees of freedom that an actuator drives through a tendon."""
    m = r.m
    out = []
    for i in range(m.nu):
        if r.word("Trn", m.actuator_trntype[i]) == "tendon":
            t = int(m.actuator_trnid[i, 0])
            wraps = range(int(m.tendon_adr[t]), int(m.tendon_adr[t] + m.tendon_num[t]))
            out += [int(m.jnt_dofadr[m.wrap_objid[w]]) for w in wraps if r.word("Wrap", m.wrap_type[w]) == "joint"]
    return out


def on_scalar_joint(r: Reading, i: int) -> bool:
    on_joint = r.word("Trn", r.m.actuator_trntype[i]) in ("joint", "jointinparent")
    return on_joint and r.joint_kind(r.m.actuator_trnid[i, 0]) in ("hinge", "slide")


def servos(r: Reading) -> tuple[list[Servo], list[tuple[int, str]]]:
    """The actuators that are motors here, and for each other one why it is not."""
    m = r.m
    found: list[Servo] = []
    refused: list[tuple[int, str]] = []
    for i in range(m.nu):
        gain, bias = r.word("Gain", m.actuator_gaintype[i]), r.word("Bias", m.actuator_biastype[i])
        g, k = float(m.actuator_gear[i, 0]), float(m.actuator_gainprm[i, 0])
        b = np.array(m.actuator_biasprm[i, :3]) if bias == "affine" else np.zeros(3)
        if r.off("actuation") or m.opt.disableactuator & (1 << int(m.actuator_group[i])):
            refused.append((i, "switched off by the file"))
        elif r.word("Trn", m.actuator_trntype[i]) == "tendon":
            refused.append((i, "drive a tendon, and motors here drive one joint"))
        elif not on_scalar_joint(r, i):
            refused.append((i, "drive a site, body, crank, ball or free joint, and motors here drive hinges and slides"))
        elif r.word("Dyn", m.actuator_dyntype[i]) not in LAGS or gain != "fixed" or bias not in ("none", "affine"):
            refused.append((i, "muscles, integrated activations, gains that vary and laws of their own have no motor here"))
        elif b[1] > 0.0 or b[2] > 0.0 or g == 0.0:
            refused.append((i, "push away from their target (a positive biasprm) or have no gear; motors here hold"))
        else:
            joint = int(m.actuator_trnid[i, 0])
            found.append(Servo(i, joint, g * k, g * float(b[0]), -float(b[1]) * g * g, -float(b[2]) * g * g, _most(r, i, b)))
    return found, refused


def _most(r: Reading, i: int, bias: np.ndarray) -> float:
    """The largest effort at the joint [N m or N]."""
    m = r.m
    g, k = abs(float(m.actuator_gear[i, 0])), float(m.actuator_gainprm[i, 0])
    force = float(np.abs(m.actuator_forcerange[i]).max()) if m.actuator_forcelimited[i] else np.inf
    if not bias[1:].any() and m.actuator_ctrllimited[i] and not r.off("clampctrl"):
        force = min(force, float(np.abs(k * np.array(m.actuator_ctrlrange[i]) + bias[0]).max()))
    return g * force


def add_actuators(r: Reading, ctrl: np.ndarray) -> None:
    """The motors, with the control `ctrl` at the start."""
    found, refused = servos(r)
    for s in found:
        name = r.element(r.name("actuator", s.i), "motor")
        place = r.joints[s.joint]
        u = _clamped(r, s.i, float(ctrl[s.i]))
        effort, target, rate = s.constant or None, None, None
        if s.kp > 0.0:
            target = s.slope * u / s.kp
        elif s.kd > 0.0:
            rate = s.slope * u / s.kd
        else:
            effort = (s.slope * u + s.constant) or None
        r.builder.add(
            Motor(place.name, effort=effort, kp=s.kp, kd=s.kd, target=target, target_rate=rate, limit=s.most, dof=place.v), name=name
        )
    for why in dict.fromkeys(w for _, w in refused):
        r.leave_all("actuators", "actuator", [i for i, w in refused if w == why], why)
    _leave_out(r, found)


def _clamped(r: Reading, i: int, u: float) -> float:
    if not r.m.actuator_ctrllimited[i] or r.off("clampctrl"):
        return u
    low, high = (float(x) for x in r.m.actuator_ctrlrange[i])
    return min(high, max(low, u))


def _leave_out(r: Reading, found: list[Servo]) -> None:
    m = r.m
    held = [s.i for s in found]
    served = [s for s in found if s.kp > 0.0 or s.kd > 0.0]
    r.leave_all("actuators", "actuator", [s.i for s in served if m.actuator_ctrllimited[s.i]], "targets are not held within ctrlrange")
    scaled = [s for s in served if abs(s.slope - (s.kp or s.kd)) > 1e-12 * abs(s.slope)]
    if scaled:
        s = scaled[0]
        say = f"a target here is their control times gear, gain and bias give ({number_text(s.slope / (s.kp or s.kd))} for the first)"
        r.leave_all("actuators", "actuator", [s.i for s in scaled], say)
    lagging = [i for i in held if r.word("Dyn", m.actuator_dyntype[i]) != "none"]
    r.leave_all("actuators", "actuator", lagging, "act at once; their lag is left out")
    r.leave_all("actuators", "actuator", [i for i in range(m.nu) if m.actuator_dampingpoly[i].any()], "damping beyond the linear term")
    r.leave_all("actuators", "actuator", [i for i in held if m.actuator_delay[i]], "act at once; their delay is left out")
    uneven = []
    for s in found:
        ranges = [m.actuator_forcerange[s.i]] if m.actuator_forcelimited[s.i] else []
        ranges += [m.actuator_ctrlrange[s.i]] if m.actuator_ctrllimited[s.i] and s not in served else []
        if any(abs(low + high) > 1e-9 * max(abs(low), abs(high)) for low, high in ranges):
            uneven.append(r.name("actuator", s.i))
    if uneven:
        r.leave(f"actuators: {listed(uneven)}: a range that is not the same both ways is kept as ± its larger end")
