"""Flush faces: where two shapes overlap by next to nothing along a face's normal, they have no other normal.

A contact's normal and gap say where the other shape must not go: n · Δx ≥ −gap. Beside a box whose top is level with the lowest point of
what comes along, its side would forbid a motion that is free: over the top, with an overlap of zero area. So of a face m with the
separation |s(m)| ≤ ε, to which the nearest points are not opposed,

    two boxes have no contact: there is no area in which they touch or would touch on their way;
    others keep their true gap, but along m. They may pass, and may fall by that gap: what rolls off an edge neither hangs in the air nor
    goes in, and once it has fallen by more than ε, it has its true normal again. Level with two faces, they have no contact, too.

ε is twice what solvers leave of an overlap (1e-6 m), for that is how deep bodies rest; less for shapes of less than 0.2 mm, and never less
than round-off. Steps higher than ε are steps.
"""

from __future__ import annotations

from unibody.kernel import device

FLUSH = 2e-6
"""[m] Overlaps and gaps along a face's normal up to this are none."""
SHARE = 1e-2
"""Of the least half side or radius: not more than this."""
ROUND_OFF = 1e-9
"""Of the size: not less than this."""


@device
def flush_within(least, size):
    """ε of two shapes with this least half side or radius, and of this size together."""
    return max(ROUND_OFF * size, min(FLUSH, SHARE * least))
