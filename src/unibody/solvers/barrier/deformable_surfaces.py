"""What of deformables can be touched: their surfaces behind those of the bodies, and which of them may touch what.

A deformable has the number `rows` + k behind the bodies and links. It touches whatever the Contact elements say; not what it is attached
to, unless they ask for neighbours (and then without what has attached vertices), and not itself, unless one has `self_contact`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from unibody.collision.broad import Filter
from unibody.collision.surface import BendingMesh, Surface
from unibody.model import Model


def with_deformables(
    surface: Surface, rules: Filter, model: Model, rows: int, rests: np.ndarray, off: Collection[tuple[int, int]],
    self_contact: bool,
) -> tuple[Surface, Filter]:  # fmt: skip
    """`surface` and `rules` of the bodies with the deformables of the model behind `rows` bodies and links. `rests` (vertices,): which
    never move; `off`: pairs that do not touch, deformables numbered behind the bodies."""
    first, moving = 4 * rows, np.zeros(rows + len(model.deformables), np.int64)
    moving[: len(rules.moving)] = rules.moving
    for k, d in enumerate(model.deformables):
        used = np.unique(np.concatenate([d.faces.ravel(), d.edges.ravel()])).astype(np.int64)
        place = np.full(len(d.X), -1, np.int64)
        place[used] = np.arange(len(used))
        mesh = BendingMesh(d.X[used], place[d.faces], place[d.edges], first + d.first, d.radius, first + d.first + used)
        surface = surface.plus(mesh, rows + k)
        moving[rows + k] = int(not rests[d.first : d.first + len(d.X)].all())
    n, bodies = len(moving), len(rules.moving)
    a, b = rules.excluded // bodies, rules.excluded % bodies
    apart = [(i, k - bodies + rows) if i < bodies else (i - bodies + rows, k - bodies + rows) for i, k in off if k >= bodies]
    excluded = np.concatenate([a * n + b, np.array([i * n + k for i, k in apart], np.int64)])
    group, mask = np.zeros(n, np.int64), np.full(n, rules.mask[0] if bodies else 1)
    group[:bodies], mask[:bodies] = rules.group, rules.mask
    itself = rows + np.arange(len(model.deformables)) if self_contact else np.zeros(0, np.int64)
    itself = itself[moving[itself] > 0]
    # vertices that are attached
    to, owner = np.full(len(rests), -1, np.int64), np.concatenate([np.full(d.n, rows + k) for k, d in enumerate(model.deformables)])
    for each in model.attachments:
        to[each.vertices] = each.body if each.body >= 0 else owner[each.support[:, 0]]
    attached = np.full(len(surface.w), -1, np.int64)
    attached[surface.rigid :] = to[surface.node[surface.rigid :] - first]
    if not (attached >= 0).any():
        attached = attached[:0]
    return surface, replace(
        rules, attached_to=attached, moving=moving, group=group, mask=mask, excluded=np.unique(excluded), touching_itself=itself
    )
