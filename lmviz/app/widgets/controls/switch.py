"""A switch: on to the right, in the colour of what is changed, and off to the left."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.focus_ring import draw_ring
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.kit.painted import Painted
from lmviz.app.widgets.kit.painter import Painter

WIDTH, HEIGHT, GAP = 28, 16, 2


class Switch(Painted, QAbstractButton):
    """`Switch(name, description)`: checkable; a click or the space bar turns it over, as a check box."""

    def __init__(self, name: str, description: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setCheckable(True)
        self.setAccessibleName(description)
        self.setToolTip(paragraph(description[0].upper() + description[1:]))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme_switch().theme_changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        scale = current_theme().scale
        return QSize(round((WIDTH + 4) * scale), round((HEIGHT + 4) * scale))

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        theme = current_theme()
        painter.setRenderHint(Painter.RenderHint.Antialiasing)
        width, height = WIDTH * theme.scale, HEIGHT * theme.scale
        groove = QRectF((self.width() - width) / 2, (self.height() - height) / 2, width, height)
        painter.box(groove, theme.key if self.isChecked() else theme.strong_line, radius=HEIGHT / 2)
        middle = groove.right() - height / 2 if self.isChecked() else groove.left() + height / 2
        painter.dot(QPointF(middle, groove.center().y()), HEIGHT / 2 - GAP, theme.surface)
        if self.hasFocus():
            draw_ring(painter, QRectF(self.rect()))
