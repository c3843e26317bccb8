"""The next-word distribution of one of several models: its colour, its step, its bars."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRectF, QSignalBlocker, QSize, Signal
from PySide6.QtGui import QColor, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QComboBox, QSizePolicy, QToolButton, QWidget

from lmviz.app.look.icons import icon
from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.base.building import column, named, picker, row, sheet
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.plots.bars import ROW, BarsView

LONG, SHORT = "step {:,}", "{:,}"
NARROWEST = 216
FEWEST = 3


class DistributionCard(Card):
    """`DistributionCard()`: `set_moment(name, color, steps, step, removable)`, `set_readout(text)`,
    `set_sentence(text)` in place of bars; `bars` is the `BarsView` and `room` how many it has room for.

    Signals: `step_chosen(int)`, `removed()`, `resized()`.
    """

    step_chosen = Signal(int)
    removed = Signal()
    resized = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent=parent)
        self._color = QColor()
        self._steps: tuple[int, ...] = ()
        self._words = LONG
        self._picker = picker("", "step of the training", role="link")
        self._picker.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._picker.setToolTip("The training step of the snapshot shown")
        self._picker.activated.connect(lambda place: self.step_chosen.emit(self._steps[place]))
        self._remove = named(QToolButton(), "", "remove from the comparison", role="icon")
        self._remove.setToolTip("Remove from the comparison")
        self._remove.clicked.connect(self.removed)
        self.bars = BarsView()
        # As many bars as there is room for: what they would like to have must not hold that room.
        self.bars.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self._sentence = EmptyText()
        self._sentence.hide()
        self._readout = MutedLine()
        self._controls = sheet(row(self._picker, self._remove, gap=4))
        self.set_aside(self._controls)
        self.set_body(sheet(column(self._readout, (self.bars, 1), (self._sentence, 1), gap=4)))
        self.bars.installEventFilter(self)
        self._tint()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """How many bars there is room for is known once the bars have theirs, which is after the card has."""
        if watched is self.bars and event.type() == QEvent.Type.Resize:
            self.resized.emit()
        return False

    def set_moment(
        self, name: str, color: QColor, steps: Sequence[int], step: int, *, removable: bool
    ) -> None:
        """Say which model this is, at which of its steps, where there are any to choose from; one that is
        not removable is the present one.
        """
        self.set_title(name)
        self._color = color
        self._remove.setVisible(removable)
        with QSignalBlocker(self._picker):
            if tuple(steps) != self._steps:
                self._steps = tuple(steps)
                self._picker.clear()
                self._picker.addItems([self._words.format(number) for number in steps])
            self._picker.setCurrentIndex(self._steps.index(step) if step in self._steps else -1)
        self._picker.setVisible(bool(steps))
        self._fit_steps()
        self.bars.setAccessibleName(f"what {name} expects next")
        self.update()

    def _fit_steps(self) -> None:
        """Name the steps by their numbers alone where the model's name would be cut."""
        if not self._steps:
            return
        measure, ends = self._picker.fontMetrics(), (self._steps[0], self._steps[-1])
        long, now = (
            max(measure.horizontalAdvance(words.format(step)) for step in ends)
            for words in (LONG, self._words)
        )
        needed = self._controls.sizeHint().width() + long - now
        words = LONG if needed <= self.room_beside_title else SHORT
        if words != self._words:
            self._words = words
            for place, step in enumerate(self._steps):
                self._picker.setItemText(place, words.format(step))

    def set_readout(self, text: str) -> None:
        """One line above the bars, such as the entropy."""
        self._readout.set_text(text)

    def set_sentence(self, sentence: str) -> None:
        """Why there are no bars; empty where there are."""
        self._sentence.set_text(sentence)
        self._sentence.setVisible(bool(sentence))
        self.bars.setVisible(not sentence)

    @property
    def readout(self) -> str:
        """The line above the bars."""
        return self._readout.text

    @property
    def sentence(self) -> str:
        """The sentence shown instead of the bars."""
        return self._sentence.text()

    @property
    def room(self) -> int:
        """For how many bars there is room."""
        return max(FEWEST, self.bars.rows_in(self.bars.size()))

    def minimumSizeHint(self) -> QSize:
        width = NARROWEST if theme_switch().projector else self.length(NARROWEST)
        return QSize(round(width), super().minimumSizeHint().height())

    def adopt_theme(self) -> None:
        self._tint()
        super().adopt_theme()

    def _tint(self) -> None:
        self.bars.setMinimumHeight(round(self.length(FEWEST * ROW)))
        side = round(self.length(20))
        self._remove.setFixedSize(side, side)
        self._remove.setIconSize(QSize(side // 2, side // 2))
        self._remove.setIcon(icon("controls/close", self.theme.muted_text))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_steps()

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        super().paint(painter, event)
        mark = QRectF(0, self.length(14), self.length(3), self.length(16))
        painter.box(mark, self._color, radius=1.5)
