"""The published schema of scene files says what the elements say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_schema_is_up_to_date(root: Path) -> None:
    result = subprocess.run([sys.executable, str(root / "tools" / "make_schema.py"), "--check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
