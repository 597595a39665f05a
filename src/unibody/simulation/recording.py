"""`Recording`: states of a run, and everything that follows from them.

A recording keeps what a step returned (t, q, v, memory) and the control that was in force. Poses, energies, reactions and reports are
derived from these when they are first asked for, by the same compiled code that made the steps.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from unibody.coordinates.observation import Observation, Touching
from unibody.element import name_of, step_length
from unibody.errors import ModelError
from unibody.meshes.strain import principal_strains
from unibody.model import Model, State
from unibody.model.model import look_up
from unibody.simulation import derived
from unibody.simulation.contact_table import contact_columns, write_contacts
from unibody.simulation.csv_cells import cell
from unibody.simulation.files import checked_rows, read_npz, write_npz
from unibody.simulation.recorded_series import Energies, Impact, JointFrictionSeries, energies_told
from unibody.simulation.whole_file import whole_file, whole_text
from unibody.solvers import Bound, Report
from unibody.spatial.pose import rotation_from_quaternion, vector
from unibody.spatial.rod_frames import frames, twists

MOST_STEPS = 1e11
"""Of one run: more would take days even of a pendulum, and are a slip of the pen."""

DERIVED = ("_bound", "observations", "energy", "reports", "_momenta")
"""Attributes of a recording that follow from the others."""


class Recording:
    """What `Simulation.run` returns. Rows are recorded states; row 0 is the start."""

    def __init__(self, bound: Bound, dt: float):
        self.__dict__["_bound"] = bound
        self._model, self._solver = bound.model, bound.solver
        self.dt = dt
        self._rows: list[tuple[State, np.ndarray]] = []
        self._controls: list[np.ndarray] = []
        self.seconds = 0.0
        self.steps = 0

    @cached_property
    def _bound(self) -> Bound:
        """The solver that made the steps; of a copy and in another process, bound anew when something derived is asked for."""
        return self._solver.bind(self._model)

    def __getstate__(self) -> dict[str, Any]:
        """What was recorded; what is derived can be derived again."""
        return {name: value for name, value in self.__dict__.items() if name not in DERIVED}

    def __copy__(self) -> Recording:
        return self.some(range(len(self)))

    @property
    def model(self) -> Model:
        return self._model

    @property
    def solver(self) -> Any:
        """The solver's options."""
        return self._solver

    def append(self, state: State, memory: np.ndarray, control: np.ndarray) -> None:
        """One more recorded state with the control in force at it."""
        self._rows.append((state, memory))
        self._controls.append(control)
        for name in DERIVED[1:]:
            self.__dict__.pop(name, None)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def t(self) -> np.ndarray:
        """(T,) times [s]."""
        return np.array([s.t for s, _ in self._rows])

    @property
    def q(self) -> np.ndarray:
        """(T, nq) the solver's own coordinates."""
        return np.array([s.q for s, _ in self._rows]) if self._rows else np.zeros((0, self._bound.nq))

    @property
    def v(self) -> np.ndarray:
        """(T, nv) the solver's own velocities."""
        return np.array([s.v for s, _ in self._rows]) if self._rows else np.zeros((0, self._bound.nv))

    @property
    def states(self) -> list[State]:
        return [s for s, _ in self._rows]

    def some(self, rows: Sequence[int]) -> Recording:
        """A recording of the states with these numbers only; what was derived of them already is kept."""
        out = Recording(self._bound, self.dt)
        out.seconds, out.steps = self.seconds, self.steps
        numbers = [self._number(row) for row in (rows if isinstance(rows, Iterable) else [rows])]
        for k in numbers:
            out.append(*self._rows[k], self._controls[k])
        if "observations" in self.__dict__:
            out.__dict__["observations"] = [self.observations[k] for k in numbers]
        return out

    def _number(self, row: Any) -> int:
        """The number of a row, from the end if it is negative."""
        if isinstance(row, bool) or not isinstance(row, int | np.integer) or not -len(self) <= row < len(self):
            raise ModelError(f"recording: {row!r} is no number of a state; it has {len(self)}, give 0 … {len(self) - 1}")
        return int(row)

    @cached_property
    def observations(self) -> list[Observation]:
        """Everything derived, one per recorded state."""
        return [self.observe(k) for k in range(len(self))]

    def observe(self, row: int) -> Observation:
        """Everything derived at one recorded state."""
        state, memory = self._rows[self._number(row)]
        with self._bound.turn:  # its simulation may be running in another thread
            return self._bound.observe(state, memory, self._controls[row])

    @cached_property
    def energy(self) -> Energies:
        """`kinetic`, `gravity`, `springs`, `elastic` (of deformables), `potential`, `total`, `damper_work`, `motor_work`,
        `applied_work`, `drive_work`, `work`."""
        return Energies(self.observations)

    def joint(self, name: Any) -> np.ndarray:
        """(T, nq) coordinates of a joint, or of the part of one that has this name, in every solver."""
        j = self.model.joint(name_of(name, "joint"))
        return np.array([o.joint_q[j.q_start : j.q_start + j.nq] for o in self.observations]).reshape(len(self), j.nq)

    def joint_velocity(self, name: Any) -> np.ndarray:
        """(T, nv) velocities of a joint, or of the part of one that has this name."""
        j = self.model.joint(name_of(name, "joint"))
        return np.array([o.joint_v[j.v_start : j.v_start + j.nv] for o in self.observations]).reshape(len(self), j.nv)

    def _body(self, body: Any) -> int:
        """The number of a body, which has a pose."""
        i = self.model.body(name_of(body, "body"))
        if i >= self.model.n_bodies:
            remedy = "ask for rec.vertices and rec.velocities of the deformable"
            raise ModelError(f"'{name_of(body, 'body')}' is a point of a deformable and has no axes; {remedy}")
        return i

    def pose(self, body: Any) -> np.ndarray:
        """(T, 7) p then wxyz; the quaternion does not jump sign."""
        i = self._body(body)
        out = np.array([o.poses[i] for o in self.observations]).reshape(len(self), 7)
        for k in range(1, len(out)):
            if out[k, 3:] @ out[k - 1, 3:] < 0:
                out[k, 3:] *= -1.0
        return out

    def twist(self, body: Any) -> np.ndarray:
        """(T, 6) angular then linear, world axes, at the body's origin."""
        i = self._body(body)
        return np.array([o.twists[i] for o in self.observations]).reshape(len(self), 6)

    def point(self, body: Any, p: Sequence[float] = (0.0, 0.0, 0.0)) -> np.ndarray:
        """(T, 3) world position of a material point given in body coordinates."""
        return self._points(body, vector(p, 3, "point p")[None])[:, 0]

    def vertices(self, body: Any) -> np.ndarray:
        """(T, n, 3) world positions of the vertices of a deformable, or of the shapes of a body."""
        if (name := name_of(body, "body")) in self.model._deformable_index:
            return self._of_vertices(self.model.deformable(name).vertices, "vertices")
        look_up(name, {**self.model._body_index, **self.model._deformable_index}, "body or deformable")
        info = self.model.bodies[self._body(name)]
        if not info.shapes:
            raise ModelError(f"body '{info.name}' has no shape, so it has no vertices; give it one or use rec.point")
        return self._points(body, np.concatenate([p.triangles()[0] for p in info.shapes]))

    def _points(self, body: Any, local: np.ndarray) -> np.ndarray:
        """(T, n, 3) from body coordinates (n, 3)."""
        i = self._body(body)
        out = np.empty((len(self), *local.shape))
        for row, o in enumerate(self.observations):
            if o.material is None:
                out[row] = o.poses[i, :3] + local @ rotation_from_quaternion(o.poses[i, 3:]).T
            else:
                out[row] = o.material[i, 0] + local @ o.material[i, 1:]
        return out

    def velocities(self, deformable: Any) -> np.ndarray:
        """(T, n, 3) velocities of the vertices of a deformable, world axes [m/s]."""
        return self._of_vertices(self.model.deformable(deformable).vertices, "vertex_velocities")

    def strain(self, deformable: Any) -> np.ndarray:
        """(T, m, k) principal strains λ − 1 of every cell of a deformable, the largest first: three of a tetrahedron, two of a face, one of
        an edge."""
        info = self.model.deformable(deformable)
        return principal_strains(info.mesh, self.vertices(info.name))

    def rod_frames(self, rod: Any) -> np.ndarray:
        """(T, k, 3, 3) material frames of the edges of a rod that resists twist: columns along it, to its director, and across both."""
        return frames(*self._framed(rod))

    def rod_twist(self, rod: Any) -> np.ndarray:
        """(T, m) by how much the edges at each inner point of a rod are turned about it against each other [rad]; of a closed rod at all
        points, the first one last."""
        return twists(*self._framed(rod))

    def _framed(self, rod: Any) -> tuple[np.ndarray, np.ndarray, bool]:
        """(T, n, 3) points and (T, k, 3) directors of a rod, and whether it is closed."""
        info = self.model.deformable(rod)
        if not getattr(info.mesh, "directors", False):
            raise ModelError(f"'{info.name}' has no material frames; a rod of RodMaterial(twist=True) has")
        x = self._of_vertices(info.every, "vertices")
        return x[:, : info.mesh.points], x[:, info.mesh.points :], info.mesh.closed

    def contact_forces(self, deformable: Any) -> np.ndarray:
        """(T, n, 3) the forces of contacts and their friction on the vertices of a deformable, world axes [N]."""
        return self._of_vertices(self.model.deformable(deformable).vertices, "vertex_contacts")

    def _of_vertices(self, which: Any, what: str) -> np.ndarray:
        """(T, n, 3) of some vertices."""
        found = [getattr(o, what) for o in self.observations]
        if any(x is None for x in found):
            raise ModelError(f"{what}: solver '{self.solver.name}' does not tell them of deformables")
        return np.array([x[which] for x in found]).reshape(len(self), -1, 3)

    def reaction(self, joint: Any) -> np.ndarray:
        """(T, 6) the whole wrench through a joint: torque then force on the child at the joint frame M, world axes. Through each part of
        a joint goes the same wrench, for there is no mass between them. Of an attachment or of prescribed vertices (T, n, 3): the forces
        with which what holds them acts on them in the step that ended there, world axes [N]; 0 before the first step."""
        held = {a.name: a.vertices for a in self.model.attachments} | {p.name: p.vertices for p in self.model.prescribed}
        if (name := name_of(joint, "joint")) in held and name not in self.model._joint_index:
            return self._of_vertices(held[name], "vertex_reactions")
        return self._wrench(joint, "reactions")

    def constraint_wrench(self, joint: Any) -> np.ndarray:
        """(T, 6) the part of the reaction that does no work."""
        return self._wrench(joint, "constraint_wrenches")

    def multiplier(self, element: str) -> np.ndarray:
        """(T, rows) of a constraint element: the force [N] or effort [N m] with which it acts along growing C, such as the effort of a
        PrescribedJoint's drive. Where rows repeat each other, the multipliers of least norm; by `penalty` in the ratio of stiffnesses."""
        names = [name for name, _ in self.model.constraints]
        if element not in names:
            raise ModelError(f"multiplier of '{element}': no such constraint; there are {', '.join(names) or 'none'}")
        return np.array([o.multipliers[element] for o in self.observations]).reshape(len(self), -1)

    @cached_property
    def _momenta(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return derived.momenta(self)

    @property
    def momentum(self) -> np.ndarray:
        """(T, 3) of all bodies [kg m/s]."""
        return self._momenta[0]

    @property
    def angular_momentum(self) -> np.ndarray:
        """(T, 3) of all bodies about the world's origin [kg m²/s]."""
        return self._momenta[1]

    @property
    def center_of_mass(self) -> np.ndarray:
        """(T, 3) of all bodies that move freely [m]."""
        return self._momenta[2]

    def tension(self, name: str) -> np.ndarray:
        """(T,) of a SpringDamper or a Cable, by its name [N]; below 0 where a spring pushes. (T, spans) of a Cable over pulleys with
        friction or grip, one column for each pair of neighbours among its `points`."""
        return derived.tension(self, name)

    def joint_friction(self, element: str) -> JointFrictionSeries:
        """Of a JointFriction element over all recorded states: effort, normal forces, friction, bound, sliding, reaction, multipliers."""
        names = list(self.observations[0].joint_friction) if len(self) else []
        if element not in names:
            raise ModelError(f"joint_friction of '{element}': no such JointFriction; there are {', '.join(names) or 'none'}")
        return JointFrictionSeries([o.joint_friction[element] for o in self.observations])

    def _wrench(self, joint: Any, what: str) -> np.ndarray:
        found = self.model.joint(name_of(joint, "joint"))
        whole = found.whole or found.name
        k = next(i for i, j in enumerate(self.model.joints) if j.name == whole)
        return np.array([getattr(o, what)[k] for o in self.observations]).reshape(len(self), 6)

    @property
    def contacts(self) -> list[Touching]:
        """One per recorded state: points, bodies, normals, gaps, normal and friction forces, what slides, impulses of impacts."""
        out = [o.contacts for o in self.observations]
        if any(c is None for c in out):
            remedy = "add a Contact and run the scene with solver 'complementarity', 'impulse', 'penalty' or 'barrier'"
            raise ModelError(f"contacts: solver '{self.solver.name}' knows no surfaces here; {remedy}")
        return out  # type: ignore[return-value]

    @property
    def _touching_names(self) -> list[str]:
        """Of bodies, then of deformables, as contacts number them."""
        return [*(b.name for b in self.model.bodies), *(d.name for d in self.model.deformables)]

    @property
    def impacts(self) -> list[Impact]:
        """Impacts of the recorded steps in order of time; run with every=1 (the default) to have them all."""
        if not self.solver.impacts:
            remedy = "ask for rec.contacts, or run the scene with solver 'complementarity' or 'impulse'"
            raise ModelError(f"impacts: solver '{self.solver.name}' has none: what meets is slowed down over several steps; {remedy}")
        times, names = self.t, self._touching_names
        return [
            Impact(
                float(times[k]), (names[c.bodies[n, 0]], names[c.bodies[n, 1]]), c.points[n], c.normals[n], c.impulses[n],
                float(c.approach[n]), bool(c.sliding[n]),
            )
            for k, c in enumerate(self.contacts) for n in np.flatnonzero(c.hits)
        ]  # fmt: skip

    @property
    def violation(self) -> np.ndarray:
        """(T,) the largest constraint violation [m or rad]."""
        return np.array([o.violation for o in self.observations])

    @cached_property
    def reports(self) -> list[Report]:
        """One per recorded state; [0] is the start's."""
        each = self.seconds / max(1, self.steps)
        return [
            Report(
                status="ok", time=o.time, violation=o.violation, redundant=o.redundant, redundant_names=o.redundant_names,
                notes=o.notes or self._bound.system.notes(), iterations=o.iterations, residual=o.residual,
                minimum_distance=o.distance,
                energies=energies_told(o),
                seconds=0.0 if k == 0 else each,
            )
            for k, o in enumerate(self.observations)
        ]  # fmt: skip

    def save(self, path: str | Path) -> Path:
        """Write a .npz file, whole or not at all."""
        arrays = {
            "t": self.t, "q": self.q, "v": self.v, "memory": np.array([m for _, m in self._rows]), "control": np.array(self._controls),
            "run": np.array([self.dt, self.seconds, self.steps]),
        }  # fmt: skip
        return write_npz(path, "recording", self._bound, arrays)

    @staticmethod
    def load(path: str | Path, model: Model | None = None, trust: bool | Sequence[str] = ()) -> Recording:
        """Read a file written by `save`. `model` is needed only if it holds functions that cannot be written down; `trust` names modules
        whose code the file may use, beside your own that are imported already (True: all)."""
        bound, archive = read_npz(path, "recording", model, trust)
        dt, seconds, steps = archive.array("run", (3,)).tolist()
        if not (isfinite(seconds) and 0.0 <= seconds and 0.0 <= steps < MOST_STEPS and steps == int(steps)):
            raise archive.fault(f"its run says {steps!r} steps in {seconds!r} s")
        shape = archive.shapes["t"]
        rows = checked_rows(archive, bound, shape[0] if len(shape) == 1 else 0)
        out = Recording(bound, step_length(dt, f"file '{path}': dt"))
        out.seconds, out.steps = seconds, int(steps)
        for t, q, v, memory, control in zip(*(rows[k] for k in ("t", "q", "v", "memory", "control")), strict=True):
            out.append(State(float(t), q, v, bound.coordinates), memory, control)
        return out

    def to_csv(self, path: str | Path) -> Path:
        """The columns of `to_pandas`, one line per recorded state."""
        columns = derived.table(self)
        with whole_text(path) as file:
            writer = csv.writer(file)
            writer.writerow([cell(name) for name in columns])
            writer.writerows([[repr(float(x)) for x in row] for row in zip(*columns.values(), strict=True)])
        return Path(path)

    def to_pandas(self) -> Any:
        """A DataFrame over t: energies, violation, then of joints and bodies by name: `elbow.q0`, `arm.x … qz`, velocities `elbow.v0`,
        twists `arm.wx … vz`, reactions `elbow.tx … fz` (torque, force on the child), tensions `rope.tension`, and where the solver knows
        surfaces `contacts` and the contact force on each body and deformable, `arm.contact_fx …`. Deformables add `elastic` to energies."""
        try:
            import pandas
        except ModuleNotFoundError:
            raise ModelError("to_pandas needs pandas, which is not installed; pip install unibody[studies]") from None
        return pandas.DataFrame(derived.table(self)).set_index("t")

    def __getitem__(self, name: str) -> np.ndarray:
        """One array of `arrays()` or one column of `to_pandas`, by its name: `rec["t"]`, `rec["poses"]`, `rec["elbow.q0"]`."""
        if not isinstance(name, str):
            raise ModelError(f"rec[{name!r}]: give a name, such as 't' or 'elbow.q0'; rec.some([…]) takes states by number")
        return look_up(name, {**derived.table(self), **self.arrays()}, "recorded quantity")

    def contacts_to_csv(self, path: str | Path) -> Path:
        """One line per contact of every recorded state: time, bodies, point, normal, gap, forces on the first body, what slides, and for
        impacts the impulse [N s] and the speed of approach [m/s]."""
        return write_contacts(self.contacts, self.t, self._touching_names, path)

    def arrays(self) -> dict[str, np.ndarray]:
        """Plain arrays for other programs, by name, with T states, n bodies (the world first) and m joints:

        t (T,) [s]; body_names (n,); poses (T, n, 7) p then wxyz; twists (T, n, 6) angular then linear, world axes;
        joint_names (m,); coordinate_names (nq,) and joint_q (T, nq); velocity_names (nv,) and joint_v (T, nv);
        reactions (T, m, 6) torque then force on the child at the joint frame, world axes; kinetic, gravity, springs, total, damper_work,
        motor_work, applied_work (T,) [J]; violation (T,) [m or rad]; q, v, the solver's own; dt (), solver (); where the solver knows
        surfaces and some are asked to touch, the columns of `contact_table.contact_columns`; where there are deformables, those of
        `derived.deformed` (contacts number deformables behind the bodies).
        """
        model, seen, energy = self.model, self.observations, self.energy
        rows, bodies, joints = len(self), len(model.bodies), len(model.joints)
        works = ("kinetic", "gravity", "springs", "total", "damper_work", "motor_work", "applied_work")
        return {
            "t": self.t,
            "body_names": _names(b.name for b in model.bodies),
            "poses": np.stack([self.pose(b.name) for b in model.bodies], axis=1),
            "twists": np.array([o.twists for o in seen]).reshape(rows, bodies, 6),
            "joint_names": _names(j.name for j in model.joints),
            "coordinate_names": _names(f"{j.name}.q{k}" for j in model.joints for k in range(j.nq)),
            "joint_q": _columns([self.joint(j.name) for j in model.joints], rows),
            "velocity_names": _names(f"{j.name}.v{k}" for j in model.joints for k in range(j.nv)),
            "joint_v": _columns([self.joint_velocity(j.name) for j in model.joints], rows),
            "reactions": np.array([o.reactions for o in seen]).reshape(rows, joints, 6),
            **{name: np.asarray(getattr(energy, name)) for name in works},
            "violation": self.violation,
            "q": self.q, "v": self.v, "dt": np.array(self.dt), "solver": np.array(self.solver.name),
            **(contact_columns(self.contacts) if seen and all(o.contacts is not None for o in seen) else {}),
            **derived.deformed(self),
        }  # fmt: skip

    def to_npz(self, path: str | Path) -> Path:
        """What `arrays` gives, as a file for other programs; `save` keeps what a run needs to go on."""
        with whole_file(path) as file:
            np.savez_compressed(file, **self.arrays())  # type: ignore[arg-type]
        return Path(path)

    def to_html(self, path: str | Path, *, title: str | None = None, fps: float | None = None) -> Path:
        """One page that plays the recording offline, in any browser."""
        return _view("replay").write_html(self, path, title=title, fps=fps)

    def to_gltf(self, path: str | Path, *, fps: float | None = None) -> Path:
        """An animated scene for other programs: a .glb file, or text if the name ends in .gltf."""
        return _view("gltf").write(self, path, fps=fps)

    def to_vtu(self, path: str | Path, *, fps: float | None = None) -> Path:
        """A series of .vtu files for ParaView, with the .pvd file that lists them; of a folder, the .pvd file in it has its name."""
        return _view("vtu").write_vtu(self, path, fps=fps)

    def to_usda(self, path: str | Path, *, fps: float | None = None) -> Path:
        """USD as text with time samples: bodies, springs and cables, vertices of deformables."""
        return _view("usda").write_usda(self, path, fps=fps)

    def plot(self, *what: str, path: str | Path | None = None, title: str | None = None) -> Any:
        """Draw series over time, `rec.plot("energy", "q:elbow", "reaction:elbow")`; without a path the figure is returned."""
        return _view("plots").plot(self, what or "energy", path, title)

    def render(self, path: str | Path, **options: Any) -> Path:
        """A picture of the last state or a film of the motion, as `unibody.render` draws them."""
        return _view("films").render(self, path, **options)

    def _repr_html_(self) -> str:
        """The replay, in notebooks."""
        return _view("replay").inline(self)

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} … {self.t[-1]:g} s" if len(self) else "empty"
        return f"Recording({len(self)} states, {span} in steps of {self.dt:g} s, solver '{self.solver.name}', {self.model!r})"


def _view(module: str) -> Any:
    """A module of `unibody.view`, which imports this package: imported by name when somebody wants to look, never needed to run."""
    return import_module(f"unibody.view.{module}")


def _names(names: object) -> np.ndarray:
    return np.array(list(names), dtype=str)  # type: ignore[call-overload]


def _columns(parts: list[np.ndarray], rows: int) -> np.ndarray:
    return np.concatenate(parts, axis=1) if parts else np.zeros((rows, 0))
