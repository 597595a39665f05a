"""Lets the tests of this folder import the modules that tests share, such as `mixed_matrices`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
