"""Momentum of sweeps: one is taken for the step of a gradient method, and the next goes on from there as Nesterov's does.

    x⁺ = S(y),    y⁺ = x⁺ + β (x⁺ − x),    β = min((t − 1) / t⁺, FASTEST),    t⁺ = (1 + √(1 + 4 t²)) / 2

t is 1 again where x⁺ − y turns against x⁺ − x, or has grown.
"""

from __future__ import annotations

import math

from unibody.kernel import device

FASTEST, GROWS = 0.9, 1.5
"""The largest β; by how much ‖x⁺ − y‖² may grow before momentum begins anew."""


@device
def agreement(now, last, way):
    """(now − last − way) · (now − last): below zero where a sweep turns back from where the way led."""
    total = 0.0
    for i in range(now.size):
        step = now[i] - last[i]
        total += (step - way[i]) * step
    return total


@device
def carry_on(beta, now_out, last_out, way_out):
    """`now` is kept, and goes on by β times what it has changed."""
    for i in range(now_out.size):
        now = now_out[i]
        way = beta * (now - last_out[i])
        way_out[i] = way
        last_out[i] = now
        now_out[i] = now + way


@device
def hurry(size, smallest, speed, now_out, last_out, way_out, motion_out, motion_last_out, motion_way_out):
    """From the end of a sweep that changed x by ‖x⁺ − y‖² = size to where the next one begins: the smallest size, and t."""
    if size > GROWS * smallest or agreement(now_out, last_out, way_out) < 0.0:
        speed, smallest = 1.0, size
    faster = 0.5 + math.sqrt(0.25 + speed * speed)
    beta = min((speed - 1.0) / faster, FASTEST)
    carry_on(beta, now_out, last_out, way_out)
    carry_on(beta, motion_out, motion_last_out, motion_way_out)
    return min(smallest, size), faster
