"""Writes the stubs `__init__.pyi` from which type checkers read what packages export.

    python tools/make_exports.py            write them
    python tools/make_exports.py --check    exit with 1 if one is not what would be written

A package whose `__init__.py` says `__all__ = exported(globals())` finds at run time what its modules list in `__all__` (`unibody.exports`).
This tool reads the same lists without running anything.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "unibody"
OPENING = "# Written by tools/make_exports.py from the lists __all__ of this package's modules; `make map` writes it again.\n\n"
FOUND = "exported(globals())"


def assigned(tree: ast.Module) -> ast.expr | None:
    """What a module gives as `__all__`."""
    given = [s.value for s in tree.body if isinstance(s, ast.Assign) and [ast.unparse(t) for t in s.targets] == ["__all__"]]
    return given[0] if given else None


def names_of(path: Path) -> list[str]:
    """The names that a module lists."""
    value = assigned(ast.parse(path.read_text(encoding="utf-8")))
    return [] if value is None else list(ast.literal_eval(value))


def packages() -> Iterator[Path]:
    """The packages that find what they export."""
    for path in sorted(PACKAGE.rglob("__init__.py")):
        value = assigned(ast.parse(path.read_text(encoding="utf-8")))
        if value is not None and ast.unparse(value) == FOUND:
            yield path.parent


def stub(package: Path) -> str:
    """What `__init__.pyi` of a package says: the names of its modules, and what its `__init__.py` imports itself."""
    dotted = ".".join(package.relative_to(PACKAGE.parent).parts)
    found = {name: f"{dotted}.{path.stem}" for path in package.glob("*.py") if path.stem != "__init__" for name in names_of(path)}
    found |= {name: f"{dotted}.{path.parent.name}" for path in package.glob("*/__init__.py") for name in names_of(path)}
    listed = sorted(found)
    for statement in ast.parse((package / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ImportFrom) and statement.module != "unibody.exports":
            found |= {alias.name: str(statement.module) for alias in statement.names if alias.asname}
    lines = [f"from {module} import {name} as {name}" for name, module in sorted(found.items(), key=lambda item: (item[1], item[0]))]
    named = "".join(f'    "{name}",\n' for name in listed)
    return OPENING + "\n".join(lines) + f"\n\n__all__ = [\n{named}]\n"


def main(arguments: list[str]) -> int:
    if set(arguments) - {"--check"}:
        print(__doc__, file=sys.stderr)
        return 2
    wanted = {package / "__init__.pyi": stub(package) for package in packages()}
    stale = [p for p, text in wanted.items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    stale += [p for p in PACKAGE.rglob("__init__.pyi") if p not in wanted]
    if "--check" in arguments:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not what the modules beside it export; run `make map`")
        return int(bool(stale))
    for path in stale:
        path.write_text(wanted[path], encoding="utf-8") if path in wanted else path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
