"""Articulated: the articulated-body algorithm in reduced coordinates (paper 002 §3.2.2).

Lives here: `solver` (options, time rules, dynamics as functions), `prebound_call` (an evaluation whose arguments are prepared once).
"""

from unibody.solvers.articulated.solver import Articulated

__all__ = ["Articulated"]
