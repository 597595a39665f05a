"""From the parameters of a run to its scene.

A study varies a function, `build(**parameters)`, or something that is there: a scene's name, a file, a Scene, a Model or a Builder. Of
these a parameter is one that the scene or the file's reader knows by that name, or a path to a field of something with a name:

    "elbow.damping"             a field of the body, joint or element of that name, as `Builder.change…` takes it
    "bodies.arm.mass"           the same, where a body and a joint have one name
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from unibody import scenes
from unibody.errors import ModelError
from unibody.model import Builder, Model
from unibody.model.editing import copied
from unibody.model.values import shown
from unibody.scenes import Scene
from unibody.simulation.inputs import scene_of

KINDS = ("bodies", "joints", "elements")


@dataclass(frozen=True)
class Built:
    """What a run simulates, and what its scene says of time and solver."""

    model: Model
    duration: float | None = None
    dt: float | None = None
    solver: str = ""


def build_run(source: Any, point: Mapping[str, Any]) -> Built:
    """The model of one run."""
    if callable(source) and not isinstance(source, Model | Builder):
        return built(source(**point), getattr(source, "__name__", "build"))
    own, paths = _divided(source, point)
    if not paths:
        return built(_loaded(source, own), "the source")
    b = copied(source) if isinstance(source, Builder) else Builder.load(source if not isinstance(source, str) else _loaded(source, own))
    for path, value in paths.items():
        change(b, path, value)
    told = built(_loaded(source, own) if not isinstance(source, Builder | Model) else source, "the source")
    return Built(b.build(), told.duration, told.dt, told.solver)


def built(made: Any, what: str) -> Built:
    """What a function or a source gave, as a model with what its scene says."""
    if isinstance(made, Builder):
        made = made.build()
    if isinstance(made, Model):
        return Built(made)
    if isinstance(made, Scene):
        return Built(made.model, made.duration, made.dt, made.solver)
    raise ModelError(f"{what} gave {shown(made)}, which is no model; return a Builder, a Model or a Scene")


def change(b: Builder, path: str, value: Any) -> None:
    """Change the field that a path names."""
    name, dot, field = path.rpartition(".")
    if not dot:
        raise ModelError(f"parameter '{path}' is none of the scene's, and no path to a field; give for example 'elbow.damping'")
    kind, dot, rest = name.partition(".")
    if dot and kind in KINDS:
        found, name = [kind], rest
    else:
        found = [kind for kind in KINDS if name in getattr(b, kind)]
    if len(found) > 1:
        ways = " or ".join(f"'{kind}.{path}'" for kind in found)
        raise ModelError(f"parameter '{path}': several things have the name '{name}'; say {ways}")
    if not found:
        raise ModelError(f"parameter '{path}': no body, joint or element '{name}'; the model has {_names(b)}")
    verb: Callable[..., None] = {"bodies": b.change_body, "joints": b.change_joint, "elements": b.change}[found[0]]
    try:
        verb(name, **{field: value})
    except TypeError as error:
        raise ModelError(f"parameter '{path}': {found[0]} have no field '{field}' that can be changed ({error})") from None


def _divided(source: Any, point: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters that the scene or the file's reader takes, and paths."""
    if not isinstance(source, str):
        return {}, dict(point)
    if source in scenes.names():
        known = {p.name for p in scenes.get(source).parameters}
        return {k: x for k, x in point.items() if k in known}, {k: x for k, x in point.items() if k not in known}
    return {k: x for k, x in point.items() if "." not in k}, {k: x for k, x in point.items() if "." in k}


def _loaded(source: Any, own: Mapping[str, Any]) -> Any:
    if isinstance(source, Model | Builder):
        return source
    scene = scene_of(source, own)
    if scene is None:
        raise ModelError(f"sweep: {shown(source)} is no scene; give build(**parameters), a scene's name, a file, a Scene or a Model")
    return scene


def _names(b: Builder) -> str:
    listed = [name for kind in KINDS for name in getattr(b, kind)]
    return ", ".join(listed[:20]) + (" …" if len(listed) > 20 else "")
