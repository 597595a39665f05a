"""Kernels compiled by several processes at once, before they are needed.

The compiler holds Python's lock, so threads do not help: helpers are processes of their own, which hand over what they have compiled by
the cache on disk (`unibody.kernel_cache`). This process compiles beside them, the longest kernels first, so that all end at about the same
time. A helper that dies, or cannot start, costs time and nothing else: its kernel goes back to the others. Which process compiled a
kernel changes nothing of it: its code depends on what its file is named by.

Environment: `UNIBODY_COMPILERS`, the number of processes that compile; as many as there are processors, but at most eight, if it is not
set; 0 compiles nothing before it is called, as in the workers of a pool of processes.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib import import_module

from unibody import kernel, kernel_cache
from unibody.errors import UnibodyError
from unibody.kernel import Kernel

MOST = 8
SECONDS_PER_BYTE = 2.3e-4
"""Compile time for each byte of Python's own code in a kernel and in all that it calls: of a stack of boxes' 61 kernels, on one core."""
PATIENCE = 30.0
"""Seconds, beside ten times the estimate, that a helper is waited for before its kernel is compiled here."""

HELPER = """
import json, os, sys
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
sys.path[:] = json.loads(sys.stdin.readline())
from unibody.kernel_crew import found
for line in sys.stdin:
    found(line.strip()).load()
    print(line.strip(), file=answers, flush=True)
"""


def processes() -> int:
    """How many processes compile."""
    given = os.environ.get("UNIBODY_COMPILERS", "").strip()
    if given:
        if not given.isdigit():
            raise UnibodyError(f"UNIBODY_COMPILERS={given}: not a whole number of processes; give one, such as 2, or 0 for none ahead")
        return int(given)
    from multiprocessing import parent_process

    if parent_process() is not None:
        return 0  # one of several workers: the others compile, too
    return min(MOST, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def found(name: str) -> Kernel:
    """The kernel of a name "module:kernel"."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def missing(names: Sequence[str]) -> list[tuple[float, str]]:
    """(estimated seconds, name) of those that neither this process nor the cache has, the longest first."""
    if not kernel.JIT:
        return []
    kernels = {}
    for name in names:
        with contextlib.suppress(ImportError, AttributeError):  # a list of names may be older than the code
            kernels[name] = found(name)
    return sorted(((kernel.length(k.function) * SECONDS_PER_BYTE, name) for name, k in kernels.items() if not k.kept), reverse=True)


def compile_ahead(wanted: Sequence[tuple[float, str]], crew: int, tell: Callable[[int, int], None] = lambda done, of: None) -> int:
    """Compile kernels by `crew` processes, this one among them; `tell(done, all)` after each. Returns how many helpers were lost."""
    import subprocess

    jobs, lock, done, lost = list(reversed(wanted)), threading.Lock(), 0, 0
    if kernel_cache.folder() != kernel_cache.cache_root().resolve():
        crew = 1  # nothing can be handed over

    def take() -> tuple[float, str] | None:
        with lock:
            return jobs.pop() if jobs else None

    def finished() -> None:
        nonlocal done
        with lock:
            done += 1
        tell(done, len(wanted))

    def lead(helper: subprocess.Popen) -> None:
        """Give one helper its work."""
        nonlocal lost
        assert helper.stdin is not None and helper.stdout is not None
        job = None
        try:
            helper.stdin.write(json.dumps(sys.path) + "\n")
            while (job := take()) is not None:
                helper.stdin.write(job[1] + "\n")
                helper.stdin.flush()
                if helper.stdout.readline().strip() != job[1]:
                    raise BrokenPipeError
                finished()
            helper.stdin.close()
        except (OSError, ValueError):
            with lock:
                lost += 1
                if job is not None:
                    jobs.append(job)

    helpers, leaders = [], []
    try:
        # the helpers start, each with a thread that gives it its work
        for _ in range(min(crew, len(wanted)) - 1):
            with contextlib.suppress(OSError):  # no such program, no memory: this process does it alone
                helpers.append(subprocess.Popen(
                    [sys.executable, "-c", HELPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                ))  # fmt: skip
        leaders = [threading.Thread(target=lead, args=(helper,), daemon=True) for helper in helpers]
        for leader in leaders:
            leader.start()
        # this process works beside them, until nothing is left
        end = time.monotonic() + PATIENCE + 10.0 * max((seconds for seconds, _ in wanted), default=0.0)
        while True:
            while (job := take()) is not None:
                found(job[1]).load()
                finished()
                end = time.monotonic() + PATIENCE + 10.0 * job[0]
            # nothing to take: wait for the helpers, which may give a kernel back
            if not any(leader.is_alive() for leader in leaders):
                if jobs:
                    continue  # what a lost helper has left
                break
            if time.monotonic() > end:
                for helper in helpers:
                    helper.kill()
            time.sleep(0.02)
    finally:
        # whatever happened, Ctrl-C included, no process stays behind
        for helper in helpers:
            helper.kill()
            helper.wait()
        for leader in leaders:
            leader.join(1.0)
        for helper in helpers:
            for pipe in (helper.stdin, helper.stdout):
                with contextlib.suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]
    return lost
