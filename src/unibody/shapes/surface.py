"""Surfaces for drawing: revolved profiles, circles and sharp edges."""

from __future__ import annotations

import numpy as np

SHARP = np.cos(np.radians(30.0))
"""Faces whose normals enclose more than 30° meet in an edge that is drawn."""


def revolve(radius: np.ndarray, height: np.ndarray, segments: int) -> tuple[np.ndarray, np.ndarray]:
    """Revolve a profile about z: closed and outward-oriented.

    The profile runs from the bottom pole to the top pole; its first and last radius are taken as 0.
    """
    angle = 2.0 * np.pi * np.arange(segments) / segments
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rings = len(radius) - 2
    vertices = np.zeros((2 + rings * segments, 3))
    vertices[0, 2] = height[0]
    vertices[-1, 2] = height[-1]
    for ring in range(rings):
        rows = slice(1 + ring * segments, 1 + (ring + 1) * segments)
        vertices[rows, :2] = radius[ring + 1] * circle
        vertices[rows, 2] = height[ring + 1]
    here = np.arange(segments)
    after = (here + 1) % segments
    pole = np.zeros(segments, dtype=int)
    faces = [np.stack([pole, 1 + after, 1 + here], axis=1)]
    for ring in range(rings - 1):
        low, high = 1 + ring * segments, 1 + (ring + 1) * segments
        faces.append(np.stack([low + here, low + after, high + after], axis=1))
        faces.append(np.stack([low + here, high + after, high + here], axis=1))
    last = 1 + (rings - 1) * segments
    faces.append(np.stack([last + here, last + after, pole + len(vertices) - 1], axis=1))
    return vertices, np.concatenate(faces)


def circle(radius: float, segments: int, axis: int, centre: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Points of a circle about a coordinate axis, closed: the first point is repeated, (segments + 1, 3)."""
    angle = 2.0 * np.pi * np.arange(segments + 1) / segments
    points = np.zeros((segments + 1, 3))
    points[:, (axis + 1) % 3] = radius * np.cos(angle)
    points[:, (axis + 2) % 3] = radius * np.sin(angle)
    return points + np.asarray(centre)


def join(lines: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Polylines as one (vertices, segments) pair."""
    pairs, start = [], 0
    for line in lines:
        first = start + np.arange(len(line) - 1)
        pairs.append(np.stack([first, first + 1], axis=1))
        start += len(line)
    return np.concatenate(lines), np.concatenate(pairs)


def join_meshes(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Several surfaces as one (vertices, faces) pair."""
    first = np.cumsum([0] + [len(x) for x, _ in parts])
    return np.concatenate([x for x, _ in parts]), np.concatenate([faces + k for k, (_, faces) in zip(first, parts, strict=False)])


def sharp_edges(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges at which the surface bends by more than 30°, as (vertices, segments)."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    face_of = {}
    for index, (i, j, k) in enumerate(faces.tolist()):
        face_of[i, j] = face_of[j, k] = face_of[k, i] = index
    sharp = [(i, j) for (i, j), face in face_of.items() if i < j and (j, i) in face_of and normal[face] @ normal[face_of[j, i]] < SHARP]
    return vertices, np.array(sharp, dtype=int).reshape(-1, 2)
