"""The cache of compiled kernels is keyed by the rooms that hold compiled code; nothing compiled may live elsewhere."""

import os
import re
import time
from pathlib import Path

import unibody
from unibody import kernel
from unibody.kernel import KEPT_CACHES, UNCOMPILED


def test_rooms_outside_the_cache_key_hold_no_compiled_code():
    root = Path(unibody.__file__).parent
    for path in root.rglob("*.py"):
        if path.relative_to(root).parts[0] in UNCOMPILED:
            assert not re.search(r"^@(kernel|device|prototype)\b", path.read_text(), re.M), path


def test_old_kernels_are_discarded_even_while_another_process_does_it(tmp_path, monkeypatch):
    """Only the newest folders stay; one that vanishes between being listed and being looked at is no error."""
    long_ago = time.time() - 7200
    folders = [tmp_path / f"k{i:02}" for i in range(KEPT_CACHES + 3)]
    for i, folder in enumerate(folders):
        folder.mkdir()
        os.utime(folder, (long_ago + i, long_ago + i))
    gone = tmp_path / "gone"
    monkeypatch.setattr(Path, "iterdir", lambda self: iter([gone, *folders]))
    monkeypatch.setattr(Path, "is_dir", lambda self: True)
    kernel._discard_old(tmp_path)
    left = sorted(folder.name for folder in os.scandir(tmp_path))
    assert left == [folder.name for folder in folders[-KEPT_CACHES + 1 :]]
