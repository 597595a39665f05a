"""Coordinates: from bodies and joint coordinates to the generalised vectors (q, v) and back.

Lives here: `reduced` (tree joints), `maximal` (every body free, joints as rows; planar ones are the same in a plane), `affine` (twelve
numbers a body); what they share: joints seen from outside (`relative_joints`), the list of constraint rows (`constraint_layout`), their
evaluation and closure, external and implicit forces, functions of time (`signals`), steps of bodies that fly (`kick`), the arrays of a
bound system (`workspace`, `stages`) and what is observed; `assembly`: consistent starts; `instant`: a model at one configuration, dense.
May import: algebra, elements, model and all that these import. May write: the work arenas of its systems.
To add one more: a system with `evaluate`, `push`, `pull`, `advance` and `convert`, in a folder of its own.
"""
