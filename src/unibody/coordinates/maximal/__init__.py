"""Maximal coordinates: every moving body has its own pose and twist, and every joint is rows (paper 001); planar ones in a plane.

Lives here: `dynamics` (the saddle problem of an instant), `forest` (the spanning forest that is factored in linear time), `system` with its
`tables` and `workspace`, `projection` (onto constraints after or within a step), `block_gauss_seidel` (joint by joint, for comparison),
`observe`.
"""
