"""Whose turn it is: what has arrays or a state of its own is used by one thread at a time."""

from __future__ import annotations

import threading
from typing import Any


class Turn:
    """A lock that the same thread may take again; a copy of its owner gets one of its own."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: Any) -> None:
        self._lock.release()

    def at_once(self) -> bool:
        """Take it unless another thread has it; whether it is taken."""
        return self._lock.acquire(blocking=False)

    def release(self) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[Turn], tuple[()]]:
        return Turn, ()
