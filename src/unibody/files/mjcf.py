"""MJCF, MuJoCo's own format, read by MuJoCo's own parser and compiler, and rewritten in our elements.

`load_mjcf` checks the file and all that it names (`mjcf_source`), lets MuJoCo compile it, so that defaults, includes, angles,
frames and inertias are those that MuJoCo would simulate, and adds bodies, joints, tendons, actuators, equalities and contact, kind after
kind.
Whatever has no place here is in `Scene.left_out`, in one line for each kind of thing.

Coordinates keep MuJoCo's values and order within a body. Velocities do too, except those of free bodies, which are here the body's own, in
its axes, angular first. Several joints of one body become one Composite, named `first+second+…`; their springs, dampers,
limits and motors keep each joint's own name.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unibody.element import number
from unibody.errors import ModelError
from unibody.files.mjcf_actuators import add_actuators
from unibody.files.mjcf_bodies import add_bodies
from unibody.files.mjcf_contact import add_contact
from unibody.files.mjcf_equality import add_equalities
from unibody.files.mjcf_joints import add_joints, joint_state
from unibody.files.mjcf_reading import Reading, frame
from unibody.files.mjcf_rest import leave_out_the_rest
from unibody.files.mjcf_source import compiled, mujoco_module
from unibody.files.mjcf_tendons import add_tendons
from unibody.files.xml_safety import Folders
from unibody.model import Builder, Model
from unibody.scenes import Scene
from unibody.simulation.whole_file import path_given
from unibody.spatial.pose import Pose

DURATION = 5.0
"""[s] MJCF does not say how long a motion is worth watching."""
MESHES = ("convex", "exact")
"""How meshes may touch."""


class MjcfOptions(NamedTuple):
    """What is read, as `load_mjcf` is told."""

    limits: bool
    contact: bool
    meshes: str


def load_mjcf(
    path: str | Path, *, keyframe: str | int | None = None, limits: bool = True, contact: bool | None = None, meshes: str = "convex",
    packages: tuple[str, ...] = (), allow_outside: bool = False,
) -> Scene:  # fmt: skip
    """The scene of an MJCF file.

    `keyframe`: the name or number of the state to start in (None: the reference position at rest). `limits=False` leaves joint limits
    out, for solvers that hold equalities only, and contact too, unless `contact` says otherwise. `meshes`: "convex" lets them touch by
    their convex hulls, as in MuJoCo, "exact" by their triangles. `packages`: more folders that the file may open files from;
    `allow_outside`: any.
    """
    source = path_given(path)
    model, warnings = compiled(source, Folders(source.parent, packages, allow_outside))
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # elements refuse what is not finite, by name
            scene = scene_of(model, keyframe=keyframe, limits=limits, contact=contact, meshes=meshes)
    except ModelError as error:
        raise ModelError(f"file '{source}': {error}") from None
    said = tuple(f"MuJoCo warns: {text}" for text in dict.fromkeys(warnings))
    return replace(scene, name=source.stem, left_out=scene.left_out + said)


def scene_of(
    m: Any, *, keyframe: str | int | None = None, limits: bool = True, contact: bool | None = None, meshes: str = "convex"
) -> Scene:
    """The scene of a model that MuJoCo has compiled."""
    if meshes not in MESHES:
        raise ModelError(f"load_mjcf: meshes {meshes!r} is unknown; give one of {', '.join(MESHES)}")
    key = _key_number(m, keyframe)
    options = MjcfOptions(limits, limits if contact is None else contact, meshes)
    r, model = _built(m, key, options)
    keyframes = {}
    for k in range(m.nkey):
        name = r.name("key", k)
        keyframes[name] = _state(r, model, k) if not model.loop_joints else _start(_built(m, k, options)[1])
    notes = "Read from MJCF by MuJoCo's parser. Constraints, limits and contact, which MuJoCo holds softly, hold exactly here."
    step = number(m.opt.timestep, "option timestep", positive=True)
    return Scene(model, DURATION, step, notes=notes, left_out=tuple(r.left_out), keyframes=keyframes)


def _built(m: Any, key: int | None, options: MjcfOptions) -> tuple[Reading, Model]:
    """The model in the state of a keyframe (None: the reference position)."""
    mj = mujoco_module()
    gravity = None if m.opt.disableflags & int(mj.mjtDisableBit.mjDSBL_GRAVITY) else np.array(m.opt.gravity)
    r = Reading(m, mj, Builder(gravity=gravity), **options._asdict())
    r.qpos, r.qvel = (np.array(m.qpos0), np.zeros(m.nv)) if key is None else (np.array(m.key_qpos[key]), np.array(m.key_qvel[key]))
    ctrl = np.zeros(m.nu) if key is None else np.array(m.key_ctrl[key])
    touching = add_bodies(r, {} if key is None else _mocap_poses(m, key))
    add_joints(r)
    add_tendons(r)
    add_actuators(r, ctrl)
    add_equalities(r)
    add_contact(r, touching)
    leave_out_the_rest(r)
    return r, r.builder.build()


def _mocap_poses(m: Any, key: int) -> dict[int, Pose]:
    place, turn = np.array(m.key_mpos[key]).reshape(-1, 3), np.array(m.key_mquat[key]).reshape(-1, 4)
    return {i: frame(place[m.body_mocapid[i]], turn[m.body_mocapid[i]]) for i in range(m.nbody) if m.body_mocapid[i] >= 0}


def _key_number(m: Any, keyframe: str | int | None) -> int | None:
    if keyframe is None:
        return None
    names = [m.key(k).name for k in range(m.nkey)]
    word = str(keyframe)
    if word in names:
        return names.index(word)
    if word.lstrip("-").isdigit() and 0 <= int(word) < m.nkey:
        return int(word)
    known = ", ".join(name or str(k) for k, name in enumerate(names)) or "none"
    raise ModelError(f"keyframe {keyframe!r} is unknown; keyframes are {known}")


def _start(model: Model) -> tuple[np.ndarray, np.ndarray]:
    return model.start_q(), model.start_v()


def _state(r: Reading, model: Model, key: int) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and velocities of all joints in a keyframe, for a model without loops."""
    return state_of(r, model, np.array(r.m.key_qpos[key]), np.array(r.m.key_qvel[key]))


def state_of(r: Reading, model: Model, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    q, v = model.start_q(), model.start_v()
    for j in model.tree_joints:
        if j.name in r.order:
            q[j.q_start : j.q_start + j.nq], v[j.v_start : j.v_start + j.nv] = joint_state(r, j.name, j.element, qpos, qvel)
    return q, v
