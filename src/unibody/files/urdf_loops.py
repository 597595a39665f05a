"""Loops for a URDF, which is a tree: a YAML file beside it, `<robot>.loops.yaml`, or one that is named.

    loops:                              # joints that close loops
      - name: crank pin
        type: revolute                  # fixed, revolute, prismatic, ball, or distance
        parent: crank                   # links of the robot, or world
        child: rod
        parent_pose: {xyz: [0.2, 0, 0], rpy: [0, 0, 0]}    # the joint's frame in the parent link; left out: its own
        child_pose: {xyz: [0, 0, 0]}                       # and in the child link
        axis: [0, 1, 0]                 # of revolute and prismatic, in the joint's frame
        length: 0.3                     # of distance, between the two frames' origins; left out: what it is at the start
    couplings:                          # follower = multiplier · leader + offset
      - {follower: left, leader: right, multiplier: -1.0, offset: 0.0}
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unibody.constraints import Coupling, Distance
from unibody.element import Point, number
from unibody.errors import ModelError
from unibody.files.sdf_frames import rpy
from unibody.files.urdf_links import Bodies
from unibody.joints import Ball, Joint, Prismatic, Revolute, Weld
from unibody.model import Builder
from unibody.model.model import look_up
from unibody.model.values import entry_of, shown
from unibody.spatial.pose import Pose, vector3

ENDING = ".loops.yaml"
LARGEST = 1_000_000
"""Bytes of a file that is read."""
KINDS = ("fixed", "revolute", "prismatic", "ball", "distance")
KEYS = ("name", "type", "parent", "child", "parent_pose", "child_pose", "axis", "length")


@dataclass(frozen=True)
class Loops:
    """What a file of loops says."""

    path: Path
    joints: list[dict[str, Any]] = field(default_factory=list)
    couplings: list[dict[str, Any]] = field(default_factory=list)


def loops_of(robot: Path, given: Any) -> Loops | None:
    """Those of the file that is given (from the robot's folder), else of the one beside the robot, if there is one."""
    path = robot.with_suffix(ENDING) if given is None or given is True else robot.parent / str(given)
    if given is False or (given is None and not path.is_file()):
        return None
    if not path.is_file():
        raise ModelError(f"loops: file '{path}' does not exist; give one, or leave loops out")
    if path.stat().st_size > LARGEST:
        raise ModelError(f"loops '{path}': more than {LARGEST} bytes; give a smaller file")
    try:
        import yaml
    except ImportError:
        raise ModelError(f"loops '{path}': PyYAML reads it, which is not installed; pip install unibody[import]") from None
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ModelError(f"loops '{path}': no YAML ({' '.join(str(error).split())[:200]}); correct it") from None
    what = f"loops '{path.name}'"
    top = entry_of({} if data is None else data, ("loops", "couplings"), (), what)
    lists: list[list[dict[str, Any]]] = []
    for key, keys, needed in (("loops", KEYS, ("name", "type", "parent", "child")),
                              ("couplings", ("follower", "leader", "multiplier", "offset"), ("follower", "leader"))):  # fmt: skip
        entries = top.get(key) or []
        if not isinstance(entries, list):
            raise ModelError(f"{what} {key}: {shown(entries)} is no list; begin each entry with '- '")
        lists.append([entry_of(entry, keys, needed, f"{what} {key}[{k}]") for k, entry in enumerate(entries)])
    return Loops(path, *lists)


def add_loops(b: Builder, loops: Loops, bodies: Bodies, name_of: dict[str, str], joints: set[str]) -> None:
    """The joints and couplings of a file; `joints`: the names of the robot's."""
    for entry in loops.joints:
        what = f"loop '{entry['name']}'"
        kind = str(entry["type"])
        look_up(kind, dict.fromkeys(KINDS), f"{what}: type")
        ends = []
        for which in ("parent", "child"):
            link, X = str(entry[which]), _pose(entry.get(f"{which}_pose"), f"{what} {which}_pose")
            if link == "world" and "world" not in bodies.host:
                ends.append(("world", X))
                continue
            look_up(link, bodies.host, f"{what}: link")
            ends.append((name_of[bodies.host[link]], bodies.X_BL[link] @ X))
        (parent, X_PF), (child, X_BM) = ends
        if kind == "distance":
            length = entry.get("length")
            apart = None if length is None else number(length, f"{what} length", positive=True)
            b.add(Distance(Point(parent, X_PF.p), Point(child, X_BM.p), apart), name=str(entry["name"]))
            continue
        if "length" in entry:
            raise ModelError(f"{what}: a length belongs to type distance; take it out")
        b.joint(str(entry["name"]), _element(kind, entry, what), parent, child, X_PF=X_PF, X_BM=X_BM)
    for entry in loops.couplings:
        follower, leader = str(entry["follower"]), str(entry["leader"])
        for name in (follower, leader):
            look_up(name, dict.fromkeys(joints), "coupling: joint")
        factor, offset = (number(entry.get(k, d), f"coupling of '{follower}' {k}") for k, d in (("multiplier", 1.0), ("offset", 0.0)))
        b.add(Coupling([follower], [leader], [[factor]], offset), name=f"{follower}.coupling")


def _element(kind: str, entry: dict[str, Any], what: str) -> Joint:
    if kind in ("fixed", "ball"):
        return Weld() if kind == "fixed" else Ball()
    if "axis" not in entry:
        raise ModelError(f"{what} of type {kind}: no axis; give one such as [0, 1, 0]")
    axis = vector3(entry["axis"], f"{what} axis")
    return Revolute(axis) if kind == "revolute" else Prismatic(axis)


def _pose(data: Any, what: str) -> Pose:
    if data is None:
        return Pose()
    entry = entry_of(data, ("xyz", "rpy"), (), what)
    p = vector3(entry.get("xyz", (0.0, 0.0, 0.0)), f"{what} xyz")
    return Pose(p, rpy(np.asarray(vector3(entry.get("rpy", (0.0, 0.0, 0.0)), f"{what} rpy"))))
