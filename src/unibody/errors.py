"""What goes wrong, by whose hand: bad input, a method that cannot, a step that failed."""

from __future__ import annotations

import re
from typing import Any

LONGEST_WORD = 300
"""Characters of a word in a message; files may hold longer ones."""


class UnibodyError(Exception):
    """Every error this package raises on purpose, in one line that can be read, whatever the names in it hold."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*(readable(each) if isinstance(each, str) else each for each in arguments))


def readable(text: str) -> str:
    """The same text with control characters and halves of characters escaped, and the middle of endless words left out.

    >>> readable("key 'a\\n' is not known"), len(readable("key '" + "a" * 10_000 + "' is not known"))
    ("key 'a\\\\n' is not known", 178)
    """
    if len(text) > LONGEST_WORD:
        text = re.sub(rf"\S{{{LONGEST_WORD},}}", lambda word: f"{word[0][:100]}…{word[0][-60:]}", text)
    return re.sub("[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]", lambda bad: bad[0].encode("unicode_escape").decode(), text)


class ModelError(UnibodyError, ValueError):
    """Bad input: one line naming the element, the value and the remedy."""


class StartRefused(ModelError):
    """A start from which a solver cannot begin, found by its first step."""


class Unsupported(UnibodyError):
    """The chosen method cannot honour an element of the model; names each of them, why, and the methods that can."""


class UnibodyWarning(UserWarning):
    """Something that runs and is probably not meant: a fall without a floor, ground that nothing touches; one line with the remedy."""


class Busy(UnibodyError, RuntimeError):
    """Another thread is using it."""


class StepFailed(UnibodyError):
    """A step could not be completed; what was computed until then is kept.

    Attributes
    ----------
    time : simulated time at the start of the failed step [s], or None
    element : name of the element to blame, or None
    report : the Report of the failed step, or None
    recording : the Recording up to the failure, or None
    """

    def __init__(
        self, message: str, *, time: float | None = None, element: str | None = None, report: Any = None, recording: Any = None
    ) -> None:
        super().__init__(message)
        self.time = time
        self.element = element
        self.report = report
        self.recording = recording
