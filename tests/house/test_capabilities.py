"""The capability matrix says what the solvers say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_capability_matrix_is_up_to_date(root: Path) -> None:
    result = subprocess.run([sys.executable, str(root / "tools" / "make_capabilities.py"), "--check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
