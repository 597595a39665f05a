"""The collision loop of rigid contact (paper 002, Fig. 2–3): poses in, contacts out.

Broad phase (`search`), then one kernel per family of pairs (`kinds`), each behind the last in shared arrays that grow when needed and stay
between calls; at the end all contacts are put in the order of pairs. The same poses give the same contacts, bit for bit.
"""

from __future__ import annotations

import numpy as np

from unibody.arena import CallFrame
from unibody.collision.rigid import touching_pairs as at
from unibody.collision.rigid.allowing import rights_of
from unibody.collision.rigid.by_coal import CoalPairs
from unibody.collision.rigid.clip import LABELS, WORK
from unibody.collision.rigid.contacts import FEATURE_BITS, RECORD, RigidContacts, arrange, arrange_touches, rest_apart
from unibody.collision.rigid.kinds import COAL, FAMILIES, families
from unibody.collision.rigid.mesh_crossing import CROSSING_FLOATS, CROSSING_INTS
from unibody.collision.rigid.search import FEW, ONLY_PLANES, only_planes, pair_up
from unibody.collision.rigid.table import ShapeTable
from unibody.collision.shape_rights import ShapeRights
from unibody.element import number
from unibody.errors import ModelError
from unibody.model import Model


class RigidCollision:
    """Finds the contacts of a model's solid shapes; `margin` [m]: pairs of points up to this far apart are contacts.

    >>> import unibody as ub
    >>> b = ub.Builder()
    >>> ground, ball = b.body("ground", shape=ub.Plane(), kind="static"), b.body("ball", shape=ub.Sphere(0.5))
    >>> _ = b.add(ub.Contact())
    >>> X = np.tile(np.r_[np.eye(3).ravel(), 0, 0, 0], (3, 1))
    >>> X[2, 11] = 0.51
    >>> [round(float(gap), 9) for gap in RigidCollision(b.build(), margin=0.02).find(X).gap]
    [0.01]
    """

    def __init__(self, model: Model, margin: float):
        self.model = model
        self.margin = number(margin, "RigidCollision margin", minimum=0.0)
        self.table = ShapeTable.of(model)
        self.few = FEW
        """The most shapes that the search sorts along an axis; more are found by grids."""
        n = self.table.count
        if n * n >= 2 ** (63 - FEATURE_BITS):
            raise ModelError(f"RigidCollision: {n} solid shapes are more than contacts can be numbered for; give 65535 or fewer")
        self.rights = ShapeRights(model)
        self._rights = rights_of(self.rights)
        if only_planes(self.table.kind, self.table.body, self._rights, model.n_bodies):
            self.few = ONLY_PLANES
        classes = self.rights.classes
        offset = np.zeros((0, 0)) if classes is None or not classes.offset.any() else classes.offset
        self._offset, self.most_offset = offset.ravel(), float(offset.max(initial=0.0))
        self._family = families()
        self._frames, self._boxes = self.table.frames(model), np.zeros(6 * n)
        self._grid = np.zeros(4 * n + (1 << max(4, int(2 * n).bit_length())), np.int64)
        self._last = np.arange(n)
        self._reach, self._kept, self._placed = np.zeros(model.n_bodies), np.zeros(12 * model.n_bodies + 1), np.zeros(n, np.int64)
        np.maximum.at(self._reach, self.table.body, self.table.radius)
        self._room_for_pairs(max(64, 8 * n))
        self._start = np.zeros(FAMILIES + 1, np.int64)
        self._work, self._labels = np.zeros(WORK), np.zeros(LABELS, np.int64)
        self._crossing = np.zeros(CROSSING_FLOATS), np.zeros(CROSSING_INTS, np.int64)
        self._coal = CoalPairs(self.table, model)
        self._room(max(64, 8 * n))
        self._found = np.zeros(1, np.int64)
        self.frame = self._make_frame()
        """What `find_pairs` reads."""

    def _make_frame(self) -> CallFrame:
        frame, t, real, whole = CallFrame(at.KERNELS, at.ARRAYS), self.table, self.table.meshes.real, self.table.meshes.whole
        classes = self.rights.classes
        of_shape = np.array([0] if classes is None else [len(classes.materials), *classes.of_shape], np.int64)
        frame.call(at.PAIR_UP, pair_up)
        for slot, array in {
            at.BODY: t.body, at.KIND: t.kind, at.POSE: t.pose, at.SIZE: t.size, at.HULL: t.hull, at.RIGHTS: self._rights,
            at.FAMILY: self._family, at.FRAMES: self._frames, at.SHAPE_BOXES: self._boxes, at.GRID: self._grid, at.LAST: self._last,
            at.START: self._start, at.CLIPPED: self._work, at.LABELS: self._labels, at.VERTEX_RANGE: t.vertex_range, at.MESH: t.mesh,
            at.REAL: real.flat, at.REAL_AT: real.layout, at.WHOLE: whole.flat, at.WHOLE_AT: whole.layout,
            at.CROSS_FLOATS: self._crossing[0], at.CROSS_INTS: self._crossing[1], at.CLASS_OF: of_shape, at.OFFSET: self._offset,
            at.FOUND: self._found, at.REACH: self._reach, at.KEPT: self._kept, at.PLACED: self._placed,
        }.items():  # fmt: skip
            frame.point(slot, array)
        return frame

    def refresh(self) -> None:
        """Before `find_pairs`: arrays may have grown."""
        frame = self.frame
        frame.point(at.KEYS, self._keys)
        frame.point(at.PAIRS, self._pairs)
        frame.point(at.ORDER, self._order)
        frame.point(at.NEAR, self._near)
        frame.point(at.TAGS, self._tags)
        frame.point(at.RECORDS, self._records)

    def learn(self) -> None:
        """After a search: have `find_pairs` know the kernels of all families that it met."""
        for family in at.FAMILY_KERNELS:
            if self._start[family + 1] > self._start[family]:
                self._know(family)

    def _know(self, family: int) -> None:
        if not self.frame.flat[family]:
            self.frame.call(family, at.FAMILY_KERNELS[family])

    @property
    def _seen(self) -> float:
        """How far apart surfaces are looked for: the margin begins where they rest."""
        return self.margin + self.most_offset

    def offsets(self, ids: np.ndarray) -> np.ndarray | float:
        """How far apart the surfaces of contacts with these ids rest [m]; 0 where no shape has a margin."""
        classes = self.rights.classes
        if not self._offset.size or classes is None:
            return 0.0
        i, j = np.divmod(ids >> FEATURE_BITS, self.table.count)
        return classes.offset[classes.of_shape[i], classes.of_shape[j]]

    def find(self, X: np.ndarray) -> RigidContacts:
        """Contacts at the poses X (bodies, 12: R row-major, then p) of all bodies, the world first."""
        found = self._pair_up(X)
        return self._contacts(self._meet_all(), found)

    def touches(self, X: np.ndarray, moving: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of the contacts that `find` finds, those of which a body is `moving` (bodies,), as arrays of their own: bodies (2 n,), points
        midway (3 n,), normals (3 n,), gaps, ids."""
        found = self._pair_up(X)
        n = self._meet_all()
        bodies, points, normals, gaps, ids = np.empty(2 * n, np.int64), np.empty(3 * n), np.empty(3 * n), np.empty(n), np.empty(n, np.int64)
        count = n
        if n:
            count = arrange_touches(
                n, self._tags, self._records, self._pairs, self.table.body, found, moving, bodies, points, normals, gaps, ids
            )
        if count == n:
            return bodies, points, normals, gaps, ids
        return bodies[: 2 * count], points[: 3 * count], normals[: 3 * count], gaps[:count], ids[:count]

    def pairs(self, X: np.ndarray) -> np.ndarray:
        """(n, 2) shapes that may be nearer than the margin, sorted."""
        return self._pairs[: 2 * self._pair_up(X)].reshape(-1, 2)

    @property
    def crossed(self) -> tuple[int, int] | None:
        """Two bodies whose surfaces, as the last search found, cross in a way that no contact undoes (see `mesh_crossing`), or None."""
        pair = int(self._crossing[1][-1]) - 1
        if pair < 0:
            return None
        one, other = self.table.body[self._pairs[2 * pair : 2 * pair + 2]].tolist()
        return min(one, other), max(one, other)

    def _pair_up(self, X: np.ndarray) -> int:
        """Find pairs; how many."""
        n = self.model.n_bodies
        flat = np.ascontiguousarray(X, dtype=float).ravel()
        if flat.size != 12 * n:
            raise ModelError(f"RigidCollision: poses have shape {np.shape(X)}; give ({n}, 12), the world first")
        self.refresh()
        while True:
            found = at.pair_up_again(self.frame.flat, flat, self.few, self._seen)
            if found < 0:
                raise ModelError(f"body '{self.model.bodies[-1 - found].name}': its pose is not finite; take smaller steps")
            if found <= self._keys.size:
                return int(found)
            self._room_for_pairs(2 * found)
            self.refresh()

    def _room_for_pairs(self, capacity: int) -> None:
        self._keys, self._pairs, self._order = (np.zeros(k * capacity, np.int64) for k in (1, 2, 1))
        self._near, self._kept[-1] = np.zeros(1 + capacity, np.int64), -1.0

    def _meet_all(self) -> int:
        """Contacts of all pairs, family by family; how many."""
        self._crossing[1][-1] = 0
        count, bounds = 0, self._start.tolist()
        for family in range(FAMILIES):
            if bounds[family + 1] > bounds[family]:
                count = self._meet(family, count)
        if count and self._offset.size:
            classes = self.rights.classes
            assert classes is not None
            count = rest_apart(
                count, self.margin, classes.of_shape, len(classes.materials), self._offset, self._pairs, self._tags, self._records
            )
        return count

    def _meet(self, family: int, count: int) -> int:
        """Contacts of one family behind those that are there."""
        if family != COAL:
            self._know(family)
        while True:
            found = self._by_coal(count) if family == COAL else at.meet_family(self.frame.flat, family, count, self._seen)
            if found <= self._capacity:
                return int(found)
            self._room(2 * found, count)
            self.refresh()

    def _by_coal(self, count: int) -> int:
        order = self._order[self._start[COAL] : self._start[COAL + 1]]
        return self._coal.contacts(count, order, self._pairs, self._frames, self._seen, self._tags, self._records)

    def _room(self, capacity: int, keep: int = 0) -> None:
        """Arrays for so many contacts; the first `keep` stay."""
        tags, records = np.zeros(2 * capacity, np.int64), np.zeros(RECORD * capacity)
        if keep:
            tags[: 2 * keep], records[: RECORD * keep] = self._tags[: 2 * keep], self._records[: RECORD * keep]
        self._capacity, self._tags, self._records = capacity, tags, records
        self._out = [np.zeros(2 * capacity, np.int64), np.zeros(2 * capacity, np.int64), np.zeros(capacity, np.int64)]
        self._out += [np.zeros(3 * capacity) for _ in range(3)] + [np.zeros(capacity)]

    def _contacts(self, count: int, pairs: int) -> RigidContacts:
        start = np.empty(pairs + 1, np.int64)
        arrange(count, self._tags, self._records, self._pairs, self.table.body, start, *self._out)
        body, shape, ids, a, b, normal, gap = self._out
        return RigidContacts(
            body[: 2 * count].reshape(-1, 2), shape[: 2 * count].reshape(-1, 2), ids[:count], a[: 3 * count].reshape(-1, 3),
            b[: 3 * count].reshape(-1, 3), normal[: 3 * count].reshape(-1, 3), gap[:count],
        )  # fmt: skip
