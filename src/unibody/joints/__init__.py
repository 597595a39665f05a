"""Joints: how a body may move against another, one file per class.

Lives here: the contract (`base`), the joints, of which `Composite` is made of any, and all joints of a table at once (`table`).
May import: `unibody.kernel`, `unibody.measure`, `unibody.spatial`, `unibody.errors`. May write: only the `_out` arrays of its kernels.
To add one more: a frozen dataclass with `nq`, `nv`, `pose`, `motion`, `bias`, in a file of its own (yours or ours); add a
`fill_kernel` when it must be fast, `measures` where coordinates are angles or slides between its frames. The contract tests
`tests/contracts/test_joints.py` and `test_measures.py` tell whether it is right.
"""

from unibody.exports import exported

__all__ = exported(globals())
