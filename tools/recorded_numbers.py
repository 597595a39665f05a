"""Does a change of the sources change what they compute? Numbers of many short runs, recorded before and after, compared bit for bit.

    python tools/recorded_numbers.py record FILE [--only PATTERN] [--quick] [--checkout PATH]
    python tools/recorded_numbers.py compare A B [--within 1e-12] [--without memory,…]
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
on purpose.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import hashlib
import json
import math
import os
import platform
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
ALIKE = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Sums over threads and orders of sets may differ from run to run; not here."""
FLOOR = 1e-3
"""The least number [SI] that differences are measured by."""
TIMES = ("seconds",)
"""What reports and observations tell of the clock."""
PATH_ONLY = ("iterations", "residual")
"""What tells of the way to a solution."""
MOST = 3000
"""How many numbers of an array are kept one by one."""
VERSIONS = ("numpy", "scipy", "numba", "llvmlite", "piqp")

Entry = dict[str, Any]


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


def of_text(value: Any) -> str:
    """SHA-256 of what `plain` gives: JSON writes numbers so that every bit comes back."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


class Run:
    """One pair: bound, stepped, rolled and looked at; what came of it is in `entry`, also where it ends early."""

    def __init__(self, pair: str, job: Any):
        self.job = job
        self.steps: dict[str, list[str]] = {"q": [], "v": [], "memory": []}
        self.norms: dict[str, list[float]] = {"q": [], "v": [], "memory": []}
        self.reports: list[Any] = []
        self.entry: Entry = {
            "pair": pair, "outcome": "refused", "message": "", "dt": job.dt, "steps": [job.single, job.rolled, job.last],
            "step digests": self.steps, "norms": self.norms, "reports": self.reports, "digests": {}, "numbers": {},
        }  # fmt: skip

    def keep(self, state: Any, memory: Any) -> None:
        for name, array in (("q", state.q), ("v", state.v), ("memory", memory)):
            self.steps[name].append(digest(array))
            self.norms[name].append(float(np.linalg.norm(array)))

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
                self.reports.append(plain(made.report))

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


# --- files


def sources_of(checkout: Path) -> str:
    """SHA-256 of all sources of the package, in the order of their paths."""
    out = hashlib.sha256()
    for path in sorted((checkout / "src" / "unibody").rglob("*.py")):
        out.update(f"{path.relative_to(checkout).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return out.hexdigest()


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def header_of(checkout: Path) -> Entry:
    """Where numbers come from."""
    from importlib.metadata import PackageNotFoundError, version

    def told(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return "none"

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(checkout), *words], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    versions = {"python": platform.python_version(), **{name: told(name) for name in VERSIONS}}
    changed = bool(git("status", "--porcelain", "--", "src"))
    return {
        "commit": git("rev-parse", "HEAD") + (" and changes" if changed else ""), "sources": sources_of(checkout), "versions": versions,
        "processor": processor(), "system": platform.platform(),
    }  # fmt: skip


def lines_of(path: Path) -> Iterator[Entry]:
    """The lines of a file, without one that was not finished."""
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.endswith("\n"):
                yield json.loads(line)


def read(path: Path) -> tuple[Entry, dict[str, Entry]]:
    """The header and the pairs of a file."""
    header: Entry = {}
    pairs: dict[str, Entry] = {}
    for line in lines_of(path):
        if "header" in line:
            header = line["header"]
        elif "pair" in line:
            pairs[line["pair"]] = line
    return header, pairs


def append(path: Path, entry: Entry) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


# --- recording


def chosen(jobs: dict[str, Any], only: str | None, quick: bool) -> dict[str, Any]:
    """The pairs that are asked for."""
    pattern = only if only is None or set(only) & set("*?[") else f"*{only}*"
    return {pair: job for pair, job in jobs.items() if (job.quick or not quick) and (pattern is None or fnmatch.fnmatchcase(pair, pattern))}


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
        code = subprocess.run(command, env=environment).returncode
        if code >= 0 or -code in (signal.SIGINT, signal.SIGTERM):
            return code if code >= 0 else 128 - code
        begun = [line["begun"] for line in lines_of(path) if "begun" in line][-1:]
        if not begun or begun[0] in read(path)[1]:
            return 128 - code
        said = f"the process died of signal {-code}"
        append(path, {"pair": begun[0], "outcome": "died", "message": said, "digests": {}, "numbers": {}, "seconds": 0.0})
        print(f"{begun[0]}: {said}", flush=True)


# --- comparing


def apart(a: Any, b: Any) -> float:
    """How far two numbers or lists of them are apart, relative to the largest; infinite if they are not of the same kind.

    >>> apart([1.0, 2000.0], [1.0, 2000.002]), apart([0.0], [1e-9]), apart("ok", "ok"), apart([1.0], [1.0, 2.0])
    (1e-06, 1e-06, 0.0, inf)
    """
    if a == b:
        return 0.0
    if isinstance(a, dict) and isinstance(b, dict):  # of very many numbers
        return max(apart(a["sums"][k], b["sums"][k]) for k in (0, 1)) if a["shape"] == b["shape"] else math.inf
    try:
        x, y = np.asarray(a, float), np.asarray(b, float)
    except (TypeError, ValueError):  # words, or lists of other lengths
        return math.inf
    if x.shape != y.shape:
        return math.inf
    moved = ~((x == y) | (np.isnan(x) & np.isnan(y)))
    if not np.isfinite(x[moved]).all() or not np.isfinite(y[moved]).all():
        return math.inf
    scale = max(np.abs(z[np.isfinite(z)]).max(initial=FLOOR) for z in (x, y))
    return float(np.abs(x[moved] - y[moved]).max(initial=0.0) / scale)


@dataclasses.dataclass(frozen=True)
class Difference:
    """Of one quantity of a pair."""

    name: str
    size: float
    judged: bool = True
    """Whether `--within` looks at its size."""
    where: str = ""

    def __str__(self) -> str:
        words = "otherwise" if self.size == math.inf else f"{self.size:.1e}" if self.size > 0.0 else "bits only"
        return f"{self.name} {words}{self.where}"


def differences(a: Entry, b: Entry, without: list[str]) -> list[Difference]:
    """What two records of a pair do not have in common."""
    out = [Difference(key, math.inf) for key in ("outcome", "message", "dt", "steps", "rolled") if a.get(key) != b.get(key)]
    for name in a["step digests"]:
        ours, theirs = a["step digests"][name], b["step digests"][name]
        if ours != theirs:
            first = next((k for k, (x, y) in enumerate(zip(ours, theirs)) if x != y), min(len(ours), len(theirs)))
            size = max(apart(a["norms"][name], b["norms"][name]), apart(a["numbers"].get(name), b["numbers"].get(name)))
            out.append(Difference(name, size, where=f" from step {first} on" if first else " from the start on"))
    for where in sorted({*a["digests"], *b["digests"]}):
        if a["digests"].get(where) == b["digests"].get(where):
            continue
        for key in sorted(key for key in {*a["numbers"], *b["numbers"]} if key.startswith(f"{where}.")):
            ours, theirs = a["numbers"].get(key), b["numbers"].get(key)
            if of_text(ours) != of_text(theirs):
                out.append(Difference(key, apart(ours, theirs), key.split(".")[-1] not in PATH_ONLY))
    for key in sorted({name for report in (*a["reports"], *b["reports"]) for name in report}):
        ours, theirs = ([report.get(key) for report in entry["reports"]] for entry in (a, b))
        if of_text(ours) != of_text(theirs):
            out.append(Difference(f"report.{key}", apart(ours, theirs), key not in PATH_ONLY))
    return [d for d in out if not any(fnmatch.fnmatchcase(d.name, pattern) for pattern in without)]


def compare(one: Path, other: Path, within: float | None, without: list[str]) -> int:
    """Tell what is the same and what is not; 1 if something differs that may not."""
    for path in (one, other):
        if not path.exists():
            print(f"recorded_numbers: there is no file {path}", file=sys.stderr)
            return 2
    (a_header, a), (b_header, b) = read(one), read(other)
    for key in ("commit", "versions", "processor", "system"):
        if a_header.get(key) != b_header.get(key):
            print(f"{key}: {a_header.get(key)} and {b_header.get(key)}")
    same: dict[str, list[str]] = {}
    near, beyond = [], [f"{pair}: only in {one if pair in a else other}" for pair in {**a, **b} if pair not in a or pair not in b]
    for pair in (pair for pair in a if pair in b):
        found = differences(a[pair], b[pair], without)
        if not found:
            scene, solver = pair.split(" | ")
            same.setdefault(scene, []).append(solver)
            continue
        line = f"{pair}: {'; '.join(map(str, found))}"
        (near if within is not None and all(d.size <= within or not d.judged for d in found) else beyond).append(line)
    count = sum(map(len, same.values()))
    for title, lines in (
        (f"{count} pairs are the same bit for bit", [f"{scene}: {', '.join(solvers)}" for scene, solvers in same.items()]),
        (f"{len(near)} pairs differ, within {within}", near),
        (f"{len(beyond)} pairs differ" + (f" by more than {within}" if within is not None else ""), beyond),
    ):
        if lines:
            print(f"== {title}", *lines, sep="\n  ")
    words = f"{count} the same, {len(near)} within, {len(beyond)} beyond" if within is not None else f"{count} the same, {len(beyond)} not"
    print(f"recorded_numbers: {words}, of {len({**a, **b})} pairs")
    return 1 if beyond or not (a or b) else 0


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
    given = parser.parse_args(arguments)
    if given.command == "compare":
        return compare(*given.files, given.within, [name for name in given.without.split(",") if name])
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
