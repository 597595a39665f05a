"""Curvatures of a triangle from the angles at its three hinges, so that every quadratic surface is seen as it is, on any mesh.

A triangle and the three beside it, unfolded into its plane, have six vertices: a height ½ κ_xx x² + ½ κ_yy y² + κ_xy x y over them makes

    θ_i = z_p/h_p + z_q/h_q  =  Σ Θ_iκ κ        (z: heights above the line of the edge, h: distances from it)

at hinge i, a linear function of κ = (κ_xx, κ_yy, κ_xy). With plate theory's density ½ κᵀ C κ,
C = D ((1, ν, 0), (ν, 1, 0), (0, 0, 2(1 − ν))), D = E t³/12(1 − ν²), the least energy of a triangle with these angles is

    W = ½ (θ − θ̄)ᵀ M (θ − θ̄),    M = A (Θ C⁻¹ Θᵀ)⁻¹,

which for three hinges is A/2 κᵀ C κ with κ = Θ⁻¹ θ: exact for every quadratic surface. A triangle at a boundary has fewer hinges: what
it bends where none tells is then as the least energy wants it, which is a free edge. That leaves out something of a bend along the edge,
and of a twist, which its neighbour with three hinges shows: c_tt (tᵀκt)² + c_nt (tᵀκn)² with t along the edge, and c such that a strip
that bends or twists freely, κ_nn = −ν κ_tt, has its plate energy to the edge, is added to the neighbour's. (Where triangles meet three at
a vertex, or are slivers, Θ is singular or nearly so: eigenvalues of Θ C⁻¹ Θᵀ, relative to what hinges of such heights usually have, are
not taken below `LEAST`, or the triangle would lock.)

On irregular meshes vertices move out of the quadratic surface and find less energy than a plate has: κ = Θ⁻¹ θ alone is too soft there
(a supported plate on random triangles bends 11 % too far, on alternating diagonals 74 %). The other formula at hand gives half of each turn
to either triangle,  κ = Σ θ_i l_i/2A n_i n_iᵀ  (n_i: normals of the edges in the plane), and is too stiff there (19 and 37 %). Both are the
same where hinges are symmetric, on equilateral triangles and grids with one diagonal. So M is a mean of both, `STIFF` of the latter: 2 % on
random triangles, see `docs/howto/materials.md`. A formula that converges on every mesh needs angles at edges as unknowns.
"""

from __future__ import annotations

import numpy as np

from unibody.energies.sheet import rest_triangles

HINGES = np.array([[1, 2, 0, 3], [2, 0, 1, 4], [0, 1, 2, 5]])
"""Of hinge i the numbers of a, b, p, q in the stencil: v₀ v₁ v₂ of the triangle, w₀ w₁ w₂ across the edges opposite them."""
LEAST = 0.05
STIFF = 0.3


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


def angles_of_curvatures(X: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of patches (n, 6, 3) whose triangles lie as U (n, 2, 2) in their planes: Θ (n, 3, 3), half the sum of both heights at each hinge
    (n, 3), whether there is a hinge (n, 3). Where a vertex across coincides with that of the triangle there is none, and Θ is 0."""
    flat = np.concatenate([np.zeros((len(X), 2, 1)), U], axis=2).transpose(0, 2, 1)  # (n, 3, 2) corners in the plane
    Theta, heights = np.zeros((len(X), 3, 3)), np.ones((len(X), 3))
    there: np.ndarray = np.any(X[:, 3:] != X[:, :3], axis=2)
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
    return Theta, heights, there


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


def halved_turns(U: np.ndarray, area: np.ndarray) -> np.ndarray:
    """(n, 3, 3) κ from θ, half of each turn for either triangle: Σ θ_i l_i/2A n_i n_iᵀ."""
    corners = np.concatenate([np.zeros((len(U), 1, 2)), U.transpose(0, 2, 1)], axis=1)
    edge = corners[:, [2, 0, 1]] - corners[:, [1, 2, 0]]
    l = np.linalg.norm(edge, axis=2)
    x, y = edge[:, :, 1] / l, -edge[:, :, 0] / l
    return np.stack([x * x, y * y, x * y], axis=1) * (l / (2.0 * area[:, None]))[:, None, :]


def bending_forms(X: np.ndarray, poisson: float, beside: np.ndarray | None = None) -> np.ndarray:
    """(n, 3, 3) M/D of patches (n, 6, 3); `beside`: the triangles across, or −1, of which those with three hinges bend for those with
    two; None: each patch for itself."""
    C = plate(poisson)
    U, area = rest_triangles(X[:, :3], "ShellBending")
    Theta, heights, there = angles_of_curvatures(X, U)
    least = least_forms(Theta, heights, there, C)
    full = there.sum(axis=1) == 3
    S = halved_turns(U, area)
    mean = STIFF * S.transpose(0, 2, 1) @ C @ S + (1.0 - STIFF) * least
    forms = area[:, None, None] * np.where(full[:, None, None], mean, least)
    if beside is None:
        return forms
    for k in np.flatnonzero(there.sum(axis=1) == 2):
        takers = [int(b) for b in beside[k] if b >= 0 and full[b]]
        # axes along the edge without a hinge and across it; what is left out of a free bend along it and of a twist
        i = int(np.argmin(there[k]))
        corners = np.concatenate([np.zeros((1, 2)), U[k].T])
        edge = corners[(i + 2) % 3] - corners[(i + 1) % 3]
        own = curvature_rotation(np.arctan2(edge[1], edge[0]))
        left = own.T @ (C - Theta[k].T @ least[k] @ Theta[k]) @ own
        bend = np.array([1.0, -poisson, 0.0])
        lost = np.diag([max(bend @ left @ bend, 0.0), 0.0, max(left[2, 2], 0.0)])
        for taker in takers:
            kappa = own.T @ curvature_turn(X[k, :3], X[taker, :3]) @ np.linalg.solve(C, Theta[taker].T @ least[taker])
            forms[taker] += area[k] / len(takers) * kappa.T @ lost @ kappa
    return forms


def curvature_rotation(angle: float) -> np.ndarray:
    """(3, 3) κ in axes from κ in axes that are turned by an angle from them: R κ Rᵀ with R = ((c, −s), (s, c))."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c * c, s * s, -2.0 * c * s], [s * s, c * c, 2.0 * c * s], [c * s, -c * s, c * c - s * s]])


def curvature_turn(target: np.ndarray, source: np.ndarray) -> np.ndarray:
    """(3, 3) κ in the axes of a triangle `target` from κ in those of `source`, which has a common edge, unfolded."""
    (i, j), (k, l) = [(a, b) for a in range(3) for b in range(3) if (target[a] == source[b]).all()][:2]
    directions = []
    for triangle, a, b in ((target, i, k), (source, j, l)):
        corners = np.concatenate([np.zeros((1, 2)), rest_triangles(triangle[None], "ShellBending")[0][0].T])
        d = corners[b] - corners[a]
        directions.append(np.arctan2(d[1], d[0]))
    return curvature_rotation(directions[0] - directions[1])
