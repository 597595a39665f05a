"""The reference of the public face, from signatures and docstrings: one page per package, written by the docs' build (tools/docs_hooks.py).

A name stands on the page of the package that exports it, once. Docstrings are shown as they are, but for examples, which become blocks of
code; fields of a class are shown with the lines that follow them in the source.
"""

from __future__ import annotations

import ast
import dataclasses
import html
import inspect
import re
import textwrap
from importlib import import_module
from typing import Any

PAGES = {
    "model": ("Building models", ["unibody.model", "unibody.coordinates.assembly.assemble"]),
    "simulation": ("Simulations and recordings", ["unibody.simulation", "unibody.solvers.report"]),
    "solvers": ("Solvers and time rules", ["unibody.solvers", "unibody.rules"]),
    "joints": ("Joints", ["unibody.joints"]),
    "shapes": ("Shapes and meshes", ["unibody.shapes", "unibody.meshes"]),
    "forces": ("Forces", ["unibody.forces"]),
    "constraints": ("Constraints", ["unibody.constraints", "unibody.contact.restitution"]),
    "energies": ("Energies of deformables", ["unibody.energies"]),
    "spatial": ("Poses, rotations, functions of time", ["unibody.spatial", "unibody.spatial.table", "unibody.element", "unibody.measure"]),
    "files": ("Files and scenes", ["unibody.files", "unibody.scenes"]),
    "studies": ("Studies", ["unibody.studies"]),
    "checks": ("Checks", ["unibody.checks"]),
    "view": ("Pictures, films, pages", ["unibody.view"]),
    "errors": ("Errors", ["unibody.errors"]),
}
"""Page → its title and the packages on it."""
SPECIAL = re.compile(r"(`[^`]*`)|([<>*_|\[\]])")
"""Code, which stays, or a sign that Markdown would take for its own."""


def pages() -> dict[str, str]:
    """Path of a page under docs/ → its Markdown."""
    out, listed = {}, []
    for name, (title, packages) in PAGES.items():
        entries = [entry for package in packages for entry in exported(package)]
        parts = [f"# {title}\n\n{_opening(packages)}\n"]
        parts += [entry_text(package, label, thing) for package, label, thing in entries]
        out[f"api/{name}.md"] = "\n".join(parts)
        names = ", ".join(f"[`{label}`]({name}.md#{label.lower()})" for _, label, _ in entries)
        listed.append(f"## [{title}]({name}.md)\n\n{names}\n")
    head = "# Reference\n\nEvery public name with its signature, from the docstrings. `import unibody as ub`; names that `unibody`\n"
    head += "exports itself are shown as `ub.…`, others with their package.\n\n"
    out["api/index.md"] = head + "\n".join(listed)
    return out


def exported(package: str) -> list[tuple[str, str, Any]]:
    """(package, name, object) of the classes and functions that a package exports, those of other packages left out."""
    module = import_module(package)
    found = {}
    import unibody as ub

    for name in sorted(getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")], key=str.lower):
        thing = getattr(module, name, None)
        home = getattr(thing, "__module__", "") or ""
        inner = package.count(".") > 1  # of a module inside a package, what `unibody` itself exports
        if inner and getattr(ub, name, None) is not thing:
            continue
        own = home.startswith(f"{package.rpartition('.')[0]}." if inner else f"{package}.") or home == package
        if (inspect.isclass(thing) or inspect.isfunction(thing)) and own:
            found[name] = thing
    return [(package, name, thing) for name, thing in found.items()]


def entry_text(package: str, name: str, thing: Any) -> str:
    """One class or function."""
    import unibody as ub

    shown = f"ub.{name}" if getattr(ub, name, None) is thing else f"{package}.{name}"
    parts = [f"## {name}\n\n```python\n{shown}{signature(thing)}\n```\n\n{docstring(thing)}\n"]
    if inspect.isclass(thing):
        fields = _fields(thing)
        parts += ["\n".join(f"- `{field}`{': ' + text if text else ''}" for field, text in fields) + "\n"] if fields else []
        for label, member in _members(thing).items():
            plain = getattr(member, "__func__", member)
            if not label.startswith("_") and isinstance(plain, property) and plain.__doc__:
                parts.append(f"### {name}.{label}\n\n{docstring(plain)}\n")
            elif not label.startswith("_") and inspect.isfunction(plain) and plain.__doc__:
                parts.append(f"### {name}.{label}\n\n```python\n{label}{signature(plain)}\n```\n\n{docstring(plain)}\n")
    return "\n".join(parts)


def _members(thing: type) -> dict[str, Any]:
    """Its own, and those of bases that no package exports."""
    import unibody as ub

    hidden = [c for c in thing.__mro__[1:] if c.__module__.startswith("unibody.") and not hasattr(ub, c.__name__) and not _is_exported(c)]
    return {name: member for c in (*reversed(hidden), thing) for name, member in vars(c).items()}


def _is_exported(thing: type) -> bool:
    package = import_module(thing.__module__.rpartition(".")[0])
    return thing.__name__ in (getattr(package, "__all__", None) or ())


def signature(thing: Any) -> str:
    """`(a, b=1)`, in lines where it is long."""
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return ""
    try:
        told = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    own = [p.replace(annotation=_plain(p.annotation), default=_Shown(p.default)) if p.default is not p.empty else
           p.replace(annotation=_plain(p.annotation)) for p in told.parameters.values() if p.name != "self"]  # fmt: skip
    result = _plain(told.return_annotation) if not inspect.isclass(thing) else told.empty
    text = str(told.replace(parameters=own, return_annotation=result)).replace("'", "")
    if len(text) <= 100:
        return text
    return "(\n    " + ",\n    ".join(str(p).replace("'", "") for p in own) + ",\n)" + (f" -> {result}" if result is not told.empty else "")


def docstring(thing: Any) -> str:
    """A docstring as Markdown: examples in blocks of code, what is no tag escaped."""
    text = inspect.cleandoc(thing.__doc__ or "")
    out, code = [], False
    for line in text.splitlines():
        is_code = line.startswith((">>>", "...")) or (code and line.strip() != "")
        if is_code != code:
            out.append("```python" if is_code else "```\n")
            if is_code:
                out.insert(-1, "")
        code = is_code
        out.append(line if code or line.startswith("    ") else SPECIAL.sub(_escaped, line))
    return "\n".join([*out, "```"] if code else out)


def _escaped(found: re.Match[str]) -> str:
    return found[1] if found[1] else html.escape(found[2]) if found[2] in "<>" else "\\" + found[2]


def _plain(annotation: Any) -> Any:
    """An annotation without quotes and module names."""
    if annotation is inspect.Parameter.empty:
        return annotation
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return _Shown(re.sub(r"\b(?:\w+\.)+(?=\w)", "", text))


class _Shown:
    """Stands in a signature for what is told by its text, shortened."""

    def __init__(self, value: Any):
        text = value if isinstance(value, str) and not isinstance(value, _Shown) else repr(value)
        self.text = text if len(text) <= 60 else type(value).__name__ + "(…)"

    def __repr__(self) -> str:
        return self.text


def _opening(packages: list[str]) -> str:
    """The first paragraph of what each package says of itself."""
    return "\n\n".join(SPECIAL.sub(_escaped, _first(import_module(p).__doc__)) for p in packages)


def _first(text: str | None) -> str:
    return " ".join(inspect.cleandoc(text or "").split("\n\n")[0].split())


def _fields(thing: type) -> list[tuple[str, str]]:
    """Names of a dataclass's public fields, with the string that follows each in the source."""
    if not dataclasses.is_dataclass(thing):
        return []
    try:
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(thing))).body
    except (OSError, TypeError, ValueError):
        return []
    told: dict[str, str] = {}
    steps = getattr(body, "body", [])
    for step, after in zip(steps, [*steps[1:], None], strict=True):
        if isinstance(step, ast.AnnAssign) and isinstance(step.target, ast.Name) and not step.target.id.startswith("_"):
            says = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str)
            told[step.target.id] = _first(after.value.value) if says else ""  # type: ignore[union-attr]
    return [(name, SPECIAL.sub(_escaped, text)) for name, text in told.items()]
