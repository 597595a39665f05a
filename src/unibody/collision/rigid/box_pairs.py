"""Two boxes: full manifolds from separating axes and clipping, exact distances when they are apart.

Of the fifteen axes (three faces each, nine pairs of edges) the one of greatest separation says how they touch. A face: the other box's most
opposed face is cut to it, and every corner that remains is a contact whose gap is its height over the face; only corners that stand out
over their neighbours by less than a ten thousandth of the boxes' size are left out, while there are more than four. A pair of edges: one
contact between them, along e₁ × e₂; where that is almost a face's normal, that face's corners as well, so that a tilted box keeps its
manifold, the crossing once, with the edges' normal unless they are nearly parallel.

While boxes overlap, the greatest separation is the true (negative) distance. Apart, it is a lower bound, met if a corner above the face or
the crossing of the two edges attains it; else the nearest points lie on corners or edges, and all are tried.

Boxes that are level along one face's normal and separated most across it touch in no area: they have no contact (see `flush`), so that what
slides over tiles meets none of their sides.
"""

from __future__ import annotations

from math import sqrt

from unibody.collision.rigid.clip import (
    bit,
    clipped_name,
    column,
    corner_name,
    corner_of,
    crossing_name,
    cut_to_rectangle,
    drop_flat,
    edge_start,
    put_corner,
)
from unibody.collision.rigid.contacts import flush_within, put, put_once
from unibody.collision.rigid.nearest import nearest_of_box
from unibody.collision.rigid.thinning import thin_out
from unibody.collision.stencils import closest_of_edges
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, compose_back, cross, dot3, load3, load9, norm3, rotate, rotate_back, scale3, sub3

TIE = 1e-10
"""An axis replaces an earlier one only if it separates more by this part of the boxes' size."""
EDGES_PARALLEL = 1e-6
"""Sine below which two edges have no axis of their own."""
ALMOST_FACE = 0.99
"""Cosine (8°) from which a normal counts as a face's."""
FLAT = 1e-4
"""Of the smaller box's size along a face: corners of a manifold that stand out by less than this are left out."""
SKEW = 0.1
"""Sine of the angle of two edges from which their normal is sharper than that of a face almost across it."""
ACROSS = 0.1
"""Cosine up to which a face's normal is across another."""


@device
def face_axis(t, tb, ha, hb, C, tie, level, margin):
    """Greatest separation along face normals and which: 0–2 of a, 3–5 of b; or the first that is beyond the margin. And, as bits, those
    along which the boxes are flush up to `level`."""
    best = -1e300
    code = 0
    flush = 0
    for i in range(3):
        s = abs(t[i]) - ha[i] - abs(C[3 * i]) * hb[0] - abs(C[3 * i + 1]) * hb[1] - abs(C[3 * i + 2]) * hb[2]
        if s > margin:
            return s, i, 0
        if s > best + tie:
            best = s
            code = i
        if abs(s) <= level:
            flush |= 1 << i
    for j in range(3):
        s = abs(tb[j]) - hb[j] - abs(C[j]) * ha[0] - abs(C[3 + j]) * ha[1] - abs(C[6 + j]) * ha[2]
        if s > margin:
            return s, 3 + j, 0
        if s > best + tie:
            best = s
            code = 3 + j
        if abs(s) <= level:
            flush |= 8 << j
    return best, code, flush


@device
def edge_axis(t, ha, hb, C, tie, margin):
    """Greatest separation along aᵢ × bⱼ, and 3 i + j, −1 if all edges are parallel or across each other's faces; or the first that is
    beyond the margin."""
    best = -1e300
    code = -1
    for i in range(3):
        i1 = (i + 1) % 3
        i2 = (i + 2) % 3
        for j in range(3):
            j1 = (j + 1) % 3
            j2 = (j + 2) % 3
            length = sqrt(C[3 * i1 + j] ** 2 + C[3 * i2 + j] ** 2)
            if length > EDGES_PARALLEL:
                s = abs(t[i2] * C[3 * i1 + j] - t[i1] * C[3 * i2 + j])
                s -= ha[i1] * abs(C[3 * i2 + j]) + ha[i2] * abs(C[3 * i1 + j])
                s = (s - hb[j1] * abs(C[3 * i + j2]) - hb[j2] * abs(C[3 * i + j1])) / length
                if s > margin:
                    return s, 3 * i + j
                if s > best + tie:
                    best = s
                    code = 3 * i + j
    return best, code


@device
def face_contacts(n, pair, code, RA, pA, ha, RB, pB, hb, margin, eps, tags_out, records_out, work_out, labels_out):
    """Corners of the incident face over the reference face `code`; gives the number of contacts and the least gap."""
    # the reference box has R, p, h, the other one S, q, g; `up` is the reference face's outward normal
    own = code < 3
    axis = code % 3
    R = RA if own else RB
    p = pA if own else pB
    h = ha if own else hb
    S = RB if own else RA
    q = pB if own else pA
    g = hb if own else ha
    up = column(R, axis)
    side = 1.0 if dot3(sub3(q, p), up) >= 0.0 else -1.0
    up = scale3(side, up)
    # the incident face: of the other box, the one most against `up`
    k = 0
    most = abs(dot3(up, column(S, 0)))
    for j in range(1, 3):
        if abs(dot3(up, column(S, j))) > most + 1e-9:
            most = abs(dot3(up, column(S, j)))
            k = j
    down = -1.0 if dot3(up, column(S, k)) > 0.0 else 1.0
    k1 = (k + 1) % 3
    k2 = (k + 2) % 3
    i1 = (axis + 1) % 3
    i2 = (axis + 2) % 3
    # its four corners in the reference box's axes, with their heights over the face
    middle = sub3(add3(q, scale3(down * g[k], column(S, k))), p)
    m = 0
    for corner in range(4):
        e = 1.0 if corner == 0 or corner == 3 else -1.0
        f = 1.0 if corner < 2 else -1.0
        y = rotate_back(R, add3(middle, add3(scale3(e * g[k1], column(S, k1)), scale3(f * g[k2], column(S, k2)))))
        m = put_corner(m, 0, y[i1], y[i2], side * y[axis] - h[axis], corner, corner, work_out, labels_out)
    # cut to the reference face; the heights of what is left are the gaps
    m = cut_to_rectangle(m, h[i1], h[i2], eps, work_out, labels_out)
    m = drop_flat(m, FLAT * min(h[i1] + h[i2], g[k1] + g[k2]), work_out, labels_out)
    least = 1e300
    for c in range(m):
        gap = work_out[3 * c + 2]
        least = min(least, gap)
        x = add3(scale3(work_out[3 * c], column(R, i1)), scale3(work_out[3 * c + 1], column(R, i2)))
        x = add3(p, add3(x, scale3(gap + h[axis], up)))
        name = clipped_name(labels_out[2 * c], own, axis, side > 0.0, k, down > 0.0)
        n = put(n, pair, name, not own, margin, sub3(x, scale3(gap, up)), up, gap, tags_out, records_out)
    return n, least


@device
def edge_points(code, RA, pA, ha, RB, pB, hb):
    """The support edges of the axis aᵢ × bⱼ: normal, point on a, name, sine of their angle, and whether the points lie within the edges."""
    i = code // 3
    j = code % 3
    u = column(RA, i)
    v = column(RB, j)
    normal = cross(u, v)
    sine = norm3(normal)
    normal = scale3(1.0 / sine, normal)
    if dot3(normal, sub3(pB, pA)) < 0.0:
        normal = scale3(-1.0, normal)
    a = pA
    b = pB
    start_a = 0
    start_b = 0
    for k in range(3):
        if k != i:
            x = column(RA, k)
            positive = dot3(normal, x) > 0.0
            a = add3(a, scale3(ha[k] if positive else -ha[k], x))
            start_a |= bit(k, positive)
        if k != j:
            x = column(RB, k)
            positive = dot3(normal, x) <= 0.0
            b = add3(b, scale3(hb[k] if positive else -hb[k], x))
            start_b |= bit(k, positive)
    r = sub3(b, a)
    uv = dot3(u, v)
    det = 1.0 - uv * uv
    s = (dot3(r, u) - uv * dot3(r, v)) / det
    t = (uv * dot3(r, u) - dot3(r, v)) / det
    inside = abs(s) <= ha[i] and abs(t) <= hb[j]
    return normal, add3(a, scale3(s, u)), crossing_name(i, start_a, j, start_b), sine, inside


@device
def apart(a, b, c, d):
    """Squared distance of the boxes around two segments: no more than that of the segments."""
    total = 0.0
    for k in range(3):
        gap = max(min(c[k], d[k]) - max(a[k], b[k]), min(a[k], b[k]) - max(c[k], d[k]))
        if gap > 0.0:
            total += gap * gap
    return total


@device
def nearest_features(RA, pA, ha, RB, pB, hb):
    """Nearest points of two boxes that are apart: distance, normal, point on a, feature. Edges are seen in the frame of b, and only those
    that may be nearer than what was found."""
    best = 1e300
    normal = (0.0, 0.0, 1.0)
    point = pA
    feature = 0
    # a in the frame of b: x ↦ t + C x
    C = compose_back(RB, RA)
    t = rotate_back(RB, sub3(pA, pB))
    # each corner of one box against the other box
    for code in range(8):
        x = corner_of(hb, code)
        d, m, y = nearest_of_box(rotate_back(C, sub3(x, t)), ha)
        if 0.0 < d < best * (1.0 - 1e-12):
            best = d
            normal = rotate(C, m)
            point = add3(t, rotate(C, y))
            feature = corner_name(code, True)
        x = add3(t, rotate(C, corner_of(ha, code)))
        d, m, y = nearest_of_box(x, hb)
        if 0.0 < d < best * (1.0 - 1e-12):
            best = d
            normal = scale3(-1.0, m)
            point = x
            feature = corner_name(code, False)
    # each edge against each edge, where boxes around them are nearer than what was found
    for e in range(12):
        a = add3(t, rotate(C, corner_of(ha, edge_start(e))))
        b = add3(t, rotate(C, corner_of(ha, edge_start(e) + (1 << (e // 4)))))
        if apart(a, b, scale3(-1.0, hb), hb) < best * best:
            for f in range(12):
                c = corner_of(hb, edge_start(f))
                z = corner_of(hb, edge_start(f) + (1 << (f // 4)))
                if apart(a, b, c, z) < best * best:
                    s, w = closest_of_edges(a, b, c, z)
                    x = add3(a, scale3(s, sub3(b, a)))
                    r = sub3(add3(c, scale3(w, sub3(z, c))), x)
                    d = norm3(r)
                    if 0.0 < d < best * (1.0 - 1e-12):
                        best = d
                        normal = scale3(1.0 / d, r)
                        point = x
                        feature = crossing_name(e // 4, edge_start(e), f // 4, edge_start(f))
    return best, rotate(RB, normal), add3(pB, rotate(RB, point)), feature


@device
def almost_face(normal, RA, RB):
    """The face code whose normal is almost this one, or −1."""
    best = ALMOST_FACE
    code = -1
    for k in range(3):
        if abs(dot3(normal, column(RA, k))) > best + 1e-9:
            best = abs(dot3(normal, column(RA, k)))
            code = k
    for k in range(3):
        if abs(dot3(normal, column(RB, k))) > best + 1e-9:
            best = abs(dot3(normal, column(RB, k)))
            code = 3 + k
    return code


@device
def is_across(flush, normal, RA, RB):
    """Whether one of the faces in the bits `flush` is across the normal."""
    for k in range(3):
        if flush & (1 << k) and abs(dot3(normal, column(RA, k))) < ACROSS:
            return True
        if flush & (8 << k) and abs(dot3(normal, column(RB, k))) < ACROSS:
            return True
    return False


@device
def box_with_box(n, pair, RA, pA, ha, RB, pB, hb, margin, tags_out, records_out, work_out, labels_out):
    """All contacts of two boxes."""
    # separating axes: of three and three faces, then of nine pairs of edges; one beyond the margin ends it
    scale = ha[0] + ha[1] + ha[2] + hb[0] + hb[1] + hb[2]
    d = sub3(pB, pA)
    t = rotate_back(RA, d)
    tb = rotate_back(RB, d)
    C = compose_back(RA, RB)
    level = flush_within(min(min(ha[0], min(ha[1], ha[2])), min(hb[0], min(hb[1], hb[2]))), scale)
    face, code, flush = face_axis(t, tb, ha, hb, C, TIE * scale, level, margin)
    if face > margin:
        return n
    edge, pairing = edge_axis(t, ha, hb, C, TIE * scale, margin)
    if edge > margin:
        return n
    # a normal across a face that is level with the other box would hold what only slides past: no contact (`flush`)
    if flush != 0 and flush != 1 << code:
        axis = column(RA if code < 3 else RB, code % 3)
        if edge > face + TIE * scale:
            axis = cross(column(RA, pairing // 3), column(RB, pairing % 3))
            axis = scale3(1.0 / norm3(axis), axis)
        if is_across(flush, axis, RA, RB):
            return n
    # where a pair of edges separates more than any face, their nearest points are the contact, unless the normal is almost a face's
    first = n
    settled = False
    sharp = True
    normal = (0.0, 0.0, 1.0)
    point = pA
    gap = edge
    feature = -1
    if edge > face + TIE * scale:
        normal, point, feature, sine, met = edge_points(pairing, RA, pA, ha, RB, pB, hb)
        settled = met or edge <= 0.0
        code = almost_face(normal, RA, RB) if settled else -1
        sharp = code < 0 or sine > SKEW
    # otherwise a face, and the corners over it
    least = 1e300
    if code >= 0:
        eps = 1e-9 * scale
        n, least = face_contacts(n, pair, code, RA, pA, ha, RB, pB, hb, margin, eps, tags_out, records_out, work_out, labels_out)
    # apart, and nothing over the face is as near as the faces say: the nearest features
    if not settled:
        if max(edge, face) <= 0.0 or least <= face + TIE * scale:
            return n
        gap, normal, point, feature = nearest_features(RA, pA, ha, RB, pB, hb)
    return put_once(first, n, sharp, pair, feature, margin, point, normal, gap, tags_out, records_out)


@kernel
def box_contacts(
    n: int, order: Ints, pairs: Ints, frames: Floats, size: Floats, margin: float, tags_out: Ints, records_out: Floats,
    work_out: Floats, labels_out: Ints,
) -> int:  # fmt: skip
    """Contacts of the pairs of boxes listed in `order`; gives how many contacts there are now."""
    for k in range(order.size):
        pair = order[k]
        i = pairs[2 * pair]
        j = pairs[2 * pair + 1]
        first = n
        n = box_with_box(
            n, pair, load9(frames, 12 * i), load3(frames, 12 * i + 9), load3(size, 4 * i), load9(frames, 12 * j),
            load3(frames, 12 * j + 9), load3(size, 4 * j), margin, tags_out, records_out, work_out, labels_out,
        )  # fmt: skip
        n = thin_out(first, n, i, j, frames, tags_out, records_out)
    return n
