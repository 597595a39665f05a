"""The cache of compiled kernels is keyed by the rooms that hold compiled code; nothing compiled may live elsewhere."""

import re
from pathlib import Path

import unibody
from unibody.kernel import UNCOMPILED


def test_rooms_outside_the_cache_key_hold_no_compiled_code():
    root = Path(unibody.__file__).parent
    for path in root.rglob("*.py"):
        if path.relative_to(root).parts[0] in UNCOMPILED:
            assert not re.search(r"^@(kernel|device|prototype)\b", path.read_text(), re.M), path
