"""Piles at rest under the complementarity solver, beside MuJoCo and PyBullet: spheres, boxes and dolls with joints, the same in all.

    python benchmarks/contact_piles.py [spheres] [boxes] [dolls] [--quick] [--alone] [--plot FILE.png]

N bodies of 1 kg and 1 m settle in a bin, eight layers high, each layer shifted against the one below; dolls have ten boxes and nine hinges
with ranges, and 5 s to come to rest. μ = 0.5, dt = 5 ms, nobody sleeps. The contenders take turns of 20 steps; a step's processor time is
the least of the last turns. Then, by our own collision on everybody's poses: the deepest and the mean overlap, and the creep, the median
and the largest speed of the bodies' middles over the last turns. What is left of the laws of contact, as velocity, only our own reports
can tell; it is given for the default (exact as far as its work allows) and for 2, 4, 7, 10, 20 and 40 sweeps (2, 4, 10, 20 in large ones).
MuJoCo takes part with Newton's method, its default (not in piles of more than 300 spheres or boxes: with 1000 a step takes seconds), and
with conjugate gradients; where Newton's method takes part, also with the hardest contacts that it takes for stable, to see what less
overlap costs it. "At equal residual" is the fastest of our runs whose mean overlap and median creep are both no larger than the smallest of
the others', or, where there is none, than those of the others one by one; how many times as long a step of each of the others takes is
last. `--alone`: without the others. Goals: time ~ N^1.1 or better; at equal residual, faster than all others.
"""

from __future__ import annotations

import sys
import tempfile
import time
from typing import Any

import numpy as np
from common import machine, plot, table

import unibody as ub
from peers.with_contact import Bullet, Mujoco
from unibody.collision.rigid import RigidCollision

DT, FRICTION, LAYERS = 5e-3, 0.5, 8
TURN = 20
"""Steps of a turn."""
TURNS = ((400, 25), (1500, 12), (4000, 8), (10**9, 7))
"""Turns of piles of up to so many bodies; of these the last third or so counts."""
DOLLS_TURNS = 50
PEERS = ("MuJoCo Newton", "MuJoCo CG", "PyBullet")
NEWTON = 300
"""Spheres or boxes up to which MuJoCo's Newton method is asked."""
SWEEPS, FEW, LARGE = (2, 4, 7, 10, 20, 40), (2, 4, 10, 20), 2000
"""Of our runs, and of those of piles of so many bodies."""


class Ours:
    def __init__(self, model: ub.Model, **options: Any):
        self.bound = ub.solvers.Complementarity(**options).bind(model)
        self.state, self.memory = self.bound.start()
        self.control, self.residuals = model.neutral_control(), [0.0]
        self._contacts = 0

    def step(self, steps: int) -> None:
        self.residuals = []
        for _ in range(steps):
            made = self.bound.step(self.state, self.memory, self.control, DT)
            self.state, self.memory = made.state, made.memory
            self.residuals.append(made.report.residual)

    def poses(self) -> np.ndarray:
        system = self.bound.system
        system.look(self.state.t, self.state.q.copy(), self.state.v.copy(), self.control)
        return system.poses().copy()

    def contacts(self) -> int:
        return int(self.bound.memory_schema.view(self.memory).contact_count)


def walls(b: ub.Builder, x: float, y: float) -> None:
    """A floor and four walls, half-spaces all."""
    b.body("floor", shape=ub.Plane(), kind="static")
    for k, n in enumerate(np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)], float)):
        turn = ub.Pose.about(np.cross((0, 0, 1), n), 0.5 * np.pi, p=tuple(-n * (x, y, 0)))
        b.body(f"wall{k}", shape=ub.Plane(), kind="static", X_WB=turn)


def pile(count: int, shape: Any, seed: int = 0) -> ub.Model:
    """Layers of spheres or boxes, a little apart and out of line."""
    rng, b = np.random.default_rng(seed), ub.Builder()
    side = max(2, round((count / LAYERS) ** 0.5))
    half = 0.5 * 1.03 * (side + 0.5)
    walls(b, half, half)
    rise = 1.0 if isinstance(shape, ub.Box) else 0.75
    for k in range(count):
        layer = k // side**2
        shift = 0.515 * (layer % 2)
        p = np.array([1.03 * (k % side) + shift, 1.03 * (k // side % side) + shift, 0.0]) - half + 0.515
        p[2] = 0.505 + rise * layer * 1.01
        p[:2] += 0.005 * rng.uniform(-1, 1, 2)
        b.body(f"b{k}", shape=shape, mass=1.0, X_WB=ub.Pose.about((0, 0, 1), 0.005 * rng.uniform(), p=p))
    b.add(ub.Contact(friction=FRICTION))
    return b.build()


LIMBS = (
    # name, parent, size, centre, joint, axis, range; of a doll that lies along x
    ("head", "trunk", (0.22, 0.18, 0.2), (0.48, 0, 0), (0.35, 0, 0), (0, 1, 0), (-0.7, 0.7)),
    *(
        limb
        for side, y in (("left", 1.0), ("right", -1.0))
        for limb in (
            (f"arm_{side}", "trunk", (0.3, 0.09, 0.09), (0.1, 0.26 * y, 0), (0.27, 0.26 * y, 0), (0, 1, 0), (-1.5, 1.5)),
            (f"hand_{side}", f"arm_{side}", (0.3, 0.08, 0.08), (-0.24, 0.26 * y, 0), (-0.07, 0.26 * y, 0), (0, 1, 0), (-2.0, 0.0)),
            (f"thigh_{side}", "trunk", (0.4, 0.13, 0.13), (-0.56, 0.1 * y, 0), (-0.33, 0.1 * y, 0), (0, 1, 0), (-1.5, 0.4)),
            (f"shin_{side}", f"thigh_{side}", (0.4, 0.11, 0.11), (-0.99, 0.1 * y, 0), (-0.78, 0.1 * y, 0), (0, 1, 0), (0.0, 2.0)),
        )
    ),
)


def dolls(count: int, seed: int = 0) -> ub.Model:
    """Dolls that lie in layers across each other."""
    rng, b = np.random.default_rng(seed), ub.Builder()
    side = max(1, round((count / LAYERS) ** 0.5))
    walls(b, 0.9 * side + 0.1, 0.9 * side + 0.1)
    for k in range(count):
        layer, i, j = k // side**2, k % side, k // side % side
        place = np.array([1.8 * (i - 0.5 * (side - 1)), 1.8 * (j - 0.5 * (side - 1)), 0.2 + 0.28 * layer])
        X = ub.Pose.about((0, 0, 1), 0.5 * np.pi * (layer % 2) + 0.2 * rng.uniform(-1, 1), p=place)
        X = X @ ub.Pose((0.25, 0, 0))
        made = {"trunk": b.body(f"d{k}.trunk", shape=ub.Box((0.6, 0.34, 0.2)), mass=20.0, X_WB=X)}
        where = {"trunk": np.zeros(3)}
        for name, parent, size, centre, joint, axis, (low, high) in LIMBS:
            where[name] = np.array(centre)
            made[name] = b.body(f"d{k}.{name}", shape=ub.Box(size), mass=1000.0 * float(np.prod(size)), X_WB=X @ ub.Pose(centre))
            ends = {"X_PF": ub.Pose(np.array(joint) - where[parent]), "X_BM": ub.Pose(np.array(joint) - centre)}
            hinge = b.joint(f"d{k}.{name}.j", ub.Revolute(axis=axis), made[parent], made[name], **ends)
            b.add(ub.JointLimit(hinge, lower=low, upper=high), name=f"d{k}.{name}.range")
    b.add(ub.Contact(friction=FRICTION))
    return b.build()


class Course:
    """One contender over its turns: processor time of each, and what is seen of it at the end."""

    def __init__(self, contender: Any, model: ub.Model, turns: int):
        self.contender, self.turns, self.seconds, self.count = contender, turns, [], max(2, min(5, turns // 3))
        self.moving = np.array([b.kind == "dynamic" for b in model.bodies])

    def turn(self) -> None:
        if len(self.seconds) == self.turns - self.count:
            self.before = self.contender.poses()[self.moving, 9:]
        began = time.process_time()
        self.contender.step(TURN)
        self.seconds.append((time.process_time() - began) / TURN)

    def facts(self, rigid: RigidCollision) -> dict[str, Any]:
        c, X = self.contender, self.contender.poses()
        speed = np.linalg.norm(X[self.moving, 9:] - self.before, axis=1) / (self.count * TURN * DT)
        deep = -np.minimum(rigid.find(X).gap, 0.0)
        return {
            "step": min(self.seconds[-self.count :]), "contacts": c.contacts(), "deepest": float(deep.max(initial=0.0)),
            "overlap": float(deep[deep > 0.0].mean()) if (deep > 0.0).any() else 0.0, "creep": float(np.median(speed)),
            "fastest": float(speed.max(initial=0.0)), "residual": float(np.median(c.residuals)) if isinstance(c, Ours) else None,
        }  # fmt: skip


def run(model: ub.Model, turns: int, newton: bool, folder: str, alone: bool = False) -> dict[str, dict[str, Any]]:
    """All contenders on one model, by turns: what is told of each."""
    makes: dict[str, Any] = {"ours": lambda: Ours(model)}
    makes |= {f"ours, {n} sweeps": lambda n=n: Ours(model, method="pgs", iterations=n) for n in (SWEEPS if model.n_bodies < LARGE else FEW)}
    if newton and not alone:
        makes["MuJoCo Newton"] = lambda: Mujoco(model, FRICTION, DT)
        makes["MuJoCo CG, hard"] = lambda: Mujoco(model, FRICTION, DT, "CG", hard=True)
    if not alone:
        makes |= {"MuJoCo CG": lambda: Mujoco(model, FRICTION, DT, "CG"), "PyBullet": lambda: Bullet(model, FRICTION, DT, folder)}
    courses = {}
    for name, make in makes.items():
        try:
            courses[name] = Course(make(), model, turns)
        except ImportError:
            continue
    for _ in range(turns):
        for course in courses.values():
            course.turn()
    rigid = RigidCollision(model, 1e-3)
    return {name: course.facts(rigid) for name, course in courses.items()}


def as_good(facts: dict[str, dict[str, Any]], peers: list[str]) -> str | None:
    """The fastest of our runs that leaves no more overlap and no more creep than the best of these."""
    most = {what: min(facts[p][what] for p in peers) for what in ("overlap", "creep")}
    good = [name for name, f in facts.items() if name.startswith("ours") and all(f[what] <= most[what] for what in most)]
    return min(good, key=lambda name: facts[name]["step"], default=None)


def verdicts(pile_of: str, facts: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Lines of the second table: our fastest run as good as all the others, or as each of them; and what they take."""
    there = [p for p in PEERS if p in facts]
    chosen = as_good(facts, there) if there else None
    pairs = [(chosen, there)] if chosen else [(as_good(facts, [p]), [p]) for p in there]
    lines = []
    for name, against in pairs:
        times = [f"{facts[p]['step'] / facts[name]['step']:.2f}" if name and p in against else "–" for p in PEERS]
        whom = "all" if chosen else against[0]
        lines.append([pile_of, whom, name or "none of ours", f"{1e3 * facts[name]['step']:.2f}" if name else "–", *times])
    return lines


def main(arguments: list[str] | None = None) -> None:
    arguments = sys.argv[1:] if arguments is None else arguments
    quick = "--quick" in arguments
    print(machine())
    sizes = (64, 128) if quick else (100, 300, 1000, 3000, 5000)
    few = (8,) if quick else (8, 24, 80, 240)
    kinds: dict[str, Any] = {
        "spheres": (sizes, lambda n: pile(n, ub.Sphere(0.5))), "boxes": (sizes, lambda n: pile(n, ub.Box((1.0, 1.0, 1.0)))),
        "dolls": (few, dolls),
    }  # fmt: skip
    lines, equal, times = [], [], []
    chosen = [a for a in arguments if a in kinds] or list(kinds)
    with tempfile.TemporaryDirectory() as folder:
        for kind in chosen:
            counts, make = kinds[kind]
            for n in counts:
                turns = DOLLS_TURNS if kind == "dolls" else 10 if quick else next(t for most, t in TURNS if n <= most)
                all_of = run(make(n), turns, kind == "dolls" or n <= NEWTON, folder, "--alone" in arguments)
                for name, f in all_of.items():
                    residual = "–" if f["residual"] is None else f"{f['residual']:.0e}"
                    lengths = [f"{1e3 * f[k]:.3g}" for k in ("deepest", "overlap", "creep", "fastest")]
                    lines.append([f"{n} {kind}", name, f"{1e3 * f['step']:.2f}", f["contacts"], residual, *lengths])
                    times.append((f"{kind}, {name}", float(n), f["step"]))
                    print("  ".join(map(str, lines[-1])), flush=True)
                found = verdicts(f"{n} {kind}", all_of)
                equal += found
                print("\n".join("  ".join(line) for line in found), flush=True)
    head = ["pile", "by", "ms a step", "contacts", "residual m/s", "deepest mm", "overlap mm", "creep mm/s", "fastest mm/s"]
    print(table(head, lines))
    print(table(["at equal residual", "as good as", "ours", "ms a step", *(f"{p} takes ×" for p in PEERS)], equal))
    for label in dict.fromkeys(t[0] for t in times):
        mine = np.array([t[1:] for t in times if t[0] == label])
        if len(mine) > 1:
            slope = np.polyfit(np.log(mine[:, 0]), np.log(mine[:, 1]), 1)[0]
            print(f"{label}: time grows as N^{slope:.2f}")
    print(plot(times, "a step of a pile at rest"))


if __name__ == "__main__":
    main(sys.argv[1:])
