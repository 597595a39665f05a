"""Lets the tests of this folder share `zoo` and `peers`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
