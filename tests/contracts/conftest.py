"""Lets the tests of this folder share `zoo` and `custom_elements`."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

collect_ignore = ["one_of_each.py"]
"""Imported by its test only: its solver and its rule would come under all tests that run over the registries."""
