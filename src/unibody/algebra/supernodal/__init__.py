"""Sparse Cholesky factors A = L Lᵀ of symmetric positive definite matrices: supernodal, multifrontal, one thread, the same bits every time.

Lives here: `plan` (what callers use: `SupernodalPlan.of`, `plan.factor`, `factor.solve`), `entries` (patterns of matrices and blocks),
`graph`, `dissection` and `minimum_degree` (orders of elimination), `symbolic` and `layout` (supernodes), `front` and `numeric` (kernels).
May import: `unibody.kernel`, `unibody.triple` and numpy; no BLAS, whose threads and kernels differ from machine to machine.
A matrix that is not positive definite is refused with the number of a row. One more order of elimination is one more file, named in
`plan.elimination_order`, and a test in `tests/unit/algebra/supernodal` against dense numpy.
"""
