"""Problems and the algorithms that solve them: matrices, operators and right-hand sides, never a body or a joint by name.

Lives here: `tree` (trees of joints), `saddle` (bodies and constraints), `contact` (contact with friction), `friction` (in joints),
`block` (matrices of small blocks), `supernodal` (sparse Cholesky); and what all share: `dense`, `qp`, `lcp` (Lemke),
`minimise` (Newton's method), `anderson` (mixing), `least_change` (nearest on rows).
May import: `unibody.kernel`, `triple`, `spatial`, numpy, and scipy or piqp inside functions; nothing else of this package.
May write: only arguments whose names end in `_out`; nothing is remembered between calls, failure is a returned number.
One more algorithm is one more file in the folder of its problem: its mathematics in the paper's symbols, flat arrays, kernels, and a test
in `tests/unit/algebra` against a dense computation in numpy.
"""
