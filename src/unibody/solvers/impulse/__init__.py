"""Impulse: impulse-based simulation in maximal coordinates (paper 002 §3.2.1).

Lives here: `solver` (options), `step` (joints predicted at the end of a step, until they hold), `contacts` (with contact and limits).
"""

from unibody.solvers.impulse.solver import Impulse

__all__ = ["Impulse"]
