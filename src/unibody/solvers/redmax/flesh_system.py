"""RedMax on a model with deformables: their arrays behind its own, and the stages that carry them.

    q = (joints of the tree, joints fitted to loops, free vertices)         v alike

The masses of vertices that are attached to bodies are part of these bodies, in all tables.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.algebra.tree.aba import ROW
from unibody.coordinates.kick import kick_reduced
from unibody.coordinates.observation import Observation
from unibody.coordinates.reduced.observe import observe_reduced
from unibody.coordinates.reduced.tables import ReducedTables
from unibody.coordinates.reduced.workspace import FLOATING, FREE, IMPLICIT_CHOICE, IMPLICIT_F, OWN, ROWS, STEP_LENGTH, X_SOLVED
from unibody.coordinates.signals import FillSignals, signal_function
from unibody.coordinates.stages import FACTOR_STAGE, FORCE_STAGE, IMPLICIT_STAGE, KICK_STAGE, PROJECT_STAGE, SEE_STAGE, SOLVE_STAGE
from unibody.coordinates.workspace import LOAD, MASSES, RESPONSE_X, V_WB, X_WB, F
from unibody.energies.base import VALUE
from unibody.energies.evaluate import EnergyTables
from unibody.model.deformable import DeformableInfo
from unibody.model.deformed import rate_of
from unibody.model.implicit_tables import ImplicitTables
from unibody.model.model import Model
from unibody.solvers.redmax.flesh_kkt import PaperForm
from unibody.solvers.redmax.flesh_rows import load_rows_on_bodies, project_with_points, see_rows_with_points, solve_with_points
from unibody.solvers.redmax.flesh_step import fill_implicit_with_flesh, kick_with_vertices, recover_vertices
from unibody.solvers.redmax.flesh_tables import FleshTables, VertexTables, with_vertex_masses
from unibody.solvers.redmax.flesh_vertices import load_with_vertices, place_vertices

from unibody.solvers.redmax.flesh_workspace import (  # isort: skip
    CORRECTING, FLESH, FLESH_ADDRESSES, FLESH_CHOICE, KKT, PRESCRIBED_X, REDUCED, ROWS_ALONE, ROW_FORCE, ROW_MOTION, ROW_REDUCED, ROW_STATE,
    ROW_UNKNOWNS, ROW_WRENCH, UNKNOWNS, VERTEX_A, VERTEX_V, VERTEX_X,
)  # fmt: skip
from unibody.solvers.redmax.matrix import SINGLE
from unibody.solvers.redmax.system import ALONE, RedMaxSystem
from unibody.solvers.redmax.workspace import SIDE_F


def mean_rate(motion: Any, now: np.ndarray, t: float, h: float) -> np.ndarray:
    """The velocities that steps of length h leave at t of what a motion prescribes: means over the last one; at a start, the motion's."""
    return (now - motion(t - h)) / h if t - h > -0.5 * h else rate_of(motion, t)


def rate_of_rate(motion: Any, t: float, step: float = 1e-4) -> np.ndarray:
    """Accelerations of a motion: those of its Table, else the difference of velocities forwards."""
    exact = motion.derivatives(t) if hasattr(motion, "derivatives") else None
    return exact[1] if exact is not None else (rate_of(motion, t + step) - rate_of(motion, t)) / step


class FleshSystem(RedMaxSystem):
    """A model with deformables for RedMax."""

    block = FLESH
    always_implicit = True
    at_ends = False
    """Whether prescribed vertices have the velocities of the instant, as fully implicit rules ask, not means over steps."""

    def __init__(self, model: Model, *options: Any):
        self.whole = model
        self.form = PaperForm() if options and options[0] == "kkt" else None
        on_points = any(model.body(name) >= model.n_bodies for _, c in model.constraints for name in c.bodies())
        self.row_by_row = on_points or self.form is not None
        super().__init__(model, *options)
        if self.form is not None:
            self.form.system = self
            self.view(FLESH_CHOICE)[KKT] = 1.0
        self.dynamics.model = self.model = model  # not that with vertices' masses, of which only tables know
        self.vertices = self.flesh.vertices
        more = 3 * len(self.vertices.free)
        self.nq_all, self.nv_all = self.dynamics.nq_all + more, self.dynamics.nv_all + more
        self.start = self._start
        self.free_at = slice(self.dynamics.nq_all, self.nq_all), slice(self.dynamics.nv_all, self.nv_all)
        """Where q and v hold the free vertices."""
        self._carry_prescribed()

    # tables

    def _tables(self, model: Model) -> ReducedTables:
        return ReducedTables(with_vertex_masses(model, VertexTables(model)))

    def _coupled(self, tables: ReducedTables) -> list[tuple[int, int]]:
        alone = ImplicitTables(self.whole, tables.callback_errors, tables.clock, self.explicit)
        self.flesh = FleshTables(self.whole, tables.callback_errors, [tuple(pair) for pair in alone.couplings.tolist()])
        tables.python_classes |= {cls.__name__ for cls in self.flesh.energies.python_classes}
        return self.flesh.body_pairs

    def _slots(self, tables: ReducedTables) -> dict[int, Any]:
        out, n = super()._slots(tables), self.whole.n_frames
        kick = kick_reduced.address if len(tables.slots[FREE]) or len(tables.slots[FLOATING]) else 0
        out |= self.flesh.slots(self.terms.couplings, kick)
        out |= {X_WB: 12 * n, V_WB: 6 * n, F: 6 * n, IMPLICIT_F: 6 * n, OWN: 21 * n}
        if self.row_by_row:
            k, points = self.constraints.rows, self.whole.n_frames - self.whole.n_bodies
            if self.form is not None:
                self.form.bind(tables.callback_errors)
            inner, recover = (0, self.form.recover_address) if self.form is not None else (ALONE[self.method].address, 0)
            out[FLESH_ADDRESSES] = np.array([kick, inner, recover], np.int64)
            unknowns, vertices = out[UNKNOWNS], 3 * self.whole.n_vertices
            out |= {LOAD: 6 * n, RESPONSE_X: 6 * n * k, X_SOLVED: 6 * n, SIDE_F: 6 * n, ROW_STATE: 1, ROW_FORCE: vertices}
            out |= {ROW_WRENCH: 6 * (n - points), ROW_REDUCED: unknowns, ROW_UNKNOWNS: unknowns}
            out[ROW_MOTION] = max(vertices, 6 * (n + points))
            out[ROWS] = np.concatenate([tables.slots[ROWS], np.zeros((points, ROW))])
            out[MASSES] = np.concatenate([tables.slots[MASSES], np.zeros((points, 2))])  # what rows on points alone do is their own measure
        return out

    def stages(self, control: np.ndarray, apart: bool = False) -> np.ndarray:
        """Those of RedMax; forces, implicit terms, rows on points and the end of a step carry vertices along."""
        stages = super().stages(control, apart)
        stages[FORCE_STAGE], stages[IMPLICIT_STAGE] = load_with_vertices.address, fill_implicit_with_flesh.address
        stages[KICK_STAGE] = kick_with_vertices.address
        if self.row_by_row:
            stages[SOLVE_STAGE], stages[SEE_STAGE] = solve_with_points.address, see_rows_with_points.address
            stages[PROJECT_STAGE] = project_with_points.address if stages[PROJECT_STAGE] and self.form is None else 0
            if self.form is not None:
                stages[FACTOR_STAGE], stages[SOLVE_STAGE] = self.form.factor_address, self.form.solve_address
        return stages

    def _accelerate_along_rows(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, met: np.ndarray) -> None:
        self.view(FLESH_CHOICE)[ROWS_ALONE] = 1.0
        super()._accelerate_along_rows(t, q, v, control, met)
        self.view(FLESH_CHOICE)[ROWS_ALONE] = 0.0

    def _carry_prescribed(self) -> None:
        """Have the functions of time that a step asks for tell of prescribed vertices, too."""
        moved = self.model.prescribed
        if not moved:
            return
        _, fill = signal_function(self.model, self.callback_errors, self.dynamics.clock)
        motion, choice, clock = self.view(PRESCRIBED_X).reshape(-1, 3, 3), self.view(IMPLICIT_CHOICE), self.dynamics.clock
        accelerations = self.view(VERTEX_A).reshape(-1, 3)
        starts = [self._starts[0][p.vertices] for p in moved]
        ends = np.cumsum([0, *(len(p.vertices) for p in moved)])

        def fill_all(t: float, signals: np.ndarray) -> None:
            motion[:] = np.nan
            if fill is None:
                clock[0] = t
            else:
                fill(t, signals)
            h = float(choice[STEP_LENGTH])
            for p, x0, a, b in zip(moved, starts, ends, ends[1:]):
                self.callback_errors.element = p.name
                motion[a:b] = 0.0
                motion[a:b, 0] = x0 if p.motion is None else p.motion(t)
                if p.motion is None:
                    continue
                stepping = 0.0 < h < np.inf and not self.at_ends
                if self.at_ends:
                    accelerations[p.vertices] = rate_of_rate(p.motion, t)
                motion[a:b, 2] = mean_rate(p.motion, motion[a:b, 0], t, h) if stepping else rate_of(p.motion, t)
                motion[a:b, 1] = (p.motion(t + h) - motion[a:b, 0]) / h if stepping else motion[a:b, 2]

        self.dynamics.signal_address = FillSignals.callback(self.callback_errors.guard(fill_all, 1))

    # coordinates

    @property
    def _starts(self) -> tuple[np.ndarray, np.ndarray]:
        """Where all vertices are at the start of the model, and how they move."""
        parts = self.whole.deformables
        return np.concatenate([d.x0 for d in parts]), np.concatenate([d.v0 for d in parts])

    def _start(self) -> tuple[np.ndarray, np.ndarray]:
        q, v = self.dynamics.start()
        x, u = (part[self.vertices.free].ravel() for part in self._starts)
        return np.concatenate([q, x]), np.concatenate([v, u])

    @property
    def own(self) -> np.ndarray:
        return np.concatenate([super().own, np.arange(self.nv_all)[self.free_at[1]]])

    def move(self, q: np.ndarray, v: np.ndarray, h: float, q_out: np.ndarray) -> None:
        super().move(q, v, h, q_out)
        q_out[self.free_at[0]] = q[self.free_at[0]] + h * v[self.free_at[1]]

    def difference(self, q_0: np.ndarray, q_1: np.ndarray) -> np.ndarray:
        return np.concatenate([super().difference(q_0, q_1), q_1[self.free_at[0]] - q_0[self.free_at[0]]])

    def weights(self) -> np.ndarray:
        mass = self.vertices.mass[self.vertices.free]
        return np.concatenate([super().weights(), np.repeat(np.sqrt(SINGLE * mass), 3)])

    # evaluation

    def observe(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state, but for what vertices add."""
        self.evaluate(t, q, v, control)
        return observe_reduced(self.dynamics, t, q[: self.dynamics.nq_all], v[: self.dynamics.nv_all])

    def advance_from(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> np.ndarray:
        """As for bodies alone, which vertices hand on what rows do to them."""
        y = super().advance_from(t, q, v, control)
        self._load_rows_on_bodies()
        return y

    def _load_rows_on_bodies(self) -> None:
        if self.form is not None:
            self.form.load_bodies()
        elif self.row_by_row:
            load_rows_on_bodies(self.layout, self.ints, self.constants, self.work)

    def correct(self, t: float, q: np.ndarray, v: np.ndarray, a: np.ndarray, aim: np.ndarray | None, control: np.ndarray) -> np.ndarray:
        """Of joints and free vertices."""
        n = len(self.model.free_vertices)
        self.view(VERTEX_A).reshape(-1, 3)[self.vertices.free] = a[a.size - 3 * n :].reshape(-1, 3)
        self.view(FLESH_CHOICE)[CORRECTING] = 1.0
        y = super().correct(t, q, v, a[: a.size - 3 * n], aim, control)
        self.view(FLESH_CHOICE)[CORRECTING] = 0.0
        self._load_rows_on_bodies()
        return np.concatenate([y, self.accelerations()[: 3 * n]])

    def normal_acceleration(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> np.ndarray:
        """Vertices feel rows by the masses alone that others on them share with bodies."""
        y = super().normal_acceleration(t, q, v, control)
        self.view(REDUCED)[:] = 0.0
        return np.concatenate([y, self.accelerations()[: 3 * len(self.vertices.free)]])

    def look_at_rest(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> None:
        """Poses, rows, loads and vertices at a state, of no step."""
        self.prepare(np.inf)
        self.view(IMPLICIT_CHOICE)[STEP_LENGTH] = 0.0
        self.look(t, q, v, control)

    def place(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(N, 3) places and velocities of all vertices at the state that was looked at last."""
        place_vertices(self.layout, self.ints, self.constants, q, v, self.work)
        return self.view(VERTEX_X).reshape(-1, 3).copy(), self.view(VERTEX_V).reshape(-1, 3).copy()

    def elastic(self, x: np.ndarray) -> float:
        """What deformables store with vertices at x [J]."""
        return self.flesh.energies.evaluate(x, VALUE)

    def elastic_of(self, d: DeformableInfo, x: np.ndarray) -> float:
        """What one of them stores [J]."""
        return EnergyTables([(s, d.first) for s in d.stencils], self.vertices.count).evaluate(x)

    def accelerations(self) -> np.ndarray:
        """a_f of free vertices and x_b of the bodies of the border, from the last solution; once a solution."""
        recover_vertices(self.layout, self.ints, self.constants, self.work)
        return self.view(UNKNOWNS).copy()
