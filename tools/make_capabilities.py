"""Writes docs/capabilities.md: which solver honours which element, asked of the solvers themselves.

    python tools/make_capabilities.py            write docs/capabilities.md
    python tools/make_capabilities.py --check    exit with 1 if docs/capabilities.md is not what would be written

One instance of every joint, force, constraint and shape class of the house is put into a model of its own, and every solver is asked
`handles(element, model)`. A class without an instance in EXAMPLES is an error, so that no element is left out.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

import unibody as ub  # noqa: E402
from unibody import constraints, forces, joints, shapes  # noqa: E402
from unibody.model import Body  # noqa: E402
from unibody.simulation.whole_file import whole_text  # noqa: E402
from unibody.solvers import REGISTRY  # noqa: E402

PAGE = ROOT / "docs" / "capabilities.md"
A, B, W = Body("a"), Body("b"), Body("world")

EXAMPLES: dict[str, Any] = {
    "Ball": ub.Ball(),
    "Composite": ub.Composite(ub.Prismatic(axis=(1, 0, 0)), ub.Revolute(axis=(0, 0, 1))),
    "Free": ub.Free(),
    "Hinge": joints.Hinge(axis=(0, 0, 1), at=(0.1, 0, 0)),
    "Planar": ub.Planar(),
    "Prismatic": ub.Prismatic(axis=(1, 0, 0)),
    "Revolute": ub.Revolute(axis=(0, 0, 1)),
    "Screw": ub.Screw(axis=(0, 0, 1), pitch=0.01),
    "Translational": ub.Translational(),
    "Universal": ub.Universal(),
    "Weld": ub.Weld(),
    "AppliedWrench": ub.AppliedWrench(B, force=(1.0, 0.0, 0.0)),
    "BodyDamping": ub.BodyDamping(B, linear=0.1),
    "Cable": ub.Cable([A.at(0, 0, 0.1), W.at(0, 0, 1), B.at(0, 0, 0.1)], stiffness=10.0),
    "DryFriction": ub.DryFriction("knee", bound=0.1),
    "Gravity": ub.Gravity((0, 0, -1.62)),
    "JointFriction": ub.JointFriction("knee", 0.2, radius=0.01, height=0.03),
    "Motor": ub.Motor("knee", kp=1.0, target=0.5),
    "SpringDamper": ub.SpringDamper(A.at(0, 0, 0.1), B.at(0, 0, 0.1), stiffness=10.0),
    "TorsionSpring": ub.TorsionSpring("knee", stiffness=1.0),
    "Contact": ub.Contact(friction=0.5),
    "Coupling": ub.Coupling(["knee"], ["hip"], [[2.0]]),
    "Distance": ub.Distance(B.at(0, 0, 0.1), W.at(0, 0, 1)),
    "DistanceRange": ub.DistanceRange(B.at(0, 0, 0.1), W.at(0, 0, 1), upper=2.0),
    "FixedPoint": ub.FixedPoint(B.at(0, 0, 0.1), None),
    "FunctionCoupling": ub.Coupling(["knee"], ["hip"], function=lambda q: q**2),
    "JointCoupling": ub.JointCoupling(["hip", "knee"], [1.0, -2.0]),
    "JointLimit": ub.JointLimit("knee", -1.0, 1.0),
    "KnifeEdge": ub.KnifeEdge(B.at(0, 0, 0.1), (0, 1, 0)),
    "PointOnLine": ub.PointOnLine(B.at(0, 0, 0), on=W.at(0, 0, 0), direction=(1, 0, 0)),
    "PointPlane": ub.PointPlane(B.at(0, 0, 0.1), (0, 0, -2), (0, 0, 1)),
    "PrescribedFrame": ub.PrescribedFrame(B, ub.Pose()),
    "PrescribedJoint": ub.PrescribedJoint("knee", math.sin),
    "PrescribedPoint": ub.PrescribedPoint(B.at(0, 0, 0.1), (0, 0, 0.5)),
    "Rolling": ub.Rolling(B.at(), radius=0.1),
    "SplineContact": ub.SplineContact([W.at(), A.at(), B.at(), B.at(0, 0, 0.2)], 0.01, blocks=3),
    "Box": ub.Box((0.1, 0.1, 0.1)),
    "Capsule": ub.Capsule(0.05, 0.1),
    "Cylinder": ub.Cylinder(0.05, 0.1),
    "Ellipsoid": ub.Ellipsoid((0.1, 0.2, 0.3)),
    "HeightField": ub.HeightField([[0, 0.1], [0.2, 0]], spacing=0.5),
    "Mesh": ub.Mesh(*ub.Box((0.1, 0.1, 0.1)).triangles()),
    "OpenMesh": ub.OpenMesh(*ub.Box((0.1, 0.1, 0.1)).triangles()),
    "Plane": ub.Plane(),
    "Sphere": ub.Sphere(0.1),
}
PAIR = ("a", "b")
CONTACT_OPTIONS: dict[str, tuple[Any, bool]] = {
    "friction": (ub.Contact(friction=0.5), False),
    "static": (ub.Contact(friction=0.3, static=0.5), False),
    "torsion": (ub.Contact(friction=0.3, torsion=0.01), False),
    "torsion, planar world": (ub.Contact(friction=0.3, torsion=0.01), True),
    "across": (ub.Contact(friction=0.3, across=0.1, direction=(1, 0, 0), between=PAIR), False),
    "across, planar world": (ub.Contact(friction=0.3, across=0.1, direction=(1, 0, 0), between=PAIR), True),
    "restitution, impact 'newton'": (ub.Contact(restitution=0.5), False),
    "restitution, impact 'poisson'": (ub.Contact(restitution=0.5, impact="poisson"), False),
    "restitution, impact 'stronge'": (ub.Contact(restitution=0.5, impact="stronge"), False),
    "damping": (ub.Contact(damping=0.1), False),
    "pressure": (ub.Contact(pressure=1e6), False),
    "reach": (ub.Contact(reach=1e-3), False),
    "between, on": (ub.Contact(between=PAIR, on=False), False),
    "neighbours": (ub.Contact(neighbours=True), False),
}
"""Options of Contact, and whether in a planar world."""
KINDS = (
    ("Joints", joints, joints.Joint),
    ("Forces", forces, forces.Force),
    ("Constraints", constraints, constraints.Constraint),
    ("Shapes", shapes, shapes.Shape),
)

OPENING = """# What each solver can do

Generated by `tools/make_capabilities.py`, which asks every solver `handles(element, model)`; do not edit. A solver that cannot honour an
element refuses the model by name, says why, and names the solvers that can: nothing is silently ignored. Each yes is a run:
`tests/agreement/test_capability_cells.py` and `test_contact_cells.py` move every element in every solver that says so, against another
solver, a closed form or a law, and see every no refused.
"""


def classes(room: Any, base: type) -> list[str]:
    """The element classes that a room exports; `Placed` is how any shape is put somewhere, not one more."""
    names = [n for n in room.__all__ if inspect.isclass(getattr(room, n)) and issubclass(getattr(room, n), base)]
    return sorted(n for n in names if n not in (base.__name__, "Placed"))


def model_with(kind: str, element: Any, planar: bool = False, loop: bool = False) -> ub.Model:
    """Two bodies on hinges, and the element where its kind goes."""
    b = ub.Builder(gravity=None, planar=planar)
    shape = element if kind == "Shapes" else ub.Sphere(0.1)
    weight = {} if 0.0 < shape.volume < float("inf") else {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
    a, c = b.body("a", shape=ub.Sphere(0.1)), b.body("b", shape=shape, **weight)
    hinge = ub.Revolute(axis=(0, 0, 1))
    upright = ub.Pose.about((1, 0, 0), 0.5 * math.pi)  # the joint frames' z along the plane's normal −y
    b.joint("hip", hinge, b.world, a, X_PF=upright, X_BM=upright)
    b.joint("knee", element if kind == "Joints" and not loop else hinge, a, c, X_PF=upright, X_BM=upright)
    if loop:
        b.joint("closing", element, b.world, c, X_PF=upright, X_BM=upright)
    if kind in ("Forces", "Constraints"):
        b.add(element)
    return b.build()


def answer(solver: str, kind: str, element: Any, **world: bool) -> str:
    """The word yes, the solver's reason, or a dash where there is no such model."""
    try:
        model = model_with(kind, element, **world)
    except ub.ModelError:
        return "–"
    placed = {"Forces": [e for _, e in model.forces], "Constraints": [e for _, e in model.constraints]}.get(kind, [element])
    reasons = [r for e in placed if (r := REGISTRY[solver]().handles(e, model)) is not None]
    return "; ".join(reasons) or "yes"


def lines() -> Iterator[str]:
    yield OPENING
    for kind, room, base in KINDS:
        yield f"## {kind}\n"
        worlds: dict[str, dict[str, bool]] = {"": {}}
        if kind == "Joints":
            worlds = {"in a tree": {}, "closing a loop": {"loop": True}, "in a planar world": {"planar": True}}
        heads = [f"`{solver}`" + (f" {where}" if where else "") for solver in REGISTRY for where in worlds]
        yield "| element | " + " | ".join(heads) + " |"
        yield "|---" * (len(heads) + 1) + "|"
        for name in classes(room, base):
            if name not in EXAMPLES:
                raise SystemExit(f"{room.__name__}.{name} has no instance in EXAMPLES of tools/make_capabilities.py; add one")
            cells = [answer(solver, kind, EXAMPLES[name], **world) for solver in REGISTRY for world in worlds.values()]
            yield f"| `{name}` | " + " | ".join(cells) + " |"
        if kind == "Joints":
            yield "\n– : such a joint leaves the plane, so a planar world refuses it whatever the solver."
        yield ""
    yield "## Options of Contact\n"
    able = [solver for solver in REGISTRY if answer(solver, "Constraints", ub.Contact()) == "yes"]
    yield "| option | " + " | ".join(f"`{solver}`" for solver in able) + " |"
    yield "|---" * (len(able) + 1) + "|"
    for name, (contact, planar) in CONTACT_OPTIONS.items():
        yield f"| {name} | " + " | ".join(answer(solver, "Constraints", contact, planar=planar) for solver in able) + " |"
    yield ""


def main(arguments: list[str]) -> int:
    if set(arguments) - {"--check"}:
        print(__doc__, file=sys.stderr)
        return 2
    text = "\n".join(lines())
    if "--check" not in arguments:
        with whole_text(PAGE) as file:
            file.write(text)
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print("docs/capabilities.md is not what the solvers say; run `python tools/make_capabilities.py`")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
