"""Does a change of the sources change what they compute? Numbers of many short runs, recorded before and after, compared bit for bit.

    python tools/recorded_numbers.py record FILE [--only PATTERN] [--quick] [--checkout PATH]
    python tools/recorded_numbers.py compare A B [--within 1e-12] [--without memory,…] [--only PATTERN]
    python tools/recorded_numbers.py list [--only PATTERN] [--quick]

`record` runs pairs of a scene and a solver (`recorded_scenes.py`): a few steps one by one, a few in one rollout, a few one by one again.
FILE has one line of JSON per pair behind a header with commit, versions and processor. A pair holds SHA-256 of the bytes of q, v and memory
after every step, the reports without times, SHA-256 of what `observe()` gives at the start, on the way and at the end, and the numbers
themselves, so that a difference can be measured. What is refused, fails or kills its process is recorded as such, with its words. Pairs
that FILE has are not run again: call it again after an interruption. `--checkout` records another checkout; `--only` takes pairs
"scene | solver" like a pattern (* and ?, or a part of the name); `--quick` takes a tenth of them.

`compare` says which pairs are the same bit for bit, and how far the others are apart: the largest difference of each quantity over the
largest number in it (at least FLOOR, in SI units: what is smaller is round-off of something that is zero). It exits with 1 if pairs are
missing, end otherwise, or differ: in any bit, or, with `--within`, by more than that. Iterations and residuals belong to the way to a
solution: `--within` tells of them and does not judge them. `--without` leaves quantities out, such as memory where its layout was changed
on purpose; `--only` looks at some pairs.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from recorded_comparison import compare
from recorded_files import TOOLS, Entry, append, header_of, like, lines_of, of_text, read

ROOT = TOOLS.parent
ALIKE = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Sums over threads and orders of sets may differ from run to run; not here."""
TIMES = ("seconds",)
"""What reports and observations tell of the clock."""
MOST = 1000
"""How many numbers of an array are kept one by one."""


# --- what is recorded of a run


def digest(*arrays: Any) -> str:
    """SHA-256 of arrays with their types and shapes: the sign of a zero counts.

    >>> digest(np.array([0.0])) == digest(np.array([-0.0]))
    False
    """
    out = hashlib.sha256()
    for given in arrays:
        array = np.ascontiguousarray(given)
        out.update(f"{array.dtype.str}{array.shape}".encode())
        out.update(array.tobytes())
    return out.hexdigest()


def plain(value: Any) -> Any:
    """Dataclasses, arrays and tuples as what JSON has; numbers lose no bit."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value) if f.name not in TIMES}
    if isinstance(value, dict):
        return {str(key): plain(v) for key, v in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def flattened(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """(name, leaf) of nested dictionaries; lists are leaves."""
    if isinstance(value, dict):
        for key, v in value.items():
            yield from flattened(v, f"{name}.{key}")
    else:
        yield name, value


def kept(value: Any) -> Any:
    """Numbers as they are, but of very many only what tells them apart: digest, length, norm and Σ xₖ sin k, which sees their order."""
    if not isinstance(value, list) or len(value) * (np.size(value[0]) if value else 0) <= MOST:
        return value
    x = np.asarray(value, float).ravel()
    sums = [float(np.linalg.norm(x)), float(x @ np.sin(np.arange(x.size)))]
    return {"sha256": of_text(value), "shape": list(np.shape(value)), "sums": sums}


def nothing_of(pair: str, outcome: str, message: str = "") -> Entry:
    """The record of a pair of which there are no numbers yet."""
    kinds = ("q", "v", "memory")
    return {
        "pair": pair, "outcome": outcome, "message": message, "step digests": {name: [] for name in kinds},
        "norms": {name: [] for name in kinds}, "reports": [], "digests": {}, "numbers": {}, "seconds": 0.0,
    }  # fmt: skip


class Run:
    """One pair: bound, stepped, rolled and looked at; what came of it is in `entry`, also where it ends early."""

    def __init__(self, pair: str, job: Any):
        self.job = job
        self.entry = nothing_of(pair, "refused") | {"dt": job.dt, "steps": [job.single, job.rolled, job.last]}

    def keep(self, state: Any, memory: Any) -> None:
        for name, array in (("q", state.q), ("v", state.v), ("memory", memory)):
            self.entry["step digests"][name].append(digest(array))
            self.entry["norms"][name].append(float(np.linalg.norm(array)))

    def look(self, bound: Any, where: str, state: Any, memory: Any, control: Any) -> None:
        """The digest of the observation, and every field's numbers."""
        seen = plain(bound.observe(state, memory, control))
        self.entry["digests"][where] = of_text(seen)
        self.entry["numbers"] |= {name: kept(value) for name, value in flattened(seen, where)}

    def go(self) -> None:
        import unibody as ub

        job = self.job
        sim = ub.Simulation(job.model(), job.solver, dt=job.dt)  # assembles a start that violates rows
        sim.control.effort[:] = job.effort
        bound, control = sim.bound, sim.control.flat
        state, memory = bound.start(sim.state)
        self.entry["outcome"] = "failed"
        self.keep(state, memory)

        def single(steps: int) -> None:
            nonlocal state, memory
            for _ in range(steps):
                made = bound.step(state, memory, control, job.dt)
                state, memory = made.state, made.memory
                self.keep(state, memory)
                self.entry["reports"].append(plain(made.report))

        try:
            self.look(bound, "start", state, memory, control)
            single(job.single)
            self.look(bound, "stepped", state, memory, control)
            if job.rolled:
                state, memory, rows, done = bound.rollout(state, memory, control, job.dt, job.rolled)
                for row in rows:
                    self.keep(*bound.split_record(row))
                self.entry["rolled"] = int(done)
            single(job.last)
        finally:
            self.entry["numbers"] |= {"q": kept(plain(state.q)), "v": kept(plain(state.v)), "memory": kept(plain(memory))}
            self.look(bound, "end", state, memory, control)
        self.entry["outcome"] = "ran"


def run(pair: str, job: Any) -> Entry:
    """What is recorded of a pair."""
    it, began = Run(pair, job), time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            it.go()
    except Exception as error:
        it.entry["message"] = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return it.entry | {"seconds": round(time.perf_counter() - began, 3)}


# --- recording


def chosen(jobs: dict[str, Any], only: str | None, quick: bool) -> dict[str, Any]:
    """The pairs that are asked for."""
    return {pair: jobs[pair] for pair in like(jobs, only) if jobs[pair].quick or not quick}


def work(path: Path, checkout: Path, only: str | None, quick: bool) -> int:
    """In a process of its own, in which the checkout's package is the one that is imported: all pairs that the file has not."""
    import unibody

    if not Path(unibody.__file__).resolve().is_relative_to(checkout / "src"):
        print(f"recorded_numbers: the package comes from {unibody.__file__}, not from {checkout}", file=sys.stderr)
        return 2
    import recorded_scenes

    jobs = chosen(recorded_scenes.jobs(), only, quick)
    if not jobs:
        print(f"recorded_numbers: no pair is like {only!r}; `list` shows them", file=sys.stderr)
        return 2
    have = read(path)[1]
    for number, (pair, job) in enumerate(jobs.items(), start=1):
        if pair in have:
            continue
        append(path, {"begun": pair})
        entry = run(pair, job)
        append(path, entry)
        words = f"  {entry['message'][:100]}" if entry["message"] else ""
        print(f"[{number:4d}/{len(jobs)}] {pair:56s} {entry['outcome']:7s} {entry['seconds']:7.2f} s{words}", flush=True)
    return 0


def record(path: Path, checkout: Path, only: str | None, quick: bool) -> int:
    """Let another process work; begin again behind a pair that kills it."""
    header = header_of(checkout)
    old = read(path)[0]
    differ = [key for key in header if key != "commit" and old.get(key) != header[key]]
    if old and differ:
        print(f"recorded_numbers: {path} holds numbers of another {' and '.join(differ)}; give another file, or remove it", file=sys.stderr)
        return 2
    if path.exists() and not path.read_bytes().endswith(b"\n"):  # cut off in the middle of a line
        kept = [json.dumps(line) + "\n" for line in lines_of(path)]
        path.write_text("".join(kept), encoding="utf-8")
    if not old:
        append(path, {"header": header})
    paths = [str(checkout / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | ALIKE | {"PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, __file__, "work", str(path), "--checkout", str(checkout)]
    command += (["--only", only] if only is not None else []) + (["--quick"] if quick else [])
    while True:
        try:
            code = subprocess.run(command, env=environment).returncode
        except KeyboardInterrupt:
            return 128 + signal.SIGINT
        if code >= 0 or -code in (signal.SIGINT, signal.SIGTERM):
            return code if code >= 0 else 128 - code
        begun = [line["begun"] for line in lines_of(path) if "begun" in line][-1:]
        if not begun or begun[0] in read(path)[1]:
            return 128 - code
        said = f"the process died of signal {-code}"
        append(path, nothing_of(begun[0], "died", said))
        print(f"{begun[0]}: {said}", flush=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("record", "list", "work"):
        command = commands.add_parser(name)
        if name != "list":
            command.add_argument("file", type=Path)
        command.add_argument("--only", metavar="PATTERN")
        command.add_argument("--quick", action="store_true")
        command.add_argument("--checkout", type=Path, default=ROOT, metavar="PATH")
    command = commands.add_parser("compare")
    command.add_argument("files", type=Path, nargs=2, metavar="FILE")
    command.add_argument("--within", type=float)
    command.add_argument("--without", default="", metavar="NAME,…")
    command.add_argument("--only", metavar="PATTERN")
    given = parser.parse_args(arguments)
    if given.command == "compare":
        return compare(*given.files, given.within, [name for name in given.without.split(",") if name], given.only)
    checkout = given.checkout.resolve()
    if not (checkout / "src" / "unibody").is_dir():
        print(f"recorded_numbers: {checkout} has no src/unibody; give the path of a checkout", file=sys.stderr)
        return 2
    if given.command == "record":
        return record(given.file.resolve(), checkout, given.only, given.quick)
    if given.command == "work":
        return work(given.file, checkout, given.only, given.quick)
    sys.path.insert(0, str(checkout / "src"))
    import recorded_scenes

    print(*chosen(recorded_scenes.jobs(), given.only, given.quick), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
