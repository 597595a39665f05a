"""Pictures: what a model and a recording look like, on paper, in a film, in a browser.

Lives here: `look` (a model as instanced solids, strands and frames) and `snapshot` (one instant of it), which every medium shares;
`pictures` (one function per picture), `planar` and `spatial` (a mechanism in an axes), `raster` (triangles to pixels), `motion` (what of a
recording is worth showing).
May import: simulation, model and all above; matplotlib only inside functions, through `style.pyplot`, because it is an extra.
May write: the picture the user names. Never needs a display.
To add one more: a function `draw_<what>(..., path)` in `pictures`, with a test that its picture is not blank.
"""

from unibody.view.pictures import draw_comparison, draw_motion, draw_scaling

__all__ = ["draw_comparison", "draw_motion", "draw_scaling"]
