"""Whatever a method fails with that Qt calls, the process goes on."""

import subprocess
import sys

import pytest

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

application = QApplication(["lmviz", "-platform", "offscreen"])
for kind in (Before, Sized, Painted):
    widget = kind()
    try:
        widget.adjustSize()
        widget.show()
        application.processEvents()
    except Exception as fault:
        print(type(fault).__name__, flush=True)
    widget.hide()
print("alive")
"""


def test_what_c_code_raises_in_an_override_does_not_end_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["IndexError", "ZeroDivisionError", "KeyError", "alive"]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="every exception is whole there")
def test_without_the_guard_it_would() -> None:
    """Should PySide6 mend this, `overrides.py` can go."""
    script = SCRIPT.replace("\nguard_overrides()", "")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=90)
    assert done.returncode != 0
