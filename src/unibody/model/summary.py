"""A model in words: one line, a page of text with its tree, and tables for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from unibody.element import Point
from unibody.model.contents import Contents, JointInfo

SHOWN = 40
"""Rows of a table in a notebook."""


def line(model: Contents) -> str:
    """What there is, counted; what there is none of is left out."""
    kinds = [b.kind for b in model.bodies[1:]]
    fixed = len(kinds) - kinds.count("dynamic")
    parts = [
        _counted(kinds.count("dynamic"), "body", "bodies") + (f" (+ {fixed} fixed or driven)" if fixed else ""),
        _counted(len(model.tree_joints), "joint"),
        _counted(model.nv, "degree of freedom", "degrees of freedom"),
        *(_counted(n, word) for n, word in ((len(model.loop_joints), "loop"), (len(model.forces), "force")) if n),
        *([_counted(len(model.constraints), "constraint")] if model.constraints else []),
        *([_deformables(model)] if model.deformables else []),
        f"{model.total_mass:.6g} kg",
    ]
    return f"Model({', '.join(parts)}{', planar' if model.planar else ''})"


def _counted(n: int, word: str, words: str = "") -> str:
    return f"{n} {word if n == 1 else words or word + 's'}"


def _deformables(model: Contents) -> str:
    said = f"{_counted(model.n_vertices, 'vertex', 'vertices')}, {len(model.free_vertices)} free"
    return f"{_counted(len(model.deformables), 'deformable')} ({said})"


def page(model: Contents) -> str:
    """The line, the tree, then loops, forces, constraints and deformables with what they touch."""
    out = [line(model), f"gravity ({', '.join(f'{x:g}' for x in model.gravity)}) m/s²", *tree_lines(model)]
    titled = [("loops", _loops(model)), ("forces", _elements(model.forces)), ("constraints", _elements(model.constraints))]
    for title, rows in (*titled, ("deformables", soft_rows(model)), ("attachments", held_rows(model))):
        if rows:
            out += [title, *(f"  {name}  {what}" + (f": {on}" if on else "") for name, what, on in rows[:SHOWN])]
        if len(rows) > SHOWN:
            out.append(f"  … and {len(rows) - SHOWN} more")
    return "\n".join(out)


def tables(model: Contents) -> str:
    """What `page` says, as HTML: tables of bodies and of elements."""
    bodies = []
    for body, joint in zip(model.bodies[1:], model.tree_joints, strict=True):
        shapes = ", ".join(type(getattr(p, "shape", p)).__name__ for p in body.shapes)
        mass = f"{body.mass:.4g}" if body.kind == "dynamic" else body.kind
        named = "" if joint.implicit else joint.name
        bodies.append((body.name, mass, shapes, model.bodies[joint.parent].name, kind(joint), named, str(joint.nv)))
    out = [f"<b>{escape(line(model))}</b>"]
    out.append(_table(("body", "mass [kg]", "shapes", "hangs on", "by", "joint", "freedom"), bodies))
    titled = [("loop", _loops(model)), ("force", _elements(model.forces)), ("constraint", _elements(model.constraints))]
    for title, rows in (*titled, ("deformable", soft_rows(model)), ("attachment", held_rows(model))):
        if rows:
            out.append(_table((title, "class", "between" if title == "loop" else "on"), rows))
    return "\n".join(out)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def cells(row: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f'<{tag} style="text-align:left">{escape(x)}</{tag}>' for x in row) + "</tr>"

    shown = [cells(row, "td") for row in rows[:SHOWN]]
    if len(rows) > SHOWN:
        shown.append(f'<tr><td colspan="{len(head)}">… and {len(rows) - SHOWN} more</td></tr>')
    return f"<table><thead>{cells(head, 'th')}</thead><tbody>{''.join(shown)}</tbody></table>"


def _loops(model: Contents) -> list[tuple[str, str, str]]:
    return [(j.name, kind(j), f"{model.bodies[j.parent].name} – {model.bodies[j.child].name}") for j in model.loop_joints]


def _elements(elements: Sequence[tuple[str, Any]]) -> list[tuple[str, str, str]]:
    return [(name, type(element).__name__, ", ".join(touched(element))) for name, element in elements]


def soft_rows(model: Contents) -> list[tuple[str, str, str]]:
    """Deformables: what they are of, how large and heavy."""
    return [
        (d.name, d.kind, f"{type(d.material).__name__}, {_counted(len(d.X), 'vertex', 'vertices')}, {d.mass.sum():.4g} kg")
        for d in model.deformables
    ]


def held_rows(model: Contents) -> list[tuple[str, str, str]]:
    """Attachments and prescribed vertices, and what holds them."""
    owner = np.repeat([d.name for d in model.deformables], [len(d.X) for d in model.deformables])
    out = []
    for a in model.attachments:
        on = [model.bodies[a.body].name] if a.body >= 0 else list(dict.fromkeys(owner[a.support[a.support >= 0]].tolist()))
        out.append((a.name, _counted(len(a.vertices), "vertex", "vertices"), ", ".join(on)))
    for p in model.prescribed:
        how = "held" if p.motion is None else "moved as told"
        out.append((p.name, _counted(len(p.vertices), "vertex", "vertices"), how))
    return out


def kind(joint: JointInfo) -> str:
    """`Revolute`, or `Free (implicit)` for a body without a joint of its own."""
    return type(joint.element).__name__ + (" (implicit)" if joint.implicit else "")


def touched(element: Any) -> list[str]:
    """Names of the bodies and joints that an element touches."""
    out: list[str] = []
    for ask in ("bodies", "joints"):
        names = getattr(element, ask, None)
        for entry in names() if callable(names) else ():
            out.append(entry.body if isinstance(entry, Point) else str(entry))
    return list(dict.fromkeys(out))


def tree_lines(model: Contents, most: int = 60) -> list[str]:
    """The kinematic tree, indented; long ones are cut, and say so."""
    children: dict[int, list[int]] = {}
    for body, joint in enumerate(model.tree_joints, start=1):
        children.setdefault(joint.parent, []).append(body)
    out = ["world"]
    stack = [(body, "") for body in reversed(children.get(0, []))]
    last = {siblings[-1] for siblings in children.values()}
    while stack:
        body, indent = stack.pop()
        joint, info = model.tree_joints[body - 1], model.bodies[body]
        how = info.kind if info.kind != "dynamic" else kind(joint) if joint.implicit else f"{kind(joint)} '{joint.name}'"
        weight = f", {info.mass:.4g} kg" if info.kind == "dynamic" else ""
        out.append(f"{indent}{'└─' if body in last else '├─'} {info.name}  ({how}{weight})")
        deeper = indent + ("   " if body in last else "│  ")
        stack += [(child, deeper) for child in reversed(children.get(body, []))]
    left = len(out) - most
    return out if left <= 0 else [*out[:most], f"… and {left} bodies more"]
