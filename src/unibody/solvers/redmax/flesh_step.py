"""Deformables in a linearly implicit step (paper 000, Eq. 6, with attachments eliminated instead of held by multipliers).

With A = M + h D + h² K over all vertices, D and K those of −∂W/∂x made positive semidefinite, v⁺ = v + h a and attached vertices Γ V:

    [H_ff  H_fb] [a_f]   [R_f]        R = Tᵀ (weight − ∂W/∂x − (D + h K) v + forces of elements)
    [H_bf  S̃  ] [x_b] = [R_b]        S̃: the bodies' own equations, with H_bb

so the bodies see S = H_bb − H_bf H_ff⁻¹ H_fb among their implicit terms and R_b − H_bf H_ff⁻¹ R_f among their loads (`flesh_matrix`),
whatever way the step then solves Eq. 2. With their accelerations x_b found, a_f = H_ff⁻¹ (R_f − H_fb x_b), v⁺ = v + h a_f, x⁺ = x + h v⁺.

A Newton correction of a fully implicit rule (`implicit`) has the same matrix, with the stage's g for h; its right side is what is missing
of the balance at the guess (x, v, a) of the stage's end, with true accelerations of attached vertices, Γ V̇_b + Γ̇ V_b:

    R = Tᵀ (weight − ∂W/∂x − D v + forces of elements − M a)
"""

from __future__ import annotations

from math import inf, nan

from unibody.algebra.supernodal.border import recover_border
from unibody.arena import part
from unibody.coordinates.reduced.kinematics import advance_own
from unibody.coordinates.reduced.workspace import IMPLICIT_CHOICE, IMPLICIT_F, ROWS, STEP_LENGTH, X_SOLVED
from unibody.coordinates.stages import Kick, Stage
from unibody.coordinates.workspace import X_WB, F, Y
from unibody.energies.base import GRADIENT, PROJECTED
from unibody.kernel import Floats, Ints, cut, kernel
from unibody.solvers.redmax.flesh_matrix import attach_points, couple_bodies, factor_flesh, fill_point_blocks, reduce_forces
from unibody.solvers.redmax.flesh_rows import add_rows_to_reduced
from unibody.solvers.redmax.flesh_vertices import accelerate_vertices, load_vertices, multiply_stencils, strain_vertices

from unibody.solvers.redmax.flesh_workspace import (  # isort: skip
    BORDER_BODY, COLUMN_FIRST, CORRECTING, FACTOR, FACTOR_AT, FIRST_Q, FIRST_V, FLESH_ADDRESSES, FLESH_CHOICE, FREE_VERTEX, KKT, LOWER,
    LOWER_FIRST, ORDER, REDUCED, ROWS_ALONE, ROW_STATE, SOLVE_SCRATCH, STORED, UNKNOWNS, VERTEX_A, VERTEX_F, VERTEX_MASS, VERTEX_V,
    VERTEX_WAY,
)  # fmt: skip
from unibody.solvers.redmax.linear import fill_implicit
from unibody.solvers.redmax.matrix import twist_of_body


@kernel
def fill_implicit_with_flesh(
    layout: Ints, ints: Ints, constants: Floats, control: Floats, project: int, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """The implicit terms of all forces, then those of deformables; for a Newton correction, IMPLICIT_F is what deformables leave alone."""
    fill_implicit(layout, ints, constants, control, project, work_out, q_out, v_out)
    h = part(constants, layout, IMPLICIT_CHOICE)[STEP_LENGTH]
    extra = part(work_out, layout, IMPLICIT_F)
    # loads: R
    strain_vertices(layout, ints, constants, PROJECTED if h > 0.0 else GRADIENT, work_out)
    if part(constants, layout, FLESH_CHOICE)[CORRECTING] > 0.0:
        extra[:] = 0.0
        miss_balance(layout, ints, constants, work_out)
    else:
        load_vertices(layout, ints, constants, part(work_out, layout, F), extra, work_out)
        if h > 0.0:
            w, u = part(work_out, layout, VERTEX_WAY), part(work_out, layout, VERTEX_V)
            multiply_stencils(layout, ints, constants, h, 1.0, 1, w, u, work_out, part(work_out, layout, VERTEX_F))
    # H, its factor and S; or H alone, for the paper's form
    fill_point_blocks(layout, ints, constants, work_out)
    state = part(work_out, layout, ROW_STATE)
    if state.size > 0:
        state[0] = 1.0
    if part(constants, layout, FLESH_CHOICE)[KKT] > 0.0:
        if part(constants, layout, FLESH_CHOICE)[ROWS_ALONE] > 0.0:
            part(work_out, layout, VERTEX_F)[:] = 0.0
        if not part(work_out, layout, STORED)[0] < inf:
            part(work_out, layout, VERTEX_F)[:] = nan
        return
    attach_points(layout, ints, constants, work_out)
    bad = factor_flesh(layout, ints, work_out)
    couple_bodies(layout, ints, work_out)
    f, room, y = part(work_out, layout, VERTEX_F), part(work_out, layout, UNKNOWNS), part(work_out, layout, REDUCED)
    reduce_forces(layout, ints, constants, f, work_out, room, y, extra)
    if part(constants, layout, FLESH_CHOICE)[ROWS_ALONE] > 0.0:
        y[:] = 0.0
    if bad >= 0 or not part(work_out, layout, STORED)[0] < inf:  # matter is where it must not be: nothing here means anything
        y[:] = nan
        extra[:] = nan


@kernel
def miss_balance(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """VERTEX_F: weight − ∂W/∂x − D v + forces of elements − M a, with masses that no body has."""
    f = part(work_out, layout, VERTEX_F)
    mass = part(constants, layout, VERTEX_MASS)
    a = part(work_out, layout, VERTEX_A)
    u = part(work_out, layout, VERTEX_V)
    accelerate_vertices(layout, ints, constants, work_out)
    load_vertices(layout, ints, constants, part(work_out, layout, F), part(work_out, layout, IMPLICIT_F), work_out)
    multiply_stencils(layout, ints, constants, 0.0, 1.0, 0, u, u, work_out, f)
    for i in range(mass.size):
        for m in range(3):
            f[3 * i + m] -= mass[i] * a[3 * i + m]


@kernel
def recover_vertices(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """UNKNOWNS: a_f of the free vertices, then x_b of the border, from the bodies' accelerations in X_SOLVED and the rows' multipliers."""
    if part(constants, layout, FLESH_CHOICE)[KKT] > 0.0:
        none = cut(work_out, 0, 0)
        Stage(part(ints, layout, FLESH_ADDRESSES)[2], layout, ints, constants, none, work_out, none, none)
        return
    if part(work_out, layout, ROW_STATE).size > 0:
        add_rows_to_reduced(layout, ints, constants, work_out)
    X = part(work_out, layout, X_WB)
    rows = part(work_out, layout, ROWS)
    x = part(work_out, layout, X_SOLVED)
    border = part(ints, layout, BORDER_BODY)
    y = part(work_out, layout, REDUCED)
    first = 3 * part(ints, layout, FREE_VERTEX).size
    for k in range(border.size):
        twist = twist_of_body(X, rows, border[k], x)
        for m in range(6):
            y[first + 6 * k + m] = twist[m]
    recover_border(
        part(ints, layout, COLUMN_FIRST), part(ints, layout, LOWER_FIRST), part(ints, layout, LOWER), part(ints, layout, FACTOR_AT),
        part(ints, layout, ORDER), part(work_out, layout, FACTOR), part(work_out, layout, SOLVE_SCRATCH), y,
        part(work_out, layout, UNKNOWNS),
    )  # fmt: skip


@kernel
def kick_with_vertices(layout: Ints, ints: Ints, constants: Floats, h: float, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """The end of a step: free vertices by v⁺ = v + h a, x⁺ = x + h v⁺; then the joints."""
    recover_vertices(layout, ints, constants, work_out)
    choice = part(constants, layout, FLESH_CHOICE)
    first_q, first_v = int(choice[FIRST_Q]), int(choice[FIRST_V])
    a = part(work_out, layout, UNKNOWNS)
    for k in range(3 * part(ints, layout, FREE_VERTEX).size):
        v_out[first_v + k] += h * a[k]
        q_out[first_q + k] += h * v_out[first_v + k]
    kick = part(ints, layout, FLESH_ADDRESSES)[0]
    if kick != 0:
        Kick(kick, layout, ints, constants, h, work_out, q_out, v_out)
        return
    y = part(work_out, layout, Y)
    for j in range(y.size):
        v_out[j] += h * y[j]
    advance_own(layout, ints, constants, q_out, v_out, h, q_out)
