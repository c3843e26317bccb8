"""Things to do, one below the other, each with a tick once it is done."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.building import column, row
from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.text.markdown_label import MarkdownLabel

SIZE = 18  # pixels at scale 1


class Tick(Canvas):
    """A tick in a disc where something is done; otherwise an empty circle, strong where it is next."""

    spoken_as = ""  # the words beside it say whether it is done
    usual = (SIZE, SIZE)

    def __init__(self) -> None:
        super().__init__()
        self._is_done = self._is_next = False
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @property
    def is_done(self) -> bool:
        """Whether it is ticked."""
        return self._is_done

    def set_state(self, *, is_done: bool, is_next: bool) -> None:
        """Tick it, or not."""
        self._is_done, self._is_next = is_done, is_next
        self.update()

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        theme, inset = self.theme, self.length(2)
        disc = QRectF(self.rect()).adjusted(inset, inset, -inset, -inset)
        middle, radius = disc.center(), disc.width() / 2 / theme.scale
        if not self._is_done:
            painter.dot(middle, radius, None, theme.accent if self._is_next else theme.strong_line, 1.5)
            return
        painter.dot(middle, radius, theme.right)
        painter.setPen(QPen(theme.on(theme.right), self.length(1.6)))
        corner, size = disc.topLeft(), disc.width()
        places = [(0.27, 0.53), (0.44, 0.69), (0.74, 0.34)]
        painter.drawPolyline([corner + QPointF(x * size, y * size) for x, y in places])


class TaskList(QWidget):
    """`set_tasks(words, done)`: what there is to do, and how many of them are done, the first ones first."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[tuple[Tick, MarkdownLabel]] = []
        self._column = column(on=self, gap=6)

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
        line = row(gap=8)
        self._column.addLayout(line)  # and only then it is filled: see building.py
        line.addWidget(tick, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(label, 1)
        self._rows.append((tick, label))
