"""What time stepping asks of a moving model, whatever its coordinates: its motion, its rows, and how it responds to impulses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from unibody.algebra.contact.delassus import DelassusFactors
from unibody.constraints.dry_friction_rows import DryFrictionRows
from unibody.coordinates.constraint_layout import ConstraintLayout
from unibody.coordinates.observation import Reactions
from unibody.coordinates.system import Dynamics, System
from unibody.model.model import Model
from unibody.stepping.body_motion import BodyMotion
from unibody.stepping.islands import Islands
from unibody.stepping.stiction import Stiction


@dataclass(frozen=True)
class ConstraintRows:
    """Rows of loops and constraint elements at a state: C, Ċ, and C̈ of the motion that nothing holds; how they meet the velocities and
    how these respond to impulses along them, in islands."""

    residual: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray
    rows: DelassusFactors
    islands: Islands

    @cached_property
    def J(self) -> np.ndarray:
        """(k, nv) whole, in the order of the system's velocities."""
        return self.rows.wholes()[0][:, self.islands.place]

    @cached_property
    def Y(self) -> np.ndarray:
        """(k, nv) M⁻¹ Jᵀ whole."""
        return self.rows.wholes()[1][:, self.islands.place]

    def load(self, impulses: np.ndarray) -> np.ndarray:
        """(nv,) Jᵀ λ."""
        return self.rows.pull(impulses)[self.islands.place]


@runtime_checkable
class ImpulseDynamics(System, Protocol):
    """A system whose rows, beside those of joints that it holds by itself, are solved elsewhere, together with contacts: what time stepping
    asks of it. `look` comes first; all that follows is of the state looked at last. Wrenches are impulses (bodies, 6) in world axes at
    centres of mass, `impulses` those along the rows."""

    moving: np.ndarray
    """(bodies,) which are moved by forces."""
    islands: Islands
    """Which velocities respond to each other."""
    coriolis: np.ndarray
    """Which velocities have terms that are taken in the middle of a step; empty if none."""

    @property
    def dynamics(self) -> Dynamics:
        """The bodies and joints inside."""
        ...

    def look(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, change: np.ndarray | None = None) -> bool:
        """Evaluate the motion that nothing else holds; whether it is finite. `change`: by how much the velocities with `coriolis`
        terms will have changed in the middle of the step."""
        ...

    def poses(self) -> np.ndarray:
        """(bodies, 12) X_WB."""
        ...

    def motion(self) -> BodyMotion:
        """How bodies move, with their accelerations."""
        ...

    def turning(self) -> np.ndarray | None:
        """(bodies, 6) the part J̇ v of their rates, in world axes at centres of mass; None where it is not known."""
        ...

    def constraint_rows(self) -> ConstraintRows:
        """Rows of loops and constraint elements, and how velocities respond to them."""
        ...

    def respond(self, front: DelassusFactors, bodies: np.ndarray, wrenches: np.ndarray) -> DelassusFactors:
        """The blocks of `front`, then J and M⁻¹ Jᵀ of rows that are wrenches (k, rows, 2, 6) on pairs of bodies (k, 2)."""
        ...

    def change(self, impulses: np.ndarray, constraints: ConstraintRows, wrenches: np.ndarray) -> np.ndarray:
        """What impulses do to the velocities."""
        ...

    def carried(self, impulses: np.ndarray, constraints: ConstraintRows, wrenches: np.ndarray) -> np.ndarray:
        """(bodies, 6) what they do to twists, in world axes at centres of mass."""
        ...

    def apply_impulses(self, impulses: np.ndarray, constraints: ConstraintRows, wrenches: np.ndarray, h: float) -> None:
        """Add what impulses over a step h do to the accelerations that `kick` reads."""
        ...

    def accelerate(self, impulses: np.ndarray, constraints: ConstraintRows, wrenches: np.ndarray, h: float) -> None:
        """Add it to all accelerations, and to the loads or multipliers from which reactions follow."""
        ...

    def through(self) -> Reactions:
        """Reactions from the accelerations, loads and multipliers at hand."""
        ...

    def kick(self, h: float, q: np.ndarray, v: np.ndarray) -> None:
        """v by h times the accelerations, q along the new v; in place."""
        ...

    def kick_onto(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, projected: np.ndarray, constraints: ConstraintRows,
        stiction: Stiction | None = None,
    ) -> None:  # fmt: skip
        """The same, to t, carrying along the rows that are `projected`, and what sticks."""
        ...

    def move_apart(self, q: np.ndarray, v: np.ndarray, way: np.ndarray, h: float) -> None:
        """q along pseudo-velocities for a time h, in which bodies keep their courses; in place."""
        ...

    def project(
        self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, projected: np.ndarray, constraints: ConstraintRows,
        stiction: Stiction | None = None,
    ) -> None:  # fmt: skip
        """Bring q and v back onto the rows that are `projected`, and what sticks to where it was; in place."""
        ...


def row_bounds(model: Model, constraints: ConstraintLayout) -> np.ndarray:
    """(k,) the bound of the multiplier of every row beyond the primary ones; infinite where there is none."""
    out, elements = np.full(constraints.rows, np.inf), dict(model.constraints)
    for name in dict.fromkeys(constraints.names[constraints.joint_rows : constraints.joint_rows + constraints.element_rows]):
        element = elements[name]
        if isinstance(element, DryFrictionRows):
            out[[r for r, n in enumerate(constraints.names) if n == name and r >= constraints.joint_rows]] = element.bounds
    return out[constraints.primary_rows :]


def holding_rows(model: Model, constraints: ConstraintLayout) -> np.ndarray:
    """(k,) which rows beyond the primary ones are equations."""
    return ~np.array(constraints.unilateral[constraints.primary_rows :], bool) & np.isinf(row_bounds(model, constraints))
