"""From the command to the first paint and to the first live numbers, against importing torch."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks.rows import Measured, Row

REPETITIONS = 7
REACHED = "reached"
TORCH = f"import torch; print('{REACHED}', flush=True)"
WINDOW = f"""
import os
from lmviz.app.main import open_window, what_is_missing
assert not what_is_missing()
window = open_window()
def reached():
    print("{REACHED}", flush=True)
    os._exit(0)
"""
RUN = """
from PySide6.QtWidgets import QApplication
QApplication.exec()
"""
PAINTED = f"{WINDOW}window.painted.connect(reached){RUN}"
LIVE = (
    f"{WINDOW}session = window.session\n"
    f"session.reading.changed.connect(lambda: session.work.is_ready and reached()){RUN}"
)


def _seconds(program: str, folder: str) -> float:
    """From the start of a fresh Python to the line it prints."""
    names = ("CONFIG", "DATA", "STATE", "CACHE")
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"} | {f"XDG_{n}_HOME": folder for n in names}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program is compiled
    began = time.perf_counter()
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        lines = iter(process.stdout.readline, "")
        found = any(line.strip() == REACHED for line in lines)
        taken = time.perf_counter() - began
    if not found:
        raise RuntimeError("The window never got so far.")
    return taken


def _against_torch(program: str) -> Measured:
    """In turns, each time in fresh processes; the first round only compiles, and warms the disk's cache."""
    with tempfile.TemporaryDirectory() as folder:
        pairs = [(_seconds(program, folder), _seconds(TORCH, folder)) for _ in range(REPETITIONS + 1)][1:]
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(window / torch for window, torch in pairs)
    return Measured(ratio, f"{ours:.2f} s, import torch {theirs:.2f} s")


ROWS = (
    Row(
        "first-paint",
        "first paint of the window, against `import torch` alone",
        "×",
        0.35,
        True,
        lambda: _against_torch(PAINTED),
    ),
    Row(
        "live",
        "the first live numbers in place of the stored ones, against `import torch` alone",
        "×",
        2,
        True,
        lambda: _against_torch(LIVE),
    ),
)
