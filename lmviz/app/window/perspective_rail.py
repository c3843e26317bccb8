"""The perspectives on the left, an icon and a word for each, and below them the lessons."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QFrame, QSizePolicy, QVBoxLayout, QWidget

from lmviz.app.look.icons import pixmap
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.panels.table import Perspective

WIDTH, HEIGHT, ICON = 84, 60, 20
ROOM_FOR_WORDS = 52  # in a low window there are only icons


class RailButton(QAbstractButton):
    """One perspective: lit while it is shown."""

    def __init__(self, perspective: Perspective, shortcut: str) -> None:
        super().__init__()
        self.perspective = perspective
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Maximum)
        self.setObjectName(f"perspective_{perspective.name}")
        self.setText(perspective.title)
        self.setAccessibleName(f"perspective {perspective.title}")
        self.setToolTip(f"{perspective.title} ({shortcut})")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme_switch().theme_changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, HEIGHT) * current_theme().scale

    def minimumSizeHint(self) -> QSize:
        return QSize(WIDTH, ICON + 4) * current_theme().scale

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, width = current_theme(), self.width()
        scale, chosen = theme.scale, self.isChecked()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if self.hasFocus():
            painter.setBrush(theme.accent_wash)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(6, 2, -6, -2), 6 * scale, 6 * scale)
        if chosen:
            painter.setBrush(theme.accent)
            painter.drawRoundedRect(QRectF(0, 14 * scale, 3 * scale, self.height() - 28 * scale), 1.5, 1.5)
        color = theme.accent if chosen else theme.text if self.underMouse() else theme.muted_text
        size, has_words = round(ICON * scale), self.height() >= ROOM_FOR_WORDS * scale
        top = 9 * scale if has_words else (self.height() - size) / 2
        picture = pixmap(f"perspectives/{self.perspective.name}", color, size, self.devicePixelRatioF())
        painter.drawPixmap(round((width - size) / 2), round(top), picture)
        if has_words:
            painter.setPen(color)
            painter.setFont(theme.font(12, QFont.Weight.DemiBold if chosen else QFont.Weight.Normal))
            words = QRectF(0, 32 * scale, width, 20 * scale)
            painter.drawText(
                words, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter, self.text()
            )


class PerspectiveRail(QFrame):
    """`PerspectiveRail(perspectives)`; `choose(name)`; signal `chosen(name)` when one is clicked.

    At its foot stands the button of the lessons: `lessons_wanted`.
    """

    chosen = Signal(str)
    lessons_wanted = Signal()

    def __init__(self, perspectives: Sequence[Perspective], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("perspective_rail")
        self.setAccessibleName("perspectives")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 8)
        column.setSpacing(2)
        self._group = QButtonGroup(self)
        self._buttons = {}
        for number, perspective in enumerate(perspectives, start=1):
            button = RailButton(perspective, f"Ctrl+{number}")
            button.clicked.connect(lambda _, name=perspective.name: self.chosen.emit(name))
            self._group.addButton(button)
            self._buttons[perspective.name] = button
            column.addWidget(button)
        column.addStretch(1)
        self.lessons = RailButton(Perspective("lessons", "Lessons"), "F8")
        self.lessons.setAccessibleName("lessons")
        self.lessons.setObjectName("lessons_button")
        self.lessons.clicked.connect(self.lessons_wanted)
        column.addWidget(self.lessons)

    def choose(self, name: str) -> None:
        """Light the button of a perspective."""
        self._buttons[name].setChecked(True)
