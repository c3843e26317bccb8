"""Panels in windows of their own, for example on a second screen."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QByteArray, QCoreApplication, QObject, QRect, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from lmviz.app.board.page import PanelPage
from lmviz.app.widgets.base.plain import window_title


class PanelWindow(QWidget):
    """A page in a window of its own, where the keys of the main window act too. Signal: `closed`."""

    closed = Signal()

    def __init__(self, page: PanelPage, board: QWidget) -> None:
        super().__init__(board, Qt.WindowType.Window)
        self.setObjectName("panel_window")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWindowTitle(window_title(f"{page.title} – lmviz"))
        self._main = board.window()
        self.addActions(self._main.actions())
        column = QVBoxLayout(self)
        column.addWidget(page)
        page.show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        QCoreApplication.sendEvent(self._main, event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        QCoreApplication.sendEvent(self._main, event)

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.closed.emit()


class PanelWindows(QObject):
    """`PanelWindows(board)`: the windows that pages of a board have, by the names of their rows.

    Signal: `closed` with a page, which is hidden and on the board again.
    """

    closed = Signal(PanelPage)

    def __init__(self, board: QWidget) -> None:
        super().__init__(board)
        self._board = board
        self._windows: dict[str, PanelWindow] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._windows

    @property
    def geometries(self) -> Mapping[str, str]:
        """Where each window is on the screen, for `open_where_it_was`."""
        return {
            name: bytes(window.saveGeometry().toBase64().data()).decode("ascii")
            for name, window in self._windows.items()
        }

    def open_at(self, page: PanelPage, place: QRect) -> None:
        """Open the window of a page at a place of the screen."""
        self._open(page).setGeometry(place)

    def open_where_it_was(self, page: PanelPage, geometry: str) -> None:
        """Open the window of a page again."""
        self._open(page).restoreGeometry(QByteArray.fromBase64(geometry.encode()))

    def raise_(self, name: str) -> None:
        """Bring the window of a page in front of other windows."""
        self._windows[name].raise_()

    def close(self, name: str) -> None:
        """Close the window of a page, which is then on the board again."""
        self._windows[name].close()

    def close_all(self) -> None:
        """Close every window."""
        for name in list(self._windows):
            self.close(name)

    def hide_all(self) -> None:
        """Take all windows from the screen, with the pages in them."""
        for window in self._windows.values():
            window.hide()

    def _open(self, page: PanelPage) -> PanelWindow:
        window = self._windows[page.row.name] = PanelWindow(page, self._board)
        window.closed.connect(lambda: self._take_back(page))
        window.show()
        return window

    def _take_back(self, page: PanelPage) -> None:
        window = self._windows.pop(page.row.name)
        page.hide()
        page.setParent(self._board)
        window.deleteLater()
        self.closed.emit(page)
