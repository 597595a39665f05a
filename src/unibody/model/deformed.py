"""What a Builder's deformables become when the model is built: numbered vertices, masses, stencils of energies, resolved attachments.

Masses are those of `vertex_masses`.

A vertex that is attached to one that is held itself is a point of what holds that one, where it can be said so: of a body, if all vertices
of its support are points of that body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.element import at_start
from unibody.energies.base import Stencils
from unibody.energies.inflation import Inflation
from unibody.errors import ModelError
from unibody.meshes.embedding import embed
from unibody.model.deformable import (
    NOBODY,
    AskedAttachment,
    AskedDeformable,
    AskedPrescribed,
    AttachmentInfo,
    DeformableInfo,
    Places,
    PrescribedVertices,
)  # fmt: skip
from unibody.model.deformable_points import EXAMPLES, point_of_name, shortly, split_name, start_places
from unibody.model.vertex_masses import consistent, lumped, spinning
from unibody.spatial.pose import Pose

MOST = 4
"""Vertices of a support."""


@dataclass(frozen=True)
class Deformed:
    """All deformables of a model and what holds their vertices."""

    deformables: tuple[DeformableInfo, ...] = ()
    attachments: tuple[AttachmentInfo, ...] = ()
    prescribed: tuple[PrescribedVertices, ...] = ()


def deformed(
    deformables: Mapping[str, AskedDeformable], attachments: Mapping[str, AskedAttachment], prescribed: Mapping[str, AskedPrescribed],
    number_of: Mapping[str, int], poses: Sequence[Pose], twists: Sequence[np.ndarray],
) -> Deformed:  # fmt: skip
    """Everything with its numbers. What is held starts where what holds it is, and moves with it."""
    if not deformables:
        return Deformed()
    for name in number_of:
        parts = split_name(name)
        if parts is not None and parts[0] in deformables:
            raise ModelError(f"body '{name}' is called as a point of {deformables[parts[0]].kind} '{parts[0]}' is; give it another name")
    firsts, count = {}, 0
    for name, asked in deformables.items():
        firsts[name], count = count, count + len(asked.mesh.vertices)
    x = np.concatenate([start_places(asked) for asked in deformables.values()])
    v = np.concatenate([_start_rates(asked) for asked in deformables.values()])
    moving = [_prescribed(p, firsts, x, v) for p in prescribed.values()]
    held = _Held(np.full(count, NOBODY), np.zeros((count, 3)), np.isin(np.arange(count), [i for p in moving for i in p.vertices]))
    infos: dict[str, AttachmentInfo] = {}
    for a in attachments.values():  # those on bodies first: others may rest on their vertices
        if a.body:
            infos[a.name] = _on_body(a, firsts, number_of[a.body], poses, twists, x, v, held)
    supported = np.concatenate([firsts[a.deformable] + a.vertices for a in attachments.values() if not a.body] or [np.zeros(0, int)])
    for a in attachments.values():
        if not a.body:
            infos[a.name] = _on_deformable(a, firsts, deformables, x, v, held, supported)
    made = [_info(asked, firsts[name], x, v) for name, asked in deformables.items()]
    return Deformed(tuple(made), tuple(infos[name] for name in attachments), tuple(moving))


@dataclass
class _Held:
    """Of every vertex what holds it."""

    body: np.ndarray
    """(n,) or NOBODY."""
    p: np.ndarray
    """(n, 3) in the axes of that body."""
    prescribed: np.ndarray
    """(n,) whether."""


def _start_rates(asked: AskedDeformable) -> np.ndarray:
    """(n, 3) ω × (x − p) + v."""
    V = np.array(asked.V_WB)
    return V[3:] + np.cross(V[:3], start_places(asked) - np.array(asked.X_WB.p))


def _prescribed(asked: AskedPrescribed, firsts: Mapping[str, int], x: np.ndarray, v: np.ndarray) -> PrescribedVertices:
    index = frozen_ints(firsts[asked.deformable] + asked.vertices)
    motion = None if asked.motion is None else Places(asked.motion, len(index), f"prescribed '{asked.name}'")
    v[index] = 0.0
    if motion is not None:
        x[index], v[index] = at_start(lambda t: (motion(t), rate_of(motion, t)), motion.what)
    return PrescribedVertices(asked.name, index, motion)


def rate_of(motion: Any, t: float, step: float = 1e-6) -> np.ndarray:
    """Velocities of a motion: those of its Table, else by the difference forwards, of second order, since a motion may begin at t."""
    exact = motion.derivatives(t) if isinstance(motion, Places) else None
    if exact is not None:
        return exact[0]
    return (-3.0 * motion(t) + 4.0 * motion(t + step) - motion(t + 2.0 * step)) / (2.0 * step)


def _on_body(
    asked: AskedAttachment, firsts: Mapping[str, int], body: int, poses: Sequence[Pose], twists: Sequence[np.ndarray], x: np.ndarray,
    v: np.ndarray, held: _Held,
) -> AttachmentInfo:  # fmt: skip
    index = firsts[asked.deformable] + asked.vertices
    R, t = poses[body].R, np.array(poses[body].p)
    p = (x[index] - t) @ R if asked.at is None else np.array(asked.at)
    if asked.at is not None:
        x[index] = p @ R.T + t
    w, u = twists[body][:3], twists[body][3:]
    v[index] = (u + np.cross(w, p)) @ R.T
    held.body[index], held.p[index] = body, p
    return _info_on_body(asked.name, index, body, p)


def _info_on_body(name: str, index: np.ndarray, body: int, p: np.ndarray) -> AttachmentInfo:
    n = len(index)
    none = np.full((n, MOST), -1)
    return AttachmentInfo(name, frozen_ints(index), body, _frozen(p), frozen_ints(none), _frozen(np.zeros((n, MOST))))


def _on_deformable(
    asked: AskedAttachment, firsts: Mapping[str, int], deformables: Mapping[str, AskedDeformable], x: np.ndarray, v: np.ndarray,
    held: _Held, attached: np.ndarray,
) -> AttachmentInfo:  # fmt: skip
    """On vertices that are free; on one body, where all of the support are."""
    what = f"attachment '{asked.name}'"
    index = firsts[asked.deformable] + asked.vertices
    support, weights = np.full((len(index), MOST), -1), np.zeros((len(index), MOST))
    for row, name in enumerate(asked.points):
        found = point_of_name(name, deformables)
        assert found is not None
        owner, local, w = found
        used = np.flatnonzero(w)
        if used.size > MOST:
            said = f"a point of a quadratic tetrahedron of '{owner}' rests on {used.size} vertices"
            raise ModelError(f"{what}: {said}; give one of its vertices")
        support[row, : used.size], weights[row, : used.size] = firsts[owner] + local[used], w[used]
        chained = local[used][np.isin(firsts[owner] + local[used], attached)]
        if chained.size:
            raise ModelError(f"{what}: vertex {chained[0]} of '{owner}' is itself attached to a deformable; attach both to the same one")
    used_all = support[support >= 0]
    if held.prescribed[used_all].any():
        raise ModelError(f"{what}: it rests on vertices whose motion is prescribed; prescribe its own, too")
    bodies = np.unique(held.body[used_all])
    at_rest = np.einsum("ij,ijk->ik", weights, x[np.maximum(support, 0)])
    x[index], v[index] = at_rest, np.einsum("ij,ijk->ik", weights, v[np.maximum(support, 0)])
    if (bodies == NOBODY).all():
        return AttachmentInfo(
            asked.name, frozen_ints(index), NOBODY, _frozen(np.zeros((len(index), 3))), frozen_ints(support), _frozen(weights)
        )
    if len(bodies) > 1:
        remedy = "attach it where none or all of them are held by one body"
        raise ModelError(f"{what}: it rests on vertices that are attached to bodies themselves, and on others that are not; {remedy}")
    p = np.einsum("ij,ijk->ik", weights, held.p[np.maximum(support, 0)])
    return _info_on_body(asked.name, index, int(bodies[0]), p)


def _info(asked: AskedDeformable, first: int, x: np.ndarray, v: np.ndarray) -> DeformableInfo:
    mesh, n = asked.mesh, len(asked.mesh.vertices)
    span = slice(first, first + n)
    faces, edges, radius = np.zeros((0, 3), np.int64), np.zeros((0, 2), np.int64), 0.0
    if asked.kind == "soft":
        faces = mesh.surface()
    elif asked.kind == "cloth":
        faces, radius = mesh.faces, 0.5 * float(asked.material.thickness)
    else:
        edges, radius = mesh.edges, mesh.radius
    inertia = consistent(asked) if asked.mass == "consistent" else spinning(asked) if getattr(mesh, "directors", False) else None
    mass = lumped(asked) if inertia is None else inertia.sums(n)
    return DeformableInfo(
        asked.name, asked.kind, first, _frozen(mesh.vertices), _frozen(x[span]), _frozen(v[span]), _frozen(mass),
        stencils_of(asked), frozen_ints(faces), frozen_ints(edges), radius, looked(asked), mesh, asked.material, inertia,
    )  # fmt: skip


def looked(asked: AskedDeformable) -> tuple[np.ndarray, ...] | None:
    """The surface that is shown: its places at rest, faces, and for each place the vertices it goes with and their weights."""
    if asked.look is None:
        return None
    x = np.asarray(asked.look.vertices, float)
    vertices, weights = embed(asked.mesh, x)
    return _frozen(x), frozen_ints(asked.look.faces), frozen_ints(vertices), _frozen(weights)


def stencils_of(asked: AskedDeformable) -> tuple[Stencils, ...]:
    """What its material gives, checked for shape."""
    what = f"{asked.kind} '{asked.name}'"
    try:
        made = tuple(asked.material.stencils(asked.mesh))
        if asked.pressure:
            made += tuple(Inflation(asked.pressure).stencils(asked.mesh))
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from None
    except AttributeError as error:
        said = f"{type(asked.material).__name__} asks a {type(asked.mesh).__name__} for '{error.name}', which it has not"
        if error.obj is not asked.mesh:
            raise
        raise ModelError(f"{what}: {said}; give a material for a {asked.kind}, such as {EXAMPLES[asked.kind]}") from error
    n = len(asked.mesh.vertices)
    for s in made:
        if not isinstance(s, Stencils):
            remedy = "give Stencils(energy, index, parameters)"
            raise ModelError(f"{what}: stencils of {type(asked.material).__name__} are {shortly(s)}; {remedy}")
        index = np.asarray(s.index)
        k = s.energy.vertices
        if index.ndim != 2 or index.shape[1] != k or len(s.parameters) != len(index) or (index < 0).any() or (index >= n).any():
            said = f"index {index.shape}, parameters {np.shape(s.parameters)} of {type(s.energy).__name__}"
            raise ModelError(f"{what}: {said}; give (m, {k}) vertices of 0 … {n - 1} and one row of parameters each")
    return made


def _frozen(array: Any) -> np.ndarray:
    out = np.array(array, float)
    out.flags.writeable = False
    return out


def frozen_ints(array: Any) -> np.ndarray:
    out = np.array(array, np.int64)
    out.flags.writeable = False
    return out
