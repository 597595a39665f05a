"""The joints of a URDF: kinds, frames, limits, damping, friction, and joints that mimic others (see the table in `urdf`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.constraints import Coupling
from unibody.errors import ModelError
from unibody.files.urdf_grammar import named
from unibody.files.urdf_links import Bodies, pose_of
from unibody.files.urdf_shapes import turned_to
from unibody.forces import DryFriction
from unibody.joints import Ball, Free, Joint, Planar, Prismatic, Revolute, Weld
from unibody.model import Builder
from unibody.spatial.pose import Pose, vector3

BEYOND = 1e9
"""Limits of this size or more are none: URDF has to give some."""


@dataclass
class Joints:
    """Adds joints and collects what is said about them."""

    b: Builder
    bodies: Bodies
    name_of: dict[str, str]
    limits: bool
    mimic: bool = True

    def __post_init__(self) -> None:
        self.asides: dict[str, list[str]] = {}
        self.moved: list[str] = []
        self.limited = False

    def add_root(self, root: str, floating: bool, taken: set[str], X_WL: Pose) -> None:
        """Weld the root to the world, or free it, where it is to be; what is ground already stays as it is."""
        host = self.bodies.host[root]
        if self.bodies.mass[host] is None:
            return
        name = root
        while name in taken:
            name += "_base"
        X_BM = self.bodies.X_BL[root]
        if floating:
            q = None if X_WL == Pose() else (*X_WL.p, *X_WL.wxyz)
            self.b.joint(name, Free(), parent=self.b.world, child=self.name_of[host], X_BM=X_BM, q=q)
        else:
            self.b.joint(name, Weld(), parent=self.b.world, child=self.name_of[host], X_PF=X_WL, X_BM=X_BM)

    def add(self, robot: Any) -> None:
        start = self._start(robot)
        for j in robot.joints:
            self._add_joint(j, start)
        for j in self._followers(robot):
            if _scalar(j):
                self.b.add(Coupling([j.name], [j.mimic.joint], [[j.mimic.multiplier]], j.mimic.offset), name=f"{j.name}.mimic")

    def _add_joint(self, j: Any, start: dict[str, float]) -> None:
        parent, child = self.bodies.host[j.parent], self.bodies.host[j.child]
        if j.type == "fixed":
            self._unused(j)
            if parent == child:
                return
        element, turn = _element(j)
        options: dict[str, Any] = {"q": start[j.name]} if j.name in start and start[j.name] != 0.0 else {}
        options |= self._limits(j) | self._dynamics(j, element)
        X_PF = self.bodies.X_BL[j.parent] @ pose_of(j.origin) @ turn
        X_BM = self.bodies.X_BL[j.child] @ turn
        self.b.joint(j.name, element, self.name_of[parent], self.name_of[child], X_PF=X_PF, X_BM=X_BM, **options)
        friction = _dissipation(j, "friction")
        if friction and element.nv:
            self.b.add(DryFriction(j.name, friction), name=f"{j.name}.friction")

    def _dynamics(self, j: Any, element: Joint) -> dict[str, Any]:
        damping = _dissipation(j, "damping")
        return {"damping": damping} if damping and element.nv else {}

    def _limits(self, j: Any) -> dict[str, Any]:
        if j.limit is None and j.type in ("revolute", "prismatic"):
            self._aside("a missing <limit>", "such joints were taken without limits", j.name)
        if j.limit is None or j.type == "fixed":
            return {}
        out: dict[str, Any] = {}
        if j.limit.effort is not None:
            if j.limit.effort > 0.0:
                out["effort_limit"] = float(j.limit.effort) if j.limit.effort < BEYOND else np.inf
            else:
                self._aside("effort limits that are not above 0", "taken as none", j.name)
        if j.limit.velocity and j.limit.velocity < BEYOND:
            self._aside("velocity limits", "no solver bounds speeds", j.name)
        ends = _range(j)
        if ends is not None and not self.limits:
            self._aside("limits", "left out, since limits=false", j.name)
        elif ends is not None:
            self.limited = True
            out["limits"] = ends
        elif j.type in ("revolute", "prismatic"):
            if (j.limit.lower, j.limit.upper) != (-BEYOND, BEYOND):
                self._aside("limits without a lower and an upper end in this order", "taken as none", j.name)
        elif j.limit.lower is not None or j.limit.upper is not None:
            self._aside(f"lower and upper limits of type '{j.type}'", "such joints have none", j.name)
        return out

    def _unused(self, j: Any) -> None:
        """A fixed joint may say anything about motion."""
        moves = [n for n in ("limit", "dynamics", "mimic") if getattr(j, n) is not None]
        if moves:
            self._aside(f"<{'>, <'.join(moves)}> of type 'fixed'", "such joints do not move", j.name)

    def _start(self, robot: Any) -> dict[str, float]:
        """Where scalar joints start: within their limits, followers where their leaders put them."""
        by_name = {j.name: j for j in robot.joints}
        start = {j.name: 0.0 for j in robot.joints if _scalar(j)}
        for name in start:
            ends = _range(by_name[name])
            if ends is not None and self.limits:
                start[name] = float(np.clip(0.0, *ends))
        following = self._followers(robot)
        for j in following:
            if j.mimic.joint not in by_name:
                near = [n for n in by_name if n.endswith(j.mimic.joint)][:3]
                hint = f"did you mean {named(near)}? " if near else ""
                raise ModelError(f"joint '{j.name}' mimic: joint '{j.mimic.joint}' is unknown; {hint}correct it, or load with mimic=false")
            if not (_scalar(j) and _scalar(by_name[j.mimic.joint])):
                if j.type != "fixed":
                    raise ModelError(f"joint '{j.name}' mimics '{j.mimic.joint}', and one of them has not one coordinate; take <mimic> out")
        for _ in following:
            for j in following:
                if j.name in start:
                    start[j.name] = j.mimic.multiplier * start[j.mimic.joint] + j.mimic.offset
        self.moved = [f"'{name}' at {q:g}" for name, q in start.items() if q != 0.0]
        return start

    def _followers(self, robot: Any) -> list[Any]:
        """Joints that follow others."""
        found = [j for j in robot.joints if j.mimic is not None]
        for j in found if not self.mimic else ():
            self._aside("<mimic>", "left out, since mimic=false", j.name)
        return found if self.mimic else []

    def _aside(self, what: str, why: str, joint: str) -> None:
        names = self.asides.setdefault(f"{what} of joints {{}}: {why}", [])
        if joint not in names:
            names.append(joint)

    def left_out(self) -> list[str]:
        return [line.format(named(joints)) for line, joints in self.asides.items()]

    def notes(self) -> list[str]:
        out = []
        if self.limited:
            out.append("joint limits need a solver that holds one-sided constraints (redmax, complementarity); limits=false: none")
        if self.moved:
            out.append(f"joints that do not start at 0: {', '.join(self.moved)}")
        return out


def _dissipation(j: Any, what: str) -> float:
    """Damping or friction; 0 where the file gives none."""
    value = 0.0 if j.dynamics is None else float(getattr(j.dynamics, what) or 0.0)
    if value < 0.0:
        raise ModelError(f"joint '{j.name}': {what} {value:g} is negative; give 0 or more")
    return value


def _scalar(j: Any) -> bool:
    return j.type in ("revolute", "continuous", "prismatic")


def _range(j: Any) -> tuple[float, float] | None:
    """The ends of a joint's way, if it has two in the right order."""
    if j.type not in ("revolute", "prismatic") or j.limit is None or (j.limit.lower is None and j.limit.upper is None):
        return None
    lower, upper = (x if abs(x) < BEYOND else float(np.sign(x)) * np.inf for x in (j.limit.lower or 0.0, j.limit.upper or 0.0))
    return (lower, upper) if lower < upper and np.isfinite([lower, upper]).any() else None


def _element(j: Any) -> tuple[Joint, Pose]:
    """The joint, and the turn of its frames that brings its axes to the file's."""
    if j.type == "fixed":
        return Weld(), Pose()
    if j.type == "floating":
        return Free(), Pose()
    if j.type == "spherical":
        return Ball(), Pose()
    axis = vector3(j.axis, f"joint '{j.name}' axis")
    size = float(np.linalg.norm(axis))
    if size < 1e-9:
        raise ModelError(f"joint '{j.name}': axis {tuple(axis.tolist())} has no direction; give one such as 0 0 1")
    axis = axis / size
    if j.type == "planar":
        return Planar(), turned_to(axis, f"joint '{j.name}'")
    return (Prismatic(axis) if j.type == "prismatic" else Revolute(axis)), Pose()
