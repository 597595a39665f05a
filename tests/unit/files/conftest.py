"""Lets the tests of this folder share `scene_parts`, a module that files can import by name, and `zoo`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2]))
