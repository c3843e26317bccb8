"""The start of the program: checks the machine, shows the window, then loads the slow imports."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmviz.app.window.main_window import MainWindow


def main(path: str | None = None) -> int:
    """Open the window, with a text, a run or a checkpoint in it; the exit code when it is closed."""
    problem = what_is_missing()
    if problem:
        print(problem, file=sys.stderr)
        return 1
    window = open_window(path)
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    for asked in (signal.SIGINT, signal.SIGTERM):  # Python sees them when a timer next calls it, within 2 s
        # Not at once: whatever it interrupts may hold a lock for which a thread waits that is to end.
        signal.signal(asked, lambda *_: QTimer.singleShot(0, window, window.close))

    from lmviz.app.workers.closing import leave

    return leave(QApplication.exec())


def open_window(path: str | None = None) -> MainWindow:
    """The window of a new application, shown; it is painted when its events are processed.

    It brings the application with it, which is why nothing of Qt may have been imported before.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's idle threads would spin beside the window
    # torch has an LSTM compiled for each length of a text, in 0.4 ms and 170 kB; it would keep 1,024 of them
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
    _load_quickly()
    from lmviz.app.workers.lean_imports import import_lean

    import_lean()
    from lmviz.app.look.theme import make_application
    from lmviz.app.workers.faults import Faults
    from lmviz.app.workers.overrides import guard_overrides
    from lmviz.app.workers.threads import GarbageCollector, prepare_interpreter

    prepare_interpreter()
    guard_overrides()
    application = make_application()
    application.setApplicationName("lmviz")
    application.setDesktopFileName("lmviz")
    faults = Faults(application)
    faults.install()

    from lmviz.app.opening.settings import Settings
    from lmviz.app.session.session import Session
    from lmviz.app.window.main_window import MainWindow
    from lmviz.app.workers.closing import close_at_exit

    window = MainWindow(Session(), Settings())
    close_at_exit(window.session)
    collector = GarbageCollector(window)
    faults.happened.connect(window.show_fault)
    window.painted.connect(window.session.start)
    if path:
        window.painted.connect(lambda: window.open_paths([path]))
    else:
        window.beginning.welcome()
    window.painted.connect(window.build_ahead)
    window.painted.connect(lambda: _watch(window))
    window.session.work.ready_changed.connect(collector.forget_imports)
    window.show_settled()
    return window


def _watch(window: MainWindow) -> None:
    """Have the log tell where the window stands still."""
    from lmviz.app.workers.watchdog import Watchdog  # not needed for the first paint

    Watchdog(window)


def _load_quickly() -> None:
    """Before the first import of many."""
    gc.disable()  # as `prepare_interpreter` will; it would look through every module that is loaded
    from lmviz.app.workers.lean_dataclasses import compile_late

    compile_late()


def what_is_missing() -> str:
    """Why Qt would abort here, in sentences; empty when nothing is missing."""
    _load_quickly()
    from lmviz.desktop.doctor import libraries_sentence, missing_display, missing_libraries, missing_packages

    packages = missing_packages()
    if packages:
        return packages
    missing = missing_libraries()
    return libraries_sentence(missing) if missing else missing_display()
