"""Whatever a method fails with that Qt calls, the process goes on."""

import os
import sys
from pathlib import Path

import pytest
from programs import run_python
from traps import Trap

SCRIPT = """
import sys
from typing import Generic, TypeVar
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication, QWidget
from lmviz.app.workers.overrides import guard_overrides

class Before(QWidget):
    def paintEvent(self, event):
        [][0]

guard_overrides()
T = TypeVar("T")

class Sized(QWidget):
    def sizeHint(self):
        return QSize(1 // 0, 5)

class Base(QWidget, Generic[T]):
    pass

class Painted(Base[int]):
    def paintEvent(self, event):
        {}["missing"]

class Beside:
    def minimumSizeHint(self):
        raise ValueError

class Mixed(Beside, QWidget):
    pass

application = QApplication(["lmviz", "-platform", "offscreen"])
sys.excepthook = lambda kind, fault, trace: print(kind.__name__, flush=True)
for kind in (Before, Sized, Painted, Mixed):
    widget = kind()
    widget.resize(50, 50)
    widget.show()
    application.processEvents()
    widget.hide()
Sized().adjustSize()
Mixed().minimumSizeHint()
print("alive")
"""


def test_what_c_code_raises_in_an_override_does_not_end_the_process() -> None:
    done = run_python(SCRIPT)
    assert done.returncode == 0, done.stderr
    reported = done.stdout.splitlines()
    assert [*dict.fromkeys(reported)] == [
        "IndexError",
        "KeyError",
        "ZeroDivisionError",
        "ValueError",
        "alive",
    ]


OPENING = """
import sys
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication
from lmviz.app.workers.overrides import guard_overrides
guard_overrides()

class Failing(QTextDocument):
    def loadResource(self, kind, name):
        raise RecursionError

application = QApplication(["lmviz", "-platform", "offscreen"])
sys.excepthook = lambda kind, fault, trace: print(kind.__name__, flush=True)
document = Failing()
document.setMarkdown(f"![x]({sys.argv[1]}) ![x](file://{sys.argv[1]})")
assert document.size().height() > 0
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")
def test_a_document_that_fails_to_load_a_picture_leaves_its_file_alone(tmp_path: Path) -> None:
    trap = Trap(tmp_path / "fifo")
    done = run_python(OPENING, str(trap.path))
    assert done.returncode == 0, done.stderr
    assert "RecursionError" in done.stdout
    assert not trap.was_read
    trap.close()


def test_a_method_that_python_calls_as_well_raises_as_ever() -> None:
    code = """
from PySide6.QtWidgets import QApplication, QLabel
from lmviz.app.workers.overrides import guard_overrides
guard_overrides()

class Words(QLabel):
    def setText(self, text):
        raise LookupError("no such words")

application = QApplication(["lmviz", "-platform", "offscreen"])
try:
    Words().setText("")
except LookupError as fault:
    print(fault)
"""
    done = run_python(code)
    assert done.stdout == "no such words\n", done.stderr


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="every exception is whole there")
def test_without_the_guard_it_would() -> None:
    """Should PySide6 mend this, `overrides.py` can go."""
    script = SCRIPT.replace("\nguard_overrides()", "")
    done = run_python(script)
    assert done.returncode != 0
