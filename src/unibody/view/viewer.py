"""The viewer: a page on this machine that shows a model move, and lets one stop it, wind it back, change its solver and pull at it.

One thread owns the player and everything that is shown: it runs the commands that people gave, advances the player and mirrors it to the
page, some forty times a second. The page's own threads only hand it commands.
"""

from __future__ import annotations

import contextlib
import io
import ipaddress
import queue
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from unibody.errors import ModelError, UnibodyError
from unibody.model import Model
from unibody.scenes import Scene
from unibody.simulation import Recording, Simulation
from unibody.view.look import Look
from unibody.view.motion import viewing_plane
from unibody.view.snapshot import Snapshot
from unibody.view.viewer_panel import Panel
from unibody.view.viewer_player import Live, Player, Replay
from unibody.view.viewer_plots import Plots
from unibody.view.viewer_scene import Stage, view_from

FRAME = 1.0 / 40.0
"""Seconds between two pictures; a slower simulation gives fewer."""
PANEL, CURVES = 0.1, 0.2
"""Seconds between two updates of the numbers and of the plots."""
FOV = np.radians(40.0)
PORT = 8080


class Viewer:
    """A page for a player. `url` is where it is; `close()` ends it; it is a context manager."""

    def __init__(self, player: Player, title: str = "unibody", host: str = "127.0.0.1", port: int = PORT):
        self.player, self.title = player, title
        self.look = Look(player.model)
        self._commands: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._closed = threading.Event()
        self.updates = 0
        """Pictures sent so far."""
        self._sent: Any = None
        self._server = _server(host, port, title)
        first = Snapshot.of(self.look, player.observation)
        low, high = self._bounds(first)
        self._stage = Stage(self._server.scene, self.look, first, low, high)
        self._panel = Panel(self._server.gui, player, self._stage, self.post, title)
        self._plots = Plots(self._server.gui, player)
        self._point_camera(viewing_plane_of(player))
        self._listen()
        self._thread = threading.Thread(target=self._run, name="unibody viewer", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://{self._server.get_host()}:{self._server.get_port()}"

    def post(self, command: Callable[[], None]) -> None:
        """Have the viewer's own thread run a command soon."""
        self._commands.put(command)

    def wait(self) -> None:
        """Until somebody closes it; Ctrl-C passes through."""
        while not self._closed.wait(0.5):
            pass

    def close(self) -> None:
        """End the page and its threads."""
        if not self._closed.is_set():
            self._closed.set()
            self.post(lambda: None)
            if threading.current_thread() is not self._thread:
                self._thread.join(timeout=10.0)
            self._server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _bounds(self, first: Snapshot) -> tuple[np.ndarray, np.ndarray]:
        """Of what is shown first; of a recording, over some of its rows."""
        if not isinstance(self.player, Replay):
            return self.look.bounds(first.R, first.p)
        rows = np.unique(np.linspace(0, len(self.player.history) - 1, 20).round().astype(int))
        shots = [Snapshot.of(self.look, self.player.recording.observe(int(k))) for k in rows]
        return self.look.bounds(np.array([s.R for s in shots]), np.array([s.p for s in shots]))

    def _point_camera(self, plane: tuple[np.ndarray, np.ndarray, np.ndarray] | None) -> None:
        position, target = view_from(self._stage.low, self._stage.high, plane, FOV)
        camera = self._server.initial_camera
        camera.position, camera.look_at, camera.fov = position, target, FOV
        camera.near, camera.far = 1e-3 * self._stage.span, 1e3 * self._stage.span

    def _listen(self) -> None:
        """Clicks and drags on bodies. Drags are handled in the order of their events, hence the coroutines."""
        for k, handle in enumerate(self._stage.solids):
            handle.on_click(lambda event, k=k: self.post(lambda: self._panel.pick(self._stage.body_of(k, event.instance_index or 0))))
            if isinstance(self.player, Live):

                async def dragged(event: Any, k: int = k) -> None:
                    body = self._stage.body_of(k, event.instance_index or 0)
                    phase, start, end = event.phase, event.start_position, event.end_position
                    self.post(lambda: self._drag(body, phase, start, end))

                handle.on_drag("left")(dragged)

    def _drag(self, body: int, phase: str, start: Any, end: Any) -> None:
        player = self.player
        assert isinstance(player, Live)
        if phase == "end":
            player.release()
        elif phase == "start" or player.pull is None or player.pull.body != body:
            player.grab(body, start, float(self._panel.strength.value))
        if player.pull is not None:
            player.pull.move(end)
        self._sent = None

    def _run(self) -> None:
        last, panel_due, curves_due = time.perf_counter(), 0.0, 0.0
        while not self._closed.is_set():
            began = time.perf_counter()
            self._guard(lambda seconds=began - last: self.player.advance(seconds))
            last = began
            self._guard(self._show)
            now = time.perf_counter()
            if now >= panel_due:
                self._guard(self._panel.refresh)
                panel_due = now + PANEL
            if now >= curves_due:
                self._guard(self._plots.refresh)
                curves_due = now + CURVES
            self._obey(began + FRAME if self.player.playing else min(panel_due, curves_due))

    def _obey(self, until: float) -> None:
        """Run commands as they come, at least those that are there, until it is time for the next picture."""
        while not self._closed.is_set():
            try:
                command = self._commands.get(timeout=max(1e-3, until - time.perf_counter()))
            except queue.Empty:
                return
            self._guard(command)
            if self._commands.empty() and time.perf_counter() >= until:
                return
            if not self.player.playing and self._commands.empty():
                return

    def _guard(self, action: Callable[[], None]) -> None:
        """What goes wrong is said on the page and stops the film; the page goes on."""
        try:
            action()
        except UnibodyError as error:
            self.player.pause()
            self.player.message = str(error)
        except Exception as error:
            if not self._closed.is_set():
                traceback.print_exc()
                self.player.pause()
                self.player.message = f"{type(error).__name__}: {error}"

    def _show(self) -> None:
        """Send the instant, if it is another than the one sent."""
        pull = getattr(self.player, "pull", None)
        if self._sent is self.player.row and pull is None and not self._stage.hand.visible:
            return
        snapshot = Snapshot.of(self.look, self.player.observation)
        with self._server.atomic():
            self._stage.show(snapshot, pull)
        self._sent = self.player.row
        self.updates += 1


def viewing_plane_of(player: Player) -> Any:
    """Axes of the plane in which everything moves, if it does so: the model's own, or as a recording shows."""
    if player.model.plane is not None:
        return player.model.plane
    return viewing_plane(player.recording) if isinstance(player, Replay) else _trial_plane(player)


def _trial_plane(player: Player) -> Any:
    """The plane of the first few steps, made for this question alone."""
    assert isinstance(player, Live)
    try:
        bound, state, _ = player.row.made  # type: ignore[misc]
        return viewing_plane(
            Simulation(player.model, bound.solver, player.dt, state, player.control).run(TRIAL * player.dt, progress=False)
        )
    except UnibodyError:
        return None


TRIAL = 4
"""Steps from which the plane of a motion is guessed."""


def view(
    what: Any, solver: Any = "articulated", dt: float | None = None, *, host: str = "127.0.0.1", port: int = PORT,
    browser: bool = True, block: bool = True, play: bool = False, title: str | None = None,
) -> Viewer:  # fmt: skip
    """Show a Model, Scene, Simulation or Recording, or a scene's name, in the browser. With `block` until Ctrl-C.

    `browser` opens a tab if there is a display. Any `host` but this machine lets everybody who reaches the port drive the page.
    """
    player, name = player_for(what, solver, dt)
    viewer = Viewer(player, title or name, host, port)
    if play:
        viewer.post(player.play)
    if browser:
        open_browser(viewer.url)
    if block:
        try:
            viewer.wait()
        except KeyboardInterrupt:
            pass
        finally:
            viewer.close()
    return viewer


def player_for(what: Any, solver: Any = "articulated", dt: float | None = None) -> tuple[Player, str]:
    """A player for whatever can be shown, and a title."""
    if isinstance(what, Recording):
        if not len(what):
            raise ModelError("view: the recording is empty; give one with at least one state")
        return Replay(what), "recording"
    if isinstance(what, Simulation):
        return Live(what), "simulation"
    if isinstance(what, str | Path):
        return player_from_name(str(what), solver, dt)
    scene = what if isinstance(what, Scene) else Scene(what, 5.0, 1e-3) if isinstance(what, Model) else None
    if scene is None:
        raise ModelError(f"view: {what!r} cannot be shown; give a Model, Scene, Simulation, Recording or the name of a scene")
    return Live(Simulation(scene.model, solver, dt or scene.dt)), "model"


def player_from_name(word: str, solver: Any, dt: float | None) -> tuple[Player, str]:
    """A recording's file, a scene's name, or a file that describes a model."""
    from unibody import files, scenes

    path = Path(word)
    if path.suffix == ".npz":
        return Replay(Recording.load(path)), path.stem
    if path.is_file() or path.suffix:
        load = getattr(files, "load", files.load_python)
        return player_for(load(path), solver, dt)[0], path.stem
    return player_for(scenes.make(word), solver, dt)[0], word


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server there.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def open_browser(url: str) -> bool:
    """A tab in the person's browser, if there is a display."""
    import os
    import sys
    import webbrowser

    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    return webbrowser.open(url)


def _server(host: str, port: int, title: str) -> Any:
    """viser's server, without its greeting, its logo and its tunnels to elsewhere."""
    try:
        import viser
    except ImportError:
        raise ModelError("the viewer needs viser, which is not installed; pip install unibody[view]") from None
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
    except OSError as error:
        raise ModelError(f"no page at {host}:{port} ({error}); give another --host or --port") from None
    server.request_share_url = _refuse_to_share  # type: ignore[method-assign]
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(47, 93, 138))
    server.scene.world_axes.visible = False
    return server


def _refuse_to_share(verbose: bool = True) -> None:
    """A page here is not carried to other machines."""
