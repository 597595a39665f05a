"""Barrier: affine bodies that never intersect, in a minimisation per step (paper 003).

Lives here: `solver` (options), `step` (predictions, Newton's method, memory), `incremental_potential` (Eq. 1–3) with `body_terms`;
elements: `measures` (angles, slides, distances with derivatives) in `measure_tables`, `_potentials`, `_terms`, `measured_elements`;
`forces` (by their kernels), `elements` (any, at rigid poses), `lagged_forces`, `rigid_maps`, `pull`, `joint_angles`; contact:
`contact_damping`, `contact_stiffness`, `body_laws`, `contacts`, `recorded_contacts`; `driven_bodies`; seen: `observation`, `instant`.
"""

from unibody.solvers.barrier.solver import Barrier

__all__ = ["Barrier"]
