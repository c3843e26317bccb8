"""One muted line; text that does not fit is shortened without cutting a word; all of it on hover."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.kit.painter import Painter, cut

SIZE = 12
SMALLER = (12.0, 11.5, 11.0, 10.5)
"""Sizes that are tried in projector mode before anything is left out; they are large enough there."""
PARTS, DOTS, LINE_END = " · ", "…", "⏎"


class MutedLine(Canvas):
    """`MutedLine(text="", right=False, is_name=False)`: `set_text(text)`; `right` sets it at the right edge.

    Of a phrase, half says nothing; of a name its beginning stands there in any case.
    """

    spoken_as = "StaticText"

    least = (0, 18)

    def __init__(
        self, text: str = "", *, right: bool = False, is_name: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._is_name = is_name
        self._side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        self._text, self._explanation = "", ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_text(text)

    @property
    def text(self) -> str:
        """What it says."""
        return self._text

    def set_text(self, text: str, explanation: str = "") -> None:
        """Say something else; the pointer brings it whole, and what it means."""
        text = text.replace("\n", LINE_END)
        if (text, explanation) == (self._text, self._explanation):
            return
        self._explanation = explanation
        before, self._text = self.sizeHint(), text
        self.setAccessibleName(text)
        self.setToolTip(paragraph(text, explanation))
        if self.sizeHint() != before:  # other digits of the same width need no new layout
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(metrics(SIZE).horizontalAdvance(self._text)) + 2, round(self.length(18)))

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        shown, size = self._fitting()
        painter.setPen(self.theme.muted_text)
        painter.write(QRectF(self.rect()), shown, size=size, where=self._side | Qt.AlignmentFlag.AlignVCenter)

    @property
    def shown(self) -> str:
        """As much of the text as there is room for: all of it, its first parts, most words, or nothing."""
        return self._fitting()[0]

    def _fitting(self) -> tuple[str, float]:
        """What is written, and in which size."""
        sizes = SMALLER if theme_switch().projector else (float(SIZE),)
        for size in sizes:
            if self._fits(self._text, size):
                return self._text, size
        parts, words = self._text.split(PARTS), self._text.split(" ")
        shorter = [PARTS.join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]
        fewest = (len(words) + 1) // 2  # half a phrase says nothing
        shorter += [" ".join(words[:count]) + DOTS for count in range(len(words) - 1, fewest, -1)]
        least = cut(self._text, self.width(), metrics(sizes[-1])) if self._is_name else ""
        return next((text for text in shorter if self._fits(text, sizes[-1])), least), sizes[-1]

    def _fits(self, text: str, size: float) -> bool:
        return metrics(size).horizontalAdvance(text) <= self.width()
