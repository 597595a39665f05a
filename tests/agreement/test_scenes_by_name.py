"""Every scene by its name alone: the solver is chosen, it runs to its end, and it does what its line says (`scene_claims`,
`soft_scene_claims`).

The everyday run shortens the scenes of `SHORT`; UNIBODY_FULL_SCENES=1 runs all to their full duration, some minutes in all.
"""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
from scene_claims import CLAIMS as RIGID_CLAIMS
from scene_claims import SHORT
from soft_scene_claims import SOFT_CLAIMS

import unibody as ub

FULL = bool(os.environ.get("UNIBODY_FULL_SCENES"))
CLAIMS = RIGID_CLAIMS | SOFT_CLAIMS
ROWS = 100
"""States that are looked at."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ub.scenes.names())
def test_a_scene_by_its_name_does_what_its_line_says(name: str) -> None:
    scene = ub.scenes.make(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ub.UnibodyWarning)  # no scene of ours begins with a mistake
        sim = ub.Simulation(name)
    assert sim.dt == scene.dt and sim.notes and any("chosen: " in note for note in sim.notes)
    duration = scene.duration if FULL else SHORT.get(name, scene.duration)
    steps = round(duration / scene.dt)
    rec = sim.run(steps * scene.dt, every=max(1, steps // ROWS), progress=False)  # the watch over energies raises StepFailed
    assert rec.steps == steps and np.isfinite(rec.q).all() and np.isfinite(rec.energy.total).all()
    CLAIMS[name](scene, rec)


def test_every_scene_has_a_claim_and_every_claim_a_scene() -> None:
    assert set(CLAIMS) == set(ub.scenes.names())
    assert set(SHORT) <= set(CLAIMS)
    assert all(0.0 < seconds < ub.scenes.make(name).duration for name, seconds in SHORT.items())
