"""Curvatures of a triangle from the angles at its three hinges, so that every quadratic surface is seen as it is, on any mesh.

A triangle and the three beside it, unfolded into its plane, have six vertices: a height w = ½ κ_xx x² + ½ κ_yy y² + κ_xy x y over them makes

    θ_i = z_p/h_p + z_q/h_q  =  Σ Θ_iκ κ        (z: heights above the line of the edge, h: distances from it)

at hinge i, a linear function of κ = (κ_xx, κ_yy, κ_xy). With plate theory's density ½ κᵀ C κ,
C = D ((1, ν, 0), (ν, 1, 0), (0, 0, 2(1 − ν))), D = E t³/12(1 − ν²), the least energy of a triangle with these angles is

    W = ½ (θ − θ̄)ᵀ M (θ − θ̄),    M = A (Θ C⁻¹ Θᵀ)⁻¹,

which for three hinges is A/2 κᵀ C κ with κ = Θ⁻¹ θ. A triangle at a boundary has fewer: what it bends where no hinge tells is then as the
least energy wants it, which is a free edge. But matter there bends as beside it, so what M leaves out, A (C − Θᵀ (Θ C⁻¹ Θᵀ)⁻¹ Θ), is
given to the curvatures of those of its neighbours that have all three hinges: a surface of constant curvature has its plate energy, edges
included. (Where triangles meet three at a vertex, or are slivers, Θ is singular or nearly so: eigenvalues of Θ C⁻¹ Θᵀ, relative to what
hinges of such heights usually have, are not taken below `LEAST`, or the triangle would lock.)
"""

from __future__ import annotations

import numpy as np

from unibody.energies.sheet import rest_triangles

HINGES = np.array([[1, 2, 0, 3], [2, 0, 1, 4], [0, 1, 2, 5]])
"""Of hinge i the numbers of a, b, p, q in the stencil: v₀ v₁ v₂ of the triangle, w₀ w₁ w₂ across the edges opposite them."""
LEAST = 0.05


def neighbours(faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m, 3) the vertex across the edge opposite each vertex of each triangle, itself where there is none, and the triangle there, or −1.

    Edges of more than two triangles, or of two that turn alike, have no hinge."""
    m = len(faces)
    start, end = np.roll(faces, -1, axis=1).ravel(), np.roll(faces, -2, axis=1).ravel()
    low, high = np.minimum(start, end), np.maximum(start, end)
    size = int(faces.max(initial=0)) + 1
    key = low * size + high
    order = np.argsort(key, kind="stable")
    _, first, count = np.unique(key[order], return_index=True, return_counts=True)
    across, beside = faces.copy().ravel(), np.full(3 * m, -1)
    one, other = order[first[count == 2]], order[first[count == 2] + 1]
    turned = start[one] != start[other]
    one, other = one[turned], other[turned]
    across[one], across[other] = faces.ravel()[other], faces.ravel()[one]
    beside[one], beside[other] = other // 3, one // 3
    return across.reshape(m, 3), beside.reshape(m, 3)


def angles_of_curvatures(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of patches (n, 6, 3): Θ (n, 3, 3), half the sum of both heights at each hinge (n, 3), whether there is a hinge (n, 3), and areas.

    Where a vertex across coincides with that of the triangle there is no hinge, and Θ is 0."""
    U, area = rest_triangles(X[:, :3], "ShellBending")
    flat = np.concatenate([np.zeros((len(X), 2, 1)), U], axis=2).transpose(0, 2, 1)  # (n, 3, 2) corners in the plane
    Theta, heights = np.zeros((len(X), 3, 3)), np.ones((len(X), 3))
    there = np.linalg.norm(X[:, 3:] - X[:, :3], axis=2) > 0.0
    for i, (a, b, p, q) in enumerate(HINGES):
        edge = flat[:, b] - flat[:, a]
        l = np.linalg.norm(edge, axis=1)
        along = edge / l[:, None]
        outward = np.stack([along[:, 1], -along[:, 0]], axis=1)
        # where q lies, unfolded: its foot along the edge and its distance from it
        e0, e2 = X[:, b] - X[:, a], X[:, q] - X[:, a]
        foot = np.sum(e2 * e0, axis=1) / l
        away = np.linalg.norm(np.cross(e2, e0), axis=1) / l
        far = flat[:, a] + foot[:, None] * along + away[:, None] * outward
        near = -np.sum((flat[:, p] - flat[:, a]) * outward, axis=1)
        for place, height in ((flat[:, p], near), (far, away)):
            t = np.sum((place - flat[:, a]) * along, axis=1) / l
            rise = unit_heights(place) - (1.0 - t)[:, None] * unit_heights(flat[:, a]) - t[:, None] * unit_heights(flat[:, b])
            Theta[:, i] += np.where(there[:, i, None], rise / np.where(height > 0.0, height, 1.0)[:, None], 0.0)
        heights[:, i] = 0.5 * (near + away)
    return Theta, heights, there, area


def unit_heights(place: np.ndarray) -> np.ndarray:
    """(n, 3) heights at places (n, 2) for unit κ_xx, κ_yy, κ_xy."""
    x, y = place.T
    return np.stack([0.5 * x * x, 0.5 * y * y, x * y], axis=1)


def plate(poisson: float) -> np.ndarray:
    """C/D."""
    return np.array([[1.0, poisson, 0.0], [poisson, 1.0, 0.0], [0.0, 0.0, 2.0 * (1.0 - poisson)]])


def least_forms(Theta: np.ndarray, heights: np.ndarray, there: np.ndarray, C: np.ndarray) -> np.ndarray:
    """(n, 3, 3) (Θ C⁻¹ Θᵀ)⁻¹ over the hinges that are there, 0 for the others."""
    rows = Theta / heights[:, :, None]
    G = rows @ np.linalg.inv(C) @ rows.transpose(0, 2, 1)
    # hinges that are not there stand apart with a large eigenvalue, and leave no trace
    G = np.where(there[:, :, None] & there[:, None, :], G, 1e12 * np.eye(3))
    values, axes = np.linalg.eigh(G)
    inverse = (axes / np.maximum(values, LEAST)[:, None, :]) @ axes.transpose(0, 2, 1)
    inverse = np.where(there[:, :, None] & there[:, None, :], inverse, 0.0)
    return inverse / heights[:, :, None] / heights[:, None, :]


def bending_forms(X: np.ndarray, beside: np.ndarray | None, poisson: float) -> np.ndarray:
    """(n, 3, 3) M/D of patches (n, 6, 3); `beside`: the triangles across, of which those that have all hinges bend for their neighbours
    that have not, or None: each patch for itself."""
    C = plate(poisson)
    Theta, heights, there, area = angles_of_curvatures(X)
    least = least_forms(Theta, heights, there, C)
    forms = area[:, None, None] * least
    if beside is None:
        return forms
    full = there.all(axis=1)
    for t in np.flatnonzero(~full & there.any(axis=1)):
        takers = [int(b) for b in beside[t] if b >= 0 and full[b]]
        if not takers:
            continue
        # in the plane of each taker: its own Θ, and what the boundary triangle leaves out, turned into its axes
        left = area[t] / len(takers) * (C - Theta[t].T @ least[t] @ Theta[t])
        for taker in takers:
            B = curvature_turn(X[t, :3], X[taker, :3])
            S = np.linalg.solve(C, Theta[taker].T @ least[taker])  # κ of the taker from its angles: C⁻¹ Θᵀ (Θ C⁻¹ Θᵀ)⁻¹
            forms[taker] += S.T @ B.T @ left @ B @ S
    return forms


def curvature_turn(target: np.ndarray, source: np.ndarray) -> np.ndarray:
    """(3, 3) κ in the axes of a triangle `target` from κ in those of `source`, one edge apart and unfolded."""
    common = [(i, j) for i in range(3) for j in range(3) if (target[i] == source[j]).all()][:2]
    (i, j), (k, l) = common
    directions = []
    for corners, (a, b) in ((target, (i, k)), (source, (j, l))):
        U, _ = rest_triangles(corners[None], "ShellBending")
        flat = np.concatenate([np.zeros((2, 1)), U[0]], axis=1).T
        d = flat[b] - flat[a]
        directions.append(np.arctan2(d[1], d[0]))
    c, s = np.cos(directions[0] - directions[1]), np.sin(directions[0] - directions[1])
    # κ' = R κ Rᵀ with R = ((c, −s), (s, c))
    return np.array([[c * c, s * s, -2 * c * s], [s * s, c * c, 2 * c * s], [c * s, -c * s, c * c - s * s]])
