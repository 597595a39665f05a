"""Contact: what happens between bodies that are near. Laws only; what is near comes from `collision`.

Lives here: laws of one contact: `barrier` (a potential that keeps distances positive) with `curvature` (second derivatives of distances)
and `stencil_blocks` (these as blocks over control points), `friction` (Coulomb's, smooth below a slip speed, lagged), and `node_blocks`
(their sums over any control points); `restitution` (a barrier for a wanted bounce), `pair_laws` (materials of two shapes together),
`joint_friction` (a joint's shape as contact points that hold both ways) with `joint_friction_variables` (of all joints).
May import: collision, coordinates, model, spatial, kernel and all below. May write: its own arrays; gradients and blocks handed to it.
To add one more: devices for value, gradient and blocks of one contact, over which solvers sum, with a finite-difference test.
"""
