"""Signals while compiled code runs that calls back into Python.

Python runs the handler of a signal before the next line of Python code. While a kernel runs, that line is the first of a callback, and an
exception raised there (Ctrl-C) has no way out through compiled code. So for the time of a step handlers are replaced by one that takes
note; what was noted is handled inside a callback, where exceptions are kept, or when the step is over.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGUSR1", "SIGUSR2")
SIGNALS = tuple(getattr(signal, name) for name in NAMES if hasattr(signal, name))

Handler = Callable[[int, FrameType | None], Any]
Pending = list[tuple[Handler, int]]


@contextmanager
def deferred(pending: Pending) -> Iterator[None]:
    """Within it, signals that Python code handles are put into `pending`; at its end they are handled."""
    if threading.current_thread() is not threading.main_thread():  # signals are handled elsewhere
        yield
        return
    before = {s: handler for s in SIGNALS if callable(handler := signal.getsignal(s))}
    for s, handler in before.items():
        signal.signal(s, partial(_note, pending, handler))
    try:
        yield
    finally:
        for s, handler in before.items():
            signal.signal(s, handler)
        deliver(pending)


def _note(pending: Pending, handler: Handler, number: int, frame: FrameType | None) -> None:
    pending.append((handler, number))


def deliver(pending: Pending) -> None:
    """Handle what was noted; a handler may raise."""
    while pending:
        handler, number = pending.pop(0)
        handler(number, None)
