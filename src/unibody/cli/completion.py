"""What a shell may offer after TAB: scenes and files, solvers with their options, parameters of the scene that is being typed.

Nothing here may fail or print: whatever goes wrong, a shell gets no offers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Offer = tuple[str, str]
"""A word, and what is said of it."""


def quiet(offers: Callable[..., Iterator[Offer]]) -> Callable[[Any, str], list[Offer]]:
    """A callback for Typer: offers that begin with what was typed; none where they cannot be found."""

    def complete(ctx: Any, incomplete: str) -> list[Offer]:
        try:
            return [(word, said) for word, said in offers(ctx, incomplete) if word.startswith(incomplete)]
        except Exception:
            return []

    return complete


def _entries() -> list[Any]:
    from unibody import scenes

    return [scenes.get(name) for name in scenes.names()]


@quiet
def targets(ctx: Any, incomplete: str) -> Iterator[Offer]:
    """Scenes, and files that can be read, with the folders on the way to them."""
    for entry in _entries():
        yield entry.name, entry.summary
    yield from _files(incomplete)


def _files(incomplete: str) -> Iterator[Offer]:
    from unibody.files.reading import READERS

    typed = Path(incomplete)
    folder = typed if incomplete.endswith("/") else typed.parent
    start = incomplete[: incomplete.rfind("/") + 1]
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            yield f"{start}{path.name}/", "folder"
        elif path.suffix in (*READERS, ".npz"):
            yield f"{start}{path.name}", f"{path.suffix[1:]} file"


@quiet
def parameters(ctx: Any, incomplete: str) -> Iterator[Offer]:
    """`key=` of the scene named on the line, and after it its choices and its default."""
    from unibody import scenes

    # While an option still lacks its value, words that are no options wait in ctx.args.
    target = ctx.params.get("target") or next(word for word in ctx.args if not word.startswith("-"))
    for parameter in scenes.get(target).parameters:
        yield from _values(parameter.name, parameter.kind, parameter.default, incomplete)


@quiet
def solvers(ctx: Any, incomplete: str) -> Iterator[Offer]:
    """Names of solvers, and after `name:` their options."""
    yield from _solvers(incomplete)


@quiet
def several_solvers(ctx: Any, incomplete: str) -> Iterator[Offer]:
    """Names and options, as `solvers` offers them, for the last word of a list with commas."""
    done, comma, last = incomplete.rpartition(",")
    for word, said in _solvers(last):
        yield f"{done}{comma}{word}", said


@quiet
def options(ctx: Any, incomplete: str) -> Iterator[Offer]:
    """`key=value` of the solver named on the line."""
    name = str(ctx.params.get("solver") or "auto").split(":")[0]
    yield from _options("articulated" if name == "auto" else name, incomplete)


def _solvers(incomplete: str) -> Iterator[Offer]:
    from unibody.solvers import REGISTRY

    name, colon, rest = incomplete.partition(":")
    if not colon:
        yield "auto", "the cheapest that honours everything"
        for known, cls in REGISTRY.items():
            yield known, f"rules {', '.join(cls.choices('rule'))}"
        return
    done, again, last = rest.rpartition(":")
    for word, said in _options(name, last):
        yield f"{name}:{done}{again}{word}", said


def _options(name: str, incomplete: str) -> Iterator[Offer]:
    from dataclasses import fields
    from typing import get_type_hints

    from unibody.solvers import REGISTRY

    cls = REGISTRY[name]
    kinds = get_type_hints(cls)
    for field in fields(cls):  # type: ignore[arg-type]
        choices = cls.choices(field.name)
        yield from _values(field.name, kinds[field.name], getattr(cls, field.name, ""), incomplete, choices)


def _values(name: str, kind: Any, default: Any, incomplete: str, choices: tuple[Any, ...] = ()) -> Iterator[Offer]:
    from typing import Literal, get_args, get_origin

    if not incomplete.startswith(f"{name}="):
        yield f"{name}=", f"default {default}"
        return
    choices = choices or (get_args(kind) if get_origin(kind) is Literal else ("true", "false") if kind is bool else (default,))
    for value in choices:
        yield f"{name}={value}", "default" if value == default else "possible"
