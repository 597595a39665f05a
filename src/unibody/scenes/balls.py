"""Balls: one that bounces, one that slips until it rolls, a break at billiards, marbles on a terrain. SI units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.shapes import Box, HeightField, OpenMesh, Placed, Plane, Sphere
from unibody.spatial.pose import Pose

G = 9.81


@dataclass(frozen=True)
class Bounces:
    """A ball that falls from `height` [m] and keeps the part e of its speed at each impact, instantaneous ones."""

    height: float
    restitution: float

    @property
    def fall(self) -> float:
        """Until the first impact [s]."""
        return math.sqrt(2.0 * self.height / G)

    def top(self, k: int) -> float:
        """The height after k impacts [m]: h e²ᵏ."""
        return self.height * self.restitution ** (2 * k)

    @property
    def stops(self) -> float:
        """When it has bounced infinitely often [s]; inf for e = 1."""
        e = self.restitution
        return self.fall * (1.0 + e) / (1.0 - e) if e < 1.0 else math.inf


@scene("bouncing-ball", summary="A ball bounces lower and lower and comes to rest in a finite time")
def bouncing_ball(*, height: float = 1.0, restitution: float = 0.7, radius: float = 0.1) -> Scene:
    """A ball of `radius` [m] and 1 kg, `height` [m] above the ground: tops at h e²ᵏ, at rest after √(2h/g) (1 + e)/(1 − e)."""
    import unibody as ub

    require("bouncing-ball", height > 0.0 and radius > 0.0, f"height={height:g}, radius={radius:g}; give lengths above 0")
    b = ub.Builder(gravity=(0, 0, -G))
    b.body("ground", shape=Plane(), kind="static")
    b.body("ball", shape=Sphere(radius), mass=1.0, X_WB=Pose(p=(0, 0, radius + height)))
    b.add(ub.Contact(restitution=restitution), name="contact")
    exact = Bounces(height, restitution)
    duration = min(1.2 * exact.stops, 10.0 * exact.fall)
    return Scene(b.build(), duration, 2e-3, exact, "Tops are exact.top(k), rest begins at exact.stops.", solver="complementarity")


@dataclass(frozen=True)
class SlipThenRoll:
    """A ball on a slope: slip u = v − ω r, rubbed by μ g cos; once it is gone the ball rolls if tan ≤ 7/2 μ."""

    radius: float
    slope: float
    """[rad]"""
    friction: float
    speed: float
    """Down the slope at the start [m/s]; the ball does not turn yet, or with `spin`."""
    spin: float

    @property
    def _pieces(self) -> list[tuple[float, float, float]]:
        """(duration, acceleration of v, of ω r) one after the other."""
        down, rub = G * math.sin(self.slope), self.friction * G * math.cos(self.slope)
        u, out = self.speed - self.spin * self.radius, []
        holds = down <= 3.5 * rub
        if u != 0.0:
            side = math.copysign(1.0, u)
            change = down - 3.5 * rub * side
            ends = -u / change if change * side < 0.0 else math.inf
            out.append((ends, down - rub * side, 2.5 * rub * side))
        last = (5.0 / 7.0 * down, 5.0 / 7.0 * down) if holds else (down - rub, 2.5 * rub)
        return [*out, (math.inf, *last)]

    @property
    def rolls_at(self) -> float:
        """When slip ends [s]: 2 v / (7 μ g) for a ball thrown on level ground."""
        return self._pieces[0][0] if len(self._pieces) > 1 else 0.0

    def motion(self, t: float) -> tuple[float, float, float]:
        """Way down the slope [m], speed [m/s] and rate [rad/s] at time t."""
        x, v, w = 0.0, self.speed, self.spin * self.radius
        for length, of_v, of_w in self._pieces:
            dt = min(t, length)
            x, v, w, t = x + v * dt + 0.5 * of_v * dt * dt, v + of_v * dt, w + of_w * dt, t - dt
            if t <= 0.0:
                break
        return x, v, w / self.radius


@scene("rolling-sphere", summary="A ball thrown along the ground slips until it rolls, on level ground or down a slope")
def rolling_sphere(
    *, speed: float = 3.0, spin: float = 0.0, degrees: float = 0.0, friction: float = 0.2, radius: float = 0.1
) -> Scene:
    """A ball of `radius` [m] and 1 kg with `speed` [m/s] down a slope of `degrees`, turning with `spin` [rad/s] (rolling: speed/radius). On
    level ground it rolls after 2 v/(7 μ g), with 5/7 of its speed; down a slope with 5/7 g sin, unless tan > 7/2 μ."""
    import unibody as ub

    require("rolling-sphere", radius > 0.0, f"radius={radius:g}; give more than 0")
    require("rolling-sphere", 0.0 <= degrees < 90.0, f"degrees={degrees:g}; give 0 or more and less than 90")
    angle = math.radians(degrees)
    tilt = Pose.about((0, 1, 0), angle)
    b = ub.Builder(gravity=(0, 0, -G))
    b.body("ground", shape=Plane(), kind="static", X_WB=tilt)
    place, along = Pose(p=radius * tilt.R[:, 2]), tilt.R[:, 0]
    b.body("ball", shape=Sphere(radius), mass=1.0, X_WB=place, V_WB=(0, spin, 0, *(speed * along)))
    b.add(ub.Contact(friction=friction), name="contact")
    exact = SlipThenRoll(radius, angle, friction, speed, spin)
    notes = "exact.rolls_at is when slip ends, exact.motion(t) gives way, speed and rate."
    return Scene(b.build(), duration=1.5, dt=2e-3, exact=exact, notes=notes, solver="complementarity")


@dataclass(frozen=True)
class Break:
    """What a break cannot change."""

    momentum: np.ndarray
    """Of all balls [kg m/s]: across the table as long as none rubs on it or meets a cushion."""
    speed: float
    restitution: float

    def head_on(self) -> tuple[float, float]:
        """Speeds of the cue ball and of a single ball it hits in the middle: (1 ∓ e)/2 v [m/s]."""
        return 0.5 * (1.0 - self.restitution) * self.speed, 0.5 * (1.0 + self.restitution) * self.speed


BALL, LENGTH, WIDTH = 0.028575, 2.24, 1.12
"""Radius of a billiard ball, and the field of play [m]."""


@scene("billiards", summary="The break: a cue ball scatters a rack of fifteen")
def billiards(
    *, rows: int = 5, speed: float = 6.0, aside: float = 0.002, spread: float = 2e-4, restitution: float = 0.95, friction: float = 0.2,
    rubs: float = 0.05, cushions: bool = True,
) -> Scene:
    """Balls of 57.15 mm and 0.17 kg: `rows` of them in a triangle, `spread` [m] between neighbours; the cue ball comes with `speed` [m/s]
    and passes `aside` [m] of the middle. `restitution` and `rubs` between balls, `friction` on the cloth (0: momentum across the table
    stays for good); cushions give 0.75 of the speed back."""
    import unibody as ub

    require("billiards", 1 <= rows <= 7, f"rows={rows}; give 1 to 7, which the table holds")
    require("billiards", abs(aside) < 2.0 * BALL, f"aside={aside:g} misses; give less than {2 * BALL} to either side")
    require("billiards", spread >= 0.0, f"spread={spread:g} lets balls overlap; give 0 or more")
    b = ub.Builder(gravity=(0, 0, -G))
    b.body("table", shape=_coloured(Box((LENGTH + 0.2, WIDTH + 0.2, 0.04)), (0.1, 0.4, 0.25)), kind="static", X_WB=Pose(p=(0, 0, -0.02)))
    rails = []
    if cushions:
        for k, (x, y) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
            size = (0.05, WIDTH + 0.2, 0.04) if x else (LENGTH, 0.05, 0.04)
            place = (x * (0.5 * LENGTH + 0.025), y * (0.5 * WIDTH + 0.025), 0.02)
            rails.append(b.body(f"cushion{k}", shape=_coloured(Box(size), (0.35, 0.2, 0.1)), kind="static", X_WB=Pose(p=place)).name)
    across = 2.0 * BALL + spread
    rack = [(0.05 + i * across * math.sqrt(0.75), (j - 0.5 * i) * across) for i in range(rows) for j in range(i + 1)]
    places = [(-0.5 * LENGTH + 0.4, aside), *rack]
    balls = [b.body(f"ball{k}", shape=Sphere(BALL), mass=0.17, X_WB=Pose(p=(*p, BALL)), V_WB=(0, 0, 0, speed if k == 0 else 0, 0, 0)).name
             for k, p in enumerate(places)]  # fmt: skip
    b.add(ub.Contact(friction=friction), name="cloth")
    b.add(ub.Contact(friction=rubs, restitution=restitution, between=(balls, balls)), name="balls")
    if rails:
        b.add(ub.Contact(friction=rubs, restitution=0.75, between=(balls, rails)), name="cushions")
    exact = Break(np.array([0.17 * speed, 0.0, 0.0]), speed, restitution)
    notes = "With friction=0 and cushions=false, momentum along the table is exact.momentum for good; with rows=1, exact.head_on() follows."
    return Scene(b.build(), duration=1.5, dt=2e-3, exact=exact, notes=notes, solver="complementarity")


def _coloured(shape: Box, colour: tuple[float, float, float]) -> Placed:
    return Placed(shape, Pose(), colour)


def valley(x: np.ndarray, y: np.ndarray, bumps: float) -> np.ndarray:
    """Heights of a bent valley that falls towards +x and ends in a bowl [m], with `bumps` [m] of hills across it. Its banks and the far rim
    are higher than where marbles start, so that none can leave."""
    middle = 0.25 * np.sin(2.2 * x) * np.clip(0.6 - x, 0.0, 1.0)
    floor = 0.12 * np.clip(0.6 - x, 0.0, None) + 0.7 * np.clip(x - 0.9, 0.0, None) ** 2
    return floor + 0.3 * (y - middle) ** 2 + bumps * np.cos(9.0 * x) * np.cos(11.0 * y)


@scene("marbles", summary="Marbles run down a bent valley and gather in a bowl")
def marbles(
    *, n: int = 12, bumps: float = 0.01, cells: int = 40, ground: Literal["height-field", "mesh"] = "height-field", friction: float = 0.4,
    restitution: float = 0.3,
) -> Scene:  # fmt: skip
    """n marbles of 4 cm radius (2500 kg/m³) in rows of four at the top of a valley of 3 × 2 m, which is given by `cells` × `cells` / 2
    squares, as heights over a grid or as a mesh of the same triangles."""
    import unibody as ub

    require("marbles", 1 <= n <= 40, f"n={n}; give 1 to 40, which the top of the valley holds")
    require("marbles", 8 <= cells <= 1000 and 0.0 <= bumps <= 0.05, f"cells={cells}, bumps={bumps:g}; give 8 … 1000 and 0 … 0.05 m")
    b = ub.Builder(gravity=(0, 0, -G))
    x, y = np.linspace(-1.4, 1.6, cells + 1), np.linspace(-1.0, 1.0, cells // 2 + 1)
    field = HeightField(valley(x[None, :], y[:, None], bumps), spacing=(x[1] - x[0], y[1] - y[0]))
    b.body("ground", shape=field if ground == "height-field" else OpenMesh(*field.triangles()), kind="static", X_WB=Pose(p=(0.1, 0, 0)))
    radius = 0.04
    for k, (row, column) in enumerate(list(product(range(10), range(4)))[:n]):
        place = np.array([-1.25 + 0.1 * row, -0.15 + 0.1 * column - 0.25 * math.sin(1.0)])
        height = float(valley(place[0], place[1], bumps)) + 1.6 * radius + 0.002 * (k % 3)
        b.body(f"marble{k}", shape=Sphere(radius), density=2500.0, X_WB=Pose(p=(*place, height)))
    b.add(ub.Contact(friction=friction, restitution=restitution, reach=1e-3), name="contact")
    notes = "They roll down, sway across the valley and gather in the bowl near x = 0.85, all but at rest after 8 s; energy only falls."
    return Scene(b.build(), duration=8.0, dt=5e-3, notes=notes, solver="complementarity")
