"""Compiling every kernel of the package once, by several processes, so that no later run waits for the compiler.

A kernel's signature is written on it, so it can be compiled without being called. Processes share their work by the cache on disk
(`unibody.kernel_cache`): what one of them compiled the others read. Modules that were imported last come first: callees mostly
before those that call them, so that little is compiled twice.
"""

from __future__ import annotations

import os
import pkgutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from multiprocessing import get_context
from typing import NamedTuple

import unibody
from unibody import kernel
from unibody.errors import UnibodyError
from unibody.kernel import Kernel


class Made(NamedTuple):
    """What became of one kernel."""

    name: str
    seconds: float
    from_cache: bool


def kernel_names() -> list[str]:
    """"module:name" of every kernel of the package, callees mostly first. Modules whose extras are not installed are left out."""
    for module in pkgutil.walk_packages(unibody.__path__, "unibody.", onerror=lambda name: None):
        if not module.name.endswith("__main__"):
            try:
                import_module(module.name)
            except ImportError:
                continue
    return [
        f"{module}:{name}" for module in reversed(list(sys.modules)) if module.startswith("unibody.")
        for name, value in list(vars(sys.modules[module]).items()) if isinstance(value, Kernel) and value.__module__ == module
    ]  # fmt: skip


def make(name: str) -> Made:
    """Compile one kernel, or find it in the cache."""
    module, attribute = name.split(":")
    before = len(kernel.compiled)
    getattr(import_module(module), attribute).load()
    own = kernel.compiled[before:]
    return Made(name, sum(seconds for _, seconds, _ in own), all(cached for _, _, cached in own))


def warm_up(jobs: int | None = None, tell: Callable[[int, int, Made], None] | None = None) -> list[Made]:
    """Make all kernels ready in `jobs` processes (as many as there are processors); `tell(done, all, kernel)` after each."""
    if not kernel.JIT:
        raise UnibodyError("UNIBODY_JIT=0: kernels run as plain Python, nothing is compiled; unset it to warm up")
    names = kernel_names()
    made = []
    for k, one in enumerate(_all_made(names, jobs or os.cpu_count() or 1), 1):
        made.append(one)
        if tell is not None:
            tell(k, len(names), one)
    return made


def _all_made(names: list[str], jobs: int) -> Iterator[Made]:
    if jobs == 1:
        yield from map(make, names)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(make, name) for name in names]):
            yield done.result()
