"""The axis and the reference line of plots by pyqtgraph."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pyqtgraph
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from lmviz.app.look.roles import Theme
from lmviz.app.widgets.base.figures import number, short

SIZE = 11.5
HALF_A_LINE = 8  # pixels
ANYTHING = (-math.inf, math.inf)
LOSS, SHARE, PERCENT = (0.0, math.inf), (0.0, 1.0), (0.0, 100.0)
"""What values can be at all."""

LOGARITHMIC_STEPS = ((1, 10), (1, 3, 10), (1, 2, 5, 10), (1, 1.5, 2, 3, 4, 5, 7, 10))


class QuietAxis(pyqtgraph.AxisItem):
    """An axis without a line: muted numbers, and for y thin lines across the plot."""

    textHeight: float  # of pyqtgraph, pixels

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation, showValues=True)
        self.setStyle(tickLength=0, maxTickLevel=0, tickTextOffset=8, hideOverlappingLabels=40)
        self.setTickDensity(1.8 if orientation == "left" else 1)
        self._unit = ""
        self._possible = ANYTHING

    def set_possible(self, least: float, most: float) -> None:
        """Beyond these values there is nothing to read off, though the plot may reach a little further."""
        self._possible = least, most
        self.picture = None
        self.update()

    def set_unit(self, unit: str) -> None:
        """Written behind the last number, such as "tokens"."""
        self._unit = unit

    def boundingRect(self) -> QRectF:
        """With room for the upper and the lower half of numbers that stand at the very ends."""
        area = super().boundingRect()
        return area.adjusted(0, -HALF_A_LINE, 0, HALF_A_LINE) if self.grid else area

    def adopt_theme(self, theme: Theme) -> None:
        """Take over colours and type."""
        self.setPen(QPen(theme.line, 1))
        self.setTextPen(theme.muted_text)
        font = theme.font(SIZE)
        self.setTickFont(font)
        # pyqtgraph leaves numbers out that are higher than this, makes room for them and paints once more
        self.textHeight = max(self.textHeight, QFontMetricsF(font).height())

    def tickValues(self, minimum: float, maximum: float, size: float) -> list[tuple[float, list[float]]]:
        least, most = self._possible
        if not self.logMode:
            minimum, maximum = max(minimum, least), min(maximum, most)
            return super().tickValues(minimum, maximum, size) if minimum < maximum else []
        shown: list[float] = []
        for steps in LOGARITHMIC_STEPS:
            decades = range(math.floor(minimum), math.ceil(maximum) + 1)
            places = sorted({decade + math.log10(step) for decade in decades for step in steps})
            shown = [place for place in places if minimum <= place <= maximum]
            if len(shown) >= 4:
                break
        return [(1.0, shown)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        if self.logMode:
            return [short(10**value) if value >= 3 else f"{10**value:.4g}" for value in values]
        digits = max(0, math.ceil(-math.log10(spacing * scale) - 1e-9)) if spacing > 0 else 0
        digits = min(digits, 6)
        # A tick is a multiple of the spacing, but for rounding, of which zero would show nothing else.
        written = [number(round(value * scale, digits), digits) for value in values]
        return [*written[:-1], f"{written[-1]} {self._unit}"] if self._unit and written else written

    def drawPicture(
        self,
        painter: QPainter,
        axis: object,
        ticks: Sequence[tuple[QPen, QPointF, QPointF]],
        texts: Sequence[tuple[QRectF, Qt.AlignmentFlag, str]],
    ) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(self.pen())
        for _, start, end in ticks if self.grid else ():
            painter.drawLine(start, end)
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        painter.setFont(self.style["tickFont"])
        painter.setPen(self.textPen())
        for area, flags, text in texts:
            painter.drawText(area, int(flags), text)


class ReferenceLine(pyqtgraph.InfiniteLine):
    """A dashed line across the plot at a known value, which has a name."""

    def __init__(self, name: str, value: float) -> None:
        super().__init__(angle=0, movable=False)
        self.name_text = name
        self._at = value
        self.set_logarithmic(False)

    @property
    def reference(self) -> tuple[str, float]:
        """The name and the value it stands for."""
        return self.name_text, self._at

    def set_logarithmic(self, logarithmic: bool) -> None:
        """Stand at the value on a linear or a logarithmic axis."""
        self.setValue(math.log10(self._at) if logarithmic and self._at > 0 else self._at)

    def adopt_theme(self, theme: Theme) -> None:
        """Take over colours and type."""
        self.setPen(pyqtgraph.mkPen(theme.muted_text, width=1, style=Qt.PenStyle.DashLine))
