"""The joints of an SDF file: kinds, frames, axes, limits, damping, friction, springs, and joints that mimic others: the table in `sdf`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.constraints import Coupling, JointLimit
from unibody.element import number
from unibody.errors import ModelError
from unibody.files.sdf_frames import WORLD, floats
from unibody.files.sdf_source import SdfSource, text_of
from unibody.forces import DryFriction
from unibody.joints import Ball, Composite, Joint, Prismatic, Revolute, Screw, Weld
from unibody.model import Builder
from unibody.model.model import look_up
from unibody.spatial.pose import Pose

BEYOND = 1e15
"""Limits of this size or more are none."""
PARALLEL = 1.0 - 1e-9
"""Axes whose directions have this dot product are one."""
KINDS = ("fixed", "revolute", "continuous", "prismatic", "ball", "screw", "universal", "revolute2", "gearbox")


@dataclass
class SdfJoints:
    """Adds the joints of a file."""

    b: Builder
    r: SdfSource
    limits: bool
    shorter: bool

    def add(self) -> None:
        names = {scoped: scoped.rsplit("::", 1)[-1] if self.shorter else scoped for scoped, _, _ in self.r.joints}
        self.names = names
        for scoped, element, scope in self.r.joints:
            self._joint(scoped, element, scope)
        for scoped, element, scope in self.r.joints:
            self._mimics(scoped, element, scope)
            if (element.get("type") or "").strip() == "gearbox":
                self._gearbox(scoped, element, scope)

    def _end(self, element: Any, which: str, scope: str, what: str) -> tuple[str, str]:
        """The body at an end of a joint, and its frame's scoped name; a frame stands for the link that it is attached to."""
        said = text_of(element, which, what)
        scoped = self.r.scoped(said, scope)
        while scoped not in self.r.links and scoped in self.r.frames.given and scoped != WORLD and not scoped.endswith("::"):
            scoped = self.r.frames.given[scoped][1]
        if scoped == WORLD or (scoped == "" and said == WORLD):
            return WORLD, WORLD
        look_up(scoped, self.r.links, f"{what}: {which}")
        return self.r.links[scoped].name, scoped

    def _joint(self, scoped: str, element: Any, scope: str) -> None:
        r, name = self.r, self.names[scoped]
        what = f"joint '{name}'"
        r.unread(element, "joint", name)
        kind = (element.get("type") or "").strip()
        look_up(kind, dict.fromkeys(KINDS), f"{what}: type")
        if kind == "gearbox":  # ties two other joints, when these are there
            return
        parent, parent_frame = self._end(element, "parent", scope, what)
        child, child_frame = self._end(element, "child", scope, what)
        X_J = r.frames.of(scoped, what)
        X_P = Pose() if parent == WORLD else r.frames.of(parent_frame, what)
        X_C = Pose() if child == WORLD else r.frames.of(child_frame, what)
        X_PF, X_BM = X_P.inverse() @ X_J, X_C.inverse() @ X_J
        axes = [self._axis(found, scope, X_J, what) for tag in ("axis", "axis2") if (found := element.find(tag)) is not None]
        joint = self._element(kind, element, axes, what)
        options = self._options(element, kind, joint, name)
        if child == WORLD:  # the world has no joint above it: the other way around, coordinates with the other sign
            raise ModelError(f"{what}: its child is the world; exchange parent and child")
        self.b.joint(name, joint, parent, child, X_PF=X_PF, X_BM=X_BM, **options)
        self._friction(element, joint, name)

    def _element(self, kind: str, element: Any, axes: list[np.ndarray], what: str) -> Joint:
        if kind == "fixed":
            return Weld()
        if kind == "ball":
            return Ball()
        if not axes:
            raise ModelError(f"{what} of type '{kind}': no <axis>; give one")
        if kind in ("universal", "revolute2"):
            if len(axes) < 2:
                raise ModelError(f"{what} of type '{kind}': no <axis2>; give one")
            return Composite(Revolute(axes[0]), Revolute(axes[1]))
        if kind == "screw":
            if element.find("screw_thread_pitch") is not None:
                pitch = number(element.findtext("screw_thread_pitch"), f"{what} screw_thread_pitch") / (2.0 * np.pi)
            else:  # turns the other way, in radians a metre
                old = number(element.findtext("thread_pitch", "1"), f"{what} thread_pitch")
                if old == 0.0:
                    raise ModelError(f"{what}: thread_pitch 0 has no lead; give another")
                pitch = -1.0 / old
            return Screw(axes[0], pitch)
        return Prismatic(axes[0]) if kind == "prismatic" else Revolute(axes[0])

    def _axis(self, axis: Any, scope: str, X_J: Pose, what: str) -> np.ndarray:
        """In the joint's frame."""
        found = axis.find("xyz")
        value = np.array(floats("0 0 1" if found is None else found.text, (3,), f"{what} axis"))
        if not np.linalg.norm(value) > 1e-12:
            raise ModelError(f"{what}: axis {tuple(value.tolist())} has no direction; give a non-zero axis")
        value = value / np.linalg.norm(value)
        said = "" if found is None else found.get("expressed_in", "").strip()
        old = self.r.version < (1, 5) or (axis.findtext("use_parent_model_frame", "false").strip() in ("true", "1"))
        if said or old:
            X = self.r.frames.of(self.r.scoped(said, scope) if said else scope, what)
            value = X_J.R.T @ X.R @ value
        return value

    def _options(self, element: Any, kind: str, joint: Joint, name: str) -> dict[str, Any]:
        """Damping, springs, efforts and limits of the joint's axes."""
        what = f"joint '{name}'"
        axes = [a for tag in ("axis", "axis2") if (a := element.find(tag)) is not None][: joint.nv]
        if not axes or not joint.nv or kind == "ball":
            return {}
        out: dict[str, Any] = {}
        damping, effort, lower, upper, springs = ([] for _ in range(5))
        # axis by axis: what it asks for; what no solver honours is said
        for a in axes:
            for tag, kept in (("axis", a), ("limit", a.find("limit")), ("dynamics", a.find("dynamics"))):
                if kept is not None:
                    self.r.unread(kept, tag, name)
            # damping and spring
            damping.append(number(a.findtext("dynamics/damping", "0"), f"{what} damping", minimum=0.0))
            k = number(a.findtext("dynamics/spring_stiffness", "0"), f"{what} spring_stiffness", minimum=0.0)
            springs.append((k, number(a.findtext("dynamics/spring_reference", "0"), f"{what} spring_reference")))
            ends = [number(a.findtext(f"limit/{end}", str(d)), f"{what} {end}", infinite=True) for end, d in
                    (("lower", -np.inf), ("upper", np.inf))]  # fmt: skip
            low, high = (np.sign(x) * np.inf if abs(x) >= BEYOND else x for x in ends)
            if kind == "continuous":
                low, high = -np.inf, np.inf
            if low > high:
                raise ModelError(f"{what}: limits {low:g} … {high:g} are in the wrong order; exchange them")
            lower.append(float(low))
            upper.append(float(high))
            # efforts; what no solver honours is set aside
            most = number(a.findtext("limit/effort", "-1"), f"{what} effort", infinite=True)
            effort.append(most if 0.0 <= most < BEYOND else np.inf)
            if 0.0 <= number(a.findtext("limit/velocity", "-1"), f"{what} velocity", infinite=True) < BEYOND:
                self.r.aside("velocity limits of joints {}: no solver bounds speeds", name)
            if a.find("limit/stiffness") is not None or a.find("limit/dissipation") is not None:
                self.r.aside("stiffness of limits of joints {}: limits are hard", name)
            if a.find("initial_position") is not None:
                self.r.aside("initial positions of joints {}: they start where the file's poses put them", name)
        # options of the joint; limits are an element of their own
        if any(damping):
            out["damping"] = damping
        if np.isfinite(effort).any():
            out["effort_limit"] = effort
        if np.isfinite([*lower, *upper]).any():
            if self.limits:
                self.b.add(JointLimit(name, lower if len(lower) > 1 else lower[0], upper if len(upper) > 1 else upper[0]),
                           name=f"{name}.limit")  # fmt: skip
            else:
                self.r.aside("limits of joints {}: left out, since limits=false", name)
        if any(k for k, _ in springs):
            out |= {"stiffness": [k for k, _ in springs], "rest": [rest for _, rest in springs]}
        return out

    def _friction(self, element: Any, joint: Joint, name: str) -> None:
        axes = [a for tag in ("axis", "axis2") if (a := element.find(tag)) is not None][: joint.nv]
        for k, a in enumerate(axes):
            bound = number(a.findtext("dynamics/friction", "0"), f"joint '{name}' friction", minimum=0.0)
            if bound and joint.nv:
                self.b.add(DryFriction(name, bound, dof=k), name=f"{name}.friction{k or ''}")

    def _gearbox(self, scoped: str, element: Any, scope: str) -> None:
        """θ₂ = −ratio θ₁: the angles by which the parent and the child have turned from the reference body, about axis and axis2."""
        name = self.names[scoped]
        what = f"joint '{name}'"
        ratio = number(element.findtext("gearbox_ratio", "1"), f"{what} gearbox_ratio")
        reference = self._end(element, "gearbox_reference_body", scope, what)[0]
        X_J = self.r.frames.of(scoped, what)
        turning = []
        for which, tag in (("parent", "axis"), ("child", "axis2")):
            if element.find(tag) is None:
                raise ModelError(f"{what} of type 'gearbox': no <{tag}>; give one")
            axis = X_J.R @ self._axis(element.find(tag), scope, X_J, what)
            found = self._turning(reference, self._end(element, which, scope, what)[0], axis)
            if found is None:
                self.r.aside("joints {} of type 'gearbox': no revolute joints from their reference body turn about their axes", name)
                return
            turning.append(found)
        (first, one), (second, other) = turning
        self.b.add(Coupling([second], [first], [[-ratio * one * other]]), name=f"{name}.gearbox")

    def _turning(self, reference: str, body: str, axis: np.ndarray) -> tuple[str, float] | None:
        """The revolute joint between two bodies about an axis (of the world, at the file's poses), and 1 if its angle is that of the body
        from the reference about it, −1 if it is less that."""
        for scoped, element, scope in self.r.joints:
            if (element.get("type") or "").strip() not in ("revolute", "continuous"):
                continue
            what = f"joint '{self.names[scoped]}'"
            ends = [self._end(element, which, scope, what)[0] for which in ("parent", "child")]
            X_J = self.r.frames.of(scoped, what)
            along = float(axis @ X_J.R @ self._axis(element.find("axis"), scope, X_J, what)) if set(ends) == {reference, body} else 0.0
            if abs(along) > PARALLEL:
                return self.names[scoped], float(np.sign(along)) * (1.0 if ends[0] == reference else -1.0)
        return None

    def _mimics(self, scoped: str, element: Any, scope: str) -> None:
        """q = multiplier (q_leader − reference) + offset."""
        found = element.find("axis/mimic")
        if found is None:
            return
        name = self.names[scoped]
        self.r.unread(found, "mimic", name)
        leader = self.r.scoped(found.get("joint", ""), scope)
        look_up(leader, self.names, f"joint '{name}' mimic: joint")
        value = {k: number(found.findtext(k, d), f"joint '{name}' mimic {k}") for k, d in
                 (("multiplier", "1"), ("offset", "0"), ("reference", "0"))}  # fmt: skip
        offset = value["offset"] - value["multiplier"] * value["reference"]
        self.b.add(Coupling([name], [self.names[leader]], [[value["multiplier"]]], offset), name=f"{name}.mimic")
