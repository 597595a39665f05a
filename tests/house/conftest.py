"""Lets the tests of this folder import the tools."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / "tools")]
