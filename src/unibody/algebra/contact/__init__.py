"""Contact with friction as an algebraic problem: u = W λ + b, a law per block of rows.

Here: `problem` (the data), `solve` (one problem, all ways), `delassus` (W = J M⁻¹ Jᵀ in factors over islands of velocities), `scaling` and
`island_scaling` (units in which cones are round); the ways: `pgs` with `pgs_*` (sweeps), `newton`, `newton_dense`, `interior_point`,
`admm`, `augmented` with `augmented_*`, `de_saxce`, `polyhedral` (Lemke),
with `cones` and `slip_directions`; `compliant` (contacts that give way), `depenetration` (positions parted),
`modes` (all solutions at an instant).
"""
