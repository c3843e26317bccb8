"""Closes the window, in a program of its own, while it is at work: it must end by itself, without a word."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

LONGEST = 400.0  # seconds to start, to work and to end on a busy machine

PROGRAM = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from lmviz.app.main import main
from lmviz.app.session.session import Session
from lmviz.app.workers import closing
from lmviz.families import FAMILIES
from lmviz.training.options import TrainingOptions

kind, delay, text = sys.argv[1], float(sys.argv[2]), sys.argv[3]
started = Session.start
closing.LONGEST_WAIT = 60.0  # on a busy machine

def work(session):
    if kind == "reading a text":
        session.text.open(text)
    elif kind == "training":
        options = TrainingOptions(steps=100_000, batch=2, length=8)
        small = FAMILIES["lstm"].configuration(width=8)
        session.text.changed.connect(lambda: session.training.start("lstm", small, options))
        session.text.open(text)
    elif kind == "typing":
        session.library.open("stories-transformer")
        typing = QTimer(session, interval=20)
        typing.timeout.connect(lambda: session.reading.set_prefix(session.reading.prefix[-200:] + " the"))
        typing.start()
    elif kind == "opening models":
        for name in ("stories-transformer", "stories-lstm", "stories-gru", "stories-5-gram"):
            session.library.open(name)

def start(self):
    self.work.ready_changed.connect(lambda: work(self))
    self.work.ready_changed.connect(
        lambda: QTimer.singleShot(round(delay * 1000), QApplication.instance().closeAllWindows))
    started(self)

Session.start = start
sys.exit(main())
"""
KINDS = ("reading a text", "training", "typing", "opening models")


def close_while(kind: str, folder: Path, chance: random.Random) -> str:
    """What went wrong when the window was closed up to three seconds into a kind of work; "" for nothing."""
    text = folder / "long.txt"
    text.write_text("The cow eats grass.\n" * 20_000, encoding="utf-8")
    homes = {f"XDG_{name}_HOME": str(folder / name) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    words = [sys.executable, "-c", PROGRAM, kind, f"{chance.uniform(0, 3):.3f}", str(text)]
    here = {"QT_QPA_PLATFORM": "offscreen", "LMVIZ_DATA": str(folder / "data")}
    try:
        done = subprocess.run(
            words, env=os.environ | homes | here, capture_output=True, text=True, timeout=LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        return f"it did not end within {LONGEST:.0f} s"
    return (
        "" if (done.returncode, done.stderr) == (0, "") else f"it ended with {done.returncode}: {done.stderr}"
    )
