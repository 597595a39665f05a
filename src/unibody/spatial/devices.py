"""Device functions on tuples of scalars: 3-vectors, 3×3 matrices (nine numbers, row-major), quaternions (wxyz) and twists (angular first).

Tuples of scalars stay in registers; small arrays inside kernels are some forty times slower.
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt

from unibody.kernel import device


@device
def load3(a, k):
    return (a[k], a[k + 1], a[k + 2])


@device
def load6(a, k):
    return (a[k], a[k + 1], a[k + 2], a[k + 3], a[k + 4], a[k + 5])


@device
def load9(a, k):
    return (a[k], a[k + 1], a[k + 2], a[k + 3], a[k + 4], a[k + 5], a[k + 6], a[k + 7], a[k + 8])


@device
def store3(v, k, a_out):
    a_out[k] = v[0]
    a_out[k + 1] = v[1]
    a_out[k + 2] = v[2]


@device
def store9(v, k, a_out):
    a_out[k] = v[0]
    a_out[k + 1] = v[1]
    a_out[k + 2] = v[2]
    a_out[k + 3] = v[3]
    a_out[k + 4] = v[4]
    a_out[k + 5] = v[5]
    a_out[k + 6] = v[6]
    a_out[k + 7] = v[7]
    a_out[k + 8] = v[8]


@device
def add3(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@device
def sub3(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@device
def scale3(s, a):
    return (s * a[0], s * a[1], s * a[2])


@device
def dot3(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@device
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@device
def norm3(a):
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@device
def rotate(R, v):
    """R v."""
    return (
        R[0] * v[0] + R[1] * v[1] + R[2] * v[2],
        R[3] * v[0] + R[4] * v[1] + R[5] * v[2],
        R[6] * v[0] + R[7] * v[1] + R[8] * v[2],
    )


@device
def rotate_back(R, v):
    """Rᵀ v."""
    return (
        R[0] * v[0] + R[3] * v[1] + R[6] * v[2],
        R[1] * v[0] + R[4] * v[1] + R[7] * v[2],
        R[2] * v[0] + R[5] * v[1] + R[8] * v[2],
    )


@device
def compose_rotations(A, B):
    """A B."""
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
        A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
        A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
        A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )


@device
def compose_back(A, B):
    """Aᵀ B."""
    return (
        A[0] * B[0] + A[3] * B[3] + A[6] * B[6],
        A[0] * B[1] + A[3] * B[4] + A[6] * B[7],
        A[0] * B[2] + A[3] * B[5] + A[6] * B[8],
        A[1] * B[0] + A[4] * B[3] + A[7] * B[6],
        A[1] * B[1] + A[4] * B[4] + A[7] * B[7],
        A[1] * B[2] + A[4] * B[5] + A[7] * B[8],
        A[2] * B[0] + A[5] * B[3] + A[8] * B[6],
        A[2] * B[1] + A[5] * B[4] + A[8] * B[7],
        A[2] * B[2] + A[5] * B[5] + A[8] * B[8],
    )


@device
def rotation_about(a, s, c):
    """The rotation about the unit axis a by the angle with sine s and cosine c (Rodrigues)."""
    d = 1.0 - c
    xy = a[0] * a[1] * d
    xz = a[0] * a[2] * d
    yz = a[1] * a[2] * d
    return (
        a[0] * a[0] * d + c, xy - a[2] * s, xz + a[1] * s,
        xy + a[2] * s, a[1] * a[1] * d + c, yz - a[0] * s,
        xz - a[1] * s, yz + a[0] * s, a[2] * a[2] * d + c,
    )  # fmt: skip


@device
def rotation_of_quaternion(w, x, y, z):
    """The rotation of a quaternion, normalised on the way."""
    s = 2.0 / (w * w + x * x + y * y + z * z)
    xx = s * x * x
    yy = s * y * y
    zz = s * z * z
    xy = s * x * y
    xz = s * x * z
    yz = s * y * z
    wx = s * w * x
    wy = s * w * y
    wz = s * w * z
    return (
        1.0 - yy - zz, xy - wz, xz + wy,
        xy + wz, 1.0 - xx - zz, yz - wx,
        xz - wy, yz + wx, 1.0 - xx - yy,
    )  # fmt: skip


@device
def quaternion_of_rotation(R):
    """A unit quaternion of the rotation, by the largest of its four squares (Shepperd)."""
    trace = R[0] + R[4] + R[8]
    if trace >= R[0] and trace >= R[4] and trace >= R[8]:
        w = sqrt(max(0.0, 1.0 + trace)) * 0.5
        s = 0.25 / w
        return (w, (R[7] - R[5]) * s, (R[2] - R[6]) * s, (R[3] - R[1]) * s)
    if R[0] >= R[4] and R[0] >= R[8]:
        x = sqrt(max(0.0, 1.0 + R[0] - R[4] - R[8])) * 0.5
        s = 0.25 / x
        return ((R[7] - R[5]) * s, x, (R[1] + R[3]) * s, (R[2] + R[6]) * s)
    if R[4] >= R[8]:
        y = sqrt(max(0.0, 1.0 - R[0] + R[4] - R[8])) * 0.5
        s = 0.25 / y
        return ((R[2] - R[6]) * s, (R[1] + R[3]) * s, y, (R[5] + R[7]) * s)
    z = sqrt(max(0.0, 1.0 - R[0] - R[4] + R[8])) * 0.5
    s = 0.25 / z
    return ((R[3] - R[1]) * s, (R[2] + R[6]) * s, (R[5] + R[7]) * s, z)


@device
def multiply_quaternions(a, b):
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@device
def turned_quaternion(w, x, y, z, ox, oy, oz, h):
    """q ⊗ exp(h ω / 2) with ω in the turned frame, made unit."""
    angle = h * sqrt(ox * ox + oy * oy + oz * oz)
    half = 0.5 * angle
    k = 0.5 * h * (1.0 - half * half / 6.0) if abs(half) < 1e-4 else h * sin(half) / angle
    t = multiply_quaternions((w, x, y, z), (cos(half), k * ox, k * oy, k * oz))
    n = 1.0 / sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2] + t[3] * t[3])
    return (t[0] * n, t[1] * n, t[2] * n, t[3] * n)


@device
def put_quaternion_rate(q, a, ox, oy, oz, qdot_out):
    """q ⊗ (0, ω) / 2 of the quaternion q[a] … q[a + 3], with ω in the turned frame."""
    w, x, y, z = q[a], q[a + 1], q[a + 2], q[a + 3]
    qdot_out[a] = 0.5 * (-x * ox - y * oy - z * oz)
    qdot_out[a + 1] = 0.5 * (w * ox + y * oz - z * oy)
    qdot_out[a + 2] = 0.5 * (w * oy - x * oz + z * ox)
    qdot_out[a + 3] = 0.5 * (w * oz + x * oy - y * ox)


@device
def rotation_vector(R):
    """The rotation vector (axis × angle, angle in [0, π]) of a rotation."""
    w, x, y, z = quaternion_of_rotation(R)
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    n = sqrt(x * x + y * y + z * z)
    k = 2.0 / w * (1.0 - n * n / (3.0 * w * w)) if n < 1e-5 else 2.0 * atan2(n, w) / n
    return (k * x, k * y, k * z)


@device
def rotate_symmetric(R, J):
    """R J Rᵀ for symmetric J = (xx, xy, xz, yy, yz, zz)."""
    a0 = R[0] * J[0] + R[1] * J[1] + R[2] * J[2]
    a1 = R[0] * J[1] + R[1] * J[3] + R[2] * J[4]
    a2 = R[0] * J[2] + R[1] * J[4] + R[2] * J[5]
    b0 = R[3] * J[0] + R[4] * J[1] + R[5] * J[2]
    b1 = R[3] * J[1] + R[4] * J[3] + R[5] * J[4]
    b2 = R[3] * J[2] + R[4] * J[4] + R[5] * J[5]
    c0 = R[6] * J[0] + R[7] * J[1] + R[8] * J[2]
    c1 = R[6] * J[1] + R[7] * J[3] + R[8] * J[4]
    c2 = R[6] * J[2] + R[7] * J[4] + R[8] * J[5]
    return (
        a0 * R[0] + a1 * R[1] + a2 * R[2],
        a0 * R[3] + a1 * R[4] + a2 * R[5],
        a0 * R[6] + a1 * R[7] + a2 * R[8],
        b0 * R[3] + b1 * R[4] + b2 * R[5],
        b0 * R[6] + b1 * R[7] + b2 * R[8],
        c0 * R[6] + c1 * R[7] + c2 * R[8],
    )


@device
def times_symmetric(J, a):
    """J a for symmetric J = (xx, xy, xz, yy, yz, zz)."""
    return (J[0] * a[0] + J[1] * a[1] + J[2] * a[2], J[1] * a[0] + J[3] * a[1] + J[4] * a[2], J[2] * a[0] + J[4] * a[1] + J[5] * a[2])


@device
def twist_across(R, p, s):
    """Ad(X) s for the pose X = (R, p)."""
    t = rotate(R, (s[0], s[1], s[2]))
    f = add3(rotate(R, (s[3], s[4], s[5])), cross(p, t))
    return (t[0], t[1], t[2], f[0], f[1], f[2])


@device
def seen_from(R, p, s):
    """Ad(X⁻¹) s for the pose X = (R, p)."""
    t = rotate_back(R, (s[0], s[1], s[2]))
    f = rotate_back(R, sub3((s[3], s[4], s[5]), cross(p, (s[0], s[1], s[2]))))
    return (t[0], t[1], t[2], f[0], f[1], f[2])


@device
def cross_motion(a, b):
    """a × b for twists."""
    t = cross((a[0], a[1], a[2]), (b[0], b[1], b[2]))
    f = add3(cross((a[0], a[1], a[2]), (b[3], b[4], b[5])), cross((a[3], a[4], a[5]), (b[0], b[1], b[2])))
    return (t[0], t[1], t[2], f[0], f[1], f[2])
