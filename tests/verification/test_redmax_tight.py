"""The RedMax authors' own regression scenes against their own equations of motion, integrated tightly (relative tolerance 1e-9).

`redmax_tight.json` holds the scenes and the recorded samples (source and licence inside), in cm, g, s; `redmax_scenes` builds them. Joints
that count rotations by exponential maps are compared by orientations, not coordinates.

Dormand and Prince at 1e-9 per step leave about 1e-8 in a second of these motions, more where they are chaotic; order 4 at 0.25 ms
leaves less. Agreement is demanded to 1e-6 of the range of each motion.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from redmax_scenes import TURNS, builder_of, placed, recorded_rotations
from running import SOLVERS, at, rotations, run

from unibody.spatial.pose import rotation_from_quaternion

CASES = json.loads(Path(__file__).with_name("redmax_tight.json").read_text(encoding="utf-8"))["cases"]
TOLERANCE = 1e-6


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("case", CASES, ids=[f"{case['id'].split('/')[1]}-{case['name'].replace(' ', '-').lower()}" for case in CASES])
def test_motion_is_that_of_the_authors(case, solver, published):
    rec = run(builder_of(case).build(), solver, "rk4", 2.5e-4, case["t"][-1], every=100)
    rows = [at(rec, t) for t in case["t"]]
    for k, joint in enumerate(case["joints"], 1):
        found = rec.joint(f"joint{k}")
        if joint["type"] in TURNS:
            turns = np.array([rotation_from_quaternion(q[-4:]) for q in found[rows]])
            np.testing.assert_allclose(turns, recorded_rotations(case, case["order"], case["q"], k), atol=TOLERANCE)
            continue
        for c in range(found.shape[1]):
            recorded = np.array(case["q"])[:, case["order"].index([k, c + 1])]
            # "Of the motion": angles of order 1 to 6 rad, slides in cm.
            np.testing.assert_allclose(found[rows, c], recorded, atol=TOLERANCE * max(1.0, np.abs(recorded).max()))
    reach = max(np.abs(E).max() for E in case["final"])
    for k, E in enumerate(case["final"], 1):
        X = placed(E)
        np.testing.assert_allclose(rec.pose(f"body{k}")[-1, :3], X.p, atol=TOLERANCE * reach)
        np.testing.assert_allclose(rotations(rec, f"body{k}")[-1], X.R, atol=TOLERANCE * 6)
    # Kinetic energy is quadratic in velocities, which err as much as coordinates times their rates.
    subject = f"RedMax authors' scene {case['id'].split('/')[1]}, {case['name'].lower()}"
    published(subject, "kinetic energy at the end of the tight run", case["T"], rec.energy.kinetic[-1], rtol=2e-5, unit="erg")
