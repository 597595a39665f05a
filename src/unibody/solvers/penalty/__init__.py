"""Penalty: joints and constraints as penalty forces in maximal coordinates (paper 002 §3.2.1).

Lives here: `solver` (options), `system` and `workspace` (rows as penalty forces), `dynamics` (what contact asks of it), `contacts` (gaps
and friction).
"""

from unibody.solvers.penalty.solver import Penalty

__all__ = ["Penalty"]
