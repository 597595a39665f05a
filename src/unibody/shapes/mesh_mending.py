"""Triangles as files have them made into closed, outward-oriented surfaces.

1. Vertices at one place become one (within a tolerance that grows from 0 to 1e-4 of the size until the surface closes).
2. Faces with two equal corners and faces that occur twice go.
3. At every edge faces are paired: the two that share it; of more, those that enclose matter between them, in the order of their angles
   about the edge. A vertex is then split into as many as there are fans of paired faces around it, so that an edge has at most two faces.
4. Faces are turned so that pairs run their edge in opposite directions. Where that is impossible, the directions of the file are trusted,
   and only faces that agree with them are paired.
5. Edges without a partner form loops. A loop no wider than a part of the surface (`LARGEST_HOLE`) is closed: by the triangulation of least
   area (Barequet and Sharir 1995), or a fan about its middle if it is long.
6. A face without area, whose middle corner lies on its longest side, gives that corner to the neighbour behind that side; one that
   cannot loses its shortest side.
7. Components that enclose nothing go, if others enclose something; components inside out are turned, unless they lie within another:
   those are cavities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.shapes.mesh_finishing import apart, areas, collapsed, outward, without_slivers
from unibody.shapes.mesh_parts import components, halves

LARGEST_HOLE = 0.25
"""Of the longest side of the surface: wider holes are left open."""
LONGEST_LOOP = 60
"""Edges; longer loops become fans."""
WELDS = (0.0, 1e-6, 1e-5, 1e-4)
"""Distances within which vertices are one, of the longest side."""
COLLAPSES = 3
"""How often needles are collapsed."""
STRAY = 0.01
"""Open pieces below this part of the whole area are dropped."""


@dataclass
class Mended:
    """A surface, what was done to it, and what remains open."""

    vertices: np.ndarray
    faces: np.ndarray
    said: list[str]
    open_edges: int = 0
    widest: float = 0.0
    """Of the holes that remain [m]."""
    thin: int = 0
    """Faces without area that remain."""

    @property
    def faults(self) -> int:
        return self.open_edges + self.thin


def mend(vertices: np.ndarray, faces: np.ndarray, largest_hole: float) -> Mended:
    """The best of several attempts: the first that closes, else the one with the fewest open edges."""
    size = float(np.ptp(vertices, axis=0).max())
    best: Mended | None = None
    for weld in WELDS:
        for walls in (False, True):
            trial = _attempt(vertices, faces, weld * size, walls, largest_hole * size)
            if trial is not None and trial.faults == 0:
                return trial
            if trial is not None and (best is None or trial.faults < best.faults):
                best = trial
    return best if best is not None else Mended(vertices, faces, [], 3 * len(faces))


def clean(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Steps 1 and 2, without a tolerance: a surface that may stay open."""
    x, f = welded(vertices, faces, 0.0)
    kept = distinct(f, False)
    said = [f"{len(faces) - len(kept)} degenerate or double faces dropped"] if len(kept) < len(faces) else []
    return x, kept, said


def _attempt(vertices: np.ndarray, faces: np.ndarray, weld: float, walls: bool, widest: float) -> Mended | None:
    """One way through all steps; `walls`: faces that occur in both directions go in both. None if nothing is left, or nothing changes."""
    said: list[str] = []
    x, f = welded(vertices, faces, weld)
    kept = distinct(f, walls)
    if not len(kept) or (walls and len(kept) == len(distinct(f, False))):
        return None
    if weld:
        said.append(f"vertices within {weld:.2g} m merged")
    if len(kept) < len(faces):
        said.append(f"{len(faces) - len(kept)} degenerate or double faces dropped")
    made = _through(x, kept, said, widest)
    for _ in range(COLLAPSES):
        if not made.thin or made.open_edges:
            break
        # Needles: the ends of their shortest side become one, and all is done again.
        f = distinct(collapsed(made.vertices, made.faces), False)
        if not len(f):
            break
        again = _through(made.vertices, f, [*made.said, "needles collapsed"], widest)
        if again.open_edges:
            break
        made = again
    made.said = list(dict.fromkeys(made.said))
    return made


def _through(x: np.ndarray, f: np.ndarray, before: list[str], widest: float) -> Mended:
    """Steps 3 to 7."""
    said, f = list(before), f.copy()
    pairs, many = _pairs(x, f, False)
    flip, twisted = _flips(f, pairs)
    if twisted:
        pairs, many = _pairs(x, f, True)
        flip = np.zeros(len(f), bool)
    if flip.any():
        said.append(f"{int(flip.sum())} faces turned round")
        f[flip] = f[flip][:, (0, 2, 1)]
        at, side = np.divmod(pairs, 3)
        pairs = np.where(flip[at], 3 * at + 2 - side, pairs)
    if many:
        said.append(f"{many} edges of more than two faces parted")
    x, f = _split(x, f, pairs)
    lonely = np.ones(3 * len(f), bool)
    lonely[pairs.ravel()] = False
    made = _closed(x, f, lonely, widest, said)
    if made.open_edges:
        return made
    x, f, said = made.vertices, made.faces, made.said
    f, moved, thin = without_slivers(x, f)
    said += [f"{moved} faces without area joined to their neighbours"] if moved else []
    # Faces that were added may share an edge with others: pair once more.
    pairs, _ = _pairs(x, f, True)
    x, f = _split(x, f, pairs)
    open_edges = 3 * len(f) - 2 * len(pairs)
    if not open_edges:
        f, turned = outward(x, f)
        said += turned
        x, f = apart(x, f, _pairs(x, f, True)[0])
    used, f = np.unique(f, return_inverse=True)
    return Mended(x[used], f.reshape(-1, 3), said, open_edges, thin=thin)


def welded(vertices: np.ndarray, faces: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices nearer than the tolerance as one."""
    # Adding 0 turns −0 into 0, which are equal.
    x, index = np.unique(vertices + 0.0, axis=0, return_inverse=True)
    f = index.ravel()[faces]
    if tolerance > 0.0:
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components
        from scipy.spatial import cKDTree

        near = cKDTree(x).query_pairs(tolerance, output_type="ndarray")
        graph = coo_matrix((np.ones(len(near)), near.T), shape=(len(x), len(x)))
        label = connected_components(graph, directed=False)[1]
        first = np.unique(label, return_index=True)[1]
        x, f = x[first], label[f]
    return x, f.astype(np.int64)


def distinct(faces: np.ndarray, walls: bool) -> np.ndarray:
    """Faces with three different corners, each once; with `walls` those that occur in both directions not at all."""
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    if not len(faces):
        return faces
    key, first, group, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_inverse=True, return_counts=True)
    if not walls:
        return faces[np.sort(first)]
    turned = _even(faces)
    both = np.zeros(len(key), bool)
    for sign in (True, False):
        both |= np.bincount(group.ravel()[turned == sign], minlength=len(key)) == count
    return faces[np.sort(first[both])]


def _even(faces: np.ndarray) -> np.ndarray:
    """Whether each face runs through its corners as their numbers grow."""
    a, b, c = faces.T
    return ((a < b) & (b < c)) | ((b < c) & (c < a)) | ((c < a) & (a < b))


def _pairs(x: np.ndarray, faces: np.ndarray, trusting: bool) -> tuple[np.ndarray, int]:
    """(n, 2) half-edges that belong together, and how many edges have more than two faces; `trusting`: only of opposite directions."""
    tail, head = halves(faces)
    key = np.minimum(tail, head) * (len(x) + 1) + np.maximum(tail, head)
    order = np.argsort(key, kind="stable")
    start = np.flatnonzero(np.r_[True, np.diff(key[order]) > 0])
    count = np.diff(np.r_[start, len(order)])
    two = start[count == 2]
    if trusting:
        two = two[tail[order[two]] != tail[order[two + 1]]]
    pairs = [np.stack([order[two], order[two + 1]], axis=1)]
    many = np.flatnonzero(count > 2)
    for k in many:
        pairs.append(_around(x, faces, order[start[k] : start[k] + count[k]], tail, head, trusting))
    return np.concatenate(pairs), len(many)


def _around(x: np.ndarray, faces: np.ndarray, halves: np.ndarray, tail: np.ndarray, head: np.ndarray, trusting: bool) -> np.ndarray:
    """Pairs of the faces at one edge. Matter lies behind a face, on the side of smaller angles if it runs the edge forward."""
    u, v = int(tail[halves[0]]), int(head[halves[0]])
    axis = x[v] - x[u]
    axis = axis / (np.linalg.norm(axis) or 1.0)
    apex = x[faces[halves // 3, (halves % 3 + 2) % 3]] - x[u]
    arm = apex - np.outer(apex @ axis, axis)
    side = np.linalg.svd(axis[None])[2][1]
    angle = np.arctan2(arm @ np.cross(axis, side), arm @ side)
    ring = np.argsort(angle, kind="stable")
    forward = (tail[halves] == u).tolist()
    left, out, shrinking = ring.tolist(), [], True
    while shrinking and len(left) > 1:
        shrinking = False
        for i in range(len(left)):
            if forward[left[i]] and not forward[left[i - 1]]:
                out.append((halves[left[i]], halves[left[i - 1]]))
                left = [k for k in left if k not in (left[i], left[i - 1])]
                shrinking = True
                break
    if not trusting:  # of those whose directions do not fit, neighbours by angle
        out += [(halves[left[i]], halves[left[i + 1]]) for i in range(0, len(left) - 1, 2)]
    return np.array(out, np.int64).reshape(-1, 2)


def _flips(faces: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, bool]:
    """Which faces to turn so that paired half-edges run in opposite directions, the fewest of each piece; whether that is impossible."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n = len(faces)
    tail, _ = halves(faces)
    one, other = pairs[:, 0] // 3, pairs[:, 1] // 3
    same = tail[pairs[:, 0]] == tail[pairs[:, 1]]
    # Node f: the face as it is, f + n: turned.
    rows = np.concatenate([one, one + n])
    columns = np.concatenate([np.where(same, other + n, other), np.where(same, other, other + n)])
    graph = coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(2 * n, 2 * n))
    label = connected_components(graph, directed=False)[1]
    if (label[:n] == label[n:]).any():
        return np.zeros(n, bool), True
    straight = np.bincount(label[:n], minlength=label.max() + 1)
    return straight[label[:n]] < straight[label[n:]], False


def _split(x: np.ndarray, faces: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One vertex for each fan of paired faces."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    after = pairs // 3 * 3 + (pairs % 3 + 1) % 3
    rows, columns = np.concatenate([pairs[:, 0], after[:, 0]]), np.concatenate([after[:, 1], pairs[:, 1]])
    n = 3 * len(faces)
    label = connected_components(coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n)), directed=False)[1]
    first = np.unique(label, return_index=True)[1]
    return x[faces.ravel()[first]], label.reshape(-1, 3).astype(np.int64)


def rims(faces: np.ndarray, lonely: np.ndarray | None = None) -> list[list[int]]:
    """Loops of vertices along half-edges without a partner, in the direction of a face that would close them."""
    tail, head = halves(faces)
    n = int(faces.max()) + 1
    lonely = ~np.isin(head * n + tail, tail * n + head) if lonely is None else lonely
    follow = dict(zip(head[lonely].tolist(), tail[lonely].tolist(), strict=True))
    loops = []
    while follow:
        first, here = follow.popitem()
        loop = [first]
        while here != first and here in follow:
            loop.append(here)
            here = follow.pop(here)
        loops.append(loop)
    return loops


def _closed(x: np.ndarray, faces: np.ndarray, lonely: np.ndarray, widest: float, said: list[str]) -> Mended:
    """Fill what is not too wide; pieces with wider holes go if they are small beside the whole, else all stays as it is."""
    loops = [loop for loop in rims(faces, lonely) if len(loop) != 2]  # two edges that fit each other: no hole is between them
    wide = [float(np.linalg.norm(np.ptp(x[loop], axis=0))) for loop in loops]
    left = [k for k, loop in enumerate(loops) if wide[k] > widest or len(loop) < 2]
    told: list[str] = []
    if left:
        piece = components(faces, len(x))
        owner = np.full(len(x), -1)
        owner[faces.ravel()] = np.repeat(piece, 3)
        area = np.bincount(piece, weights=areas(x, faces))
        ragged = np.zeros(len(area), bool)
        ragged[[owner[loops[k][0]] for k in left]] = True
        if ragged.all() or area[ragged].sum() > STRAY * area.sum():
            return Mended(x, faces, said, sum(len(loops[k]) for k in left), max(wide[k] for k in left))
        told = [f"{int(ragged[piece].sum())} loose faces dropped"]
        faces = faces[~ragged[piece]]
        loops = [loop for loop in loops if not ragged[owner[loop[0]]]]
    points, added, count = [x], [faces], len(x)
    for loop in loops:
        if len(loop) <= LONGEST_LOOP:
            added.append(np.array(loop)[least_area(x[loop])])
        else:
            points.append(x[loop].mean(axis=0)[None])
            added.append(np.array([(a, b, count) for a, b in zip(loop, loop[1:] + loop[:1], strict=True)]))
            count += 1
    told += [f"{len(loops)} hole{'s' if len(loops) > 1 else ''} filled"] if loops else []
    return Mended(np.concatenate(points), np.concatenate(added), [*said, *told])


def least_area(polygon: np.ndarray) -> np.ndarray:
    """Triangles (n − 2, 3) of a polygon in space whose areas have the smallest sum."""
    n = len(polygon)
    if n == 3:
        return np.array([(0, 1, 2)])
    cost, middle = np.zeros((n, n)), np.zeros((n, n), np.int64)
    for width in range(2, n):
        i = np.arange(n - width)[:, None]
        j, k = i + width, i + np.arange(1, width)
        u, v = polygon[k] - polygon[i], polygon[j] - polygon[i]
        normal = u[..., (1, 2, 0)] * v[..., (2, 0, 1)] - u[..., (2, 0, 1)] * v[..., (1, 2, 0)]
        total = cost[i, k] + cost[k, j] + 0.5 * np.sqrt((normal**2).sum(axis=-1))
        best = total.argmin(axis=1)
        rows = i[:, 0]
        middle[rows, rows + width] = rows + 1 + best
        cost[rows, rows + width] = total[np.arange(len(rows)), best]
    out, waiting = [], [(0, n - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first > 1:
            between = int(middle[first, last])
            out.append((first, between, last))
            waiting += [(first, between), (between, last)]
    return np.array(out)
