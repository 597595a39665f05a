"""What the tree factorisations need to know of a forest's topology, computed once."""

from __future__ import annotations

import numpy as np

from unibody.kernel import Ints


def make_plan(parent: Ints, sizes: Ints) -> Ints:
    """Per body where its run of `sizes[i]` numbers starts in the factor, and its role; then the factor's length.

    The role is 1 for a body that has children, plus 2 for the body whose joint is the first of its parent's to be eliminated:
    that one starts the parent's sums from the parent's own M and f, so that no sum needs to be cleared.
    """
    n = parent.size
    plan = np.zeros(2 * n + 1, np.int64)
    plan[2::2] = np.cumsum(sizes)
    last_child = np.full(n + 1, -1)
    np.maximum.at(last_child, parent, np.arange(n))
    plan[1::2] += last_child[:n] >= 0
    plan[1::2] += 2 * ((parent >= 0) & (last_child[parent] == np.arange(n)))
    return plan
