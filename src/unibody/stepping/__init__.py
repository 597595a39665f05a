"""Stepping: what complementarity, impulse and penalty share, time stepping on velocities with impulses (paper 002 §3.1).

Lives here: the step (`time_stepping`), its problem (`step_problem`, `step_arrays`, `step_solution`, `impulses`, `impacts`), dynamics whose
rows are impulses (`impulse_dynamics`, `_reduced`, `_maximal`, `forest_system`), `body_motion`, M⁻¹Jᵀ by islands (`islands`, `island_…`,
`tree_delassus`, `constraint_responses`), contacts as rows (`contact_rows`, `_rates`, `midpoint_rows`), `contact_margin`,
`inactive_contacts`, `depenetration`, what holds over a step (`stiction`, `carried_rows`, `predicted_rows`, `midpoint_coriolis`,
`implicit_joints`), `reactions`, `joint_friction`, `memory`; slots in `workspace`.
May import: rules, contact, collision, coordinates and all below; never a solver. May write: the arenas of its systems, its own arrays.
To add one more: a piece that two solvers need, in a file of its own; what one needs stands beside that solver.
"""
