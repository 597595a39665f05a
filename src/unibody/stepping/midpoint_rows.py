"""Contacts seen in the middle of a step: what the turning of bodies adds to the velocities along their rows.

Velocities of a semi-implicit step carry bodies from one place to the next, so they are those of its middle, while rows are those of its
beginning. A body that sticks to a turning base would leave along the tangent, and a body that rolls would be held where it touched before,
not where it touches: a force along J(q) then does work of the order of h, of either sign. So the law of a contact asks for

    J(q_m) v⁺,      q_m = q ⊕ h v/2          contact point and normal in the middle of the step; impulses still act along J(q)ᵀ

which is the discrete Lagrange–d'Alembert principle (Cortés and Martínez 2001): order two, and no work but that of slip. To the
velocities with the geometry of the beginning it adds, with arms r = x − c and r_m = x_m − c_m,

    ω_b × (s r_m,b − r_b) − ω_a × (s r_m,a − r_a),          along the normal also (n_m − n)·(u_b − u_a)

Where x_m lies depends on the surfaces: a corner or a face keeps its material point, a curved surface is touched where its normal is n_m,
the normal of the flat one. As c moves along a chord, s = tan(θ/2)/(θ/2) with the turn θ that both bodies share makes what is at rest
on a turning base exactly stay; s = 1 where one of them stands still.

Friction of what slides acts against the slip along J(q): then it only takes energy. So tangential rows are moved to the middle where a
contact sticks, and that was so before: J v = J(q_m − h/2 v) v + h/2 J̇ v is then what the middle adds, to the first order.

This holds for bodies that fly alone (LOOSE), which go through h v⁺ in a step: nothing is added where none takes part. What carries them
may be GUIDED by joints or a motion of its own: its velocity v + h a is that of the end of the step, and its centre goes along an arc. Then
v̄ − (v + h ω × v), with v̄ = ∫ exp(ω t) v dt / h along the arc, takes back what h a turns v too far; the rest of a changes what the base sees
of its own velocity, and leaves a load that sticks ahead by h/2 of that change, no more.
"""

from __future__ import annotations

from math import cos, sin, sqrt, tan

import numpy as np

from unibody.collision.rigid.contacts import FEATURE_BITS
from unibody.collision.rigid.kinds import CAPSULE, CYLINDER, ELLIPSOID, PLANE, SPHERE
from unibody.coordinates.kick import free_joints
from unibody.joints.free import Free
from unibody.kernel import Floats, Ints, device, kernel
from unibody.model.model import Model
from unibody.spatial.devices import add3, cross, dot3, load3, load9, norm3, rotate, rotate_back, scale3, sub3

STEADY, LOOSE, GUIDED, CHORDED = range(4)
"""How a body goes through a step: along the velocity that contact sees (or not at all), like a body that flies alone, or along an arc, as
the velocity of whose chord its velocity counts already (CHORDED) or not."""

STILL = 1e-4
"""[rad] Bodies that turn less in a step are seen at its beginning: what that adds to a slip is half this part of it, and what would creep
goes ω h/2 of ω r a second, half a micrometre at 1 m and 10 ms."""

SMALL = 4e-4
"""Squares of angles below which sines and cosines are sums of three terms, to round-off."""

WIDEST = 1.0
"""[rad] Half turns above it count as it: no step follows them."""

STICKS, SLIDES = 2.0, 4.0
"""Slips in terms of what the middle of the step adds: up to the one a contact sticks, from the other on it slides."""

AT_RIM = 1e-3
"""Of its radius: how far from the point of a cylinder that lies farthest along the normal a contact may be to roll with it."""


def roles_of(model: Model) -> np.ndarray:
    """(bodies,) how each goes through a step. GUIDED are scenery, what elements with a motion of their own drive, and links of trees that
    hang on the world by joints other than Free."""
    out = np.full(model.n_bodies, STEADY)
    loose = {joint.child for _, _, body, joint in free_joints(model) if body is not None}
    driven = {name for _, e in model.constraints if hasattr(e, "motion") for name in e.bodies()}
    floats = np.zeros(model.n_bodies, bool)
    for joint in model.tree_joints:
        floats[joint.child] = floats[joint.parent] or any(type(piece) is Free for piece in joint.element.parts())
    for i, body in enumerate(model.bodies):
        if body.kind == "kinematic" or body.name in driven:
            out[i] = GUIDED
        elif body.kind == "dynamic":
            out[i] = LOOSE if i in loose else STEADY if floats[i] else GUIDED
    return out


@device
def turn_by(w, h):
    """The numbers a, b of exp(h [w]×) v = v + a w × v + b w × (w × v)."""
    square = h * h * dot3(w, w)
    if square < SMALL:
        first = 1.0 - square / 6.0 * (1.0 - square / 20.0)
        second = 0.5 - square / 24.0 * (1.0 - square / 30.0)
    else:
        angle = sqrt(square)
        first, second = sin(angle) / angle, (1.0 - cos(angle)) / square
    return first * h, second * h * h


@device
def spun(w, turn, v):
    """v turned by w, with the numbers of `turn_by`."""
    across = cross(w, v)
    return add3(v, add3(scale3(turn[0], across), scale3(turn[1], cross(w, across))))


@device
def over_tangent(square):
    """tan(x)/x from x², of x up to WIDEST."""
    if square < SMALL:
        return 1.0 + square / 3.0 * (1.0 + 0.4 * square * (1.0 + square * (17.0 / 42.0)))
    x = min(sqrt(square), WIDEST)
    return tan(x) / x


@device
def along_arc(w, h, v):
    """The mean of exp(t [w]×) v over a step h."""
    angle = h * norm3(w)
    if angle < 1e-4:
        return add3(v, scale3(0.5 * h, cross(w, v)))
    across = cross(w, v)
    first, second = (1.0 - cos(angle)) / (angle * angle), (angle - sin(angle)) / (angle * angle * angle)
    return add3(v, add3(scale3(first * h, across), scale3(second * h * h, cross(w, across))))


@device
def farthest(kind, size, at, n, end):
    """The point of a curved shape in its own axes whose outward normal is n; of a cylinder on the rim at that `end` (±1). With whether
    there is just one."""
    if kind == ELLIPSOID:
        d = (size[at] * size[at] * n[0], size[at + 1] * size[at + 1] * n[1], size[at + 2] * size[at + 2] * n[2])
        return scale3(1.0 / sqrt(dot3(d, n)), d), True
    flat = sqrt(n[0] * n[0] + n[1] * n[1])
    if flat < 1e-9:
        return (0.0, 0.0, 0.0), False
    return (size[at] * n[0] / flat, size[at] * n[1] / flat, end * size[at + 1]), True


@device
def touched(kind, size, i, pose, R, p, c, w, half, c_mid, x, n, n_mid):
    """Where a shape of a body is touched in the middle of a step that begins at x, its outward normal going from n to n_mid; `half`: how
    the body turns until then."""
    if kind == SPHERE or kind == CAPSULE:
        inner = sub3(x, scale3(size[4 * i], n))
        return add3(add3(c_mid, spun(w, half, sub3(inner, c))), scale3(size[4 * i], n_mid))
    stiction = add3(c_mid, spun(w, half, sub3(x, c)))
    if kind != ELLIPSOID and kind != CYLINDER:
        return stiction
    # the shape's own axes and centre, now and in the middle
    Q = load9(pose, 12 * i)
    centre = add3(p, rotate(R, load3(pose, 12 * i + 9)))
    here = rotate_back(Q, rotate_back(R, sub3(x, centre)))
    end = 1.0 if here[2] > 0.0 else -1.0
    before, one = farthest(kind, size, 4 * i, rotate_back(Q, rotate_back(R, n)), end)
    after, still_one = farthest(kind, size, 4 * i, rotate_back(Q, rotate_back(R, spun(w, (-half[0], half[1]), n_mid))), end)
    off = sub3(before, here)
    if not (one and still_one) or (kind == CYLINDER and off[0] * off[0] + off[1] * off[1] > (AT_RIM * size[4 * i]) ** 2):
        return stiction
    moved = rotate(R, rotate(Q, sub3(after, before)))
    return add3(stiction, spun(w, half, moved))


@device
def curved(kind):
    """Whether contacts move over a shape as it turns."""
    return kind == SPHERE or kind == CAPSULE or kind == CYLINDER or kind == ELLIPSOID


@device
def middle_normal(kind_a, kind_b, size, i, j, x, n, gap, c_a, c_b, w_a, w_b, mid_a, mid_b, half_a, half_b):
    """The normal in the middle of a step, until which bodies turn by halves: that of the flat shape, between the middles of two round
    ones, else as both bodies turn it."""
    round_a, round_b = kind_a == SPHERE or kind_a == CAPSULE, kind_b == SPHERE or kind_b == CAPSULE
    if round_a and round_b:
        p = sub3(x, scale3(size[4 * i] + 0.5 * gap, n))
        q = add3(x, scale3(size[4 * j] + 0.5 * gap, n))
        m = sub3(add3(mid_b, spun(w_b, half_b, sub3(q, c_b))), add3(mid_a, spun(w_a, half_a, sub3(p, c_a))))
    elif kind_a == PLANE or (curved(kind_b) and not curved(kind_a)):
        return spun(w_a, half_a, n)
    elif kind_b == PLANE or (curved(kind_a) and not curved(kind_b)):
        return spun(w_b, half_b, n)
    else:
        m = add3(spun(w_a, half_a, n), spun(w_b, half_b, n))
    size_m = norm3(m)
    return scale3(1.0 / size_m, m) if size_m > 0.0 else n


@kernel
def fill_turning(
    width: int, spin: int, shapes: int, h: float, ids: Ints, bodies: Ints, points: Floats, directions: Floats, gaps: Floats, X: Floats,
    centre: Floats, velocity: Floats, roles: Ints, kind: Ints, pose: Floats, size: Floats, turn_out: Floats,
) -> bool:  # fmt: skip
    """What the middle of a step of length h adds to the velocities of contacts, `width` numbers each; gives whether anything. `shapes`: how
    many there are in the tables kind, pose (12 each) and size (4 each)."""
    acts = False
    # how bodies turn in half a step
    half = np.empty(2 * roles.size)
    for i in range(roles.size):
        half[2 * i], half[2 * i + 1] = turn_by(load3(velocity, 6 * i), 0.5 * h)
    for k in range(ids.size):
        a, b = bodies[2 * k], bodies[2 * k + 1]
        w_a, w_b = load3(velocity, 6 * a), load3(velocity, 6 * b)
        for r in range(width):
            turn_out[width * k + r] = 0.0
        square_a, square_b = dot3(w_a, w_a), dot3(w_b, w_b)
        if h * h * max(square_a, square_b) < STILL * STILL or (roles[a] != LOOSE and roles[b] != LOOSE):
            continue
        acts = True
        half_a, half_b = (half[2 * a], half[2 * a + 1]), (half[2 * b], half[2 * b + 1])
        x, n, gap = load3(points, 3 * k), load3(directions, 3 * width * k), gaps[k]
        c_a, c_b, v_a, v_b = load3(centre, 3 * a), load3(centre, 3 * b), load3(velocity, 6 * a + 3), load3(velocity, 6 * b + 3)
        r_a, r_b = sub3(x, c_a), sub3(x, c_b)
        # centres in the middle; what both share of their turning turns their velocities, too
        shared = w_a if square_a < square_b else w_b
        whole = turn_by(shared, h)
        goes_a = along_arc(w_a, h, v_a) if roles[a] >= GUIDED else spun(shared, whole, v_a)
        goes_b = along_arc(w_b, h, v_b) if roles[b] >= GUIDED else spun(shared, whole, v_b)
        mid_a, mid_b = add3(c_a, scale3(0.5 * h, goes_a)), add3(c_b, scale3(0.5 * h, goes_b))
        s = over_tangent(0.25 * h * h * min(square_a, square_b))
        # where the two surfaces touch then, and along which normal
        pair = ids[k] >> FEATURE_BITS
        i, j = pair // shapes, pair % shapes
        kind_a, kind_b = kind[i], kind[j]
        m = middle_normal(kind_a, kind_b, size, i, j, x, n, gap, c_a, c_b, w_a, w_b, mid_a, mid_b, half_a, half_b)
        X_a, X_b = load9(X, 12 * a), load9(X, 12 * b)
        p_a, p_b = load3(X, 12 * a + 9), load3(X, 12 * b + 9)
        x_a = touched(kind_a, size, i, pose, X_a, p_a, c_a, w_a, half_a, mid_a, x, n, m)
        x_b = touched(kind_b, size, j, pose, X_b, p_b, c_b, w_b, half_b, mid_b, x, scale3(-1.0, n), scale3(-1.0, m))
        if kind_b == PLANE or (curved(kind_a) and not curved(kind_b)):
            x_m = x_a
        elif kind_a == PLANE or (curved(kind_b) and not curved(kind_a)):
            x_m = x_b
        else:
            x_m = scale3(0.5, add3(x_a, x_b))
        more = cross(w_b, sub3(scale3(s, sub3(x_m, mid_b)), r_b))
        more = sub3(more, cross(w_a, sub3(scale3(s, sub3(x_m, mid_a)), r_a)))
        # what carries the other goes along an arc
        if roles[a] == GUIDED:
            more = sub3(more, sub3(goes_a, add3(v_a, scale3(h, cross(w_a, v_a)))))
        if roles[b] == GUIDED:
            more = add3(more, sub3(goes_b, add3(v_b, scale3(h, cross(w_b, v_b)))))
        for r in range(width):
            d = load3(directions, 3 * (width * k + r))
            turn_out[width * k + r] = 0.0 if spin == 1 and r == width - 1 else dot3(d, more)
        tilt = sub3(m, n)
        apart = sub3(add3(v_b, cross(w_b, r_b)), add3(v_a, cross(w_a, r_a)))
        turn_out[width * k] += dot3(tilt, apart)
        if spin == 1:
            turn_out[width * k + width - 1] += dot3(tilt, sub3(w_b, w_a))
    return acts


@kernel
def keep_to_sticking(
    width: int, spin: int, close: float, above: float, before: Floats, gaps: Floats, restitution: Floats, turn_out: Floats
) -> None:
    """Of what the middle of a step adds, take tangential parts from contacts that slide, and all from those that bounce: an impact acts
    at the beginning. `close`: gaps of what touches; `above`: speeds of impacts."""
    tangents = width - 1 if spin == 1 else width
    for k in range(gaps.size):
        at = width * k
        if restitution[k] > 0.0 and (gaps[k] > close or abs(before[at]) > above):
            for r in range(width):
                turn_out[at + r] = 0.0
            continue
        slip, added = 0.0, 0.0
        for r in range(1, tangents):
            slip += (before[at + r] - turn_out[at + r]) ** 2
            added += turn_out[at + r] ** 2
        far = sqrt(slip / added) if added > 0.0 else 0.0
        if far > STICKS:
            # from one to the other without a jump
            x = min((far - STICKS) / (SLIDES - STICKS), 1.0)
            share = (1.0 - x) * (1.0 - x) * (1.0 + 2.0 * x)
            for r in range(1, width):
                turn_out[at + r] *= share
