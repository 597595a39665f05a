"""The saddle problem of maximal coordinates by sweeps: one joint after the other, as if no other were there.

The other way of impulse-based simulation, kept to be compared with: each sweep costs O(n), but a chain of n bodies needs O(n²) of them.
A joint is a group of its own rows, a constraint element too (in groups of at most six). Rows with compliance (armatures) are unknown here.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.saddle.gauss_seidel import factor_groups, sweep_groups
from unibody.arena import part
from unibody.coordinates.constraint_layout import ConstraintLayout
from unibody.coordinates.maximal.forest import hand_over
from unibody.coordinates.maximal.workspace import FACTOR, GROUPS, INVERSE, NODE_B, NODE_F, NODE_JOINT, NODE_Y, SIDE
from unibody.coordinates.relative_joints import JOINT
from unibody.coordinates.workspace import COUNTS, ENTRY_W, JOINTS, NODE_OF, PRIMARY, ROW_COUNT, TARGET, WIDTH
from unibody.kernel import Floats, Ints, device, kernel

SWEEPS = 10
"""Between two looks at what they have done."""


def make_groups(constraints: ConstraintLayout) -> np.ndarray:
    """The slot GROUPS: how many groups, their first rows and sizes, then where the entries of every row start, and the entries."""
    groups: list[int] = []
    row = 0
    while row < constraints.rows:
        end = row + 1
        while (
            end < constraints.rows and end - row < 6 and constraints.names[end] == constraints.names[row] and end != constraints.joint_rows
        ):
            end += 1
        groups += [row, end - row]
        row = end
    first = constraints.primary_rows
    starts = [*range(0, 2 * first, 2), *(2 * first + constraints.row_start)]
    return np.array([len(groups) // 2, *groups, *starts, *range(2 * first), *constraints.row_entry], np.int64)


@device
def sweep_rows(layout, ints, sweeps, work_out):
    """Sweeps for the right sides NODE_B and TARGET; y in NODE_Y."""
    table = part(ints, layout, GROUPS)
    counts = part(ints, layout, COUNTS)
    first = counts[PRIMARY]
    rows = counts[ROW_COUNT]
    width = counts[WIDTH]
    g = 1 + 2 * table[0]
    joints = part(ints, layout, JOINTS)
    node_joint = part(ints, layout, NODE_JOINT)
    b = part(work_out, layout, NODE_B)
    target = part(work_out, layout, TARGET)
    right = part(work_out, layout, SIDE)
    for i in range(node_joint.size // 2):
        k = node_joint[2 * i]
        if k >= 0:
            for r in range(joints[JOINT * k + 5]):
                right[joints[JOINT * k + 4] + r] = b[width * i + r]
    for r in range(target.size):
        right[first + r] = target[r]
    sweep_groups(
        sweeps, width, table[1:g], table[g : g + rows + 1], table[g + rows + 1 :], part(ints, layout, NODE_OF),
        part(work_out, layout, ENTRY_W), right[:rows], part(work_out, layout, FACTOR), part(work_out, layout, NODE_Y), right[rows:],
    )  # fmt: skip


@kernel
def solve_by_sweeps(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """Factors of all groups, then sweeps."""
    table = part(ints, layout, GROUPS)
    rows = part(ints, layout, COUNTS)[ROW_COUNT]
    g = 1 + 2 * table[0]
    factor_groups(
        part(ints, layout, COUNTS)[WIDTH], table[1:g], table[g : g + rows + 1], table[g + rows + 1 :], part(ints, layout, NODE_OF),
        part(work_out, layout, ENTRY_W), part(work_out, layout, INVERSE), part(work_out, layout, FACTOR),
    )  # fmt: skip
    solve_by_sweeps_again(layout, ints, constants, control, work_out, q_out, v_out)


@kernel
def solve_by_sweeps_again(
    layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Sweeps from the motion M⁻¹ f that nothing holds, with the factors at hand."""
    width = part(ints, layout, COUNTS)[WIDTH]
    f = part(work_out, layout, NODE_F)
    y = part(work_out, layout, NODE_Y)
    inverse = part(work_out, layout, INVERSE)
    for i in range(y.size // width):
        for m in range(width):
            total = 0.0
            for j in range(width):
                total += inverse[(width * i + m) * width + j] * f[width * i + j]
            y[width * i + m] = total
    sweep_rows(layout, ints, SWEEPS, work_out)
    hand_over(layout, ints, work_out)
