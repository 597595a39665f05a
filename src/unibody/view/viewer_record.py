"""A recording of what a page showed, as a file of this machine: from one press of the button to the next.

A recording runs forwards in time with one solver. Where the film was wound back, a joint was put by hand or another solver took over, only
what was shown since then is kept, and the page says how much was not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unibody.errors import ModelError
from unibody.simulation import Recording
from unibody.view.viewer_history import HistoryRow
from unibody.view.viewer_player import Live

MOST = 100_000
"""Shown states that are kept; then the recording ends."""


class ViewerRecorder:
    """Keeps the rows that are shown while it runs. `folder` is where files go."""

    def __init__(self, player: Live, folder: Path):
        self._player, self._folder = player, folder
        self._rows: list[HistoryRow] | None = None
        self._left_out = 0

    @property
    def running(self) -> bool:
        return self._rows is not None

    def toggle(self) -> str:
        """Begin, or end and write; what there is to say."""
        if self._rows is None:
            self._rows, self._left_out = [self._player.row], 0
            return "recording: press again to write it"
        return self._write()

    def seen(self, row: HistoryRow) -> None:
        """A row is shown."""
        if self._rows is None or (self._rows and row is self._rows[-1]):
            return
        last = self._rows[-1]
        assert row.made is not None and last.made is not None
        if row.time <= last.time or row.made[0] is not last.made[0]:
            self._left_out += len(self._rows)
            self._rows.clear()
        self._rows.append(row)
        if len(self._rows) >= MOST:
            self._player.message = self._write()

    def _write(self) -> str:
        """A file with the rows. If it cannot be written, they stay, and the button may be pressed again."""
        rows = self._rows or []
        assert rows and rows[-1].made is not None
        recording = Recording(rows[-1].made[0], self._player.dt)
        for row in rows:
            assert row.made is not None and row.control is not None
            recording.append(row.made[1], row.made[2], row.control)
        path = _free(self._folder)
        try:
            recording.save(path)
        except OSError as error:
            raise ModelError(f"'{path}' cannot be written ({error}); make room or start the viewer in another folder") from None
        self._rows = None
        said = f"{len(rows)} states from {rows[0].time:.3f} to {rows[-1].time:.3f} s are in {path}"
        without = f"; {self._left_out} shown before it was wound back, put by hand or given to another solver are not in it"
        return said + (without if self._left_out else "")


def _free(folder: Path) -> Path:
    """A name that no file has yet."""
    stem = time.strftime("view-%Y%m%d-%H%M%S")
    path, k = folder / f"{stem}.npz", 1
    while path.exists():
        path, k = folder / f"{stem}-{k}.npz", k + 1
    return path


def add_button(gui: Any, recorder: ViewerRecorder, say: Callable[[str], None], post: Callable[[Callable[[], None]], None]) -> Any:
    """The button; its label says what it does next."""
    button = gui.add_button("Record")

    def toggle() -> None:
        say(recorder.toggle())
        button.label = "Stop and write" if recorder.running else "Record"

    async def pressed(event: Any) -> None:
        if event.client is not None:
            post(toggle)

    button.on_click(pressed)
    return button
