"""Barrier: affine bodies that never intersect, in a minimisation per step (paper 003).

Lives here: `solver` (options), `step` (the algorithm) with `affine_system` (what does not change), `memory`, `driven_bodies`,
`start_iterate`; `incremental_potential` (Eq. 1: a list of potentials, Newton's directions) and its potentials: `body_potential` (inertia,
stiffness, loads), `contact_potential` (barrier, friction, dampers) with `contact_stiffness` and `body_laws`, `measure_potential` (limits,
equations) with `measured_elements` and `measure_steps`, `constraint_rows` (any other constraint, what joints leave open) with
`element_loads`, `forces` (springs; forces that are linear over a step); for the record: `observation`, `instant`. Nobody here asks for an
element's class.
"""

from unibody.solvers.barrier.solver import Barrier

__all__ = ["Barrier"]
