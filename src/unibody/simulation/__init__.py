"""Running models: `Simulation`, the `Recording` it returns, and files of both.

Lives here: the loop over steps with its progress bar and failures, recordings with everything derived on demand, tables of their contacts,
checkpoints (`archive` looks at them before they are read), `whole_file`, by which files are written, and `energy_watch`, which sees steps
that nothing explains; `advice` for newcomers; `inputs` (models and solvers from words); `consistent`, which has starts meet their rows.
May import: solvers, model and all above. May write: files the user names, whole or not at all.
To add one more: a quantity of a recording is a method of `Recording` over `Observation`; a file format goes to `unibody.files`.
"""

from unibody.simulation.recording import Recording
from unibody.simulation.simulation import Simulation

__all__ = ["Recording", "Simulation"]
