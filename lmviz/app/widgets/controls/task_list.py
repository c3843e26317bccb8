"""Things to do, one below the other, each with a tick once it is done."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.text.markdown_label import MarkdownLabel

SIZE = 18  # pixels at scale 1


class Tick(QWidget):
    """A tick in a disc where something is done; otherwise an empty circle, strong where it is next."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_done = self._is_next = False
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme_switch().theme_changed.connect(self.updateGeometry)

    @property
    def is_done(self) -> bool:
        """Whether it is ticked."""
        return self._is_done

    def set_state(self, *, is_done: bool, is_next: bool) -> None:
        """Tick it, or not."""
        self._is_done, self._is_next = is_done, is_next
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(SIZE, SIZE) * current_theme().scale

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = current_theme(), QPainter(self)
        scale = theme.scale
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        disc = QRectF(self.rect()).adjusted(2 * scale, 2 * scale, -2 * scale, -2 * scale)
        if not self._is_done:
            painter.setPen(QPen(theme.accent if self._is_next else theme.strong_line, 1.5 * scale))
            painter.drawEllipse(disc)
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.right)
        painter.drawEllipse(disc)
        painter.setPen(QPen(theme.on(theme.right), 1.6 * scale))
        corner, size = disc.topLeft(), disc.width()
        places = [(0.27, 0.53), (0.44, 0.69), (0.74, 0.34)]
        painter.drawPolyline([corner + QPointF(x * size, y * size) for x, y in places])


class TaskList(QWidget):
    """`set_tasks(words, done)`: what there is to do, and how many of them are done, the first ones first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[tuple[Tick, MarkdownLabel]] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(6)

    @property
    def done(self) -> int:
        """How many are ticked."""
        return sum(tick.is_done for tick, words in self._rows if not words.isHidden())

    def set_tasks(self, words: Sequence[str], done: int) -> None:
        """Show what there is to do."""
        while len(self._rows) < len(words):
            self._add_row()
        for number, (tick, label) in enumerate(self._rows):
            is_there = number < len(words)
            tick.setVisible(is_there)
            label.setVisible(is_there)
            if is_there:
                label.setText(words[number])
                label.setAccessibleName(f"{'done: ' if number < done else 'to do: '}{words[number]}")
                tick.set_state(is_done=number < done, is_next=number == done)
        self.setVisible(bool(words))

    def _add_row(self) -> None:
        tick, label = Tick(), MarkdownLabel("lesson_task")
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(tick, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(label, 1)
        self._column.addLayout(row)
        self._rows.append((tick, label))
