"""Stiff springs between arbitrary bodies: largest stable step, and the time for one second at equal error, beside MuJoCo and PyBullet.

    python benchmarks/stiff_peers.py [--quick] [--sizes | --bridge] [6 12 …]

The scene is `stiff-chain`: a chain of hinged links with damped springs between next-nearest links, to the world, and from tip to root,
released at rest with the springs at their rest lengths, so that gravity stretches them. In MuJoCo springs are tendons (`implicit`
integrator: its derivatives are those with respect to velocity); PyBullet has none, so their efforts are computed by us and given in every
step (the time of that is not counted). A step is stable if within two seconds no joint turns faster than ten times what a fall of
the whole chain could give. The error is that of the tip's position after one second, against Runge–Kutta 4 with a tiny step.

`--sizes`: a step of 10 ms of chains of 6 to 800 links beside MuJoCo's `discrete` integrator (its best for stiff springs since
version 4: implicit in springs and dampers of tendons, too), by turns, the thread's processor time, least of the turns; and the tip's error
after 0.1 s of such steps, against 64 times smaller ones of RedMax's second order. `--bridge`: the same of the cable-stayed bridge with 6 to
800 deck bodies and rigid towers, without drag, and of its middle. Its loop is two rows here, held exactly, and one of MuJoCo's equality
constraints (`connect`), which are soft, there.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from common import machine, table

import unibody as ub
import unibody.scenes as scenes

LINKS, DAMPING_RATIO = 12, 0.05
ALLOWED = 1e-3
"""Error of the tip [m] at which times are compared."""


def scene(stiffness: float) -> ub.Model:
    """Springs with a twentieth of critical damping of one link's mass."""
    return scenes.build("stiff-chain", n=LINKS, stiffness=stiffness, damping=2.0 * DAMPING_RATIO * np.sqrt(stiffness))


class Ours:
    """RedMax, or the explicit articulated solver."""

    def __init__(self, model: ub.Model, name: str, rule: str):
        self.model = model
        self.solver = ub.solvers.RedMax(rule=rule) if name == "redmax" else ub.solvers.Articulated(rule=rule)

    def run(self, dt: float, seconds: float) -> tuple[np.ndarray, float, float]:
        """Joint coordinates at the end, the largest joint velocity, and the time it took."""
        sim = ub.Simulation(self.model, self.solver, dt=dt)
        steps = round(seconds / dt)
        began = time.perf_counter()
        try:
            rec = sim.run(steps * dt, every=max(1, steps // 50))
        except ub.StepFailed:
            return np.full(self.model.nq, np.nan), np.inf, np.inf
        spent = time.perf_counter() - began
        return sim.state.q, float(np.abs(rec.v).max()), spent


class Mujoco:
    """One of its integrators, by name; those that this version does not have are not asked for."""

    def __init__(self, model: ub.Model, integrator: str):
        from peers.to_mujoco import to_mujoco

        self.model, self.integrator = model, integrator
        self.make = lambda dt: to_mujoco(model, dt)

    def run(self, dt: float, seconds: float) -> tuple[np.ndarray, float, float]:
        import mujoco

        peer = self.make(dt)
        peer.model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{self.integrator.upper()}")
        peer.set_state(self.model.start_q(), self.model.start_v())
        steps, fastest, spent = round(seconds / dt), 0.0, 0.0
        for _ in range(50):
            began = time.perf_counter()
            mujoco.mj_step(peer.model, peer.data, nstep=max(1, steps // 50))
            spent += time.perf_counter() - began
            fastest = max(fastest, float(np.abs(peer.data.qvel).max()))
            if not np.isfinite(peer.data.qvel).all() or fastest > 1e4:
                return np.full(self.model.nq, np.nan), np.inf, np.inf
        return np.array(peer.data.qpos), fastest, spent


class Bullet:
    """Springs by NumPy, once per step."""

    def __init__(self, model: ub.Model):
        self.model = model
        self.bare = replace(model, forces=tuple((n, f) for n, f in model.forces if not isinstance(f, ub.SpringDamper)))

    def run(self, dt: float, seconds: float) -> tuple[np.ndarray, float, float]:
        from peers.to_bullet import to_bullet

        peer = to_bullet(self.bare, dt)
        peer.set_state(self.model.start_q(), self.model.start_v())
        bound = ub.solvers.Articulated().bind(self.model)
        steps, fastest, spent = round(seconds / dt), 0.0, 0.0
        q, before = self.model.start_q(), self.model.start_q()
        bare = ub.solvers.Articulated().bind(self.bare)
        for _ in range(steps):
            v = (q - before) / dt
            M = bare.mass_matrix(q)
            effort = M @ (bound.forward_dynamics(q, v) - bare.forward_dynamics(q, v))
            for k, joint in enumerate(peer.joints):
                peer.bullet.setJointMotorControl2(
                    peer.body, joint, peer.bullet.TORQUE_CONTROL, force=float(effort[k]), physicsClientId=peer.client
                )
            began = time.perf_counter()
            peer.step(1)
            spent += time.perf_counter() - began
            before, q = q, peer.q()
            fastest = max(fastest, float(np.abs(q - before).max()) / dt)
            if not np.isfinite(q).all() or fastest > 1e4:
                peer.close()
                return np.full(self.model.nq, np.nan), np.inf, np.inf
        peer.close()
        return q, fastest, spent


def tip(model: ub.Model, q: np.ndarray) -> np.ndarray:
    """The end of the last link in the plane of the chain, from the joint angles (hinges about the same axis)."""
    bound = ub.solvers.Articulated().bind(model)
    bound.push(q, np.zeros(model.nv))
    from unibody.coordinates.workspace import X_WB

    X = bound.system.view(X_WB).reshape(-1, 12)[-1]
    return X[9:] + X[:9].reshape(3, 3) @ np.array([0.125, 0.0, 0.0])


def largest_stable(run: Callable, limit: float, quick: bool) -> float:
    """The largest step of the form 0.1 / 2^(k/2) s that stays within a speed that gravity can explain."""
    for k in range(0, 34, 2 if quick else 1):
        dt = 0.1 / 2 ** (k / 2)
        _, fastest, _ = run(dt, 2.0)
        if np.isfinite(fastest) and fastest < limit:
            return dt
    return np.nan


def integrators() -> list[str]:
    """MuJoCo's for stiff forces, as far as this version has them."""
    import mujoco

    return [name for name in ("implicit", "discrete") if hasattr(mujoco.mjtIntegrator, f"mjINT_{name.upper()}")]


def chain(n: int) -> ub.Model:
    """With springs of 1e6 N/m and a twentieth of critical damping."""
    return scenes.build("stiff-chain", n=n, stiffness=1e6, damping=2.0 * DAMPING_RATIO * np.sqrt(1e6))


def bridge(n: int) -> ub.Model:
    """The cable-stayed bridge with rigid towers, without the drag of its deck, for which MuJoCo has no word."""
    b = ub.Builder.load("bridge", n=n)
    for i in range(n):
        b.remove(f"drag{i}")
    return b.build()


def middle(model: ub.Model, q: np.ndarray) -> np.ndarray:
    """The deck's middle."""
    bound = ub.solvers.Articulated().bind(model)
    bound.push(q, np.zeros(model.nv))
    from unibody.coordinates.workspace import X_WB

    deck = [i for i, body in enumerate(model.bodies) if body.name.startswith("deck")]
    return bound.system.view(X_WB).reshape(-1, 12)[deck[len(deck) // 2], 9:].copy()


MOST_JUDGED = 200
"""Bodies of a bridge up to which its error is told: larger ones start with a loop that is open, as the authors' do, and is closed softly
by MuJoCo in the first steps."""


def sizes(quick: bool, build: Callable[[int], ub.Model], watched: Callable[[ub.Model, np.ndarray], np.ndarray], only: list[int]) -> int:
    """Steps of scenes of many sizes, and the error of a point of theirs."""
    import mujoco

    from peers.to_mujoco import to_mujoco

    rows = []
    for n in only or ((6, 12, 50) if quick else (6, 8, 12, 16, 24, 50, 100, 200, 400, 800)):
        dt, model = 1e-2, build(n)
        control = model.neutral_control()
        judged = n <= MOST_JUDGED or not model.constraints
        sim = ub.Simulation(model, "redmax", dt=dt, assemble=judged)
        start = [np.array(sim.state.q), np.array(sim.state.v)]
        # the point after ten steps, and where it should be
        fine = ub.Simulation(model, ub.solvers.RedMax(rule="bdf2"), dt=dt / 64, state=sim.state, assemble=judged)
        if judged:
            fine.run(10 * dt)
        exact = watched(model, fine.state.q) if judged else np.full(3, np.nan)
        sim.run(10 * dt)
        errors = {"ours": float(np.linalg.norm(watched(model, sim.state.q) - exact))}
        peer = to_mujoco(model, dt, closed=True)
        peer.model.opt.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
        peer.set_state(*start)
        try:
            mujoco.mj_step(peer.model, peer.data, nstep=10)
        except mujoco.FatalError as error:
            rows.append([n, f"{errors['ours']:.1e}", str(error).split("\n", 1)[0][:30], "", "", ""])
            print(*rows[-1], flush=True)
            continue
        converged = np.isfinite(peer.data.qpos).all() and not peer.data.warning.number.any()
        ends = np.empty(model.nq)
        ends[peer.q_index] = peer.data.qpos
        errors["theirs"] = float(np.linalg.norm(watched(model, ends) - exact)) if converged else np.nan
        # steps by turns
        bound = ub.solvers.RedMax().bind(model)
        state, memory = bound.start(sim.state)
        state, memory = bound.rollout(state, memory, control, dt, 20, 20, False)[:2]

        count, least = max(2, 4000 // n), {"ours": np.inf, "theirs": np.inf}
        for _ in range(40 if n <= 50 else 5):
            began = time.thread_time()
            bound.rollout(state, memory, control, dt, count, count, False)
            least["ours"] = min(least["ours"], (time.thread_time() - began) / count)
            began, few = time.thread_time(), max(1, min(count, 60_000 // n**2))
            mujoco.mj_step(peer.model, peer.data, nstep=few)
            least["theirs"] = min(least["theirs"], (time.thread_time() - began) / few)
        error = f"{errors['theirs']:.1e}" if converged else "not converged"
        ratio = f"{least['theirs'] / least['ours']:.1f}"
        rows.append([n, f"{errors['ours']:.1e}", error, f"{1e6 * least['ours']:.2f}", f"{1e6 * least['theirs']:.2f}", ratio])
        print(*rows[-1], flush=True)
    print(table(["bodies", "error m", "MuJoCo's", "step µs", f"MuJoCo {mujoco.__version__} discrete", "takes ×"], rows))
    print(machine())
    return 0


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    quick = "--quick" in given
    only = [int(n) for n in given if n.isdigit()]
    if "--sizes" in given:
        return sizes(quick, chain, tip, only)
    if "--bridge" in given:
        return sizes(quick, bridge, middle, only)
    rows = []
    for stiffness in (1e4, 1e6) if quick else (1e4, 1e6, 1e8):
        model = scene(stiffness)
        fine = min(1e-4, 0.1 / np.sqrt(stiffness))
        exact = tip(model, Ours(model, "articulated", "rk4").run(fine, 1.0)[0])
        contenders = {
            "redmax, linearly implicit": Ours(model, "redmax", "linearly-implicit"), "redmax, bdf2": Ours(model, "redmax", "bdf2"),
            "articulated, semi-implicit": Ours(model, "articulated", "semi-implicit"), } | {
            f"MuJoCo, {name}": Mujoco(model, name) for name in integrators()
        }  # fmt: skip
        if stiffness <= 1e6:
            contenders["PyBullet, springs by hand"] = Bullet(model)
        limit = 10.0 * np.sqrt(2.0 * 9.81 * LINKS * 0.25) / 0.25
        for name, contender in contenders.items():
            contender.run(1e-2 if "redmax" in name else 1e-4, 0.1 if "PyBullet" in name else 1.0)  # compiles
            stable = largest_stable(contender.run, limit, quick or "PyBullet" in name)
            dt, spent, error = min(stable, 0.05), np.nan, np.nan
            while dt > 1e-6:
                q, _, spent = contender.run(dt, 1.0)
                error = float(np.linalg.norm(tip(model, q) - exact)) if np.isfinite(q).all() else np.inf
                if error <= ALLOWED:
                    break
                dt /= 2.0
            spent = min(spent, *(contender.run(dt, 1.0)[2] for _ in range(1 if "PyBullet" in name else 3)))
            rows.append([f"{stiffness:.0e} N/m", name, f"{stable:.2e}", f"{dt:.1e}", f"{error:.1e}", f"{1e3 * spent:.1f}"])
    head = ["stiffness", "engine", "largest stable dt s", "dt s", "error m", "ms for 1 s"]
    print(table(head, rows))
    print(f"\nthe last three columns: the first dt, halved from the stable one, with an error of at most {ALLOWED:g} m. {machine()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
