"""From links to bodies: mass, and which links are one body.

A body needs a mass and a positive definite inertia, and many links have none: frames for tools and sensors, the two ends of a dummy joint,
point masses. A link that lacks them and is fixed to others becomes part of the nearest one that has them (the root of a robot that stands
on the ground counts as one); its mass, if any, is added by

    m = Σ mₖ,  c = Σ mₖ cₖ / m,  I = Σ Iₖ + mₖ (|dₖ|² 1 − dₖ dₖᵀ)

so that the motion is exactly the file's. A group that moves and has no mass at all is given one, which is said.

No rigid thing has principal inertias A + B < C, since A + B − C = 2 ∫ z² dm. Links that claim it are added to those they are fixed to as
well, and said; where the sum is impossible too, or absurd beside the shapes, it is taken from the shapes (`urdf_repairs`). Without that
(repair=False) the file is refused, or on request the sum is replaced by the nearest possible one: the second moments Σ = ½ tr(I) 1 − I
are made positive by raising their negative principal values to those of a ball of 1 mm.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.files.urdf_grammar import named
from unibody.files.urdf_repairs import DENSITY, SLIGHT, absurd, ball, filled, from_shapes, matter, principal
from unibody.shapes import Placed
from unibody.shapes.mass import ROUND_OFF, MassProperties, combine
from unibody.spatial.pose import Pose

DUMMY_MASS = 1e-6
"""Of a link that moves without mass but carries links that have some [kg]."""
DUMMY_RADIUS = 0.01
POINT_RADIUS = 1e-3
"""Of the balls that stand for things without size [m]."""


@dataclass
class Bodies:
    """Which body each link is part of, and where in it."""

    host: dict[str, str]
    X_BL: dict[str, Pose]
    mass: dict[str, MassProperties | None]
    """Of every body; None: it is ground."""
    said: list[str] = field(default_factory=list)
    """What was changed, for `left_out`."""

    def merged(self) -> list[tuple[str, str]]:
        """Links that are part of another, and of which."""
        return [(link, body) for link, body in self.host.items() if link != body]


def pose_of(origin: Any) -> Pose:
    """A pose from yourdfpy's 4×4 matrix, or none."""
    return Pose() if origin is None else Pose.from_matrix(origin)


def as_bodies(
    robot: Any, order: list[str], floating: bool, massless: float | None, nearest: bool, shapes: dict[str, list[Placed]] | None = None,
    unread: frozenset[str] = frozenset(),
) -> Bodies:  # fmt: skip
    """The bodies of a robot whose links are given root first. `nearest`: replace impossible inertias by the nearest possible. `shapes` of
    links, if inertias are to be repaired from them; `unread`: links that have more."""
    # links with their own mass, and who is fixed to whom
    links = {link.name: link for link in robot.links}
    own = {name: _properties(links[name], shapes is not None) for name in order}
    joint_to = {j.child: j for j in robot.joints}
    fixed: dict[str, list[str]] = {name: [] for name in order}
    for j in robot.joints:
        if j.type == "fixed":
            fixed[j.parent].append(j.child)
            fixed[j.child].insert(0, j.parent)
    # hosts are links that can stand alone, and the ground; all others belong to the nearest host over fixed joints
    hosts = [name for name in order if _stands_alone(own[name])]
    ground = order[0] if not floating else None
    if ground is not None and ground not in hosts:
        hosts.insert(0, ground)
    host = _nearest(hosts, fixed)
    for name in order:
        if name not in host:
            host |= _nearest([name], fixed)
    bodies = Bodies(host, _poses(order, host, joint_to, fixed), {})
    # of each host: the mass of its group, and what is done where that is none, or an impossible one
    for name in (link for link in order if host[link] == link):
        group = [link for link in order if host[link] == name]
        parts = [own[link].moved(bodies.X_BL[link].R, np.array(bodies.X_BL[link].p)) for link in group]
        whole = combine(parts) if any(part.mass > 0.0 for part in parts) else parts[0]
        impossible = [link for link in group if not _possible(own[link])]
        if name == ground and not _stands_alone(own[name]):
            bodies.mass[name] = None
        elif shapes is not None and (whole.mass > 0.0 or (massless is None and _unsaid(name, group, links, own, joint_to, order))):
            around = [moved(s, bodies.X_BL[link]) for link in group for s in shapes[link]]
            sound = _repaired(name, whole, around, unread.isdisjoint(group), bodies.said)
            bodies.mass[name] = sound or _given_mass(name, parts, own, joint_to, order, massless, bodies.said)
        elif whole.mass > 0.0:
            bodies.mass[name] = whole if _stands_alone(whole) else _given_size(name, whole, own, impossible, nearest, bodies.said)
        else:
            bodies.mass[name] = _given_mass(name, parts, own, joint_to, order, massless, bodies.said)
        bodies.said += [f"{_impossible(link, own[link])}; it is part of '{name}', and together they are possible" for link in impossible
                        if bodies.mass[name] is None or _stands_alone(whole)]  # fmt: skip
    bodies.said = _together(bodies.said)
    return bodies


def _below(name: str, joint_to: dict[str, Any], order: list[str]) -> set[str]:
    """A link and all that hang on it."""
    below = {name}
    for link in order:
        if link in joint_to and joint_to[link].parent in below:
            below.add(link)
    return below


def _unsaid(
    name: str, group: list[str], links: dict[str, Any], own: dict[str, MassProperties], joint_to: dict[str, Any], order: list[str]
) -> bool:
    """Whether a group without mass has no <inertial>, or carries nothing that has mass: then its shapes tell."""
    return all(links[link].inertial is None for link in group) or not any(own[k].mass > 0.0 for k in _below(name, joint_to, order))


def _together(lines: list[str]) -> list[str]:
    """Lines that say the same of several links as one."""
    links: dict[str, list[str]] = {}
    for line in lines:
        name, _, rest = line.removeprefix("link '").partition("': ")
        links.setdefault(rest, []).append(name)
    return [f"link{'s' if len(names) > 1 else ''} {named(names)}: {rest}" for rest, names in links.items()]


def moved(placed: Placed, X_BL: Pose) -> Placed:
    """A shape of a link that is part of a body."""
    return Placed(placed.shape, X_BL @ placed.X_BS, placed.colour, placed.visible, placed.solid, placed.material)


def _properties(link: Any, lenient: bool) -> MassProperties:
    """What the file says; mass 0 where it says nothing. `lenient`: an inertia may be missing."""
    inertial = link.inertial
    what = f"link '{link.name}'"
    if inertial is None:
        return MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
    if inertial.mass < 0.0:
        raise ModelError(f"{what}: mass {inertial.mass:g} is negative; give 0 or more")
    if inertial.inertia is None and inertial.mass > 0.0 and not lenient:
        raise ModelError(f"{what}: mass {inertial.mass:g} without <inertia>; give one")
    inertia = np.zeros((3, 3)) if inertial.inertia is None else inertial.inertia
    X = pose_of(inertial.origin)
    return MassProperties(inertial.mass, np.zeros(3), inertia).moved(X.R, np.array(X.p))


def _slack(properties: MassProperties) -> float:
    """Round-off of an inertia: of its own size, or of that of a ball of 1 mm."""
    return ROUND_OFF * (float(np.abs(properties.inertia).max()) + properties.mass * POINT_RADIUS**2) + 1e-300


def _possible(properties: MassProperties) -> bool:
    """Whether something has this inertia, a point or a line included."""
    A, B, C = np.linalg.eigvalsh(properties.inertia)
    return bool(A >= -_slack(properties) and A + B >= C - _slack(properties))


def _stands_alone(properties: MassProperties) -> bool:
    """Whether it can be a body by itself."""
    A = np.linalg.eigvalsh(properties.inertia)[0]
    return properties.mass > 0.0 and _possible(properties) and bool(A > _slack(properties))


def _impossible(link: str, properties: MassProperties) -> str:
    A, B, C = np.linalg.eigvalsh(properties.inertia)
    why = f"{A:.4g} is negative" if A < 0.0 else f"{A:.4g} + {B:.4g} < {C:.4g}"
    return f"link '{link}': no body has the principal inertias ({A:.4g}, {B:.4g}, {C:.4g}), since {why}"


def repaired(properties: MassProperties) -> MassProperties:
    """The nearest inertia that a body can have."""
    second = 0.5 * np.trace(properties.inertia) * np.eye(3) - properties.inertia
    values, axes = np.linalg.eigh(second)
    values = np.maximum(values, properties.mass * POINT_RADIUS**2 / 5.0)
    second = axes @ np.diag(values) @ axes.T
    return MassProperties(properties.mass, properties.com, np.trace(second) * np.eye(3) - second)


def _nearest(hosts: list[str], fixed: dict[str, list[str]]) -> dict[str, str]:
    """Each link that is fixed to a host to the nearest one; of two as near, to the one nearer to the root."""
    host = {name: name for name in hosts}
    front = list(hosts)
    while front:
        reached = []
        for name in front:
            for other in fixed[name]:
                if other not in host:
                    host[other] = host[name]
                    reached.append(other)
        front = reached
    return host


def _repaired(name: str, whole: MassProperties, shapes: list[Placed], known: bool, said: list[str]) -> MassProperties | None:
    """The mass of a group, its inertia from its shapes if it has none, or one that no such body has. None: no mass, and no shape.
    `known`: these are all its shapes."""
    around, called = matter(shapes)
    if whole.mass == 0.0:
        made = filled(around)
        if made is not None:
            said.append(f"link '{name}': no mass, and it moves; it was given {made.mass:.4g} kg and the principal inertias "
                        f"{principal(made)}, those of its {called} at {DENSITY:g} kg/m³")  # fmt: skip
        return made
    A, B, C = np.linalg.eigvalsh(whole.inertia)
    if _stands_alone(whole):
        ratio = absurd(whole, shapes) if known else None
        if ratio is None:
            return whole
        wrong = f"is {ratio:.2g} times what a box of that mass around its shapes has"
    elif A > _slack(whole) and A + B >= C * (1.0 - SLIGHT):
        made = repaired(whole)
        said.append(f"link '{name}': inertia {principal(whole)} of {whole.mass:.4g} kg breaks A + B ≥ C by {(C - A - B) / C:.1g}; "
                    f"it was given {principal(made)}, the nearest possible")  # fmt: skip
        return made
    else:
        wrong = "is none" if C <= _slack(whole) else "is that of no body"
    made = from_shapes(whole, around)
    how = f"that of its {called} at that mass"
    if made is None and _stands_alone(whole):
        return whole
    if made is None:
        made, how = (ball(whole.mass, whole.com), f"that of a ball of {DENSITY:g} kg/m³") if C <= _slack(whole) else (
            repaired(whole), "the nearest possible")  # fmt: skip
    if not np.isfinite(made.inertia).all():
        why = f"{whole.mass:.4g} kg and no inertia: that of its shapes or of a ball is beyond numbers"
        raise ModelError(f"link '{name}': {why}; give a smaller mass")
    said.append(f"link '{name}': inertia {principal(whole)} of {whole.mass:.4g} kg {wrong}; it was given {principal(made)}, {how}")
    return made


def _given_size(
    name: str, whole: MassProperties, own: dict[str, MassProperties], impossible: list[str], nearest: bool, said: list[str]
) -> MassProperties:
    """The mass of a group that has no inertia about some axis, or an impossible one."""
    if impossible:
        wrong = _impossible(impossible[0], own[impossible[0]])
    else:
        wrong = f"link '{name}': a mass of {whole.mass:g} kg that can move, and no inertia about some axis"
    if not nearest:
        raise ModelError(f"{wrong}; correct <inertia>, or load with repair=true or repair_inertia=true")
    made = repaired(whole)
    said.append(f"{wrong}; body '{name}' was given ({', '.join(f'{x:.4g}' for x in np.linalg.eigvalsh(made.inertia))})")
    return made


def _given_mass(
    name: str, parts: list[MassProperties], own: dict[str, MassProperties], joint_to: dict[str, Any], order: list[str],
    massless: float | None, said: list[str],
) -> MassProperties:  # fmt: skip
    """The mass of a group that moves without any."""
    moves = f"moves by joint '{joint_to[name].name}'" if name in joint_to else "floats"
    if massless is None and not any(own[link].mass > 0.0 for link in _below(name, joint_to, order)):
        raise ModelError(f"link '{name}': {moves}, and nothing on it has mass; give <inertial>, or load with massless=… (a mass in kg)")
    given = DUMMY_MASS if massless is None else massless
    said.append(f"link '{name}': {moves} without mass of its own; it was given {given:g} kg (a ball of {DUMMY_RADIUS:g} m)")
    ball = np.eye(3) * 0.4 * given * DUMMY_RADIUS**2
    return MassProperties(given, np.zeros(3), ball + sum(part.inertia for part in parts if _possible(part)))


def _poses(order: list[str], host: dict[str, str], joint_to: dict[str, Any], fixed: dict[str, list[str]]) -> dict[str, Pose]:
    """The pose of every link in its body, along the fixed joints between them."""
    X = {name: Pose() for name in order if host[name] == name}
    front = list(X)
    while front:
        reached = []
        for name in front:
            for other in fixed[name]:
                if other not in X and host[other] == host[name]:
                    down = other in joint_to and joint_to[other].parent == name
                    step = pose_of(joint_to[other].origin) if down else pose_of(joint_to[name].origin).inverse()
                    X[other] = X[name] @ step
                    reached.append(other)
        front = reached
    return X
