"""All joints of a table at once, class by class: where they stand, how they move, where motion takes them.

    X_FM(q), S(q), Ṡ v     `fill_joint_table`; of a composite X = X₁ X₂ …, with the columns of earlier parts seen from the last frame
    q ⊕ h v                `advance_joints`
    q̇                      `rate_joints`

Tables are made by `unibody.model.tables`; every class of joints does its part by its own kernels (`base`).
"""

from __future__ import annotations

from unibody.joints.base import JOINT_CLASS, PART, AdvanceJoints, FillJoints, RateJoints
from unibody.kernel import Floats, Ints, cut, device, kernel

from unibody.spatial.devices import (  # isort: skip
    add3, compose_rotations, cross_motion, load3, load6, load9, rotate, seen_from, store3, store9,
)  # fmt: skip


@kernel
def fill_joint_table(
    classes: Ints, index: Ints, parameters: Floats, parts: Ints, q: Floats, v: Floats, X_out: Floats, S_out: Floats, c_out: Floats
) -> None:
    """X_FM, S and Ṡ v of every joint, class by class; then composites from their parts."""
    for k in range(classes.size // JOINT_CLASS):
        at = JOINT_CLASS * k
        if classes[at] != 0:
            mine = cut(index, classes[at + 3], classes[at + 4] - classes[at + 3])
            numbers = cut(parameters, classes[at + 5], classes[at + 6] - classes[at + 5])
            FillJoints(classes[at], mine, numbers, q, v, X_out, S_out, c_out)
    if parts.size > 0:
        compose_parts(parts, v, X_out, S_out, c_out)


@device
def compose_parts(parts, v, X_out, S_out, c_out):
    """Composite joints: X = X₁ X₂ …, columns and bias of earlier parts carried to the last frame."""
    start = 0
    twist = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for k in range(parts.size // PART):
        joint = parts[PART * k]
        row = parts[PART * k + 1]
        v0 = parts[PART * k + 2]
        nv = parts[PART * k + 3]
        R = load9(X_out, 12 * row)
        p = load3(X_out, 12 * row + 9)
        own = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for j in range(v0, v0 + nv):
            s = load6(S_out, 6 * j)
            own = (
                own[0] + s[0] * v[j], own[1] + s[1] * v[j], own[2] + s[2] * v[j],
                own[3] + s[3] * v[j], own[4] + s[4] * v[j], own[5] + s[5] * v[j],
            )  # fmt: skip
        if parts[PART * k + 4] == 1:
            start = v0
            for j in range(12):
                X_out[12 * joint + j] = X_out[12 * row + j]
            for j in range(6):
                c_out[6 * joint + j] = c_out[6 * row + j]
            twist = own
        else:
            R_0 = load9(X_out, 12 * joint)
            p_0 = load3(X_out, 12 * joint + 9)
            store9(compose_rotations(R_0, R), 12 * joint, X_out)
            store3(add3(p_0, rotate(R_0, p)), 12 * joint + 9, X_out)
            for j in range(start, v0):
                s = seen_from(R, p, load6(S_out, 6 * j))
                for i in range(6):
                    S_out[6 * j + i] = s[i]
            twist = seen_from(R, p, twist)
            c = seen_from(R, p, load6(c_out, 6 * joint))
            d = cross_motion(own, twist)
            for i in range(6):
                c_out[6 * joint + i] = c[i] - d[i] + c_out[6 * row + i]
            twist = (twist[0] + own[0], twist[1] + own[1], twist[2] + own[2], twist[3] + own[3], twist[4] + own[4], twist[5] + own[5])


@kernel
def advance_joints(classes: Ints, index: Ints, parameters: Floats, q: Floats, v: Floats, h: float, q_out: Floats) -> None:
    """q moved along v for h, class by class (q and q_out may be the same)."""
    for k in range(classes.size // JOINT_CLASS):
        at = JOINT_CLASS * k
        mine = cut(index, classes[at + 3], classes[at + 4] - classes[at + 3])
        AdvanceJoints(classes[at + 1], mine, cut(parameters, classes[at + 7], classes[at + 8] - classes[at + 7]), q, v, h, q_out)


@kernel
def rate_joints(classes: Ints, index: Ints, parameters: Floats, q: Floats, v: Floats, qdot_out: Floats) -> None:
    """q̇, class by class."""
    for k in range(classes.size // JOINT_CLASS):
        at = JOINT_CLASS * k
        mine = cut(index, classes[at + 3], classes[at + 4] - classes[at + 3])
        RateJoints(classes[at + 2], mine, cut(parameters, classes[at + 7], classes[at + 8] - classes[at + 7]), q, v, qdot_out)
