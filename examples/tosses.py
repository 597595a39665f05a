"""What a block is like, from how it was thrown: friction, restitution and size by least squares over measured tosses.

A toss is (frames, 13): position, quaternion wxyz, velocity and angular velocity of a cube that is thrown onto a table, as in the data of
Pfrommer, Halm and Posa (ContactNets, 2020): lengths in half widths of the cube, 148 frames a second. A run starts as the toss does, and

    p* = argmin Σ |x(p) − x_measured|²      over all tosses, every tenth frame,     p = (friction, restitution, size).

Impacts make the motion rough in p: a change of 1e-6 says nothing of where the block ends. So slopes are differences over `step` of each
parameter. What the fit is worth is seen on tosses that it was not made from.

    python examples/tosses.py TOSSES.npz [SEEN]     fit to the first SEEN (50) tosses, judge on the others, write tosses.html
    python examples/tosses.py                       the same on eight tosses made up here, whose parameters are known
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import unibody as ub

HALF, RATE, MASS, INERTIA, GRAVITY = 0.0524, 148.0, 0.37, 0.00081, 9.81
FREE = 4
"""Frames at the beginning in which nothing touches."""
EVERY = 10
FIRST_GUESS = {"friction": (0.3, 0.0, 1.0), "restitution": (0.3, 0.0, 1.0), "size": (1.0, 0.9, 1.1)}


def read(path: str | Path) -> list[np.ndarray]:
    """All tosses of a file, in the order of their numbers, in half widths."""
    with np.load(path) as data:
        return [data[name].astype(float) for name in sorted(data.files, key=int)]


def scene(toss: np.ndarray, friction: float, restitution: float, size: float) -> ub.Model:
    """The block as the toss begins: a line through its first places, less their fall; turning in its own axes, as it is recorded.

    Semi-implicit steps fall by g h t/2 too far; a start that is faster by g h/2 meets the parabola in every frame.
    """
    t = np.arange(FREE) / RATE
    rise = HALF * toss[:FREE, :3] + 0.5 * GRAVITY * np.outer(t**2, (0, 0, 1))
    v, x = np.polyfit(t, rise, 1)
    v[2] += 0.5 * GRAVITY / RATE
    X = ub.Pose(x, toss[0, 3:7] / np.linalg.norm(toss[0, 3:7]))
    b = ub.Builder(gravity=(0, 0, -GRAVITY))
    b.body("table", shape=ub.Plane(), kind="static")
    b.body("block", shape=ub.Box((2.0 * HALF * size,) * 3), mass=MASS, inertia=(INERTIA,) * 3, X_WB=X, V_WB=(*(X.R @ toss[1, 10:]), *v))
    b.add(ub.Contact(friction=friction, restitution=restitution))
    return b.build()


def thrown(toss: np.ndarray, **parameters: float) -> np.ndarray:
    """(frames, 7): the run of a toss, positions in half widths."""
    rec = ub.Simulation(scene(toss, **parameters), "complementarity", dt=1.0 / RATE).run((len(toss) - 1) / RATE)
    return rec.q / np.array([HALF] * 3 + [1.0] * 4)  # a free body's coordinates are its position and quaternion


def errors(tosses: Sequence[np.ndarray], **parameters: float) -> np.ndarray:
    """(tosses, 2): means over each toss of the error in position [block widths] and in angle [degrees]."""

    def of(toss: np.ndarray) -> tuple[float, float]:
        ours = thrown(toss, **parameters)
        off = np.linalg.norm(ours[:, :3] - toss[:, :3], axis=1).mean() / 2.0
        turn = np.abs(np.sum(ours[:, 3:] * toss[:, 3:7], axis=1)) / np.linalg.norm(toss[:, 3:7], axis=1)
        return off, float(np.degrees(2.0 * np.arccos(np.clip(turn, 0.0, 1.0))).mean())

    with ThreadPoolExecutor() as pool:
        return np.array(list(pool.map(of, tosses)))


def fit(tosses: Sequence[np.ndarray], guess: dict[str, tuple[float, float, float]] = FIRST_GUESS, step: float = 0.05) -> ub.studies.Fit:
    """The parameters for which runs are nearest to the tosses."""

    def places(**parameters: float) -> np.ndarray:
        with ThreadPoolExecutor() as pool:
            return np.concatenate([q[::EVERY, :3] for q in pool.map(lambda toss: thrown(toss, **parameters), tosses)])

    measured = np.concatenate([toss[::EVERY, :3] for toss in tosses])
    return ub.fit(measured, places, guess, tolerance=1e-3, step=step)


def made_up(count: int, friction: float, restitution: float, noise: float = 0.0) -> list[np.ndarray]:
    """Tosses of a block whose parameters are known, in the form of the measured ones."""
    rng, out = np.random.default_rng(7), []
    for _ in range(count):
        v, w = rng.normal((-18.0, 0.0, 0.0), (4.0, 4.0, 2.0)), rng.normal(0.0, 4.0, 3)
        toss = np.zeros((60, 13))
        t = np.arange(FREE) / RATE
        toss[:FREE, :3] = np.outer(t, v) + np.array([4.0, 0.0, 3.5]) - np.outer(0.5 * GRAVITY / HALF * t**2, (0, 0, 1))
        toss[:, 3:7] = (q := rng.normal(size=4)) / np.linalg.norm(q)
        toss[:, 10:] = w
        toss[:, :7] = thrown(toss, friction=friction, restitution=restitution, size=1.0)
        toss[:, :3] += noise * rng.normal(size=(60, 3))
        out.append(toss)
    return out


def simulate() -> ub.studies.Fit:
    tosses = made_up(8, friction=0.25, restitution=0.15)
    guess = {"friction": (0.3, 0.0, 1.0), "restitution": (0.2, 0.0, 1.0), "size": (1.01, 0.9, 1.1)}
    return fit(tosses, guess, step=0.02)


def check(found: ub.studies.Fit) -> None:
    """Made up without noise, so the least sum is zero. Impacts happen in whole steps of 1/148 s, in which the block goes a tenth of its
    half width: sums are rough within some hundredths of that, and restitution and size are told as well as that."""
    assert found.rms < 0.1, found
    assert abs(found.values["friction"] - 0.25) < 0.02, found
    assert abs(found.values["restitution"] - 0.15) < 0.1 and abs(found.values["size"] - 1.0) < 0.05, found


def main(arguments: list[str]) -> None:
    if not arguments:
        found = simulate()
        check(found)
        print(f"made up with friction 0.25, restitution 0.15, size 1: {found}")
        return
    tosses, count = read(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 50
    found = fit(tosses[:count])
    print(found)
    notes = {}
    for name, which in ((f"{count} tosses of the fit", tosses[:count]), (f"{len(tosses) - count} tosses not seen", tosses[count:])):
        error = errors(which, **found.values)
        (place, angle), (usual, turned) = error.mean(axis=0), np.median(error, axis=0)
        notes[name] = f"error {place:.3f} block widths and {angle:.1f}° in the mean, {usual:.3f} and {turned:.1f}° in the median toss"
        print(f"{name}: {notes[name]}")
    print(f"The report is in {found.report('tosses.html', notes=notes)}")


if __name__ == "__main__":
    main(sys.argv[1:])
