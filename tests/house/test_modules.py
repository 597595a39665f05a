"""What holds of all modules: class names are unique, imports make no circles, long functions say what they do step by step."""

from __future__ import annotations

import ast
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "unibody"
FILES = {
    ".".join(p.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): p for p in sorted(PACKAGE.rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}

LONG, LINES_A_COMMENT = 40, 15
NO_COMMENTS = ("fmt:", "noqa", "type:", "isort:", "kernel-lint:")


def test_class_names_are_unique() -> None:
    counted = Counter(node.name for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert {name for name, times in counted.items() if times > 1} == set()


def imports_of(tree: ast.Module) -> Iterator[str]:
    """What a module names when it is imported or checked for types; imports inside functions come later."""
    waiting: list[ast.AST] = [*tree.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not isinstance(node, ast.FunctionDef):
            waiting += ast.iter_child_nodes(node)


def module_of(name: str) -> str | None:
    """The module that a name is, or stands in."""
    return name if name in FILES else name.rpartition(".")[0] if name.rpartition(".")[0] in FILES else None


def reached(start: str, graph: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def test_imports_make_no_circles_those_for_type_checkers_included() -> None:
    graph = {name: {m for n in imports_of(tree) if (m := module_of(n)) not in (None, name)} for name, tree in TREES.items()}
    ways = {name: reached(name, graph) for name in graph}
    circles = {tuple(sorted(other for other in ways[name] if name in ways[other])) for name in graph if name in ways[name]}
    assert {tuple(name.removeprefix("unibody.") for name in circle) for circle in circles} == set()


def comments_of(path: Path) -> list[int]:
    """The lines of a file with comments that people read."""
    with path.open("rb") as file:
        found = [t for t in tokenize.tokenize(file.readline) if t.type == tokenize.COMMENT]
    return [t.start[0] for t in found if not t.string.lstrip("# ").startswith(NO_COMMENTS)]


def functions_of(node: ast.AST, within: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """All functions and methods with their qualified names."""
    for child in ast.iter_child_nodes(node):
        named = isinstance(child, ast.FunctionDef | ast.ClassDef)
        name = f"{within}.{child.name}" if isinstance(child, ast.FunctionDef | ast.ClassDef) else within
        if isinstance(child, ast.FunctionDef):
            yield name, child
        yield from functions_of(child, name if named else within)


def silent_functions() -> set[str]:
    """Functions of more than LONG lines with less than a comment for LINES_A_COMMENT lines of their body."""
    found = set()
    for module, tree in TREES.items():
        comments = comments_of(FILES[module])
        for name, node in functions_of(tree, ".".join(module.split(".")[1:2])):
            last = node.end_lineno or node.lineno
            if last - node.lineno < LONG:
                continue
            told = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
            first = (node.body[0].end_lineno or 0) + 1 if told else node.body[0].lineno
            if sum(first <= line <= last for line in comments) < (last - first + 1) // LINES_A_COMMENT:
                found.add(name)
    return found


def test_long_functions_say_what_they_do_step_by_step() -> None:
    assert silent_functions() == set(), "one comment per step: why, or the equation"
