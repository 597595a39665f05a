"""Solvers: each a choice of coordinates × time rule × problem × algorithm, a package each with all that is only its own.

Lives here: `Articulated` (reduced coordinates), `Lagrange` (maximal and planar ones), `RedMax` (implicit, reduced), `Complementarity`
(impulses: contact, friction, impacts), `Impulse` (joints predicted at the end of a step, maximal), `Penalty` (joints as penalty forces),
`Barrier` (affine bodies that never intersect), what a solver is (`base`) and what binding it to a model gives (`bound`), what a step says
of itself (`report`) and of whose code an exception is (`blame`), and which one a model needs (`choice`, `stiffness`).
May import: stepping, rules, contact, coordinates, algebra, model, elements; never each other. May write: the arenas of the systems they
bind. To add one more: a frozen dataclass `Solver` with `name`, `handles` and `bind` in a file or folder of its own; its rows of the
capability matrix follow from `handles`.
"""

from unibody.exports import exported

__all__ = exported(globals())
