"""The program as it starts, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import run_python

from lmviz.desktop.doctor import missing_libraries

HEAVY = """
    torch tokenizers pyqtgraph ziamath
    lmviz.circuits lmviz.lectures lmviz.lessons.reading lmviz.polls lmviz.text.corpus
    lmviz.text.corpus_options lmviz.training.observation lmviz.app.session.race
"""
"""What the first paint does without."""

MOST_MODULES = 266
"""Modules of lmviz that it may need, packages included; each takes a third of a millisecond."""

MOST_WIDGETS = 325
"""Widgets that may have been made, Qt's own parts of them included: what is not seen can be made later."""

MOST_CLASSES = 58
"""Classes of QtWidgets that may be known to Python, each with its names: PySide6 makes them when asked.

It makes all of them where it is asked for a widget of a class that it does not know.
"""

FIRST_PAINT = f"""
import sys
from lmviz.app.window import main_window

painted = main_window.MainWindow.paintEvent

paints = []

def paint(self, event):
    painted(self, event)
    if not paints:
        heavy = {set(HEAVY.split())} & sys.modules.keys()
        heavy |= {{"QStyle"}} & vars(sys.modules["PySide6.QtWidgets"]).keys()  # 400 names
        print("heavy at first paint:", sorted(heavy), flush=True)
        own = [name for name in sys.modules if name.partition(".")[0] == "lmviz"]
        print("too many at first paint:", own if len(own) > {MOST_MODULES} else [], flush=True)
        of_qt = sys.modules["PySide6.QtWidgets"]
        kinds = [name for name, value in vars(of_qt).items() if isinstance(value, type)]
        print("too many classes at first paint:", kinds if len(kinds) > {MOST_CLASSES} else [], flush=True)
        parts = [type(part).__name__ for part in self.findChildren(of_qt.QWidget)]
        print("too many widgets at first paint:", parts if len(parts) > {MOST_WIDGETS} else [], flush=True)
    paints.append(event)

main_window.MainWindow.paintEvent = paint
"""

FONTS = """
made = main_window.MainWindow.__init__

def make(self, *arguments):
    made(self, *arguments)
    self.painted.connect(lambda: print("fonts at first paint:", len(fonts(self)), flush=True))

def fonts(window):
    shown = (window, window.header.menu_bar, window.header.model_button, window.prefix_bar.edit)
    return {widget.font().family() for widget in shown}

main_window.MainWindow.__init__ = make
"""

WHEN_READY = """
from PySide6.QtCore import QTimer
from lmviz.app.session.session import Session

started = Session.start

def start(self):
    self.work.ready_changed.connect(lambda: print("ready", flush=True))
    self.work.ready_changed.connect(lambda: QTimer.singleShot(300, end))
    started(self)

def end():
    from PySide6.QtWidgets import QApplication
    QApplication.instance().closeAllWindows()

Session.start = start
"""

BLOCKED = "torch tokenizers safetensors gguf ziamath typst jinja2 transformers scipy sympy"
"""What no panel of any perspective may ask for before the first live reading."""

EVERY_PERSPECTIVE = f"""
import os
import sys
import threading
import traceback

class Blocking:
    def find_spec(self, name, path=None, target=None):
        if name in {set(BLOCKED.split())}:
            if threading.current_thread() is threading.main_thread():
                asked = [frame for frame in traceback.extract_stack() if "lmviz" in frame.filename]
                chain = [f"{{os.path.basename(frame.filename)}}:{{frame.lineno}}" for frame in asked[:-1]]
                print(name, *chain[-8:], flush=True)
            raise ImportError(name)

from lmviz.app.main import open_window
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import ROUNDS

Session.start = lambda self: None
sys.meta_path.insert(0, Blocking())
window = open_window()

from PySide6.QtWidgets import QApplication

def settle():
    for _ in range(ROUNDS):
        QApplication.processEvents()

def show_every():
    for row in shown_perspectives():
        window.show_perspective(row.name)
        settle()
        for panel in window.perspective.panels:
            panel.parentWidget().raise_()
            settle()

show_every()
window.set_projector(True)
show_every()
window.set_projector(False)
for row in shown_perspectives():
    window.show_perspective(row.name)
    window.perspective.toggle_window(window.perspective.panels[0].parentWidget().row.name)
    settle()
print(len(window.perspective.panels) > 0, flush=True)
os._exit(0)
"""

RUN = """
import sys
from lmviz.app.main import main
sys.exit(main(*sys.argv[1:]))
"""


def run(tmp_path: Path, script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    folders = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    known = {name: str(tmp_path / name) for name in folders}
    return run_python(
        script, *arguments, env=os.environ | known | {"QT_QPA_PLATFORM": "offscreen"} | environment
    )


def test_the_window_is_painted_in_its_type_before_anything_heavy_is_loaded_and_ends_cleanly(
    tmp_path: Path,
) -> None:
    done = run(tmp_path, FIRST_PAINT + FONTS + WHEN_READY + RUN)
    *painted, ready = done.stdout.splitlines()
    assert painted == [
        "heavy at first paint: []",
        "too many at first paint: []",
        "too many classes at first paint: []",
        "too many widgets at first paint: []",
        "fonts at first paint: 1",
    ], done.stderr
    assert ready == "ready"
    assert done.returncode == 0
    assert done.stderr == ""


@pytest.mark.slow
def test_no_perspective_asks_for_anything_heavy_before_the_first_live_reading(tmp_path: Path) -> None:
    """Whichever it was closed in, with whichever tabs in front: the same panels are painted at the start."""
    done = run(tmp_path, EVERY_PERSPECTIVE)
    assert done.stdout.splitlines() == ["True"], done.stderr


READERS = """
import sys
from lmviz.app.panels.table import rows_of
for row in (*rows_of("corpus"), *rows_of("train")):
    row.load()
    asked = sorted({"lmviz.text.corpus", "lmviz.text.contents", "lmviz.text.forms"} & sys.modules.keys())
    assert not asked, (row.name, asked)
"""


@pytest.mark.slow
def test_no_panel_of_texts_or_training_loads_what_reads_a_file_before_there_is_one(tmp_path: Path) -> None:
    """The thread that reads loads all of it: a person who goes to Corpus or Train need not wait for that."""
    done = run(tmp_path, READERS)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_text_on_the_command_line_is_opened(tmp_path: Path, text_file: Path) -> None:
    opened = """
from PySide6.QtCore import QTimer
from lmviz.app.session.open_text import OpenText
took = OpenText.use

def use(self, corpus):
    took(self, corpus)
    print("opened", corpus.name, flush=True)
    QTimer.singleShot(0, end)

def end():
    from PySide6.QtWidgets import QApplication
    QApplication.instance().closeAllWindows()

OpenText.use = use
"""
    done = run(tmp_path, opened + RUN, str(text_file))
    assert "opened farm" in done.stdout, done.stderr
    assert done.returncode == 0


@pytest.mark.slow
def test_an_exception_in_a_slot_and_in_a_thread_is_logged_and_survived(tmp_path: Path) -> None:
    broken = """
import threading
from PySide6.QtCore import QTimer
from lmviz.app.window.main_window import MainWindow

made = MainWindow.__init__

def make(self, *arguments):
    made(self, *arguments)
    self.painted.connect(lambda: threading.Thread(target=lambda: {}["missing"]).start())
    self.painted.connect(lambda: 1 / 0)

MainWindow.__init__ = make
"""
    done = run(tmp_path, broken + WHEN_READY + RUN)
    assert done.stdout.splitlines() == ["ready"], done.stderr
    assert done.returncode == 0
    [log] = tmp_path.rglob("lmviz.log")
    written = log.read_text(encoding="utf-8")
    assert "ZeroDivisionError" in written
    assert "KeyError: 'missing'" in written


@pytest.mark.skipif(sys.platform != "linux", reason="only there Qt needs libraries of the system")
def test_no_display_is_a_sentence_and_no_abort(tmp_path: Path) -> None:
    done = run(tmp_path, RUN, QT_QPA_PLATFORM="", DISPLAY="", WAYLAND_DISPLAY="")
    assert done.returncode == 1
    assert "display" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only there Qt needs a server for its windows")
def test_a_display_that_does_not_answer_is_a_sentence_and_no_abort(tmp_path: Path) -> None:
    done = run(tmp_path, RUN, QT_QPA_PLATFORM="xcb", DISPLAY="", WAYLAND_DISPLAY="")
    assert done.returncode == 1
    # Where Qt lacks libraries for any display, that comes first.
    assert ("Qt cannot draw without" if missing_libraries("xcb") else "DISPLAY") in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        (
            "doctor.missing_libraries = lambda: doctor.PLUGINS['xcb'][:1]",
            "Qt cannot draw without libxcb-cursor.so.0",
        ),
        ("doctor.WINDOW_MODULES = ('numpy', 'pyqtgraff')", "pyqtgraff is not installed"),
    ],
)
def test_what_is_missing_is_said_in_a_sentence(tmp_path: Path, missing: str, sentence: str) -> None:
    done = run(tmp_path, f"from lmviz.desktop import doctor\n{missing}\n" + RUN)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "install" in done.stderr
    assert "Traceback" not in done.stderr


LONGEST_WAIT = 1.0  # seconds, where it usually is longer
STUCK = f"""
from lmviz.app.workers import closing
closing.LONGEST_WAIT = {LONGEST_WAIT}
"""
STUCK += """
import threading
import time
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from lmviz.app.session.session import Session

started = Session.start
at_work = threading.Barrier(3)

def start(self):
    self.work.ready_changed.connect(lambda: QTimer.singleShot(100, lambda: get_stuck(self)))
    started(self)

def compute_for_ever(report):
    import torch
    at_work.wait()
    while True:
        torch.rand(300, 300) @ torch.rand(300, 300)

def wait_for_ever():
    at_work.wait()
    threading.Event().wait()

def get_stuck(session):
    session.work.start_job("Computing for ever", compute_for_ever, print, print)
    session.work.ask("stuck", wait_for_ever, print, print)
    at_work.wait()
    began = time.monotonic()
    QApplication.instance().closeAllWindows()
    print(f"{time.monotonic() - began:.2f}", flush=True)

Session.start = start
"""


@pytest.mark.slow
def test_a_job_and_a_reader_that_never_end_are_given_up_after_a_while_together(tmp_path: Path) -> None:
    done = run(tmp_path, STUCK + RUN)
    assert done.returncode == 0, done.stderr
    assert LONGEST_WAIT <= float(done.stdout) < 5 * LONGEST_WAIT
    given_up = [line.split("”")[0].split("“")[1] for line in done.stderr.splitlines()]
    assert given_up == ["Computing for ever", "reading the model"]
    log = next(tmp_path.rglob("lmviz.log")).read_text(encoding="utf-8")
    assert all(name in log for name in given_up)


@pytest.mark.slow
def test_every_perspective_can_be_shown_in_the_program_as_it_is_started(tmp_path: Path) -> None:
    """What only the program does at its start, such as guarding what Qt calls, breaks no perspective."""
    show = """
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from lmviz.app.session.session import Session

started = Session.start

def start(self):
    self.work.ready_changed.connect(lambda: QTimer.singleShot(0, show))
    started(self)

def show():
    from lmviz.app.panels.table import shown_perspectives
    [window] = [widget for widget in QApplication.topLevelWidgets() if hasattr(widget, "show_perspective")]
    for row in shown_perspectives():
        window.show_perspective(row.name)
        for panel in window.perspective.panels:
            panel.parentWidget().raise_()
            QApplication.processEvents()
    print("shown", flush=True)
    window.close()

Session.start = start
"""
    done = run(tmp_path, show + RUN)
    assert done.stdout.splitlines() == ["shown"], done.stderr
    assert done.returncode == 0
    assert not [log for log in tmp_path.rglob("lmviz.log") if "unexpected" in log.read_text(encoding="utf-8")]
