"""Equality constraints, which MuJoCo holds softly and we exactly.

    connect   a point of each of two bodies coincide             a Ball that closes a loop
    weld      a frame of each coincide                           a Weld that closes a loop (a Ball when torquescale is 0)
    joint     q₁ − r₁ = p₀ + p₁ (q₂ − r₂) + … + p₄ (q₂ − r₂)⁴    a JointCoupling if linear, else a Coupling by that polynomial
    tendon    the same of two lengths                            a JointCoupling for joint tendons, a Distance for one straight one

with r the coordinates and lengths of the reference position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from unibody.constraints import Coupling, Distance, JointCoupling
from unibody.files.mjcf_reading import BodyPlace, Reading, frame
from unibody.files.mjcf_tendons import joint_terms, sites_of
from unibody.joints import Ball, Joint, Weld
from unibody.spatial.pose import Pose


def add_equalities(r: Reading) -> None:
    m = r.m
    if r.off("equality"):
        return
    makers = {"connect": _connect, "weld": _weld, "joint": _joint, "tendon": _tendon}
    active = [e for e in range(m.neq) if m.eq_active0[e]]
    idle = [e for e in range(m.neq) if e not in active]
    r.leave_all("equalities", "equality", idle, "not active at the start, and cannot be switched on")
    refused: dict[str, list[int]] = {}
    made = []
    for e in active:
        maker = makers.get(r.word("Eq", m.eq_type[e]))
        why = maker(r, e) if maker else "constrain flexible parts, which are not read"
        refused.setdefault(why, []).append(e) if why else made.append(e)
    for why, which in refused.items():
        r.leave_all("equalities", "equality", which, why)
    r.leave_all("equalities", "equality", made, "hold exactly here; MuJoCo's softness (solref, solimp) is left out")


def _name(r: Reading, e: int) -> str:
    return r.name("equality", e)


def _ends(r: Reading, e: int) -> tuple[int, int, bool]:
    """Two bodies, or two sites."""
    m = r.m
    return int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), r.word("Obj", m.eq_objtype[e]) == "site"


def _site_frame(r: Reading, i: int) -> tuple[BodyPlace, Pose]:
    return r.bodies[int(r.m.site_bodyid[i])], frame(r.m.site_pos[i], r.m.site_quat[i])


def _connect(r: Reading, e: int) -> str:
    one, two, sites = _ends(r, e)
    if sites:
        (a, X_a), (b, X_b) = _site_frame(r, one), _site_frame(r, two)
        return _close(r, e, Ball(), a, Pose(X_a.p), b, Pose(X_b.p))
    data = r.m.eq_data[e]
    return _close(r, e, Ball(), r.bodies[one], Pose(data[:3]), r.bodies[two], Pose(data[3:6]))


def _weld(r: Reading, e: int) -> str:
    one, two, sites = _ends(r, e)
    data = r.m.eq_data[e]
    joint: Joint = Weld() if data[10] else Ball()
    if sites:
        return _close(r, e, joint, *_site_frame(r, one), *_site_frame(r, two))
    return _close(r, e, joint, r.bodies[one], frame(data[3:6], data[6:10]), r.bodies[two], Pose(data[:3]))


def _close(r: Reading, e: int, joint: Joint, a: BodyPlace, X_a: Pose, b: BodyPlace, X_b: Pose) -> str:
    if a.name == b.name:
        return "join a body to itself"
    ends = [(a.name, a.X @ X_a), (b.name, b.X @ X_b)]
    if ends[1][0] not in r.moving:
        ends.reverse()
    if ends[1][0] not in r.moving:
        return "join two bodies that do not move"
    (parent, X_PF), (child, X_BM) = ends
    r.builder.joint(r.joint_name(_name(r, e)), joint, parent=parent, child=child, X_PF=X_PF, X_BM=X_BM)
    return ""


def _joint(r: Reading, e: int) -> str:
    m = r.m
    one, two, _ = _ends(r, e)
    p = np.array(m.eq_data[e, :5])
    first, r_1 = r.coordinate(one), float(m.qpos0[m.jnt_qposadr[one]])
    if two < 0:
        r.builder.add(JointCoupling([first], (1.0,), r_1 + p[0]), name=r.element(_name(r, e), "equality"))
        return ""
    second, r_2 = r.coordinate(two), float(m.qpos0[m.jnt_qposadr[two]])
    if not p[2:].any():
        coupling: Any = JointCoupling([first, second], (1.0, -p[1]), r_1 + p[0] - p[1] * r_2)
    else:
        coupling = polynomial_coupling(first, second, p, r_1, r_2)
    r.builder.add(coupling, name=r.element(_name(r, e), "equality"))
    return ""


@dataclass(frozen=True)
class PowerLaw:
    """Σ c_k (q − centre)^k, or a derivative of it, in the shapes that a Coupling asks for; as a dataclass it can be kept in files.

    >>> PowerLaw((1.0, 0.0, 2.0), 0.5)(np.array([1.5]))
    array([3.])
    """

    coefficients: tuple[float, ...]
    centre: float
    derivative: int = 0

    def __call__(self, q: np.ndarray, qdot: np.ndarray | None = None) -> np.ndarray:
        law = Polynomial(self.coefficients)
        value = float((law.deriv(self.derivative) if self.derivative else law)(q[0] - self.centre))
        if qdot is not None:
            value *= float(qdot[0])
        return np.array([[value]]) if self.derivative else np.array([value])


def polynomial_coupling(first: tuple[str, int], second: tuple[str, int], p: np.ndarray, r_1: float, r_2: float) -> Coupling:
    """q₁ = r₁ + Σ p_k (q₂ − r₂)^k with its exact derivatives."""
    c = (float(r_1 + p[0]), *(float(x) for x in p[1:]))
    return Coupling([first], [second], function=PowerLaw(c, r_2), jacobian=PowerLaw(c, r_2, 1), jacobian_rate=PowerLaw(c, r_2, 2))


def _tendon(r: Reading, e: int) -> str:
    m = r.m
    one, two, _ = _ends(r, e)
    p = np.array(m.eq_data[e, :5])
    terms, other = joint_terms(r, one), joint_terms(r, two) if two >= 0 else {}
    if terms is not None and other is not None:
        if p[2:].any() and two >= 0:
            return "a curved relation of two tendons; only straight ones are held"
        offset = float(m.tendon_length0[one] + p[0] - (p[1] * m.tendon_length0[two] if two >= 0 else 0.0))
        for coordinate, c in other.items():
            terms[coordinate] = terms.get(coordinate, 0.0) - p[1] * c
        terms = {coordinate: c for coordinate, c in terms.items() if c}
        if not terms:
            return "relate a tendon to itself"
        r.builder.add(JointCoupling(list(terms), list(terms.values()), offset), name=r.element(_name(r, e), "equality"))
        return ""
    sites = sites_of(r, one)
    length = float(m.tendon_length0[one] + p[0])
    if two < 0 and sites is not None and len(sites) == 2 and length > 0.0:
        a, b = r.site(sites[0]), r.site(sites[1])
        if a.body == b.body:
            return "hold the distance of two points of one body"
        r.builder.add(Distance(a, b, length), name=r.element(_name(r, e), "equality"))
        return ""
    return "relate spatial tendons; only the length of one between two sites is held"
