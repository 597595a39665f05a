"""Tendons. A spatial one runs from site to site, past spheres and cylinders; a fixed one has a length Σ c_k q_k of joint coordinates.

    tension = k (L − high) above `high`, −k (low − L) below `low`, none between;  − and always c L̇

| tendon | here |
|---|---|
| two sites, low = high | SpringDamper |
| sites, low = 0, undamped | Cable |
| any other of sites, geoms outside of which it stays, and pulleys | Tendon, with the same dead band, wraps, sides and divisors |
| one joint, low = high | TorsionSpring with k c², rest L/c and damping |

Other tendons are listed: those that run inside a geom or past it on the side of another body, spring several joints, have limits, friction
or armature. What they lack is said of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.files.mjcf_reading import Reading
from unibody.forces import Cable, SpringDamper, Tendon, TendonWrap, TorsionSpring

NARROW = 1e-12
"""A spring whose dead band is smaller [m] has none."""


def add_tendons(r: Reading) -> None:
    m = r.m
    refused: dict[str, list[int]] = {}
    for t in range(m.ntendon):
        for why in _add(r, t):
            refused.setdefault(why, []).append(t)
    for why, which in refused.items():
        r.leave_all("tendons", "tendon", which, why)


def _wraps(r: Reading, t: int) -> range:
    return range(int(r.m.tendon_adr[t]), int(r.m.tendon_adr[t] + r.m.tendon_num[t]))


def joint_terms(r: Reading, t: int) -> dict[Any, float] | None:
    """Coefficients of the coordinates that make up a fixed tendon's length; None for a spatial one."""
    m = r.m
    out: dict[Any, float] = {}
    for w in _wraps(r, t):
        if r.word("Wrap", m.wrap_type[w]) != "joint":
            return None
        coordinate = r.coordinate(m.wrap_objid[w])
        out[coordinate] = out.get(coordinate, 0.0) + float(m.wrap_prm[w])
    return out


def sites_of(r: Reading, t: int) -> list[int] | None:
    """The sites of a spatial tendon that goes through nothing else; None for any other."""
    m = r.m
    if any(r.word("Wrap", m.wrap_type[w]) != "site" for w in _wraps(r, t)):
        return None
    return [int(m.wrap_objid[w]) for w in _wraps(r, t)]


def _add(r: Reading, t: int) -> list[str]:
    """Add what can be said of a tendon; returns why the rest cannot."""
    m = r.m
    k = 0.0 if r.off("spring") else float(m.tendon_stiffness[t])
    c = 0.0 if r.off("damper") else float(m.tendon_damping[t])
    why = _plain_refusals(r, t)
    terms = joint_terms(r, t)
    if k > 0.0 or c > 0.0:
        if terms is not None:
            why += _add_fixed(r, t, terms, k, c)
        else:
            why += _add_spatial(r, t, k, c)
    elif not why and not _used(r, t):
        why.append("without stiffness and damping they do nothing here")
    return why


def _plain_refusals(r: Reading, t: int) -> list[str]:
    m = r.m
    said = [
        (m.tendon_limited[t] and not r.off("limit"), "their limits on length have no element here"),
        (m.tendon_frictionloss[t], "friction along a tendon"),
        (m.tendon_armature[t], "inertia along a tendon"),
        (m.tendon_stiffnesspoly[t].any() or m.tendon_dampingpoly[t].any(), "stiffness or damping beyond the linear term"),
        (m.tendon_springyield[t], "springs that yield"),
        (m.tendon_actfrclimited[t], "bounds of the actuators' force on a tendon"),
    ]
    return [why for true, why in said if true]


def _used(r: Reading, t: int) -> bool:
    """Whether an equality or an actuator refers to the tendon and speaks of it."""
    m = r.m
    equal = any(r.word("Eq", m.eq_type[e]) == "tendon" and t in (m.eq_obj1id[e], m.eq_obj2id[e]) for e in range(m.neq))
    driven = any(r.word("Trn", m.actuator_trntype[i]) == "tendon" and m.actuator_trnid[i, 0] == t for i in range(m.nu))
    return equal or driven


def _add_fixed(r: Reading, t: int, terms: dict[Any, float], k: float, c: float) -> list[str]:
    low, high = (float(x) for x in r.m.tendon_lengthspring[t])
    moving = {coordinate: x for coordinate, x in terms.items() if x}
    if len(moving) != 1:
        return ["a spring or damper of several joints together has no element here"]
    ((joint, dof), factor), why = next(iter(moving.items())), []
    if k > 0.0 and high - low > NARROW:
        k, why = 0.0, ["a dead band of a joint's spring"]
    if k > 0.0 or c > 0.0:
        rest = low / factor if k > 0.0 else None
        spring = TorsionSpring(joint, stiffness=k * factor**2, damping=c * factor**2, rest=rest, dof=dof)
        r.builder.add(spring, name=r.element(r.name("tendon", t), "tendon"))
    return why


def _add_spatial(r: Reading, t: int, k: float, c: float) -> list[str]:
    low, high = (float(x) for x in r.m.tendon_lengthspring[t])
    sites = sites_of(r, t)
    points, name = [r.site(i) for i in sites or []], r.name("tendon", t)
    if len(points) == 2 and (k == 0.0 or high - low <= NARROW):
        r.builder.add(SpringDamper(points[0], points[1], k, c, rest_length=max(0.0, high)), name=r.element(name, "tendon"))
        return []
    if sites is not None and c == 0.0 and low <= NARROW:
        r.builder.add(Cable(points, stiffness=k, rest_length=max(0.0, high)), name=r.element(name, "tendon"))
        return []
    try:
        branches, divisors = _branches(r, t)
    except ModelError as error:
        return [str(error)]
    tendon = Tendon(branches, stiffness=k, damping=c, rest=(low, high), divisors=divisors)
    r.builder.add(tendon, name=r.element(name, "tendon"))
    return []


def _branches(r: Reading, t: int) -> tuple[list[list[Any]], list[float]]:
    """What lies between pulleys, and the divisors of these lengths; single sites have none and are left out."""
    m = r.m
    branches: list[list[Any]] = [[]]
    divisors = [1.0]
    for w in _wraps(r, t):
        kind, which = r.word("Wrap", m.wrap_type[w]), int(m.wrap_objid[w])
        if kind == "pulley":
            branches.append([])
            divisors.append(float(m.wrap_prm[w]))
        elif kind == "site":
            branches[-1].append(r.site(which))
        elif kind in ("sphere", "cylinder"):
            branches[-1].append(_wrap(r, which, kind, int(m.wrap_prm[w])))
        else:
            raise ModelError(f"a course through a {kind}, which has no element here")
    kept = [k for k, branch in enumerate(branches) if len(branch) > 1]
    return [branches[k] for k in kept], [divisors[k] for k in kept]


def _wrap(r: Reading, geom: int, kind: str, side: int) -> TendonWrap:
    m = r.m
    body, place = int(m.geom_bodyid[geom]), np.array(m.geom_pos[geom])
    axis = None
    if kind == "cylinder":
        turned = np.zeros(9)
        r.mj.mju_quat2Mat(turned, m.geom_quat[geom])
        along = r.point(body, place + turned.reshape(3, 3)[:, 2]).p
        axis = np.subtract(along, r.point(body, place).p)
    beside = None if side < 0 else r.site(side)
    centre = r.point(body, place)
    if beside is not None and beside.body != centre.body:
        raise ModelError("pass a geom on the side of a site of another body")
    try:
        return TendonWrap(centre, float(m.geom_size[geom, 0]), axis=axis, side=beside)
    except ModelError:
        raise ModelError("run inside a geom, as its side site asks, which has no element here") from None
