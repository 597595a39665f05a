"""The signed distance of two convex shapes, for every pose: no iteration of this file can end without an answer.

The distance is the greatest separation s(n) = min n · (b − a) over all unit directions n (see `refine`); every n gives a lower bound.

    apart        GJK (Gilbert, Johnson and Keerthi 1988): the point v of B − A nearest to the origin, by sub-simplices; n = v / |v|. |v|
                 bounds the distance from above, s(n) from below: where they meet, the answer is proven
    polyhedra    that touch or overlap: the greatest separation is along a face's normal of either, or across an edge of each whose arcs
                 on the sphere of normals cross (separating axes). They also separate, if only just, what does not overlap, so that no
                 round-off confuses the two. The nearest points of two edges whose normal is the best are no farther apart than the
                 overlap, so that edges farther from the other shape than the best of the faces are left out
    other        shapes that overlap: the best of many directions over the sphere, then uphill, smoothly (`refine.climb`) and over kinks:
                 move B off by t = r n, r > −s(n), and let n⁺ be GJK's direction between A and B + t. It is the best of s(m) + m · t, hence
                 s(n⁺) ≥ s(n) + r (1 − n · n⁺): no step goes down, and where none goes up, n is a local maximum

Where the shapes touch, nearest points mean little in the numbers of B − A. So B is moved off along the normal first, by a part δ of the
sizes: then GJK is well conditioned, and its point on A is a point of contact.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt

import numpy as np

from unibody.collision.rigid.kinds import BOX, CONVEX
from unibody.collision.rigid.refine import climb, farthest
from unibody.collision.stencils import closest_on_segment, closest_on_triangle
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, dot3, load3, load9, norm3, rotate, scale3, store3, sub3

WORK = 24
"""Of GJK: four points of B − A and the points of A that belong to them. Then come edges."""
ROUNDS = 128
EXACT = 1e-14
"""Of the sizes: bounds this near are one."""
CLEAR = 1e-6
"""Of the sizes: from this distance on, what GJK proves is the answer; nearer, differences of places have too few digits for a direction."""
PROVEN = 1e-10
"""Of the sizes: what the bounds may differ by in a proof."""
APART = 1e-2
"""δ, of the sizes."""
WRONG = 1e-4
"""Of the sizes: what an answer of another program may contradict itself by; `refine` makes such ones exact."""
NEARER = 0.1
"""Of the overlap: how much farther B is moved off than it overlaps. The less, the longer the steps uphill."""
DIRECTIONS, CLIMBS = 256, 4
"""Tried all over the sphere, and climbed from."""


@device
def is_polyhedron(kind):
    return kind == BOX or kind == CONVEX


@device
def faces_of(k, kind, range_of):
    """Number of faces of a polyhedron."""
    return 6 if kind[k] == BOX else range_of[2 * k + 1] - range_of[2 * k]


@device
def face_normal(k, c, kind, frames, range_of, normals):
    """Outward normal of face c of a polyhedron, in the world."""
    if kind[k] == BOX:
        sign = 1.0 if c % 2 == 0 else -1.0
        return (sign * frames[12 * k + c // 2], sign * frames[12 * k + 3 + c // 2], sign * frames[12 * k + 6 + c // 2])
    return rotate(load9(frames, 12 * k), load3(normals, 3 * (range_of[2 * k] + c)))


@device
def edge_of(k, e, frames, edges):
    """Ends and the normals of both faces of edge e (of all) on shape k, in the world."""
    R = load9(frames, 12 * k)
    p = load3(frames, 12 * k + 9)
    a = add3(p, rotate(R, load3(edges, 12 * e)))
    b = add3(p, rotate(R, load3(edges, 12 * e + 3)))
    return a, b, rotate(R, load3(edges, 12 * e + 6)), rotate(R, load3(edges, 12 * e + 9))


@device
def breadth(k, kind, frames, size, range_of, start, corners):
    """Half the longest side of the shape's box along the axes of the world, and the box's middle."""
    most = 0.0
    low = (0.0, 0.0, 0.0)
    high = (0.0, 0.0, 0.0)
    for c in range(3):
        d = (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
        up = dot3(d, farthest(k, d, kind, frames, size, range_of, start, corners))
        down = dot3(d, farthest(k, scale3(-1.0, d), kind, frames, size, range_of, start, corners))
        most = max(most, 0.5 * (up - down))
        low = add3(low, scale3(down, d))
        high = add3(high, scale3(up, d))
    return most, scale3(0.5, add3(low, high)), scale3(0.5, sub3(high, low))


@device
def is_around(p, a, b, c, d):
    """Whether the tetrahedron holds the point p: it lies strictly on the inner side of every face, by more than round-off."""
    inside = True
    for k in range(4):
        u, v, w, top = (a, b, c, d) if k == 0 else (a, c, d, b) if k == 1 else (a, d, b, c) if k == 2 else (b, d, c, a)
        n = cross(sub3(v, u), sub3(w, u))
        height = dot3(n, sub3(top, u))
        side = dot3(n, sub3(p, u))
        if abs(height) <= 1e-12 * norm3(n) * norm3(sub3(top, u)) or side * height <= 0.0:
            inside = False
    return inside


@device
def nearest_of_simplex(count, work_out):
    """The point of the simplex nearest to the origin; its corners without a part in that are dropped. Gives the corners left, weights, the
    point; no corners where the simplex holds the origin."""
    origin = (0.0, 0.0, 0.0)
    a = load3(work_out, 0)
    if count == 1:
        return 1, (1.0, 0.0, 0.0), a
    b = load3(work_out, 3)
    # weights of the nearest point: of a segment, of a triangle, of the nearest face of a tetrahedron
    if count == 2:
        t, _ = closest_on_segment(origin, a, b)
        beta = (1.0 - t, t, 0.0)
    else:
        c = load3(work_out, 6)
        beta = closest_on_triangle(origin, a, b, c)
        if count == 4:
            d = load3(work_out, 9)
            if is_around(origin, a, b, c, d):
                return 0, (0.0, 0.0, 0.0), origin
            best = 1e300
            left_out = 3
            # each face leaves one corner out; the nearest one wins, and the fourth corner takes the place of what it leaves out
            for k in range(4):
                u, v, w = (a, b, c) if k == 3 else (a, b, d) if k == 2 else (a, d, c) if k == 1 else (d, b, c)
                gamma = closest_on_triangle(origin, u, v, w)
                x = add3(add3(scale3(gamma[0], u), scale3(gamma[1], v)), scale3(gamma[2], w))
                if dot3(x, x) < best:
                    best = dot3(x, x)
                    left_out = k
                    beta = gamma
            if left_out < 3:
                for m in range(3):
                    work_out[3 * left_out + m] = work_out[9 + m]
                    work_out[12 + 3 * left_out + m] = work_out[21 + m]
    # corners of no weight are dropped, the others move up
    left = 0
    weights = (0.0, 0.0, 0.0)
    v = origin
    for k in range(min(count, 3)):
        if beta[k] > 0.0:
            for m in range(3):
                work_out[3 * left + m] = work_out[3 * k + m]
                work_out[12 + 3 * left + m] = work_out[12 + 3 * k + m]
            v = add3(v, scale3(beta[k], load3(work_out, 3 * left)))
            weights = (
                beta[k] if left == 0 else weights[0], beta[k] if left == 1 else weights[1], beta[k] if left == 2 else weights[2]
            )  # fmt: skip
            left += 1
    return left, weights, v


@device
def nearest_apart(i, j, off, towards, scale, kind, frames, size, range_of, start, corners, work_out):
    """GJK, with shape j moved by `off`: a direction that separates best, how far (the lower bound), the point of i nearest to j, and the
    upper bound, 0 where they overlap. `towards`: a first direction."""
    n = towards
    count = 0
    best = -1e300
    at = (0.0, 0.0, 0.0)
    direction = towards
    upper = 1e300
    for _ in range(ROUNDS):
        a = farthest(i, n, kind, frames, size, range_of, start, corners)
        w = sub3(add3(farthest(j, scale3(-1.0, n), kind, frames, size, range_of, start, corners), off), a)
        s = dot3(n, w)
        if s > best:
            best = s
            direction = n
        known = upper - best <= EXACT * scale
        for k in range(count):
            known = known or norm3(sub3(load3(work_out, 3 * k), w)) <= EXACT * scale
        if known:
            break
        store3(w, 3 * count, work_out)
        store3(a, 12 + 3 * count, work_out)
        count, weights, v = nearest_of_simplex(count + 1, work_out)
        length = norm3(v)
        if count == 0 or length <= EXACT * scale:
            upper = 0.0
            break
        if length >= upper * (1.0 + 1e-12):
            break
        upper = min(upper, length)
        at = (0.0, 0.0, 0.0)
        for k in range(count):
            at = add3(at, scale3(weights[k], load3(work_out, 12 + 3 * k)))
        n = scale3(1.0 / length, v)
    return direction, best, at, upper


@device
def across(a, b, c, d, n):
    """The unit vector across two edges, on the side of n; n itself if they are parallel."""
    m = cross(sub3(b, a), sub3(d, c))
    length = norm3(m)
    if length <= 1e-9 * norm3(sub3(b, a)) * norm3(sub3(d, c)):
        return n
    return scale3(1.0 / length, m)


@device
def arcs_cross(u, v, x, y):
    """Whether the arcs of unit vectors u … v and x … y on the sphere meet, or nearly."""
    close = 1e-9
    p = cross(v, u)
    q = cross(y, x)
    xp, yp = dot3(x, p), dot3(y, p)
    uq, vq = dot3(u, q), dot3(v, q)
    if xp * yp > close * norm3(p) * norm3(p) or uq * vq > close * norm3(q) * norm3(q):
        return False
    return xp * vq >= -close * norm3(p) * norm3(q)


@device
def reaches_into(a, b, c, h, more):
    """Whether the box of a segment meets the box about c with half sides h, widened."""
    for k in range(3):
        if min(a[k], b[k]) > c[k] + h[k] + more or max(a[k], b[k]) < c[k] - h[k] - more:
            return False
    return True


@device
def best_face(i, j, k, n, best, kind, frames, size, range_of, start, corners, normals):
    """The greatest separation along normals of faces of k, one of the polyhedra i and j; a face that a point of the other shape already
    tells to be worse is not asked further."""
    side = 1.0 if k == i else -1.0
    other = j if k == i else i
    seen = farthest(other, scale3(-side, n), kind, frames, size, range_of, start, corners)
    R = load9(frames, 12 * k)
    p = load3(frames, 12 * k + 9)
    for c in range(faces_of(k, kind, range_of)):
        up = face_normal(k, c, kind, frames, range_of, normals)
        # a corner of the face is as high as the shape, or lower by round-off
        if kind[k] == CONVEX:
            corner = load3(corners, 3 * start[range_of[2 * k] + c])
            if dot3(up, sub3(seen, add3(p, rotate(R, corner)))) <= best:
                continue
        top = dot3(up, farthest(k, up, kind, frames, size, range_of, start, corners))
        if dot3(up, seen) - top > best:
            seen = farthest(other, scale3(-1.0, up), kind, frames, size, range_of, start, corners)
            if dot3(up, seen) - top > best:
                best = dot3(up, seen) - top
                n = scale3(side, up)
    return n, best


@device
def may_separate(a, u, v, seen, best):
    """Whether a direction m between the normals u and v beside an edge through a may separate the edge's shape by more than `best` from
    another, of which a point is `seen`: by no more than m · w, w = seen − a. As m = z / |z| with z a mean of u and v, and the cosine of
    half their angle ≤ |z| ≤ 1, m · w is at most the greater of u · w and v · w, if that is positive divided by the cosine."""
    w = sub3(seen, a)
    most = max(dot3(u, w), dot3(v, w))
    return most > best or (most > 0.0 and most > best * sqrt(max(0.0, 0.5 + 0.5 * dot3(u, v))))


@device
def edges_left(k, other, n, best, more, edge_range, edges, kind, frames, size, range_of, start, corners, work_out):
    """Edges of the polyhedron k across which the other may be separated, as numbers behind the simplex in `work_out`: how many. `n`: the
    best direction so far, away from k. An edge counts if it reaches into the other's box, widened by `more`."""
    _, middle, half = breadth(other, kind, frames, size, range_of, start, corners)
    seen = farthest(other, scale3(-1.0, n), kind, frames, size, range_of, start, corners)
    count = 0
    for e in range(edge_range[2 * k], edge_range[2 * k + 1]):
        a, b, u, v = edge_of(k, e, frames, edges)
        if may_separate(a, u, v, seen, best) and reaches_into(a, b, middle, half, more):
            work_out[WORK + count] = e
            count += 1
    return count


@device
def best_edges(i, j, n, best, slack, edge_range, edges, kind, frames, size, range_of, start, corners, work_out):
    """The greatest separation across an edge of each of two polyhedra."""
    others = edges_left(
        j, i, scale3(-1.0, n), best, slack + abs(best), edge_range, edges, kind, frames, size, range_of, start, corners, work_out
    )
    _, middle, half = breadth(j, kind, frames, size, range_of, start, corners)
    seen = farthest(j, scale3(-1.0, n), kind, frames, size, range_of, start, corners)
    for e in range(edge_range[2 * i], edge_range[2 * i + 1]):
        a, b, u, v = edge_of(i, e, frames, edges)
        if not may_separate(a, u, v, seen, best) or not reaches_into(a, b, middle, half, slack + abs(best)):
            continue
        for k in range(others):
            c, d, x, y = edge_of(j, int(work_out[WORK + k]), frames, edges)
            if arcs_cross(u, v, scale3(-1.0, x), scale3(-1.0, y)):
                m = across(a, b, c, d, n)
                for _ in range(2):
                    m = scale3(-1.0, m)
                    if dot3(m, sub3(c, a)) > best:
                        p = farthest(i, m, kind, frames, size, range_of, start, corners)
                        s = dot3(m, sub3(farthest(j, scale3(-1.0, m), kind, frames, size, range_of, start, corners), p))
                        if s > best:
                            best = s
                            n = m
    return n, best


@device
def separation(i, j, n, kind, frames, size, range_of, start, corners):
    """s(n)."""
    a = farthest(i, n, kind, frames, size, range_of, start, corners)
    return dot3(n, sub3(farthest(j, scale3(-1.0, n), kind, frames, size, range_of, start, corners), a))


@device
def best_anywhere(i, j, n, best, scale, kind, frames, size, range_of, start, corners, work_out):
    """The greatest separation of any two convex shapes, searched from all sides."""
    last = 1e300
    for _ in range(CLIMBS):
        # the best direction of a spiral over the sphere that is worse than those climbed from before
        most = -1e300
        guess = n
        for k in range(DIRECTIONS):
            z = 1.0 - (2.0 * k + 1.0) / DIRECTIONS
            r = sqrt(1.0 - z * z)
            turn = pi * (3.0 - sqrt(5.0)) * k
            m = (r * cos(turn), r * sin(turn), z)
            s = separation(i, j, m, kind, frames, size, range_of, start, corners)
            if most < s < last:
                most = s
                guess = m
        last = most
        m, s = climb(i, j, guess, kind, frames, size, range_of, start, corners)
        if s > best:
            best = s
            n = m
    for _ in range(ROUNDS):
        off = scale3(-(1.0 + NEARER) * best + 0.1 * APART * scale, n)
        m, _, _, _ = nearest_apart(i, j, off, n, scale, kind, frames, size, range_of, start, corners, work_out)
        s = separation(i, j, m, kind, frames, size, range_of, start, corners)
        if not s > best + EXACT * scale:
            break
        best = s
        n = m
    return n, best


@kernel
def convex_distances(
    rows: Ints, order: Ints, pairs: Ints, kind: Ints, frames: Floats, size: Floats, range_of: Ints, start: Ints, corners: Floats,
    normals: Floats, edge_range: Ints, edges: Floats, work_out: Floats, touching_out: Floats,
) -> None:  # fmt: skip
    """Of the pairs `order[rows]` the contact (point on the first, unit normal, signed distance), written to those rows."""
    for row in rows:
        i = pairs[2 * order[row]]
        j = pairs[2 * order[row] + 1]
        wide_i, middle_i, _ = breadth(i, kind, frames, size, range_of, start, corners)
        wide_j, middle_j, _ = breadth(j, kind, frames, size, range_of, start, corners)
        scale = wide_i + wide_j
        # places far from the origin have fewer digits
        rough = scale + 1e-2 * norm3(middle_i)
        towards = sub3(middle_j, middle_i)
        towards = scale3(1.0 / norm3(towards), towards) if norm3(towards) > EXACT * scale else (0.0, 0.0, 1.0)
        still = (0.0, 0.0, 0.0)
        n, best, point, upper = nearest_apart(i, j, still, towards, rough, kind, frames, size, range_of, start, corners, work_out)
        if not (best > CLEAR * rough and upper - best <= PROVEN * rough):
            if is_polyhedron(kind[i]) and is_polyhedron(kind[j]):
                n, best = best_face(i, j, i, n, best, kind, frames, size, range_of, start, corners, normals)
                n, best = best_face(i, j, j, n, best, kind, frames, size, range_of, start, corners, normals)
                slack = CLEAR * rough + (upper if upper < 1e299 else 0.0)
                n, best = best_edges(i, j, n, best, slack, edge_range, edges, kind, frames, size, range_of, start, corners, work_out)
            elif best <= CLEAR * rough:
                n, best = best_anywhere(i, j, n, best, rough, kind, frames, size, range_of, start, corners, work_out)
            off = scale3(APART * scale - best, n)
            _, _, point, _ = nearest_apart(i, j, off, n, rough, kind, frames, size, range_of, start, corners, work_out)
        store3(point, 7 * row, touching_out)
        store3(n, 7 * row + 3, touching_out)
        touching_out[7 * row + 6] = best


@kernel
def doubtful_answers(
    rows: Ints, order: Ints, pairs: Ints, kind: Ints, frames: Floats, size: Floats, range_of: Ints, start: Ints, corners: Floats,
    touching: Floats, doubtful_out: Ints,
) -> int:  # fmt: skip
    """Of the answers that another program gave in these rows (as `convex_distances` does), those that are none: the distance is not
    finite, or its direction does not separate the shapes by it. Gives how many."""
    count = 0
    for row in rows:
        i = pairs[2 * order[row]]
        j = pairs[2 * order[row] + 1]
        gap = touching[7 * row + 6]
        n = load3(touching, 7 * row + 3)
        wide_i, _, _ = breadth(i, kind, frames, size, range_of, start, corners)
        wide_j, _, _ = breadth(j, kind, frames, size, range_of, start, corners)
        s = separation(i, j, n, kind, frames, size, range_of, start, corners)
        if not abs(gap - s) <= WRONG * (wide_i + wide_j):
            doubtful_out[count] = row
            count += 1
    return count


def convex_work(edges: int) -> np.ndarray:
    """Room that `convex_distances` works in; `edges`: the most of a polyhedron."""
    return np.zeros(WORK + edges)
