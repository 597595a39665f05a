"""Problems and the algorithms that solve them: matrices, operators and right-hand sides, never a body or a joint by name.

Lives here: `tree` (the articulated-body elimination), `coupled_tree` (trees with couplings across, by conjugate gradients), `contraction`
(the same directly, in the order that `contraction_plan` chooses), `tree_ldl` and `tree_ldl_planar` (linear-time Lagrange multipliers),
`saddle` (the same problem by Schur complement and by dense LDLᵀ), `auxiliary` (constraints beyond the forest, by minimum norm),
`block_solve` (12×12 blocks), `joined_solve` (the same for bodies that joints connect), `minimise` (Newton's method), `dense` (small
Cholesky and LDLᵀ), `qp` (bounded quadratic programs), `lcp` (Lemke's pivoting), `contact_problem` and `contacts` (contact with friction
and what solves it, one `contact_*` file each), `staggered` (staggered projections), `blocks6` (6-vectors and symmetric 6×6 blocks as
tuples), `tree_plan` (topology, once).
May import: `unibody.kernel`, `spatial.devices`, numpy, and scipy or piqp inside functions; no other room of the house.
May write: only arguments whose names end in `_out`; nothing is remembered between calls, failure is a returned number.
One more algorithm is one more file: its mathematics in the paper's symbols, flat arrays, kernels, and a test in
`tests/unit/algebra` against a dense computation in numpy.
"""
