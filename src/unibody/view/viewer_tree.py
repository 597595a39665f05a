"""The scene as a tree with a box at each body and deformable, which shows or hides it and everything that hangs on it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from unibody.model import Model

MOST = 60
"""Boxes; of larger scenes the bodies that hang on the world have one each, and the last box is for the rest of them."""
BRANCH, DEEPER = "└ ", "\u2003"


@dataclass(frozen=True)
class TreeNode:
    """One box: its label, and the numbers of bodies and names of deformables that it hides."""

    label: str
    bodies: frozenset[int]
    softs: frozenset[str] = frozenset()


def tree(model: Model) -> list[TreeNode]:
    """The boxes from top to bottom: bodies under what they hang on, then deformables."""
    children: dict[int, list[int]] = {}
    for joint in model.tree_joints:
        children.setdefault(joint.parent, []).append(joint.child)
    rows = [(model.bodies[0].name, frozenset({0}), 0)] if model.bodies[0].shapes else []
    waiting = [(child, 0) for child in reversed(children.get(0, []))]
    while waiting:
        body, depth = waiting.pop()
        rows.append((model.bodies[body].name, _below(body, children), depth))
        waiting += [(child, depth + 1) for child in reversed(children.get(body, []))]
    softs = [TreeNode(d.name, frozenset(), frozenset({d.name})) for d in model.deformables]
    room = max(1, MOST - len(softs))
    if len(rows) > room:
        rows = [row for row in rows if row[2] == 0]
    nodes = [TreeNode((DEEPER * (depth - 1) + BRANCH if depth else "") + name, bodies) for name, bodies, depth in rows]
    return _cut(nodes, room, "bodies") + _cut(softs, max(1, MOST - room), "deformables")


def _below(body: int, children: dict[int, list[int]]) -> frozenset[int]:
    """A body and all that hangs on it."""
    out, waiting = set(), [body]
    while waiting:
        at = waiting.pop()
        out.add(at)
        waiting += children.get(at, [])
    return frozenset(out)


def _cut(nodes: list[TreeNode], most: int, what: str) -> list[TreeNode]:
    if len(nodes) <= most:
        return nodes
    rest = nodes[most - 1 :]
    bodies, softs = (frozenset().union(*(getattr(n, field) for n in rest)) for field in ("bodies", "softs"))
    return [*nodes[: most - 1], TreeNode(f"{len(rest)} other {what}", bodies, softs)]


class ViewerTree:
    """The boxes in a folder that is shut at first. `hide(bodies, softs)` shows the scene without these."""

    def __init__(self, gui: Any, model: Model, hide: Callable[[Collection[int], Collection[str]], None], on: Callable[..., None]):
        self._nodes, self._hide = tree(model), hide
        self._off: set[int] = set()
        if not self._nodes:
            return
        with gui.add_folder("Scene", expand_by_default=False):
            for k, node in enumerate(self._nodes):
                box = gui.add_checkbox(node.label, True)
                on(box.on_update, lambda shown, k=k: self.show(k, bool(shown)))

    def show(self, k: int, shown: bool) -> None:
        """Tick a box or not. What is under a box without a tick stays hidden whatever its own says."""
        (self._off.discard if shown else self._off.add)(k)
        off = [self._nodes[i] for i in self._off]
        self._hide(frozenset().union(*(n.bodies for n in off)), frozenset().union(*(n.softs for n in off)))
