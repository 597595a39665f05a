"""Reduced coordinates: the generalised vectors are coordinates and velocities of the tree joints.

Lives here: `kinematics` (the sweep from root to leaves), `products` (J v, Jᵀ F, inverse dynamics, mass matrix), `dynamics` (accelerations;
loops by anticipation), `row_responses`, `careful_projection` (onto rows near singular places), `system` with its `tables` and `workspace`,
`observe`.
"""
