"""Trees of joints: factor and solve Jᵀ (blkdiag(B) + N) J + D, in linear time.

Here: `aba` (articulated-body elimination, no couplings), `factor` (the same kept, for many right sides), `pcg` (couplings N by conjugate
gradients), `multifrontal` and `multifrontal_solve` (directly, by the `multifrontal_plan` of an `elimination_order` chosen from the graph).
"""
