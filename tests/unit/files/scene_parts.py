"""A model compared with another to the last bit, and code of a user's own that files name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import unibody as ub
from unibody.files import load_json, save_json
from unibody.model.tables import Names
from unibody.model.text import model_to_text


def squared(q):
    return q**2


@dataclass(frozen=True)
class Keeper(ub.Force):
    """A force that does nothing and holds anything."""

    held: Any
    name: str = ""
    type: int = 0

    def apply(self, kinematics, loads):
        pass

    def row(self, packing, name):
        return [], []


def bits(array: Any) -> tuple:
    array = np.ascontiguousarray(array)
    return array.shape, array.dtype.str, array.tobytes()


def numbers_of(model: ub.Model) -> dict[str, Any]:
    """Every array of a model, byte by byte, and the rows that its tables are packed of."""
    names = Names(model)
    out: dict[str, Any] = {
        "start q": bits(model.start_q()), "start v": bits(model.start_v()), "signals": bits(model.signals), "gravity": bits(model.gravity),
        "plane": None if model.plane is None else [bits(a) for a in model.plane], "parent": bits(model.parent),
        "sizes": (model.nq, model.nv, model.nq_joints, model.nv_joints), "targets": dict(model.motor_targets),
    }  # fmt: skip
    for body in model.bodies:
        shapes = [[bits(a) for a in s.triangles(8)] for s in body.shapes]
        looks = [(s.colour, s.visible, s.solid) for s in body.shapes]
        start = [bits(x) for x in (body.X_WB.p, body.X_WB.wxyz, body.V_WB)]
        out[f"body {body.name}"] = (body.kind, bits(body.mass), bits(body.com), bits(body.inertia), start, shapes, looks)
    for j in model.joints:
        places = [bits(x) for x in (j.X_PF.p, j.X_PF.wxyz, j.X_BM.p, j.X_BM.wxyz, j.q0, j.v0, j.armature, j.effort_limit)]
        parameters = [bits(part.parameters()) for part in j.element.parts()]
        out[f"joint {j.name}"] = (type(j.element), j.parent, j.child, j.q_start, j.v_start, j.loop, j.implicit, places, parameters)
    for name, element in (*model.forces, *model.constraints):
        index, parameters = element.row(names, name)
        out[f"element {name}"] = (type(element), bits(np.array(index, np.int64)), bits(np.array(parameters, float)))
    for d in model.deformables:
        arrays = [bits(a) for a in (d.X, d.x0, d.v0, d.mass, d.faces, d.edges, d.radius, *(d.look or ()))]
        stencils = [(type(s.energy), bits(s.index), bits(s.parameters), s.damping) for s in d.stencils]
        out[f"deformable {d.name}"] = (d.kind, d.first, arrays, stencils)
    for a in model.attachments:
        out[f"attachment {a.name}"] = (a.body, [bits(x) for x in (a.vertices, a.p, a.support, a.weights)])
    for p in model.prescribed:
        out[f"prescribed {p.name}"] = (bits(p.vertices), p.motion and bits(p.motion(0.3)))
    for p in model.vertex_points:
        out[f"point {p.name}"] = (bits(p.vertices), bits(p.weights))
    return out


def round_trip(scene: ub.scenes.Scene | ub.Model, folder: Path, **options: Any) -> ub.scenes.Scene:
    """Save, load and save again; the files are the same bytes, and the models the same bits."""
    first = save_json(scene, folder / "first.json", **options)
    again = load_json(first)
    second = save_json(again, folder / "second.json")
    assert first.read_bytes() == second.read_bytes()
    if "tabulate" not in options:
        model = scene if isinstance(scene, ub.Model) else scene.model
        assert model_to_text(again.model) == model_to_text(model)
        assert numbers_of(again.model) == numbers_of(model)
    return again
