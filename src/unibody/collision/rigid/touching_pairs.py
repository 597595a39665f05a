"""The collision loop in one kernel: broad phase, then family by family, as far as compiled code goes.

What it cannot do it leaves to `find`: pairs that coal answers, surfaces that cross, poses that are not finite. Where a family's kernel was
never needed before, or arrays are too small, it says so: after one search by `find` and `learn` it goes on.
"""

from __future__ import annotations

from unibody.arena import floats_in, ints_in, part
from unibody.collision.rigid.box_pairs import box_contacts
from unibody.collision.rigid.capsule_box import capsule_box_contacts
from unibody.collision.rigid.contacts import rest_apart
from unibody.collision.rigid.kinds import BOXES, CAPSULE_BOX, COAL, FAMILIES, FLAT, KINDS, MESHES, ON_MESH, ROUND
from unibody.collision.rigid.mesh_data import VERTICES
from unibody.collision.rigid.mesh_pairs import polyhedron_contacts
from unibody.collision.rigid.on_mesh import mesh_contacts
from unibody.collision.rigid.plane_pairs import plane_contacts
from unibody.collision.rigid.round_pairs import round_contacts
from unibody.collision.rigid.search import WIDER, pair_up, pairs_hold, pick_pairs, sort_pairs
from unibody.kernel import Floats, Ints, cut, kernel, prototype_of

FAMILY_KERNELS = {
    ROUND: round_contacts, FLAT: plane_contacts, BOXES: box_contacts, CAPSULE_BOX: capsule_box_contacts, ON_MESH: mesh_contacts,
    MESHES: polyhedron_contacts,
}  # fmt: skip
"""Kernels of a frame by family; 0 until they were needed once. Then comes the search."""
PAIR_UP = COAL
KERNELS = PAIR_UP + 1

(
    BODY, KIND, POSE, SIZE, HULL, RIGHTS, FAMILY, FRAMES, SHAPE_BOXES, GRID, LAST, KEYS, PAIRS, ORDER, START, TAGS, RECORDS, CLIPPED,
    LABELS, VERTEX_RANGE, MESH, REAL, REAL_AT, WHOLE, WHOLE_AT, CROSS_FLOATS, CROSS_INTS, CLASS_OF, OFFSET, FOUND, REACH, KEPT, NEAR,
    PLACED,
) = range(KERNELS, KERNELS + 2 * 34, 2)  # fmt: skip
ARRAYS = 34
"""The last four are of pairs that are kept from search to search: how far shapes reach from their bodies' origins, poses and margin of the
last wide search (`pairs_hold`), its number of pairs and these, and which shapes were placed since."""

RoundContacts, PlaneContacts, BoxContacts = (prototype_of(k) for k in (round_contacts, plane_contacts, box_contacts))
CapsuleBox, MeshContacts, PolyhedronContacts = (prototype_of(k) for k in (capsule_box_contacts, mesh_contacts, polyhedron_contacts))
PairUp = prototype_of(pair_up)

CANNOT, UNPREPARED = -1, -2
PAUSE = 32
"""Searches until another wide one, after one that found more pairs than there is room for."""


@kernel
def pair_up_again(frame: Ints, X: Floats, few: int, seen: float) -> int:
    """What `pair_up` finds with the margin `seen`; for few shapes among the pairs of a wider search, as long as they hold."""
    body, kind, size = ints_in(frame, BODY), ints_in(frame, KIND), floats_in(frame, SIZE)
    frames, pairs, order, start = floats_in(frame, FRAMES), ints_in(frame, PAIRS), ints_in(frame, ORDER), ints_in(frame, START)
    keys, kept, near, found = ints_in(frame, KEYS), floats_in(frame, KEPT), ints_in(frame, NEAR), 0
    # few shapes: the pairs of a wider search, as long as they hold; where it found too many, it pauses for some searches
    wide = WIDER * seen
    if few < 0 or kind.size <= few:
        if not pairs_hold(X, floats_in(frame, REACH), seen, kept):
            kept[X.size] = -1.0
            if near[0] < 0:
                near[0] += 1
            else:
                found = PairUp(
                    frame[PAIR_UP], X, body, kind, floats_in(frame, POSE), size, floats_in(frame, HULL), ints_in(frame, RIGHTS),
                    ints_in(frame, FAMILY), KINDS, few, wide, frames, floats_in(frame, SHAPE_BOXES), ints_in(frame, GRID),
                    ints_in(frame, LAST), cut(near, 1, near.size - 1), pairs, order, start,
                )  # fmt: skip
                if found < 0:
                    return found
                near[0] = found if found < near.size else -PAUSE
                for i in range(X.size):
                    kept[i] = X[i]
                kept[X.size] = wide if found < near.size else -1.0
        if kept[X.size] > 0.0:
            found = pick_pairs(
                X, body, kind, floats_in(frame, POSE), size, floats_in(frame, HULL), cut(near, 1, near[0]), seen, ints_in(frame, PLACED),
                frames, floats_in(frame, SHAPE_BOXES), keys,
            )  # fmt: skip
            sort_pairs(cut(keys, 0, found), kind, ints_in(frame, FAMILY), KINDS, FAMILIES, pairs, order, start)
    # many, or more pairs than there is room for
    if not kept[X.size] > 0.0:
        found = PairUp(
            frame[PAIR_UP], X, body, kind, floats_in(frame, POSE), size, floats_in(frame, HULL), ints_in(frame, RIGHTS),
            ints_in(frame, FAMILY), KINDS, few, seen, frames, floats_in(frame, SHAPE_BOXES), ints_in(frame, GRID), ints_in(frame, LAST),
            keys, pairs, order, start,
        )  # fmt: skip
    return found


@kernel
def meet_family(frame: Ints, family: int, count: int, seen: float) -> int:
    """Contacts of the pairs of one family behind the `count` that are there: how many then, also where there is no room for them."""
    call, start, pairs = frame[family], ints_in(frame, START), ints_in(frame, PAIRS)
    mine = ints_in(frame, ORDER)[start[family] : start[family + 1]]
    kind, size, frames = ints_in(frame, KIND), floats_in(frame, SIZE), floats_in(frame, FRAMES)
    tags, records = ints_in(frame, TAGS), floats_in(frame, RECORDS)
    if family == ROUND:
        return RoundContacts(call, count, mine, pairs, kind, frames, size, seen, tags, records)
    if family == BOXES:
        return BoxContacts(call, count, mine, pairs, frames, size, seen, tags, records, floats_in(frame, CLIPPED), ints_in(frame, LABELS))
    if family == CAPSULE_BOX:
        return CapsuleBox(
            call, count, mine, pairs, kind, frames, size, seen, tags, records, floats_in(frame, CLIPPED), ints_in(frame, LABELS)
        )  # fmt: skip
    # those that read meshes
    real, real_at = floats_in(frame, REAL), ints_in(frame, REAL_AT)
    if family == FLAT:
        vertices = part(real, real_at, VERTICES)
        return PlaneContacts(call, count, mine, pairs, kind, frames, size, ints_in(frame, VERTEX_RANGE), vertices, seen, tags, records)
    whole, whole_at, mesh = ints_in(frame, WHOLE), ints_in(frame, WHOLE_AT), ints_in(frame, MESH)
    if family == ON_MESH:
        return MeshContacts(call, count, mine, pairs, kind, frames, size, mesh, real, real_at, whole, whole_at, seen, tags, records)
    return PolyhedronContacts(
        call, count, mine, pairs, frames, floats_in(frame, HULL), mesh, real, real_at, whole, whole_at, seen, tags, records,
        floats_in(frame, CROSS_FLOATS), ints_in(frame, CROSS_INTS),
    )  # fmt: skip


@kernel
def find_pairs(frame: Ints, X: Floats, few: int, margin: float, seen: float) -> int:
    """Contacts at the poses X as RECORDS and TAGS, surfaces looked for as far as `seen` apart: how many, or CANNOT or UNPREPARED;
    FOUND has the number of pairs."""
    # shapes to the world, and pairs of boxes that meet, sorted by family
    found = pair_up_again(frame, X, few, seen)
    start, pairs, keys = ints_in(frame, START), ints_in(frame, PAIRS), ints_in(frame, KEYS)
    tags, records = ints_in(frame, TAGS), floats_in(frame, RECORDS)
    if found < 0:
        return CANNOT
    if found > keys.size:
        return UNPREPARED
    ints_in(frame, FOUND)[0] = found
    crossed = ints_in(frame, CROSS_INTS)
    crossed[crossed.size - 1] = 0
    # family by family, each behind the last
    count, room = 0, tags.size // 2
    for family in range(FAMILIES):
        if start[family + 1] == start[family]:
            continue
        if family == COAL:
            return CANNOT
        if frame[family] == 0:
            return UNPREPARED
        count = meet_family(frame, family, count, seen)
        if count > room:
            return UNPREPARED
        if crossed[crossed.size - 1] != 0:
            return CANNOT
    # gaps from where surfaces rest
    offset = floats_in(frame, OFFSET)
    if count > 0 and offset.size > 0:
        classes = ints_in(frame, CLASS_OF)
        count = rest_apart(count, margin, classes[1:], classes[0], offset, pairs, tags, records)
    return count
