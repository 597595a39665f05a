"""A toy crane: a motor nods the boom, a cable runs over its tip, and the books of energy balance.

    python examples/cable_toy.py [picture.png]
"""

from __future__ import annotations

import sys

import numpy as np

import unibody as ub


def simulate(duration: float = 4.0) -> ub.Recording:
    scene = ub.scenes.make("cable-toy")
    return ub.Simulation(scene.model, solver=ub.solvers.Articulated(rule="rk4"), dt=scene.dt).run(duration, every=10)


def check(rec: ub.Recording) -> None:
    """What the bodies and springs gained is what the motor put in less what the dampers took."""
    e = rec.energy
    unexplained = e.total - e.total[0] - (e.motor_work + e.damper_work + e.applied_work)
    # The books are kept by the trapezoidal rule, second order in dt = 2 ms.
    assert np.abs(unexplained).max() < 1e-3 * e.kinetic.max()
    assert e.damper_work[-1] < 0.0


if __name__ == "__main__":
    recording = simulate()
    check(recording)
    print(f"the motor gave {recording.energy.motor_work[-1]:+.3f} J, the dampers {recording.energy.damper_work[-1]:+.3f} J")
    if len(sys.argv) > 1:
        from unibody.view import draw_motion

        print("picture:", draw_motion(recording, sys.argv[1], title="A toy crane"))
