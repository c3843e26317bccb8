"""What the rows of a picture are made of: a label, a bar, a bar with a sign, a pair of bars, and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor

from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter, measure_of
from lmviz.app.widgets.kit.pointing import Pointable
from lmviz.app.widgets.kit.rows import across, in_the_middle

SIZE = 12.0
"""The usual size of type in a row, in pixels at scale 1."""

MARGIN = 4.0
"""The room right of a figure, in pixels at scale 1."""


@dataclass(frozen=True)
class AlongRow:
    """Numbers along a row: `low` lies at `left` and `high` at `right`, which are pixels."""

    low: float
    high: float
    left: float
    right: float

    def at(self, value: float) -> float:
        """The place of a number."""
        return self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left)

    def between(self, row: QRectF, begin: float, end: float, least: float = 0.0) -> QRectF:
        """The part of a row from one number to another, whichever is larger; at least so many pixels wide."""
        left, right = sorted((self.at(begin), self.at(end)))
        return across(row, left, max(right, left + least))


class RowParts(Pointable):
    """A canvas of rows. What stands in the same place of each row is drawn here, for all kinds of rows.

    A label ends where those of the other rows do, and a figure ends at the right edge. Bars stand in the
    middle of a row; how thick they are is given in pixels at scale 1. A label that has no room ends in dots,
    and the pointer brings the whole.
    """

    def widest(self, texts: Sequence[str], size: float, *, token: bool = False, bold: bool = False) -> float:
        """The width of the longest of some texts, in pixels."""
        measure = measure_of(self.theme, size, token, bold)
        return max((measure.horizontalAdvance(text) for text in texts), default=0.0)

    def label_width(
        self,
        labels: Sequence[str],
        most: float,
        size: float = SIZE,
        *,
        token: bool = True,
        bold: bool = False,
    ) -> float:
        """The width of labels in pixels: that of the longest, but at most a share of the canvas."""
        return min(self.widest(labels, size, token=token, bold=bold), most * self.width())

    def write_label(
        self,
        painter: Painter,
        area: QRectF,
        label: str,
        ink: QColor | None = None,
        size: float = SIZE,
        *,
        bold: bool = False,
        token: bool = True,
    ) -> None:
        """Write a label so that it ends where its area does."""
        ink = self.theme.text if ink is None else ink
        self.write_cut(painter, area, label, ink, size, bold=bold, token=token, where=AT_RIGHT)

    def write_figure(
        self,
        painter: Painter,
        row: QRectF,
        figure: str,
        ink: QColor | None = None,
        size: float = SIZE,
        *,
        bold: bool = False,
        margin: float = MARGIN,
    ) -> None:
        """Write a number, which is never cut, so that it ends at the right edge of its row."""
        ink = self.theme.muted_text if ink is None else ink
        area = row.adjusted(0, 0, -self.length(margin), 0)
        painter.write(area, figure, ink, size, bold=bold, where=AT_RIGHT)

    def draw_bar(
        self, painter: Painter, area: QRectF, thick: float, ink: QColor, *, radius: float = 2.5
    ) -> None:
        """Draw a bar as wide as its area; one that has any width can be seen."""
        shown = max(area.width(), self.length(1)) if area.width() > 0 else 0.0
        bar = in_the_middle(across(area, area.left(), area.left() + shown), self.length(thick))
        painter.box(bar, ink, radius=radius)

    def draw_signed_bar(
        self,
        painter: Painter,
        row: QRectF,
        stretch: AlongRow,
        ends: tuple[float, float],
        thick: float,
        ink: QColor | None = None,
        *,
        least: float = 0.0,
        radius: float = 2.0,
    ) -> None:
        """Draw a bar from one number of a stretch to another, by default in the colour of its sign."""
        ink = self.theme.signed(ends[1] - ends[0]) if ink is None else ink
        bar = stretch.between(row, *ends, least)
        painter.box(in_the_middle(bar, self.length(thick)), ink, radius=radius)

    def draw_pair(
        self, painter: Painter, row: QRectF, thick: float, widths: tuple[float, float], ink: QColor
    ) -> None:
        """Draw what was, hatched, over what is; both begin at the left of their row, a pixel apart."""
        before, after = widths
        high, pixel = self.length(thick), self.length(1)
        top = row.center().y() - high - self.length(0.5)
        painter.ghost(QRectF(row.left(), top, before, high - pixel))
        self.draw_bar(painter, QRectF(row.left(), top + high + pixel, after, high - pixel), thick, ink)
