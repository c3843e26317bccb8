"""Messages that come and go: sentences lie over the panels, so that nothing moves; what asks makes room."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.opening.welcome_strip import WelcomeStrip
from lmviz.app.widgets.base.building import column
from lmviz.app.window.notice import Notice

GAP = 6  # pixels at scale 1 between two messages

FOLLOWED = (QEvent.Type.Resize, QEvent.Type.Move)
SHOWN_OR_HIDDEN = (QEvent.Type.ShowToParent, QEvent.Type.HideToParent)


class Messages(QWidget):
    """`Messages(parts, over, parent)`: one below the other at the lower edge of the widget `over`.

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
