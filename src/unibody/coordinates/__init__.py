"""Coordinates: from bodies and joint coordinates to the generalised vectors (q, v) and back.

Lives here: reduced coordinates (tree joints), maximal ones (every body free, joints as rows), planar ones (the same in a plane), affine
ones (linear joints by change of variables, virtual links), joints seen from outside, constraint rows, steps of bodies that fly (`kick`),
rows seen at the end of a step (`preview`) or solved joint by joint (`sweeping`), implicit terms and steps (`redmax_matrix`, `_rows`,
`_linear`, `_response`, and `redmax` that puts them together), the systems that bind a model to arrays, and those whose rows are solved
elsewhere, by impulses (`held`, `held_reduced`, `_maximal`, `_reactions`; `grouping`, `group_…`, `maximal_answers`: what answers to what;
`middle`: Coriolis terms in the middle of a step; `stiff_joints`: efforts at its end; `carried`: rows carried to its end; `staying`: what
sticks stays; `careful`: projection with the rows of every place) or as penalties (`penalised`, `held_penalised`); `instant`: a model at
one configuration, dense; `assembly`, `assembly_rows`, `assembled`: consistent starts.
May import: everything above it in the house (algebra, elements, model). May write: the work arenas of its systems.
To add one more: a system with `evaluate`, `push`, `pull`, `advance` and `convert`, in a file of its own.
"""
