"""Scenes: named, parametrised models with their exact solutions. They feed tests, benchmarks, the docs and the command line.

Here: one file per family of scenes; `base` (Scene, the decorator, parameters from strings), `parts` (bars, bobs, linkages),
and `one_degree`, the reference motion of every mechanism with one degree of freedom.
May import: everything that builds a model, through the public face `import unibody as ub` inside the scene's function;
SciPy only inside functions. Exact solutions import no solver: they must not share a mistake with what they judge.
May write: nothing. A scene is built anew at every call.
Another scene: a function decorated `@scene("name", summary="...")` with typed keyword parameters that have defaults and returning a
`Scene`, in any file of this folder; it is found by its being there. In a user's script the decorator works the same.
"""

from unibody.scenes.base import Scene, SceneEntry, build, get, make, names, scene

__all__ = ["Scene", "SceneEntry", "build", "get", "make", "names", "scene"]
