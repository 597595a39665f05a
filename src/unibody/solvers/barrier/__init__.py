"""Barrier: affine bodies that never intersect, in a minimisation per step (paper 003).

Lives here: `solver` (options), `step` (the algorithm) with `affine_system` (what does not change), `memory`, `driven_bodies`,
`normal_acceleration` (of starts) and `start_iterate`; `incremental_potential` (Eq. 1: a list of potentials, Newton's directions) with
`rigid_correction`, and its potentials: `body_potential` (inertia, stiffness, loads) with `body_stiffness`, `contact_potential` (barrier,
friction, dampers) with `contact_stiffness` and `body_laws`, `measure_potential` (limits, equations) with `measured_elements` and
`measure_steps`, `constraint_rows` (any other constraint, what joints leave open) with `element_loads`, `forces` (springs; forces that are
linear over a step); for the record: `observation`, `instant`. Nobody here asks for an element's class.
"""

from unibody.solvers.barrier.solver import Barrier

__all__ = ["Barrier"]
