"""Studies: many runs of one scene, asked for by one call (extra `studies`).

Lives here: `sweep` (runs over parameters, the Dataset that it returns), `design` (which runs: grids, lists, samples), `source` (from
parameters to a scene), `measures` (what is kept of a run), `one_run` (a run and its outcome), `store` (Zarr, written while runs end),
`executors` (where they run), `fit` (parameters from data).
May import: files, scenes, simulation, model and all above; xarray, zarr and SciPy only inside functions. May write: the store that the
user names.
To add one more: a measure is a function of a recording, a design a function that returns a `Design`, an executor anything with `submit`.
"""

from unibody.studies.design import Design, latin_hypercube, listed, normal, seeds, sobol
from unibody.studies.fit import Fit, fit
from unibody.studies.sweep import sweep

__all__ = ["Design", "Fit", "fit", "latin_hypercube", "listed", "normal", "seeds", "sobol", "sweep"]
