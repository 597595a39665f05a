"""Contact of a rolled cloth with itself, stage by stage, beside ipctk (one thread each).

    python benchmarks/rolled_cloth.py [--quick]

A cloth of 100 × 100 vertices on an Archimedean spiral with a small ripple, its layers nearer than the reach:

    candidates         boxes of vertices and triangles, edges and edges, within the reach
    narrow phase       distances of all candidates, and which are contacts
    gradient, Hessian  of the barrier, every contact's Hessian made positive, summed into one sparse matrix
    CCD                the part of a motion that is free, over the candidates of the whole way

Both sides do the same work on the same vertices: candidates and contacts are counted, and the least distance is compared. ipctk's fastest
broad phase is taken; its barrier is on squared distances (as it comes), ours on distances. Processor time, by turns, least of each.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from common import machine, table

import unibody as ub
from unibody.algebra.block.cholesky import BlockMatrix
from unibody.algebra.block.mixed import MixedMatrix, MixedPattern
from unibody.collision.ccd import ITERATIONS, safe_step
from unibody.contact.node_blocks import POSITIVE, NodeBarrier

PITCH, REACH, RIPPLE = 1.5e-3, 1.5e-3, 0.3
"""Of the spiral and of contact [m]; the ripple as a part of the pitch."""
SPACING = 0.4 / 99
KAPPA = 1e5
TURNS = 7


def rolled(flat: np.ndarray, pitch: float, rng: np.random.Generator) -> np.ndarray:
    """Vertices (n, 3) of a flat sheet in the plane of x and y, rolled up about y; lengths along the spiral stay what they are."""
    s = flat[:, 0] - flat[:, 0].min()
    # r = r₀ + pitch φ / 2π, and ds = r dφ but for the small rise:  φ from s
    rise, first = pitch / (2.0 * np.pi), 2.0 * pitch
    angle = (np.sqrt(first**2 + 2.0 * rise * s) - first) / rise
    r = first + rise * angle + RIPPLE * pitch * (rng.random(len(s)) - 0.5)
    return np.stack([r * np.cos(angle), flat[:, 1], r * np.sin(angle)], axis=1)


class Ours:
    """The stages of this engine on a sheet that touches itself."""

    def __init__(self, mesh: ub.TriMesh):
        b = ub.Builder(gravity=None)
        b.cloth("roll", mesh, ub.Fabric(young=1e5, poisson=0.3, thickness=1e-9), density=1e7)
        b.add(ub.Contact(self_contact=True, reach=REACH))
        self._system = ub.Simulation(b.build(), "barrier", dt=0.01).bound.system.affine
        self.surface, self._broad, self._proximity = self._system.surface, self._system.broad, self._system.proximity
        self._at = 12 * self._system.rows

    def control_points(self, V: np.ndarray) -> np.ndarray:
        x = np.zeros(self._at + V.size)
        x[3 : self._at : 12] = x[7 : self._at : 12] = x[11 : self._at : 12] = 1.0
        x[self._at :] = V.ravel()
        return x

    def candidates(self, V: np.ndarray, W: np.ndarray) -> object:
        return self._broad.between(self.surface.positions(self.control_points(V)), self.surface.positions(self.control_points(W)), REACH)

    def contacts(self, found, V: np.ndarray) -> object:
        x, n = self.control_points(V), len(self.surface.vertex_start) - 1
        return self._proximity.contacts(found, x, self.surface.positions(x), REACH, np.ones(n))

    def derivatives(self, contacts, V: np.ndarray) -> tuple[np.ndarray, MixedMatrix]:
        law, g = NodeBarrier(contacts, KAPPA, REACH), np.zeros(self._at + V.size)
        law.add_gradient(1.0, g)
        H = self._system.vertices.reduced(law.blocks(1.0, POSITIVE))
        none = np.zeros(0, np.int64)
        empty = MixedPattern.empty(0, len(V))
        return g[self._at :], MixedMatrix.of(empty, BlockMatrix(np.zeros((0, 12, 12)), none, none, np.zeros((0, 12, 12))), [H])

    def free_part(self, found, V: np.ndarray, W: np.ndarray) -> float:
        s = self.surface
        x, dx = s.positions(self.control_points(V)), s.positions(self.control_points(W) - self.control_points(V))
        tables = found.points.ravel(), found.edges.ravel(), s.faces.ravel(), s.edges.ravel()
        return safe_step(*tables, x.ravel(), dx.ravel(), s.radius, REACH, 1.0, ITERATIONS)


class Theirs:
    """The same of ipctk, with the vertices in the order that is given."""

    def __init__(self, V: np.ndarray, edges: np.ndarray, faces: np.ndarray, phase: str):
        import ipctk

        ipctk.set_num_threads(1)
        self.k = ipctk
        self.mesh = ipctk.CollisionMesh(V, edges.astype(np.int32), faces.astype(np.int32))
        self.law, self._phase = ipctk.BarrierPotential(REACH, KAPPA), getattr(ipctk, phase)
        self._ccd = ipctk.AdditiveCCD()

    def candidates(self, V: np.ndarray, W: np.ndarray) -> object:
        found = self.k.Candidates()
        found.build(self.mesh, V, W, 0.5 * REACH, self._phase())
        return found

    def contacts(self, found, V: np.ndarray) -> object:
        out = self.k.NormalCollisions()
        out.build(found, self.mesh, V, REACH)
        return out

    def derivatives(self, contacts, V: np.ndarray) -> tuple[np.ndarray, object]:
        return self.law.gradient(contacts, self.mesh, V), self.law.hessian(contacts, self.mesh, V, self.k.PSDProjectionMethod.CLAMP)

    def free_part(self, found, V: np.ndarray, W: np.ndarray) -> float:
        return found.compute_collision_free_stepsize(self.mesh, V, W, 0.0, self._ccd)


def least(work: dict[str, Callable[[], object]], turns: int) -> dict[str, float]:
    """Processor seconds of each, by turns, the least."""
    out = dict.fromkeys(work, np.inf)
    for _ in range(turns):
        for name, run in work.items():
            began = time.process_time()
            run()
            out[name] = min(out[name], time.process_time() - began)
    return out


def main(arguments: list[str] | None = None) -> int:
    quick = "--quick" in (sys.argv[1:] if arguments is None else arguments)
    n, turns, rng = *((31, 2) if quick else (100, TURNS)), np.random.default_rng(0)
    mesh = ub.TriMesh.grid(((n - 1) * SPACING, (n - 1) * SPACING), spacing=SPACING)
    V = np.asfortranarray(rolled(mesh.vertices, PITCH, rng))
    W = np.asfortranarray(V + 0.5 * PITCH * rng.normal(size=V.shape))
    ours = Ours(mesh)
    s = ours.surface
    phases = {}
    for phase in ("LBVH", "HashGrid", "SweepAndPrune", "SpatialHash"):
        peer = Theirs(V, s.edges, s.faces, phase)
        phases[phase] = least({phase: lambda peer=peer: peer.candidates(V, V)}, 2)[phase]
    theirs = Theirs(V, s.edges, s.faces, min(phases, key=phases.__getitem__))
    # what each stage hands to the next
    near, way, touching = ours.candidates(V, V), ours.candidates(V, W), None
    touching = ours.contacts(near, V)
    near_, way_ = theirs.candidates(V, V), theirs.candidates(V, W)
    touching_ = theirs.contacts(near_, V)
    lowest = float(touching.distance.min()), float(np.sqrt(touching_.compute_minimum_distance(theirs.mesh, V)))
    times = {
        "candidates": ({"a": lambda: ours.candidates(V, V), "b": lambda: theirs.candidates(V, V)}, len(near), len(near_)),
        "narrow phase": ({"a": lambda: ours.contacts(near, V), "b": lambda: theirs.contacts(near_, V)}, len(touching), len(touching_)),
        "gradient and Hessian": ({"a": lambda: ours.derivatives(touching, V), "b": lambda: theirs.derivatives(touching_, V)}, "", ""),
        "candidates of a way": ({"a": lambda: ours.candidates(V, W), "b": lambda: theirs.candidates(V, W)}, len(way), len(way_)),
        "CCD": ({"a": lambda: ours.free_part(way, V, W), "b": lambda: theirs.free_part(way_, V, W)},
                f"t = {ours.free_part(way, V, W):.4f}", f"t = {theirs.free_part(way_, V, W):.4f}"),
    }  # fmt: skip
    rows = []
    for stage, (work, mine, other) in times.items():
        t = least(work, turns)
        rows.append([stage, f"{1e3 * t['a']:.1f}", f"{1e3 * t['b']:.1f}", f"{t['b'] / t['a']:.2f} x", mine, other])
    print(f"{len(V)} vertices; least distance {1e3 * lowest[0]:.6f} mm, ipctk {1e3 * lowest[1]:.6f}; its broad phases, ms:",
          {name: round(1e3 * t, 1) for name, t in phases.items()})  # fmt: skip
    print(table(("stage", "ours ms", "ipctk ms", "takes", "ours: number", "ipctk"), rows))
    print(machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())
