"""How the program ends, in a process of its own: by a signal, and whatever is still being loaded."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from covering import others_slow
from patience import patience

LONG = 200  # seconds, on a busy machine

RUN = """
import sys
from lmviz.app.main import main
sys.exit(main(*sys.argv[1:]))
"""

SAYS_WHEN_READY = """
from lmviz.app.session.session import Session

started = Session.start

def start(self):
    self.work.ready_changed.connect(lambda: print("ready", flush=True))
    started(self)

Session.start = start
"""

CLOSES_WHILE_TORCH_IS_IMPORTED = """
import importlib.abc
import threading
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication
from lmviz.app.session import session

class Bell(QObject):
    rung = Signal()

class Watch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == AWAITED and threading.current_thread() is not threading.main_thread():
            sys.meta_path.remove(self)
            print("importing", name, flush=True)
            session.bell.rung.emit()

made = session.Session.__init__

def make(self, *arguments):
    session.bell = Bell()
    session.bell.rung.connect(lambda: QApplication.instance().closeAllWindows(), Qt.QueuedConnection)
    made(self, *arguments)

session.Session.__init__ = make
import sys
sys.meta_path.insert(0, Watch())
"""

TRAINS = """
from pathlib import Path
from lmviz.app.session.open_text import OpenText

took = OpenText.use

def take(self, corpus):
    took(self, corpus)
    from lmviz.families import FAMILIES
    from lmviz.training.options import TrainingOptions
    training = self.parent().training
    training.runs_folder = Path(RUNS)
    training.changed.connect(lambda: tell(training.state.phase))
    options = TrainingOptions(steps=100_000, batch=2, length=8)
    training.start("lstm", FAMILIES["lstm"].configuration(width=8), options)

told = []

def tell(phase):
    if phase == "running" and phase not in told:
        print("training", flush=True)
    told.append(phase)

OpenText.use = take
"""

IN_MID_QUESTION = """
import signal
import threading

notify = threading.Condition.notify

def interrupted(self, n=1):
    notify(self, n)
    on_main = threading.get_ident() == threading.main_thread().ident
    if on_main and "running" in told and "ends" not in told:
        told.append("ends")
        signal.raise_signal(signal.SIGTERM)

threading.Condition.notify = interrupted
"""

ENDS_WITHOUT_CLOSING = """
import sys
from lmviz.app.main import open_window
from PySide6.QtCore import QEventLoop
from PySide6.QtWidgets import QApplication

window = open_window(sys.argv[1])
while "running" not in told:
    QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
"""


@contextmanager
def program(tmp_path: Path, script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    folders = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    known = {name: str(tmp_path / name) for name in folders}
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        env=os.environ | known | {"QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ends_cleanly(process: subprocess.Popen[str]) -> None:
    _, said = process.communicate(timeout=LONG * patience())
    assert process.returncode == 0, said
    assert said == ""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there signals end a process at once")
def test_ctrl_c_closes_the_window_as_a_person_would(tmp_path: Path) -> None:
    with program(tmp_path, SAYS_WHEN_READY + RUN) as process:
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
        process.send_signal(signal.SIGINT)
        ends_cleanly(process)
    assert list(tmp_path.rglob("settings.json")), "what was open is remembered"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there signals end a process at once")
@pytest.mark.parametrize("moment", others_slow(["any", "in mid-question"], "in mid-question"))
def test_being_terminated_leaves_a_run_that_can_be_resumed(
    tmp_path: Path, text_file: Path, moment: str
) -> None:
    """Also where the signal comes while a question to the reading thread is being put, and so locked."""
    from lmviz.training.run import Run

    runs = tmp_path / "runs"
    script = f"RUNS = {str(runs)!r}\n" + TRAINS + (RUN if moment == "any" else IN_MID_QUESTION + RUN)
    with program(tmp_path, script, str(text_file)) as process:
        assert process.stdout.readline() == "training\n", process.communicate()[1]
        if moment == "any":
            process.send_signal(signal.SIGTERM)
        ends_cleanly(process)
    [folder] = runs.iterdir()
    assert Run.open(folder).is_resumable
    assert list(tmp_path.rglob("settings.json")), "what was open is remembered"


@pytest.mark.slow
def test_a_script_that_ends_around_an_open_window_leaves_a_run_that_can_be_resumed(
    tmp_path: Path, text_file: Path
) -> None:
    from lmviz.training.run import Run

    runs = tmp_path / "runs"
    script = f"RUNS = {str(runs)!r}\n" + TRAINS + ENDS_WITHOUT_CLOSING
    with program(tmp_path, script, str(text_file)) as process:
        ends_cleanly(process)
    [folder] = runs.iterdir()
    assert Run.open(folder).is_resumable


@pytest.mark.slow
@pytest.mark.parametrize(
    "module",
    [
        pytest.param("torch", marks=pytest.mark.slow),
        "torch.nn",
        pytest.param("torch.utils", marks=pytest.mark.slow),
    ],
)
def test_a_window_that_is_closed_while_torch_is_imported_ends_cleanly(module: str, tmp_path: Path) -> None:
    script = f"AWAITED = {module!r}\n" + CLOSES_WHILE_TORCH_IS_IMPORTED + RUN
    with program(tmp_path, script) as process:
        assert process.stdout.readline() == f"importing {module}\n", process.communicate()[1]
        ends_cleanly(process)
