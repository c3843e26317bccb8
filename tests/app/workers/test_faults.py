import gc
import os
import re
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Signal
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.workers.faults import Faults, sentence_for
from lmviz.base.errors import LmvizError, is_out_of_memory
from lmviz.base.log import log_path


def test_a_sentence_meant_for_people_is_passed_on_as_it_is() -> None:
    assert (
        sentence_for(LmvizError("The text is empty: type some."), "Reading")
        == "The text is empty: type some."
    )


def test_too_little_memory_has_a_sentence_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    caught: list[object] = []
    monkeypatch.setattr(sys, "excepthook", lambda *fault: caught.append(fault))
    assert is_out_of_memory(RuntimeError("std::bad_alloc"))
    assert not is_out_of_memory(RuntimeError("shapes cannot be multiplied"))
    torch_says = RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried 9 TB")
    for fault in (MemoryError(), torch_says):
        assert "more memory than there is" in sentence_for(fault, "Training")
    assert caught == []


def test_a_defect_goes_to_the_hook_and_leaves_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    caught: list[tuple[object, ...]] = []
    monkeypatch.setattr(sys, "excepthook", lambda *fault: caught.append(fault))
    sentence = sentence_for(ValueError("hidden\nsize"), "Training")
    assert "\n" not in sentence
    assert "Training" in sentence
    assert "log" in sentence
    assert caught[0][0] is ValueError


def test_a_fault_in_another_thread_is_told_in_the_thread_of_the_window(qtbot: QtBot) -> None:
    faults, heard = Faults(), []
    faults.happened.connect(lambda report: heard.append((report, threading.get_ident())))

    class Witness(Faults):
        def hear(self, report: str) -> None:
            heard.append((report, threading.get_ident()))

    witness = Witness()
    faults.happened.connect(witness.hear)

    def fail() -> None:
        try:
            raise RuntimeError("far away")
        except RuntimeError:
            faults.catch(*sys.exc_info())

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: any(ident == threading.get_ident() for _, ident in heard))
    assert "far away" in heard[-1][0]


class Slot(QObject):
    """Fails in a slot, with an object of its own at hand."""

    asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.held: weakref.ref[Faults] | None = None
        self.asked.connect(self.fail)

    def fail(self) -> None:
        local = Faults()
        self.held = weakref.ref(local)
        raise RuntimeError("in a slot")


def test_a_fault_keeps_nothing_alive_once_it_is_told(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python keeps the last exception that PySide6 has it print, with its frames and all they hold."""
    faults, slot, told = Faults(), Slot(), []
    faults.happened.connect(told.append)
    monkeypatch.setattr(sys, "excepthook", faults.catch)
    slot.asked.emit()
    assert "in a slot" in told[0]
    assert not [name for name in vars(sys) if name.startswith("last_")]
    gc.collect()
    assert slot.held is not None
    assert slot.held() is None


def test_what_fails_as_a_fault_is_told_is_logged_and_told_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    faults, told = Faults(), []

    def tell(report: str) -> None:
        told.append(report)
        raise RuntimeError("the notice is broken")

    faults.happened.connect(tell)
    monkeypatch.setattr(sys, "excepthook", faults.catch)
    for name in ("one", "other"):
        faults.catch(ValueError, ValueError(name), None)
    assert ["one" in told[0], "other" in told[1], len(told)] == [True, True, 2]


def test_no_module_takes_hold_of_frames_of_another_thread() -> None:
    """A frame of the window's thread that another lets go of destroys its painters there."""
    taking = re.compile(r"_current_frames|settrace_all_threads|setprofile_all_threads|_current_exceptions")
    app = Path(lmviz.__file__).parent
    takers = {path.name for path in app.rglob("*.py") if taking.search(path.read_text("utf-8"))}
    assert takers == {"closing.py"}  # which asks in the window's thread


def test_a_person_who_interrupts_has_met_no_defect(capsys: pytest.CaptureFixture[str]) -> None:
    faults, heard = Faults(), []
    faults.happened.connect(heard.append)
    for kind in (KeyboardInterrupt, SystemExit):
        faults.catch(kind, kind(), None)
    assert heard == []
    assert "KeyboardInterrupt" in capsys.readouterr().err


WRITES = """
import logging
from lmviz.app.workers.faults import Faults
from lmviz.base.log import log_path
Faults().install()
assert str(log_path()) == {path!r}
logging.getLogger("lmviz").warning("a line")
"""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux alone has a device that is always full")
def test_on_a_full_disk_the_log_is_given_up_without_a_word(tmp_path: Path) -> None:
    path = log_path()
    path.parent.mkdir(parents=True)
    path.symlink_to("/dev/full")
    words = [sys.executable, "-c", WRITES.format(path=str(path))]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


CRASHES = """
import faulthandler, resource
from lmviz.app.workers.faults import Faults
Faults().install()
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
faulthandler._sigsegv()
"""
STARTS = "from lmviz.app.workers.faults import Faults; Faults().install()"


@pytest.mark.skipif(sys.platform == "win32", reason="there the module resource is not")
def test_the_stack_of_a_crash_outlives_the_next_starts() -> None:
    for code, fails in ((CRASHES, True), (STARTS, False), (STARTS, False)):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
        assert (done.returncode != 0) == fails
    kept = log_path().with_name("crash-before.log")
    assert "Segmentation fault" in kept.read_text(encoding="utf-8")
    assert log_path().read_text(encoding="utf-8").count(str(kept)) == 1
