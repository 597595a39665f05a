"""What an MJCF file may hold besides, and what becomes of it: one line each, and none for what the file does not have."""

from __future__ import annotations

import numpy as np

from unibody.files.mjcf_reading import Reading, number_text

UNREAD = (
    ("sensors", "sensor", "nsensor", "recordings hold every quantity; sensors are not read"),
    ("cameras", "camera", "ncam", "the viewer has its own"),
    ("lights", "light", "nlight", "the viewer has its own"),
    ("contact exclusions", "exclude", "nexclude", "not read"),
    ("contact pairs", "pair", "npair", "their friction and softness are not read; their geoms are solid"),
    ("flexible parts", "flex", "nflex", "not read"),
    ("skins", "skin", "nskin", "not read"),
    ("textures", "texture", "ntex", "not read; colours are"),
    ("plugins", "plugin", "nplugin", "not read"),
    ("custom numbers", "numeric", "nnumeric", "not read"),
    ("custom texts", "text", "ntext", "not read"),
    ("tuples", "tuple", "ntuple", "not read"),
)


def leave_out_the_rest(r: Reading) -> None:
    m = r.m
    for what, kind, count, why in UNREAD:
        r.leave_all(what, kind, range(int(getattr(m, count))), why)
    r.leave_all("sites", "site", _idle_sites(r), "frames without a use here; not read")
    _leave_out_contact(r)
    _leave_out_options(r)
    users = (("bodies", m.nuser_body), ("joints", m.nuser_jnt), ("geoms", m.nuser_geom), ("actuators", m.nuser_actuator))
    data = [what for what, n in users if n]
    if data or m.nuserdata:
        r.leave(f"user data of {', '.join(data) or 'the model'}: not read")


def _idle_sites(r: Reading) -> list[int]:
    """Sites that neither a tendon nor an equality of ours goes through."""
    m = r.m
    used = {int(m.wrap_objid[w]) for w in range(m.nwrap) if r.word("Wrap", m.wrap_type[w]) == "site"}
    for e in range(m.neq):
        if r.word("Obj", m.eq_objtype[e]) == "site":
            used |= {int(m.eq_obj1id[e]), int(m.eq_obj2id[e])}
    return [i for i in range(m.nsite) if i not in used]


def _leave_out_contact(r: Reading) -> None:
    m = r.m
    touching = 0 if r.off("contact") else int(np.count_nonzero(np.array(m.geom_contype) | np.array(m.geom_conaffinity)))
    if touching:
        unread = "friction, softness (solref, solimp), margins, contype and conaffinity are not read"
        r.leave(f"contact of {touching} geoms: they are solid shapes; {unread}")


def _leave_out_options(r: Reading) -> None:
    o = r.m.opt
    if o.density or o.viscosity:
        fluid = f"density {number_text(o.density)}, viscosity {number_text(o.viscosity)}"
        r.leave(f"option: the fluid ({fluid}) and its drag have no element here")
    if np.any(o.wind):
        r.leave("option: wind has no element here")
    word = r.word("Integrator", o.integrator)
    if word != "euler":
        r.leave(f"option: integrator {word}: choose a solver and rule here; only the time step {number_text(o.timestep)} s is kept")
