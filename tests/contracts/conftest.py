"""Lets the tests of this folder share `zoo` and `custom_elements`."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]
