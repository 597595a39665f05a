"""Which contacts of a crowded manifold are kept.

**One normal.** A foot with many corners stands over a plane, with corners at places x in the plane and gaps g. A small motion of the foot
adds an affine function to the gaps, and a corner can only be reached by a motion for which it is the lowest: for some slope s and azimuth
u the largest of

    s u · ξ − g / L,        ξ = A⁻¹ (x − x̄),   A Aᵀ = mean of (x − x̄)(x − x̄)ᵀ,   L² = trace A Aᵀ

where A makes long feet round, so that twelve azimuths span nearly all of the polygon (of an ellipse 3/π, 95 %). What is kept:

1. the outline, the corners that are lowest when the foot is tilted by WIDE. On a flat foot these are lowest for every slope;
2. the corners on which the foot stands when it rests: a facet of the lower side of its convex hull, the one under the centre of mass
   c (the least Σ λ g with Σ λ x = c, Σ λ = 1, λ ≥ 0, by the simplex method). From here on gaps are measured from the plane of that facet;
3. for slopes from tiny ones on, corners that reach below those kept by more than SLACK of the slope: what the foot meets first as it rocks.
   Where there is no room left, they replace every other corner of the outline that was not asked for;
4. the corner that is lowest now, if those kept are higher by more than 10⁻⁶ L.

Affine functions of x change neither the facet nor gaps from its plane, and the azimuths turn with the shape. So the choice depends on
nothing that changes while a foot slides, turns or rocks a little, 4 aside: it has what it will rest on, and comes to rest.

**Several normals.** The contact with the least name is kept, and those farthest from all kept so far, and the deepest.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt

import numpy as np

from unibody.collision.rigid.contacts import RECORD, exchange
from unibody.kernel import device
from unibody.spatial.devices import add3, cross, dot3, load3, load9, norm3, rotate, scale3, sub3

MOST = 8
"""Contacts kept of one pair of shapes that touch along several normals."""
MOST_ON_PLANE = 16
"""And along one."""
TIE = 1e-3
"""A candidate replaces another only if it is better by this part, so that symmetric shapes keep their points as they move a little."""
ONE_NORMAL = 0.999
"""Cosine from which normals are one."""
AZIMUTHS = 12
TURN = 0.31
"""[rad] Of the first azimuth: along no axis on which regular shapes have two corners alike."""
COSINES, SINES = (tuple(f(TURN + 2.0 * pi * k / AZIMUTHS) for k in range(AZIMUTHS)) for f in (cos, sin))
"""Of all azimuths."""
WIDE = 0.1
"""Slope that shows the outline: a bevel that is steeper does not belong to the foot."""
FINEST, COARSER, SLOPES = 1e-6, 10.0, 5
"""The least slope, the ratio of one slope to the last, and their number."""
SLACK = 0.1
"""Of a slope: corners that are lower by less than this are left out. Twelve corners of a circle are lower than the others to 5 %."""
ROUND = 1e-4
"""Of A Aᵀ: what is added to it, for feet that are lines."""
PIVOTS = 64
LEVEL = 1e-9
"""Of L: corners that are lower than a plane by less are in it."""


@device
def axes_across(n, R):
    """Two unit vectors across n that turn with the frame R; from its x axis, unless that is nearly along n."""
    x = (R[0], R[3], R[6])
    if abs(dot3(n, x)) > 0.8:
        x = (R[1], R[4], R[7])
    x = sub3(x, scale3(dot3(n, x), n))
    x = scale3(1.0 / norm3(x), x)
    return x, cross(n, x)


@device
def place_candidates(first, last, R, centre, records, spots_out):
    """(ξ₁, ξ₂, g / L, g / L) of contacts first … last; gives (ξ₁, ξ₂) of the point `centre`."""
    n = load3(records, RECORD * first + 3)
    e1, e2 = axes_across(n, R)
    origin = load3(records, RECORD * first)
    count = last - first
    # places in the plane, and their mean
    u, v = 0.0, 0.0
    for i in range(count):
        r = sub3(load3(records, RECORD * (first + i)), origin)
        spots_out[4 * i], spots_out[4 * i + 1] = dot3(r, e1), dot3(r, e2)
        spots_out[4 * i + 2] = records[RECORD * (first + i) + 6]
        u += spots_out[4 * i] / count
        v += spots_out[4 * i + 1] / count
    # A Aᵀ = (aa, ab; ab, bb), and A as its Cholesky factor
    aa, ab, bb = 0.0, 0.0, 0.0
    for i in range(count):
        x, y = spots_out[4 * i] - u, spots_out[4 * i + 1] - v
        aa += x * x / count
        ab += x * y / count
        bb += y * y / count
    size2 = max(aa + bb, 1e-300)
    a11 = sqrt(aa + ROUND * size2)
    a21 = ab / a11
    a22 = sqrt(bb + ROUND * size2 - a21 * a21)
    for i in range(count):
        x = (spots_out[4 * i] - u) / a11
        spots_out[4 * i + 1] = (spots_out[4 * i + 1] - v - a21 * x) / a22
        spots_out[4 * i] = x
        spots_out[4 * i + 2] /= sqrt(size2)
        spots_out[4 * i + 3] = spots_out[4 * i + 2]
    r = sub3(centre, origin)
    x = (dot3(r, e1) - u) / a11
    return x, (dot3(r, e2) - v - a21 * x) / a22


@device
def twice_area(ax, ay, bx, by, cx, cy):
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


@device
def shares(i, j, k, x, y, spots):
    """Barycentric coordinates of (x, y) in the triangle of three candidates, negative ones if it has no area."""
    ax, ay, bx, by, cx, cy = spots[4 * i], spots[4 * i + 1], spots[4 * j], spots[4 * j + 1], spots[4 * k], spots[4 * k + 1]
    whole = twice_area(ax, ay, bx, by, cx, cy)
    if abs(whole) < 1e-9:
        return -1.0, -1.0, -1.0
    return (
        twice_area(x, y, bx, by, cx, cy) / whole, twice_area(ax, ay, x, y, cx, cy) / whole, twice_area(ax, ay, bx, by, x, y) / whole
    )  # fmt: skip


@device
def standing_facet(count, x, y, spots, outline):
    """Three candidates on which the foot rests if its centre of mass is over (x, y), which the outline holds; −1 if it does not."""
    i, j, k = -1, -1, -1
    for m in range(1, AZIMUTHS - 1):
        a, b, c = shares(outline[0], outline[m], outline[m + 1], x, y, spots)
        if min(a, min(b, c)) >= 0.0:
            i, j, k = outline[0], outline[m], outline[m + 1]
    if i < 0:
        return -1, -1, -1
    for _ in range(PIVOTS):
        # the corner lowest under the plane of the three
        lowest, depth = -1, LEVEL
        for m in range(count):
            a, b, c = shares(i, j, k, spots[4 * m], spots[4 * m + 1], spots)
            under = a * spots[4 * i + 2] + b * spots[4 * j + 2] + c * spots[4 * k + 2] - spots[4 * m + 2]
            if under > depth:
                lowest, depth = m, under
        if lowest < 0:
            break
        # it takes the place of the one without which (x, y) is still among the three
        a, b, c = shares(lowest, j, k, x, y, spots)
        d, e, f = shares(i, lowest, k, x, y, spots)
        if min(a, min(b, c)) >= 0.0:
            i = lowest
        elif min(d, min(e, f)) >= 0.0:
            j = lowest
        else:
            k = lowest
    return i, j, k


@device
def measure_from(i, j, k, count, spots_out):
    """Take the plane of three candidates off all gaps; the fourth number of each stays."""
    gi, gj, gk = spots_out[4 * i + 2], spots_out[4 * j + 2], spots_out[4 * k + 2]
    for m in range(count):
        a, b, c = shares(i, j, k, spots_out[4 * m], spots_out[4 * m + 1], spots_out)
        spots_out[4 * m + 2] -= a * gi + b * gj + c * gk


@device
def lowest_of(count, slope, spots, best_out, low_out):
    """The candidates that are lowest when the foot is tilted towards each azimuth, and how low."""
    for k in range(AZIMUTHS):
        best_out[k], low_out[k] = 0, -1e300
    for i in range(count):
        x, y, gap = slope * spots[4 * i], slope * spots[4 * i + 1], spots[4 * i + 2]
        # without branches, so that azimuths are compared side by side
        for k in range(AZIMUTHS):
            here = x * COSINES[k] + y * SINES[k] - gap
            lower = here > low_out[k] + TIE * slope
            best_out[k] = i if lower else best_out[k]
            low_out[k] = here if lower else low_out[k]


@device
def lowest_kept(count, slope, azimuth, spots, kept):
    """The place in `kept` of the one that is lowest, and how low."""
    c, s = slope * COSINES[azimuth], slope * SINES[azimuth]
    best, low = -1, -1e300
    for k in range(count):
        i = kept[k]
        here = c * spots[4 * i] + s * spots[4 * i + 1] - spots[4 * i + 2]
        if here > low:
            best, low = k, here
    return best, low


@device
def keep_one(candidate, n, kept_out):
    """Put a candidate among the n kept, unless it is there; gives how many there are now."""
    for i in range(n):
        if kept_out[i] == candidate:
            return n
    kept_out[n] = candidate
    return n + 1


@device
def choose_on_plane(count, x, y, spots_out, kept_out, best_out, low_out):
    """Of `count` candidates, under a centre of mass over (x, y), those to be kept; gives how many."""
    # the outline: every other azimuth, then those between
    n = 0
    lowest_of(count, WIDE, spots_out, best_out, low_out)
    for k in range(AZIMUTHS):
        n = keep_one(best_out[(2 * k) % AZIMUTHS + (1 if 2 * k >= AZIMUTHS else 0)], n, kept_out)
    outline = n
    # what it stands on
    i, j, k = standing_facet(count, x, y, spots_out, best_out)
    if i >= 0:
        measure_from(i, j, k, count, spots_out)
    # what is reached first, slope by slope; bits of `needed`: corners of the outline that are among it. One place is for the lowest now
    slope, full, needed = FINEST, MOST_ON_PLANE - 1, 0
    for _ in range(SLOPES):
        lowest_of(count, slope, spots_out, best_out, low_out)
        for k in range(AZIMUTHS):
            place, kept_low = lowest_kept(n, slope, k, spots_out, kept_out)
            if low_out[k] <= kept_low + SLACK * slope:
                needed |= 1 << place
                continue
            at = n
            if n == full:
                at = outline - 1
                while at >= outline // 2 and (needed >> at) & 1:
                    at -= 1
                if at < outline // 2:
                    break
            else:
                n += 1
            kept_out[at] = best_out[k]
            needed |= 1 << at
        slope *= COARSER
    # what is lowest as it is now
    now, least = 0, 1e300
    for m in range(count):
        if spots_out[4 * m + 3] < spots_out[4 * now + 3]:
            now = m
    for k in range(n):
        least = min(least, spots_out[4 * kept_out[k] + 3])
    return keep_one(now, n, kept_out) if spots_out[4 * now + 3] < least - FINEST else n


@device
def keep_on_plane(first, last, shape, frames, tags_out, records_out) -> int:
    """Of contacts first … last, all along one normal, keep at most MOST_ON_PLANE, in the order they had; gives where they end now."""
    count = last - first
    spots, kept = np.empty(4 * count + AZIMUTHS), np.empty(MOST_ON_PLANE + AZIMUTHS, np.int64)
    R = load9(frames, 12 * shape)
    centre = add3(load3(frames, 12 * shape + 9), rotate(R, load3(frames, frames.size // 15 * 12 + 3 * shape)))
    x, y = place_candidates(first, last, R, centre, records_out, spots)
    n = choose_on_plane(count, x, y, spots, kept, kept[MOST_ON_PLANE:], spots[4 * count :])
    for k in range(n):
        least = k
        for m in range(k + 1, n):
            if kept[m] < kept[least]:
                least = m
        i = kept[least]
        kept[least] = kept[k]
        exchange(first + k, first + i, tags_out, records_out)
    return first + n


@device
def keep_spread(first, last, tags_out, records_out):
    """Of contacts first … last keep MOST: the one with the least name and those farthest from all kept so far, so that what is kept hangs
    not on which gap is smaller by round-off, and the deepest, if need be instead of the last. Gives where they end now."""
    best = first
    for i in range(first + 1, last):
        if tags_out[2 * i + 1] < tags_out[2 * best + 1]:
            best = i
    exchange(first, best, tags_out, records_out)
    for k in range(1, MOST):
        best = -1
        most = 0.0
        for i in range(first + k, last):
            nearest = 1e300
            for j in range(first, first + k):
                r = sub3(load3(records_out, RECORD * i), load3(records_out, RECORD * j))
                nearest = min(nearest, dot3(r, r))
            if best < 0 or nearest > (1.0 + TIE) * most:
                best = i
                most = nearest
        exchange(first + k, best, tags_out, records_out)
    deepest = first
    for i in range(first + 1, last):
        if records_out[RECORD * i + 6] < records_out[RECORD * deepest + 6]:
            deepest = i
    if deepest >= first + MOST:
        exchange(first + MOST - 1, deepest, tags_out, records_out)
    return first + MOST


@device
def thin_out(first, last, i, j, frames, tags_out, records_out) -> int:
    """Of contacts first … last of the shapes i and j keep those that matter; gives where they end now. `frames` as `ShapeTable` has it."""
    if last - first <= MOST or RECORD * last > records_out.size:
        return last
    n = load3(records_out, RECORD * first + 3)
    for k in range(first + 1, last):
        if dot3(n, load3(records_out, RECORD * k + 3)) < ONE_NORMAL:
            return keep_spread(first, last, tags_out, records_out)
    if last - first <= AZIMUTHS:
        return last
    # the one that moves; what does not has no centre
    moves = frames[frames.size // 15 * 12 + 3 * j] == frames[frames.size // 15 * 12 + 3 * j]
    return keep_on_plane(first, last, j if moves else i, frames, tags_out, records_out)
