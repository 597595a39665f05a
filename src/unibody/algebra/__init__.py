"""Problems and the algorithms that solve them: matrices, operators and right-hand sides, never a body or a joint by name.

Lives here: `tree` (articulated-body elimination), `coupled_tree` (with couplings, by conjugate gradients), `contraction` (directly, as
`contraction_plan` orders), `tree_ldl`, `tree_ldl_planar` (linear-time Lagrange multipliers), `saddle` (by Schur complement, dense LDLᵀ),
`auxiliary` (constraints beyond the forest), `block_solve` (12×12 blocks), `joined_solve` (joined bodies), `minimise` (Newton's method),
`least_change` (nearest on rows), `dense`, `qp`, `lcp` (Lemke), `contact_problem`, `contacts` (friction; a `contact_*` file each way,
`contact_groups` for W over trees), `contact_modes` (all solutions at an instant), `group_sweeps` (joint by joint), `soft_contacts`,
`soft_answers` (that give way), `staggered`, `bounded_friction` (staggered projections), `blocks6`, `cyclic` (6×6 blocks), `tree_plan`.
May import: `unibody.kernel`, `triple`, `spatial`, numpy, and scipy or piqp inside functions; no other room of the house.
May write: only arguments whose names end in `_out`; nothing is remembered between calls, failure is a returned number.
One more algorithm is one more file: its mathematics in the paper's symbols, flat arrays, kernels, and a test in
`tests/unit/algebra` against a dense computation in numpy.
"""
