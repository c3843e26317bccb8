"""The perspectives on the left, an icon and a word for each, and below them the lessons."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QFrame, QSizePolicy, QVBoxLayout, QWidget

from lmviz.app.look.icons import pixmap
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.panels.panel_row import Perspective
from lmviz.app.widgets.base.building import named
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.kit.painted import Painted
from lmviz.app.widgets.kit.painter import Painter

WIDTH, HEIGHT, ICON = 84, 60, 20
NARROW, LEAST_ICON = 44, 14  # without words: the width, and the height in a low window
ROOM_FOR_WORDS = 50  # pixels at scale 1; in a low window there are only icons


class RailButton(Painted, QAbstractButton):
    """One perspective: lit while it is shown."""

    def __init__(self, perspective: Perspective) -> None:
        super().__init__()
        self.perspective = perspective
        self.is_wordy = True  # whether its word stands below its icon
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Maximum)
        self.setObjectName(f"perspective_{perspective.name}")
        self.setText(perspective.title)
        self.setAccessibleName(f"perspective {perspective.title}")
        self.setToolTip(paragraph(f"{perspective.title} ({perspective.keys})"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme_switch().theme_changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        return QSize(self._width, HEIGHT) * current_theme().scale

    def minimumSizeHint(self) -> QSize:
        return QSize(self._width, LEAST_ICON) * current_theme().scale

    @property
    def _width(self) -> int:
        return WIDTH if self.is_wordy else NARROW

    @property
    def has_room_for_words(self) -> bool:
        """Whether its word fits below its icon."""
        return self.height() >= ROOM_FOR_WORDS * current_theme().scale

    def set_wordy(self, wordy: bool) -> None:
        """Show its word below its icon, or the icon alone."""
        if wordy != self.is_wordy:
            self.is_wordy = wordy
            self.updateGeometry()
            self.update()

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        theme, width, has_words = current_theme(), self.width(), self.is_wordy
        scale, chosen = theme.scale, self.isChecked()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if self.hasFocus():
            painter.setBrush(theme.accent_wash)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(6, 2, -6, -2), 6 * scale, 6 * scale)
        if chosen:
            painter.setBrush(theme.accent)
            painter.drawRoundedRect(QRectF(0, 14 * scale, 3 * scale, self.height() - 28 * scale), 1.5, 1.5)
        color = theme.accent if chosen else theme.text if self.underMouse() else theme.muted_text
        size = min(round(ICON * scale), self.height())
        top = 9 * scale if has_words else (self.height() - size) / 2
        picture = pixmap(f"perspectives/{self.perspective.name}", color, size, self.devicePixelRatioF())
        painter.drawPixmap(round((width - size) / 2), round(top), picture)
        if has_words:
            painter.setFont(theme.font(12, QFont.Weight.DemiBold if chosen else QFont.Weight.Normal))
            words = QRectF(0, 32 * scale, width, 20 * scale)
            painter.write(
                words, self.text(), color, where=Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter
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
        for perspective in perspectives:
            button = RailButton(perspective)
            button.clicked.connect(lambda _, name=perspective.name: self.chosen.emit(name))
            self._group.addButton(button)
            self._buttons[perspective.name] = button
            column.addWidget(button)
        column.addStretch(1)
        self.lessons = named(RailButton(Perspective("lessons", "Lessons", "F8")), "lessons_button", "lessons")
        self.lessons.clicked.connect(self.lessons_wanted)
        column.addWidget(self.lessons)

    def event(self, event: QEvent) -> bool:
        taken = super().event(event)
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._share_words()  # the buttons have their places now
        return taken

    def _share_words(self) -> None:
        """Words for all or for none: their heights differ by a pixel."""
        buttons = (*self._buttons.values(), self.lessons)
        wordy = all(button.has_room_for_words for button in buttons)
        for button in buttons:
            button.set_wordy(wordy)

    def choose(self, name: str) -> None:
        """Light the button of a perspective."""
        self._buttons[name].setChecked(True)
