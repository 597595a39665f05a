"""Constraints: the saddle problem M a = f + Jᵀ λ, J a = c of bodies and rows.

Here: `baraff`, `baraff_planar` (block LDLᵀ of a forest, linear time; `forest` orders it), `schur` (the Schur complement, and dense LDLᵀ),
`auxiliary` (rows beyond the forest), `gauss_seidel` (groups of rows, one after the other).
"""
