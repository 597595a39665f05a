"""The controls beside the scene. What a person does there is handed on as a command; nothing is changed from a browser's thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from unibody.view.style import PULL, PUSH, SLACK
from unibody.view.viewer_camera import ViewerCameras
from unibody.view.viewer_joints import ViewerJoints
from unibody.view.viewer_player import Live, Player
from unibody.view.viewer_record import ViewerRecorder, add_button
from unibody.view.viewer_scene import ViewerStage
from unibody.view.viewer_tree import ViewerTree

Post = Callable[[Callable[[], None]], None]
"""Takes a command that the player's own thread will run."""

SPEEDS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
FACTORS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
"""Steps that are offered, of the first one."""
FORCES, STRAINS = ("pushes", "slack", "pulls"), ("pressed", "none", "stretched")
"""What the colours say of strands and of deformables."""


def legend(push: str, slack: str, pull: str, largest: str) -> str:
    """The bar of colours under what it tells of, in HTML."""
    return (
        '<div style="font-size:12px;padding:2px 12px 6px"><div style="display:flex;justify-content:space-between">'
        f"<span>{push}</span><span>{slack}</span><span>{pull}</span></div>"
        f'<div style="height:8px;border-radius:4px;background:linear-gradient(90deg,{PUSH},{SLACK},{PULL})"></div>'
        f'<div style="text-align:right;padding-top:2px">largest so far: {largest}</div></div>'
    )


class ViewerPanel:
    """Film, method, what is shown, and what there is to say. `gui` is viser's."""

    def __init__(self, gui: Any, player: Player, stage: ViewerStage, post: Post, clients: Callable[[], Iterable[Any]]):
        self._gui, self._player, self._stage, self._post = gui, player, stage, post
        self._scrubbed = False
        self._text: dict[str, str] = {}
        gui.main_panel.dock_right()
        gui.main_panel.set_width(330)
        self._status = gui.add_markdown(self._status_text())
        self._message = gui.add_markdown("", visible=False)
        self._add_film()
        self.cameras = ViewerCameras(gui, stage.look, lambda: stage.shown, clients, self._on)
        self.strength: Any = None
        self.recorder: ViewerRecorder | None = None
        self._joints: ViewerJoints | None = None
        if isinstance(player, Live):
            self.recorder = ViewerRecorder(player, Path.cwd())
            add_button(gui, self.recorder, self._say, post)
            self._add_method(player)
            self._joints = ViewerJoints(gui, player, stage.span, post)
        self._add_show()
        self._tree = ViewerTree(gui, player.model, stage.hide, self._on)
        self._picked = gui.add_markdown("Click a body for its name" + ("; drag it to pull it." if player.live else "."))

    def _add_film(self) -> None:
        gui, player = self._gui, self._player
        buttons = gui.add_button_group("film", ("Play", "Pause", "Step", "Reset"))
        actions = {"Play": self._play, "Pause": player.pause, "Step": player.step, "Reset": self._reset}
        self._on(buttons.on_click, lambda label: actions[label]())
        end = max(player.history.end, player.history.start + (1.0 if player.live else 1e-6))
        self._scrub = gui.add_slider(
            "t [s]", player.history.start, end, max(1e-6, 1e-3 * (end - player.history.start)), player.history.start
        )
        self._on(self._scrub.on_update, lambda at: self._seek(float(at)))
        names = [f"{s:g}×" for s in SPEEDS]
        speed = gui.add_dropdown("speed", names, initial_value="1×")
        self._on(speed.on_update, lambda label: player.set_speed(SPEEDS[names.index(label)]))
        if not player.live:
            loop = gui.add_checkbox("repeat", True)
            self._on(loop.on_update, lambda on: setattr(player, "loop", bool(on)))

    def _on(self, register: Any, command: Callable[[Any], None]) -> None:
        """Hand on what a person chose: the value as it is now, since it may be another when the command runs. What we set is no choice."""

        async def chosen(event: Any) -> None:
            if event.client is not None:
                value = event.target.value
                self._post(lambda: command(value))

        register(chosen)

    def _say(self, text: str) -> None:
        self._player.message = text

    def _play(self) -> None:
        self._scrubbed = False
        self._player.play()

    def _reset(self) -> None:
        self._scrubbed = False
        self._player.reset()

    def _seek(self, at: float) -> None:
        self._scrubbed = True
        self._player.seek(at)

    def _add_method(self, player: Live) -> None:
        gui = self._gui
        with gui.add_folder("Method"):
            options = player.options
            able = [name for name, reasons in options.items() if not reasons or name == player.solver.name]
            solver = gui.add_dropdown("solver", able, initial_value=player.solver.name)
            steps = sorted({float(f"{f * player.dt:.6g}") for f in FACTORS})
            names = [f"{1e3 * h:g} ms" for h in steps]
            dt = gui.add_dropdown("dt", names, initial_value=f"{1e3 * float(f'{player.dt:.6g}'):g} ms")
            self._on(solver.on_update, lambda name: self._restart(player, solver=name))
            self._on(dt.on_update, lambda label: self._restart(player, dt=steps[names.index(label)]))
            for name, reasons in options.items():
                if reasons:
                    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
                    gui.add_markdown(f"*{name}* cannot: {reasons[0]}{more}")
            self.strength = gui.add_slider("pull", 1, 100, 1, 1, hint="How hard the mouse pulls: times the body's mass × (2π · 2 Hz)²")

    def _restart(self, player: Live, **change: Any) -> None:
        self._scrubbed = False
        player.restart(**change)

    def _add_show(self) -> None:
        gui, stage = self._gui, self._stage
        with gui.add_folder("Show"):
            self._legend = None
            if stage.strands is not None:
                self._toggle("springs, cables", True, stage.strands)
                self._legend = gui.add_html(legend(*FORCES, "–"))
            self._strain: Any = None
            if stage.look.soft:
                strain = gui.add_checkbox("strain", False)
                self._strain = gui.add_html(legend(*STRAINS, "–"), visible=False)
                self._on(strain.on_update, lambda on: self._show_strain(bool(on)))
            if stage.frames is not None:
                self._toggle("joint frames", False, stage.frames)
                self._toggle("joint reactions", False, stage.reactions)
            touching = gui.add_checkbox("contact forces", stage.show_contacts)
            self._on(touching.on_update, lambda on: self._redraw(contacts=bool(on)))
            scale = gui.add_slider("arrows", 0.1, 5.0, 0.1, 1.0)
            self._on(scale.on_update, lambda times: self._redraw(scale=float(times)))
            if stage.ground is not None:
                self._toggle("ground", True, stage.ground)
            names = gui.add_checkbox("names", False)
            self._on(names.on_update, lambda on: stage.label(bool(on)))

    def _show_strain(self, on: bool) -> None:
        self._stage.softs.strained = on
        self._strain.visible = on
        self._redraw()

    def _toggle(self, label: str, on: bool, handle: Any) -> None:
        box = self._gui.add_checkbox(label, on)

        def change(visible: bool) -> None:
            handle.visible = visible
            self._redraw()

        self._on(box.on_update, lambda on: change(bool(on)))

    def _redraw(self, scale: float | None = None, contacts: bool | None = None) -> None:
        self._stage.scale = self._stage.scale if scale is None else scale
        self._stage.show_contacts = self._stage.show_contacts if contacts is None else contacts
        self._stage.show(self._stage.shown, getattr(self._player, "pull", None))

    def pick(self, body: int) -> None:
        """Say what was clicked."""
        info, model = self._player.model.bodies[body], self._player.model
        joint = model.tree_joints[body - 1] if body else None
        held = "" if joint is None or info.kind != "dynamic" else f", {type(joint.element).__name__} to {model.bodies[joint.parent].name}"
        weight = f"{info.mass:.4g} kg{held}" if info.kind == "dynamic" else info.kind
        self._set("_picked", f"**{info.name}**: {weight}")

    def pick_soft(self, name: str) -> None:
        """Say which deformable was clicked."""
        info = self._player.model.deformable(name)
        self._set("_picked", f"**{name}**: {info.kind} of {info.n} vertices, {info.mass.sum():.4g} kg")

    def refresh(self) -> None:
        """What changes with time; called a few times a second."""
        player = self._player
        self._set("_status", self._status_text())
        self._set("_message", f"⚠ {player.message}" if player.message else "")
        if player.live and player.history.end > self._scrub.max:
            self._scrub.max = player.history.end
        if not self._scrubbed:
            self._scrub.value = float(np.clip(player.time, self._scrub.min, self._scrub.max))
        if self._joints is not None:
            self._joints.refresh()
        if self._legend is not None:
            self._set("_legend", legend(*FORCES, f"{self._stage.largest_tension:.4g} N"))
        if self._strain is not None:
            self._set("_strain", legend(*STRAINS, f"{100.0 * self._stage.softs.largest:.3g} %"))

    def _set(self, name: str, text: str) -> None:
        """Send a text only when it is another."""
        if self._text.get(name) != text:
            self._text[name] = text
            handle = getattr(self, name)
            handle.content = text or " "
            if name == "_message":
                handle.visible = bool(text)

    def _status_text(self) -> str:
        player = self._player
        what = f"{player.solver.name}, dt {1e3 * player.dt:g} ms" if isinstance(player, Live) else "recording"
        how = f"{player.rate:.2f}× real time" if player.playing else "paused"
        return f"t = {player.time:.3f} s · {how}  \n{what}"
