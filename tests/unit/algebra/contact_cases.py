"""Contact problems for tests and benchmarks, and a plain reading of the laws by which to judge any solution."""

from dataclasses import dataclass, replace

import numpy as np

from unibody.algebra.contact.delassus import DelassusFactors
from unibody.algebra.contact.problem import ContactProblem, contacts


@dataclass(frozen=True)
class BodyRows:
    """W = J M⁻¹ Jᵀ. J: (m, 2, 6), the rows' parts in the two bodies that they touch; bodies: (m, 2), −1 for the ground; inverse_mass:
    (n, 6, 6)."""

    J: np.ndarray
    bodies: np.ndarray
    inverse_mass: np.ndarray

    def whole(self):
        """J and Y = J M⁻¹ as (m, 6 n) arrays."""
        m, n = len(self.J), len(self.inverse_mass)
        J = np.zeros((m, n + 1, 6))
        np.add.at(J, (np.arange(m)[:, None], self.bodies), self.J)  # the last six are the ground's
        J = J[:, :-1]
        return J.reshape(m, 6 * n), np.einsum("gij,rgj->rgi", self.inverse_mass, J).reshape(m, 6 * n)

    def dense(self):
        J, Y = self.whole()
        W = J @ Y.T
        return 0.5 * (W + W.T)

    def factors(self, rows, fused=1):
        """Over islands of so many bodies each; rows: (k,) of each block, which touch the same bodies."""
        (J, Y), n, begin = self.whole(), len(self.inverse_mass), np.cumsum(rows) - rows
        first = np.minimum(6 * fused * np.arange(-(-n // fused) + 1), 6 * n).astype(np.int64)
        islands = np.where(self.bodies[begin] < 0, -1, self.bodies[begin] // fused)
        islands[islands[:, 0] == islands[:, 1], 1] = -1
        return DelassusFactors.from_whole(first, np.asarray(rows, np.int64), islands, J, Y, np.arange(6 * n))


@dataclass(frozen=True)
class BodyProblem(ContactProblem):
    """A contact problem of free bodies, that knows its rows."""

    rows: BodyRows | None = None

    def factors(self, fused=1):
        return self.rows.factors(self.blocks.rows, fused)


def frame(normal):
    """Rows: the normal and two tangents."""
    n = np.asarray(normal, float) / np.linalg.norm(normal)
    t = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    t /= np.linalg.norm(t)
    return np.array([n, t, np.cross(n, t)])


def assemble(touching, mass, gyration, v, friction, law="coulomb"):
    """touching: (upper body, lower body or −1, arm on the upper, arm on the lower, frame). Twists angular first, world axes at centres."""
    J, bodies = [], []
    for a, c, arm_a, arm_c, axes in touching:
        for e in axes:
            J.append([np.r_[np.cross(arm_a, e), e], -np.r_[np.cross(arm_c, e), e]])
            bodies.append([a, c])
    J, bodies, mass = np.array(J), np.array(bodies), np.asarray(mass, float)
    inverse = np.zeros((mass.size, 6, 6))
    for k in range(3):
        inverse[:, k, k], inverse[:, 3 + k, 3 + k] = gyration / mass, 1.0 / mass
    b = np.einsum("rgi,rgi->r", J, np.where(bodies[:, :, None] < 0, 0.0, np.asarray(v)[bodies]))
    return of_bodies(BodyRows(J, bodies, inverse), b, contacts(np.full(len(touching), friction)), law=law)


def of_bodies(rows, b, blocks, **options):
    """A problem of these rows, W as an array."""
    return BodyProblem(rows.dense(), b, blocks, rows=rows, **options)


FALL = 0.0981
"""Velocity that gravity adds in a step of 10 ms [m/s]."""


def tower(boxes, friction=0.5, mass=None, push=0.0, law="coulomb"):
    """Unit cubes on each other, four corners each: 12 rows per interface for 6 relative motions, so W is singular. `push`: sideways
    velocity of the one in the middle."""
    corners = [np.array([x, y, 0.0]) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    up = np.array([0.0, 0.0, 0.5])
    touching = [(i, i - 1, c - up, c + up, np.eye(3)[[2, 0, 1]]) for i in range(boxes) for c in corners]
    v = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, -FALL], (boxes, 1))
    v[boxes // 2, 3] = push
    return assemble(touching, np.ones(boxes) if mass is None else mass, 6.0, v, friction, law)


def sphere_pile(side, layers, friction=0.4, seed=0, law="coulomb"):
    """Close-packed spheres of one radius on a floor, squares of `side` shrinking by one per layer, falling with some disorder."""
    generator = np.random.default_rng(seed)
    centres = []
    for k in range(layers):
        n = max(side - k, 1)
        i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
        centres.append(np.stack([i.ravel() + 0.5 * k, j.ravel() + 0.5 * k, np.full(n * n, 0.5 + k / np.sqrt(2.0))], axis=1))
        if n == 1:
            break
    p = np.concatenate(centres)
    from scipy.spatial import cKDTree

    pairs = sorted(cKDTree(p).query_pairs(1.0 + 1e-9))
    touching = []
    for a, c in pairs:
        n = p[a] - p[c]
        touching.append((a, c, -0.5 * n, 0.5 * n, frame(n)))
    for a in np.flatnonzero(p[:, 2] < 0.6):
        touching.append((int(a), -1, np.array([0.0, 0.0, -0.5]), np.zeros(3), frame([0.0, 0.0, 1.0])))
    v = np.zeros((len(p), 6))
    v[:, 5] = -FALL
    v += 0.02 * generator.standard_normal(v.shape)
    return assemble(touching, generator.uniform(0.5, 2.0, len(p)), 10.0, v, friction, law)


def scattered(bodies, count, friction, seed, law="coulomb"):
    """Random bodies, random pairs, random frames and arms: what no simulation would pose, but well conditioned while 3·count < 6·bodies."""
    generator = np.random.default_rng(seed)
    touching = []
    for _ in range(count):
        a, c = generator.choice(bodies, 2, replace=False)
        if generator.random() < 0.3:
            c = -1
        touching.append((int(a), int(c), *(0.5 * generator.standard_normal((2, 3))), frame(generator.standard_normal(3))))
    return assemble(touching, generator.uniform(0.5, 2.0, bodies), 5.0, generator.standard_normal((bodies, 6)), friction, law)


def violation(problem, solution):
    """The largest miss of the laws as they are written, contact by contact: signs, cone, complementarity, dissipation; u recomputed."""
    u = problem.W @ solution.impulse + problem.b
    worst, at = float(np.abs(u - solution.velocity).max(initial=0.0)), 0
    blocks = problem.blocks
    for rows, low, high, mu in zip(blocks.rows, blocks.lower, blocks.upper, blocks.friction):
        x, v = solution.impulse[at : at + rows], u[at : at + rows]
        at += rows
        if rows == 1:
            worst = max(worst, low - x[0], x[0] - high)
            worst = max(worst, v[0] * min(x[0] - low, 1.0), -v[0] * min(high - x[0], 1.0), -v[0] if high == np.inf else 0.0)
            continue
        mu = mu[: rows - 1]
        slip = np.linalg.norm(mu * v[1:])
        opening = v[0] - (slip if problem.law == "convex" else 0.0)
        pressed = np.linalg.norm(x[1:][mu > 0] / mu[mu > 0])
        worst = max(worst, -opening, -x[0], pressed - x[0], np.abs(x[1:][mu == 0]).max(initial=0.0))
        worst = max(worst, abs(x[0] * opening), abs(x[1:] @ v[1:] + slip * x[0]))
    return worst


def with_law(problem, law):
    return replace(problem, law=law)


def brick_wall(columns, layers, friction=0.5, seed=0, push=0.0, ratio=1.0, law="coulomb"):
    """Bricks of 2 × 1 × 1 in running bond, four points where two overlap: many more rows than motions. Velocities a little disordered;
    `push`: sideways speed of one brick in the middle; `ratio`: of the masses of top and bottom layer."""
    generator = np.random.default_rng(seed)
    centres = [(2.0 * i + (k % 2), k + 0.5) for k in range(layers) for i in range(columns)]
    touching, up, axes = [], np.array([0.0, 0.0, 0.5]), np.eye(3)[[2, 0, 1]]
    for a, (x, z) in enumerate(centres):
        below = [(c, xc) for c, (xc, zc) in enumerate(centres) if abs(z - 1.0 - zc) < 0.1 and abs(x - xc) < 1.5]
        for c, xc in below or [(-1, x)]:
            low, high = max(x, xc) - 1.0, min(x, xc) + 1.0
            for px in (low, high):
                for py in (-0.5, 0.5):
                    touching.append((a, c, np.array([px - x, py, 0.0]) - up, np.array([px - xc, py, 0.0]) + up, axes))
    v = np.zeros((len(centres), 6))
    v[:, 5] = -FALL
    v += 1e-3 * generator.standard_normal(v.shape)
    v[len(centres) // 2, 3] += push
    mass = ratio ** np.repeat(np.linspace(0.0, 1.0, layers), columns)
    return assemble(touching, mass, 4.0, v, friction, law)
