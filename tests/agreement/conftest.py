"""Lets the tests of this folder share its own scenes, `zoo`, `peers` and the scenes of `verification`."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "verification")]
