"""What a scene is, how it is found by name, and how its parameters come from a command line."""

from __future__ import annotations

import difflib
import inspect
import sys
import types
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from unibody.errors import ModelError, readable
from unibody.exports import modules_of

if TYPE_CHECKING:
    from unibody.model import Model

_ENTRIES: dict[str, SceneEntry] = {}
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True)
class Scene:
    """A model, how long and how finely it wants to be simulated, and what is known about its motion."""

    model: Model
    duration: float
    """Simulated time that shows what the scene is about [s]."""
    dt: float
    """A step that resolves it [s]."""
    exact: Any = None
    """An object whose methods give the exact or reference solution, or None."""
    notes: str = ""
    """What to expect, for a reader."""
    left_out: tuple[str, ...] = ()
    """What an imported file asks for that the model cannot represent, one line each with the element's name."""
    keyframes: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    """Named states of an imported file: coordinates and velocities of all joints, in the model's order."""
    name: str = ""
    """What its file calls it."""
    solver: str = ""
    """The solver it is made for, also with options ("redmax:rule=bdf2"); without one, the choice of `unibody.solvers.choice`."""
    ours: bool = False
    """Whether it is one of this package, which mean what they do: a free fall is no mistake in them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "left_out", tuple(readable(line) if isinstance(line, str) else line for line in self.left_out))

    def default_solver(self, dt: float | None = None) -> str:
        """The solver that runs it where none is asked for, as a name or with options, for its own step or another."""
        from unibody.solvers import choose

        return self.solver or choose(self.model, self.dt if dt is None else dt).solver


@dataclass(frozen=True)
class Parameter:
    """One keyword parameter of a scene."""

    name: str
    kind: Any
    """Its annotation, resolved."""
    default: Any

    @property
    def kind_name(self) -> str:
        """The annotation in words: `float`, `fixed|free`, …"""
        if get_origin(self.kind) is Literal:
            return "|".join(map(str, get_args(self.kind)))
        return self.kind.__name__ if isinstance(self.kind, type) and not get_args(self.kind) else str(self.kind)


@dataclass(frozen=True)
class SceneEntry:
    """A scene by name: call it with parameters, as values or as strings, to get a Scene."""

    name: str
    summary: str
    function: Callable[..., Scene]
    parameters: tuple[Parameter, ...] = field(default=())

    def __call__(self, **given: Any) -> Scene:
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in known:
                raise ModelError(f"scene '{self.name}': no parameter '{name}'; {_suggest(name, list(known), 'parameters are')}")
        values = {name: _converted(self.name, known[name], value) for name, value in given.items()}
        if not getattr(self.function, "__module__", "").startswith(f"{__package__}."):  # a user's file: told with its line
            return self.function(**values)
        try:
            with np.errstate(over="raise") if values else nullcontext():
                return replace(self.function(**values), ours=True)
        except (ArithmeticError, MemoryError):
            named = ", ".join(f"{name}={_shown(value)}" for name, value in values.items())
            raise ModelError(f"scene '{self.name}': {named}: beyond what numbers and memory hold; stay nearer the defaults") from None


def scene(name: str, *, summary: str) -> Callable[[Callable[..., Scene]], Callable[..., Scene]]:
    """Register a function under `name`; it stays callable as it is."""

    def register(function: Callable[..., Scene]) -> Callable[..., Scene]:
        kinds = get_type_hints(function)
        parameters = []
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is not parameter.KEYWORD_ONLY or parameter.default is parameter.empty or parameter.name not in kinds:
                raise TypeError(f"scene '{name}': parameter '{parameter.name}' must be keyword-only, typed and have a default")
            parameters.append(Parameter(parameter.name, kinds[parameter.name], parameter.default))
        taken = _ENTRIES.get(name)
        if taken is not None and taken.function.__module__ != function.__module__:
            raise ModelError(f"scene '{name}' exists already in {taken.function.__module__}; choose another name")
        _ENTRIES[name] = SceneEntry(name, summary, function, tuple(parameters))
        return function

    return register


def names() -> list[str]:
    """The names of all scenes, sorted.

    >>> "pendulum" in names()
    True
    """
    _find()
    return sorted(_ENTRIES)


def get(name: str) -> SceneEntry:
    """The entry of a scene: its summary and parameters; calling it makes the scene."""
    _find()
    if not isinstance(name, str) or name not in _ENTRIES:
        raise ModelError(f"no scene '{name}'; {_suggest(str(name), sorted(_ENTRIES), 'scenes are')}")
    return _ENTRIES[name]


def make(name: str, **parameters: Any) -> Scene:
    """The scene `name` with `parameters`, given as values or as strings."""
    return get(name)(**parameters)


def build(name: str, **parameters: Any) -> Model:
    """The model of the scene `name` with `parameters`, given as values or as strings."""
    return make(name, **parameters).model


def require(name: str, holds: bool, complaint: str) -> None:
    """Raise ModelError naming the scene unless a parameter makes sense."""
    if not holds:
        raise ModelError(f"scene '{name}': {complaint}")


def _find() -> None:
    """Import every module of this folder once, so that its scenes register themselves."""
    modules_of(__package__, sys.modules[__package__].__path__)


def _suggest(word: str, known: list[str], otherwise: str) -> str:
    near = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    if near:
        return "did you mean " + " or ".join(f"'{match}'" for match in near) + "?"
    return f"{otherwise} {', '.join(known) or 'none'}"


def _converted(scene_name: str, parameter: Parameter, value: Any) -> Any:
    try:
        return convert(parameter.kind, value)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(
            f"scene '{scene_name}': {parameter.name}={value!r} is not {parameter.kind_name}; "
            f"give for example {parameter.name}={_shown(parameter.default)}"
        ) from None


def convert(kind: Any, value: Any) -> Any:
    """`value` as the annotated `kind`; ValueError or TypeError when it is none."""
    origin, options = get_origin(kind), get_args(kind)
    if origin is Literal:
        if value not in options:
            raise ValueError
        return value
    if origin in (Union, types.UnionType):
        return _convert_union(options, value)
    if origin is tuple:
        entries = value.strip("()[] ").split(",") if isinstance(value, str) else list(value)
        if options[-1] is Ellipsis:
            options = options[:1] * len(entries)
        if len(entries) != len(options):
            raise ValueError
        return tuple(convert(option, entry) for option, entry in zip(options, entries, strict=True))
    if kind is bool:
        word = str(value).lower()
        if word not in _TRUE + _FALSE:
            raise ValueError
        return word in _TRUE
    if isinstance(value, bool):
        raise ValueError
    if isinstance(kind, type) and isinstance(value, kind):
        return value
    if kind is int and isinstance(value, float) and not value.is_integer():
        raise ValueError
    return kind(value)


def _convert_union(options: tuple[Any, ...], value: Any) -> Any:
    if type(None) in options and (value is None or str(value).lower() == "none"):
        return None
    for option in options:
        try:
            return convert(option, value)
        except (TypeError, ValueError, OverflowError):
            continue
    raise ValueError


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
