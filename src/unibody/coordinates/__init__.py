"""Coordinates: from bodies and joint coordinates to the generalised vectors (q, v) and back.

Lives here: `reduced` (tree joints), `maximal` (every body free, joints as rows; planar ones are the same in a plane), `affine` (twelve
numbers a body); what they share: joints seen from outside (`relative_joints`), the list of constraint rows (`constraint_layout`), their
evaluation and closure, external and implicit forces, functions of time (`signals`), steps of bodies that fly (`kick`), elements as
`tables` and the arrays of a bound system (`workspace`, `stages`), what is observed; `system`: what a system promises; `assembly`:
consistent starts (`carried_vertices`); `instant`: a model at one configuration, dense.
May import: algebra, elements, model and all that these import. May write: the work arenas of its systems.
To add one more: a `System` in a folder of its own, with a `SlotBlock` for its arrays; `tests/contracts/test_systems.py` runs over all.
"""
