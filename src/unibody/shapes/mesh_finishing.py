"""The last steps to a solid: faces without area, edges that occur twice, components inside out (steps 6 and 7 of `mesh_mending`)."""

from __future__ import annotations

import numpy as np

from unibody.shapes.mesh_parts import FLAT, components, halves, signed_volumes, winding

THIN = 1e-10
"""A face is without area below this part of its longest edge squared."""
NOTHING = 1e-9
"""A component encloses nothing below this part of its area to the power 3/2."""


def areas(x: np.ndarray, faces: np.ndarray) -> np.ndarray:
    a, b, c = (x[faces[:, k]] for k in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


def without_slivers(x: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, int, int]:
    """Faces without area give their middle corner to the face behind their longest side; how many, and how many cannot."""
    first = least = len(faces) + 1
    idle = 0
    while True:
        a, b, c = (x[faces[:, k]] for k in range(3))
        sides = np.stack([((b - a) ** 2).sum(1), ((c - b) ** 2).sum(1), ((a - c) ** 2).sum(1)], axis=1)
        thin = np.flatnonzero(areas(x, faces) <= THIN * sides.max(axis=1))
        first = min(first, len(thin)) if first > len(faces) else first
        # Two of them may pass a corner to and fro.
        least, idle = (len(thin), 0) if len(thin) < least else (least, idle + 1)
        if not len(thin) or idle > 3:
            break
        tail, head = (x.tolist() for x in halves(faces))
        edges = {(u, v): divmod(i, 3) for i, (u, v) in enumerate(zip(tail, head, strict=True))}
        touched: set[int] = set()
        done = 0
        for f in thin.tolist():
            k = int(np.argmax(sides[f]))
            u, v, m = (int(faces[f, (k + i) % 3]) for i in range(3))
            g, side = edges.get((v, u), (f, 0))
            w = int(faces[g, (side + 2) % 3])
            if g == f or f in touched or g in touched or w == m or (m, w) in edges or (w, m) in edges:
                continue
            # (u, v, m) and (v, u, w) become (m, u, w) and (v, m, w).
            faces[f], faces[g] = (m, u, w), (v, m, w)
            touched |= {f, g}
            done += 1
        if not done:
            break
    longest = np.max([((x[faces[:, k]] - x[faces[:, k - 1]]) ** 2).sum(axis=1) for k in range(3)], axis=0)
    return faces, max(0, first - least), int((areas(x, faces) <= FLAT * longest).sum())


def outward(x: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Components that enclose something, seen from outside; those within others that are inside out are cavities."""
    said = []
    corners = (x - x.mean(axis=0))[faces]
    piece = components(faces, len(x))
    volume = np.bincount(piece, weights=signed_volumes(corners))
    empty = np.abs(volume) <= NOTHING * np.bincount(piece, weights=areas(x, faces)) ** 1.5
    if empty.any() and not empty.all():
        said.append(f"{int(empty.sum())} pieces that enclose nothing dropped")
        kept = ~empty[piece]
        faces, corners, piece = faces[kept], corners[kept], piece[kept]
    if volume[np.argmax(np.abs(volume))] < 0.0:
        faces, corners, volume = faces[:, ::-1].copy(), corners[:, ::-1], -volume
        said.append("turned inside out")
    for k in np.flatnonzero((volume < 0.0) & ~empty):
        point = corners[piece == k][0, 0]
        if not any(winding(corners[piece == o], point) > 0.5 for o in np.flatnonzero((volume > 0.0) & ~empty)):
            faces[piece == k] = faces[piece == k][:, ::-1]
            said.append(f"a piece of {int((piece == k).sum())} faces turned inside out")
    return faces, said


def collapsed(x: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Faces in which the ends of the shortest side of each face without area are one vertex."""
    sides = np.stack([((x[faces[:, (k + 1) % 3]] - x[faces[:, k]]) ** 2).sum(axis=1) for k in range(3)], axis=1)
    same = np.arange(len(x))
    for f in np.flatnonzero(areas(x, faces) <= FLAT * sides.max(axis=1)):
        k = int(np.argmin(sides[f]))
        a, b = same[faces[f, k]], same[faces[f, (k + 1) % 3]]
        same[same == max(a, b)] = min(a, b)
    return same[faces]


def apart(x: np.ndarray, faces: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of edges that join the same two vertices, all but one get a vertex in their middle, so that an edge is known by its ends."""
    tail, head = halves(faces)
    ends = np.sort(np.stack([tail[pairs[:, 0]], head[pairs[:, 0]]], axis=1), axis=1)
    first = np.unique(ends, axis=0, return_index=True)[1]
    split: dict[int, list[tuple[int, int]]] = {}
    points, count = [x], len(x)
    for row in np.setdiff1d(np.arange(len(pairs)), first):
        i, j = pairs[row].tolist()
        points.append(0.5 * (x[tail[i]] + x[head[i]])[None])
        for half in (i, j):
            split.setdefault(half // 3, []).append((half % 3, count))
        count += 1
    if not split:
        return x, faces
    out = [faces[np.setdiff1d(np.arange(len(faces)), list(split))]]
    for f, cuts in split.items():
        # The corners and the new vertices in order around the face, as a fan that begins at a new one.
        ring: list[int] = []
        for k in range(3):
            ring += [int(faces[f, k]), *(new for side, new in cuts if side == k)]
        at = next(i for i, v in enumerate(ring) if v >= len(x))
        ring = ring[at:] + ring[:at]
        out.append(np.array([(ring[0], ring[i], ring[i + 1]) for i in range(1, len(ring) - 1)]))
    return np.concatenate(points), np.concatenate(out)
