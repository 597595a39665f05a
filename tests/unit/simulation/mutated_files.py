"""Saved simulations and recordings, changed at random and loaded again: `mutated_files.py FOLDER SEED COUNT` prints one line per case.

Every case ends in one of these words: `refused` (a ModelError of one line), `failed` (a StepFailed), `went on` (with finite numbers), or
`interrupted`, where an adaptive rule is asked for a billion seconds or turns a second and a timer ends it as Ctrl-C would. A traceback
ends the program with its exit code, a crash with its signal; the case at work was printed before.
"""

from __future__ import annotations

import io
import json
import signal
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from test_copies import DT, all_choices, both, label

import unibody as ub

Arrays = dict[str, np.ndarray]
PATIENCE = 10.0
"""[s] of processor time for a case."""


class TooLong(BaseException):
    """No Exception, as KeyboardInterrupt is none."""


def give_up(*_: Any) -> None:
    raise TooLong


ODD = (np.nan, np.inf, -np.inf, -1.0, 0.5, 1e9, -1e9, 1e18, 1e300, -1e300, 1e-300, 2.0**31, 2.0**63, -0.0)


def _one(arrays: Arrays, rng: np.random.Generator, name: str) -> None:
    """One number becomes an odd one."""
    array = arrays[name] = np.array(arrays[name])
    if array.size:
        array.flat[rng.integers(array.size)] = rng.choice(ODD)


def _early(arrays: Arrays, rng: np.random.Generator) -> None:
    """One of the first numbers of memory, where counts and lengths are, or of the last."""
    array = arrays["memory"] = np.array(arrays["memory"])
    row = array if array.ndim == 1 else array[rng.integers(len(array))]
    row[rng.choice([rng.integers(min(24, row.size)), -rng.integers(1, 4)])] = rng.choice(ODD)


def _reshaped(arrays: Arrays, rng: np.random.Generator) -> None:
    name = str(rng.choice([name for name in arrays if name != "head"]))
    array = arrays[name]
    ways: list[Callable[[], np.ndarray]] = [
        lambda: array[:-1], lambda: np.concatenate([array, array]), lambda: array[None], lambda: array.reshape(-1), lambda: np.zeros(0),
        lambda: array.astype(np.float32), lambda: array.astype(np.complex128), lambda: array.astype("U8"), lambda: array.astype(">f8"),
        lambda: np.array([None, {}], object), lambda: np.asfortranarray(np.atleast_2d(array)), lambda: np.array(3.0),
        lambda: np.zeros(array.shape, [("a", "f8")]), lambda: array[::-1].copy(), lambda: array * 1e200,
    ]  # fmt: skip
    with np.errstate(all="ignore"):
        arrays[name] = ways[rng.integers(len(ways))]()


def _lost(arrays: Arrays, rng: np.random.Generator) -> None:
    arrays.pop(str(rng.choice(list(arrays))))


def _more(arrays: Arrays, rng: np.random.Generator) -> None:
    arrays["more"] = np.zeros(3)


def _scaled(arrays: Arrays, rng: np.random.Generator) -> None:
    name = str(rng.choice(["q", "v", "memory", "control", "t", "run"]))
    arrays[name] = arrays[name] * rng.choice([-1.0, 2.0, 1e6, 1e30])


def _head(arrays: Arrays, rng: np.random.Generator) -> None:
    head: dict[str, Any] = json.loads(str(arrays["head"]))
    keys = list(head)
    key = keys[rng.integers(len(keys))]
    value = [None, 5, "x", [], {}, True, 1e400, -1, "../x"][rng.integers(9)]
    if rng.random() < 0.3:
        head["model"]["bodies"][0]["mass"] = 3.0
    else:
        head[key] = value
    arrays["head"] = np.array(json.dumps(head))


ARRAY_CHANGES: list[Callable[[Arrays, np.random.Generator], None]] = [
    *(lambda a, r, name=name: _one(a, r, name) for name in ("t", "q", "v", "memory", "memory", "control", "run")),
    _early, _early, _early, _early, _reshaped, _reshaped, _reshaped, _lost, _more, _scaled, _scaled, _head,
]  # fmt: skip


def write(path: Path, arrays: Arrays, compression: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, array in arrays.items():
            stream = io.BytesIO()
            np.lib.format.write_array(stream, array)
            archive.writestr(f"{name}.npy", stream.getvalue())


def changed_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Some bytes changed, a stretch left out or doubled, or the end cut off."""
    out = bytearray(content)
    kind, at = rng.integers(4), int(rng.integers(len(out)))
    if kind == 0:
        for _ in range(rng.integers(1, 6)):
            out[rng.integers(len(out))] = rng.integers(256)
    elif kind == 1:
        del out[at : at + int(rng.integers(1, 200))]
    elif kind == 2:
        out[at:at] = out[at : at + int(rng.integers(1, 200))]
    else:
        del out[at:]
    return bytes(out)


def go_on(path: Path, kind: str) -> str:
    """Load and use a file; what comes of it, in a word."""
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        if kind == "simulation":
            sim = ub.Simulation.load(path, trust=True)
            for _ in range(2):
                sim.step()
            seen = [sim.state.q, sim.state.v, sim.observe().poses]
        else:
            recording = ub.Recording.load(path, trust=True)
            _ = recording.reports
            if recording.observations and recording.observations[0].contacts is not None:
                _ = recording.contacts, recording.impacts if recording.solver.impacts else None
            seen = [recording.q, recording.v]
    except ub.ModelError as error:
        assert "\n" not in str(error) and str(path) in str(error), repr(str(error))
        return "refused"
    except ub.StepFailed:
        return "failed"
    except TooLong:
        return "interrupted"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    assert all(np.isfinite(x).all() for x in seen), "numbers that are not finite"
    return "went on"


def main(folder: Path, seed: int, count: int) -> None:
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGVTALRM, give_up)
    rng = np.random.default_rng(seed)
    for solver in all_choices():
        for sim in both(solver)[:2]:
            for kind, thing in (("simulation", sim), ("recording", sim.run(3 * DT))):
                whole = thing.save(folder / "whole.npz")
                assert go_on(whole, kind) == "went on"
                content = whole.read_bytes()
                with np.load(whole) as file:
                    arrays = {name: file[name] for name in file.files}
                for case in range(count):
                    path, name = folder / "changed.npz", f"{label(solver)} {kind} {case}"
                    if case % 5 == 4:
                        path.write_bytes(changed_bytes(content, rng))
                    else:
                        mine = dict(arrays)
                        ARRAY_CHANGES[rng.integers(len(ARRAY_CHANGES))](mine, rng)
                        write(path, mine, zipfile.ZIP_DEFLATED if case % 3 else zipfile.ZIP_STORED)
                    print(name, end=" ", flush=True)
                    end = go_on(path, kind)
                    assert end != "interrupted" or getattr(solver, "rule", "") == "dopri5", "took too long"
                    print(end, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
