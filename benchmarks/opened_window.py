"""The window as the program opens it, without a screen, driven by a measurement."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QEventLoop, QObject, Qt, QTimer, SignalInstance
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import make_application
from lmviz.app.workers.threads import GarbageCollector, prepare_interpreter

LONGEST_WAIT = 120.0  # seconds, of which a slow machine takes forty to read 100 MB
LOOK_EVERY = 8  # milliseconds


class OpenedWindow:
    """A window with settings and runs of its own in `folder`, painted, with torch loaded."""

    def __init__(self, folder: Path) -> None:
        prepare_interpreter()
        self.application = make_application()
        from lmviz.app.opening.settings import Settings
        from lmviz.app.session.session import Session
        from lmviz.app.window.main_window import MainWindow

        self.session = Session(folder / "runs")
        self.window = MainWindow(self.session, Settings(folder / "settings.json"))
        self._failures: list[str] = []
        self.session.work.any_failed.connect(self._failures.append)
        collector = GarbageCollector(self.window)
        self.session.work.ready_changed.connect(collector.forget_imports)
        self.window.painted.connect(self.session.start)
        self.window.show()
        self.wait_until(lambda: self.session.work.is_ready)

    def show(self, perspective: str) -> None:
        """Choose a perspective, and wait until it is drawn."""
        self.window.show_perspective(perspective)
        self.settle()

    def view(self, name: str, kind: type[QWidget]) -> QWidget:
        """The widget of a kind inside the panel of this object name."""
        return self.panel(name).findChild(kind)

    def panel(self, name: str) -> QWidget:
        """The panel of this object name in the perspective that is shown."""
        return self.window.perspective.findChild(QWidget, name)

    def open_model(self, name: str | Path, prefix: str) -> None:
        """Open a run or a sample model, and read a prefix with it."""
        self.session.library.open(name)
        self.wait_until(lambda: self.session.library.model is not None)
        self.session.reading.set_prefix(prefix)
        self.wait_until(lambda: self.session.reading.current is not None and not self.session.reading.is_busy)
        self.settle()

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Let the window live until something is so; TimeoutError, with what went wrong, if it never is."""
        loop, look, deadline = QEventLoop(), QTimer(), time.perf_counter() + LONGEST_WAIT
        was_so = False  # what else is due when the loop ends may change it once more

        def look_again() -> None:
            nonlocal was_so
            was_so = was_so or condition()
            if was_so or time.perf_counter() > deadline:
                loop.quit()

        look.timeout.connect(look_again)
        look.start(LOOK_EVERY)
        loop.exec()
        if not was_so:
            raise TimeoutError(" ".join(self._failures) or "The window never got so far.")

    def live(self, seconds: float) -> None:
        """Let the window live for a while."""
        loop = QEventLoop()
        QTimer.singleShot(round(1000 * seconds), loop.quit)
        loop.exec()

    def settle(self) -> None:
        """Let what is under way come to its end, as between two keystrokes."""
        self.live(0.15)
        self.wait_until(lambda: not self.session.reading.is_busy)

    def seconds_until_painted(
        self, act: Callable[[], object], widgets: Sequence[QWidget], after: SignalInstance | None = None
    ) -> float:
        """From an act to the end of the paint that shows all of these widgets anew.

        With `after`, only what is painted after that signal, and after the panels have answered it, counts.
        """
        painting, loop = _Painting(widgets), QEventLoop()
        painting.when_done(loop.quit)
        QTimer.singleShot(round(1000 * LONGEST_WAIT), loop, lambda: loop.exit(1))
        if after is None:
            painting.begin()
        else:
            after.connect(painting.begin_soon)
        began = time.perf_counter()
        act()
        if loop.exec() != 0:
            raise TimeoutError(" ".join([*self._failures, painting.missing]))
        taken = time.perf_counter() - began
        if after is not None:
            after.disconnect(painting.begin_soon)
        painting.end()
        return taken

    def seconds_until_last_painted(
        self,
        act: Callable[[], object],
        shown: Callable[[], QWidget],
        stands: Callable[[], bool],
        rests: float,
    ) -> float:
        """From an act to the end of the last paint inside a widget: none follows for as many seconds as it
        `rests`, once all of it `stands`."""
        painted, began = _LastPaint(shown), time.perf_counter()
        self.application.installEventFilter(painted)
        act()
        self.wait_until(lambda: stands() and time.perf_counter() - painted.ended > rests)
        self.application.removeEventFilter(painted)
        return painted.ended - began

    def close(self) -> None:
        """Close it as a person would."""
        self.window.close()
        self.window.deleteLater()
        self.application.sendPostedEvents(None, QEvent.Type.DeferredDelete)


class _Painting(QObject):
    """Notices when each of some widgets has been painted since it began to look."""

    def __init__(self, widgets: Sequence[QWidget]) -> None:
        super().__init__()
        self._widgets = tuple(widgets)
        self._missing: set[QWidget] | None = None
        self._start = QTimer(self, singleShot=True)
        self._start.timeout.connect(self.begin)
        self._done = QTimer(self, singleShot=True)
        for widget in self._widgets:
            widget.installEventFilter(self)

    @property
    def missing(self) -> str:
        """What it still waits for, in words."""
        names = sorted(type(widget).__name__ for widget in self._missing or self._widgets)
        return f"Never painted: {', '.join(names)}."

    def when_done(self, act: Callable[[], object]) -> None:
        """What to call when all have been painted."""
        self._done.timeout.connect(act, Qt.ConnectionType.DirectConnection)

    def begin(self) -> None:
        """Look from now on."""
        self._missing = set(self._widgets)

    def begin_soon(self) -> None:
        """Look once the panels' own timers, started before this one, have drawn what is new."""
        self._start.start(0)

    def end(self) -> None:
        """Look no more."""
        for widget in self._widgets:
            widget.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and self._missing:
            self._missing.discard(watched)
            if not self._missing:
                self._done.start(0)  # when the whole paint under way has ended
        return False


class _LastPaint(QObject):
    """Notices when a paint inside a widget has ended; which widget it is may change meanwhile."""

    def __init__(self, shown: Callable[[], QWidget]) -> None:
        super().__init__()
        self._shown = shown
        self.ended = time.perf_counter()
        self._done = QTimer(self, singleShot=True)
        self._done.timeout.connect(self._note)

    def _note(self) -> None:
        self.ended = time.perf_counter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and isinstance(watched, QWidget):
            shown = self._shown()
            if watched is shown or shown.isAncestorOf(watched):
                self._done.start(0)  # when the whole paint under way has ended
        return False
