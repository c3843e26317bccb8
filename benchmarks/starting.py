"""From the command to the first paint of the window, against importing torch."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks.rows import Measured, Row

REPETITIONS = 7
PAINTED = "painted"
TORCH = f"import torch; print('{PAINTED}', flush=True)"
WINDOW = f"""
import numpy, os
from PySide6.QtWidgets import QApplication
from lmviz.app.main import main
live = QApplication.exec
def live_until_painted():
    window = next(widget for widget in QApplication.topLevelWidgets() if hasattr(widget, "painted"))
    window.painted.connect(lambda: (print("{PAINTED}", flush=True), os._exit(0)))
    return live()
QApplication.exec = staticmethod(live_until_painted)
main()
"""


def _seconds(program: str, folder: str) -> float:
    """From the start of a fresh Python to the line it prints."""
    names = ("CONFIG", "DATA", "STATE", "CACHE")
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"} | {f"XDG_{n}_HOME": folder for n in names}
    began = time.perf_counter()
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        lines = iter(process.stdout.readline, "")
        found = any(line.strip() == PAINTED for line in lines)
        taken = time.perf_counter() - began
    if not found:
        raise RuntimeError("The window was never painted.")
    return taken


def first_paint() -> Measured:
    """In turns, each time in fresh processes; the first round only warms the disk's cache."""
    with tempfile.TemporaryDirectory() as folder:
        pairs = [(_seconds(WINDOW, folder), _seconds(TORCH, folder)) for _ in range(REPETITIONS + 1)][1:]
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(window / torch for window, torch in pairs)
    return Measured(ratio, f"{ours:.2f} s, import torch {theirs:.2f} s")


ROWS = (
    Row(
        "first-paint", "first paint of the window, against `import torch` alone", "×", 0.35, True, first_paint
    ),
)
