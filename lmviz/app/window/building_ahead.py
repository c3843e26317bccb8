"""Builds perspectives that have not been shown yet while the user is idle, so that they open quickly."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer

from lmviz.app.board.board import Board
from lmviz.app.panels.panel_row import PanelRow
from lmviz.app.session.session import Session
from lmviz.app.workers.threads import BackgroundThread

QUIET = 700  # milliseconds in which a person has done nothing
BETWEEN = 60  # milliseconds from one panel to the next


class BuildingAhead(QObject):
    """Begins when torch has been loaded: another thread imports the panels' modules, whose classes need no
    window's thread, and then one panel after the other is made here, as long as the user is idle."""

    def __init__(self, session: Session, views: Sequence[Board], parent: QObject) -> None:
        super().__init__(parent)
        self._views = tuple(views)
        self._importing: BackgroundThread | None = None
        self._next = QTimer(self, singleShot=True)
        self._next.timeout.connect(self._build_one)
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
        rows = [row for view in self._views for row in view.missing]
        self._importing = BackgroundThread("panels", lambda: _import_all(rows))
        self._importing.start()
        self._next.start(QUIET)

    def _wait(self) -> None:
        if self._next.isActive():
            self._next.start(QUIET)

    def _build_one(self) -> None:
        if self._importing is not None and self._importing.is_alive():
            self._next.start(QUIET)
            return
        view = next((view for view in self._views if view.missing), None)
        if view is not None:
            view.build_next()
            self._next.start(BETWEEN)


def _import_all(rows: Sequence[PanelRow]) -> None:
    for row in rows:
        with contextlib.suppress(Exception):  # an error is shown when the perspective is opened
            row.load()
