"""Writes docs/capabilities.md: which solver honours which element, asked of the solvers themselves.

    python tools/make_capabilities.py            write docs/capabilities.md
    python tools/make_capabilities.py --check    exit with 1 if docs/capabilities.md is not what would be written

One instance of every joint, force, constraint and shape class of the package is put into a model of its own, and every solver is asked
`handles(element, model)`. A class without an instance in EXAMPLES is an error, so that no element is left out. The page has one table per
kind, with a tick or a dash for every solver; reasons are folded below it, and refusals that only come with an option are the last table.
The rows about deformables are models of `deformable_cells.py`.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tools")]

import deformable_cells  # noqa: E402
import unibody as ub  # noqa: E402
from unibody import constraints, forces, joints, shapes  # noqa: E402
from unibody.model import Body  # noqa: E402
from unibody.simulation.whole_file import whole_text  # noqa: E402
from unibody.solvers import REGISTRY  # noqa: E402
from unibody.solvers.base import elements_of, reason_against  # noqa: E402

PAGE = ROOT / "docs" / "capabilities.md"
A, B, W = Body("a"), Body("b"), Body("world")
NONE = "–"
"""The answer where there is no such model."""

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
    "Tendon": ub.Tendon([[A.at(0, 0, 0.1), ub.TendonWrap(W.at(0, 0, 1), 0.1), B.at(0, 0, 0.1)]], stiffness=10.0),
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
    "PointCloud": ub.PointCloud([(0, 0, 0), (0.1, 0, 0)], radius=0.01),
    "Sphere": ub.Sphere(0.1),
    "Wire": ub.Wire([(0, 0, 0), (0.1, 0, 0)], radius=0.01),
}
PAIR = ("a", "b")
CONTACT_OPTIONS: dict[str, tuple[Any, bool]] = {
    "friction": (ub.Contact(friction=0.5), False),
    "static": (ub.Contact(friction=0.3, static=0.5), False),
    "torsion": (ub.Contact(friction=0.3, torsion=0.01), False),
    "torsion in a planar world": (ub.Contact(friction=0.3, torsion=0.01), True),
    "across": (ub.Contact(friction=0.3, across=0.1, direction=(1, 0, 0), between=PAIR), False),
    "across in a planar world": (ub.Contact(friction=0.3, across=0.1, direction=(1, 0, 0), between=PAIR), True),
    "restitution with impact 'newton'": (ub.Contact(restitution=0.5), False),
    "restitution with impact 'poisson'": (ub.Contact(restitution=0.5, impact="poisson"), False),
    "restitution with impact 'stronge'": (ub.Contact(restitution=0.5, impact="stronge"), False),
    "damping": (ub.Contact(damping=0.1), False),
    "pressure": (ub.Contact(pressure=1e6), False),
    "reach": (ub.Contact(reach=1e-3), False),
    "thickness": (ub.Contact(thickness=1e-3), False),
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

VARIANTS: dict[str, tuple[dict[str, str], ...]] = {
    "articulated": ({"rule": "rk4"}, {"rule": "dopri5"}),
    "lagrange": ({"rule": "rk4"}, {"method": "schur"}, {"method": "dense"}, {"coordinates": "maximal"}),
    "redmax": ({"rule": "implicit"}, {"rule": "bdf2"}),
    "barrier": ({"rule": "bdf2"},),
    "complementarity": ({"coordinates": "maximal"}, {"relaxation": "anitescu-potra"}),
    "impulse": ({"method": "local"}, {"coordinates": "maximal"}),
    "penalty": ({"rule": "semi-implicit"}, {"coordinates": "maximal"}),
}
"""Options of solvers that may change what they honour."""
BARS: tuple[dict[str, float], ...] = ({"damping": 0.1}, {"reach": 0.01}, {"stiffness": 1.0})
TOUCH = ub.Contact(friction=0.5, neighbours=True)  # so that the two bodies of the model may touch
TWISTING = ub.ContactMaterial(torsion=0.01)
SPECIAL: tuple[tuple[str, str, Any, dict[str, Any]], ...] = (
    *((f"`JointLimit({next(iter(o))}=…)`", "Constraints", ub.JointLimit("knee", -1.0, 1.0, **o), {}) for o in BARS),
    *((f"`DistanceRange({next(iter(o))}=…)`", "Constraints", ub.DistanceRange(B.at(), W.at(0, 0, 1), upper=2.0, **o), {}) for o in BARS),
    ("a joint with armature", "Joints", ub.Revolute(axis=(0, 0, 1)), {"armature": 0.1}),
    ("a joint with armature that closes a loop", "Joints", ub.Revolute(axis=(0, 0, 1)), {"armature": 0.1, "loop": True}),
    ("`JointFriction` in a `Ball`", "Forces", ub.JointFriction("knee", 0.2, radius=0.01), {"knee": ub.Ball()}),
    ("`ContactMaterial(torsion=…)`", "Constraints", TOUCH, {"material": TWISTING}),
    ("`ContactMaterial(torsion=…)` in a planar world", "Constraints", TOUCH, {"material": TWISTING, "planar": True}),
    ("`ContactMaterial(restitution=…)`", "Constraints", TOUCH, {"material": ub.ContactMaterial(restitution=0.5)}),
    ("`ContactMaterial(margin=…)`", "Constraints", TOUCH, {"material": ub.ContactMaterial(margin=0.001)}),
    ("`Contact` where there is a `Wire`", "Constraints", TOUCH, {"of": ub.Wire([(0, 0, 0), (0.1, 0, 0)], radius=0.01)}),
    ("`Contact` where there is a `PointCloud`", "Constraints", TOUCH, {"of": ub.PointCloud([(0, 0, 0)], radius=0.01)}),
)
"""Elements with options, or in places, that some solvers refuse: what the page calls it, its kind, it and its world."""

OPENING = """# What each solver can do

✓: the solver honours the element. –: it refuses every model with it, by name, says why and names the solvers that can; the reasons are
folded below each table. Nothing is silently ignored. Columns are solvers with their default options; what other options refuse is
[at the end](#conditions).

<details markdown="1">
<summary>Where this page comes from</summary>

`tools/make_capabilities.py` asks every solver `handles(element, model)`; do not edit the page. Each tick is a run:
`tests/agreement/test_capability_cells.py`, `test_contact_cells.py` and `test_deformable_cells.py` move every element in every solver that
says so, against another solver, a closed form or a law, and see every dash refused.

</details>
"""
NOTES = {
    "Joints": "Each in a tree, closing a loop, and in a planar world if it can be in one: a joint with a dash in the last column\n"
    "leaves the plane and is refused there when the model is built, whatever the solver.",
    "Shapes": "Shapes give mass and looks in every solver. Shapes that touch need a `Contact`, above, and a solver that takes it.",
}


def classes(package: Any, base: type) -> list[str]:
    """The element classes that a package exports; `Placed` is how any shape is put somewhere, not one more."""
    names = [n for n in package.__all__ if inspect.isclass(getattr(package, n)) and issubclass(getattr(package, n), base)]
    return sorted(n for n in names if n not in (base.__name__, "Placed"))


def model_with(
    kind: str, element: Any, planar: bool = False, loop: bool = False, armature: float = 0.0, knee: Any = None, material: Any = None,
    of: ub.Shape | None = None,
) -> ub.Model:  # fmt: skip
    """Two bodies on hinges, and the element where its kind goes; `armature` is that of the joint it is, `material` that of a shape; the
    second body is made `of` a shape."""
    b = ub.Builder(gravity=None, planar=planar)
    shape = element if kind == "Shapes" else of if of is not None else ub.Sphere(0.1)
    weight = {} if 0.0 < shape.volume < float("inf") else {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
    solid = shape if material is None else ub.Placed(shape, ub.Pose(), material=material)
    a, c = b.body("a", shape=ub.Sphere(0.1)), b.body("b", shape=solid, **weight)
    hinge = ub.Revolute(axis=(0, 0, 1))
    upright = ub.Pose.about((1, 0, 0), 0.5 * math.pi)  # the joint frames' z along the plane's normal −y
    b.joint("hip", hinge, b.world, a, X_PF=upright, X_BM=upright)
    own = element if kind == "Joints" and not loop else hinge if knee is None else knee
    b.joint("knee", own, a, c, X_PF=upright, X_BM=upright, armature=0.0 if loop else armature)
    if loop:
        b.joint("closing", element, b.world, c, X_PF=upright, X_BM=upright, armature=armature)
    if kind in ("Forces", "Constraints"):
        b.add(element)
    return b.build()


def asked(solver: ub.solvers.Solver, kind: str, element: Any, **world: Any) -> str:
    """The word yes, the solver's reason, or a dash where there is no such model."""
    try:
        model = model_with(kind, element, **world)
    except ub.ModelError:
        return NONE
    placed = {"Forces": [e for _, e in model.forces], "Constraints": [e for _, e in model.constraints]}.get(kind, [element])
    reasons = [r for e in placed if (r := reason_against(solver, e, model)) is not None]
    return "; ".join(reasons) or "yes"


def answer(solver: str, kind: str, element: Any, **world: Any) -> str:
    """What a solver with its default options says."""
    return asked(REGISTRY[solver](), kind, element, **world)


def mark(answers: list[str]) -> str:
    """✓ where all answers are yes, – where none is, (✓) between."""
    said = {a == "yes" for a in answers if a != NONE}
    return "✓" if said == {True} else "–" if True not in said else "(✓)"


def reasons_table(refused: list[tuple[str, str, str]]) -> Iterator[str]:
    """(element, solver, reason) with every reason once: elements that the same solvers refuse for the same reason share a row. A reason
    that begins with the element's class says "it" instead."""
    solvers: dict[tuple[str, str], list[str]] = {}
    for element, solver, reason in refused:
        first, rest = reason.split(" ", 1)
        solvers.setdefault((element, f"it {rest}" if first in EXAMPLES and not rest.startswith("in ") else reason), []).append(solver)
    elements: dict[tuple[str, str], list[str]] = {}
    for (element, reason), by in solvers.items():
        elements.setdefault((", ".join(by), reason), []).append(element)
    yield "| element | refused by | because |"
    yield "|---|---|---|"
    for (by_all, reason), names in elements.items():
        yield f"| {'; '.join(names)} | {by_all} | {reason} |"


def folded(summary: str, refused: list[tuple[str, str, str]]) -> Iterator[str]:
    if refused:
        yield f'\n<details markdown="1">\n<summary>{summary}</summary>\n'
        yield from reasons_table(refused)
        yield "\n</details>"
    yield ""


def table_of(kind: str, package: Any, base: type) -> Iterator[str]:
    """A row per class, a column per solver; joints in every world that they can be in, with a last column for planar ones."""
    joint = kind == "Joints"
    worlds: dict[str, dict[str, bool]] = {"": {}}
    if joint:
        worlds = {"in a tree": {}, "closing a loop": {"loop": True}, "in a planar world": {"planar": True}}
    yield "| element | " + " | ".join([*(f"`{solver}`" for solver in REGISTRY), *(["planar"] if joint else [])]) + " |"
    yield "|---" + "|:-:" * (len(REGISTRY) + joint) + "|"
    refused, partly = [], False
    for name in classes(package, base):
        if name not in EXAMPLES:
            raise SystemExit(f"{package.__name__}.{name} has no instance in EXAMPLES of tools/make_capabilities.py; add one")
        said = {solver: {where: answer(solver, kind, EXAMPLES[name], **world) for where, world in worlds.items()} for solver in REGISTRY}
        cells = [mark(list(said[solver].values())) for solver in REGISTRY]
        partly = partly or "(✓)" in cells
        if joint:
            flat = all(answers["in a planar world"] != NONE for answers in said.values())
            cells.append("✓" if flat else "–")
        yield f"| `{name}` | " + " | ".join(cells) + " |"
        refused += [
            (f"`{name}` {where}".strip(), f"`{solver}`", reason)
            for solver, answers in said.items() for where, reason in answers.items() if reason not in ("yes", NONE)
        ]  # fmt: skip
    if partly:
        yield "\n(✓): not everywhere; the reasons say where not."
    yield from folded("Why not", refused)


def contact_options() -> Iterator[str]:
    able = [solver for solver in REGISTRY if answer(solver, "Constraints", ub.Contact()) == "yes"]
    yield "| option | " + " | ".join(f"`{solver}`" for solver in able) + " |"
    yield "|---" + "|:-:" * len(able) + "|"
    refused = []
    for name, (contact, planar) in CONTACT_OPTIONS.items():
        said = {solver: answer(solver, "Constraints", contact, planar=planar) for solver in able}
        yield f"| {name} | " + " | ".join(mark([said[solver]]) for solver in able) + " |"
        refused += [(name, f"`{solver}`", reason) for solver, reason in said.items() if reason != "yes"]
    yield from folded("Why not", refused)


def reasons_against(solver: ub.solvers.Solver, model: ub.Model) -> list[str]:
    """Why it does not run a model, element by element, each once."""
    return list(dict.fromkeys(r for _, e in elements_of(model) if (r := reason_against(solver, e, model)) is not None))


def deformables() -> Iterator[str]:
    """A row for everything that can be done with deformables."""
    yield "| what | " + " | ".join(f"`{solver}`" for solver in REGISTRY) + " |"
    yield "|---" + "|:-:" * len(REGISTRY) + "|"
    refused = []
    for row in deformable_cells.ROWS:
        model = row.model()
        said = {solver: reasons_against(cls(), model) for solver, cls in REGISTRY.items()}
        yield f"| {row.name} | " + " | ".join("–" if said[solver] else "✓" for solver in REGISTRY) + " |"
        refused += [(row.name, f"`{solver}`", "; ".join(reasons[:1])) for solver, reasons in said.items() if reasons]
    # what refuses all deformables is said once
    every = {(solver, reason) for _, solver, reason in refused}
    whole = {pair for pair in every if sum((s, r) == pair for _, s, r in refused) == len(deformable_cells.ROWS)}
    all_rows = [("all", *pair) for pair in dict.fromkeys(entry[1:] for entry in refused) if pair in whole]
    yield from folded("Why not", all_rows + [entry for entry in refused if entry[1:] not in whole])


def conditions() -> list[tuple[str, str, str]]:
    """(element, solver with option, reason): what default options honour and others do not, and elements with options of their own."""
    everything: list[tuple[str, str, Any, dict[str, Any]]] = [
        (f"`{name}`", kind, EXAMPLES[name], {}) for kind, package, base in KINDS for name in classes(package, base)
    ]
    defaults = {solver: cls() for solver, cls in REGISTRY.items()}
    out = []

    def only_special(solver: ub.solvers.Solver, kind: str, element: Any) -> bool:
        """Whether the solver honours the element's class as such, so that its option or its place is what it refuses."""
        return asked(solver, kind, EXAMPLES[type(element).__name__]) == "yes"

    for name, kind, element, world in SPECIAL:
        for solver, default in defaults.items():
            reason = asked(default, kind, element, **world)
            if reason != "yes" and only_special(default, kind, element):
                out.append((name, f"`{solver}`", reason))
    for solver, default in defaults.items():
        for options in VARIANTS.get(solver, ()):
            variant = REGISTRY[solver](**options)
            label = f"`{solver}:{':'.join(f'{k}={v}' for k, v in options.items())}`"
            special = [entry for entry in SPECIAL if only_special(variant, *entry[1:3])]
            for name, kind, element, world in (*everything, *special):
                reason = asked(variant, kind, element, **world)
                if reason != "yes" and asked(default, kind, element, **world) == "yes":
                    out.append((name, label, reason))
    return out


def lines() -> Iterator[str]:
    yield OPENING
    for kind, package, base in KINDS:
        yield f"## {kind}\n"
        if kind in NOTES:
            yield NOTES[kind] + "\n"
        yield from table_of(kind, package, base)
    yield "## Options of Contact\n"
    yield "In the solvers that take `Contact`.\n"
    yield from contact_options()
    yield "## Deformables\n"
    yield "Cloth, rods and soft solids: what they are made of, what holds them, what acts on them and what they touch.\n"
    yield from deformables()
    yield "## Conditions\n"
    yield "A tick above is for plain elements and default options. Further conditions of a solver are on its page."
    yield from folded("Options that are refused", conditions())


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
