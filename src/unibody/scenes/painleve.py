"""Painlevé's rod (1895): a rod whose lower end is pushed along rough ground, as chalk over a board.

With W the answer of the end's velocity (upwards, along) to an impulse there, sliding with friction against it leaves

    ü = A N + b,     A = W_nn − μ |W_nt|,     b = −g + ω² c          c: height of the centre above the end

Where A > 0 the ground carries N = −b/A. Where A ≤ 0 and b < 0 no force whatever keeps the end from sinking: the end stops at once, by an
impulse without a collision. It is the one that leaves the end at rest, W λ = −(0, u): it lies within the cone just where A ≤ 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unibody.scenes.base import Scene, require, scene
from unibody.scenes.parts import HINGE
from unibody.shapes import Capsule, Placed, Plane
from unibody.spatial.pose import Pose

G = 9.81
THIN = 0.01
"""Radius of the rod over its length."""


@dataclass(frozen=True)
class SlidingRod:
    """What rigid bodies and Coulomb's law say of the first instant."""

    mass: float
    inertia: float
    arm: np.ndarray
    """From the centre to the point of contact, (x, z) [m]; it slides towards −x."""
    friction: float
    speed: float
    rate: float

    @property
    def response(self) -> np.ndarray:
        """W (2, 2): (upwards, along x) velocity of the end per impulse there [1/kg]."""
        x, z = self.arm
        return np.eye(2) / self.mass + np.array([[x * x, -x * z], [-x * z, z * z]]) / self.inertia

    @property
    def sliding_response(self) -> float:
        """A [1/kg]: upwards acceleration per normal force while it slides towards −x."""
        return float(self.response[0] @ [1.0, self.friction])

    @property
    def critical(self) -> float:
        """The coefficient above which A < 0."""
        W = self.response
        return float(-W[0, 0] / W[0, 1]) if W[0, 1] < 0.0 else math.inf

    @property
    def free_acceleration(self) -> float:
        """b: of the end, upwards, without contact [m/s²]."""
        return -G - self.rate**2 * float(self.arm[1])

    @property
    def jams(self) -> bool:
        """Whether no force keeps it sliding (A ≤ 0, b < 0)."""
        return self.sliding_response <= 0.0 and self.free_acceleration < 0.0

    @property
    def force(self) -> float:
        """N = −b/A while it slides [N]; 0 where it lifts off, nan where it jams."""
        if self.jams:
            return math.nan
        return max(0.0, -self.free_acceleration / self.sliding_response) if self.sliding_response > 0.0 else 0.0

    @property
    def start(self) -> np.ndarray:
        """Velocities (x, z, turn towards z from x) of the centre at the start."""
        x, z = self.arm
        return np.array([-self.speed + self.rate * z, -self.rate * x, self.rate])

    @property
    def impulse(self) -> np.ndarray:
        """(upwards, along x) by which a rod that jams stops its end [N s]."""
        return -np.linalg.solve(self.response, np.array([0.0, -self.speed]))

    @property
    def after(self) -> np.ndarray:
        """Velocities (x, z, turn) of the centre after that impulse."""
        up, along = self.impulse
        x, z = self.arm
        return self.start + np.array([along / self.mass, up / self.mass, (x * up - z * along) / self.inertia])


@scene("painleve-rod", summary="A rod pushed over rough ground jams without a collision (Painlevé's paradox)")
def painleve_rod(*, degrees: float = 63.4, friction: float = 1.6, speed: float = 1.0, rate: float = 0.0, length: float = 1.0) -> Scene:
    """A slender rod of `length` [m] and 1 kg in the x–z plane, at `degrees` from the ground, its lower end moving towards −x with `speed`
    [m/s], the rod turning with `rate` [rad/s]. It jams where μ exceeds (1 + 3 cos²)/(3 sin cos), at least 4/3 (tan = 2, 63.4°)."""
    import unibody as ub

    require("painleve-rod", 0.0 < degrees < 90.0, f"degrees={degrees:g}; give more than 0 and less than 90")
    require("painleve-rod", length > 0.0, f"length={length:g}; give more than 0")
    require("painleve-rod", speed > 0.0 and friction >= 0.0, f"speed={speed:g}, friction={friction:g}; give > 0 and ≥ 0")
    angle, radius, half = math.radians(degrees), THIN * length, 0.5 * length
    inertia = length**2 / 12.0
    to_end = -half * np.array([math.cos(angle), math.sin(angle)])
    arm = to_end - [0.0, radius]
    exact = SlidingRod(1.0, inertia, arm, friction, speed, rate)
    b = ub.Builder(gravity=(0, 0, -G), planar=True)
    b.body("ground", shape=Plane(), kind="static")
    lying = Placed(Capsule(radius, length), Pose.about((0, 1, 0), 0.5 * math.pi))
    vx, vz, turn = exact.start
    twist = (*(turn * np.array(HINGE)), vx, 0, vz)
    place = Pose.about(HINGE, angle, p=(0, 0, -arm[1]))
    b.body("rod", shape=lying, mass=1.0, com=(0, 0, 0), inertia=(1e-3 * inertia, inertia, inertia), X_WB=place, V_WB=twist)
    b.add(ub.Contact(friction=friction), name="contact")
    notes = "Below exact.critical it slides and the ground carries exact.force; above, its end stops at once and it has exact.after."
    return Scene(b.build(), duration=0.6, dt=1e-3, exact=exact, notes=notes, solver="complementarity")
