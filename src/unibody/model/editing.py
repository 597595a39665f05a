"""What a Builder can do with what it already holds, whether it was described in Python or loaded from a file: look up, change, rename,
remove, pose, drive, combine and save. Methods only; the work is done in `changes`, `removing`, `posing` and `including`.

Everything is told to the Builder again as on creation, by the same checks; a call that refuses leaves it as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from unibody.element import name_of
from unibody.errors import ModelError
from unibody.model.contents import AskedJoint
from unibody.model.deformable import AskedAttachment, AskedDeformable, AskedPrescribed
from unibody.model.model import BodyInfo, Model, look_up
from unibody.spatial.pose import Pose

if TYPE_CHECKING:
    from typing import Self

Thing = TypeVar("Thing")
DEFORMED = ("_deformables", "_attachments", "_prescribed")
"""What a Builder holds of deformables."""
DURATION, STEP = 1.0, 1e-3
"""[s] Of a model that came with no scene."""


class Named(Mapping[str, Thing]):
    """Things by name, in order; a name that is not there is refused with near matches. `also` finds more than is listed, `unlisted` is
    found and not listed."""

    def __init__(
        self, things: Mapping[str, Thing], what: str, unlisted: Sequence[str] = (), also: Mapping[str, Callable[[], Thing]] | None = None
    ):
        self._things, self._what, self._unlisted, self._also = things, what, unlisted, also or {}

    def __getitem__(self, name: Any) -> Thing:
        key = name_of(name, self._what)
        if key in self._also:
            return self._also[key]()
        if key not in self._things:
            look_up(key, {**self._things, **self._also}, self._what)
        return self._things[key]

    def get(self, name: Any, default: Any = None) -> Any:
        return self[name] if name in self else default

    def __contains__(self, name: object) -> bool:
        return name in self._things or name in self._also

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._things if name not in self._unlisted)

    def __len__(self) -> int:
        return len(self._things) - sum(name in self._things for name in self._unlisted)

    def __repr__(self) -> str:
        return f"{self._what} names: {', '.join(self) or 'none'}"


@dataclass(frozen=True)
class Origin:
    """What came with a scene beside its model. `keyframes`: name → joint → (q, v)."""

    duration: float = DURATION
    dt: float = STEP
    notes: str = ""
    left_out: tuple[str, ...] = ()
    name: str = ""
    keyframes: Mapping[str, Mapping[str, tuple[np.ndarray, np.ndarray]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Removed:
    """Names of what a call removed."""

    bodies: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()
    deformables: tuple[str, ...] = ()
    attachments: tuple[str, ...] = ()
    """With prescribed vertices."""


class Editing:
    """The part of `Builder` that speaks about what is already there."""

    world: Any
    _bodies: dict[str, BodyInfo]
    _joints: dict[str, AskedJoint]
    _parts: dict[str, str]
    _elements: dict[str, Any]
    _deformables: dict[str, AskedDeformable]
    _attachments: dict[str, AskedAttachment]
    _prescribed: dict[str, AskedPrescribed]
    _counts: Counter[type]
    _plane: Any
    _origin: Origin
    build: Callable[[], Model]

    @classmethod
    def load(cls, source: Any, **parameters: Any) -> Self:
        """Everything of a file (any that `ub.load` takes, with its parameters), of a scene by its name, of a Scene, a Model or a Builder,
        to be changed; `build()` gives the same model again.

        >>> from unibody import Builder
        >>> b = Builder.load("pendulum")
        >>> b.build().nv
        1
        """
        return _loaded(cls, source, parameters)

    @property
    def bodies(self) -> Named[BodyInfo]:
        """All bodies but the world, by name: mass, centre of mass, inertia, shapes, how each starts. Each is a handle, too."""
        return Named(self._bodies, "body", unlisted=("world",))

    @property
    def joints(self) -> Named[AskedJoint]:
        """All joints by name: element, parent and child by name, X_PF, X_BM, q, v, armature, effort_limit, parts. Each is a handle, too.
        Names of parts are known, and give the part alone."""
        from unibody.model.posing import asked_part

        parts: dict[str, Any] = {part: partial(asked_part, self, part) for part in self._parts}
        return Named(self._joints, "joint", also=parts)

    @property
    def elements(self) -> Named[Any]:
        """All forces and constraints by name."""
        return Named(self._elements, "element")

    @property
    def deformables(self) -> Named[AskedDeformable]:
        """All deformables by name: kind, mesh, material, density, X_WB, V_WB, start, pressure. `b.deformable(name)` is the handle."""
        return Named(self._deformables, "deformable")

    @property
    def attachments(self) -> Named[AskedAttachment]:
        """All attachments by name: deformable, vertices, and the body or the points that they are points of."""
        return Named(self._attachments, "attachment")

    @property
    def prescribed(self) -> Named[AskedPrescribed]:
        """All prescribed vertices by name: deformable, vertices, motion."""
        return Named(self._prescribed, "prescribed")

    @property
    def keyframes(self) -> tuple[str, ...]:
        """Names of the states that came with the file, for `start(keyframe=…)`."""
        return tuple(self._origin.keyframes)

    @property
    def left_out(self) -> tuple[str, ...]:
        """What the file asks for that the model cannot represent, and what `include` left out."""
        return self._origin.left_out

    def change_body(
        self, name: Any, mass: float | None = None, com: Any = None, inertia: Any = None, density: float | None = None, shape: Any = None,
        kind: str | None = None, X_WB: Pose | None = None, V_WB: Any = None, motion: Callable[[float], Pose] | None = None,
    ) -> None:  # fmt: skip
        """Change what is given. `mass` alone scales the inertia with it; `com` alone keeps the inertia about the centre of mass; `shape`
        alone keeps mass and inertia, with `density` or `mass` they come from it, as `density` alone takes them from the shapes.

        >>> from unibody import Builder
        >>> b = Builder()
        >>> _ = b.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1))
        >>> b.change_body("ball", mass=2.0)
        >>> float(b.bodies["ball"].inertia[0, 0])
        0.2
        """
        from unibody.model.changes import change_body

        given = {"mass": mass, "com": com, "inertia": inertia, "density": density, "shape": shape, "kind": kind, "X_WB": X_WB, "V_WB": V_WB}
        change_body(self, name_of(name, "change_body"), {key: x for key, x in {**given, "motion": motion}.items() if x is not None})

    def change_joint(
        self, name: Any, joint: Any = None, parent: Any = None, child: Any = None, X_PF: Pose | None = None, X_BM: Pose | None = None,
        q: Any = None, v: Any = None, stiffness: Any = None, damping: Any = None, rest: Any = None, armature: Any = None,
        effort_limit: Any = None, limits: Any = None, parts: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        """Change what is given, as in `Builder.joint`; spring and limit are the elements `<joint>.spring` and `<joint>.limit`. Of a part
        that has a name, q, v, armature, effort_limit, spring and limit can be changed."""
        from unibody.model.changes import change_joint

        given = {
            "joint": joint, "parent": parent, "child": child, "X_PF": X_PF, "X_BM": X_BM, "q": q, "v": v, "stiffness": stiffness,
            "damping": damping, "rest": rest, "armature": armature, "effort_limit": effort_limit, "limits": limits, "parts": parts,
        }  # fmt: skip
        change_joint(self, name_of(name, "change_joint"), {key: x for key, x in given.items() if x is not None})

    def change_deformable(
        self, name: Any, mesh: Any = None, material: Any = None, density: float | None = None, X_WB: Pose | None = None, V_WB: Any = None,
        start: Any = None, pressure: float | None = None,
    ) -> None:  # fmt: skip
        """Change what is given, as in `Builder.soft`, `cloth`, `rod`. Another mesh is refused where vertices of the old one are named."""
        from unibody.model.deformable_editing import change_deformable

        given = {"mesh": mesh, "material": material, "density": density, "X_WB": X_WB, "V_WB": V_WB, "start": start, "pressure": pressure}
        change_deformable(self, name_of(name, "change_deformable"), {key: x for key, x in given.items() if x is not None})

    def change(self, element: str, /, **fields: Any) -> None:
        """Change fields of a force or constraint, by its name: `b.change("Contact[0]", friction=0.8)`."""
        from unibody.model.changes import change_element

        change_element(self, element, fields)

    def replace(self, name: str, element: Any) -> None:
        """Put another force or constraint in the place of one."""
        from unibody.model.changes import replace_element

        replace_element(self, name, element)

    def rename(
        self, bodies: Mapping[str, str] | None = None, joints: Mapping[str, str] | None = None, elements: Mapping[str, str] | None = None,
        deformables: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """New names, old → new; whatever refers to them follows. Elements named after a joint (`knee.limit`) are renamed with it, as
        attachments named after a deformable (`flag.attach.0`) with that."""
        from unibody.model.changes import rename

        rename(
            self, named(bodies, "rename bodies"), named(joints, "rename joints"), named(elements, "rename elements"),
            named(deformables, "rename deformables"),
        )  # fmt: skip

    def remove(self, name: Any) -> Removed:
        """Remove the body, joint, element, deformable, attachment or prescribed motion of this name, if only one has it."""
        from unibody.model.removing import remove_any

        return remove_any(self, name_of(name, "remove"))

    def remove_body(self, name: Any, with_children: bool = False) -> Removed:
        """Remove a body with the joints at it and the elements that refer to them; with `with_children` also what hangs on it, without
        which a body that carries others is refused. Lists of bodies in a Contact become shorter."""
        from unibody.model.removing import remove_body

        return remove_body(self, name_of(name, "remove_body"), with_children)

    def remove_joint(self, name: Any) -> Removed:
        """Remove a joint and the elements that refer to it. A child that no other joint holds is free, where it was."""
        from unibody.model.removing import remove_joint

        return remove_joint(self, name_of(name, "remove_joint"))

    def remove_deformable(self, name: Any) -> Removed:
        """Remove a deformable with its attachments and prescribed vertices, those of others to it, and elements on its points."""
        from unibody.model.removing import remove_deformable

        return remove_deformable(self, name_of(name, "remove_deformable"))

    def remove_attachment(self, name: str) -> Removed:
        """Remove an attachment, or let prescribed vertices go."""
        look_up(name, {**self._attachments, **self._prescribed}, "attachment")
        self._attachments.pop(name, None)
        self._prescribed.pop(name, None)
        return Removed(attachments=(name,))

    def remove_element(self, name: str) -> Removed:
        """Remove a force or a constraint."""
        look_up(name, self._elements, "element")
        del self._elements[name]
        return Removed(elements=(name,))

    def start(self, q: Mapping[Any, Any] | None = None, v: Mapping[Any, Any] | None = None, keyframe: str | None = None) -> None:
        """The start by names of joints or of their parts, a number or one for each coordinate; or a keyframe of the file, of which `q` and
        `v` then change some. Coordinates that a Coupling makes dependent follow, unless they are given."""
        from unibody.model.posing import start

        start(self, named(q, "start q"), named(v, "start v"), keyframe)

    def place(self, body: Any, X_WB: Pose, V_WB: Any = None) -> None:
        """Put a body, and what hangs on it, at a pose in the world. Of one that floats the coordinates change, of one that a joint holds
        to the world, or to what stands still, the place of that joint."""
        from unibody.model.posing import place

        place(self, name_of(body, "place"), X_WB, V_WB)

    def motors(
        self, stiffness: Any = 0.0, damping: Any = 0.0, joints: Sequence[Any] | None = None, target: Any = "start", limit: Any = None,
        replace: bool = False,
    ) -> list[str]:  # fmt: skip
        """A Motor on every scalar degree of freedom of these joints or parts (None: of all that move by themselves), named `<joint>.motor`,
        or `<joint>.motor[k]` where a joint has several and no names for them; returns the names. `stiffness` is kp, `damping` kd,
        `limit` the motor's: one number, or a mapping by names of joints. `target`: "start", where each joint starts now, or a mapping that
        gives some another. Motors that are there already are refused by name, or with `replace` removed."""
        from unibody.model.posing import add_motors

        return add_motors(self, stiffness, damping, joints, target, limit, replace)

    def include(
        self, other: Any, prefix: str = "", at: Pose | None = None, parent: Any = None, gravity: str = "same", contact: str | None = None,
        **parameters: Any,
    ) -> list[str]:  # fmt: skip
        """Put all of another model (anything that `Builder.load` takes) into this one: its world stands at `at` in the body `parent` (None:
        the world), and `prefix` goes before all its names. Returns the names of its bodies here.

        Gravity must be ours, or is left out with a note if `gravity="ours"`. There can be one Contact for all bodies: two that are equal
        become one, others need `contact="ours"` or `contact="theirs"`."""
        from unibody.model.including import include

        return include(self, other, prefix, at, parent, gravity, contact, parameters)

    def save(self, path: Any, tabulate: float | None = None) -> Path:
        """Write a scene file (.json, see `unibody.files.save_json`), from which `Builder.load` and `ub.load` give the same model."""
        if not isinstance(path, str | PathLike):
            raise ModelError(f"save: {path!r} is not a path; give one such as 'robot.json'")
        if Path(path).suffix.lower() != ".json":
            raise ModelError(f"save: '{path}' does not end in .json; give a file that does (URDF: unibody.files.save_urdf)")
        model = self.build()
        scene = import_module("unibody.scenes").Scene  # by name, because scenes stand above models
        told = {key: getattr(self._origin, key) for key in ("duration", "dt", "notes", "left_out", "name")}
        states = {name: _state(model, joints) for name, joints in self._origin.keyframes.items()}
        return import_module("unibody.files").save_json(scene(model, keyframes=states, **told), path, tabulate=tabulate)


def named(given: Any, what: str) -> dict[Any, Any]:
    """A mapping by names; None is an empty one."""
    if not isinstance(given, Mapping | None):
        raise ModelError(f"{what}: {given!r} is no mapping; give {{name: …}}")
    return dict(given or {})


def _state(model: Model, joints: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and velocities of all joints: those of a keyframe, else of the start."""
    q, v = model.start_q(), model.start_v()
    for j in model.joints:
        if j.name in joints:
            q[j.q_start : j.q_start + j.nq], v[j.v_start : j.v_start + j.nv] = joints[j.name]
    return q, v


def _loaded(cls: Any, source: Any, parameters: dict[str, Any]) -> Any:
    if isinstance(source, str | Path):
        if isinstance(source, Path) or Path(source).suffix:
            source = import_module("unibody.files").load(source, parameters)  # by name: files stand above models
        else:
            source = import_module("unibody.scenes").make(source, **parameters)
    elif parameters:
        raise ModelError(f"Builder.load: parameters {', '.join(parameters)} are for files and names of scenes; leave them out")
    if isinstance(source, Editing):
        return copied(source, cls)
    model = source if isinstance(source, Model) else getattr(source, "model", None)
    if not isinstance(model, Model) or not model.description:
        raise ModelError(f"Builder.load: {source!r} is no model; give a file, a scene's name, a Scene, a Model or a Builder")
    b = cls(gravity=None)
    told = model.description
    b._bodies, b._joints, b._elements = dict(told["bodies"]), dict(told["joints"]), dict(told["elements"])
    b._parts = {part: name for name, j in b._joints.items() for part in j.parts}
    for key in DEFORMED:
        setattr(b, key, dict(told.get(key[1:], {})))
    b._plane = model.plane
    if source is not model:
        keyframes = {name: _by_joint(model, *state) for name, state in source.keyframes.items()}
        kept = {key: getattr(source, key) for key in ("duration", "dt", "notes", "left_out", "name")}
        b._origin = Origin(**kept, keyframes=keyframes)
    return b


def _by_joint(model: Model, q: np.ndarray, v: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """A state of all joints, by joint. Joints that close loops follow from the others."""
    return {j.name: (q[j.q_start : j.q_start + j.nq], v[j.v_start : j.v_start + j.nv]) for j in model.joints}


def copied(b: Any, cls: Any = None) -> Any:
    """Another Builder with the same things."""
    out = (cls or type(b))(gravity=None)
    for key in (*DEFORMED, "_bodies", "_joints", "_parts", "_elements", "_counts"):
        setattr(out, key, getattr(b, key).copy())
    out._plane, out._origin = b._plane, b._origin
    return out


def skeleton(b: Editing) -> Model:
    """The model of bodies and joints alone, which tells where everything starts."""
    from unibody.model.builder import Builder

    bare = Builder(gravity=None)
    bare._bodies, bare._joints, bare._parts, bare._plane = b._bodies, b._joints, b._parts, b._plane
    return bare.build()


def with_origin(b: Editing, **changes: Any) -> None:
    b._origin = replace(b._origin, **changes)
