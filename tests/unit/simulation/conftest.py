"""Lets the tests of this folder share `simulation_parts`, a module that files can import by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
