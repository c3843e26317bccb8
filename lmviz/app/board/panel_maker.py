"""When the panels of a board are made: with its first showing, ahead of it, or after its first paint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from lmviz.app.board.page import PanelPage
from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.panel_row import PanelRow


class PanelMaker(QObject):
    """`PanelMaker(rows, build, board)`: makes a page for each row, and in it the panel that `build` gives.

    Signals: `page_made` with a page before its panel is made, and `caught_up` when the last of the panels
    has been made that were left for after the paint.
    """

    page_made = Signal(PanelPage)
    caught_up = Signal()

    def __init__(self, rows: Sequence[PanelRow], build: Callable[[PanelRow], Panel], board: QWidget) -> None:
        super().__init__(board)
        self._rows, self._build, self._board = rows, build, board
        self._pages: dict[str, PanelPage] = {}
        self._made_at: set[float] = set()  # the scales of type at which pages were made
        self._leaves_tabs = False
        self._next_tab = QTimer(self, singleShot=True, interval=0)
        self._next_tab.timeout.connect(self._make_next_tab)

    @property
    def pages(self) -> Mapping[str, PanelPage]:
        """The pages that have been made, by the names of their rows; always those of now."""
        return self._pages

    @property
    def missing(self) -> tuple[PanelRow, ...]:
        """The rows whose pages have not been made yet."""
        return tuple(row for row in self._rows if row.name not in self._pages)

    @property
    def is_in_type(self) -> bool:
        """Whether everything was made in type as large as it is now."""
        return self._made_at == {current_theme().scale}

    @property
    def leaves_tabs(self) -> bool:
        """Whether panels behind others are left for after the paint of the board."""
        return self._leaves_tabs

    def leave_tabs(self) -> None:
        """Leave the panels behind others for later, so that what is in sight is painted sooner.

        Once it has been painted they are made, each in a turn of its own, for a person may go on meanwhile.
        """
        self._leaves_tabs = True

    def make_next(self) -> None:
        """Make the first page that is missing; before the board is shown it belongs to no window."""
        row, is_shown = self.missing[0], self._board.isVisible()
        self._made_at.add(current_theme().scale)
        page = PanelPage(row, lambda: self._build(row), self._board if is_shown else None)
        self._pages[row.name] = page
        page.hide()
        self._board.destroyed.connect(page.deleteLater)  # which is no child of it before it is shown
        self.page_made.emit(page)
        page.comes_late = row.tabbed and self._leaves_tabs and is_shown
        if not page.comes_late:
            _ = page.panel

    def go_on_after_paint(self) -> None:
        """The board has been painted: go on with the panels that were left."""
        if self._leaves_tabs:
            self._next_tab.start()

    def _make_next_tab(self) -> None:
        if not self._board.isVisible():
            return  # until it is painted again
        left = [page for page in self._pages.values() if not page.has_panel]
        for page in left[:1]:
            _ = page.panel
        if len(left) > 1:
            self._next_tab.start()
        else:
            self._leaves_tabs = False
            self.caught_up.emit()
