"""What an MJCF file may hold besides, and what becomes of it: one line each, and none for what the file does not have."""

from __future__ import annotations

import numpy as np

from unibody.files.mjcf_reading import Reading, number_text

UNREAD = (
    ("sensors", "sensor", "nsensor", "recordings hold every quantity; sensors are not read"),
    ("cameras", "camera", "ncam", "the viewer has its own"),
    ("lights", "light", "nlight", "the viewer has its own"),
    ("flexible parts", "flex", "nflex", "not read; their vertices are loose bodies"),
    ("skins", "skin", "nskin", "not read"),
    ("textures", "texture", "ntex", "not read; colours are"),
    ("plugins", "plugin", "nplugin", "not read"),
    ("custom numbers", "numeric", "nnumeric", "not read"),
    ("custom texts", "text", "ntext", "not read"),
    ("tuples", "tuple", "ntuple", "not read"),
)
HONOURED = {"timestep", "gravity", "integrator", "density", "viscosity", "wind", "disableflags", "enableflags", "disableactuator"}
"""Options that are read, or listed in a line of their own."""
FLAGS = {
    "gravity", "constraint", "equality", "frictionloss", "limit", "contact", "spring", "damper", "actuation", "clampctrl", "filterparent",
}  # fmt: skip
"""Flags whose being off is heeded."""
ENABLING = {"override"}
"""Flags whose being on is heeded."""


def leave_out_the_rest(r: Reading) -> None:
    m = r.m
    for what, kind, count, why in UNREAD:
        r.leave_all(what, kind, range(int(getattr(m, count))), why)
    r.leave_all("sites", "site", _idle_sites(r), "frames without a use here; not read")
    _leave_out_options(r)
    _leave_out_of_keyframes(r)
    users = (("bodies", m.nuser_body), ("joints", m.nuser_jnt), ("geoms", m.nuser_geom), ("actuators", m.nuser_actuator))
    data = [what for what, n in users if n]
    if data or m.nuserdata:
        r.leave(f"user data of {', '.join(data) or 'the model'}: not read")


def _idle_sites(r: Reading) -> list[int]:
    """Sites that neither a tendon nor an equality of ours goes through."""
    m = r.m
    used = {int(m.wrap_objid[w]) for w in range(m.nwrap) if r.word("Wrap", m.wrap_type[w]) == "site"}
    used |= {int(m.wrap_prm[w]) for w in range(m.nwrap) if r.word("Wrap", m.wrap_type[w]) in ("sphere", "cylinder")}
    for e in range(m.neq):
        if r.word("Obj", m.eq_objtype[e]) == "site":
            used |= {int(m.eq_obj1id[e]), int(m.eq_obj2id[e])}
    return [i for i in range(m.nsite) if i not in used]


def _leave_out_of_keyframes(r: Reading) -> None:
    m = r.m
    keys = range(m.nkey)
    driven = [k for k in keys if np.any(m.key_ctrl[k]) or _mocap_moved(r, k)]
    r.leave_all("keyframes", "key", driven, "controls and mocap poses are kept only of the keyframe that the model starts in")
    r.leave_all("keyframes", "key", [k for k in keys if np.any(m.key_act[k])], "activations of actuators are not read")
    r.leave_all("keyframes", "key", [k for k in keys if m.key_time[k]], "their time is not read; motions start at 0")


def _mocap_moved(r: Reading, key: int) -> bool:
    m = r.m
    bodies = [i for i in range(m.nbody) if m.body_mocapid[i] >= 0]
    place, turn = np.array(m.key_mpos[key]).reshape(-1, 3), np.array(m.key_mquat[key]).reshape(-1, 4)
    own = [(place[m.body_mocapid[i]], turn[m.body_mocapid[i]], m.body_pos[i], m.body_quat[i]) for i in bodies]
    return any(not (np.allclose(p, p_0) and np.allclose(q, q_0)) for p, q, p_0, q_0 in own)


def _leave_out_options(r: Reading) -> None:
    o = r.m.opt
    if o.density or o.viscosity:
        fluid = f"density {number_text(o.density)}, viscosity {number_text(o.viscosity)}"
        r.leave(f"option: the fluid ({fluid}) and its drag have no element here")
    if np.any(o.wind):
        r.leave("option: wind has no element here")
    _leave_out_numerics(r)
    word = r.word("Integrator", o.integrator)
    if word != "euler":
        r.leave(f"option: integrator {word}: choose a solver and rule here; only the time step {number_text(o.timestep)} s is kept")


def _leave_out_numerics(r: Reading) -> None:
    """Options and flags that are not MuJoCo's own defaults and mean nothing here."""
    o, usual = r.m.opt, r.mj.MjModel.from_xml_string("<mujoco/>")
    names = [n for n in dir(o) if not n.startswith("_") and n not in HONOURED]
    other = [n for n in names if not np.array_equal(getattr(o, n), getattr(usual.opt, n))]
    if other:
        r.leave(f"option: {', '.join(other)}: settings of MuJoCo's own solver; choose a solver here")
    for word, bits, flags in (("DSBL", r.mj.mjtDisableBit, o.disableflags), ("ENBL", r.mj.mjtEnableBit, o.enableflags)):
        every = {k.split("_", 1)[1].lower(): int(getattr(bits, k)) for k in dir(bits) if k.startswith(f"mj{word}_")}
        found = [name for name, bit in every.items() if flags & bit and name not in (FLAGS if word == "DSBL" else ENABLING)]
        if found:
            r.leave(f"option: flags {', '.join(found)} {'off' if word == 'DSBL' else 'on'}: without meaning here")
    parts = ("global_", "headlight", "map", "quality", "rgba", "scale")
    seen = [p.rstrip("_") for p in parts if str(getattr(r.m.vis, p)) != str(getattr(usual.vis, p))]
    if seen:
        r.leave(f"visual: {', '.join(seen)}: the viewer has its own settings")
