"""What a package exports is found, not listed: each of its modules says in `__all__` what it exports, and the package takes that over.

    __all__ = exported(globals())        at the end of a package's `__init__.py`

So a new element is one new file. Type checkers read the same names from `__init__.pyi`, which `tools/make_exports.py` writes.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import Any


def modules_of(package: str, path: Iterable[str], ending: str = "") -> list[ModuleType]:
    """The modules of a package whose names have this ending, imported, in the order of their names."""
    return [import_module(f"{package}.{name}") for _, name, _ in pkgutil.iter_modules(path) if name.endswith(ending)]


def exported(scope: dict[str, Any]) -> list[str]:
    """The names that the modules of a package export, which are put into its scope."""
    names: list[str] = []
    for module in modules_of(scope["__name__"], scope["__path__"]):
        for name in getattr(module, "__all__", ()):
            scope[name] = getattr(module, name)
            names.append(name)
    return sorted(names)
