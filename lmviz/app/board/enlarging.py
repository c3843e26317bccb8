"""Which panels are left: all, the few of projector mode, or one as large as the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QWidget

from lmviz.app.board.board import Board
from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.table import projected_rows


class Enlarging(QObject):
    """Puts panels of the perspectives away, and the window's other `parts` while one panel fills it.

    `boards` gives the perspectives there are; each that is made later has to be adopted.
    """

    def __init__(
        self,
        boards: Callable[[], Sequence[Board]],
        parts: Sequence[QWidget],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._boards = boards
        self._parts = tuple(parts)
        self._enlarged: Board | None = None
        self._hidden: tuple[QWidget, ...] = ()
        self._is_projected = self._in_lesson = False
        self._needed: tuple[Board, tuple[str, ...]] | None = None  # what a step of a lesson needs
        theme_switch().theme_changing.connect(self._make_way)
        theme_switch().theme_changed.connect(self._adopt_theme)
        self._adopt_theme()

    @property
    def is_enlarged(self) -> bool:
        """Whether one panel fills the window."""
        return self._enlarged is not None

    def adopt(self, view: Board) -> None:
        """Leave of a perspective that has just been made what is left of the others."""
        if self._in_lesson:
            view.set_in_lesson(True)
        if self._is_projected:
            self._project(view)

    def toggle(self, view: Board) -> None:
        """Let the panel under the pointer, or else the first one, fill the window; or bring all back."""
        if self.is_enlarged:
            self.end()
            return
        name = view.name_at(QCursor.pos())
        if not name or view.is_apart(name):
            name = projected_rows(view.name)[0].name
        self._enlarged = view
        self._hidden = tuple(part for part in self._parts if not part.isHidden())
        for part in self._hidden:
            part.hide()
        view.show_only(name)

    def keep_away(self, part: QWidget) -> None:
        """Hide a part that is wanted no more, which so does not come back with the others."""
        part.hide()
        self._hidden = tuple(each for each in self._hidden if each is not part)

    def show_step(self, view: Board, names: tuple[str, ...]) -> None:
        """Leave the panels of a perspective that a step of a lesson needs; without names, all of them."""
        before, self._needed = self._needed, (view, names) if names else None
        for each in dict.fromkeys((*([before[0]] if before is not None else []), view)):
            if each is not self._enlarged:
                self._project(each)

    def end_step(self) -> None:
        """No step is shown any more: bring the other panels back."""
        before, self._needed = self._needed, None
        if before is not None and before[0] is not self._enlarged:
            self._project(before[0])

    def follow_lesson(self, is_open: bool) -> None:
        """What is arranged in a lesson is for its time; leave again what projector mode leaves."""
        self._in_lesson = is_open
        for view in self._boards():
            with view.settled_once():
                view.set_in_lesson(is_open)
                if view is not self._enlarged:
                    self._project(view)

    def end(self) -> None:
        """Bring back what was put away."""
        view, self._enlarged = self._enlarged, None
        if view is None:
            return
        for part in self._hidden:
            part.show()
        self._hidden = ()
        self._project(view)

    def _make_way(self) -> None:
        """Hide what projector mode, about to begin, leaves no room for: no larger type has to reach it."""
        if theme_switch().projector and not self._is_projected and self._needed is None:
            for view in self._boards():
                if view.isVisible() and view is not self._enlarged:
                    view.hide_all_but(*(row.name for row in projected_rows(view.name)))

    def _adopt_theme(self) -> None:
        if self._is_projected != theme_switch().projector:
            self._is_projected = theme_switch().projector
            for view in self._boards():
                if view is not self._enlarged:
                    self._project(view)

    def _project(self, view: Board) -> None:
        if self._needed is not None and self._needed[0] is view:
            view.show_only(*self._needed[1])
        else:
            names = [row.name for row in projected_rows(view.name)] if self._is_projected else []
            view.show_only(*names)
