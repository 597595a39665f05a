"""A gripper takes a block from a table, lifts it and holds it for a minute by friction alone."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.polynomial import Polynomial

from unibody.scenes.base import Scene, require, scene
from unibody.shapes import Box, Capsule
from unibody.spatial.pose import Pose

G = 9.81
EDGE, PAD, OPEN = 0.06, 0.02, 0.005
"""Edge of the block, thickness of a finger and its way to the block [m]."""
CLOSED, LIFTED, HIGH = 0.5, 1.5, 0.15
"""When the fingers have closed and when the lift ends [s]; how high [m]."""


@dataclass(frozen=True)
class Grip:
    """Two fingers press with `force` [N] each, so that friction holds up to 2 μ F."""

    force: float
    friction: float
    mass: float

    @property
    def holds(self) -> bool:
        """Whether it carries the block at rest."""
        return 2.0 * self.friction * self.force >= self.mass * G

    @property
    def most(self) -> float:
        """The heaviest block it holds at rest [kg]."""
        return 2.0 * self.friction * self.force / G

    @property
    def slides(self) -> float:
        """How fast the block slides out of fingers at rest, if it does [m/s²]."""
        return max(0.0, G - 2.0 * self.friction * self.force / self.mass)


_PATH = Polynomial([0.0, 0.0, 0.0, 10.0 * HIGH, -15.0 * HIGH, 6.0 * HIGH])
_COEFFICIENTS = tuple(tuple((_PATH.deriv(k).coef / (LIFTED - CLOSED) ** k).tolist()[::-1]) for k in range(3))


def _at(t: float, order: int) -> float:
    """The palm's way up, or a derivative of it: by 15 cm between 0.5 s and 1.5 s, at rest and without force at the ends."""
    s, value = min(1.0, max(0.0, (t - CLOSED) / (LIFTED - CLOSED))), 0.0
    for c in _COEFFICIENTS[order]:
        value = value * s + c
    return value


def lift_height(t: float) -> float:
    """[m]"""
    return _at(t, 0)


def lift_rate(t: float) -> float:
    """[m/s]"""
    return _at(t, 1)


def lift_acceleration(t: float) -> float:
    """[m/s²]"""
    return _at(t, 2)


@scene("gripper", summary="Two fingers pinch a block, lift it and hold it for a minute by friction alone")
def gripper(*, force: float = 12.0, mass: float = 1.0, friction: float = 0.6, duration: float = 60.0) -> Scene:
    """A block of 6 cm and `mass` [kg] on a table; fingers of 0.1 kg, geared to each other, press with `force` [N] each by their motors and
    lift it 15 cm between 0.5 s and 1.5 s. Friction carries up to 2 μ F / g, 1.47 kg with the defaults. Fingers are round: where flat ones
    carry their load is not determined between rigid bodies, and off the middle it lets the block turn out of them."""
    import unibody as ub

    require("gripper", force > 0.0 and mass > 0.0 and friction >= 0.0, f"force={force:g}, mass={mass:g}, friction={friction:g}; give > 0")
    b = ub.Builder(gravity=(0, 0, -G))
    b.body("table", shape=Box((0.4, 0.3, 0.02)), kind="static", X_WB=Pose(p=(0, 0, -0.01)))
    b.body("block", shape=Box((EDGE,) * 3), mass=mass, X_WB=Pose(p=(0, 0, 0.5 * EDGE)))
    height = 0.5 * EDGE + 0.01
    palm = b.body("palm", shape=Box((0.16, 0.05, 0.03)), mass=0.5)
    b.joint("arm", ub.Prismatic(axis=(0, 0, 1)), b.world, palm, X_PF=Pose(p=(0, 0, height)), X_BM=Pose(p=(0, 0, -0.1)))
    b.add(ub.PrescribedJoint("arm", lift_height, rate=lift_rate, acceleration=lift_acceleration), name="lift")
    for name, side in (("left", -1.0), ("right", 1.0)):
        finger = b.body(name, shape=Capsule(0.5 * PAD, 0.11), mass=0.1)
        at = side * (0.5 * EDGE + 0.5 * PAD + OPEN)
        b.joint(f"{name}.slide", ub.Prismatic(axis=(-side, 0, 0)), palm, finger, X_PF=Pose(p=(at, 0, -0.1)), X_BM=Pose(p=(0, 0, -0.04)))
        b.add(ub.Motor(f"{name}.slide", effort=force, kd=3.0), name=f"{name}.motor")
    b.add(ub.JointCoupling(["left.slide", "right.slide"], (1.0, -1.0)), name="gear")
    b.add(ub.Contact(friction=friction, reach=5e-4), name="contact")
    exact = Grip(force, friction, mass)
    notes = f"{'Holds' if exact.holds else 'Lets go'}: friction carries up to {exact.most:.3g} kg. Held, the block does not creep."
    return Scene(b.build(), duration=duration, dt=0.01, exact=exact, notes=notes, solver="complementarity")
