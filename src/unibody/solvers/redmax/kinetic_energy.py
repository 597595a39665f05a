"""Kinetic energy that the forces of a step explain.

Inertial forces do no work by themselves, but a linearly implicit step takes those of its beginning, C(q, v), while masses go on changing:

    M a = f − C,     v⁺ = v + h a,     v̄ = v + h a / 2
    T(q, v⁺) − T(q, v) = h v̄·M a = h v̄·f − h v̄·C

All that forces of any kind (implicit, gravity, multipliers) did is W = h v̄·f; what T(q⁺, v⁺) has beyond T(q, v) + W came from nowhere, and
is of the order of h². Body by body, with J the motion at q, δ = h J a and the wrench w = B J̇v + V ×* B V:  W = Σ (V + δ/2)·(B δ + h w).
"""

from __future__ import annotations

from unibody.algebra.tree.aba import BODY, RIGID, ROW, C, V, dot6, rigid_block, times_block
from unibody.arena import part
from unibody.coordinates.reduced.workspace import BODIES, ROWS, X_SOLVED
from unibody.coordinates.workspace import ARMATURE, GRAVITY, Y
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import add3, cross, load3, load6


@kernel
def work_of_step(layout: Ints, ints: Ints, constants: Floats, h: float, v: Floats, work_out: Floats) -> float:
    """W over a step of length h from v with the accelerations just found."""
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    x = part(work_out, layout, X_SOLVED)
    y = part(work_out, layout, Y)
    armature = part(constants, layout, ARMATURE)
    g = load3(part(constants, layout, GRAVITY), 0)
    total = 0.0
    for i in range(1, body.size // BODY):
        k = ROW * i
        block = rigid_block(rows, k + RIGID)
        a = load6(x, 6 * i)
        twist = load6(rows, k + V)
        c = load6(rows, k + C)
        # ζ carries −g as well, which is a force
        moved = times_block(block, (a[0] + c[0], a[1] + c[1], a[2] + c[2], a[3] + c[3] + g[0], a[4] + c[4] + g[1], a[5] + c[5] + g[2]))
        p = times_block(block, twist)
        o = load3(rows, k + V)
        l = load3(rows, k + V + 3)
        turn = add3(cross(o, (p[0], p[1], p[2])), cross(l, (p[3], p[4], p[5])))
        push = cross(o, (p[3], p[4], p[5]))
        force = (moved[0] + turn[0], moved[1] + turn[1], moved[2] + turn[2], moved[3] + push[0], moved[4] + push[1], moved[5] + push[2])
        total += h * (dot6(twist, force) + 0.5 * h * dot6(a, force))
    for j in range(y.size):
        total += armature[j] * h * y[j] * (v[j] + 0.5 * h * y[j])
    return total
