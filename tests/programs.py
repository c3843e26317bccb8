"""Programs that tests run in a process of their own, with time enough where the machine has other work."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from patience import patience

LONG = 90.0  # seconds


def run_python(
    script: str, *words: str, seconds: float = LONG, **settings: Any
) -> subprocess.CompletedProcess[str]:
    """The end of a script that Python has run with these words: its code, and what it said, as text.

    It may take so many seconds, or more as `patience` has it; after that `subprocess.TimeoutExpired` is
    raised. Further settings are those of `subprocess.run`.
    """
    return subprocess.run(
        [sys.executable, "-c", script, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds * patience(),
        **settings,
    )
