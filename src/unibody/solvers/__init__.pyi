# Written by tools/make_exports.py from the lists __all__ of this package's modules; `make map` writes it again.

from unibody.solvers.articulated import Articulated as Articulated
from unibody.solvers.barrier import Barrier as Barrier
from unibody.solvers.base import Bound as Bound
from unibody.solvers.base import REGISTRY as REGISTRY
from unibody.solvers.base import Solver as Solver
from unibody.solvers.base import Step as Step
from unibody.solvers.base import able_solver as able_solver
from unibody.solvers.choice import Choice as Choice
from unibody.solvers.choice import choose as choose
from unibody.solvers.complementarity import Complementarity as Complementarity
from unibody.solvers.impulse import Impulse as Impulse
from unibody.solvers.lagrange import Lagrange as Lagrange
from unibody.solvers.penalty import Penalty as Penalty
from unibody.solvers.redmax import RedMax as RedMax
from unibody.solvers.report import Report as Report

__all__ = [
    "Articulated",
    "Barrier",
    "Bound",
    "Choice",
    "Complementarity",
    "Impulse",
    "Lagrange",
    "Penalty",
    "REGISTRY",
    "RedMax",
    "Report",
    "Solver",
    "Step",
    "able_solver",
    "choose",
]
