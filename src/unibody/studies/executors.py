"""Where runs of a study are made: in this thread, in threads or processes here, or by anything that has `submit`.

Compiled rollouts release Python's lock, so threads use all cores and pass nothing between processes. Any `concurrent.futures.Executor`
does; of a Dask client its executor is taken, so that workers on other machines take part, and those that die are replaced by Dask, which
makes their runs again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from unibody.element import whole_number
from unibody.errors import ModelError
from unibody.model.values import shown

NAMES = ("threads", "processes", "serial")


class Serial:
    """Runs at once, in the thread that asks."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future:
        out: Future = Future()
        try:
            out.set_result(function(*arguments))
        except Exception as error:
            out.set_exception(error)
        return out


@contextmanager
def opened(executor: Any, workers: int | None) -> Iterator[Any]:
    """Something with `submit`. One that is made here is closed again, and runs that have not begun are given up."""
    count = whole_number(workers, "sweep workers") if workers is not None else os.cpu_count() or 1
    if executor == "serial":
        yield Serial()
    elif executor in ("threads", "processes"):
        # a new interpreter for every process: a fork would copy locks that other threads hold
        pool = ThreadPoolExecutor(count) if executor == "threads" else ProcessPoolExecutor(count, get_context("spawn"))
        try:
            yield pool
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    elif isinstance(executor, type):
        raise ModelError(f"sweep executor {executor.__name__} is a class; give one that is made, such as {executor.__name__}()")
    elif hasattr(executor, "get_executor"):  # a Dask client
        yield executor.get_executor()
    elif hasattr(executor, "submit"):
        yield executor
    else:
        known = ", ".join(NAMES)
        raise ModelError(f"sweep executor {shown(executor)} cannot run anything; give one of {known}, an Executor or a Dask client")
