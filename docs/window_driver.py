"""The real window, driven from a script: open, type, point, wait until it rests, and take its picture."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TypeVar

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPolygonF
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QWidget

from lmviz.app.opening.settings import Settings
from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow

PATIENCE = 600.0  # seconds until a condition that does not come is given up
LOOK_EVERY = 0.15  # seconds between two looks at whether the window rests
POINTER = QPolygonF(
    [QPointF(x, y) for x, y in ((0, 0), (0, 16), (4, 12), (7, 18), (9, 17), (6, 11), (11, 11))]
)

W = TypeVar("W", bound=QWidget)
P = TypeVar("P", bound=Panel)


class Driver:
    """Drives a window, which it shows and in the end closes.

    `text` is the corpus of the scenes, as `session.text.open` takes it.
    """

    def __init__(self, window: MainWindow, text: str = "") -> None:
        self.text = text
        self.window, self.session = window, window.session
        self._failures: list[str] = []
        self._pointer: QPoint | None = None
        self.session.work.any_failed.connect(self._failures.append)

    @classmethod
    def on_new_window(cls, folder: Path, text: str, size: tuple[int, int]) -> Self:
        """A window on a session of its own, whose runs and settings lie in a folder."""
        session = Session(folder / "runs")
        window = MainWindow(session, Settings(folder / "settings.json"))
        window.resize(*size)
        window.painted.connect(session.start)
        return cls(window, text)

    def __enter__(self) -> Self:
        self.window.show()
        self.wait(lambda: self.session.work.is_ready, "torch")
        return self

    def __exit__(self, *_: object) -> None:
        self.window.close()
        self.window.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def wait(
        self, condition: Callable[[], bool], for_what: str, done: Callable[[], object] = lambda: None
    ) -> None:
        """Let the window work until a condition holds; RuntimeError when it fails or never does.

        What has `done` more since is given time again, however busy the machine is.
        """
        end, before = time.monotonic() + PATIENCE, done()
        while not condition():
            self.work_on(0.01)
            if (now := done()) != before:
                end, before = time.monotonic() + PATIENCE, now
            if self._failures:
                raise RuntimeError(f"while waiting for {for_what}: {self._failures[0]}")
            if time.monotonic() > end:
                raise RuntimeError(f"waited in vain for {for_what}")

    def work_on(self, seconds: float) -> None:
        """Let the window work for a while."""
        end = time.monotonic() + seconds
        while True:
            QApplication.processEvents()
            if time.monotonic() >= end:
                return
            time.sleep(0.002)

    def rest(self) -> None:
        """Wait until all that was asked is answered and drawn, and two pictures in a row are the same.

        An explanation that takes longer than from one picture to the next leaves both the same.
        """
        previous, answered = QImage(), False

        def note(done: bool) -> None:
            nonlocal answered
            answered = done

        def is_at_rest() -> bool:
            nonlocal previous, answered
            self.work_on(LOOK_EVERY)
            before, previous = previous, self.window.grab().toImage()
            session, panels = self.session, self.window.perspective.panels
            drawn = all(each.is_up_to_date or each.awaits_answer for each in panels if each.is_in_sight)
            busy = session.reading.is_busy or session.work.jobs or not drawn
            if answered and not busy and before == previous:
                return True
            if answered or before.isNull():  # the reading thread comes to this behind all asked before
                answered = False
                session.work.ask("rest", lambda: True, note, self._failures.append)
            return False

        self.wait(is_at_rest, "rest")

    def picture(self) -> QImage:
        """What the window shows now, with the pointer where `point` has put it."""
        image = self.window.grab().toImage()
        if self._pointer is not None:
            painter = QPainter(image)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.translate(self._pointer)
            painter.setPen(QColor("white"))
            painter.setBrush(QColor("black"))
            painter.drawPolygon(POINTER)
            painter.end()
        return image

    # What a person does

    def find(self, name: str, kind: type[W]) -> W:
        """The control with an object name: in the perspective that is shown, otherwise in the frame."""
        found = self.window.perspective.findChild(QObject, name) or self.window.findChild(QObject, name)
        if not isinstance(found, kind):
            raise RuntimeError(f"there is no {kind.__name__} {name!r}")
        return found

    def panel(self, kind: type[P]) -> P:
        """The panel of a class in the perspective that is shown."""
        return self.find(kind.view_name(), kind)

    def click(self, name: str) -> None:
        """Click a button as soon as it can be clicked."""
        button = self.find(name, QAbstractButton)
        self.wait(button.isEnabled, f"the button {name}")
        button.click()

    def show(self, perspective: str) -> None:
        """Go to a perspective."""
        self.window.show_perspective(perspective)
        self.work_on(0.1)

    def bring_to_front(self, *panels: str) -> None:
        """Put panels in front of those that share their place."""
        for panel in panels:
            self.find(f"page_{panel}", QWidget).raise_()
        self.work_on(0.1)

    def open_text(self, source: str, **settings: Any) -> None:
        """Read a text."""
        before = self.session.text.corpus
        self.session.text.open(source, **settings)
        self.wait(lambda: self.session.text.corpus is not before, f"the text {source}")

    def open_model(self, name: str | Path) -> None:
        """Open a run or a sample model and look into it."""
        before = self.session.library.model
        self.session.library.open(name)
        self.wait(lambda: self.session.library.model not in (None, before), f"the model {name}")

    def choose_head(self, badge: str, prefix: str) -> None:
        """Look at the first head that earns a badge on a prefix, where there is one."""
        from lmviz.inspection.head_badges import head_badges

        self.type(prefix)
        layers = head_badges(self.session.reading.current.trace)
        found = (head for layer in layers for head in layer if badge in head.badges)
        for head in found:
            self.session.attention.choose_head(head.layer, head.head)
            return

    def type(self, prefix: str) -> None:
        """Type a prefix and wait until it is read."""
        self.find("prefix_edit", QLineEdit).setText(prefix)
        self.wait(
            lambda: self.session.reading.current is not None and not self.session.reading.is_busy,
            "the reading",
        )

    def point(self, widget: QWidget, place: QPointF | QPoint) -> None:
        """Move the pointer to a place of a widget."""
        place = QPointF(place)
        event = QMouseEvent(
            QEvent.Type.MouseMove,
            place,
            widget.mapToGlobal(place),
            Qt.MouseButton.NoButton,
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(widget, event)
        self._pointer = widget.mapTo(self.window, place).toPoint()
        self.work_on(0.05)

    def point_nowhere(self) -> None:
        """Take the pointer away."""
        self._pointer = None
        self.session.focus.hover_position(None)
        self.session.focus.hover_cell(None)
