"""Files: scenes and models that come from outside, and what is written in other formats.

Lives here: `python_scene`, which reads a Python file with a `build()` function; `scene_json`, our own format, which keeps every element;
`urdf*` and `mjcf*`, other programs' robots; `rigid_ipc` and `polyfem*`, scenes of contact; `reading`, which finds the reader of a file;
`xml_safety` and `mesh_loading`, what files from strangers need; `started`, a model's text with another start. Recordings and checkpoints
are written by `simulation`.
May import: scenes, simulation, model and all above. May write: files the user names, whole or not at all.
To add one more: a function `load_<what>(path) -> Scene` under `@reads(".ending")` of `reading`, in a file of its own; its errors name the
file, the place in it and the remedy.
"""

from unibody.files.mjcf import load_mjcf
from unibody.files.python_scene import load_python
from unibody.files.reading import load
from unibody.files.scene_json import load_json, save_json
from unibody.files.urdf import load_urdf
from unibody.files.urdf_export import save_urdf

__all__ = ["load", "load_json", "load_mjcf", "load_python", "load_urdf", "save_json", "save_urdf"]
