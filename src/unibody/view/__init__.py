"""Pictures: what a model and a recording look like, on paper, in a film, in a browser.

Lives here: `look` (a model as instanced solids, strands, frames; deformables: `soft`) and `snapshot` (one instant), for every medium;
`pictures` (one function per picture), `planar` and `spatial` (a mechanism in an axes), `raster` (its triangles to pixels), `motion` (what
of a recording is worth showing); `films` with `render*` (pictures and films, drawn in software), `series` and `plots` (curves over time);
`replay` with `replay_page/` (a page that plays offline), `gltf` and `vtu`, from a `reel`; `viewer*` (the page in the browser: player,
scene, panel, plots), which `ub.view(…)` opens.
May import: simulation, model and all above; matplotlib only inside functions, through `style.pyplot`, an extra like viser and Pillow.
May write: the picture the user names. Never needs a display.
To add one more: a function `draw_<what>(..., path)` in `pictures`, with a test that its picture is not blank.
"""

import sys
from types import ModuleType
from typing import Any

from unibody.view.pictures import draw_comparison, draw_motion, draw_scaling

__all__ = ["draw_comparison", "draw_motion", "draw_scaling"]


class _Room(ModuleType):
    """The package can be called: `ub.view(model)` is `unibody.view.viewer.view(model)`."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        from unibody.view.viewer import view

        return view(*args, **options)


sys.modules[__name__].__class__ = _Room
