"""Virtual links (paper 003, §4.1.3): a joint of several parts becomes a chain of simple joints whose equations are linear.

    X_FM = X₁ X₂ … X_k:   parent —X₁— link —X₂— link … —X_k— child

A universal joint is two hinges and one link, its cross; a gimbal three hinges and two links. A link is an affine body like others, with a
number from `model.n_frames` on, its frame is M of the part before it and F of the part after it. It belongs to the coordinates, not to the
model: nothing touches it, no weight acts on it, energies and momenta leave its motion out. Its mass, a millionth of its lightest
neighbour's, only decides how it turns where the joint is singular; its stiffness is that of the larger neighbour, since it carries the
same loads.

A joint stays one part if it is simple, if it hangs on a static body and is exact there anyway, if it has all six freedoms, or if one of its
parts would not be exactly linear (a slide between bodies that move, a screw).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unibody.coordinates.affine.body import radius, volume
from unibody.coordinates.affine.rows import JointPart, relations, shared
from unibody.joints import Revolute, Universal
from unibody.joints.base import Joint
from unibody.model import Model
from unibody.model.model import JointInfo
from unibody.spatial.pose import Pose, adjoint

LIGHT = 1e-6
"""Mass of a link, in that of its lightest neighbour."""


@dataclass(frozen=True)
class Link:
    """One virtual link."""

    joint: int
    """The joint that owns it: index into `model.joints`."""
    X_WB: Pose
    """Where it starts."""
    V_WB: np.ndarray
    """Its twist at the start, in its own axes."""
    mass: float
    """[kg]"""
    radius: float
    """[m] √(tr S / m) of its moments S = ∫ρ X Xᵀ, which are the same in all directions."""
    volume: float
    """[m³] for its stiffness."""

    @property
    def moments(self) -> np.ndarray:
        """∫ ρ w wᵀ, (4, 4)."""
        return np.diag([self.mass] + [self.mass * self.radius**2 / 3.0] * 3)


def expand(model: Model) -> tuple[list[JointPart], list[Link]]:
    """Every joint that a user made as parts, in the order of the model's joints, and the virtual links between them."""
    parts: list[JointPart] = []
    links: list[Link] = []
    poses, twists = [b.X_WB for b in model.bodies], [in_body_axes(b.X_WB, np.array(b.V_WB, float)) for b in model.bodies]
    for k, j in enumerate(model.joints):
        if j.implicit:
            continue
        whole = JointPart(k, j.name, j.element, j.parent, j.child, j.X_PF, j.X_BM, j.q_start, j.nq, j.v_start, j.nv)
        simple = chain(model, j)
        if len(simple) == 1:
            parts.append(whole)
            continue
        first = model.n_frames + len(links)
        bodies = [j.parent, *range(first, first + len(simple) - 1), j.child]
        q, v = j.q_start, j.v_start
        for i, (element, before, after) in enumerate(simple):
            X_PF = j.X_PF @ before if i == 0 else before
            X_BM = j.X_BM @ after.inverse() if i == len(simple) - 1 else after.inverse()
            parts.append(JointPart(k, j.name, element, bodies[i], bodies[i + 1], X_PF, X_BM, q, element.nq, v, element.nv))
            q, v = q + element.nq, v + element.nv
        like = body_like(model, j)
        links += [Link(k, Pose(), np.zeros(6), *like)] * (len(simple) - 1)
    places, rates = place_links(model, parts, len(links), poses, twists, model.start_q(), model.start_v())
    return parts, [replace(link, X_WB=X, V_WB=V) for link, X, V in zip(links, places, rates, strict=True)]


def in_body_axes(X: Pose, V: np.ndarray) -> np.ndarray:
    return np.concatenate([X.R.T @ V[:3], X.R.T @ V[3:]])


def place_links(
    model: Model, parts: Sequence[JointPart], count: int, poses: Sequence[Pose], twists: Sequence[np.ndarray], q: np.ndarray, v: np.ndarray
) -> tuple[list[Pose], list[np.ndarray]]:
    """Poses and twists (own axes) of the virtual links, from those of the bodies and the coordinates and velocities of all joints."""
    more = len(model.vertex_points) + count
    X, V = [*poses, *[Pose()] * more], [*twists, *[np.zeros(6)] * more]
    for part in parts:
        if part.child < model.n_frames:
            continue
        mine = q[part.q_start : part.q_start + part.nq]
        X_BP = (part.X_PF @ Pose.from_rotation(*part.element.pose(mine)) @ part.X_BM.inverse()).inverse()
        X[part.child] = X[part.parent] @ X_BP.inverse()
        own = part.element.motion(mine) @ v[part.v_start : part.v_start + part.nv]
        V[part.child] = adjoint(X_BP.R, np.array(X_BP.p)) @ V[part.parent] + adjoint(part.X_BM.R, np.array(part.X_BM.p)) @ own
    return X[model.n_frames :], V[model.n_frames :]


def chain(model: Model, j: JointInfo) -> list[tuple[Joint, Pose, Pose]]:
    """The joint as simple joints with links between, each with a fixed pose before and after it; one only if it stays whole."""
    whole = [(j.element, Pose(), Pose())]
    simple = without_welds(elementary(j.element))
    still = [model.bodies[i].kind == "static" for i in (j.parent, j.child)]
    if len(simple) < 2 or j.nv == 6 or all(model.bodies[i].kind != "dynamic" for i in (j.parent, j.child)):
        return whole
    if any(still) and exact(j.element, True):
        return whole
    ends = [still[0], *[False] * (len(simple) - 2), still[1]]
    return simple if all(exact(e, end) for (e, _, _), end in zip(simple, ends, strict=True)) else whole


def elementary(joint: Joint) -> list[Joint]:
    """From F to M; a universal joint is two hinges."""
    out: list[Joint] = []
    for part in joint.parts():
        out += [Revolute(part.axis1), Revolute(part.axis2)] if isinstance(part, Universal) else [part]
    return out


def without_welds(parts: list[Joint]) -> list[tuple[Joint, Pose, Pose]]:
    """Parts with freedoms; poses of those without are kept with a neighbour."""
    out: list[tuple[Joint, Pose, Pose]] = []
    held = Pose()
    for part in parts:
        if part.nv:
            out.append((part, held, Pose()))
            held = Pose()
        else:
            held = held @ Pose.from_rotation(*part.pose(part.neutral()))
    if out:
        out[-1] = (*out[-1][:2], held)
    return out


def exact(joint: Joint, to_static: bool) -> bool:
    """Whether the joint's linear equations leave nothing open."""
    return shared(joint)[2] == 0 or (to_static and relations(joint, False)[2] == 0)


def body_like(model: Model, j: JointInfo) -> tuple[float, float, float]:
    """Mass, radius and volume of a joint's links: lighter and not larger than its neighbours that move, as stiff as the stiffer."""
    near = [model.bodies[i] for i in (j.parent, j.child) if model.bodies[i].kind == "dynamic"]
    light = min(near, key=lambda b: b.mass)
    return LIGHT * light.mass, min(radius(b) for b in near), max(volume(b) for b in near)
