"""Contact with friction as an algebraic problem: u = W λ + b, a law per block of rows.

The data: `problem`, `delassus` (W = J M⁻¹ Jᵀ in factors over islands of velocities), `scaling` (variables in which cones are round),
`cones` (projections, and maps that are zero at solutions). The methods: `solve` (one problem, all of them); `pgs` (projected Gauss–Seidel
with `local_solve`, `pgs_layout`, `pgs_packing`), `newton` (nonsmooth), `augmented` with `proximal_newton`, `interior_point`, `admm`,
`de_saxce` (Coulomb's law by convex problems), `polyhedral` (Lemke's pivoting). Other problems: `compliant` (contacts that give way),
`depenetration` (positions parted), `modes` with `mode_parts` (all solutions at an instant).
"""
