"""What elements do to affine bodies, as the steps and the record take it: a value, wrenches, efforts, multipliers; scales of a model."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from unibody.errors import ModelError
from unibody.model import Model


@dataclass(frozen=True)
class Stiff:
    """Of the potentials that stand for constraints during one step."""

    scale: float
    """s [1/s²]"""
    step: float
    """h [s]"""
    gravity: float
    """|g| [m/s²]"""


@dataclass
class ElementPull:
    """A value; its negative gradient: wrenches (bodies, 6) in body axes, of which the efforts of joints (nv) are a part; positive blocks
    by pairs of bodies; for the record, wrenches that hold joints together (6, M's axes) and multipliers of constraints."""

    value: float
    wrench: np.ndarray
    efforts: np.ndarray
    blocks: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)
    holding: dict[int, np.ndarray] = field(default_factory=dict)
    multipliers: dict[str, np.ndarray] = field(default_factory=dict)
    stored: float = 0.0
    """Of the value, what forces store (springs)."""
    violation: float = 0.0
    """The largest |C|, or of C ≥ 0 what is below [m or rad]."""

    @staticmethod
    def of(model: Model) -> ElementPull:
        return ElementPull(0.0, np.zeros((model.n_bodies, 6)), np.zeros(model.nv_joints))

    def add_block(self, a: int, b: int, block: np.ndarray) -> None:
        known = self.blocks.get((a, b))
        self.blocks[a, b] = block if known is None else known + block

    def join(self, other: ElementPull) -> ElementPull:
        """Both together, without blocks."""
        out = ElementPull(self.value + other.value, self.wrench + other.wrench, self.efforts + other.efforts)
        out.holding, out.multipliers = {**self.holding, **other.holding}, {**self.multipliers, **other.multipliers}
        out.stored, out.violation = self.stored + other.stored, max(self.violation, other.violation)
        return out


def scales(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """By body: the mass of all that joints connect to it, and √(tr I / m); 0 for those that do not move."""
    n = model.n_bodies
    moves = np.array([b.kind == "dynamic" for b in model.bodies])
    pairs = np.array([(j.child, j.parent) for j in model.joints if moves[j.child] and moves[j.parent]], int).reshape(-1, 2)
    _, group = sp.csgraph.connected_components(sp.coo_matrix((np.ones(len(pairs)), pairs.T), shape=(n, n)), directed=False)
    own = np.array([b.mass if move else 0.0 for b, move in zip(model.bodies, moves, strict=True)])
    arm = [np.sqrt(np.trace(b.inertia) / b.mass) if move and b.mass > 0.0 else 0.0 for b, move in zip(model.bodies, moves, strict=True)]
    return np.bincount(group, own, n)[group] * moves, np.array(arm)


def refuse_start(name: str, outside: float, unit: str) -> None:
    """A range that is not open at the start."""
    where = f"outside its range by {outside:.3g} {unit}" if outside > 0.0 else "exactly on the bound of its range"
    raise ModelError(f"'{name}' is {where} at the start, where a barrier has no room; start inside the range, or widen it")
