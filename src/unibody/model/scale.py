"""The natural lengths of a model, by which a length that is small is told from one that is not, whatever the unit of length.

    ℓ_b = max(k_b, |p − c|)      k_b = √(tr J / 2m) the radius of gyration, c the centre of mass, p the frames of joints on body b

ℓ does not depend on where in the world a mechanism stands.
"""

from __future__ import annotations

import numpy as np

from unibody.model.model import Model


def body_lengths(model: Model) -> np.ndarray:
    """ℓ of every body [m]; of bodies that cannot be moved the largest of all, or 1 where nothing moves."""
    out = np.zeros(model.n_bodies)
    for i, body in enumerate(model.bodies):
        if body.kind == "dynamic":
            out[i] = np.sqrt(0.5 * np.trace(body.inertia) / body.mass)
    for joint in model.joints:
        for i, X in ((joint.parent, joint.X_PF), (joint.child, joint.X_BM)):
            body = model.bodies[i]
            if body.kind == "dynamic" and not joint.implicit:
                out[i] = max(out[i], float(np.linalg.norm(X.p - body.com)))
    out[[b.kind != "dynamic" for b in model.bodies]] = out.max(initial=0.0) or 1.0
    return out


def frame_lengths(model: Model) -> np.ndarray:
    """ℓ of every body, then of points of deformables: half the diagonal of what they are on [m]."""
    half = np.concatenate([np.zeros(0), *(np.full(d.n, 0.5 * float(np.linalg.norm(np.ptp(d.X, axis=0)))) for d in model.deformables)])
    return np.concatenate([body_lengths(model), [float(half[p.vertices[0]]) for p in model.vertex_points]])


def model_length(model: Model) -> float:
    """The largest ℓ of a model [m]."""
    return float(body_lengths(model).max())


__all__ = ["body_lengths", "frame_lengths", "model_length"]
