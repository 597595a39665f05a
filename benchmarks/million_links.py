"""A chain of a million links with springs between next neighbours: time to build it, memory, time per step, violation.

    python benchmarks/million_links.py [--links 1000000] [--solver articulated] [--solver redmax] [--steps 5]

Links of 0.25 m and 1 kg are hinged about alternate axes and hang from the world in an arc; a damped spring joins the middles of each two
neighbours. `redmax` takes the springs implicitly at dt = 10 ms; `articulated` explicitly, at the dt that they allow. Processor time, least
of the turns; memory is the process's largest, and what each stage added to it. Joints are coordinates: their violation is what the poses
that came out miss of each other, in metres, at the joints' points. All reactions are those of the last step.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from common import machine, table

import unibody as ub

LINK, MASS, STIFFNESS, DAMPING = 0.25, 1.0, 1e4, 10.0
STEP = {"articulated": 1e-4, "redmax": 1e-2}


def largest_memory() -> float:
    """Gigabytes that the process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def describe(links: int) -> ub.Builder:
    b = ub.Builder()
    shape, hinges = ub.Box((LINK, 0.2 * LINK, 0.2 * LINK)), (ub.Revolute(axis=(0, 1, 0)), ub.Revolute(axis=(0, 0, 1)))
    X_PF, X_BM, first = ub.Pose(p=(0.5 * LINK, 0, 0)), ub.Pose(p=(-0.5 * LINK, 0, 0)), ub.Pose()
    before, parent = None, b.world
    for i in range(links):
        body = b.body(f"link{i}", shape, mass=MASS)
        b.joint(f"hinge{i}", hinges[i % 2], parent, body, X_PF if i else first, X_BM, q=(0.01, -0.02)[i % 2] / links)
        if before is not None:
            b.add(ub.SpringDamper(before.at(), body.at(), stiffness=STIFFNESS, damping=DAMPING), name=f"spring{i}")
        parent = before = body
    return b


def violation(poses: np.ndarray) -> float:
    """The largest distance between the two ends of a joint, of poses (n, 7): positions, then quaternions wxyz."""
    p, (w, x, y, z) = poses[:, :3], poses[:, 3:].T
    along = np.stack([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)], axis=1)
    head, tail = p - 0.5 * LINK * along, p + 0.5 * LINK * along
    gaps = np.linalg.norm(head[2:] - tail[1:-1], axis=1)
    return float(max(np.linalg.norm(head[1]), gaps.max(initial=0.0)))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--solver", action="append", choices=list(STEP))
    parser.add_argument("--steps", type=int, default=5)
    asked = parser.parse_args(arguments)
    rows: list[list[str]] = []

    def done(what: str, began: float, memory: float) -> tuple[float, float]:
        spent = time.process_time() - began
        rows.append([what, f"{spent:.2f} s", f"{1e6 * spent / asked.links:.2f} µs", f"{largest_memory() - memory:+.2f} GB"])
        print(*rows[-1], flush=True)
        return time.process_time(), largest_memory()

    mark = time.process_time(), largest_memory()
    builder = describe(asked.links)
    mark = done("describe", *mark)
    model = builder.build()
    del builder
    done("build", *mark)
    for name in asked.solver or list(STEP):
        mark = time.process_time(), largest_memory()
        bound = {"articulated": ub.solvers.Articulated, "redmax": ub.solvers.RedMax}[name]().bind(model)
        mark = done(f"{name}: bind", *mark)
        control, dt = model.neutral_control(), STEP[name]
        state, memory = bound.start()
        state, memory = bound.rollout(state, memory, control, dt, 1, 1, False)[:2]
        done(f"{name}: first step, with compiled code read", *mark)
        least = np.inf
        for _ in range(asked.steps):
            began = time.process_time()
            state, memory, _, taken = bound.rollout(state, memory, control, dt, 1, 1, False)
            least = min(least, time.process_time() - began)
            assert taken == 1
        began = time.process_time()
        seen = bound.observe(state, memory, control)
        looked = time.process_time() - began
        size = f"{1e6 * least / asked.links:.3f} µs"
        rows.append([f"{name}: step of {1e3 * dt:g} ms", f"{least:.3f} s", size, f"{largest_memory():.2f} GB in all"])
        rows.append([f"{name}: all reactions at an instant", f"{looked:.2f} s", f"{1e6 * looked / asked.links:.2f} µs", ""])
        rows.append([f"{name}: violation", f"{violation(seen.poses):.1e} m", "", ""])
        for row in rows[-3:]:
            print(*row, flush=True)
        del bound, state, memory, seen
    print(table([f"{asked.links} links", "processor time", "per link", "memory"], rows))
    print(f"\n{machine()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
