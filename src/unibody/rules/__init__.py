"""Time rules: from accelerations to motion, for any coordinates.

Lives here: one file per rule (`euler`, `runge_kutta`, `dormand_prince`), what they share (`base`), and how memory is named
(`memory`). A rule knows a system only by its `Evaluate` address, its accelerations and its joint classes (how q moves along v).
Rules that belong to one method stand beside it: the implicit ones in `solvers.redmax`, time stepping in `stepping`.
May import: kernel, arena, joints.base and coordinates. May write: states, memories and records given to it.
To add one more: a kernel `roll_…` with the arguments of `roll_euler` in a file of its own; its measured order is tested in
`tests/contracts/test_solvers.py`.
"""
