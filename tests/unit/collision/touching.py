"""Two shapes at given poses, asked of our collision and of coal, for tests of rigid contact."""

from __future__ import annotations

import numpy as np

import unibody as ub
from unibody.collision.rigid import RigidCollision

FEATURE = (1 << 31) - 1
POINTS = np.array(
    [(0.4, 0.1, 0.0), (-0.3, 0.2, 0.1), (0.0, -0.4, 0.1), (0.1, 0.1, 0.5), (0.0, 0.1, -0.4), (-0.2, -0.2, 0.3), (0.3, -0.2, -0.2)]
)


def hull(points: np.ndarray = POINTS) -> ub.Mesh:
    """The convex hull as a closed mesh."""
    from scipy.spatial import ConvexHull

    faces = ConvexHull(points).simplices
    middle = points.mean(axis=0)
    for face in faces:
        a, b, c = points[face]
        if np.cross(b - a, c - a) @ (a - middle) < 0.0:
            face[[1, 2]] = face[[2, 1]]
    used, index = np.unique(faces, return_inverse=True)
    return ub.Mesh(points[used], index.reshape(-1, 3))


SHAPES = {
    "sphere": ub.Sphere(0.4), "capsule": ub.Capsule(0.2, 0.6), "box": ub.Box((0.5, 0.7, 0.9)), "cylinder": ub.Cylinder(0.3, 0.8),
    "ellipsoid": ub.Ellipsoid((0.3, 0.5, 0.4)), "plane": ub.Plane(), "convex": hull(),
}  # fmt: skip


def model_of(*shapes, static=(), neighbours=False) -> ub.Model:
    """One body per shape, contact among all; `static`: numbers of those that rest."""
    b = ub.Builder(gravity=None)
    for k, shape in enumerate(shapes):
        weight = {} if 0.0 < shape.volume < np.inf or k in static else {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
        b.body(f"b{k}", shape=shape, kind="static" if k in static else "dynamic", **weight)
    b.add(ub.Contact(neighbours=neighbours))
    return b.build()


def rotation(rng: np.random.Generator) -> np.ndarray:
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.linalg.det(Q)


def about(axis, angle: float) -> np.ndarray:
    return np.asarray(ub.Pose.about(axis, angle).R)


def poses(*placed) -> np.ndarray:
    """X of the world and bodies at (R, p) each."""
    return np.array([np.r_[np.eye(3).ravel(), 0.0, 0.0, 0.0], *(np.r_[np.asarray(R).ravel(), p] for R, p in placed)], float)


def random_poses(rng: np.random.Generator, near: float, far: float) -> np.ndarray:
    """Two bodies anywhere, with their origins between near and far of each other."""
    d = rng.normal(size=3)
    p = rng.normal(size=3)
    return poses((rotation(rng), p), (rotation(rng), p + d / np.linalg.norm(d) * rng.uniform(near, far)))


def swapped(X: np.ndarray) -> np.ndarray:
    return X[[0, 2, 1]]


class Pair:
    """Two shapes, in both orders, and as coal has them."""

    def __init__(self, a, b, margin: float = 0.3):
        self.a, self.b = a, b
        self.ours, self.turned = RigidCollision(model_of(a, b), margin), RigidCollision(model_of(b, a), margin)

    def coal(self, X: np.ndarray) -> tuple[float, np.ndarray]:
        """Signed distance and normal from a to b."""
        import coal

        request, result = coal.DistanceRequest(), coal.DistanceResult()
        request.enable_signed_distance = True
        request.gjk_tolerance = request.epa_tolerance = 1e-8
        transforms = [coal.Transform3s(X[k, :9].reshape(3, 3), X[k, 9:]) for k in (1, 2)]
        geometries = [geometry(self.a), geometry(self.b)]
        distance = coal.distance(geometries[0], transforms[0], geometries[1], transforms[1], request, result)
        return float(distance), np.array(result.normal)


def geometry(shape):
    """coal's object of a shape."""
    import coal

    from unibody.collision.rigid.by_coal import solid

    makers = {
        ub.Sphere: lambda s: coal.Sphere(s.radius), ub.Capsule: lambda s: coal.Capsule(s.radius, s.length),
        ub.Box: lambda s: coal.Box(*s.sides), ub.Cylinder: lambda s: coal.Cylinder(s.radius, s.length),
        ub.Ellipsoid: lambda s: coal.Ellipsoid(*s.semi_axes), ub.Plane: lambda s: coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0),
        ub.Mesh: lambda s: solid(s.vertices, s.faces),
    }  # fmt: skip
    return makers[type(shape)](shape)


def depth_along(shape, R: np.ndarray, p: np.ndarray, n: np.ndarray) -> float:
    """The support function: how far the shape reaches along n."""
    y = R.T @ n
    if isinstance(shape, ub.Sphere):
        reach = shape.radius
    elif isinstance(shape, ub.Capsule):
        reach = shape.radius + 0.5 * shape.length * abs(y[2])
    elif isinstance(shape, ub.Cylinder):
        reach = shape.radius * np.hypot(y[0], y[1]) + 0.5 * shape.length * abs(y[2])
    elif isinstance(shape, ub.Ellipsoid):
        reach = np.linalg.norm(np.array(shape.semi_axes) * y)
    else:
        reach = (shape.triangles()[0] @ y).max()
    return float(n @ p + reach)


def outside(shape, x: np.ndarray) -> float:
    """Signed distance of a point in the shape's frame, or what has its zeros and signs: written without the package's kernels."""
    if isinstance(shape, ub.Sphere):
        return float(np.linalg.norm(x) - shape.radius)
    if isinstance(shape, ub.Capsule):
        z = np.clip(x[2], -0.5 * shape.length, 0.5 * shape.length)
        return float(np.linalg.norm(x - [0.0, 0.0, z]) - shape.radius)
    if isinstance(shape, ub.Box):
        return float((np.abs(x) - 0.5 * np.array(shape.sides)).max())
    if isinstance(shape, ub.Cylinder):
        return float(max(np.hypot(x[0], x[1]) - shape.radius, abs(x[2]) - 0.5 * shape.length))
    if isinstance(shape, ub.Ellipsoid):
        return float((np.linalg.norm(x / shape.semi_axes) - 1.0) * min(shape.semi_axes))
    if isinstance(shape, ub.Plane):
        return float(x[2])
    corners = shape.vertices[shape.faces]
    n = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    n /= np.linalg.norm(n, axis=1)[:, None]
    return float(np.einsum("fi,fi->f", n, x - corners[:, 0]).max())
