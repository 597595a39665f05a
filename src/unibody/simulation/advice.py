"""What newcomers get wrong, each told in one line: a fall without a floor, ground that nothing touches, bodies inside each other.

Before a run it is told from the model. A group of bodies that nothing connects with the ground (`unibody.model.connections`) flies; where
there is weight and nothing to land on, it falls for ever. What begins with a velocity is thrown, and a body with a wrench of its own may
fly, so that these are left alone. After a run it is told from the state: a body has fallen more than `FAR` times the size of the model and
nothing has slowed it, v² > g d (free fall has 2 g d).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from unibody.constraints.contact import Contact
from unibody.coordinates.convert import poses_and_twists
from unibody.forces import BodyDamping
from unibody.model import Model, State
from unibody.model.connections import groups, holders, loose
from unibody.rules import RULES
from unibody.simulation.energy_watch import length_of
from unibody.solvers import Solver
from unibody.solvers.base import implicit_solvers
from unibody.solvers.stiffness import UNSTABLE, stiffness

FAR = 100.0
SHOWN = 3
"""Names in a line."""
WIDER = 2.0
"""By how much larger λ may be for the rule of Runge and Kutta."""
WORTH_LOOKING = 200
"""Degrees of freedom beyond which stiffness is not looked at unasked."""
APART = "move them apart, or give solid=False to what is only seen"


def before_run(model: Model) -> list[str]:
    """What is probably not meant in a model."""
    flying, soft = _flying(model), loose(model)
    if not flying and not soft:
        return []
    touching = any(getattr(c, "surfaces", False) for _, c in model.constraints)
    floors = [b.name for b in model.bodies if b.kind != "dynamic" and any(placed.solid for placed in b.shapes)]
    solid = soft or any(placed.solid for group in flying for i in group for placed in model.bodies[i].shapes)
    if floors and solid and not touching:
        return [f"ground {_quoted(floors)} touches nothing: no Contact in the model; b.add(ub.Contact(friction=0.5))"]
    ground = set(groups(model)[0])
    landing = any(placed.solid for i in ground for placed in model.bodies[i].shapes) or any(ground.intersection(h) for h in holders(model))
    if (touching and landing) or not np.any(model.gravity):
        return []
    falling = [group[0] for group in flying if not any(any(model.bodies[i].V_WB) or _moves(model, i) for i in group)]
    names = [model.bodies[i].name for i in falling] + [d.name for d in soft if not np.any(d.v0)]
    if not names:
        return []
    return [f"{_quoted(names)} {'falls' if len(names) == 1 else 'fall'} for ever: nothing to land on; {_remedy(touching)}"]


def after_run(model: Model, start: State, end: State) -> str | None:
    """What a run has shown: something has fallen far, at ever growing speed."""
    weight, size = float(np.linalg.norm(model.gravity)), length_of(model) or 1.0
    if not weight or end.t - start.t < sqrt(2.0 * FAR * size / weight):  # nothing falls so far in that time
        return None
    roots = [group[0] for group in groups(model)[1:]]
    if not roots:
        return None
    down = model.gravity / weight
    (began, _), (poses, twists) = poses_and_twists(model, start), poses_and_twists(model, end)
    for i in roots:
        fallen = float(down @ (np.array(poses[i].p) - np.array(began[i].p)))
        speed = float(down @ (poses[i].R @ twists[i][3:]))
        if fallen > FAR * size and speed > 0.0 and speed**2 > weight * fallen:
            touching = any(isinstance(c, Contact) for _, c in model.constraints)
            return f"'{model.bodies[i].name}' has fallen {fallen:.3g} m, ever faster ({speed:.3g} m/s): {_remedy(touching)}"
    return None


def overlap_line(model: Model, state: State) -> str | None:
    """The deepest of the bodies that begin inside each other, of those that may touch."""
    from unibody.collision.rigid.overlapping import overlaps  # kernels, which only contact needs

    poses, _ = poses_and_twists(model, state)
    found = overlaps(model, np.array([[*np.ravel(pose.R), *pose.p] for pose in poses]))
    if not found:
        return None
    one, other, depth = found[0]
    more = f" (and {len(found) - 1} more pairs do)" if len(found) > 1 else ""
    return f"'{one}' and '{other}' begin {depth:.3g} m inside each other{more}; {APART}"


def stiff_line(model: Model, solver: Solver, dt: float) -> str | None:
    """The force that explicit steps of dt cannot follow, so that what it holds may shake for ever, by bounds or limits no farther than
    they."""
    rule = RULES.get(getattr(solver, "rule", ""))
    own_steps = rule is not None and rule.order is None
    if solver.forces != "explicit" or own_steps or not dt > 0.0:
        return None
    found = stiffness(model, dt, solver.name, WORTH_LOOKING)
    if found is None or found.load < UNSTABLE * (WIDER if getattr(solver, "rule", "") == "rk4" else 1.0):
        return None
    able = [f"solver='{name}'" for name in implicit_solvers(model)]
    return (
        f"'{found.element}' is stiff for solver '{solver.name}': steps of {dt:.3g} s may shake, they are stable up to about"
        f" {found.largest_dt:.2g} s; try {' or '.join([*able[:1], 'a smaller dt'])}"
    )


def _flying(model: Model) -> list[list[int]]:
    """Groups of bodies that nothing holds and no wrench of their own drives."""
    _, *apart = groups(model)
    driven = {
        model.body(bodies[0]) for _, force in model.forces
        if len(bodies := list(dict.fromkeys(force.bodies()))) == 1 and not isinstance(force, BodyDamping)
    }  # fmt: skip
    return [group for group in apart if not driven.intersection(group)]


def _moves(model: Model, i: int) -> bool:
    """Whether the joint that a body hangs on begins with a velocity."""
    return bool(np.any(model.tree_joints[i - 1].v0))


def _remedy(touching: bool) -> str:
    floor = "b.body('floor', ub.Plane(), kind='static')"
    return f"add a floor, {floor}{'' if touching else ' and b.add(ub.Contact(friction=0.5))'}, or give Builder(gravity=None)"


def _quoted(names: list[str]) -> str:
    listed = ", ".join(f"'{name}'" for name in names[:SHOWN])
    return listed + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
