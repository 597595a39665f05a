"""Momentum of sweeps: one is taken for the step of a gradient method, and the next goes on from there as Nesterov's does.

    x⁺ = S(y),    y⁺ = x⁺ + β (x⁺ − x),    β = min((t − 1) / t⁺, FASTEST),    t⁺ = (1 + √(1 + 4 t²)) / 2

t is 1 again where x⁺ − y turns against x⁺ − x, or has grown. A sweep carries each block on itself where it meets it, so that x and what it
was before pass through memory once; motions, which every block looks at, are carried on before.
"""

from __future__ import annotations

import math

from unibody.kernel import device

FASTEST, GROWS = 0.9, 1.5
"""The largest β; by how much ‖x⁺ − y‖² may grow before momentum begins anew."""


@device
def nesterov_momentum(size, agreement, smallest, speed):
    """After a sweep that changed x by ‖x⁺ − y‖² = size, with (x⁺ − y) · (x⁺ − x) = agreement: the smallest size, t, and β of the next."""
    if size > GROWS * smallest or agreement < 0.0:
        speed, smallest = 1.0, size
    faster = 0.5 + math.sqrt(0.25 + speed * speed)
    return min(smallest, size), faster, min((speed - 1.0) / faster, FASTEST)


@device
def carry_on(beta, now_out, last_out):
    """`now` is kept, and goes on by β times what it has changed."""
    for i in range(now_out.size):
        now = now_out[i]
        if beta > 0.0:
            now_out[i] = now + beta * (now - last_out[i])
        last_out[i] = now
