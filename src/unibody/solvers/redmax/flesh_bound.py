"""What binding RedMax to a model with deformables gives: states hold the free vertices behind the joints, observations all vertices.

Forces on vertices that something holds (a body, a prescribed motion) follow from the step that ended at the state, as reactions of joints
do. With f⁺ all that matter, weight and elements do to a vertex at the end of the step,

    R = m a − f⁺,   f⁺ = f − (D + h K) v − h (D + h K) a + forces of elements

or, of the fully implicit rules, those of the end of the step itself, f⁺ = f − D v + forces of elements at its (x, v, a).
"""

from __future__ import annotations

import numpy as np

from unibody.coordinates.carried_vertices import free_vertices
from unibody.coordinates.convert import to_reduced
from unibody.coordinates.energy_balance import EnergyBalance
from unibody.coordinates.observation import Observation
from unibody.coordinates.reduced.observe import reactions_reduced
from unibody.coordinates.reduced.workspace import FLAT, STATUS
from unibody.errors import StepFailed
from unibody.model import State
from unibody.model.deformable import DeformableInfo
from unibody.solvers.redmax.flesh_reactions import load_driven, stage_reactions, vertex_reactions
from unibody.solvers.redmax.flesh_system import FleshSystem


class CarriesVertices:
    """The part of a bound solver that knows vertices: a class names it first, and then a bound solver."""

    system: FleshSystem
    nq: int
    nv: int

    # states: joints of the tree, then free vertices; memory ends with fitted joints, which stand between the two while a rule runs

    @property
    def _free(self) -> int:
        return 3 * len(self.system.vertices.free)

    def _unpack(self, state: State, memory: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first_q, first_v = self._fitted  # type: ignore[attr-defined]
        a, b = self.nq - self._free, self.nv - self._free
        q = np.concatenate([state.q[:a], memory[first_q:first_v], state.q[a:]])
        v = np.concatenate([state.v[:b], memory[first_v:], state.v[b:]])
        return q, v, memory[:first_q].copy()

    def _pack(self, t: float, q: np.ndarray, v: np.ndarray, kept: np.ndarray) -> tuple[State, np.ndarray]:
        a, b = self.nq - self._free, self.nv - self._free
        c, d = q.size - self._free, v.size - self._free
        memory = np.concatenate([kept, q[a:c], v[b:d]])
        return State(t, np.concatenate([q[:a], q[c:]]), np.concatenate([v[:b], v[d:]]), "reduced"), memory

    def start(self, state: State | None = None) -> tuple[State, np.ndarray]:
        """The model's start (or a given state, of any coordinates) and fresh memory."""
        q, v = self.system.start()
        model = self.system.model
        if state is not None:
            q[: model.nq], v[: model.nv] = to_reduced(model, state)
            x, u = free_vertices(model, state)
            q[q.size - x.size :], v[v.size - u.size :] = x, u
        return self._pack(0.0 if state is None else state.t, q, v, np.zeros(self._fitted[0]))  # type: ignore[attr-defined]

    # what is seen

    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state, vertices among it."""
        out = super().observe(state, memory, control)  # type: ignore[misc]
        system, model = self.system, self.system.model
        q, v, flat = self._unpack(state, memory)
        reactions = self._reactions_again(state, q, v, flat, control)
        if load_driven(system, reactions):
            out.take_reactions(reactions_reduced(system.dynamics))
        system.look_at_rest(state.t, q, v, control)
        x, u = system.place(q, v)
        n, own = model.n_bodies, system.vertices.free
        mass = system.vertices.mass[own]
        out.poses, out.twists = out.poses[:n], out.twists[:n]
        out.kinetic += 0.5 * float((mass[:, None] * u[own] ** 2).sum())
        out.gravity -= float((mass[:, None] * x[own] * model.gravity).sum())
        out.vertices, out.vertex_velocities, out.elastic = x, u, system.elastic(x)
        out.vertex_reactions, out.vertex_contacts = reactions, np.zeros_like(x)
        return out

    def _reactions_again(self, state: State, q: np.ndarray, v: np.ndarray, memory: np.ndarray, control: np.ndarray) -> np.ndarray:
        """(N, 3) forces of what holds vertices, of the step that ended at a state, or of the instant of a start, solved again."""
        kept, system = self.memory_schema.view(memory), self.system  # type: ignore[attr-defined]
        h = float(kept.step_length)
        if h > 0.0:
            system.prepare(h)
            system.view(STATUS)[FLAT] = kept.flattened
            system.advance_from(state.t - h, kept.begun_q.copy(), kept.begun_v.copy(), control)
            system.view(STATUS)[FLAT] = 0.0
        else:
            self._prepare_look(memory)  # type: ignore[attr-defined]
            system.evaluate(state.t, q, v, control)
        return vertex_reactions(system, state.t - h, h)

    def energies(self, state: State, memory: np.ndarray, control: np.ndarray) -> EnergyBalance:
        """Of bodies, then of deformables with all their vertices that forces move."""
        made = super().energies(state, memory, control)  # type: ignore[misc]
        system, model = self.system, self.system.model
        q, v, _ = self._unpack(state, memory)
        x, u = system.place(q, v)
        mass = system.vertices.moves()
        kinetic = np.bincount(system.vertices.owner, 0.5 * mass * (u**2).sum(axis=1), len(model.deformables))
        gravity = made.gravity - float((mass[:, None] * x * model.gravity).sum())
        springs = made.springs + system.elastic(x)
        return EnergyBalance(np.concatenate([made.kinetic, kinetic]), made.rotors, gravity, springs, made.supplied)

    def _joint_velocities(self, v: np.ndarray) -> np.ndarray:
        return v[: self.system.model.nv_joints]

    def failure(self, state: State, memory: np.ndarray, control: np.ndarray, t: float) -> StepFailed:
        """A step that could not be made because matter is, or comes, where it must not be, names the deformable."""
        if self.failed is None and self.system.callback_errors.error is None:  # type: ignore[has-type]
            q, v, _ = self._unpack(state, memory)
            self.system.look_at_rest(t, q, v, control)
            x, _ = self.system.place(q, v)
            if (d := self._inside_out(x)) is not None:
                why = f"a cell of {d.kind} '{d.name}' is turned inside out; try a smaller dt, material=CoRotated(…) or solver='barrier'"
                return self.failed_step(t, "inside out", d.name, why, **self.step_facts())  # type: ignore[attr-defined]
        return super().failure(state, memory, control, t)  # type: ignore[misc]

    def _inside_out(self, x: np.ndarray) -> DeformableInfo | None:
        """The first deformable that has no energy with vertices at x."""
        return next((d for d in self.system.model.deformables if not np.isfinite(self.system.elastic_of(d, x))), None)


class CarriesVerticesImplicitly(CarriesVertices):
    """The same for the fully implicit rules, whose forces are those at the end of a step."""

    def _reactions_again(self, state: State, q: np.ndarray, v: np.ndarray, memory: np.ndarray, control: np.ndarray) -> np.ndarray:
        kept, system = self.memory_schema.view(memory), self.system  # type: ignore[attr-defined]
        h = abs(float(kept.step_length))
        if h == 0.0:
            return super()._reactions_again(state, q, v, memory, control)
        system.prepare(h)
        system.correct(state.t, q, v, kept.acceleration.copy(), None, control)
        return stage_reactions(system)

    def not_converged(
        self, state: State, memory: np.ndarray, control: np.ndarray, lost: list[tuple[float, np.ndarray, np.ndarray]]
    ) -> StepFailed:
        """An iteration that was lost where matter is inside out names the deformable."""
        if lost and self.system.callback_errors.error is None:
            self.system.look_at_rest(*lost[-1], control)
            if (d := self._inside_out(self.system.place(*lost[-1][1:])[0])) is not None:
                why = f"Newton's iteration turned a cell of {d.kind} '{d.name}' inside out"
                why = f"{why}; try a smaller dt, material=CoRotated(…) or solver='barrier'"
                return self.failed_step(state.t, "not converged", d.name, why, **self.step_facts())  # type: ignore[attr-defined]
        return super().not_converged(state, memory, control, lost)  # type: ignore[misc]
