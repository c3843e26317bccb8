"""Builds perspectives that have not been shown yet while the user is idle, so that they open quickly."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer

from lmviz.app.session.session import Session
from lmviz.app.widgets.text import typesetting
from lmviz.app.window.frame import Perspectives

QUIET = 700  # milliseconds in which a person has done nothing
BETWEEN = 60  # milliseconds from one thing done to the next


class BuildingAhead(QObject):
    """Begins when torch has been loaded: imports and makes one panel after the other, while the user is idle.

    All of it in the window's thread. Another one must not define classes of Qt's: PySide6 looks them up
    without Python's lock while Qt lays out or styles widgets here, and now and then the program crashed.
    """

    def __init__(self, session: Session, perspectives: Perspectives, parent: QObject) -> None:
        super().__init__(parent)
        self._perspectives = perspectives
        self._steps: Iterator[None] = iter(())
        self._next = QTimer(self, singleShot=True)
        self._next.timeout.connect(self._do_one)
        session.work.ready_changed.connect(self._begin)
        for doing in (
            session.reading.prefix_changed,
            session.library.step_changed,
            session.focus.position_changed,
            session.focus.hovered_position_changed,
            session.focus.hovered_cell_changed,
        ):
            doing.connect(self._wait)

    def _begin(self) -> None:
        self._steps = self._build_all()
        self._next.start(QUIET)

    def _wait(self) -> None:
        if self._next.isActive():
            self._next.start(QUIET)

    def _do_one(self) -> None:
        for _ in self._steps:
            self._next.start(BETWEEN)
            break

    def _build_all(self) -> Iterator[None]:
        """One step after the other, each short."""
        typesetting.load_in_background()  # or the first equation comes half a second after what is around it
        yield
        for name in self._perspectives.names:
            view = self._perspectives.board(name)
            while view.missing:
                row = view.missing[0]
                with contextlib.suppress(Exception):  # an error is shown when the perspective is opened
                    row.load()
                yield
                if view.missing and view.missing[0] is row:
                    view.build_next()
                    yield
