"""`Observation`: everything derived at one state; and reactions where constraints are redundant.

Where rows repeat each other, multipliers can be shifted along null vectors without any body noticing. The reactions reported are those of
least norm over all joint frames, torques in N m and forces in N. Where joints have friction, motion depends on who bears what, so it must
not depend on units: there `bearings` tell what forces [N] a joint's wrench is borne by, α_j = B_j w_j, and Σ |α_j|² is least. That is how
bearings would share whose points give way alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from unibody.coordinates.constraint_layout import ConstraintLayout
from unibody.coordinates.workspace import ARMATURE, LEDGER, RESIDUAL, V_WB, X_WB
from unibody.element import DAMPER_POWER, SPRING_ENERGY
from unibody.errors import ModelError
from unibody.model.model import JointInfo
from unibody.spatial.pose import quaternions_from_rotations


@dataclass
class Touching:
    """n contacts, by which `bodies` (n, 2), numbers in the model, touch each other. Forces act on the first, and back on the second."""

    points: np.ndarray
    """(n, 3) in the world [m], half way between the two."""
    bodies: np.ndarray
    normals: np.ndarray
    """(n, 3) unit, from the second body to the first."""
    gaps: np.ndarray
    """(n,) [m]"""
    normal_forces: np.ndarray
    """(n,) [N], ≥ 0 but for damped contacts that part."""
    friction: np.ndarray
    """(n, 3) [N], across the normal."""
    sliding: np.ndarray
    """(n,) whether it slips faster than the solver's slip speed; else it sticks."""
    impulses: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    """(n, 3) of impacts, on the first body [N s]: of contacts that came together within the step; 0 of those that rest. What a step with
    an impact gives beside it, weight times dt, is part of it. Solvers in which bodies bounce on a barrier or a spring leave it at 0."""
    approach: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(n,) the speed [m/s] with which they hit; 0 of those that rest."""

    def __post_init__(self) -> None:
        if len(self.impulses) != len(self.gaps):
            self.impulses, self.approach = np.zeros((len(self.gaps), 3)), np.zeros(len(self.gaps))

    @property
    def hits(self) -> np.ndarray:
        """(n,) which are impacts."""
        return self.approach > 0.0

    @property
    def forces(self) -> np.ndarray:
        """(n, 3) the whole force on the first body [N]."""
        return self.normal_forces[:, None] * self.normals + self.friction

    def on(self, body: int) -> np.ndarray:
        """(3,) the sum of all contact forces on a body, by its number in the model [N]."""
        if not isinstance(body, int | np.integer):
            raise ModelError(f"contact forces on {body!r}: give the number of a body, model.body(name)")
        return self.forces[self.bodies[:, 0] == body].sum(axis=0) - self.forces[self.bodies[:, 1] == body].sum(axis=0)

    def __len__(self) -> int:
        return len(self.gaps)


@dataclass
class JointFrictionState:
    """Friction in one joint over the step that ended here."""

    effort: np.ndarray
    """(nv,) [N m or N], positive where it pushes the joint forward."""
    normal_forces: np.ndarray
    """(points,) what each contact point carries [N], ≥ 0."""
    friction: np.ndarray
    """(points, 1 or 2) on the child along the tangents [N]."""
    bound: float
    """The largest effort [N m or N] that the joint's load allows; of a ball, the sum over its points [N]."""
    sliding: bool
    reaction: np.ndarray
    """(6,) torque then force on the child at M, in M's axes: the part of the joint's reaction that does no work."""
    multipliers: np.ndarray
    """(points, 1 or 2) of the contacts that hold it [N], along normals into the child; those of a point sum to its normal force."""


class Reactions(NamedTuple):
    """What joints and rows do to the bodies at the last evaluation: wrenches (joints, 6), whole and without work; null
    vectors of the rows; multipliers by element; and, of reduced coordinates, kinetic and gravity energy [J] on the way."""

    reactions: np.ndarray
    constraint: np.ndarray
    null: np.ndarray
    multipliers: dict[str, np.ndarray]
    kinetic: float = 0.0
    gravity: float = 0.0


@dataclass
class Observation:
    """Everything derived at one state. Arrays run over bodies (the world first) or joints, in the model's order."""

    time: float
    poses: np.ndarray
    """(bodies, 7): p_WB then wxyz."""
    twists: np.ndarray
    """(bodies, 6): angular then linear, world axes, at the body's origin."""
    joint_q: np.ndarray
    joint_v: np.ndarray
    kinetic: float
    gravity: float
    springs: float
    powers: np.ndarray
    """(3,): of dampers, motors, applied wrenches, on the bodies [W]."""
    reactions: np.ndarray
    """(joints, 6): torque then force on the child at M, world axes: the whole wrench."""
    constraint_wrenches: np.ndarray
    """(joints, 6): the part of it that does no work."""
    violation: float
    redundant: int
    redundant_names: tuple[str, ...]
    iterations: int = 0
    """Of the linear solution of the step that ended here."""
    notes: tuple[str, ...] = ()
    """What the report should say of it."""
    work: np.ndarray = field(default_factory=lambda: np.zeros(3))
    multipliers: dict[str, np.ndarray] = field(default_factory=dict)
    """By constraint element, one per row: the force [N] or effort [N m] with which it acts along growing C."""
    contacts: Touching | None = None
    """Of solvers that know surfaces."""
    residual: float = 0.0
    """What was left where the step's solution ends at a tolerance."""
    joint_friction: dict[str, JointFrictionState] = field(default_factory=dict)
    """By the names of JointFriction elements."""
    material: np.ndarray | None = None
    """(bodies, 4, 3) of solvers whose bodies give way a little: t and the columns a₁ a₂ a₃ of A, where points x = t + A X really are."""
    vertices: np.ndarray | None = None
    """(vertices, 3) of all deformables, in the world [m]."""
    vertex_velocities: np.ndarray | None = None
    """(vertices, 3) [m/s]"""
    elastic: float = 0.0
    """What deformables store [J]."""
    vertex_reactions: np.ndarray | None = None
    """(vertices, 3) the forces with which what holds vertices acts on them [N]: attachments and prescribed motions; 0 on free ones."""
    vertex_contacts: np.ndarray | None = None
    """(vertices, 3) the forces of contacts and their friction on vertices [N]."""
    drive_work: float | None = None
    """What kinematic bodies and prescribed vertices have done so far [J]; None where no book is kept."""
    distance: float = float("inf")
    """The least gap between bodies that are near each other [m]."""

    def take_reactions(self, found: Reactions) -> None:
        """Take over what joints and rows did to the bodies over a step."""
        self.reactions, self.constraint_wrenches, self.multipliers = found.reactions, found.constraint, found.multipliers

    def take_facts(self, *, iterations: int, residual: float, minimum_distance: float, notes: tuple[str, ...]) -> None:
        """Take over what the report of a step says of its solution."""
        self.iterations, self.residual, self.distance, self.notes = iterations, residual, minimum_distance, notes


def observation_of(
    system: Any, t: float, joint_q: np.ndarray, joint_v: np.ndarray, found: Reactions, names: Sequence[str]
) -> Observation:
    """What follows from the last evaluation of a system and from what held its bodies; `names`: the elements of the rows that may repeat
    each other."""
    X, V, ledger = system.view(X_WB).reshape(-1, 12), system.view(V_WB).reshape(-1, 6), system.view(LEDGER)
    return Observation(
        time=t, poses=public_poses(X), twists=public_twists(X, V), joint_q=joint_q.copy(), joint_v=joint_v.copy(),
        kinetic=found.kinetic + 0.5 * float(np.sum(system.view(ARMATURE) * joint_v**2)), gravity=found.gravity,
        springs=float(ledger[SPRING_ENERGY]), powers=ledger[DAMPER_POWER : DAMPER_POWER + 3].copy(), reactions=found.reactions,
        constraint_wrenches=found.constraint, violation=largest_violation(system.view(RESIDUAL), system.constraints.unilateral),
        redundant=len(found.null), redundant_names=touched_names(names, found.null), multipliers=found.multipliers,
    )  # fmt: skip


def largest_violation(residual: np.ndarray, unilateral: np.ndarray) -> float:
    """The largest |C| [m or rad]; of rows C ≥ 0 only what lies below 0."""
    return float(np.abs(np.where(unilateral, np.minimum(residual, 0.0), residual)).max(initial=0.0))


def element_multipliers(constraints: ConstraintLayout, multipliers: np.ndarray) -> dict[str, np.ndarray]:
    """Multipliers by constraint element, from those of all constraint rows."""
    first, last = constraints.joint_rows, constraints.joint_rows + constraints.element_rows
    out: dict[str, list[float]] = {}
    for name, value in zip(constraints.names[first:last], multipliers[first:last], strict=True):
        out.setdefault(name, []).append(float(value))
    return {name: np.array(values) for name, values in out.items()}


def public_poses(X: np.ndarray) -> np.ndarray:
    """(n, 7) p and wxyz from (n, 12) rows R, p."""
    out = np.empty((len(X), 7))
    out[:, :3] = X[:, 9:]
    out[:, 3:] = quaternions_from_rotations(X[:, :9].reshape(-1, 3, 3))
    return out


def public_twists(X: np.ndarray, V: np.ndarray) -> np.ndarray:
    """(n, 6) twists in world axes from poses (n, 12) and body-fixed twists (n, 6)."""
    R = X[:, :9].reshape(-1, 3, 3)
    return np.concatenate([np.einsum("nij,nj->ni", R, V[:, :3]), np.einsum("nij,nj->ni", R, V[:, 3:])], axis=1)


def without_efforts(wrenches: np.ndarray, columns: np.ndarray, first: np.ndarray, count: np.ndarray) -> np.ndarray:
    """The parts of wrenches (joints, 6) that do no work along the joints' motions, their projections on the complements of these.

    Joint k has the motions columns[first[k] : first[k] + count[k]], rows of 6.
    """
    out = wrenches.copy()
    for n in np.unique(count[count > 0]):
        which = np.nonzero(count == n)[0]
        S = columns[first[which, None] + np.arange(n)]
        effort = np.linalg.pinv(S @ S.transpose(0, 2, 1), hermitian=True) @ (S @ wrenches[which, :, None])
        out[which] -= (S.transpose(0, 2, 1) @ effort)[:, :, 0]
    return out


Bearings = list[np.ndarray]
"""Of every joint, B (forces, 6): by which forces [N] a wrench at M in M's axes is borne."""


def null_shift(constraint: np.ndarray, null_wrenches: Sequence[np.ndarray], bearings: Bearings | None = None) -> np.ndarray:
    """What to subtract from constraint wrenches (joints, 6) so that nothing is left along the null vectors' wrenches; with bearings (in the
    axes of the wrenches), so that the forces in these are least."""
    if not len(null_wrenches):
        return np.zeros_like(constraint)
    N = np.stack(list(null_wrenches), axis=-1)
    if bearings is None:
        A, b = N.reshape(constraint.size, -1), constraint.ravel()
    else:
        A = np.concatenate([B @ n for B, n in zip(bearings, N, strict=True)])
        b = np.concatenate([B @ w for B, w in zip(bearings, constraint, strict=True)])
    return N @ np.linalg.lstsq(A, b, rcond=None)[0]


def bearings_in_world(bearings: Bearings | None, joints: Sequence[JointInfo], X: np.ndarray) -> Bearings | None:
    """The same for wrenches in world axes, at poses X (bodies, 12)."""
    if bearings is None:
        return None
    turns = (X[j.child, :9].reshape(3, 3) @ j.X_BM.R for j in joints)
    return [(B.reshape(-1, 2, 3) @ R.T).reshape(-1, 6) for B, R in zip(bearings, turns, strict=True)]


def touched_names(names: Sequence[str], null_vectors: np.ndarray) -> tuple[str, ...]:
    """The elements whose rows take part in a null vector, each once."""
    if not null_vectors.size:
        return ()
    used = np.abs(null_vectors).max(axis=0) > 1e-6
    return tuple(dict.fromkeys(n for n, u in zip(names, used, strict=True) if u))
