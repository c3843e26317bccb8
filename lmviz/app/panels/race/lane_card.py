"""The card of one lane: what it expects after the prefix, and what it writes on."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.widgets.base.building import column, sheet
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.plots.bars import ROW, BarsView

BARS = 5
NARROWEST = 190


class _Written(Label):
    """As much of a text as has room: its height holds no room."""

    def hasHeightForWidth(self) -> bool:
        return False


class LaneCard(Card):
    """`LaneCard()`: `set_lane(name, color)`; `bars` and `written` are filled by whoever shows it."""

    def __init__(self) -> None:
        self._color = QColor()
        self.bars = BarsView()
        self.bars.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.written = _Written(wraps=True)
        self.written.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.written.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        super().__init__("", "", sheet(column(self.bars, (self.written, 1), gap=8)))
        self.adopt_theme()

    def set_lane(self, name: str, color: QColor) -> None:
        """Say whose card it is."""
        self.set_title(name)
        self._color = color
        self.bars.set_color(color)
        self.bars.setAccessibleName(f"next words of {name}")
        self.update()

    def adopt_theme(self) -> None:
        self.bars.setFixedHeight(round(self.length(ROW * BARS)))
        self.setMinimumWidth(round(self.length(NARROWEST)))
        super().adopt_theme()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        mark = QRectF(0, self.length(14), self.length(3), self.length(16))
        self.begin().box(mark, self._color, radius=1.5)
