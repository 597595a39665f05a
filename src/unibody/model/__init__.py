"""What the world is: the builder that collects elements, the frozen model, states and controls.

Lives here: `Builder` (thin: names, connectivity; `checking` says what it accepts, `parts` names parts of joints), what it can do with what
it holds (`editing`, with `changes`, `removing`, `posing`, `including`, `renaming` and `moving`), `Model` (topology, numbering, start
state; its fields in `contents`), `State`, `Control`, the text form of a model (`text`, with `values`, `reading` and `trust`), and the
tables that kernels read. Deformables: asked for in `deforming`, built in `deformed`, named in `deformable_points`, with `vertex_masses`.
What follows from a model: `connections`, `scale`, `summary`.
May import: elements (joints, shapes, forces, energies, constraints), meshes, spatial, kernel, errors. May write: only what it is
building; a built model is read-only.
To add one more: elements need nothing here; a new noun gets its own file.
"""

from unibody.model.builder import Body, Builder, JointHandle
from unibody.model.model import BodyInfo, JointInfo, Model
from unibody.model.state import Control, State

__all__ = ["Body", "BodyInfo", "Builder", "Control", "JointHandle", "JointInfo", "Model", "State"]
