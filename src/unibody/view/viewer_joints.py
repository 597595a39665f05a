"""Sliders of joints beside the scene: they show where joints are, and put them elsewhere. All of them while they are few, else those of a
joint that is chosen."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from unibody.view.spatial import nice
from unibody.view.viewer_player import Live
from unibody.view.viewer_pose import JointSlide, slid, slides

FEW = 16
"""Sliders that are shown at once."""
HELD = 0.7
"""Seconds for which a slider that was moved is left to the hand that moves it."""


class ViewerJoints:
    """The folder of sliders. `gui` is viser's; `post` has the player's thread run a command."""

    def __init__(self, gui: Any, player: Live, span: float, post: Callable[[Callable[[], None]], None]):
        self._gui, self._player, self._post = gui, player, post
        self._all = slides(player.model, span)
        self._wanted: dict[str, dict[int, float]] = {}
        self._handles: dict[JointSlide, Any] = {}
        self._touched: dict[JointSlide, float] = {}
        self._folder = gui.add_folder("Joints", expand_by_default=len(self._all) <= FEW) if self._all else None
        if self._folder is None:
            return
        names = list(dict.fromkeys(s.joint for s in self._all))
        with self._folder:
            if len(self._all) > FEW:
                choice = gui.add_dropdown("sliders of", names, initial_value=names[0])
                choice.on_update(self._chosen)
        self._show(self._all if len(self._all) <= FEW else [s for s in self._all if s.joint == names[0]])

    async def _chosen(self, event: Any) -> None:
        name = event.target.value
        self._post(lambda: self._show([s for s in self._all if s.joint == name]))

    def _show(self, chosen: list[JointSlide]) -> None:
        for handle in self._handles.values():
            handle.remove()
        self._handles = {}
        assert self._folder is not None
        with self._folder:
            for s in chosen:
                value = float(np.clip(self._now(s), s.low, s.high))
                handle = self._gui.add_slider(s.label, s.low, s.high, nice(1e-3 * (s.high - s.low)), value)
                self._handles[s] = handle
                handle.on_update(self._listener(s))

    def _listener(self, s: JointSlide) -> Any:
        async def moved(event: Any) -> None:
            if event.client is not None:
                self._touched[s] = time.monotonic()
                self.want(s, float(event.target.value))

        return moved

    def want(self, s: JointSlide, value: float) -> None:
        """Put a joint there soon. Of values that come faster than joints are put, the last one counts."""
        self._wanted.setdefault(s.joint, {})[s.k] = value
        self._post(self._put)

    def _put(self) -> None:
        wanted, self._wanted = self._wanted, {}
        for joint, values in wanted.items():
            self._player.put(joint, values)

    def _now(self, s: JointSlide) -> float:
        joint = self._player.model.joint(s.joint)
        return float(slid(joint, self._player.observation.joint_q[joint.q_start : joint.q_start + joint.nq])[s.k])

    def refresh(self) -> None:
        """Move the sliders to where joints are, but for one that is held; called a few times a second. Turns beyond widen a slider."""
        for s, handle in self._handles.items():
            if time.monotonic() - self._touched.get(s, -np.inf) < HELD:
                continue
            now = self._now(s)
            if not np.isfinite(now) or abs(now - handle.value) <= 1e-3 * (s.high - s.low):
                continue
            if now > handle.max:
                handle.max = now
            if now < handle.min:
                handle.min = now
            handle.value = now
