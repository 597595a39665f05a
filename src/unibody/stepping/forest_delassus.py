"""J and Y = M⁻¹ Jᵀ of wrenches in maximal coordinates, island by island, from what each body's six unit wrenches do.

Groups do not feel each other, so that unit wrenches on one body of every island are one load on the forest: six loads for every body of the
largest island, whatever the number of islands and of rows. A wrench on a body responds with the sum of its units' responses.
"""

from __future__ import annotations

import numpy as np

from unibody.kernel import Floats, Ints, kernel


def unit_loads(seat: np.ndarray, T: np.ndarray) -> np.ndarray:
    """(loads, 6n) unit wrenches of all nodes, node i's at 6 seat[i] … 6 seat[i] + 5; T: (n, 6, 6) from wrenches at centres of mass, in
    world axes, to those at origins, in the bodies' own."""
    n = len(seat)
    out = np.zeros((6 * (int(seat.max(initial=-1)) + 1), n, 6))
    out[6 * seat[:, None] + np.arange(6), np.arange(n)[:, None]] = T.transpose(0, 2, 1)
    return out.reshape(len(out), 6 * n)


@kernel
def combine_units(
    first: Ints, column: Ints, island: Ints, seat: Ints, node: Ints, islands: Ints, place: Ints, bodies: Ints, rows: int, wrenches: Floats,
    T: Floats, responses: Floats, J_out: Floats, Y_out: Floats,
) -> None:  # fmt: skip
    """Blocks of `rows` wrenches (rows, 2, 6) on pairs of bodies, added to zeros. island, seat: of nodes, 6n numbers a row of
    `responses`."""
    width = 6 * seat.size
    for k in range(bodies.size // 2):
        p = place[k]
        for side in range(2):
            g = islands[2 * k + side]
            if g < 0:
                continue
            size = first[g + 1] - first[g]
            for s in range(2):
                i = node[bodies[2 * k + s]]
                if i < 0 or island[i] != g:
                    continue
                for r in range(rows):
                    w = 12 * (rows * k + r) + 6 * s
                    for j in range(size):
                        c = column[first[g] + j]
                        at = 6 * width * seat[i] + c
                        total = 0.0
                        for b in range(6):
                            total += wrenches[w + b] * responses[at + width * b]
                        Y_out[p + rows * j + r] += total
                        if c // 6 == i:
                            own = 0.0
                            for b in range(6):
                                own += T[36 * i + 6 * (c % 6) + b] * wrenches[w + b]
                            J_out[p + rows * j + r] += own
            p += rows * size
