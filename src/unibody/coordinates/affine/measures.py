"""Measures in affine coordinates: C(y₀ … y₃) of vectors that are linear in them, yᵢ = Q_aᵀ uᵢ + Q_bᵀ wᵢ.

With gᵢ = ∂C/∂yᵢ and Hᵢⱼ = ∂²C/∂yᵢ∂yⱼ (`unibody.measure`) the derivatives are ∂C/∂Q_a = Σ uᵢ ⊗ gᵢ and ∂²C/∂Q_a∂Q_b = Σ uᵢ wⱼᵀ ⊗ Hᵢⱼ. No
polar projection comes in: they are as exact as the coordinates.

Record of a measure, WIDTH numbers: u₀ … u₃, then w₀ … w₃, on the first and the second body of its pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unibody.coordinates.affine.rows import JointPart
from unibody.kernel import Floats, Ints, device, kernel
from unibody.measure import Measure, measure_value, store_slope
from unibody.spatial.pose import Pose

WIDTH = 32


@device
def measured_vector(vectors, k, i, Q, a, b):
    """yᵢ of measure k, on bodies whose numbers begin at a and b."""
    u = WIDTH * k + 4 * i
    w = u + 16
    x, y, z = 0.0, 0.0, 0.0
    for p in range(4):
        f = vectors[u + p]
        g = vectors[w + p]
        x += f * Q[a + 3 * p] + g * Q[b + 3 * p]
        y += f * Q[a + 3 * p + 1] + g * Q[b + 3 * p + 1]
        z += f * Q[a + 3 * p + 2] + g * Q[b + 3 * p + 2]
    return (x, y, z)


@device
def measured_vectors(vectors, k, Q, a, b):
    """y₀ … y₃ of measure k."""
    return (
        measured_vector(vectors, k, 0, Q, a, b), measured_vector(vectors, k, 1, Q, a, b),
        measured_vector(vectors, k, 2, Q, a, b), measured_vector(vectors, k, 3, Q, a, b),
    )  # fmt: skip


@kernel
def fill_measures(kind: Ints, pair: Ints, vectors: Floats, near: Floats, Q: Floats, value_out: Floats) -> None:
    """C of every measure that has a kernel."""
    for k in range(kind.size):
        if kind[k] < 0:
            continue
        a = 12 * pair[2 * k]
        b = 12 * pair[2 * k + 1]
        y0, y1, y2, y3 = measured_vectors(vectors, k, Q, a, b)
        value_out[k] = measure_value(kind[k], y0, y1, y2, y3, near[k])


@kernel
def fill_slopes(kind: Ints, pair: Ints, vectors: Floats, Q: Floats, slope_out: Floats) -> None:
    """g₀ … g₃ (12) of every measure that has a kernel."""
    for k in range(kind.size):
        if kind[k] < 0:
            continue
        a = 12 * pair[2 * k]
        b = 12 * pair[2 * k + 1]
        y0, y1, y2, y3 = measured_vectors(vectors, k, Q, a, b)
        store_slope(kind[k], y0, y1, y2, y3, 12 * k, slope_out)


@kernel
def fill_gradients(kind: Ints, vectors: Floats, slope: Floats, gradient_out: Floats) -> None:
    """∂C/∂Q (24: twelve for each body of the pair) of every measure, from its slopes."""
    for k in range(kind.size):
        for side in range(2):
            for p in range(4):
                for r in range(3):
                    total = 0.0
                    for i in range(4):
                        total += vectors[WIDTH * k + 16 * side + 4 * i + p] * slope[12 * k + 3 * i + r]
                    gradient_out[24 * k + 12 * side + 3 * p + r] = total


@dataclass(frozen=True)
class BodyMeasure:
    """A measure between two affine bodies, its vectors (4, 4) in their axes."""

    measure: Measure
    first: int
    second: int


def between_bodies(measure: Measure, first: int, second: int, X_first: Pose | None = None, X_second: Pose | None = None) -> BodyMeasure:
    """A measure between frames that are fixed in two bodies; without frames, between the bodies themselves."""
    on_first, on_second = _fixed(measure.on_first, X_first), _fixed(measure.on_second, X_second)
    return BodyMeasure(replace(measure, on_first=on_first, on_second=on_second), first, second)


def joint_measures(part: JointPart) -> dict[int, BodyMeasure]:
    """Of a joint between affine bodies: place in its q → the measure that is this coordinate, for those that have one."""
    return {k: between_bodies(m, part.child, part.parent, part.X_BM, part.X_PF) for k, m in part.element.measures().items()}


def _fixed(vectors: np.ndarray, X: Pose | None) -> np.ndarray:
    """Homogeneous vectors (n, 4) of a frame in the axes of the body that it is fixed in."""
    return vectors if X is None else np.array([[v[0], *(X.R @ v[1:] + v[0] * np.asarray(X.p))] for v in vectors])


class MeasureTable:
    """Measures between affine bodies, as kernels see them; those without a kernel are asked one by one."""

    def __init__(self, given: Sequence[BodyMeasure]):
        measures = [m.measure for m in given]
        self.kind = np.array([m.kind for m in measures], np.int64)
        self.pair = np.array([(m.first, m.second) for m in given], np.int64).reshape(-1, 2)
        self.vectors = np.concatenate([np.zeros(0), *(np.concatenate([m.on_first.ravel(), m.on_second.ravel()]) for m in measures)])
        self.flip, self.offset = np.array([m.flip for m in measures]), np.array([m.offset for m in measures])
        self.flat = self.pair.ravel()
        self.own = [(k, m) for k, m in enumerate(measures) if m.kind < 0]
        """Those that NumPy evaluates, with their numbers."""

    def __len__(self) -> int:
        return len(self.kind)

    def vectors_of(self, k: int, x: np.ndarray) -> np.ndarray:
        """y (4, 3) of measure k at coordinates x (flat)."""
        u, w = self.vectors[WIDTH * k : WIDTH * (k + 1)].reshape(2, 4, 4)
        Q = x.reshape(-1, 4, 3)
        return u @ Q[self.pair[k, 0]] + w @ Q[self.pair[k, 1]]

    def values(self, x: np.ndarray, near: np.ndarray) -> np.ndarray:
        """C of all measures at coordinates x (flat); turns nearest to `near`."""
        out = np.empty(len(self))
        fill_measures(self.kind, self.flat, self.vectors, near, x, out)
        for k, measure in self.own:
            out[k] = measure.value(self.vectors_of(k, x), float(near[k]))
        return out

    def coordinates(self, x: np.ndarray, near: np.ndarray) -> np.ndarray:
        """What the measures stand for, flip (C − offset), nearest to the coordinates `near`."""
        return self.flip * (self.values(x, self.flip * near + self.offset) - self.offset)

    def slopes(self, x: np.ndarray) -> np.ndarray:
        """∂C/∂y (12 each, flat)."""
        out = np.empty(12 * len(self))
        fill_slopes(self.kind, self.flat, self.vectors, x, out)
        for k, measure in self.own:
            out[12 * k : 12 * k + 12] = np.ravel(measure.slope(self.vectors_of(k, x)))
        return out

    def gradients(self, x: np.ndarray) -> np.ndarray:
        """(n, 2, 4, 3) ∂C/∂Q of the first and the second body."""
        out = np.empty(24 * len(self))
        fill_gradients(self.kind, self.vectors, self.slopes(x), out)
        return out.reshape(-1, 2, 4, 3)
