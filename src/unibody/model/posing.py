"""How a Builder's model starts, by names of joints and their parts or by a keyframe, where its roots stand, and motors that hold it there.

    place:   X_FM = (X_WP X_PF)⁻¹ X_WB X_BM, from which q of a joint that reaches it; else X_PF = X_WP⁻¹ X_WB X_BM X_FM(q)⁻¹
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unibody.constraints import Coupling
from unibody.element import name_of, number, several
from unibody.errors import ModelError
from unibody.forces import Motor
from unibody.joints import Free
from unibody.model.builder import Builder
from unibody.model.checking import FARTHEST, FASTEST, checked_pose, frozen, on_manifold, within
from unibody.model.contents import AskedJoint
from unibody.model.editing import Editing, skeleton
from unibody.model.model import JointInfo, Model, look_up
from unibody.model.parts import element_on_wholes, part_places
from unibody.spatial.pose import Pose, adjoint, vector

REACHED = 1e-9
"""[m, rad] How near a joint must come to a pose that it is to be placed at."""


def asked_part(b: Editing, part: str) -> AskedJoint:
    """The part of a joint as a joint of its own."""
    j = b._joints[b._parts[part]]
    element, q, v = part_places(j.element)[j.parts.index(part)]
    armature, effort_limit = j.armature[v], j.effort_limit[v]
    return replace(j, name=part, element=element, parts=(), q=j.q[q], v=j.v[v], armature=armature, effort_limit=effort_limit)


def start(b: Editing, q: dict[Any, Any], v: dict[Any, Any], keyframe: str | None) -> None:
    bodies, joints = dict(b._bodies), dict(b._joints)
    if keyframe is not None:
        states = look_up(keyframe, b._origin.keyframes, "keyframe")
        placed = skeleton(b)
        for name, state in states.items():
            if name in joints:
                joints[name] = replace(joints[name], q=frozen(state[0]), v=frozen(state[1]))
            elif name in bodies:
                bodies[name] = _implicit_at(placed, name, bodies[name], state)
    given: set[str] = set()
    for values, field in ((q, "q"), (v, "v")):
        for key, value in values.items():
            name = name_of(key, "start")
            look_up(name, ChainMap(joints, b._parts), "joint")
            whole = b._parts.get(name, name)
            joints[whole] = _with_numbers(joints[whole], name, field, value)
            given.add(name)
            given.add(whole)
    after = _same_with(b, bodies, joints)
    if given and any(isinstance(e, Coupling) for e in b._elements.values()):
        joints = _coupled(after, given)
    b._bodies, b._joints = bodies, joints


def _same_with(b: Editing, bodies: dict[str, Any], joints: dict[str, Any]) -> Builder:
    out = Builder(gravity=None)
    out._bodies, out._joints, out._parts, out._elements, out._plane = bodies, joints, b._parts, b._elements, b._plane
    return out


def _with_numbers(joint: AskedJoint, name: str, field: str, value: Any) -> AskedJoint:
    """The joint with other coordinates or velocities, all of them or those of a part."""
    what = f"start of joint '{name}' {field}"
    whole = name == joint.name
    q_span, v_span = slice(0, joint.element.nq), slice(0, joint.element.nv)
    if not whole:
        _, q_span, v_span = part_places(joint.element)[joint.parts.index(name)]
    span, most = (q_span, FARTHEST) if field == "q" else (v_span, FASTEST)
    values = np.array(getattr(joint, field))
    values[span] = within(vector(value if several(value) else [value], span.stop - span.start, what), most, what)
    if field == "q":
        values = on_manifold(joint.element, values)
        if not np.isfinite(values).all():
            raise ModelError(f"{what}: {value!r} has no direction as a quaternion; give a unit quaternion wxyz")
    return replace(joint, q=frozen(values)) if field == "q" else replace(joint, v=frozen(values))


def _implicit_at(model: Model, name: str, body: Any, state: tuple[np.ndarray, np.ndarray]) -> Any:
    """A body without a joint of its own at coordinates of its implicit joint."""
    joint = model.joint(name)
    q, v = (np.array(x, float) for x in state)
    if not joint.nv:
        return body
    if isinstance(joint.element, Free):
        X, V = Pose(q[:3], q[3:]), v
    else:
        X = joint.X_PF @ Pose.from_rotation(*joint.element.pose(q)) @ joint.X_BM.inverse()
        V = adjoint(joint.X_BM.R, np.array(joint.X_BM.p)) @ joint.element.motion(q) @ v
    R = X.R
    return replace(body, X_WB=X, V_WB=tuple(np.concatenate([R @ V[:3], R @ V[3:]]).tolist()) if V.any() else (0.0,) * 6)


def _coupled(b: Builder, given: set[str]) -> dict[str, AskedJoint]:
    """Dependent coordinates of Couplings put where the independent ones say, and moving so, but for those that were given."""
    from unibody.model.tables import Names

    model = b.build()
    names = Names(model)
    q, v = model.start_q(), model.start_v()
    for _, coupling in model.constraints:
        if isinstance(coupling, Coupling):
            places, dofs = coupling._places(names), coupling.dofs(names)
            n = coupling.rows
            followed = coupling.follow(q[places[n:]]), coupling.slope(q[places[n:]]) @ v[dofs[n:]]
            for k, (joint, dof) in enumerate(coupling.dependent):
                if not _was_given(model.joint(joint), dof, given):
                    q[places[k]], v[dofs[k]] = followed[0][k], followed[1][k]
    out = dict(b._joints)
    for j in model.tree_joints:
        if j.name in out:
            now = q[j.q_start : j.q_start + j.nq], v[j.v_start : j.v_start + j.nv]
            if not (np.array_equal(now[0], j.q0) and np.array_equal(now[1], j.v0)):
                out[j.name] = replace(out[j.name], q=frozen(now[0]), v=frozen(now[1]))
    return out


def _was_given(joint: JointInfo, dof: int, given: set[str]) -> bool:
    """Whether this degree of freedom was given a start: by its part's name where the joint has some, else by the joint's."""
    if not joint.parts:
        return joint.name in given
    names = {name for name, (_, _, v) in zip(joint.parts, part_places(joint.element), strict=True) if v.start <= dof < v.stop}
    return bool(names & given) or (joint.name in given and not any(p in given for p in joint.parts))


def place(b: Editing, name: str, X_WB: Pose, V_WB: Any) -> None:
    what = f"place of body '{name}'"
    look_up(name, b._bodies, "body")
    if X_WB is None or name == "world":
        raise ModelError(f"{what}: {'the world stays where it is' if name == 'world' else 'no pose'}; give a body and a Pose")
    X = checked_pose(X_WB, what)
    model = skeleton(b)
    info = model.tree_joints[model.body(name) - 1]
    if info.implicit:
        b.change_body(name, X_WB=X, V_WB=V_WB)
        return
    joint = b._joints[info.name]
    parent = model.bodies[info.parent]
    X_WP = parent.X_WB
    wanted = (X_WP @ joint.X_PF).inverse() @ X @ joint.X_BM
    q = joint.element.fit(wanted.R, np.array(wanted.p), np.array(joint.q)) if info.nq else np.zeros(0)
    if isinstance(joint.element, Free):
        q = np.concatenate([wanted.p, wanted.wxyz])
    reached = info.nv == 6 and _near(Pose.from_rotation(*joint.element.pose(q)), wanted)
    if reached:
        joint = replace(joint, q=frozen(q))
    elif _still(model, info.parent):
        across = Pose.from_rotation(*joint.element.pose(joint.q)) if info.nq else Pose()
        joint = replace(joint, X_PF=X_WP.inverse() @ X @ joint.X_BM @ across.inverse())
    else:
        kind = type(joint.element).__name__
        remedy = f"give b.start({{'{joint.name}': …}}) or b.change_joint('{joint.name}', X_PF=…)"
        raise ModelError(f"{what}: {kind} '{joint.name}' holds it to body '{parent.name}', which moves; {remedy}")
    if V_WB is not None:
        joint = replace(joint, v=frozen(_speed(model, info, joint, X, V_WB, what)))
    b._joints = {n: joint if n == joint.name else j for n, j in b._joints.items()}


def _near(a: Pose, b: Pose) -> bool:
    away = a.inverse() @ b
    return max(np.abs(away.p).max(), np.abs(away.wxyz[1:]).max()) < REACHED


def _still(model: Model, number: int) -> bool:
    """Whether a body is the world, static, or welded to such a one."""
    while number:
        if model.bodies[number].kind == "static":
            return True
        joint = model.tree_joints[number - 1]
        if joint.nv or model.bodies[number].kind != "dynamic":
            return False
        number = joint.parent
    return True


def _speed(model: Model, info: JointInfo, joint: AskedJoint, X: Pose, V_WB: Any, what: str) -> np.ndarray:
    """v with which the body has the twist V_WB (world axes): V_B = Ad(X_BP) V_P + Ad(X_BM) S v."""
    V = within(vector(V_WB, 6, f"{what} V_WB"), FASTEST, f"{what} V_WB")
    own = np.concatenate([X.R.T @ V[:3], X.R.T @ V[3:]])
    parent = model.bodies[info.parent]
    R = parent.X_WB.R
    V_P = np.concatenate([R.T @ np.array(parent.V_WB[:3]), R.T @ np.array(parent.V_WB[3:])])
    X_BP = X.inverse() @ parent.X_WB
    across = adjoint(joint.X_BM.R, np.array(joint.X_BM.p)) @ joint.element.motion(np.array(joint.q))
    rest = own - adjoint(X_BP.R, np.array(X_BP.p)) @ V_P
    v = np.linalg.lstsq(across, rest, rcond=None)[0] if joint.element.nv else np.zeros(0)
    if np.abs(across @ v - rest).max() > REACHED * max(1.0, float(np.abs(V).max())):
        kind = type(joint.element).__name__
        raise ModelError(f"{what}: V_WB {tuple(V.tolist())} is no motion of {kind} '{joint.name}'; give b.start(v=…)")
    return v


def add_motors(
    b: Editing, stiffness: Any, damping: Any, joints: Sequence[Any] | None, target: Any, limit: Any, replaced: bool
) -> list[str]:
    if not isinstance(replaced, bool):
        raise ModelError(f"motors: replace {replaced!r} is neither True nor False; give one of them")
    model = skeleton(b)
    resolved = _resolved(b, model)
    dependent = {(j, d) for e in resolved.values() if isinstance(e, Coupling) for j, d in e.dependent}
    # what to drive: (title, whole joint, its degree of freedom, its coordinate), each with the names by which numbers are given
    driven: list[tuple[str, JointInfo, int, int, tuple[str, ...]]] = []
    if joints is None:
        for j in model.tree_joints:
            if not j.implicit:
                driven += [x for x in _scalars(j, j) if (j.name, x[2]) not in dependent]
    else:
        if not isinstance(joints, Iterable):
            raise ModelError(f"motors: joints {joints!r} are no list; give names of joints, or None for all")
        for given in [joints] if isinstance(joints, str) else joints:
            found = model.joint(name_of(given, "motors"))
            own = _scalars(found, model.joint(found.whole or found.name))
            if not own:
                kind = type(found.element).__name__
                raise ModelError(f"motors: joint '{found.name}' of {kind} has no scalar degree of freedom; leave it out")
            driven += own
    if not driven:
        raise ModelError("motors: no joint has a scalar degree of freedom of its own; give joints=")
    # what is given by name must name something that is driven
    names = {n for x in driven for n in x[4]}
    held = isinstance(target, str) and target == "start"
    gains = {"stiffness": stiffness, "damping": damping, "limit": np.inf if limit is None else limit, "target": {} if held else target}
    if isinstance(target, str) and not held:
        raise ModelError(f"motors: target {target!r} is unknown; give 'start', or a mapping by names of joints")
    for key, value in gains.items():
        for name in value if isinstance(value, Mapping) else ():
            look_up(name_of(name, "motors"), dict.fromkeys(names), f"motors {key}: joint")
    if not isinstance(gains["target"], Mapping):
        raise ModelError(f"motors: target {target!r} is no mapping; give 'start', or {{joint: q, …}}")
    # motors that are there already
    taken = {(e.joint, e.dof): n for n, e in resolved.items() if isinstance(e, Motor)}
    old = [taken[j.name, d] for _, j, d, _, _ in driven if (j.name, d) in taken]
    if old and not replaced:
        shown = ", ".join(f"'{n}'" for n in old[:4]) + (f" and {len(old) - 4} more" if len(old) > 4 else "")
        raise ModelError(f"motors: {shown} {'drives' if len(old) == 1 else 'drive'} these joints already; give replace=True, or joints=")
    # one motor for each, on the part if that has a name
    left = {n: e for n, e in b._elements.items() if n not in old}
    out: dict[str, Motor] = {}
    for title, j, dof, at, known in driven:
        kp, kd, most = (_for(gains[key], known, 0.0 if key != "limit" else np.inf) for key in ("stiffness", "damping", "limit"))
        kp, kd, most = number(kp, "motors stiffness"), number(kd, "motors damping"), number(most, "motors limit", infinite=True)
        aim = number(_for(gains["target"], known, float(j.q0[at - j.q_start])), "motors target")
        part = next((n for n in known if n in j.parts), None)
        first = next((v.start for n, (_, _, v) in zip(j.parts, part_places(j.element), strict=False) if n == part), 0)
        motor = Motor(part or j.name, kp=kp, kd=kd, target=aim if kp else None, limit=most, dof=dof - first)
        if title in left or title in out:
            raise ModelError(f"motors: element '{title}' exists already; rename or remove it first")
        out[title] = motor
    b._elements = {**left, **out}
    return list(out)


def _resolved(b: Editing, model: Model) -> dict[str, Any]:
    """Motors and Couplings on whole joints."""
    from unibody.model.model import with_parts
    from unibody.model.tables import Names

    joints, names = with_parts(model.joints), Names(model)
    chosen = {n: e for n, e in b._elements.items() if isinstance(e, Motor | Coupling)}
    return {n: element_on_wholes(e, n, names, joints) for n, e in chosen.items() if all(j in joints for j in e.joints())}


def _scalars(joint: JointInfo, whole: JointInfo) -> list[tuple[str, JointInfo, int, int, tuple[str, ...]]]:
    """Scalar degrees of freedom of a joint or part: a motor's name, the whole joint, dof and coordinate there, and names for it."""
    out = []
    shift = joint.v_start - whole.v_start
    for dof, at in joint.scalar_dofs().items():
        own = dof + shift
        names = [whole.name]
        title, several = joint.name, joint.nv > 1
        for part, (element, _, v) in zip(whole.parts, part_places(whole.element), strict=False):
            if v.start <= own < v.stop:
                names.insert(0, part)
                title, several, dof = part, element.nv > 1, own - v.start
        out.append((f"{title}.motor" + (f"[{dof}]" if several else ""), whole, own, at, tuple(names)))
    return out


def _for(value: Any, names: Sequence[str], missing: float) -> Any:
    """A number for all, or what a mapping holds for the first of these names."""
    if not isinstance(value, Mapping):
        return value
    told = {name_of(key, "motors"): x for key, x in value.items()}
    return next((told[n] for n in names if n in told), missing)
