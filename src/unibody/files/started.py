"""A model with another start, to be written: joints begin at q and v, bodies without joints at their poses.

What elements measured at the old start (the length of a rod that was given none) stays as it was measured.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unibody.coordinates.convert import poses_and_twists
from unibody.model import Model, State


def described_at(model: Model, state: State) -> Model:
    """The model, whose text form begins at the state."""
    poses, twists = poses_and_twists(model, state)
    described, started = dict(model.description), {**dict(model.forces), **dict(model.constraints)}
    joints, bodies = dict(described["joints"]), dict(described["bodies"])
    for i, joint in enumerate(model.tree_joints, start=1):
        if joint.name in joints:
            q, v = state.q[joint.q_start : joint.q_start + joint.nq], state.v[joint.v_start : joint.v_start + joint.nv]
            joints[joint.name] = replace(joints[joint.name], q=np.array(q), v=np.array(v))
        elif model.bodies[i].kind == "dynamic":
            R = poses[i].R
            V = tuple(float(x) for x in np.concatenate([R @ twists[i][:3], R @ twists[i][3:]]))
            bodies[model.bodies[i].name] = replace(bodies[model.bodies[i].name], X_WB=poses[i], V_WB=V)
    elements = {name: started.get(name, element) for name, element in described["elements"].items()}
    return replace(model, description={**described, "joints": joints, "bodies": bodies, "elements": elements})
