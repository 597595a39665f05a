"""The viewer: a page on this machine that shows a model move, and lets one stop it, wind it back, change its solver and pull at it.

One thread owns the player and everything that is shown: it runs the commands that people gave, advances the player and mirrors it to the
page, some forty times a second. The page's own threads only hand it commands.
"""

from __future__ import annotations

import contextlib
import io
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from unibody import files, scenes
from unibody.errors import ModelError, UnibodyError
from unibody.model import Model
from unibody.scenes import Scene
from unibody.simulation import Recording, Simulation
from unibody.view.look import Look
from unibody.view.motion import viewing_plane
from unibody.view.snapshot import Snapshot
from unibody.view.viewer_gate import Gate, can_bind, gated
from unibody.view.viewer_panel import ViewerPanel
from unibody.view.viewer_player import Live, Player, Replay
from unibody.view.viewer_plots import Plots
from unibody.view.viewer_scene import ViewerStage, view_from

FRAME = 1.0 / 40.0
"""Seconds between two pictures; a slower simulation gives fewer."""
PANEL, CURVES = 0.1, 0.2
"""Seconds between two updates of the numbers and of the plots."""
FOV = np.radians(40.0)
PORT = 8080


class Viewer:
    """A page for a player. `url` is where it is; `close()` ends it; it is a context manager."""

    def __init__(self, player: Player, title: str = "unibody", host: str = "127.0.0.1", port: int = PORT, allow: Sequence[str] = ()):
        self.player, self.title = player, title
        self.look = Look(player.model)
        self._commands: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._closed = threading.Event()
        self.updates = 0
        """Pictures sent so far."""
        self._sent: Any = None
        self._server = _server(host, port, title, Gate(host, tuple(allow)))
        first = Snapshot.of(self.look, player.observation)
        shown = preview(player)
        low, high = bounds(self.look, first, shown)
        self._stage = ViewerStage(self._server.scene, self.look, first, low, high)
        self._panel = ViewerPanel(self._server.gui, player, self._stage, self.post, lambda: self._server.get_clients().values())
        self._plots = Plots(self._server.gui, player)
        self._point_camera(viewing_plane(shown))
        self._listen()
        self._thread = threading.Thread(target=self._run, name="unibody viewer", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        host = self._server.get_host()
        return f"http://{f'[{host}]' if ':' in host else host}:{self._server.get_port()}"

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
            farewell = threading.Thread(target=self._stop_server, name="unibody viewer ends", daemon=True)
            farewell.start()
            farewell.join(timeout=10.0)  # a page that hangs does not hold up who closes it

    def _stop_server(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()):  # it says goodbye
            self._server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _point_camera(self, plane: tuple[np.ndarray, np.ndarray, np.ndarray] | None) -> None:
        position, target = view_from(self._stage.low, self._stage.high, plane, FOV)
        camera = self._server.initial_camera
        camera.position, camera.look_at, camera.fov = position, target, FOV
        camera.near, camera.far = 1e-3 * self._stage.span, 1e3 * self._stage.span

    def _listen(self) -> None:
        """Clicks and drags on bodies. Drags are handled in the order of their events, hence the coroutines."""
        for surface in self._stage.softs.surfaces:
            surface.mesh.on_click(lambda _, name=surface.soft.name: self.post(lambda: self._panel.pick_soft(name)))
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
            self._guard(partial(self.player.advance, began - last))
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
            self._panel.cameras.keep(snapshot)
        if self._panel.recorder is not None:
            self._panel.recorder.seen(self.player.row)
        self._sent = self.player.row
        self.updates += 1


def preview(player: Player) -> Recording:
    """What the film is about to show: a recording itself, or some steps of a simulation, made for this alone in a moment."""
    if isinstance(player, Replay):
        return player.recording
    assert isinstance(player, Live)
    made = player.row.made
    assert made is not None
    bound, state, memory = made
    shown, control = Recording(bound, player.dt), player.control.flat.copy()
    shown.append(state, memory, control)
    steps = max(1, round(PREVIEW / PREVIEW_ROWS / player.dt))
    until = None
    while len(shown) <= PREVIEW_ROWS and (until is None or time.perf_counter() < until):
        state, memory, _, good = bound.rollout(state, memory, control, player.dt, steps if until else 1, 1, record=False)
        if not good:
            bound.failure(state, memory, control, state.t)  # forgets it; the film will meet it again and say so
            break
        shown.append(state, memory, control)
        until = until or time.perf_counter() + PREVIEW_SECONDS  # the first step may have compiled
    return shown


PREVIEW, PREVIEW_ROWS, PREVIEW_SECONDS = 2.0, 20, 0.3
"""Of a simulation: simulated time [s], rows, time on the wall [s]."""
GROWTH = 0.6
"""How far, in spans of what is shown first, the view reaches out for what moves away."""


def bounds(look: Look, first: Snapshot, shown: Recording) -> tuple[np.ndarray, np.ndarray]:
    """Corners of what will be in view."""
    low, high = look.bounds(first.R, first.p, first.x)
    rows = np.unique(np.linspace(0, len(shown) - 1, PREVIEW_ROWS).round().astype(int))
    shots = [Snapshot.of(look, shown.observe(int(k))) for k in rows]
    later = look.bounds(*(np.array([getattr(s, what) for s in shots]) for what in ("R", "p", "x")))
    reach = (GROWTH if shown.steps == 0 else np.inf) * float((high - low).max())
    return np.maximum(np.minimum(low, later[0]), low - reach), np.minimum(np.maximum(high, later[1]), high + reach)


def view(
    what: Any, solver: Any = None, dt: float | None = None, *, host: str = "127.0.0.1", port: int = PORT, browser: bool = True,
    block: bool = True, play: bool = False, title: str | None = None, allow: Sequence[str] = (),
) -> Viewer:  # fmt: skip
    """Show a Model, Scene, Simulation or Recording, a scene's name or a file in the browser. With `block` until Ctrl-C.

    `solver` None: the first that can. `browser` opens a tab if there is a display. Any `host` but this machine lets everybody who
    reaches the port drive the page. `allow` lists further names, `name` or `name:port`, under which browsers may ask for it.
    """
    player, name = player_for(what, solver, dt)
    viewer = Viewer(player, title or name, host, port, allow)
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


def player_for(what: Any, solver: Any = None, dt: float | None = None) -> tuple[Player, str]:
    """A player for whatever can be shown, and a title."""
    if isinstance(what, str | Path):
        path = Path(what)
        found, name = (_read(path), path.stem) if path.suffix else (scenes.make(str(what)), str(what))
        return player_for(found, solver, dt)[0], name
    if isinstance(what, Recording | Simulation):
        if solver is not None or dt is not None:
            raise ModelError(f"view: a {type(what).__name__} has its own solver and dt; leave them out")
        if isinstance(what, Simulation):
            return Live(what), "simulation"
        if not len(what):
            raise ModelError("view: the recording is empty; give one with at least one state")
        return Replay(what), "recording"
    scene = Scene(what, 5.0, 1e-3) if isinstance(what, Model) else what
    if not isinstance(scene, Scene):
        raise ModelError(f"view: {what!r} cannot be shown; give a Model, Scene, Simulation, Recording, a scene's name or a file")
    return Live(Simulation(scene.model, solver or scene.default_solver(), scene.dt if dt is None else dt)), "model"


def _read(path: Path) -> Recording | Scene:
    return Recording.load(path) if path.suffix.lower() == ".npz" else files.load(path)


def open_browser(url: str) -> bool:
    """A tab in the person's browser, if there is a display."""
    import webbrowser

    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    return webbrowser.open(url)


def _server(host: str, port: int, title: str, gate: Gate) -> Any:
    """viser's server, which only the gate's names reach, without its greeting, its logo and its tunnels to elsewhere."""
    try:
        import viser
    except ImportError:
        raise ModelError("the viewer needs viser, which is not installed; pip install unibody[view]") from None
    try:
        can_bind(host)
        with gated(gate), contextlib.redirect_stdout(io.StringIO()):
            server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
    except OSError as error:
        raise ModelError(f"no page at {host}:{port} ({error}); give another --host or --port") from None
    setattr(server, "request_share_url", _refuse_to_share)  # noqa: B010 (a method, replaced on this server only)
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(47, 93, 138))
    server.scene.world_axes.visible = False
    return server


def _refuse_to_share(verbose: bool = True) -> None:
    """A page here is not carried to other machines."""
