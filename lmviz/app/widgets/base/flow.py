"""A layout that puts controls side by side and wraps them to the next line, like words."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLayout, QLayoutItem, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.building import name_with
from lmviz.app.widgets.base.plain import Label

GAP, LINE_GAP = 12, 6


class FlowLayout(QLayout):
    """`FlowLayout(parent=None, gap=12)`: lines from the left, each item as large as it wants to be."""

    def __init__(self, parent: QWidget | None = None, gap: float = GAP) -> None:
        super().__init__(parent)
        self._gap = gap
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        widest = max((item.minimumSize().width() for item in self._shown()), default=0)
        highest = max((item.sizeHint().height() for item in self._shown()), default=0)
        return QSize(widest, highest)

    def setGeometry(self, area: QRect) -> None:
        super().setGeometry(area)
        self._place(area, move=True)

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _place(self, area: QRect, *, move: bool) -> int:
        """Set the items one after the other; the height that they take."""
        scale = current_theme().scale
        gap, line_gap = round(self._gap * scale), round(LINE_GAP * scale)
        lines: list[list[tuple[QLayoutItem, QSize]]] = []
        left = 0
        for item in self._shown():
            size = item.sizeHint()
            if not lines or left + size.width() > area.width():
                lines.append([])
                left = 0
            lines[-1].append((item, size))
            left += size.width() + gap
        top = area.top()
        for line in lines:
            height = max(size.height() for _, size in line)
            left = area.left()
            for item, size in line if move else ():
                lower = (height - size.height()) // 2
                item.setGeometry(QRect(QPoint(left, top + lower), size))
                left += size.width() + gap
            top += height + line_gap
        return max(0, top - line_gap - area.top())


def labelled(name: str, *controls: QWidget) -> QWidget:
    """Controls with their name before them, which stay together."""
    group = QWidget()
    row = QHBoxLayout(group)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(2)
    label = Label(name)
    label.setProperty("role", "muted")
    name_with(label, controls[0])
    for widget in (label, *controls):
        row.addWidget(widget)
    return group
