"""Contact: what happens between bodies that are near. Laws only; what is near comes from `collision`.

Lives here: `near` (contacts in affine coordinates: two bodies, a normal, a distance), `barrier` (a potential that keeps distances
positive), `friction` (Coulomb's, smooth below a slip speed, lagged), `restitution` (a barrier for a wanted bounce), `touching` (contacts as
a recording keeps them), `contact_rows`, `contact_rates` (contacts as rows, and how fast these change), `turning_rows` (seen in the middle
of a step), `joint_friction` (a joint's shape as contact points that hold both ways); and what joints and elements do to affine bodies:
`gauges` (angles, slides, distances with derivatives) with potentials on them (`gauge_potentials`, `gauged_elements`), `affine_elements`
(any element, at rigid projections).
May import: collision, model, spatial, kernel and all below. May write: its own arrays; gradients and blocks handed to it.
To add one more: value, gradient and blocks over contacts, with a finite-difference test.
"""
