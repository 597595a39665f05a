"""Trees of joints: factor and solve Jᵀ (blkdiag(B) + N) J + D, in linear time.

Here: `aba` (articulated-body elimination, no couplings), `pcg` (couplings N by conjugate gradients), `multifrontal` (directly, in the order
that `elimination_order` chooses from the graph).
"""
