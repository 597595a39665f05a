"""Time rules: from accelerations to motion, for any coordinates.

Lives here: one file per rule; time stepping with impulses is `time_stepping` with `step_problem`, `step_arrays`, `impulses`, `impacts`,
`overlaps`, `nearness`, `bystanders` and `stepping_memory`; the same in one kernel is `contact_steps` with `contact_impulses`,
`contact_slots` and `contact_frame`; its laws without a step are `contact_instant`; previews are `impulse_steps`, with contact
`impulse_contacts`; contact by penalties `penalty_contacts`; the barrier's step is `barrier_steps` with `incremental` (its potential),
`barrier_*`, `affine_*`, `contact_damping` and `driven_bodies`. A rule knows a system only by its `Evaluate` address, its accelerations and
its joint classes (how q moves along v). `joint_friction`, `rubbing_*` (linearly implicit) and `stepping_friction` (impulses) find what
rubs in joints, `rubbings`.
May import: kernel, arena, frame, spatial, joints.base, contact and coordinates. May write: states, memories and records given to it.
To add one more: a kernel `roll_…` with the arguments of `roll_euler` in a file of its own; its measured order is tested in
`tests/contracts/test_solvers.py`.
"""
