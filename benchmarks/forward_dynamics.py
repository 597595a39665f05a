"""Forward dynamics against Pinocchio's `aba` and MuJoCo's `mj_forward`: accelerations from (q, v, efforts), µs per evaluation.

    python benchmarks/forward_dynamics.py [--quick] [--plot FILE.png]

Chains of hinges, a binary tree of hinges, a humanoid of 30 degrees of freedom, and a tree that mixes all joints the three engines
share under a floating root. One process, the engines by turns; the minimum counts, the median is in parentheses. Three ways to call ours:

    public     `bound.forward_dynamics(q, v, effort)`, from Python, once per evaluation
    lean       `bound.forward_dynamics_function().evaluate()` on arrays prepared beforehand, from Python, once per evaluation: what a
               control loop would use
    compiled   the evaluation repeated inside compiled code: what `Simulation.run` does

To be fair: Pinocchio's data are preallocated and its vectors converted beforehand; MuJoCo has neither geoms nor contacts nor
constraints, and its state is set beforehand, as that of `lean`. The engines are checked to agree before the clock starts.
Ratios are given for `lean`, which like theirs is called from Python every time, and for `compiled`, where only they pay for the call
(below 1 µs: it matters for ten bodies, not for a hundred). Pinocchio's data hold third-order tensors, 32 n³ bytes, so that 1000 bodies
do not fit into memory: there (~) it is given a model of the same kind with a few hundred bodies and its time is scaled by their
number, which is to its advantage, since the small model stays in the cache.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial

import numpy as np
from common import Time, interleaved, machine, plot, repeated, table, verdict

import unibody as ub
from unibody.coordinates.stages import EVALUATE_STAGE, Evaluate
from unibody.kernel import Floats, Ints, kernel

GOAL_PINOCCHIO, GOAL_MUJOCO = 2.0, 3.0
SHARED = ("revolute", "prismatic", "universal", "ball", "planar", "translational", "hinges", "ball on slide")


@kernel
def evaluate_often(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, times: int, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    for _ in range(times):
        Evaluate(stages[EVALUATE_STAGE], layout, ints, constants, stages, control, 0.0, work_out, q_out, v_out)


@dataclass
class Row:
    """One model; seconds per evaluation."""

    model: str
    bodies: int
    nv: int
    scaled: bool
    times: dict[str, Time]

    def ratio(self, peer: str, ours: str) -> float:
        return self.times[peer].least / self.times[ours].least


def models(quick: bool) -> dict[str, tuple[ub.Model, ub.Model]]:
    """Each model, and the one that Pinocchio gets: the same, or one of its kind that fits into memory."""
    import zoo

    rng = np.random.default_rng(0)
    out = {"chain 10": zoo.chain(10), "chain 100": zoo.chain(100), "humanoid 30": zoo.humanoid(rng), "mixed joints, free root": mixed(rng)}
    pairs = {name: (model, model) for name, model in out.items()}
    if not quick:
        pairs["chain 1000"] = zoo.chain(1000), zoo.chain(300)
        pairs["binary tree 1023"] = zoo.binary_tree(10, rng), zoo.binary_tree(8, rng)
    return pairs


def mixed(rng: np.random.Generator, n: int = 40) -> ub.Model:
    """Every joint that the three engines share, five times over, on a floating body."""
    import zoo

    b = ub.Builder()
    b.body("root", mass=5.0, inertia=zoo.inertia(rng, 5.0))
    for i in range(n):
        mass = float(rng.uniform(0.5, 2.0))
        body = b.body(f"body{i}", mass=mass, com=rng.uniform(-0.1, 0.1, 3), inertia=zoo.inertia(rng, mass))
        parent = "root" if i < 4 else f"body{i - 4}"
        b.joint(f"joint{i}", zoo.JOINTS[SHARED[i % len(SHARED)]](rng), parent=parent, child=body, X_PF=zoo.pose(rng), X_BM=zoo.pose(rng))
    return b.build()


def measure(name: str, model: ub.Model, smaller: ub.Model, rounds: int) -> Row:
    import mujoco
    import pinocchio as pin

    import zoo
    from peers.to_mujoco import to_mujoco
    from peers.to_pinocchio import to_pinocchio

    rng = np.random.default_rng(1)
    q, v = zoo.random_state(model, rng)
    effort = rng.uniform(-1.0, 1.0, model.nv)
    bound = ub.solvers.Articulated().bind(model)
    lean, theirs, others = bound.forward_dynamics_function(), to_pinocchio(smaller), to_mujoco(model)
    ours = bound.forward_dynamics(q, v, effort)
    check(name, ours, np.array(lean(q, v, effort)))
    check(name, ours, others.forward_dynamics(q, v, effort))
    state = (q, v, effort) if smaller is model else (*zoo.random_state(smaller, rng), effort[: smaller.nv])
    check(name, ub.solvers.Articulated().bind(smaller).forward_dynamics(*state), theirs.forward_dynamics(*state))
    s = bound.system
    q_all, v_all = s.start()
    q_all[: model.nq], v_all[: model.nv] = q, v
    control = model.neutral_control()
    stages = s.stages(control)
    control[: model.nv] = effort
    pq, pv, ptau = theirs.q(state[0]), theirs.v(state[1]), theirs.v(state[2])
    often = evaluate_often.load()
    contenders = {
        "public": repeated(lambda: bound.forward_dynamics(q, v, effort)),
        "lean": repeated(lean.evaluate),
        "compiled": lambda times: often(s.layout, s.ints, s.constants, stages, control, times, s.work, q_all, v_all),
        "pinocchio": repeated(partial(pin.aba, theirs.model, theirs.data, pq, pv, ptau)),
        "mujoco": repeated(partial(mujoco.mj_forward, others.model, others.data)),
    }
    times = interleaved(contenders, rounds, block=4e-4)
    factor = (model.n_bodies - 1) / (smaller.n_bodies - 1)
    times["pinocchio"] = Time(factor * times["pinocchio"].least, factor * times["pinocchio"].median)
    return Row(name, model.n_bodies - 1, model.nv, smaller is not model, times)


def check(name: str, ours: np.ndarray, theirs: np.ndarray) -> None:
    """Engines agree to round-off; long chains are ill-conditioned: cond(M) grows as n⁴, and round-off with it."""
    difference = float(np.abs(theirs - ours).max() / np.abs(ours).max())
    assert difference < 1e-6, f"{name}: engines disagree by {difference}"


LABELS = {"compiled": "Unibody", "pinocchio": "Pinocchio", "mujoco": "MuJoCo"}


def report(rows: list[Row]) -> str:
    times = table(
        ["µs per evaluation", "bodies", "nv", "public", "lean", "compiled", "ns per body", "Pinocchio", "MuJoCo"],
        [
            [
                r.model, r.bodies, r.nv, r.times["public"], r.times["lean"], r.times["compiled"],
                f"{1e9 * r.times['compiled'].least / r.bodies:.0f}", f"{'~' * r.scaled}{r.times['pinocchio']}", r.times["mujoco"],
            ]
            for r in rows
        ],
    )  # fmt: skip
    goals = {"pinocchio": GOAL_PINOCCHIO, "mujoco": GOAL_MUJOCO}
    ratios = table(
        ["faster by", *(f"than {peer}, {ours}" for peer in goals for ours in ("lean", "compiled"))],
        [[r.model, *(verdict(r.ratio(peer, ours), goal) for peer, goal in goals.items() for ours in ("lean", "compiled"))] for r in rows],
    )
    return f"{times}\n\n{ratios}"


def main(arguments: list[str] | None = None) -> int:
    quick = "--quick" in (sys.argv[1:] if arguments is None else arguments)
    rows = [measure(name, *pair, rounds=50 if quick else 250) for name, pair in models(quick).items()]
    print(report(rows))
    chains = [(LABELS[k], r.bodies, r.times[k].least) for r in rows if r.model.startswith("chain") for k in LABELS]
    print(f"log–log plot of the chains: {plot(chains, 'Forward dynamics of chains')}")
    print(f"\nminimum (median); goals: {GOAL_PINOCCHIO:g}× Pinocchio, {GOAL_MUJOCO:g}× MuJoCo. {machine()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
