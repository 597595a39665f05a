"""Affine coordinates: twelve numbers a body, a point and three material vectors (paper 003 §3.2).

Lives here: `body` (mass, stiffness, polar decomposition), `points` (of bodies, by weights), `control_points` (of bodies and vertices
of deformables: known, unknown, following others), `joints` (linear equations by change of variables) with `rows` and `basis`,
`links` (virtual links between bodies that joints hold otherwise), `measures` (angles, slides, distances that elements offer); elements
at rigid projections: `polar` (kernels), `rigid_view` (poses, joint coordinates), `forces` (class by class).
"""
