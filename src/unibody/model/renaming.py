"""Elements that speak of the same things under other names.

An element may give a method `renamed(bodies, joints)`, both mappings old → new, that returns the element under the new names. Without it,
its constructor is called again with arguments in which

    every Point                 names its body anew
    every text in them          is replaced if it is a name: if `bodies()` or `joints()` of the element change when it does

in tuples, lists, dictionaries and dataclasses too. Whether a text is the name of a body, of a joint or just a word (`axes="body"`) is found
out by trying, so that nothing depends on how a field is called. In the end the element must report the new names, else it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any

from unibody.element import Point
from unibody.errors import ModelError
from unibody.model.values import arguments_of

Names = Mapping[str, str]
Leaf = Callable[[str], Any]


def renamed(element: Any, name: str, bodies: Names, joints: Names) -> Any:
    """The element `name` with other names of bodies and joints; the same object if it names none of them."""
    wanted = [bodies.get(b, b) for b in element.bodies()], [joints.get(j, j) for j in element.joints()]
    if wanted == (list(element.bodies()), list(element.joints())):
        return element
    own = getattr(element, "renamed", None)
    out = own(bodies, joints) if callable(own) else _by_arguments(element, name, bodies, joints)
    if (sorted(out.bodies()), sorted(out.joints())) != (sorted(wanted[0]), sorted(wanted[1])):
        raise ModelError(f"'{name}': {type(element).__name__} {_REMEDY}")
    return out


_REMEDY = "holds names where they cannot be changed; keep them in its fields, or give the class a method renamed(bodies, joints)"


def _by_arguments(element: Any, name: str, bodies: Names, joints: Names) -> Any:
    try:
        arguments = arguments_of(_class(element))
    except ModelError:
        raise ModelError(f"'{name}': {type(element).__name__} {_REMEDY}") from None
    given = {argument: getattr(element, field) for argument, (field, _) in arguments.items()}
    known = {n for n in (*element.bodies(), *element.joints()) if n in bodies or n in joints}

    def point(p: Point) -> Point:
        return Point(bodies[p.body], p.p) if p.body in bodies else p

    changed: dict[str, Any] = {}
    for argument, value in given.items():
        texts = [text for text in _texts(value) if text in known]
        kinds = iter(_kinds(element, given, argument, texts, known) if texts else ())

        def leaf(text: str, kinds: Iterator[str] = kinds) -> str:
            if text not in known:
                return text
            kind = next(kinds)
            either = {"body": bodies, "joint": joints}
            return either[kind].get(text, text) if kind in either else text

        changed[argument] = _mapped(value, leaf, point)
    try:
        return made_again(element, changed)
    except ModelError as error:
        raise ModelError(f"'{name}' under other names: {error}") from None


def _kinds(element: Any, given: dict[str, Any], argument: str, texts: list[str], known: set[str]) -> list[str]:
    """body, joint or word, for each of these texts of an argument: what the element reports when they are others."""
    all_at_once = _reports(element, given, argument, texts, known, set(range(len(texts))))
    if all_at_once is not None:
        return all_at_once
    out = []
    for k in range(len(texts)):
        alone = _reports(element, given, argument, texts, known, {k})
        out.append(alone[k] if alone is not None else "word")
    return out


def _reports(
    element: Any, given: dict[str, Any], argument: str, texts: list[str], known: set[str], tried: set[int]
) -> list[str] | None:
    """The kinds of the texts that are `tried`; None if the constructor refuses others in their place."""
    strange = {k: f"\uffff{k} {texts[k]}" for k in tried}
    count = iter(range(len(texts)))

    def leaf(text: str) -> str:
        return strange.get(next(count), text) if text in known else text

    try:
        other = made_again(element, {**given, argument: _mapped(given[argument], leaf, lambda p: p)})
        bodies, joints = set(other.bodies()), set(other.joints())
    except Exception:  # classes of anybody: whatever they raise, they refuse
        return None
    return ["body" if strange.get(k) in bodies else "joint" if strange.get(k) in joints else "word" for k in range(len(texts))]


def _class(element: Any) -> Any:
    return type(element)


def made_again(element: Any, given: Mapping[str, Any]) -> Any:
    """An element of the same class by its constructor, with these arguments."""
    several: tuple[Any, ...] = ()
    keywords = {}
    for argument, (_, parameter) in arguments_of(_class(element)).items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            several = tuple(given[argument])
        else:
            keywords[argument] = given[argument]
    return type(element)(*several, **keywords)


def with_arguments(element: Any, name: str, fields: Mapping[str, Any]) -> Any:
    """The element with some arguments of its constructor changed, and so checked by it."""
    from unibody.model.model import look_up

    arguments = arguments_of(_class(element))
    for key in fields:
        look_up(key, arguments, f"'{name}' ({type(element).__name__}): field")
    given = {argument: getattr(element, field) for argument, (field, _) in arguments.items()}
    try:
        return made_again(element, {**given, **fields})
    except ModelError as error:
        raise ModelError(f"'{name}': {error}") from None
    except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError) as error:
        line = " ".join(str(error).split())
        raise ModelError(f"'{name}': {type(element).__name__} refuses these values ({line}); correct them") from None


def with_points(value: Any, point: Callable[[Point], Point]) -> Any:
    """A value of an argument with other points."""
    return _mapped(value, lambda text: text, point)


def _texts(value: Any) -> list[str]:
    """All texts in a value, in the order in which `_mapped` meets them; not those of points."""
    out: list[str] = []

    def leaf(text: str) -> str:
        out.append(text)
        return text

    _mapped(value, leaf, lambda p: p)
    return out


def _mapped(value: Any, leaf: Leaf, point: Callable[[Point], Point]) -> Any:
    """The value with its texts and points replaced; the same object where there are none."""
    if isinstance(value, str):
        return leaf(value)
    if isinstance(value, Point):
        return point(value)
    if isinstance(value, tuple | list):
        items = [_mapped(item, leaf, point) for item in value]
        if all(a is b for a, b in zip(items, value, strict=True)):
            return value
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        pairs = [(_mapped(key, leaf, point), _mapped(item, leaf, point)) for key, item in value.items()]
        return dict(pairs)
    if is_dataclass(value) and not isinstance(value, type):
        held = {argument: getattr(value, field) for argument, (field, _) in arguments_of(_class(value)).items()}
        other = {argument: _mapped(item, leaf, point) for argument, item in held.items()}
        return value if all(other[a] is held[a] for a in held) else made_again(value, other)
    return value
