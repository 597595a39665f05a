"""What a system is: a model bound to arrays, in coordinates of its own.

    q, v     coordinates and velocities: the system's own, then those of joints that are fitted to them (nq_all, nv_all numbers)
    X_WB(q)  poses of bodies,      V = P(q) v + V_0(t)   twists in body axes at origins; V_0 is the motion of what is driven
    push     V = P v               pull  τ = Pᵀ F        the same power on both sides: τ·v = F·V
    advance  q ⊕ h v               evaluate  v̇ = a(t, q, v, control)

Rules, solvers and recordings ask a system by these names only. Its arrays stand in arenas (`unibody.arena`) with slots that it declares
beside itself, behind those of `coordinates.workspace`, which anybody may read; compiled loops take the arenas and the addresses of its
stages. Systems of reduced and maximal coordinates are made of tables (`TabledSystem`). A system that adds something to one of them
(implicit steps, impulses, penalty forces) *has* it and shares its arrays (`SystemAround`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from unibody.arena import Arenas, HoldsAddresses, SlotBlock
from unibody.coordinates.constraint_layout import ConstraintLayout
from unibody.coordinates.observation import Bearings, Observation
from unibody.coordinates.tables import ElementTables
from unibody.coordinates.workspace import CLASSES, INDEX, PARAMETERS, RANK, Y
from unibody.joints.table import advance_joints
from unibody.model.model import Model
from unibody.model.state import State
from unibody.model.tables import CallbackErrors


@runtime_checkable
class System(Protocol):
    """A model bound to arrays. `evaluate` and `observe` may fit the joints behind the own coordinates in place; nothing else that is given
    is written, but for q in `advance`."""

    model: Model
    constraints: ConstraintLayout
    """The rows of joints and constraint elements."""
    callback_errors: CallbackErrors
    """What went wrong in NumPy methods of elements."""
    python_classes: list[str]
    """Classes of elements that run by callbacks."""
    layout: np.ndarray
    ints: np.ndarray
    constants: np.ndarray
    work: np.ndarray

    def view(self, slot: int, /) -> np.ndarray:
        """The memory of a slot."""
        ...

    @property
    def nq_all(self) -> int:
        """Own coordinates and those of fitted joints."""
        ...

    @property
    def nv_all(self) -> int:
        """Own velocities and those of fitted joints."""
        ...

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """q and v at the start of the model."""
        ...

    def convert(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Own coordinates and velocities of a state of any coordinates."""
        ...

    def prepare(self, dt: float) -> None:
        """Before steps of length dt, or looks at an instant (inf): no feedback then."""
        ...

    def stages(self, control: np.ndarray) -> np.ndarray:
        """Addresses of what compiled loops call (`coordinates.stages`) under this control."""
        ...

    def evaluate(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, loads: bool = False) -> None:
        """Accelerations at a state, in slot Y; `loads`: wrenches and energies of forces in any case."""
        ...

    def advance(self, q: np.ndarray, v: np.ndarray, h: float) -> None:
        """q along constant own velocities for a time h, in place."""
        ...

    def push(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(bodies, 6) twists P v of own velocities, in body axes at origins; driven bodies as at the last evaluation."""
        ...

    def pull(self, q: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
        """Pᵀ F of wrenches (bodies, 6) in body axes at origins."""
        ...

    def observe(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state."""
        ...

    def rank(self) -> tuple[int, int]:
        """Rank and number of the rows that were closed at the last evaluation."""
        ...

    def notes(self) -> tuple[str, ...]:
        """What a report should say of this model."""
        ...

    def culprit(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> str:
        """The element whose acceleration is the first that is not finite, or the largest."""
        ...


class Dynamics(System, Protocol):
    """A system that others are made around."""

    bearings: Bearings | None
    callback_notes: tuple[str, ...]

    def at_fault(self) -> str:
        """What `culprit` answers, at the last evaluation."""
        ...


class TabledSystem(HoldsAddresses):
    """What systems that are made of tables alone share: arenas of a model's tables with `more` slots, all of them declared in a block."""

    def __init__(self, tables: ElementTables, more: Mapping[int, Any], block: SlotBlock):
        self.model, self.constraints, self.clock = tables.model, tables.constraints, tables.clock
        self.callback_errors, self.python_classes = tables.callback_errors, sorted(tables.python_classes)
        self.callback_notes = (f"Python callbacks: {', '.join(self.python_classes)}",) if self.python_classes else ()
        """What reports say of elements that run by callbacks."""
        self.signal_address = tables.signal_address
        """The address of what fills the functions of time; 0 if there are none."""
        self.arenas = Arenas(block, {**tables.slots, **more})
        self.layout, self.ints, self.constants, self.work = self.arenas.layout, self.arenas.ints, self.arenas.constants, self.arenas.work
        self.view = self.arenas.view
        self.bearings: Bearings | None = None
        """What shares loads out where rows repeat each other, if friction asks for it."""
        self.feedback_time: float | None = None
        """[s] Within which rows are met; None: some steps (`loop_closure`)."""

    def advance(self, q: np.ndarray, v: np.ndarray, h: float) -> None:
        """q along v for a time h; in place."""
        advance_joints(self.view(CLASSES), self.view(INDEX), self.view(PARAMETERS), q, v, h, q)

    def rank(self) -> tuple[int, int]:
        """Rank and number of the auxiliary rows at the last evaluation."""
        return (int(self.view(RANK)[0]), self.constraints.auxiliary) if self.constraints.auxiliary else (0, 0)

    def notes(self) -> tuple[str, ...]:
        """What a report should say of this model."""
        return self.callback_notes

    def worst(self) -> int:
        """The velocity whose acceleration at the last evaluation is the first that is not finite, or the largest."""
        y = self.view(Y)
        bad = np.flatnonzero(~np.isfinite(y))
        return int(bad[0]) if bad.size else int(np.argmax(np.abs(y))) if y.size else 0


D = TypeVar("D", bound=Dynamics)


class SettingInside:
    """A setting of the system inside, read and written there: put on the outer one alone, nobody would see it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, outer: Any, owner: type | None = None) -> Any:
        return self if outer is None else getattr(outer.dynamics, self.name)

    def __set__(self, outer: Any, value: Any) -> None:
        if not hasattr(outer.dynamics, self.name):
            raise AttributeError(f"{type(outer).__name__}: {type(outer.dynamics).__name__} inside has no setting {self.name}")
        setattr(outer.dynamics, self.name, value)


class SystemAround(HoldsAddresses, Generic[D]):
    """A system that has another, `dynamics`: the same arrays, coordinates and rows. What it does otherwise it says itself."""

    feedback_time, momenta, k_v, k_q = SettingInside(), SettingInside(), SettingInside(), SettingInside()

    def __init__(self, dynamics: D):
        self.dynamics = dynamics
        self.model, self.constraints = dynamics.model, dynamics.constraints
        self.callback_errors, self.python_classes = dynamics.callback_errors, dynamics.python_classes
        self.callback_notes = dynamics.callback_notes
        self.layout, self.ints, self.constants, self.work = dynamics.layout, dynamics.ints, dynamics.constants, dynamics.work
        self.view, self.start, self.convert, self.rank = dynamics.view, dynamics.start, dynamics.convert, dynamics.rank
        self.nq_all, self.nv_all = dynamics.nq_all, dynamics.nv_all
        self.advance, self.push, self.pull = dynamics.advance, dynamics.push, dynamics.pull

    def prepare(self, dt: float) -> None:
        """Before steps of length dt."""
        self.dynamics.prepare(dt)

    def stages(self, control: np.ndarray) -> np.ndarray:
        """Addresses of the stages."""
        return self.dynamics.stages(control)

    def evaluate(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, loads: bool = False) -> None:
        """Fill the work space at a state."""
        self.dynamics.evaluate(t, q, v, control, loads)

    def observe(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state."""
        return self.dynamics.observe(t, q, v, control)

    def notes(self) -> tuple[str, ...]:
        """What a report should say of this model."""
        return self.callback_notes

    def culprit(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> str:
        """The element whose acceleration is the first that is not finite, or the largest."""
        self.evaluate(t, q, v, control)
        return self.dynamics.at_fault()
