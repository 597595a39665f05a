"""What goes wrong, by whose hand: bad input, a method that cannot, a step that failed."""

from __future__ import annotations

from typing import Any


class UnibodyError(Exception):
    """Every error this package raises on purpose."""


class ModelError(UnibodyError, ValueError):
    """Bad input: one line naming the element, the value and the remedy."""


class Unsupported(UnibodyError):
    """The chosen method cannot honour an element of the model; names each of them, why, and the methods that can."""


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
