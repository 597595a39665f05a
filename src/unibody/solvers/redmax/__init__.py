"""RedMax: linearly implicit dynamics in reduced coordinates, with stiff forces between any bodies (paper 000).

Lives here: `solver` (options), `linearly_implicit` and `implicit` (the time rules), `step` (Eq. 2 for one step) with `matrix`, `rows`,
`unilateral` (Eq. 4, 5, 7), `linear` (ways to solve it), `system` and `workspace` (arrays); friction in joints (§5): `joint_friction`,
compiled in `friction_projections` and `friction_steps`, with `effort_response`; deformables (Eq. 6): `flesh_step`, with `flesh_vertices`,
`flesh_matrix`, `flesh_tables`, `flesh_rows` (Eq. 5), `flesh_kkt`, `flesh_workspace`, `flesh_system`, `flesh_bound` and `flesh_reactions`.
"""

from unibody.solvers.redmax.solver import RedMax

__all__ = ["RedMax"]
