"""Rigid contact: the points at which the solid shapes of a model touch or nearly touch, with signed gaps and persistent names.

Lives here: `find` (the loop, `RigidCollision`; in one kernel in `touching_pairs`), `table` (shapes as arrays), `search` (pairs of boxes
that meet, with `allowing` and `grids`), one file per family of pairs (`round_pairs`, `plane_pairs`, `box_pairs`, `capsule_box`, `on_mesh`,
`mesh_pairs` with `mesh_crossing`, `by_coal` with `convex_distance`, `refine` and `supports`), what they share (`kinds`, `nearest`, `clip`,
`hull_features`, `hull_polygons`, `hull_climbing`, `mesh_data`), what a contact is (`contacts`) and which are kept (`thinning`);
`overlapping` (which bodies are inside each other) and `passage` (which went through each other in a step).
May import: collision, model, shapes, spatial, kernel and all below. May write: its own arrays. Knows no forces and no solvers.
To add one more: a family in `kinds`, a kernel over `order` that writes with `put`, its call in `find`, and a test against another program.
"""

from unibody.collision.rigid.contacts import RigidContacts
from unibody.collision.rigid.find import RigidCollision

__all__ = ["RigidCollision", "RigidContacts"]
