"""Trees of joints: factor and solve Jᵀ (blkdiag(B) + N) J + D, in linear time.

Here: `aba` (articulated-body elimination, no couplings), `pcg` (couplings N by conjugate gradients), `multifrontal` (directly, by the
`multifrontal_plan` of an `elimination_order` chosen from the graph).
"""
