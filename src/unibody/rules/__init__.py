"""Time rules: from accelerations to motion, for any coordinates.

Lives here: one file per rule (`euler`, `runge_kutta`, `dormand_prince`), what a rule is (`time_rule`), and what rules share (`base`). A
rule knows a system only by its `Evaluate` address, its accelerations and its joint classes (how q moves along v). Rules that belong to one
method stand beside it: the implicit ones in `solvers.redmax`, time stepping in `stepping`.
May import: kernel, arena, joints.base and coordinates. May write: states, memories and records given to it.
To add one more: a class derived from `TimeRule` with a name, an order and a kernel `step`, in a file of its own (yours or ours); its
measured order is tested in `tests/contracts/test_solvers.py`.
"""

from unibody.exports import exported

__all__ = exported(globals())
