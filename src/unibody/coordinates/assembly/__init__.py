"""Consistent starts: positions and velocities on all joints, loops, couplings, drives and limits, by least change.

Lives here: `assemble` (what `ub.assemble` does), `rows` (what has to hold), `outcome` (what was changed, what is ambiguous or impossible).
"""
