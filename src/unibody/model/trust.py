"""What code a file may name: this package's, what the reader has imported from files of theirs, and what they say they trust.

A path is `module:Name`. A file that nobody vouches for imports nothing: its paths are looked up among the modules that the process has
imported already, and only there if these are the reader's own (`__main__`, or a file outside the standard library and the installed
packages), so that a scene with elements of one's own can be loaded where they are defined. From such modules come element classes,
dataclasses and plain functions, nothing else. Two modules are harmless and always open: `math` and `unibody.scenes`.
"""

from __future__ import annotations

import importlib
import reprlib
import sys
import types
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unibody.errors import ModelError

HARMLESS = ("math", "unibody.scenes")
PACKAGES = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Trust:
    """`given`: False or () nobody but the reader's own; names of modules, with all that is in them; True everything."""

    given: bool | Sequence[str] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.given, bool):
            names = (self.given,) if isinstance(self.given, str) else tuple(self.given)
            if not all(isinstance(name, str) and name for name in names):
                raise ModelError(f"trust={self.given!r} are no modules; give their names, such as trust=('my_module',), or True")
            object.__setattr__(self, "given", names)

    def find(self, path: Any, place: str) -> Any:
        """What `module:Name` names; a ModelError when it may not be looked for, or is not there."""
        module, colon, name = path.partition(":") if isinstance(path, str) else ("", "", "")
        if not (module and colon and name):
            raise ModelError(f"{place}: {reprlib.repr(path)} names no code; give 'module:Name'")
        vouched = self._vouched(module)
        if not vouched and not _own(module):
            raise ModelError(f"{place}: '{path}' is code that nobody vouches for; {_remedy(module)}")
        try:
            found: Any = importlib.import_module(module) if vouched else sys.modules[module]
            for piece in name.split("."):
                found = getattr(found, piece)
        except (ImportError, AttributeError):
            raise ModelError(f"{place}: '{path}' cannot be imported; put its module on the path, or load with model=") from None
        home = getattr(found, "__module__", None)  # a module also shows what it has imported itself
        if not isinstance(home, str) or not (self._vouched(home) or _own(home)):
            raise ModelError(f"{place}: '{path}' leads to {home}, for which nobody vouches; {_remedy(str(home))}")
        if not vouched and not isinstance(found, type | types.FunctionType):
            raise ModelError(f"{place}: '{path}' is neither a class nor a function; give 'module:Name' of one")
        return found

    def _vouched(self, module: str) -> bool:
        if isinstance(self.given, bool):
            return self.given or _within(module, HARMLESS)
        return _within(module, (*HARMLESS, *self.given))


def path_of(thing: Any) -> str | None:
    """The `module:Name` under which a function or class can be found again, or None."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    bound = getattr(thing, "__self__", None)
    if not module or not name or "<" in name or not (bound is None or isinstance(bound, types.ModuleType)):
        return None
    found: Any = sys.modules.get(module)
    for piece in name.split("."):
        found = getattr(found, piece, None)
    return f"{module}:{name}" if found is thing else None


def _remedy(module: str) -> str:
    return f"load with trust=('{module}',) if you trust the file"


def _within(module: str, packages: Sequence[str]) -> bool:
    return any(module == package or module.startswith(package + ".") for package in packages)


def _own(module: str) -> bool:
    """Whether the reader has imported it from a file of theirs."""
    if module == "__main__":
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or module.partition(".")[0] in sys.stdlib_module_names or _within(module, ("unibody",)):
        return False
    return not any(folder in PACKAGES for folder in Path(file).parts)
