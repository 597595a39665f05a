"""Rows of loops and constraints on the tree: a row as a load, and what the responses M⁻¹ Gᵀ of all rows say of each other.

    G M⁻¹ Gᵀ      the Gram matrix of the rows, from responses that stand in RESPONSE_X (of bodies) and RESPONSE_Y (of joint velocities)
"""

from __future__ import annotations

from unibody.arena import part
from unibody.coordinates.loop_closure import close_rows, fill_reference

from unibody.coordinates.workspace import (  # isort: skip
    CLOSURE, COMPLIANCE, DOF_INDEX, DOF_START, ENTRY_BODY, ENTRY_W, GRAM, J, LOAD, MASSES, NODE_OF, RESPONSE_X, RESPONSE_Y, ROW_ENTRY,
    ROW_START, Y,
)  # fmt: skip
from unibody.kernel import Floats, Ints, kernel


@kernel
def load_row(layout: Ints, ints: Ints, r: int, scale: float, work_out: Floats, f_out: Floats, right_out: Floats) -> None:
    """Add scale times row r of G, as wrenches on nodes and efforts on columns."""
    row_start = part(ints, layout, ROW_START)
    row_entry = part(ints, layout, ROW_ENTRY)
    entry_body = part(ints, layout, ENTRY_BODY)
    dof_start = part(ints, layout, DOF_START)
    dof_index = part(ints, layout, DOF_INDEX)
    world = part(work_out, layout, ENTRY_W)
    numbers = part(work_out, layout, J)
    for k in range(row_start[r], row_start[r + 1]):
        e = row_entry[k]
        for m in range(6):
            f_out[6 * entry_body[e] + m] += scale * world[6 * e + m]
    for k in range(dof_start[r], dof_start[r + 1]):
        right_out[dof_index[2 * k + 1]] += scale * numbers[dof_index[2 * k]]


@kernel
def close_responses(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """The Gram matrix of the rows from their responses, and what free bodies would give."""
    close_rows(
        6, part(ints, layout, ROW_START), part(ints, layout, ROW_ENTRY), part(ints, layout, NODE_OF), part(ints, layout, DOF_START),
        part(ints, layout, DOF_INDEX), part(work_out, layout, ENTRY_W), part(work_out, layout, J), part(constants, layout, COMPLIANCE),
        part(work_out, layout, RESPONSE_X), part(work_out, layout, RESPONSE_Y), part(work_out, layout, Y).size,
        part(work_out, layout, GRAM),
    )  # fmt: skip
    fill_reference(
        part(ints, layout, ROW_START), part(ints, layout, ROW_ENTRY), part(ints, layout, ENTRY_BODY), part(work_out, layout, ENTRY_W),
        part(constants, layout, MASSES), part(work_out, layout, CLOSURE),
    )  # fmt: skip


@kernel
def forget_response(layout: Ints, r: int, work_out: Floats) -> None:
    """A row that takes no part has no response."""
    nx, nv = part(work_out, layout, LOAD).size, part(work_out, layout, Y).size
    part(work_out, layout, RESPONSE_X)[nx * r : nx * (r + 1)] = 0.0
    part(work_out, layout, RESPONSE_Y)[nv * r : nv * (r + 1)] = 0.0
