"""Affine coordinates: twelve numbers a body, a point and three material vectors (paper 003 §3.2).

Lives here: `body` (mass, stiffness, polar decomposition), `joints` (linear joint equations by change of variables) with `rows` and
`basis`, `links` (virtual links between bodies that joints hold otherwise), `polar` (rigid projections and their derivatives in kernels).
"""
