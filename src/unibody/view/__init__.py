"""Pictures: what a recording looks like, on paper and in a README.

Lives here: `pictures` (motion, comparison, scaling: a function each that writes one file), `planar` and `spatial` (a mechanism in an axes,
from the side or in space), `raster` (triangles to shaded pixels), `motion` (what of a recording is worth showing; no drawing library).
May import: simulation, model and all above; matplotlib only inside functions, through `style.pyplot`, because it is an extra.
May write: the picture the user names. Never needs a display.
To add one more: a function `draw_<what>(..., path)` in `pictures`, with a test that its picture is not blank.
"""

from unibody.view.pictures import draw_comparison, draw_motion, draw_scaling

__all__ = ["draw_comparison", "draw_motion", "draw_scaling"]
