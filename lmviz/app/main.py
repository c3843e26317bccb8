"""The program's beginning: check the machine, paint the window, and only then load what is heavy."""

from __future__ import annotations

import gc
import importlib
import signal
import sys


def main(path: str | None = None) -> int:
    """Open the window, with a text, a run or a checkpoint in it; the exit code when it is closed."""
    problem = _what_is_missing()
    if problem:
        print(problem, file=sys.stderr)
        return 1
    gc.disable()  # as `prepare_interpreter` will; it would look through every module that is loaded
    importlib.import_module("lmviz.app.light_imports")
    from PySide6.QtWidgets import QApplication

    from lmviz.app.faults import Faults
    from lmviz.app.threads import GarbageCollector, prepare_interpreter

    prepare_interpreter()
    application = QApplication.instance() or QApplication(sys.argv[:1])
    application.setApplicationName("lmviz")
    application.setDesktopFileName("lmviz")
    faults = Faults(application)
    faults.install()

    from lmviz.app.main_window import MainWindow
    from lmviz.app.session import Session
    from lmviz.app.settings import Settings

    window = MainWindow(Session(), Settings())
    collector = GarbageCollector(window)
    faults.happened.connect(window.show_fault)
    window.painted.connect(window.session.start)
    if path:
        window.painted.connect(lambda: window.open_paths([path]))
    else:
        window.beginning.welcome()
    window.session.ready_changed.connect(collector.forget_imports)
    for asked in (signal.SIGINT, signal.SIGTERM):  # Python sees them when a timer next calls it, within 2 s
        signal.signal(asked, lambda *_: window.close())
    window.show_settled()
    return application.exec()


def _what_is_missing() -> str:
    """Why Qt would abort here, in sentences; empty when nothing is missing."""
    from lmviz.doctor import libraries_sentence, missing_display, missing_libraries, missing_packages

    packages = missing_packages()
    if packages:
        return packages
    missing = missing_libraries()
    return libraries_sentence(missing) if missing else missing_display()
