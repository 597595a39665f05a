"""Through how many files and rooms does one step go? Usage: python tools/walk.py [--first] [--show WALK] [--check] [--checkout PATH]

Small scenes make a step as plain Python (UNIBODY_JIT=0), by `Simulation.step`: the second one, as a user meets most of them; `--first`
takes the first. The calls of functions of the package are written down in their order. Left out are devices, which are arithmetic that
becomes part of the kernel that calls them, and functions without a name (lambda, comprehensions). Then

    files       are those in which something was called, devices included;
    ground      are those of them that are in no room, arithmetic those in rooms of which a step calls devices only,
    rooms       are the first folders below the package; a file that is in none (`kernel.py`) is no room, and passing it is no change,
    changes     are the pairs of calls, one after the other, whose rooms differ: how often one who follows a step goes to another room.
                Going back to a caller's room counts when that room is called next. A loop counts as often as it is run.
    read once   are the changes among the first calls of each function: of one who looks at nothing twice.

`--show` prints a walk, a line for every stay in a room. `--check` exits with 1 if a goal is not met.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DT = 0.01
Call = tuple[str, str, bool]
"""The file below the package, the function, and whether it is a device."""


@dataclass(frozen=True)
class Walk:
    """A scene, the solver that steps it, and the most changes and files that are the goal."""

    solver: str
    scene: Callable[[], Any]
    changes: int
    files: int | None = None


def spring() -> Any:
    """Two free boxes and a spring between them."""
    import unibody as ub

    b = ub.Builder()
    a = b.body("a", shape=ub.Box((0.2, 0.2, 0.2)), density=500.0)
    c = b.body("c", shape=ub.Box((0.2, 0.2, 0.2)), density=500.0, X_WB=ub.Pose((0.6, 0, 0)))
    b.add(ub.SpringDamper(a.at(0.1, 0, 0), c.at(-0.1, 0, 0), stiffness=100.0, damping=1.0, rest_length=0.3))
    return b.build()


def contact() -> Any:
    """Two boxes on the ground, one on the other: eight contacts."""
    import unibody as ub

    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    for i in range(2):
        b.body(f"box{i}", shape=ub.Box((0.2, 0.3, 0.1)), density=500.0, X_WB=ub.Pose((0.03 * i, 0, 0.0503 + 0.1003 * i)))
    b.add(ub.Contact(friction=0.5, reach=1e-3))
    return b.build()


def chain() -> Any:
    """Three links on hinges, with a spring from the last to the world."""
    import unibody as ub

    b = ub.Builder()
    parent, place = b.world, ub.Pose()
    for k in range(3):
        link = b.body(f"link{k}", mass=1.0, inertia=(0.1, 0.1, 0.02))
        b.joint(f"hinge{k}", ub.Revolute((0, 1, 0)), parent, link, X_PF=place, X_BM=ub.Pose((0, 0, 0.4)), q=0.3)
        parent, place = link, ub.Pose((0, 0, -0.4))
    b.add(ub.SpringDamper(parent.at(0, 0, -0.4), b.world.at(1, 0, -2), stiffness=5.0, damping=0.2))
    return b.build()


WALKS = {
    "spring in barrier": Walk("barrier", spring, 40),
    "contact in complementarity": Walk("complementarity", contact, 40, files=25),
    "contact in barrier": Walk("barrier", contact, 40),
    "lagrange": Walk("lagrange", chain, 25),
    "redmax": Walk("redmax", chain, 25),
}


def traced(walk: Walk, first: bool) -> list[Call]:
    """The calls of a step, in a process in which kernels are plain Python."""
    import unibody as ub
    from unibody.kernel import JIT, Device

    assert not JIT, "kernels are compiled, and their calls are not seen"
    package = str(Path(ub.__file__).parent) + os.sep
    device = Device.__call__.__code__
    calls: list[Call] = []

    def see(frame: types.FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(package) and not code.co_name.startswith("<"):
            by_device = frame.f_back is not None and frame.f_back.f_code is device
            calls.append((Path(code.co_filename[len(package) :]).as_posix(), code.co_qualname, by_device))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = ub.Simulation(walk.scene(), walk.solver, dt=DT)
        if not first:
            sim.step()
        sys.setprofile(see)
        try:
            sim.step()
        finally:
            sys.setprofile(None)
    return calls


def room(file: str) -> str:
    """The first folder, or nothing.

    >>> room("collision/rigid/contacts.py"), room("kernel.py")
    ('collision', '')
    """
    return file.split("/")[0] if "/" in file else ""


def stays(calls: list[Call]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Stays in rooms, one after the other: (room, calls there).

    >>> [where for where, _ in stays([("a/x.py", "f", False), ("kernel.py", "g", False), ("a/y.py", "h", False), ("b/z.py", "k", False)])]
    ['a', 'b']
    """
    out: list[tuple[str, list[tuple[str, str]]]] = []
    for file, name, device in calls:
        if device or not room(file):
            continue
        if not out or out[-1][0] != room(file):
            out.append((room(file), []))
        out[-1][1].append((file, name))
    return out


def measured(calls: list[Call]) -> dict[str, int]:
    """The numbers of a walk."""
    changes, once = (max(0, len(stays(seen)) - 1) for seen in (calls, list(dict.fromkeys(calls))))
    files, told = {file for file, _, _ in calls}, {file for file, _, device in calls if not device}
    ground = {file for file in files if not room(file)}
    return {
        "files": len(files), "ground": len(ground), "arithmetic": len(files - ground - told),
        "rooms": len({room(file) for file in files - ground}), "changes": changes, "read once": once,
    }  # fmt: skip


def traces(checkout: Path, names: list[str], first: bool) -> dict[str, list[Call]]:
    """The walks of a checkout, by another process."""
    paths = [str(checkout / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"UNIBODY_JIT": "0", "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, __file__, "--trace", *names, *(["--first"] if first else [])]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(done.returncode)
    return {name: [(file, function, device) for file, function, device in calls] for name, calls in json.loads(done.stdout).items()}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--show", choices=WALKS, metavar="WALK")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--checkout", type=Path, default=ROOT, metavar="PATH")
    parser.add_argument("--trace", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.trace:
        print(json.dumps({name: traced(WALKS[name], given.first) for name in given.trace}))
        return 0
    checkout = given.checkout.resolve()
    if not (checkout / "src" / "unibody").is_dir():
        print(f"walk: {checkout} has no src/unibody; give the path of a checkout", file=sys.stderr)
        return 2
    if given.show:
        for where, calls in stays(traces(checkout, [given.show], given.first)[given.show]):
            print(f"{where:12s} {', '.join(dict.fromkeys(f'{Path(file).stem}.{name}' for file, name in calls))}")
        return 0
    columns = ("files", "ground", "arithmetic", "rooms", "changes", "read once")
    print(f"{'walk':28s}" + "".join(f" {column:>{len(column) + 1}s}" for column in columns) + "   goal")
    met = True
    for name, calls in traces(checkout, list(WALKS), given.first).items():
        n, walk = measured(calls), WALKS[name]
        goal = f"≤ {walk.changes} changes" + (f", ≤ {walk.files} files" if walk.files is not None else "")
        good = n["changes"] <= walk.changes and (walk.files is None or n["files"] <= walk.files)
        met = met and good
        numbers = "".join(f" {n[column]:{len(column) + 1}d}" for column in columns)
        print(f"{name:28s}{numbers}   {goal}{'' if good else ' (not met)'}")
    return 0 if met or not given.check else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
