"""Where the window stands, its parts around the perspective that is shown, and messages over that."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QMargins, QObject, QRect, QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.board.board import Board
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.opening.welcome_strip import WelcomeStrip
from lmviz.app.widgets.base.building import Pages, column, row
from lmviz.app.widgets.base.scrolling import QuietScrollArea
from lmviz.app.window.notice import Notice

MARGIN = 12
GAP = 6  # pixels at scale 1 between two messages

FOLLOWED = (QEvent.Type.Resize, QEvent.Type.Move)
SHOWN_OR_HIDDEN = (QEvent.Type.ShowToParent, QEvent.Type.HideToParent)


class Frame(QWidget):
    """The header above all, the perspectives between their rail and the lessons, and what stands below.

    What only some perspectives have, the prefix, stands beside the rail: no button of that moves with it.
    """

    def __init__(
        self,
        header: QWidget,
        rail: QWidget,
        prefix: QWidget,
        perspectives: QWidget,
        jobs: QWidget,
        lessons: QWidget,
        below: QWidget,
        edge: QWidget,
    ) -> None:
        super().__init__()
        self.setObjectName("frame")
        padded = column((perspectives, 1), jobs, gap=0, margins=(MARGIN, MARGIN, MARGIN, 0))
        beside = column(prefix, (row((padded, 1), lessons, gap=0), 1), gap=0)
        column(header, (row(rail, (beside, 1), gap=0), 1), below, edge, on=self, gap=0)


class ScrolledView(QuietScrollArea):
    """Where the window is smaller than its panels can be, this lets them scroll."""

    def __init__(self, board: Board) -> None:
        super().__init__()
        self.board = board
        self.setWidget(board)
        theme_switch().style_when_shown(self)

    def setVisible(self, visible: bool) -> None:
        if visible and self.property("passed_over"):
            from lmviz.app.look.hidden_pages import style_now  # not before the first paint

            style_now(self)
        super().setVisible(visible)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.board.fit_into(self.maximumViewportSize())


class Perspectives(Pages):
    """`Perspectives(names, make)`: the boards, of which one is shown, each made when it is first asked for.

    Signal: `made`, with a new board.
    """

    made = Signal(Board)

    def __init__(self, names: Sequence[str], make: Callable[[str], Board]) -> None:
        super().__init__()
        self.names = tuple(names)
        self._make = make
        self._views: dict[str, ScrolledView] = {}

    @property
    def boards(self) -> tuple[Board, ...]:
        """Those that have been made, in the order of the names."""
        return tuple(self._views[name].board for name in self.names if name in self._views)

    @property
    def shown(self) -> Board:
        """The one that is shown."""
        view = self.currentWidget()
        assert isinstance(view, ScrolledView), "no perspective has been shown yet"
        return view.board

    def board(self, name: str) -> Board:
        """The one of this name."""
        if name not in self._views:
            view = self._views[name] = ScrolledView(self._make(name))
            view.resize(0, 0)  # Qt paints again whatever lies where a page is added, hidden or not
            self.addWidget(view)
            self.made.emit(view.board)
        return self._views[name].board

    def show_board(self, name: str) -> None:
        """Show the one of this name."""
        self.board(name)
        self.setCurrentWidget(self._views[name])


class Messages(QWidget):
    """`Messages(parts, over, parent)`: one below the other at the lower edge of the widget `over`, which they
    lie over, so that nothing moves.

    `parent` is an ancestor of `over`. As long as no part has anything to say, nothing is covered. What waits
    for an answer stays until it is given, and covers nothing either: `over` gets as much less room.
    """

    def __init__(self, parts: Sequence[WelcomeStrip | Notice], over: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._parts, self._over, self._parent = tuple(parts), over, parent
        self._column = column(on=self)
        for part in self._parts:
            hidden = part.isHidden()
            self._column.addWidget(part)
            part.setHidden(hidden)
            part.installEventFilter(self)
        over.installEventFilter(self)
        self._lay_over()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (FOLLOWED if watched is self._over else SHOWN_OR_HIDDEN):
            self._lay_over()
        return False

    def event(self, event: QEvent) -> bool:
        taken = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._lay_over()
        return taken

    def _lay_over(self) -> None:
        is_wanted, below = any(not part.isHidden() for part in self._parts), 0
        if is_wanted:
            gap = round(GAP * current_theme().scale)
            if gap != self._column.spacing():  # setting it asks for another layout, and so for this again
                self._column.setSpacing(gap)
            area = self._over.rect()
            corner = self._over.mapTo(self._parent, area.bottomLeft())
            height = self._column.heightForWidth(area.width())
            self.setGeometry(corner.x(), corner.y() + 1 - height, area.width(), height)
            self.raise_()
            if any(part.waits for part in self._parts):
                below = height + gap
        self.setVisible(is_wanted)
        if below != self._over.contentsMargins().bottom():
            self._over.setContentsMargins(0, 0, 0, below)


USUAL = QSize(1440, 900)
LEAST = QSize(860, 560)
FRAME = QMargins(4, 36, 4, 4)
"""What the system draws around a window, a title bar on top: before it is shown nobody knows how much."""


def first_place(available: QRect, frame: QMargins = FRAME, usual: QSize = USUAL) -> QRect:
    """The inside of a window of the usual size, in the middle of a screen's available room or filling it."""
    room = available.marginsRemoved(frame)
    place = QRect(room.topLeft(), usual.boundedTo(room.size()))
    place.moveCenter(room.center())
    return place


def least_size(available: QRect, frame: QMargins = FRAME) -> QSize:
    """The smallest size of the window: never more than the screen has room for."""
    return LEAST.boundedTo(available.marginsRemoved(frame).size())
