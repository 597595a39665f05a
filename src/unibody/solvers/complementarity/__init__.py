"""Complementarity: contact, friction, impacts, limits and joints as one problem per step on velocities (paper 002 §3.1).

Lives here: `solver` (options; its step is `stepping.time_stepping`), the same step of few contacts in one kernel: `compiled_step` with
`compiled_impulses`, `compiled_layout`, `compiled_frame`; `instant` (the laws of contact without a step).
"""

from unibody.solvers.complementarity.solver import Complementarity

__all__ = ["Complementarity"]
