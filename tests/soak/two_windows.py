"""Two programs have one run open, and each does to it what comes to its mind.

Each must end by itself without a word, and say nothing that lmviz did not expect; the run must be whole at
the end: it opens, all of its snapshots can be read, and it can be trained on.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import lmviz
from lmviz.text.corpus import Corpus
from lmviz.training.run import Run

WINDOWS = 2
LONGEST = 400.0  # seconds for both on a busy machine
SETTINGS: dict[str, Any] = {"batch": 2, "length": 5, "validate_every": 0, "snapshots": 5}

PROGRAM = """
import logging
import random
import sys
import time
from pathlib import Path
from typing import Any
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from lmviz.app.main import open_window
from lmviz.app.workers import closing
from lmviz.families import FAMILIES
from lmviz.training.options import TrainingOptions

logging.getLogger("lmviz.watchdog").disabled = True  # two trainings and two windows: turns take long
folder, text, actions = Path(sys.argv[1]), sys.argv[2], int(sys.argv[4])
chance = random.Random(sys.argv[3])
window = open_window(str(folder))
session = window.session
session.permission.allow([text])
closing.LONGEST_WAIT = 60.0  # on a busy machine
unexpected = []
session.work.any_failed.connect(lambda said: "did not expect" in said and unexpected.append(said))
session.training.failed.connect(lambda said: "did not expect" in said and unexpected.append(said))
left = [actions]

def read():
    model = session.library.model
    if model is not None:
        session.library.choose_step(chance.choice(model.snapshots))
    session.reading.set_prefix(" ".join(chance.choices(["The", "cow", "eats", "grass", "."], k=4)))

def train():
    model = session.library.model
    if model is not None:
        steps = model.snapshots[-1] + chance.choice((1, 5, 50))
        options = TrainingOptions(steps=steps, batch=2, length=5, validate_every=0, snapshots=5)
        session.plan.set("lstm", FAMILIES["lstm"].configuration(width=4), options)
        chance.choice((session.training.resume, session.training.step))()

def rename():
    if session.library.model is not None:
        session.library.rename(folder, chance.choice(("farm", "meadow", "")))

def open_again():
    model = session.library.model
    if model is not None and chance.random() < 0.5:
        session.library.close(model)
    session.library.open(folder)

def remove():
    model = session.library.model
    if model is not None and len(model.snapshots) > 2:
        model.run.snapshot_path(chance.choice(model.snapshots[:-1])).unlink(missing_ok=True)

ways = (read, read, read, train, train, session.training.pause, session.training.stop, rename, open_again,
        lambda: session.library.follow_live(not session.library.live), remove)

def act():
    left[0] -= 1
    if left[0] < 0:
        timer.stop()
        window.close()
        return
    chance.choice(ways)()

timer = QTimer(interval=60)
timer.timeout.connect(act)
session.work.ready_changed.connect(timer.start)
code = QApplication.exec()
for said in unexpected:
    print(said, file=sys.stderr)
sys.exit(closing.leave(code))
"""


def disturb_one_another(corpus: Corpus, folder: Path, chance: random.Random, actions: int = 60) -> str:
    """What went wrong while two windows had the same run open; "" for nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    run = lmviz.train("lstm", corpus, folder / "run", steps=6, width=4, **SETTINGS)
    text = str(corpus.sources[0])
    processes = []
    for number in range(WINDOWS):
        home = folder / f"home {number}"
        homes = {f"XDG_{name}_HOME": str(home / name) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
        words = [sys.executable, "-c", PROGRAM, str(run.folder), text, str(chance.random()), str(actions)]
        here = {"QT_QPA_PLATFORM": "offscreen", "LMVIZ_DATA": str(home / "data")}
        processes.append(
            subprocess.Popen(words, env=os.environ | homes | here, stderr=subprocess.PIPE, text=True)
        )
    wrong = [_end_of(process) for process in processes]
    return " ".join(filter(None, [*wrong, _state_of(run.folder, corpus)]))


def _end_of(process: subprocess.Popen[str]) -> str:
    try:
        _, said = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return f"A window did not end within {LONGEST:.0f} s."
    return (
        "" if (process.returncode, said) == (0, "") else f"A window ended with {process.returncode}: {said}"
    )


def _state_of(folder: Path, corpus: Corpus) -> str:
    try:
        run = Run.open(folder)
        run.metrics()
        steps = run.snapshots()
        for step in steps:
            run.load_snapshot(step)
        further = dict(run.description.training) | {"steps": steps[-1] + 1}
        lmviz.train("lstm", corpus, folder, resume=True, width=4, **further)
    except Exception:
        return traceback.format_exc(limit=-4)
    return ""
