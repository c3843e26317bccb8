"""How much longer than usual what a test waits for may take, because the machine has other work, too."""

from __future__ import annotations

import os

MOST = 10.0


def patience() -> float:
    """How many programs want each core, at least 1 and at most `MOST`; 1 where the system does not say."""
    if not hasattr(os, "getloadavg"):
        return 1.0
    return min(max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)), MOST)
