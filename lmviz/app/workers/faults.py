"""Unexpected exceptions: they are written to the log and reported, and the program continues.

`LmvizError` is not a fault: its sentence is shown by the control that caused it. Every other exception
ends here, whether raised in a slot, in a thread, or inside Qt (where `overrides.py` has to help).
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import sys
import threading
import traceback
from types import TracebackType

from PySide6.QtCore import QObject, QtMsgType, Signal, qInstallMessageHandler, qVersion

from lmviz.base.errors import LmvizError, is_out_of_memory, one_sentence
from lmviz.base.log import keep_log, log_path

logger = logging.getLogger("lmviz")
_crash_file = None  # stays open for as long as the process lives: faulthandler writes to it


class Faults(QObject):
    """Catches what escapes; `happened` gives a report that can be pasted into an issue."""

    happened = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._telling = threading.local()

    def install(self) -> None:
        """Write to the log, and take over the hooks of Python, of its threads and of Qt."""
        keep_log()
        _catch_crashes()
        sys.excepthook = self.catch
        threading.excepthook = lambda fault: self.catch(fault.exc_type, fault.exc_value, fault.exc_traceback)
        qInstallMessageHandler(_log_qt_message)

    def catch(
        self,
        kind: type[BaseException],
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """The hook: callable from any thread. What fails while a fault is told is only written to the log."""
        if issubclass(kind, (KeyboardInterrupt, SystemExit)):
            sys.__excepthook__(kind, fault or kind(), trace)
            return
        _forget_last()
        text = "".join(traceback.format_exception(kind, fault, trace))
        logger.error("unexpected\n%s", text)
        if not getattr(self._telling, "is_under_way", False):
            self._telling.is_under_way = True
            try:
                self.happened.emit(f"{versions()}\n\n{text}")
            finally:
                self._telling.is_under_way = False


def sentence_for(fault: BaseException, doing: str) -> str:
    """What to show beside a control after `doing` failed; a defect also goes to the fault hook."""
    if isinstance(fault, LmvizError):
        return str(fault)
    if is_out_of_memory(fault):
        return f"{doing} needs more memory than there is: try something smaller."
    sys.excepthook(type(fault), fault, fault.__traceback__)
    return one_sentence(
        f"{doing} failed for a reason lmviz did not expect ({fault}); Help ▸ Open log has the details."
    )


def _forget_last() -> None:
    """Let go of the exception that Python has just kept for a debugger, with its frames and all they hold.

    PySide6 has Python print what it cannot raise, and Python then keeps it until the next: closed models, and
    widgets and painters, which would be destroyed whenever and in whichever thread the next one is printed.
    """
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        if hasattr(sys, name):
            delattr(sys, name)


def place_of(report: str) -> str:
    """Where in the code the exception of a report was raised, and its kind: the same for each repetition."""
    lines = report.rstrip().splitlines()
    raised = [line for line in lines if line.startswith("  File ")]
    return f"{raised[-1] if raised else ''}, {lines[-1].partition(':')[0]}"


def versions() -> str:
    """The versions that matter for a report, on one line; torch only where it is loaded already."""
    import platform  # not before something has gone wrong

    torch = sys.modules.get("torch")
    found = [f"Python {platform.python_version()}", f"Qt {qVersion()}", platform.platform()]
    if torch is not None and hasattr(torch, "__version__"):
        found.insert(1, f"torch {torch.__version__}")
    return ", ".join(found)


def _catch_crashes() -> None:
    """Have what ends the process at once, such as a fault inside Qt, leave its stack beside the log.

    The stack that an earlier process left is kept under another name, which the log tells.
    """
    global _crash_file
    path = log_path().parent / "crash.log"
    with contextlib.suppress(OSError):  # also where another window has the file open, which Windows minds
        if path.stat().st_size:
            kept = path.replace(path.with_name("crash-before.log"))
            logger.warning("lmviz was ended at once before; where it was then is in %s", kept)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        _crash_file = path.open("w", encoding="utf-8")
        faulthandler.enable(_crash_file)


_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


def _log_qt_message(kind: QtMsgType, context: object, message: str) -> None:
    logger.log(_LEVELS.get(kind, logging.WARNING), "Qt: %s", message)
