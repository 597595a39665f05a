"""Barrier: affine bodies, cloth, rods and solids that never intersect, in a minimisation per step (paper 003).

Lives here: `solver` (options), `system` (a model bound to them), `step` (the algorithm) with `prediction` (the time rule), `posed_step`
(Ψ, Eq. 1), `driven_bodies`, `start_iterate` and `outcome`; `affine_system`, `memory`, `normal_acceleration`, `refused_starts`;
`incremental_potential` (a list of potentials, Newton's directions) with `rigid_correction`, and its potentials: `body_…` (inertia,
stiffness, loads), `contact_…` (barrier, friction, dampers) with `body_laws`, `measure_…` with `measured_elements` (limits, equations),
`constraint_rows` (any other constraint, what joints leave open) with `element_loads`, `forces`; of vertices `vertex_potential` (inertia),
`energy_potential` (matter), `point_contact` and `deformable_surfaces`; for the record: `observation`, `vertex_observation`,
`damped_contacts`, `drive_work`, `instant`. Nobody here asks for an element's class.
"""

from unibody.solvers.barrier.solver import Barrier

__all__ = ["Barrier"]
