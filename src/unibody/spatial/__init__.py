"""Rotations, poses and spatial vectors: the geometry that knows no mechanics.

Lives here: `Pose` for people, device functions over tuples of scalars (`devices`) and over triples (`triples`) for kernels, and their
NumPy twins for setting up;
motions over time, `Table` among them.
May import: `unibody.kernel`, `unibody.triple`, `unibody.errors`, NumPy. May write: nothing but its own results.
Conventions: quaternions wxyz, 6-vectors angular first, matrices row-major; `X_AB` maps B's coordinates to A's.
To add one more: a `@device` in the file of its subject, with the NumPy twin beside it and a test that they agree.
"""

from unibody.spatial.pose import Pose

__all__ = ["Pose"]
