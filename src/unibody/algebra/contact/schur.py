"""(J M⁻¹ Jᵀ + C) d = r through the smaller and sparser matrix of the islands of six that J touches, where C is block diagonal and positive.

    (M + Jᵀ C⁻¹ J) y = Jᵀ C⁻¹ r,     d = C⁻¹ (r − J y)

A pile has several contacts to a body, and two bodies are coupled by the contacts between them only, while a contact is coupled with
all others of its two bodies. One step of refinement repairs what a small C costs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unibody.algebra.contact.scaling import Units


class IslandBlocks:
    """J and M of a problem in factors, in its units; the compliance belongs to C."""

    def __init__(self, units: Units):
        import scipy.sparse as sp

        W = units.problem.W
        n = len(W.inverse_mass)
        columns = (np.maximum(W.islands[units.keep], 0)[:, :, None] * 6 + np.arange(6)).ravel()
        self.J = sp.csr_array((units.J.ravel(), (np.repeat(np.arange(units.size), 12), columns)), shape=(units.size, 6 * n))
        self.JT = self.J.T.tocsr()
        self.M, self.inverse = (
            sp.bsr_array((blocks, np.arange(n), np.arange(n + 1)), shape=(6 * n, 6 * n))
            for blocks in (np.linalg.inv(W.inverse_mass), W.inverse_mass)
        )

    @classmethod
    def of(cls, units: Units) -> IslandBlocks | None:
        """Where W is in factors and every M⁻¹ has an inverse; else None."""
        if units.dense is not None:
            return None
        values = np.linalg.eigvalsh(units.problem.W.inverse_mass)
        return cls(units) if (values[:, 0] > 1e-12 * values[:, -1]).all() else None

    def solver(self, C, C_inverse) -> Callable[[np.ndarray], np.ndarray]:
        """r → d, for sparse C and its inverse."""
        import scipy.sparse.linalg as spl

        A = (self.M + self.JT @ C_inverse @ self.J).tocsc()
        factors = spl.splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

        def once(r: np.ndarray) -> np.ndarray:
            t = C_inverse @ r
            return t - C_inverse @ (self.J @ factors.solve(self.JT @ t))

        def solve(r: np.ndarray) -> np.ndarray:
            d = once(r)
            return d + once(r - self.J @ (self.inverse @ (self.JT @ d)) - C @ d)

        return solve
