"""Where shapes are: their frames in the world and boxes around them, widened by half the margin."""

from __future__ import annotations

from math import sqrt

import numpy as np

from unibody.collision.rigid.kinds import CAPSULE, CYLINDER, ELLIPSOID, PLANE, SPHERE
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, compose_rotations, load3, load9, rotate, store3, store9


@device
def extents(kind, i, R, hull, size):
    """Half extents of a shape's box in the world."""
    if kind[i] == SPHERE:
        return (size[4 * i], size[4 * i], size[4 * i])
    if kind[i] == CAPSULE:
        r = size[4 * i]
        h = size[4 * i + 1]
        return (r + h * abs(R[2]), r + h * abs(R[5]), r + h * abs(R[8]))
    if kind[i] == CYLINDER:
        r = size[4 * i]
        h = size[4 * i + 1]
        return (
            r * sqrt(max(0.0, 1.0 - R[2] * R[2])) + h * abs(R[2]), r * sqrt(max(0.0, 1.0 - R[5] * R[5])) + h * abs(R[5]),
            r * sqrt(max(0.0, 1.0 - R[8] * R[8])) + h * abs(R[8]),
        )  # fmt: skip
    a = hull[6 * i + 3]
    b = hull[6 * i + 4]
    c = hull[6 * i + 5]
    if kind[i] == ELLIPSOID:
        return (
            sqrt((a * R[0]) ** 2 + (b * R[1]) ** 2 + (c * R[2]) ** 2), sqrt((a * R[3]) ** 2 + (b * R[4]) ** 2 + (c * R[5]) ** 2),
            sqrt((a * R[6]) ** 2 + (b * R[7]) ** 2 + (c * R[8]) ** 2),
        )  # fmt: skip
    return (
        a * abs(R[0]) + b * abs(R[1]) + c * abs(R[2]), a * abs(R[3]) + b * abs(R[4]) + c * abs(R[5]),
        a * abs(R[6]) + b * abs(R[7]) + c * abs(R[8]),
    )  # fmt: skip


@device
def place_shape(i, X, body, kind, pose, size, hull, margin, frames_out, boxes_out):
    """The frame of a shape in the world and its box."""
    R_WB = load9(X, 12 * body[i])
    R = compose_rotations(R_WB, load9(pose, 12 * i))
    p = add3(load3(X, 12 * body[i] + 9), rotate(R_WB, load3(pose, 12 * i + 9)))
    store9(R, 12 * i, frames_out)
    store3(p, 12 * i + 9, frames_out)
    if kind[i] != PLANE:
        c = add3(p, rotate(R, load3(hull, 6 * i)))
        e = extents(kind, i, R, hull, size)
        for k in range(3):
            # round-off of places far from the origin must not lose a pair
            slack = 0.5 * margin + 1e-14 * abs(c[k])
            boxes_out[6 * i + k] = c[k] - e[k] - slack
            boxes_out[6 * i + 3 + k] = c[k] + e[k] + slack


@kernel
def place_shapes(
    X: Floats, body: Ints, kind: Ints, pose: Floats, size: Floats, hull: Floats, margin: float, frames_out: Floats, boxes_out: Floats
) -> int:
    """Frames of all shapes in the world and their boxes, from the poses of bodies; gives the first body without a finite pose, or −1."""
    for b in range(X.size // 12):
        for k in range(12):
            if not abs(X[12 * b + k]) < np.inf:
                return b
    for i in range(body.size):
        place_shape(i, X, body, kind, pose, size, hull, margin, frames_out, boxes_out)
    return -1
