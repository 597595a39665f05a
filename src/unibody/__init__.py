"""Unibody: one scene, every formulation. Multibody dynamics with the energies, reactions and residuals that prove the motion."""

from typing import TYPE_CHECKING, Any

from unibody import constraints, energies, forces, joints, meshes, scenes, shapes, solvers
from unibody.constraints import *
from unibody.contact.restitution import contact_for_restitution
from unibody.coordinates.assembly.assemble import Assembly, assemble
from unibody.energies import *
from unibody.errors import ModelError, StepFailed, UnibodyError, UnibodyWarning, Unsupported
from unibody.forces import *
from unibody.joints import *
from unibody.meshes import *
from unibody.model import Builder, Control, Model, State
from unibody.shapes import *
from unibody.simulation import Recording, Simulation
from unibody.solvers import Report
from unibody.spatial import Pose
from unibody.spatial.table import Table

if TYPE_CHECKING:
    from unibody import checks
    from unibody.checks import Finding, Findings
    from unibody.solvers.complementarity.instant import ContactInstant

__version__ = "0.1.0"


def load(path: Any, **parameters: Any) -> scenes.Scene:
    """The scene of a file (.py, .json, .urdf, .xml, .mjcf), with the parameters that its reader knows: `load("a.urdf", floating=True)`."""
    from importlib import import_module  # by name, because scenes import this module and files stand above scenes

    return import_module("unibody.files").load(path, parameters)


def render(shown: Recording | Model, path: Any, **options: Any) -> Any:
    """A picture (.png) or a film (.mp4, .gif) of a recording, or a picture of a model's start; options: `unibody.view.films.render`."""
    from importlib import import_module  # by name, as in `load`

    return import_module("unibody.view.films").render(shown, path, **options)


def check(model: Model, dt: float | None = None, solver: Any = None) -> "checks.Findings":
    """What is worth knowing of a model before the first step, and the largest safe dt of every solver: see `unibody.checks.check`."""
    from unibody import checks

    return checks.check(model, dt, solver)


def contact_instant(model: Model, state: State | None = None, control: Any = None, touching: float = 1e-6) -> "ContactInstant":
    """Which forces and accelerations the laws of contact allow at a state (the start unless given): one solution, several, or none
    (Painlevé's paradox), and by which contacts; see `unibody.solvers.complementarity.instant`. `touching` [m]: what is nearer touches."""
    return solvers.Complementarity().bind(model).contact_instant(state, control, touching)


def __getattr__(name: str) -> Any:
    """What few programs need is imported when asked for: `ub.view`, the package of pictures and a function, `ub.studies` with `ub.sweep`
    and `ub.fit`, and `ub.Finding(s)`."""
    from importlib import import_module

    if name in ("view", "studies"):
        return import_module(f"unibody.{name}")
    if name in ("sweep", "fit"):
        return getattr(import_module("unibody.studies"), name)
    if name in ("Finding", "Findings"):
        return getattr(import_module("unibody.checks"), name)
    raise AttributeError(f"module 'unibody' has no attribute '{name}'")


__all__ = [
    "Assembly", "Builder", "Control", "Finding", "Findings", "Model", "ModelError", "Pose", "Recording", "Report", "Simulation", "State",
    "StepFailed", "Table", "UnibodyError", "UnibodyWarning", "Unsupported", "assemble", "check", "contact_for_restitution",
    "contact_instant", "fit", "load", "render", "scenes", "solvers", "studies", "sweep",
]  # fmt: skip
__all__ += constraints.__all__
__all__ += energies.__all__
__all__ += forces.__all__
__all__ += joints.__all__
__all__ += meshes.__all__
__all__ += shapes.__all__
